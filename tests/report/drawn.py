"""Figures as SVG texts, for tests of what pages draw."""

from __future__ import annotations

import re
from collections.abc import Iterable
from html import unescape

from longmark.report.figures import Figure, rendered


def drawn(figures: Iterable[Figure]) -> str:
    """The SVGs of those figures that have a drawing."""
    return "".join(
        files["svg"].decode() for figure in figures if (files := rendered(figure, ["svg"]))
    )


def texts_of(figure: Figure) -> list[str]:
    """The texts of a figure."""
    return [unescape(text).strip() for text in re.findall(r">([^<>]+)</text>", drawn([figure]))]
