"""What a ClimaQA study reads: the scores of models under test on the items of a benchmark, and the benchmark itself.

A run is scored answers of `longmark benchmark run`: `question_id` is the item, `task` its form, `meta.setting` the
setting, `meta.model` the model; a system is a model in a setting. Only scores of the item's own form are read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longmark.datasets.benchmark import INDEX, items_of
from longmark.datasets.benchmark.seeds import BOOKS
from longmark.errors import UserError
from longmark.metrics.classic.bleu import counts
from longmark.rag import index as rag_index
from longmark.records import Example, sources
from longmark.records.benchmark import LEVELS, Form, Item
from longmark.scores.answers import read_answers
from longmark.scores.files import examples_of, name_of, sources_of
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
    """What a study keeps of an item. level: "" without one; book: of its seed passage; family: the same for all items
    of one seed passage, where the benchmark is known."""

    id: str
    form: str
    level: str
    tier: str
    book: str
    family: str
    generator: str


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
    the benchmark, and for two runs with different scores of an answer."""
    found = Read(runs=sources_of(runs) if runs else [])
    known = None
    if benchmark is not None:
        items = items_of(benchmark)
        known = {one.id: facts for one, facts in zip(items, _facts(items), strict=True)}
        found.books = list(_books([known[one.id] for one in items if one.usable], benchmark))
    if runs:
        _add_scores(found, _answers(found, known))
    labels = list(dict.fromkeys(one.label for one in found.systems.values()))
    order = {name: place for place, name in enumerate(SETTINGS)}
    ranked = sorted(
        found.systems.values(), key=lambda one: (labels.index(one.label), order.get(one.setting, len(order)))
    )
    found.systems = {one.name: one for one in ranked}
    if benchmark is None:
        found.books = list(_books(found.items.values(), None))
    return found


def _facts(items: Sequence[Item]) -> Iterator[Facts]:
    for one, family in zip(items, families(items), strict=True):
        book = one.passages[0].book if one.passages else None
        yield Facts(one.id, one.form, one.level or "", one.tier or "", book or "", family, one.generator or "")


def _answers(found: Read, known: Mapping[str, Facts] | None) -> dict[str, tuple[Example, System]]:
    """Id -> the answer and its system, of all runs; adds their items and systems. known: the items of the benchmark."""
    answers: dict[str, tuple[Example, System]] = {}
    for run in found.runs:
        for one in examples_of(run):
            if one.task not in FORMS or len(one.references) != 1:
                raise UserError(
                    f"{run}: the example {one.id} is not an answer to an item: its task must be one of "
                    f"{', '.join(FORMS)}, with one reference; `longmark benchmark run` writes such answers"
                )
            if known is not None and one.question_id not in known:
                raise UserError(
                    f"{run}: the item {one.question_id} is not in the benchmark; give its benchmark as --benchmark"
                )
            facts = _facts_of(one) if known is None else known[one.question_id]
            if found.items.setdefault(facts.id, facts) != facts:
                raise UserError(
                    f"{run}: the item {facts.id} differs from the item with this id in another run; use runs of one "
                    "benchmark"
                )
            answers[one.id] = one, _system(found, one, run)
    return answers


def _facts_of(example: Example) -> Facts:
    """What an answer says of its item."""
    meta, level = example.meta, example.level if example.level in LEVELS else ""
    book, *_ = meta.get("books") or ("",)
    tier, own = str(meta.get("tier") or ""), f"item {example.question_id}"
    return Facts(example.question_id, example.task or "", level or "", tier, str(book), own, "")


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


def _add_scores(found: Read, answers: Mapping[str, tuple[Example, System]]) -> None:
    """Adds the scores of ClimaQA's metrics to the systems."""
    scored = read_answers(found.runs)
    for metric in scored.metrics:
        name, _, runs = metric.partition(" (")
        if runs and name in _BY_METRIC:
            raise UserError(
                f"two runs have different scores of {name} for the same answers, one of them {runs.rstrip(')')}; name "
                "only one of them"
            )
    metrics = [metric for metric in _BY_METRIC if metric in scored.metrics]
    if not metrics:
        runs = ", ".join(map(str, found.runs))
        raise UserError(f"{runs}: no scores of ClimaQA's metrics; use longmark run ANSWERS --metrics climaqa")
    found.notices += scored.notices
    for metric in metrics:
        outcome = _BY_METRIC[metric]
        if metric in scored.mixed:
            found.notices.append(f"{metric} was scored in several ways (parameters or models differ); its scores are "
                                 "not comparable.")  # fmt: skip
        found_here: dict[int, str | float] = {**scored.unscored[metric], **scored.scores[metric]}
        for place, score in found_here.items():
            name = scored.answers[place].example_id
            if name not in answers:
                raise UserError(f"the runs have a score of the unknown example {name}; give folders of longmark run")
            example, system = answers[name]
            if example.task != outcome.form:
                continue
            if isinstance(score, str):
                system.why[outcome.key][example.question_id] = score
                continue
            system.scores[outcome.key][example.question_id] = score
            if outcome is BLEU:
                made = counts(example.answer or "", example.references)
                system.counts[example.question_id] = (*made.shared, *made.total, made.answer, made.reference)


def _books(items: Iterable[Facts], benchmark: Path | None) -> Iterator[Book]:
    """Every book of the benchmark's folder, and of the items."""
    by: dict[str, Counter[str]] = {}
    for one in items:
        by.setdefault(one.book, Counter())[one.form] += 1
    by.pop("", None)
    known: dict[str, Mapping[str, Any]] = {}
    chunks: Counter[str] = Counter()
    if benchmark is not None and (path := benchmark / BOOKS).is_file():
        known = {str(book["id"]): book for _, book in sources.records(path, "jsonl") if isinstance(book, dict)}
    if benchmark is not None and (benchmark / INDEX).is_dir():
        passages = rag_index.load(benchmark / INDEX).passages
        chunks.update(passages[number].document for number in range(len(passages)))
        passages.close()
    for name in dict.fromkeys([*known, *by]):
        own = known.get(name, {})
        pages = len(own.get("pages", ())) or None
        yield Book(name, own.get("characters"), pages, chunks.get(name), by.get(name, Counter()))
