"""The options of a recipe's steps are read as those of longmark.yaml."""

from __future__ import annotations

from pathlib import Path

from tests.contrib.papers.test_recipes import changed, written

from longmark.cli.project import options_in
from longmark.contrib.papers.recipe.checks import load
from longmark.contrib.papers.recipe.readers import READERS


def test_a_name_in_the_options_of_a_step_is_as_it_is_written(tmp_path: Path):
    of = "of: [scores, labels]"
    text = changed(of, f"{of}\n    options: {{leave_out: [1.10, 007]}}")
    recipe = load(written(tmp_path, text), READERS)
    place = ("steps", "people", "options")
    options = options_in(recipe.file, place, "metaeval", recipe.parts.steps["people"].options)
    assert options["leave_out"] == ["1.10", "007"]
