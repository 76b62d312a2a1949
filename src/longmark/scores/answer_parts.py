"""Labels of parts of an answer: of a sentence, of a citation in a sentence, or of a nugget.

A file of ratings with the columns `sentence_start` and `sentence_end` has labels of sentences: characters of the
answer's text, from 0, end excluded (Python's slice). A column `citation` names a citation of the sentence, as its
marker does: `2` for [2], an id or an address. A file with the column `nugget` has labels of nuggets, whether the answer
holds them: the text of a fact that a good answer holds (docs/nuggets.md); it has no places of sentences.
A part is then what is labelled in place of the answer: it has a name
made of the answer's id and these columns, so that what reads labels and scores of answers reads those of parts too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple, Self

from longmark.records.values import Problem, found

SENTENCE_START = "sentence_start"
SENTENCE_END = "sentence_end"
CITATION = "citation"
NUGGET = "nugget"
ANSWER = "answer"
"""Where `Observation.given` has the id of the answer that a part is of."""


class AnswerPart(NamedTuple):
    """A sentence of an answer, a citation in it, or a nugget of its question. start, end: of the sentence, 0 for a
    nugget; citation: "" for the sentence; nugget: its text."""

    answer: str
    start: int
    end: int
    citation: str = ""
    nugget: str = ""

    @classmethod
    def of(cls, columns: Mapping[str, Any]) -> Self:
        """The part that a label is of, as `columns` wrote it."""
        return cls(
            columns[ANSWER],
            columns[SENTENCE_START],
            columns[SENTENCE_END],
            columns[CITATION],
            columns[NUGGET],
        )

    @property
    def name(self) -> str:
        """`a1[0:42]`, `a1[0:42] citation 2`, or `a1 nugget Ice floats.`."""
        if self.nugget:
            return f"{self.answer} nugget {self.nugget}"
        sentence = f"{self.answer}[{self.start}:{self.end}]"
        return f"{sentence} citation {self.citation}" if self.citation else sentence

    @property
    def unit(self) -> str:
        if self.nugget:
            return NUGGET
        return CITATION if self.citation else "sentence"

    def columns(self) -> dict[str, Any]:
        return {
            ANSWER: self.answer,
            SENTENCE_START: self.start,
            SENTENCE_END: self.end,
            CITATION: self.citation,
            NUGGET: self.nugget,
        }


def read_place(column: str, cell: Any) -> int:
    """A number of characters, from a cell. Raises Problem for anything else."""
    text = str(cell).strip().removesuffix(".0")
    if cell is None or isinstance(cell, bool) or not (text.isascii() and text.isdecimal()):
        raise Problem(
            f"{column}: expected a number of characters from the start of the answer, such as 0 or 42; "
            f"found {found(cell)}"
        )
    return int(text)
