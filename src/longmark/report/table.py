"""The summary table in a terminal, in plain text, as Markdown and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from longmark.report.numbers import fixed
from longmark.report.summary import INTERVAL_NAME, Cell, Gap, Summary

if TYPE_CHECKING:
    from rich.console import Console

HEADS = ("metric", "system", "mean", INTERVAL_NAME, "with a value / n", "why the rest have none")
_NUMERIC = (2, 3, 4)
_WHY = 24
"""Room that the reasons need, in characters, for the table to be drawn."""


def print_table(summary: Summary, console: Console) -> None:
    """Prints the table: drawn where the console is a terminal that is wide enough, else as `as_text` gives it. No name
    is cut or wrapped."""
    rows = _rows(summary)
    names_and_figures = sum(width + 2 for width in _widths([HEADS, *rows])[:-1])
    if not console.is_terminal or console.width < names_and_figures + _WHY:
        console.file.write(as_text(summary))
        return
    from rich import box
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for place, head in enumerate(HEADS):
        right = place in _NUMERIC
        table.add_column(head, justify="right" if right else "left", no_wrap=place < len(HEADS) - 1, overflow="fold")
    for row in rows:
        table.add_row(*(Text(text) for text in row))
    console.print(table)


def as_text(summary: Summary) -> str:
    """Aligned columns, one line for each metric and system, two spaces or more between columns."""
    rows = [HEADS, *_rows(summary)]
    widths = _widths(rows)
    lines = []
    for row in rows:
        cells = [
            text.rjust(width) if place in _NUMERIC else text.ljust(width)
            for place, (text, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append("  ".join(cells).rstrip() + "\n")
    return "".join(lines)


def _widths(rows: Sequence[Sequence[str]]) -> list[int]:
    return [max(len(row[place]) for row in rows) for place in range(len(HEADS))]


def as_markdown(summary: Summary) -> str:
    """A table for a README or an issue; a bar in a name or a reason is escaped."""
    marks = ["---:" if place in _NUMERIC else "---" for place in range(len(HEADS))]
    lines = [HEADS, marks, *[[_markdown(text) for text in row] for row in _rows(summary)]]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def as_csv(summary: Summary) -> str:
    """The unrounded figures, one line for each metric and system; an empty field is a figure that does not exist."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        ["metric", "system", "mean", "interval_lower", "interval_upper", "scored", "n", "least", "greatest", "gaps"]
    )
    for cell in summary.cells:
        ends = cell.interval or (None, None)
        figures = [cell.mean, *ends, cell.scored, cell.n, cell.least, cell.greatest]
        writer.writerow([cell.metric, cell.system, *figures, gaps_in_words(cell)])
    return out.getvalue()


def gaps_in_words(cell: Cell) -> str:
    """Why rows of a cell have no value, as `reasons_in_words`."""
    return reasons_in_words(cell.gaps)


def reasons_in_words(gaps: Iterable[Gap]) -> str:
    """`2 unparsable (no number in the reply); 5 model_error (mostly: …)`: each status once, with its most frequent
    reason."""
    return "; ".join(
        f"{gap.count} {gap.status} ({how_many(gap)}{': ' if gap.several else ''}{_line(gap.reason).rstrip('.')})"
        for gap in gaps
    )


def how_many(gap: Gap) -> str:
    """Nothing where all rows give the gap's reason, else `mostly` where more than half do, else `among others`."""
    if not gap.several:
        return ""
    return "mostly" if 2 * gap.giving > gap.count else "among others"


def interval_in_words(cell: Cell, places: int) -> str:
    """`[0.412, 0.688]`, or a dash."""
    if cell.interval is None:
        return "–"
    return f"[{fixed(cell.interval[0], places)}, {fixed(cell.interval[1], places)}]"


def _rows(summary: Summary) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for cell in summary.cells:
        places = summary.decimals(cell.metric)
        mean, interval = fixed(cell.mean, places), interval_in_words(cell, places)
        scored = f"{cell.scored} / {cell.n}"
        rows.append((_line(cell.metric), _line(cell.system), mean, interval, scored, gaps_in_words(cell)))
    return rows


def _line(text: str) -> str:
    """Foreign text on one line, without control characters: it goes to a terminal."""
    return "".join(char if char.isprintable() else " " for char in " ".join(text.split()))


def _markdown(text: str) -> str:
    for char in "\\|<>`*[]":
        text = text.replace(char, "\\" + char)
    return text
