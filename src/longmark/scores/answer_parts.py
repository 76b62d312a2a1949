"""Labels of parts of an answer: of a sentence, of a citation in a sentence, of a nugget, or of a criterion.

A file of ratings with the columns `sentence_start` and `sentence_end` has labels of sentences: characters of the
answer's text, from 0, end excluded (Python's slice). A column `citation` names a citation of the sentence, as its
marker does: `2` for [2], an id or an address. A file with the column `nugget` has labels of nuggets, whether the answer
holds them: the text of a fact that a good answer holds (docs/nuggets.md). One with the column `criterion` has labels of
criteria, whether the answer meets them, by the criterion's text. Both have no places of sentences.
A part is then what is labelled in place of the answer: it has a name
made of the answer's id and these columns, so that what reads labels and scores of answers reads those of parts too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from longmark.records.values import Problem, found

SENTENCE_START = "sentence_start"
SENTENCE_END = "sentence_end"
SENTENCE = "sentence"
CITATION = "citation"
NUGGET = "nugget"
CRITERION = "criterion"
NAMED_UNITS = (NUGGET, CRITERION)
"""Units that a column of the same name gives by their text, without a place in the answer."""
ANSWER_PART = "answer_part"
"""Where `Observation.given` has the fields of the part that a label is of."""
_PLURALS = {CRITERION: "criteria"}


class AnswerPart(NamedTuple):
    """A sentence of an answer, a citation in it, or a nugget or a criterion of its question. start, end: of the sentence,
    0 for a nugget and a criterion; text: the name of the citation, the text of the nugget or the criterion, "" for a
    sentence."""

    answer: str
    start: int
    end: int
    unit: str = SENTENCE
    text: str = ""

    @classmethod
    def of(cls, columns: Mapping[str, Any]) -> Self:
        """The part that a label is of, as `columns` wrote it."""
        return cls(*columns[ANSWER_PART])

    @property
    def name(self) -> str:
        """`a1[0:42]`, `a1[0:42] citation 2`, `a1 nugget Ice floats.`, or `a1 criterion Names ice.`"""
        if self.unit in NAMED_UNITS:
            return f"{self.answer} {self.unit} {self.text}"
        sentence = f"{self.answer}[{self.start}:{self.end}]"
        return f"{sentence} citation {self.citation}" if self.citation else sentence

    @property
    def citation(self) -> str:
        """The name of the citation, "" for any other part."""
        return self.text if self.unit == CITATION else ""

    def columns(self) -> dict[str, Any]:
        return {ANSWER_PART: list(self)}


def plural(unit: str) -> str:
    """Several of what is labelled: `answers`, `criteria`."""
    return _PLURALS.get(unit, f"{unit}s")


def read_place(column: str, cell: Any) -> int:
    """A number of characters, from a cell. Raises Problem for anything else."""
    text = str(cell).strip().removesuffix(".0")
    if cell is None or isinstance(cell, bool) or not (text.isascii() and text.isdecimal()):
        raise Problem(
            f"{column}: expected a number of characters from the start of the answer, such as 0 or 42; "
            f"found {found(cell)}"
        )
    return int(text)
