"""The labels that people gave: a file with one rating, or one choice between two answers, per line.

Ratings:  example_id, value; and label (its name), rater, system if there are several
          or, as SCORE has them: item, label (the value); and dimension (its name), rater, system
Choices:  a, b, choice (a, b or tie); and question_id, label, rater if there are several; a was shown first

CSV, TSV, JSON Lines, JSON or Parquet, by the suffix. A file with a column `choice` contains choices. Column names are
compared without case; others can be mapped to ours. A value is a number or a text; lines with an empty value are left
out and counted.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from longmark.errors import BadInput, UnknownName, UserError
from longmark.records import sources
from longmark.records.values import Problem, found, label, missing

RATING = ("example_id", "system", "label", "value", "rater")
CHOICE = ("question_id", "a", "b", "choice", "label", "rater")
FIELDS = tuple(dict.fromkeys(RATING + CHOICE))
GROUPS = ("group", "mode", "subject")
"""Columns by which the figures are broken down where nothing else is asked for."""

MOST_GROUPS = 60
SHOWN = 20
_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_COMMA = re.compile(r"[-+]?[0-9]+,[0-9]+")
_TRUTH = {True: "true", False: "false"}
_ONLY_RATER = "people"
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


@dataclass(frozen=True, slots=True)
class Choice:
    """Which of two answers a rater preferred: `a` (shown first), `b` or `tie`."""

    line: int
    question_id: str | None
    a: str
    b: str
    label: str
    choice: str
    rater: str
    groups: tuple[str | None, ...]


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
        said: Iterable[Label | Choice] = self.choices or self.ratings
        return tuple(dict.fromkeys(each.label for each in said))


def read_labels(
    given: str | Path | Iterable[Mapping[str, Any]],
    *,
    mapping: Mapping[str, str] | None = None,
    by: Sequence[str] = (),
    labels: Sequence[str] = (),
    needed: Collection[str] = (),
) -> Labels:
    """Reads a file, or records. mapping: our field -> column; by: columns to break down by; labels: only these; needed:
    fields that every line must have.

    Errors: UserError if the file as a whole cannot be used, BadInput with the first lines that are wrong (a rater who
    labelled something twice among them), UnknownName for a field, a column or a label that does not exist.
    """
    for name in mapping or {}:
        if name not in FIELDS:
            raise UnknownName("field", name, FIELDS, f"The fields are {', '.join(FIELDS)}.")
    if isinstance(given, str | Path):
        path = Path(given)
        name, records = str(path), list(sources.records(path, sources.kind_of(path)))
    else:
        name, records = "human", list(enumerate(given, 1))
    if not records:
        raise UserError(f"{name} has no records; write one rating a line")
    reader = _Reader(name, records, mapping or {}, by, needed)
    reader.read()
    human = Labels(name, tuple(reader.ratings), tuple(reader.choices), reader.by, reader.empty)
    human = human if by else _with_groups_only(human)
    if not human.labels:
        raise UserError(f"{name}: no line has a {'choice' if reader.pairs else 'value'}, so people said nothing")
    for label_ in labels:
        if label_ not in human.labels:
            raise UnknownName("label", label_, human.labels, f"The labels are {', '.join(human.labels[:20])}.")
    return human


@dataclass(slots=True)
class _Reader:
    """Reads the records of one file; `bad` collects what is wrong with them."""

    name: str
    records: Sequence[tuple[int, Any]]
    mapping: Mapping[str, str]
    asked: Sequence[str]
    needed: Collection[str] = ()
    by: tuple[str, ...] = ()
    pairs: bool = False
    ratings: list[Label] = field(default_factory=list)
    choices: list[Choice] = field(default_factory=list)
    empty: int = 0
    bad: list[str] = field(default_factory=list)
    wrong: int = 0
    columns: dict[str, str] = field(default_factory=dict)

    def read(self) -> None:
        self._find_columns()
        seen: dict[tuple[Any, ...], int] = {}
        for line, record in self.records:
            if not isinstance(record, Mapping):
                why = (
                    record.message
                    if isinstance(record, sources.Unreadable)
                    else f"expected named fields, found {found(record)}"
                )
                self._note(line, why)
                continue
            try:
                said = self._choice(line, record) if self.pairs else self._rating(line, record)
            except Problem as problem:
                self._note(line, str(problem))
                continue
            if said is None:
                self.empty += 1
                continue
            first = seen.setdefault(_key(said), line)
            if first != line:
                self._note(line, _twice(said, first))
            elif isinstance(said, Choice):
                self.choices.append(said)
            else:
                self.ratings.append(said)
        if self.wrong:
            raise BadInput(self.bad, self.wrong)

    def _find_columns(self) -> None:
        names = dict.fromkeys(name for _, record in self.records if isinstance(record, Mapping) for name in record)
        if not names:  # every record is unreadable, and will say why
            return
        folded = {_folded(str(name)): name for name in reversed(names)}
        for ours, mapped in self.mapping.items():
            if mapped not in names:
                raise UnknownName("column in --map", mapped, map(str, names), f"The columns are {_some(names)}.")
            self.columns[ours] = mapped
        taken = set(self.columns.values())
        for ours in FIELDS:
            column = folded.get(_SCORE_NAMES.get(ours, ours) if "dimension" in folded else ours)
            if ours not in self.columns and column is not None and column not in taken:
                self.columns[ours] = column
        self.pairs = "choice" in self.columns
        for needed in dict.fromkeys((*(("a", "b", "choice") if self.pairs else ("example_id", "value")), *self.needed)):
            if needed not in self.columns:
                what = "choices between answers" if self.pairs else "ratings"
                raise UserError(
                    f"{self.name}: {what} need a column {needed}; found {_some(names)}; "
                    f"name it with --map {needed}=COLUMN"
                )
        for asked in self.asked:
            if asked not in names and _folded(asked) not in folded:
                raise UnknownName("column in --by", asked, map(str, names), f"The columns are {_some(names)}.")
        wanted = [asked if asked in names else folded[_folded(asked)] for asked in self.asked]
        self.by = tuple(wanted or [folded[name] for name in GROUPS if name in folded and folded[name] not in taken])

    def _cell(self, record: Mapping[str, Any], ours: str) -> Any:
        value = record.get(self.columns[ours]) if ours in self.columns else None
        return None if missing(value) or (isinstance(value, str) and not value.strip()) else value

    def _label(self, record: Mapping[str, Any], ours: str, default: str | None = None) -> str | None:
        """A name; one that may lack only where the whole column does has its default."""
        value = self._cell(record, ours)
        if value is None:
            if default is not None and ours in self.columns:
                leave = "" if ours in self.needed else f", or leave out the column {self.columns[ours]}"
                raise Problem(f"{self.columns[ours]}: is empty; name it{leave}")
            return default
        name = label(ours, value)
        return name.strip() if name else default

    def _needed(self, record: Mapping[str, Any], ours: str) -> str:
        name = self._label(record, ours)
        if name is None:
            raise Problem(f"{self.columns.get(ours, ours)}: is empty")
        return name

    def _groups(self, record: Mapping[str, Any]) -> tuple[str | None, ...]:
        values = [record.get(column) for column in self.by]
        return tuple(
            None if missing(value) else _TRUTH[value] if isinstance(value, bool) else (label("by", value) or None)
            for value in values
        )

    def _rating(self, line: int, record: Mapping[str, Any]) -> Label | None:
        example_id = self._needed(record, "example_id")
        value = _value(self._cell(record, "value"))
        if value is None:
            if "value" in self.needed:
                raise Problem(f"{self.columns['value']}: is empty")
            return None
        return Label(
            line,
            example_id,
            self._label(record, "system"),
            self._label(record, "label", "rating") or "rating",
            value,
            self._label(record, "rater", _ONLY_RATER) or _ONLY_RATER,
            self._groups(record),
        )

    def _choice(self, line: int, record: Mapping[str, Any]) -> Choice | None:
        a, b = self._needed(record, "a"), self._needed(record, "b")
        if a == b:
            raise Problem(f'a and b are both "{a}"; a choice is between two answers')
        raw = self._cell(record, "choice")
        if raw is None:
            return None
        choice = raw.strip().casefold() if isinstance(raw, str) else ""
        if choice not in ("a", "b", "tie"):
            raise Problem(f"choice: expected a, b or tie, found {found(raw)}")
        return Choice(
            line,
            self._label(record, "question_id"),
            a,
            b,
            self._label(record, "label", "preference") or "preference",
            choice,
            self._label(record, "rater", _ONLY_RATER) or _ONLY_RATER,
            self._groups(record),
        )

    def _note(self, line: int, message: str) -> None:
        self.wrong += 1
        if len(self.bad) < SHOWN:
            self.bad.append(f"{self.name}:{line}: {message}")


def _with_groups_only(human: Labels) -> Labels:
    """Without the columns that bear a group's name and hold none: too many values, or several for one answer."""
    said: Sequence[Label | Choice] = human.choices or human.ratings
    unused: dict[int, str] = {}
    for place in range(len(human.by)):
        of: dict[tuple[Any, ...], str | None] = {}
        count = len({each.groups[place] for each in said})
        if count > MOST_GROUPS:
            unused[place] = f"it has {count:,} different values"
        elif any(of.setdefault(_about(each), each.groups[place]) != each.groups[place] for each in said):
            unused[place] = "it differs between lines on the same answers"
    if not unused:
        return human
    kept = [place for place in range(len(human.by)) if place not in unused]
    return replace(
        human,
        ratings=tuple(replace(each, groups=tuple(each.groups[i] for i in kept)) for each in human.ratings),
        choices=tuple(replace(each, groups=tuple(each.groups[i] for i in kept)) for each in human.choices),
        by=tuple(human.by[place] for place in kept),
        unused=tuple((human.by[place], why) for place, why in unused.items()),
    )


def _about(said: Label | Choice) -> tuple[Any, ...]:
    if isinstance(said, Label):
        return said.label, said.example_id, said.system
    return said.label, said.question_id, *sorted((said.a, said.b))


def _value(raw: Any) -> float | str | None:
    """A number, written as such or as text; a text; None where there is none. Raises Problem for anything else."""
    if raw is None:
        return None
    if isinstance(raw, bool):
        return _TRUTH[raw]
    if isinstance(raw, str):
        text = " ".join(raw.split())
        if text.casefold() in ("nan", "none", "null"):
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


def _key(said: Label | Choice) -> tuple[Any, ...]:
    if isinstance(said, Label):
        return said.label, said.rater, said.example_id, said.system
    return said.label, said.rater, said.question_id, said.a, said.b


def _twice(said: Label | Choice, first: int) -> str:
    if isinstance(said, Label):
        what = f'rated "{said.example_id}" on {said.label}'
    else:
        what = f'chose between "{said.a}" and "{said.b}" in this order'
    who = "someone (there is no column rater)" if said.rater == _ONLY_RATER else f'rater "{said.rater}"'
    return f"{who} {what} already in line {first}; keep one of them, or name raters apart"


def _folded(name: str) -> str:
    return name.strip().casefold().replace("-", "_").replace(" ", "_")


def _some(names: Iterable[Any]) -> str:
    shown = [str(name) for name in names]
    return ", ".join(shown[:12]) + (", …" if len(shown) > 12 else "")


def first_few(names: Iterable[str], most: int = 5) -> str:
    """Some names for a message, and how many more there are."""
    listed = list(names)
    rest = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {rest:,} more" if rest > 0 else "")
