"""SCORE's tables 1, 2, 4 and 10 from the marks of a study, and what belongs beside them.

    table 1   specificity, robustness and masked answer relevance: mean and standard deviation of each pair
    table 2   the reranker's relevance, and how many answers change the order of their points
    table 4   context utilization under each proxy: over answers, as CU = mean of an answer's deltas
    table 10  readability: means, and answers in each band

The paper's robustness differs between the evaluators of one generator; here the variants, their answers and the
embeddings of these have nothing to do with an evaluator, so a generator's rows share it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

from longmark.metrics.score.readability import EASE_BANDS, GRADE_BANDS
from longmark.stats.proportion import share
from longmark.study.score.estimates import Estimate, Settings, estimate, of_values
from longmark.study.score.found import Found
from longmark.study.score.marks import (
    ABSOLUTE,
    CHANGED,
    EASE,
    GRADE,
    MASKED,
    PARAPHRASE,
    PERTURBATION,
    PLAIN,
    RELATIVE,
    RELEVANCE,
    SPECIFICITY,
    Mark,
)
from longmark.tables import Cell, Column, Range, Table

MEASURES = (
    ("Specificity", SPECIFICITY, "higher"),
    ("Paraphrase", PARAPHRASE, "higher"),
    ("Perturbation", PERTURBATION, "lower"),
    ("Relevance", MASKED, "higher"),
)
_BESIDE = (*MEASURES, ("Relevance, unmasked", PLAIN, "higher"))
_N = (Column("n"), Column("of"))


def marks_of(found: Found, generator: str, evaluator: str, metric: str) -> Sequence[Mark]:
    """The rows of one value for a pair, whichever run they stand in."""
    for marks in (found.judged.get((generator, evaluator), {}), found.once.get(generator, {})):
        if metric in marks:
            return marks[metric]
    return ()


def table_1(found: Found, settings: Settings) -> list[Table]:
    """Each pair in a row as in the paper, and each of its measures in a row with interval and gaps."""
    pairs = list(product(found.generators, found.evaluators))
    known: dict[tuple[str, str], Estimate] = {}  # robustness is that of the generator: estimated once

    def of(generator: str, evaluator: str, metric: str) -> Estimate:
        marks = marks_of(found, generator, evaluator, metric)
        key = (metric, generator if metric in (PARAPHRASE, PERTURBATION) else f"{generator}\0{evaluator}")
        if key not in known:
            known[key] = estimate(marks, settings)
        return known[key]

    wide, long = list[tuple[Cell, ...]](), list[tuple[Cell, ...]]()
    for pair in pairs:
        figures = [of(*pair, metric) for _, metric, _ in MEASURES]
        wide.append((*pair, *(cell for one in figures for cell in (one.mean, one.sd))))
        for name, metric, better in _BESIDE:
            one = of(*pair, metric)
            if one.of:
                long.append((*pair, name, better, one.mean, one.sd, one.range, one.n, one.of, one.lacks))
    columns = [
        column
        for name, _, better in MEASURES
        for column in (
            Column(f"{name} {'↑' if better == 'higher' else '↓'}", 2, key=name.lower()),
            Column("sd", 2, key=f"{name.lower()}_sd"),
        )
    ]
    heads = (Column("Generator"), Column("Evaluator"))
    return [
        Table("table1", "Table 1: every pair of generator and evaluator", (*heads, *columns), tuple(wide)),
        Table(
            "table1_intervals",
            "Table 1 with intervals",
            (
                *heads,
                Column("Measure"),
                Column("Better"),
                Column("Mean", 3),
                Column("sd", 3),
                Column(settings.interval_name, 3, "range", key="interval"),
                *_N,
                Column("What lacks", key="lacks"),
            ),
            tuple(long),
        ),
    ]


def dimensions(found: Found, settings: Settings) -> Table:
    """Specificity by dimension, and how the claims were voted."""
    rows = []
    for (generator, evaluator), (name, weight) in product(found.judged, found.weights.items()):
        marks = found.judged[generator, evaluator].get(f"{SPECIFICITY}.{name}", [])
        one = estimate(marks, settings)
        votes = Counter[str]()
        for mark in marks:
            votes.update(mark.votes)
        counts = (votes["yes"], votes["no"], votes["n/a"])
        rows.append((generator, evaluator, name, weight, one.mean, one.sd, one.range, one.n, one.of, *counts))
    columns = (
        Column("Generator"),
        Column("Evaluator"),
        Column("Dimension"),
        Column("Weight", 2),
        Column("Mean", 3),
        Column("sd", 3),
        Column(settings.interval_name, 3, "range", key="interval"),
        *_N,
        Column("Claims: yes", key="yes"),
        Column("no"),
        Column("n/a", key="na"),
    )
    return Table("specificity_dimensions", "Specificity by dimension", columns, tuple(rows))


def variants(found: Found, settings: Settings) -> Table:
    """Robustness by kind of variant."""
    rows: list[tuple[Cell, ...]] = []
    for generator in found.generators:
        marks = found.once.get(generator, {})
        both = [(PARAPHRASE, "higher"), (PERTURBATION, "lower")]
        for metric, better in both:
            kinds = dict.fromkeys(mark.variant for mark in marks.get(metric, []))
            for kind in kinds:
                one = estimate([mark for mark in marks[metric] if mark.variant == kind], settings)
                rows.append((generator, kind, better, one.mean, one.sd, one.range, one.n, one.of))
    columns = (
        Column("Generator"),
        Column("Variant"),
        Column("Better"),
        Column("Mean cosine", 3, key="mean"),
        Column("sd", 3),
        Column(settings.interval_name, 3, "range", key="interval"),
        *_N,
    )
    return Table("robustness_variants", "Robustness by kind of variant", columns, tuple(rows))


def table_2(found: Found, settings: Settings) -> Table:
    """The reranker's relevance, and the answers whose points change places."""
    rows: list[tuple[Cell, ...]] = []
    for generator, marks in found.points.items():
        one = estimate(marks.get(RELEVANCE, []), settings)
        order = [mark.value for mark in marks.get(CHANGED, []) if mark.value is not None]
        changed = share(sum(value == 1 for value in order), len(order), settings.level)
        relevance = (one.mean, one.sd, one.range, one.n, one.of)
        rows.append((generator, *relevance, changed.count, changed.n, changed.value, Range(changed.low, changed.high)))
    columns = (
        Column("Generator"),
        Column("Average score", 2, key="mean"),
        Column("sd", 2),
        Column(settings.interval_name, 2, "range", key="interval"),
        *_N,
        Column("Order changed", key="changed"),
        Column("of answers with an order", key="with_order"),
        Column("Share", 3),
        Column("Wilson interval", 3, "range", key="share_interval"),
    )
    return Table("table2", "Table 2: points reranked by what they add", columns, tuple(rows))


def table_4(found: Found, settings: Settings) -> list[Table]:
    """Context utilization of answers; of single facts beside it."""
    answers, facts = list[tuple[Cell, ...]](), list[tuple[Cell, ...]]()
    for (generator, proxy), marks in found.proxied.items():
        for name, metric, scale in (("CU", ABSOLUTE, 1.0), ("CU relative, %", RELATIVE, 100.0)):
            its = marks.get(metric, [])
            values = [None if mark.value is None else scale * mark.value for mark in its]
            answers.append((generator, proxy, name, *_spread(of_values(values, [m.question for m in its], settings))))
        facts.append((generator, proxy, *_of_facts(marks.get(ABSOLUTE, []), settings)))
    spread = (
        Column("Min", 4),
        Column("Max", 4),
        Column("Mean", 4),
        Column("sd", 4),
        Column(settings.interval_name, 4, "range", key="interval"),
        *_N,
    )
    of_facts = (
        Column("Facts", key="facts"),
        Column("Min, %", 2, key="min"),
        Column("Max, %", 2, key="max"),
        Column("Mean, %", 2, key="mean"),
        Column("Distracting", 3, key="distracting"),
        Column(settings.interval_name, 3, "range", key="interval"),
    )
    pair = (Column("Generator"), Column("Proxy"))
    return [
        Table("table4", "Table 4: context utilization of answers", (*pair, Column("Score"), *spread), tuple(answers)),
        Table("table4_facts", "Context utilization of single facts", (*pair, *of_facts), tuple(facts)),
    ]


def _spread(one: Estimate) -> tuple[Cell, ...]:
    return one.least, one.greatest, one.mean, one.sd, one.range, one.n, one.of


def _of_facts(marks: Sequence[Mark], settings: Settings) -> tuple[Cell, ...]:
    """Relative deltas of facts in percent, and the share of facts that lower the confidence."""
    relative = [100 * rel for mark in marks for _, rel in mark.deltas if rel is not None]
    below = [(mark.question, float(delta < 0)) for mark in marks for delta, _ in mark.deltas]
    one = of_values([value for _, value in below], [question for question, _ in below], settings)
    if not relative:
        return len(below), None, None, None, one.mean, one.range
    return len(below), min(relative), max(relative), sum(relative) / len(relative), one.mean, one.range


def table_10(found: Found, settings: Settings) -> list[Table]:
    """Readability: means, and answers in each band."""
    means = []
    for (generator, marks), (name, metric) in product(
        found.once.items(), (("Flesch reading ease", EASE), ("Flesch-Kincaid grade level", GRADE))
    ):
        one = estimate(marks.get(metric, []), settings)
        means.append((name, generator, one.mean, one.sd, one.range, one.n, one.of))
    columns = (
        Column("Measure"),
        Column("Generator"),
        Column("Mean", 2),
        Column("sd", 2),
        Column(settings.interval_name, 2, "range", key="interval"),
        *_N,
    )
    return [
        Table("table10", "Table 10: readability", columns, tuple(means)),
        Table(
            "table10_bands",
            "Answers in each band of readability",
            (Column("Measure"), Column("Band"), *(Column(name, key=f"answers: {name}") for name in found.once)),
            tuple(_bands(found)),
        ),
    ]


def _bands(found: Found) -> Iterator[tuple[Cell, ...]]:
    for name, metric, bands in (
        ("Reading ease", EASE, (*(band for _, band in EASE_BANDS), "very difficult")),
        ("Grade level", GRADE, (*(band for _, band in GRADE_BANDS), "graduate")),
    ):
        counts = [Counter(mark.band for mark in marks.get(metric, [])) for marks in found.once.values()]
        for band in bands:
            yield (name, band, *(count[band] for count in counts))
