"""SCORE's tables 1, 2, 4 and 10 from the marks of a study, and what belongs beside them.

    table 1   specificity, robustness and masked answer relevance: mean and standard deviation of each pair
    table 2   the reranker's relevance, and how many answers change the order of their points
    table 4   context utilization under each proxy: over answers, as CU = mean of an answer's deltas
    table 10  readability: means, and answers in each band

Table 1 pools the paper's kinds of perturbation, where the domain has hazards and locations (`found.pooled`): a variant
of another kind, as of the profession, may leave the question's words as they are.

The paper's robustness differs between the evaluators of one generator; here the variants, their answers and the
embeddings of these have nothing to do with an evaluator, so a generator's rows share it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import product

from longmark.metrics.score.readability import EASE_BANDS, GRADE_BANDS
from longmark.stats.proportion import share
from longmark.study.score.estimates import LACKS, METHOD, Estimate, Settings, estimate, in_words, of_values
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
    gaps,
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
    """The rows of one value for a pair, whichever run they stand in; of perturbations those that are pooled."""
    for marks in (found.judged.get((generator, evaluator), {}), found.once.get(generator, {})):
        if metric in marks:
            if metric != PERTURBATION or found.pooled is None:
                return marks[metric]
            return [mark for mark in marks[metric] if mark.variant in found.pooled]
    return ()


def pooling(found: Found) -> str:
    """Which perturbations table 1 takes together, and which it leaves to their own table; "" where that is all."""
    every = (mark.variant for marks in found.once.values() for mark in marks.get(PERTURBATION, []))
    if found.pooled is None or not (others := [kind for kind in dict.fromkeys(every) if kind not in found.pooled]):
        return ""
    return (
        f"Perturbation pools the kinds that the paper has ({', '.join(found.pooled)}); {', '.join(others)}, which may "
        "leave the question's words as they are, is in the table by kind of variant only. The pages of single answers "
        "pool every kind, and count rows where here the rows of a question count as one."
    )


def table_1(found: Found, settings: Settings) -> list[Table]:
    """Each pair in a row as in the paper, and each of its measures in a row with interval and gaps."""
    pairs = list(product(found.generators, found.evaluators))
    known: dict[tuple[str, str], Estimate] = {}  # robustness is that of the generator: estimated once

    def of(generator: str, evaluator: str, metric: str) -> Estimate:
        marks = marks_of(found, generator, evaluator, metric)
        key = (metric, generator if metric in (PARAPHRASE, PERTURBATION) else f"{generator}\0{evaluator}")
        if key not in known:
            known[key] = estimate(marks, settings, found.bounds_of(metric))
        return known[key]

    wide, long = list[tuple[Cell, ...]](), list[tuple[Cell, ...]]()
    for pair in pairs:
        figures = [of(*pair, metric) for _, metric, _ in MEASURES]
        wide.append((*pair, *(cell for one in figures for cell in (one.mean, one.sd))))
        for name, metric, better in _BESIDE:
            one = of(*pair, metric)
            if one.of:
                long.append((*pair, name, better, one.mean, one.sd, one.range, one.by, one.n, one.of, one.lacks))
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
        Table(
            "table1",
            "Every pair of generator and evaluator (SCORE's table 1)",
            (*heads, *columns),
            tuple(wide),
            pooling(found),
        ),
        Table(
            "table1_intervals",
            "Measures with their intervals (SCORE's table 1)",
            (
                *heads,
                Column("Measure"),
                Column("Better"),
                Column("Mean", 3),
                Column("sd", 3),
                Column(settings.interval_name, 3, "range", key="interval"),
                METHOD,
                *_N,
                LACKS,
            ),
            tuple(long),
            pooling(found),
        ),
    ]


def dimensions(found: Found, settings: Settings) -> list[Table]:
    """Specificity by dimension; and how the claims were voted, and how many labels the voices left out."""
    means, counts = list[tuple[Cell, ...]](), list[tuple[Cell, ...]]()
    for (generator, evaluator), (name, weight) in product(found.judged, found.weights.items()):
        metric = f"{SPECIFICITY}.{name}"
        marks = found.judged[generator, evaluator].get(metric, [])
        one = estimate(marks, settings, found.bounds_of(metric))
        figures = (one.mean, one.sd, one.range, one.by, one.n, one.of, one.lacks)
        means.append((generator, evaluator, name, weight, *figures))
        votes = Counter[str]()
        for mark in marks:
            votes.update(mark.votes)
        whole = found.judged[generator, evaluator].get(SPECIFICITY, [])
        labels = [label for mark in whole for dimension, its in mark.labels if dimension == name for label in its]
        voted = (votes["yes"], votes["no"], votes["n/a"], len(labels), labels.count(None))
        counts.append((generator, evaluator, name, *voted))
    heads = (Column("Generator"), Column("Evaluator"), Column("Dimension"))
    mean_columns = (
        Column("Weight", 2),
        Column("Mean", 3),
        Column("sd", 3),
        Column(settings.interval_name, 3, "range", key="interval"),
        METHOD,
        *_N,
        LACKS,
    )
    count_columns = (
        Column("Claims: yes", key="yes"),
        Column("no"),
        Column("n/a", key="na"),
        Column("Labels asked for", key="labels"),
        Column("left out", key="labels_left_out"),
    )
    return [
        Table("specificity_dimensions", "Specificity by dimension", (*heads, *mean_columns), tuple(means)),
        Table("specificity_votes", "Votes on claims, and labels left out", (*heads, *count_columns), tuple(counts)),
    ]


def variants(found: Found, settings: Settings) -> Table:
    """Robustness by kind of variant."""
    rows: list[tuple[Cell, ...]] = []
    for generator in found.generators:
        marks = found.once.get(generator, {})
        both = [(PARAPHRASE, "higher"), (PERTURBATION, "lower")]
        for metric, better in both:
            kinds = dict.fromkeys(mark.variant for mark in marks.get(metric, []))
            for kind in kinds:
                its = [mark for mark in marks[metric] if mark.variant == kind]
                one = estimate(its, settings, found.bounds_of(metric))
                rows.append((generator, kind, better, one.mean, one.sd, one.range, one.by, one.n, one.of, one.lacks))
    columns = (
        Column("Generator"),
        Column("Variant"),
        Column("Better"),
        Column("Mean cosine", 3, key="mean"),
        Column("sd", 3),
        Column(settings.interval_name, 3, "range", key="interval"),
        METHOD,
        *_N,
        LACKS,
    )
    return Table("robustness_variants", "Robustness by kind of variant", columns, tuple(rows))


def table_2(found: Found, settings: Settings) -> Table:
    """The reranker's relevance, and the answers whose points change places."""
    rows: list[tuple[Cell, ...]] = []
    for generator, marks in found.points.items():
        one = estimate(marks.get(RELEVANCE, []), settings, found.bounds_of(RELEVANCE))
        ordered = marks.get(CHANGED, [])
        order = [mark.value for mark in ordered if mark.value is not None]
        count = sum(value == 1 for value in order)
        changed = share(count, len(order), settings.level)
        relevance = (one.mean, one.sd, one.range, one.by, one.n, one.of)
        shares = (count, changed.n, changed.value, Range(changed.low, changed.high))
        no_order = gaps(ordered)
        rows.append((generator, *relevance, *shares, in_words(one.lacks, no_order and f"no order: {no_order}")))
    columns = (
        Column("Generator"),
        Column("Average score", 2, key="mean"),
        Column("sd", 2),
        Column(settings.interval_name, 2, "range", key="interval"),
        METHOD,
        *_N,
        Column("Order changed", key="changed"),
        Column("of answers with an order", key="with_order"),
        Column("Share", 3),
        Column("Wilson interval", 3, "range", key="share_interval"),
        LACKS,
    )
    return Table("table2", "Points reranked by what they add (SCORE's table 2)", columns, tuple(rows))


def table_4(found: Found, settings: Settings) -> list[Table]:
    """Context utilization of answers; of single facts beside it."""
    answers, facts = list[tuple[Cell, ...]](), list[tuple[Cell, ...]]()
    for (generator, proxy), marks in found.proxied.items():
        for name, metric, scale in (("CU", ABSOLUTE, 1.0), ("CU relative, %", RELATIVE, 100.0)):
            its = marks.get(metric, [])
            values = [None if mark.value is None else scale * mark.value for mark in its]
            lo, hi = (None if end is None else scale * end for end in found.bounds_of(metric))
            one = of_values(values, [mark.question for mark in its], settings, (lo, hi), gaps(its))
            answers.append((generator, proxy, name, *_spread(one)))
        facts.append((generator, proxy, *_of_facts(marks.get(ABSOLUTE, []), settings)))
    spread = (
        Column("Min", 4),
        Column("Max", 4),
        Column("Mean", 4),
        Column("sd", 4),
        Column(settings.interval_name, 4, "range", key="interval"),
        METHOD,
        *_N,
        LACKS,
    )
    of_facts = (
        Column("Facts", key="facts"),
        Column("Min, %", 2, key="min"),
        Column("Max, %", 2, key="max"),
        Column("Mean, %", 2, key="mean"),
        Column("Distracting", 3, key="distracting"),
        Column(settings.interval_name, 3, "range", key="interval"),
        METHOD,
        LACKS,
    )
    pair = (Column("Generator"), Column("Proxy"))
    return [
        Table(
            "table4",
            "Context utilization of answers (SCORE's table 4)",
            (*pair, Column("Score"), *spread),
            tuple(answers),
        ),
        Table("table4_facts", "Context utilization of single facts", (*pair, *of_facts), tuple(facts)),
    ]


def _spread(one: Estimate) -> tuple[Cell, ...]:
    return one.least, one.greatest, one.mean, one.sd, one.range, one.by, one.n, one.of, one.lacks


def _of_facts(marks: Sequence[Mark], settings: Settings) -> tuple[Cell, ...]:
    """Relative deltas of facts in percent, and the share of facts that lower the confidence."""
    relative = [100 * rel for mark in marks for _, rel in mark.deltas if rel is not None]
    below = [(mark.question, float(delta < 0)) for mark in marks for delta, _ in mark.deltas]
    values, questions = [value for _, value in below], [question for question, _ in below]
    one = of_values(values, questions, settings, (0.0, 1.0), gaps([mark for mark in marks if not mark.deltas]))
    without = len(below) - len(relative)
    no_change = f"{without:,} of {len(below):,} facts without a relative change" if without else ""
    percent = (min(relative), max(relative), sum(relative) / len(relative)) if relative else (None, None, None)
    return len(below), *percent, one.mean, one.range, one.by, in_words(one.lacks, no_change)


def table_10(found: Found, settings: Settings) -> list[Table]:
    """Readability: means, and answers in each band."""
    means = []
    for (generator, marks), (name, metric) in product(
        found.once.items(), (("Flesch reading ease", EASE), ("Flesch-Kincaid grade level", GRADE))
    ):
        one = estimate(marks.get(metric, []), settings, found.bounds_of(metric))
        means.append((name, generator, one.mean, one.sd, one.range, one.by, one.n, one.of, one.lacks))
    columns = (
        Column("Measure"),
        Column("Generator"),
        Column("Mean", 2),
        Column("sd", 2),
        Column(settings.interval_name, 2, "range", key="interval"),
        METHOD,
        *_N,
        LACKS,
    )
    return [
        Table("table10", "Readability (SCORE's table 10)", columns, tuple(means)),
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
