"""SCORE's tables 1, 2 and 10, and the tables beside them.

    table 1   specificity, robustness and masked answer relevance: mean and standard deviation of each pair
    table 2   the reranker's relevance, and how many answers change the order of their points
    table 10  readability: means, and answers in each band
    jury      how far the verdicts on a claim agree: of several judges, or of one that was sampled (section 3.1)

Table 1 pools the paper's kinds of perturbation if the domain has hazards and locations (`Results.pooled`): another kind
of variant, such as the profession, may leave the question's words unchanged. In the paper an evaluator writes the
variants of its own, so that robustness differs between the evaluators of one generator. Here that holds for paraphrases
with `--paraphraser evaluators`; otherwise, and for perturbations (which are made from tables), the rows of a generator
share it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import product
from types import SimpleNamespace as Line
from typing import Any

from longmark.analysis.metaeval.agreement import agreeing
from longmark.analysis.studies.score.results import (
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
    Results,
    in_words,
    mean_of,
    why_unscored,
)
from longmark.metrics.score.readability import EASE_BANDS, GRADE_BANDS
from longmark.report.format import HIGHER, LOWER
from longmark.report.tables import Column, Table, interval_columns, method_column
from longmark.stats.proportion import share

METRICS = (
    ("specificity", "Specificity", SPECIFICITY, HIGHER),
    ("paraphrase", "Robustness: paraphrase", PARAPHRASE, HIGHER),
    ("perturbation", "Robustness: perturbation", PERTURBATION, LOWER),
    ("relevance", "Answer relevance: masked", MASKED, HIGHER),
)
"""Of table 1: column in CSV, name as in the report of a run, metric, direction."""
_BESIDE = (*METRICS, ("plain", "Answer relevance: plain", PLAIN, HIGHER))
_SD = "sd"

GENERATOR, EVALUATOR, DIMENSION = Column("generator"), Column("evaluator"), Column("dimension")
DIRECTION, REASON = Column("direction"), Column("reason", "mean.why_missing")
SCORED, TOTAL = Column("scored", "mean.n", key="scored"), Column("total", "mean.total")


def mean_columns(
    results: Results, name: str, places: int, key: str = "mean", interval: str = "interval"
) -> tuple[Column, ...]:
    """The mean of a line, its interval and the interval's method. key, interval: in CSV."""
    columns = interval_columns(name, "mean", places, results.intervals.name, key, interval)
    return (*columns, method_column("mean", f"{interval}_method"))


def means(results: Results, places: int) -> tuple[Column, ...]:
    """The columns of a mean: with its standard deviation and the number of rows, and why rows are missing."""
    mean, *interval = mean_columns(results, "mean", places)
    return (mean, Column(_SD, "mean.sd", places), *interval, SCORED, TOTAL, REASON)


def scaled(mean: Mean, by: float) -> Mean:
    """The mean in another unit: by = 100 for percent."""
    numbers = ("value", "low", "high", "sd", "least", "greatest")
    changed: dict[str, Any] = {name: by * one for name in numbers if (one := getattr(mean, name)) is not None}
    return replace(mean, **changed)


def scores_of(results: Results, generator: str, evaluator: str, metric: str) -> Sequence[AnswerScore]:
    """The rows of one metric for a pair, whichever run they are in; of perturbations those that are pooled, of
    paraphrases the evaluator's own, or those that all share."""
    for scores in (results.judged.get((generator, evaluator), {}), results.once.get(generator, {})):
        if metric in scores:
            if metric == PARAPHRASE:
                return [one for one in scores[metric] if one.by in ("", evaluator)]
            if metric != PERTURBATION or results.pooled is None:
                return scores[metric]
            return [one for one in scores[metric] if one.variant in results.pooled]
    return ()


def pooling(results: Results) -> str:
    """Which perturbations table 1 pools, and which it leaves to their own table; "" if it pools all."""
    every = dict.fromkeys(one.variant for scores in results.once.values() for one in scores.get(PERTURBATION, []))
    if results.pooled is None or not (others := [kind for kind in every if kind not in results.pooled]):
        return ""
    return (
        f"Perturbation pools the kinds of the paper ({', '.join(results.pooled)}). {', '.join(others)}, which may "
        "leave the question unchanged, is only in the table by kind of variant. The pages of answers pool all kinds; "
        "their intervals are over rows, these over questions."
    )


def table_1(results: Results) -> list[Table]:
    """Each pair in a row as in the paper, and each of its metrics in a row with its interval."""
    known: dict[tuple[str, ...], Mean] = {}  # a perturbation is the generator's: its mean is computed once

    def mean(generator: str, evaluator: str, metric: str) -> Mean:
        key = (metric, generator) if metric == PERTURBATION else (metric, generator, evaluator)
        if key not in known:
            known[key] = results.mean(metric, scores_of(results, generator, evaluator, metric))
        return known[key]

    wide, long = list[Line](), list[Line]()
    for generator, evaluator in product(results.generators, results.evaluators):
        own = {key: mean(generator, evaluator, metric) for key, _, metric, _ in _BESIDE}
        wide.append(Line(generator=generator, evaluator=evaluator, **own))
        for key, name, _, direction in _BESIDE:
            line = Line(generator=generator, evaluator=evaluator, metric=name, direction=direction, mean=own[key])
            long += [line] if line.mean.total else []
    columns = [GENERATOR, EVALUATOR]
    for key, name, _, direction in METRICS:
        columns.append(Column(f"{name} {'↑' if direction == HIGHER else '↓'}", f"{key}.value", 2, key=key))
        columns.append(Column(_SD, f"{key}.sd", 2, key=f"{key}_sd"))
    first = (GENERATOR, EVALUATOR, Column("metric"), DIRECTION)
    note, title = pooling(results), "Every pair of generator and evaluator (SCORE's table 1)"
    return [
        Table("table1", title, tuple(columns), wide, note),
        Table(
            "table1_intervals",
            "Metrics with their intervals (SCORE's table 1)",
            (*first, *means(results, 3)),
            long,
            note,
        ),
    ]


def dimensions(results: Results) -> list[Table]:
    """Specificity by dimension; and claims by their majority verdict, with the verdicts that are missing."""
    lines = []
    for ((generator, evaluator), scores), (name, weight) in product(results.judged.items(), results.weights.items()):
        its = scores.get(metric := f"{SPECIFICITY}.{name}", [])
        votes = Counter[str]()
        for one in its:
            votes.update(one.evidence.get("votes", {}))
        verdicts = [verdict for one in scores.get(SPECIFICITY, []) for of in one.verdicts(name) for verdict in of]
        line = Line(generator=generator, evaluator=evaluator, dimension=name, weight=weight, votes=votes)
        lines.append(Line(**vars(line), mean=results.mean(metric, its), verdicts=verdicts))
    first = (GENERATOR, EVALUATOR, DIMENSION)
    voted = (
        Column("claims: yes", lambda line: line.votes["yes"], key="yes"),
        Column("no", lambda line: line.votes["no"]),
        Column("n/a", lambda line: line.votes["n/a"], key="na"),
        Column("verdicts requested", lambda line: len(line.verdicts), key="verdicts"),
        Column("missing", lambda line: line.verdicts.count(None), key="verdicts_left_out"),
    )
    columns = (*first, Column("weight", places=2), *means(results, 3))
    return [
        Table("specificity_dimensions", "Specificity by dimension", columns, lines),
        Table("specificity_votes", "Claims by majority verdict, and missing verdicts", (*first, *voted), lines),
    ]


def variants(results: Results) -> Table:
    """Robustness by kind of variant."""
    lines = []
    for (generator, scores), (metric, direction) in product(
        results.once.items(), ((PARAPHRASE, HIGHER), (PERTURBATION, LOWER))
    ):
        kinds: dict[str, list[AnswerScore]] = {}
        for one in scores.get(metric, []):
            kinds.setdefault(one.variant, []).append(one)
        for kind, its in kinds.items():
            lines.append(Line(generator=generator, variant=kind, direction=direction, mean=results.mean(metric, its)))
    columns = (GENERATOR, Column("variant"), DIRECTION, *means(results, 3))
    return Table("robustness_variants", "Robustness by kind of variant", columns, lines)


def table_2(results: Results) -> Table:
    """The reranker's relevance, and the answers whose points change places."""
    lines = []
    for generator, scores in results.points.items():
        ordered = scores.get(CHANGED, [])
        order = [one.score for one in ordered if one.score is not None]
        mean, why = results.mean(RELEVANCE, scores.get(RELEVANCE, [])), why_unscored(ordered)
        count = order.count(1)
        changed = share(count, len(order), results.intervals.level)
        missing = in_words(mean.why_missing, why and f"no order: {why}")
        lines.append(Line(generator=generator, mean=mean, count=count, changed=changed, missing=missing))
    columns = (
        *(GENERATOR, *means(results, 2)[:-1]),
        Column("order changed", "count", key="changed"),
        Column("answers with an order", "changed.n", key="with_order"),
        *interval_columns("share", "changed", 3, results.intervals.name, "share", "share_interval"),
        Column("reason", "missing"),
    )
    return Table("table2", "Points reranked by delta (SCORE's table 2)", columns, lines)


def table_10(results: Results) -> list[Table]:
    """Readability: means, and answers in each band."""
    metrics = (
        ("Readability: reading ease", EASE, (*(band for _, band in EASE_BANDS), "very difficult")),
        ("Readability: grade level", GRADE, (*(band for _, band in GRADE_BANDS), "graduate")),
    )
    lines, bands = [], []
    for generator, scores in results.once.items():
        for name, metric, _ in metrics:
            mean = results.mean(metric, scores.get(metric, []))
            lines.append(Line(metric=name, generator=generator, mean=mean))
    for name, metric, names in metrics:
        of = {g: Counter(one.evidence.get("band") for one in its.get(metric, [])) for g, its in results.once.items()}
        bands += [Line(metric=name, band=band, answers={g: of[g][band] for g in of}) for band in names]
    columns = [Column("metric"), Column("band")]
    columns += [Column(g, partial(_in_band, g), key=f"answers: {g}") for g in results.once]
    first = (Column("metric"), GENERATOR)
    return [
        Table("table10", "Readability (SCORE's table 10)", (*first, *means(results, 2)), lines),
        Table("table10_bands", "Answers in each band of readability", tuple(columns), bands),
    ]


def _in_band(generator: str, line: Line) -> int:
    return int(line.answers[generator])


def jury(results: Results) -> Table:
    """Agreement of the verdicts on a claim; no rows if an evaluator gives one verdict only. The paper reports none.

    The mean share of agreeing pairs of verdicts, with an interval that resamples questions, and Fleiss's kappa without
    one. A verdict that was left out agrees with nothing, and a claim with fewer than two verdicts is not compared.
    """
    columns = (
        *(GENERATOR, EVALUATOR, DIMENSION, Column("verdicts per claim", "jurors", key="jurors")),
        *mean_columns(results, "agreement", 3, "agreement"),
        *(Column("Fleiss's kappa", "kappa", 3, key="kappa"), Column("claims compared", "mean.n", key="scored")),
        *(TOTAL, Column("reason", "missing")),
    )
    return Table("jury", "Agreement within the jury", columns, list(_jury(results)))


def _jury(results: Results) -> Iterator[Line]:
    for ((generator, evaluator), scores), name in product(results.judged.items(), results.weights):
        claims = [
            (one.question, verdicts)
            for one in scores.get(SPECIFICITY, [])
            for verdicts in one.verdicts(name)
            if len(verdicts) > 1
        ]
        if not claims:
            continue
        given = [[verdict for verdict in verdicts if verdict is not None] for _, verdicts in claims]
        mean = mean_of([agreeing(one) for one in given], [q for q, _ in claims], results.intervals, SHARE)
        kappa = _fleiss(mean.value, [one for one in given if len(one) > 1])
        jurors = len(claims[0][1])
        asked = jurors * len(claims)
        left_out = asked - sum(map(len, given))
        why = [f"{left_out:,} of {asked:,} verdicts are missing" if left_out else ""]
        if not mean.n:
            why.append("no claim has two verdicts to compare")
        else:
            why += [mean.why_missing or "", "" if kappa is not None else "no kappa: all verdicts are the same"]
        line: dict[str, Any] = {"generator": generator, "evaluator": evaluator, "dimension": name}
        yield Line(**line, jurors=jurors, kappa=kappa, mean=mean, missing=in_words(*why))


def _fleiss(agreement: float | None, claims: Sequence[Sequence[str]]) -> float | None:
    """Fleiss's kappa from the mean share of agreeing pairs; None if all verdicts are the same."""
    totals = Counter(verdict for verdicts in claims for verdict in verdicts)
    if agreement is None or len(totals) == 1:
        return None
    by_chance = sum((count / totals.total()) ** 2 for count in totals.values())
    return (agreement - by_chance) / (1 - by_chance)
