"""Key points: which answer has more of those of the reference, by the method of CALF's raters (appendix B.1).

    value of a point in an answer = P(totally correct) + partial x P(partially correct)
    sum of an answer              = the sum of its points' values
    score                         = 1 (a has the larger sum), 0 (the sums differ by at most `band`), -1 (b has)

1. The first judge lists the key points of the reference, once for a question. Points that the pair carries
   (`reference_claims`) are taken as they are.
2. Each judge looks for each point in each answer: A totally correct, B partially correct, C wrong, D absent. The
   probabilities are those of these four letters as the first token of the reply, renormalised. A wrong and an absent
   point count 0, as in the paper. If the endpoint gives no log-probabilities, the printed letter has probability 1,
   and the row has `read: printed`.

No judge sees both answers, so there is no order of answers. An empty answer has no point, without a call.
Unscored: no reference (`missing_input`); a reference without a key point (`undefined`).
Cost: 1 call for the list, and for each judge 2 x (number of points).

Parameters: partial: the value of a partially correct point; the paper does not state it. band: the
largest difference of the sums that is a tie. reference: the `concise` reference, from which the paper's raters list the
points, or the `expanded` one.
Deviations: the paper's raters are people.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, StrictStr, StringConstraints

from longmark.concurrency import concurrently
from longmark.errors import NoScore
from longmark.judge import TOP_LOGPROBS, Reader, Unreadable, ask, choice, expected, structure
from longmark.metric import Score
from longmark.metrics.pairs._verdicts import SCORES, equal, pair_metric, verdict_of
from longmark.models.handles import ChatHandle, Models
from longmark.models.protocols import ChatReply
from longmark.prompts import prompt
from longmark.records.evidence import Choices, Chosen
from longmark.records.pair import Pair, plurality
from longmark.text.claims import each_once
from longmark.text.sentences import sentences

MOST_POINTS = 40
LABELS = {"a": "totally correct", "b": "partially correct", "c": "wrong", "d": "absent"}

POINTS = prompt("""pairs.keypoints.points(reference, question)
List the key points of the reference: each piece of information that a full answer to the question has to have. A key \
point is one main statement, in one short sentence that is understood by itself; leave out details and examples that \
only explain it. Add nothing, and write in the language of the reference.
Reply with a JSON object and nothing else, {"points": ["...", "..."]}; where there is no key point, {"points": []}.""")
LOOK = prompt("""pairs.keypoints(answer, question, point)
Look for the point in the answer to the question. Only its main statement matters: other words, and details of the \
answer's own, are no fault.
A: the answer makes this point, and has it right.
B: the answer makes a part of this point, or has it partly right.
C: the answer speaks of this point, but has it wrong.
D: the answer does not make this point.
Reply with one letter and nothing else.""")


@dataclass(frozen=True)
class KeyPointParams:
    partial: float = 0.5
    band: float = 0.0
    reference: Literal["concise", "expanded"] = "concise"
    equal: Literal["tie", "ask"] = "tie"

    def __post_init__(self) -> None:
        if not 0 <= self.partial <= 1:
            raise ValueError(f"partial is between 0 and 1, not {self.partial:g}")
        if not 0 <= self.band < math.inf:
            raise ValueError(f"band is a number of key points from 0, not {self.band:g}")


Point = Annotated[StrictStr, StringConstraints(max_length=2000)]


class _Points(BaseModel):
    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})

    points: list[Point]


def _few(extracted: _Points) -> list[str]:
    points = list(each_once(extracted.points).values())
    if len(points) > MOST_POINTS:
        raise Unreadable(
            f"it lists {len(points)} points; list the {MOST_POINTS} or fewer that matter most"
        )
    return points


_LIST = structure(_Points, 1024).then(_few)
_TOKEN = expected(dict.fromkeys(LABELS, 0.0))
_PRINTED = choice([letter.upper() for letter in LABELS], 8)


def _shares(reply: ChatReply) -> tuple[dict[str, float], str]:
    """Letter -> probability, and how it was read."""
    if reply.logprobs:
        return _TOKEN.read(reply)[1]["distribution"], "log-probabilities"
    printed = _PRINTED.read(reply).lower()
    return {letter: float(letter == printed) for letter in LABELS}, "printed"


_LOOKED: Reader[tuple[dict[str, float], str]] = Reader(
    _shares, 8, TOP_LOGPROBS, needs_logprobs=False
)


def value(shares: Mapping[str, float], partial: float) -> float:
    """What a point counts in an answer, from the shares of the four labels."""
    return shares["a"] + partial * shares["b"]


async def key_points(models: Models, pair: Pair, params: Any) -> list[str]:
    """The key points of a pair's reference: those it carries, else those that the first judge lists."""
    if pair.reference_claims is not None:
        return list(pair.reference_claims)
    texts = {"reference": "\n\n".join(_references(pair, params)), "question": pair.asked}
    return (await ask(models, models.judges[0], POINTS, texts, _LIST)).value


async def score(pair: Pair, models: Models, params: Any) -> Score:
    """The comparison of the sums of both answers' points."""
    if params.equal == "tie" and (tie := equal(pair)):
        return tie
    points = await key_points(models, pair, params)
    if not points:
        raise NoScore("undefined", "The reference has no key point.")
    jobs = [
        (judge, answer) for judge in models.judges for answer in (pair.shown("a"), pair.shown("b"))
    ]
    # One answer after the other: the calls of one begin with the same text, which a cache of prompts then holds.
    looked = [await _look(models, judge, pair.asked, answer, points) for judge, answer in jobs]
    verdicts = {}
    choices = []
    for i, judge in enumerate(models.judges):
        sums = [
            math.fsum(value(look["shares"], params.partial) for look in looked[2 * i + side])
            for side in (0, 1)
        ]
        verdicts[judge.name] = verdict_of(sums[0], sums[1], params.band)[0]
        rows = [
            {"point": point, "a": _shown(a, params.partial), "b": _shown(b, params.partial)}
            for point, a, b in zip(points, looked[2 * i], looked[2 * i + 1], strict=True)
        ]
        sums_of = {"a": sums[0], "b": sums[1]}
        read = sorted({look["read"] for side in (0, 1) for look in looked[2 * i + side]})
        details: dict[str, Any] = {"sums": sums_of, "points": rows, "read": read}
        choices.append(Chosen(choice=verdicts[judge.name], judge=judge.name, **details))
    count: dict[str, Any] = {"key_points": len(points)}
    return Score(
        SCORES[plurality(verdicts.values()) or "tie"], Choices(choices=choices, **count).evidence()
    )


async def _look(
    models: Models, judge: ChatHandle, question: str, answer: str, points: Sequence[str]
) -> list[dict[str, Any]]:
    """How an answer has each point."""
    if not answer.strip():
        absent = {letter: float(letter == "d") for letter in LABELS}
        return [{"shares": absent, "read": "rule: the answer is empty"} for _ in points]

    async def of_point(point: str) -> dict[str, Any]:
        texts = {"answer": answer, "question": question, "point": point}
        shares, read = (await ask(models, judge, LOOK, texts, _LOOKED)).value
        return {"shares": shares, "read": read}

    return await concurrently(of_point, points)


def _shown(look: dict[str, Any], partial: float) -> dict[str, Any]:
    shares = look["shares"]
    return {
        "label": LABELS[max(shares, key=shares.__getitem__)],
        "value": value(shares, partial),
        "shares": shares,
    }


def _references(pair: Pair, params: Any) -> tuple[str, ...]:
    return (
        pair.best_references
        if params.reference == "expanded"
        else pair.references or pair.best_references
    )


def _calls(pair: Pair, params: Any, judges: int) -> int:
    """The key points are not known before the first call; there are about as many as sentences of the reference."""
    if params.equal == "tie" and equal(pair):
        return 0
    answers = sum(bool(answer.strip()) for answer in (pair.a, pair.b))
    if pair.reference_claims is not None:
        return answers * len(pair.reference_claims) * judges
    listed = sum(len(sentences(reference)) for reference in _references(pair, params))
    return 1 + answers * min(MOST_POINTS, listed) * judges


METRIC = replace(
    pair_metric(
        score,
        (POINTS, LOOK),
        KeyPointParams,
        lambda _params, _judges: 0,
        needs=("question", "references"),
        evidence=("question", "references"),
    ),
    calls=_calls,
    carries=lambda pair, _params, _part: (
        ("references",) if pair.reference_claims is not None or pair.expanded_reference else ()
    ),
)
