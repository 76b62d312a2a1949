"""An item of a study, of the columns of a record: its id, its texts, and what its passages and lists hold."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from dataclasses import field as with_default
from typing import Any, Literal

import orjson

from longmark.contrib.annotate.study import SIDES, Study
from longmark.records.example import question_hash
from longmark.records.expected import nuggets_of
from longmark.records.files import parse_json
from longmark.records.values import UNSTORABLE, Problem, found, missing, name, text

Kind = Literal["normal", "training", "qualification", "attention", "adjudication"]


@dataclass(frozen=True, slots=True)
class StudyItem:
    """An item as it is stored, and as JSON.

    id           unique in the study
    question_id  what items on the same question share
    systems      side -> system: of a pair `a` and `b`, else `answer`; hidden from raters if the study says so
    example_ids  side -> id of the example that was answered
    shown        name in the study's `show` -> what is shown:
                   question, answer, a, b, reference, expanded_reference, statement   text
                   passages (contexts)     list of {text, id, page}, id and page only where known
                   profile, graph          object; of a graph: covered and uncovered, lists of texts
                   key_points              list of texts
                   nuggets                 list of {text, importance}, each text once
                   options                 list of {key, text}
                   any other column        as in the file
    gold         field -> known answer, of items that check a rater; None otherwise
    kind         normal, training, qualification or attention
    meta         columns of the file that are not shown: for conditions, blocks, suggestions and exports
    probability  with which it was drawn (`longmark label next`)
    """

    id: str
    question_id: str
    systems: Mapping[str, str]
    shown: Mapping[str, Any]
    example_ids: Mapping[str, str] = with_default(default_factory=dict)
    gold: Mapping[str, Any] | None = None
    kind: Kind = "normal"
    priority: float | None = None
    meta: Mapping[str, Any] = with_default(default_factory=dict)
    probability: float | None = None

    @property
    def columns(self) -> dict[str, Any]:
        """Everything that conditions can ask for."""
        return {**self.meta, **self.shown}

    @property
    def sides(self) -> tuple[str, ...]:
        """a and b of a pair; else answer."""
        return ("a", "b") if "a" in self.shown and "b" in self.shown else ("answer",)

    def to_json(self) -> bytes:
        return orjson.dumps(asdict(self), option=orjson.OPT_NON_STR_KEYS)


def check_storable(item: StudyItem) -> None:
    """Raises Problem for an item that the database could not hold."""
    try:
        item.to_json()
    except TypeError:  # of orjson
        raise Problem(f"has {UNSTORABLE}") from None


_TEXTS = frozenset(("question", "answer", "a", "b", "reference", "expanded_reference", "statement"))
_IDS = frozenset(("id", "item", "question_id", "system", "a_system", "b_system", "gold"))


def shown_as(column: str) -> str:
    return "passages" if column == "contexts" else column


def item_of(study: Study, columns: dict[str, Any]) -> StudyItem:
    question = columns.get("question")
    item_id = _id(columns)
    systems: dict[str, str] = {}
    examples: dict[str, str] = {}
    for side, column in (("answer", "system"), *((side, f"{side}_system") for side in SIDES)):
        if side not in columns:
            continue
        if (system := name(column, columns.get(column, ""))) is not None:
            systems[side] = system
        examples[side] = item_id if side == "answer" else f"{item_id}#{side}"
    if len(examples) > 1:
        examples["pair"] = item_id
    names = [shown_as(column) for column in study.show if column != "answers"] + [
        *(SIDES if "answers" in study.show else ())
    ]
    if "answers" in study.show and not study.pairs:
        names.append("answer")
    shown_values = {}
    for column in names:
        raw = columns.get(column)
        if column == "passages" and column not in columns:
            raw = columns.get("contexts")
        if not missing(raw):
            shown_values[column] = _value(column, raw)
    hidden = {*names, *_IDS, "contexts", "references", "answer", *SIDES}
    if (
        study.pairs
    ):  # a pair is exported as it came, so that it is the same pair to a run that scored it
        hidden = {*_IDS, *SIDES, "reference"} | {
            name for name in names if shown_values.get(name) == columns.get(name)
        }
    meta = {column: value for column, value in columns.items() if column not in hidden}
    question_id = name("question_id", columns.get("question_id", "")) or (
        question_hash(question) if isinstance(question, str) else item_id
    )
    return StudyItem(item_id, question_id, systems, shown_values, examples, meta=meta)


def _id(columns: Mapping[str, Any]) -> str:
    item_id = name("id", columns.get("id", columns.get("item", "")))
    if item_id is None:
        return hashlib.sha256(orjson.dumps(columns, option=orjson.OPT_NON_STR_KEYS)).hexdigest()[
            :16
        ]
    if len(item_id) > 200 or not item_id.isprintable() or item_id in (".", ".."):
        raise Problem(
            "id: must not be . or .., have more than 200 characters, or contain control characters"
        )
    return item_id


def _value(column: str, raw: Any) -> Any:
    """A column as it is shown. Raises Problem for one of another form."""
    if column in _TEXTS:
        return text(column, raw)
    if column == "passages":
        return [_passage(f"{column}[{i}]", passage) for i, passage in enumerate(_list(column, raw))]
    if column == "options":
        pairs = list(raw.items()) if isinstance(raw, Mapping) else []
        lettered = pairs or [(chr(65 + i), option) for i, option in enumerate(_list(column, raw))]
        return [
            {"key": str(option["key"]), "text": text(column, option.get("text"))}
            if isinstance(option, Mapping) and "key" in option
            else {"key": str(key), "text": text(column, option)}
            for key, option in lettered
        ]
    if column == "key_points":
        listed = raw.splitlines() if isinstance(raw, str) else _list(column, raw)
        return [text(f"{column}[{i}]", point) for i, point in enumerate(listed) if point]
    if column == "nuggets":
        listed = [{"text": raw}] if isinstance(raw, str) and raw[:1] != "[" else _list(column, raw)
        nuggets = {nugget.text: nugget.importance for nugget in nuggets_of(column, listed)}
        return [{"text": nugget, "importance": nuggets[nugget]} for nugget in nuggets]
    if column == "graph":
        if not isinstance(raw, Mapping) or not {"covered", "uncovered"} <= raw.keys():
            raise Problem("graph: expected an object with the lists covered and uncovered")
        return {
            side: [text(side, statement) for statement in _list(side, raw[side])]
            for side in ("covered", "uncovered")
        }
    if column == "profile":
        if isinstance(raw, str):
            return {"": text(column, raw)}
        if not isinstance(raw, Mapping):
            raise Problem(f"profile: expected an object or a text, found {found(raw)}")
        return {str(key): value for key, value in raw.items()}
    return raw


def _passage(place: str, raw: Any) -> dict[str, Any]:
    if isinstance(raw, str):
        return {"text": text(place, raw)}
    if not isinstance(raw, Mapping) or not isinstance(raw.get("text"), str):
        raise Problem(
            f"{place}: expected a text, or an object with text, and id and page where known"
        )
    known_fields = {key: raw[key] for key in ("id", "page") if not missing(raw.get(key))}
    return {"text": text(place, raw["text"]), **known_fields}


def _list(place: str, raw: Any) -> Sequence[Any]:
    if isinstance(raw, str) and raw.lstrip().startswith("["):  # a cell of a CSV file
        try:
            raw = parse_json(raw)
        except ValueError as error:
            raise Problem(f"{place}: {error}") from None
    if isinstance(raw, str):
        return [raw]
    if not isinstance(raw, list | tuple):
        raise Problem(f"{place}: expected a list, found {found(raw)}")
    return raw
