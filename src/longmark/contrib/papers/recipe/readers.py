"""Reads what a recipe's sources name, and the recipes that come with longmark. The readers are a fixed list: a recipe
names data, never code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from longmark.contrib.papers.calf import sources as calf
from longmark.contrib.papers.calf.results import CalfOptions, Results
from longmark.contrib.papers.calf.rows import read
from longmark.contrib.papers.recipe import scores, table_files
from longmark.contrib.papers.recipe.schema import Recipe, SourceOf
from longmark.contrib.papers.recipe.source import Source
from longmark.errors import UserError
from longmark.records.read import Reading

READERS = {
    "scores": scores.VOCABULARY,
    "table": table_files.VOCABULARY,
    **calf.VOCABULARY,
}


def sources(recipe: Recipe, paths: Mapping[str, Sequence[Path]]) -> dict[str, Source]:
    """The sources of a recipe by name. paths: of each input and step, empty for one that was not given; a source of
    nothing is left out. UserError if one cannot be read."""
    made: dict[tuple[str, ...], dict[str, Source]] = {}
    found = {}
    for name, of in recipe.parts.sources.items():
        given = [path for part in of.of for path in paths[part]]
        if not given:
            continue
        if of.reader in calf.VOCABULARY:
            if of.of not in made:
                made[of.of] = calf.sources(_choices(given))
            found[name] = made[of.of][of.reader]
        else:
            found[name] = _source(of, given)
    return found


def _source(of: SourceOf, given: Sequence[Path]) -> Source:
    if of.reader == "scores":
        return scores.scores_source(given, of.cluster)
    if len(given) != 1:
        raise UserError(f"the table {of.table} is of one step, and {len(given)} are named")
    return table_files.table_source(given[0], of.table or "")


def _choices(given: Sequence[Path]) -> Results:
    """What a CALF study reads: folders of runs, and a file of pairs."""
    runs = [path for path in given if path.is_dir() or path.name == "rows.jsonl"]
    files = [path for path in given if path not in runs]
    if len(files) > 1:
        raise UserError(f"{files[1]} is a second file of pairs; put all pairs into one")
    return Results(read(runs, Reading(files[0]) if files else ()), CalfOptions())
