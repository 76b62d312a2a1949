"""Two answers to one question, and which of them people preferred."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import suppress
from typing import Any, ClassVar, Literal, get_args

import orjson
from pydantic import Field, ValidationError

from longmark.errors import UserError
from longmark.records.example import Example, Question
from longmark.records.files import MOST_VALUES, NotJson, check_values, own_json
from longmark.records.turn import Turn, shown
from longmark.records.values import in_one_line

Choice = Literal["a", "b", "tie"]
Mode = Literal["human/human", "human/model", "model/model"]
Side = Literal["a", "b"]
_BOTH: tuple[Side, Side] = ("a", "b")

CATEGORIES = (
    "factoid",
    "comparative",
    "definition",
    "analytical",
    "evaluation",
    "inferential",
    "application",
)
"""The seven categories of questions (CALF, appendix A.2)."""

ExpansionCheck = Literal["factual_error", "new_information", "improper_expansion"]
EXPANSION_CHECKS: tuple[ExpansionCheck, ...] = get_args(ExpansionCheck)
"""What people look for in an expanded reference (CALF, appendix B.2): yes or no, each."""

HUMAN = "human"  # the system of an answer that a person wrote
_SHARED = frozenset(
    ("question", "contexts", "context_claims", "profile", "task", "level", "options", "meta")
)
_SHARED |= {"variant_of", "variant"}


class Pair(Question):
    """Two answers to one question. Beside the fields of a `Question`:

    a, b                 the answers, as they stand; "" is an empty one
    a_system, b_system   who wrote them: a model's name, or `human`
    b_turns              the conversation up to the question of b, where it differs from that of a, `turns`
    expanded_reference   the reference as prose, with the same key points
    subject              of the question
    category             of the question: one of `CATEGORIES`, or another data set's own
    mode                 who is compared; if it is not given and an answer is by `human`, it follows from the systems
    labels               rater -> choice
    label                the final choice; if it is not given, the one that most raters made, None where two lead
    expansion_checks     rater -> error of the expanded reference -> whether it is there

    The labels are no part of `content_hash`, as no metric sees them: a run is not scored again for a new rater.
    """

    _NOT_SCORED: ClassVar[dict[str, Any]] = Question._NOT_SCORED | dict.fromkeys(
        ("labels", "label", "expansion_checks"), True
    )
    _NOT_SCORED["b_turns"] = Question._NOT_SCORED["turns"]

    a: str
    b: str
    a_system: str | None = None
    b_system: str | None = None
    b_turns: tuple[Turn, ...] = ()
    expanded_reference: str | None = None
    subject: str | None = None
    category: str | None = None
    mode: Mode | None = None
    labels: dict[str, Choice] = Field(default_factory=dict)
    label: Choice | None = None
    expansion_checks: dict[str, dict[ExpansionCheck, Literal["yes", "no"]]] = Field(
        default_factory=dict
    )

    def model_post_init(self, _context: Any) -> None:
        super().model_post_init(_context)
        if self.label is None and self.labels:
            object.__setattr__(self, "label", plurality(self.labels.values()))
        humans = (self.a_system == HUMAN) + (self.b_system == HUMAN)
        if self.mode is None and humans and self.a_system and self.b_system:
            object.__setattr__(self, "mode", "human/human" if humans == 2 else "human/model")

    @property
    def best_references(self) -> tuple[str, ...]:
        """The expanded reference, else the references."""
        return (self.expanded_reference,) if self.expanded_reference else self.references

    def text(self, which: Side) -> str:
        return self.a if which == "a" else self.b

    def turns_of(self, which: Side) -> tuple[Turn, ...]:
        """The turns before an answer."""
        return self.b_turns if which == "b" and self.b_turns else self.turns

    @property
    def has_two_conversations(self) -> bool:
        """Whether the answers follow different turns, system prompts aside."""
        of_a, of_b = (
            [turn for turn in self.turns_of(which) if turn.role != "system"] for which in _BOTH
        )
        return of_a != of_b

    @property
    def asked(self) -> str:
        """As of a question; where the answers follow different turns, the question alone, since `shown` has them."""
        return (self.question or "") if self.has_two_conversations else super().asked

    def shown(self, which: Side) -> str:
        """An answer as a judge is shown it: with the conversation before it where the other one follows different turns."""
        answer = self.text(which)
        if not self.has_two_conversations or not answer.strip():
            return answer
        turns = (*self.turns_of(which), Turn(role="assistant", text=answer))
        visible = ((n, turn) for n, turn in enumerate(turns, 1) if turn.role != "system")
        return f"The answer is the last of these turns.\n{shown(visible)}"

    def side(self, which: Side) -> Example:
        """The question with one of the answers, as single-answer metrics see it. Its reference is the expanded one, if
        there is one; its id is the pair's, with `#a` or `#b`."""
        shared = {name: getattr(self, name) for name in self.model_fields_set & _SHARED}
        fields = {
            "id": f"{self.id}#{which}",
            "question_id": self.question_id,
            **({"turns": turns} if (turns := self.turns_of(which)) else {}),
            "answer": self.text(which),
            "references": self.best_references,
            "system": (self.a_system if which == "a" else self.b_system) or self.system,
        }
        return Example.model_construct(**(shared | fields))


Answered = Example | Pair
"""A line of an examples file: a question with one answer, or with two."""


def singles(examples: Iterable[Answered], source: object) -> Iterator[Example]:
    """The examples, where none may be a pair. source: where they are from, for the UserError."""
    for example in examples:
        if isinstance(example, Pair):
            raise UserError(
                f"{source} contains pairs; name a run or a file with one answer per line"
            )
        yield example


def plurality(votes: Iterable[Any], *, absolute: bool = False) -> Any:
    """The most frequent vote; None where two or more lead, or there are none. absolute: also where no more than half of
    the votes are equal to it."""
    counts = Counter(votes)
    (best, most_votes), (_, second) = [*counts.most_common(2), (None, 0), (None, 0)][:2]
    return best if most_votes > (counts.total() / 2 if absolute else second) else None


_HUGE = re.compile(rb"\d{19}")


def example_of(line: bytes) -> Answered:
    """The Example of a line of an examples file, a Pair where it has the answers `a` and `b`. NotJson or another
    ValueError, with the fields that are wrong, if it is none."""
    if _HUGE.search(line):  # pydantic takes whole numbers that orjson could not write again
        line = orjson.dumps(own_json(line))
    try:
        return own_example_of(line)
    except ValidationError as error:
        if error.errors()[0]["type"] == "json_invalid":
            raise NotJson(f"is not JSON: {error.errors()[0]['ctx']['error']}") from None
        raise ValueError(in_one_line(error)) from None


def own_example_of(line: bytes) -> Answered:
    """As `example_of`, for a line of `to_json`: no other program wrote its numbers. ValidationError."""
    check_values(line, MOST_VALUES)
    if b'"a":' in line and b'"b":' in line:
        with suppress(orjson.JSONDecodeError):  # pydantic has the better message
            fields = own_json(line)
            if isinstance(fields, dict) and "a" in fields and "b" in fields:
                return Pair.model_validate_json(line)
    return Example.model_validate_json(line)
