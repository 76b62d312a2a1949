"""The figures of a benchmark, by hand; what a model answers without the book."""

from __future__ import annotations

import pytest

from longmark.contrib.make.benchmark.figures import answered_unaided, figures
from longmark.models.handles import Models
from longmark.records.benchmark import Item, Passage
from longmark.testing import FakeChat, call


def _mcq(n: int, key: str, *texts: str, chunk: str = "1", page: int = 1) -> Item:
    options = dict(zip("abcd", texts or ("right", "wro", "wr", "w"), strict=False))
    passages = (Passage(text="x" * 50, book="b.pdf", page=page, chunk=f"b.pdf#{chunk}"),)
    return Item(
        form="mcq", level="base", question=f"Question {n}?", options=options, answer=key, passages=passages,
        status="audited", meta={"chapter": "One"},
    )  # fmt: skip


FREE = Item(
    form="freeform", level="reasoning", question="The cat sat?", answer="It sat.", status="valid"
)
DROPPED = Item(
    form="cloze",
    statement="云是水。",
    status="dropped",
    reasons=("term_missing: no word", "too_long: it is"),
)
CLOZE = Item(
    form="cloze", question="<blank>是水。", answer="云", statement="云是水。", status="invalid"
)


def test_figures_by_hand() -> None:
    items = [
        CLOZE,
        FREE,
        *(_mcq(i, "a") for i in range(6)),
        _mcq(6, "b", chunk="2", page=3),
        _mcq(7, "a", "x", "y"),
        DROPPED,
    ]
    found = figures(
        items,
        {"books": [{"id": "b.pdf", "characters": 400}, {"id": "unused.txt", "characters": 100}]},
    )
    assert (found["items"], found["usable"]) == (11, 9)
    assert found["cells"] == [
        {
            "form": "mcq",
            "level": "base",
            "items": 8,
            "usable": 8,
            "dropped": 0,
            "accepted": 0,
            "rejected": 0,
        },
        {
            "form": "freeform",
            "level": "reasoning",
            "items": 1,
            "usable": 1,
            "dropped": 0,
            "accepted": 1,
            "rejected": 0,
        },
        {
            "form": "cloze",
            "level": None,
            "items": 2,
            "usable": 0,
            "dropped": 1,
            "accepted": 0,
            "rejected": 1,
        },
    ]
    assert found["dropped"] == [{"reason": "term_missing", "form": "cloze", "items": 1}]
    # two seed chunks of 50 characters in 400, of 500 in all books; FREE has no passage
    assert found["books"] == [
        {
            "book": "1 with items of 2",
            "items": 8,
            "seeds": 2,
            "pages": 2,
            "chapters": 1,
            "share": 0.2,
        },
        {"book": "b.pdf", "items": 8, "seeds": 2, "pages": 2, "chapters": 1, "share": 0.25},
    ]
    assert [tuple(row.values()) for row in found["keys"]] == [
        (2, "a", 1, 0.5), (2, "b", 0, 0.5),
        (4, "a", 6, 1.75), (4, "b", 1, 1.75), (4, "c", 0, 1.75), (4, "d", 0, 1.75),
        (4, "the longest option", 6, 1.75),  # the two options of the eighth item are equally long
    ]  # fmt: skip
    readable = {row["form"]: row for row in found["readability"]}
    assert (readable["freeform"]["n"], readable["freeform"]["other_scripts"]) == (1, 0)
    # "The cat sat?": 3 words, 3 syllables, 1 sentence: 206.835 - 3.045 - 84.6
    assert readable["freeform"]["reading_ease"] == pytest.approx(119.19)
    assert "cloze" not in readable


def test_an_empty_set_has_figures() -> None:
    assert figures([]) == {"format": 1, "items": 0, "usable": 0, "cells": [], "dropped": [], "books": [], "keys": [],
                           "readability": [], "unaided": []}  # fmt: skip
    chinese = Item(form="cloze", question="<blank>是水。", answer="云", statement="云是水。")
    (row,) = figures([chinese])["readability"]
    assert row == {
        "form": "cloze",
        "n": 0,
        "reading_ease": None,
        "grade_level": None,
        "other_scripts": 1,
    }


def _asked(item: Item, model: FakeChat, judge: FakeChat | None = None) -> Item:
    async def step(models: Models) -> Item:
        return await answered_unaided(item, models, models.generator)

    return call(step, generator=model, judge=judge or ())


def test_items_that_a_model_knows_without_the_book() -> None:
    cloze = CLOZE.model_copy(update={"answer": "Cloud", "status": "audited"})
    knows, ignorant = FakeChat(' "cloud."', name="knows"), FakeChat("rain", name="ignorant")
    known = _asked(_asked(cloze, knows), ignorant)
    assert known.marks == {
        "asked_without_book": ["knows", "ignorant"],
        "answerable_without_book": ["knows"],
    }
    assert "x" * 50 not in knows.requests[0].messages[-1].content
    assert _asked(known, FakeChat([], name="knows")) is known  # asked once
    (first, second) = figures([known])["unaided"]
    assert (first["model"], first["share"], second["share"]) == ("knows", 1.0, 0.0)


def test_a_freeform_answer_is_compared_by_the_judge() -> None:
    judge = FakeChat("yes", name="j")
    assert _asked(FREE, FakeChat("The cat did.", name="m"), judge).marks[
        "answerable_without_book"
    ] == ["m"]
    assert "The cat did." in judge.requests[0].messages[-1].content
    assert (
        "answerable_without_book"
        not in _asked(FREE, FakeChat("A dog.", name="m"), FakeChat("no", name="j")).marks
    )


def test_an_mcq_is_known_only_in_every_order() -> None:
    marks = _asked(_mcq(1, "a"), FakeChat("a", name="m")).marks
    assert marks == {"asked_without_book": ["m"]}
