"""What the demo makes of the claim checker's recorded replies about listed facts. Values are worked by hand."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("scipy")

from bench.demo_checks import recall_of, record

from longmark.contrib.demo.answers import Corpus
from longmark.contrib.demo.recalled import Recalled
from longmark.contrib.demo.recorded import RecordedChecker, unpacked
from longmark.models.protocols import RelationReply
from longmark.records import Example

FACTS = ("It broke.", "Nine died.", "It was rebuilt.")
WHOLE, LEFT_OUT = "It broke. Nine died. It was rebuilt.", "It broke. It was rebuilt."


class Reads(RecordedChecker):
    """Supports a fact whose words stand in the answer."""

    async def classify(self, premise: str, hypotheses: Sequence[str]) -> RelationReply:
        supported = [0.9 if hypothesis in premise else 0.1 for hypothesis in hypotheses]
        return RelationReply(tuple((value, 0.0, 1 - value) for value in supported))


def corpus() -> Corpus:
    """Two questions, each with an answer of `a` that says all facts and one of `b` of which the second was deleted."""
    answers, labels = [], dict[str, list[dict[str, Any]]]()
    for question in ("dam", "levee"):
        for system, text in (("a", WHOLE), ("b", LEFT_OUT)):
            answers.append(
                Example(
                    id=f"{question}-{system}",
                    question_id=question,
                    question=question,
                    answer=text + f" ({question})",
                    system=system,
                    reference_claims=FACTS,
                )
            )
            labels[answers[-1].id] = []
        at = LEFT_OUT.index("It was")
        labels[f"{question}-b"] = [
            {"kind": "deleted", "start": at, "end": at, "new": "", "old": "Nine died. "}
        ]
    return Corpus(answers, labels)


def recalled(tmp_path: Path, examples: Sequence[Example]) -> Recalled:
    """With the replies about these answers recorded."""
    work, out = tmp_path / "work", tmp_path / "checks.sqlite.gz"
    work.mkdir()
    asyncio.run(record(work, {"recall": recall_of(examples)}, out, Reads()))
    unpacked(out, cache := tmp_path / "checks.sqlite")
    return Recalled.scored(corpus(), tmp_path, cache)


def test_recall_is_the_share_of_the_listed_facts_that_the_recording_calls_supported(tmp_path: Path):
    answers = corpus()
    scored = recalled(tmp_path, [*answers.answers, *answers.beside("deleted")])
    assert scored.score == {
        "dam-a": 1.0,
        "dam-b": pytest.approx(2 / 3),
        "levee-a": 1.0,
        "levee-b": pytest.approx(2 / 3),
    }
    assert scored.result is not None
    assert [(one.system, one.mean.value) for one in scored.result.systems] == [
        ("a", 1.0),
        ("b", pytest.approx(2 / 3)),
    ]
    assert scored.questions == 2
    assert scored.lower("deleted") == (2, 0, 2)  # 2 of 3 facts, 3 of 3 without the defect
    assert scored.lower("number") is None


def test_a_question_of_which_an_answer_is_not_recorded_is_left_out(tmp_path: Path):
    scored = recalled(tmp_path, corpus().answers[:3])
    assert set(scored.score) == {"dam-a", "dam-b"}
    assert scored.questions == 1
    # the levee's answer with the defect was not asked; of the dam both are
    assert scored.lower("deleted") == (1, 0, 1)


def test_without_a_whole_question_nothing_is_scored(tmp_path: Path):
    scored = recalled(tmp_path, corpus().answers[:1])
    assert (scored.score, scored.questions, scored.result) == ({}, 0, None)


def test_both_is_the_harmonic_mean_and_needs_both():
    scored = Recalled({"a": 0.5, "b": 0.0, "c": 1.0}, 1, None, None)
    # 2 * .5 * 1 / 1.5; nothing is recalled and nothing supported; c has no other score
    assert scored.with_other({"a": 1.0, "b": 0.0}) == {"a": pytest.approx(2 / 3), "b": 0.0}


def test_an_answer_with_a_deleted_fact_alone_stands_behind_the_same_answer_without_any_defect():
    beside = corpus().beside("deleted")
    assert [example.answer for example in beside] == [
        f"{text} ({question})" for question in ("dam", "levee") for text in (WHOLE, LEFT_OUT)
    ]
