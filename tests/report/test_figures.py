import hashlib
import importlib.util
import json
import re
import sys
import xml.etree.ElementTree as ET
from functools import cache
from html import unescape
from itertools import combinations, pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.program import run
from tests.report.browser import after, needs_chromium
from tests.report.drawn import drawn
from tests.report.runs import HOSTILE

from longmark.errors import MissingExtra, UserError
from longmark.report.charts import (
    MOST,
    STRONGEST,
    Bin,
    Box,
    Curve,
    ForestRow,
    HistogramPanel,
    Stack,
    around,
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
from longmark.report.document import Document, Section, write_document
from longmark.report.figures import (
    HUES,
    INK,
    PAPER,
    WIDTH,
    Figure,
    Sheet,
    fitted,
    one_line,
    rendered,
    text_width,
    write_figure,
)
from longmark.report.page import asset

LONG = "a_system_with_dense_retrieval_and_reranking_of_its_passages_number_{:02d}_of_forty"
RTL = "نظام الأسئلة والأجوبة مع استرجاع كثيف \u202e abc"
NAN = float("nan")
SVG = "{http://www.w3.org/2000/svg}"


def names(count: int) -> list[str]:
    ugly = [
        HOSTILE,
        RTL,
        "検索拡張生成システム大規模言語モデル" * 4,
        "x$y$z_$",
        "",
        "\ud800\x07\x1b[0m",
    ]
    return [ugly[i] if i < len(ugly) and count > 1 else LONG.format(i) for i in range(count)]


@cache
def all_figures(count: int) -> dict[str, Figure]:
    """Every kind of figure of `count` rows with names of every kind; what can be missing is missing somewhere."""
    called = names(count)
    gap = 3 if count > 3 else -1
    at = [(7 * i % count) / count for i in range(count)]
    rows = [(name, value, i == gap) for i, (name, value) in enumerate(zip(called, at, strict=True))]
    edges = [i / 10 for i in range(11)]
    cells = [[None if i == j == gap else v - w for j, w in enumerate(at)] for i, v in enumerate(at)]
    lines = [
        Curve(n, [(x, None if gone and x == 4 else v * x) for x in range(20)])
        for n, v, gone in rows
    ]
    ranked = [ForestRow(n, None if gone else -v, -v - 0.1, -v + 0.1) for n, v, gone in rows]
    boxes = [
        Box(n, 0 if gone else 40, v, v + 0.1, v + 0.2, v + 0.3, v + 0.4, v) for n, v, gone in rows
    ]
    bars = [
        [("win", 5 * (not gone)), ("tie", 0), ("loss", i * (not gone))]
        for i, (_, _, gone) in enumerate(rows)
    ]
    panels = [
        HistogramPanel(n, edges, [1234 * (i == k) for k in range(10)]) for i, n in enumerate(called)
    ]
    return {
        "forest": forest([_row(*row) for row in rows], "F"),
        "pairs": forest(
            [ForestRow(f"{a} − {b}", 0.1, None, 0.2, "p = 0.1") for a, b in pairwise(called)], "P"
        ),
        "groups": groups(ranked, [(i, min(i + 4, count - 1)) for i in range(count)], "G"),
        "curves": curves(lines, "C", "questions", "mean", 0.05),
        "heat": heat_map(called, called, cells, "H", (-1, 1), 2),
        "boxes": box_plots(boxes, "B", 0, 2),
        "histograms": histograms(panels, "H"),
        "scatter": scatter(
            [(v, None if gone else v * v) for _, v, gone in rows], "S", "x", "y", (1, 0)
        ),
        "reliability": reliability(
            [_bin(i, count, v, gone) for i, (_, v, gone) in enumerate(rows)], "R"
        ),
        "stacked": stacked([Stack(n, parts) for n, parts in zip(called, bars, strict=True)], "W"),
    }


def _bin(place: int, count: int, value: float, gap: bool) -> Bin:
    low, high = place / count, (place + 1) / count
    return (
        Bin(low, high, 0, None, None)
        if gap
        else Bin(low, high, 1000 * place + 1, (low + high) / 2, value, 0, 1)
    )


def _row(name: str, value: float, gap: bool) -> ForestRow:
    return (
        ForestRow(name, NAN, None, None, "no question in common")
        if gap
        else ForestRow(name, value, value - 0.1, None)
    )


def svg(figure: Figure) -> str:
    return rendered(figure, ["svg"])["svg"].decode()


def texts(drawn: str) -> list[str]:
    return [
        (found.text or "") + "".join(f.tail or "" for f in found)
        for found in ET.fromstring(drawn).iter(SVG + "text")
    ]


@pytest.fixture
def no_files(monkeypatch):
    """Pages without PDF and PNG files, which take most of the time."""
    monkeypatch.setattr(
        "longmark.report.document.rendered", lambda figure, salt: rendered(figure, ["svg"], salt)
    )


def drawing(figure: Figure):
    """matplotlib's figure, to read places from."""
    sheet = Sheet(figure)
    assert figure.draw is not None
    figure.draw(sheet)
    return sheet.drawing


@pytest.mark.parametrize("count", [1, 2, 6, 9])
def test_every_figure_is_well_formed_and_holds_no_raw_text_and_no_nan(count):
    for name, figure in all_figures(count).items():
        if name == "pairs" and count == 1:
            continue
        found = svg(figure)
        root = ET.fromstring(found)
        assert root.get("aria-label") == figure.label
        assert root.get("role") == "img"
        assert not [words for words in texts(found) if re.search(r"\b(nan|inf|None)\b", words)], (
            name
        )
        assert "<img" not in found
        assert "<script" not in found
        assert not re.search(r" style=|<style", found), "the policy of the page forbids it"
        assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f]|\u202e", found)


def test_dollar_signs_are_no_mathematics():
    assert "x$y$z_$" in texts(svg(forest([ForestRow("x$y$z_$", 1, 0, 2)], "F")))


@pytest.mark.parametrize("count", [6, 9])
def test_a_value_that_is_missing_is_a_gap_that_says_so(count):
    found = all_figures(count)
    for name, words in (
        ("forest", "no estimate"),
        ("groups", "no estimate"),
        ("boxes", "no score"),
    ):
        assert sum(text.startswith(words) for text in texts(svg(found[name]))) == 1, name
    assert "no estimate: no question in common" in texts(svg(found["forest"]))
    assert "1 point without a value" in found["curves"].reading
    assert "1 point without a value for both" in found["scatter"].reading
    assert "Hatched: no value." in found["heat"].reading
    assert svg(found["heat"]).count("url(#h") == 1
    assert "nothing counted" in texts(svg(found["stacked"]))
    (dots,) = [
        line for line in drawing(found["curves"]).axes[0].lines if line.get_label() == "_child4"
    ]
    assert np.isnan(dots.get_ydata()).sum() == 1, "the line is broken"


def test_the_names_of_a_pair_have_the_room_they_need():
    name = "ccrs.question_relevance - ccrs.answer_correctness"
    figure = forest([ForestRow(name, -0.044, -0.117, 0.019, "p = 0.012")], "pairs")
    assert figure.width == WIDTH, "a phone shows it whole"
    assert name in drawn([figure])
    beside = forest([ForestRow("a", -0.044, -0.117, 0.019, "p = 0.012")], "pairs")
    assert figure.height > beside.height, "the number stands below the name"


def test_a_shortened_name_is_whole_in_its_tooltip():
    figure = forest(
        [ForestRow(LONG.format(1), 0.5, 0.4, 0.6), ForestRow("short", 0.5, 0.4, 0.6)], "One"
    )
    found = svg(figure)
    assert LONG.format(1) not in texts(found)
    assert [e.text for e in ET.fromstring(found).iter(SVG + "title")] == [LONG.format(1)]


def test_nothing_to_draw_is_said(tmp_path):
    empty = [
        *(
            forest([], "E"),
            groups([], [], "E"),
            curves([], "E", "x", "y"),
            heat_map([], [], [], "E", (0, 1), 2),
        ),
        *(
            box_plots([], "E"),
            histograms([], "E"),
            scatter([], "E", "x", "y"),
            reliability([], "E"),
            stacked([], "E"),
        ),
    ]
    missing = [
        forest([ForestRow("a", None, None, None)], "E"),
        groups([ForestRow("a", NAN, None, None)], [(0, 0)], "E"),
        curves([Curve("a", [(1, None)])], "E", "x", "y"),
        box_plots([Box("a", 0, None, None, None, None, None, None)], "E"),
        histograms([HistogramPanel("a", [0, 1], [0])], "E"),
        scatter([(1, None)], "E", "x", "y"),
        reliability([Bin(0, 1, 0, None, None)], "E"),
        stacked([Stack("a", [("win", 0)])], "E"),
    ]
    assert all(rendered(figure) == {} for figure in empty + missing)
    assert all(figure.reading == "There is no data to draw." for figure in empty)
    assert all(re.fullmatch(r"(No|Nothing) .*\.", figure.reading) for figure in missing)
    write_document(
        Document("test", "T", "", [Section("S", "", figures=empty[:1])]), tmp_path / "report.html"
    )
    page = (tmp_path / "report.html").read_text("utf-8")
    assert '<p class="none"><bdi>There is no data to draw.</bdi></p>' in page
    assert not (tmp_path / "figures").exists()


@pytest.mark.all_formats
def test_a_figure_says_what_it_shows_above_how_it_is_read_and_has_its_files_beside_the_page(
    tmp_path,
):
    one = scatter([(1, 0), (1, 0), (0, 1)], "One (of two)", "a", "b", says="First is <ahead>.")
    two = heat_map(["a"], [f"column {i}" for i in range(30)], [[1] * 30], "One", (0, 1), 2)
    write_document(
        Document("test", "T", "", [Section("S", "", figures=(one, two))]), tmp_path / "report.html"
    )
    page = (tmp_path / "report.html").read_text("utf-8")
    assert (
        '<p class="plot-name"><strong><bdi>One (of two)</bdi></strong></p>\n<p class="finding">'
        in page
    )
    assert re.search(
        r'<p class="finding"><bdi>First is &lt;ahead&gt;.</bdi></p><p class="reading"><bdi>The area',
        page,
    )
    assert page.count('<figure class="plot') == page.count("<svg") == 2
    assert page.count('<figure class="plot broad">') == 1, "it scrolls inside its own frame"
    found = sorted(path.name for path in (tmp_path / "figures").iterdir())
    assert found == [
        f"{name}.{kind}" for name in ("s-one-2", "s-one") for kind in ("pdf", "png", "svg")
    ]
    drawn = (tmp_path / "figures" / "s-one.svg").read_text("utf-8")
    assert "<desc>First is &lt;ahead&gt;.</desc>" in drawn
    assert "a" in texts(drawn)
    assert (tmp_path / "figures" / "s-one.pdf").read_bytes().count(b"/CIDFontType2"), (
        "text is text, its font embedded"
    )
    assert (tmp_path / "figures" / "s-one.png").read_bytes().startswith(b"\x89PNG")


def test_figures_on_one_page_share_no_ids(tmp_path, no_files):
    figures = [figure for name, figure in all_figures(6).items() if name != "pairs"]
    write_document(
        Document("test", "T", "", [Section("S", "", figures=figures)]), tmp_path / "report.html"
    )
    ids = re.findall(r' id="([^"]*)"', (tmp_path / "report.html").read_text("utf-8"))
    assert len(ids) == len(set(ids)) > 10


def hashes() -> dict[str, str]:
    """Of the files of every kind of figure; of one of them in all formats."""
    found = {}
    for name, figure in all_figures(4).items():
        for kind, content in rendered(
            figure, ("svg", "pdf", "png") if name == "curves" else ["svg"], name
        ).items():
            found[f"{name}.{kind}"] = hashlib.sha256(content).hexdigest()
    return found


_IN_A_PROCESS = """
import json, sys
from tests.report.test_figures import hashes
print(json.dumps(hashes()))
assert "matplotlib.pyplot" not in sys.modules
"""


def test_the_same_data_give_the_same_bytes_in_any_process_and_whatever_matplotlib_is_told(tmp_path):
    (tmp_path / "matplotlibrc").write_text(
        "font.size: 30\nsvg.fonttype: path\naxes.facecolor: red\n"
    )
    env = {"PYTHONHASHSEED": "2", "SOURCE_DATE_EPOCH": "2", "MATPLOTLIBRC": str(tmp_path)}
    done = run("python", "-c", _IN_A_PROCESS, home=tmp_path / "home", env=env)
    assert done.err == "", "no warning of a glyph or of a font"
    found = hashes()
    assert json.loads(done.out) == found
    assert len(found) == 12


def test_drawing_leaves_the_settings_of_matplotlib_alone():
    import matplotlib

    before = dict(matplotlib.rcParams)
    svg(all_figures(2)["forest"])
    assert dict(matplotlib.rcParams) == before


def test_without_matplotlib_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(MissingExtra, match=r"longmark\[stats\]"):
        svg(all_figures(1)["forest"])
    assert importlib.util.find_spec("longmark.report.charts")


def test_a_folder_that_cannot_be_made_is_named(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match="give another --out"):
        write_figure({"svg": b""}, tmp_path / "file" / "figures", "a")


@pytest.mark.parametrize("value", [5e-324, 1e-300, -1e-300, 1e-12, 1e12, 1e300, -1.7e308])
@pytest.mark.parametrize("other", [0.0, None])
def test_values_of_any_size_are_drawn_or_are_gaps(value, other):
    values = [value] if other is None else [value, other]
    for figure in (
        forest([ForestRow("a", v, None, None) for v in values], "F"),
        box_plots([Box("a", 5, v, v, v, v, v, v) for v in values], "B", 0, abs(value)),
        scatter([(v, v) for v in values], "S", "x", "y", (1, 0)),
        curves([Curve("c", [(i, v) for i, v in enumerate(values)])], "C", "x", "y"),
        curves([Curve("c", [(v, v) for v in sorted(values)])], "C", "x", "y"),
    ):
        assert figure.draw is None or not re.search(r'\b(nan|inf)\b|="-?\d{6,}', svg(figure))
        assert figure.draw is not None or figure.reading.startswith("No ")


def test_the_places_of_a_forest_plot_are_those_of_its_values():
    axes = drawing(
        forest([ForestRow("a", 0.25, 0.0, 1.0), ForestRow("b", 0.5, None, None)], "F")
    ).axes[0]
    dots = [line.get_xdata()[0] for line in axes.lines if line.get_marker() == "o"]
    assert dots == [0.25, 0.5]
    assert axes.get_xlim() == (0, 1), "round ends"
    assert [list(line.get_xdata()) for line in axes.lines if line.get_marker() == "|"] == [
        [0.0, 1.0]
    ]
    found = texts(
        svg(forest([ForestRow("a", 0.25, 0.0, 1.0, "n = 3"), ForestRow("b", 0.5, None, None)], "F"))
    )
    assert found[-4:] == ["a", "0.25 [0.00, 1.00] · n = 3", "b", "0.50"]


def test_bars_that_meet_stand_in_columns_of_their_own():
    rows = [ForestRow(name, 1.0 - i / 10, None, None) for i, name in enumerate("abcdef")]
    beside = drawing(groups(rows, [(0, 2), (2, 3), (3, 5), (4, 4)], "G")).axes[1]
    found = [tuple(map(tuple, bar.get_segments()[0])) for bar in beside.collections]
    assert len({top[0] for top, _ in found}) == 2, (
        "(0, 2) and (3, 5) share the first, (2, 3) and (4, 4) the second"
    )
    for ((x, top), (_, bottom)), ((other, top2), (_, bottom2)) in combinations(found, 2):
        assert x != other or bottom < top2 or bottom2 < top
    for bar in ((-1, 2), (2, 1), (0, 6)):
        with pytest.raises(ValueError, match="beyond the 6 rows"):
            groups(rows, [bar], "G")


def test_parts_of_a_bar_are_as_wide_as_their_shares():
    # 6 of 8, 0 of 8, 2 of 8
    axes = drawing(
        stacked([Stack("a against b", [("win", 6), ("tie", 0), ("loss", 2)])], "W")
    ).axes[0]
    assert [(bar.get_x(), bar.get_width()) for bar in axes.patches] == [
        (0, 0.75),
        (0.75, 0),
        (0.75, 0.25),
    ]
    assert axes.patches[2].get_hatch(), "a hatch beside the colour"
    with pytest.raises(ValueError, match="different parts"):
        stacked([Stack("a", [("win", 1)]), Stack("b", [("loss", 1)])], "W")


def test_a_heat_map_shades_by_the_distance_from_zero():
    figure = heat_map(["a"], ["x", "y", "z"], [[-1, 0.5, 7]], "H", (-2, 1), 2)
    found = [patch.get_facecolor() for patch in drawing(figure).axes[0].patches]
    # -1 of -2 and 0.5 of 1 are half of the strongest shade; 7 lies beyond the end and has the strongest
    assert [cell[3] for cell in found] == [0.375, 0.375, 0.75]
    assert found[0][:3] != found[1][:3] == found[2][:3]
    assert texts(svg(figure))[-3:] == ["-1.00", "0.50", "7.00"]
    with pytest.raises(ValueError, match="not 1 x 2"):
        heat_map(["a"], ["x", "y"], [[1]], "H", (0, 1), 2)


def _colours(css: str) -> dict[str, str]:
    return dict(re.findall(r"--(\w[\w-]*):\s*(#?[\w.]+)", css))


def _linear(colour: str):
    channels = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    return np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)


def _contrast(first, second) -> float:
    low, high = sorted(float(np.dot([0.2126, 0.7152, 0.0722], light)) for light in (first, second))
    return (high + 0.05) / (low + 0.05)


def _shaded(hue: str, paper: str, shade: float):
    mixed = [
        round(shade * int(hue[i : i + 2], 16) + (1 - shade) * int(paper[i : i + 2], 16))
        for i in (1, 3, 5)
    ]
    return _linear("#" + "".join(f"{channel:02x}" for channel in mixed))


@pytest.mark.parametrize("scheme", ["file", "light", "dark"])
def test_text_and_lines_stand_out_from_what_is_behind_them(scheme):
    light, _, rest = asset("tokens.css").partition("prefers-color-scheme: dark")
    found = _colours(light.split("}")[0]) | (
        _colours(rest.split("}")[0]) if scheme == "dark" else {}
    )
    on_page = dict(re.findall(r'\[fill="(#\w+)"\] \{ fill: var\(--([\w-]+)\)', asset("page.css")))
    shown = {
        colour: colour if scheme == "file" else found[name] for colour, name in on_page.items()
    }
    assert set(shown) >= {INK, PAPER, *HUES}, "every colour has one for the page"
    for hue in HUES:
        assert _contrast(_linear(shown[hue]), _linear(shown[PAPER])) >= 3, (
            "graphical objects, WCAG 1.4.11"
        )
    strongest = STRONGEST * (float(found["heat"]) if scheme != "file" else 1)
    for hue in HUES[:2]:
        for step in range(101):
            behind = _shaded(shown[hue], shown[PAPER], strongest * step / 100)
            assert _contrast(_linear(shown[INK]), behind) >= 4.5, "text, WCAG 1.4.3"


# Machado, Oliveira and Fernandes (2009), A physiologically-based model for simulation of color vision deficiency
_VISION = {
    "usual": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.01182, 0.04294, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.3039],
    ],
}


def _lab(linear):
    xyz = (
        np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])
        @ linear
    )
    x, y, z = (
        np.cbrt(v) if v > 0.008856 else 7.787 * v + 16 / 116 for v in xyz / [0.9505, 1, 1.089]
    )
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


@pytest.mark.parametrize("vision", _VISION)
def test_the_hues_differ_to_those_who_see_fewer_colours(vision):
    seen = [_lab(np.clip(_VISION[vision] @ _linear(hue), 0, 1)) for hue in HUES]
    assert min(np.linalg.norm(a - b) for a, b in combinations(seen, 2)) > 19


@given(st.text(max_size=120), st.floats(30, 400))
def test_a_fitted_name_fits(name, room):
    found = fitted(name, room)
    assert text_width(found) <= room or found.strip(" -−×→") in ("…", "")
    assert fitted(name, 99999) == one_line(name)


def test_of_a_name_its_beginning_and_end_are_kept_and_of_a_pair_both():
    assert re.fullmatch(r"a_system\w*…\w*_of_forty", fitted(LONG.format(7), 180))
    first, second = fitted(f"{LONG.format(7)} − x", 180).split(" − ")
    assert "…" in first
    assert second == "x"
    assert [
        part.count("…") for part in fitted(f"{LONG.format(1)} - {LONG.format(2)}", 250).split(" - ")
    ] == [1, 1]


def test_names_that_would_look_alike_carry_their_places():
    sheet = Sheet(forest([ForestRow("a", 1, 0, 2)], "F"))
    alike = ["the same beginning, " + middle * 40 + ", the same end" for middle in "ab"]
    assert [name[-3:] for name in sheet.fitted(alike, [120, 120])] == [" #1", " #2"]
    assert sheet.fitted(["short", "short"], [120, 120]) == ["short", "short"], "they are the same"


def test_a_name_from_right_to_left_turns_neither_a_rank_nor_a_pair_round():
    drawn = svg(forest([ForestRow("نظام - شبكة", 1, 0, 2), ForestRow("1-2. نظام", 1, 0, 2)], "F"))
    assert [t for t in texts(drawn) if "نظام" in t] == [
        "\u200eنظام \u200e- شبكة",
        "\u200e1-2. نظام",
    ]


def test_round_ends_hold_the_values():
    assert around([0.12, 0.47]) == (0.1, 0.5)
    assert around([0.12, 0.47], zero=True) == (0.0, 0.5)
    assert around([0.4, 0.47], zero=True)[0] > 0.3, "from 0 most of the figure would be empty"
    assert around([5, 5])[0] < 5 < around([5, 5])[1]
    assert around([0, 0]) == (-1.0, 1.0)


def test_thousands_of_points_and_systems_stay_bounded_and_that_is_said():
    dots = scatter([(i % 97 / 97, i % 89 / 89) for i in range(20_000)], "S", "x", "y")
    assert "area of a dot is proportional to the number of points" in dots.reading
    assert "area" not in scatter([(0, 0), (1, 1)], "S", "x", "y").reading
    assert len(svg(dots)) < 300_000
    wave = [(float(i), float(i % 1000 if i != 5000 else 7777)) for i in range(100_000)]
    assert len(svg(curves([Curve("c", wave)], "C", "x", "y"))) < 300_000
    rows = forest([ForestRow(f"s{i}", i, None, None) for i in range(5000)], "F")
    assert f"Drawn: the first {MOST} of 5,000 rows; the table has all of them." in rows.reading
    assert texts(svg(rows))[-2:] == [f"s{MOST - 1}", f"{MOST - 1}.0"]


_MEASURE = """
const found = [];
for (const width of [1120, 358]) {
  document.querySelector("main").style.cssText = `width: ${width}px; max-width: none; padding: 0`;
  for (const svg of document.querySelectorAll("svg")) {
    const frame = svg.getBoundingClientRect();
    if (!frame.width) continue;
    const upright = [...svg.querySelectorAll("text")].filter(t => !t.getAttribute("transform"));
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
def test_no_text_is_cut_or_upon_another_on_a_desktop_or_a_phone(tmp_path, no_files):
    sections = [
        Section(str(count), "", figures=list(all_figures(count).values())) for count in (1, 7, 16)
    ]
    write_document(Document("test", "Figures", "", sections), tmp_path / "page.html")
    dom = after(tmp_path / "page.html", _MEASURE)
    found = re.search(r'<pre id="found">(.*?)</pre>', dom, re.DOTALL)
    assert found is not None
    assert found[1].startswith("0 found"), unescape(found[1][:2000])
