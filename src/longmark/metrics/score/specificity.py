"""Specificity: share of the answer's specific details that the passages support (SCORE, 3.1, equation 1).

    mean of a dimension  = claims with yes / claims with yes or no
    specificity          = sum(weight x mean) / sum(weight), over the dimensions that have a mean

1. The first judge splits the answer into claims, and lists the details that they state on each dimension of the domain
   (`--domain`; hazards: hazard .6, location .2, timeline .1, intensity .1).
2. Each of K judges labels every claim on every dimension: yes (stated and supported by the passages), no (stated and
   not supported), n/a (not stated). For each label it copies the words that it relies on.
3. Code searches for these words, in their order and with at most three others between them. If the claim does not
   contain them, the label becomes n/a. If the passages do not contain them, a yes becomes a no.
4. The most frequent of the K labels counts. A tie that includes n/a is n/a; a tie of yes and no is no.

Several judges are asked once each, at temperature 0. A single judge is asked `samples` times. An invalid label, or a
reply without any label, is requested once more; then an invalid label counts as n/a, as a missing one does. The evidence
counts both, and the labels changed in step 3 (`labels_missing`, `labels_corrected`, `invalid_labels`).
Unscored: an answer without claims, a dimension that is n/a in all claims, and the overall score if all dimensions are
(`undefined`); a second reply without any label (`unparsable`).
Cost, for an answer of up to 4,000 bytes: 1 call for claims, 1 for details, then claims x K. Longer answers and lists of
claims are processed in pieces of that size.

Parameters: samples, temperature: for a single judge. check: `words`, or `none`: the judge explains each label, no words
are asked for, and its labels stay, as in the paper. all_na: `zero` scores 0 if all dimensions of all claims are n/a, as
the authors do (63 of their 1,412 answers); the dimensions stay unscored.
Deviations: the prompts are ours. So is the check of step 3 (design/small-judges.md),
and the rule for ties for K other than 3: a tie of three judges is of all three labels, for which the authors'
data has n/a. The paper's three agents are one model that is asked three times, as a single judge here. Several judges are
ours, and so is the temperature.
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from longmark.concurrency import concurrently
from longmark.domain import Domain
from longmark.errors import NoScore
from longmark.judge import ONCE, TEMPERATURE, Sampling, ask, numbered
from longmark.judging import Judging
from longmark.metric import Metric, Score, ScoreSpec, Silence, paper
from longmark.metrics.score._labels import (
    EXPLAINED,
    LABELS,
    QUOTED,
    ClaimLabel,
    Label,
    checked,
    details_reader,
    label_reader,
    occurs,
)
from longmark.models.handles import ChatHandle, Models
from longmark.prompts import prompt
from longmark.records import Example
from longmark.records.evidence import Claims, ClaimVote, ClaimVotes, DimensionScore, MajorityVote
from longmark.text.claims import CLAIMS, PIECE, answer_calls, answer_claims, claim_calls
from longmark.text.pieces import groups
from longmark.text.sentences import sentences

DETAILS = prompt("""details(claims)
Pick out the details that the claims state on each of these dimensions:
$dimensions
Give a detail in the words of the claim, each only once. Take only what stands there: infer nothing, and leave a \
dimension empty on which no claim says anything.
Reply with a JSON object and nothing else, in this form: $form""")
LABELLING = prompt("""score.specificity(context, details, claim)
The claim comes from an answer, and the details are what the claim may specify. For each of these dimensions:
$dimensions
first copy from the claim the words that state a detail of this dimension; copy nothing ("") where the claim has no \
such words, whatever else it is about. Then copy from the context the words that say the same; copy nothing ("") where \
it has none. Then label the claim:
yes: the claim has such words, and the context bears them out.
no: the claim has such words, and the context contradicts them or does not say them.
n/a: the claim has no such words.
Go by the context alone, not by what you know, and infer nothing. What is stated and not found in the context is no, \
never n/a.
Reply with a JSON object and nothing else, in this form: $form""")

UNCHECKED = prompt("""score.specificity.unchecked(context, details, claim)
The claim comes from an answer, and the details are what the claim may specify. For each of these dimensions:
$dimensions
label the claim, and explain the label in one short sentence:
yes: the claim states a detail of this dimension, and the context bears it out.
no: the claim states a detail of this dimension, and the context contradicts it or does not say it.
n/a: the claim states no detail of this dimension.
Go by the context alone, not by what you know, and infer nothing. What is stated and not found in the context is no, \
never n/a.
Reply with a JSON object and nothing else, in this form: $form""")

_MOST_SAMPLES = 1000  # of each claim: a greater number is a typing error


Check = Literal["words", "none"]


@dataclass(frozen=True)
class SpecificityParams:
    samples: int = 3  # SCORE's agents 1 to 3 are one model
    temperature: float = 0.7
    check: Check = paper("words", "none")
    all_na: Literal["undefined", "zero"] = paper("undefined", "zero")

    def __post_init__(self) -> None:
        if not 1 <= self.samples <= _MOST_SAMPLES:
            raise ValueError(
                f"samples is how often a single judge is asked: from 1 to {_MOST_SAMPLES:,}, not {self.samples}"
            )
        if not 0 <= self.temperature <= 2:
            raise ValueError(f"temperature is between 0 and 2, not {self.temperature:g}")
        if self.samples > 1 and self.temperature == 0:
            raise ValueError(
                "at temperature 0 all samples are equal: set samples=1, or a temperature above 0"
            )


# Arithmetic --------------------------------------------------------------------------------------------------------


def vote(labels: Sequence[Label]) -> Label:
    """The most frequent label. A tie that includes n/a is n/a, a tie of yes and no is no. ValueError without labels."""
    if not labels:
        raise ValueError("a vote needs a label")
    counts = Counter(labels)
    highest = max(counts.values())
    for label in ("n/a", "no"):
        if counts[label] == highest:
            return label
    return "yes"


def share_of_yes(votes: Iterable[Label]) -> float | None:
    """The mean of a dimension, yes / (yes + no); None if every vote is n/a."""
    stated = [claim_vote == "yes" for claim_vote in votes if claim_vote != "n/a"]
    return sum(stated) / len(stated) if stated else None


def weighted_score(means: Mapping[str, float | None], weights: Mapping[str, float]) -> float | None:
    """Equation 1: the weighted mean of the dimensions that have a mean; None if their weights add up to 0."""
    present = {name: mean for name, mean in means.items() if mean is not None}
    total = math.fsum(weights[name] for name in present)
    if total <= 0:
        return None
    return math.fsum(weights[name] * mean for name, mean in present.items()) / total


# Calls -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Juror:
    """One of the K judges, or one of the samples of a single judge."""

    judge: ChatHandle
    sampling: Sampling = ONCE


@dataclass(frozen=True, slots=True)
class JudgedClaim:
    """A claim with the labels of every juror, by dimension."""

    claim: str
    labels: Sequence[Mapping[str, ClaimLabel]]

    def vote(self, name: str) -> Label:
        return vote([juror_labels[name].label or "n/a" for juror_labels in self.labels])

    def shown(self, name: str) -> dict[str, Any]:
        """The fields of a `MajorityVote` on a dimension. invalid, original: only if there are any."""
        labels = [juror_labels[name] for juror_labels in self.labels]
        fields: dict[str, Any] = {
            "vote": self.vote(name),
            "labels": [label.label for label in labels],
            "reasons": [label.reason for label in labels],
        }
        if any(label.original is not None for label in labels):
            fields["original"] = [label.original or label.label for label in labels]
        if any(label.invalid is not None for label in labels):
            fields["invalid"] = [label.invalid for label in labels]
        return fields


async def score(
    example: Example, models: Models, params: SpecificityParams
) -> dict[str, Score | NoScore]:
    """The overall score under "", the mean of each dimension under its name."""
    listed = await answer_claims(models, example)
    if not listed:
        raise NoScore("undefined", "The answer contains no claim.")
    batches = groups(listed, PIECE)
    details = await concurrently(lambda batch: list_details(models, batch), batches)
    details_of = [some for batch, some in zip(batches, details, strict=True) for _ in batch]
    jury = _jury(models, params)
    passages = numbered(context.text for context in example.contexts)

    async def label(question: tuple[int, Juror]) -> Mapping[str, ClaimLabel]:
        i, juror = question
        return await label_claim(models, juror, listed[i], details_of[i], passages, params.check)

    k = len(jury)
    labels = await concurrently(label, [(i, juror) for i in range(len(listed)) for juror in jury])
    judged = [JudgedClaim(claim, labels[i * k : (i + 1) * k]) for i, claim in enumerate(listed)]
    weights = models.domain.weights
    stated = {
        name: list(dict.fromkeys(detail for some in details for detail in some[name]))
        for name in weights
    }
    overall = _overall(judged, weights, params, [juror.judge.name for juror in jury], stated)
    return {"": overall, **{name: _of_dimension(name, judged) for name in weights}}


async def list_details(models: Models, batch: Sequence[str]) -> dict[str, list[str]]:
    """Dimension -> the details that the claims state on it, by the first judge. NoScore and ModelError as `ask`."""
    names = tuple(models.domain.weights)
    form = {name: ["detail", "detail"] for name in names}
    texts = {"claims": "\n".join(f"- {claim}" for claim in batch), **_fields(models.domain, form)}
    return (await ask(models, models.judges[0], DETAILS, texts, details_reader(names))).value


async def label_claim(
    models: Models,
    juror: Juror,
    claim: str,
    details: Mapping[str, Sequence[str]],
    passages: str,
    check: Check = "words",
) -> dict[str, ClaimLabel]:
    """A judge's labels of a claim, one for each dimension, checked by its words or not. details: of `list_details`.

    The judge is shown only the details that occur in the claim: otherwise it finds details that are not there.
    NoScore and ModelError as `ask`.
    """
    names = tuple(models.domain.weights)
    prompt, keys = (LABELLING, QUOTED) if check == "words" else (UNCHECKED, EXPLAINED)
    form = {name: {**dict.fromkeys(keys, "..."), "label": "yes, no or n/a"} for name in names}
    details_in_claim = {
        name: [detail for detail in some if occurs(detail, claim)] for name, some in details.items()
    }
    details_text = "\n".join(
        f"{name}: {'; '.join(some) or 'none'}" for name, some in details_in_claim.items()
    )
    texts = {
        "context": passages,
        "details": details_text,
        "claim": claim,
        **_fields(models.domain, form),
    }
    reader = label_reader(names, keys)
    verdict = await ask(models, juror.judge, prompt, texts, reader, juror.sampling)
    if check == "none":
        return verdict.value
    return {
        name: checked(claim_label, claim, passages) for name, claim_label in verdict.value.items()
    }


def _fields(domain: Domain, form: Any) -> dict[str, str]:
    described = "\n".join(
        f"- {dimension.name}: {dimension.description}" for dimension in domain.dimensions
    )
    return {"dimensions": described, "form": json.dumps(form)}


def _jury(models: Models, params: SpecificityParams) -> list[Juror]:
    if len(models.judges) > 1:
        return [Juror(judge) for judge in models.judges]
    temperature = params.temperature if params.samples > 1 else TEMPERATURE
    votes = Judging(temperature=temperature, samples=params.samples, seed=models.judging.seed)
    return [Juror(models.judges[0], Sampling(temperature, k)) for k in votes.numbers]


# Scores and evidence -----------------------------------------------------------------------------------------------


def _overall(
    judged: Sequence[JudgedClaim],
    weights: Mapping[str, float],
    params: SpecificityParams,
    judges: list[str],
    details: dict[str, list[str]],
) -> Score | NoScore:
    means = {
        name: share_of_yes(judged_claim.vote(name) for judged_claim in judged) for name in weights
    }
    value = weighted_score(means, weights)
    labels = [
        label
        for judged_claim in judged
        for by_dimension in judged_claim.labels
        for label in by_dimension.values()
    ]
    evidence = Claims(
        judges=judges,
        details=details,
        weights=dict(weights),
        means=means,
        labels_missing=sum(claim_label.label is None for claim_label in labels),
        labels_corrected=sum(claim_label.original is not None for claim_label in labels),
        invalid_labels=dict(
            Counter(
                claim_label.invalid for claim_label in labels if claim_label.invalid is not None
            ).most_common()
        ),
        claims=[
            ClaimVotes(
                claim=judged_claim.claim,
                dimensions={name: MajorityVote(**judged_claim.shown(name)) for name in weights},
            )
            for judged_claim in judged
        ],
    ).evidence()
    if value is not None:
        return Score(value, evidence)
    if params.all_na == "zero":
        return Score(
            0.0,
            {**evidence, "rule": "every dimension is n/a in every claim: scored 0 by all_na=zero"},
        )
    return NoScore(
        "undefined", "No claim states a detail on any dimension: all votes are n/a.", evidence
    )


def _of_dimension(name: str, judged: Sequence[JudgedClaim]) -> Score | NoScore:
    votes = [judged_claim.vote(name) for judged_claim in judged]
    stated = [
        judged_claim
        for judged_claim in judged
        if any(labels[name].label in ("yes", "no") for labels in judged_claim.labels)
    ]
    counts: dict[Label, int] = {label: votes.count(label) for label in LABELS}
    evidence = DimensionScore(
        votes=counts,
        claims=[
            ClaimVote(claim=judged_claim.claim, **judged_claim.shown(name))
            for judged_claim in stated
        ],
    ).evidence()
    mean = share_of_yes(votes)
    if mean is None:
        return NoScore(
            "undefined",
            f"No claim states a detail of the dimension {name}: all votes are n/a.",
            evidence,
        )
    return Score(mean, evidence)


def _calls(example: Example, params: SpecificityParams, judges: int) -> int:
    """The claims are not known before the first call; there are about as many as sentences."""
    answer = example.answer or ""
    count = len(sentences(answer) if example.claims is None else example.claims)
    lists = sum(answer_calls(example).values())
    return lists + claim_calls(answer) + count * (judges if judges > 1 else params.samples)


METRIC = Metric(
    score,
    needs=("answer", "contexts"),
    carries=lambda example, _params, _part: ("answer",) if example.claims is not None else (),
    scores=lambda domain: {
        name: ScoreSpec(bounds=(0, 1), higher_is_better=True) for name in ("", *domain.weights)
    },
    models=("judge",),
    prompts=(CLAIMS, DETAILS, LABELLING, UNCHECKED),
    params=SpecificityParams,
    calls=_calls,
    rounds=3,
    shares=answer_calls,
    by_domain=True,
    silence=Silence("undefined", "undefined", "undefined"),
    view="claims",
    version=2,
)
