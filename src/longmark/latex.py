"""A table of texts as LaTeX: escaped, no wider than a page, with a first line that says what it needs to compile."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence

MANY = 8
"""A table of more columns than these is made to fit the line, whatever it holds."""
_WORDS = 40
"""Characters; a column of texts with a longer cell is broken into lines."""
_LINE, _BETWEEN = 75, 3
"""Characters of a line of text, and those that the space between two columns takes; estimates at 10 pt."""
_NARROWEST, _SCALED = 0.25, 0.5
"""Of the line, for a column that is broken into lines: no less, and how much in a table that is scaled down anyhow."""
_PAGE = 45
"""Rows that fit a page, about."""

_SIGNS = {
    **{char: "\\" + char for char in "&%$#_{}"},
    "\\": "\\textbackslash{}",
    "~": "\\textasciitilde{}",
    "^": "\\textasciicircum{}",
    "`": "\\textasciigrave{}",
    "|": "\\textbar{}",
    '"': "\\symbol{34}",
    "*": "{*}",
    "[": "{[}",
    "]": "{]}",
    "<": "$<$",
    ">": "$>$",
    "–": "--",
    "—": "---",
    "…": "\\ldots{}",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
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
}
"""`[` and `*` would be arguments of the line end before them; `"` is a shorthand in some languages of babel."""
_MINUS = re.compile(r"(?<![\w.])-(?=\.?\d)")
_LATIN = 0x180
"""pdfLaTeX sets the letters below this code point by itself."""


_SPECIAL = re.compile("|".join(["-(?=-)", *map(re.escape, _SIGNS)]))


def escaped(text: str) -> str:
    """Text that LaTeX prints as it is; two hyphens stay two."""
    return _SPECIAL.sub(lambda found: _SIGNS.get(found[0], "-{}"), text)


def latex(
    name: str, title: str, heads: Sequence[str], rows: Sequence[Sequence[str]], right: Sequence[bool], note: str
) -> str:
    """A `table` float with `booktabs` rules, its label `tab:NAME`. All texts are plain; right: which columns are
    numbers, set to the right."""
    widths = [max([len(head), *(len(row[i]) for row in rows)]) for i, head in enumerate(heads)]
    broken = [not to_right and width > _WORDS for width, to_right in zip(widths, right, strict=True)]
    taken = sum(_BETWEEN if long else width + _BETWEEN for width, long in zip(widths, broken, strict=True)) / _LINE
    free = (0.97 - taken) / max(sum(broken), 1)
    fitted = len(heads) > MANY or taken > 1 or (any(broken) and free < _NARROWEST)
    share = max(free, _SCALED) if fitted else free
    form = "".join(
        "r" if to_right else f">{{\\raggedright\\arraybackslash}}p{{{share:.2f}\\linewidth}}" if long else "l"
        for to_right, long in zip(right, broken, strict=True)
    )
    body = "".join(
        " & ".join(
            escaped(_MINUS.sub("−", cell) if to_right else cell) for cell, to_right in zip(row, right, strict=True)
        )
        + " \\\\\n"
        for row in rows
    )
    packages = ["booktabs", *(["array"] if any(broken) else []), *(["graphicx"] if fitted else [])]
    lines = [
        *_needs(packages, "".join([title, note, *heads, *(cell for row in rows for cell in row)]), len(rows), fitted),
        "\\begin{table}\n\\centering",
        *(["\\small"] if fitted or any(broken) else []),
        f"\\caption{{{escaped(title)}}}\n\\label{{tab:{re.sub(r'[^A-Za-z0-9_.:-]', '-', name)}}}",
        *(["\\resizebox{\\ifdim\\width>\\linewidth\\linewidth\\else\\width\\fi}{!}{%"] if fitted else []),
        f"\\begin{{tabular}}{{{form}}}\n\\toprule",
        f"{' & '.join(map(escaped, heads))} \\\\\n\\midrule\n{body}\\bottomrule",
        "\\end{tabular}" + ("}" if fitted else ""),
        *([f"\\par\\smallskip\n\\parbox{{\\linewidth}}{{\\footnotesize {escaped(note)}}}"] if note else []),
        "\\end{table}\n",
    ]
    return "\n".join(lines)


def _needs(packages: Sequence[str], texts: str, rows: int, fitted: bool) -> list[str]:
    """Comments: packages, other engines, and what to do with a table that is broad or long."""
    said = [f"% Needs \\usepackage{{{','.join(packages)}}}."]
    foreign = sorted({_script(char) for char in set(texts) if ord(char) >= _LATIN and char not in _SIGNS})
    if foreign:
        said[0] += f" Compile with LuaLaTeX or XeLaTeX, and fonts that have: {', '.join(foreign)}."
    if fitted:
        said.append(
            "% Broad: scaled down to the line. To turn it round instead: \\usepackage{rotating}, sidewaystable."
        )
    if rows > _PAGE:
        said.append(f"% {rows:,} rows are more than a page holds: leave some out, or set them with longtable.")
    return said


def _script(char: str) -> str:
    """What a font must have for it: the script of a letter, else `symbols`."""
    if not unicodedata.category(char).startswith(("L", "M")):
        return "symbols"
    first = unicodedata.name(char, "OTHER").split()[0]
    return first if first == "CJK" else first.capitalize()
