"""The labels that raters gave: a file with one rating, or one choice between two answers, per line.

Ratings:  example_id, value; and label (its name), rater, system if there are several
          or, as SCORE has them: item, label (the value); and dimension (its name), rater, system
Choices:  a, b, choice (a, b or tie, or a graded preference); and question_id, label, rater if there are several; a was
          shown first. A graded preference is a number: below 0 for a, 0 for a tie, above 0 for b

CSV, TSV, JSON Lines, JSON or Parquet, by the suffix. A file with a column `choice` contains choices. Raters can have a
column each in place of `rater` and `value` (or `choice`). Column names are compared without case; others can be mapped
to ours. A value is a number or a text; lines with an empty value, or with a word for none (NA, N/A, null), are left
out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from longmark.errors import UnknownName, UserError
from longmark.records import sources
from longmark.records.files import BAD_SHOWN, BadLines
from longmark.records.values import Problem, folded, found, looks, missing
from longmark.records.values import name as name_of

RATING = ("example_id", "system", "label", "value", "rater")
CHOICE = ("question_id", "a", "b", "choice", "label", "rater")
FIELDS = tuple(dict.fromkeys(RATING + CHOICE))
GROUPS = ("group", "mode", "subject")
"""Columns by which the figures are broken down if nothing else is asked for."""

MOST_GROUPS = 60
SHOWN = BAD_SHOWN
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_COMMA = re.compile(r"[-+]?[0-9]+,[0-9]+")
_NOT_STATED = frozenset(("na", "n/a", "n.a."))
"""Words for none that are a label of their own where every line must have one (SCORE: the detail is not stated)."""
_EMPTY = _NOT_STATED | frozenset(("", "#n/a", "#na", "<na>", "nan", "none", "null"))
_TRUTH = {True: "true", False: "false"}
_ONLY_RATER = "people"
FINAL = "final"
"""The rater of a label that was decided, or agreed on by all. For `metaeval` the label is named NAME.final."""
_SCORE_NAMES = {"example_id": "item", "label": "dimension", "value": "label"}


@dataclass(frozen=True, slots=True)
class Label:
    """One rater's label of one answer. label: its name; groups: values of the columns to break figures down by."""

    line: int
    example_id: str
    system: str | None
    label: str
    value: float | str
    rater: str
    groups: tuple[str | None, ...]

    def about(self) -> tuple[Any, ...]:
        """What was labelled, by any rater."""
        return self.label, self.example_id, self.system

    def key(self) -> tuple[Any, ...]:
        """What a file holds once."""
        return self.rater, *self.about()


@dataclass(frozen=True, slots=True)
class Choice:
    """Which of two answers a rater preferred: `a` (shown first), `b` or `tie`. grade: by how much, positive for b; None
    if the file has words."""

    line: int
    question_id: str | None
    a: str
    b: str
    label: str
    choice: str
    rater: str
    groups: tuple[str | None, ...]
    grade: float | None = None

    def about(self) -> tuple[Any, ...]:
        """What was compared, by any rater and in any order."""
        return self.label, self.question_id, *sorted((self.a, self.b))

    def key(self) -> tuple[Any, ...]:
        """What a file holds once."""
        return self.rater, self.label, self.question_id, self.a, self.b


@dataclass(frozen=True, slots=True)
class Labels:
    """The labels of a file. by: the columns of `groups`; empty: lines without a value or choice, which are left out;
    unused: columns that could have been in `by`, with the reason why they are not."""

    name: str
    ratings: tuple[Label, ...]
    choices: tuple[Choice, ...]
    by: tuple[str, ...]
    empty: int
    unused: tuple[tuple[str, str], ...] = ()

    @property
    def labels(self) -> tuple[str, ...]:
        given: Iterable[Label | Choice] = self.choices or self.ratings
        return tuple(dict.fromkeys(each.label for each in given))

    def alike(self) -> Iterator[tuple[str, ...]]:
        """Names of raters that look the same (case, width, letters of another script): probably one person."""
        by: dict[str, dict[str, None]] = {}
        for one in self.choices or self.ratings:
            by.setdefault(looks(one.rater), {})[one.rater] = None
        yield from (tuple(names) for names in by.values() if len(names) > 1)


def read_labels(
    given: str | Path | Iterable[Mapping[str, Any]],
    *,
    mapping: Mapping[str, str] | None = None,
    by: Sequence[str] = (),
    labels: Sequence[str] = (),
    raters: Sequence[str] = (),
    needed: Collection[str] = (),
) -> Labels:
    """Reads a file, or records. mapping: our field -> column; by: columns to break down by; labels: only these; raters:
    columns with the labels of one rater each; needed: fields that every line must have.

    Errors: UserError if the file as a whole cannot be used, BadInput with the first lines that are wrong (a rater who
    labelled something twice among them), UnknownName for a field, a column or a label that does not exist.
    """
    for field in mapping or {}:
        if field not in FIELDS:
            raise UnknownName("field", field, FIELDS, f"The fields are {', '.join(FIELDS)}.")
    if isinstance(given, str | Path):
        path = Path(given)
        name, records = str(path), list(sources.records(path, sources.kind_of(path)))
    else:
        name, records = "human", list(enumerate(given, 1))
    if not records:
        raise UserError(f"{name} has no records; write one rating per line")
    if raters:
        records = _by_rater(name, records, raters, mapping or {})
    columns = _Columns(name, records, mapping or {}, by, needed)
    wrong, empty = BadLines(), 0
    read: dict[tuple[Any, ...], Label | Choice] = {}
    for line, record in records:
        try:
            one = columns.label(line, record)
            if one is None:
                empty += 1
            elif (first := read.setdefault(one.key(), one)) is not one:
                wrong.add(f"{name}:{line}: {_twice(one, first.line)}")
        except Problem as problem:
            wrong.add(f"{name}:{line}: {problem}")
    wrong.check()
    unused = {} if by else _useless_groups(list(read.values()), columns.by)
    kept = [place for place in range(len(columns.by)) if place not in unused]
    every = [replace(one, groups=tuple(one.groups[place] for place in kept)) for one in read.values()]
    human = Labels(
        name,
        tuple(one for one in every if isinstance(one, Label)),
        tuple(one for one in every if isinstance(one, Choice)),
        tuple(columns.by[place] for place in kept),
        empty,
        tuple((columns.by[place], why) for place, why in unused.items()),
    )
    if not human.labels:
        raise UserError(f"{name}: no line has a {'choice' if columns.pairs else 'value'}")
    for label in labels:
        if label not in human.labels:
            raise UnknownName("label", label, human.labels, f"The labels are {', '.join(human.labels[:20])}.")
    return human


def _by_rater(
    file: str, records: Sequence[tuple[int, Any]], raters: Sequence[str], mapping: Mapping[str, str]
) -> list[tuple[int, Any]]:
    """The records, one for each rater. UnknownName for a column that does not exist; UserError if the file also has a
    column of raters or values."""
    names = dict.fromkeys(str(column) for _, record in records if isinstance(record, Mapping) for column in record)
    known = {folded(name) for name in names}
    value = "choice" if {"a", "b"} <= known | set(mapping) else "value"
    for column in raters:
        if column not in names:
            raise UnknownName("column in --raters", column, names, f"The columns are {first_few(names, 12)}.")
    if twice := sorted({"rater", value} & (known | set(mapping))):
        raise UserError(f"{file} has a column {twice[0]} and a column for each rater; omit --raters")
    lines: list[tuple[int, Any]] = []
    for line, record in records:
        if not isinstance(record, Mapping):
            lines.append((line, record))
            continue
        shared = {column: cell for column, cell in record.items() if column not in raters}
        lines += [(line, {**shared, "rater": column, value: record.get(column)}) for column in raters]
    return lines


class _Columns:
    """Which column of a file holds which field. pairs: the file holds choices; by: the columns of the groups."""

    def __init__(
        self,
        file: str,
        records: Sequence[tuple[int, Any]],
        mapping: Mapping[str, str],
        by: Sequence[str],
        needed: Collection[str],
    ) -> None:
        self._column: dict[str, str] = {}
        self._needed = needed
        self.pairs, self.by = False, tuple[str, ...]()
        names = dict.fromkeys(column for _, record in records if isinstance(record, Mapping) for column in record)
        if not names:  # every record is unreadable, each with its reason
            return
        listed = f"The columns are {first_few(names, 12)}."
        known = {folded(str(column)): column for column in reversed(names)}
        for field, column in mapping.items():
            if column not in names:
                raise UnknownName("column in --map", column, map(str, names), listed)
            self._column[field] = column
        taken = set(self._column.values())
        for field in FIELDS:
            own = known.get(_SCORE_NAMES.get(field, field) if "dimension" in known else field)
            if field not in self._column and own is not None and own not in taken:
                self._column[field] = own
        self.pairs = "choice" in self._column
        for field in dict.fromkeys((*(("a", "b", "choice") if self.pairs else ("example_id", "value")), *needed)):
            if field not in self._column:
                what = "choices between answers" if self.pairs else "ratings"
                remedy = f"name it with --map {field}=COLUMN"
                if field in ("value", "choice"):
                    remedy += ", or the columns of several raters with --raters COLUMN,…"
                raise UserError(f"{file}: {what} need a column {field}; found {first_few(names, 12)}; {remedy}")
        for column in by:
            if column not in names and folded(column) not in known:
                raise UnknownName("column in --by", column, map(str, names), listed)
        asked = [column if column in names else known[folded(column)] for column in by]
        self.by = tuple(asked or [known[group] for group in GROUPS if group in known and known[group] not in taken])

    def label(self, line: int, record: Any) -> Label | Choice | None:
        """The label of a record; None if its value or choice is empty. Raises Problem."""
        if isinstance(record, sources.Unreadable):
            raise Problem(record.message)
        if not isinstance(record, Mapping):
            raise Problem(f"expected named fields, found {found(record)}")
        if self.pairs:
            a, b = self._name(record, "a"), self._name(record, "b")
            if a == b:
                raise Problem(f'a and b are both "{a}"; a choice is between two answers')
            if (raw := self._cell(record, "choice")) is None:
                return None
            choice, grade = _choice(raw)
            if choice is None:
                return None
            question, groups = self._name(record, "question_id", None), self._groups(record)
            label, rater = self._name(record, "label", "preference"), self._name(record, "rater", _ONLY_RATER)
            return Choice(line, question, a or "", b or "", label or "", choice, rater or "", groups, grade)
        example = self._name(record, "example_id")
        value = _value(self._cell(record, "value"), _EMPTY - _NOT_STATED if "value" in self._needed else _EMPTY)
        if value is None and "value" in self._needed:
            raise Problem(f"{self._column['value']}: is empty")
        if value is None:
            return None
        system = self._name(record, "system", None)
        label, rater = self._name(record, "label", "rating"), self._name(record, "rater", _ONLY_RATER)
        return Label(line, example or "", system, label or "", value, rater or "", self._groups(record))

    def _cell(self, record: Mapping[str, Any], field: str) -> Any:
        value = record.get(self._column[field]) if field in self._column else None
        return None if missing(value) or (isinstance(value, str) and not value.strip()) else value

    def _name(self, record: Mapping[str, Any], field: str, *default: str | None) -> str | None:
        """The text of a field. Without a default it must be there; a default that is a text is for a file without the
        column, and None for an empty cell too."""
        value = self._cell(record, field)
        if value is None and not default:
            raise Problem(f"{self._column.get(field, field)}: is empty")
        if value is None and default[0] is not None and field in self._column:
            leave = "" if field in self._needed else f", or leave out the column {self._column[field]}"
            raise Problem(f"{self._column[field]}: is empty; name it{leave}")
        return default[0] if value is None else (name_of(field, value) or "").strip()

    def _groups(self, record: Mapping[str, Any]) -> tuple[str | None, ...]:
        values = [record.get(column) for column in self.by]
        return tuple(
            None if missing(value) else _TRUTH[value] if isinstance(value, bool) else name_of("by", value)
            for value in values
        )


def _useless_groups(read: Sequence[Label | Choice], by: Sequence[str]) -> dict[int, str]:
    """The columns (by place) that are named like a group and are none, with the reason."""
    unused: dict[int, str] = {}
    for place in range(len(by)):
        first: dict[tuple[Any, ...], str | None] = {}
        count = len({each.groups[place] for each in read})
        if count > MOST_GROUPS:
            unused[place] = f"it has {count:,} different values"
        elif any(first.setdefault(each.about(), each.groups[place]) != each.groups[place] for each in read):
            unused[place] = "it differs between lines on the same answers"
    return unused


def _value(raw: Any, empty: Collection[str]) -> float | str | None:
    """A number, written as such or as text; a text; None if there is none, or one of the words for none. Raises Problem
    for anything else."""
    if raw is None:
        return None
    if isinstance(raw, bool):
        return _TRUTH[raw]
    if isinstance(raw, str):
        text = " ".join(raw.split())
        if text.casefold() in empty:
            return None
        if _COMMA.fullmatch(text):
            raise Problem(f"value: {found(raw)} has a decimal comma; write {text.replace(',', '.')}")
        if not _NUMBER.fullmatch(text):
            return text
        raw = float(text)
    if not isinstance(raw, int | float):
        raise Problem(f"value: expected a number or a text, found {found(raw)}")
    if not abs(raw) < 1e300:
        raise Problem(f"value: {found(raw)} is too large for a rating")
    return float(raw)


def _choice(raw: Any) -> tuple[str | None, float | None]:
    """The choice, None if the cell is empty; and the grade, None for a word. Raises Problem."""
    text = raw.strip().casefold() if isinstance(raw, str) else ""
    if text in ("a", "b", "tie"):
        return text, None
    grade = _value(raw, _EMPTY)
    if grade is None:
        return None, None
    if isinstance(grade, str):
        raise Problem(f"choice: expected a, b or tie, or a number (below 0 for a, above 0 for b), found {found(raw)}")
    return "tie" if grade == 0 else "a" if grade < 0 else "b", grade


def _twice(one: Label | Choice, first: int) -> str:
    who = "someone (there is no column rater)" if one.rater == _ONLY_RATER else f'rater "{one.rater}"'
    if isinstance(one, Label):
        what = f'rated "{one.example_id}" on {one.label}'
    else:
        what = f'chose between "{one.a}" and "{one.b}" in this order'
    return f"{who} {what} already in line {first}; keep one of them, or give each rater a name"


def first_few(names: Iterable[object], most: int = 5) -> str:
    """Some names for a message, and how many more there are."""
    listed = list(map(str, names))
    rest = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {rest:,} more" if rest > 0 else "")
