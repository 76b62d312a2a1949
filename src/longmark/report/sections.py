"""What a run's report shows above and below the answers, as plain data for its template."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from typing import Any

from longmark.report.distribution import Distribution, bin_edges, distribution, offsets, scale, tick_texts
from longmark.report.evidence import goodness, kind_of
from longmark.report.format import BY, counted, fixed, listed, upright, whole
from longmark.report.summary import Cell, Summary, how_many, interval_in_words
from longmark.scores.index import ScoreIndex
from longmark.scores.manifest import Manifest, MetricFacts


@dataclass(frozen=True, slots=True)
class Heading:
    """title: of the window; what: what was scored; how: from which file, by which judge, when, what is missing."""

    title: str
    what: str
    how: str


def heading(summary: Summary, manifests: Sequence[Manifest], total: int) -> Heading:
    """The first two lines of the page. A model's name ends before its address; the full names are under Provenance."""
    names = [upright(name) for name in summary.systems]
    answers = counted(total, "answer")
    what = f"{answers} from {listed(names, 3)}" if names else "No answers yet"
    metrics = list(dict.fromkeys(name.partition(BY)[0] for name in summary.metrics))
    if not metrics:
        return Heading(what, what, "The run has no rows yet.")
    by = _judges(manifests)
    files = {str(manifest.data.get("source") or "").replace("\\", "/").rpartition("/")[2] for manifest in manifests}
    file = files.pop() if len(files) == 1 else ""  # records that were given from Python have no file
    source = f"Read from {upright(file)}, scored" if "." in file else "Scored"
    missing = sum(cell.n - cell.scored for cell in summary.cells)
    of = sum(cell.n for cell in summary.cells)
    left = f"{whole(missing)} of {counted(of, 'score')} {'is' if missing == 1 else 'are'}" if missing else "No score is"
    how = f"{source} on {counted(len(metrics), 'metric')} {by}{_when(manifests)}. {left} missing."
    return Heading(f"{what}, scored {by}", what, how)


def _judges(manifests: Iterable[Manifest]) -> str:
    """`by m and k (at 2 addresses)`: the judges, else every model."""
    roles: dict[str, dict[str, None]] = {}
    for manifest in manifests:
        for role, names in manifest.models.items():
            roles.setdefault(role, {}).update(dict.fromkeys(names))
    models = roles.get("judge") or {name: None for names in roles.values() for name in names}
    counts: dict[str, int] = {}
    for name in models:
        short = upright(name.split("@")[0]) or upright(name)
        counts[short] = counts.get(short, 0) + 1
    shown = [name if count == 1 else f"{name} (at {count} addresses)" for name, count in counts.items()]
    return f"by {listed(shown)}" if shown else "without a model"


def _when(manifests: Iterable[Manifest]) -> str:
    """` on 21 November 2026`; of several days the first and the last; nothing where no run recorded a time."""
    days: list[date] = []
    for manifest in manifests:
        for key in ("created", "finished"):
            try:
                days.append(datetime.fromisoformat(str(manifest.data.get(key))).date())
            except ValueError:
                continue
    if not days:
        return ""
    first, last = (f"{day.day} {day:%B %Y}" for day in (min(days), max(days)))
    return f" on {first}" if first == last else f" from {first} to {last}"


def notices(manifests: Sequence[Manifest], answers: int = 0, cut: int = 0, read: Sequence[str] = ()) -> list[str]:
    """What a reader must know before believing the page: runs that have not ended, runs made with other settings,
    how many of the answers were cut off. read: what the readers left out."""
    found = [upright(line) for line in read]
    if cut:
        found.append(
            f"{whole(cut)} of {counted(answers, 'answer')} {'was' if cut == 1 else 'were'} cut off at the generator’s "
            "token limit. Only the text up to the limit was scored."
        )
    for manifest in manifests:
        name = upright(manifest.folder.name)
        if manifest.data and not manifest.ended:
            found.append(
                f"The run {name} has not finished: some scores are still missing. Repeat the same command to resume it."
            )
        examples = manifest.data.get("examples")
        skipped = examples.get("skipped") if isinstance(examples, dict) else 0
        if skipped:
            found.append(f"The run {name} left out {upright(str(skipped))} bad records of its file (--skip-bad).")
    keys = {key for manifest in manifests for key in manifest.fixed}
    differing = [key for key in sorted(keys) if any(m.fixed.get(key) != manifests[0].fixed.get(key) for m in manifests)]
    if differing:
        found.append(
            f"The runs were made with different settings ({listed(differing, 99)}). A difference between their scores "
            "may come from the settings instead of the answers. See Provenance."
        )
    return found


@dataclass(frozen=True, slots=True)
class Bar:
    """A mean and its interval on the metric's axis, in percent of its length. kind: `good`, `fair`, `poor`, or `plain`
    where the metric has no direction or no bounds."""

    kind: str
    mean: float
    low: float | None
    high: float | None
    label: str


@dataclass(frozen=True, slots=True)
class Scored:
    """A metric and system. bar: None where there is no mean; unscored: (count, status, how many give the
    reason, reason)."""

    cell: Cell
    mean: str
    interval: str
    bar: Bar | None
    unscored: list[tuple[int, str, str, str]]


def score_table(summary: Summary, titles: dict[str, str]) -> Iterator[tuple[str, str, list[Scored | None]]]:
    """For each metric its name, what its scores mean, and a cell for each system, None where it has no row of it."""
    for metric in summary.metrics:
        cells, facts, places = summary.of(metric), summary.facts[metric], summary.decimals(metric)
        edges = _edges(facts, cells)
        ends = (edges[0], edges[-1]) if edges else None
        found = {cell.system: _scored(summary, cell, places, ends, titles[metric]) for cell in cells}
        yield metric, limits(facts), [found.get(system) for system in summary.systems]


def _scored(summary: Summary, cell: Cell, places: int, ends: tuple[float, float] | None, title: str) -> Scored:
    bar = None
    interval = interval_in_words(summary, cell)
    if ends is not None and cell.mean is not None:
        at = scale(ends, 0, 100)
        low, high = map(at, cell.interval) if cell.interval else (None, None)
        label = f"{title}: mean {fixed(cell.mean, places)} on an axis from {ends[0]:g} to {ends[1]:g}"
        bar = Bar(kind_of(goodness(summary.facts[cell.metric], cell.mean)), at(cell.mean), low, high, label)
    unscored = [(gap.count, gap.status, how_many(gap), gap.reason) for gap in cell.unscored]
    return Scored(cell, fixed(cell.mean, places), interval if cell.interval else "", bar, unscored)


def _edges(facts: MetricFacts, cells: Sequence[Cell]) -> tuple[float, ...] | None:
    """The bins of a metric's axis: between its bounds, else at round numbers around the scores seen."""
    seen = [end for cell in cells for end in (cell.least, cell.greatest) if end is not None]
    return bin_edges(facts, min(seen), max(seen)) if seen else None


def limits(facts: MetricFacts) -> str:
    """`0 to 1, higher is better`."""
    lo, hi = ("" if end is None else f"{end:g}" for end in (facts.lo, facts.hi))
    ends = f"{lo} to {hi}" if lo and hi else f"from {lo}" if lo else f"up to {hi}" if hi else "no bounds"
    better = {True: "higher is better", False: "lower is better", None: "no direction"}
    return f"{ends}, {better[facts.higher_is_better]}"


def cards(index: ScoreIndex, summary: Summary) -> Iterator[dict[str, Any]]:
    """For each metric what its histograms and box plots show: a distribution for each system with scores (`spreads`),
    the place of a score in a drawing 300 wide (`at`), and the numbers as a table. What several metrics of a family
    measure is said once."""
    said = set()
    for metric in summary.metrics:
        facts, cells, places = summary.facts[metric], summary.of(metric), summary.decimals(metric)
        edges = _edges(facts, cells) or (0.0, 1.0)
        number = index.metrics.index(metric)
        spreads = [
            distribution(
                cell.system, index.ascending(number, summary.systems.index(cell.system)), cell.scored, cell.mean, edges
            )
            for cell in cells
            if cell.mean is not None
        ]
        ticks = tick_texts(edges)
        yield {
            "metric": metric,
            "says": "" if facts.summary in said else facts.summary,
            "limits": limits(facts),
            "spreads": spreads,
            "empty": [cell.system for cell in cells if cell.mean is None],
            "tallest": max((max(spread.counts) for spread in spreads), default=1),
            "ticks": [ticks[0], ticks[len(ticks) // 2] if len(ticks) % 2 else "", ticks[-1]],
            "at": scale((edges[0], edges[-1]), 14, 286),
            "offsets": offsets,
            "places": places,
            "columns": [("Scores", False), *((spread.system, True) for spread in spreads)],
            "numbers": _numbers(spreads, ticks, places),
        }
        said.add(facts.summary)


def _numbers(spreads: Sequence[Distribution], edges: Sequence[str], places: int) -> list[list[str]]:
    """What the figures of a card draw: counts by bin, then the five numbers of the box plot and the mean."""
    rows = []
    for i in range(len(edges) - 1):
        until = "to" if i == len(edges) - 2 else "to below"
        rows.append([f"{edges[i]} {until} {edges[i + 1]}", *(whole(spread.counts[i]) for spread in spreads)])
    names = {"least": "minimum", "q1": "lower quartile", "q3": "upper quartile", "greatest": "maximum"}
    for name in ("least", "q1", "median", "q3", "greatest", "mean"):
        rows.append([names.get(name, name), *(fixed(getattr(spread, name), places) for spread in spreads)])
    return rows
