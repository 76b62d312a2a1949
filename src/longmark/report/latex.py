"""A table of texts as LaTeX: escaped, with `booktabs` rules, a `longtable` where it fills more than a page.

The first line, a comment, names the packages it needs. A table too wide for the page of `article` is set in smaller
type, then turned; a box shrinks what is still too wide (see `fits`), unless it is long. For a document in two columns a
table is a float as wide as one column or as both (`FLOATS`).
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

_LAYOUTS = (
    ("", 66, 38, False),
    ("\\footnotesize", 78, 48, False),
    ("\\footnotesize", 115, 27, True),
)
"""Size of type, characters in a line, lines of a page beside caption and note, whether the page is turned."""
_UPRIGHT = ("\\footnotesize", 78, 44, False)
_LIGHT = 1.2
"""Before a short table is turned, its texts are broken from `_NARROW` on; it may be wider than the line by this factor,
and a box shrinks it."""
FLOATS = {
    "column": ("\\footnotesize", 52, 50, False),
    "page": ("\\footnotesize", 105, 50, False),
}
"""The layout of a table for a document in two columns: a float as wide as a column, or as both (`table*`). It is never
turned, and never a longtable, which two columns do not allow."""
_SHRUNK = (1, 1.25, 1.5)
"""How much wider than the line a short table may be set before a box shrinks it, so that its texts take fewer lines."""
_BROKEN = 40
_NARROW = 20
"""Characters; a column of longer texts is broken into lines; the second is for the turned page."""
_GAP = 2
"""Characters between two columns."""

_GREEK = "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ"


def _greek(char: str) -> str:
    name = unicodedata.name(char).split()[-1].replace("LAMDA", "LAMBDA")
    return f"$\\{name.capitalize() if char.isupper() else name.lower()}$"


_NAMES = (
    r"~ \textasciitilde{} ^ \textasciicircum{} ` \textasciigrave{} | \textbar{} \ \textbackslash{} "
    r'" \textquotedbl{} ‘ \textquoteleft{} ’ \textquoteright{} “ \textquotedblleft{} ” \textquotedblright{} '
    r"* {*} [ {[} ] {]} < $<$ > $>$ – -- — --- … \ldots{} − $-$ ≥ $\geq$ ≤ $\leq$ ≠ $\neq$ ≈ $\approx$ ± $\pm$ "
    r"× $\times$ · $\cdot$ → $\rightarrow$ ↑ $\uparrow$ ↓ $\downarrow$ ∞ $\infty$ √ $\surd$ ′ $'$"
)
_NAMED = _NAMES.split()
_SIGNS = {
    **{char: "\\" + char for char in "&%$#_{}"},
    **dict(zip(_NAMED[::2], _NAMED[1::2], strict=True)),
    **{char: _greek(char) for char in _GREEK},
}
"""`[` and `*` would be arguments of the line end before them; `"` is a shorthand in some languages of babel."""
_SPECIAL = re.compile("|".join(["([-',])(?=\\1)", *map(re.escape, _SIGNS)]))
_MINUS = re.compile(r"(?<![\w.])-(?=\.?\d)")
_LATIN = 0x180
_BEYOND = "„‚€•™†‡‰‹›‐‑№"
_NOT_IN_T1 = "ĦħĸĿŀŉŦŧſ"
"""In the encoding T1 pdfLaTeX sets the letters below this code point, but for some, and a few beyond it."""
_PARTS = re.compile(r"[^._/ -]{1,12}[._/ -]*|[._/ -]+")


def escaped(text: str) -> str:
    """Text that LaTeX prints as it is; two hyphens, commas or apostrophes stay two."""
    return _SPECIAL.sub(lambda match: _SIGNS.get(match[0], match[0] + "{}"), text)


@dataclass(frozen=True, slots=True)
class Texts:
    """The plain texts of a table. right: which columns are numbers, set to the right; bold: which cells are bold."""

    heads: Sequence[str]
    rows: Sequence[Sequence[str]]
    right: Sequence[bool]
    bold: Sequence[Sequence[bool]]


def latex(name: str, title: str, texts: Texts, note: str, width: str = "") -> str:
    """A table with `booktabs` rules, its label `tab:NAME`. width: a key of `FLOATS`; "": of a page of one column."""
    (size, line, page, turned), shares = _layout(texts, width)
    wider = [[share * factor for share in shares] for factor in (_SHRUNK if size else (1,))]
    fitting = (broad for broad in wider if _lines(texts, broad, line) + 4 <= page)
    shares = next(fitting, shares)
    long = _lines(texts, shares, line) + 4 > page
    if long and width:
        long = False  # what is too long for the page says so
        note = f"{note} More rows than a page has room for."
    caption = (
        f"\\caption{{{escaped(title)}}}\n\\label{{tab:{re.sub(r'[^A-Za-z0-9_.:-]', '-', name)}}}"
    )
    form = "".join(
        "r"
        if right
        else f">{{\\raggedright\\arraybackslash}}p{{{share:.2f}\\linewidth}}"
        if share
        else "l"
        for right, share in zip(texts.right, shares, strict=True)
    )
    body = _ruled(texts, shares, caption if long else "")
    ragged = "\\raggedright" if width else ""  # a narrow line has few places to stretch
    noted = f"\\parbox{{\\linewidth}}{{\\footnotesize{ragged} {escaped(note)}}}"
    packages = ["booktabs", *(["array"] if any(shares) else [])]
    if long:
        packages += ["longtable", *(["pdflscape"] if turned else [])]
        parts = [
            "\\begin{landscape}" if turned else "\\begingroup",
            size,
            f"\\begin{{longtable}}{{{form}}}\n{body}\n\\end{{longtable}}",
            f"\\noindent{noted}" if note else "",
            "\\end{landscape}\n" if turned else "\\par\\endgroup\n",
        ]
    else:
        packages += [*(["graphicx"] if size else []), *(["rotating"] if turned else [])]
        place = "sidewaystable" if turned else "table*" if width == "page" else "table"
        box = (
            "\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%\n"
            if size
            else ""
        )
        parts = [
            f"\\begin{{{place}}}\n\\centering\n{caption}",
            size,
            f"{box}\\begin{{tabular}}{{{form}}}\n{body}\n\\end{{tabular}}{'}' if box else ''}",
            f"\\par\\smallskip\n{noted}" if note else "",
            f"\\end{{{place}}}\n",
        ]
    words = "".join([title, note, *texts.heads, *(cell for row in texts.rows for cell in row)])
    return "\n".join([*_needs(packages, words, long), *(part for part in parts if part)])


def _ruled(texts: Texts, shares: Sequence[float], caption: str) -> str:
    """Heads and rows between their rules; with a caption the parts of a longtable."""
    heads = [
        _head(*column) for column in zip(texts.heads, _widths(texts), texts.right, strict=True)
    ]
    rows = [
        [_cell(*cell) for cell in zip(row, texts.right, shares, bold, strict=True)]
        for row, bold in zip(texts.rows, texts.bold, strict=True)
    ]
    head, *lines = (f"{' & '.join(cells)} \\\\" for cells in [heads, *rows])
    top = f"\\toprule\n{head}\n\\midrule"
    if not caption:
        return "\n".join([top, *lines, "\\bottomrule"])
    return "\n".join(
        [
            f"{caption} \\\\",
            top,
            "\\endfirsthead",
            top,
            "\\endhead",
            "\\bottomrule",
            "\\endfoot",
            *lines,
        ]
    )


def _lines(texts: Texts, shares: Sequence[float], line: int) -> float:
    """The lines of the rows. shares: of the line, for columns that are broken; line: its characters."""
    return sum(
        max(
            [
                1.0,
                *(
                    1.1 * len(row[place]) / (share * line)
                    for place, share in enumerate(shares)
                    if share
                ),
            ]
        )
        for row in texts.rows
    )


def _widths(texts: Texts) -> list[int]:
    """Characters of the longest cell of each column, or of the longest part of its head."""
    return [
        max([1, *(len(row[i]) for row in texts.rows), *map(len, _PARTS.findall(head))])
        for i, head in enumerate(texts.heads)
    ]


def fits(texts: Texts, width: str = "") -> bool:
    """Whether the table fits the width of a turned page in the smallest type, or its float."""
    layout = FLOATS[width] if width else _LAYOUTS[-1]
    free, broken = _room(layout, texts, _widths(texts))
    return free >= 0.7 * _NARROW * sum(broken)


def _widest(layout: tuple[str, int, int, bool]) -> int:
    """From how many characters on a column is broken."""
    return _NARROW if layout[3] or layout in (_UPRIGHT, *FLOATS.values()) else _BROKEN


def _room(
    layout: tuple[str, int, int, bool], texts: Texts, widths: Sequence[int]
) -> tuple[int, list[bool]]:
    """The characters that are left for the columns that are broken, and which these are."""
    widest = _widest(layout)
    broken = [
        not right and width > widest for width, right in zip(widths, texts.right, strict=True)
    ]
    fixed = sum(width for width, breaks in zip(widths, broken, strict=True) if not breaks)
    return layout[1] - fixed - _GAP * len(widths), broken


def _layout(texts: Texts, width: str = "") -> tuple[tuple[str, int, int, bool], list[float]]:
    """The first layout that fits, else the last; the share of the line of each column that is broken, else 0."""
    widths = _widths(texts)
    layouts = [*_LAYOUTS[:2], _UPRIGHT, _LAYOUTS[2]]
    least = 0.7
    if width:
        layouts = [FLOATS[width]]
        least = 0.85
    for layout in layouts:
        free, broken = _room(layout, texts, widths)
        shares = _shares(layout, free, broken, widths, least)
        needed = 0.7 * _widest(layout) * sum(broken)
        if layout == _UPRIGHT:
            needed -= (_LIGHT - 1) * layout[1]
            if _lines(texts, shares, layout[1]) + 4 > layout[2]:
                continue
        if free >= needed:
            break
    return layout, shares


def _shares(
    layout: tuple[str, int, int, bool],
    free: int,
    broken: Sequence[bool],
    widths: Sequence[int],
    least: float,
) -> list[float]:
    """Of the line, for the columns that are broken. least: of `_NARROW`; what a box shrinks anyway has room for a word
    more."""
    share = max(free / max(sum(broken), 1), least * _NARROW)
    return [
        min(share, width) / layout[1] if breaks else 0
        for width, breaks in zip(widths, broken, strict=True)
    ]


def _head(text: str, width: int, right: bool) -> str:
    """A head, in lines no broader than the cells or the longest part of a word."""
    lines = [""]
    for part in _PARTS.findall(text.replace(" - ", " − ") if right else text):
        if lines[-1] and len((lines[-1] + part).rstrip()) > max(width, 8):
            lines.append("")
        lines[-1] += part
    stacked = " \\\\ ".join(escaped(line.rstrip()) for line in lines)
    return f"\\shortstack[{'r' if right else 'l'}]{{{stacked}}}" if len(lines) > 1 else stacked


def _cell(text: str, right: bool, share: float, bold: bool) -> str:
    """An escaped cell; in a broken column long words may be broken after a dot, an underscore, a slash or a hyphen."""
    if right:
        text = _MINUS.sub("−", text)
    escaped_text = " ".join(
        "\\allowbreak{}".join(map(escaped, _PARTS.findall(word)))
        if share and len(word) > 14
        else escaped(word)
        for word in text.split(" ")
    )
    return f"\\textbf{{{escaped_text}}}" if bold else escaped_text


def _needs(packages: Sequence[str], texts: str, long: bool) -> list[str]:
    """Comments: packages, encodings, other engines, and where a long table cannot be."""
    comments = [f"% Needs \\usepackage{{{','.join(packages)}}}."]
    other_signs = {char for char in texts if char not in _SIGNS and not char.isascii()}
    foreign = sorted(
        {
            _script(c)
            for c in other_signs
            if c in _NOT_IN_T1 or (ord(c) >= _LATIN and c not in _BEYOND)
        }
    )
    if foreign:
        comments[0] += (
            f" Compile with LuaLaTeX or XeLaTeX, and fonts that have: {', '.join(foreign)}."
        )
    elif other_signs or '"' in texts:
        comments[0] += " With pdfLaTeX also \\usepackage[T1]{fontenc}."
    if long:
        comments.append(
            "% More than a page: a longtable, which needs one column of text (in two columns: \\onecolumn)."
        )
    return comments


def _script(char: str) -> str:
    """What a font must have for it: the script of a letter, else `symbols`."""
    if not unicodedata.category(char).startswith(("L", "M")):
        return "symbols"
    first = unicodedata.name(char, "OTHER").split()[0]
    return first if first == "CJK" else first.capitalize()
