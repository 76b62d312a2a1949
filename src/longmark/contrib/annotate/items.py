"""The items of a study: what a rater sees of each, and, apart from it, which systems are behind it."""

from __future__ import annotations

import hashlib
import random
import re
import shlex
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson

from longmark.contrib.annotate.checks import columns_named, gold_of
from longmark.contrib.annotate.citation_items import (
    citation_columns,
    citations_without_item,
    params_of,
)
from longmark.contrib.annotate.item_columns import (
    Kind,
    StudyItem,
    check_storable,
    item_of,
    shown_as,
)
from longmark.contrib.annotate.study import SIDES, Cloze, Edit, Matrix, Qualification, Spans, Study
from longmark.contrib.make.benchmark import items_of
from longmark.contrib.make.pairing import joined_all
from longmark.errors import UnknownColumns, UnknownName, UserError
from longmark.metrics.nuggets import nuggets_in
from longmark.progress import counted
from longmark.records import Example, Pair, Question, sources
from longmark.records.benchmark import COLUMNS as BENCHMARK_COLUMNS
from longmark.records.example import question_hash
from longmark.records.files import BadLines
from longmark.records.read import Reading
from longmark.records.same import comparable
from longmark.records.values import Problem, found, missing
from longmark.scores.answer_texts import answer_sha256
from longmark.scores.draws import read_draw
from longmark.scores.files import examples_of, name_of, source_of

KNOWN: tuple[Kind, ...] = ("training", "qualification", "attention")
"""The kinds of items whose right answers are known."""


_MOST_WARNINGS = 20


def read_items(study: Study, base: Path) -> list[StudyItem]:
    """The items of a study, with those that have known answers. base: the folder of the study's file.

    BadInput, a line for each record that is wrong (something is missing that a field needs; an id twice; a known answer
    that no field has); UserError if a file cannot be used as a whole, or if no item has something that is shown.
    """
    drawn = _Reader(study, base).normal()
    rules = study.assignment
    tries: tuple[tuple[Kind, Qualification | None], ...]
    tries = ("training", rules.training), ("qualification", rules.qualification)
    for kind, phase in tries:
        if phase is not None:
            drawn += (gold_items := _Reader(study, base).gold(phase.path, kind))
            if len(gold_items) < (needed := (phase.items or 0) * phase.attempts):
                remedy = (
                    "lower `items` or `attempts`, or add items, because each attempt has new items"
                )
                raise UserError(
                    f"{kind}: {phase.path} has {len(gold_items):,} of the {needed:,} items; {remedy}"
                )
    if rules.attention:
        drawn += _Reader(study, base).gold(rules.attention.path, "attention")
    twice = next(
        (item_id for item_id, count in Counter(item.id for item in drawn).items() if count > 1),
        None,
    )
    if twice is not None:
        raise UserError(
            f'the id "{twice}" appears twice in the study\'s files; give each item an id of its own'
        )
    columns = dict.fromkeys(column for item in drawn for column in item.columns)
    if study.items.from_ == "benchmark":  # a benchmark need not have items of every form
        columns |= dict.fromkeys(BENCHMARK_COLUMNS)
    for place, column in columns_named(study):
        if not _has(columns, study, column):
            raise UnknownName(
                f"column in {place}",
                column,
                columns,
                f"No item has it. Remove it, or name one of these: {', '.join(columns)}.",
            )
    return drawn


def absent(study: Study, base: Path) -> list[str]:
    """The names in `show` that no item has."""
    columns = dict.fromkeys(
        column for item in _Reader(study, base).normal() for column in item.columns
    )
    return [column for column in study.show if not _has(columns, study, column)]


def unread_citations(study: Study, base: Path) -> int:
    """How many citations of the answers of a study are no item, since nothing that they name has a text."""
    if study.items.from_ != "citations":
        return 0
    return _Reader(study, base).unread_citations()


def unanswered(study: Study, base: Path) -> int:
    """How many examples of the runs of a study are no item, since their answer is missing."""
    if study.items.from_ != "run":
        return 0
    reader = _Reader(study, base)
    reader.normal()
    return reader.unanswered


def _has(columns: Mapping[str, Any], study: Study, column: str) -> bool:
    return bool(
        columns.keys() & set(SIDES if column == "answers" and study.pairs else (shown_as(column),))
    )


def warnings(study: Study, items: Sequence[StudyItem]) -> list[str]:
    """What the owner should know before the study starts: texts that name a system, and more."""
    result = []
    if study.blind.systems == "hidden":
        for item in items:
            for system in set(item.systems.values()):
                if len(system) > 2 and _names(system, item.shown):
                    result.append(
                        f'item {item.id}: its text contains "{system}", the name of a hidden system'
                    )
    unlisted = len(result) - _MOST_WARNINGS
    return result[:_MOST_WARNINGS] + (
        [f"… and {unlisted:,} more texts that name a system"] if unlisted > 0 else []
    )


_LETTER = r"[^\W_\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff]"
"""A letter or digit of a script with spaces between words."""


def _names(system: str, columns: Any) -> bool:
    """Whether a text names a system, as a word of its own: a system called "old" is not in "household"."""
    name = comparable(system)
    no_letter_before = f"(?<!{_LETTER})" if re.match(_LETTER, name) else ""
    no_letter_behind = f"(?!{_LETTER})" if re.search(f"{_LETTER}$", name) else ""
    whole_name = re.compile(no_letter_before + re.escape(name) + no_letter_behind)
    return any(whole_name.search(comparable(text)) for text in _texts(columns))


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _texts(part)


class _Reader:
    """Reads the items of one study out of its files."""

    def __init__(self, study: Study, base: Path) -> None:
        self.study, self.base, self.source = study, base, study.items
        self.wrong = BadLines()
        self.unanswered = 0

    def normal(self) -> list[StudyItem]:
        items: list[StudyItem] = []
        single: list[Path] = []  # runs of single answers, which are paired with each other
        for given_path in self.source.path:
            if not (path := self.base / given_path).exists():
                raise UserError(
                    f"items: {path} does not exist; `path` is relative to the study's file"
                )
            pairs = self.source.from_ == "pairs" and path.is_dir()
            if pairs and not isinstance(
                next(iter(examples_of(source_of(path))), None), Pair | None
            ):
                single.append(path)
            elif self.source.from_ == "run" or pairs:
                items += self._of_run(path)
            elif self.source.from_ == "benchmark":
                items += self._of_benchmark(path)
            elif self.source.from_ == "citations":
                items += self._of_citations(path)
            else:
                items += self._of_file(path, "normal")
        items += self._of_pairs(single)
        if not items and not self.wrong.total:
            fit = " for which `where` holds" if self.source.where else ""
            if self.source.from_ == "citations":
                fit = f": no answer{fit} cites a source whose text is there"
            elif self.unanswered:
                fit += ": every answer is missing (null)"
            raise UserError(f"items: {', '.join(self.source.path)} has no items{fit}")
        self.wrong.check()
        items = self._named(
            items if self.source.drawn is None else self._drawn(self.source.drawn, items)
        )
        n = self.source.sample
        if n is not None and n > len(items):
            raise UserError(
                f"items: sample: {n:,} is more than the {len(items):,} items; lower the number"
            )
        if n is None:
            return items
        drawn = set(random.Random(self.source.seed).sample(range(len(items)), n))
        return [item for place, item in enumerate(items) if place in drawn]

    def _drawn(self, file: str, items: Sequence[StudyItem]) -> list[StudyItem]:
        """The items that a draw has, each with its probability."""
        if self.source.from_ in ("pairs", "citations") or self.source.sample is not None:
            raise UserError(
                "items: drawn: names single answers; it goes neither with from: pairs or citations nor with sample"
            )
        draw = read_draw(self.base / file)
        chances = {(line.example_id, line.system): line.probability for line in draw if line.drawn}
        by_answer = {
            (item.example_ids.get("answer"), item.systems.get("answer", "")): item for item in items
        }
        if lost := sorted(chances.keys() - by_answer.keys()):
            count = counted(len(lost), "drawn answer")
            paths = ", ".join(self.source.path)
            raise UserError(
                f"items: drawn: {count} not among the items of {paths}, such as {' of '.join(lost[0])}"
            )
        for line in draw:
            item = by_answer.get((line.example_id, line.system)) if line.drawn else None
            text = None if item is None else item.shown.get("answer")
            if isinstance(text, str) and not line.is_of(answer_sha256(text)):
                raise UserError(
                    f"items: drawn: {line.example_id} of {line.system} has another text in {', '.join(self.source.path)} "
                    "than when it was drawn; draw from this run (`longmark label next`)"
                )
        return [
            replace(item, probability=chances[key])
            for key, item in by_answer.items()
            if key in chances
        ]

    def gold(self, file: str, kind: Kind) -> list[StudyItem]:
        items = list(self._of_file(self.base / file, kind))
        self.wrong.check()
        if not items:
            raise UserError(f"{kind}: {file} has no items")
        return items

    def _of_run(self, path: Path) -> Iterator[StudyItem]:
        source = source_of(path)
        number = 0
        for number, example in enumerate(examples_of(source), 1):
            columns = _of_example(example, name_of(source))
            if self._is_answered(example):
                yield from self._of_record(f"{path}:{number}", columns)
            elif self._wanted(self._renamed(columns)):
                self.unanswered += 1
        if not number:
            if path.is_file():
                raise UserError(
                    f"{path} is a file and no run. If it holds answers, make a run of it: {_run_command(path)}"
                )
            raise UserError(f"{path} has no examples; give the --out folder of `longmark run`")

    def _is_answered(self, example: Question) -> bool:
        """A run has answers that are missing (null): nobody can label them where the answer is shown. A draw names its
        answers itself."""
        shows_answer = "answer" in self.study.show and self.source.drawn is None
        return not (shows_answer and isinstance(example, Example) and example.answer is None)

    def _of_pairs(self, runs: Sequence[Path]) -> Iterator[StudyItem]:
        for pair in joined_all(runs, self.source.seed).pairs if runs else ():
            yield from self._of_record(
                f"{' and '.join(map(str, runs))}: {pair.question_id}", _of_example(pair, None)
            )

    def _of_benchmark(self, path: Path) -> Iterator[StudyItem]:
        """Items that no audit dropped; of a cloze item the statement, so that nobody sees the proposed term."""
        for number, benchmark_item in enumerate(items_of(path), 1):
            hidden = {"question", "answer"} if benchmark_item.form == "cloze" else set()
            if benchmark_item.status != "dropped":
                columns = benchmark_item.model_dump(
                    mode="json", exclude_defaults=True, exclude=hidden
                )
                yield from self._of_record(f"{path}:{number}", columns)

    def _of_citations(self, path: Path) -> Iterator[StudyItem]:
        """The citations of the answers of a run, or of a file of examples, each as an item of its answer."""
        params = params_of(path)
        for place, example, run in self._answers(path):
            if not isinstance(example, Example) or not self._wanted(
                columns := self._renamed(_of_example(example, run))
            ):
                continue
            for part in citation_columns(example, columns, params):
                for item in self._checked(place, part):
                    yield replace(item, example_ids={"answer": example.id})

    def unread_citations(self) -> int:
        count = 0
        for path in self.source.path:
            params = params_of(self.base / path)
            for _, example, run in self._answers(self.base / path):
                if isinstance(example, Example) and self._wanted(
                    self._renamed(_of_example(example, run))
                ):
                    count += citations_without_item(example, params)
        return count

    def _answers(self, path: Path) -> Iterator[tuple[str, Any, str | None]]:
        """(place, example, name of its run) of a run folder or a file; what is no example is noted."""
        if path.is_dir():
            source = source_of(path)
            for number, example in enumerate(examples_of(source), 1):
                yield f"{path}:{number}", example, name_of(source)
            return
        for line, record in Reading(path, mapping=_known(self.source.map)).records():
            if isinstance(record, sources.UnreadableRecord | str):
                message = record if isinstance(record, str) else record.message
                self.wrong.add(f"{path}:{line}: {message}")
            else:
                yield f"{path}:{line}", record, None

    def _of_file(self, path: Path, kind: Kind) -> Iterator[StudyItem]:
        records: Iterable[tuple[int, Any]]
        if self.source.from_ in ("jsonl", "benchmark"):
            records = sources.records(path, sources.kind_of(path))
        else:
            records = Reading(path, mapping=_known(self.source.map)).records()
        for line, record in records:
            place = f"{path}:{line}"
            if isinstance(record, sources.UnreadableRecord | str):
                self.wrong.add(f"{place}: {record if isinstance(record, str) else record.message}")
                continue
            try:
                columns = self._renamed(
                    _of_example(record, None) if isinstance(record, Question) else record
                )
                gold = gold_of(columns.pop("gold", None), self.study, needed=kind != "normal")
            except Problem as problem:
                self.wrong.add(f"{place}: {problem}")
                continue
            if kind == "normal" and not self._wanted(columns):
                continue
            for item in self._checked(place, columns):
                yield replace(item, kind=kind, gold=gold)

    def _of_record(self, place: str, record: Mapping[str, Any]) -> Iterator[StudyItem]:
        if self._wanted(columns := self._renamed(record)):
            yield from self._checked(place, columns)

    def _wanted(self, columns: Mapping[str, Any]) -> bool:
        return all(
            columns.get(column) is None if values is None else str(columns.get(column)) in values
            for column, values in self.source.where.items()
        )

    def _renamed(self, record: Any) -> dict[str, Any]:
        """The columns of a record, under our names."""
        if not isinstance(record, Mapping):
            raise Problem(f"expected an object with named fields, found {found(record)}")
        our_names = {column: our_name for our_name, column in self.source.map.items()}
        columns = {
            our_names.get(column, str(column)): value
            for column, value in record.items()
            if not missing(value)
        }
        if "graph" in self.study.show and {"covered", "uncovered"} & columns.keys():
            columns["graph"] = {side: columns.pop(side, []) for side in ("covered", "uncovered")}
        return columns

    def _checked(self, place: str, columns: dict[str, Any]) -> Iterator[StudyItem]:
        """The item of a record; none if it is wrong, which is noted."""
        try:
            item = item_of(self.study, self._with_nuggets(columns))
            self._complete(item)
            check_storable(item)
            yield item
        except Problem as problem:
            self.wrong.add(f"{place}: {problem}")

    def _with_nuggets(self, columns: dict[str, Any]) -> dict[str, Any]:
        """The columns with the nuggets that the file `nuggets` has of the question. An empty list is left out: nothing can
        be asked about it."""
        if self.source.nuggets is None:
            is_empty = columns.get("nuggets") in ([], ())
            return {name: columns[name] for name in columns if name != "nuggets" or not is_empty}
        by_question = nuggets_in(str(self.base / self.source.nuggets))
        question = columns.get("question")
        keys = [str(columns.get("question_id"))]
        if isinstance(question, str):
            keys.append(question_hash(question))
        remaining = {name: columns[name] for name in columns if name != "nuggets"}
        nuggets = next((by_question[key] for key in keys if key in by_question), ())
        if not nuggets:
            return remaining
        return {**remaining, "nuggets": [nugget.model_dump() for nugget in nuggets]}

    def _complete(self, item: StudyItem) -> None:
        if not item.shown:
            raise Problem(f"has none of the shown columns: {', '.join(self.study.show)}")
        if self.study.pairs and not {*SIDES} <= item.shown.keys():
            raise Problem(
                "is not a pair; it needs the answers a and b. To pair the answers of runs, name their folders under "
                "`path`, or run: longmark pairs join RUN RUN --out pairs.jsonl"
            )
        fields = [
            field for field in self.study.asked if self.study.applies(field, {}, item.columns)
        ]
        if not fields:
            columns = {
                field.when.item: None
                for field in self.study.asked
                if field.when and field.when.item
            }
            values = ", ".join(
                f"{column} is {found(item.columns.get(column))}" for column in columns
            )
            raise Problem(f"nothing is asked of it: no `when` of a field applies ({values})")
        for field in fields:
            needed: Any = field.over if isinstance(field, Spans | Cloze | Edit) else None
            if isinstance(field, Matrix) and isinstance(field.rows, str) and not field.typed:
                needed = field.rows
            if needed is not None and needed not in item.shown:
                raise Problem(f"{needed}: is missing; the field {field.name} needs it")

    def _named(self, items: list[StudyItem]) -> list[StudyItem]:
        """The items with ids that occur once and, where systems are hidden, do not name one."""
        hidden = self.study.blind.systems == "hidden"
        counts = Counter(item.id for item in items)
        systems = {
            comparable(name) for item in items for name in item.systems.values() if len(name) > 1
        }
        by_id: dict[str, StudyItem] = {}
        for item in items:
            betrays = hidden and any(system in comparable(item.id) for system in systems)
            if betrays or (counts[item.id] > 1 and item.systems):
                key = orjson.dumps([self.source.seed, item.id, sorted(item.systems.items())])
                item = replace(item, id="i" + hashlib.sha256(key).hexdigest()[:12])
            if item.id in by_id:
                paths = ", ".join(self.source.path)
                raise UserError(
                    f'items: {paths}: the id "{item.id}" appears twice; give each item an id of its own'
                )
            by_id[item.id] = item
        return list(by_id.values())


def _run_command(path: Path) -> str:
    """The command that makes a run of a file of answers, with the columns that it would be read by."""
    columns: dict[str, str] = {}
    try:
        next(iter(Reading(path, limit=1, skip_bad=True)), None)
    except UnknownColumns as unknown:
        columns = unknown.proposed
    except UserError:  # the run says what is wrong with the file
        pass
    words = ["longmark", "run", str(path)]
    for field, column in columns.items():
        words += ["--map", f"{field}={column}"]
    return shlex.join([*words, "--metrics", "classic.length", "--out", f"runs/{path.stem}"])


def _known(mapping: Mapping[str, str]) -> dict[str, str]:
    """The part of a mapping that the reader of examples knows."""
    names = {*Pair.model_fields, "reference", "context"}
    return {ours: column for ours, column in mapping.items() if ours in names}


def _of_example(example: Question, run: str | None) -> dict[str, Any]:
    """The columns of an example. run: the name of its run, the system of examples that name none."""
    columns = {
        **example.meta,
        **example.model_dump(mode="json", exclude_defaults=True, exclude={"meta", "graph"}),
    }
    columns |= {"id": example.id, "question_id": example.question_id}
    if run is not None:
        columns.setdefault("system", run)
    if example.references:
        columns["reference"] = "\n\n".join(example.references)
    return columns
