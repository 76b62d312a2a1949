"""Reads a study, and checks what pydantic cannot see: names that do not exist, keys that collide, parts that do not fit
each other; and known answers that no rater can give."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from longmark.contrib.annotate.study import (
    JUSTIFICATION,
    RESERVED_KEYS,
    SIDES,
    TYPES,
    AskedField,
    Compare,
    Errors,
    Matrix,
    Scale,
    Study,
    spread,
)
from longmark.errors import UnknownName, UserError
from longmark.records import yaml_file
from longmark.records.files import parse_json, text
from longmark.records.same import comparable
from longmark.records.values import Problem, found, missing, problems
from longmark.records.yaml_file import Where, repeats

_WIDEST_SCALE = 101
_LARGEST_GUIDELINES = 1 << 20  # bytes


def contradictions(study: Study) -> Iterator[tuple[Where, str]]:
    """Where the parts of a study do not fit each other."""
    before: dict[str, AskedField] = {}
    for i, field in enumerate(study.fields):
        yield from (
            (("fields", i, *place), problem) for place, problem in _of_field(field, study, before)
        )
        for single in spread(field):
            if single.name in before or single.name == JUSTIFICATION:
                conflict = (
                    "is reserved for adjudication"
                    if single.name == JUSTIFICATION
                    else "appears twice"
                )
                yield ("fields", i, "name"), f"{single.name} {conflict}"
            before[single.name] = single
    for i in repeats(study.show):
        yield ("show", i), f"{study.show[i]} appears twice"
    for i, name in enumerate(study.show):
        if study.blind.systems == "hidden" and name in ("system", "a_system", "b_system"):
            yield (
                ("show", i),
                f"{name} is hidden from raters; set blind.systems to shown, or remove it",
            )
    if study.differences == "marked" and not study.pairs:
        yield ("differences",), "are those of two answers; set items.from to pairs"
    for name in study.suggestions:
        if name not in before:
            yield ("suggestions", name), _unknown(name, before)
    rules = study.assignment
    for i, name in enumerate(rules.adjudication.fields if rules.adjudication else ()):
        if name not in before:
            yield ("assignment", "adjudication", "fields", i), _unknown(name, before)
    if rules.adjudication and rules.overlap < 2:
        yield ("assignment", "overlap"), "must be 2 or more, because adjudication compares raters"
    for kind in ("training", "qualification"):
        if (tries := getattr(rules, kind)) and tries.attempts > 1 and tries.items is None:
            yield (
                ("assignment", kind, "attempts"),
                "needs `items`, the number of items of each attempt",
            )
    if (rules.order == "priority") != (rules.priorities is not None):
        problem = (
            "is missing; order: priority needs this file"
            if rules.priorities is None
            else "needs order: priority"
        )
        yield ("assignment", "priorities"), problem


def columns_named(study: Study) -> Iterator[tuple[str, str]]:
    """(where, column) of all columns that a study relies on."""
    yield from (("`show`", column) for column in study.show)
    conditions = ((field.name, field.when) for field in study.asked if field.when is not None)
    yield from (
        (f"`when` of {name}", when.item) for name, when in conditions if when.item and when.is_
    )
    yield from (("`suggestions`", column) for column in study.suggestions.values())
    if study.assignment.blocks not in (None, "question_id"):
        yield "`blocks`", str(study.assignment.blocks)


def _of_field(
    field: AskedField, study: Study, before: Mapping[str, AskedField]
) -> Iterator[tuple[Where, str]]:
    options = {
        name: getattr(field, name)
        for name in ("options", "tags", "values", "reasons")
        if hasattr(field, name)
    }
    for part, choices in options.items():
        yield from (
            ((part, i), f"{choices[i].value} appears twice")
            for i in repeats([option.value for option in choices])
        )
        for i, one in enumerate(choices):
            if one.key in RESERVED_KEYS:
                yield (
                    (part, i, "key"),
                    f"the key {one.key} is reserved ({', '.join(sorted(RESERVED_KEYS))})",
                )
        own_keys = [option.key for option in choices if option.key]
        yield from (((part,), f"the key {own_keys[i]} appears twice") for i in repeats(own_keys))
    if field.when is not None:
        if (field.when.field is None) == (field.when.item is None):
            yield (
                ("when",),
                "must name a field or a column of the item: `field: NAME` or `item: COLUMN`",
            )
        elif field.when.field is not None and not field.when.is_:
            yield ("when", "is"), "is missing; name the values with which the field is asked"
        elif field.when.field is not None and field.when.field not in before:
            yield ("when", "field"), f"{field.when.field} is not an earlier field"
        elif field.when.field is not None:
            possible_values = getattr(before[field.when.field], "possible", ())  # else any
            for value in field.when.is_:
                if possible_values and value not in possible_values:
                    yield (
                        ("when", "is"),
                        f"{value} is not a value of {field.when.field}: {', '.join(possible_values[:20])}",
                    )
    if isinstance(field, Scale):
        if not field.min < field.max or field.max - field.min >= _WIDEST_SCALE:
            yield ("max",), f"must be from {field.min + 1} to {field.min + _WIDEST_SCALE - 1}"
        for number in field.anchors:
            if not field.min <= number <= field.max:
                yield ("anchors", number), f"is not on the scale from {field.min} to {field.max}"
    if isinstance(field, Errors) and field.none in [option.value for option in field.options]:
        yield ("none",), f"{field.none} is also in `options`; remove it there"
    over_column = getattr(field, "over", None)
    sides = {*SIDES, "answers"} if study.pairs else set()
    if over_column is not None and over_column not in {
        *study.show,
        *(sides if "answers" in study.show else ()),
    }:
        yield ("over",), f"{over_column} is not in `show`"
    if (
        isinstance(field, Matrix)
        and isinstance(field.rows, str)
        and field.rows not in ("typed", *study.show)
    ):
        yield (
            ("rows",),
            f"{field.rows} is not in `show`; name a shown list, write the points, or write typed",
        )
    if isinstance(field, Compare) and not study.pairs:
        yield ("type",), "compares two answers; set items.from to pairs"


def _unknown(name: str, fields: Mapping[str, Any]) -> str:
    return str(UnknownName("field", name, fields, f"The fields are {', '.join(fields)}."))


# Known answers --------------------------------------------------------------------------------------------------------
def gold_of(raw: Any, study: Study, needed: bool) -> dict[str, Any] | None:
    """The known answers of an item. Raises Problem."""
    if isinstance(raw, str):
        try:
            raw = parse_json(raw)
        except ValueError as error:
            raise Problem(f"gold: {error}") from None
    if missing(raw) and not needed:
        return None
    if not isinstance(raw, Mapping) or not raw:
        raise Problem("gold: expected the known answers, an object from field to value")
    fields = {field.name: field for field in study.asked}
    for field_name, answer in raw.items():
        if field_name not in fields:
            raise Problem(f"gold: {UnknownName('field', str(field_name), fields)}")
        if (wrong := _wrong_answer(fields[field_name], answer)) is not None:
            raise Problem(f"gold: {wrong}")
    return dict(raw)


def _wrong_answer(field: AskedField, answer: Any) -> str | None:
    """Why no rater can give a known answer of an item; None if one can."""
    answer_values = [str(part) for part in (answer if isinstance(answer, list) else [answer])]
    possible_values = getattr(field, "possible", [])
    if isinstance(field, Scale):
        possible_values = [str(number) for number in range(field.min, field.max + 1)]
    possible = {comparable(value) for value in possible_values}
    wrong = [
        value for value in answer_values if possible_values and comparable(value) not in possible
    ]
    if not wrong and answer_values:
        return None
    return f"{wrong[0] if wrong else found(answer)} is not a value of {field.name}: {', '.join(possible_values[:20])}"


# Reading ------------------------------------------------------------------------------------------------------------
def load(path: Path) -> Study:
    """The study of a file, with its guidelines read if they are in a file of their own."""
    if path.is_dir():
        raise UserError(
            f"{path} is a folder; a study is a YAML file. Write one: longmark annotate init {path}"
        )
    source = yaml_file.load(path, "STUDY", words=True)
    content = source.table("a study (title, items, show, fields, …)")
    try:
        study = Study.model_validate(content)
    except ValidationError as error:
        source.check(_placed(place, problem) for place, problem in problems(error))
        raise  # never: an error has problems
    source.check(contradictions(study))
    texts = {
        name: _from_file(name, getattr(study, name), path) for name in ("guidelines", "consent")
    }
    return study.model_copy(update=texts)


def _from_file(name: str, text_or_path: str, path: Path) -> str:
    if "\n" in text_or_path.strip() or not text_or_path.strip().lower().endswith(
        (".md", ".markdown", ".txt")
    ):
        return text_or_path
    file = path.parent / text_or_path.strip()
    if not file.exists():
        raise UserError(
            f"{path}: {name}: {file} does not exist; write the text here, or name a file"
        )
    return text(file, _LARGEST_GUIDELINES, f"{name} {file}")


def _placed(place: Where, problem: str) -> tuple[Where, str]:
    """A mistake with its place in the file: pydantic adds the type of a field and the branches of a union."""
    parts = list(place)
    if len(parts) > 2 and parts[0] == "fields" and parts[2] in TYPES:
        del parts[2]
    if parts and parts[0] == "fields" and ("Input tag" in problem or "extract tag" in problem):
        return (*parts[:2], "type"), f"must be one of {', '.join(TYPES)}"
    return tuple(
        part for part in parts if not str(part).startswith(("str", "tuple[", "function-"))
    ), problem
