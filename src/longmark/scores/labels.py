"""The labels that raters gave, in the table of observations: ratings of answers, or choices between two answers.

Ratings:  example_id, value; and label (its name), rater, system if there are several; and inclusion_probability, the
          probability with which the answer was chosen for labelling, if that was not the same for all;
          answer_sha256, of the text that was labelled (`answer_texts`); label_scale, that it was labelled on
          (`label_scales`); sentence_start, sentence_end and citation, or nugget or criterion, if parts of answers were
          labelled (`answer_parts`)
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

from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol, TypeVar

import orjson

from longmark.errors import UnknownName, UserError
from longmark.options import named
from longmark.progress import counted
from longmark.records import beir, paths, sources
from longmark.records.files import BadLines, at
from longmark.records.nested import NestedFields
from longmark.records.same import comparable
from longmark.records.values import Problem, looks
from longmark.scores import label_studio_sides
from longmark.scores.columns_of_labels import a_line_a_label, columns_unread, criteria_as_raters
from longmark.scores.label_columns import LabelColumns
from longmark.scores.label_forms import (
    AS_IT_IS,
    FIELDS,
    FINAL,
    KEY_POINTS,
    PROBABILITY,
    ColumnOptions,
    LabelForm,
    LabelTool,
    columns_listed,
    first_few,
    order_for,
)
from longmark.scores.label_scales import DeclaredScale, order_of, shown_classes
from longmark.scores.label_tools import ToolRecords, tool_of
from longmark.scores.label_values import LEAST_LABEL, MOST_LABEL, class_key
from longmark.scores.observations import Observation, Observations
from longmark.scores.replaced_labels import told_apart

__all__ = [
    "FIELDS",
    "FINAL",
    "KEY_POINTS",
    "LEAST_LABEL",
    "MOST_GROUPS",
    "MOST_LABEL",
    "PROBABILITY",
    "ColumnOptions",
    "LabelForm",
    "Labels",
    "decisive",
    "first_few",
    "order_for",
]

MOST_GROUPS = 60
"""A column with more values is not one of groups."""

Given = str | Path | Iterable[Mapping[str, Any]]
Made = TypeVar("Made")


class _Rated(Protocol):
    @property
    def rater(self) -> str: ...


Rated = TypeVar("Rated", bound=_Rated)


class _UnnamedRater(Problem):
    """A second label of an answer in a file that does not say whose labels these are."""


class Labels(Observations):
    """The labels of a file, or of records. Each is an `Observation`; of a choice, `given` has a and b. Closed as
    `Observations` is.

    name: of the file; choices: whether it holds choices; parts: what of an answer is labelled, `sentence`, `citation`,
    `nugget` or `criterion`, "" for the whole answer; by: the columns of the groups, whose values are in `given`;
    scales: label -> the scale that the file declares for it; empty: lines without a value, which are left out; words:
    label -> the words of those that have a word for none in place of a value; replaced: labels in whose place a later
    one of the same rater counts; unread: beside columns of labels, others named like labels; alike: sentences on raters
    whose names look the same; notices: all of this that should be known, and what else of the file should be.
    """

    _ORDER = "line, number, metric, rater"

    def __init__(
        self, labels: Given, form: LabelForm | None = None, options: ColumnOptions = AS_IT_IS
    ) -> None:
        """form: ratings or choices, as the columns say, if it is None.

        Errors: UserError if the file as a whole cannot be used, BadInput with the first lines that are wrong,
        UnknownName for a field, a column or a label in `order` that does not exist.
        """
        super().__init__()
        self.by: tuple[str, ...] = ()
        self.unread: tuple[str, ...] = ()
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
            file = Path(labels)
            file = beir.judgments_of(file) if file.is_dir() else file
            self.name = str(file)
            kind = sources.kind_of(file)
            records = partial(sources.records, file, kind)
        else:
            self.name = "human"
            kind = "records"
            records = partial(enumerate, list(labels), 1)
        if options.label_columns is not None:
            self.notices += filter(None, [criteria_as_raters(options.raters)])
        tool = None
        has_columns_of_labels = bool(options.label_columns)
        if has_columns_of_labels:
            records, options = a_line_a_label(records, self.name, options)
        elif form is None and not options.raters:
            tool = tool_of((record for _, record in records()), options.mapping or {})
        of_tool: ToolRecords | None = None
        export = Path(self.name) if kind != "records" else None
        tool, sides = label_studio_sides.resolved(tool, self.name, export, options)
        if tool is not None:
            of_tool = self._of_tool(tool, records, options.mapping or {})
            records = partial(of_tool.flat_of, records)
            options = replace(options, mapping={})
        names, nested, first = self._seen(records, options)
        if names is None and of_tool is not None:
            raise UserError(f"{of_tool.notice(self.name)} It has no label of an answer.")
        if names is None:
            raise UserError(f"{self.name} has no records; write one label per line")
        if has_columns_of_labels:
            self.unread = columns_unread(names, options)
        columns = LabelColumns(
            self.name, names, form, options, nested, first, of_cells=kind in sources.CELLS
        )
        self.choices = "choice" in columns.form.columns
        self.parts = columns.parts
        self._add_labels(records(), columns, of_tool=of_tool is not None)
        if of_tool is not None:
            self.notices += [of_tool.notice(self.name), *filter(None, [sides])]
        self.words = columns.words
        self.scales = columns.scales
        self._check_left_out(columns.left_out, options)
        self._note_missing(columns, options)
        if self.replaced:
            replaced = "label was" if self.replaced == 1 else "labels were"
            apart = "" if of_tool else told_apart(records(), columns)
            self.notices.append(
                f"{self.replaced:,} {replaced} replaced by later labels of the same rater in {self.name}.{apart}"
            )
        if self.choices and of_tool is None:
            self.notices += self._sides_of_numbers()
        self.alike = list(self._alike())
        self.notices += [*self.alike, *self._alike_values()]
        unused = {} if options.by else self._useless(columns.by)
        self.notices += [
            f"No results by the column {column}: {reason}." for column, reason in unused.items()
        ]
        self.by = tuple(column for column in columns.by if column not in unused)

    def _seen(
        self, records: Callable[[], Iterable[tuple[int, Any]]], options: ColumnOptions
    ) -> tuple[dict[Any, None] | None, NestedFields, Mapping[str, Any]]:
        """What all records have: the names of their columns (None without a record), the mapped fields, and the first
        record that has any."""
        names: dict[Any, None] = {}
        nested = NestedFields(
            {name: path for name, path in (options.mapping or {}).items() if path}
        )
        first: Mapping[str, Any] = {}
        any_record = False
        for _, record in records():
            any_record = True
            if isinstance(record, Mapping):
                names.update(dict.fromkeys(record))
                nested.never_seen -= record.keys()
                nested.see(record)
                first = first or record
        return (names if any_record else None), nested, first

    def _add_labels(
        self, records: Iterable[tuple[int, Any]], columns: LabelColumns, *, of_tool: bool
    ) -> None:
        """Puts the label of each record into the table. BadInput with the first lines that are wrong."""
        wrong = BadLines()
        self._runs.append(Path(self.name))
        self._db.execute("BEGIN")
        # one message for all, since a file without raters has one for each answer
        unnamed: list[str] = []
        for line, record in records:
            try:
                for observation in columns.labels_of(line, record):
                    self.empty += observation is None
                    self.replaced += observation is not None and self._add_label(
                        observation, raters_named=columns.raters_named, of_tool=of_tool
                    )
            except _UnnamedRater as problem:
                unnamed.append(at(self.name, line, str(problem)))
            except Problem as problem:
                wrong.add(at(self.name, line, str(problem)))
        self._db.execute("COMMIT")
        if unnamed:
            alike = f" ({len(unnamed):,} lines are such labels)" if len(unnamed) > 1 else ""
            wrong.add(unnamed[0] + alike)
        wrong.check()

    def _note_missing(self, columns: LabelColumns, options: ColumnOptions) -> None:
        """Notes which values were read as missing. UserError where no label is left; UnknownName for an order of a label
        that is not there."""
        words = [*_values_left_out(columns.left_out, self.name), *self._words_left_out(options)]
        if not self.labels:
            value = "choice" if self.choices else columns.column("value")
            sentences = (f"{self.name}: no line has a {value}.", *words)
            raise UserError(" ".join(sentences).removesuffix("."))
        self._check_order(options.order or ())
        if without := self.empty - _total(self.words) - _total(columns.left_out):
            self.notices.append(f"{counted(without, 'empty value')} in {self.name}: ignored.")
        self.notices += words

    def _of_tool(
        self,
        tool: LabelTool,
        records: Callable[[], Iterable[tuple[int, Any]]],
        mapping: Mapping[str, str],
    ) -> ToolRecords:
        """UnknownName for a mapped path that no record has; UserError where the file does not say which column holds the
        labels."""
        if tool.refusal:
            raise UserError(f"{self.name} is read as {tool.name}: {tool.refusal}")
        of_tool = ToolRecords(tool, mapping)
        first: Mapping[str, Any] = {}
        for _, record in records():
            if isinstance(record, Mapping):
                first = first or record
                of_tool.fields.see(record)
        listed = columns_listed(first)
        for path in filter(None, mapping.values()):
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
        values = {class_key(value) for counts in left_out.values() for value in counts}
        for value in options.values_left_out:
            if class_key(value) not in values:
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

    def _add_label(self, label: Observation, *, raters_named: bool, of_tool: bool) -> bool:
        """Adds a label; whether it takes the place of another. Problem if the two may be of different people."""
        system = self._systems.setdefault((0, label.system), len(self._systems))
        example = self._example(0, system, label, {})
        metric = self._metrics.setdefault(label.metric, len(self._metrics))
        query = "SELECT line FROM scores WHERE example = ? AND metric = ? AND rater = ?"
        earlier = self._db.execute(query, (example, metric, label.rater)).fetchone()
        about = (
            f'"{label.given["a"]}" or "{label.given["b"]}"'
            if self.choices
            else f'"{label.example_id}"'
        )
        if earlier and raters_named and earlier[0] == label.line and not of_tool:
            option = named("mapping", {"rater": "PATH[]"})
            raise Problem(
                f"{about} has two labels ({label.metric}) of {label.rater} in one record; name the rater of each: {option}"
            )
        if earlier and not raters_named:
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

    def _sides_of_numbers(self) -> Iterator[str]:
        """That choices which are numbers are all for b or ties: 1 and 2, or 0 and 1, can be meant as a and b."""
        query = "SELECT TOTAL(score < 0), TOTAL(score = 0), TOTAL(score > 0) FROM scores"
        for_a, ties, for_b = map(int, self._db.execute(query).fetchone())
        if for_b and not for_a:
            yield (
                f"No number of choice in {self.name} is below 0, which is for a: {for_b:,} are above 0, for b, and "
                f"{ties:,} are 0, ties. If 1 and 2, or 0 and 1, stand for the answers, write a and b."
            )

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

    def _alike_values(self) -> Iterator[str]:
        """Values of a label that differ in case or spaces alone: probably one class."""
        spellings: dict[tuple[str, str], list[str]] = {}
        names = {number: name for name, number in self._metrics.items()}
        query = (
            "SELECT metric, label FROM scores WHERE label IS NOT NULL GROUP BY metric, label "
            "ORDER BY MIN(line)"
        )
        for number, value in self._db.execute(query):
            spellings.setdefault((names[number], comparable(value)), []).append(value)
        for (label, _), values in spellings.items():
            if len(values) > 1:
                same = ", ".join(f'"{value}"' for value in values)
                yield (
                    f"The values {same} of {label} in {self.name} differ in case alone and count as {len(values)} "
                    "classes; spell them alike if they are one."
                )

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


def _total(counts_of_labels: Mapping[str, Counter[str]]) -> int:
    return sum(counts.total() for counts in counts_of_labels.values())


def _values_left_out(left_out: Mapping[str, Counter[str]], file: str) -> Iterator[str]:
    for label, counts in left_out.items():
        for value, count in counts.items():
            yield (
                f'{counted(count, "value")} "{value}" of {label} in {file} left out, as {named("leave_out")} says.'
            )


def decisive(ratings: Iterable[Rated], thing: Callable[[Rated], Hashable]) -> list[Rated]:
    """The labels that count: of each thing its final label, and every rater's where it has none."""
    ratings = list(ratings)
    decided = {thing(rating) for rating in ratings if rating.rater == FINAL}
    return [rating for rating in ratings if rating.rater == FINAL or thing(rating) not in decided]
