"""Reads what a recipe's sources name, and the recipes that come with longmark. The readers are a fixed list: a recipe
names data, never code."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from longmark.contrib.papers.calf import sources as calf
from longmark.contrib.papers.calf.results import CalfOptions, CalfResults
from longmark.contrib.papers.calf.rows import read
from longmark.contrib.papers.climaqa import sources as climaqa
from longmark.contrib.papers.comprehensiveness import sources as comprehensiveness
from longmark.contrib.papers.recipe import scores, table_files
from longmark.contrib.papers.recipe.schema import Recipe, SourceOf, Vocabulary
from longmark.contrib.papers.recipe.source import RecipeSource
from longmark.contrib.papers.score import sources as score
from longmark.errors import UserError
from longmark.records.read import Reading


@dataclass(frozen=True)
class PaperReaders:
    """The readers of a paper's data. vocabulary: by reader; read: makes their sources, of the paths of each name in
    `of`, in its order; one that was not given is left out."""

    vocabulary: Mapping[str, Vocabulary]
    read: Callable[[Sequence[Sequence[Path]]], Mapping[str, RecipeSource]]


def sources(
    recipe: Recipe,
    paths: Mapping[str, Sequence[Path]],
) -> dict[str, RecipeSource]:
    """The sources of a recipe by name. paths: of each input and step, empty for one that was not given; a source of
    nothing is left out. UserError if one cannot be read."""
    paper_sources: dict[tuple[int, tuple[str, ...]], Mapping[str, RecipeSource]] = {}
    recipe_sources = {}
    for name, source_spec in recipe.parts.sources.items():
        parts = [paths[part] for part in source_spec.of]
        paths_given = [path for part in parts for path in part]
        if not paths_given:
            continue
        for number, paper in enumerate(PAPERS):
            if source_spec.reader not in paper.vocabulary:
                continue
            key = number, source_spec.of
            if key not in paper_sources:
                paper_sources[key] = paper.read(parts)
            if source_spec.reader in paper_sources[key]:
                recipe_sources[name] = paper_sources[key][source_spec.reader]
            break
        else:
            recipe_sources[name] = _source(source_spec, paths_given)
    return recipe_sources


def _source(source_spec: SourceOf, paths_given: Sequence[Path]) -> RecipeSource:
    if source_spec.reader == "scores":
        return scores.scores_source(paths_given, source_spec.cluster)
    if len(paths_given) != 1:
        raise UserError(
            f"the table {source_spec.table} is of one step, and {len(paths_given)} are named"
        )
    return table_files.table_source(paths_given[0], source_spec.table or "")


def _calf_sources(parts: Sequence[Sequence[Path]]) -> Mapping[str, RecipeSource]:
    """Of folders of runs, and a file of pairs. The pages of disagreements are written by `calf-study` alone."""
    paths_given = [path for part in parts for path in part]
    runs = [path for path in paths_given if path.is_dir() or path.name == "rows.jsonl"]
    files = [path for path in paths_given if path not in runs]
    if len(files) > 1:
        raise UserError(f"{files[1]} is a second file of pairs; put all pairs into one")
    results = CalfResults(read(runs, Reading(files[0]) if files else ()), CalfOptions())
    return {
        reader: replace(source, links=dict.fromkeys(source.links, tuple))
        for reader, source in calf.sources(results).items()
    }


PAPERS = (
    PaperReaders(calf.VOCABULARY, _calf_sources),
    PaperReaders(climaqa.VOCABULARY, climaqa.read_sources),
    PaperReaders(comprehensiveness.VOCABULARY, comprehensiveness.read_sources),
    PaperReaders(score.VOCABULARY, score.read_sources),
)
READERS: Mapping[str, Vocabulary] = {
    "scores": scores.VOCABULARY,
    "table": table_files.VOCABULARY,
    **{name: vocabulary for paper in PAPERS for name, vocabulary in paper.vocabulary.items()},
}
