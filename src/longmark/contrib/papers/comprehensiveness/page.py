"""The page of a comprehensiveness study: that of its recipe, with how the rates were made."""

from __future__ import annotations

from dataclasses import replace

from longmark.contrib.papers.comprehensiveness.rows import PUBLISHED
from longmark.contrib.papers.comprehensiveness.sources import (
    VOCABULARY,
    ComprehensivenessContent,
    sources,
)
from longmark.contrib.papers.recipe.page import Pages, pages_of
from longmark.report.document import Document


def pages(contents: ComprehensivenessContent) -> Pages:
    """The sections of the recipe over what was read."""
    return pages_of("comprehensiveness", VOCABULARY, sources(contents))


def document(contents: ComprehensivenessContent) -> Document:
    """The page; of each section the first table is printed."""
    page = pages(contents)
    options = contents.options
    recipe = page.recipe.parts
    intervals = f"BCa bootstrap, {options.resamples:,} resamples, seed {options.seed}; clusters: {options.cluster}"
    return Document(
        kind="comprehensiveness study",
        title=recipe.title,
        lede=page.text(recipe.text, recipe.made_text),
        sections=[replace(section, brief=1) for section in page.sections({})],
        notices=[*contents.notices, *page.notices({})],
        settings={
            "runs": list(contents.sources),
            "metrics": list(options.metrics),
            "intervals of rates and means": intervals,
            "tests": f"paired permutation, {options.draws:,} patterns of signs; Benjamini-Hochberg in each data set",
            "alpha": options.alpha,
            **({"as published": PUBLISHED} if options.as_published else {}),
        },
    )
