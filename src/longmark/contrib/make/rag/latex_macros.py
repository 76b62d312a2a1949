"""The commands that a LaTeX document defines, and what they stand for."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from longmark.contrib.make.rag.latex_scan import LatexScanner
from longmark.contrib.make.rag.latex_words import THEOREMS

_ROOM = 1 << 20  # characters that macros may add, and
_ROOM_BY_SOURCE = 20  # as many times the length of the source

_PARAMETER = re.compile(r"#([1-9])")
_USED_MACRO = re.compile(r"\\([a-zA-Z@]+)")
_PLAIN_FORMULA = re.compile(r"[^\\^_{}$]*")
_NO_FORMULA = re.compile(
    r"\\(?:label|nonumber|notag)\b\s*(?:\{[^{}]*\})?|\\displaystyle\b|%[^\n]*\n"
    r"|\\[hv]?phantom\s*\{[^{}]*\}"
)
_BY_NUMBER = frozenset({"newcommand", "renewcommand", "providecommand", "DeclareRobustCommand"})
_BY_LETTERS = frozenset({"NewDocumentCommand", "RenewDocumentCommand", "ProvideDocumentCommand"})
DEFINITIONS = _BY_NUMBER | _BY_LETTERS | {"def", "let", "newtheorem"}


@dataclass(frozen=True, slots=True)
class _Macro:
    """What a command stands for. default: of its first argument, where that may be left out."""

    body: str
    arguments: int = 0
    default: str | None = None


@dataclass
class LatexMacros:
    """The definitions so far. theorems: environment -> its printed name; room: characters that macros may yet add."""

    room: int
    theorems: dict[str, str] = field(default_factory=lambda: dict(THEOREMS))
    _macros: dict[str, _Macro] = field(default_factory=dict)

    @classmethod
    def of_source(cls, length: int) -> LatexMacros:
        """Those of a source of this length, which has no definitions yet."""
        return cls(_ROOM + _ROOM_BY_SOURCE * length)

    def __contains__(self, name: str) -> bool:
        return name in self._macros

    def define(self, name: str, scanner: LatexScanner) -> None:
        """Reads a definition, behind its command."""
        if name == "newtheorem":
            environment = scanner.argument()
            scanner.option()
            self.theorems[environment] = scanner.argument()
            scanner.option()
            return
        macro = scanner.argument().strip().lstrip("\\")
        if name == "let":
            if scanner.next_character() == "=":
                scanner.argument()
            meaning = scanner.argument().lstrip("\\")
            if meaning in self._macros:
                self._macros[macro] = self._macros[meaning]
            return
        default = None
        if name == "def":
            count = scanner.parameters()
        elif name in _BY_LETTERS:
            count = len(re.findall("[mo]", scanner.argument()))
        else:
            number = (scanner.option() or "").strip()
            count = int(number) if number.isdigit() and len(number) == 1 else 0
            default = scanner.option()
        self._macros[macro] = _Macro(scanner.argument(), count, default)

    def use(self, name: str, scanner: LatexScanner) -> None:
        """Puts what a macro stands for in its place. ValueError if macros grow without end."""
        macro = self._macros[name]
        arguments = []
        if macro.default is not None:
            option = scanner.option()
            arguments.append(macro.default if option is None else option)
        while len(arguments) < macro.arguments:
            arguments.append(scanner.argument())

        def filled(match: re.Match[str]) -> str:
            number = int(match[1])
            return arguments[number - 1] if number <= len(arguments) else ""

        body = _PARAMETER.sub(filled, macro.body)
        self._spend(len(body))
        scanner.insert(body)

    def formula(self, formula: str) -> str:
        """A formula as TeX, and as text where that is the same."""
        tex = " ".join(self._expanded(_NO_FORMULA.sub(" ", formula)).split())
        plain = tex.replace("\\%", "%").replace("\\,", " ").replace("~", " ")
        return plain if _PLAIN_FORMULA.fullmatch(plain) else f"${tex}$"

    def _expanded(self, formula: str) -> str:
        """A formula with its macros replaced, as far as they have no arguments."""

        def replaced(match: re.Match[str]) -> str:
            macro = self._macros.get(match[1])
            if macro is None or macro.arguments:
                return match[0]
            self._spend(len(macro.body))
            return macro.body

        for _ in range(5):
            before = formula
            formula = _USED_MACRO.sub(replaced, formula)
            if formula == before:
                break
        return formula

    def _spend(self, characters: int) -> None:
        self.room -= characters + 1
        if self.room < 0:
            raise ValueError("has macros that grow without end; write them out, or remove them")
