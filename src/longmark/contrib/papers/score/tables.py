"""What SCORE's tables 1, 2 and 10, and those beside them, are made of: groups of rows with their means.

    means     table 1: specificity, robustness and masked answer relevance of each pair of generator and evaluator;
              specificity by dimension; robustness by kind of variant; table 10: readability
    votes     claims by their majority verdict
    points    table 2: the reranker's relevance, and how many answers change the order of their points
    bands     answers in each band of readability
    jury      how far the verdicts on a claim agree: of several judges, or of one that was sampled (section 3.1)

Which of them stand in which table, and in which columns, says the recipe (`recipes/score.yaml`).

Table 1 pools the paper's kinds of perturbation if the domain has hazards and locations (`ScoreResults.pooled`): another
kind of variant, such as the profession, may leave the question's words unchanged. In the paper an evaluator writes the
variants of its own, so that robustness differs between the evaluators of one generator. Here that holds for paraphrases
with `--paraphraser evaluators`; otherwise, and for perturbations (which are made from tables), the rows of a generator
share it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

from longmark.analysis.metaeval.agreement import agreeing
from longmark.contrib.papers.score.results import (
    CHANGED,
    EASE,
    GRADE,
    MASKED,
    PARAPHRASE,
    PERTURBATION,
    PLAIN,
    RELEVANCE,
    SHARE,
    SPECIFICITY,
    AnswerScore,
    Mean,
    ScoreResults,
    in_words,
    mean_of,
    why_unscored,
)
from longmark.metrics.score.readability import EASE_BANDS, GRADE_BANDS, band_of
from longmark.report.format import HIGHER, LOWER
from longmark.stats.proportion import share
from longmark.stats.results import Estimate

METRICS = (
    ("Specificity", SPECIFICITY, HIGHER),
    ("Robustness: paraphrase", PARAPHRASE, HIGHER),
    ("Robustness: perturbation", PERTURBATION, LOWER),
    ("Answer relevance: masked", MASKED, HIGHER),
    ("Answer relevance: plain", PLAIN, HIGHER),
)
"""Of table 1: name as in the report of a run, metric, direction."""
PAIRS = "pairs"
DIMENSIONS = "dimensions"
VARIANTS = "variants"
READABILITY = "readability"
"""What rows are grouped for (`ScoreGroup.table`)."""
_READABILITY = {
    "Readability: reading ease": (EASE, (*(band for _, band in EASE_BANDS), "very difficult")),
    "Readability: grade level": (GRADE, (*(band for _, band in GRADE_BANDS), "graduate")),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreGroup:
    """Rows of one score that are averaged. table: what they are grouped for; is_scored: whether there are rows."""

    table: str
    generator: str
    evaluator: str = ""
    metric: str = ""
    direction: str = ""
    dimension: str = ""
    variant: str = ""
    weight: float | None = None
    is_scored: bool = True
    mean: Mean


@dataclass(frozen=True, slots=True)
class DimensionVotes:
    """Claims of a generator's answers by the majority verdict on a dimension; verdicts: how many were asked for,
    left_out: of these without a label."""

    generator: str
    evaluator: str
    dimension: str
    yes: int
    no: int
    not_applicable: int
    verdicts: int
    left_out: int


@dataclass(frozen=True, slots=True)
class RerankedPoints:
    """A generator's answers by the reranker. changed: the share whose points change places."""

    generator: str
    mean: Mean
    changed: Estimate


@dataclass(frozen=True, slots=True)
class BandCount:
    """Answers of a generator in a band of readability."""

    metric: str
    band: str
    generator: str
    answers: int


@dataclass(frozen=True, slots=True)
class JuryAgreement:
    """How far the verdicts on a claim agree. jurors: verdicts for each claim."""

    generator: str
    evaluator: str
    dimension: str
    agreement: Mean
    jurors: int
    kappa: float | None


def scores_of(
    results: ScoreResults, generator: str, evaluator: str, metric: str
) -> Sequence[AnswerScore]:
    """The rows of one metric for a pair, whichever run they are in; of perturbations those that are pooled, of
    paraphrases the evaluator's own, or those that all share."""
    for scores in (results.judged.get((generator, evaluator), {}), results.once.get(generator, {})):
        if metric in scores:
            if metric == PARAPHRASE:
                return [score for score in scores[metric] if score.by in ("", evaluator)]
            if metric != PERTURBATION or results.pooled is None:
                return scores[metric]
            return [score for score in scores[metric] if score.variant in results.pooled]
    return ()


def pooling(results: ScoreResults) -> str:
    """Which perturbations table 1 pools, and which it leaves to their own table; "" if it pools all."""
    every = dict.fromkeys(
        score.variant for scores in results.once.values() for score in scores.get(PERTURBATION, [])
    )
    if results.pooled is None or not (
        kinds_apart := [kind for kind in every if kind not in results.pooled]
    ):
        return ""
    return (
        f"Perturbation pools the kinds of the paper ({', '.join(results.pooled)}). {', '.join(kinds_apart)}, which may "
        "leave the question unchanged, is only in the table by kind of variant. The pages of answers pool all kinds; "
        "their intervals are over rows, these over questions."
    )


def groups(results: ScoreResults) -> Iterator[ScoreGroup]:
    """All means by what they are grouped for."""
    yield from _pairs(results)
    yield from _dimensions(results)
    yield from _variants(results)
    for generator, scores in results.once.items():
        for name, (metric, _bands) in _READABILITY.items():
            mean = results.mean(metric, scores.get(metric, []))
            yield ScoreGroup(table=READABILITY, generator=generator, metric=name, mean=mean)


def _pairs(results: ScoreResults) -> Iterator[ScoreGroup]:
    for generator, evaluator in product(results.generators, results.evaluators):
        for name, metric, direction in METRICS:
            scores = scores_of(results, generator, evaluator, metric)
            yield ScoreGroup(
                table=PAIRS,
                generator=generator,
                evaluator=evaluator,
                metric=name,
                direction=direction,
                is_scored=bool(scores),
                mean=results.mean(metric, scores) if scores else Mean(None, None, None, 0),
            )


def _dimensions(results: ScoreResults) -> Iterator[ScoreGroup]:
    for ((generator, evaluator), scores), name in product(results.judged.items(), results.weights):
        metric = f"{SPECIFICITY}.{name}"
        yield ScoreGroup(
            table=DIMENSIONS,
            generator=generator,
            evaluator=evaluator,
            dimension=name,
            weight=results.weights[name],
            mean=results.mean(metric, scores.get(metric, [])),
        )


def _variants(results: ScoreResults) -> Iterator[ScoreGroup]:
    for (generator, scores), (metric, direction) in product(
        results.once.items(), ((PARAPHRASE, HIGHER), (PERTURBATION, LOWER))
    ):
        by_variant: dict[str, list[AnswerScore]] = {}
        for score in scores.get(metric, []):
            by_variant.setdefault(score.variant, []).append(score)
        for variant, variant_scores in by_variant.items():
            yield ScoreGroup(
                table=VARIANTS,
                generator=generator,
                variant=variant,
                direction=direction,
                mean=results.mean(metric, variant_scores),
            )


def votes(results: ScoreResults) -> Iterator[DimensionVotes]:
    for ((generator, evaluator), scores), name in product(results.judged.items(), results.weights):
        counts: Counter[str] = sum(
            (Counter(score.votes or {}) for score in scores.get(f"{SPECIFICITY}.{name}", [])),
            Counter(),
        )
        verdicts = [
            verdict
            for score in scores.get(SPECIFICITY, [])
            for claim_verdicts in score.verdicts(name)
            for verdict in claim_verdicts
        ]
        yield DimensionVotes(
            generator,
            evaluator,
            name,
            counts["yes"],
            counts["no"],
            counts["n/a"],
            len(verdicts),
            verdicts.count(None),
        )


def points(results: ScoreResults) -> Iterator[RerankedPoints]:
    for generator, scores in results.points.items():
        order_scores = scores.get(CHANGED, [])
        order = [score.score for score in order_scores if score.score is not None]
        why = why_unscored(order_scores)
        changed = share(order.count(1), len(order), results.intervals.level)
        changed = replace(
            changed,
            missing=len(order_scores) - len(order),
            reason=in_words(why and f"no order: {why}", changed.reason),
        )
        yield RerankedPoints(generator, results.mean(RELEVANCE, scores.get(RELEVANCE, [])), changed)


def bands(results: ScoreResults) -> Iterator[BandCount]:
    for name, (metric, band_names) in _READABILITY.items():
        bands_of = {
            generator: Counter(band_of(score.row.evidence) for score in scores.get(metric, []))
            for generator, scores in results.once.items()
        }
        for band, (generator, counts) in product(band_names, bands_of.items()):
            yield BandCount(name, band, generator, counts[band])


def jury(results: ScoreResults) -> Iterator[JuryAgreement]:
    """Agreement of the verdicts on a claim; none of an evaluator that gives one verdict only. The paper reports none.

    The mean share of agreeing pairs of verdicts, with an interval that resamples questions, and Fleiss's kappa without
    one. A verdict that was left out agrees with nothing, and a claim with fewer than two verdicts is not compared.
    """
    for ((generator, evaluator), scores), name in product(results.judged.items(), results.weights):
        claims = [
            (score.question, verdicts)
            for score in scores.get(SPECIFICITY, [])
            for verdicts in score.verdicts(name)
            if len(verdicts) > 1
        ]
        if not claims:
            continue
        claim_verdicts = [
            [verdict for verdict in verdicts if verdict is not None] for _, verdicts in claims
        ]
        mean = mean_of(
            [agreeing(verdicts) for verdicts in claim_verdicts],
            [q for q, _ in claims],
            results.intervals,
            SHARE,
        )
        kappa = _fleiss(mean.value, [verdicts for verdicts in claim_verdicts if len(verdicts) > 1])
        jurors = len(claims[0][1])
        requested = jurors * len(claims)
        left_out = requested - sum(map(len, claim_verdicts))
        why = [f"{left_out:,} of {requested:,} verdicts are missing" if left_out else ""]
        if not mean.n:
            why.append("no claim has two verdicts to compare")
        else:
            why += [
                mean.reason or "",
                "" if kappa is not None else "no kappa: all verdicts are the same",
            ]
        agreement = replace(mean, reason=in_words(*why))
        yield JuryAgreement(generator, evaluator, name, agreement, jurors, kappa)


def _fleiss(agreement: float | None, claims: Sequence[Sequence[str]]) -> float | None:
    """Fleiss's kappa from the mean share of agreeing pairs; None if all verdicts are the same."""
    totals = Counter(verdict for verdicts in claims for verdict in verdicts)
    if agreement is None or len(totals) == 1:
        return None
    by_chance = sum((count / totals.total()) ** 2 for count in totals.values())
    return (agreement - by_chance) / (1 - by_chance)
