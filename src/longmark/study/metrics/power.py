"""The sections on whether a metric tells systems apart: power, ASL curves, hypotheses (CCRS, 4.1.3, 4.2 and E)."""

from __future__ import annotations

from longmark.compare.reach import claims_beyond_reach
from longmark.compare.words import hypothesis
from longmark.report.charts import Curve, curves
from longmark.report.document import Section
from longmark.report.words import counted, listed
from longmark.study.metrics.results import MetricProperties, MetricsStudy
from longmark.study.metrics.words import better
from longmark.tables import Cell, Column, Table

CORRECTION = "Tukey HSD, over the pairs of each metric; none over metrics"


def discriminative(study: MetricsStudy) -> Section:
    """The share of pairs that differ significantly (CCRS, tables 2 and 3), and every pair (tables 20-24)."""
    rows: list[tuple[Cell, ...]] = []
    pairs: list[tuple[Cell, ...]] = []
    for one in study.metrics:
        power, test = one.power, one.test
        n, missing = (test.n, test.missing) if test is not None else (None, None)
        rows.append((one.metric, power.significant, power.pairs, power.share, power.untested, n, missing, one.reason))
        for pair in test.pairs if test is not None else ():
            significant = pair.p < study.alpha if pair.p is not None else None
            pairs.append((one.metric, pair.a, pair.b, pair.difference, pair.p, significant, pair.reason))
    tables = (
        Table(
            "discriminative_power",
            "Discriminative power",
            (
                *(Column("metric"), Column("significant pairs"), Column("pairs"), Column("share", 3)),
                *(Column("not tested"), Column("questions"), Column("left out"), Column("why")),
            ),
            tuple(rows),
            f"Randomised Tukey HSD, p < {study.alpha:g}. Correction: {CORRECTION}. {_draws(study)}",
        ),
        Table(
            "pairs_of_systems",
            "Every pair of systems",
            (
                *(Column("metric"), Column("first"), Column("second"), Column("difference", 4)),
                *(Column("p", kind="p"), Column("significant"), Column("why")),
            ),
            tuple(pairs),
            "difference: mean of the first minus mean of the second, in the metric's units.",
        ),
    )
    note = "That a metric tells systems apart does not say that it tells them apart rightly."
    return Section("Discriminative power", _says(study), tables, note=note)


def _draws(study: MetricsStudy) -> str:
    tests = [one.test for one in study.metrics if one.test is not None]
    if not tests:
        return ""
    rule = "count / permutations" if study.as_published else "(count + 1) / (permutations + 1) where tables are drawn"
    return (
        f"p is {rule}; {study.permutations:,} permutations, seed {study.seed}, small tables enumerated. "
        + ("Questions that lack a system are kept, as published." if study.as_published else "")
    ).strip()


def _says(study: MetricsStudy) -> str:
    if len(study.systems) < 2:
        return f"There is one system, {study.systems[0]}, so there is nothing to tell apart."
    ranked = sorted(
        (one for one in study.metrics if one.power.share is not None), key=lambda one: -(one.power.share or 0.0)
    )
    parts = [f"{one.metric} {one.power.significant} of {one.power.pairs}" for one in ranked]
    says = f"Pairs of systems told apart at alpha {study.alpha:g}: {'; '.join(parts)}." if parts else ""
    none = [f"{one.metric}: {one.reason or one.power.reason}" for one in study.metrics if one.power.share is None]
    if none:
        says = f"{says} Not tested: {'; '.join(none)}.".strip()
    for why in dict.fromkeys(one.beyond_reach for one in ranked if one.beyond_reach):
        says += f" {listed([one.metric for one in ranked if one.beyond_reach == why])}: {why}."
    return says


def asl(study: MetricsStudy) -> Section:
    """The p-values of all pairs, from the largest to the smallest (CCRS, figure 3b)."""
    tested = [one for one in study.metrics if one.asl.p]
    rows = tuple((one.metric, rank, p, p < study.alpha) for one in tested for rank, p in enumerate(one.asl.p, start=1))
    columns = (Column("metric"), Column("rank"), Column("p", kind="p"), Column("significant"))
    table = Table("asl", "Achieved significance levels", columns, rows, "rank: 1 is the largest p of the metric.")
    title = "ASL curves"
    if not tested:
        return Section(title, "No pair of systems was tested, so there is no curve.", (table,))
    figure = curves(
        [Curve(one.metric, [(float(rank), p) for rank, p in enumerate(one.asl.p, start=1)]) for one in tested],
        "Achieved significance level by pair",
        "pairs of systems, sorted by p",
        "p",
        study.alpha,
    )
    above = [(len(one.asl.p) - one.power.significant, one) for one in tested]
    fewest, most = min(count for count, _ in above), max(count for count, _ in above)
    pairs = max(len(one.asl.p) for one in tested)
    says = "A curve holds the p-values of all pairs of systems; what lies below the dashed line is significant. "
    if fewest == most:
        every = "The curve" if len(tested) == 1 else "Every curve"
        says += f"{every} has {counted(fewest, 'pair')} of {pairs} at the line or above it."
    else:
        says += (
            f"The curve of {_named(above, fewest)} has {counted(fewest, 'pair')} at the line or above it, that of "
            f"{_named(above, most)} {counted(most, 'pair')}."
        )
    return Section(title, says, (table,), (figure,))


def _named(above: list[tuple[int, MetricProperties]], count: int) -> str:
    return listed([one.metric for found, one in above if found == count])


def hypotheses(study: MetricsStudy) -> Section | None:
    """What became of the composite hypotheses (CCRS, 4.2 and appendix F); None where there are none."""
    if not study.hypotheses:
        return None
    tests = {one.metric: one.test for one in study.metrics if one.test is not None}
    judged = list(
        zip(
            study.hypotheses,
            claims_beyond_reach(study.hypotheses, tests, study.permutations, study.alpha, "--permutations"),
            strict=True,
        )
    )
    rows = tuple(
        (
            *(one.name, one.combine, one.direction, len(one.comparisons)),
            *(one.p, one.adjusted, one.supported, one.reason or beyond),
        )
        for one, beyond in judged
    )
    comparisons = tuple(
        (one.name, found.metric, better(study.metric(found.metric)), found.a, found.b, found.difference, found.p)
        for one in study.hypotheses
        for found in one.comparisons
    )
    tables = (
        Table(
            "hypotheses",
            "Hypotheses",
            (
                *(Column("hypothesis"), Column("combine"), Column("direction"), Column("comparisons")),
                *(Column("p", kind="p"), Column("p, Holm", kind="p", key="p_holm"), Column("supported"), Column("why")),
            ),
            rows,
            f"all: p is the largest of the comparisons; any: the smallest times the number of metrics. Holm over the "
            f"hypotheses; supported where that is at most {study.alpha:g}.",
        ),
        Table(
            "hypothesis_comparisons",
            "The comparisons of each hypothesis",
            (
                *(Column("hypothesis"), Column("metric"), Column("better"), Column("first"), Column("second")),
                *(Column("difference", 4), Column("p", kind="p")),
            ),
            comparisons,
            "p in the hypothesis's direction, which is that of the scores: `greater` is more, also where lower is "
            "better.",
        ),
    )
    return Section("Hypotheses", " ".join(hypothesis(one, beyond) for one, beyond in judged), tables)
