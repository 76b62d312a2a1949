"""Specificity: does the answer give particulars, and do the passages bear them out? (SCORE, section 3.1, equation 1)

The first judge divides the answer into claims and picks out of the whole list the details that they give on the
domain's dimensions (hazards: hazard, location, timeline, intensity). Each of K judges then labels every claim on every
dimension: yes (stated, and the passages bear it out), no (stated, and they do not), n/a (not stated). It copies the
words that it goes by, and code looks for them: a yes or no by words that the claim does not have is n/a, a yes by words
that the passages do not have is no. The vote is the most frequent label; a tie that involves n/a is n/a, one of yes and
no is no.

    mean of a dimension  = claims voted yes / claims voted yes or no
    specificity          = sum(weight x mean) / sum(weight), over the dimensions that have a mean

Range [0, 1], higher is better. Values: `score.specificity`, and one for each dimension of the domain (`--domain`) under
that name. No value (`undefined`): an answer without claims; a dimension that is n/a in all claims, and the score where
all of them are. A label that a judge leaves out counts as n/a in the vote. A label that is none of the three, and a
reply without any label, is asked for once more; then the one counts as left out, and with the other there is no value.
Evidence counts what was left out (`labels_left_out`), what code set by the words (`labels_set_by_words`), and what was
said for a label (`said_for_a_label`).
Several judges are asked once each, at temperature 0; one judge is asked `samples` times.
Cost, for an answer of up to 4,000 bytes: 1 call for claims, 1 for details, then claims x K. Longer answers and lists
are worked on in pieces of that size, and a claim is judged with the details of its own piece.

Parameters: samples, temperature: of a single judge. all_na: `zero` scores 0 where all dimensions of all claims are n/a,
as the authors do (63 of their 1,412 answers); the dimensions have no value then either.
Deviations: the prompts are ours. A judge copies words before it gives the label, and code checks them; the paper's
explains itself and is believed (design/small-judges.md has what that comes to with a small one). For K other than 3 the
rule for ties is ours: the paper has none, and with three judges a tie is always of all three labels, for which the
authors' data has n/a. A single judge that is sampled is ours too; the paper has three models.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from longmark.concurrency import concurrently
from longmark.domain import Domain
from longmark.errors import NoScore
from longmark.judge import TEMPERATURE
from longmark.metric import Metric, Score, Value
from longmark.models.handles import ChatHandle, Models
from longmark.records import Example
from longmark.text.claims import CLAIMS, PIECE, claim_calls, claims
from longmark.text.details import DETAILS, LABELLING, Mark, details, labels
from longmark.text.pieces import utf8_size
from longmark.text.sentences import sentences
from longmark.text.votes import Label, share_of_yes, vote, weighted_score

MOST_SAMPLES = 1000
"""Each claim is judged so many times: beyond it a number is a slip of the pen, not a plan."""


@dataclass(frozen=True)
class Params:
    samples: int = 3  # SCORE has three judges
    temperature: float = 0.7
    all_na: Literal["undefined", "zero"] = "undefined"

    def __post_init__(self) -> None:
        if not 1 <= self.samples <= MOST_SAMPLES:
            raise ValueError(
                f"samples counts the questions to a single judge: from 1 to {MOST_SAMPLES:,}, not {self.samples}"
            )
        if not 0 <= self.temperature <= 2:
            raise ValueError(f"temperature is between 0 and 2, not {self.temperature:g}")
        if self.samples > 1 and self.temperature == 0:
            raise ValueError("at temperature 0 all samples would say the same: set samples=1, or a temperature above 0")


@dataclass(frozen=True, slots=True)
class Juror:
    """One of the K voices: a judge, or a sample of the single one."""

    judge: ChatHandle
    temperature: float
    sample: int


@dataclass(frozen=True, slots=True)
class Judged:
    """A claim, the marks of every juror, and the vote, by dimension."""

    claim: str
    marks: Sequence[Mapping[str, Mark]]
    votes: Mapping[str, Label]


async def score(example: Example, models: Models, params: Params) -> dict[str, Score | NoScore]:
    """The score under "", the mean of each dimension under its name."""
    found = await claims(models, example.answer or "")
    if not found:
        raise NoScore("undefined", "The answer makes no claim: there is nothing that could be specific.")
    batches = _batches(found)
    known = await concurrently(lambda batch: details(models, batch), batches)
    known_of = [its for batch, its in zip(batches, known, strict=True) for _ in batch]
    jury = _jury(models, params)
    passages = [context.text for context in example.contexts]

    async def mark(question: tuple[int, Juror]) -> Mapping[str, Mark]:
        i, juror = question
        verdict = await labels(
            models,
            juror.judge,
            found[i],
            known_of[i],
            passages,
            temperature=juror.temperature,
            sample=juror.sample,
        )
        return verdict.value

    marks = await concurrently(mark, [(i, juror) for i in range(len(found)) for juror in jury])
    judged = [_vote(found[i], marks[i * len(jury) : (i + 1) * len(jury)]) for i in range(len(found))]
    weights = models.domain.weights
    shared = {
        "judges": [juror.judge.name for juror in jury],
        "details": {name: list(dict.fromkeys(d for its in known for d in its[name])) for name in weights},
    }
    return {"": _overall(judged, weights, params, shared), **{name: _of_dimension(name, judged) for name in weights}}


def _jury(models: Models, params: Params) -> list[Juror]:
    if len(models.judges) > 1:
        return [Juror(judge, TEMPERATURE, 0) for judge in models.judges]
    temperature = params.temperature if params.samples > 1 else TEMPERATURE
    first = models.seed * params.samples  # another seed asks for other samples
    return [Juror(models.judges[0], temperature, first + k) for k in range(params.samples)]


def _batches(found: Sequence[str]) -> list[list[str]]:
    """The claims in order, in lists of at most PIECE bytes."""
    batches: list[list[str]] = []
    room = 0
    for claim in found:
        size = utf8_size(claim)
        if not batches or size > room:
            batches.append([])
            room = PIECE
        batches[-1].append(claim)
        room -= size
    return batches


def _vote(claim: str, marks: Sequence[Mapping[str, Mark]]) -> Judged:
    return Judged(claim, marks, {name: vote([mark[name].label or "n/a" for mark in marks]) for name in marks[0]})


def _overall(
    judged: Sequence[Judged], weights: Mapping[str, float], params: Params, shared: Mapping[str, Any]
) -> Score | NoScore:
    means = {name: share_of_yes(one.votes[name] for one in judged) for name in weights}
    value = weighted_score(means, weights)
    given = [mark for one in judged for marks in one.marks for mark in marks.values()]
    evidence = {
        **shared,
        "weights": dict(weights),
        "means": means,
        "labels_left_out": sum(mark.label is None for mark in given),
        "labels_set_by_words": sum(mark.given is not None for mark in given),
        "said_for_a_label": dict(Counter(mark.said for mark in given if mark.said is not None).most_common()),
        "claims": [{"claim": one.claim, "dimensions": {name: _shown(one, name) for name in weights}} for one in judged],
    }
    if value is not None:
        return Score(value, evidence)
    if params.all_na == "zero":
        return Score(0.0, {**evidence, "rule": "every dimension is n/a in every claim: scored 0 by all_na=zero"})
    return NoScore("undefined", "No claim states a detail on any dimension: all votes are n/a.", evidence)


def _of_dimension(name: str, judged: Sequence[Judged]) -> Score | NoScore:
    counts = Counter(one.votes[name] for one in judged)
    stated = [one for one in judged if any(mark[name].label in ("yes", "no") for mark in one.marks)]
    evidence = {
        "votes": {label: counts[label] for label in ("yes", "no", "n/a")},
        "claims": [{"claim": one.claim, **_shown(one, name)} for one in stated],
    }
    mean = share_of_yes(one.votes[name] for one in judged)
    if mean is None:
        return NoScore("undefined", f"No claim states a detail of the dimension {name}: all votes are n/a.", evidence)
    return Score(mean, evidence)


def _shown(one: Judged, name: str) -> dict[str, Any]:
    """A claim's vote on a dimension, with every juror's label (null where it left it out) and reason; said: what stood
    for a label, where a juror said something that is none; given: the labels before the words that they go by were
    looked for, where that set one."""
    shown: dict[str, Any] = {
        "vote": one.votes[name],
        "labels": [mark[name].label for mark in one.marks],
        "reasons": [mark[name].reason for mark in one.marks],
    }
    if any(mark[name].given is not None for mark in one.marks):
        shown["given"] = [mark[name].given or mark[name].label for mark in one.marks]
    said = [mark[name].said for mark in one.marks]
    return {**shown, "said": said} if any(one is not None for one in said) else shown


def _values(domain: Domain) -> dict[str, Value]:
    return {name: Value(bounds=(0, 1), higher_is_better=True) for name in ("", *domain.weights)}


def _calls(example: Example, params: Params, judges: int) -> int:
    """An answer's claims are not known before the first call: a claim for each sentence, about what they come to."""
    answer = example.answer or ""
    return 2 * claim_calls(answer) + len(sentences(answer)) * (judges if judges > 1 else params.samples)


METRIC = Metric(
    score,
    needs=("answer", "contexts"),
    values=_values,
    models=("judge",),
    prompts=(CLAIMS, DETAILS, LABELLING),
    params=Params,
    calls=_calls,
    by_domain=True,
)
