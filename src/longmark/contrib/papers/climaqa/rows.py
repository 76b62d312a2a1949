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

from longmark.contrib.make.benchmark import INDEX, items_of
from longmark.contrib.make.benchmark.seeds import BOOKS
from longmark.contrib.make.benchmark.settings import DEFAULT, SETTINGS
from longmark.contrib.make.rag import index as rag_index
from longmark.contrib.make.validator.labels import families
from longmark.errors import UserError
from longmark.metrics.classic.bleu import counts
from longmark.records import Example, sources
from longmark.records.benchmark import Form, Item
from longmark.records.metric_name import under
from longmark.records.pair import singles
from longmark.scores.answers import read_answers
from longmark.scores.files import examples_of, name_of, sources_of

FORMS: tuple[Form, ...] = ("mcq", "freeform", "cloze")
SILVER = "silver"
NO_ROW = "no row"


@dataclass(frozen=True, slots=True)
class TableScore:
    """One score of a table. metric: its name in runs; share: it is 0 or 1."""

    key: str
    title: str
    form: str
    metric: str
    bounds: tuple[float, float] = (0.0, 1.0)
    share: bool = False


MCQ = TableScore("mcq", "MCQ accuracy", "mcq", "climaqa.mcq", share=True)
EM = TableScore("em", "Exact match", "cloze", "climaqa.exact_match", share=True)
PS = TableScore("ps", "Phrase similarity", "cloze", "climaqa.phrase_similarity", (-3.0, 1.0))
BLEU = TableScore("bleu", "BLEU", "freeform", "classic.bleu@form=climaqa")
BERT = TableScore("bertscore", "BERTScore", "freeform", "classic.bertscore", (-1.0, 1.0))
FA = TableScore("fa", "Factual accuracy", "freeform", "climaqa.factual_accuracy")
OUTCOMES = (MCQ, EM, PS, BLEU, BERT, FA)
RUN_METRICS = "climaqa,classic.bleu@form=climaqa,classic.bertscore"
"""What `longmark run --metrics` takes for all of them."""


@dataclass(slots=True)
class ModelSetting:
    """A model in a setting. label: the system's name without the setting; model: its name as a model.

    scores: outcome -> item -> score; why: the status of what is unscored; counts: item -> what BLEU is computed from:
    four counts of shared n-grams, four of all, two lengths.
    """

    name: str
    label: str
    model: str
    setting: str
    scores: dict[str, dict[str, float]] = field(
        default_factory=lambda: {outcome.key: {} for outcome in OUTCOMES}
    )
    why: dict[str, dict[str, str]] = field(
        default_factory=lambda: {outcome.key: {} for outcome in OUTCOMES}
    )
    counts: dict[str, tuple[int, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BookCounts:
    """A book of the benchmark. characters, chunks, pages: None where they are not known; items: by form."""

    name: str
    characters: int | None
    pages: int | None
    chunks: int | None
    items: Mapping[str, int]


@dataclass(slots=True)
class ClimaqaRows:
    """The items that a run has an answer to, and the systems, in the order of the settings. families: id of an item ->
    the same for all items of one seed passage; runs: the sources."""

    items: dict[str, Item] = field(default_factory=dict)
    families: dict[str, str] = field(default_factory=dict)
    systems: dict[str, ModelSetting] = field(default_factory=dict)
    books: list[BookCounts] = field(default_factory=list)
    runs: list[Path] = field(default_factory=list)
    notices: list[str] = field(default_factory=list)

    def unscored(self) -> list[str]:
        """The metrics that have rows and no score of any system."""
        systems = self.systems.values()
        rows = [
            outcome for outcome in OUTCOMES if any(system.why[outcome.key] for system in systems)
        ]
        return [
            outcome.metric
            for outcome in rows
            if not any(system.scores[outcome.key] for system in systems)
        ]


def read(runs: Sequence[Path], benchmark: Path | None) -> ClimaqaRows:
    """benchmark: of the items; None where there is no run. UserError for a run without answers to its items or without
    scores of ClimaQA's metrics, and for two runs with different scores of an answer."""
    contents = ClimaqaRows(runs=sources_of(runs) if runs else [])
    items = {item.id: item for item in items_of(benchmark)} if benchmark is not None else {}
    contents.families = dict(zip(items, families(list(items.values())), strict=True))
    if benchmark is not None:
        contents.books = list(_books(items.values(), benchmark))
    if runs:
        _add_scores(contents, _answers(contents, items))
    labels = list(dict.fromkeys(system.label for system in contents.systems.values()))
    order = {name: place for place, name in enumerate(SETTINGS)}
    ranked = sorted(
        contents.systems.values(),
        key=lambda system: (labels.index(system.label), order.get(system.setting, len(order))),
    )
    contents.systems = {system.name: system for system in ranked}
    return contents


def _answers(
    contents: ClimaqaRows, items: Mapping[str, Item]
) -> dict[str, tuple[Example, ModelSetting]]:
    """Id -> the answer and its system, of all runs; adds their items and systems. items: of the benchmark."""
    answers: dict[str, tuple[Example, ModelSetting]] = {}
    for run in contents.runs:
        for answer in singles(examples_of(run), run):
            item = items.get(answer.question_id)
            if item is None:
                raise UserError(
                    f"{run}: the item {answer.question_id} is not in the benchmark; give the benchmark of these answers "
                    "as --benchmark"
                )
            if answer.task != item.form or len(answer.references) != 1:
                raise UserError(
                    f"{run}: the example {answer.id} is not an answer to an item: its task must be {item.form}, with one "
                    "reference; `longmark benchmark run` writes such answers"
                )
            contents.items[item.id] = item
            answers[answer.id] = answer, _system(contents, answer, run)
    return answers


def _system(contents: ClimaqaRows, example: Example, run: Path) -> ModelSetting:
    name = example.system or name_of(run)
    setting = str(example.meta.get("setting") or DEFAULT)
    label = name.removesuffix(f"-{setting}")
    model = str(example.meta.get("model") or label)
    system = contents.systems.setdefault(name, ModelSetting(name, label, model, setting))
    if (system.setting, system.model) != (setting, model):
        raise UserError(
            f"{run}: the system {name} is {model} in the setting {setting}, and elsewhere {system.model} in the "
            f"setting {system.setting}; give each its own label (benchmark run --generator LABEL=MODEL)"
        )
    return system


def _add_scores(contents: ClimaqaRows, answers: Mapping[str, tuple[Example, ModelSetting]]) -> None:
    scored = read_answers(contents.runs)
    names = {
        outcome: [
            metric
            for metric in scored.metrics
            if under(outcome.metric, [metric.partition(" (")[0]])
        ]
        for outcome in OUTCOMES
    }
    for outcome, several in names.items():
        if len(several) > 1:
            raise UserError(
                f"the runs have different scores of {outcome.metric} for the same answers, {' and '.join(several)}; "
                "name runs with only one of them"
            )
    if not any(names.values()):
        runs = ", ".join(map(str, contents.runs))
        raise UserError(
            f"{runs}: no scores of ClimaQA's metrics; use longmark run ANSWERS --metrics {RUN_METRICS}"
        )
    contents.notices += scored.notices
    for outcome, metric in (
        (outcome, metric) for outcome, several in names.items() for metric in several
    ):
        if metric in scored.mixed:
            contents.notices.append(
                f"{metric} was scored in several ways (parameters or models differ); its scores are "
                "not comparable."
            )
        scores_and_reasons: dict[int, str | float] = {**scored.unscored[metric]}
        scores_and_reasons |= {
            place: score
            for place, score in enumerate(scored.scores[metric].tolist())
            if score == score
        }
        for place, score in scores_and_reasons.items():
            name = scored.answers[place].example_id
            if name not in answers:
                raise UserError(
                    f"the runs have a score of the unknown example {name}; give folders of longmark run"
                )
            example, system = answers[name]
            if example.task != outcome.form:
                continue
            if isinstance(score, str):
                system.why[outcome.key][example.question_id] = score
                continue
            system.scores[outcome.key][example.question_id] = score
            if outcome is BLEU:
                bleu = counts(example.answer or "", example.references)
                system.counts[example.question_id] = (
                    *bleu.shared,
                    *bleu.total,
                    bleu.answer,
                    bleu.reference,
                )


def _books(items: Iterable[Item], benchmark: Path) -> Iterator[BookCounts]:
    """Every book of the benchmark's folder, and of the usable items."""
    by: dict[str, Counter[str]] = {}
    for item in items:
        if item.usable and item.passages and (name := item.passages[0].book):
            by.setdefault(name, Counter())[item.form] += 1
    book_records: dict[str, Mapping[str, Any]] = {}
    chunks: Counter[str] = Counter()
    if (path := benchmark / BOOKS).is_file():
        book_records = {
            str(book["id"]): book
            for _, book in sources.records(path, "jsonl")
            if isinstance(book, dict)
        }
    if (benchmark / INDEX).is_dir():
        passages = rag_index.load(benchmark / INDEX).passages
        chunks.update(passages[number].document for number in range(len(passages)))
        passages.close()
    for name in dict.fromkeys([*book_records, *by]):
        book_record = book_records.get(name, {})
        pages = len(book_record.get("pages", ())) or None
        yield BookCounts(
            name, book_record.get("characters"), pages, chunks.get(name), by.get(name, Counter())
        )
