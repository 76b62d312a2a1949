"""The numbers of LaTeX's lists, as LaTeX, enumerate, enumitem and paralist print them."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from longmark.contrib.make.rag.list_numbers import numeral, whole_number

NUMBERED = frozenset({"enumerate", "compactenum", "inparaenum", "asparaenum", "enumerate*"})
OTHERS = frozenset({"itemize", "description", "compactitem", "compactdesc", "inparaitem", "list"})
FORMS = {
    "arabic": "decimal",
    "roman": "lower-roman",
    "Roman": "upper-roman",
    "alph": "lower-alpha",
    "Alph": "upper-alpha",
}
_COUNTERS = ("enumi", "enumii", "enumiii", "enumiv")
_USUAL = ("\\arabic*.", "(\\alph*)", "\\roman*.", "\\Alph*.")  # by level
_OF_SIGN = {"1": "arabic", "a": "alph", "A": "Alph", "i": "roman", "I": "Roman"}
_SIGN = re.compile(r"\\[a-zA-Z]+|\{[^{}]*\}|[1aAiI]")
_NUMBER = re.compile(r"\\(arabic|roman|Roman|alph|Alph)(?:\*|\s*\{enum(?:i{1,3}|iv)\})")
_KEY = re.compile(
    r"(?:^|,)\s*(label|start|resume\*?|ref)\s*(?:=\s*((?:\{[^{}]*\}|[^,{}])*)|(?=,|$))"
)
_KEYS_ONLY = re.compile(r"=|^\s*(?:no(?:item)?sep|resume|wide|leftmargin|<)")


@dataclass
class _OpenList:
    """A list that has begun. label: with the place of its number; None: it has no numbers."""

    label: str | None
    number: int = 0


@dataclass
class LatexLists:
    """Counts the items of lists, also in each other."""

    _open: list[_OpenList] = field(default_factory=list)
    _last: dict[int, int] = field(
        default_factory=dict
    )  # level -> the last number of a list that ended

    def begin(self, name: str, option: str | None) -> None:
        """A list with its option in brackets."""
        if name not in NUMBERED:
            self._open.append(_OpenList(None))
            return
        level = self._level()
        numbered = _OpenList(_USUAL[min(level, len(_USUAL) - 1)])
        option = option or ""
        if _KEYS_ONLY.search(option):
            for key, text in _KEY.findall(option):
                if key == "label":
                    numbered.label = _without_braces(text)
                elif key == "start":
                    start = whole_number(text)
                    numbered.number = 0 if start is None else start - 1
                elif key.startswith("resume"):
                    numbered.number = self._last.get(level, 0)
        elif option:
            numbered.label = _SIGN.sub(_FirstSign(), option)
        self._open.append(numbered)

    def end(self) -> None:
        if self._open:
            ended = self._open.pop()
            if ended.label is not None:
                self._last[self._level()] = ended.number

    def next_label(self, own_form: bool = False) -> str:
        """The source of the next item's number; empty if it has none. own_form: the document defines how it looks."""
        current = self._open[-1] if self._open else None
        if current is None or current.label is None:
            return ""
        current.number += 1
        if own_form and current.label in _USUAL:
            return f"\\label{_COUNTERS[min(self._level(), 4) - 1]} "
        return _NUMBER.sub(lambda match: numeral(current.number, FORMS[match[1]]), current.label)

    def number_of(self, counter: str) -> int | None:
        """The number of the innermost list at the level of a counter, as `enumi`; None for another counter."""
        numbered = self._numbered()
        if counter not in _COUNTERS or _COUNTERS.index(counter) >= len(numbered):
            return None
        return numbered[_COUNTERS.index(counter)].number

    @property
    def counter(self) -> str:
        """The counter of the innermost list with numbers."""
        return _COUNTERS[min(max(self._level(), 1), len(_COUNTERS)) - 1]

    def set(self, counter: str, number: str, is_added: bool) -> None:
        """What `\\setcounter` or `\\addtocounter` says."""
        value = whole_number(number)
        if value is None or counter not in _COUNTERS:
            return
        level = _COUNTERS.index(counter)
        numbered = self._numbered()
        if level < len(numbered):
            numbered[level].number = value + numbered[level].number * is_added

    def _numbered(self) -> list[_OpenList]:
        """The open lists with numbers, the outermost first."""
        return [entry for entry in self._open if entry.label is not None]

    def _level(self) -> int:
        """How many lists with numbers are open."""
        return len(self._numbered())


class _FirstSign:
    """Puts a number in place of the first sign of a template such as `(a)`."""

    def __init__(self) -> None:
        self._is_done = False

    def __call__(self, match: re.Match[str]) -> str:
        sign = match[0]
        if sign not in _OF_SIGN or self._is_done:
            return sign
        self._is_done = True
        return f"\\{_OF_SIGN[sign]}*"


def _without_braces(text: str) -> str:
    text = text.strip()
    return text[1:-1] if text.startswith("{") and text.endswith("}") else text
