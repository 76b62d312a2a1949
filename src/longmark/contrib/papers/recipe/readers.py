"""Reads what a recipe's sources name, and the recipes that come with longmark. The readers are a fixed list: a recipe
names data, never code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from longmark.contrib.papers.calf import sources as calf
from longmark.contrib.papers.calf.results import CalfOptions, CalfResults
from longmark.contrib.papers.calf.rows import read
from longmark.contrib.papers.recipe import scores, table_files
from longmark.contrib.papers.recipe.schema import Recipe, SourceOf
from longmark.contrib.papers.recipe.source import RecipeSource
from longmark.errors import UserError
from longmark.records.read import Reading

READERS = {
    "scores": scores.VOCABULARY,
    "table": table_files.VOCABULARY,
    **calf.VOCABULARY,
}


def sources(recipe: Recipe, paths: Mapping[str, Sequence[Path]]) -> dict[str, RecipeSource]:
    """The sources of a recipe by name. paths: of each input and step, empty for one that was not given; a source of
    nothing is left out. UserError if one cannot be read."""
    choice_sources: dict[tuple[str, ...], dict[str, RecipeSource]] = {}
    sources_found = {}
    for name, source_spec in recipe.parts.sources.items():
        paths_given = [path for part in source_spec.of for path in paths[part]]
        if not paths_given:
            continue
        if source_spec.reader in calf.VOCABULARY:
            if source_spec.of not in choice_sources:
                choice_sources[source_spec.of] = _without_pages(calf.sources(_choices(paths_given)))
            sources_found[name] = choice_sources[source_spec.of][source_spec.reader]
        else:
            sources_found[name] = _source(source_spec, paths_given)
    return sources_found


def _source(source_spec: SourceOf, paths_given: Sequence[Path]) -> RecipeSource:
    if source_spec.reader == "scores":
        return scores.scores_source(paths_given, source_spec.cluster)
    if len(paths_given) != 1:
        raise UserError(
            f"the table {source_spec.table} is of one step, and {len(paths_given)} are named"
        )
    return table_files.table_source(paths_given[0], source_spec.table or "")


def _without_pages(sources: Mapping[str, RecipeSource]) -> dict[str, RecipeSource]:
    """The sources without links: the pages of disagreements are written by `calf-study` alone."""
    return {
        reader: replace(source, links=dict.fromkeys(source.links, tuple))
        for reader, source in sources.items()
    }


def _choices(paths_given: Sequence[Path]) -> CalfResults:
    """What a CALF study reads: folders of runs, and a file of pairs."""
    runs = [path for path in paths_given if path.is_dir() or path.name == "rows.jsonl"]
    files = [path for path in paths_given if path not in runs]
    if len(files) > 1:
        raise UserError(f"{files[1]} is a second file of pairs; put all pairs into one")
    return CalfResults(read(runs, Reading(files[0]) if files else ()), CalfOptions())
