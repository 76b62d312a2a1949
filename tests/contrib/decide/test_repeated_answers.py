"""Questions that stand several times under other ids: `certify` refuses them, `compare --labels` says so."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.contrib.decide.test_certify_draw import QUESTIONS, claimed_in, make, rate, read
from tests.program import write_jsonl

from longmark.contrib.decide.certify import certify
from longmark.contrib.decide.label_next import label_next, write
from longmark.contrib.decide.repeated_answers import RepeatedQuestions, repeated_questions
from longmark.scores.paired import read_scores
from longmark.scores.scored_answers import answers_of

RUN = "run"


def repeat(folder: Path, different: int, *, other_answers: str = "") -> None:
    """Of the questions only so many are different; the others have their texts and answers, but for those of a system."""
    examples = read(folder / RUN / "examples.jsonl")
    for example in examples:
        number = int(example["id"][2:]) % different
        example["question"] = f"What of {number}?"
        if example["system"] != other_answers:
            example["answer"] = f"{example['system']} says so of {number}."
    write_jsonl(folder / RUN / "examples.jsonl", examples)


def repeats(folder: Path) -> RepeatedQuestions:
    paths = [folder / RUN]
    scores = read_scores(paths, None, "question_id")
    return repeated_questions(paths, scores, list(answers_of(paths, scores)), [0, 1])


def test_questions_with_the_same_text_and_answers_are_counted(tmp_path: Path) -> None:
    make(tmp_path)
    assert repeats(tmp_path) == RepeatedQuestions((), QUESTIONS, 1.0)
    repeat(tmp_path, 40)
    of_three = repeats(tmp_path)
    assert (len(of_three.ids), of_three.questions, of_three.inflation) == (80, QUESTIONS, 3.0)
    assert of_three.too_many
    repeat(tmp_path, QUESTIONS - 4)
    of_four_pairs = repeats(tmp_path)
    # (112 + 4 x 2^2) / 120
    assert of_four_pairs.inflation == pytest.approx(128 / 120)
    assert (len(of_four_pairs.ids), of_four_pairs.too_many) == (4, False)


def test_equal_answers_to_other_questions_are_no_repeats(tmp_path: Path) -> None:
    make(tmp_path)
    examples = read(tmp_path / RUN / "examples.jsonl")
    write_jsonl(
        tmp_path / RUN / "examples.jsonl",
        [
            example | {"question": f"What of {example['id'][2:]}?", "answer": "I cannot say."}
            for example in examples
        ],
    )
    assert repeats(tmp_path).ids == ()


def test_a_question_that_is_answered_anew_is_no_repeat(tmp_path: Path) -> None:
    make(tmp_path)
    repeat(tmp_path, 40, other_answers="b")
    assert repeats(tmp_path).ids == ()


def test_copied_answers_are_not_certified(tmp_path: Path) -> None:
    make(tmp_path)
    repeat(tmp_path, 40)
    write(label_next([tmp_path / RUN], n=120, looks=1), tmp_path / "draw.jsonl")
    rate(tmp_path)
    certificate = certify(claimed_in(tmp_path))
    assert not certificate["granted"]
    (missing,) = (line for line in certificate["missing"] if line.startswith("Each question once"))
    assert "80 of 120 questions" in missing
    assert "3.0 times" in missing
