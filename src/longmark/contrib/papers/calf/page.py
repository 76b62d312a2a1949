"""The page of a CALF study: that of its recipe, with how the choices were made."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longmark.contrib.papers.calf.results import CalfResults
from longmark.contrib.papers.calf.sources import VOCABULARY, sources
from longmark.contrib.papers.recipe.page import Pages, pages_of
from longmark.report.document import Document


def pages(results: CalfResults) -> Pages:
    """The sections of the recipe over these results."""
    return pages_of("calf", VOCABULARY, sources(results))


def document(
    results: CalfResults, stages: Mapping[str, Any], settings: Mapping[str, Any]
) -> Document:
    """The page. stages: their states; settings: how the choices were made."""
    page = pages(results)
    options = results.options
    recipe = page.recipe.parts
    return Document(
        kind="calf study",
        title=recipe.title,
        lede=page.text(recipe.text, recipe.made_text),
        sections=page.sections(stages),
        notices=[*results.read.notices, *page.notices(stages)],
        settings={
            **settings,
            "runs": [str(run) for run in results.read.runs],
            "alpha": options.alpha,
            "seed": options.seed,
            "development split": options.development,
        },
    )
