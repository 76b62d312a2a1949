"""Citations: markers in an answer, the sources that they name, and the sentences that they stand for.

One list of forms serves all metrics (design/citations.md). A marker in code is none, nor is one in a list of sources at
the end of an answer. A marker stands for the sentence that it is in, or that it follows: before or after the full stop.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal

from longmark.records import Example
from longmark.text.citation_tags import listed_names, plain_number, tags
from longmark.text.refusal import declines
from longmark.text.sentences import CITATION, sentences

Citations = Literal["keep", "ignore"]
"""Whether the markers of a text count as words of it, in metrics that count or compare words."""

MOST_DIGITS = (
    3  # of a number that names a source; [1998] is a year, unless there are as many sources
)
_LONGEST_RANGE = 100  # of [1-100]; of a longer one its ends count
_LABEL_WORDS = (
    r"(?:doc(?:ument)?s?|sources?|ref(?:erence)?s?|passages?|contexts?|citations?|cite|web|chunks?|excerpts?"
    r"|snippets?|results?|evidence)"
)

_DASH = r"[–—~～-]"
_AND = r"(?:[,;，；、،؛]|(?:[,，،]\s?)?\b(?:and|und|et|or)\b|&)"
_JOINTS = rf"\s*(?:{_AND}|{_DASH})\s*"
_PAGES = (  # of [1, p. 5] and [1: 23]; [1:23] is a time
    r"(?:,\s?(?:pp?|S|sec|ch|fig)\.\s?|(?<=\d):\s)\d+(?:[–-]\d+)?"
)
_NUMBER = rf"(?:{_LABEL_WORDS}[.:#_]?\s?|#|(?-i:S)|see\s)?\d+(?:{_PAGES})?"
_NUMBERS = re.compile(
    rf"\[\d+\]{_DASH}\[\d+\]"
    rf"|\[\[?\^?{_NUMBER}(?:{_JOINTS}{_NUMBER})*\^?\]?\](?:\(#[^\s()]{{0,200}}\))?"
    rf"|［\d+(?:{_JOINTS}\d+)*］|〔\d+(?:{_JOINTS}\d+)*〕"
    rf"|\\\[\d+(?:{_JOINTS}\d+)*\\\]"
    rf"|\((?:documents?|docs?|sources?|passages?)[.:#]?\s?\d+(?:{_JOINTS}{_NUMBER})*\)"
    rf"|<sup>\s*\[\d+(?:{_JOINTS}\d+)*\]\s*</sup>",
    re.IGNORECASE,
)
"""[1], [2, 3], [1-3], [1]-[3], [1 and 2], [^1], [[1]], [Doc 1], [Doc 1, Doc 2], [citation:1], [1, p. 5], [1: 23], [#1],
[S1], [see 1], (Source 1), Markdown's \\[1\\]; beside those of `sentences.CITATION`."""
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_RAISED = re.compile(
    rf"(?<=[^\W\d_][.,;:!?])(?:[{_SUPERSCRIPTS}]{{1,3}}(?:[,˒][{_SUPERSCRIPTS}]{{1,3}})*"
    rf"|<sup>\s*\d+(?:{_JOINTS}\d+)*\s*</sup>)"
)
"""A raised number behind a word and its punctuation; one behind a letter or a digit is a power."""
_NUMBERED_ID = re.compile(r"\bS\d")  # of [S7], where such names may be ids
_BESIDE_NUMBERS = re.compile(rf"{_PAGES}|\(#.*\)", re.IGNORECASE)  # [1, p. 5], [1](#source-1)
_PLAIN_DIGITS = str.maketrans(_SUPERSCRIPTS, "0123456789")
_LABEL = re.compile(rf"{_LABEL_WORDS}\s?[:#]\s*", re.IGNORECASE)
_FOOTNOTE = re.compile(r"\[\^([^\]\s]{1,40})\](?!:)")
_LENTICULAR = re.compile(r"【(\d+(?::\d+)?)(?:†[^【】\n]{0,200})?】")  # OpenAI's 【1†source】
_LINK = re.compile(
    r"(!?)\[([^\[\]\n]*)\]\(\s*<?((?:https?|ftp)://[^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*)>?"
    r"(?:\s+[\"'][^\n]*?[\"'])?\s*\)",
    re.IGNORECASE,
)
_ANCHOR = re.compile(
    r"<a\s[^<>]{0,500}?href\s*=\s*[\"']((?:https?|ftp)://[^\"'<>\s]{1,2000})[\"'][^<>]{0,500}>([^\n]{0,500}?)</a>",
    re.IGNORECASE,
)
ADDRESS = re.compile(
    r"<?((?:https?|ftp)://[^\s<>\[\]()【】\"“”]+(?:\([^\s()<>]*\)[^\s<>\[\]()\"]*)*)>?",
    re.IGNORECASE,
)
_ID = re.compile(r"\[([^\[\]\n]{1,200})\](?![(:])")
_PARENTHESES = re.compile(
    rf"(?<=[^\n])\(\d{{1,{MOST_DIGITS}}}(?:{_JOINTS}\d{{1,{MOST_DIGITS}}})*\)"
)
_RANGE = re.compile(rf"(\d+)\]?\s*{_DASH}\s*\[?(\d+)|(\d+)")
_SITE = re.compile(r"(?:[\w-]+\.)+[a-z]{2,}(?:/\S*)?|\W*\d*\W*|source|link|here", re.IGNORECASE)
"""A link's text that only names its target: nature.com, 1, source."""

_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_CODE = re.compile(r"(`+)(?!`)[^\n]+?(?<!`)\1(?!`)")
_FORMULA = re.compile(
    r"\$\$.{1,2000}?\$\$"
    r"|(?<![\\$\w])\$(?=\S)(?!\d[^$=^_\\+*/<>{}]*\$)[^$\n]{1,300}?(?<=\S)\$(?![\d$])"
    r"|\\\(.{1,2000}?\\\)"
    r"|\\\[(?![\d\s,;–-]+\\\]).{1,2000}?\\\]",
    re.DOTALL,
)
"""LaTeX: $…$ (by Pandoc's rule; prices are none), $$…$$, \\(…\\), \\[…\\]. \\[1\\] is a marker: some exporters of
Markdown write so, and a formula is never a number alone."""
_ARRAY = re.compile(r"(?:(?<![\w'’-])[b-zα-ω]|(?<!\w)\w*_\w+)(?:\[\d+\])*$")
_ASSIGNED = re.compile(r"\s?(?:[-+*/]?=|==)(?!\w*>)")
_INTERVAL = re.compile(r"(?:\bintervals?|\branges?|\bscale|∈)\s*(?:of\s|from\s)?$", re.IGNORECASE)
_SIGHT = 24  # characters before a bracket that tell an array or an interval from a marker
_DEFINITION = re.compile(r"\s{0,3}\[\^?([^\]\s]{1,40})\]:\s*(.*)")
_HEADING = re.compile(r"\s{0,3}#{1,6}\s|\s*\*\*[^*\n]{1,100}\*\*:?\s*$")
_LIST_HEADING = re.compile(
    r"\s{0,3}(?:#{1,6}\s*)?(?:\*\*|__)?\s*(?:references?|sources?|citations|bibliography|works cited|footnotes"
    r"|quellen|literatur|einzelnachweise|références|sources citées|fuentes|referencias|参考文献|参考资料|来源)"
    r"\s*(?:\*\*|__)?\s*[:：]?\s*(?:\*\*|__)?\s*#*\s*",
    re.IGNORECASE,
)
_ENTRY = re.compile(r"\s*(?:[-*+]\s+)?(?:\[\^?(\d{1,3})\]|(\d{1,3})[.)])[:.]?\s*(.*)")
_TABLE_RULE = re.compile(r"\s*\|?(?:\s*:?-{2,}:?\s*\|)+(?:\s*:?-{2,}:?\s*)?\|?\s*$")

_PLACEHOLDER = re.compile(
    r"\s*【(\d+)†】"
)  # a form that `sentences` keeps with the sentence before it
_BETWEEN = re.compile(rf"(?<=†】)\s*{_AND}(?=\s*【\d+†】)")  # of [1], [2]
_ONLY_AND = re.compile(rf"\s*{_AND}\s*")
_SEE = re.compile(
    r"[(（]\s*(?:see(?: also)?|cf\.?|e\.g\.?|vgl\.?|siehe|source:?)[,:]?((?:\s*【\d+†】)+)\.?\s*[)）]",
    re.IGNORECASE,
)
"""(see [1])."""
_END_AND_WORD = re.compile(r"([。！？｡।॥؟۔.!?](?:【\d+†】)+)(?=\w)")  # of 。[1]盐
_EMPTY_BRACKETS = re.compile(r"\s*(?:\([\s,;]*\)|\[[\s,;]*\])")
_SPACE_BEFORE = re.compile(r"\s+(?=[.,;:!?。，；：！？])|(?:\s*,)+(?=[,.])")


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation as it stands in an answer. start, end: its place in characters; names: the numbers, ids or addresses
    that it names; words: what of it are words of the answer (the text of a link)."""

    text: str
    start: int
    end: int
    names: tuple[str, ...]
    words: str = ""


@dataclass(frozen=True, slots=True)
class CitedSentence:
    """A sentence of an answer without its markers, and what these name, each once and in their order."""

    text: str
    names: tuple[str, ...] = ()
    markers: tuple[str, ...] = ()

    @property
    def needs_source(self) -> bool:
        """Whether it states something: it does not ask, introduce a list, or only say that there is no answer."""
        return not self.text.rstrip("\"'”’»)*_ ").endswith(("?", "？", ":", "：", "؟")) and not (
            declines(self.text)
        )


@dataclass(frozen=True, slots=True)
class CitedText:
    """An answer with its citations. definitions: of footnotes and of the list of sources, label -> its text."""

    sentences: tuple[CitedSentence, ...]
    definitions: Mapping[str, str]
    plain: str

    @property
    def names(self) -> list[str]:
        """What all markers name, each once."""
        return list(dict.fromkeys(name for sentence in self.sentences for name in sentence.names))


def markers(text: str, ids: Collection[str] = (), parentheses: bool = False) -> list[Marker]:
    """The markers of a text in their order, none in code and formulas. ids: of sources, which `[doc_a]` may name;
    parentheses: whether `(1)` is a marker."""
    taken = [*_fenced(text), *(match.span() for match in _CODE.finditer(text))]
    taken += [match.span() for match in _LINK.finditer(text) if match[1]]  # of a picture
    taken += [match.span() for match in _FORMULA.finditer(text)]
    code = _Spans(taken)
    marked: list[Marker] = []
    spans = _Spans([])
    for marker in _candidates(
        text,
        frozenset(ids),
        parentheses,
    ):
        span = (marker.start, marker.end)
        if code.overlaps(span) or spans.overlaps(span):
            continue
        spans.add(span)
        marked.append(marker)
    return sorted(marked, key=lambda marker: marker.start)


def without_markers(text: str, ids: Collection[str] = (), parentheses: bool = False) -> str:
    """A text without its markers; the words of links stay."""
    parts = []
    position = 0
    words_before = "text"
    for marker in markers(
        text,
        ids,
        parentheses,
    ):
        between = text[position : marker.start]
        joins = not words_before and not marker.words and _ONLY_AND.fullmatch(between)
        parts.append("" if joins else between)
        words_before = marker.words
        parts.append(marker.words)
        if not marker.words and marker.names:
            parts[-2] = parts[-2].rstrip(" \t")
        position = marker.end
    if not parts:
        return text
    parts.append(text[position:])
    return _EMPTY_BRACKETS.sub(
        "",
        "".join(parts),
    )


def scored_texts(example: Example, citations: Citations) -> tuple[str, tuple[str, ...]]:
    """The answer and the references as a metric of words scores them."""
    answer = example.answer or ""
    if citations == "keep":
        return answer, example.references
    ids = {context.id for context in example.contexts if context.id}
    ids |= {source.id for source in example.sources or () if source.id}
    references = (without_markers(reference, ids) for reference in example.references)
    return without_markers(answer, ids), tuple(references)


def cited_text(answer: str, ids: Collection[str] = (), parentheses: bool = False) -> CitedText:
    """The sentences of an answer with what they cite.

    Fenced code, headings without a marker, heads of tables, definitions of footnotes and a list of sources are no
    sentences. A marker that stands alone belongs to the sentence before it, or, where there is none, behind it."""
    body, definitions = _without_apparatus(answer)
    all_markers = markers(
        body,
        ids,
        parentheses,
    )
    parts = []
    position = 0
    for number, marker in enumerate(all_markers):
        parts.append(body[position : marker.start])
        parts.append(_with_place(marker, f"【{number}†】"))
        position = marker.end
    parts.append(body[position:])
    cited: list[CitedSentence] = []
    waiting: list[Marker] = []
    text_with_places = _BETWEEN.sub("", _without_headings("".join(parts)))
    text_with_places = _SEE.sub(r"\1", text_with_places)
    text_with_places = _END_AND_WORD.sub(r"\1 ", text_with_places)
    for sentence in sentences(text_with_places):
        sentence_markers = [all_markers[int(number)] for number in _PLACEHOLDER.findall(sentence)]
        text = _tidy(_PLACEHOLDER.sub("", sentence))
        if any(char.isalnum() for char in text) and not (
            sentence_markers and _LIST_HEADING.fullmatch(text)
        ):
            cited.append(
                _with_markers(
                    CitedSentence(text),
                    [*waiting, *sentence_markers],
                )
            )
            waiting = []
        elif cited:
            cited[-1] = _with_markers(cited[-1], sentence_markers)
        else:
            waiting += sentence_markers
    if waiting and cited:
        cited[0] = _with_markers(cited[0], waiting)
    return CitedText(
        tuple(cited),
        definitions,
        without_markers(
            body,
            ids,
            parentheses,
        ),
    )


def _with_place(marker: Marker, place: str) -> str:
    """The words of a marker with its place behind each of their sentences; no place of one that names nothing."""
    if not marker.names:
        return marker.words
    pieces: list[str] = []
    position = 0
    for sentence in _sentences_of(marker.words):
        start = marker.words.find(sentence, position)
        if start < 0:
            break
        end = start + len(sentence)
        pieces.append(marker.words[position:end])
        pieces.append(place)
        position = end
    remainder = marker.words[position:]
    if remainder.strip() or not pieces:
        remainder += place
    pieces.append(remainder)
    return "".join(pieces)


def _sentences_of(words: str) -> list[str]:
    """The sentences of the words of a marker; none where there is but one."""
    has_several = "\n" in words or ". " in words
    return sentences(words) if has_several else []


def _with_markers(sentence: CitedSentence, added: Sequence[Marker]) -> CitedSentence:
    names = [*sentence.names, *(name for marker in added for name in marker.names)]
    texts = [*sentence.markers, *(marker.text for marker in added)]
    return CitedSentence(
        sentence.text,
        tuple(dict.fromkeys(names)),
        tuple(texts),
    )


def _tidy(text: str) -> str:
    return _SPACE_BEFORE.sub(
        "",
        _EMPTY_BRACKETS.sub("", text),
    ).strip(" \t\n,")


# Forms -------------------------------------------------------------------------------------------------------------


def _candidates(text: str, ids: frozenset[str], parentheses: bool) -> Iterator[Marker]:
    """What may be a marker, form by form: of two that overlap the first counts."""
    for link in _LINK.finditer(text):
        image, words, address = link.groups()
        if image:
            continue
        yield Marker(
            link[0], *link.span(), (address,), "" if _SITE.fullmatch(words.strip()) else words
        )
    for anchor in _ANCHOR.finditer(text):
        words = "" if _SITE.fullmatch(anchor[2].strip()) else anchor[2]
        yield Marker(anchor[0], *anchor.span(), (anchor[1],), words)
    for match, tag_names, words in tags(text):
        yield Marker(
            match[0],
            *match.span(),
            tag_names,
            words,
        )
    for lenticular in _LENTICULAR.finditer(text):
        yield Marker(
            lenticular[0],
            *lenticular.span(),
            (plain_number(lenticular[1]),),
        )
    for bracket in _ID.finditer(text) if ids else ():
        listed = _LABEL.sub("", bracket[1]).strip()
        whole = bracket[1].strip() if bracket[1].strip() in ids else listed
        parts = [whole] if whole in ids else listed_names(listed)
        if all(part in ids for part in parts):
            yield Marker(
                bracket[0],
                *bracket.span(),
                tuple(dict.fromkeys(parts)),
            )
    ids_are_numbered = any(_NUMBERED_ID.match(source_id) for source_id in ids)
    for form in (_NUMBERS, CITATION, _RAISED, *([_PARENTHESES] if parentheses else [])):
        for match in form.finditer(text):
            if ids_are_numbered and _NUMBERED_ID.search(match[0]):  # an id that is not listed
                continue
            names = _numbers(match[0])
            if all(len(name) <= MOST_DIGITS for name in names) and not _is_indexed(text, match):
                yield Marker(
                    match[0],
                    *match.span(),
                    names,
                )
    for footnote in _FOOTNOTE.finditer(text):
        yield Marker(
            footnote[0],
            *footnote.span(),
            (f"^{footnote[1]}",),
        )
    for address in ADDRESS.finditer(text):
        plain = address[1].rstrip(".,;:!?*_'")
        end = address.end() if address[0].endswith(">") else address.start(1) + len(plain)
        yield Marker(
            text[address.start() : end],
            address.start(),
            end,
            (plain,),
        )


def _is_indexed(text: str, bracket: re.Match[str]) -> bool:
    """Whether a bracket is an index of an array, x[1], or an interval: the range [0, 1]."""
    before = text[max(0, bracket.start() - _SIGHT) : bracket.start()]
    if _INTERVAL.search(before):
        return "," in bracket[0]
    is_glued = bool(before) and not before[-1].isspace()
    return is_glued and bool(_ARRAY.search(before) or _ASSIGNED.match(text, bracket.end()))


def _numbers(marker: str) -> tuple[str, ...]:
    """The numbers in a marker, ranges written out, each once; digits of any script as 0 to 9."""
    numbers: dict[str, None] = {}
    plain = _BESIDE_NUMBERS.sub("", marker).translate(_PLAIN_DIGITS)
    for match in _RANGE.finditer(plain):
        first, last, single = match.groups()
        if single:
            numbers[plain_number(single)] = None
            continue
        low = int(first)
        high = int(last)
        whole = low <= high < low + _LONGEST_RANGE
        numbers |= dict.fromkeys(
            map(
                str,
                range(
                    low,
                    high + 1,
                )
                if whole
                else (low, high),
            )
        )
    return tuple(numbers)


# What is no sentence -----------------------------------------------------------------------------------------------


class _Spans:
    """Places in a text that do not overlap, in the order of insertion or not."""

    def __init__(self, spans: Collection[tuple[int, int]]) -> None:
        self._taken: set[int] = set()
        for span in spans:
            self.add(span)

    def add(self, span: tuple[int, int]) -> None:
        self._taken.update(range(*span))

    def overlaps(self, span: tuple[int, int]) -> bool:
        return any(place in self._taken for place in range(*span))


def _fenced(text: str) -> list[tuple[int, int]]:
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


def _without_apparatus(answer: str) -> tuple[str, dict[str, str]]:
    """The answer without fenced code, definitions and its list of sources; and label -> definition."""
    for start, end in reversed(_fenced(answer)):
        answer = f"{answer[:start]}\n{answer[end:]}"
    lines, definitions = _without_last_list(answer.splitlines())
    body_lines: list[str] = []
    number = 0
    while number < len(lines):
        line = lines[number]
        number += 1
        if definition := _DEFINITION.match(line):
            definitions.setdefault(definition[1], definition[2])
        elif _LIST_HEADING.fullmatch(line):
            entries = list(
                takewhile(
                    lambda later: not _HEADING.match(later),
                    lines[number:],
                )
            )
            numbered = [entry for entry in map(_ENTRY.match, entries) if entry]
            if not numbered and not any(ADDRESS.search(entry) for entry in entries):
                body_lines.append(line)
                continue
            definitions = {
                **{plain_number(entry[1] or entry[2]): entry[3] for entry in numbered},
                **definitions,
            }
            for entry in filter(
                None,
                map(_DEFINITION.match, entries),
            ):
                definitions[entry[1]] = entry[2]
            number += len(entries)
        else:
            body_lines.append(line)
    return "\n".join(body_lines), definitions


def _without_last_list(lines: list[str]) -> tuple[list[str], dict[str, str]]:
    """The lines before a list of sources that ends them, `[1] Title https://…` a line, and before its heading where it
    has one; and label -> source."""
    last = len(lines)
    entries = []
    addresses = 0
    for number in range(
        len(lines) - 1,
        -1,
        -1,
    ):
        line = lines[number]
        entry = _ENTRY.match(line)
        if entry and entry[1]:
            entries.append(entry)
            addresses += bool(ADDRESS.search(line))
            last = number
        elif line.strip():
            break
    if not addresses:
        return lines, {}
    heading = last - 1
    while heading >= 0 and not lines[heading].strip():
        heading -= 1
    if heading >= 0 and _LIST_HEADING.fullmatch(lines[heading]):
        last = heading
    return lines[:last], {plain_number(entry[1]): entry[3] for entry in reversed(entries)}


def _without_headings(text: str) -> str:
    """A text without headings and heads of tables; those that have a marker stay."""
    lines = text.split("\n")
    heads = {number - 1 for number, line in enumerate(lines) if _TABLE_RULE.match(line)}
    return "\n".join(
        "" if (number in heads or _HEADING.match(line)) and not _PLACEHOLDER.search(line) else line
        for number, line in enumerate(lines)
    )
