"""What of an answer is no sentence of it: code, footnotes, its list of sources, headings and heads of tables."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field

from longmark.text.citation_tags import plain_number

ADDRESS = re.compile(
    r"<?((?:https?|ftp)://[^\s<>\[\]()【】\"“”]+(?:\([^\s()<>]*\)[^\s<>\[\]()\"]*)*)>?",
    re.IGNORECASE,
)
PLACEHOLDER = re.compile(r"\s*【(\d+)†】")
"""A form of marker that `sentences` keeps with the sentence before it."""

_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_DEFINITION = re.compile(r"\s{0,3}\[\^?([^\]\s]{1,40})\]:\s*(.*)")
_INDENTED = re.compile(r"(?: {2,}|\t)\s*(\S.*)")
_HASHES = re.compile(r"\s{0,3}#{1,6}\s")
_BOLD_LINE = re.compile(r"\s*\*\*[^*\n]{1,100}\*\*:?\s*$")
_BOLD_STATEMENT = re.compile(r".*[.!?。！？][\s*【\d†】]*$")
_LIST_HEADING = re.compile(
    r"\s{0,3}(?:#{1,6}\s*)?(?:\*\*|__)?\s*(?:references?|sources?|citations|bibliography|works cited|footnotes"
    r"|quellen|literatur|einzelnachweise|références|sources citées|fuentes|referencias|参考文献|参考资料|来源)"
    r"\s*(?:\*\*|__)?\s*[:：]?\s*(?:\*\*|__)?\s*#*\s*",
    re.IGNORECASE,
)
_ENTRY = re.compile(r"\s*(?:[-*+]\s+)?(?:\[\^?(\d{1,3})\]|(\d{1,3})[.)])[:.]?\s*(.*)")
_BULLET = re.compile(r"\s*[-*+•]\s+\S")
_NUMBERED = re.compile(r"\[\^?\d{1,3}\]")
_NAMES_NUMBERS = re.compile(
    r"[\[【［(<>¹²³⁴-⁹]\s*\^?\w{0,12}\s?\d|[¹²³⁴-⁹]"
)  # what may be a marker
_TABLE_RULE = re.compile(r"\s*\|?(?:\s*:?-{2,}:?\s*\|)+(?:\s*:?-{2,}:?\s*)?\|?\s*$")
_FIRST_WORD = re.compile(r"\s*(?:[-*+•]\s+|\d{1,3}[.)]\s+)?\W*\w[^\s【|]*")
_FEWEST = 2  # entries of a list of sources that stands within an answer without a heading


class TextSpans:
    """Places in a text that do not overlap, in the order of insertion or not."""

    def __init__(self, spans: Collection[tuple[int, int]]) -> None:
        self._taken: set[int] = set()
        for span in spans:
            self.add(span)

    def add(self, span: tuple[int, int]) -> None:
        self._taken.update(range(*span))

    def overlaps(self, span: tuple[int, int]) -> bool:
        return any(place in self._taken for place in range(*span))


def fenced(text: str) -> list[tuple[int, int]]:
    """Where fenced code stands in a text; a fence that is not closed ends with the text."""
    spans = []
    start = -1
    fence = ""
    place = 0
    for line in text.splitlines(keepends=True):
        mark = _FENCE.match(line)
        if mark and not fence:
            fence = mark[1]
            start = place
        elif mark and mark[1].startswith(fence) and not line[mark.end() :].strip():
            spans.append((start, place + len(line)))
            fence = ""
        place += len(line)
    if fence:
        spans.append((start, len(text)))
    return spans


def is_list_heading(line: str) -> bool:
    """Whether a line is the heading of a list of sources, and nothing else."""
    return _LIST_HEADING.fullmatch(line) is not None


def without_apparatus(answer: str) -> tuple[str, dict[str, str]]:
    """The answer without fenced code, definitions and its lists of sources; and label -> definition. What stands behind
    a list is kept, and a section of sentences that is only headed as one."""
    for start, end in reversed(fenced(answer)):
        answer = f"{answer[:start]}\n{answer[end:]}"
    reading = _ListReading(answer.splitlines())
    return "\n".join(reading.body()), reading.definitions


@dataclass(slots=True)
class _ListReading:
    """The lines of an answer while its lists of sources are taken out of them. definitions: label -> what it stands
    for.

    What stands from a line on is noted, so that a list of thousands of lines that are no sources is read once, and not
    again from each of its lines."""

    lines: Sequence[str]
    definitions: dict[str, str] = field(default_factory=dict)
    _numbers_named: bool = False
    _filled_from: Sequence[int] = ()
    _wrapped_from: dict[int, _Wrapped] = field(default_factory=dict)
    _run_from: dict[int, _EntryRun] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Notes the first line that is not blank, from each line on; the number of lines where there is none."""
        filled_from = [len(self.lines)] * (len(self.lines) + 1)
        for number in reversed(range(len(self.lines))):
            filled_from[number] = number if self.lines[number].strip() else filled_from[number + 1]
        self._filled_from = filled_from

    def body(self) -> list[str]:
        """The lines that are no definition and in no list."""
        body_lines: list[str] = []
        number = 0
        while number < len(self.lines):
            line = self.lines[number]
            if definition := _DEFINITION.match(line):
                number = self._define(
                    definition[1],
                    definition[2],
                    number + 1,
                )
                continue
            end = self._end_of_list(
                number,
                body_lines,
            )
            if end > number:
                number = end
                continue
            self._numbers_named = self._numbers_named or bool(_NAMES_NUMBERS.search(line))
            body_lines.append(line)
            number += 1
        return body_lines

    def _define(self, label: str, text: str, number: int) -> int:
        """Notes a definition with its indented lines; the number of the line behind it."""
        texts = [text]
        last = number
        while number < len(self.lines):
            indented = _INDENTED.fullmatch(self.lines[number])
            if indented is None and self.lines[number].strip():
                break
            number += 1
            if indented is not None and not _BULLET.match(self.lines[number - 1]):
                texts.append(indented[1])
                last = number
            elif indented is not None:
                break
        self.definitions.setdefault(label, " ".join(texts))
        return last

    def _end_of_list(self, number: int, body_lines: list[str]) -> int:
        """The number of the line behind the list of sources that begins at this one; the same number where none does."""
        has_heading = is_list_heading(self.lines[number])
        first = number + has_heading
        run = self._run(first)
        if not run.entries:
            return number
        if has_heading:
            is_list = run.has_address or (run.has_label and self._numbers_named)
        else:
            is_last = self._filled_from[run.end] == len(self.lines)
            enough = is_last or (run.entries >= _FEWEST and run.have_addresses)
            begins = not body_lines or not body_lines[-1].strip() or is_last
            is_list = run.in_brackets and run.has_address and enough and begins
        if not is_list:
            return number
        while entry := self._entry(self._filled_from[first]):
            if entry.label is not None:
                texts = [entry.text, *map(str.strip, self.lines[entry.start + 1 : entry.end])]
                self.definitions[entry.label] = " ".join(texts)
            first = entry.end
        return run.end

    def _run(self, number: int) -> _EntryRun:
        """What is to be known of the entries of sources that stand from a line on, with blank lines between them."""
        entries: list[_Entry] = []
        run = _EntryRun(number)
        while entry := self._entry(self._filled_from[number]):
            if entry.start in self._run_from:
                run = self._run_from[entry.start]
                break
            entries.append(entry)
            number = entry.end
            run = _EntryRun(number)
        for entry in reversed(entries):
            run = _EntryRun(
                run.end,
                run.entries + 1,
                has_label=run.has_label or entry.label is not None,
                has_address=run.has_address or entry.has_address,
                have_addresses=run.have_addresses and entry.has_address,
                in_brackets=run.in_brackets
                and bool(_NUMBERED.match(self.lines[entry.start].lstrip(" -*+"))),
            )
            self._run_from[entry.start] = run
        return run

    def _entry(self, number: int) -> _Entry | None:
        """The source of a list that begins at a line; None where none does."""
        if number >= len(self.lines) or not _is_entry(self.lines[number]):
            return None
        line = self.lines[number]
        match = _DEFINITION.match(line) or _ENTRY.fullmatch(line)
        label = (match[1] or match[2]) if match else None
        text = match[match.lastindex or 0] if match else line.strip()
        wrapped = self._wrapped(number + 1)
        return _Entry(
            None if label is None else plain_number(label),
            text,
            number,
            wrapped.end,
            wrapped.has_address or bool(ADDRESS.search(text)),
        )

    def _wrapped(self, number: int) -> _Wrapped:
        """The lines that continue an entry, from a line on: what is wrapped, or an address below its title."""
        numbers = []
        while number not in self._wrapped_from:
            if number >= len(self.lines) or not self._continues(number):
                self._wrapped_from[number] = _Wrapped(number, has_address=False)
                break
            numbers.append(number)
            number += 1
        wrapped = self._wrapped_from[number]
        for earlier in reversed(numbers):
            has_address = wrapped.has_address or bool(ADDRESS.search(self.lines[earlier]))
            wrapped = _Wrapped(wrapped.end, has_address=has_address)
            self._wrapped_from[earlier] = wrapped
        return wrapped

    def _continues(self, number: int) -> bool:
        line = self.lines[number]
        return bool(line.strip()) and not (
            (_is_entry(line) and not ADDRESS.fullmatch(line.strip()))
            or _BULLET.match(line)
            or _ENTRY.match(line)
            or _HASHES.match(line)
            or is_list_heading(line)
        )


@dataclass(frozen=True, slots=True)
class _Entry:
    """A source in a list: its number, what stands behind it in its first line, that line, and the one behind the
    source."""

    label: str | None
    text: str
    start: int
    end: int
    has_address: bool


@dataclass(frozen=True, slots=True)
class _Wrapped:
    """Lines that continue an entry: the line behind them, and whether one has an address."""

    end: int
    has_address: bool


@dataclass(frozen=True, slots=True)
class _EntryRun:
    """Entries of sources in a row: the line behind them, how many, whether one has a label, one an address, all have an
    address, and all have their number in brackets."""

    end: int
    entries: int = 0
    has_label: bool = False
    has_address: bool = False
    have_addresses: bool = True
    in_brackets: bool = True


def _is_entry(line: str) -> bool:
    """Whether a line is a source of a list: it has a number, a sign or an address at an end, and cites nothing."""
    match = _DEFINITION.match(line) or _ENTRY.fullmatch(line)
    text = match[match.lastindex or 0] if match else line
    if _NUMBERED.search(text):
        return False
    if match or _BULLET.match(line):
        return True
    plain = line.strip()
    addresses = [address.span() for address in ADDRESS.finditer(plain)]
    return any(start <= 1 or end >= len(plain) - 2 for start, end in addresses)


def without_headings(text: str) -> str:
    """A text without headings and heads of tables; their markers go to the next sentence."""
    lines = text.split("\n")
    heads = {number - 1 for number, line in enumerate(lines) if _TABLE_RULE.match(line)}
    body_lines: list[str] = []
    waiting = ""
    for number, line in enumerate(lines):
        if number in heads or is_heading(line):
            waiting += "".join(match[0] for match in PLACEHOLDER.finditer(line))
            line = ""
        elif waiting and not _TABLE_RULE.match(line) and (word := _FIRST_WORD.match(line)):
            line = f"{line[: word.end()]}{waiting}{line[word.end() :]}"
            waiting = ""
        body_lines.append(line)
    return "\n".join([*body_lines, waiting] if waiting else body_lines)


def is_heading(line: str) -> bool:
    """Whether a line is a heading of Markdown, or in bold throughout and no statement with a marker."""
    if _HASHES.match(line):
        return True
    is_statement = PLACEHOLDER.search(line) and _BOLD_STATEMENT.match(line)
    return bool(_BOLD_LINE.match(line)) and not is_statement
