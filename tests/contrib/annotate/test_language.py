"""The application's words in other languages: every text has one, and a page has no other."""

import ast
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.contrib.annotate.studies import labelled, set_up
from tests.contrib.annotate.test_screens import ITEM, OWNER, SCREENS, STUDY, screens_of

from longmark.contrib.annotate import screens
from longmark.contrib.annotate.database import utc_now
from longmark.contrib.annotate.export import FILES
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.language import catalogue, keys, language_of, say
from longmark.contrib.annotate.progress import agreement_table, progress
from longmark.contrib.annotate.screens import Frame
from longmark.contrib.annotate.store import Visit
from longmark.report.tables import readable

HERE = Path(screens.__file__).parent
LANGUAGES = sorted(file.stem for file in (HERE / "languages").glob("*.yaml"))
SAYS = {"Refused", "Problem", "_plain", "_set", "frame", "t"}
MODULES = (
    "values",
    "screens",
    "words",
    "controls",
    "web",
    *(f"routes_{one}" for one in ("work", "adjudicate", "sign_in", "owner")),
)
NO_TEXTS = {"work", "data-everywhere", "j", "k"}  # names in the HTML, and keys


def of_python(source: str) -> set[str]:
    """What a module says: constants, and texts with values as {}, given to a refusal, a problem of a field or `t`."""

    def text(one: ast.expr) -> str:
        parts = one.values if isinstance(one, ast.JoinedStr) else [one]
        return "".join(
            str(part.value) if isinstance(part, ast.Constant) else "{}" for part in parts
        )

    calls = [one for one in ast.walk(ast.parse(source)) if isinstance(one, ast.Call)]
    said = (
        call.args
        for call in calls
        if getattr(call.func, "id", getattr(call.func, "attr", "")) in SAYS
    )
    return {text(one) for args in said for one in args if re.search(r"[a-z]{2}", text(one))}


TEXTS = {
    key
    for file in [*(HERE / "templates").iterdir(), *(HERE / "static").glob("*.js")]
    for key in keys(file.read_text("utf-8"))
} - NO_TEXTS
TEXTS |= {text for name in MODULES for text in of_python((HERE / f"{name}.py").read_text("utf-8"))}
TEXTS |= {*FILES.values(), str(agreement_table(()).note)}
TAGS = re.compile(
    r"<button[^>]*>(.*?)</button>|<h1[^>]*>(.*?)</h1>|<nav[^>]*>(.*?)</nav>", re.DOTALL
)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_has_a_translation_with_the_same_values(language: str):
    known = catalogue(language)
    assert len(TEXTS) > 150
    assert TEXTS - known.keys() == set()
    for english, own in known.items():
        assert own.strip(), english
        assert english.count("{}") == len(re.findall(r"\{\d?\}", own)), english


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("screen", SCREENS)
def test_a_page_of_a_study_in_another_language_has_no_english_of_ours(screen: str, language: str):
    name, values = screens_of(STUDY.model_copy(update={"language": language}))[screen]
    german = screens.render(name, replace(OWNER, lang=f"{language}-XY"), **values)
    assert f'<html lang="{language}">' in german
    known = catalogue(language)
    shown = {" ".join(text.split()) for text in re.findall(r">([^<]+)<", german)}
    shown |= set(re.findall(r'(?:aria|data)-label="([^"]+)"', german))
    assert {
        one for one in shown if re.match(r"page \d|Rater \d|Answer [AB]|Key point|.* \(Answer", one)
    } == set()
    same = {english for english, own in known.items() if english == own}
    assert shown & (known.keys() - same - set(known.values())) == set()
    english = screens.render(name, replace(OWNER, lang=""), **SCREENS[screen][1])
    buttons = [
        [" ".join(re.sub("<[^>]+>", " ", "".join(one)).split()) for one in TAGS.findall(page)]
        for page in (german, english)
    ]
    foreign = {"", "second"}
    assert [
        a
        for a, b in zip(*buttons, strict=True)
        if a == b and "alert(" not in a and a not in foreign
    ] == []


def test_what_python_says_is_found_by_its_form():
    assert say("is not answered yet", language="de") == "ist noch nicht beantwortet"
    assert say("has 3 spans; the limit is 2", language="de") == "hat 3 Teile; erlaubt sind 2"
    assert say("The owner of the house", language="de") == "The owner of the house", (
        "a short form fits too much"
    )
    assert (language_of("de-AT"), language_of("fr"), language_of("")) == ("de", "en", "en")


def test_a_table_in_an_answer_has_its_name_in_the_language_of_the_study_and_no_text_can_forge_it():
    answer = '|a|\n|-|\n|aria-label="Table"|'
    item = replace(ITEM, shown={**ITEM.shown, "a": answer})
    values = screens.work(STUDY.model_copy(update={"language": "de"}), item, {})
    page = screens.render("work", Frame("T", lang="de"), **values)
    assert page.count('aria-label="Tabelle"') == 1
    assert "aria-label=&quot;Table&quot;" in page


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_progress_of_a_study_has_no_english_of_ours(tmp_path: Path, language: str):
    study, items = set_up(tmp_path, "rating", 12)
    study = study.model_copy(update={"language": language})

    def agreeing(item: StudyItem, rater: str) -> dict[str, Any]:
        return {"quality": 3, "confidence": 1 + len(item.id + rater) % 2}

    store = labelled(tmp_path / "s.sqlite", study, items, ["Ann", "Bo"], agreeing)
    with store.committing():
        for number, item in enumerate(items):  # one is slow
            for person, seconds in (("p1", 10.0), ("p2", 100.0)):
                store.visit(f"v{number}", Visit(item.id, person, seconds, utc_now()))
    found = progress(study, items, store)
    tables = [*found.progress, *map(readable, found.agreement)]
    said = [label for label, _ in found.figures] + [
        column.name for table in tables for column in table.columns
    ]
    said += [text for table in tables for text in (table.title, table.note) if text]
    said += [
        str(row[i])
        for table in tables
        for row in table.rows
        for i in (1, -1)
        if isinstance(row[i], str)
    ]
    known = catalogue(language).values()
    warned = [say(one, language=language) for one in found.warnings]
    assert {one for one in said if one not in known and say(one, language=language) == one} <= {
        "clusters"
    }
    assert any("(median)" in one for one in found.warnings)
    assert not any("median)" in one or "raters" in one for one in warned)
    assert not any(" of " in value for _, value in found.figures)
