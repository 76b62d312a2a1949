"""SCORE's tables 1, 2 and 10, and the tables beside them.

    table 1   specificity, robustness and masked answer relevance: mean and standard deviation of each pair
    table 2   the reranker's relevance, and how many answers change the order of their points
    table 10  readability: means, and answers in each band
    jury      how far the verdicts on a claim agree: of several judges, or of one that was sampled (section 3.1)

Table 1 pools the paper's kinds of perturbation if the domain has hazards and locations (`ScoreResults.pooled`): another
kind of variant, such as the profession, may leave the question's words unchanged. In the paper an evaluator writes the
variants of its own, so that robustness differs between the evaluators of one generator. Here that holds for paraphrases
with `--paraphraser evaluators`; otherwise, and for perturbations (which are made from tables), the rows of a generator
share it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import product
from typing import Any

from longmark.analysis.grid import Grid
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
from longmark.report.tables import Column, Table
from longmark.stats.proportion import share
from longmark.stats.results import Estimate

METRICS = (
    ("specificity", "Specificity", SPECIFICITY, HIGHER),
    ("paraphrase", "Robustness: paraphrase", PARAPHRASE, HIGHER),
    ("perturbation", "Robustness: perturbation", PERTURBATION, LOWER),
    ("relevance", "Answer relevance: masked", MASKED, HIGHER),
)
"""Of table 1: column in CSV, name as in the report of a run, metric, direction."""
_BESIDE = (*METRICS, ("plain", "Answer relevance: plain", PLAIN, HIGHER))
_DIRECTIONS = {name: direction for _, name, _, direction in _BESIDE}
_READABILITY = {
    "Readability: reading ease": (EASE, (*(band for _, band in EASE_BANDS), "very difficult")),
    "Readability: grade level": (GRADE, (*(band for _, band in GRADE_BANDS), "graduate")),
}


def means(
    name: str,
    title: str,
    heads: Sequence[Column | str],
    mean_of_row: Mapping[Any, Mean],
    places: int,
    note: str = "",
) -> Grid[Any]:
    """Means of answers by row with their standard deviations. mean_of_row: row -> its mean."""
    sd = Column("sd", lambda row: mean_of_row[row].sd, places)
    columns = (Column("mean", places=places),)
    return Grid(
        name,
        title,
        heads,
        list(mean_of_row),
        columns,
        lambda row, _: mean_of_row[row],
        note,
        "answers",
        beside=(sd,),
    )


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


def table_1(results: ScoreResults) -> tuple[Table, Grid[Any]]:
    """Each pair in a row as in the paper, and each of its metrics in a row with its interval."""
    pairs = list(product(results.generators, results.evaluators))
    mean_of_row = {
        (*pair, name): results.mean(metric, scores)
        for pair in pairs
        for _, name, metric, _ in _BESIDE
        if (scores := scores_of(results, *pair, metric))
    }
    columns = [Column("generator"), Column("evaluator")]
    for key, name, _, direction in METRICS:
        arrow = "↑" if direction == HIGHER else "↓"
        columns += [
            Column(f"{name} {arrow}", places=2, key=key),
            Column("sd", places=2, key=f"{key}_sd"),
        ]
    none = Mean(None, None, None, 0)
    cells = {
        pair: [mean_of_row.get((*pair, name), none) for _, name, *_ in METRICS] for pair in pairs
    }
    wide = [
        (*pair, *(figure for mean in row_means for figure in (mean.value, mean.sd)))
        for pair, row_means in cells.items()
    ]
    title = "Every pair of generator and evaluator (SCORE's table 1)"
    note = pooling(results)
    heads = (
        "generator",
        "evaluator",
        "metric",
        Column("direction", lambda row: _DIRECTIONS[row[2]]),
    )
    long = means(
        "table1_intervals",
        "Metrics with their intervals (SCORE's table 1)",
        heads,
        mean_of_row,
        3,
        note,
    )
    return Table("table1", title, tuple(columns), wide, note), long


def dimensions(results: ScoreResults) -> tuple[Grid[Any], Table]:
    """Specificity by dimension; and claims by their majority verdict, with the verdicts that are missing."""
    mean_of_row = {}
    voted = []
    for ((generator, evaluator), scores), name in product(results.judged.items(), results.weights):
        dimension_scores = scores.get(metric := f"{SPECIFICITY}.{name}", [])
        mean_of_row[generator, evaluator, name] = results.mean(metric, dimension_scores)
        votes: Counter[str] = sum(
            (Counter(score.votes or {}) for score in dimension_scores), Counter()
        )
        verdicts = [
            verdict
            for score in scores.get(SPECIFICITY, [])
            for claim_verdicts in score.verdicts(name)
            for verdict in claim_verdicts
        ]
        line = (votes["yes"], votes["no"], votes["n/a"], len(verdicts), verdicts.count(None))
        voted.append((generator, evaluator, name, *line))
    heads = ("generator", "evaluator", "dimension")
    counts = (
        ("claims: yes", "yes"),
        ("no", "no"),
        ("n/a", "na"),
        ("verdicts requested", "verdicts"),
    )
    columns = (*map(Column, heads), *(Column(name, key=key) for name, key in counts))
    weight = Column("weight", lambda row: results.weights[row[2]], 2)
    return (
        means(
            "specificity_dimensions", "Specificity by dimension", (*heads, weight), mean_of_row, 3
        ),
        Table(
            "specificity_votes",
            "Claims by majority verdict, and missing verdicts",
            (*columns, Column("missing", key="verdicts_left_out")),
            voted,
        ),
    )


def variants(results: ScoreResults) -> Grid[Any]:
    groups: dict[tuple[str, str, str], list[AnswerScore]] = {}
    for (generator, scores), (metric, direction) in product(
        results.once.items(), ((PARAPHRASE, HIGHER), (PERTURBATION, LOWER))
    ):
        for score in scores.get(metric, []):
            groups.setdefault((generator, score.variant, direction), []).append(score)
    metrics = {HIGHER: PARAPHRASE, LOWER: PERTURBATION}
    mean_of_row = {row: results.mean(metrics[row[2]], scores) for row, scores in groups.items()}
    heads = ("generator", "variant", "direction")
    return means("robustness_variants", "Robustness by kind of variant", heads, mean_of_row, 3)


def table_2(results: ScoreResults) -> Grid[str]:
    """The reranker's relevance, and the answers whose points change places."""
    mean_of_generator = {
        name: results.mean(RELEVANCE, scores.get(RELEVANCE, []))
        for name, scores in results.points.items()
    }

    def changed(generator: str) -> Estimate:
        order_scores = results.points[generator].get(CHANGED, [])
        order = [score.score for score in order_scores if score.score is not None]
        why = why_unscored(order_scores)
        changed_share = share(order.count(1), len(order), results.intervals.level)
        return replace(
            changed_share,
            missing=len(order_scores) - len(order),
            reason=in_words(why and f"no order: {why}", changed_share.reason),
        )

    return Grid(
        "table2",
        "Points reranked by delta (SCORE's table 2)",
        ("generator",),
        list(mean_of_generator),
        (Column("mean", places=2), Column("order changed", places=3, key="changed")),
        lambda generator, column: (
            mean_of_generator[generator] if column == "mean" else changed(generator)
        ),
        unit="answers",
        beside=(Column("sd", lambda generator: mean_of_generator[generator].sd, 2),),
    )


def table_10(results: ScoreResults) -> tuple[Grid[Any], Table]:
    """Readability: means, and answers in each band."""
    bands = []
    for name, (metric, names) in _READABILITY.items():
        bands_of = {
            g: Counter(band_of(score.row.evidence) for score in metric_scores.get(metric, []))
            for g, metric_scores in results.once.items()
        }
        bands += [(name, band, *(bands_of[g][band] for g in bands_of)) for band in names]
    mean_of_row = {
        (name, g): results.mean(metric, metric_scores.get(metric, []))
        for g, metric_scores in results.once.items()
        for name, (metric, _) in _READABILITY.items()
    }
    columns = (
        Column("metric"),
        Column("band"),
        *(Column(g, key=f"answers: {g}") for g in results.once),
    )
    return (
        means("table10", "Readability (SCORE's table 10)", ("metric", "generator"), mean_of_row, 2),
        Table("table10_bands", "Answers in each band of readability", columns, bands),
    )


def jury(results: ScoreResults) -> Grid[Any]:
    """Agreement of the verdicts on a claim; no rows if an evaluator gives one verdict only. The paper reports none.

    The mean share of agreeing pairs of verdicts, with an interval that resamples questions, and Fleiss's kappa without
    one. A verdict that was left out agrees with nothing, and a claim with fewer than two verdicts is not compared.
    """
    mean_of_row = {}
    beside = {}
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
        mean_of_row[generator, evaluator, name] = replace(mean, reason=in_words(*why))
        beside[generator, evaluator, name] = jurors, kappa
    return Grid(
        "jury",
        "Agreement within the jury",
        ("generator", "evaluator", "dimension"),
        list(mean_of_row),
        (Column("agreement", places=3),),
        lambda row, _column: mean_of_row[row],
        unit="claims",
        beside=(
            Column("verdicts per claim", lambda row: beside[row][0], key="jurors"),
            Column("Fleiss's kappa", lambda row: beside[row][1], 3, key="kappa"),
        ),
    )


def _fleiss(agreement: float | None, claims: Sequence[Sequence[str]]) -> float | None:
    """Fleiss's kappa from the mean share of agreeing pairs; None if all verdicts are the same."""
    totals = Counter(verdict for verdicts in claims for verdict in verdicts)
    if agreement is None or len(totals) == 1:
        return None
    by_chance = sum((count / totals.total()) ** 2 for count in totals.values())
    return (agreement - by_chance) / (1 - by_chance)
