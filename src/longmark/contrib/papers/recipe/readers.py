"""Reads what a recipe's sources name: scores of runs, tables of steps, and recipes that come with longmark."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from longmark.contrib.papers.recipe.schema import Recipe, Vocabulary, load

RECIPES = Path(__file__).parents[1] / "recipes"
"""The recipes of the papers."""


def packaged(name: str, readers: Mapping[str, Vocabulary]) -> Recipe:
    """A recipe that comes with longmark."""
    return load(RECIPES / f"{name}.yaml", readers)
