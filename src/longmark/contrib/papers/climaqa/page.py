"""The page of a ClimaQA study: that of its recipe, with the paths of what it read."""

from __future__ import annotations

from dataclasses import asdict

from longmark.contrib.papers.climaqa.sources import (
    VOCABULARY,
    ClimaqaContent,
    notices,
    sources,
)
from longmark.contrib.papers.recipe.page import pages_of
from longmark.report.document import Document


def document(contents: ClimaqaContent) -> Document:
    page = pages_of("climaqa", VOCABULARY, sources(contents))
    results = contents.results
    recipe = page.recipe.parts
    return Document(
        kind="climaqa study",
        title=recipe.title,
        lede=page.text(recipe.text, recipe.made_text),
        sections=page.sections({}),
        notices=[*notices(contents), *page.notices({})],
        settings={
            **contents.settings,
            "runs": [str(run) for run in results.read.runs],
            **asdict(results.options),
        },
    )
