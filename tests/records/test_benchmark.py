"""Items of a benchmark: files in three formats, ClimaQA's published layout, and what is refused."""

from __future__ import annotations

import csv
import io
from pathlib import Path

import pytest

from longmark.errors import BadInput, UserError
from longmark.records.benchmark import Item, Passage, read_items, write_items

MCQ = Item(
    form="mcq",
    level="reasoning",
    question="Why?",
    options={"a": "Dry, cold", "b": "Wet"},
    answer="b",
    passages=(Passage(text="It is wet.", book="rain.pdf", page=7, chunk="rain.pdf#3"),),
    generator="m",
    parent="p",
    status="invalid",
    reasons=("wrong answer",),
    tier="gold",
    marks={"answerable": True},
)
FREEFORM = Item(form="freeform", level="base", question="这是什么？", answer="云。\n雨。")
CLOZE = Item(
    form="cloze",
    question="The <blank> rises.",
    answer="wind",
    statement="The wind rises.",
    proposals=("wind",),
)
OPEN = Item(form="cloze", statement="The sea rises.", proposals=("sea", "rises"))
ITEMS = [MCQ, FREEFORM, CLOZE, OPEN]


@pytest.mark.parametrize("suffix", [".jsonl", ".csv", ".tsv", ".parquet"])
def test_items_come_back_as_they_were_written(tmp_path: Path, suffix: str):
    path = tmp_path / f"bench{suffix}"
    assert write_items(ITEMS, path) == 4
    assert read_items(path) == ITEMS
    assert len({item.id for item in ITEMS}) == 4


def test_the_published_files_are_read(tmp_path: Path):
    options = "b) Sea salt\n--------------------\na) Dust: a) fine, b) coarse"
    rows = [
        {
            "Question": "Which?",
            "Options": options,
            "Answer": "a",
            "Complexity": "HYPOTHETICAL",
            "Context": "c",
        },
        {
            "Question": "Why?",
            "Options": "",
            "Answer": "Because.",
            "Complexity": "BASE",
            "Context": "",
        },
        {
            "Question": "The <MASK> of <MASK>.",
            "Options": "",
            "Answer": "mass",
            "Complexity": "",
            "Context": "",
        },
    ]
    out = io.StringIO()
    writer = csv.DictWriter(out, list(rows[0]))
    writer.writeheader()
    writer.writerows(rows)
    (tmp_path / "gold.csv").write_text(out.getvalue())
    mcq, freeform, cloze = read_items(tmp_path / "gold.csv")
    assert (mcq.form, mcq.level, mcq.answer) == ("mcq", "hypothetical", "a")
    assert mcq.options == {"a": "Dust: a) fine, b) coarse", "b": "Sea salt"}
    assert mcq.passages == (Passage(text="c"),)
    assert (freeform.form, freeform.level, freeform.answer) == ("freeform", "base", "Because.")
    assert (cloze.form, cloze.question, cloze.answer) == (
        "cloze",
        "The <blank> of <blank>.",
        "mass",
    )
    assert cloze.statement == "The mass of mass."


def test_an_item_is_an_example_with_its_right_answer():
    example = MCQ.example("a", "model")
    assert (example.question_id, example.task, example.level) == (MCQ.id, "mcq", "reasoning")
    assert (example.references, example.options, example.answer) == (("b",), MCQ.options, "a")
    assert example.meta == {"books": ["rain.pdf"], "tier": "gold"}
    with pytest.raises(UserError, match="no term of this cloze item is chosen"):
        OPEN.example()


def test_what_is_no_item_is_named_by_its_line(tmp_path: Path):
    lines = [
        '{"form": "mcq", "question": "q", "options": {"a": "x", "b": "y"}, "answer": "c"}',
        '{"form": "freeform", "question": "q", "answer": "a", "options": {"a": "x"}}',
        '{"form": "essay", "question": "q", "answer": "a"}',
        '{"form": "cloze", "question": "no blank", "answer": "a"}',
        '{"form": "freeform", "id": "1", "question": "q", "answer": "a"}',
        '{"form": "freeform", "id": "1", "question": "q", "answer": "a"}',
        '{"form": "freeform", "question": "q", "answer": "a", "status": "dropped"}',
        '["form"]',
        '{"form": "freeform"',
    ]
    (tmp_path / "bench.jsonl").write_text("\n".join(lines))
    with pytest.raises(BadInput) as raised:
        read_items(tmp_path / "bench.jsonl")
    message = str(raised.value)
    for words in (
        *(
            "letter of one of at least two options",
            "an mcq has them",
            "'mcq', 'freeform' or 'cloze'",
        ),
        *("needs <blank>", 'the id "1" is already in line 5', "found a list", "is not JSON"),
        "a dropped item needs one",
    ):
        assert words in message, message
