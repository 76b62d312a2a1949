"""The summary table in a terminal, in plain text, as Markdown and as CSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable
from typing import TYPE_CHECKING

from longmark.report.format import fixed
from longmark.report.summary import Cell, Summary
from longmark.report.tables import aligned, markdown, one_line, print_cells
from longmark.scores.index import Unscored
from longmark.stats.student import ALL_EQUAL

if TYPE_CHECKING:
    from rich.console import Console

_NUMERIC = (False, False, True, True, True, False)
_WHY = 24
"""Room that the reasons need, in characters, for the table to be drawn."""


def print_table(summary: Summary, console: Console) -> None:
    """Prints the table: drawn where the console is a terminal that is wide enough, else as `as_text` gives it. No name
    is cut or wrapped."""
    print_cells(_heads(summary), _rows(summary), _NUMERIC, console, last=_WHY)


def as_text(summary: Summary) -> str:
    """Aligned columns, one line for each metric and system, two spaces or more between columns."""
    return aligned(_heads(summary), _rows(summary), _NUMERIC)


def _heads(summary: Summary) -> tuple[str, ...]:
    return ("metric", "system", "mean", summary.interval_name, "scored / total", "why unscored")


def as_markdown(summary: Summary) -> str:
    """A table for a README or an issue; a bar in a name or a reason is escaped."""
    marks = ["---:" if right else "---" for right in _NUMERIC]
    lines = [_heads(summary), marks, *[[markdown(text) for text in row] for row in _rows(summary)]]
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def as_csv(summary: Summary) -> str:
    """The unrounded figures, one line for each metric and system; an empty field is a figure that does not exist.
    `ci_method` says how the interval was made."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(
        [
            "metric",
            "system",
            "mean",
            "ci_lower",
            "ci_upper",
            "scored",
            "total",
            "least",
            "greatest",
            "unscored",
            "ci_method",
        ]
    )
    for cell in summary.cells:
        ends = cell.interval or (None, None)
        figures = [cell.mean, *ends, cell.scored, cell.n, cell.least, cell.greatest]
        writer.writerow([cell.metric, cell.system, *figures, gaps_in_words(cell), cell.method])
    return out.getvalue()


def gaps_in_words(cell: Cell) -> str:
    """Why rows of a cell have no value, as `reasons_in_words`."""
    return reasons_in_words(cell.gaps)


def reasons_in_words(gaps: Iterable[Unscored]) -> str:
    """`2 unparsable (no number in the reply); 5 model_error (mostly: …)`: each status once, with its most frequent
    reason."""
    return "; ".join(
        f"{gap.count} {gap.status} ({how_many(gap)}{': ' if gap.several else ''}{one_line(gap.reason).rstrip('.')})"
        for gap in gaps
    )


def how_many(gap: Unscored) -> str:
    """Nothing where all rows give the gap's reason, else `mostly` where more than half do, else `among others`."""
    if not gap.several:
        return ""
    return "mostly" if 2 * gap.giving > gap.count else "among others"


def interval_in_words(summary: Summary, cell: Cell) -> str:
    """`[0.412, 0.688]`, with the method behind it where it is not that of the column (` (all equal)`), or a
    dash."""
    if cell.interval is None:
        return "–"
    places = summary.decimals(cell.metric)
    ends = f"[{fixed(cell.interval[0], places)}, {fixed(cell.interval[1], places)}]"
    return f"{ends} (all equal)" if cell.method == ALL_EQUAL else ends


def _rows(summary: Summary) -> list[tuple[str, ...]]:
    rows: list[tuple[str, ...]] = []
    for cell in summary.cells:
        places = summary.decimals(cell.metric)
        mean, interval = fixed(cell.mean, places), interval_in_words(summary, cell)
        scored = f"{cell.scored} / {cell.n}"
        rows.append((one_line(cell.metric), one_line(cell.system), mean, interval, scored, gaps_in_words(cell)))
    return rows
