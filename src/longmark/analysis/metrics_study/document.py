"""A study as a document: a summary with one line per metric, then the sections in the order of the paper."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from longmark.analysis.metrics_study.costs import costs
from longmark.analysis.metrics_study.power import CORRECTION, asl, discriminative, hypotheses
from longmark.analysis.metrics_study.relations import correlations
from longmark.analysis.metrics_study.results import MetricProperties, MetricsStudy
from longmark.analysis.metrics_study.spread import bounds, distributions, gaps, population, question_means, ties
from longmark.analysis.metrics_study.words import better
from longmark.report.document import Document, Section
from longmark.report.format import counted, listed
from longmark.report.tables import Column, Mean, Range, Table, systems_table


def document(study: MetricsStudy) -> Document:
    """The study's page."""
    return Document(
        kind="metrics study",
        title=f"{counted(len(study.metrics), 'metric')}, {counted(len(study.systems), 'system')}",
        lede="Properties of the metrics: distributions, ties, correlations, discriminative power, cost.",
        sections=sections(study),
        notices=study.notices,
        settings={
            "Runs": list(study.runs),
            "By": study.by,
            "Alpha": study.alpha,
            "Confidence level": study.level,
            "Permutations": study.permutations,
            "Seed": study.seed,
            "Correction": CORRECTION,
            "As published": study.as_published,
        },
    )


def brief(page: Document) -> Document:
    """What is printed without --verbose: the summary, and the hypotheses."""
    first = replace(
        page.sections[0],
        tables=page.sections[0].tables[:1],
        note="--verbose prints every section; --out DIR writes all tables, with figures.",
    )
    return replace(page, sections=[first, *(one for one in page.sections if one.title == "Hypotheses")])


def sections(study: MetricsStudy) -> tuple[Section, ...]:
    """All sections, in the order of the paper."""
    found: list[Section | None] = [
        *(overview(study), gaps(study), bounds(study), ties(study), population(study), question_means(study)),
        *distributions(study),
        *(correlations(study), discriminative(study), asl(study), hypotheses(study), costs(study)),
    ]
    return tuple(section for section in found if section is not None)


def overview(study: MetricsStudy) -> Section:
    """One line for each metric, and the means of all systems."""
    table = Table(
        "metrics",
        "Summary of the metrics",
        (
            *(Column("metric"), Column("direction", better), Column("scores", "n"), Column("mean", places=3)),
            Column("at lower bound", lambda one: _range(_shares(one, "low")), 3, "range"),
            Column("at upper bound", lambda one: _range(_shares(one, "high")), 3, "range"),
            Column("ties", lambda one: _range([s.ties.probability for s in one.systems]), 3, "range"),
            Column("closest metric", lambda one: _closest(study, one)[0]),
            Column("r", lambda one: _closest(study, one)[1], 3),
            Column("power", "power.share", 3),
            Column("calls per row", lambda one: one.usage.calls / one.rows if one.rows else None, 2),
        ),
        study.metrics,
        "mean: of the systems' means. At bounds, ties: share and probability, lowest and highest system. closest "
        "metric, r: strongest Pearson correlation, mean over systems. power: share of the pairs of systems with "
        f"p < {study.alpha:g} (Tukey HSD).",
    )
    return Section("Summary", _says(study), (table, _main(study)))


def _shares(one: MetricProperties, end: str) -> list[float | None]:
    """The shares of the systems at one end of the scale; none where it has no end there."""
    if (one.facts.lo if end == "low" else one.facts.hi) is None:
        return []
    return [getattr(s.bounds, f"share_{end}") for s in one.systems if s.bounds is not None]


def _range(shares: Sequence[float | None]) -> Range | None:
    known = [share for share in shares if share is not None]
    return Range(min(known), max(known)) if known else None


def _main(study: MetricsStudy) -> Table:
    """Systems x metrics, for a paper."""
    means = {(s.system, one.metric): s.described.mean for one in study.metrics for s in one.systems}
    metrics = [Column(one.metric, places=one.places, kind=better(one)) for one in study.metrics]
    note = "Means over all scored questions; the best of a metric in bold. `compare` gives intervals and tests."
    return systems_table(study.systems, metrics, lambda *key: Mean(means[key]), note)


def _closest(study: MetricsStudy, one: MetricProperties) -> tuple[str | None, float | None]:
    """The metric with the strongest Pearson correlation with this one, and that correlation."""
    found = [
        (abs(r.value), pair.second if pair.first == one.metric else pair.first, r.value)
        for pair in study.pairs
        if one.metric in (pair.first, pair.second) and (r := pair.by_kind["pearson"]).value is not None
    ]
    _, name, value = max(found, key=lambda each: each[0], default=(None, None, None))
    return name, value


def _says(study: MetricsStudy) -> str:
    said = (
        f"{counted(len(study.metrics), 'metric')} on {counted(study.questions, 'question')} and "
        f"{counted(len(study.systems), 'system')}: {listed(study.systems, 8)}."
    )
    known = [one for one in study.metrics if one.power.share is not None]
    if not known:
        why = "No pair of systems could be tested." if len(study.systems) > 1 else "One system: nothing to compare."
        return f"{said} {why}"
    most = max(one.power.share or 0.0 for one in known)
    if not most:
        said += " No metric finds a significant difference between two systems."
    else:
        best = [one for one in known if one.power.share == most]
        pairs = best[0].power
        said += (
            f" Highest discriminative power: {listed([one.metric for one in best])} ({pairs.significant} of "
            f"{pairs.pairs} pairs of systems)."
        )
    if all(one.beyond_reach for one in known):
        said += " With so few questions or permutations no difference is detectable."
    return said
