"""What rows belong to together: their question, or the value of a field of the examples (document, user, …)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from longmark.errors import UserError
from longmark.options import named
from longmark.options.analyses import ComparedSystems
from longmark.records import Question
from longmark.records.metric_name import slice_name
from longmark.records.sources import kind_of, records
from longmark.records.write import ROW_COLUMNS

QUESTION = "question_id"
MOST_SLICES = 50  # values of a field that answers are cut by
_OWN = ("task", "level", "variant_of", "variant")


def fields_of(example: Question) -> dict[str, str]:
    """The fields that can be a cluster: columns of the file that are not ours, slots of the profile, task, level,
    variant and variant_of. Lists, objects and empty values are none."""
    own_fields = {name: getattr(example, name) for name in _OWN}
    return _texts({**(example.profile or {}), **example.meta, **own_fields})


def columns_of(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The same of each row of a file of rows made elsewhere, by its line: the columns that are not a row's."""
    for place, record in records(path, kind_of(path)) if path.stat().st_size else ():
        yield (
            place,
            _texts(
                {
                    name: value
                    for name, value in record.items()
                    if name.strip().lower() not in ROW_COLUMNS
                }
            ),
        )


def refuse_unknown(field: str, examples: Iterable[Question]) -> None:
    """UserError, naming the fields there are, if no example has the field."""
    names: set[str] = set()
    for example in examples:
        names.update(fields_of(example))
        if field in names:
            return
    if field != QUESTION:
        raise no_such_field(field, names)


def slices_of(fields: Iterable[str], examples: Iterable[Question]) -> list[str]:
    """The names of the slices that fields cut examples into. UserError for a field that no example has."""
    values: dict[str, dict[str | None, None]] = {field: {} for field in fields}
    names: set[str] = set()
    for example in examples if values else ():
        example_fields = fields_of(example)
        names.update(example_fields)
        for field, found_values in values.items():
            found_values[example_fields.get(field)] = None
    for field, found_values in values.items():
        check_slices(field, found_values, names)
    return [
        slice_name(field, value) for field, found_values in values.items() for value in found_values
    ]


def check_slices(field: str, values: Collection[str | None], names: Collection[str]) -> None:
    """UserError for a field that no example has, or that has too many values to be looked at one by one."""
    if not {*values} - {None}:
        raise no_such_field(field, names, named("slices", field, ComparedSystems), ())
    if len(values) > MOST_SLICES:
        raise UserError(
            f"{named('slices', field, ComparedSystems)}: the field has {len(values):,} values; "
            f"name one with at most {MOST_SLICES}"
        )


def no_such_field(
    field: str,
    names: Collection[str],
    option: str = "",
    own: Collection[str] = (QUESTION,),
) -> UserError:
    """option: what named the field, as a message has it; "": the option `cluster`."""
    hint = (
        f"the fields are {', '.join([*own, *sorted(names)])}"
        if own or names
        else "the examples have no fields"
    )
    option = option or named("cluster", field)
    return UserError(f"{option}: no example has this field; {hint}")


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    plain = {
        str(name): str(value)
        for name, value in values.items()
        if isinstance(value, str | int | float)
    }
    return {name: value for name, value in plain.items() if value.strip()}
