"""What rows belong to together: their question, or the value of a field of the examples (document, user, …)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from longmark.errors import UserError
from longmark.records import Question
from longmark.records.sources import kind_of, records
from longmark.records.write import ROW_COLUMNS

QUESTION = "question_id"
_OWN = ("task", "level", "variant_of", "variant")


def fields_of(example: Question) -> dict[str, str]:
    """The fields that can be a cluster: columns of the file that are not ours, slots of the profile, task, level,
    variant and variant_of. Lists, objects and empty values are none."""
    own = {name: getattr(example, name) for name in _OWN}
    return _texts({**(example.profile or {}), **example.meta, **own})


def columns_of(path: Path) -> Iterator[tuple[int, dict[str, str]]]:
    """The same of each row of a file of rows made elsewhere, by its line: the columns that are not a row's."""
    for place, record in records(path, kind_of(path)) if path.stat().st_size else ():
        yield place, _texts({name: value for name, value in record.items() if name.strip().lower() not in ROW_COLUMNS})


def refuse_unknown(field: str, examples: Iterable[Question]) -> None:
    """UserError, naming the fields there are, if no example has the field."""
    known: set[str] = set()
    for example in examples:
        known.update(fields_of(example))
        if field in known:
            return
    if field != QUESTION:
        raise no_such_field(field, known)


def no_such_field(field: str, known: Collection[str]) -> UserError:
    others = f"the fields are {', '.join([QUESTION, *sorted(known)])}"
    return UserError(f"--cluster {field}: no example has this field; {others}")


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    plain = {str(name): str(value) for name, value in values.items() if isinstance(value, str | int | float)}
    return {name: value for name, value in plain.items() if value.strip()}
