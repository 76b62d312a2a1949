"""The labels that raters gave, in the table of observations: ratings of answers, or choices between two answers.

Ratings:  example_id, value; and label (its name), rater, system if there are several; and inclusion_probability, the
          probability with which the answer was chosen for labelling, if that was not the same for all;
          answer_sha256, of the text that was labelled (`answer_texts`); label_scale, that it was labelled on
          (`label_scales`); sentence_start, sentence_end and citation, or nugget, if parts of answers were labelled
          (`answer_parts`)
          or, as SCORE has them: item, label (the value); and dimension (its name), rater, system
Choices:  a, b, choice (a, b or tie, or a graded preference); and question_id, label, rater if there are several; a was
          shown first; a_sha256, b_sha256. A graded preference is a number: below 0 for a, 0 for a tie, above 0 for b

CSV, TSV, JSON Lines, JSON or Parquet, by the suffix. Exports of labelling tools are read by what they look like
(`label_tools`). A file with a column `choice` contains choices. Raters can have a
column each in place of `rater` and `value` (or `choice`). Column names are compared without case; others can be mapped
to ours, and so can paths (`records.nested`): with `[]` a record has several labels.

A value is a number or a text; lines without a value are left out and counted. A word for none is no value (in
cells NA, N/A, null, None, nan; in JSON and Parquet, which have a null of their own, NA and N/A), unless the label's
classes name it: those of `order`, or of the file's `label_scale`. What is left out for its word is said by its word. Of
several labels that a rater gave the same thing the last one counts; where the file names no raters, they are refused,
since several people can be meant. Values that a caller leaves out (`leave_out`), such as a code for an abstention, are no
values either, and are counted. The files of studies have columns of their own: a `LabelForm`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

import orjson

from longmark.errors import UnknownName, UserError
from longmark.options import named
from longmark.progress import counted
from longmark.records import paths, sources
from longmark.records.files import BadLines, at
from longmark.records.messages import parsed
from longmark.records.nested import NestedFields
from longmark.records.same import canonical, comparable
from longmark.records.values import Problem, folded, found, looks, missing
from longmark.records.values import name as name_of
from longmark.records.values import text as characters
from longmark.records.write import of_spreadsheet
from longmark.scores.answer_parts import (
    CITATION,
    NUGGET,
    SENTENCE_END,
    SENTENCE_START,
    AnswerPart,
    read_place,
)
from longmark.scores.answer_texts import A_SHA256, ANSWER_SHA256, B_SHA256, read_digest
from longmark.scores.label_scales import (
    LABEL_SCALE,
    NUMBER,
    DeclaredScale,
    declared_classes,
    order_of,
    read_scale,
    shown_classes,
)
from longmark.scores.label_tools import LabelTool, ToolRecords, tool_of
from longmark.scores.observations import Observation, Observations

GROUPS = ("group", "mode", "subject")
"""Columns by which the figures are broken down if nothing else is asked for."""

MOST_GROUPS = 60
FINAL = "final"
"""The rater of a label that was decided, or agreed on by all. For `metaeval` the label is named NAME.final."""

_COMMA = re.compile(r"[-+]?[0-9]+,[0-9]+")
_NOT_STATED = frozenset(("na", "n/a", "n.a."))
"""Words for none that are a label of their own where every line must have one (SCORE: the detail is not stated)."""
_EMPTY_CELLS = _NOT_STATED | frozenset(("#n/a", "#na", "<na>", "nan", "none", "null"))
"""Words for none in cells, which are all text. JSON and Parquet write null for them, so that `None` is a text there."""
MOST_LABEL = 1e60
LEAST_LABEL = 1e-60
"""A label lies between them, or is 0: its fourth power is still a number, and not 0."""
_TRUTH = {True: "true", False: "false"}
_ONLY_RATER = "people"

Given = str | Path | Iterable[Mapping[str, Any]]
Made = TypeVar("Made")


class _Rated(Protocol):
    @property
    def rater(self) -> str: ...


Rated = TypeVar("Rated", bound=_Rated)


@dataclass(frozen=True, slots=True)
class LabelForm:
    """How a file has its labels. columns: our field -> its column; needed: columns that it must have; filled: columns
    without an empty cell; name: of the labels of a file without a column `label`; known: field -> the values that it
    may have; read: the label in a cell of the value, in place of a number or a text (raises Problem); whole:
    `Observation.given` is the record."""

    columns: Mapping[str, str]
    needed: Collection[str] = ("example_id", "value")
    filled: Collection[str] = ()
    name: str = "rating"
    known: Mapping[str, Collection[str]] = field(default_factory=dict)
    read: Callable[[Any], str] | None = None
    whole: bool = False


PROBABILITY = "inclusion_probability"
"""Where a file has this column, `Observation.given` has it: a number in (0, 1], or None."""

_RATING = (
    "example_id",
    "system",
    "label",
    "value",
    "rater",
    PROBABILITY,
    ANSWER_SHA256,
    LABEL_SCALE,
    SENTENCE_START,
    SENTENCE_END,
    CITATION,
    NUGGET,
)
_RATINGS = LabelForm({name: name for name in _RATING})
_SCORE = LabelForm(
    {
        "example_id": "item",
        "system": "system",
        "label": "dimension",
        "value": "label",
        "rater": "rater",
    }
)
_CHOICE = ("question_id", "a", "b", "choice", "label", "rater", A_SHA256, B_SHA256, LABEL_SCALE)
_CHOICES = LabelForm(
    {name: name for name in _CHOICE}, needed=("a", "b", "choice"), name="preference"
)
FIELDS = tuple(dict.fromkeys((*_RATINGS.columns, *_CHOICES.columns)))

KEY_POINTS = LabelForm(
    {
        "example_id": "pair",
        "label": "key_point",
        "system": "answer",
        "value": "value",
        "rater": "rater",
    },
    needed=(_POINT := ("example_id", "label", "system", "value", "rater")),
    filled=_POINT,
    known={
        "system": ("a", "b"),
        "value": ("totally", "partially", "wrong", "absent"),
    },
)
"""Whether an answer of a pair has a key point of the reference (CALF, appendix B.1): totally correct, partially
correct, totally wrong, or not in the answer."""


@dataclass(frozen=True, slots=True)
class ColumnOptions:
    """What a caller asks of the columns of a file. mapping: our field -> column; by: columns to break down by; raters:
    columns with the labels of one rater each; filled: fields that every line must have; order: label -> its classes,
    None where the caller has no such option; leave_out: values that are read as missing, in any case."""

    mapping: Mapping[str, str] | None = None
    by: Sequence[str] = ()
    raters: Sequence[str] = ()
    filled: Collection[str] = ()
    order: Mapping[str, Sequence[str]] | None = None
    leave_out: Sequence[str] = ()

    @property
    def values_left_out(self) -> Sequence[str]:
        return (self.leave_out,) if isinstance(self.leave_out, str) else self.leave_out


class _UnnamedRater(Problem):
    """A second label of an answer in a file that does not say whose labels these are."""


class Labels(Observations):
    """The labels of a file, or of records. Each is an `Observation`; of a choice, `given` has a and b. Closed as
    `Observations` is.

    name: of the file; choices: whether it holds choices; parts: what of an answer is labelled, `sentence`, `citation` or
    `nugget`, "" for the whole answer; by: the columns of the groups, whose values are in `given`;
    scales: label -> the scale that the file declares for it; empty: lines without a value, which are left out; words:
    label -> the words of those that have a word for none in place of a value; replaced: labels in whose place a later
    one of the same rater counts; alike: sentences on raters whose names look the same; notices: all of this that
    should be known, and what else of the file should be.
    """

    _ORDER = "line, number, metric, rater"

    def __init__(
        self, labels: Given, form: LabelForm | None = None, options: ColumnOptions = ColumnOptions()
    ) -> None:
        """form: ratings or choices, as the columns say, if it is None.

        Errors: UserError if the file as a whole cannot be used, BadInput with the first lines that are wrong,
        UnknownName for a field, a column or a label in `order` that does not exist.
        """
        super().__init__()
        self.by: tuple[str, ...] = ()
        self.empty = self.replaced = 0
        self.alike: list[str] = []
        self.words: dict[str, Counter[str]] = {}
        self.scales: dict[str, DeclaredScale] = {}
        try:
            self._read(labels, form, options)
        except BaseException:
            self._db.close()
            raise

    def _read(self, labels: Given, form: LabelForm | None, options: ColumnOptions) -> None:
        records: Callable[[], Iterable[tuple[int, Any]]]
        if isinstance(labels, str | Path):
            self.name = str(labels)
            kind = sources.kind_of(Path(labels))
            records = partial(sources.records, Path(labels), kind)
        else:
            self.name = "human"
            kind = "records"
            records = partial(enumerate, list(labels), 1)
        tool = None
        if form is None and not options.raters:
            tool = tool_of((record for _, record in records()), options.mapping or {})
        of_tool: ToolRecords | None = None
        if tool is not None:
            of_tool = self._of_tool(tool, records, options.mapping or {})
            records = partial(of_tool.flat_of, records)
            options = replace(options, mapping={})
        names = dict[Any, None]()
        nested = NestedFields(options.mapping or {})
        first: Mapping[str, Any] = {}
        any_record = False
        for _, record in records():
            any_record = True
            if isinstance(record, Mapping):
                names.update(dict.fromkeys(record))
                nested.never_seen -= record.keys()
                nested.see(record)
                first = first or record
        if not any_record and of_tool is not None:
            raise UserError(f"{of_tool.notice(self.name)} It has no label of an answer.")
        if not any_record:
            raise UserError(f"{self.name} has no records; write one label per line")
        columns = _LabelColumns(
            self.name, names, form, options, nested, first, of_cells=kind in sources.CELLS
        )
        self.choices = "choice" in columns.form.columns
        self.parts = columns.parts
        wrong = BadLines()
        self._runs.append(Path(self.name))
        self._db.execute("BEGIN")
        unnamed: list[
            str
        ] = []  # one message for all, since a file without raters has one for each answer
        for line, record in records():
            try:
                for observation in columns.labels_of(line, record):
                    self.empty += observation is None
                    self.replaced += observation is not None and self._add_label(
                        observation, named=columns.raters_named
                    )
            except _UnnamedRater as problem:
                unnamed.append(at(self.name, line, str(problem)))
            except Problem as problem:
                wrong.add(at(self.name, line, str(problem)))
        self._db.execute("COMMIT")
        if unnamed:
            wrong.add(
                unnamed[0]
                + (f" ({len(unnamed):,} lines are such labels)" if len(unnamed) > 1 else "")
            )
        wrong.check()
        if of_tool is not None:
            self.notices.append(of_tool.notice(self.name))
        self.words = columns.words
        self.scales = columns.scales
        self._check_left_out(columns.left_out, options)
        words = [*_values_left_out(columns.left_out, self.name), *self._words_left_out(options)]
        if not self.labels:
            value = "choice" if self.choices else columns.column("value")
            raise UserError(
                " ".join((f"{self.name}: no line has a {value}.", *words)).removesuffix(".")
            )
        self._check_order(options.order or ())
        if without := self.empty - _total(self.words) - _total(columns.left_out):
            self.notices.append(f"{counted(without, 'empty value')} in {self.name}: ignored.")
        self.notices += words
        if self.replaced:
            replaced = "label was" if self.replaced == 1 else "labels were"
            self.notices.append(
                f"{self.replaced:,} {replaced} replaced by later labels of the same rater in {self.name}."
            )
        self.alike = list(self._alike())
        self.notices += self.alike
        unused = {} if options.by else self._useless(columns.by)
        self.notices += [
            f"No results by the column {column}: {reason}." for column, reason in unused.items()
        ]
        self.by = tuple(column for column in columns.by if column not in unused)

    def _of_tool(
        self,
        tool: LabelTool,
        records: Callable[[], Iterable[tuple[int, Any]]],
        mapping: Mapping[str, str],
    ) -> ToolRecords:
        """UnknownName for a mapped path that no record has; UserError where the file does not say which column holds the
        labels."""
        of_tool = ToolRecords(tool, mapping)
        first: Mapping[str, Any] = {}
        for _, record in records():
            if isinstance(record, Mapping):
                first = first or record
                of_tool.fields.see(record)
        listed = f"The columns are {first_few(first, 12)}."
        for path in mapping.values():
            if path in of_tool.fields.never_seen:
                raise UnknownName(f"column in {named('mapping')}", path, paths.known(first), listed)
        if not of_tool.names_values:
            option = named("mapping", {"value": "COLUMN"})
            raise UserError(
                f"{self.name} is read as {tool.name}, which does not say which column holds the labels; name it: {option}. "
                f"{listed}"
            )
        return of_tool

    def _check_order(self, order: Iterable[str]) -> None:
        """UnknownName for an order of a label that is not there: its values would be read in another way."""
        names = [*self.labels, *(name.removesuffix(f".{FINAL}") for name in self.labels)]
        for name in order:
            if name not in names:
                hint = f"The labels are {', '.join(self.labels[:20])}."
                raise UnknownName(f"label in {named('order')}", name, self.labels, hint)

    def _check_left_out(self, left_out: Mapping[str, Counter[str]], options: ColumnOptions) -> None:
        """UnknownName for a value to leave out that no label has."""
        values = {_class_key(value) for counts in left_out.values() for value in counts}
        for value in options.values_left_out:
            if _class_key(value) not in values:
                query = "SELECT DISTINCT COALESCE(label, score) FROM scores LIMIT 20"
                occurring = [text for (text,) in self._db.execute(query)]
                classes = [text if isinstance(text, str) else f"{text:g}" for text in occurring]
                hint = f"The values are {shown_classes(classes)}." if classes else ""
                raise UnknownName(f"value in {named('leave_out')}", value, classes, hint)

    def _words_left_out(self, options: ColumnOptions) -> Iterator[str]:
        """What was left out for its word, and how it is kept."""
        for label, words in self.words.items():
            for word, count in words.items():
                keep = f'; to keep "{word}" as a class of {label}, name it: --order {label}={order_of([word])},…'
                remedy = "" if options.order is None or self.choices else keep
                values = "value" if count == 1 else "values"
                yield f'{count:,} {values} "{word}" of {label} in {self.name} read as missing{remedy}.'

    def _add_label(self, label: Observation, *, named: bool) -> bool:
        """Adds a label; whether it takes the place of another. Problem if the two may be of different people."""
        system = self._systems.setdefault((0, label.system), len(self._systems))
        example = self._example(0, system, label, {})
        metric = self._metrics.setdefault(label.metric, len(self._metrics))
        query = "SELECT line FROM scores WHERE example = ? AND metric = ? AND rater = ?"
        earlier = self._db.execute(query, (example, metric, label.rater)).fetchone()
        if earlier and not named:
            about = (
                f'"{label.given["a"]}" or "{label.given["b"]}"'
                if self.choices
                else f'"{label.example_id}"'
            )
            raise _UnnamedRater(
                f"{about} already has a label ({label.metric}) in line {earlier[0]}, and the file names no raters; "
                "keep one of them, or add a column rater"
            )
        try:
            fields = orjson.dumps(label.given)
        except orjson.JSONEncodeError:
            raise Problem("contains half a character (a lone surrogate); remove it") from None
        self._db.execute(
            "INSERT OR REPLACE INTO scores (example, metric, system, score, status, rater, label, line, given) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (
                example,
                metric,
                system,
                label.score,
                label.status,
                label.rater,
                label.label,
                label.line,
                fields,
            ),
        )
        return bool(earlier)

    @property
    def labels(self) -> list[str]:
        return self.metrics

    def each(self, read: Callable[[Observation], Made]) -> list[Made]:
        """What `read` makes of each label. BadInput with the lines for which it raises Problem or ValueError."""
        results = list[Made]()
        wrong = BadLines()
        for observation in self.select():
            try:
                results.append(read(observation))
            except (Problem, ValueError) as error:
                wrong.add(
                    at(
                        self.name,
                        observation.line,
                        str(error),
                    )
                )
        wrong.check()
        return results

    def _alike(self) -> Iterator[str]:
        """Names of raters that look the same (case, width, letters of another script): probably one person."""
        by: dict[str, list[str]] = {}
        for (rater,) in self._db.execute(
            "SELECT rater FROM scores GROUP BY rater ORDER BY MIN(line)"
        ):
            by.setdefault(looks(rater), []).append(rater)
        for names in by.values():
            if len(names) > 1:
                same = " and ".join(map(ascii, names))
                yield f"The raters {same} in {self.name} look the same and count as {len(names)} people."

    def _useless(self, by: Sequence[str]) -> dict[str, str]:
        """The columns that are named like a group and are none, with the reason."""
        unused: dict[str, str] = {}
        about = "metric, id" if self.choices else "example, metric"
        for column in by:
            value = "COALESCE(json_extract(given, ?), char(0))"
            path = f'$."{column}"'
            query = f"SELECT COUNT(DISTINCT {value}) FROM scores"
            if (count := self._db.execute(query, (path,)).fetchone()[0]) > MOST_GROUPS:
                unused[column] = f"it has {count:,} different values"
            query = (
                f"SELECT 1 FROM scores JOIN examples ON number = example GROUP BY {about} "
                f"HAVING COUNT(DISTINCT {value}) > 1 LIMIT 1"
            )
            if column not in unused and self._db.execute(query, (path,)).fetchone():
                unused[column] = "it differs between lines on the same answers"
        return unused


class _LabelColumns:
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
        mapping = options.mapping
        by = options.by
        raters = options.raters
        self._order = options.order or {}
        self._of_cells = of_cells
        self.words: dict[str, Counter[str]] = {}
        self.left_out: dict[str, Counter[str]] = {}
        self._leave_out = frozenset(map(_class_key, options.values_left_out))
        self._spelling: dict[str, str] = {}
        self.scales: dict[str, DeclaredScale] = {}
        self._mapped = dict(mapping or {})
        self.by = tuple[str, ...]()
        self.parts = ""
        self._raters = raters
        for name in self._mapped:
            if name not in FIELDS:
                raise UnknownName("field", name, FIELDS, f"The fields are {', '.join(FIELDS)}.")
        column_of: dict[str, Any] = {
            folded(str(column)): column for column in reversed(names)
        } | self._mapped
        chosen = "choice" in column_of or (raters and {"a", "b"} <= column_of.keys())
        self.form = form or (
            _CHOICES if chosen else _SCORE if "dimension" in column_of else _RATINGS
        )
        self._filled = {*self.form.filled, *options.filled}
        self._words_for_none = _EMPTY_CELLS if of_cells else _NOT_STATED
        if "value" in self._filled:  # a word for none is an error there, in any format
            self._words_for_none = _EMPTY_CELLS - _NOT_STATED
        self._column: dict[str, Any] = {}
        self._cells: set[Any] = set()
        self._nested: NestedFields | None = None
        if not names:  # every record is unreadable, each with its reason
            return
        listed = f"The columns are {first_few(names, 12)}."
        value = "choice" if chosen else "value"
        for column in nested.never_seen:
            columns_and_paths = (*map(str, names), *paths.known(first))
            raise UnknownName(f"column in {named('mapping')}", column, columns_and_paths, listed)
        for column in raters:
            if column not in names:
                raise UnknownName(f"column in {named('raters')}", column, map(str, names), listed)
        if raters and (twice := sorted({"rater", value} & column_of.keys())):
            raise UserError(
                f"{file} has a column {twice[0]} and a column for each rater; omit {named('raters')}"
            )
        self._column = dict(self._mapped)
        taken = set(self._column.values())
        for name, own_name in self.form.columns.items():
            if own_name in column_of and column_of[own_name] not in taken:
                self._column.setdefault(name, column_of[own_name])
        if SENTENCE_START in self._column or SENTENCE_END in self._column:
            self.parts = CITATION if CITATION in self._column else "sentence"
        elif NUGGET in self._column:
            self.parts = NUGGET
        part_columns = (SENTENCE_START, SENTENCE_END) if self.parts not in ("", NUGGET) else ()
        for name in dict.fromkeys((*self.form.needed, *self._filled, *part_columns)):
            if name not in self._column and not (raters and name in ("rater", value)):
                remedy = (
                    ""
                    if mapping is None
                    else f"; name it with {named('mapping', {name: 'COLUMN'})}"
                )
                if remedy and name == value:
                    remedy += (
                        f", or the columns of several raters with {named('raters', 'COLUMN,…')}"
                    )
                raise UserError(
                    f"{file}: labels need a column {self.column(name)}; found {first_few(names, 12)}{remedy}"
                )
        for column in by:
            if column not in names and folded(column) not in column_of:
                raise UnknownName(f"column in {named('by')}", column, map(str, names), listed)
        columns_asked = [column if column in names else column_of[folded(column)] for column in by]
        free = (
            column_of[group]
            for group in GROUPS
            if group in column_of and column_of[group] not in self._column.values()
        )
        self.by = tuple(map(str, columns_asked or (free if form is None else ())))
        self._cells = {*self._column.values(), *raters}
        columns_inside = {
            path: path for path in map(str, self._mapped.values()) if path not in names
        }
        if columns_inside:
            self._nested = NestedFields(columns_inside)

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
            else {name: _group(record.get(name)) for name in self.by}
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
        number, text = _choice(raw) if "choice" in self.form.columns else self._value(raw)
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
        if self.parts == NUGGET:
            nugget = self._name(record, NUGGET)
            return AnswerPart(answer, 0, 0, nugget=nugget)
        start, end = (
            read_place(self.column(name), self._cell(record, name))
            for name in (SENTENCE_START, SENTENCE_END)
        )
        if start >= end:
            raise Problem(
                f"{self.column(SENTENCE_END)}: is {end}, which is not behind {self.column(SENTENCE_START)} ({start})"
            )
        citation = self._name(record, CITATION) if self.parts == CITATION else ""
        return AnswerPart(answer, start, end, citation)

    def _is_left_out(self, record: Mapping[str, Any], raw: Any) -> bool:
        """Whether the caller leaves a value out, which is counted then."""
        value = _spelled(raw) if self._leave_out else None
        if value is None or _class_key(value) not in self._leave_out:
            return False
        label = self._name(record, "label", None) or self.form.name
        first_spelling = self._spelling.setdefault(_class_key(value), value)
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
        if isinstance(cell, str) and cell.strip().casefold() in _EMPTY_CELLS:
            cell = None
        value = _plain(column, cell)
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
        value = _plain(self.column("value"), cell)
        if value is None and "value" in self._filled:
            raise Problem(f"{self.column('value')}: is empty")
        return (None, self._known("value", value)) if isinstance(value, str) else (value, None)


def _spelled(raw: Any) -> str | None:
    """A number or a text as it is written; None for anything else."""
    if isinstance(raw, bool):
        return _TRUTH[raw]
    return " ".join(str(raw).split()) if isinstance(raw, str | int | float) else None


def _class_key(text: str) -> str:
    """A value as it is compared with those to leave out: without case, and `99.0` as `99`."""
    return repr(float(text)) if NUMBER.fullmatch(text) else comparable(text)


def _total(counts_of_labels: Mapping[str, Counter[str]]) -> int:
    return sum(counts.total() for counts in counts_of_labels.values())


def _values_left_out(left_out: Mapping[str, Counter[str]], file: str) -> Iterator[str]:
    for label, counts in left_out.items():
        for value, count in counts.items():
            yield (
                f'{counted(count, "value")} "{value}" of {label} in {file} left out, as {named("leave_out")} says.'
            )


def _group(value: Any) -> str | None:
    return (
        None
        if missing(value)
        else _TRUTH[value]
        if isinstance(value, bool)
        else name_of("by", value)
    )


def _plain(column: str, raw: Any) -> float | str | None:
    """A number, written as such or as text; a text; None if there is none. Raises Problem for anything else."""
    if raw is None:
        return None
    if isinstance(raw, bool):
        return _TRUTH[raw]
    if isinstance(raw, str):
        if isinstance(opened := parsed(raw), dict | list):
            raise Problem(_nested(column, opened))
        text = " ".join(canonical(raw).split())
        if _COMMA.fullmatch(text):
            raise Problem(
                f"{column}: {found(raw)} has a decimal comma; write {text.replace(',', '.')}"
            )
        if not NUMBER.fullmatch(text):
            return text
        raw = float(text)
    if not isinstance(raw, int | float):
        raise Problem(_nested(column, raw))
    if not abs(raw) < MOST_LABEL:
        raise Problem(f"{column}: {found(raw)} is too large for a rating")
    if 0 < abs(raw) < LEAST_LABEL:
        raise Problem(f"{column}: {found(raw)} is too near to 0 for a rating; write 0")
    return float(raw)


def _nested(column: str, value: Any) -> str:
    """That a value holds others, with the path of the first of them."""
    inner = (
        path
        for path in paths.known({column: value})
        if (find := paths.compiled(path)) is not None
        and isinstance(find({column: value}), str | int | float)
    )
    path = next(inner, "")
    several = isinstance(value, list) and len(value) > 1
    if several:
        path = path.replace("[0]", "[]", 1)
    option = named("mapping", {"value": path})
    remedy = f"; name what it holds with a path: {option}" if path else ""
    return f"{column}: expected a number or a text, found {found(value)}{remedy}"


def _choice(raw: Any) -> tuple[float | None, str | None]:
    """The grade, None for a word; and the choice, None if the cell is empty. Raises Problem."""
    text = raw.strip().casefold() if isinstance(raw, str) else ""
    if text in ("a", "b", "tie"):
        return None, text
    grade = _plain("choice", raw)
    if isinstance(grade, str):
        raise Problem(
            f"choice: expected a, b or tie, or a number (below 0 for a, above 0 for b), found {found(raw)}"
        )
    return grade, None if grade is None else "tie" if grade == 0 else "a" if grade < 0 else "b"


def order_for(order: Mapping[str, Sequence[str]], label: str) -> Sequence[str]:
    """The classes that `order` gives for a label; a final label has those of its raters' unless it has its own."""
    return order.get(label) or order.get(label.removesuffix(f".{FINAL}"), ())


def decisive(ratings: Iterable[Rated], thing: Callable[[Rated], Hashable]) -> list[Rated]:
    """The labels that count: of each thing its final label, and every rater's where it has none."""
    ratings = list(ratings)
    decided = {thing(rating) for rating in ratings if rating.rater == FINAL}
    return [rating for rating in ratings if rating.rater == FINAL or thing(rating) not in decided]


def first_few(names: Iterable[object], most: int = 5) -> str:
    """Some names for a message, and how many more there are."""
    listed = list(map(str, names))
    unlisted = len(listed) - most
    return ", ".join(listed[:most]) + (f" and {unlisted:,} more" if unlisted > 0 else "")
