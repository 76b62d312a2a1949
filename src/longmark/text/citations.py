"""Citations: markers in an answer, the sources that they name, and the sentences that they stand for.

One list of forms serves all metrics (design/citations.md). A marker in code is none, nor is one in a list of sources at
the end of an answer. A marker stands for the sentence that it is in, or that it follows: before or after the full stop.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from longmark.records import Example
from longmark.text.block_quotes import with_quotations_cited
from longmark.text.citation_brackets import AND
from longmark.text.citation_brackets import MOST_DIGITS as MOST_DIGITS  # published here
from longmark.text.citation_forms import PICTURE, Marker, markers
from longmark.text.citation_forms import unread_marks as unread_marks  # published here
from longmark.text.citation_lists import ADDRESS as ADDRESS  # published here
from longmark.text.citation_lists import (
    PLACEHOLDER,
    is_list_heading,
    without_apparatus,
    without_headings,
)
from longmark.text.refusal import declines
from longmark.text.sentences import sentences

Citations = Literal["keep", "ignore"]
"""Whether the markers of a text count as words of it, in metrics that count or compare words."""

_FORMS_ADDED = (
    3  # times that a release reads more forms as markers, since `citations=ignore` is there
)

_BETWEEN = re.compile(rf"(?<=†】)\s*{AND}(?=\s*【\d+†】)")  # of [1], [2]
_ONLY_AND = re.compile(rf"\s*{AND}\s*")
_SEE = re.compile(
    r"[(（]\s*(?:see(?: also)?|cf\.?|e\.g\.?|vgl\.?|siehe|source:?)[,:]?((?:\s*【\d+†】)+)\.?\s*[)）]",
    re.IGNORECASE,
)
"""(see [1])."""
_MARKERS = r"(?:\s*【\d+†】)+"
_BEFORE_WORDS = re.compile(rf"\s*(?:[-*+•]\s+|\d{{1,3}}[.)]\s+)?{_MARKERS}[^\S\n]*[^\s【]*\w")
_AT_END = re.compile(rf"{_MARKERS}\W*$")
_BEFORE_SENTENCE = re.compile(
    rf"(^\s*(?:[-*+•]\s+|\d{{1,3}}[.)]\s+)?|[.!?。！？][\"'”’»)]*\s*(?={_MARKERS}\s*[^\w【]*[^\Wa-z_]))"
    rf"({_MARKERS})[^\S\n]*([^\s【]*\w[^\s【]*)"
)
_END_AND_WORD = re.compile(r"([。！？｡।॥؟۔։።។៕။.!?](?:【\d+†】)+)(?=\w)")  # of 。[1]盐
_EMPTY_BRACKETS = re.compile(r"\s*(?:\([\s,;]*\)|\[[\s,;]*\])")
_SPACE_BEFORE = re.compile(r"\s+(?=[.,;:!?。，；：！？])|(?:\s*,)+(?=[,.])")


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

    Fenced code, headings, heads of tables, pictures, definitions of footnotes, a list of sources and the line of a block
    quote that names who is quoted are no sentences. A marker that stands alone belongs to the sentence before it, or,
    where there is none, behind it; one in a heading to the next sentence; one at the beginning of a line of which none
    stands at the end, to the sentence that it begins; one of a sentence that introduces a block quote without markers, to
    the sentences of the quote, too."""
    body, definitions = without_apparatus(answer)
    body = PICTURE.sub("", body)
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
    text_with_places = without_headings(_BETWEEN.sub("", "".join(parts)))
    text_with_places = with_quotations_cited(text_with_places)
    text_with_places = "\n".join(map(_with_markers_behind, text_with_places.split("\n")))
    text_with_places = _SEE.sub(r"\1", text_with_places)
    text_with_places = _END_AND_WORD.sub(r"\1 ", text_with_places)
    for sentence in sentences(text_with_places):
        sentence_markers = [all_markers[int(number)] for number in PLACEHOLDER.findall(sentence)]
        text = _tidy(PLACEHOLDER.sub("", sentence))
        if any(char.isalnum() for char in text) and not (
            sentence_markers and is_list_heading(text)
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


def _with_markers_behind(line: str) -> str:
    """A line whose markers stand before their sentences, each within the sentence; any other line as it is."""
    if not _BEFORE_WORDS.match(line) or _AT_END.search(line):
        return line
    return _BEFORE_SENTENCE.sub(r"\1\3\2", line)


def _with_place(marker: Marker, place: str) -> str:
    """The words of a marker with its place behind each of their sentences; no place of one that names nothing."""
    if not marker.names:
        return marker.words
    pieces: list[str] = []
    position = 0
    for sentence in _sentences_of(marker.words):
        start = marker.words.find(
            sentence,
            position,
        )
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


def forms_added(params: Any) -> int:
    """What is added to the version of a metric of words (`Metric.raised`): it leaves out more where it ignores markers."""
    return _FORMS_ADDED if params.citations == "ignore" else 0
