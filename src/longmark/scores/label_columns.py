"""Which column of a file of labels holds which field, and the label that a record has in them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

import orjson

from longmark.errors import UnknownName, UserError
from longmark.options import named
from longmark.records import paths, sources
from longmark.records.nested import NestedFields
from longmark.records.same import comparable
from longmark.records.values import Problem, folded, found, missing
from longmark.records.values import name as name_of
from longmark.records.values import text as characters
from longmark.records.write import of_spreadsheet
from longmark.scores.answer_parts import (
    CITATION,
    NAMED_UNITS,
    SENTENCE,
    SENTENCE_END,
    SENTENCE_START,
    AnswerPart,
    read_place,
)
from longmark.scores.answer_texts import A_SHA256, ANSWER_SHA256, B_SHA256, read_digest
from longmark.scores.label_forms import (
    CHOICES,
    FIELDS,
    GROUPS,
    PROBABILITY,
    RATINGS,
    SCORE_RATINGS,
    ColumnOptions,
    LabelForm,
    columns_listed,
    first_few,
    order_for,
)
from longmark.scores.label_scales import (
    LABEL_SCALE,
    DeclaredScale,
    declared_classes,
    read_scale,
)
from longmark.scores.label_values import (
    EMPTY_CELLS,
    NOT_STATED,
    choice_value,
    class_key,
    group_value,
    plain_value,
    spelled,
)
from longmark.scores.observations import Observation

_ONLY_RATER = "people"


class LabelColumns:
    """Which column of a file holds which field. by: the columns of the groups; words: label -> words for none that were
    read; left_out: label -> values that the caller leaves out; scales: label -> the scale that its lines declare;
    of_cells: whether the file has cells, which are all text."""

    def __init__(
        self,
        file: str,
        names: Mapping[Any, None],
        form: LabelForm | None,
        options: ColumnOptions,
        nested: NestedFields,
        first: Mapping[str, Any],
        *,
        of_cells: bool,
    ) -> None:
        """nested: the mapped fields, which have seen all records; first: a record, for messages."""
        self._file = file
        self._options = options
        self._order = options.order or {}
        self._of_cells = of_cells
        self.words: dict[str, Counter[str]] = {}
        self.left_out: dict[str, Counter[str]] = {}
        self._leave_out = frozenset(map(class_key, options.values_left_out))
        self._spelling: dict[str, str] = {}
        self.scales: dict[str, DeclaredScale] = {}
        self._mapped = dict(options.mapping or {})
        self.by: tuple[str, ...] = ()
        self.parts = ""
        self._raters = options.raters
        for name in self._mapped:
            if name not in FIELDS:
                raise UnknownName("field", name, FIELDS, f"The fields are {', '.join(FIELDS)}.")
        self._unread = {name for name, path in self._mapped.items() if not path}
        for name in self._unread:
            del self._mapped[name]
        column_of: dict[str, Any] = {
            folded(str(column)): column
            for column in reversed(names)
            if folded(str(column)) not in self._unread and column not in options.raters
        } | self._mapped
        with_choices = "choice" in column_of or (
            bool(options.raters) and {"a", "b"} <= column_of.keys()
        )
        self._value_field = "choice" if with_choices else "value"
        ratings = SCORE_RATINGS if "dimension" in column_of else RATINGS
        self.form = form or (CHOICES if with_choices else ratings)
        self._filled = {*self.form.filled, *options.filled}
        self._words_for_none = EMPTY_CELLS if of_cells else NOT_STATED
        if "value" in self._filled:  # a word for none is an error there, in any format
            self._words_for_none = EMPTY_CELLS - NOT_STATED
        self._column: dict[str, Any] = {}
        self._cells: set[Any] = set()
        self._nested: NestedFields | None = None
        if not names:  # every record is unreadable, each with its reason
            return
        self._check_options(names, column_of, nested, first)
        self._check_alike(names)
        self._column = self._columns_of_form(column_of)
        self.parts = _labelled_parts(self._column)
        self._check_needed(names)
        self.by = self._groups(names, column_of, form)
        self._cells = {*self._column.values(), *self._raters}
        columns_inside = {
            path: path for path in map(str, self._mapped.values()) if path not in names
        }
        if columns_inside:
            self._nested = NestedFields(columns_inside)

    def _check_options(
        self,
        names: Mapping[Any, None],
        column_of: Mapping[str, Any],
        nested: NestedFields,
        first: Mapping[str, Any],
    ) -> None:
        """UnknownName for a column of the options that is not there; UserError for raters in a column and in columns."""
        listed = columns_listed(names)
        for column in nested.never_seen:
            columns_and_paths = (*map(str, names), *paths.known(first))
            raise UnknownName(f"column in {named('mapping')}", column, columns_and_paths, listed)
        for column in self._raters:
            if column not in names:
                raise UnknownName(f"column in {named('raters')}", column, map(str, names), listed)
        twice = sorted({"rater", self._value_field} & column_of.keys())
        if self._raters and twice:
            raise UserError(
                f"{self._file} has a column {twice[0]} and a column for each rater; omit {named('raters')}"
            )

    def _check_alike(self, names: Mapping[Any, None]) -> None:
        """UserError where a field could be read from two columns, whose names differ in case or spaces alone."""
        alike: dict[str, list[str]] = {}
        for column in names:
            alike.setdefault(folded(str(column)), []).append(str(column))
        for name, own_name in self.form.columns.items():
            columns = alike.get(own_name, [])
            if len(columns) > 1 and name not in self._mapped and name not in self._unread:
                raise UserError(
                    f"{self._file}: the columns {' and '.join(columns)} could both be the {name}; choose one with "
                    f"{named('mapping', {name: columns[0]})}"
                )

    def _columns_of_form(self, column_of: Mapping[str, Any]) -> dict[str, Any]:
        """field -> its column: the mapped one, else the one of the form that no other field has."""
        columns = dict(self._mapped)
        taken = set(columns.values())
        for name, own_name in self.form.columns.items():
            if own_name in column_of and column_of[own_name] not in taken:
                columns.setdefault(name, column_of[own_name])
        return columns

    def _check_needed(self, names: Mapping[Any, None]) -> None:
        """UserError for a field without a column that every file of this form has."""
        part_columns = (SENTENCE_START, SENTENCE_END) if self.parts in (SENTENCE, CITATION) else ()
        of_raters = {"rater", self._value_field} if self._raters else set()
        needed = dict.fromkeys((*self.form.needed, *self._filled, *part_columns))
        absent = [name for name in needed if name not in self._column and name not in of_raters]
        if not absent:
            return
        remedy = ""
        if self._options.mapping is not None:
            pronoun = "it" if len(absent) == 1 else "them"
            remedy = f"; name {pronoun} with {named('mapping', dict.fromkeys(absent, 'COLUMN'))}"
            if self._value_field in absent:
                of_value = "" if len(absent) == 1 else f", for {self._value_field},"
                remedy += (
                    f", or{of_value} the columns of several raters with "
                    f"{named('raters', 'COLUMN,…')}"
                )
                if self._options.label_columns is not None:
                    remedy += f", or of several labels with {named('label_columns', 'COLUMN,…')}"
        listed = " and ".join(map(self.column, absent))
        columns = f"a column {listed}" if len(absent) == 1 else f"columns {listed}"
        raise UserError(
            f"{self._file}: labels need {columns}; found {first_few(names, 12)}{remedy}"
        )

    def _groups(
        self, names: Mapping[Any, None], column_of: Mapping[str, Any], form: LabelForm | None
    ) -> tuple[str, ...]:
        """The columns to break down by: those asked for, else those named like groups, in a file without a form."""
        by = self._options.by
        for column in by:
            if column not in names and folded(column) not in column_of:
                listed = columns_listed(names)
                raise UnknownName(f"column in {named('by')}", column, map(str, names), listed)
        if by:
            return tuple(
                str(column if column in names else column_of[folded(column)]) for column in by
            )
        if form is not None:
            return ()
        taken = self._column.values()
        groups = (column_of[group] for group in GROUPS if group in column_of)
        return tuple(str(column) for column in groups if column not in taken)

    def labels_of(self, line: int, record: Any) -> Iterator[Observation | None]:
        """The labels of a record: of each rater's column, or of each element of the lists that are mapped; None for one
        that is empty, and for a record whose lists are. Raises Problem."""
        if self._nested is None or not isinstance(record, Mapping):
            for rater in self._raters or (None,):
                yield self.label(line, record, rater)
            return
        any_row = False
        for row in self._nested.rows(record):
            any_row = True
            for rater in self._raters or (None,):
                yield self.label(line, {**record, **row}, rater)
        if not any_row:
            yield None

    @property
    def raters_named(self) -> bool:
        return bool(self._raters) or "rater" in self._column

    def has(self, name: str) -> bool:
        """Whether the file has a column for a field."""
        return name in self._column

    def column(self, name: str) -> str:
        """The file's name of a field."""
        return str(self._column.get(name, self.form.columns.get(name, name)))

    def label(self, line: int, record: Any, rater: str | None) -> Observation | None:
        """The label of a record, or of its column for this rater; None if it is empty. Raises Problem."""
        if isinstance(record, sources.UnreadableRecord):
            raise Problem(record.message)
        if not isinstance(record, Mapping):
            raise Problem(f"expected named fields, found {found(record)}")
        if self._of_cells:
            record = {column: of_spreadsheet(cell) for column, cell in record.items()}
        cells = (
            record if self.form.whole else {column: record.get(column) for column in self._cells}
        )
        for column, cell in cells.items():
            if isinstance(cell, str):
                characters(str(column), cell)
        fields: dict[str, Any] = (
            dict(record)
            if self.form.whole
            else {name: group_value(record.get(name)) for name in self.by}
        )
        question = self._name(record, "question_id", None)
        if "choice" in self.form.columns:
            a = self._name(record, "a")
            b = self._name(record, "b")
            if a == b:
                raise Problem(f'a and b are both "{a}"; a choice is between two answers')
            fields |= {"a": a, "b": b}
            # One example in both orders: what was shown first takes the place of a system.
            example = orjson.dumps([question, *sorted((a, b))]).decode()
            system = a
        else:
            example = self._name(record, "example_id")
            system = self._name(record, "system", None)
            if self.parts:
                part = self._part(record, example)
                fields |= part.columns()
                example = part.name
            if PROBABILITY in self._column:
                fields[PROBABILITY] = self._probability(record)
        for column in (ANSWER_SHA256, A_SHA256, B_SHA256):
            if column in self._column:
                digest = self._name(record, column, None) or None
                fields[column] = read_digest(self.column(column), digest)
        raw = self._cell(
            record,
            "choice" if "choice" in self.form.columns else "value",
            rater,
        )
        if self._is_left_out(record, raw):
            return None
        if (word := self._word_for_none(record, raw)) is not None:
            label = self._name(record, "label", None) or self.form.name
            self.words.setdefault(label, Counter())[word] += 1
            raw = None
        number, text = choice_value(raw) if "choice" in self.form.columns else self._value(raw)
        if number is None and text is None:
            return None
        label = self._name(record, "label", self.form.name)
        if LABEL_SCALE in self._column:
            self._declare(label, self._name(record, LABEL_SCALE, None))
        who = self._name(record, "rater", _ONLY_RATER) if rater is None else rater
        key = (0, example, question, "", system, bool(system), "", label)
        return Observation(*key, number, rater=who, label=text, line=line, given=fields)

    def _part(self, record: Mapping[str, Any], answer: str) -> AnswerPart:
        """The part of an answer that a line is about. Raises Problem."""
        if self.parts in NAMED_UNITS:
            return AnswerPart(answer, 0, 0, self.parts, self._name(record, self.parts))
        start, end = (
            read_place(self.column(name), self._cell(record, name))
            for name in (SENTENCE_START, SENTENCE_END)
        )
        if start >= end:
            raise Problem(
                f"{self.column(SENTENCE_END)}: is {end}, which is not behind {self.column(SENTENCE_START)} ({start})"
            )
        citation = self._name(record, CITATION) if self.parts == CITATION else ""
        return AnswerPart(answer, start, end, self.parts, citation)

    def _is_left_out(self, record: Mapping[str, Any], raw: Any) -> bool:
        """Whether the caller leaves a value out, which is counted then."""
        value = spelled(raw) if self._leave_out else None
        if value is None or class_key(value) not in self._leave_out:
            return False
        label = self._name(record, "label", None) or self.form.name
        first_spelling = self._spelling.setdefault(class_key(value), value)
        self.left_out.setdefault(label, Counter())[first_spelling] += 1
        return True

    def _declare(self, label: str, text: str) -> None:
        """Keeps the scale of a label. Problem where another line declares another one."""
        if not text:
            return
        scale = read_scale(text)
        if (earlier := self.scales.setdefault(label, scale)) != scale:
            raise Problem(
                f"{self.column(LABEL_SCALE)}: is {text} here, and {earlier.written()} in earlier lines of {label}; a "
                "label has one scale: give the lines on another scale a label of their own"
            )

    def _word_for_none(self, record: Mapping[str, Any], raw: Any) -> str | None:
        """The word of a cell that says that there is no value, None for any other cell. A word that the label's classes
        name is a class."""
        if not isinstance(raw, str) or self.form.read is not None:
            return None
        word = " ".join(raw.split())
        if comparable(word) not in self._words_for_none or comparable(word) in self._classes(
            record
        ):
            return None
        return word

    def _classes(self, record: Mapping[str, Any]) -> frozenset[str]:
        """The classes of a record's label as `order` has them, else as the file declares them; without case."""
        label = self._name(record, "label", None) or self.form.name
        classes = order_for(self._order, label)
        if (
            not classes
            and LABEL_SCALE in self._column
            and (scale := self._name(record, LABEL_SCALE, None))
        ):
            classes = declared_classes(read_scale(scale))
        return frozenset(comparable(name) for name in classes)

    def _cell(self, record: Mapping[str, Any], name: str, rater: str | None = None) -> Any:
        if rater is None and name in self._unread:
            return None
        value = record.get(self.column(name) if rater is None else rater)
        return None if missing(value) or (isinstance(value, str) and not value.strip()) else value

    def _name(self, record: Mapping[str, Any], name: str, *default: str | None) -> str:
        """The text of a field. Without a default it must be there; a default that is a text is for a file without the
        column, and None, which is read as "", for an empty cell too."""
        value = self._cell(record, name)
        column = self._column.get(name)
        if value is not None:
            return self._known(name, (name_of(self.column(name), value) or "").strip())
        if default and (column is None or default[0] is None) and name not in self._filled:
            return default[0] or ""
        leave = (
            f"; name it, or leave out the column {column}"
            if default and name not in self._filled
            else ""
        )
        raise Problem(f"{self.column(name)}: is empty{leave}")

    def _probability(self, record: Mapping[str, Any]) -> float | None:
        column = self.column(PROBABILITY)
        cell = self._cell(record, PROBABILITY)
        if isinstance(cell, str) and cell.strip().casefold() in EMPTY_CELLS:
            cell = None
        value = plain_value(column, cell)
        if value is not None and (isinstance(value, str) or not 0 < value <= 1):
            raise Problem(
                f"{column}: expected a number above 0, at most 1; found {found(value)}; copy that of the draw"
            )
        return value

    def _known(self, name: str, text: str) -> str:
        if (expected := self.form.known.get(name)) is None:
            return text
        if (folded_text := comparable(text)) not in expected:
            raise Problem(
                f"{self.column(name)}: expected {' or '.join(expected)}, found {found(text)}"
            )
        return folded_text

    def _value(self, cell: Any) -> tuple[float | None, str | None]:
        """The number, or the text; neither if there is none. Raises Problem."""
        if self.form.read is not None:
            return None, self.form.read(cell)
        value = plain_value(self.column("value"), cell)
        if value is None and "value" in self._filled:
            raise Problem(f"{self.column('value')}: is empty")
        return (None, self._known("value", value)) if isinstance(value, str) else (value, None)


def _labelled_parts(columns: Mapping[str, Any]) -> str:
    """What of an answer is labelled: `sentence`, `citation`, `nugget`, `criterion`, "" for the whole answer."""
    if SENTENCE_START in columns or SENTENCE_END in columns:
        return CITATION if CITATION in columns else SENTENCE
    return next((unit for unit in NAMED_UNITS if unit in columns), "")
