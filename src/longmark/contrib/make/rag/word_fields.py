"""Fields of Word: which of their text is shown, the choices of forms, and equations as EQ writes them.

EQ is the form of equations, and of the readings of Japanese words, before Word 2007: `EQ \\f(1,2)` is 1/2. What is read of
it: fractions, roots, raised and lowered text, brackets, lists, sums and integrals; of several texts over each other
without a raised one, all.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from longmark.contrib.make.rag.list_numbers import whole_number
from longmark.contrib.make.rag.xml_tree import attribute, child, local_name
from longmark.text.raised import grouped, lowered, power

_DEEPEST = 20  # equations in each other
_EQUATION = re.compile(r"\s*EQ\b", re.IGNORECASE)
_OPTIONS = re.compile(
    r"\\\*\s*(?:\"[^\"]*\"|\w+)|\\(?:al|ac|ar|ad|fo|ba|to|bo|le|ri|in|(?:co|vs|hs|li)\d*)(?![a-z])",
    re.IGNORECASE,
)
_ELEMENT = re.compile(
    r"\\(up|do|su|pr|di|fc\\?.|vc\\?.|lc\\?.|rc\\?.|bc\\?.|[a-z])\s*(-?\d*)\s*", re.IGNORECASE
)
_PAIRS = {"(": ")", "[": "]", "{": "}", "<": ">"}


@dataclass
class _Field:
    """A field that has begun. in_result: what follows is shown."""

    choice: str = ""
    code: list[str] = field(default_factory=list)
    in_result: bool = False


class WordFields:
    """Knows which fields are open."""

    def __init__(self) -> None:
        self._open: list[_Field] = []

    @property
    def is_code(self) -> bool:
        """Whether what comes is part of a field's instruction, so that nobody sees it."""
        return any(not opened.in_result for opened in self._open)

    def begin(self, mark: Any) -> None:
        self._open.append(_Field(_choice(child(mark, "ffData"))))

    def instruct(self, code: str) -> None:
        if self._open and not self._open[-1].in_result:
            self._open[-1].code.append(code)

    def separate(self) -> None:
        if self._open:
            self._open[-1].in_result = True

    def end(self) -> str | None:
        """What the field shows beside its result; None: it is an equation that cannot be read."""
        if not self._open:
            return ""
        ended = self._open.pop()
        code = "".join(ended.code)
        if self.is_code:  # a part of another one's instruction
            return ""
        if _EQUATION.match(code):
            return equation(code)
        return ended.choice

    def end_paragraph(self) -> None:
        """A field whose instruction does not end is taken to show what follows."""
        for opened in self._open:
            opened.in_result = True


def _choice(form: Any | None) -> str:
    """What the field of a form shows: a box that is ticked or not, the entry that is chosen."""
    if form is None:
        return ""
    box = child(form, "checkBox")
    if box is not None:
        checked = child(box, "checked")
        checked = child(box, "default") if checked is None else checked
        is_checked = checked is not None and attribute(checked, "val") not in ("0", "false", "off")
        return "☒" if is_checked else "☐"
    entries = child(form, "ddList")
    if entries is None:
        return ""
    texts = [attribute(part, "val") for part in entries if local_name(part) == "listEntry"]
    result = child(entries, "result")
    result = child(entries, "default") if result is None else result
    place = whole_number(attribute(result, "val")) if result is not None else 0
    return texts[place] if place is not None and 0 <= place < len(texts) else ""


def equation(code: str) -> str | None:
    """What the instruction of a field EQ shows; None: it cannot be read."""
    match = _EQUATION.match(code)
    if match is None:
        return None
    try:
        return _Equation(_OPTIONS.sub("", code[match.end() :]).strip()).read()
    except ValueError:
        return None


class _Equation:
    def __init__(self, code: str) -> None:
        self._code = code
        self._at = 0
        self._depth = 0

    def read(self) -> str:
        return " ".join(self._text("").split())

    def _text(self, ends: str) -> str:
        """The text up to one of these characters."""
        parts = []
        while self._at < len(self._code) and self._code[self._at] not in ends:
            if self._code[self._at] != "\\":
                parts.append(self._code[self._at])
                self._at += 1
            elif (element := _ELEMENT.match(self._code, self._at)) is None:
                parts.append(
                    self._code[self._at + 1 : self._at + 2]
                )  # a character that stands for itself
                self._at += 2
            else:
                written = self._element(element)
                if parts and parts[-1][-1:].isdigit() and element[1].lower() == "f":
                    written = f" {written}"
                parts.append(written)
        return "".join(parts)

    def _element(self, match: re.Match[str]) -> str:
        """An element with its options and arguments."""
        name = match[1].lower()
        brackets = ["(", ")"]
        sign = "∫"
        scripts = ""
        self._at = match.end()
        while name in "bis" and (option := _ELEMENT.match(self._code, self._at)) is not None:
            kind = option[1][:2].lower()
            if kind in ("up", "do"):
                scripts += self._script(option)
                continue
            if kind in ("lc", "rc", "bc"):
                character = option[1][-1]
                if kind != "rc":
                    brackets[0] = character
                if kind != "lc":
                    brackets[1] = _PAIRS.get(character, character) if kind == "bc" else character
            elif kind in ("su", "pr"):
                sign = "∑" if kind == "su" else "∏"
            elif kind not in ("fc", "vc", "di"):
                break
            self._at = option.end()
        if name in ("up", "do"):
            return self._script(match)
        if name == "s" and scripts:
            return scripts
        arguments = self._arguments()
        return _shown(name, arguments, brackets, sign)

    def _script(self, match: re.Match[str]) -> str:
        self._at = match.end()
        text = "".join(self._arguments())
        return power(text) if match[1].lower() == "up" else lowered(text)

    def _arguments(self) -> list[str]:
        if self._code[self._at : self._at + 1] != "(":
            return []
        self._depth += 1
        if self._depth > _DEEPEST:
            raise ValueError("it is too deep")
        arguments = []
        while True:
            self._at += 1
            arguments.append(self._text(",;)").strip())
            if self._at >= len(self._code):
                raise ValueError("it has no end")
            if self._code[self._at] == ")":
                break
        self._at += 1
        self._depth -= 1
        return arguments


def _shown(name: str, arguments: list[str], brackets: list[str], sign: str) -> str:
    first, second, third = (*arguments, "", "", "")[:3]
    if name == "f":
        return f"{grouped(first)}/{grouped(second)}"
    if name == "r":
        return f"√({first})" if len(arguments) == 1 else f"{grouped(second)}^(1/{first})"
    if name == "b":
        return f"{brackets[0]}{first}{brackets[1]}"
    if name == "i":
        return f"{sign}{lowered(first)}{power(second)}{third}"
    if name == "o" and len(arguments) == 2 and _is_raised(first):
        return second  # the word under its reading
    return ("" if name in "osx" else ", ").join(arguments)


def _is_raised(text: str) -> bool:
    return text.startswith("^") or (
        bool(text) and all(character in "⁰¹²³⁴⁵⁶⁷⁸⁹" for character in text)
    )
