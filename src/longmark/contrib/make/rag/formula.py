"""A formula in MathML as one line of text: (a+b)/c, x², √(2), v_max, x̄, ¹⁴₆C, (n choose k)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest

from longmark.text.raised import grouped, lowered, power

_DEPTH = 64  # elements in each other whose structure is written; what is in deeper ones follows each other
_NOT_SHOWN = frozenset({"annotation", "annotation-xml", "mphantom"})
_STRUCK = frozenset(
    {"updiagonalstrike", "downdiagonalstrike", "verticalstrike", "horizontalstrike"}
)
"""Notations of `menclose` that strike its content out."""
_RELATIONS = frozenset("=≠<>≤≥≈≡∼∝→←↔⇒⇔∈∉⊂⊆")
_SLOTS = frozenset(
    {
        "mfrac",
        "mroot",
        "msup",
        "msub",
        "msubsup",
        "munder",
        "mover",
        "munderover",
        "mmultiscripts",
        "mtable",
        "mtr",
        "mfenced",
    }
)
"""Elements whose children are not written one behind the other."""
_ROWS = frozenset({"mrow", "mstyle", "mpadded", "semantics"})
_TIMES = "\u2062"
_UNSEEN = {
    "\u2061": " ",
    "\u2062": "",
    "\u2063": ",",
    "\u2064": "+",
}  # applied to, times, and, plus
_SCRIPT = re.compile("[⁰¹²³⁴-⁻ⁿ₀-₋^_]")
_NO_LINE = re.compile(r"0(?:\.0*)?(?:[a-z%]+)?")

# A mark above a letter -> the character that Unicode joins with it, and its name where it is above several.
_ABOVE = {
    **dict.fromkeys("¯‾ˉ\u0304\u0305_", ("\u0304", "bar")),
    **dict.fromkeys("^ˆ\u0302", ("\u0302", "hat")),
    **dict.fromkeys("~˜∼\u0303", ("\u0303", "tilde")),
    **dict.fromkeys("→⃗⇀\u20d7", ("\u20d7", "vec")),
    **dict.fromkeys(".˙\u0307", ("\u0307", "dot")),
    **dict.fromkeys("¨\u0308", ("\u0308", "ddot")),
    **dict.fromkeys("ˇ\u030c", ("\u030c", "check")),
    **dict.fromkeys("˘\u0306", ("\u0306", "breve")),
}
_OVERLINE = "\u0305"
_BRACES = frozenset("⏞⏟⏜⏝⎴⎵︷︸")  # above or below: they only group


@dataclass
class _OpenElement:
    """An element that has not ended, and what it has so far."""

    tag: str
    attributes: Mapping[str, str]
    parts: list[str] = field(default_factory=list)


class Formula:
    """Collects a formula as a parser tells of its elements. alternative: its text where no element has any; struck: how
    many parts of it are struck out, and not written."""

    def __init__(self, alternative: str = "") -> None:
        self.struck = 0
        self._alternative = alternative
        self._open = [_OpenElement("mrow", {})]
        self._not_shown = self._deeper = 0
        self._times: list[str] | None = None  # the parts that a times without a sign ends

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        if self._not_shown or tag in _NOT_SHOWN:
            self._not_shown += 1
        elif tag == "menclose" and not _STRUCK.isdisjoint(attributes.get("notation", "").split()):
            self._not_shown = 1
            self.struck += 1
        elif len(self._open) >= _DEPTH:
            self._deeper += 1
        else:
            self._open.append(_OpenElement(tag, attributes))

    def end(self) -> None:
        if self._not_shown:
            self._not_shown -= 1
        elif self._deeper:
            self._deeper -= 1
        elif len(self._open) > 1:
            element = self._open.pop()
            self._append(element.tag, self._written(element))
            siblings = self._open[-1].parts
            if element.tag == "mo" and element.parts == [_TIMES]:
                self._times = siblings
            elif self._times is siblings:
                self._times = None

    def _append(self, tag: str, written: str) -> None:
        """Adds an element to the one around it; digits of two numbers that follow each other stay two numbers, and
        what stands raised before a letter is no power of what is before it."""
        around = self._open[-1]
        if around.tag not in _SLOTS:
            if not written:
                return
            before = around.parts[-1][-1:] if around.parts else ""
            if before.isdecimal() and written[0].isdecimal():
                if self._times is around.parts:
                    written = f"·{written}"
                elif tag == "mfrac":  # 2½
                    written = f" {written}"
            elif before.isalnum() and tag != "mo" and _SCRIPT.match(written):  # 3 ¹⁴C
                written = f" {written}"
        around.parts.append(written)

    def data(self, text: str) -> None:
        if not self._not_shown and text.strip():
            self._open[-1].parts.append(" ".join(text.split()))

    def text(self) -> str:
        while len(self._open) > 1:
            self._not_shown = self._deeper = 0
            self.end()
        return " ".join(("".join(self._open[0].parts) or self._alternative).split())

    def _written(self, element: _OpenElement) -> str:
        if element.tag == "mfrac" and _NO_LINE.fullmatch(
            element.attributes.get("linethickness", "").strip()
        ):
            return self._stacked(*_slots(element.parts, 2))
        return _written(element)

    def _stacked(self, upper: str, lower: str) -> str:
        """Two terms above each other without a line: between round brackets, a binomial."""
        for around in reversed(self._open):
            if around.tag == "mfenced":
                in_brackets = not around.parts and around.attributes.get("open", "(") == "("
                return f"{upper} choose {lower}" if in_brackets else f"{upper}; {lower}"
            if around.parts or around.tag not in _ROWS:
                if around.parts and around.parts[-1] == "(":
                    return f"{upper} choose {lower}"
                break
        return f"({upper}; {lower})"


def _slots(parts: Sequence[str], count: int) -> list[str]:
    return [*parts, "", "", ""][:count]


def _written(element: _OpenElement) -> str:
    """An element by what its children are."""
    tag = element.tag
    parts = element.parts
    first, second, third = _slots(parts, 3)
    if tag == "mfrac":
        return f"{grouped(first)}/{grouped(second)}"
    if tag == "msqrt":
        return f"√({''.join(parts)})"
    if tag == "mroot":
        return f"{grouped(first)}^(1/{second})"
    if tag == "msup":
        return grouped(first) + power(second)
    if tag == "msub":
        return first + lowered(second)
    if tag == "munder":
        return _below(first, second)
    if tag == "msubsup":
        return first + lowered(second) + power(third)
    if tag == "munderover":
        return _above(_below(first, second), third)
    if tag == "mover":
        return _above(first, second)
    if tag == "mmultiscripts":
        return _with_scripts(parts)
    if tag == "mprescripts":
        return _PRESCRIPTS
    if tag == "mtr":
        return _row(parts)
    if tag == "mtable":
        return _table(parts)
    if tag == "mfenced":
        return _fenced(element)
    if tag == "mspace":
        return " "
    text = "".join(parts)
    if tag == "mo":
        return f" {text} " if text in _RELATIONS else _UNSEEN.get(text, text)
    return f" {text} " if tag == "mtext" else text


_PRESCRIPTS = "\0"  # in place of what parts the scripts behind from those before


def _with_scripts(parts: Sequence[str]) -> str:
    """A base with scripts behind and before it, as ¹⁴₆C."""
    base = parts[0] if parts else ""
    end = parts.index(_PRESCRIPTS) if _PRESCRIPTS in parts else len(parts)
    behind = "".join(lowered(below) + power(above) for below, above in _pairs(parts[1:end]))
    before = "".join(power(above) + lowered(below) for below, above in _pairs(parts[end + 1 :]))
    parted = " " if "^" in before or "_" in before else ""
    return before + parted + base + behind


def _pairs(scripts: Sequence[str]) -> Iterable[tuple[str, str]]:
    """Scripts below and above, in turn."""
    texts = [script.strip() for script in scripts]
    return zip_longest(texts[::2], texts[1::2], fillvalue="")


def _above(base: str, mark: str) -> str:
    """A base with what stands above it."""
    mark = mark.strip()
    if mark in _BRACES or not mark:
        return base
    if mark not in _ABOVE:
        return base + (mark if mark in _RELATIONS else power(mark))
    combining, name = _ABOVE[mark]
    if len(base) == 1 and not (base.isdecimal() and name == "bar"):
        return base + combining
    if name == "bar" and base.isdecimal():  # digits that are repeated
        return "".join(digit + _OVERLINE for digit in base)
    return f"{name}({base})" if base else mark


def _below(base: str, mark: str) -> str:
    """A base with what stands below it."""
    mark = mark.strip()
    if mark in _BRACES:
        return base
    if len(base) == 1 and mark in ("_", "¯", "\u0332", "\u0331", "‾"):
        return base + "\u0332"
    return base + lowered(mark)


def _row(cells: Sequence[str]) -> str:
    """A row of a matrix; the parts of an equation that is set in columns follow each other."""
    cells = [cell.strip() for cell in cells]
    if any(cell[:1] in _RELATIONS for cell in cells[1:] if cell):
        return " ".join(filter(None, cells))
    return cells[0] if len(cells) == 1 else f"({', '.join(cells)})"


def _table(rows: Sequence[str]) -> str:
    is_matrix = all(row.startswith("(") for row in rows)
    return ("" if is_matrix else "; ").join(rows)


def _fenced(element: _OpenElement) -> str:
    """Parts between brackets, with the signs that part them."""
    opening = element.attributes.get("open", "(").strip()
    closing = element.attributes.get("close", ")").strip()
    separators = "".join(element.attributes.get("separators", ",").split())
    text = element.parts[0] if element.parts else ""
    for place, part in enumerate(element.parts[1:]):
        separator = separators[min(place, len(separators) - 1)] if separators else ""
        text += f"{separator} {part}" if separator in (",", ";") else separator + part
    return f"{opening}{text}{closing}"
