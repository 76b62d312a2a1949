"""A table of texts as LaTeX: escaped, laid out to fit its page, with first lines that say what it needs to compile.

Layouts are tried from the plainest on: heads in one line, heads in several, smaller type, names broken at their dots
and hyphens, the page turned round. What fills more than a page is a `longtable`. Widths are estimates for Computer
Modern on the page of `article` (345 pt by 550 pt); where they are too small, a box shrinks a table that is not long.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

Texts = Sequence[str]


@dataclass(frozen=True, slots=True)
class _Type:
    """A size of type. line, gap: the width of the page, and of the space between two columns, in digits; lines: that a
    page holds beside a caption and a note; turned: whether the page lies on its side."""

    size: str
    line: float
    gap: float
    lines: int
    turned: bool = False


_NORMAL = _Type("", 67, 2.4, 39)
_SMALL = _Type("\\small", 72, 2.6, 42)
_TIGHT = _Type("\\footnotesize\\setlength{\\tabcolsep}{4pt}", 78, 1.9, 49)
_TURNED = _Type("\\footnotesize\\setlength{\\tabcolsep}{4pt}", 123, 1.9, 27, True)
_FINE = _Type("\\scriptsize\\setlength{\\tabcolsep}{3pt}", 125, 1.5, 33, True)
_LAST = _Type("\\tiny\\setlength{\\tabcolsep}{2pt}", 147, 1.2, 44, True)
_SENTENCES, _NAMES = 40, 20
"""Digits; a column of texts with a longer cell is broken into lines: sentences always, names where room is short."""
_LEAST = {_SENTENCES: 30, _NAMES: 14}
"""Digits that a column that is broken keeps."""
_TRIED = (
    (_NORMAL, False, _SENTENCES),
    (_NORMAL, True, _SENTENCES),
    (_SMALL, True, _SENTENCES),
    (_TIGHT, True, _SENTENCES),
    (_TIGHT, True, _NAMES),
    (_TURNED, True, _SENTENCES),
    (_TURNED, True, _NAMES),
    (_FINE, True, _NAMES),
    (_LAST, True, _NAMES),
)
"""Type, whether heads are broken into lines, and from which width on cells are."""

_GREEK = "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ"


def _greek(char: str) -> str:
    name = unicodedata.name(char).split()[-1].replace("LAMDA", "LAMBDA")
    return f"$\\{name.capitalize() if char.isupper() else name.lower()}$"


_SIGNS = {
    **{char: "\\" + char for char in "&%$#_{}"},
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "`": "\\textasciigrave{}",
    "|": "\\textbar{}",
    '"': "\\textquotedbl{}",
    "*": "{*}",
    "[": "{[}",
    "]": "{]}",
    "<": "$<$",
    ">": "$>$",
    "–": "--",
    "—": "---",
    "…": "\\ldots{}",
    "‘": "\\textquoteleft{}",
    "’": "\\textquoteright{}",
    "“": "\\textquotedblleft{}",
    "”": "\\textquotedblright{}",
    "−": "$-$",
    "≥": "$\\geq$",
    "≤": "$\\leq$",
    "≠": "$\\neq$",
    "≈": "$\\approx$",
    "±": "$\\pm$",
    "×": "$\\times$",
    "·": "$\\cdot$",
    "→": "$\\rightarrow$",
    "↑": "$\\uparrow$",
    "↓": "$\\downarrow$",
    "∞": "$\\infty$",
    "√": "$\\surd$",
    "′": "$'$",
    **{char: _greek(char) for char in _GREEK},
}
"""`[` and `*` would be arguments of the line end before them; `"` is a shorthand in some languages of babel."""
_SPECIAL = re.compile("|".join(["([-',])(?=\\1)", *map(re.escape, _SIGNS)]))
_MINUS = re.compile(r"(?<![\w.])-(?=\.?\d)")
_LATIN, _BEYOND, _LACKING = 0x180, "„‚€•™†‡‰‹›‐‑№", "ĦħĸĿŀŉŦŧſ"
"""In the encoding T1 pdfLaTeX sets the letters below this code point, but for those it lacks, and some beyond it."""
_PARTS = re.compile(r"[^._/-]{1,12}[._/-]*|[._/-]+")


def escaped(text: str) -> str:
    """Text that LaTeX prints as it is; two hyphens, commas or apostrophes stay two."""
    return _SPECIAL.sub(lambda found: _SIGNS.get(found[0], found[0] + "{}"), text)


def latex(name: str, title: str, heads: Texts, rows: Sequence[Texts], right: Sequence[bool], note: str) -> str:
    """A table with `booktabs` rules, its label `tab:NAME`. All texts are plain; right: which columns are numbers, set
    to the right."""
    heads = [head.replace(" - ", " − ") if to_right else head for head, to_right in zip(heads, right, strict=True)]
    rows = [
        [_MINUS.sub("−", cell) if to_right else cell for cell, to_right in zip(row, right, strict=True)] for row in rows
    ]
    layout = _layout(heads, rows, right)
    packages = ["booktabs", *(["array"] if any(layout.shares) else [])]
    form = "".join(
        "r" if to_right else f">{{\\raggedright\\arraybackslash}}p{{{share:.2f}\\linewidth}}" if share else "l"
        for to_right, share in zip(right, layout.shares, strict=True)
    )
    head = f"\\toprule\n{''.join(_line(line, layout.shares) for line in layout.heads)}\\midrule\n"
    body = "".join(_line(row, layout.shares) for row in rows)
    caption = f"\\caption{{{escaped(title)}}}\n\\label{{tab:{re.sub(r'[^A-Za-z0-9_.:-]', '-', name)}}}"
    noted = f"\\parbox{{\\linewidth}}{{\\footnotesize {escaped(note)}}}"
    type_ = layout.type
    if layout.long:
        packages += ["longtable", *(["pdflscape"] if type_.turned else [])]
        lines = [
            "\\begin{landscape}" if type_.turned else "\\begingroup",
            *([type_.size] if type_.size else []),
            f"\\begin{{longtable}}{{{form}}}",
            f"{caption} \\\\\n{head}\\endfirsthead\n{head}\\endhead\n\\bottomrule\n\\endfoot\n{body}\\end{{longtable}}",
            *([f"\\noindent{noted}"] if note else []),
            "\\end{landscape}\n" if type_.turned else "\\par\\endgroup\n",
        ]
    else:
        packages += [*(["graphicx"] if type_.size else []), *(["rotating"] if type_.turned else [])]
        place = "sidewaystable" if type_.turned else "table"
        lines = [
            f"\\begin{{{place}}}\n\\centering",
            caption,
            *([type_.size] if type_.size else []),
            *(["\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%"] if type_.size else []),
            f"\\begin{{tabular}}{{{form}}}\n{head}{body}\\bottomrule\n\\end{{tabular}}" + ("}" if type_.size else ""),
            *([f"\\par\\smallskip\n{noted}"] if note else []),
            f"\\end{{{place}}}\n",
        ]
    texts = "".join([title, note, *heads, *(cell for row in rows for cell in row)])
    return "\n".join([*_needs(packages, texts, layout.long), *lines])


@dataclass(frozen=True, slots=True)
class _Layout:
    """heads: in lines; shares: of the line, for columns that are broken, else 0; long: more than a page."""

    type: _Type
    heads: list[list[str]]
    shares: list[float]
    long: bool


def _layout(heads: Texts, rows: Sequence[Texts], right: Sequence[bool]) -> _Layout:
    """The first that fits, else the last."""
    cells = [max((_width(row[i]) for row in rows), default=0.0) for i in range(len(heads))]
    for type_, stacked, longest in _TRIED:
        broken = [not to_right and width > longest for width, to_right in zip(cells, right, strict=True)]
        stacks = [_stack(head, width) if stacked else [head] for head, width in zip(heads, cells, strict=True)]
        needed = [max(width, *map(_width, stack)) for width, stack in zip(cells, stacks, strict=True)]
        wanted = [width if breaks else 0.0 for width, breaks in zip(needed, broken, strict=True)]
        free = type_.line - type_.gap * len(heads) - sum(needed) + sum(wanted)
        least = sum(min(width, _LEAST[_SENTENCES if width > 3 * _SENTENCES else longest]) for width in wanted)
        if free >= least:
            break
    given = _shared(wanted, max(free, least))
    lines = sum(max([1, *(math.ceil(1.1 * _width(row[i]) / w) for i, w in enumerate(given) if w)]) for row in rows)
    depth = max(map(len, stacks), default=1)
    upright = [["" for _ in range(depth - len(stack))] + stack for stack in stacks]
    return _Layout(
        type_,
        [[stack[i] for stack in upright] for i in range(depth)],
        [width / type_.line for width in given],
        lines + depth > type_.lines,
    )


def _shared(wanted: Sequence[float], free: float) -> list[float]:
    """What each column that is broken gets: as much as the others, or what it wants if that is less."""
    given = [0.0] * len(wanted)
    for left, i in enumerate(sorted((i for i, width in enumerate(wanted) if width), key=lambda i: wanted[i])):
        given[i] = min(wanted[i], (free - sum(given)) / (sum(map(bool, wanted)) - left))
    return given


def _width(text: str) -> float:
    """In digits, about."""
    return sum(
        2 if unicodedata.east_asian_width(char) in "WF" else 1.45 if char.isupper() or char in "mwMW%@—−" else
        0.6 if char in "fijlrt.,:;'()[]|! " else 1
        for char in text
    )  # fmt: skip


def _stack(head: str, width: float) -> list[str]:
    """A head in lines, none broader than the cells or the longest word, or part of a long name."""
    parts = [_PARTS.findall(word) if len(word) > _NAMES else [word] for word in head.split()]
    broadest = max(width, *(_width(part) for word in parts for part in word), 1)
    lines = [""]
    for word in parts:
        for i, part in enumerate(word):
            joined = f"{lines[-1]} {part}" if lines[-1] and not i else lines[-1] + part
            if lines[-1] and _width(joined) > broadest:
                lines.append(part)
            else:
                lines[-1] = joined
    return lines


def _line(cells: Texts, shares: Sequence[float]) -> str:
    said = [_breakable(cell) if share else escaped(cell) for cell, share in zip(cells, shares, strict=True)]
    return " & ".join(said) + " \\\\\n"


def _breakable(text: str) -> str:
    """Escaped; long words may go on in the next line after a dot, a low line, a slash or a hyphen, or anywhere."""
    words = (
        "\\allowbreak{}".join(map(escaped, _PARTS.findall(word))) if len(word) > _LEAST[_NAMES] else escaped(word)
        for word in text.split(" ")
    )
    return " ".join(words)


def _needs(packages: Texts, texts: str, long: bool) -> list[str]:
    """Comments: packages, encodings, other engines, and where a long table cannot stand."""
    said = [f"% Needs \\usepackage{{{','.join(packages)}}}."]
    others = {char for char in texts if char not in _SIGNS and not char.isascii()}
    foreign = sorted({_script(c) for c in others if c in _LACKING or (ord(c) >= _LATIN and c not in _BEYOND)})
    if foreign:
        said[0] += f" Compile with LuaLaTeX or XeLaTeX, and fonts that have: {', '.join(foreign)}."
    elif others or '"' in texts:
        said[0] += " With pdfLaTeX also \\usepackage[T1]{fontenc}."
    if long:
        said.append("% More than a page: a longtable, which needs one column of text (in two columns: \\onecolumn).")
    return said


def _script(char: str) -> str:
    """What a font must have for it: the script of a letter, else `symbols`."""
    if not unicodedata.category(char).startswith(("L", "M")):
        return "symbols"
    first = unicodedata.name(char, "OTHER").split()[0]
    return first if first == "CJK" else first.capitalize()
