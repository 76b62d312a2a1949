"""The text of a LaTeX source as it is read: a stack of texts, of which the last is read first, as a macro's is before
what stands behind it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

_LONGEST_UNCLOSED = 400  # characters of an argument where an earlier one had no end
_LONGEST_OPTION = 2_000
_NO_CONDITIONS = frozenset({"iff", "ifthenelse"})

_TOKEN = re.compile(
    r"""
    (?P<comment>%[^\n]*(?:\n[ \t]*)?)
    | (?P<paragraph>\n[ \t]*\n\s*)
    | \\(?P<macro>[a-zA-Z@]+\*?)
    | \\(?P<symbol>.)
    | (?P<mark>\$\$?|[{}&~\\])
    | (?P<text>[^\\%${}&~\n]+|\n)
    """,
    re.VERBOSE | re.DOTALL,
)
_BRACE = re.compile(r"\\.|%[^\n]*|[{}]", re.DOTALL)
_BRACE_OF_ADDRESS = re.compile(r"\\.|[{}]", re.DOTALL)
_BLANK = re.compile(r"(?:[ \t]|%[^\n]*\n[ \t]*|\n(?![ \t]*\n))*")
_PARAMETERS = re.compile(r"[^{}\n]{0,100}(?=\{)")
_COMMENT = re.compile(r"%[^\n]*")
_NAME = re.compile(r"\\(?:[a-zA-Z@]+|.)", re.DOTALL)
_ASIDE = re.compile(r"<[^<>\n]{0,40}>|\([lr.0-9emptx{}]{0,20}\)(?=\{)")
_OPTION = re.compile(r"\[((?:[^\]{}\\]|\\.|\{(?:[^{}\\]|\\.|\{[^{}]*+\})*+\})*+)\]", re.DOTALL)
_CONDITIONS = re.compile(r"\\(?:(if[a-zA-Z@]*)|(else|fi)(?![a-zA-Z@]))")
_END_OF_FORMULA = re.compile(r"(?:[^\\$\n]|\\.|\n(?![ \t]*\n))*+\$", re.DOTALL)


@dataclass
class _Reading:
    """A text and how far it was read. unclosed, open_option: an argument, an option in it had no end; missing: what was
    sought behind here and is not there, so that it is not sought again."""

    text: str
    at: int = 0
    unclosed: bool = False
    open_option: bool = False
    missing: set[str] = field(default_factory=set)


class LatexScanner:
    """Takes tokens, arguments and formulas off a source. unclosed: how many arguments had no end; comments:
    how many lines had one."""

    def __init__(self, text: str) -> None:
        self._texts = [_Reading(text)]
        self.unclosed = self.comments = 0

    @property
    def depth(self) -> int:
        return len(self._texts)

    def insert(self, text: str) -> None:
        """What is read next."""
        self._top()
        self._texts.append(_Reading(text))

    def _top(self) -> _Reading:
        while len(self._texts) > 1 and self._texts[-1].at >= len(self._texts[-1].text):
            self._texts.pop()
        return self._texts[-1]

    def token(self) -> tuple[str, str] | None:
        """The next token as (kind, text); None at the end."""
        reading = self._top()
        match = _TOKEN.match(reading.text, reading.at)
        if match is None:
            return None
        reading.at = match.end()
        kind = match.lastgroup or ""
        if kind == "macro":
            self._skip_spaces(reading)
        if kind == "comment":
            self.comments += len(match[0].strip()) > 1
        if kind == "comment" and reading.text[reading.at : reading.at + 1] == "\n":
            kind = "paragraph"
        return kind, match[kind] if kind != "paragraph" else match[0]

    def _skip_spaces(self, reading: _Reading) -> None:
        blank = _BLANK.match(reading.text, reading.at)
        if blank is not None:
            reading.at = blank.end()
            self.comments += sum(len(line.strip()) > 1 for line in _COMMENT.findall(blank[0]))

    def next_character(self) -> str:
        reading = self._top()
        return reading.text[reading.at : reading.at + 1]

    def match(self, pattern: re.Pattern[str]) -> re.Match[str] | None:
        """What a pattern matches here, which is then read."""
        reading = self._top()
        match = pattern.match(reading.text, reading.at)
        if match is not None:
            reading.at = match.end()
        return match

    def argument(self, is_address: bool = False) -> str:
        """The next argument: what is in braces, a command, or a character. is_address: `%` begins no comment in it."""
        reading = self._top()
        self._skip_spaces(reading)
        if reading.at >= len(reading.text):
            return ""
        if reading.text[reading.at] == "{":
            return self._braced(reading, _BRACE_OF_ADDRESS if is_address else _BRACE)
        if reading.text[reading.at] == "}" or reading.text.startswith("\n", reading.at):
            return ""
        name = _NAME.match(reading.text, reading.at)
        argument = name[0] if name else reading.text[reading.at]
        reading.at += len(argument)
        return argument

    def _braced(self, reading: _Reading, braces: re.Pattern[str]) -> str:
        start = reading.at + 1
        end = min(len(reading.text), start + _LONGEST_UNCLOSED) if reading.unclosed else None
        depth = 1
        for match in braces.finditer(reading.text, start, end or len(reading.text)):
            depth += {"{": 1, "}": -1}.get(match[0], 0)
            if not depth:
                reading.at = match.end()
                return reading.text[start : match.start()]
        # No end: the argument is taken to end with its paragraph.
        reading.unclosed = True
        self.unclosed += 1
        blank = reading.text.find("\n\n", start, start + _LONGEST_UNCLOSED)
        reading.at = blank if blank >= 0 else min(len(reading.text), start + _LONGEST_UNCLOSED)
        return reading.text[start : reading.at]

    def option(self) -> str | None:
        """What is in brackets here; None if there are none."""
        reading = self._top()
        blank = _BLANK.match(reading.text, reading.at)
        start = blank.end() if blank else reading.at
        if not reading.text.startswith("[", start):
            return None
        limit = _LONGEST_UNCLOSED // 10 if reading.open_option else _LONGEST_OPTION
        match = _OPTION.match(reading.text, start, start + limit)
        if match is None:
            reading.open_option = True
            return None
        reading.at = match.end()
        return match[1]

    def skip_aside(self) -> None:
        """Passes over `<2->` of a slide or `(lr)` of a line in a table."""
        reading = self._top()
        if (aside := _ASIDE.match(reading.text, reading.at)) is not None:
            reading.at = aside.end()

    def parameters(self) -> int:
        """How many parameters `\\def` names here, before the body."""
        reading = self._top()
        match = _PARAMETERS.match(reading.text, reading.at)
        if match is None:
            return 0
        reading.at = match.end()
        return match[0].count("#")

    def formula(self) -> str | None:
        """What stands before the next `$` of this paragraph; None if there is none."""
        reading = self._top()
        match = _END_OF_FORMULA.match(reading.text, reading.at)
        if match is None:
            return None
        reading.at = match.end()
        return match[0][:-1]

    def until(self, end: str) -> str | None:
        """What stands before the next `end`, which is passed over; None if there is none."""
        reading = self._top()
        if end in reading.missing:
            return None
        place = reading.text.find(end, reading.at)
        if place < 0:
            reading.missing.add(end)
            return None
        start = reading.at
        reading.at = place + len(end)
        return reading.text[start:place]

    def verbatim(self) -> str:
        """What stands between this character and its next one, as behind `\\verb`."""
        reading = self._top()
        mark = reading.text[reading.at : reading.at + 1]
        if mark == "{":
            return self.argument(is_address=True)
        line_end = reading.text.find("\n", reading.at)
        line_end = len(reading.text) if line_end < 0 else line_end
        place = reading.text.find(mark, reading.at + 1, line_end) if mark else -1
        if place < 0:
            return ""
        start = reading.at + 1
        reading.at = place + 1
        return reading.text[start:place]

    def skip_branch(self) -> None:
        """Passes over what stands between `\\iffalse` and its `\\else` or `\\fi`."""
        reading = self._top()
        depth = 1
        for match in _CONDITIONS.finditer(reading.text, reading.at):
            if match[1] in _NO_CONDITIONS:
                continue
            depth += 1 if match[1] else -1 if match[2] == "fi" else 0
            if not depth or (depth == 1 and match[2] == "else"):
                reading.at = match.end()
                return
        reading.at = len(reading.text)
