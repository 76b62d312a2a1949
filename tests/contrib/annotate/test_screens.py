"""Pages as HTML, without a browser: every screen renders, foreign text is escaped, names of form fields."""

import re
from dataclasses import replace
from typing import Any

import pytest

from longmark.contrib.annotate import screens
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.progress import Progress
from longmark.contrib.annotate.screens import Frame, render
from longmark.contrib.annotate.store import Person
from longmark.contrib.annotate.study import Study
from longmark.report import markdown
from longmark.report.tables import Column, Table

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
FIELDS = [
    {
        "name": "ok",
        "type": "choice",
        "options": ["yes", {"value": "no", "key": "n", "guidance": EVIL}],
        "help": EVIL,
    },
    {"name": "why", "type": "text", "label": EVIL, "when": {"field": "ok", "is": "no"}},
    {"name": "rel", "type": "scale", "max": 10, "anchors": {1: EVIL}},
    {"name": "big", "type": "scale", "min": 0, "max": 100},
    {"name": "points", "type": "matrix", "rows": "typed"},
    {"name": "better", "type": "compare"},
    {"name": "marks", "type": "spans", "over": "a", "tags": [EVIL]},
    {"name": "errors", "type": "errors", "options": [EVIL, "q"]},
    {"name": "list", "type": "edit", "over": "a"},
    {"name": "word", "type": "cloze", "over": "question"},
]
STUDY = Study.model_validate(
    {
        "title": EVIL,
        "items": {"from": "pairs", "path": "x"},
        "show": ["question", "answers", "passages", "profile"],
        "fields": FIELDS,
    }
)
ITEM = StudyItem(
    "i/1 ü",
    "q",
    {"a": "secret-system-one", "b": "secret-system-two"},
    {
        "question": f"Wörter, {EVIL}",
        "a": f"first {EVIL}\r\nline",
        "b": "second",
        "profile": {"role": EVIL},
    }
    | {"passages": [{"text": EVIL, "page": 3}]},
)
OWNER = Frame(EVIL, Person("p1", EVIL, "owner"), "the-token", "ar", notice=EVIL)
TABLE = Table("t", EVIL, (Column("who"), Column("n")), [(EVIL, 3)], note=EVIL)
PROGRESS = Progress([("n", EVIL)], [TABLE], [TABLE], [EVIL], {})
LABELS: list[dict[str, Any]] = [
    {
        "name": EVIL,
        "values": {"ok": "no", "why": EVIL},
        "at": "",
        "seconds": None,
        "state": "",
        "person_id": "",
    },
    {
        "name": "final",
        "values": {"ok": "yes"},
        "at": "",
        "seconds": 3.0,
        "state": EVIL,
        "person_id": "p1",
    },
]
MINE = {
    "item_id": "a/b",
    "title": EVIL,
    "state": "skipped",
    "at": "",
    "reason": EVIL,
    "editable": True,
}
MINE |= {"part": "training"}
ITEMS = {"item_id": "a/b", "title": EVIL, "done": 0, "wanted": 1, "skipped": 0, "state": ""}
PERSON = {
    "person": OWNER.person,
    "done": 0,
    "skipped": 0,
    "phases": 1,
    "failed": True,
    "median_seconds": None,
}
CASE = {"item_id": "a/b", "title": EVIL, "fields": [EVIL], "decided": False, "mine": False}


def screens_of(study: Study) -> dict[str, tuple[str, dict[str, Any]]]:
    """Every page with foreign text in every value: its template and the template's values."""
    stale = ({"f.ok": ["no"], "f.why": [EVIL]}, "2026-11-23T04:05:06Z")
    form = {"f.ok": ["no"], "f.why": [EVIL]}
    known = replace(ITEM, gold={"ok": "no"}, meta={"explanation": EVIL})
    evil = f"# Read\n\n{EVIL}\n\n![x](http://a/b.png) [k](javascript:alert(1))"
    problem = {"title": EVIL, "text": EVIL, "remedy": EVIL, "kept": [(EVIL, EVIL)], "back": "/"}
    return {
        "work": (
            "work",
            screens.work(study, ITEM, form, {"ok": EVIL}, suggestions=[EVIL], once="key-1"),
        ),
        "stale": ("work", screens.work(study, ITEM, {"f.ok": ["yes"]}, stale=stale)),
        "preview": ("work", screens.work(study, ITEM, {}, preview=True, swapped=True)),
        "feedback": ("feedback", screens.feedback(study, known, {"ok": "yes"}, swapped=False)),
        "guidelines": (
            "guidelines",
            {"html": markdown.page(EVIL), "consent": False, "confirm": True},
        ),
        "links": ("guidelines", {"html": markdown.page(evil), "consent": False, "confirm": False}),
        "sign in": ("signin", {"link_state": "wrong", "action": "/in/t", "name": EVIL}),
        "mine": (
            "dashboard",
            {"rows": [MINE], "parts": [("training", 1, 2)], "more": True, "message": EVIL},
        ),
        "owner": ("owner", {"progress": PROGRESS, "exports": {"labels.jsonl": "every label"}}),
        "people": (
            "people",
            {
                "rows": [{**PERSON, "last_at": "", "outlier": EVIL}],
                "link": EVIL,
                "link_for": EVIL,
                "code": "",
                "error": EVIL,
            },
        ),
        "items": ("items", {"rows": [ITEMS], "page": 2, "pages": 3, "total": 250}),
        "item": ("itempage", screens.item_page(study, ITEM, LABELS)),
        "disagreements": ("disagreements", {"rows": [CASE], "next": "i0"}),
        "adjudicate": (
            "adjudicate",
            screens.adjudicate(
                study, ITEM, [{"why": EVIL}], {}, {"justification": EVIL}, differing=["why"]
            ),
        ),
        "problem": ("problem", problem),
    }


SCREENS = screens_of(STUDY)


@pytest.mark.parametrize("screen", SCREENS)
def test_foreign_text_is_text_on_every_page(screen: str):
    name, values = SCREENS[screen]
    page = render(name, OWNER, **values)
    assert "alert(1)" in page, "the payload is on the page"
    assert "<script>" not in page
    assert "<img" not in page
    assert 'href="javascript' not in page
    assert (
        re.findall(r"<script(?! type=\"module\" src=\"/static/\w+\.[0-9a-f]{12}\.js\">)", page)
        == []
    )
    assert re.findall(r"\son\w+=\"|\sstyle=", re.sub(r"&\w+;|&#\d+;", "", page)) == [], (
        "the policy allows neither"
    )
    asked_for = re.findall(r"<(?!a )[^>]*\s(?:src|href|action)=\"(\w+:)", page)
    assert set(asked_for) <= {"data:"}, (
        "a link of the guidelines may lead elsewhere; nothing is loaded from there"
    )


def test_an_empty_answer_is_shown_as_empty():
    """As nothing, it looked like an answer that was not loaded."""
    empty = replace(ITEM, shown={**ITEM.shown, "b": " "})
    assert '<p class="none">empty</p>' in render("work", OWNER, **screens.work(STUDY, empty, {}))
    assert '<p class="none">empty</p>' not in render("work", OWNER, **screens.work(STUDY, ITEM, {}))


def test_a_condition_is_stated_as_a_sentence():
    """A label that is a question stands in quotes."""
    asked = {"name": "fits", "label": "Does it fit?", "type": "choice", "options": ["yes", "no"]}
    why = {"name": "why", "type": "text", "when": {"field": "fits", "is": "no"}}
    study = Study.model_validate(STUDY.model_dump(by_alias=True) | {"fields": [asked, why]})
    page = re.sub(r"<[^>]+>", "", render("work", OWNER, **screens.work(study, ITEM, {})))
    assert "Only if the answer to “Does it fit?” is “no”" in page
