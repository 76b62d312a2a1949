"""A table that a step wrote as a source: its columns are fields and measures, its lines members."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path

from longmark.contrib.papers.recipe.checks import unknown
from longmark.contrib.papers.recipe.schema import Vocabulary
from longmark.contrib.papers.recipe.source import Measure, Member, Places, RecipeSource
from longmark.errors import UserError
from longmark.report.tables import Cell
from longmark.stats.results import Estimate

VOCABULARY = Vocabulary(())
_MOST = 100_000  # lines


def table_source(folder: Path, name: str) -> RecipeSource:
    """The table of a step's folder. UserError, naming the tables there are, if it has none of this name."""
    path = folder / "tables" / f"{name}.csv"
    if not path.is_file():
        table_names = sorted(file.stem for file in (folder / "tables").glob("*.csv"))
        hint = f"The tables of {folder.name} are {', '.join(table_names)}." if table_names else ""
        raise UserError(unknown("table", name, table_names, hint))
    with path.open(newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        columns = list(reader.fieldnames or ())
        lines = [line for line, _ in zip(reader, range(_MOST), strict=False)]
    of_member: dict[Member, dict[str, str]] = {}
    for line in lines:
        of_member[tuple(line[column] for column in columns)] = line
    return RecipeSource(
        heads={column: "metric" if column in ("metric", "other") else "" for column in columns},
        members=list(of_member),
        measures={column: _measure(path, column, columns, of_member) for column in columns},
    )


def _measure(
    path: Path, column: str, columns: Sequence[str], lines: dict[Member, dict[str, str]]
) -> Measure:
    """The cell of a column: an estimate where the file has its interval, else a number or a text."""
    is_estimate = f"{column}_low" in columns and f"{column}_high" in columns
    texts = [line[column] for line in lines.values() if line[column]]
    is_number = bool(texts) and all(_number(text) is not None for text in texts)

    def of_line(
        make: Callable[[dict[str, str]], Cell],
    ) -> Callable[[Sequence[Member], Places], Cell]:
        def measured(members: Sequence[Member], _places: Places) -> Cell:
            if len(members) > 1:
                raise UserError(
                    f"{path}: {len(members)} lines are in one cell of the column {column}; add a field to `rows`, or "
                    "`where`, so that each cell is one line"
                )
            return make(lines[members[0]]) if members else None

        return measured

    if is_estimate:
        return Measure(of_line(lambda line: _estimate(line, column)))
    if is_number:
        whole = all(text.lstrip("-").isdecimal() for text in texts)
        return Measure(of_line(lambda line: _number(line[column])), "number", None if whole else 3)
    return Measure(of_line(lambda line: line[column] or None), "text")


def _number(text: str) -> float | int | None:
    try:
        return int(text) if text.lstrip("-").isdecimal() else float(text)
    except ValueError:
        return None


def _estimate(
    line: dict[str, str],
    column: str,
) -> Estimate:
    def number(end: str) -> float | None:
        value = _number(line.get(f"{column}{end}", ""))
        return None if value is None else float(value)

    clusters = number("_clusters")
    return Estimate(
        number(""),
        number("_low"),
        number("_high"),
        int(number("_n") or 0),
        method=line.get(f"{column}_method", ""),
        reason=line.get(f"{column}_reason") or None,
        missing=int(number("_missing") or 0),
        clusters=None if clusters is None else int(clusters),
    )
