"""Labels of experts on items: `training.jsonl` of `longmark annotate export`, or items with status valid or invalid.

A labelled item has the experts' label as its status. Several raters of an item: the majority counts; an item with a
tie has no label. An answer that an expert edited takes the place of the item's own, and the item counts as valid; of
several edited answers the one that most experts wrote, and an item with a tie of these has no label. A
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
from longmark.errors import UnknownName
from longmark.options import named
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
class ValidityLabels:
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


def checked(items: Sequence[Item], labels: ValidityLabels) -> list[Item]:
    """The items with the experts' labels as their status, of the tier gold; with an edited answer or a chosen term.
    What an audit dropped stays dropped, and what has no label stays as it is."""
    labelled = {item.id: item for item in labels.items}
    checked_items = []
    for item in items:
        if (label := labelled.get(item.id)) and item.status != "dropped":
            names_taken = ["status", "reasons"]
            if label.status == EDITED:
                names_taken += ["answer"]
            elif item.form == "cloze" and is_valid(label):
                names_taken += ["question", "answer", "meta"]
            item = item.model_copy(
                update={"tier": "gold", **{name: getattr(label, name) for name in names_taken}}
            )
        checked_items.append(item)
    return checked_items


def families(items: Sequence[Item]) -> list[str]:
    """The family of each item: of its seed (meta.seed, else the chunk or the text of its first passage), else of the
    item that it was evolved from, else its own."""
    items_by_id = {item.id: item for item in items}

    def family(item: Item) -> str:
        seen = {item.id}
        while item.parent in items_by_id and item.parent not in seen:
            item = items_by_id[item.parent]
            seen.add(item.id)
        seed = item.meta.get("seed")
        if seed is None and item.passages:
            seed = item.passages[0].chunk or " ".join(item.passages[0].text.split())
        return f"item {item.parent or item.id}" if seed in (None, "") else f"seed {seed}"

    return [family(item) for item in items]


# Files ----------------------------------------------------------------------------------------------------------------
class _ContextText(BaseModel):
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
    contexts: tuple[_ContextText | str, ...] = ()
    term: str | None = None
    reasons: tuple[str, ...] = ()
    edited_answer: str | None = None

    def labelled(self) -> Item:
        """The item as the rater saw it. ValueError if it is none."""
        texts = [context if isinstance(context, str) else context.text for context in self.contexts]
        columns: dict[str, Any] = {
            "statement": self.statement,
            "passages": tuple(Passage(text=text) for text in texts),
        }
        if self.form != "cloze":
            columns |= {"answer": self.answer, "level": self.level, "options": self.options or None}
        return Item(id=self.item, form=self.form, question=self.question or "", **columns)


_IDENTITY = {"item": "example_id", "validity": "value", "rater": "rater"}
"""Fields of a label that the reader of labels has under its own names."""

EXPORTED = scores.LabelForm(
    {"example_id": "item", "value": "validity", "rater": "rater"},
    name="validity",
    known={"value": (VALID, INVALID)},
    whole=True,
)


def read_labels(
    path: str | Path,
    benchmark: Sequence[Item] = (),
    mapping: Mapping[str, str] | None = None,
) -> ValidityLabels:
    """The labels of a file, or of a benchmark's folder. benchmark: the items that were labelled, for what an export
    does not have: passages, marks of the audits, parents, in another tool's file also the item itself. mapping: field
    of a label -> column or path, for such a file. BadInput with the line of each record that is not a label;
    UserError if the file cannot be read; UnknownName for a field or a column that does not exist."""
    path = Path(path)
    by_id = {item.id: item for item in benchmark}
    if mapping or _is_export(path):
        labels = _of_export(path, by_id, mapping or {})
    else:
        items = [_completed(item, by_id) for item in items_of(path)]
        by_id = {**{item.id: item for item in items}, **by_id}
        labelled = [
            item
            for item in items
            if item.status in (VALID, EDITED, INVALID) and not by_validator(item)
        ]
        labels = ValidityLabels(labelled, unlabelled=len(items) - len(labelled))
    own_families = families([*by_id.values(), *labels.items])[len(by_id) :]
    labels.families = {
        item.id: family for item, family in zip(labels.items, own_families, strict=True)
    }
    return labels


def _is_export(path: Path) -> bool:
    if path.is_dir():
        return False
    _, first = next(iter(sources.records(path, sources.kind_of(path))), (0, None))
    return first is None or (isinstance(first, Mapping) and "item" in first and "id" not in first)


def _completed(item: Item, by_id: Mapping[str, Item]) -> Item:
    full_item = by_id.get(item.id)
    if full_item is None:
        return item
    added = {
        name: getattr(full_item, name)
        for name in ("passages", "parent", "level", "proposals", "marks", "meta")
    }
    return item.model_copy(update={name: value for name, value in added.items() if value})


def _of_export(path: Path, by_id: Mapping[str, Item], mapping: Mapping[str, str]) -> ValidityLabels:
    fields = [name for name in _Validity.model_fields if name not in _IDENTITY]
    for name in mapping:
        if name not in (*_IDENTITY, *fields):
            names = (*_IDENTITY, *fields)
            raise UnknownName("field", name, names, f"The fields are {', '.join(names)}.")
    columns = {_IDENTITY[name]: column for name, column in mapping.items() if name in _IDENTITY}

    def read(observation: Observation) -> tuple[Item, _Validity]:
        try:
            identity = {
                "item": observation.example_id,
                "rater": observation.rater,
                "validity": observation.label,
            }
            mapped = {
                name: _cell(observation.given, column)
                for name, column in mapping.items()
                if name in fields
            }
            item = by_id.get(observation.example_id) if mapping else None
            label = _Validity.model_validate(
                {**_shown(item), **observation.given, **mapped, **identity}
            )
            return label.labelled(), label
        except ValidationError as error:
            raise Problem(f"not a label of an item: {in_one_line(error)}") from None

    by_item: dict[str, tuple[Item, list[_Validity]]] = {}
    options = scores.ColumnOptions(mapping=columns)
    with scores.Labels(path, EXPORTED, options) as exported_labels:
        labels = ValidityLabels(unlabelled=exported_labels.empty, notices=exported_labels.notices)
        for item, label in exported_labels.each(read):
            by_item.setdefault(item.id, (item, []))[1].append(label)
    for item, validities in by_item.values():
        try:
            labels.items.append(_agreed(_completed(item, by_id), validities))
        except ValueError as error:
            labels.left_out.append(LeftOut(item.id, str(error)))
    return labels


def _cell(record: Mapping[str, Any], column: str) -> Any:
    if column not in record:
        raise Problem(f"the record has no column {column}; check {named('mapping')}")
    return record[column]


def _shown(item: Item | None) -> dict[str, Any]:
    """What a rater saw of an item, for a file that has its id alone."""
    if item is None:
        return {}
    names = ("form", "level", "question", "options", "statement", "answer")
    return {name: value for name in names if (value := getattr(item, name)) is not None}


def _agreed(item: Item, labels_given: Sequence[_Validity]) -> Item:
    """The item with its final label, else that of most raters. ValueError if there is none, or their term cannot be
    left out."""
    counting = scores.decisive(labels_given, lambda label: label.item)
    validity = plurality((label.validity for label in counting), absolute=True)
    if validity == INVALID:
        reasons = dict.fromkeys(
            reason for label in counting if label.validity == INVALID for reason in label.reasons
        )
        return item.model_copy(update={"status": INVALID, "reasons": tuple(reasons)})
    chosen = scores.decisive(
        (label for label in labels_given if label.validity == VALID and label.term),
        lambda label: label.item,
    )
    term = plurality((label.term for label in chosen), absolute=True)
    if validity is None or (item.form == "cloze" and term is None):
        raise ValueError(
            f"no majority among its {sum(label.rater != scores.FINAL for label in labels_given)} raters"
        )
    if item.form == "cloze":
        item = blank(item, term or "")
        if not item.usable:
            raise ValueError(item.reasons[-1])
    edited = scores.decisive(
        (label for label in labels_given if label.validity == VALID and label.edited_answer),
        lambda label: label.item,
    )
    new = plurality(label.edited_answer for label in edited)
    if edited and new is None and item.form != "cloze":
        raise ValueError(f"no majority among its {len(edited)} edited answers")
    if (
        new is None
        or item.form == "cloze"
        or (item.form == "mcq" and new not in (item.options or {}))
    ):
        return item.model_copy(update={"status": VALID})
    return item.model_copy(update={"status": EDITED, "answer": new})
