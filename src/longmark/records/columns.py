"""From a raw record (a dict, whatever tool wrote it) to an `Example` or a `Pair`, or to all that is wrong with it.

Column names are compared without case, with `-` and spaces as `_`, and `userInput` is `user_input`. A mapping, our
field -> column, takes precedence.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Any

from longmark.deprecated import used
from longmark.errors import UnknownName, UserError
from longmark.options import named
from longmark.progress import counted
from longmark.records import messages, notation, pair_columns, paths, proposals
from longmark.records.carried import CARRIED
from longmark.records.conversation import turns_of
from longmark.records.example import Example
from longmark.records.expected import HOLDS
from longmark.records.files import NotJson, parse_json
from longmark.records.pair import Answered
from longmark.records.path_functions import instructed
from longmark.records.predictions import PredictedAnswers
from longmark.records.record_reading import BadRecord, RecordReading, sources_of_reply
from longmark.records.turn import contexts_of, references_of
from longmark.records.values import (
    Problem,
    as_list_cell,
    folded,
    found,
    missing,
    name,
    text,
)
from longmark.records.vendor_replies import LISTS_OF_SOURCES

_DATASET = frozenset(("input", "actual_output", "retrieval_context", "context"))
"""Columns of a dataset that DeepEval saved, whose lists in CSV and JSON Lines are one text."""
_OTHER_NAMES = {
    "id": ("example_id", "query_id"),
    "question": ("query", "user_input", "input"),
    "answer": ("response", "actual_output"),
    "contexts": ("context", "retrieved_contexts", "retrieved_context", "retrieval_context"),
    "references": ("reference", "ground_truth", "ground_truths", "gt_answer", "expected_output"),
    "turns": ("messages", "conversations"),
    "claims": ("response_claims", "answer_claims"),
    "reference_claims": ("gt_answer_claims",),
    "claims_by_reference": ("answer2response",),
    "reference_claims_by_answer": ("response2answer",),
    "claims_by_contexts": ("retrieved2response",),
    "reference_claims_by_contexts": ("retrieved2answer",),
    "criteria": ("rubrics",),
}
NAMES = {field: (field, *_OTHER_NAMES.get(field, ())) for field in Example.model_fields}
"""Each field and the columns that are read as it. Ragas, DeepEval and RAGChecker use these names."""

_FIELD_OF = {column: field for field, columns in NAMES.items() for column in columns}
_BESIDE_INPUT = {"output": "answer", "expected": "references"}
"""Columns that are read so where `input` is the question and no other column holds the field: records of TruLens, Opik,
Braintrust and tables of phoenix-evals. With an `instruction` beside it, `input` is a part of a prompt (Alpaca)."""
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")  # where camelCase begins a word
_SINGULAR = {"reference": "references", "context": "contexts"}  # deprecated
_SCORED = frozenset(
    {"question", "answer", "contexts", "references", "turns", "nuggets"}
)  # an example has one of them at least
_NAMED = frozenset(
    {"id", "question_id", "system", "variant_of", "variant", "task", "level", "turn_of"}
)
_TEXTS = frozenset({"question", "answer", "base_answer"})

_COLUMNS_SHOWN = 8  # in a message
_SAMPLE = 5  # records that a proposal is made from
_ID = re.compile(r"(?=[!-~]*\d)(?=[!-~]*[A-Za-z])(?=[!-~]*[-_.:#/])[!-~]{4,200}")
"""ASCII without white space, with a digit, a letter and a joint."""
_CITED = "citations"


class Columns:
    """How the columns of one file are read.

    mapping: our field -> column, path or several of them (`records.paths`). cells: the values are cells of a CSV
    file, where an empty one is a missing value, `""` an empty text, and a list is written as JSON. `never_seen`:
    the mapped columns that no record had so far; `seen`: the columns of the first records; `first`: the first
    record; `sample`: the first records; retrieval_follows: whether some record has a `retrieval_context`;
    `unknown`: records without a known column; `ignored`: what is not read, counted. A field that is mapped to no
    column (`references=`) is left out.
    """

    def __init__(
        self,
        mapping: Mapping[str, str] | None = None,
        cells: bool = False,
        retrieval_follows: Callable[[], bool] = lambda: False,
    ) -> None:
        self.ignored: Counter[str] = Counter()
        self._column_of: dict[str, str] = {}
        self._left_out: set[str] = set()
        pair_fields_left_out: dict[str, str] = {}
        self.unknown = 0
        self.sample: list[dict[str, Any]] = []
        for mapped_name, column in (mapping or {}).items():
            field = _SINGULAR.get(mapped_name, mapped_name)
            if field != mapped_name:
                used(f"the field `{mapped_name}` of --map")
            names = (*NAMES, *pair_columns.FIELDS)
            if field not in names:
                raise UnknownName(
                    "field", mapped_name, names, f"The fields are {', '.join(names)}."
                )
            if field in {*self._column_of, *self._left_out, *pair_fields_left_out}:
                raise UserError(f"{named('mapping')} names {field} twice; give it one column")
            if column.strip():
                self._column_of[field] = column
            elif field in NAMES:
                self._left_out.add(field)
            elif field not in ("a", "b"):
                pair_fields_left_out[field] = ""
            else:
                raise UserError(f"{named('mapping', {field: ''})}: name a column")
        self._cells = cells
        self._of_pairs = {
            field: self._column_of.pop(field)
            for field in pair_columns.FIELDS
            if field in self._column_of
        }
        self._mapped = frozenset(self._column_of.values())
        fields = {**self._column_of, **self._of_pairs}
        self._of_pairs |= pair_fields_left_out
        column_of = {
            field: column
            for field, column in fields.items()
            if field not in pair_columns.FIELDS[2:]
        }
        self._sources = [paths.PathSource(column, field) for field, column in column_of.items()]
        several = [
            path
            for field, column in fields.items()
            if field not in column_of
            for path in column.split(",")
        ]
        self._sources += [paths.PathSource(path, "label") for path in several]
        self.predictions = PredictedAnswers()
        self._systems: Counter[bool] = Counter()  # answers by whether they have one
        self.seen: dict[str, None] = {}
        self.first: dict[str, Any] = {}
        self._has_retrieval: bool | None = None  # a record has DeepEval's `retrieval_context`
        self._retrieval_follows = retrieval_follows

    @property
    def never_seen(self) -> set[str]:
        return {path for source in self._sources for path in source.never_seen}

    def unseen(self) -> str:
        """The mapped columns that no record had, with the nearest that there are, for a message."""
        paths_seen = list(paths.known(self.first))
        names = []
        for path in sorted(self.never_seen):
            near = paths.nearest(path, paths_seen)
            names.append(f"{path} (near: {', '.join(near)})" if near else path)
        return f"the column {', '.join(names)}; the columns are {columns_shown(self.seen)}"

    def example(self, record: Any, whole: Any = None) -> Answered:
        """The Example of a record, a Pair where it has two answers. whole: the record of another tool of which `record`
        is what its shape read, in which mapped columns are. Raises BadRecord."""
        if not isinstance(record, dict):
            raise BadRecord(f"expected an object with named fields, found {found(record)}")
        of_tool = whole is not None
        original = whole if of_tool else record
        if len(self.sample) < _SAMPLE:
            self.sample.append(original)
        mapped = self._with_paths(original, of_tool) if self._sources else {}
        if of_tool:
            left_out = {*self._column_of, *self._left_out}
            record = {field: value for field, value in record.items() if field not in left_out}
        # The fields that a shape read are apart from mapped columns, which may have their names.
        shaped = record if of_tool else None
        record = record | mapped if mapped else record
        pair, record = self._pair_fields(record)
        by_path = frozenset(mapped.keys() - original.keys())
        reading = RecordReading(record, whole, pair, by_path)
        assigned = (
            self._assigned(record, reading.unread)
            if shaped is None or pair
            else self._assigned_of_shape(shaped, mapped, reading.unread)
        )
        for field, column, raw in assigned:
            self._read(reading, field, column, raw)
        if reading.reply is not None:
            reading.fields |= sources_of_reply(reading.reply, reading.fields)
            self.ignored.update(reading.reply.ignored)
        elif not {"sources", "contexts"} & {*reading.fields, *self._left_out}:
            reading.add_listed_sources()
        elif not any("sources" in names for names in (reading.fields, self._left_out)):
            reading.add_sources_of_contexts(
                [column for column in reading.unread if field_of(column) == "sources"]
                + list(LISTS_OF_SOURCES)
            )
        if not reading.pair and not reading.wrong and not _SCORED & reading.column_of.keys():
            self.unknown += bool(record)
            reading.wrong.append(_nothing_known(record))
        answered = reading.result()
        if isinstance(answered, Example):
            self._systems[answered.system is not None] += 1
        return answered

    def _pair_fields(self, record: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
        """The fields of a pair, and the record without their columns; no fields where a record has one answer."""
        try:
            answers = pair_columns.find(record, self._of_pairs, self._empty)
            if answers is None:
                return {}, record
            pair_fields = pair_columns.PairFields(
                record, answers, self._of_pairs, self._cells, self.ignored
            )
            return pair_fields.read(), pair_fields.rest
        except Problem as problem:
            raise BadRecord(str(problem)) from None

    def _read(self, reading: RecordReading, field: str, column: str, raw: Any) -> None:
        """Reads a column as a field of the record, or notes what is wrong with it."""
        reading.column_of.setdefault(field, column)
        raw = reading.without_reply(field, raw)
        # A shape reads records without their empty cells: an empty text that it gives is one.
        empty_text = reading.whole is not None and field in _TEXTS and raw == ""
        try:
            value = raw if empty_text else self._value(field, raw)
        except Problem as problem:
            is_path = column in reading.paths
            remedy = _remedy(field, column, raw, reading.original, is_path=is_path)
            reading.wrong.append(f"{problem}{remedy}")
            return
        if (
            field == "references"
            and field not in self._column_of
            and _are_ids(value, reading.record, reading.whole)
        ):
            self.ignored["references that are ids of passages"] += len(value)
            reading.unread[column] = raw
        elif value is not None and (value != () or field in CARRIED):
            reading.add(field, column, value, raw)

    def notices(self, name: str) -> Iterator[str]:
        """What was mapped and is in no record, and answers that have no system beside others that have one."""
        for source in self._sources:
            if self.seen and not source.has_found and not source.never_seen:
                yield f"{source.field}: {source.text} finds nothing in any record of {name}."
        with_one = self._systems[True]
        nameless = self._systems[False]
        if with_one and nameless:
            remedy = "Fill in the system, or leave the answers out."
            if place := self._column_of.get("system"):
                named_place = proposals.place_in_path(place, is_path="." in place)
                option = proposals.options({"system": f'not_null({named_place}, `"NAME"`)'})
                remedy = f"To name it: {option}"
            yield (
                f"{counted(nameless, 'answer')} of {name} without a system, beside {with_one:,} with one: a run "
                f"counts them as answers of a system with its own name. {remedy}"
            )

    def _with_paths(self, record: dict[str, Any], every: bool) -> dict[str, Any]:
        """The mapped columns that a record has only by their paths, or every one."""
        if len(self.seen) < _COLUMNS_SHOWN:
            self.seen.update(dict.fromkeys(record))
            self.first = self.first or record
        fields: dict[str, Any] = {}
        for source in self._sources:
            if source.never_seen:
                source.see(record)
            if every or source.text not in record:
                try:
                    value = source.column(record)
                except Problem as problem:
                    raise BadRecord(str(problem)) from None
                fields |= {} if value is None else {source.text: value}
            else:
                source.has_found = True
        return fields

    def _assigned(
        self, record: dict[str, Any], unknown: dict[str, Any]
    ) -> Iterator[tuple[str, str, Any]]:
        """(field, column, value) of every column that is a field; the others go into `rest` if they have a value."""
        record = self._with_instruction(record)
        for field, column in self._column_of.items():
            if column in record:
                yield field, column, record[column]
        known_names = {_known_name(column) for column in record if isinstance(column, str)}
        if "retrieval_context" in known_names:
            if self._has_retrieval is False and "contexts" not in self._column_of:
                raise BadRecord(
                    "retrieval_context: a record before this one has no such column, so that its `context` was read as "
                    "the passages; give a list instead of a generator, or name the column, "
                    f"{named('mapping', {'contexts': 'retrieval_context'})}"
                )
            self._has_retrieval = True
        elif self._has_retrieval is None and "context" in known_names:
            self._has_retrieval = self._retrieval_follows()
        beside = self._beside_input(record)
        if "answer" not in self._column_of:
            beside |= self._predicted(record)
        for column, raw in record.items():
            if column in self._mapped:
                continue
            field_named = (beside[column] or None) if column in beside else field_of(column)
            ideal = (
                self._has_retrieval and _known_name(column) == "context"
            )  # DeepEval's, beside the retrieved passages
            if _known_name(column) == "retrieval_context" and known_names >= _DATASET:
                raw = notation.barred(raw)
            if field_named == "turns" and field_named not in self._column_of:
                ideal = not _is_conversation(column, raw, record)
            if field_named in HOLDS and field_named not in self._column_of:
                ideal = not HOLDS[field_named](messages.parsed(raw))
            if (
                field_named is not None
                and field_named not in self._column_of
                and field_named not in self._left_out
                and not ideal
            ):
                yield field_named, column, raw
            elif not self._empty(raw):
                unknown[column] = raw

    def _assigned_of_shape(
        self, shaped: dict[str, Any], mapped: dict[str, Any], unknown: dict[str, Any]
    ) -> Iterator[tuple[str, str, Any]]:
        """(field, column, value) of the mapped columns, then of the fields that a shape read."""
        for field, column in self._column_of.items():
            if column in mapped:
                yield field, column, mapped[column]
        for field, value in shaped.items():
            holds = HOLDS.get(field)
            cites_nothing = field == "sources" and value == []
            if field in NAMES and (holds is None or cites_nothing or holds(messages.parsed(value))):
                yield field, field, value
            elif not self._empty(value):
                unknown[field] = value

    def _with_instruction(self, record: dict[str, Any]) -> dict[str, Any]:
        """A record in which `input`, where an `instruction` stands beside it (Alpaca), is both: the instruction is the
        question, and the input what it is about."""
        columns = {folded(column): column for column in record if isinstance(column, str)}
        beside_it = [column for name, column in columns.items() if name != "input"]
        if "input" not in columns or "question" in (
            *self._column_of,
            *self._left_out,
            *map(field_of, beside_it),
        ):
            return record
        about = record[columns["input"]]
        text = instructed([record.get(columns.get("instruction", "")), about])
        return record if text is None else record | {columns["input"]: text}

    def _beside_input(self, record: Mapping[str, Any]) -> dict[str, str]:
        """The columns of a record that are fields because its question is `input`."""
        columns = {folded(column): column for column in record if isinstance(column, str)}
        if "input" not in columns or columns["input"] in self._mapped or "instruction" in columns:
            return {}
        fields = {field_of(column) for column in record} | self._column_of.keys()
        return {
            columns[name]: field
            for name, field in _BESIDE_INPUT.items()
            if name in columns and field not in fields and isinstance(record[columns[name]], str)
        }

    def _predicted(self, record: Mapping[str, Any]) -> dict[str, str]:
        """The columns of a record that are fields because the file has predicted answers."""
        unmapped = {column: raw for column, raw in record.items() if column not in self._mapped}
        fields = {field_of(column) for column in unmapped} | self._column_of.keys()
        try:
            return self.predictions.fields(unmapped, fields)
        except Problem as problem:
            raise BadRecord(str(problem)) from None

    def _empty(self, raw: Any) -> bool:
        return missing(raw) or (self._cells and raw == "")

    def _value(self, field: str, raw: Any) -> Any:
        if self._empty(raw):
            return None
        if self._cells and raw == '""':
            raw = ""
        if field in _TEXTS:
            return text(field, raw)
        if field in _NAMED:
            return name(field, raw)
        if field == "turns":
            return turns_of(raw, self.ignored)
        if field in CARRIED:  # Parquet, too, holds them as JSON
            return CARRIED[field](field, as_list_cell(field, raw))
        if field in ("contexts", "references"):
            items = as_list_cell(field, raw)  # a text that spells a list, in JSON Lines, too
            return contexts_of(items) if field == "contexts" else references_of(items)
        return _json_object(field, raw)


def field_of(column: str) -> str | None:
    """The field that a column is read as, by its name alone."""
    known_name = _known_name(column)
    return None if known_name is None else _FIELD_OF[known_name]


@lru_cache(maxsize=4096)
def _known_name(column: str) -> str | None:
    words = column.strip().replace(" ", "_").replace("-", "_")
    return next(
        (form for form in (words.lower(), _HUMP.sub("_", words).lower()) if form in _FIELD_OF), None
    )


def _is_conversation(column: str, raw: Any, record: Mapping[str, Any]) -> bool:
    """Whether a column holds turns: `turns` where it has objects, `messages` only where nothing else is asked or
    answered, since a prompt is often stored beside its question and answer."""
    value = messages.parsed(raw)
    listed = isinstance(value, list) and (
        not value or any(isinstance(item, dict) for item in value)
    )
    if column == "turns" or not listed:
        return listed
    return not any(field_of(column) in ("question", "answer") for column in record)


def _json_object(field: str, raw: Any) -> Any:
    """profile, options, graph, meta: an object (options: or a list), given as such or as JSON text."""
    value = raw
    if isinstance(raw, str):
        try:
            value = parse_json(raw)
        except NotJson:
            pass
        except ValueError as error:
            raise Problem(f"{field}: {error}") from None
    if isinstance(value, dict) or (field == "options" and isinstance(value, list)):
        return value
    raise Problem(
        f"{field}: expected an object{' or a list' if field == 'options' else ''}, found {found(raw)}"
    )


def columns_shown(columns: Iterable[str]) -> str:
    """The first names, with `…` where there are more."""
    names = [str(column) for column in columns]
    return ", ".join(names[:_COLUMNS_SHOWN]) + (", …" if len(names) > _COLUMNS_SHOWN else "")


def _remedy(
    field: str, column: str, raw: Any, original: Mapping[str, Any], *, is_path: bool
) -> str:
    """What to do about a value of another type, for a message. original: the record as it stands in the file. is_path:
    the column is a path into the record."""
    if field not in _TEXTS:
        return ""
    if isinstance(raw, list):
        place = proposals.place_in_path(column, is_path=is_path)
        if option := proposals.joined(field, place, raw):
            if cited := proposals.with_citations(field, place, raw):
                return f"; read its texts with their citations: {cited}"
            return f"; join its texts: {option}"
    return proposals.part_of(field, raw, original)


def is_like_an_id(text: str) -> bool:
    """Whether a text could be the id of a passage: `doc_12`, `msmarco_v2.1_doc_00_1#5`; not a number."""
    return bool(_ID.fullmatch(text))


def _are_ids(references: Any, record: Mapping[str, Any], whole: Any) -> bool:
    """Whether references are ids of passages that sentences of the answer cite, as in runs of TREC."""
    if not references or not all(map(is_like_an_id, references)):
        return False
    every = record if whole is None else whole
    lists = (value for value in map(messages.parsed, every.values()) if isinstance(value, list))
    cites = any(
        isinstance(item, dict) and _CITED in item
        for value in lists
        for item in value[:_COLUMNS_SHOWN]
    )
    return cites or _CITED in every


def _nothing_known(record: dict[str, Any]) -> str:
    if not record:
        return "the record is empty"
    columns = columns_shown(record)
    return f"no known column (found {columns}); name columns with {named('mapping', {'question': 'COLUMN'})}"
