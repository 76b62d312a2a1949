"""How many calls an answer takes, before the first one."""

from __future__ import annotations

from collections.abc import Collection

from longmark.metrics.citations._answer import CitedAnswer, read_answer
from longmark.metrics.citations._arithmetic import ASKED, FATED
from longmark.metrics.citations._grades import grade_calls
from longmark.metrics.citations._joint import support_calls
from longmark.metrics.citations._params import CitationsParams
from longmark.metrics.citations._support import (
    Pair,
    elsewhere_pairs,
    most_calls,
    pairs_in_rounds,
    possible_pairs,
)
from longmark.records import Example
from longmark.text.claims import answer_calls

Rounds = list[list[Pair]]


def _rounds(answer: CitedAnswer) -> Rounds:
    """The pairs that `checked` can ask about, by round."""
    by_sentence = [pairs_in_rounds(sentence) for sentence in answer.sentences]
    return [[pair for pairs in by_sentence for pair in pairs[number]] for number in range(3)]


def _elsewhere(answer: CitedAnswer, params: CitationsParams) -> list[Pair]:
    return elsewhere_pairs(answer.sentences, answer.sources) if params.elsewhere else []


def calls(
    example: Example,
    params: CitationsParams,
    _judges: int,
    parts: Collection[str] = ASKED,
) -> int:
    return _claim_calls(example, params, parts) + _support_calls(example, params, parts)


def _claim_calls(
    example: Example,
    params: CitationsParams,
    parts: Collection[str],
) -> int:
    """Those that list claims. How many claims there are is not known before; there are about as many as sentences."""
    if params.unit == "sentences" or not any(part in (*ASKED, "uncited") for part in parts):
        return 0
    return sum(answer_calls(example).values())


def _support_calls(
    example: Example,
    params: CitationsParams,
    parts: Collection[str],
) -> int:
    """Those of the judge or checker that decides what supports what."""
    if not any(part in ASKED for part in parts):
        return 0
    answer = read_answer(example, params)
    if params.support == "graded":
        return len(grade_calls(answer.sentences, answer.sources, params.batch))
    rounds = _rounds(answer)
    elsewhere = _elsewhere(answer, params)
    count = 0
    together: set[Pair] = set()
    if params.asks_jointly:
        for pairs in (possible_pairs(answer.sentences), elsewhere):
            joint_calls, _ = support_calls(pairs, answer.sources, params.batch)
            count += len(joint_calls)
            together.update(pair for call in joint_calls for pair in call.pairs)
    asked_rounds = rounds if FATED & set(parts) else rounds[:1]
    alone = [
        [pair for pair in pairs if pair not in together] for pairs in (*asked_rounds, elsewhere)
    ]
    return count + most_calls(alone, answer.sources, params.batch)[0]


def checks(
    example: Example,
    params: CitationsParams,
    parts: Collection[str] = ASKED,
) -> int:
    return 0 if params.support == "graded" else _support_calls(example, params, parts)


def pairs_asked(
    example: Example,
    params: CitationsParams,
    parts: Collection[str] = ASKED,
) -> int:
    """Of a checker that is no judge, which no joint call asks."""
    if params.support == "graded" or not any(part in ASKED for part in parts):
        return 0
    answer = read_answer(example, params)
    rounds = _rounds(answer)
    elsewhere = _elsewhere(answer, params)
    asked_rounds = rounds if FATED & set(parts) else rounds[:1]
    return most_calls([*asked_rounds, elsewhere], answer.sources, params.batch)[1]
