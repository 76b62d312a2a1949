"""SCORE's tables 1, 2 and 10, and the tables beside them.

    table 1   specificity, robustness and masked answer relevance: mean and standard deviation of each pair
    table 2   the reranker's relevance, and how many answers change the order of their points
    table 10  readability: means, and answers in each band
    jury      how far the verdicts on a claim agree: of several judges, or of one that was sampled (section 3.1)

Table 1 pools the paper's kinds of perturbation, where the domain has hazards and locations (`Results.pooled`): another
kind of variant, as of the profession, may leave the question's words as they are. The paper's robustness differs
between the evaluators of one generator; here the variants, their answers and the embeddings of these have nothing to do
with an evaluator, so a generator's rows share it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import combinations, product
from typing import Any, NamedTuple

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
from longmark.report.tables import Column, Range, Table
from longmark.stats.proportion import share

MEASURES = (
    ("Specificity", SPECIFICITY, "higher"),
    ("Paraphrase", PARAPHRASE, "higher"),
    ("Perturbation", PERTURBATION, "lower"),
    ("Relevance", MASKED, "higher"),
)
_BESIDE = (*MEASURES, ("Relevance, unmasked", PLAIN, "higher"))


class Row(NamedTuple):
    """A row of a table. of: its first cells; mean: its `Mean`, where it has one; more: anything else."""

    of: Sequence[Any]
    mean: Any = None
    more: Any = None


def heads(*names: str) -> tuple[Column, ...]:
    """The first columns of a table of `Row`s."""
    return tuple(Column(name, partial(_head, place)) for place, name in enumerate(names))


def _head(place: int, row: Row) -> Any:
    return row.of[place]


def mean_columns(
    results: Results, name: str, places: int, key: str = "mean", interval: str = "interval", scale: float = 1
) -> tuple[Column, ...]:
    """The mean of a `Row`, its interval and the interval's method. key, interval: in CSV; scale: 100 for percent."""

    def scaled(value: float | None) -> float | None:
        return None if value is None else scale * value

    def ends(row: Row) -> Range:
        return Range(scaled(row.mean.low), scaled(row.mean.high))

    return (
        Column(name, lambda row: scaled(row.mean.value), places, key=key),
        Column(results.intervals.name, ends, places, "range", interval),
        Column("CI method", lambda row: row.mean.method or None, None, "method", f"{interval}_method"),
    )


def counts(scored: str = "Scored") -> tuple[Column, ...]:
    """On how many of how many rows a mean rests."""
    return Column(scored, lambda row: row.mean.scored, key="scored"), Column("Total", lambda row: row.mean.total)


SD = "sd"
MISSING = Column("Missing", lambda row: row.mean.missing)


def means(results: Results, first: Sequence[Column], places: int) -> tuple[Column, ...]:
    """The columns of a table whose rows are means."""
    mean, *interval = mean_columns(results, "Mean", places)
    return (*first, mean, Column(SD, lambda row: row.mean.sd, places), *interval, *counts(), MISSING)


def scores_of(results: Results, generator: str, evaluator: str, metric: str) -> Sequence[AnswerScore]:
    """The rows of one metric for a pair, whichever run they are in; of perturbations those that are pooled."""
    for scores in (results.judged.get((generator, evaluator), {}), results.once.get(generator, {})):
        if metric in scores:
            if metric != PERTURBATION or results.pooled is None:
                return scores[metric]
            return [one for one in scores[metric] if one.variant in results.pooled]
    return ()


def pooling(results: Results) -> str:
    """Which perturbations table 1 takes together, and which it leaves to their own table; "" where that is all."""
    every = dict.fromkeys(one.variant for scores in results.once.values() for one in scores.get(PERTURBATION, []))
    if results.pooled is None or not (others := [kind for kind in every if kind not in results.pooled]):
        return ""
    return (
        f"Perturbation pools the kinds that the paper has ({', '.join(results.pooled)}); {', '.join(others)}, which "
        "may leave the question's words as they are, is in the table by kind of variant only. The pages of answers "
        "pool every kind, and count rows where here the rows of a question count as one."
    )


def table_1(results: Results) -> list[Table]:
    """Each pair in a row as in the paper, and each of its measures in a row with its interval."""
    known: dict[tuple[str, ...], Mean] = {}  # robustness is that of the generator: its mean is computed once

    def mean(pair: tuple[str, str], metric: str) -> Mean:
        key = (metric, pair[0]) if metric in (PARAPHRASE, PERTURBATION) else (metric, *pair)
        if key not in known:
            known[key] = results.mean(metric, scores_of(results, *pair, metric))
        return known[key]

    pairs = list(product(results.generators, results.evaluators))
    wide = [Row(pair, more={metric: mean(pair, metric) for _, metric, _ in MEASURES}) for pair in pairs]
    long = [Row((*pair, name, better), mean(pair, metric)) for pair in pairs for name, metric, better in _BESIDE]
    columns = [*heads("Generator", "Evaluator")]
    for name, metric, better in MEASURES:
        arrow, key = "↑" if better == "higher" else "↓", name.lower()
        columns.append(Column(f"{name} {arrow}", partial(_of_measure, metric, "value"), 2, key=key))
        columns.append(Column(SD, partial(_of_measure, metric, "sd"), 2, key=f"{key}_sd"))
    first = heads("Generator", "Evaluator", "Measure", "Better")
    note = pooling(results)
    return [
        Table("table1", "Every pair of generator and evaluator (SCORE's table 1)", tuple(columns), wide, note),
        Table(
            "table1_intervals",
            "Measures with their intervals (SCORE's table 1)",
            means(results, first, 3),
            [row for row in long if row.mean.total],
            note,
        ),
    ]


def _of_measure(metric: str, name: str, row: Row) -> float | None:
    figure: float | None = getattr(row.more[metric], name)
    return figure


def dimensions(results: Results) -> list[Table]:
    """Specificity by dimension; and how the claims were voted, and how many verdicts the judges left out."""
    rows: list[Row] = []
    for (pair, scores), (name, weight) in product(results.judged.items(), results.weights.items()):
        metric = f"{SPECIFICITY}.{name}"
        votes = Counter[str]()
        for one in scores.get(metric, []):
            votes.update(one.votes)
        verdicts = [
            verdict
            for one in scores.get(SPECIFICITY, [])
            for dimension, of_claim in one.verdicts
            if dimension == name
            for verdict in of_claim
        ]
        rows.append(Row((*pair, name, weight), results.mean(metric, scores.get(metric, [])), (votes, verdicts)))
    first = heads("Generator", "Evaluator", "Dimension")
    weights = Column("Weight", lambda row: row.of[3], 2)
    voted = (
        Column("Claims: yes", lambda row: row.more[0]["yes"], key="yes"),
        Column("no", lambda row: row.more[0]["no"]),
        Column("n/a", lambda row: row.more[0]["n/a"], key="na"),
        Column("Verdicts requested", lambda row: len(row.more[1]), key="verdicts"),
        Column("left out", lambda row: row.more[1].count(None), key="verdicts_left_out"),
    )
    return [
        Table("specificity_dimensions", "Specificity by dimension", means(results, (*first, weights), 3), rows),
        Table("specificity_votes", "Votes on claims, and verdicts left out", (*first, *voted), rows),
    ]


def variants(results: Results) -> Table:
    """Robustness by kind of variant."""
    rows: list[Row] = []
    for (generator, scores), (metric, better) in product(
        results.once.items(), ((PARAPHRASE, "higher"), (PERTURBATION, "lower"))
    ):
        kinds: dict[str, list[AnswerScore]] = {}
        for one in scores.get(metric, []):
            kinds.setdefault(one.variant, []).append(one)
        rows += [Row((generator, kind, better), results.mean(metric, of)) for kind, of in kinds.items()]
    columns = means(results, heads("Generator", "Variant", "Better"), 3)
    return Table("robustness_variants", "Robustness by kind of variant", columns, rows)


def table_2(results: Results) -> Table:
    """The reranker's relevance, and the answers whose points change places."""
    rows: list[Row] = []
    for generator, scores in results.points.items():
        ordered = scores.get(CHANGED, [])
        order = [one.score for one in ordered if one.score is not None]
        count = sum(score == 1 for score in order)
        mean = results.mean(RELEVANCE, scores.get(RELEVANCE, []))
        changed = share(count, len(order), results.intervals.level)
        rows.append(Row((generator, why_unscored(ordered)), mean, (count, changed)))
    columns = (
        *means(results, heads("Generator"), 2)[:-1],
        Column("Order changed", lambda row: row.more[0], key="changed"),
        Column("Answers with an order", lambda row: row.more[1].n, key="with_order"),
        Column("Share", lambda row: row.more[1].value, 3),
        Column("Wilson CI", lambda row: Range(row.more[1].low, row.more[1].high), 3, "range", "share_interval"),
        Column("Missing", _no_order),
    )
    return Table("table2", "Points reranked by what they add (SCORE's table 2)", columns, rows)


def _no_order(row: Row) -> str | None:
    _, why = row.of
    return in_words(row.mean.missing, why and f"no order: {why}")


def _count(generator: str, row: Row) -> Any:
    return row.more[generator]


def table_10(results: Results) -> list[Table]:
    """Readability: means, and answers in each band."""
    measures = (
        ("Flesch reading ease", EASE, "Reading ease", (*(band for _, band in EASE_BANDS), "very difficult")),
        ("Flesch-Kincaid grade level", GRADE, "Grade level", (*(band for _, band in GRADE_BANDS), "graduate")),
    )
    rows = [
        Row((name, generator), results.mean(metric, scores.get(metric, [])))
        for generator, scores in results.once.items()
        for name, metric, *_ in measures
    ]
    bands = [
        Row(
            (short, band),
            more={g: sum(one.band == band for one in of.get(metric, [])) for g, of in results.once.items()},
        )
        for _, metric, short, names in measures
        for band in names
    ]
    columns = (
        *heads("Measure", "Band"),
        *(Column(name, partial(_count, name), key=f"answers: {name}") for name in results.once),
    )
    return [
        Table("table10", "Readability (SCORE's table 10)", means(results, heads("Measure", "Generator"), 2), rows),
        Table("table10_bands", "Answers in each band of readability", columns, bands),
    ]


# The jury -----------------------------------------------------------------------------------------------------------


class _Jury(NamedTuple):
    """jurors: how many verdicts were asked for on a claim; left_out, asked: verdicts in all."""

    jurors: int
    kappa: float | None
    left_out: int
    asked: int


def jury(results: Results) -> Table:
    """Agreement of the verdicts on a claim; no rows where an evaluator gives one verdict only.

    The paper reports none. The mean share of agreeing pairs of verdicts, with an interval that resamples questions, and
    Fleiss's kappa without one (`stats.agreement` takes claims with all verdicts). A verdict that was left out agrees
    with nothing, and a claim with fewer than two verdicts is not compared.
    """
    columns = (
        *heads("Generator", "Evaluator", "Dimension"),
        Column("Verdicts a claim", lambda row: row.more.jurors, key="jurors"),
        *mean_columns(results, "Agreement", 3, "agreement"),
        Column("Fleiss's kappa", lambda row: row.more.kappa, 3, key="kappa"),
        *counts("Claims compared"),
        Column("Missing", _missing_of_jury),
    )
    return Table("jury", "Agreement within the jury", columns, list(_jury_rows(results)))


def _jury_rows(results: Results) -> Iterator[Row]:
    for (pair, scores), name in product(results.judged.items(), results.weights):
        claims = [
            (one.question, verdicts)
            for one in scores.get(SPECIFICITY, [])
            for dimension, verdicts in one.verdicts
            if dimension == name and len(verdicts) > 1
        ]
        if claims:
            jurors = len(claims[0][1])
            given = [[verdict for verdict in verdicts if verdict is not None] for _, verdicts in claims]
            mean = mean_of([agreeing(one) for one in given], [q for q, _ in claims], results.intervals, SHARE)
            kappa = _fleiss(mean.value, [one for one in given if len(one) > 1])
            asked = jurors * len(claims)
            yield Row((*pair, name), mean, _Jury(jurors, kappa, asked - sum(map(len, given)), asked))


def _missing_of_jury(row: Row) -> str | None:
    of = row.more
    left_out = f"{of.left_out:,} of {of.asked:,} verdicts left out by the judges" if of.left_out else ""
    if not row.mean.scored:
        return in_words(left_out, "no claim has two verdicts to compare")
    no_kappa = "" if of.kappa is not None else "no kappa: all verdicts are the same"
    return in_words(left_out, row.mean.missing, no_kappa)


def agreeing(labels: Iterable[str]) -> float | None:
    """The share of pairs of labels that are equal; None where there is no pair."""
    pairs = list(combinations(labels, 2))
    return sum(a == b for a, b in pairs) / len(pairs) if pairs else None


def _fleiss(agreement: float | None, claims: Sequence[Sequence[str]]) -> float | None:
    """Fleiss's kappa from the mean share of agreeing pairs; None where all verdicts are the same."""
    totals = Counter(verdict for verdicts in claims for verdict in verdicts)
    if agreement is None or len(totals) == 1:
        return None
    by_chance = sum((count / totals.total()) ** 2 for count in totals.values())
    return (agreement - by_chance) / (1 - by_chance)
