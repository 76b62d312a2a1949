"""A study as a document: its sections, with a first one that puts the metrics side by side."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from longmark.report.document import Document, Section
from longmark.report.words import counted, listed
from longmark.study.metrics.costs import costs
from longmark.study.metrics.power import CORRECTION, asl, discriminative, hypotheses
from longmark.study.metrics.relations import correlations
from longmark.study.metrics.results import MetricProperties, MetricsStudy
from longmark.study.metrics.spread import bounds, distributions, gaps, population, question_means, ties
from longmark.study.metrics.words import better
from longmark.tables import Cell, Column, Range, Table

LONG = frozenset({"correlations_by_system", "question_means_bins", "asl", "costs_by_system"})
"""Tables that are for files and pages, and too long for a terminal; the histograms' are too."""


def document(study: MetricsStudy) -> Document:
    """The study's page, tables and sentences."""
    return Document(
        kind="metrics study",
        title=f"{counted(len(study.metrics), 'metric')}, {counted(len(study.systems), 'system')}",
        lede="What the metrics are like: spread, ties, relations, whether they tell systems apart, cost.",
        sections=sections(study),
        notices=study.notices,
        settings={
            "Runs": list(study.runs),
            "By": study.by,
            "Alpha": study.alpha,
            "Level of intervals": study.level,
            "Permutations": study.permutations,
            "Seed": study.seed,
            "Correction": CORRECTION,
            "As published": study.as_published,
        },
    )


def brief(whole: Document) -> Document:
    """The document without its long tables: for a terminal."""

    def kept(tables: Iterable[Table]) -> tuple[Table, ...]:
        return tuple(one for one in tables if one.name not in LONG and not one.name.startswith("histogram_"))

    short = [replace(one, tables=kept(one.tables)) for one in whole.sections]
    return replace(whole, sections=short)


def sections(study: MetricsStudy) -> tuple[Section, ...]:
    """All sections, in the order of the paper."""
    found: list[Section | None] = [
        glance(study),
        gaps(study),
        bounds(study),
        ties(study),
        population(study),
        question_means(study),
        *distributions(study),
        correlations(study),
        discriminative(study),
        asl(study),
        hypotheses(study),
        costs(study),
    ]
    return tuple(section for section in found if section is not None)


def glance(study: MetricsStudy) -> Section:
    """One line for each metric."""
    table = Table(
        "metrics",
        "The metrics at a glance",
        (
            *(Column("metric"), Column("better"), Column("scores"), Column("mean", 3)),
            *(Column("at lower bound", 3, "range"), Column("at upper bound", 3, "range"), Column("ties", 3, "range")),
            *(Column("closest metric"), Column("r", 3), Column("power", 3), Column("calls per row", 2)),
        ),
        tuple(_line(study, one) for one in study.metrics),
        "mean: of the systems' means. At bounds, ties: share and probability, the lowest and the highest system. "
        "closest metric, r: the strongest Pearson correlation, mean over systems. power: share of the pairs of systems "
        f"with p < {study.alpha:g}.",
    )
    return Section("The metrics at a glance", _says(study), (table,))


def _line(study: MetricsStudy, one: MetricProperties) -> tuple[Cell, ...]:
    low = [s.bounds.share_low for s in one.systems if s.bounds is not None and one.facts.lo is not None]
    high = [s.bounds.share_high for s in one.systems if s.bounds is not None and one.facts.hi is not None]
    closest, r = _closest(study, one)
    return (
        *(one.metric, better(one), one.n, one.mean),
        *(_span(low), _span(high), _span([s.ties.probability for s in one.systems])),
        *(closest, r, one.power.share, one.usage.calls / one.rows if one.rows else None),
    )


def _span(values: Sequence[float | None]) -> Range:
    known = [value for value in values if value is not None]
    return Range(min(known), max(known)) if known else Range(None, None)


def _closest(study: MetricsStudy, one: MetricProperties) -> tuple[str | None, float | None]:
    found = [
        (abs(r.value), pair.second if pair.first == one.metric else pair.first, r.value)
        for pair in study.pairs
        if one.metric in (pair.first, pair.second) and (r := pair.by_kind["pearson"]).value is not None
    ]
    if not found:
        return None, None
    _, name, value = max(found, key=lambda each: each[0])
    return name, value


def _says(study: MetricsStudy) -> str:
    parts = [
        f"{counted(len(study.metrics), 'metric')} on {counted(study.questions, 'question')} and "
        f"{counted(len(study.systems), 'system')}: {listed(study.systems, 8)}."
    ]
    known = [one for one in study.metrics if one.power.share is not None]
    if known:
        most = max(one.power.share or 0.0 for one in known)
        best = [one for one in known if one.power.share == most]
        pairs = best[0].power
        parts.append(
            f"{listed([one.metric for one in best])} {'tells' if len(best) == 1 else 'tell'} the most pairs of systems "
            f"apart ({pairs.significant} of {pairs.pairs})."
            if most
            else "No metric tells any two systems apart."
        )
        if all(one.beyond_reach for one in known):
            parts.append("With so few questions or permutations none could, however far apart they lie.")
    elif len(study.systems) > 1:
        parts.append("No two systems could be tested against each other.")
    else:
        parts.append("With one system there is nothing to tell apart.")
    return " ".join(parts)
