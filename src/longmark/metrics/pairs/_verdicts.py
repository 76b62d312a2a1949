"""Two answers shown to judges, in one order or in both, and the verdict that follows.

A judge sees answer A and answer B. Which of the pair's answers is A is the order. With `orders=both` each judge is
asked twice, and the verdict does not depend on the order:

    text        the two choices, if they are the same; else (a flip) a tie, or the choice of the first order (`on_flip`)
    expected    the sign of the mean log-odds  [ln(p1(A)/p1(B)) - ln(p2(A)/p2(B))] / 2,  where p1 is the order a, b and
                p2 the order b, a: a preference for a place adds the same to both and cancels out. A tie, if `tie` has
                the largest mean share.

Of several replies of one judge, and of several judges, the most frequent choice counts; a draw is a tie.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal

from longmark.concurrency import concurrently
from longmark.judge import Reader, Sampling, ask, choice, expected, numbered
from longmark.judging import Judging
from longmark.metric import SOURCES, Metric, Score, paper
from longmark.models.handles import ChatHandle, Models
from longmark.prompts import Prompt
from longmark.records.evidence import Choices, Chosen
from longmark.records.pair import Choice, Pair, Side, plurality

INPUTS = ("context", "reference", "question", "answer_a", "answer_b")
ABSENT = frozenset({"context", "reference"})
SCORES: dict[Choice, float] = {"a": 1.0, "tie": 0.0, "b": -1.0}
LETTERS = ("A", "B", "tie")
FORM = "Reply with A, B or tie, and nothing else."
LAST_LINE = "End with a last line that has nothing but your choice: A, B or tie."
BASIS = """\
If a reference is shown, it is right: the better answer has more of what the reference says, and has it right. If none \
is shown, the better answer is the one that is more correct and answers more of the question. What an answer adds \
beyond that, its length and its place count for nothing. If neither is better, it is a tie."""

_FLOOR = 1e-6  # a share below it counts as this much, so that log-odds are finite
_LETTER = expected({"a": 1.0, "b": -1.0, "tie": 0.0})


@dataclass(frozen=True)
class VerdictParams:
    """Of every judge that sees both answers."""

    orders: Literal["both", "balanced", "given"] = paper("both", "balanced")
    on_flip: Literal["tie", "first"] = "tie"
    equal: Literal["tie", "ask"] = "tie"


@dataclass(frozen=True, slots=True)
class Opinion:
    """What a judge replied to one order, in terms of what it was shown. choice: one of `LETTERS`, in lower case; votes:
    the choices of several replies; shares: choice -> probability, where probabilities were read."""

    choice: str
    votes: tuple[str, ...] = ()
    shares: Mapping[str, float] = field(default_factory=dict)
    evidence: Mapping[str, Any] = field(default_factory=dict)


Ask = Callable[[dict[str, str]], Awaitable[Opinion]]
"""A judge's opinion of the texts of a prompt's inputs."""


def shown_first(pair_id: str, orders: str, seed: int) -> tuple[Side, ...]:
    """Which answer each order shows first. balanced: one order, decided by a hash of the id and the seed, so that about
    half of all pairs are swapped."""
    if orders == "balanced":
        return ("b",) if hashlib.sha256(f"{seed}\0{pair_id}".encode()).digest()[0] & 1 else ("a",)
    return ("a", "b") if orders == "both" else ("a",)


def texts_of(pair: Pair, first: Side = "a") -> dict[str, str]:
    """The inputs of a prompt for one order; the reference and the context are empty where there is none."""
    references = pair.best_references
    return {
        "context": numbered(context.text for context in pair.contexts),
        "reference": references[0] if len(references) == 1 else numbered(references),
        "question": pair.asked,
        "answer_a": pair.shown(first),
        "answer_b": pair.shown(_other(first)),
    }


def equal(pair: Pair) -> Score | None:
    """The tie of two answers that are the same but for the space around them."""
    if pair.a.strip() != pair.b.strip() or pair.has_two_conversations:
        return None
    return Score(0.0, {"rule": "the answers are equal: a tie, no judge was asked"}, automatic=True)


async def decide(
    pair: Pair, models: Models, params: VerdictParams, judges: Mapping[str, Ask]
) -> Score:
    """The verdict of judges, each asked in every order, as a score with all choices as evidence. judges: by name."""
    if params.equal == "tie" and (tie := equal(pair)):
        return tie
    firsts = shown_first(pair.id, params.orders, models.judging.seed)
    jobs = [(name, first) for name in judges for first in firsts]
    opinions = await concurrently(lambda job: judges[job[0]](texts_of(pair, job[1])), jobs)
    chosen = []
    verdicts = {}
    flipped = False
    odds = []
    for name in judges:
        judge_opinions = [
            (first, opinion_of_order)
            for (judge_name, first), opinion_of_order in zip(jobs, opinions, strict=True)
            if judge_name == name
        ]
        choices = [
            _turned(opinion_of_order.choice, first) for first, opinion_of_order in judge_opinions
        ]
        shares = [
            {_turned(letter, first): p for letter, p in opinion_of_order.shares.items()}
            for first, opinion_of_order in judge_opinions
        ]
        if all(shares):
            verdicts[name], mean = by_odds(shares)
            odds.append(mean)
        else:
            same = len(set(choices)) == 1 or params.on_flip == "first"
            verdicts[name] = choices[0] if same else "tie"
        flipped = flipped or len(set(choices)) > 1
        for (first, opinion_of_order), choice_of_order, of_pair in zip(
            judge_opinions, choices, shares, strict=True
        ):
            details: dict[str, Any] = (
                {"votes": [_turned(vote, first) for vote in opinion_of_order.votes]}
                if opinion_of_order.votes
                else {}
            )
            details |= {"shares": of_pair} if of_pair else {}
            chosen.append(
                Chosen(
                    first=first,
                    choice=choice_of_order,
                    judge=name,
                    **details,
                    **opinion_of_order.evidence,
                )
            )
    of_all: dict[str, Any] = {"flipped": flipped} if len(firsts) > 1 else {}
    of_all |= {"log_odds": math.fsum(odds) / len(odds)} if odds else {}
    of_all |= {"verdicts": verdicts} if len(verdicts) > 1 else {}
    evidence = Choices(choices=chosen, **of_all).evidence()
    return Score(SCORES[plurality(verdicts.values()) or "tie"], evidence)


def by_odds(shares: Sequence[Mapping[Choice, float]]) -> tuple[Choice, float]:
    """The choice and the mean log-odds of a over b, from the shares of a, b and tie in each order."""
    mean = {
        side: math.fsum(order.get(side, 0.0) for order in shares) / len(shares) for side in SCORES
    }
    odds = math.fsum(_log(order, "a") - _log(order, "b") for order in shares) / len(shares)
    if odds == 0 or mean["tie"] > max(mean["a"], mean["b"]):
        return "tie", odds
    return ("a" if odds > 0 else "b"), odds


def _log(shares: Mapping[Choice, float], choice: Choice) -> float:
    return math.log(max(shares.get(choice, 0.0), _FLOOR))


def verdict_of(a: float, b: float, band: float = 0.0) -> tuple[Choice, float]:
    """The choice between two numbers of the answers, larger is better, and its score. band: the largest difference of a
    tie, up to rounding errors."""
    side: Choice = "tie" if abs(a - b) <= band + 1e-9 else "a" if a > b else "b"
    return side, SCORES[side]


def _turned(letter: str, first: Side) -> Choice:
    """A choice of what was shown, as a choice of the pair."""
    return "tie" if letter == "tie" else first if letter == "a" else _other(first)


def _other(side: Side) -> Side:
    return "b" if side == "a" else "a"


@dataclass(frozen=True, slots=True)
class ChoicePrompt:
    """How a judge is asked for a choice. text: its prompt, whose reply `choice` reads within max_tokens; expected: the
    prompt for one token; None: the choice is always read from text. fields: of the prompts, beside their inputs."""

    text: Prompt
    expected: Prompt | None
    max_tokens: int = 64
    fields: Mapping[str, str] = field(default_factory=dict)

    @property
    def prompts(self) -> tuple[Prompt, ...]:
        return (self.text, self.expected) if self.expected else (self.text,)


async def opinion(
    models: Models,
    judge: ChatHandle,
    question: ChoicePrompt,
    judging: Judging,
    texts: Mapping[str, str],
) -> Opinion:
    """A judge's opinion: by probabilities with `--scoring expected`, if the question can be asked so, else by votes."""
    texts = {**texts, **question.fields}
    if not question.expected or models.judging.by_text:
        return await _votes(models, judge, question, judging, texts)
    verdict = await ask(models, judge, question.expected, texts, _LETTER)
    shares: dict[str, float] = verdict.value[1]["distribution"]
    best = max(("tie", "a", "b"), key=shares.__getitem__)  # of equal shares the tie
    return Opinion(best, shares=shares, evidence={"reply": verdict.replies[-1]})


async def _votes(
    models: Models,
    judge: ChatHandle,
    question: ChoicePrompt,
    judging: Judging,
    texts: Mapping[str, str],
) -> Opinion:
    reader: Reader[str] = choice(LETTERS, question.max_tokens)
    verdicts = await concurrently(
        lambda n: ask(
            models, judge, question.text, texts, reader, Sampling(judging.temperature, n)
        ),
        judging.numbers,
    )
    votes = tuple(verdict.value.lower() for verdict in verdicts)
    replies = [verdict.said for verdict in verdicts]
    if len(votes) == 1:
        return Opinion(votes[0], evidence={"reply": replies[0]})
    return Opinion(plurality(votes) or "tie", votes, evidence={"replies": replies})


def judged_pairs(
    question: Callable[[Pair, Any, int], ChoicePrompt],
    prompts: tuple[Prompt, ...],
    params: type[VerdictParams],
    votes: Callable[[Any], Mapping[str, Any]] = lambda _params: {},
    replies: Callable[[Any], int] = lambda _params: 1,
) -> Metric:
    """The declaration of a metric whose judges each see both answers. question: of a pair, with the run's seed;
    votes: samples and temperature of one order, where they are the metric's own; replies: calls of one judge for one
    order."""

    async def score(pair: Pair, models: Models, metric_params: Any) -> Score:
        judge_question = question(pair, metric_params, models.judging.seed)
        often = (
            replace(models.judging, **votes(metric_params))
            if models.judging.by_text
            else models.judging
        )
        judges = {
            judge.name: partial(opinion, models, judge, judge_question, often)
            for judge in models.judges
        }
        return await decide(pair, models, metric_params, judges)

    return pair_metric(
        score,
        prompts,
        params,
        lambda metric_params, judges: judges * replies(metric_params) * orders_of(metric_params),
        True,
    )


def check_reply(max_tokens: int, temperature: float = 0.0) -> None:
    """ValueError for limits of a reply that no request takes."""
    if not 16 <= max_tokens <= 32_768:
        raise ValueError(f"max_tokens is between 16 and 32,768, not {max_tokens}")
    if not 0 <= temperature <= 2:
        raise ValueError(f"a temperature is between 0 and 2, not {temperature:g}")


def orders_of(params: VerdictParams) -> int:
    """In how many orders a judge is asked."""
    return 2 if params.orders == "both" else 1


def pair_metric(
    score: Callable[[Pair, Models, Any], Awaitable[Score]],
    prompts: tuple[Prompt, ...],
    params: type,
    calls: Callable[[Any, int], int],
    judged: bool = False,
    needs: tuple[str, ...] = ("question",),
    evidence: tuple[str, ...] = SOURCES,
) -> Metric:
    """The declaration of a judge of pairs. calls: (parameters, number of judges) -> the most calls for a pair."""
    return Metric(
        score,
        needs=needs,
        bounds=(-1, 1),
        higher_is_better=True,
        models=("judge",),
        prompts=prompts,
        params=params,
        calls=lambda _pair, metric_params, judges: calls(metric_params, judges),
        judged=judged,
        evidence=evidence,
        pairs=True,
    )
