"""Figures as SVG texts, for tests of what pages draw."""

from __future__ import annotations

from collections.abc import Iterable

from longmark.report.figures import Figure, rendered


def drawn(figures: Iterable[Figure]) -> str:
    """The SVGs of those figures that have a drawing."""
    return "".join(files["svg"].decode() for figure in figures if (files := rendered(figure, ["svg"])))
