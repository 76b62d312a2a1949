"""One question text about several documents is several questions, wherever answers are read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.program import run, write_jsonl

from longmark import compare
from longmark.contrib.make import pairing
from longmark.errors import BadInput, UserError
from longmark.records import Context, Example
from longmark.records.documents import SharedDocuments
from longmark.records.example import question_hash

TEXT = "Summarize the document."


def example(
    place: int, passages: str = "", references: str = "", system: str | None = None, **more: Any
) -> Example:
    """passages, references: a letter for each."""
    return Example(
        id=str(place),
        question=TEXT,
        answer=f"Answer {place}.",
        contexts=tuple(Context(text=f"Passage {one}.") for one in passages),
        references=tuple(f"Reference {one}." for one in references),
        system=system,
        **more,
    )


def apart(*examples: Example) -> Any:
    documents = SharedDocuments()
    for place, one in enumerate(examples):
        documents.add(place, one)
    return documents.apart()


def summaries(path: Path, words: int, count: int = 40, first: int = 0) -> Path:
    write_jsonl(path, [
        {"id": f"doc{i}", "question": TEXT, "answer": "word " * (10 + i % 9 + words), "contexts": [f"Document {i}."]}
        for i in range(first, first + count)
    ])  # fmt: skip
    return path


def scored(folder: Path, file: Path, *options: Any) -> Any:
    out = folder / "runs" / file.stem
    words = ("run", file, "--metrics", "classic.length.words", "--out", out, "--quiet", *options)
    return run(*words, home=folder / "home")


def test_answers_without_a_passage_or_a_reference_in_common_are_of_several_questions():
    found = apart(example(0, "a"), example(1, "b"), example(2, "bc"), example(3, "c"))
    assert (len(found.ids), len(set(found.ids.values())), found.texts) == (4, 2, 1)
    assert found.ids[1] == found.ids[2] == found.ids[3] != found.ids[0], (
        "what shares a passage is one document"
    )
    assert all(one.startswith(f"{question_hash(TEXT)}.") for one in found.ids.values())


@pytest.mark.parametrize(
    "examples",
    [
        [example(0, "a"), example(1, "ab")],  # another try with the same passages
        [
            example(0, "a", "r"),
            example(1, "b", "r"),
        ],  # other passages were retrieved for the same question
        [
            example(0, "a", system="s"),
            example(1, "b", system="t"),
        ],  # two systems retrieve for themselves
        [
            example(0, "a", question_id="own"),
            example(1, "b", question_id="own"),
        ],  # the file names the question
        [example(0, "a", variant_of="q"), example(1, "b", variant_of="q")],
    ],
)
def test_what_is_one_question_stays_one(examples: list[Example]):
    found = apart(*examples)
    assert (found.ids, list(found.notices())) == ({}, [])


def test_every_system_gets_the_same_ids_in_any_order_and_alone():
    """Also a system with one answer beside one with two."""
    first = apart(*(example(place, letter) for place, letter in enumerate("abc")))
    other = apart(*(example(place, letter) for place, letter in enumerate("cab")))
    assert [first.ids[place] for place in range(3)] == [other.ids[place] for place in (1, 2, 0)]
    both = apart(
        example(0, "a", system="s"), example(1, "b", system="s"), example(2, "b", system="t")
    )
    assert [both.ids[place] for place in range(3)] == [first.ids[0], first.ids[1], first.ids[1]]


def test_references_decide_before_passages_which_document_it_is():
    """Two systems retrieve other passages of the same documents."""
    one = apart(example(0, "a", "r"), example(1, "b", "s"))
    other = apart(example(0, "c", "r"), example(1, "d", "s"))
    assert one.ids == other.ids


def test_nothing_to_tell_by_is_said_with_the_remedy():
    found = apart(*(example(place) for place in range(3)), example(4, system="t"))
    assert found.ids == {}
    assert list(found.notices()) == [
        "3 answers have 1 question text: the answers of a system to one text count as one question. If these are "
        "different tasks, give each a question_id: --map question_id=COLUMN."
    ]


def test_two_runs_of_summaries_are_paired_by_document(tmp_path: Path):
    """Forty documents, the second system always three words longer: the difference is -3 of 40 questions."""
    alpha, beta = summaries(tmp_path / "alpha.jsonl", 0), summaries(tmp_path / "beta.jsonl", 3)
    said = scored(tmp_path, alpha, "--fail-under", "classic.length.words>=5")
    assert said.code == 0, "the gate is over 40 answers"
    told = "40 answers to 1 question text are about different documents, without a passage or a reference in common"
    assert f"{told}: they count as 40 questions." in said.err
    scored(tmp_path, beta)
    found = compare([tmp_path / "runs/alpha", tmp_path / "runs/beta"])
    (pair,) = found.metrics[0].pairs
    assert pair.difference.n == 40
    assert pair.difference.value == pytest.approx(-3)
    joined = run(
        "pairs", "join", alpha, beta, "--out", tmp_path / "pairs.jsonl", home=tmp_path / "home"
    )
    assert "40 pairs" in joined.out
    look = run("look", alpha, home=tmp_path / "home").out
    assert "they count as 40 questions" in " ".join(look.split())
    rated = tmp_path / "ratings.csv"
    rated.write_text("example_id,value\n" + "".join(f"doc{i},{1 + i % 5}\n" for i in range(40)))
    assert (
        "too few questions"
        not in run("metaeval", tmp_path / "runs/alpha", rated, home=tmp_path / "home").out
    )


def test_the_same_questions_about_other_documents_are_no_questions_in_common(tmp_path: Path):
    gamma, delta = (
        summaries(tmp_path / f"{name}.jsonl", 0, 20, at)
        for name, at in (("gamma", 0), ("delta", 20))
    )
    scored(tmp_path, gamma)
    scored(tmp_path, delta)
    with pytest.raises(UserError, match="the systems have no question in common"):
        compare([tmp_path / "runs/gamma", tmp_path / "runs/delta"])
    with pytest.raises(UserError, match=r"answer no question in common.*--map question_id=COLUMN"):
        pairing.join(gamma, delta)


def test_pairs_join_takes_a_column_for_the_question_and_names_the_option(tmp_path: Path):
    files = [tmp_path / "a.jsonl", tmp_path / "b.jsonl"]
    for file in files:
        write_jsonl(
            file,
            [
                {"id": f"{i}", "doc": f"d{i}", "question": TEXT, "answer": f"{file.stem} {i}"}
                for i in range(3)
            ],
        )
    with pytest.raises(
        BadInput,
        match=r"has two answers; keep one in each file, or, if they are different tasks, give",
    ):
        pairing.join(*files)
    done = run(
        "pairs",
        "join",
        *files,
        "--map",
        "question_id=doc",
        "--out",
        tmp_path / "p.jsonl",
        home=tmp_path,
    )
    assert (done.code, "3 pairs" in done.out) == (0, True)


def test_a_run_that_is_repeated_with_other_question_ids_moves_its_rows(tmp_path: Path):
    """The scores stay as they are; the question that each row is of is that of the examples."""
    file = tmp_path / "one.jsonl"
    write_jsonl(
        file,
        [
            {"id": f"{i}", "doc": f"d{i}", "question": TEXT, "answer": "word " * (i + 1)}
            for i in range(3)
        ],
    )
    assert "3 answers have 1 question text" in scored(tmp_path, file).err
    rows = tmp_path / "runs" / "one" / "rows.jsonl"
    before = [json.loads(line) for line in rows.read_text().splitlines()]
    assert {one["question_id"] for one in before} == {question_hash(TEXT)}
    assert "3 answers have" not in scored(tmp_path, file, "--map", "question_id=doc").err
    after = [json.loads(line) for line in rows.read_text().splitlines()]
    assert [one["question_id"] for one in after] == ["d0", "d1", "d2"]
    assert [one | {"question_id": ""} for one in after] == [
        one | {"question_id": ""} for one in before
    ]
    assert not list(rows.parent.glob(".*new"))
