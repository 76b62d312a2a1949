"""ReFeR: which answer has the higher rating, by reviewers and an area chair (CALF, appendix C.6).

Each answer is rated by itself, so there is no order of answers. Each reviewer writes a short analysis and a rating from
1 to 5, which may have decimals. The chair reads the reviews and rates the answer. The two ratings of the chair are
compared; the evidence has all of them. With several judges the reviewers and the chair are assigned to them in turn, or
as the panel's `reviewers` and `chair` set.
Cost: 2 x (reviewers + 1) calls.

Parameters: band: ratings that differ by no more are a tie.
Deviations: the paper's reviewers are three models with one prompt; ours are told what to look at first, because one
model with one prompt would write three equal reviews.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

from longmark.concurrency import concurrently
from longmark.judge import Sampling, ask, number
from longmark.metric import Score
from longmark.metrics._signed_file import BUILT_IN, signed
from longmark.metrics.pairs._files import PANEL_FILE, parts, played_by
from longmark.metrics.pairs._verdicts import (
    ABSENT,
    check_reply,
    equal,
    pair_metric,
    texts_of,
    verdict_of,
)
from longmark.models.handles import Models
from longmark.prompts import Prompt
from longmark.records.evidence import Choices, Chosen
from longmark.records.pair import Pair

LOW = 1
HIGH = 5
_INPUTS = ("context", "answer", "reference", "question")
_SCALE = """\
If a reference is shown, it is right, and the rating says how well the answer agrees with it. The scale:
5: every key point is there and right, and nothing important is wrong.
4: most key points are there; little is missing or beside the point.
3: some key points are there, others are missing.
2: several key points are missing, or much is wrong.
1: it does not answer the question, or is wrong in the main.
Decimals are allowed. Write a short analysis, then a last line in the form: score: 3.5"""
REVIEW = Prompt(
    "pairs.refer.review",
    _INPUTS,
    f"You review the answer to the question as $role. $description\n{_SCALE}",
    may_be_absent=ABSENT,
)
CHAIR = Prompt(
    "pairs.refer.chair",
    (*_INPUTS, "reviews"),
    f"You decide on the answer to the question as $role; the reviews are by others. $description\n{_SCALE}",
    may_be_absent=ABSENT,
)


@dataclass(frozen=True)
class ReferParams:
    temperature: float = 0.7
    panel: str = BUILT_IN
    band: float = 0.0
    equal: Literal["tie", "ask"] = "tie"
    max_tokens: int = 384

    def __post_init__(self) -> None:
        object.__setattr__(self, "panel", signed(self.panel, PANEL_FILE))
        if not 0 <= self.band < HIGH - LOW:
            raise ValueError(f"band is from 0 to below {HIGH - LOW}, not {self.band:g}")
        check_reply(self.max_tokens, self.temperature)


async def score(pair: Pair, models: Models, params: Any) -> Score:
    """The comparison of the chair's ratings of both answers."""
    if params.equal == "tie" and (tie := equal(pair)):
        return tie
    pair_texts = texts_of(pair)
    a, b = await concurrently(
        lambda side: rate(models, params, {**pair_texts, "answer": pair_texts[side]}), _SIDES
    )
    verdict = verdict_of(a["rating"], b["rating"], params.band)
    details: dict[str, Any] = {"ratings": {"a": a["rating"], "b": b["rating"]}, "a": a, "b": b}
    return Score(
        verdict[1],
        Choices(choices=[Chosen(choice=verdict[0], judge=a["judge"])], **details).evidence(),
    )


_SIDES = ("answer_a", "answer_b")


async def rate(models: Models, params: Any, texts: dict[str, str]) -> dict[str, Any]:
    """The chair's rating of an answer, with its reviews."""
    reader = replace(number(LOW, HIGH), max_tokens=params.max_tokens)
    people = parts(params.panel, "reviewers")
    (chair,) = parts(params.panel, "chair")

    async def rating_by(place: int) -> dict[str, Any]:
        who = people[place] if place < len(people) else chair
        judge = played_by(who, place, models.judges)
        sample = models.judging.seed * (len(people) + 1) + place if params.temperature else 0
        prompt = REVIEW if place < len(people) else CHAIR
        filled = {**texts, "role": who.name, "description": who.text}
        verdict = await ask(
            models, judge, prompt, filled, reader, Sampling(params.temperature, sample)
        )
        return {
            "role": who.name,
            "judge": judge.name,
            "rating": verdict.value,
            "reply": verdict.said,
        }

    reviews = await concurrently(rating_by, range(len(people)))
    texts = {
        **texts,
        "reviews": "\n\n".join(f"{review['role']}:\n{review['reply']}" for review in reviews),
    }
    return {**await rating_by(len(people)), "reviews": reviews}


METRIC = pair_metric(
    score,
    (REVIEW, CHAIR),
    ReferParams,
    lambda params, _judges: 2 * (len(parts(params.panel, "reviewers")) + 1),
)
