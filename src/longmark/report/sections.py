"""The parts of the page that need no script: title, summary table, figures, figures of cost, manifests.

Every foreign text goes through `text` or `html.escape`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from longmark.records import STATUSES
from longmark.report.bars import boxes, histogram, interval
from longmark.report.distribution import Distribution, bin_edges, distribution, tick_texts
from longmark.report.markup import BY, code, listed, metric_name, plural, scrolling, text, upright
from longmark.report.numbers import fixed, whole
from longmark.report.selection import Selection
from longmark.report.summary import Cell, Summary
from longmark.report.table import how_many, interval_in_words
from longmark.scores.index import ScoreIndex, Unscored
from longmark.scores.manifest import Manifest, MetricFacts

_SYSTEMS_SHOWN = 6


def title(summary: Summary, manifests: Iterable[Manifest], total: int) -> tuple[str, str]:
    """What was marked and by which model, and by which metrics: two lines of plain text. Of a model's name it has the
    part before the address; the whole name stands with the settings."""
    models: dict[str, None] = {}
    metrics: dict[str, None] = {}
    for manifest in manifests:
        roles = manifest.models
        for role in sorted(roles, key=lambda role: (role != "judge", role)):
            models.update(dict.fromkeys(roles[role]))
        metrics.update(dict.fromkeys(manifest.metrics()))
    systems = [upright(name) for name in summary.systems]
    by_whom = systems[0] if len(systems) == 1 else f"{len(systems)} systems"
    judges = f"marked by {listed(_short_names(models))}" if models else "marked without a model"
    answers = f"{plural(total, 'answer')} of {by_whom}" if systems else "No answers yet"
    names = list(dict.fromkeys(name.partition(BY)[0] for name in summary.metrics or metrics))
    on = (
        f"On {plural(len(names), 'metric')}: {', '.join(map(upright, names))}." if names else "The run has no rows yet."
    )
    return f"{answers}, {judges}", on


def _short_names(models: Iterable[str]) -> list[str]:
    """`m` for `m@http://host/v1`; `m (at 2 addresses)` where models share that name."""
    counts: dict[str, int] = {}
    for name in models:
        short = upright(name.split("@")[0]) or upright(name)
        counts[short] = counts.get(short, 0) + 1
    return [name if count == 1 else f"{name} (at {count} addresses)" for name, count in counts.items()]


def notices(manifests: Sequence[Manifest], answers: int = 0, cut: int = 0, read: Sequence[str] = ()) -> str:
    """What a reader must know before believing the page: runs that have not ended, runs made with other settings,
    how many of the answers were cut off. read: what the readers left out."""
    found = [escape(line) for line in read]
    if cut:
        found.append(
            f"{whole(cut)} of {whole(answers)} answers {'was' if cut == 1 else 'were'} cut off at the generator’s "
            "token limit: marks are of what there is, and what is missing counts as not said."
        )
    for manifest in manifests:
        name = text(manifest.folder.name)
        if manifest.data and not manifest.ended:
            found.append(
                f"The run {name} has not ended: rows are missing. The same command on the same folder goes on with it."
            )
        examples = manifest.data.get("examples")
        skipped = examples.get("skipped") if isinstance(examples, dict) else 0
        if skipped:
            found.append(f"The run {name} left out {text(skipped)} bad records of its file (--skip-bad).")
    keys = {key for manifest in manifests for key in manifest.fixed}
    differing = [key for key in sorted(keys) if any(m.fixed.get(key) != manifests[0].fixed.get(key) for m in manifests)]
    if differing:
        found.append(
            f"The runs were made with different settings ({escape(listed(differing))}): a difference between their "
            "marks need not be a difference between the answers. The settings stand at the end of the page."
        )
    return "".join(f'<p class="notice"><strong>Note.</strong> {words}</p>' for words in found)


def summary_table(summary: Summary) -> str:
    """One line for each metric and system, with the mean and its interval drawn between the metric's bounds.

    On a narrow screen the style sheet makes a card of each metric, where a cell's `data-label` stands before it; the
    roles keep it a table for a screen reader.
    """
    lines = []
    for metric in summary.metrics:
        cells, facts, places = summary.of(metric), summary.facts[metric], summary.decimals(metric)
        ends = _ends(facts, cells)
        for i, cell in enumerate(cells):
            span = f'scope="rowgroup" role="rowheader" rowspan="{len(cells)}"'
            first = f"<th {span}>{metric_name(metric)}</th>" if i == 0 else ""
            where = ""
            if ends is not None and cell.mean is not None:
                range_ = interval_in_words(summary, cell) if cell.interval else "no interval"
                words = f"mean {fixed(cell.mean, places)}, {range_}, on an axis from {ends[0]:g} to {ends[1]:g}"
                left, right = (f'<span class="end">{end:g}</span>' for end in ends)
                where = f"{left}{interval(cell, ends, words)}{right}"
            lines.append(
                f'<tr role="row">{first}{_cell("system", "System", text(cell.system))}'
                + _cell("number strong", "Mean", fixed(cell.mean, places))
                + _cell("ends", summary.interval_name, interval_in_words(summary, cell))
                + _cell("axis-cell", "", where)
                + _cell("number", "With a value", f"{whole(cell.scored)} / {whole(cell.n)}")
                + _cell("why", "Why the rest have none", _gaps(cell))
                + "</tr>"
            )
        lines.append(_NEXT_GROUP)
    column = '<th scope="col" role="columnheader"'
    head = (
        f'{column}>Metric</th>{column}>System</th>{column} class="number">Mean</th>'
        f'{column} colspan="2">{text(summary.interval_name)}</th>'
        f'{column} class="number">With a value</th>{column}>Why the rest have none</th>'
    )
    body = "".join(lines).removesuffix(_NEXT_GROUP)
    return scrolling(
        "Summary",
        f'<table class="summary" role="table"><thead role="rowgroup"><tr role="row">{head}</tr></thead>'
        f'<tbody role="rowgroup">{body}</tbody></table>',
    )


_NEXT_GROUP = '</tbody><tbody role="rowgroup">'


def _cell(kind: str, label: str, content: str) -> str:
    named = f' data-label="{escape(label)}"' if label else ""
    return f'<td class="{kind}" role="cell"{named}><div>{content}</div></td>'


def _ends(facts: MetricFacts, cells: Sequence[Cell]) -> tuple[float, float] | None:
    """The ends of the drawn axis: the bounds, else round numbers around the values seen."""
    seen = [end for cell in cells for end in (cell.least, cell.greatest) if end is not None]
    if not seen:
        return None
    edges = bin_edges(facts, min(seen), max(seen))
    return edges[0], edges[-1]


def _gaps(cell: Cell) -> str:
    if not cell.gaps:
        return '<span class="none">none missing</span>' if cell.n else ""
    reasons = [f"{_gap(gap)}{', ' if gap.several else ''}{how_many(gap)}: {text(gap.reason)}" for gap in cell.gaps]
    if len(reasons) == 1:
        return reasons[0]
    heads = ", ".join(_gap(gap) for gap in cell.gaps)
    folded = "".join(f"<p class='gap'>{reason}</p>" for reason in reasons)
    return f"<details><summary>{heads}</summary>{folded}</details>"


def _gap(gap: Unscored) -> str:
    meaning = escape(STATUSES.get(gap.status, ""))
    return f'<span class="status" title="{meaning}">{whole(gap.count)} {escape(gap.status.replace("_", " "))}</span>'


def cards(index: ScoreIndex, summary: Summary) -> str:
    """A card for each metric: histograms by system, box plots, the numbers of both."""
    sentences = _sentences(summary)
    return "".join(_card(index, summary, metric, sentences[metric]) for metric in summary.metrics)


def _sentences(summary: Summary) -> dict[str, str]:
    """What the card of each metric says of it. A sentence that all values of a family share is the family's: it stands
    once, under the family's name."""
    sharing: dict[tuple[str, str], list[str]] = {}
    for name in summary.metrics:
        family = name.partition(BY)[0].rpartition(".")[0]
        sharing.setdefault((family or name, summary.facts[name].summary), []).append(name)
    found = dict.fromkeys(summary.metrics, "")
    for (family, sentence), names in sharing.items():
        if sentence:
            found[names[0]] = text(sentence) if len(names) == 1 else f"{code(family)}: {text(sentence)}"
    return found


def _card(index: ScoreIndex, summary: Summary, metric: str, sentence: str) -> str:
    facts, places, cells = summary.facts[metric], summary.decimals(metric), summary.of(metric)
    seen = [end for cell in cells for end in (cell.least, cell.greatest) if end is not None]
    head = f"<h3>{metric_name(metric)}</h3><p class='about'>{sentence} {_limits(facts)}</p>"
    if not seen:
        return f"<article class='card'>{head}<p>No answer has a value.</p></article>"
    edges = bin_edges(facts, min(seen), max(seen))
    spreads = [
        distribution(
            cell.system,
            index.ascending(index.metrics.index(metric), summary.systems.index(cell.system)),
            cell.scored,
            cell.mean,
            edges,
        )
        for cell in cells
        if cell.mean is not None
    ]
    tallest = max(max(spread.counts) for spread in spreads)
    drawn = [_histogram(metric, spread, tallest, len(cells) > 1) for spread in spreads]
    shown, folded = "".join(drawn[:_SYSTEMS_SHOWN]), "".join(drawn[_SYSTEMS_SHOWN:])
    if folded:
        shown += f"<details><summary>{plural(len(drawn) - _SYSTEMS_SHOWN, 'more system')}</summary>{folded}</details>"
    label = f"Box plots of {metric} by system; the numbers stand in the table below"
    names = [cell.system for cell in cells if cell.mean is None]
    empty = f"<p class='about'>No value: {', '.join(text(name) for name in names)}.</p>" if names else ""
    return (
        f"<article class='card'>{head}{shown}<h4>{'By system' if len(spreads) > 1 else 'Box plot'}</h4>"
        f"{boxes(spreads, label, places)}{empty}{_numbers(spreads, places)}</article>"
    )


def _limits(facts: MetricFacts) -> str:
    lo, hi = ("" if end is None else f"{end:g}" for end in (facts.lo, facts.hi))
    limits = f"{lo} to {hi}" if lo and hi else f"from {lo}" if lo else f"up to {hi}" if hi else "no bounds"
    better = {True: "higher is better", False: "lower is better", None: "neither end is better"}
    return f"<span>{limits}, {better[facts.higher_is_better]}</span>"


def _histogram(metric: str, spread: Distribution, tallest: int, named: bool) -> str:
    label = f"Histogram of {metric} for {spread.system}: {plural(spread.n, 'value')}"
    name = text(spread.system) + " · " if named else ""
    return (
        f"<figure><figcaption>{name}{plural(spread.n, 'answer')}</figcaption>"
        f"{histogram(spread, label, tallest)}</figure>"
    )


def _numbers(spreads: Sequence[Distribution], places: int) -> str:
    """What the figures of a card draw, as tables."""
    edges = tick_texts(spreads[0].edges)
    heads = "".join(f'<th scope="col" class="number">{text(spread.system)}</th>' for spread in spreads)
    bins = []
    for i in range(len(edges) - 1):
        until = "to" if i == len(edges) - 2 else "to below"
        counts = "".join(f'<td class="number">{whole(spread.counts[i])}</td>' for spread in spreads)
        bins.append(f'<tr><th scope="row">{edges[i]} {until} {edges[i + 1]}</th>{counts}</tr>')
    figures = []
    for name in ("least", "q1", "median", "q3", "greatest", "mean"):
        cells = "".join(f'<td class="number">{fixed(getattr(s, name), places)}</td>' for s in spreads)
        words = {"q1": "lower quartile", "q3": "upper quartile"}.get(name, name)
        figures.append(f'<tr><th scope="row">{words}</th>{cells}</tr>')
    table = (
        f'<table><thead><tr><th scope="col">Values</th>{heads}</tr></thead><tbody>{"".join(bins)}</tbody>'
        f"<tbody>{''.join(figures)}</tbody></table>"
    )
    return (
        f"<details class='numbers'><summary>The numbers</summary>{scrolling('Numbers of the figures', table)}</details>"
    )


def selection_note(selection: Selection) -> str:
    """How the examples on the page were chosen, where it does not hold all of them."""
    if len(selection.numbers) == selection.total:
        return "<p class='about'>All answers are on this page.</p>"
    return (
        f"<p class='notice'><strong>Note.</strong> This page holds {whole(len(selection.numbers))} of "
        f"{whole(selection.total)} answers: the {whole(selection.lowest)} lowest and a random "
        f"{whole(selection.sampled)} of the others (seed {selection.seed}). An answer’s place is the mean of its "
        "marks, each taken as its place between the metric’s bounds or, where there are none, as the share of marks "
        "below it, turned round where lower is better; answers without any value have no place and come in by chance "
        "only. Answers to one question come together. The table and figures above count every answer.</p>"
    )
