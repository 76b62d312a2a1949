"""A formula in MathML as one line of text: (a+b)/c, x², √(2), v_max."""

from __future__ import annotations

from longmark.text.raised import grouped, lowered, power

_DEPTH = 64  # elements in each other whose structure is written; what is in deeper ones follows each other
_NOT_SHOWN = frozenset({"annotation", "annotation-xml", "mphantom"})
_RELATIONS = frozenset("=≠<>≤≥≈≡∼∝→←↔⇒⇔∈∉⊂⊆")
_SLOTS = frozenset(
    {"mfrac", "mroot", "msup", "msub", "msubsup", "munder", "mover", "munderover", "mtr", "mfenced"}
)
"""Elements whose children are not written one behind the other."""
_TIMES = "\u2062"
_UNSEEN = {
    "\u2061": " ",
    "\u2062": "",
    "\u2063": ",",
    "\u2064": "+",
}  # applied to, times, and, plus


class Formula:
    """Collects a formula as a parser tells of its elements. alternative: its text where no element has any."""

    def __init__(self, alternative: str = "") -> None:
        self._alternative = alternative
        self._open: list[tuple[str, list[str]]] = [
            ("mrow", [])
        ]  # elements that have not ended, what they have so far
        self._not_shown = self._deeper = 0
        self._times: list[str] | None = None  # the parts that a times without a sign ends

    def start(self, tag: str) -> None:
        if self._not_shown or tag in _NOT_SHOWN:
            self._not_shown += 1
        elif len(self._open) >= _DEPTH:
            self._deeper += 1
        else:
            self._open.append((tag, []))

    def end(self) -> None:
        if self._not_shown:
            self._not_shown -= 1
        elif self._deeper:
            self._deeper -= 1
        elif len(self._open) > 1:
            tag, parts = self._open.pop()
            self._append(tag, _written(tag, parts))
            siblings = self._open[-1][1]
            if tag == "mo" and parts == [_TIMES]:
                self._times = siblings
            elif self._times is siblings:
                self._times = None

    def _append(self, tag: str, written: str) -> None:
        """Adds an element to the one around it; digits of two numbers that follow each other stay two numbers."""
        around, siblings = self._open[-1]
        before = "".join(siblings)
        if around not in _SLOTS and before[-1:].isdecimal() and written[:1].isdecimal():
            if self._times is siblings:
                written = f"·{written}"
            elif tag == "mfrac":  # 2½
                written = f" {written}"
        siblings.append(written)

    def data(self, text: str) -> None:
        if not self._not_shown and text.strip():
            self._open[-1][1].append(" ".join(text.split()))

    def text(self) -> str:
        while len(self._open) > 1:
            self._not_shown = self._deeper = 0
            self.end()
        return " ".join((_written("mrow", self._open[0][1]) or self._alternative).split())


def _written(tag: str, parts: list[str]) -> str:
    """An element by what its children are."""
    first, second, third = (*parts, "", "", "")[:3]
    if tag == "mfrac":
        return f"{grouped(first)}/{grouped(second)}"
    if tag == "msqrt":
        return f"√({''.join(parts)})"
    if tag == "mroot":
        return f"{grouped(first)}^(1/{second})"
    if tag == "msup":
        return grouped(first) + power(second)
    if tag in ("msub", "munder"):
        return first + lowered(second)
    if tag in ("msubsup", "munderover"):
        return first + lowered(second) + power(third)
    if tag == "mover":
        return first + (power(second) if second.isalnum() else second)
    if tag in ("mtr", "mfenced"):
        return f"({', '.join(parts)})"
    if tag == "mspace":
        return " "
    text = "".join(parts)
    if tag == "mo":
        return f" {text} " if text in _RELATIONS else _UNSEEN.get(text, text)
    return f" {text} " if tag == "mtext" else text
