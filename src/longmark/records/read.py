"""Examples out of a file or out of Python records, checked: unique ids, the first bad records and their count."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import partial
from itertools import chain
from pathlib import Path
from typing import Any

from longmark.errors import BadInput, UserError
from longmark.options import named
from longmark.records import beir, containers, parts, proposals, sources
from longmark.records.columns import Columns, columns_shown, field_of
from longmark.records.conversation import answers, check_mode, scored
from longmark.records.encodings import check_encoding, encoding_note
from longmark.records.example import Example, Question
from longmark.records.expected import ExpectationsOfQuestions
from longmark.records.files import BadLines
from longmark.records.ideal_passages import retrieval_is_in
from longmark.records.kept import KeptFile
from longmark.records.merged import MergedSystems
from longmark.records.messages import parsed
from longmark.records.odd_texts import OddTexts
from longmark.records.pair import Answered, Pair, singles
from longmark.records.passages import PassageRows
from longmark.records.question_file import SECOND_TURNS, QuestionFile
from longmark.records.record_reading import BadRecord
from longmark.records.recurring import MOST_EXAMPLES, RecurringColumns
from longmark.records.repeats import Repeats, bad_records, other_kind
from longmark.records.repeats import seen_ids as seen_ids
from longmark.records.shapes import Shape
from longmark.records.spans import assembled
from longmark.records.unknown_columns import unknown_columns
from longmark.records.values import Problem, why_unstorable

ExampleSource = str | Path | KeptFile | Iterable[Answered | Mapping[str, Any]] | Any
"""A file, Examples or records, or a table: a DataFrame of pandas or polars, a table of pyarrow."""


class Reading:
    """The examples of a file, or of Examples and records that are there already. Iterate to the end before anything is
    done with them.

    After the last example BadInput is raised if a record is bad or an id occurs twice, unless `skip_bad` (then if no
    record is good). `good` and `bad` are the counts, `bad_lines` the first messages,
    `name:line: field: what was expected`; `pairs`: the records are pairs (None: nothing was read); `line`: of the
    example that came last; `part`: which part of an input the file is, if it is one (`records.parts`): its bad records
    were skipped when the input was split, and it may have no examples; `answered`: an example has an answer; `shape`:
    of another tool's records, None: they are read by the names of their columns; `ignored`: what of that tool's
    records, or of conversations, is not read, counted; `conversations`: records with turns.
    mapping: our field -> column or path; encoding: of a text file, "": UTF-8; limit: stop after so many good examples;
    turns: what is scored of a conversation (`records.conversation`); questions: a file of the questions that the answers
    name by id (`records.question_file`);
    `name`: of the source, for messages and the manifest; on_bad: gets the line, the fields that could be read and the
    message of each bad record that does not repeat a good one.

    UserError if the file cannot be read at all, there are no records, or no record has a mapped column.
    """

    def __init__(
        self,
        examples: ExampleSource,
        *,
        mapping: Mapping[str, str] | None = None,
        encoding: str = "",
        limit: int | None = None,
        skip_bad: bool = False,
        turns: str = "last",
        questions: str | Path | None = None,
        on_bad: Callable[[int, Mapping[str, Any], str], None] = lambda _line, _fields, _message: (
            None
        ),
    ) -> None:
        self._kept = examples if isinstance(examples, KeptFile) else None
        examples = examples.path if isinstance(examples, KeptFile) else examples
        self._given = Path(examples) if isinstance(examples, str | Path) else examples
        self._of_folder = ""
        if isinstance(self._given, Path) and self._given.is_dir():
            self._of_folder = beir.notice(self._given)
            self._given = beir.queries_of(self._given)
        self.part = parts.part_of(examples)
        if self.part and mapping:
            raise UserError(
                f"{named('mapping')}: {examples} is {self.part}, whose columns were read when it was split; omit "
                "the option"
            )
        self._kind = (
            "part"
            if self.part
            else sources.kind_of(self._given)
            if isinstance(self._given, Path)
            else ""
        )
        if not (isinstance(self._given, Path | Iterable) or sources.is_frame(self._given)):
            raise UserError(
                f"examples: expected a file, records or a DataFrame, found {type(examples).__name__}"
            )
        if isinstance(examples, Mapping):  # a DatasetDict, too
            if sources.are_columns(examples):
                raise UserError(
                    f"examples: {type(examples).__name__} of columns is no list of records; give a table, such as "
                    "pandas.DataFrame(columns), or [dict(zip(columns, row)) for row in zip(*columns.values())]"
                )
            raise UserError(
                f"examples: {type(examples).__name__} is no list; choose one of {', '.join(map(str, examples))}"
            )
        if turns != "last":
            check_mode(turns)
        if self.part and turns not in ("last", self.part.turns):
            raise UserError(
                f"{named('turns')}: {examples} was split with {named('turns', self.part.turns)}; omit the option"
            )
        if encoding:
            check_encoding(encoding)
        if self.part and questions is not None:
            raise UserError(
                f"{named('questions')}: {examples} is {self.part}; join the questions before the input is split"
            )
        self._questions = None if questions is None else _questions_of(questions, turns)
        self._mapping = mapping
        self._encoding = encoding
        self._limit = limit
        self._skip_bad = skip_bad
        self._on_bad = on_bad
        self.turns = self.part.turns if self.part else turns
        self._columns = self._new_columns()
        self.shape: Shape | None = None
        self.ignored = self._columns.ignored
        self.conversations = 0
        self._answers: set[str] = set()
        self._merged: MergedSystems | None = None
        self.recurring = RecurringColumns()
        self._wrong = BadLines()
        self._repeats = Repeats(mapping)
        self.name = str(examples) if self._kind else "records"
        self.good = self.line = 0
        self.answered = False
        self.pairs: bool | None = None
        self._odd_texts = OddTexts()
        self._passages = PassageRows()
        self._expectations: ExpectationsOfQuestions | None = None

    @property
    def bad(self) -> int:
        return self._wrong.total

    @property
    def other_answers(self) -> int:
        """Bad records that have the id of an earlier one and may be the answers of other systems."""
        return self._repeats.of_systems

    @property
    def bad_lines(self) -> list[str]:
        return self._wrong.lines

    def records(self) -> Iterator[tuple[int, Answered | str]]:
        """(line or number, the example or everything that is wrong with the record, on one line), each in its order.

        Ids are not compared, and the limit does not count.
        """
        self._passages = PassageRows()
        records = self._single_records()
        yield from records if self.part else self._passages.joined(records)

    def _single_records(self) -> Iterator[tuple[int, Answered | str]]:
        self._columns = self._new_columns()
        self._answers = set()
        self._merged = None
        self.ignored = self._columns.ignored
        self.conversations = 0
        if self._questions is not None:
            self._questions.begin()
        some = False
        for line, record in self._shaped(self._raw()):
            is_read = isinstance(record, Example | Pair)
            example = _storable(record) if is_read else self._example(record)
            some = some or example is not None
            if self._questions is not None and isinstance(example, Question):
                example = self._with_question(example, self._questions)
            if isinstance(example, Question) and example.turns:
                yield from self._scored(line, example)
            elif example is not None:
                yield line, example
        if not some and not self.part:
            if self.ignored:
                raise UserError(
                    f"{self.name} has no answer. {self.notice} Were the texts recorded?"
                )
            if self._kind:
                raise UserError(f"{self.name} has no records; write one example per line or row")
            once = (
                " (a generator can be read only once)" if isinstance(self._given, Iterator) else ""
            )
            raise UserError(f"there are no examples: the input is empty{once}")

    def _with_question(self, example: Answered, questions: QuestionFile) -> Answered:
        joined = questions.complete(example)
        if joined.turns and not example.turns:  # those that were counted as not read
            self.ignored[SECOND_TURNS] -= len(answers(joined.turns)) - 1
        return joined

    def _scored(self, line: int, example: Answered) -> Iterator[tuple[int, Answered | str]]:
        self.conversations += 1
        if self.part:
            yield line, example
            return
        try:
            for turn_example in scored(example, self.turns, self.ignored):
                yield line, turn_example
        except Problem as problem:
            yield line, _Bad(str(problem), {"id": example.id, "system": example.system})

    def _shaped(self, raw: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
        """The records, after the first one showed their shape; spans of a trace together, answers of a record apart."""
        if self.part or (first := next(raw, None)) is None:
            return raw
        # Whoever names both answers of pairs reads the file by its columns.
        names_answers = {"a", "b"} <= set(self._mapping or ())
        self.shape = None if names_answers else containers.shape_of(first[1])
        if self.shape is not None and self.shape.merged:
            self._merged = MergedSystems(self.shape.merged)
        raw = chain([first], raw)
        if self.shape is None:
            return raw if self._mapping else self._of_one_form(raw)
        if self.shape.spans:
            raw = self._of_one_form(raw)
            if self._kind in sources.CELLS:
                raw = ((line, _without_empty_cells(record)) for line, record in raw)
            return assembled(raw, self.shape, self.ignored)
        return self._opened(raw, self.shape)

    def _opened(self, raw: Iterator[tuple[int, Any]], shape: Shape) -> Iterator[tuple[int, Any]]:
        """The records that each record holds, where it holds several; one of another form is counted."""
        for row, (place, record) in enumerate(raw):
            kind = ""
            if shape.opens and isinstance(record, dict):
                kind = containers.other_form(shape, record)
            if kind:
                self.ignored[kind] += 1
                continue
            for opened in shape.opened(record, row):
                yield place, opened

    def _of_one_form(self, raw: Iterator[tuple[int, Any]]) -> Iterator[tuple[int, Any]]:
        """Spans without the plain records among them, or plain records without spans; the others are counted."""
        for place, record in raw:
            kind = ""
            if isinstance(record, Mapping):
                kind = containers.form_beside_spans(self.shape, record)
            if kind:
                self.ignored[kind] += 1
            else:
                yield place, record

    @property
    def notice(self) -> str:
        """Which tool's records were read, and what of them was not; "" where columns are read by their names."""
        left = ", ".join(f"{count:,} {kind}" for kind, count in sorted((+self.ignored).items()))
        if self.shape is None:
            return f"Not read: {left}." if left else ""
        return f"Read as {self.shape.name}. Not read: {left or 'nothing'}."

    @property
    def unanswered(self) -> str:
        """That no example that was read has an answer, with the option that could name it; "" where one has."""
        if self.answered or not self.good or self.part or self.shape:
            return ""
        columns = [
            {key: value for key, value in sampled.items() if field_of(key) is None}
            for sampled in self._columns.sample
        ]
        remedy = proposals.options(proposals.proposed(columns, ("answer",))) or named(
            "mapping", {"answer": "COLUMN"}
        )
        names = columns_shown(
            dict.fromkeys(column for record in self._columns.sample for column in record)
        )
        return (
            f"No record of {self.name} has an answer. The columns are {names}. To name it: {remedy}"
        )

    @property
    def notices(self) -> tuple[str, ...]:
        """What should be known of the texts that were read."""
        put_together = self._passages.notice(self.name)
        of_questions = self._questions.notices() if self._questions is not None else ()
        predicted = self._columns.predictions.notice(self.name) if not self.part else ""
        notices = (
            self._of_folder,
            *of_questions,
            predicted,
            *(() if self.part else self._columns.notices(self.name)),
            *(() if self.part else self._odd_texts.notices(self.name)),
            put_together,
            *(self._expectations.notices() if self._expectations is not None else ()),
            *(self._merged.notices() if self._merged is not None else ()),
            self.merged_systems,
            self._repeats.remedy(),
        )
        return tuple(filter(None, notices))

    @property
    def merged_systems(self) -> str:
        """That a column which no field reads names several systems; "" where it does not, or a caller says what to do."""
        declared = self.part or (self.shape is not None and self.shape.merged)
        return (
            "" if declared or "system" in (self._mapping or {}) else self.recurring.merged_systems()
        )

    def holds_pairs(self) -> bool:
        """Whether the first record that can be read is a pair."""
        return next(
            (
                isinstance(record, Pair)
                for _, record in self.records()
                if isinstance(record, Question)
            ),
            False,
        )

    def singles(self) -> Iterator[Example]:
        """The examples, each with one answer at most. UserError if the file holds pairs."""
        return singles(self, self.name)

    def __iter__(self) -> Iterator[Answered]:
        self.answered = False
        self._odd_texts = OddTexts()
        self._expectations = None
        self.recurring = RecurringColumns()
        self.good = 0
        self._wrong = BadLines()
        self._repeats = Repeats(self._mapping)
        self.pairs = self.part.pairs if self.part else None
        records = self.records()
        with seen_ids() as first_use:
            while self._limit is None or self.good < self._limit:
                line, example = next(records, (0, None))
                fields: Mapping[str, Any] | None = (
                    example.fields if isinstance(example, _Bad) else {}
                )
                if isinstance(example, Question):
                    fields = {"system": example.system, "question_id": example.question_id}
                    if self.pairs is None:
                        self.pairs = isinstance(example, Pair)
                    if self.pairs is not isinstance(example, Pair):
                        example = other_kind(example)
                    elif (first := first_use(example.id, line)) is None:
                        self.good += 1
                        self.answered = (
                            self.answered
                            or not isinstance(example, Example)
                            or example.answer is not None
                        )
                        self.line = line
                        self._odd_texts.add(line, example)
                        if isinstance(example, Example) and (example.nuggets or example.criteria):
                            self._expectations = self._expectations or ExpectationsOfQuestions()
                            self._expectations.add(example)
                        self.recurring.add(example)
                        yield example
                        continue
                    else:
                        fields = fields if "id" in example.model_fields_set else None
                        example = self._repeats.add(example, first)
                        example += self.shape.twice if self.shape else ""
                if example is None:
                    break
                self._wrong.add(f"{self.name}:{line}: {example}")
                if fields is not None:
                    self._on_bad(line, fields, example)
        if self.part:
            return
        if self._questions is not None:
            self._questions.check()
        if self._columns.never_seen and self._columns.seen:
            raise UserError(
                f"{named('mapping')}: no record of {self.name} has {self._columns.unseen()}"
            )
        if self._columns.unknown and self._columns.unknown == self.bad and not self.good:
            raise unknown_columns(
                self.name, self.bad, self._columns.sample, self._mapping or {}, self._with_mapping
            )
        if self.bad and self._skip_bad and not self.good:
            left = f"{self.name}: all records are bad ({self.bad:,} of {self.bad:,})"
            notes = self._encoding_note()
            lines = [left, *self.bad_lines, *notes]
            raise BadInput(lines, self.bad + 1 + len(notes), skippable=False)
        if self.bad and not self._skip_bad:
            raise bad_records(self._wrong, self._repeats, self._encoding_note())

    def _with_mapping(self, mapping: Mapping[str, str]) -> Iterable[Answered]:
        """The examples as another mapping reads them."""
        if isinstance(self._given, Iterator):
            return ()
        return Reading(
            self._kept or self._given,
            mapping=mapping,
            encoding=self._encoding,
            limit=MOST_EXAMPLES,
            skip_bad=True,
            turns=self.turns,
        )

    def _encoding_note(self) -> list[str]:
        """What the file seems to be written in, if it is a text that is not UTF-8."""
        text = self._kind in sources.TEXT and not self._encoding
        return [note] if text and (note := encoding_note(Path(self.name))) else []

    def _new_columns(self) -> Columns:
        source = (self._given, self._kind, self._encoding)
        return Columns(
            self._mapping,
            cells=self._kind in sources.CELLS,
            retrieval_follows=partial(retrieval_is_in, *source),
        )

    def _raw(self) -> Iterator[tuple[int, Any]]:
        if isinstance(self._given, Path):
            path = self._given

            def read() -> Iterator[tuple[int, Any]]:
                return (
                    parts.records(path)
                    if self.part
                    else sources.records(path, self._kind, self._encoding)
                )

            return self._kept.records(self._encoding, read) if self._kept else read()
        if sources.is_frame(self._given):
            return sources.of_frame(self._given)
        if hasattr(self._given, "with_format") and hasattr(self._given, "iter"):  # datasets.Dataset
            return sources.of_dataset(self._given)
        return enumerate(
            (dict(record) if isinstance(record, Mapping) else record for record in self._given), 1
        )

    def _example(self, record: Any) -> Answered | str | None:
        if isinstance(record, sources.UnreadableRecord):
            return record.message
        if self.part:
            return _Bad(record["bad"], record["fields"])
        try:
            if self.shape is None or not isinstance(record, dict):
                return self._columns.example(record)
            if self._kind in sources.CELLS and not self.shape.spans:
                record = _without_empty_cells(record)
                if self.shape.json_cells:
                    record = {name: parsed(cell) for name, cell in record.items()}
            shape = containers.shape_in_family(self.shape, record)
            if not shape.opens and (kind := containers.other_form(shape, record)):
                self.ignored[kind] += 1
                return None
            read = shape.read(record, self.ignored, self._answers)
            example = None if read is None else self._columns.example(read, record)
            if self._merged is not None and isinstance(example, Example):
                self._merged.add(record, example)
            if (
                isinstance(example, Example)
                and example.question is None
                and example.answer is None
                and not example.turns
            ):
                self.ignored["records without a question and an answer"] += 1
                return None
            return example
        except BadRecord as bad:
            return _Bad(str(bad), bad.fields)


def _questions_of(path: str | Path, turns: str) -> QuestionFile:
    return QuestionFile(str(path), Reading(path).singles(), conversations=turns != "last")


class _Bad(str):
    """What is wrong with a record. fields: those that could be read."""

    fields: dict[str, Any]

    def __new__(cls, message: str, fields: dict[str, Any]) -> _Bad:
        problem = super().__new__(cls, message)
        problem.fields = fields
        return problem


def _without_empty_cells(record: Any) -> Any:
    if not isinstance(record, dict):
        return record
    return {column: None if cell == "" else cell for column, cell in record.items()}


def _storable(example: Answered) -> Answered | str:
    """An example that was given as an object; what is wrong with it where a run cannot store it."""
    try:
        example.to_json()
    except TypeError as error:
        return why_unstorable(error)
    return example
