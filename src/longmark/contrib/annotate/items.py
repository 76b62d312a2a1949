"""The items of a study: what a rater sees of each, and, apart from it, which systems are behind it."""

from __future__ import annotations

import hashlib
import random
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from dataclasses import field as with_default
from pathlib import Path
from typing import Any, Literal

import orjson

from longmark.contrib.annotate.checks import columns_named, gold_of
from longmark.contrib.annotate.citation_items import citation_columns, citations_without_item
from longmark.contrib.annotate.study import SIDES, Cloze, Edit, Matrix, Qualification, Spans, Study
from longmark.contrib.make.benchmark import items_of
from longmark.contrib.make.pairing import joined_all
from longmark.errors import UnknownName, UserError
from longmark.metrics.nuggets import nuggets_in
from longmark.progress import counted
from longmark.records import Example, Pair, Question, sources
from longmark.records.benchmark import COLUMNS as BENCHMARK_COLUMNS
from longmark.records.example import question_hash
from longmark.records.expected import nuggets_of
from longmark.records.files import BadLines, parse_json
from longmark.records.read import Reading
from longmark.records.same import comparable
from longmark.records.values import UNSTORABLE, Problem, found, missing, name, text
from longmark.scores.answer_texts import answer_sha256
from longmark.scores.draws import read_draw
from longmark.scores.files import examples_of, name_of, source_of

Kind = Literal["normal", "training", "qualification", "attention", "adjudication"]
KNOWN: tuple[Kind, ...] = ("training", "qualification", "attention")
"""The kinds of items whose right answers are known."""


@dataclass(frozen=True, slots=True)
class StudyItem:
    """An item as it is stored, and as JSON.

    id           unique in the study
    question_id  what items on the same question share
    systems      side -> system: of a pair `a` and `b`, else `answer`; hidden from raters if the study says so
    example_ids  side -> id of the example that was answered
    shown        name in the study's `show` -> what is shown:
                   question, answer, a, b, reference, expanded_reference, statement   text
                   passages (contexts)     list of {text, id, page}, id and page only where known
                   profile, graph          object; of a graph: covered and uncovered, lists of texts
                   key_points              list of texts
                   nuggets                 list of {text, importance}, each text once
                   options                 list of {key, text}
                   any other column        as in the file
    gold         field -> known answer, of items that check a rater; None otherwise
    kind         normal, training, qualification or attention
    meta         columns of the file that are not shown: for conditions, blocks, suggestions and exports
    probability  with which it was drawn (`longmark label next`)
    """

    id: str
    question_id: str
    systems: Mapping[str, str]
    shown: Mapping[str, Any]
    example_ids: Mapping[str, str] = with_default(default_factory=dict)
    gold: Mapping[str, Any] | None = None
    kind: Kind = "normal"
    priority: float | None = None
    meta: Mapping[str, Any] = with_default(default_factory=dict)
    probability: float | None = None

    @property
    def columns(self) -> dict[str, Any]:
        """Everything that conditions can ask for."""
        return {**self.meta, **self.shown}

    @property
    def sides(self) -> tuple[str, ...]:
        """a and b of a pair; else answer."""
        return ("a", "b") if "a" in self.shown and "b" in self.shown else ("answer",)

    def to_json(self) -> bytes:
        return orjson.dumps(asdict(self), option=orjson.OPT_NON_STR_KEYS)


def _check_storable(item: StudyItem) -> None:
    """Raises Problem for an item that the database could not hold."""
    try:
        item.to_json()
    except TypeError:  # of orjson
        raise Problem(f"has {UNSTORABLE}") from None


_TEXTS = frozenset(("question", "answer", "a", "b", "reference", "expanded_reference", "statement"))
_IDS = frozenset(("id", "item", "question_id", "system", "a_system", "b_system", "gold"))
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


def _has(columns: Mapping[str, Any], study: Study, column: str) -> bool:
    return bool(
        columns.keys() & set(SIDES if column == "answers" and study.pairs else (_shown_as(column),))
    )


def warnings(study: Study, items: Sequence[StudyItem]) -> list[str]:
    """What the owner should know before the study starts: texts that name a system, and more."""
    result = []
    if study.blind.systems == "hidden":
        for item in items:
            for system in set(item.systems.values()):
                if len(system) > 2 and any(
                    comparable(system) in comparable(word) for word in _words(item.shown)
                ):
                    result.append(
                        f'item {item.id}: its text contains "{system}", the name of a hidden system'
                    )
    unlisted = len(result) - _MOST_WARNINGS
    return result[:_MOST_WARNINGS] + (
        [f"… and {unlisted:,} more texts that name a system"] if unlisted > 0 else []
    )


def _shown_as(column: str) -> str:
    return "passages" if column == "contexts" else column


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list | tuple):
        for part in value.values() if isinstance(value, Mapping) else value:
            yield from _words(part)


class _Reader:
    """Reads the items of one study out of its files."""

    def __init__(self, study: Study, base: Path) -> None:
        self.study, self.base, self.source = study, base, study.items
        self.wrong = BadLines()

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
            yield from self._of_record(f"{path}:{number}", _of_example(example, name_of(source)))
        if not number:
            raise UserError(f"{path} has no examples; give the --out folder of `longmark run`")

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
        for place, example, run in self._answers(path):
            if not isinstance(example, Example) or not self._wanted(
                columns := self._renamed(_of_example(example, run))
            ):
                continue
            for part in citation_columns(example, columns):
                for item in self._checked(place, part):
                    yield replace(item, example_ids={"answer": example.id})

    def unread_citations(self) -> int:
        count = 0
        for path in self.source.path:
            for _, example, run in self._answers(self.base / path):
                if isinstance(example, Example) and self._wanted(
                    self._renamed(_of_example(example, run))
                ):
                    count += citations_without_item(example)
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
            item = _item(self.study, self._with_nuggets(columns))
            self._complete(item)
            _check_storable(item)
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


def _item(study: Study, columns: dict[str, Any]) -> StudyItem:
    question = columns.get("question")
    item_id = _id(columns)
    systems: dict[str, str] = {}
    examples: dict[str, str] = {}
    for side, column in (("answer", "system"), *((side, f"{side}_system") for side in SIDES)):
        if side not in columns:
            continue
        if (system := name(column, columns.get(column, ""))) is not None:
            systems[side] = system
        examples[side] = item_id if side == "answer" else f"{item_id}#{side}"
    if len(examples) > 1:
        examples["pair"] = item_id
    names = [_shown_as(column) for column in study.show if column != "answers"] + [
        *(SIDES if "answers" in study.show else ())
    ]
    if "answers" in study.show and not study.pairs:
        names.append("answer")
    shown_values = {}
    for column in names:
        raw = columns.get(column)
        if column == "passages" and column not in columns:
            raw = columns.get("contexts")
        if not missing(raw):
            shown_values[column] = _value(column, raw)
    hidden = {*names, *_IDS, "contexts", "references", "answer", *SIDES}
    if (
        study.pairs
    ):  # a pair is exported as it came, so that it is the same pair to a run that scored it
        hidden = {*_IDS, *SIDES, "reference"} | {
            name for name in names if shown_values.get(name) == columns.get(name)
        }
    meta = {column: value for column, value in columns.items() if column not in hidden}
    question_id = name("question_id", columns.get("question_id", "")) or (
        question_hash(question) if isinstance(question, str) else item_id
    )
    return StudyItem(item_id, question_id, systems, shown_values, examples, meta=meta)


def _id(columns: Mapping[str, Any]) -> str:
    item_id = name("id", columns.get("id", columns.get("item", "")))
    if item_id is None:
        return hashlib.sha256(orjson.dumps(columns, option=orjson.OPT_NON_STR_KEYS)).hexdigest()[
            :16
        ]
    if len(item_id) > 200 or not item_id.isprintable() or item_id in (".", ".."):
        raise Problem(
            "id: must not be . or .., have more than 200 characters, or contain control characters"
        )
    return item_id


def _value(column: str, raw: Any) -> Any:
    """A column as it is shown. Raises Problem for one of another form."""
    if column in _TEXTS:
        return text(column, raw)
    if column == "passages":
        return [_passage(f"{column}[{i}]", passage) for i, passage in enumerate(_list(column, raw))]
    if column == "options":
        pairs = list(raw.items()) if isinstance(raw, Mapping) else []
        lettered = pairs or [(chr(65 + i), option) for i, option in enumerate(_list(column, raw))]
        return [
            {"key": str(option["key"]), "text": text(column, option.get("text"))}
            if isinstance(option, Mapping) and "key" in option
            else {"key": str(key), "text": text(column, option)}
            for key, option in lettered
        ]
    if column == "key_points":
        listed = raw.splitlines() if isinstance(raw, str) else _list(column, raw)
        return [text(f"{column}[{i}]", point) for i, point in enumerate(listed) if point]
    if column == "nuggets":
        listed = [{"text": raw}] if isinstance(raw, str) and raw[:1] != "[" else _list(column, raw)
        nuggets = {nugget.text: nugget.importance for nugget in nuggets_of(column, listed)}
        return [{"text": nugget, "importance": nuggets[nugget]} for nugget in nuggets]
    if column == "graph":
        if not isinstance(raw, Mapping) or not {"covered", "uncovered"} <= raw.keys():
            raise Problem("graph: expected an object with the lists covered and uncovered")
        return {
            side: [text(side, statement) for statement in _list(side, raw[side])]
            for side in ("covered", "uncovered")
        }
    if column == "profile":
        if isinstance(raw, str):
            return {"": text(column, raw)}
        if not isinstance(raw, Mapping):
            raise Problem(f"profile: expected an object or a text, found {found(raw)}")
        return {str(key): value for key, value in raw.items()}
    return raw


def _passage(place: str, raw: Any) -> dict[str, Any]:
    if isinstance(raw, str):
        return {"text": text(place, raw)}
    if not isinstance(raw, Mapping) or not isinstance(raw.get("text"), str):
        raise Problem(
            f"{place}: expected a text, or an object with text, and id and page where known"
        )
    known_fields = {key: raw[key] for key in ("id", "page") if not missing(raw.get(key))}
    return {"text": text(place, raw["text"]), **known_fields}


def _list(place: str, raw: Any) -> Sequence[Any]:
    if isinstance(raw, str) and raw.lstrip().startswith("["):  # a cell of a CSV file
        try:
            raw = parse_json(raw)
        except ValueError as error:
            raise Problem(f"{place}: {error}") from None
    if isinstance(raw, str):
        return [raw]
    if not isinstance(raw, list | tuple):
        raise Problem(f"{place}: expected a list, found {found(raw)}")
    return raw
