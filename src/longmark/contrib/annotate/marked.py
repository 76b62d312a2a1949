"""Marks of people in answers as labels of sentences: whether a rater marked a sentence with a tag.

A mark is a part of a text that a rater chose; two raters hardly ever choose the same characters. A sentence is marked
where marks of the tag cover more than a share of its characters, the field's `sentence_share`: 0 (the default) says
that any overlap counts, 0.5 that marks cover more than half of it. White space at the ends of a mark does not count.
Sentences are the parts of the answer as the report cuts it (`text.sentences.parted`): a heading and a table are parts
too, a rule without a letter or digit is none. A rater who was asked and marked nothing says of each sentence that it is
not marked.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.study import SIDES, Spans, Study
from longmark.scores.label_scales import DeclaredScale, scale_with
from longmark.text.sentences import parted

ANSWER = "answer"
MARKED = ("no", "yes")

Place = tuple[int, int]


@dataclass(frozen=True, slots=True)
class SentenceMark:
    """Whether a rater marked a sentence. side: `answer`, `a` or `b`; start, end: characters of its text; label: FIELD.TAG;
    value: yes or no."""

    side: str
    start: int
    end: int
    label: str
    value: str


def sentence_marks(
    study: Study, item: StudyItem, values: Mapping[str, Any]
) -> Iterator[SentenceMark]:
    """What a rater's marks say of each sentence of the answers of an item, for each tag of each field of marks that was
    asked."""
    for field in study.asked:
        if not isinstance(field, Spans) or field.over not in (ANSWER, *SIDES):
            continue
        text = item.shown.get(field.over)
        if not isinstance(text, str) or not study.applies(field, values, item.columns):
            continue
        sentences = [
            place for place in parted(text) if any(char.isalnum() for char in text[slice(*place)])
        ]
        for tag in field.tags:
            marks = [
                trimmed(text, span["start"], span["end"])
                for span in values.get(field.name, ())
                if span["tag"] == tag.value
            ]
            for start, end in sentences:
                marked = is_marked((start, end), marks, field.sentence_share)
                yield SentenceMark(
                    field.over, start, end, f"{field.name}.{tag.value}", MARKED[marked]
                )


def trimmed(text: str, start: int, end: int) -> Place:
    """A mark without the white space at its ends."""
    words = text[start:end]
    return end - len(words.lstrip()), start + len(words.rstrip())


def is_marked(sentence: Place, marks: Iterable[Place], least: float = 0.0) -> bool:
    """Whether marks cover more than a share of a sentence. Characters under several marks count once."""
    start, end = sentence
    covered = {place for first, last in marks for place in range(max(first, start), min(last, end))}
    return len(covered) > least * (end - start)


def mark_scales(study: Study) -> dict[str, DeclaredScale]:
    """The scale of each label of `sentence_marks`."""
    scale = scale_with(MARKED)
    return {
        f"{field.name}.{tag.value}": scale
        for field in study.asked
        if isinstance(field, Spans) and scale is not None
        for tag in field.tags
    }
