"""One question with an answer to score, and what the metrics may need. `Question` is what it shares with a `Pair`.

A record from a file becomes an `Example` in `records.columns` (names of other tools) and `records.read` (files).
"""

from __future__ import annotations

import hashlib
from collections.abc import Sized
from functools import cache
from typing import Any, ClassVar, Literal, Self

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationInfo, field_validator, model_validator

from longmark.records.cited import CitedSource
from longmark.records.expected import Nugget, RubricItem
from longmark.records.same import all_canonical, comparable
from longmark.records.turn import Context, Turn, shown
from longmark.records.values import why_unstorable

EntailmentLabel = Literal["entails", "contradicts", "neutral"]

DEFECT = "defect"
DEFECTS_OMITTED = "defects_omitted"
"""Fields of `meta`: a defect's proof; at its original, the reasons for defects that were not made."""
_CLAIMS_OF = {
    "claims_by_reference": "claims",
    "reference_claims_by_answer": "reference_claims",
    "claims_by_contexts": "claims",
    "reference_claims_by_contexts": "reference_claims",
}
_FIRST = frozenset(("id", "question_id", "question", "answer", "a", "b"))


class Question(BaseModel):
    """What was asked, and what is known of it: the fields of an `Example` (one answer) and of a `Pair` (two).

    Texts and ids are in Unicode's normal form C, whatever form a file has, so that canonically equal ones are equal.

    id              unique in a file; else a hash of the content
    question_id     pairs systems, runs and variants; else a hash of the question, case and space folded
    question        what was asked; None: not given
    contexts        the passages the answer was made from, in their order; empty passages are left out
    references      right answers, any of which will do
    system          who answered; None: the run's folder names it
    variant_of      the question_id of the original, if the question is a paraphrase or perturbation
    variant         what kind of variant it is
    profile, task, level, options   what a dataset knows of the question
    reference_claims   statements of the reference, made elsewhere, where there is one reference; None: not given
    context_claims  those of each passage, in the order of contexts
    turns           the conversation up to the answer, which is its last turn; of a pair, up to the question
    turn_of         the id of the conversation of which this is a turn, or which it is (`--turns each`, `all`)
    meta            columns of the file that we do not know
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    id: str = ""
    question_id: str = ""
    question: str | None = None
    contexts: tuple[Context, ...] = ()
    references: tuple[str, ...] = ()
    system: str | None = None
    variant_of: str | None = None
    variant: str | None = None
    profile: dict[str, Any] | None = None
    task: str | None = None
    level: str | None = None
    options: dict[str, Any] | list[Any] | None = None
    reference_claims: tuple[str, ...] | None = None
    context_claims: tuple[tuple[str, ...], ...] | None = None
    turns: tuple[Turn, ...] = ()
    turn_of: str | None = None
    meta: dict[str, Any] = Field(default_factory=dict)

    _NOT_SCORED: ClassVar[dict[str, Any]] = {
        **dict.fromkeys(("id", "question_id", "turn_of"), True),
        "contexts": {"__all__": {"page"}},
        "turns": {"__all__": {"contexts": {"__all__": {"page"}}}},
    }

    @field_validator("*")
    @classmethod
    def _in_one_form(cls, value: Any, info: ValidationInfo) -> Any:
        return value if info.field_name in ("meta", "graph") else all_canonical(value)

    @model_validator(mode="after")
    def _claims_fit(self) -> Self:
        if self.context_claims is not None:
            _check_count(
                "context_claims", self.context_claims, self.contexts, "a list for each passage"
            )
        if self.reference_claims is not None and len(self.references) > 1:
            raise ValueError(
                f"reference_claims: belong to one reference, found {len(self.references)} references"
            )
        return self

    def model_post_init(self, _context: Any) -> None:
        if not self.id:
            object.__setattr__(self, "id", self.content_hash()[:16])
        if not self.question_id:
            object.__setattr__(
                self, "question_id", question_hash(self.question) if self.question else self.id
            )

    @property
    def asked(self) -> str:
        """The question as a judge is shown it: with the conversation before it, turn by turn, if there is one. System
        prompts are left out, so that a single exchange is asked as a question and an answer are."""
        question = self.question or ""
        place = max((i for i, turn in enumerate(self.turns) if turn.role == "user"), default=0)
        before = [
            (i, turn) for i, turn in enumerate(self.turns[: place + 1], 1) if turn.role != "system"
        ]
        if len(before) < 2 or before[-1][1].text != question:
            return question
        return f"The question is the last of these turns.\n{shown(before)}"

    @property
    def shown_id(self) -> str:
        """The name by which a page calls it: its id, or that of its question where only the latter was given."""
        if self.id != self.content_hash()[:16]:
            return self.id
        hashed = (self.id, question_hash(self.question or ""))  # with one of its document behind
        return self.id if self.question_id.startswith(hashed) else self.question_id

    def content_hash(self) -> str:
        """SHA-256 (hex) of all that a metric can see: every field but the ids, pages, and what people gave."""
        content = self.model_dump(exclude=self._NOT_SCORED, exclude_defaults=True)
        try:
            text = orjson.dumps(content, option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
        except TypeError as error:
            raise ValueError(f"an example {why_unstorable(error)}") from None
        return hashlib.sha256(text).hexdigest()

    def to_json(self) -> bytes:
        """One line of an examples file, without its line end; `pair.example_of` gives the same back."""
        fields = self.model_dump(exclude_defaults=True)
        ordered = {name: fields[name] for name in self.columns() if name in fields}
        return orjson.dumps(ordered, option=orjson.OPT_NON_STR_KEYS)

    @classmethod
    @cache
    def columns(cls) -> tuple[str, ...]:
        """The fields in the order of files: ids, question and answers first."""
        return tuple(sorted(cls.model_fields, key=lambda name: name not in _FIRST))


class Example(Question):
    """One answer to one question. Beside the fields of a `Question`:

    answer          the answer to score; "" is an empty answer, None a missing one
    base_answer     the answer to the original question, copied so that a variant is complete
    claims          statements of the answer, made elsewhere; (): it makes none; None: not given
    claims_by_reference              label of each claim with the reference as the premise
    reference_claims_by_answer       label of each claim of the reference with the answer as the premise
    claims_by_contexts               for each claim, a label for each passage as the premise
    reference_claims_by_contexts     for each claim of the reference, a label for each passage as the premise
    graph           the graph of statements, as node-link JSON
    sources         what the markers of the answer name, in their order; None: the contexts are
    nuggets         facts that a good answer holds; (): there are none; None: not given
    criteria        what an answer is given points for; (): there is nothing; None: not given

    Labels are `entails`, `contradicts` and `neutral`. ValueError for labels without their claims, or of another number.
    """

    answer: str | None = None
    base_answer: str | None = None
    claims: tuple[str, ...] | None = None
    claims_by_reference: tuple[EntailmentLabel, ...] | None = None
    reference_claims_by_answer: tuple[EntailmentLabel, ...] | None = None
    claims_by_contexts: tuple[tuple[EntailmentLabel, ...], ...] | None = None
    reference_claims_by_contexts: tuple[tuple[EntailmentLabel, ...], ...] | None = None
    graph: dict[str, Any] | None = None
    sources: tuple[CitedSource, ...] | None = None
    nuggets: tuple[Nugget, ...] | None = None
    criteria: tuple[RubricItem, ...] | None = None

    @model_validator(mode="after")
    def _labels_fit(self) -> Example:
        for field, claims_field in _CLAIMS_OF.items():
            labels = getattr(self, field)
            claims = getattr(self, claims_field)
            if labels is None:
                continue
            if claims is None:
                raise ValueError(
                    f"{field}: needs {claims_field}, the claims that the labels belong to"
                )
            _check_count(field, labels, claims, f"one for each of the {claims_field}")
            for i, row in enumerate(labels if field.endswith("contexts") else ()):
                _check_count(
                    f"{field}[{i}]", row, self.contexts, "one for each passage that is not empty"
                )
        return self


def _check_count(field: str, labels: Sized, expected: Sized, reason: str) -> None:
    if len(labels) != len(expected):
        raise ValueError(f"{field}: expected {len(expected)} ({reason}), found {len(labels)}")


def question_hash(question: str) -> str:
    """The question_id of a question that has none: 16 hex digits, the same for any case, spacing and composition."""
    return hashlib.sha256(comparable(question).encode("utf-8", "surrogatepass")).hexdigest()[:16]
