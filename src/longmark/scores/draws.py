"""The file of a draw (`longmark label next`): every answer, whether it was drawn, and with which probability.

JSON Lines, one answer each: `example_id`, `system`, `question_id`, `inclusion_probability` (of this draw and earlier
ones together), `drawn`, and where the run has the answer's text `answer_sha256` (`answer_texts`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longmark.errors import UserError
from longmark.records import sources
from longmark.records.files import BadLines, at
from longmark.records.values import found
from longmark.scores.answer_texts import ANSWER_SHA256
from longmark.scores.labels import PROBABILITY


@dataclass(frozen=True, slots=True)
class DrawnAnswer:
    """An answer, the probability that it was drawn by now, and whether it was. digest: of its text, None if the run
    has none."""

    example_id: str
    system: str
    question_id: str
    probability: float
    drawn: bool
    digest: str | None = None

    def record(self) -> dict[str, Any]:
        about = {"example_id": self.example_id, "system": self.system, "question_id": self.question_id}
        text = {} if self.digest is None else {ANSWER_SHA256: self.digest}
        return {**about, PROBABILITY: self.probability, "drawn": self.drawn, **text}

    def is_of(self, digest: str | None) -> bool:
        """Whether it can be the answer with this text; where either is not known, it can."""
        return self.digest is None or digest is None or self.digest == digest


def read_draw(path: Path) -> list[DrawnAnswer]:
    """The answers of a draw. UserError, with the line, for a file that is none."""
    answers, wrong = list[DrawnAnswer](), BadLines()
    for line, record in sources.records(path, sources.kind_of(path)):
        given: Mapping[str, Any] = record if isinstance(record, Mapping) else {}
        example, system, question = (given.get(name) for name in ("example_id", "system", "question_id"))
        chance, drawn = given.get(PROBABILITY), given.get("drawn")
        text = given.get(ANSWER_SHA256)
        fits = all(isinstance(name, str) for name in (example, system, question)) and isinstance(drawn, bool)
        fits = fits and (text is None or isinstance(text, str))
        if fits and isinstance(chance, int | float) and not isinstance(chance, bool) and 0 < chance <= 1:
            answers.append(DrawnAnswer(str(example), str(system), str(question), float(chance), bool(drawn), text))
        else:
            wrong.add(at(str(path), line, f"expected an answer of `longmark label next`, found {found(record)}"))
    wrong.check()
    if not answers:
        raise UserError(f"{path} is empty; name the file that `longmark label next` wrote")
    return answers
