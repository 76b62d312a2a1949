"""Labels of experts on items: `training.jsonl` of `longmark annotate export`, or items with status valid or invalid.

A labelled item has the experts' label as its status. Several raters of an item: the majority counts; an item with a
tie has no label. An answer that an expert edited takes the place of the item's own, and the item counts as valid. A
family is what is from one seed passage, with all evolutions: it is never on both sides of a split.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, ValidationError

from longmark.contrib.make.benchmark import items_of
from longmark.contrib.make.benchmark.cloze import blank
from longmark.contrib.make.left_out import LeftOut
from longmark.records import sources
from longmark.records.benchmark import Form, Item, Level, Passage
from longmark.records.pair import plurality
from longmark.records.values import Problem, in_one_line
from longmark.scores import labels as scores
from longmark.scores.observations import Observation

VALID = "valid"
EDITED = "edited"
INVALID = "invalid"


@dataclass
class Labels:
    """items: with a status of people; of a valid cloze item, the word that was chosen is the answer. families: id of
    each -> its family; left_out: items without a majority; unlabelled: without one; notices: of the file."""

    items: list[Item] = field(default_factory=list)
    families: dict[str, str] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)
    unlabelled: int = 0
    notices: list[str] = field(default_factory=list)

    def of(self, form: Form) -> list[Item]:
        return [item for item in self.items if item.form == form]

    def family(self, items: Iterable[Item]) -> list[str]:
        return [self.families[item.id] for item in items]


def is_valid(item: Item) -> bool:
    return item.status != INVALID


def by_validator(item: Item) -> bool:
    """Whether its status is a validator's: no label, since nobody checked the item."""
    return "validator" in item.meta and item.tier != "gold"


def checked(items: Sequence[Item], labels: Labels) -> list[Item]:
    """The items with the experts' labels as their status, of the tier gold; with an edited answer or a chosen term.
    What an audit dropped stays dropped, and what has no label stays as it is."""
    labelled = {item.id: item for item in labels.items}
    made = []
    for item in items:
        if (own := labelled.get(item.id)) and item.status != "dropped":
            taken = ["status", "reasons"]
            if own.status == EDITED:
                taken += ["answer"]
            elif item.form == "cloze" and is_valid(own):
                taken += ["question", "answer", "meta"]
            item = item.model_copy(
                update={"tier": "gold", **{name: getattr(own, name) for name in taken}}
            )
        made.append(item)
    return made


def families(items: Sequence[Item]) -> list[str]:
    """The family of each item: of its seed (meta.seed, else the chunk or the text of its first passage), else of the
    item that it was evolved from, else its own."""
    known = {item.id: item for item in items}

    def family(item: Item) -> str:
        seen = {item.id}
        while item.parent in known and item.parent not in seen:
            item = known[item.parent]
            seen.add(item.id)
        seed = item.meta.get("seed")
        if seed is None and item.passages:
            seed = item.passages[0].chunk or " ".join(item.passages[0].text.split())
        return f"item {item.parent or item.id}" if seed in (None, "") else f"seed {seed}"

    return [family(item) for item in items]


# Files ----------------------------------------------------------------------------------------------------------------
class _Text(BaseModel):
    text: str


class _Validity(BaseModel):
    """A line of an export, as far as it is read."""

    item: str
    form: Form
    rater: str
    validity: Literal["valid", "invalid"]
    level: Level | None = None
    question: str | None = None
    options: dict[str, str] | None = None
    statement: str | None = None
    answer: str | None = None
    contexts: tuple[_Text | str, ...] = ()
    term: str | None = None
    reasons: tuple[str, ...] = ()
    edited_answer: str | None = None

    def labelled(self) -> Item:
        """The item as the rater saw it. ValueError if it is none."""
        texts = [context if isinstance(context, str) else context.text for context in self.contexts]
        shown: dict[str, Any] = {
            "statement": self.statement,
            "passages": tuple(Passage(text=text) for text in texts),
        }
        if self.form != "cloze":
            shown |= {"answer": self.answer, "level": self.level, "options": self.options or None}
        return Item(id=self.item, form=self.form, question=self.question or "", **shown)


EXPORTED = scores.Form(
    {"example_id": "item", "value": "validity", "rater": "rater"},
    name="validity",
    known={"value": (VALID, INVALID)},
    whole=True,
)


def read_labels(path: str | Path, benchmark: Sequence[Item] = ()) -> Labels:
    """The labels of a file, or of a benchmark's folder. benchmark: the items that were labelled, for what an export
    does not have: passages, marks of the audits, parents. BadInput with the line of each record that is not a label;
    UserError if the file cannot be read."""
    path = Path(path)
    known = {item.id: item for item in benchmark}
    if _is_export(path):
        labels = _of_export(path, known)
    else:
        items = [_completed(item, known) for item in items_of(path)]
        known = {**{item.id: item for item in items}, **known}
        given = [
            item
            for item in items
            if item.status in (VALID, EDITED, INVALID) and not by_validator(item)
        ]
        labels = Labels(given, unlabelled=len(items) - len(given))
    own = families([*known.values(), *labels.items])[len(known) :]
    labels.families = {item.id: family for item, family in zip(labels.items, own, strict=True)}
    return labels


def _is_export(path: Path) -> bool:
    if path.is_dir():
        return False
    _, first = next(iter(sources.records(path, sources.kind_of(path))), (0, None))
    return first is None or (isinstance(first, Mapping) and "item" in first and "id" not in first)


def _completed(item: Item, known: Mapping[str, Item]) -> Item:
    own = known.get(item.id)
    if own is None:
        return item
    added = {
        name: getattr(own, name)
        for name in ("passages", "parent", "level", "proposals", "marks", "meta")
    }
    return item.model_copy(update={name: value for name, value in added.items() if value})


def _of_export(path: Path, known: Mapping[str, Item]) -> Labels:
    def read(one: Observation) -> tuple[Item, _Validity]:
        try:
            own = {"item": one.example_id, "rater": one.rater, "validity": one.label}
            label = _Validity.model_validate({**one.given, **own})
            return label.labelled(), label
        except ValidationError as error:
            raise Problem(f"not a label of an item: {in_one_line(error)}") from None

    by_item: dict[str, tuple[Item, list[_Validity]]] = {}
    with scores.Labels(path, EXPORTED) as given:
        labels = Labels(unlabelled=given.empty, notices=given.notices)
        for item, label in given.each(read):
            by_item.setdefault(item.id, (item, []))[1].append(label)
    for item, its in by_item.values():
        try:
            labels.items.append(_agreed(_completed(item, known), its))
        except ValueError as error:
            labels.left_out.append(LeftOut(item.id, str(error)))
    return labels


def _agreed(item: Item, given: Sequence[_Validity]) -> Item:
    """The item with its final label, else that of most raters. ValueError if there is none, or their term cannot be
    left out."""
    counting = scores.decisive(given, lambda one: one.item)
    validity = plurality((one.validity for one in counting), absolute=True)
    if validity == INVALID:
        reasons = dict.fromkeys(
            reason for one in counting if one.validity == INVALID for reason in one.reasons
        )
        return item.model_copy(update={"status": INVALID, "reasons": tuple(reasons)})
    chosen = scores.decisive(
        (one for one in given if one.validity == VALID and one.term), lambda one: one.item
    )
    term = plurality((one.term for one in chosen), absolute=True)
    if validity is None or (item.form == "cloze" and term is None):
        raise ValueError(
            f"no majority among its {sum(one.rater != scores.FINAL for one in given)} raters"
        )
    if item.form == "cloze":
        item = blank(item, term or "")
        if not item.usable:
            raise ValueError(item.reasons[-1])
    new = next((one.edited_answer for one in reversed(given) if one.edited_answer), None)
    if (
        new is None
        or item.form == "cloze"
        or (item.form == "mcq" and new not in (item.options or {}))
    ):
        return item.model_copy(update={"status": VALID})
    return item.model_copy(update={"status": EDITED, "answer": new})
