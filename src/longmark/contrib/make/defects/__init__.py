"""Known defects in good answers, each with a proof of what was changed and where (`make`).

    by a rule     `rules.KINDS`: a fact deleted, a number changed, sentences shuffled, padding, …
    by a model    `written`: a contradiction in other words, fluent text on another topic; a judge checks them

A defect is a line of its own: the original's question_id, passages and references, `.KIND@STRENGTH` behind its id and
its system, and the proof in `meta.defect`. Claims and labels of the answer are left out: they were of another text. The
original stands before its defects; `meta.defects_omitted` has the reason for each defect that could not be made of it.
What is made of an answer depends on its id and the seed, not on its place in the file; `neighbour` also depends on
which other answers there are.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, islice
from typing import Any

from longmark.concurrency import concurrently
from longmark.contrib.make.defects.rules import (
    KINDS,
    LANGUAGES,
    AnswerToChange,
    TextEdit,
    applied,
    language_of,
    taken,
)
from longmark.contrib.make.defects.written import calls, write
from longmark.contrib.make.perturb import NotMade
from longmark.errors import ModelError, NoScore, OverBudget, UnknownName, UserError
from longmark.models.handles import Models
from longmark.records import Example
from longmark.records.example import DEFECT, DEFECTS_OMITTED
from longmark.text.refusal import is_refusal
from longmark.text.sentences import sentence_spans

WHOLE = "all"  # the strength of what takes the place of a complete answer
STRENGTHS = ("1", "50%")
_OF_THE_ANSWER = (
    "claims",
    "claims_by_reference",
    "reference_claims_by_answer",
    "claims_by_contexts",
    "graph",
)
_ORIGINAL = "original"  # the system of originals without one


@dataclass(frozen=True, slots=True)
class Plan:
    """What is made. strengths: numbers of places (`2`) or shares of them (`50%`); language: of all answers; "": that of
    each is recognised. UnknownName or UserError for any other."""

    kinds: Sequence[str] = ()
    strengths: Sequence[str] = STRENGTHS
    seed: int = 0
    language: str = ""

    def __post_init__(self) -> None:
        for kind in self.kinds:
            if kind not in KINDS:
                raise UnknownName(
                    "kind in --kinds", kind, tuple(KINDS), f"The kinds are {', '.join(KINDS)}."
                )
        for strength in self.strengths:
            number = strength.removesuffix("%")
            if not (number.isascii() and number.isdecimal()) or not 0 < int(number) <= (
                100 if number != strength else 1000
            ):
                raise UserError(
                    f"--strength {strength}: expected a number of places, such as 2, or a share, such as 50%"
                )
        if self.language not in ("", *LANGUAGES):
            raise UserError(f"--language {self.language}: expected one of {', '.join(LANGUAGES)}")

    def all(self) -> list[tuple[str, str]]:
        """Every (kind, strength), kinds in the order of `KINDS`; by default those that a rule makes."""
        kinds = [
            name
            for name, kind in KINDS.items()
            if name in self.kinds or (not self.kinds and kind.rule)
        ]
        strengths = dict.fromkeys(self.strengths)
        return [
            (kind, strength)
            for kind in kinds
            for strength in ((WHOLE,) if KINDS[kind].whole else strengths)
        ]


async def make(
    examples: Sequence[Example],
    plan: Plan,
    models: Models | None = None,
    *,
    at_once: int = 32,
    on_answer: Callable[[], None] = lambda: None,
) -> list[Example]:
    """The originals in their order, each with its defects behind it, in the order of `Plan.all`.

    models: with a generator and a judge, for kinds without a rule. UserError if one is missing, if two lines have one
    id, or if a line is itself a defect.
    """
    kinds_asked = plan.all()
    unruled = [kind for kind, _ in kinds_asked if KINDS[kind].rule is None]
    if unruled and not (models and models.backends.generator and models.judges):
        raise UserError(
            f"{unruled[0]}: one model writes it and another checks it: add --generator and --judge"
        )
    if len({example.id for example in examples}) < len(examples):
        raise UserError(
            "two lines have the same id, so a defect could not name its original; give each line its own"
        )
    if already := next(
        (example for example in examples if {DEFECT, DEFECTS_OMITTED} & {*example.meta}), None
    ):
        raise UserError(
            f'the line "{already.id}" was made by `longmark defects`; give it the file of the originals'
        )
    ring = _Ring(examples, plan)

    async def one(example: Example) -> list[Example]:
        defects = list[Example]()
        reasons = dict[str, str]()
        for kind, strength in kinds_asked:
            try:
                defects.append(await _defect(example, kind, strength, plan, ring, models))
            except (NotMade, NoScore, ModelError, OverBudget) as error:
                reasons[f"{kind}@{strength}"] = str(error)
        on_answer()
        meta = {**example.meta, DEFECTS_OMITTED: reasons} if reasons else example.meta
        return [
            example.model_copy(update={"system": example.system or _ORIGINAL, "meta": meta}),
            *defects,
        ]

    return list(chain.from_iterable(await concurrently(one, examples, at_once)))


def expected_calls(examples: Sequence[Example], plan: Plan) -> int:
    """Calls at most, without second attempts after unreadable replies."""
    written = [(kind, strength) for kind, strength in plan.all() if KINDS[kind].rule is None]
    answers = [
        AnswerToChange(example, plan.language or language_of(example.answer), random.Random(0))
        for example in examples
        if example.answer
    ]
    return sum(calls(answer, kind, strength) for answer in answers for kind, strength in written)


async def _defect(
    example: Example, kind: str, strength: str, plan: Plan, ring: _Ring, models: Models | None
) -> Example:
    if not (example.answer or "").strip():
        raise NotMade("the line has no answer")
    if is_refusal(example.answer or ""):
        raise NotMade("the answer is a refusal")
    definition = KINDS[kind]
    language = ring.language(example)
    draw = _drawn(plan.seed, example.id, kind)
    if definition.worded and not language:
        raise NotMade(
            f"the language of the answer is not recognised as one of {', '.join(LANGUAGES)}"
        )
    answer = AnswerToChange(example, language, draw, lambda: ring.others(example, draw))
    rule = f"{kind}.{language}".rstrip(".")
    checked = {}
    if definition.rule is None:
        assert models is not None  # `make` saw to it
        chosen, n_found = await write(answer, kind, strength, plan.seed, models)
        rule = "written"
        checked = {"generator": models.generator.name, "judge": models.judges[0].name}
    else:
        places = definition.rule(answer)
        chosen = taken(
            places, "1" if definition.whole else strength, draw, ordered=kind == "truncated"
        )
        n_found = len(places)
    edits = sorted(edit for place in chosen for edit in place)
    text = applied(answer.text, edits)
    if text == answer.text:
        raise NotMade("the change gives the same text")
    proof: dict[str, Any] = {
        "kind": kind,
        "strength": strength,
        "source": example.id,
        "rule": rule,
        "seed": plan.seed,
        **checked,
    }
    proof |= {
        "places": len(chosen),
        "places_found": n_found,
        "edits": list(_shown(answer.text, edits)),
    }
    changed: dict[str, Any] = {
        "id": f"{example.id}.{kind}@{strength}",
        "system": f"{example.system or _ORIGINAL}.{kind}@{strength}",
    }
    changed |= {
        "answer": text,
        "meta": {**example.meta, DEFECT: proof},
        **dict.fromkeys(_OF_THE_ANSWER),
    }
    return example.model_copy(update=changed)


def _shown(text: str, edits: Sequence[TextEdit]) -> Iterator[dict[str, Any]]:
    """The edits as the proof has them: spans in the original and in the defect, and both texts."""
    moved = 0
    for start, end, new, note in edits:
        spans = {"before": [start, end], "after": [start + moved, start + moved + len(new)]}
        yield {**spans, "old": text[start:end], "new": new, **({"note": note} if note else {})}
        moved += len(new) - (end - start)


def _drawn(*keys: object) -> random.Random:
    digest = hashlib.sha256("\0".join(map(str, keys)).encode("utf-8", "surrogatepass")).digest()
    return random.Random(int.from_bytes(digest, "big"))


class _Ring:
    """The questions in a drawn order, which the order of the file does not change: who is next to whom."""

    def __init__(self, examples: Sequence[Example], plan: Plan) -> None:
        self._languages = {
            example.id: plan.language or language_of(example.answer or "") for example in examples
        }
        self._answers: dict[tuple[str, str], list[Example]] = {}
        for one in sorted(examples, key=lambda example: example.id):
            if one.answer:
                self._answers.setdefault((self.language(one), one.question_id), []).append(one)
        self._order = sorted(
            self._answers, key=lambda key: (key[0], _drawn(plan.seed, *key).random())
        )
        self._place = {key: place for place, key in enumerate(self._order)}

    def language(self, example: Example) -> str:
        return self._languages[example.id]

    def others(self, example: Example, draw: random.Random) -> Iterator[str]:
        """A sentence of an answer to each other question in the same language, the next question first."""
        language, question = key = self.language(example), example.question_id
        place = self._place[key]
        for key_language, other_question in chain(
            islice(self._order, place + 1, None), islice(self._order, place)
        ):
            text = draw.choice(self._answers[key_language, other_question]).answer or ""
            if (
                key_language == language
                and other_question != question
                and (spans := sentence_spans(text))
            ):
                start, end = draw.choice(spans)
                yield " ".join(text[start:end].split())
