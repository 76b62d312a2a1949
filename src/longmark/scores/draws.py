"""The file of a draw (`longmark label next`): every answer, whether it was drawn, and with which probability.

JSON Lines, one answer each: `example_id`, `system`, `question_id`, `inclusion_probability` (of this draw and earlier
ones together), `drawn`, and where the run has the answer's text `answer_sha256` (`answer_texts`); `draw`, the number of
the draw that chose it, null if none did; and the plan, alike in all lines: `looks`, how many draws were planned, null
if none were, `claims`, those that were planned, each as "A better than B on METRIC", and `seeds`, that of each draw.
Files without these four are read; then nobody knows how often labels were drawn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from longmark.assertions.grammar import BETTER, PairAssertion, parsed
from longmark.errors import UserError
from longmark.progress import counted
from longmark.records import sources
from longmark.records.files import BadLines, at
from longmark.records.values import Problem, found
from longmark.scores.answer_texts import ANSWER_SHA256
from longmark.scores.labels import PROBABILITY, first_few


class SystemClaim(NamedTuple):
    """That one system is better than another on a metric: higher labels, on average."""

    better: str
    worse: str
    metric: str

    def __str__(self) -> str:
        return f"{self.better} better than {self.worse} on {self.metric}"


def parsed_claim(text: str) -> SystemClaim:
    """The claim of a text, an assertion that one system is better. UserError for a text that is none."""
    try:
        assertion = parsed(text, "--claim")
    except UserError as error:
        if "about two systems" in str(error):
            raise
        assertion = None
    if (
        not isinstance(assertion, PairAssertion)
        or assertion.relation != BETTER
        or not assertion.metric
        or assertion.selectors
        or assertion.confidence is not None
        or assertion.margin is not None
    ):
        raise UserError(f"--claim: expected 'A better than B on METRIC', found {text!r}")
    return SystemClaim(assertion.first, assertion.second, assertion.metric)


@dataclass(frozen=True, slots=True)
class DrawPlan:
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
    plan: DrawPlan = DrawPlan()

    def record(self) -> dict[str, Any]:
        about = {
            "example_id": self.example_id,
            "system": self.system,
            "question_id": self.question_id,
        }
        text = {} if self.digest is None else {ANSWER_SHA256: self.digest}
        plan = {
            "looks": self.plan.looks,
            "claims": list(self.plan.claims),
            "seeds": list(self.plan.seeds),
        }
        return {
            **about,
            PROBABILITY: self.probability,
            "drawn": self.drawn,
            "draw": self.draw,
            **text,
            **plan,
        }

    def is_of(self, digest: str | None) -> bool:
        """Whether it can be the answer with this text; where either is not known, it can."""
        return self.digest is None or digest is None or self.digest == digest


def read_draw(path: Path) -> list[DrawnAnswer]:
    """The answers of a draw. UserError, with the line, for a file that is none."""
    answers = list[DrawnAnswer]()
    wrong = BadLines()
    lines = dict[tuple[str, str], int]()
    for line, record in sources.records(path, sources.kind_of(path)):
        if not answers and isinstance(record, Mapping) and "drawn" not in record:
            raise UserError(
                f"{path} is not a file of `longmark label next`: line {line} has {first_few(record, 8)}, and a draw has "
                f"example_id, system, question_id, {PROBABILITY}, drawn. Name the file that `label next --out` wrote"
            )
        try:
            answer = _drawn_answer(record)
        except Problem as problem:
            wrong.add(
                at(str(path), line, f"expected an answer of `longmark label next`: {problem}")
            )
            continue
        if (before := lines.setdefault((answer.example_id, answer.system), line)) != line:
            wrong.add(
                at(
                    str(path),
                    line,
                    f"{answer.example_id} ({answer.system}) stands in line {before} already",
                )
            )
        else:
            answers.append(answer)
    wrong.check()
    if not answers:
        raise UserError(f"{path} is empty; name the file that `longmark label next` wrote")
    if any(answer.plan != answers[0].plan for answer in answers):
        raise UserError(
            f"{path}: its lines have different plans (looks, claims, seeds); a draw has one"
        )
    return answers


@dataclass(frozen=True, slots=True)
class Departures:
    """How the answers of the runs are not those that were drawn, each with the ids of such answers. changed: of another
    text now; added: that the draw could not choose; removed: that the draw knows, and the runs have no more;
    texts_compared: whether the draw and the runs have texts."""

    changed: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    texts_compared: bool = False

    def __bool__(self) -> bool:
        return bool(self.changed or self.added or self.removed)

    def in_words(self) -> str:
        """Each kind with its number and the first ids, as parts of a sentence."""
        kinds = (
            (self.changed, "answer has another text now", "answers have another text now"),
            (self.added, "answer is not in the draw", "answers are not in the draw"),
            (
                self.removed,
                "answer of the draw is no longer there",
                "answers of the draw are no longer there",
            ),
        )
        return "; ".join(
            f"{counted(len(ids), singular, several)} ({first_few(ids, 3)})"
            for ids, singular, several in kinds
            if ids
        )


def draw_number(answers: Sequence[DrawnAnswer]) -> int | None:
    """The number of the last draw; None where the file does not know by which draw each answer was chosen."""
    numbers = [answer.draw for answer in answers if answer.drawn]
    stated = [number for number in numbers if number is not None]
    return max(stated) if stated and len(stated) == len(numbers) else None


def _drawn_answer(record: Any) -> DrawnAnswer:
    """Raises Problem, which names the field, for a record that is none."""
    if not isinstance(record, Mapping):
        raise Problem(f"found {found(record)}")
    for name in ("example_id", "system", "question_id"):
        _check(record, name, isinstance(record.get(name), str), "a text")
    chance: Any = record.get(PROBABILITY)
    looks: Any = record.get("looks")
    claims: Any = record.get("claims", [])
    seeds: Any = record.get("seeds", [])
    is_number = isinstance(chance, int | float) and not isinstance(chance, bool)
    _check(record, PROBABILITY, is_number and 0 < chance <= 1, "a number above 0, at most 1")
    _check(record, "drawn", isinstance(record.get("drawn"), bool), "true or false")
    for name in ("draw", "looks"):
        count: Any = record.get(name)
        _check(
            record,
            name,
            count is None or (_is_whole(count) and count >= 1),
            "a whole number from 1, or null",
        )
    digest = record.get(ANSWER_SHA256)
    _check(record, ANSWER_SHA256, isinstance(digest, str | None), "a text")
    are_texts = isinstance(claims, list) and all(isinstance(claim, str) for claim in claims)
    _check(record, "claims", are_texts, "a list of texts")
    _check(
        record,
        "seeds",
        isinstance(seeds, list) and all(map(_is_whole, seeds)),
        "a list of whole numbers",
    )
    return DrawnAnswer(
        record["example_id"],
        record["system"],
        record["question_id"],
        float(chance),
        record["drawn"],
        digest,
        record.get("draw"),
        DrawPlan(looks, tuple(claims), tuple(seeds)),
    )


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _check(record: Mapping[str, Any], name: str, fits: bool, expected: str) -> None:
    if not fits:
        raise Problem(f"{name}: expected {expected}, found {found(record.get(name))}")
