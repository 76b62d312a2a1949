"""Answers of two systems, paired by question."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.program import run, write_jsonl

from longmark.contrib.make.pairing import join, paired
from longmark.errors import BadInput, UserError
from longmark.records import Example, Pair
from longmark.records.read import Reading


def _answers(system: str, n: int, **more: Any) -> list[Example]:
    return [
        Example(id=f"{system}{i}", question=f"q{i}", answer=f"{system} {i}", system=system, **more)
        for i in range(n)
    ]


def test_two_files_are_joined_by_question(tmp_path: Path) -> None:
    one = [
        {"question": "q1", "answer": "x1", "context": "c"},
        {"question": "q2", "answer": "x2", "reference": "r"},
    ]
    other = [{"question": "Q2", "answer": "y2"}, {"question": "q1 ", "answer": "y1", "context": "d"},
             {"question": "q3", "answer": "y3"}, {"question": "q4", "answer": None}]  # fmt: skip
    sources = (
        write_jsonl(tmp_path / "left.jsonl", one),
        write_jsonl(tmp_path / "right.jsonl", other),
    )
    joined = join(*sources, keep_order=True)
    found = [(pair.a, pair.b, pair.references, pair.contexts) for pair in joined.pairs]
    assert found == [("x1", "y1", (), ()), ("x2", "y2", ("r",), ())]
    assert {(pair.a_system, pair.b_system, pair.mode) for pair in joined.pairs} == {
        ("left", "right", "model/model")
    }
    assert joined.left_out == {
        "a question that the other source does not answer": 1,
        "no answer (null)": 1,
    }


def test_two_answers_to_a_question_in_one_file_and_no_common_question(tmp_path: Path) -> None:
    one = write_jsonl(
        tmp_path / "one.jsonl", [{"question": "q", "answer": "x"}, {"question": "q", "answer": "y"}]
    )
    other = write_jsonl(tmp_path / "other.jsonl", [{"question": "p", "answer": "x"}])
    with pytest.raises(
        BadInput, match=r'one.jsonl: question "\w+" has two answers; keep one in each file'
    ):
        join(one, other)
    with pytest.raises(UserError, match="answer no question in common"):
        join(other, write_jsonl(tmp_path / "third.jsonl", [{"question": "r", "answer": "x"}]))


@pytest.mark.parametrize("n", [1, 10, 11])
def test_sides_are_balanced_whatever_the_order(n: int) -> None:
    both = list(zip(_answers("s", n), _answers("t", n), strict=True))
    pairs = paired(both)
    firsts = Counter(pair.a_system for pair in pairs)
    assert abs(firsts["s"] - firsts["t"]) == n % 2
    again = {pair.id: pair for pair in paired([(t, s) for s, t in reversed(both)])}
    assert again == {pair.id: pair for pair in pairs}
    assert n < 10 or paired(both, seed=1) != pairs


def test_the_verb(tmp_path: Path) -> None:
    for name in ("s", "t"):
        write_jsonl(
            tmp_path / f"{name}.jsonl",
            [one.model_dump(exclude_defaults=True) for one in _answers(name, 4)],
        )
    words = ("pairs", "join", "s.jsonl", "t.jsonl", "--out", "pairs.csv")
    done = run(*words, home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, done.out, done.err) == (0, "4 pairs: pairs.csv\n", "")
    for more, firsts in (((), {"s": 2, "t": 2}), (("--keep-order",), {"s": 4})):
        assert run(*words, *more, home=tmp_path / "home", cwd=tmp_path).code == 0
        assert (
            Counter(
                pair.a_system for pair in Reading(tmp_path / "pairs.csv") if isinstance(pair, Pair)
            )
            == firsts
        )
    assert run(*words[:3], "t.txt", *words[4:], home=tmp_path / "home", cwd=tmp_path).code == 2


def test_joined_answers_of_conversations_keep_the_turns_before_them(tmp_path: Path) -> None:
    def conversation(first: str, last: str) -> dict[str, Any]:
        texts = ("Hi", first, "And now?", last)
        roles = ("user", "assistant") * 2
        turns = [{"role": role, "content": text} for role, text in zip(roles, texts, strict=True)]
        return {"question_id": "c", "turns": turns}

    sources = [
        write_jsonl(tmp_path / f"{name}.jsonl", [conversation(first, name)])
        for name, first in (("left", "Hello."), ("right", "Hey."), ("third", "Hello."))
    ]
    (differing,) = join(sources[0], sources[1], keep_order=True).pairs
    assert (differing.question, differing.a, differing.b) == ("And now?", "left", "right")
    assert [turn.text for turn in differing.turns] == ["Hi", "Hello.", "And now?"]
    assert [turn.text for turn in differing.b_turns] == ["Hi", "Hey.", "And now?"]
    (alike,) = join(sources[0], sources[2], keep_order=True).pairs
    assert [turn.text for turn in alike.turns] == ["Hi", "Hello.", "And now?"]
    assert alike.b_turns == ()
    single = _single_pair(tmp_path)
    assert (single.turns, single.b_turns) == ((), ())


def _single_pair(folder: Path) -> Pair:
    exchange = [{"role": "user", "content": "q"}, {"role": "assistant", "content": "x"}]
    one = write_jsonl(folder / "one.jsonl", [{"turns": exchange}])
    other = write_jsonl(
        folder / "other.jsonl", [{"turns": [exchange[0], {**exchange[1], "content": "y"}]}]
    )
    (pair,) = join(one, other).pairs
    return pair
