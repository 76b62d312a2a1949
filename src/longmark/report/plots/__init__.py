"""Figures of a page: plain numbers in, an HTML `<figure>` with inline SVG out; nothing but the standard library.

No foreign text is raw.

    intervals   forest: estimates with intervals; groups: a ranking, and who cannot be told apart
    lines       curves
    points      scatter, reliability
    spread      box_plots, histograms
    heat        heat_map
    shares      stacked

What they have in common: a figure is drawn twice, for a narrow and for a wide frame, and the style sheet shows the one
that fits. A name that is too long for its place is shortened in the drawing and whole in its tooltip. A value of None
(or one that is not finite) is drawn as a gap that says so, never as zero. What colour tells, a sign, a place, a dash or
a number tells too. Nothing to draw gives a figure that says so. Rows are drawn in the order in which they come. `says`,
in every figure: what it shows, in a sentence or two of plain text, above the drawing.
"""

from __future__ import annotations

from longmark.report.plots.heat import heat_map as heat_map
from longmark.report.plots.intervals import ForestRow as ForestRow
from longmark.report.plots.intervals import Ranked as Ranked
from longmark.report.plots.intervals import forest as forest
from longmark.report.plots.intervals import groups as groups
from longmark.report.plots.lines import Curve as Curve
from longmark.report.plots.lines import curves as curves
from longmark.report.plots.points import Bin as Bin
from longmark.report.plots.points import Point as Point
from longmark.report.plots.points import reliability as reliability
from longmark.report.plots.points import scatter as scatter
from longmark.report.plots.shares import Stack as Stack
from longmark.report.plots.shares import stacked as stacked
from longmark.report.plots.spread import Box as Box
from longmark.report.plots.spread import Panel as Panel
from longmark.report.plots.spread import box_plots as box_plots
from longmark.report.plots.spread import histograms as histograms
