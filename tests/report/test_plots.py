import math
import re
import sys
import xml.etree.ElementTree as ET
from collections.abc import Callable
from functools import cache
from itertools import combinations, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.browser import after, needs_chromium
from tests.report.runs import HOSTILE

from longmark.report.document import Document, Section, write_document
from longmark.report.page import asset
from longmark.report.plots import (
    Bin,
    Box,
    Curve,
    ForestRow,
    Panel,
    Point,
    Ranked,
    Stack,
    box_plots,
    curves,
    forest,
    groups,
    heat_map,
    histograms,
    reliability,
    scatter,
    stacked,
)
from longmark.report.plots.axes import axes, clipped
from longmark.report.plots.draw import one_line
from longmark.report.plots.heat import STRONGEST
from longmark.report.plots.lines import spaced, thinned
from longmark.report.plots.names import begun, fitted, fitted_names, text_width
from longmark.report.plots.scale import Scale, around, places_for, tick_texts

shortening = sys.modules[fitted.__module__]
LONG = "a_system_with_dense_retrieval_and_reranking_of_its_passages_number_{:02d}_of_forty"
RTL = "نظام الأسئلة والأجوبة مع استرجاع كثيف \u202e abc"
NAN = float("nan")


def names(count: int) -> list[str]:
    ugly = [HOSTILE, RTL, "検索拡張生成システム大規模言語モデル" * 4, "x", ""]
    return [ugly[i] if i < len(ugly) and count > 1 else LONG.format(i) for i in range(count)]


@cache
def all_figures(count: int) -> dict[str, str]:
    """Every kind of figure of `count` rows with names of every kind; what can be missing is missing somewhere."""
    called = names(count)
    gap = 3 if count > 3 else -1
    at = [(7 * i % count) / count for i in range(count)]
    rows = [(name, value, i == gap) for i, (name, value) in enumerate(zip(called, at, strict=True))]
    edges = [i / 10 for i in range(11)]
    marks = [[None if i == j == gap else v - w for j, w in enumerate(at)] for i, v in enumerate(at)]
    lines = [Curve(n, [(x, None if gone and x == 4 else v * x) for x in range(20)]) for n, v, gone in rows]
    ranked = [Ranked(n, None if gone else -v, -v - 0.1, -v + 0.1) for n, v, gone in rows]
    boxes = [Box(n, 0 if gone else 40, v, v + 0.1, v + 0.2, v + 0.3, v + 0.4, v) for n, v, gone in rows]
    bars = [[("win", 5 * (not gone)), ("tie", 0), ("loss", i * (not gone))] for i, (_, _, gone) in enumerate(rows)]
    return {
        "forest": forest([_row(*row) for row in rows], "F"),
        "pairs": forest([ForestRow(f"{a} − {b}", 0.1, None, 0.2, "p = 0.1") for a, b in pairwise(called)], "P"),
        "groups": groups(ranked, [(i, min(i + 4, count - 1)) for i in range(count)], "G"),
        "curves": curves(lines, "C", "questions", "mean", 0.05),
        "heat": heat_map(called, called, marks, "H", -1, 1, 2),
        "boxes": box_plots(boxes, "B", 0, 2),
        "histograms": histograms(
            [Panel(n, edges, [1234 * (i == k) for k in range(10)]) for i, n in enumerate(called)], "H"
        ),
        "scatter": scatter([Point(v, None if gone else v * v, n) for n, v, gone in rows], "S", "x", "y", (1, 0)),
        "reliability": reliability([_bin(i, count, v, gone) for i, (_, v, gone) in enumerate(rows)], "R"),
        "stacked": stacked([Stack(n, parts) for n, parts in zip(called, bars, strict=True)], "W"),
    }


def _bin(place: int, count: int, value: float, gap: bool) -> Bin:
    low, high = place / count, (place + 1) / count
    return Bin(low, high, 0, None, None) if gap else Bin(low, high, 1000 * place + 1, (low + high) / 2, value, 0, 1)


def _row(name: str, value: float, gap: bool) -> ForestRow:
    return (
        ForestRow(name, NAN, None, None, "no question in common") if gap else ForestRow(name, value, value - 0.1, None)
    )


def drawings(figure: str) -> list[ET.Element]:
    """The SVGs of a figure; it must be well-formed."""
    return list(ET.fromstring(figure.replace(" hidden", "")).iter("svg"))


def texts(svg: ET.Element) -> list[str]:
    return ["".join(found.itertext()) for found in svg.iter("text")]


@pytest.mark.parametrize("count", [1, 2, 6, 40])
def test_every_figure_is_well_formed_and_holds_no_raw_text_and_no_nan(count):
    for name, figure in all_figures(count).items():
        found = drawings(figure) if name != "pairs" or count > 1 else [ET.Element("svg", {"aria-label": "P"})]
        assert found, name
        for svg in found:
            assert svg.get("aria-label")
        assert not re.search(
            r"\b(nan|inf|None)\b", re.sub(r"<title>.*?</title>", "", figure).replace("no value", "")
        ), name
        assert "<img" not in figure
        assert "<script" not in figure
        assert "style=" not in figure, "the policy of the page forbids it"


@pytest.mark.parametrize("count", [6, 40])
def test_a_value_that_is_missing_is_a_gap_that_says_so(count):
    found = all_figures(count)
    for name in ("forest", "groups", "boxes"):
        assert found[name].count('class="gap halo"') == 2, f"{name}: in the narrow and in the wide drawing"
        assert "no value" in found[name]
    assert "no value: no question in common" in found["forest"]
    assert "1 point without a value" in found["curves"]
    assert "1 point without a value for both" in found["scatter"]
    assert found["heat"].count('class="hatch"') == 2
    assert "nothing counted" in found["stacked"]
    for svg in drawings(found["reliability"]):
        assert [e.text for e in svg.iter("text") if e.get("class") == "gap"] in ([["0"]] if count == 6 else [["0"], []])


def test_a_shortened_name_is_whole_in_its_tooltip():
    figure = forest([ForestRow(LONG.format(1), 0.5, 0.4, 0.6)], "One")
    wide = drawings(figure)[1]
    assert LONG.format(1) not in texts(wide)
    assert [e.text for e in wide.iter("title")] == [LONG.format(1)]


def test_nothing_to_draw_is_said():
    empty = [
        *(forest([], "E"), groups([], [], "E"), curves([], "E", "x", "y"), heat_map([], [], [], "E", 0, 1, 2)),
        *(box_plots([], "E"), histograms([], "E"), scatter([], "E", "x", "y"), reliability([], "E"), stacked([], "E")),
    ]
    lacking = [
        forest([ForestRow("a", None, None, None)], "E"),
        groups([Ranked("a", NAN, None, None)], [(0, 0)], "E"),
        curves([Curve("a", [(1, None)])], "E", "x", "y"),
        box_plots([Box("a", 0, None, None, None, None, None, None)], "E"),
        histograms([Panel("a", [0, 1], [0])], "E"),
        scatter([(1, None)], "E", "x", "y"),
        reliability([Bin(0, 1, 0, None, None)], "E"),
        stacked([("a", [("win", 0)])], "E"),
    ]
    for figure in empty + lacking:
        assert "<svg" not in figure
        assert re.search(r'class="none">[A-Z][^<]*\.</p>', figure)
    assert all("There is nothing to draw." in figure for figure in empty)


def test_every_figure_says_what_it_shows_above_how_it_is_read():
    said = "First is <ahead>."
    figures = [
        forest([ForestRow("a", 1, 0, 2)], "F", says=said),
        groups([Ranked("a", 1, 0, 2)], [], "F", says=said),
        curves([Curve("a", [(1, 1), (2, None)])], "F", "x", "y", says=said),
        heat_map(["a"], ["b"], [[1]], "F", 0, 1, 2, says=said),
        box_plots([Box("a", 5, 0, 1, 2, 3, 4, 2)], "F", says=said),
        histograms([Panel("a", [0, 1], [3])], "F", says=said),
        scatter([(1, 1), (1, 1)], "F", "x", "y", says=said),
        reliability([Bin(0, 1, 5, 0.5, 0.5)], "F", says=said),
        stacked([("a", [("win", 1)])], "F", says=said),
    ]
    for figure in figures:
        assert '<p class="plot-name"><strong><bdi>F</bdi></strong></p> <p class="finding">' in figure
        assert re.search(r'<p class="finding"><bdi>First is &lt;ahead&gt;.</bdi></p> <p class="reading"><bdi>', figure)
        assert len(drawings(figure)) >= 1
    assert "First is &lt;ahead&gt;." in forest([], "F", says=said)
    assert 'class="finding"' not in forest([ForestRow("a", 1, 0, 2)], "F")


@pytest.mark.parametrize("note", ["", "p = 0.027 of 1,200 questions"])
def test_the_line_of_reference_breaks_at_texts_and_at_gaps_only(note):
    rows = [ForestRow("a", 0.3, -0.1, 0.7, note), ForestRow("a name that is as long as this", 0.3, -0.1, 0.7)]
    rows.append(ForestRow("c", None, None, None, "no question"))
    narrow, wide = drawings(forest(rows, "F"))
    broken = 0
    for svg in (narrow, wide):
        (path,) = [e for e in svg.iter("path") if e.get("class") == "reference"]
        steps = re.findall(r"M([\d.]+) ([\d.]+)V([\d.]+)", path.get("d", ""))
        pieces = [(float(top), float(bottom)) for _, top, bottom in steps]
        at = float(steps[0][0])
        dots = [float(e.get("cy", "")) for e in svg.iter("circle")]
        assert all(any(top < dot < bottom for top, bottom in pieces) for dot in dots), "it goes through every lane"
        for text in (e for e in svg.iter("text") if "halo" in e.get("class", "")):
            base, start, width = float(text.get("y", "")), float(text.get("x", "")), text_width(text.text or "")
            start -= width if text.get("text-anchor") == "end" else 0
            if start < at < start + width:  # a text reaches from 9 units above its base line to 3 below it
                broken += 1
                assert not any(top < base + 3 and base - 9 < bottom for top, bottom in pieces), text.text
    assert broken >= 2, "the long name, the gap and the note stand at the line"


@pytest.mark.parametrize("value", [5e-324, 1e-300, -1e-300, 1e-12, 1e15, 1e300, -1.7e308])
@pytest.mark.parametrize("other", [0.0, 3.0, None])
def test_values_of_any_size_are_drawn_or_are_gaps(value, other):
    values = [value] if other is None else [value, other]
    for figure in (
        forest([ForestRow("a", v, None, None) for v in values], "F"),
        box_plots([Box("a", 5, v, v, v, v, v, v) for v in values], "B", 0, abs(value)),
        scatter([(v, v) for v in values], "S", "x", "y", (1, 0)),
        curves([Curve("c", [(i, v) for i, v in enumerate(values)])], "C", "x", "y"),
        curves([Curve("c", [(v, v) for v in sorted(values)])], "C", "x", "y"),
    ):
        assert not re.search(r"\b(nan|inf)\b", figure)
        assert (
            figure.count("<svg") == 2 or "There is nothing" in figure or "has a value" in figure or "has both" in figure
        )


def test_the_places_of_a_forest_plot_are_those_of_its_values():
    # The round ends around 0 to 1 are 0 and 1: 0.25 lies a quarter of the way from the tick 0 to the tick 1.
    wide = drawings(forest([ForestRow("a", 0.25, 0.0, 1.0), ForestRow("b", 0.5, None, None)], "F"))[1]
    ticks = {e.text: float(e.get("x", "")) for e in wide.iter("text") if e.get("class") == "tick"}
    dots = [float(e.get("cx", "")) for e in wide.iter("circle")]
    zero, one = ticks["0.0"], ticks["1.0"]
    assert dots[0] == pytest.approx(zero + 0.25 * (one - zero), abs=0.1)
    assert dots[1] == pytest.approx((zero + one) / 2, abs=0.1)
    (bar,) = [e for e in wide.iter("rect") if e.get("class") == "range"]
    assert float(bar.get("x", "")) == pytest.approx(zero, abs=0.1)
    assert float(bar.get("width", "")) == pytest.approx(one - zero, abs=0.1)
    assert texts(wide)[-3:] == ["0.25 [0.00, 1.00]", "b", "0.50"]


def test_bars_that_meet_stand_in_columns_of_their_own():
    rows = [Ranked(name, 1.0 - i / 10, None, None) for i, name in enumerate("abcdef")]
    wide = drawings(groups(rows, [(0, 2), (2, 3), (3, 5), (4, 4)], "G"))[1]
    found = [(float(e.get("x", "")), float(e.get("y", "")), float(e.get("height", ""))) for e in wide.iter("rect")]
    assert len({x for x, _, _ in found}) == 2, "(0, 2) and (3, 5) share the first, (2, 3) and (4, 4) the second"
    for (x, y, height), (other, y2, height2) in combinations(found, 2):
        assert x != other or y + height < y2 or y2 + height2 < y
    for bar in ((-1, 2), (2, 1), (0, 6)):
        with pytest.raises(ValueError, match="beyond the 6 rows"):
            groups(rows, [bar], "G")


def test_parts_of_a_bar_are_as_wide_as_their_shares():
    # 6 of 8, 0 of 8, 2 of 8: three times as wide as the last one, and nothing for the tie.
    wide = drawings(stacked([("a against b", [("win", 6), ("tie", 0), ("loss", 2)])], "W"))[1]
    (body,) = wide.findall("g[@transform]")
    widths = [float(e.get("width", "")) for e in body.iter("rect")]
    assert widths[0] == pytest.approx(3 * widths[1], abs=0.2)
    assert [e.text for e in body.iter("title")] == ["a against b: win 6 of 8 (75 %)", "a against b: loss 2 of 8 (25 %)"]
    with pytest.raises(ValueError, match="different parts"):
        stacked([("a", [("win", 1)]), ("b", [("loss", 1)])], "W")


def test_a_heat_map_shades_by_the_distance_from_zero_and_keeps_its_numbers_readable():
    wide = drawings(heat_map(["a"], ["x", "y", "z"], [[-1, 0.5, 7]], "H", -2, 1, 2))[1]
    cells = [(e.get("class"), float(e.get("fill-opacity", ""))) for e in wide.iter("rect")][:3]
    # -1 of -2 and 0.5 of 1 are half of the strongest shade; 7 lies beyond the end and has the strongest
    assert cells == [("cell down", 0.375), ("cell up", 0.375), ("cell up", 0.75)]
    assert texts(wide)[4:7] == ["-1.00", "0.50", "7.00"]
    with pytest.raises(ValueError, match="not 1 x 2"):
        heat_map(["a"], ["x", "y"], [[1]], "H", 0, 1, 2)


def _colours(css: str) -> dict[str, str]:
    return dict(re.findall(r"--(\w[\w-]*):\s*(#?[\w.]+)", css))


def _light(channels: list[float]) -> float:
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _channels(colour: str) -> list[float]:
    return [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]


def _contrast(first: list[float], second: list[float]) -> float:
    low, high = sorted((_light(first), _light(second)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_text_and_lines_stand_out_from_what_is_behind_them(dark):
    schemes = []
    for css in (asset("report.css"), asset("plots.css")):
        light, _, rest = css.partition("prefers-color-scheme: dark")
        schemes.append(_colours(light.split("}")[0]) | (_colours(rest.split("}")[0]) if dark else {}))
    found = {**schemes[0], **schemes[1]}
    paper, ink = _channels(found["paper"]), _channels(found["ink"])
    for place in range(6):
        assert _contrast(_channels(found[f"s{place}"]), paper) >= 3, "graphical objects, WCAG 1.4.11"
    for hue in ("s0", "s1"):
        for step in range(101):
            shade = STRONGEST * float(found["heat"]) * step / 100
            behind = [shade * h + (1 - shade) * p for h, p in zip(_channels(found[hue]), paper, strict=True)]
            assert _contrast(ink, behind) >= 4.5, "text, WCAG 1.4.3"
    assert _contrast(_channels(found["s0"]), paper) >= 4.5, "counts upon a full part of a stacked bar"


@given(st.text(max_size=120), st.floats(30, 400))
def test_a_fitted_name_fits(name, room):
    for found in (fitted(name, room), begun(name, room)):
        assert text_width(found) <= room or found == "…"
    assert fitted(name, 9999) == one_line(name)


def test_of_a_name_its_beginning_and_end_are_kept_and_of_a_pair_both():
    assert re.fullmatch(r"a_system\w*…\w*_of_forty", fitted(LONG.format(7), 180))
    first, second = fitted(f"{LONG.format(7)} − x", 180).split(" − ")
    assert "…" in first
    assert second == "x"
    assert [part.count("…") for part in fitted(f"{LONG.format(1)} − {LONG.format(2)}", 250).split(" − ")] == [1, 1]


def in_turn(words: str, room: float, kept: Callable[[str, int], str]) -> str:
    """What fits, found by taking one character less and less."""
    return next((text for n in range(len(words) - 1, 0, -1) if text_width(text := kept(words, n)) <= room), "…")


@given(st.text("aW .漢i−\u0301", max_size=40), st.floats(-5, 300))
def test_a_name_is_shortened_no_more_than_it_must_be(name, room):
    words = one_line(name)
    if text_width(words) > room:
        assert fitted(name, room) == in_turn(words, room, shortening._around)


def test_a_name_as_long_as_a_page_is_shortened_without_much_work(monkeypatch):
    looked = 0

    def count(char):
        nonlocal looked
        looked += 1
        return width(char)

    width = shortening._width
    monkeypatch.setattr(shortening, "_width", count)
    for whole in ("x" * 5000, f"{'x' * 5000} − {'y' * 5000}"):
        for shorten in (fitted, begun):
            looked = 0
            assert "…" in shorten(whole, 200)
            assert looked < 30 * len(whole), "halves of 5,000 are 13; one by one would be 12 million"


def test_names_that_would_look_alike_carry_their_places():
    alike = ["the same beginning, " + middle * 40 + ", the same end" for middle in "ab"]
    assert [name[-3:] for name in fitted_names(alike, 120)] == [" #1", " #2"]
    assert fitted_names(["short", "short"], 120) == ["short", "short"], "they are the same"


@given(st.floats(-1e6, 1e6), st.floats(1e-3, 1e6), st.floats(60, 900))
def test_ticks_lie_on_the_scale_and_apart(lo, length, room):
    least, greatest = around([lo, lo + length])
    assert least <= lo + 1e-5 * length
    assert greatest >= lo + length - 1e-5 * length
    scale = Scale(least, greatest, 0, room)
    ticks = scale.ticks()
    assert len(ticks) >= 2
    assert all(least - 1e-6 * length <= tick <= greatest + 1e-6 * length for tick in ticks)
    assert len(set(tick_texts(ticks))) == len(ticks)


def test_round_ends_hold_the_values():
    assert around([0.12, 0.47]) == (0.1, 0.5)
    assert around([0.12, 0.47], zero=True) == (0.0, 0.5)
    assert around([0.4, 0.47], zero=True)[0] > 0.3, "from 0 most of the figure would be empty"
    assert around([5, 5])[0] < 5 < around([5, 5])[1]
    assert around([0, 0]) == (-1.0, 1.0)
    assert (places_for(0, 1), places_for(0, 100), places_for(0, 0.02)) == (2, 0, 4)


def test_a_line_is_cut_where_it_leaves_the_frame():
    frame = axes(340, 250, (0, 1), (0, 0.5), ("x", "y"))
    # y = x enters at (0, 0) and leaves at (0.5, 0.5), in the middle of the upper edge
    (x, y), (x2, y2) = clipped(1, 0, frame)
    assert (x, y) == pytest.approx((frame.left, frame.bottom), abs=0.01)
    assert (x2, y2) == pytest.approx(((frame.left + frame.right) / 2, frame.top), abs=0.01)
    assert clipped(0, 2, frame) == []
    assert len(clipped(0, 0.25, frame)) == 2


def test_a_thinned_curve_keeps_its_ends_and_peaks():
    spots = [(i / 100, 50 + 40 * math.sin(i)) for i in range(10_000)]
    spots[5000] = (50.0, 500.0)
    found = thinned(spots)
    assert len(found) <= 4 * 201
    assert (found[0], found[-1]) == (spots[0], spots[-1])
    assert max(y for _, y in found) == 500.0
    assert thinned([(1.0, 2.0), (9.0, 3.0)]) == [(1.0, 2.0), (9.0, 3.0)]


@given(st.lists(st.floats(0, 300), min_size=1, max_size=20))
def test_labels_stand_apart_and_inside_where_they_fit(heights):
    found = spaced(sorted(heights), 14, 0, 300)
    assert all(b - a >= 14 - 1e-6 for a, b in pairwise(found))
    assert found[-1] <= 300
    assert found[0] >= -1e-6, "20 x 14 fit into 300"


def test_a_crowd_of_points_is_gathered_and_said_so():
    many = [(i % 97 / 97, i % 89 / 89) for i in range(20_000)]
    figure = scatter(many, "S", "x", "y")
    assert len(figure) < 900_000
    assert "area is the number of points" in figure
    assert "area" not in scatter([(0, 0), (1, 1)], "S", "x", "y")


_MEASURE = """
const found = [];
for (const width of [1120, 358]) {
  document.querySelector("main").style.cssText = `width: ${width}px; max-width: none; padding: 0`;
  for (const svg of document.querySelectorAll("svg")) {
    const frame = svg.getBoundingClientRect();
    if (!frame.width) continue;
    const upright = [...svg.querySelectorAll("text:not([transform])")];
    const texts = upright.map(t => [t.textContent, t.getBoundingClientRect()]);
    texts.forEach(([words, a], i) => {
      if (a.left < frame.left - 3 || a.right > frame.right + 3 || a.top < frame.top - 3 || a.bottom > frame.bottom + 3)
        found.push(`${width} ${svg.getAttribute("aria-label")}: cut: ${words}`);
      for (const [other, b] of texts.slice(i + 1))
        if (a.left < b.right - 1 && b.left < a.right - 1 && a.top < b.bottom - 4 && b.top < a.bottom - 4)
          found.push(`${width} ${svg.getAttribute("aria-label")}: ${words} upon ${other}`);
    });
  }
  if (document.querySelector("main").scrollWidth > width) found.push(`${width}: the page is too wide`);
}
document.body.innerHTML = `<pre id="found">${found.length} found\\n${found.join("\\n").replace(/</g, "&lt;")}</pre>`;
"""


@needs_chromium
def test_no_text_is_cut_or_upon_another_on_a_desktop_or_a_phone(tmp_path):
    sections = [Section(str(count), "", figure="".join(all_figures(count).values())) for count in (1, 7, 40)]
    write_document(Document("test", "Figures", "", sections), tmp_path / "page.html")
    dom = after(tmp_path / "page.html", tmp_path / "profile", _MEASURE)
    found = re.search(r'<pre id="found">(.*?)</pre>', dom, re.DOTALL)
    assert found is not None
    assert found[1].startswith("0 found"), found[1][:2000]
