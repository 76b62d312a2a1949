"""The sections on discriminative power: pairs, ASL curves, hypotheses (CCRS, 4.1.3, 4.2 and E)."""

from __future__ import annotations

from longmark.analysis.compare.reach import claims_beyond_reach
from longmark.analysis.compare.sections import hypotheses_section
from longmark.analysis.metrics_study.results import MetricProperties, MetricsStudy, On
from longmark.report.charts import Curve, curves
from longmark.report.document import Section
from longmark.report.format import counted, listed
from longmark.report.tables import Column, Table

CORRECTION = "Tukey HSD, over the pairs of each metric; none over metrics"


def discriminative(study: MetricsStudy) -> Section:
    """The share of pairs that differ significantly (CCRS, tables 2 and 3), and every pair (tables 20-24)."""
    tables = (
        Table(
            "discriminative_power",
            "Discriminative power",
            (
                *(Column("metric"), Column("significant pairs", "power.significant"), Column("pairs", "power.pairs")),
                *(Column("share", "power.share", 3), Column("not tested", "power.untested")),
                Column("questions", lambda one: one.test and one.test.n),
                Column("left out", lambda one: one.test and one.test.missing),
                Column("reason"),
            ),
            study.metrics,
            f"Randomised Tukey HSD, p < {study.alpha:g}. Correction: {CORRECTION}. {_draws(study)}",
        ),
        Table(
            "pairs_of_systems",
            "Pairs of systems",
            (
                *(Column("metric", "metric.metric"), Column("first", "of.a"), Column("second", "of.b")),
                *(Column("difference", "of.difference", 4), Column("p", "of.p", kind="p")),
                Column("significant", lambda on: on.of.p < study.alpha if on.of.p is not None else None),
                Column("reason", "of.reason"),
            ),
            [On(one, pair) for one in study.metrics if one.test is not None for pair in one.test.pairs],
            "difference: mean of the first minus mean of the second, in the metric's units.",
        ),
    )
    note = "Discriminative power does not show that the metric ranks the systems correctly."
    return Section("Discriminative power", _says(study), tables, note=note)


def _draws(study: MetricsStudy) -> str:
    tests = [one.test for one in study.metrics if one.test is not None]
    if not tests:
        return ""
    rule = "count / permutations" if study.as_published else "(count + 1) / (permutations + 1) where tables are drawn"
    return (
        f"p is {rule}; {study.permutations:,} permutations, seed {study.seed}, small tables enumerated. "
        + ("Questions with a missing system are kept, as published." if study.as_published else "")
    ).strip()


def _says(study: MetricsStudy) -> str:
    if len(study.systems) < 2:
        return f"There is one system, {study.systems[0]}, so no pair can be tested."
    ranked = sorted(
        (one for one in study.metrics if one.power.share is not None), key=lambda one: -(one.power.share or 0.0)
    )
    parts = [f"{one.metric} {one.power.significant} of {one.power.pairs}" for one in ranked]
    says = f"Pairs that differ significantly at alpha {study.alpha:g}: {'; '.join(parts)}." if parts else ""
    none = [f"{one.metric}: {one.reason or one.power.reason}" for one in study.metrics if one.power.share is None]
    if none:
        says = f"{says} Not tested: {'; '.join(none)}.".strip()
    for why in dict.fromkeys(one.beyond_reach for one in ranked if one.beyond_reach):
        says += f" {listed([one.metric for one in ranked if one.beyond_reach == why])}: {why}."
    return says


def asl(study: MetricsStudy) -> Section:
    """The p-values of all pairs, from the largest to the smallest (CCRS, figure 3b)."""
    tested = [one for one in study.metrics if one.asl.p]
    columns = (
        *(Column("metric", "metric.metric"), Column("rank", lambda on: on.of[0])),
        *(Column("p", lambda on: on.of[1], kind="p"), Column("significant", lambda on: on.of[1] < study.alpha)),
    )
    ranked = [On(one, each) for one in tested for each in enumerate(one.asl.p, start=1)]
    table = Table("asl", "Achieved significance levels", columns, ranked, "rank: 1 is the largest p of the metric.")
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
    says = "A curve holds the p-values of all pairs of systems; those below the dashed line are significant. "
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
    """The composite hypotheses (CCRS, 4.2 and appendix F); None where there are none."""
    if not study.hypotheses:
        return None
    tests = {one.metric: one.test for one in study.metrics if one.test is not None}
    beyond = claims_beyond_reach(study.hypotheses, tests, study.permutations, study.alpha, "--permutations")
    return hypotheses_section(study.hypotheses, beyond, study.alpha, _draws(study))
