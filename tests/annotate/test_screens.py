"""Pages as HTML, without a browser: every screen renders, foreign text is escaped, names of form fields."""

import re
from dataclasses import replace

import pytest

from longmark.annotate import markdown, screens
from longmark.annotate.items import Item
from longmark.annotate.screens import (
    Adjudicate,
    Dashboard,
    Disagreement,
    Disagreements,
    Feedback,
    Frame,
    Guidelines,
    ItemPage,
    ItemRow,
    Items,
    Labels,
    Mine,
    Owner,
    People,
    PersonRow,
    Problem,
    SignIn,
    Stale,
    Work,
    render,
)
from longmark.annotate.store import Person
from longmark.annotate.study import Study
from longmark.report.tables import Column, Table

EVIL = "<script>alert(1)</script>\"'><img src=x onerror=alert(2)>"
FIELDS = [
    {"name": "ok", "type": "choice", "options": ["yes", {"value": "no", "key": "n", "guidance": EVIL}], "help": EVIL},
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
ITEM = Item(
    "i/1 ü",
    "q",
    {"a": "secret-system-one", "b": "secret-system-two"},
    {"question": f"Wörter, {EVIL}", "a": f"first {EVIL}\r\nline", "b": "second", "profile": {"role": EVIL}}
    | {"passages": [{"text": EVIL, "page": 3}]},
)
OWNER = Frame(EVIL, Person("p1", EVIL, "owner"), "the-token", "ar", notice=EVIL)
TABLE = Table("t", EVIL, (Column("who"), Column("n")), [(EVIL, 3)], note=EVIL)
SCREENS = [
    Work(OWNER, STUDY, ITEM, {"f.ok": ["no"], "f.why": [EVIL]}, {"ok": EVIL}, suggestions=[EVIL], once="key-1"),
    Work(OWNER, STUDY, ITEM, {"f.ok": ["yes"]}, stale=Stale({"f.ok": ["no"], "f.why": [EVIL]}, "2026-11-23T04:05:06Z")),
    Work(OWNER, STUDY, ITEM, preview=True, swapped=True),
    Feedback(OWNER, STUDY, replace(ITEM, gold={"ok": "no"}, meta={"explanation": EVIL}), {"ok": "yes"}, 0, 1),
    Guidelines(OWNER, markdown.page(EVIL), confirm=True),
    SignIn(OWNER, "wrong", "/in/t", EVIL),
    Dashboard(OWNER, [Mine("a/b", EVIL, "skipped", reason=EVIL, part="training")], [("training", 1, 2)], message=EVIL),
    Guidelines(OWNER, markdown.page(f"# Read\n\n{EVIL}\n\n![x](http://a/b.png) [k](javascript:alert(1))")),
    Owner(OWNER, [("n", EVIL)], [TABLE], [TABLE], [EVIL], [("labels.jsonl", "every label")]),
    People(OWNER, [PersonRow("p1", EVIL, "owner", phases=1, failed=True, outlier=EVIL)], EVIL, EVIL, EVIL),
    Items(OWNER, [ItemRow("a/b", EVIL)], 2, 3, 250),
    ItemPage(OWNER, STUDY, ITEM, [Labels(EVIL, {"ok": "no", "why": EVIL})], Labels("final", {"ok": "yes"})),
    Disagreements(OWNER, [Disagreement("a/b", EVIL, [EVIL])]),
    Adjudicate(OWNER, STUDY, ITEM, [{"why": EVIL}], {}, {"justification": EVIL}, ["why"]),
    Problem(OWNER, 409, EVIL, EVIL, EVIL, [(EVIL, EVIL)]),
]


@pytest.mark.parametrize("screen", SCREENS, ids=lambda screen: type(screen).__name__)
def test_foreign_text_is_text_on_every_page(screen: screens.Screen):
    page = render(screen)
    assert "alert(1)" in page, "the payload is on the page"
    assert "<script>" not in page
    assert "<img" not in page
    assert 'href="javascript' not in page
    assert re.findall(r"<script(?! type=\"module\" src=\"/static/\w+\.[0-9a-f]{12}\.js\">)", page) == []
    assert re.findall(r"\son\w+=\"|\sstyle=", re.sub(r"&\w+;|&#\d+;", "", page)) == [], "the policy allows neither"
    asked_for = re.findall(r"<(?!a )[^>]*\s(?:src|href|action)=\"(\w+:)", page)
    assert set(asked_for) <= {"data:"}, "a link of the guidelines may lead elsewhere; nothing is loaded from there"


def test_an_empty_answer_is_shown_as_empty():
    """As nothing, it looked like an answer that was not loaded."""
    page = render(Work(OWNER, STUDY, replace(ITEM, shown={**ITEM.shown, "b": " "}), {}))
    assert '<p class="none">empty</p>' in page
    assert '<p class="none">empty</p>' not in render(Work(OWNER, STUDY, ITEM, {}))


def test_a_condition_is_stated_as_a_sentence():
    """A label that is a question stands in quotes."""
    asked = {"name": "fits", "label": "Does it fit?", "type": "choice", "options": ["yes", "no"]}
    why = {"name": "why", "type": "text", "when": {"field": "fits", "is": "no"}}
    study = Study.model_validate(STUDY.model_dump(by_alias=True) | {"fields": [asked, why]})
    page = re.sub(r"<[^>]+>", "", render(Work(OWNER, study, ITEM, {})))
    assert "Only if the answer to “Does it fit?” is “no”" in page
