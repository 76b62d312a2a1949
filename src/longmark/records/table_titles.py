"""Where the names of a spreadsheet's columns stand: people write a title and remarks above a table."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from longmark.records.columns import field_of

_MOST_TITLES = 5
_LONGEST_NAME = 80  # characters


def from_the_names(
    rows: Iterator[tuple[int, Sequence[Any]]],
) -> Iterator[tuple[int, Sequence[Any]]]:
    """The rows of a sheet from the one that names its columns: the first that is not empty. Before it up to five rows
    may have one cell, where a row of several names and a row of several values follow: a title, not a column."""
    titles: list[tuple[int, Sequence[Any]]] = []
    for line, cells in rows:
        places = _filled(cells)
        if len(places) == 1 and len(titles) < _MOST_TITLES and not _is_field(cells[places[0]]):
            titles.append((line, cells))
        elif places:
            following = next(rows, None)
            values = _filled(following[1]) if following else []
            above = [_filled(title)[0] for _, title in titles]
            if len(values) < 2 or not _are_names(cells) or any(at > places[0] for at in above):
                yield from titles
            yield line, cells
            yield from () if following is None else (following,)
            yield from rows
            return
    yield from titles


def _filled(cells: Sequence[Any]) -> list[int]:
    return [place for place, cell in enumerate(cells) if cell not in ("", None)]


def _is_field(cell: Any) -> bool:
    return isinstance(cell, str) and field_of(cell) is not None


def _are_names(cells: Sequence[Any]) -> bool:
    names = [cell for cell in cells if cell]
    are_short = all(isinstance(name, str) and len(name) <= _LONGEST_NAME for name in names)
    return are_short and len(names) > 1 and len({*names}) == len(names)
