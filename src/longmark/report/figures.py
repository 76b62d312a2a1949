"""Figures by matplotlib: one house style, inline SVG for a page, and SVG, PDF and PNG files (extra `stats`).

`charts` draws on it. Importing this module is cheap: matplotlib is imported when the first figure is drawn,
without pyplot, and its settings are restored afterwards. The same figure gives the same bytes.
"""

from __future__ import annotations

import io
import re
import unicodedata
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any

from longmark.errors import library
from longmark.report.format import upright
from longmark.writing import folder as make_folder
from longmark.writing import replacing

INK = "#1f1e1b"
SOFT = "#625f57"
LINE = "#dfdbd1"
PAPER = "#ffffff"
HUE = "#226d83"
PALE = "#efece5"
HUES = (HUE, "#d9480f", "#9a4fc4", "#6d1023", "#231f5c", "#a8894e")
"""Each has a contrast of 3 or more with white (WCAG 1.4.11). In simulated protanopia, deuteranopia and tritanopia
(Machado 2009) two of them are at least 19 apart in CIELAB. `page.css` has a dark counterpart of every colour."""
WIDTH = 348
SIZE = 10.5
SMALL = 9.5
"""The width of a figure inside its margin and the sizes of its text, in points."""
FORMATS = ("svg", "pdf", "png")
_DPI = 200
_MARGIN = 6
_FONT = "DejaVu Sans"
"""It comes with matplotlib, so text has the same size on every machine."""
_FAMILIES = "'Helvetica Neue', Helvetica, Arial, 'Liberation Sans', 'DejaVu Sans', sans-serif"
_STYLE = {
    "font.family": _FONT,
    "font.size": SIZE,
    "text.parse_math": False,
    "axes.unicode_minus": False,
    "svg.fonttype": "none",
    "pdf.fonttype": 42,
    "hatch.linewidth": 0.8,
    "lines.solid_capstyle": "butt",
    "text.color": INK,
    "axes.edgecolor": SOFT,
    "axes.linewidth": 0.7,
    "axes.axisbelow": True,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "grid.color": LINE,
    "grid.linewidth": 0.6,
    "xtick.color": SOFT,
    "ytick.color": SOFT,
    "xtick.labelsize": SMALL,
    "ytick.labelsize": SMALL,
    "xtick.major.size": 3,
    "ytick.major.size": 0,
    "xtick.major.width": 0.7,
}
_NO_METADATA: dict[str, dict[str, None]] = {
    "svg": dict.fromkeys(("Creator", "Date", "Format", "Type")),
    "pdf": dict.fromkeys(("Creator", "Producer", "CreationDate")),
    "png": {"Software": None},
}
JOINTS = (" - ", " − ", " against ", " × ", " → ")
"""What joins the two names of a pair."""
_LTR = "\u200e"
_JOINERS = "\u200c\u200d"
"""Not printable by themselves, but part of Persian, Hindi and emoji."""
_TAG = re.compile(r"<[A-Za-z][^<>]*>")
_TEXT = re.compile(r"(<text[^<>]*>)([^<]*)(?=</text>)")
_DROPPED = re.compile(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", re.DOTALL)
_UNUSED = re.compile(r'^(<g) id="[^"]*"| transform="rotate\(-0 [^"]*\)"')
_LONG_NUMBER = re.compile(r"\d+\.\d{3,}")


class Sheet:
    """What a figure is drawn on. Places are in points from the upper left corner, inside a margin."""

    def __init__(self, figure: Figure) -> None:
        from matplotlib.figure import Figure as Drawing

        self.width = figure.width
        self.height = figure.height
        self._outer = (figure.width + 2 * _MARGIN, figure.height + 2 * _MARGIN)
        self.drawing = Drawing(figsize=(self._outer[0] / 72, self._outer[1] / 72), facecolor="none")
        self.full_names: dict[str, str] = {}
        """Shortened names -> the full ones."""

    def at(self, x: float, y: float) -> tuple[float, float]:
        """matplotlib's coordinates of a place."""
        return (x + _MARGIN) / self._outer[0], 1 - (y + _MARGIN) / self._outer[1]

    def panel(self, left: float, top: float, right: float, bottom: float) -> Any:
        """matplotlib's axes in this place, with a transparent background."""
        (x0, y0), (x1, y1) = self.at(left, bottom), self.at(right, top)
        axes = self.drawing.add_axes((x0, y0, x1 - x0, y1 - y0))
        axes.patch.set_visible(False)
        return axes

    def text(self, x: float, y: float, words: str, **look: Any) -> None:
        """Text with the base line y; of foreign text, what `fitted` gives. look: matplotlib's properties of a text."""
        if words:
            self.drawing.text(*self.at(x, y), words, rotation_mode="anchor", **look)

    def fitted(self, names: Sequence[str], rooms: Sequence[float], size: float = SIZE) -> list[str]:
        """Names that fit and differ: those that would look alike when shortened carry their place in the list. The SVG
        has the full name as a tooltip."""
        short = [fitted(name, room, size) for name, room in zip(names, rooms, strict=True)]
        short_names = []
        for place, (name, text) in enumerate(zip(names, short, strict=True), start=1):
            if text != one_line(name) and short.count(text) > 1:
                number = f" #{place}"
                text = fitted(name, rooms[place - 1] - text_width(number, size), size) + number
            short_names.append(_in_order(text))
            if text != one_line(name):
                self.full_names[short_names[-1]] = one_line(name)
        return short_names


@dataclass(frozen=True, slots=True)
class Figure:
    """A figure of a page. label: its heading and alternative text; reading: how it is to be read, or, where `draw` is
    None, why there is nothing to draw; says: what it shows. All plain text. height, width: in points."""

    label: str
    reading: str
    draw: Callable[[Sheet], None] | None = None
    height: float = 0
    width: float = WIDTH
    says: str = ""

    def _repr_svg_(self) -> str | None:
        """For a notebook; None where there is nothing to draw."""
        svg = rendered(self, ("svg",)).get("svg")
        return svg.decode() if svg else None


def rendered(
    figure: Figure, formats: Iterable[str] | None = None, salt: str = ""
) -> dict[str, bytes]:
    """The files of a figure, by format (None: all of them); none where it has no drawing. salt: keeps the ids of
    figures on one page apart.

    Errors: MissingExtra where matplotlib is not installed.
    """
    if figure.draw is None:
        return {}
    matplotlib = library("matplotlib", "drawing figures", "stats")
    files = {}
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        matplotlib.rcdefaults()
        matplotlib.rcParams.update({**_STYLE, "svg.hashsalt": f"longmark {salt}"})
        sheet = Sheet(figure)
        figure.draw(sheet)
        for kind in FORMATS if formats is None else formats:
            file = io.BytesIO()
            paper = PAPER if kind == "png" else "none"
            sheet.drawing.savefig(
                file, format=kind, dpi=_DPI, facecolor=paper, metadata=_NO_METADATA[kind]
            )
            files[kind] = file.getvalue()
            if kind == "svg":
                files[kind] = _tidied(file.getvalue().decode(), figure, sheet.full_names).encode(
                    "utf-8", "replace"
                )
    return files


def write_figure(files: dict[str, bytes], folder: Path, name: str) -> None:
    """Writes `folder/name.svg`, `.pdf` and `.png`. UserError where the folder cannot be made."""
    make_folder(folder)
    for kind, content in files.items():
        with replacing(folder / f"{name}.{kind}") as file:
            file.write(content)


def inline(svg: bytes) -> str:
    """An SVG file as part of an HTML page."""
    return (
        svg.decode()
        .partition("?>")[2]
        .replace(' xmlns:xlink="http://www.w3.org/1999/xlink"', "", 1)
    )


def _tidied(svg: str, figure: Figure, full_names: dict[str, str]) -> str:
    """matplotlib's SVG with an alternative text, full names as tooltips, and attributes in place of style sheets,
    which the policy of a page forbids and which another page would apply to all its figures."""
    body = _DROPPED.sub("", svg[svg.index("<svg") :].partition(">")[2])
    tips = {
        escape(short, quote=False): f"<title>{escape(full)}</title>"
        for short, full in full_names.items()
    }
    body = _TEXT.sub(
        lambda match: f"{match[1]}{tips.get(match[2], '')}{match[2]}", _TAG.sub(_attributes, body)
    )
    label = escape(one_line(figure.label))
    description = escape(one_line(figure.says or figure.reading))
    width = f"{figure.width + 2 * _MARGIN:g}"
    height = f"{figure.height + 2 * _MARGIN:g}"
    size = f'width="{width}pt" height="{height}pt" viewBox="0 0 {width} {height}"'
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n<svg class="chart" xmlns="http://www.w3.org/2000/svg" '
        f'xmlns:xlink="http://www.w3.org/1999/xlink" {size} role="img" aria-label="{label}" '
        f'font-family="{_FAMILIES}" stroke-linejoin="round"><desc>{description}</desc>'
        + "\n".join(stripped for line in body.splitlines() if (stripped := line.strip()))
        + "\n"
    )


def _attributes(match: re.Match[str]) -> str:
    """A tag with `fill="#000"` for `style="fill: #000"`, without names that nothing refers to, with shorter numbers."""
    tag = _UNUSED.sub(r"\1", match[0])
    style = ""
    before, quoted, remainder = tag.partition(' style="')
    if quoted:
        style, _, after = remainder.partition('"')
        pairs = (pair.partition(": ")[::2] for pair in style.split("; "))
        tag = (
            before
            + "".join(f' {name}="{value}"' for name, value in pairs if name != "font-family")
            + after
        )
    return _LONG_NUMBER.sub(lambda number: f"{float(number[0]):.2f}".rstrip("0").rstrip("."), tag)


def one_line(foreign: str) -> str:
    """Foreign text on one line, without control characters and those that turn the direction of writing."""
    visible = (char if char.isprintable() or char in _JOINERS else " " for char in upright(foreign))
    return " ".join("".join(visible).split())


def _in_order(words: str) -> str:
    """Words from left to right: a name written from right to left turns neither a rank before it nor a pair round."""
    if not any(unicodedata.bidirectional(char) in ("R", "AL") for char in words):
        return words
    joint = next((joint for joint in JOINTS if words.count(joint) == 1), "")
    return _LTR + (words.replace(joint, f" {_LTR}{joint.lstrip()}") if joint else words)


def text_width(words: str, size: float = SIZE) -> float:
    """An upper estimate of the width in points, by classes of characters: the fonts of a reader are not known."""
    return size * sum(map(_width, words))


def _width(char: str) -> float:
    if char.isascii():
        wide = 0.99 if char in "mwMWOQGD%@" else 0.75 if char.isupper() else 0.64
        return 0.42 if char in "ijlI|!'.,:; ftr()[]{}/\\-*" else wide
    if unicodedata.combining(char) or unicodedata.category(char) in ("Cf", "Mn", "Me"):
        return 0.0
    return (
        1.3
        if ord(char) >= 0x1F000
        else 1.05
        if char in "…—" or unicodedata.east_asian_width(char) in "WF"
        else 0.8
    )


def fitted(full: str, room: float, size: float = SIZE) -> str:
    """The text, or its beginning and end around an ellipsis: what distinguishes names is often at their end. Of a pair
    of names, as `a - b`, each is shortened by itself."""
    words = one_line(full)
    if text_width(words, size) <= room:
        return words
    joint = next((joint for joint in JOINTS if words.count(joint) == 1), "")
    if joint and room > 3 * text_width(joint, size):
        first, second = words.split(joint)
        free = room - text_width(joint, size)
        head = fitted(first, max(free / 2, free - text_width(second, size)), size)
        return head + joint + fitted(second, free - text_width(head, size), size)
    least = 0
    largest = len(words) - 1
    while least < largest:
        middle = (least + largest + 1) // 2
        least, largest = (
            (middle, largest)
            if text_width(_cut(words, middle), size) <= room
            else (least, middle - 1)
        )
    return _cut(words, least)


def _cut(words: str, n_kept: int) -> str:
    head = words[: (n_kept + 1) // 2].rstrip()
    tail = words[len(words) - n_kept // 2 :].lstrip()
    while tail and unicodedata.combining(tail[0]):
        tail = tail[1:]
    return f"{head}…{tail}"
