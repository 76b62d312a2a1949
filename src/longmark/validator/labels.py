"""Labels of experts on items: `training.jsonl` of `longmark annotate export`, or items with status valid or invalid.

Several raters of an item: the majority counts; an item with a tie has no label. An answer that an expert edited takes
the place of the item's own, and the item counts as valid. A family is what is from one seed passage, with all
evolutions: it is never on both sides of a split.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
from pydantic import ValidationError

from longmark.datasets import LeftOut
from longmark.datasets.benchmark import items_of
from longmark.datasets.benchmark.cloze import blank
from longmark.records import sources
from longmark.records.benchmark import Form, Item, Passage
from longmark.records.files import BadLines, at
from longmark.records.values import Problem, found, in_one_line

VALID, INVALID = "valid", "invalid"
POSITIVE = frozenset({VALID, "edited"})


@dataclass(frozen=True)
class Case:
    """An item with its label. term: of a valid cloze item, the word that was chosen; edited: the item has the expert's
    text; raters: how many labelled it; reasons: why it is invalid, each once."""

    item: Item
    valid: bool
    family: str
    term: str | None = None
    edited: bool = False
    raters: int = 1
    reasons: tuple[str, ...] = ()


@dataclass
class Labels:
    """left_out: items without a majority; unlabelled: items of a file without a verdict."""

    cases: list[Case] = field(default_factory=list)
    left_out: list[LeftOut] = field(default_factory=list)
    unlabelled: int = 0

    def of(self, form: Form) -> list[Case]:
        return [case for case in self.cases if case.item.form == form]


def checked(items: Sequence[Item], labels: Labels) -> list[Item]:
    """The items with the experts' verdicts as their status, of the tier gold; with an edited answer or a chosen term.
    What an audit dropped stays dropped, and what has no label stays as it is."""
    cases = {case.item.id: case for case in labels.cases}
    made = []
    for item in items:
        case = cases.get(item.id)
        if case is None or item.status == "dropped":
            made.append(item)
            continue
        if case.term is not None and case.term != item.answer:
            item = blank(item, case.term)
            if not item.usable:  # the word is more than half of the statement
                made.append(item)
                continue
        status = "edited" if case.edited else VALID if case.valid else INVALID
        answer = case.item.answer if case.edited else item.answer
        changed = {"status": status, "tier": "gold", "reasons": case.reasons, "answer": answer}
        made.append(item.model_copy(update=changed))
    return made


def by_validator(item: Item) -> bool:
    """Whether its status is a validator's: no label, since nobody checked the item."""
    return "validator" in item.meta and item.tier != "gold"


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


def read_labels(path: str | Path, benchmark: Sequence[Item] = ()) -> Labels:
    """The labels of a file, or of a benchmark's folder. benchmark: the items that were labelled, for what an export
    does not have: passages, marks of the audits, parents. BadInput with the line of each record that is not a label;
    UserError if the file cannot be read."""
    path = Path(path)
    if path.is_dir() or not _is_export(path):
        return _of_items(items_of(path), {item.id: item for item in benchmark})
    return _of_export(path, {item.id: item for item in benchmark})


def _is_export(path: Path) -> bool:
    for _, record in sources.records(path, sources.kind_of(path)):
        return isinstance(record, Mapping) and "item" in record and "id" not in record
    return False


def _of_items(items: list[Item], known: Mapping[str, Item]) -> Labels:
    labels = Labels()
    whole = [_completed(item, known) for item in items]
    for item, family in zip(whole, families([*known.values(), *whole])[len(known) :], strict=True):
        if item.status not in (*POSITIVE, INVALID) or by_validator(item):
            labels.unlabelled += 1
            continue
        valid = item.status in POSITIVE
        term = item.answer if item.form == "cloze" and valid else None
        labels.cases.append(Case(item, valid, family, term, item.status == "edited", 1, item.reasons))
    return labels


def _completed(item: Item, known: Mapping[str, Item]) -> Item:
    own = known.get(item.id)
    if own is None:
        return item
    added = {name: getattr(own, name) for name in ("passages", "parent", "level", "proposals", "marks", "meta")}
    return item.model_copy(update={name: value for name, value in added.items() if value})


def _of_export(path: Path, known: Mapping[str, Item]) -> Labels:
    items: dict[str, Item] = {}
    verdicts: dict[str, list[tuple[str, str | None]]] = {}
    edits: dict[str, list[str]] = {}
    why: dict[str, list[str]] = {}
    bad, labels = BadLines(), Labels()
    for line, record in sources.records(path, sources.kind_of(path)):
        try:
            item, verdict, term = _label(record)
        except (Problem, ValueError) as error:
            message = in_one_line(error) if isinstance(error, ValidationError) else str(error)
            bad.add(at(path, line, f"not a label of an item: {message}"))
            continue
        items.setdefault(item.id, _completed(item, known))
        if verdict is None:
            labels.unlabelled += 1
            continue
        verdicts.setdefault(item.id, []).append((verdict, term))
        why.setdefault(item.id, []).extend(record.get("reasons") or () if verdict == INVALID else ())
        if edited := record.get("edited_answer"):
            edits.setdefault(item.id, []).append(edited)
    bad.check()
    own = families([*known.values(), *items.values()])[len(known) :]
    for item, family in zip(items.values(), own, strict=True):
        if not (given := verdicts.get(item.id)):
            continue
        verdict = _majority(verdict for verdict, _ in given)
        term = _majority(term for verdict, term in given if verdict == VALID and term) if item.form == "cloze" else None
        if verdict is None or (item.form == "cloze" and verdict == VALID and term is None):
            labels.left_out.append(LeftOut(item.id, f"no majority among its {len(given)} raters"))
            continue
        new = edits.get(item.id, [""])[-1]
        edited = verdict == VALID and bool(new) and (item.form == "freeform" or new in (item.options or {}))
        if edited:
            item = item.model_copy(update={"answer": new})
        reasons = tuple(dict.fromkeys(why[item.id])) if verdict == INVALID else ()
        labels.cases.append(Case(item, verdict == VALID, family, term, edited, len(given), reasons))
    return labels


def _label(record: Any) -> tuple[Item, str | None, str | None]:
    """The item of a line of an export, its verdict and its term."""
    if isinstance(record, sources.Unreadable):
        raise Problem(record.message)
    if not isinstance(record, Mapping) or not isinstance(record.get("item"), str):
        raise Problem(f"expected the fields item, form and verdict, found {found(record)}")
    verdict, term = record.get("verdict"), record.get("term")
    if verdict not in (VALID, INVALID, None):
        raise Problem(f"verdict: expected {VALID} or {INVALID}, found {found(verdict)}")
    cloze = record.get("form") == "cloze"
    names = ("form", "level", "question", "options", "statement", *(() if cloze else ("answer",)))
    fields = {name: record[name] for name in names if record.get(name) not in (None, "")}
    passages = [_passage(one) for one in record.get("contexts") or ()]
    data = {**fields, "id": record["item"], "passages": [one.model_dump() for one in passages]}
    if cloze:
        data.pop("level", None)
    return Item.model_validate_json(orjson.dumps(data)), verdict, term


def _passage(given: Any) -> Passage:
    if isinstance(given, str):
        return Passage(text=given)
    if not isinstance(given, Mapping) or not isinstance(given.get("text"), str):
        raise Problem(f"contexts: expected passages with a text, found {found(given)}")
    return Passage(text=given["text"])


def _majority(given: Iterable[str]) -> str | None:
    """What more than half gave; None if there is none."""
    counts = Counter(given)
    best = counts.most_common(1)
    return best[0][0] if best and 2 * best[0][1] > counts.total() else None
