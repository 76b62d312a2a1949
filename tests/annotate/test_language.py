"""The application's words in other languages: every text has one, and a page has no other."""

import re
from pathlib import Path

import pytest
from tests.annotate.test_screens import SCREENS

from longmark.annotate import screens
from longmark.annotate.language import catalogue, keys, language_of, say

HERE = Path(screens.__file__).parent
LANGUAGES = sorted(file.stem for file in (HERE / "languages").glob("*.yaml"))
NO_TEXTS = {"work", "data-everywhere", "j", "k"}  # names in the HTML, and keys
TEXTS = {
    key
    for file in [*(HERE / "templates").iterdir(), *(HERE / "static").glob("*.js")]
    for key in keys(file.read_text("utf-8"))
} - NO_TEXTS
TAGS = re.compile(r"<button[^>]*>(.*?)</button>|<h1[^>]*>(.*?)</h1>|<nav[^>]*>(.*?)</nav>", re.DOTALL)


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_has_a_translation_with_the_same_values(language: str):
    known = catalogue(language)
    assert len(TEXTS) > 150
    assert TEXTS - known.keys() == set()
    for english, own in known.items():
        assert own.strip(), english
        assert english.count("{}") == len(re.findall(r"\{\d?\}", own)), english


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: type(screen).__name__)
def test_a_page_of_a_german_study_has_no_english_of_ours(screen: screens.Screen):
    from dataclasses import replace

    german = screens.render(replace(screen, frame=replace(screen.frame, lang="de-AT")))
    assert '<html lang="de">' in german
    known = catalogue("de")
    shown = {" ".join(text.split()) for text in re.findall(r">([^<]+)<", german)}
    shown |= set(re.findall(r'aria-label="([^"]+)"', german))
    same = {english for english, own in known.items() if english == own}
    assert shown & (known.keys() - same - set(known.values())) == set()
    english = screens.render(replace(screen, frame=replace(screen.frame, lang="")))
    buttons = [
        [" ".join(re.sub("<[^>]+>", " ", "".join(one)).split()) for one in TAGS.findall(page)]
        for page in (german, english)
    ]
    foreign = {"", "second"}
    assert [a for a, b in zip(*buttons, strict=True) if a == b and "alert(" not in a and a not in foreign] == []


def test_what_python_says_is_found_by_its_form():
    assert say("is not answered yet", language="de") == "ist noch nicht beantwortet"
    assert say("has 3 spans; the limit is 2", language="de") == "hat 3 Teile; erlaubt sind 2"
    assert say("The owner of the house", language="de") == "The owner of the house", "a short form fits too much"
    assert (language_of("de-AT"), language_of("fr"), language_of("")) == ("de", "en", "en")
