"""Citations as tags, as characters of a tool, and as commands of LaTeX, that stand in the text of an answer."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

_TAGGED = re.compile(
    r"[<(]cite\s[^<>()\n]{0,80}?index\s*=\s*[\"']([\d\s,;:–-]{1,200})[\"'][^<>()\n]{0,80}[>)]"
    r"(?:((?:(?![<(]cite\s).){0,5000}?)</cite>)?"
    r"|<co:\s*([\d\s,]{1,100})>(?:((?:(?!<co:).){0,5000}?)</co(?::[\d\s,]{1,100})?>)?"
    r"|()<(?:ref|cite)>\s*(\d{1,3}(?:\s*,\s*\d{1,3})*)\s*</(?:ref|cite)>",
    re.IGNORECASE | re.DOTALL,
)
"""Anthropic's <cite index="0-1,2-3">words</cite>, of which the first number of each pair is the document, also where the
tag is written with a parenthesis; Cohere's <co: 0,1>words</co: 0,1>; <ref>1</ref>."""
_TAG_NUMBER = re.compile(r"(\d+)(?:[-–:][\d:–-]*)?")
_START = re.compile(r"\[cite_start\]", re.IGNORECASE)  # of the span that Gemini's [cite: 1] ends
_TOOL = re.compile(r"\ue200(?:file)?cite((?:\ue202turn\d+[a-z]+\d+)+)\ue201")
"""ChatGPT's citation of a result of its tools: characters for private use around turn0search1."""
_LATEX = re.compile(r"\\(?:no)?cite[pt]?\*?(?:\[[^\]\n]{0,80}\]){0,2}\{([^{}\n]{1,200})\}")


def tags(text: str) -> Iterator[tuple[re.Match[str], tuple[str, ...], str]]:
    """Each tag with what it names, and the words of the answer that it holds. One that only starts a span names
    nothing."""
    for tag in _TAGGED.finditer(text):
        listed = tag[1] or tag[3] or tag[6]
        numbers = _TAG_NUMBER.findall(listed)
        words = tag[2] or tag[4] or ""
        yield tag, _distinct(map(plain_number, numbers)), words
    for start in _START.finditer(text):
        yield start, (), ""
    for result in _TOOL.finditer(text):
        results = result[1].split("\ue202")
        yield result, _distinct(filter(None, results)), ""
    for command in _LATEX.finditer(text):
        keys = listed_names(command[1])
        yield command, _distinct(map(plain_number, keys)), ""


def _distinct(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(names))


def listed_names(listed: str) -> list[str]:
    """The names in a list with commas or semicolons; one empty name without any."""
    parts = (part.strip().removeprefix("@") for part in re.split(r"[,;]", listed))
    return list(filter(None, parts)) or [""]


def plain_number(digits: str) -> str:
    """A number in digits of any script as 0 to 9 without leading zeros; anything else as it is."""
    return str(int(digits)) if digits.isdecimal() else digits
