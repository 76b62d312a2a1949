"""The file of a draw (`longmark label next`): every answer, whether it was drawn, and with which probability.

JSON Lines, one answer each: `example_id`, `system`, `question_id`, `inclusion_probability` (of this draw and earlier
ones together), `drawn`, and where the run has the answer's text `answer_sha256` (`answer_texts`); `draw`, the number of
the draw that chose it, null if none did; and the plan, alike in all lines: `looks`, how many draws were planned, null
if none were, `claims`, those that were planned, each as "A better than B on METRIC", and `seeds`, that of each draw.
Files without these four are read; then nobody knows how often labels were drawn.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from longmark.errors import UserError
from longmark.records import sources
from longmark.records.files import BadLines, at
from longmark.records.values import found
from longmark.scores.answer_texts import ANSWER_SHA256
from longmark.scores.labels import PROBABILITY

_CLAIM = re.compile(r"(?P<better>.+?) (?:is )?better than (?P<worse>.+) on (?P<metric>\S+)")


class Claim(NamedTuple):
    """That one system is better than another on a metric: higher labels, on average."""

    better: str
    worse: str
    metric: str

    def __str__(self) -> str:
        return f"{self.better} better than {self.worse} on {self.metric}"


def parsed_claim(text: str) -> Claim:
    """The claim of a text. UserError for a text that is none."""
    if (match := _CLAIM.fullmatch(" ".join(text.split()))) is None:
        raise UserError(f"--claim: expected 'A better than B on METRIC', found {text!r}")
    if match["better"] == match["worse"]:
        raise UserError(f"--claim: is about two systems, found {match['better']} twice")
    return Claim(match["better"], match["worse"], match["metric"])


@dataclass(frozen=True, slots=True)
class Plan:
    """What was fixed before the first label. looks: how many draws there will be, None if that was not said; claims:
    what may be claimed, all pairs of systems on all metrics if there are none. seeds: of each draw so far, which are
    not fixed before; empty where the file does not have them."""

    looks: int | None = None
    claims: tuple[str, ...] = ()
    seeds: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class DrawnAnswer:
    """An answer, the probability that it was drawn by now, and whether it was. digest: of its text, None if the run
    has none; draw: which draw chose it (None: not known, or none); plan: of the draws."""

    example_id: str
    system: str
    question_id: str
    probability: float
    drawn: bool
    digest: str | None = None
    draw: int | None = None
    plan: Plan = Plan()

    def record(self) -> dict[str, Any]:
        about = {"example_id": self.example_id, "system": self.system, "question_id": self.question_id}
        text = {} if self.digest is None else {ANSWER_SHA256: self.digest}
        plan = {"looks": self.plan.looks, "claims": list(self.plan.claims), "seeds": list(self.plan.seeds)}
        return {**about, PROBABILITY: self.probability, "drawn": self.drawn, "draw": self.draw, **text, **plan}

    def is_of(self, digest: str | None) -> bool:
        """Whether it can be the answer with this text; where either is not known, it can."""
        return self.digest is None or digest is None or self.digest == digest


def read_draw(path: Path) -> list[DrawnAnswer]:
    """The answers of a draw. UserError, with the line, for a file that is none."""
    answers, wrong, lines = list[DrawnAnswer](), BadLines(), dict[tuple[str, str], int]()
    for line, record in sources.records(path, sources.kind_of(path)):
        answer = _drawn_answer(record if isinstance(record, Mapping) else {})
        if answer is None:
            wrong.add(at(str(path), line, f"expected an answer of `longmark label next`, found {found(record)}"))
        elif (before := lines.setdefault((answer.example_id, answer.system), line)) != line:
            wrong.add(at(str(path), line, f"{answer.example_id} ({answer.system}) stands in line {before} already"))
        else:
            answers.append(answer)
    wrong.check()
    if not answers:
        raise UserError(f"{path} is empty; name the file that `longmark label next` wrote")
    if any(answer.plan != answers[0].plan for answer in answers):
        raise UserError(f"{path}: its lines have different plans (looks, claims, seeds); a draw has one")
    return answers


def draw_number(answers: Sequence[DrawnAnswer]) -> int | None:
    """The number of the last draw; None where the file does not know by which draw each answer was chosen."""
    numbers = [answer.draw for answer in answers if answer.drawn]
    known = [number for number in numbers if number is not None]
    return max(known) if known and len(known) == len(numbers) else None


def _drawn_answer(record: Mapping[str, Any]) -> DrawnAnswer | None:
    example, system, question = (record.get(name) for name in ("example_id", "system", "question_id"))
    chance, drawn, draw = record.get(PROBABILITY), record.get("drawn"), record.get("draw")
    looks, claims, seeds = record.get("looks"), record.get("claims", []), record.get("seeds", [])
    if not all(isinstance(name, str) for name in (example, system, question)) or not isinstance(drawn, bool):
        return None
    if isinstance(chance, bool) or not isinstance(chance, int | float) or not 0 < chance <= 1:
        return None
    if any(isinstance(count, bool) or not isinstance(count, int | None) or (count or 1) < 1 for count in (draw, looks)):
        return None
    if not isinstance(claims, list) or not all(isinstance(claim, str) for claim in claims):
        return None
    if not isinstance(seeds, list) or not all(isinstance(seed, int) and not isinstance(seed, bool) for seed in seeds):
        return None
    digest = record.get(ANSWER_SHA256)
    if digest is not None and not isinstance(digest, str):
        return None
    plan = Plan(looks, tuple(claims), tuple(seeds))
    return DrawnAnswer(str(example), str(system), str(question), float(chance), drawn, digest, draw, plan)
