"""The section on correlations between metrics, averaged over systems and in each (CCRS, 4.1.2 and C.2)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from longmark.analysis.metrics_study.results import MetricPair, MetricsStudy
from longmark.analysis.metrics_study.words import better
from longmark.report.charts import heat_map
from longmark.report.document import Section
from longmark.report.figures import Figure
from longmark.report.format import counted, fixed
from longmark.report.tables import Column, Table, interval_columns
from longmark.stats.correlation import KINDS, MeanCorrelation
from longmark.stats.results import Estimate

NAMES = {"pearson": "Pearson", "spearman": "Spearman", "kendall": "Kendall's tau-b"}
_WHY = "One metric: no correlations."


def correlations(study: MetricsStudy, *, by_system: bool = True) -> Section:
    """by_system: with the table of every system's own correlations."""
    title = "Correlations between metrics"
    if not study.pairs:
        return Section(title, _WHY)
    tables = [_means(study, kind) for kind in KINDS]
    if by_system:
        tables.append(_by_system(study))
    figures = [_heat(study, kind) for kind in KINDS]
    note = (
        f"Means over systems use Fisher's z; {100 * study.level:.4g} % intervals by jackknife over questions. Scores "
        "are not reversed: where lower is better in only one metric of a pair, agreement is a negative correlation."
    )
    return Section(title, _says(study), tables, figures, note)


def _means(study: MetricsStudy, kind: str) -> Table:
    columns = (
        *(Column("metric", "first", key="first"), Column("and", "second", key="second")),
        *interval_columns("mean", "mean", 3, f"{100 * study.level:.4g} % CI", interval="interval"),
        Column("systems", lambda on: len(on.mean.by_system) - len(on.mean.left_out)),
        Column("lowest", lambda on: on.ends[0][0], 3),
        Column("in", lambda on: on.ends[0][1], key="lowest_in"),
        Column("highest", lambda on: on.ends[1][0], 3),
        Column("in", lambda on: on.ends[1][1], key="highest_in"),
        Column("reason", lambda on: why_none(on.mean)),
    )
    items = [_OfPair(pair.first, pair.second, pair.by_kind[kind]) for pair in study.pairs]
    return Table(
        f"correlations_{kind}", f"{NAMES[kind]}, mean over systems", columns, items, "systems: number in the mean."
    )


class _OfPair(NamedTuple):
    """Two metrics and their correlation of one kind."""

    first: str
    second: str
    mean: MeanCorrelation

    @property
    def ends(self) -> tuple[tuple[float | None, str | None], ...]:
        """The lowest and the highest of the systems' own, with the system."""
        own = [(r.value, system) for system, r in self.mean.by_system.items() if r.value is not None]
        return (min(own), max(own)) if own else ((None, None), (None, None))


class _InSystem(NamedTuple):
    kind: str
    pair: MetricPair
    system: str
    r: Estimate


def why_none(mean: MeanCorrelation) -> str | None:
    """Why there is no mean, or no interval: the systems' own reason where they share one."""
    if mean.value is not None and (mean.low is not None or mean.reason is None):
        return None
    used = {r.reason for name, r in mean.by_system.items() if mean.value is None or name not in mean.left_out}
    own = {reason for reason in used if reason is not None}
    return own.pop() if len(own) == 1 else mean.reason


def _by_system(study: MetricsStudy) -> Table:
    items = [
        _InSystem(NAMES[kind], pair, system, r)
        for kind in KINDS
        for pair in study.pairs
        for system, r in pair.by_kind[kind].by_system.items()
    ]
    columns = (
        *(Column("kind"), Column("metric", "pair.first", key="first"), Column("and", "pair.second", key="second")),
        Column("system"),
        *interval_columns("correlation", "r", 3, f"{100 * study.level:.4g} % CI", interval="interval"),
        *(Column("n", "r.n"), Column("reason", "r.reason")),
    )
    return Table("correlations_by_system", "Correlations in each system", columns, items, "n: questions.")


def _heat(study: MetricsStudy, kind: str) -> Figure:
    names = [one.metric for one in study.metrics]
    found = {frozenset((pair.first, pair.second)): pair.by_kind[kind].value for pair in study.pairs}
    values = [[1.0 if a == b else found[frozenset((a, b))] for b in names] for a in names]
    label = f"{NAMES[kind]}, mean over systems"
    return heat_map(names, names, values, label, -1.0, 1.0, 3, says=_extremes(study, kind))


def _extremes(study: MetricsStudy, kind: str) -> str:
    """The strongest and the weakest correlation of this kind."""
    known = [(pair, r) for pair in study.pairs if (r := pair.by_kind[kind].value) is not None]
    if not known:
        return "No pair of metrics has a correlation."
    strongest, r = max(known, key=lambda found: abs(found[1]))
    said = f"Strongest: {strongest.first} and {strongest.second} ({fixed(r, 3)})"
    if len(known) == 1:
        return said + "."
    weakest, r = min(known, key=lambda found: abs(found[1]))
    return f"{said}; weakest: {weakest.first} and {weakest.second} ({fixed(r, 3)})."


def _says(study: MetricsStudy) -> str:
    """The strongest and the weakest Pearson correlation, and who has none."""
    values = [(pair, pair.by_kind["pearson"].value) for pair in study.pairs]
    known = [(pair, r) for pair, r in values if r is not None]
    missing = len(study.pairs) - len(known)
    parts = []
    if known:
        strongest, r = max(known, key=lambda found: abs(found[1]))
        parts.append(f"The strongest Pearson correlation is that of {_of(study, strongest, r)}")
        if len(known) > 1:
            weakest, r = min(known, key=lambda found: abs(found[1]))
            parts[0] += f"; the weakest, that of {weakest.first} and {weakest.second} (r = {r:.3f})"
        parts[0] += "."
    if missing:
        whole = "No pair of metrics has" if not known else f"{counted(missing, 'pair')} of metrics {_have(missing)}"
        parts.append(f"{whole} no correlation." if known else f"{whole} a correlation.")
        parts.append("; ".join(dict.fromkeys(_reasons(study))).capitalize() + ".")
    return " ".join(parts)


def _have(count: int) -> str:
    return "has" if count == 1 else "have"


def _reasons(study: MetricsStudy) -> Iterator[str]:
    for pair in study.pairs:
        mean = pair.by_kind["pearson"]
        if mean.value is None and (why := why_none(mean)) is not None:
            yield why


def _of(study: MetricsStudy, pair: MetricPair, r: float) -> str:
    """`a and b (r = 0.756 [0.749, 0.763])`, and what it means where their directions differ."""
    mean = pair.by_kind["pearson"]
    ends = f" [{mean.low:.3f}, {mean.high:.3f}]" if mean.low is not None and mean.high is not None else ""
    text = f"{pair.first} and {pair.second} (r = {r:.3f}{ends})"
    ways = {better(study.metric(pair.first)), better(study.metric(pair.second))}
    if ways == {"higher", "lower"}:
        text += f", of which one is better high and the other low, so that they {'agree' if r < 0 else 'disagree'}"
    return text
