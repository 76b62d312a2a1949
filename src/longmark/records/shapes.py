"""What files of other tools look like: a `Shape` says how its records are known, and where an example's fields are.

The declarations are in `tools` (results and logs of evaluations) and `traces` (of `spans`). All paths are those of
`records.paths`; those of one shape are read from the record, after a cell or value that is JSON text is parsed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from longmark.records import messages, notation, paths

_SHORT = 200  # characters of a text that is kept beside the fields


@dataclass(frozen=True)
class SpanShape:
    """Where a convention writes what of a span. spans: where a record has its spans, "": it is a span itself; `of` is
    then the record of a span. documents: what a retriever returned; instructions: a system prompt of its own;
    references: right answers; scores, expectations: lists of the tool's own scores, and of what else was expected, which
    are counted; begins: true of a span that is an answer of its own with the spans beneath it, where one trace has many
    of them (an evaluation); unresolved: of such a span true where its question is stored elsewhere; failed: true of a
    call that failed, whose output is no answer; choices: where an output may be several replies to one request."""

    trace: str
    id: str
    parent: str
    start: str
    kind: str
    input: str
    output: str
    model: str
    name: str = "name"
    spans: str = ""
    documents: str = "output"
    instructions: str = ""
    response: str = ""
    session: str = ""
    references: str = ""
    scores: str = ""
    expectations: str = ""
    begins: str = ""
    unresolved: str = ""
    failed: str = ""
    choices: str = ""


@dataclass(frozen=True)
class Shape:
    """How one tool writes answers.

    name          for messages
    source        what the shape is pinned to: the tool, its version and the schema, source or sample of the fixture
    keys          a record has all of them
    columns       patterns, such as `inputs.*`: a record has a column for each
    lists         a record has a list under one of these names
    fields        field of an example -> path; `contexts` are read as passages
    when          a path that is true of a record, where these do not tell enough; it is asked last
    meta          name -> path, of what is kept beside the fields
    conversation  paths to messages, which are the turns; question and answer follow them, if they are not in them
    ignored       what is ignored -> path to a list, or to a number of them
    skips         what a record is that is no answer -> path that is true of it
    failed        a path: true of a call that failed, whose texts are no answer
    beside        a path to an object whose short values are kept beside the fields, too
    once          a path: of records with the same value there, the first is read
    apart         a path: a record with the value of an earlier one there, too, is no repeat of it but another answer
    repeats       what the other ones are
    twice         what is said of another answer with the id of an earlier one
    merged        what several answers of one system may differ in -> path: `records.merged` names them
    answers_at    a path to the answers of a record, of which each is read as a record: `answer` is the one, `number` its
                  place from 1
    records_at    a path to the records that a record holds, which are read in its place: `row` is its place from 0
    family        a name: records of all shapes that have it may stand in one file
    spans         the records are spans, or have them: `records.spans` makes a record of each trace
    json_cells    a table of the tool has values that are no plain text as JSON
    """

    name: str
    source: str
    keys: tuple[str, ...]
    fields: Mapping[str, str]
    columns: tuple[str, ...] = ()
    lists: tuple[str, ...] = ()
    when: str = ""
    meta: Mapping[str, str] = field(default_factory=dict)
    conversation: tuple[str, ...] = ()
    ignored: Mapping[str, str] = field(default_factory=dict)
    skips: Mapping[str, str] = field(default_factory=dict)
    failed: str = ""
    beside: str = ""
    once: str = ""
    apart: str = ""
    repeats: str = "repeats of an answer"
    twice: str = ""
    merged: Mapping[str, str] = field(default_factory=dict)
    answers_at: str = ""
    records_at: str = ""
    spans: SpanShape | None = None
    family: str = ""
    json_cells: bool = False

    def fits(self, record: Mapping[str, Any]) -> bool:
        """Whether a record is of this shape."""
        return (
            all(key in record for key in self.keys)
            and all(
                any(fnmatchcase(str(key), pattern) for key in record) for pattern in self.columns
            )
            and (not self.lists or any(type(record.get(name)) is list for name in self.lists))
            and (not self.when or bool(paths.reader(record)(self.when)))
        )

    @property
    def opens(self) -> bool:
        """Whether a record of this shape holds several, each of which is read as one."""
        return bool(self.records_at or self.answers_at)

    def opened(self, record: Any, row: int) -> list[Any]:
        """A record for each answer of a record; the record itself where it holds none, or is of any other shape. row: its
        place from 0."""
        if self.records_at and isinstance(record, dict):
            records = paths.reader(record)(self.records_at)
            if isinstance(records, list) and records:
                return [{**inner, "row": row} for inner in records]
        answers = (
            paths.reader(record)(self.answers_at)
            if self.answers_at and isinstance(record, dict)
            else None
        )
        if not isinstance(answers, list) or not answers:
            return [record]
        return [
            {**record, "answer": answer, "number": number}
            for number, answer in enumerate(answers, 1)
        ]

    def read(
        self, record: Mapping[str, Any], ignored: Counter[str], seen: set[str]
    ) -> dict[str, Any] | None:
        """The fields of a record; None if it is no answer. What is left out is counted in `ignored`."""
        at = paths.reader(record)
        for why, path in self.skips.items():
            if at(path):
                ignored[why] += 1
                return None
        if self.once and self._repeats(at, seen):
            ignored[self.repeats] += 1
            return None
        for kind, path in self.ignored.items():
            count = messages.parsed(at(path))  # in a cell it is JSON
            ignored[kind] += (
                len(count) if isinstance(count, list | dict) else count if type(count) is int else 0
            )
        fields = {name: _typed(name, at(path)) for name, path in self.fields.items()}
        if "contexts" in self.fields and self.spans is None:
            ignored[messages.TEXTLESS] += messages.textless_passages(at(self.fields["contexts"]))
        if self.failed and at(self.failed):
            ignored[messages.TEXTS_OF_FAILED] += bool(fields.get("answer"))
            fields["answer"] = None
        if self.conversation and (turns := messages.conversation(*map(at, self.conversation))):
            if (
                "answer" in fields and fields["answer"] is None
            ):  # it was not recorded: what stands there is none
                last_question = max(
                    (i for i, turn in enumerate(turns) if messages.role_of(turn) in messages.ASKS),
                    default=-1,
                )
                ignored["turns without a recorded answer"] += len(turns) - last_question - 1
                turns = turns[: last_question + 1]
            fields["turns"] = turns
        used = {"id", "question", "answer"}.union(*map(paths.columns_of, self.fields.values()))
        short = {
            key: value for key, value in record.items() if key not in used and _is_short(value)
        }
        if isinstance(beside := messages.parsed(at(self.beside)) if self.beside else None, dict):
            read = {path.strip() for text in self.fields.values() for path in text.split("||")}
            for key, value in beside.items():
                if _is_short(value) and f"{self.beside}.{key}" not in read:
                    short[f"{self.beside}.{key}" if key in short or key in self.meta else key] = (
                        value
                    )
        remaining = {
            name: value
            for name, path in self.meta.items()
            if (value := at(path)) not in (None, [], {})
        }
        return {**fields, "meta": short | remaining}

    def _repeats(self, at: Callable[[str], Any], seen: set[str]) -> bool:
        """Whether a record repeats the answer of an earlier one; `seen` remembers it."""
        answer = repr(at(self.once))
        apart = at(self.apart) if self.apart else None
        line = repr((answer, apart))
        is_repeat = answer in seen and (apart is None or line not in seen)
        seen.update((answer, line) if apart is not None else (answer,))
        return is_repeat


def _is_short(value: Any) -> bool:
    """Whether a value is kept beside the fields, such as a language or a time."""
    return isinstance(value, int | float) or (
        isinstance(value, str) and 0 < len(value) <= _SHORT and value[0] not in "[{"
    )


def _typed(field: str, value: Any) -> Any:
    if field == "contexts":
        try:
            return messages.passages(value)
        except notation.NotRead:
            return value  # the reader of the field says why
    if field == "references" and value is not None:
        try:
            read = notation.spelled(value)
        except notation.NotRead:
            return value
        if isinstance(value, str):
            if value.strip() in notation.NOTHING:
                return None
            texts = isinstance(read, list) and all(
                isinstance(item, str | type(None)) for item in read
            )
            value = read if texts else value
        value = value if isinstance(value, list) else [value]
        return [
            str(item) if isinstance(item, int | float) and not isinstance(item, bool) else item
            for item in value
        ]
    return value


@dataclass(frozen=True)
class Container:
    """A document that holds records. keys: of the document; records: a path to them; head: name -> path, of parts of
    the document that each record gets under `log`."""

    keys: tuple[str, ...]
    records: str
    head: Mapping[str, str] = field(default_factory=dict)

    def open(self, document: Mapping[str, Any]) -> list[Any] | None:
        """The records of a document; None if it has no list of them."""
        if not all(key in document for key in self.keys):
            return None
        at = paths.reader(document)
        if not isinstance(records := at(self.records), list):
            return None
        head = {name: at(path) for name, path in self.head.items()}
        return [
            {**record, "log": head} if head and isinstance(record, dict) else record
            for record in records
        ]
