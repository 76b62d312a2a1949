"""What a ClimaQA study reads: the scores of models under test on the items of a benchmark, and the benchmark itself.

A run is scored answers of `longmark benchmark run`: `question_id` is the item, `task` its form, `meta.setting` the
setting, `meta.model` the model; a system is a model in a setting. Only scores of the item's own form are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import orjson

from longmark.datasets.benchmark import INDEX, MANIFEST, items_of
from longmark.errors import UserError
from longmark.metrics.classic.bleu import counts
from longmark.rag import index as rag_index
from longmark.records import Example, Row
from longmark.records.benchmark import LEVELS, Form, Item
from longmark.records.files import read_object
from longmark.scores.files import examples_of, name_of, rows_of, sources_of
from longmark.validator.labels import families

DEFAULT = "default"
SETTINGS = (
    DEFAULT,
    *("few-shot", "rag-source", "rag-held-out"),
    *("long-context-source", "long-context-held-out"),
)
"""In the order of the paper's tables."""
FORMS: tuple[Form, ...] = ("mcq", "freeform", "cloze")
GOLD, SILVER = "gold", "silver"
NO_ROW = "no row"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One score of a table. metrics: the names that it has in runs; share: it is 0 or 1."""

    key: str
    title: str
    form: str
    metrics: tuple[str, ...]
    bounds: tuple[float, float] = (0.0, 1.0)
    share: bool = False


MCQ = Outcome("mcq", "MCQ accuracy", "mcq", ("climaqa.mcq",), share=True)
EM = Outcome("em", "Exact match", "cloze", ("climaqa.exact_match",), share=True)
PS = Outcome("ps", "Phrase similarity", "cloze", ("climaqa.phrase_similarity",), (-3.0, 1.0))
BLEU = Outcome("bleu", "BLEU", "freeform", ("climaqa.bleu",))
BERT = Outcome("bertscore", "BERTScore", "freeform", ("climaqa.bertscore", "climaqa.bertscore.f1"), (-1.0, 1.0))
FA = Outcome("fa", "Factual accuracy", "freeform", ("climaqa.factual_accuracy",))
OUTCOMES = (MCQ, EM, PS, BLEU, BERT, FA)
_BY_METRIC = {name: one for one in OUTCOMES for name in one.metrics}


@dataclass(frozen=True, slots=True)
class Facts:
    """What a study keeps of an item. level: "" without one; book: of its seed passage; family: of what is from one."""

    id: str
    form: str
    level: str
    tier: str
    book: str
    family: str
    generator: str
    options: int


@dataclass(slots=True)
class System:
    """A model in a setting. label: the system's name without the setting; model: its name as a model.

    scores: outcome -> item -> score; why: the status of what is unscored; counts: item -> what BLEU is computed from:
    four counts of shared n-grams, four of all, two lengths.
    """

    name: str
    label: str
    model: str
    setting: str
    scores: dict[str, dict[str, float]] = field(default_factory=lambda: {one.key: {} for one in OUTCOMES})
    why: dict[str, dict[str, str]] = field(default_factory=lambda: {one.key: {} for one in OUTCOMES})
    counts: dict[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Book:
    """A book of the benchmark. characters, chunks, pages: None where they are not known; items: by form."""

    name: str
    characters: int | None
    pages: int | None
    chunks: int | None
    items: Mapping[str, int]


@dataclass(slots=True)
class Read:
    """The items of all runs, and the systems, in the order of the settings. runs: the sources."""

    items: dict[str, Facts] = field(default_factory=dict)
    systems: dict[str, System] = field(default_factory=dict)
    books: list[Book] = field(default_factory=list)
    runs: list[Path] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)


def read(runs: Sequence[Path], benchmark: Path | None) -> Read:
    """UserError for a run without answers to items or without scores of ClimaQA's metrics, for an item that is not in
    the benchmark, and for a score that two runs have."""
    found = Read(runs=sources_of(runs) if runs else [])
    known: dict[str, Facts] = {}
    if benchmark is not None:
        items = items_of(benchmark)
        known = {one.id: facts for one, facts in zip(items, _facts(items), strict=True)}
        usable = {one.id for one in items if one.usable}
        found.books = list(_books([one for name, one in known.items() if name in usable], benchmark))
    seen: dict[tuple[str, str, str], Path] = {}
    how: dict[str, set[bytes]] = {}
    for run in found.runs:
        examples = {one.id: one for one in examples_of(run)}
        for one in examples.values():
            _add_item(found, one, known if benchmark is not None else None, run)
        last = {(row.example_id, row.metric): row for row in rows_of(run, found.notices) if row.metric in _BY_METRIC}
        if not last:
            raise UserError(f"{run} has no scores of ClimaQA's metrics; use longmark run ANSWERS --metrics climaqa")
        for (name, metric), row in last.items():
            if name not in examples:
                raise UserError(f"{run}: a row has the unknown example {name}; give the folder of longmark run")
            outcome, example = _BY_METRIC[metric], examples[name]
            if example.task != outcome.form:
                continue
            system = _system(found, example, run)
            place = (system.name, outcome.key, example.question_id)
            if (first := seen.setdefault(place, run)) != run:
                raise UserError(f"{first} and {run} both have {metric} of {name}; name only one of them")
            if row.score is not None:
                how.setdefault(metric, set()).add(_signed(row))
            _add_score(system, outcome, example, row)
    found.notices += [
        f"{metric} was scored in {len(ways)} ways (parameters or models differ); its scores are not comparable."
        for metric, ways in how.items()
        if len(ways) > 1
    ]
    order = {name: place for place, name in enumerate(SETTINGS)}
    labels = list(dict.fromkeys(one.label for one in found.systems.values()))
    ranked = sorted(
        found.systems.values(), key=lambda one: (labels.index(one.label), order.get(one.setting, len(order)))
    )
    found.systems = {one.name: one for one in ranked}
    if not found.books:
        found.books = list(_books(found.items.values(), None))
    return found


def _facts(items: Sequence[Item]) -> Iterator[Facts]:
    for one, family in zip(items, families(items), strict=True):
        book = one.passages[0].book if one.passages else None
        tier, generator = one.tier or "", one.generator or ""
        yield Facts(one.id, one.form, one.level or "", tier, book or "", family, generator, len(one.options or {}))


def _add_item(found: Read, example: Example, known: Mapping[str, Facts] | None, run: Path) -> None:
    if example.task not in FORMS or len(example.references) != 1:
        raise UserError(
            f"{run}: the example {example.id} is not an answer to an item: its task must be one of "
            f"{', '.join(FORMS)}, with one reference; `longmark benchmark run` writes such answers"
        )
    if known is not None:
        if example.question_id not in known:
            raise UserError(
                f"{run}: the item {example.question_id} is not in the benchmark; give its benchmark as --benchmark"
            )
        found.items[example.question_id] = known[example.question_id]
        return
    meta, books = example.meta, example.meta.get("books")
    book = str(books[0]) if isinstance(books, list) and books else ""
    level = example.level if example.level in LEVELS else ""
    tier, name = str(meta.get("tier") or ""), example.question_id
    facts = Facts(name, example.task, level or "", tier, book, f"item {name}", "", len(example.options or ()))
    if found.items.setdefault(name, facts) != facts:
        raise UserError(
            f"{run}: the item {name} differs from the item with this id in another run; use runs of one benchmark"
        )


def _system(found: Read, example: Example, run: Path) -> System:
    name = example.system or name_of(run)
    setting = str(example.meta.get("setting") or DEFAULT)
    label = name.removesuffix(f"-{setting}")
    model = str(example.meta.get("model") or label)
    system = found.systems.setdefault(name, System(name, label, model, setting))
    if (system.setting, system.model) != (setting, model):
        raise UserError(
            f"{run}: the system {name} is {model} in the setting {setting}, and elsewhere {system.model} in the "
            f"setting {system.setting}; give each its own label (benchmark run --generator LABEL=MODEL)"
        )
    return system


def _add_score(system: System, outcome: Outcome, example: Example, row: Row) -> None:
    item = example.question_id
    if row.score is None:
        system.why[outcome.key][item] = row.status
        return
    system.scores[outcome.key][item] = row.score
    if outcome is BLEU:
        made = counts(example.answer or "", example.references)
        system.counts[item] = (*made.shared, *made.total, made.answer, made.reference)


def _signed(row: Row) -> bytes:
    return orjson.dumps([row.signature.params, row.signature.models], option=orjson.OPT_SORT_KEYS)


def _books(items: Iterable[Facts], benchmark: Path | None) -> Iterator[Book]:
    """Books of the manifest first; with pages and chunks where the benchmark has the index of its books."""
    by: dict[str, Counter[str]] = {}
    for one in items:
        by.setdefault(one.book, Counter())[one.form] += 1
    by.pop("", None)
    made: dict[str, Mapping[str, object]] = {}
    chunks: Counter[str] = Counter()
    if benchmark is not None and (benchmark / MANIFEST).is_file():
        listed = read_object(benchmark / MANIFEST, "make the benchmark again").get("books")
        known = [book for book in listed if isinstance(book, Mapping)] if isinstance(listed, list) else []
        made = {str(book.get("id")): book for book in known}
    if benchmark is not None and (benchmark / INDEX).is_dir():
        passages = rag_index.load(benchmark / INDEX).passages
        chunks.update(passages[number].document for number in range(len(passages)))
        passages.close()
    for name in dict.fromkeys([*made, *by]):
        characters, pages = (made.get(name, {}).get(one) for one in ("characters", "pages"))
        yield Book(name, _whole(characters), _whole(pages), chunks.get(name), by.get(name, Counter()))


def _whole(value: object) -> int | None:
    return value if isinstance(value, int) else None
