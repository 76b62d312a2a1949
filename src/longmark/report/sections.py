"""What a run's report shows above and below the answers, as plain data for its template."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict
from datetime import date, datetime
from typing import Any

from longmark.records import Usage
from longmark.records.metric_name import without_endpoint
from longmark.records.parts import merged_in_part
from longmark.report.choices import Agreement, agrees
from longmark.report.choices import bar as choices_bar
from longmark.report.distribution import Distribution, bin_edges, distribution, offsets, scale
from longmark.report.document import table_data
from longmark.report.format import (
    BY,
    counted,
    direction,
    dollars,
    duration,
    fixed,
    integer,
    listed,
    share,
    tick_texts,
    upright,
)
from longmark.report.page import as_json
from longmark.report.summary import Cell, Summary, interval_in_words
from longmark.report.tables import Column, Table
from longmark.report.worst import kind_of
from longmark.scores.manifest import Manifest, MetricFacts
from longmark.scores.observations import Observations

_UNKNOWN = "not recorded"


def heading(summary: Summary, manifests: Sequence[Manifest], total: int) -> tuple[str, str, str]:
    """The title of the window, what was scored, and in one line from which file, by which judge, when, what is missing.
    A model's name ends before its address; the full names are under Provenance."""
    systems = [upright(name) for name in summary.systems]
    of_systems = f" from {listed(systems, 3)}" if systems else ", without a row of a metric"
    subject = f"{counted(total, 'pair' if summary.pairs else 'answer')}{of_systems}"
    metrics = {name.partition(BY)[0] for name in summary.wholes}
    judges = _judges(manifests)
    files = {
        str(manifest.data.get("source") or "").replace("\\", "/").rpartition("/")[2]
        for manifest in manifests
    }
    file = (
        files.pop() if len(files) == 1 else ""
    )  # records that were given from Python have no file
    source = f"Read from {upright(file)}, scored" if "." in file else "Scored"
    cells = [cell for cell in summary.cells if cell.metric in summary.wholes]
    missing = sum(cell.n - cell.scored for cell in cells)
    total_scores = sum(cell.n for cell in cells)
    ended = bool(cells) and all(manifest.ended for manifest in manifests if manifest.data)
    left = " No score is missing." if ended else ""  # else a notice says so
    if missing:
        left = f" {integer(missing)} of {counted(total_scores, 'score')} {'is' if missing == 1 else 'are'} missing."
    how_scored = f"{source} on {counted(len(metrics), 'metric')}{judges}{_when(manifests)}.{left}"
    return f"{subject}, scored{judges}" if judges else subject, subject, how_scored


def _judges(manifests: Sequence[Manifest]) -> str:
    """` by m and k (at 2 addresses)`: the judges, else every model; nothing where a source does not record them."""
    if not all("models" in manifest.fixed for manifest in manifests):
        return ""
    roles: dict[str, dict[str, None]] = {}
    for manifest in manifests:
        for role, names in manifest.models.items():
            roles.setdefault(role, {}).update(dict.fromkeys(names))
    models = roles.get("judge") or {name: None for names in roles.values() for name in names}
    counts: dict[str, int] = {}
    for name in models:
        short = upright(without_endpoint(name)) or upright(name)
        counts[short] = counts.get(short, 0) + 1
    names_shown = [
        name if count == 1 else f"{name} (at {count} addresses)" for name, count in counts.items()
    ]
    return f" by {listed(names_shown)}" if names_shown else " without a model"


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


def _computed(manifest: Manifest) -> str:
    """How many of a run's rows there are, as a sentence; "" where its manifest does not say."""
    try:
        last = manifest.data["sessions"][-1]
        rows = manifest.data["examples"]["rows"]
        return f" {integer(last['before'] + last['rows'])} of {counted(rows, 'row')} were computed."
    except (KeyError, IndexError, TypeError, ValueError):
        return ""


def notices(
    manifests: Sequence[Manifest], answers: int = 0, cut: int = 0, read: Sequence[str] = ()
) -> list[str]:
    """What a reader must know before believing the page: runs that have not ended, runs made with other settings,
    how many of the answers were cut off. read: what the readers left out."""
    lines = [upright(line) for line in read]
    if cut:
        cut_off = f"{integer(cut)} of {counted(answers, 'answer')} {'was' if cut == 1 else 'were'} cut off"
        lines.append(
            f"{cut_off} at the generator’s token limit. Only the text up to the limit was scored."
        )
    for manifest in manifests:
        name = upright(manifest.folder.name)
        for judge in manifest.unreadable:
            replies = "; ".join(f"“{text}”" for text in dict.fromkeys(judge.replies))
            ended = f"In the run {name}" if manifest.ended else f"The run {name} was stopped:"
            remedy = (
                f" --keep-going computes the others.{_computed(manifest)}"
                if not manifest.ended
                else ""
            )
            lines.append(upright(f"{ended} {judge}. The first replies: {replies}.{remedy}"))
        if merged_in_part(manifest.data):
            lines.append(
                f"The run {name} was merged from runs that are not complete: some scores are still missing. Run the "
                f"whole input with the same settings and --out {name}."
            )
        elif manifest.data and not manifest.ended and not manifest.unreadable:
            lines.append(
                f"The run {name} has not finished: some scores are still missing.{_computed(manifest)} "
                "Repeat its `longmark run` command."
            )
        examples = manifest.data.get("examples")
        skipped = examples.get("skipped") if isinstance(examples, dict) else 0
        if skipped:
            lines.append(
                f"The run {name} skipped {upright(str(skipped))} bad records of its file (--skip-bad)."
            )
    settings = [{**manifest.fixed, "judging": None, **manifest.judging} for manifest in manifests]
    keys = {key for setting in settings for key in setting}
    differing = [
        key
        for key in sorted(keys)
        if any(setting.get(key) != settings[0].get(key) for setting in settings)
    ]
    if differing:
        lines.append(
            f"The runs were made with different settings ({listed(differing, 99)}). A difference between their scores "
            "may come from the settings instead of the answers. See Provenance."
        )
    return lines


def score_table(
    summary: Summary, titles: dict[str, str], agreement: Agreement
) -> Iterator[tuple[str, str, list[dict[str, Any] | None]]]:
    """For each metric its name, what its scores mean, and a cell for each system, None where it has no row of it: the
    `cell`, `mean` and `interval` in words, and the `bar` of the mean in percent of the metric's axis; of pairs the
    shares of the choices, and how often people choose the same."""
    for metric in summary.metrics:
        cells = summary.of(metric)
        facts = summary.facts[metric]
        places = summary.decimals(metric)
        edges = _edges(facts, cells)
        cells_by_system = {}
        for cell in cells:
            cell_shown = {
                "cell": cell,
                "mean": fixed(cell.mean, places),
                "bar": None,
                "choices": None,
            }
            cell_shown["interval"] = interval_in_words(summary, cell) if cell.interval else ""
            if cell.choices:
                bar = choices_bar(cell.choices, titles[metric])
                cell_shown |= {
                    "mean": agrees(agreement.get((metric, cell.system))),
                    "interval": bar["words"] if cell.scored else "no choice",
                    "choices": bar,
                }
            elif edges and cell.mean is not None:
                place_on_axis = scale((edges[0], edges[-1]), 0, 100)
                label = f"{titles[metric]}: mean {cell_shown['mean']} on an axis from {edges[0]:g} to {edges[-1]:g}"
                ends = list(map(place_on_axis, cell.interval)) if cell.interval else None
                cell_shown["bar"] = {
                    "kind": kind_of(facts, cell.mean),
                    "mean": place_on_axis(cell.mean),
                    "ends": ends,
                    "label": label,
                }
            cells_by_system[cell.system] = cell_shown
        shown_limits = "a, tie or b" if summary.pairs else limits(facts)
        yield metric, shown_limits, [cells_by_system.get(system) for system in summary.systems]


def _edges(facts: MetricFacts, cells: Sequence[Cell]) -> tuple[float, ...] | None:
    """The bins of a metric's axis: between its bounds, else at round numbers around the scores seen."""
    seen = [end for cell in cells for end in (cell.least, cell.greatest) if end is not None]
    return bin_edges(facts, min(seen), max(seen)) if seen else None


def open_metrics(summary: Summary) -> int:
    """How many metrics of the table of scores are open on a phone, where each has a line for each system."""
    return max(1, _OPEN // (_NAME + _LINE * len(summary.systems)))


_OPEN = 3_300
_NAME = 40
_LINE = 62
"""Pixels on a screen 390 wide, about: of the scores that are not folded, of a metric's name, of a system's score."""


def limits(facts: MetricFacts) -> str:
    """`0 to 1, higher is better`."""
    if not facts.declared:
        return "bounds and direction not known"
    lo, hi = ("" if end is None else f"{end:g}" for end in (facts.lo, facts.hi))
    ends = (
        f"{lo} to {hi}"
        if lo and hi
        else f"from {lo}"
        if lo
        else f"up to {hi}"
        if hi
        else "no bounds"
    )
    return (
        f"{ends}, {'' if facts.higher_is_better is not None else 'direction: '}{direction(facts)}"
    )


def cards(index: Observations, summary: Summary) -> Iterator[dict[str, Any]]:
    """For each metric what its histograms and box plots show: a distribution for each system with scores (`spreads`),
    the place of a score in a drawing 300 wide (`at`), and the numbers as a table. What several metrics of a family
    measure is said once."""
    summaries_said = set()
    for metric in () if summary.pairs else summary.wholes:
        facts = summary.facts[metric]
        cells = summary.of(metric)
        places = summary.decimals(metric)
        edges = _edges(facts, cells) or (0.0, 1.0)
        number = index.metrics.index(metric)
        spreads = [
            distribution(
                cell.system,
                index.ascending(number, summary.systems.index(cell.system)),
                cell.mean,
                edges,
            )
            for cell in cells
            if cell.mean is not None
        ]
        ticks = tick_texts(edges)
        yield {
            "metric": metric,
            "says": "" if facts.summary in summaries_said else facts.summary,
            "limits": limits(facts),
            "spreads": spreads,
            "empty": [cell.system for cell in cells if cell.mean is None],
            "tallest": max((max(spread.counts) for spread in spreads), default=1),
            "ticks": [ticks[0], ticks[len(ticks) // 2] if len(ticks) % 2 else "", ticks[-1]],
            "at": scale((edges[0], edges[-1]), 14, 286),
            "offsets": offsets,
            "places": places,
            "numbers": _numbers(metric, spreads, ticks, places),
        }
        summaries_said.add(facts.summary)


def _numbers(
    metric: str, spreads: Sequence[Distribution], edges: Sequence[str], places: int
) -> dict[str, Any]:
    """What the figures of a card draw: counts by bin, then the five numbers of the box plot and the mean."""
    rows = []
    for i in range(len(edges) - 1):
        until = "to" if i == len(edges) - 2 else "to below"
        rows.append(
            (
                f"{edges[i]} {until} {edges[i + 1]}",
                *(integer(spread.counts[i]) for spread in spreads),
            )
        )
    names = {
        "least": "minimum",
        "q1": "lower quartile",
        "q3": "upper quartile",
        "greatest": "maximum",
    }
    for name in ("least", "q1", "median", "q3", "greatest", "mean"):
        rows.append(
            (names.get(name, name), *(fixed(getattr(spread, name), places) for spread in spreads))
        )
    systems = (
        Column(spread.system, kind="number", key=f"scores: {i}") for i, spread in enumerate(spreads)
    )
    table = Table("numbers", f"Numbers of {metric}", (Column("Scores"), *systems), rows)
    return {**table_data(table), "broad": False}  # a phone shows it as a table too


# Cost and provenance --------------------------------------------------------------------------------------------------


def cost(index: Observations, manifests: Sequence[Manifest]) -> dict[str, Any] | None:
    """Calls, cost, cache and reuse: of the sessions as `tiles`, `notice` on sessions without an end, and a `table` by
    metric and system. None where nothing is known of them: files of rows that record no call."""
    systems_with_calls = {
        label
        for label, (run, _) in zip(index.systems(), index.runs_and_names(), strict=True)
        if manifests[run].data
    }
    spent = [
        entry for entry in index.spent() if entry.usage.calls or entry.system in systems_with_calls
    ]
    if not spent:
        return None
    sessions = [session for manifest in manifests for session in manifest.sessions]
    # written when a session ends; one whose process was killed has only its start
    recorded = [session for session in sessions if isinstance(session.get("seconds"), int | float)]
    total = Usage()
    for entry in spent:
        total.add(entry.usage)
    notice = (
        f"{counted(len(sessions) - len(recorded), 'session')} without a recorded end: the process was killed or is "
        f"still running. The figures above are from the {'other sessions' if recorded else 'rows'}, without the "
        "requests, cost and time of such a session."
    )
    return {
        "tiles": _tiles(recorded or [asdict(total)], len(sessions) if recorded else 0),
        "notice": notice if len(recorded) < len(sessions) else "",
        "table": table_data(
            Table("cost", "Cost by metric", _COST, spent if total.calls else (), _PAID), limit=None
        ),
    }


_COST = (
    Column("Metric"),
    Column("System"),
    Column("Calls", "usage.calls"),
    Column("From cache", "usage.from_cache"),
    Column("Prompt tokens", "usage.prompt_tokens"),
    Column(
        "Reused",
        lambda row: share(row.usage.cached_prompt_tokens, row.usage.prompt_tokens),
        kind="number",
    ),
    Column("Completion tokens", "usage.completion_tokens"),
    Column("Cost", lambda row: dollars(row.usage.usd), kind="number"),
)
_PAID = (
    "What each call cost when it was first made, even if this run took its reply from the cache. A call that several "
    "rows share counts for the row that made it first."
)


def _sum(sessions: Iterable[dict[str, Any]], key: str) -> float:
    return sum(value for session in sessions if isinstance(value := session.get(key), int | float))


def _tiles(sessions: Sequence[dict[str, Any]], n_sessions: int) -> list[tuple[str, str, str]]:
    """n_sessions: how many sessions there were in all, 0 where the figures are those of the rows."""
    during = (
        counted(n_sessions, "session")
        if len(sessions) == n_sessions
        else f"{integer(len(sessions))} of {counted(n_sessions, 'session')}"
    )
    cached = _sum(sessions, "from_cache")
    # a session counts the calls that were sent, a row all calls that it asked for
    calls_asked = _sum(sessions, "calls") + (cached if n_sessions else 0)
    prompt = _sum(sessions, "prompt_tokens")
    reused = _sum(sessions, "cached_prompt_tokens")
    all_priced = all(isinstance(session.get("usd"), int | float) for session in sessions)
    usd = dollars(_sum(sessions, "usd") if all_priced else None)
    tiles = [
        (
            "Model calls",
            integer(calls_asked),
            f"{integer(cached)} from the call cache ({share(cached, calls_asked)})",
        ),
        (
            "Prompt tokens",
            integer(prompt),
            f"{share(reused, prompt)} reused by prefix sharing ({integer(reused)})",
        ),
        (
            "Completion tokens",
            integer(_sum(sessions, "completion_tokens")),
            "written by the models",
        ),
        ("Cost", usd, f"in {during}" if n_sessions else "when first made"),
    ]
    if n_sessions:
        retries = integer(_sum(sessions, "retries"))
        limited = integer(_sum(sessions, "rate_limited"))
        tiles.append(
            (
                "Requests",
                integer(_sum(sessions, "requests")),
                f"{retries} retries, {limited} rate-limited",
            )
        )
        tiles.append(("Time", duration(_sum(sessions, "seconds")), f"in {during}"))
    return tiles


def provenance(manifest: Manifest) -> dict[str, Any]:
    """A run's settings: `name`, `facts`, `sessions`, `packages`, and the whole manifest as indented JSON (`raw`)."""
    data, environment = manifest.data, manifest.data.get("environment")
    environment = environment if isinstance(environment, dict) else {}
    settings = (
        {
            **data,
            **manifest.fixed,
            **environment,
            "models": {role: ", ".join(names) for role, names in manifest.models.items()}
            or "no model",
        }
        if data
        else {}
    )
    for key in ("fixed", "environment", "sessions", "packages"):
        settings.pop(key, None)
    return {
        "name": manifest.folder.name,
        "facts": {key.replace("_", " ").capitalize(): fact for key, fact in settings.items()}
        or {"Settings": _UNKNOWN},
        "sessions": manifest.sessions,
        "packages": environment.get("packages") or _UNKNOWN,
        "raw": as_json(data) if data else "",
    }
