"""Which answers the page holds (all, or of more than 2,000 the worst and a seeded sample) and what it shows of each."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from longmark.records import Answered, Context, Example, Pair, Question, Row
from longmark.report.choices import Agreement, choice_of, choices_view, disagreement, sides
from longmark.report.evidence import views_of
from longmark.report.filters import FilteredAnswer, filters_of
from longmark.report.format import counted, fixed
from longmark.report.markdown import has_markup
from longmark.report.page import as_json
from longmark.report.reasons import mark, reasons_view
from longmark.report.summary import Summary
from longmark.report.support import quotes_in, sentences_view
from longmark.report.turns import starts, turns_view
from longmark.report.view import View
from longmark.report.worst import kind_of, place_of, worst_of
from longmark.scores.files import examples_of, rows_of, system_of
from longmark.scores.manifest import Manifest, MetricFacts
from longmark.scores.observations import Observations
from longmark.text.blocks import blocks
from longmark.text.refusal import only_declines

MOST = 2000
LOWEST = 1000
PACK = 50
"""So many answers are compressed as one."""
_SNIPPET = 240
_ABOVE = "See the note at the top of the page."
_FEW = 6
_SHORT = 1500
"""Up to so many scores of an answer, evidence of up to so many characters is open."""
_SHOWN = {
    "a",
    "b",
    "id",
    "question_id",
    "question",
    "answer",
    "references",
    "contexts",
    "system",
    "turns",
    "turn_of",
}


@dataclass(frozen=True, slots=True)
class Selection:
    """Numbers of the examples on the page. total: of the runs; lowest, sampled: how many came in which way (both 0
    where the page holds all); ranks: number -> place among all examples, 0 for the worst, of those with a score."""

    numbers: tuple[int, ...]
    total: int
    lowest: int
    sampled: int
    seed: int
    ranks: Mapping[int, int] = field(default_factory=dict)


def select(
    index: Observations,
    facts: dict[str, MetricFacts],
    seed: int,
    most: int = MOST,
    lowest: int = LOWEST,
) -> Selection:
    """All examples where there are at most `most`; else the `lowest` by their scores and a sample of the others.

    Answers to the same question come together, so that systems can be compared.
    """
    total = index.example_count()
    index.rank(facts)
    if total <= most:
        ranks = {number: place for place, number in enumerate(index.lowest())}
        return Selection(tuple(range(1, total + 1)), total, 0, 0, seed, ranks)
    selected: dict[int, None] = {}
    _take(index, index.lowest(), lowest, selected)
    low = len(selected)
    _take(
        index, iter(partial(random.Random(seed).randint, 1, total), 0), most, selected
    )  # never 0: without end
    ranks = {number: place for place, number in enumerate(index.lowest()) if number in selected}
    return Selection(tuple(sorted(selected)), total, low, len(selected) - low, seed, ranks)


def _take(index: Observations, numbers: Iterable[int], until: int, taken: dict[int, None]) -> None:
    """Adds numbers, each with the answers to the same question, until `taken` holds so many."""
    for number in numbers:
        if len(taken) >= until:
            return
        if number not in taken:
            for sibling in index.siblings(number, until - len(taken)):
                if len(taken) < until:
                    taken[sibling] = None


@dataclass(slots=True)
class ShownExample:
    """An example on the page: its text, where the run has it, and the last row of each metric. rank: its place among
    all examples, 0 for the worst; of a pair minus the share of metrics that disagree with people. None where it has no
    score. start: how many of its turns stand with the answer before it; filters: those that it passes
    (`report.filters`)."""

    rank: float | None
    run: int
    id: str
    question_id: str
    system: int
    example: Answered | None = None
    results: dict[str, Row] = field(default_factory=dict)
    start: int = 0
    filters: list[str] = field(default_factory=list)

    @property
    def shown_id(self) -> str:
        return self.example.shown_id if self.example else self.id

    def line(self) -> dict[str, Any]:
        """What the list is filtered and sorted by."""
        rows = self.results.items()
        turn_of = self.example and self.example.turn_of != self.id and self.example.turn_of
        return {
            **{name: getattr(self, name) for name in ("id", "question_id", "system", "rank")},
            "scores": {name: row.score for name, row in rows},
            "statuses": {name: row.status for name, row in rows},
            "filters": self.filters,
            **(
                {"turn_of": f"{self.run} {turn_of}", "turn": len(self.example.turns)}
                if self.example and turn_of
                else {}
            ),
        }


@dataclass(frozen=True, slots=True)
class Loaded:
    """shown: the selected examples. answers, cut: how many answers the runs have, and how many of them were cut off;
    agreement: of pairs, how often the choices are people's."""

    shown: list[ShownExample]
    answers: int
    cut: int
    agreement: Agreement = field(default_factory=dict)


def load(index: Observations, runs: Sequence[Path], selection: Selection) -> Loaded:
    """The selected examples in the order of the runs and their files, read once more from the runs' folders."""
    waiting: dict[tuple[int, str], list[ShownExample]] = {}
    for number in selection.numbers:
        run, name, question, system = index.example(number)
        answer = ShownExample(selection.ranks.get(number), run, name, question, system)
        waiting.setdefault((run, name), []).append(answer)
    systems = index.runs_and_names()
    ordered: list[ShownExample] = []
    answers = cut = 0
    agreement: dict[tuple[str, str], tuple[int, int]] = {}
    for run, folder in enumerate(runs):
        labels: dict[str, str] = {}
        for example in examples_of(folder):
            if isinstance(example, Pair) and example.label:
                labels[example.id] = example.label
            answers += bool(_answer_of(example))
            cut += _is_cut(example)
            candidates = waiting.get((run, example.id), [])
            for answer in candidates:
                belongs = len(candidates) == 1 or example.system in (
                    None,
                    systems[answer.system][1],
                )
                if answer.example is None and belongs:
                    answer.example = example
                    ordered.append(answer)
        for row in rows_of(folder):
            if row.score is not None and row.example_id in labels:
                key = (row.metric, system_of(row, folder))
                right, total = agreement.get(key, (0, 0))
                agreement[key] = (
                    right + (choice_of(row.score) == labels[row.example_id]),
                    total + 1,
                )
            for answer in waiting.get((run, row.example_id), ()):
                if systems[answer.system][1] == system_of(row, folder):
                    answer.results[row.metric] = row
    textless = [
        answer for same_id in waiting.values() for answer in same_id if answer.example is None
    ]
    for answer in ordered if agreement else ():
        if isinstance(answer.example, Pair):
            answer.rank = disagreement(answer.example, answer.results.values())
    for answer, start in zip(
        ordered,
        starts(((answer.run, answer.system), answer.example) for answer in ordered),
        strict=True,
    ):
        answer.start = start
    return Loaded(ordered + textless, answers, cut, agreement)


def mark_filters(answers: Sequence[ShownExample], summary: Summary) -> None:
    """Notes which filters each answer passes, of the answers that the page holds."""
    by_place = {
        place: FilteredAnswer(
            answer.question_id,
            answer.system,
            {name: row.score for name, row in answer.results.items()},
            {name: row.status for name, row in answer.results.items()},
            only_declines(_answer_of(answer.example) or ""),
        )
        for place, answer in enumerate(answers)
    }
    for place, filters in filters_of(by_place, summary.facts, pairs=bool(summary.pairs)).items():
        answers[place].filters = filters


def _answer_of(example: Answered | None) -> str | None:
    return example.answer if isinstance(example, Example) else None


def _is_cut(example: Question) -> bool:
    """Whether its answer ended at the token limit, as `longmark rag` notes it."""
    rag = example.meta.get("rag")
    return isinstance(rag, dict) and rag.get("finish") == "length"


def entry(
    selected: ShownExample, summary: Summary, titles: dict[str, str], manifest: Manifest
) -> dict[str, Any]:
    """What the template needs of an answer. manifest: of its source. A metric without a row was not requested or
    does not apply to it where the run has ended; of a file of rows nothing is known. Why a judge cannot be read is said
    at the top of the page, and not here."""
    example = selected.example
    unreadable = manifest.unreadable
    results = {
        name: replace(row, reason=_ABOVE)
        if any(judge.covers(name, row.status) for judge in unreadable)
        else row
        for name, row in selected.results.items()
    }
    question = (example.question if example else None) or ""
    answer = _answer_of(example)
    due = [
        name
        for name in summary.metrics
        if name in results or (manifest.data and not manifest.ended)
    ]
    worst = worst_of(results, summary.facts)
    heads = {name: _head(name, results.get(name), summary, titles) for name in due}
    judged = {name: head for name, head in heads.items() if summary.facts[name].view[0] == "judges"}
    marks = [
        row
        for name, row in results.items()
        if name in heads and summary.facts[name].view[0] == "marked"
    ]
    why, quoted = reasons_view(results, answer, judged)
    mark(marks, answer, quoted)
    views = [*([why] if why else []), *views_of(results, summary.facts)]
    pair = example if isinstance(example, Pair) else None
    pieces = sentences_view(answer, _passages(example), results, summary.facts)
    if pair:
        views.insert(
            0, choices_view(pair, {name: results[name] for name in due if name in results}, titles)
        )
    reasons = {name for name, _ in worst}
    metrics = {
        name: _metric(head, results.get(name), views, len(due)) for name, head in heads.items()
    }
    for name, metric in metrics.items():
        metric["is_reason"] = name in reasons
    limit = example.meta["rag"].get("max_tokens") if example and _is_cut(example) else None
    return {
        "line": selected,
        "example": example,
        "sides": sides(pair) if pair else [],
        "turns": turns_view(example, selected.start, quoted),
        "has_texts": example is not None or manifest.folder.is_dir(),
        "system": summary.systems[selected.system],
        "several": len(summary.systems) > 1,
        "snippet": _start(question or answer or ""),
        "excerpt": _start(answer or (pair.a if pair else "")) if question else "",
        "worst": [
            (metrics[name], None if results[name].reason == _ABOVE else why) for name, why in worst
        ],
        "due": list(metrics.values()),
        "undue": [
            titles[name] for name in summary.metrics if name not in metrics and manifest.data
        ],
        "views": views,
        "quoted": quoted,
        "diff": "",
        "sentences": [(piece, quotes_in(piece, quoted)) for piece in pieces],
        "cut": (limit if isinstance(limit, int) else 0) if example and _is_cut(example) else None,
        "rest": example.model_dump(exclude_defaults=True, exclude=_SHOWN) if example else {},
    }


def _passages(example: Answered | None) -> Sequence[Context]:
    """What the numbers of passages in evidence count: the passages, or the sources of an example without any."""
    if example is None or example.contexts:
        return example.contexts if example else ()
    sources = getattr(example, "sources", None) or ()
    return [Context(id=source.id, text=source.text or "") for source in sources]


def _head(name: str, row: Row | None, summary: Summary, titles: dict[str, str]) -> dict[str, Any]:
    """A metric and its score of an answer as the page shows them."""
    facts = summary.facts[name]
    score = row.score if row else None
    return {
        "name": name,
        "title": titles[name],
        "shown": ""
        if not row
        else choice_of(score)
        if summary.pairs
        else fixed(score, summary.decimals(name)),
        "place": None if score is None or summary.pairs else place_of(facts, score),
        "kind": "plain" if score is None else kind_of(facts, score),
    }


def _metric(
    head: dict[str, Any], row: Row | None, views: Sequence[View], count: int
) -> dict[str, Any]:
    """A score of an answer; its evidence is open where it is short and the answer has few scores."""
    view = next((view for view in views if head["name"] in view.covers), None)
    return {
        **head,
        "row": row,
        "view": view,
        "open": row and not view and count <= _FEW and len(as_json(row.evidence)) < _SHORT,
        "usage": _usage(row) if row else "",
    }


def _usage(row: Row) -> str:
    usage = row.usage
    models = [f"{role} {', '.join(names)}" for role, names in row.signature.models.items()]
    if not usage.calls:
        return " · ".join(["no model call", *models]) if row.signature.version else ""
    tokens = (
        f"{counted(usage.prompt_tokens, 'prompt token')} ({usage.cached_prompt_tokens:,} reused)"
    )
    parts = [counted(usage.calls, "call"), f"{usage.from_cache} from cache", tokens]
    parts += [
        counted(usage.completion_tokens, "completion token"),
        *([f"${usage.usd:.3g}"] if usage.usd else []),
    ]
    return " · ".join([*parts, *models])


def _start(text: str) -> str:
    """The beginning of a text, without the signs of its Markdown."""
    start = text[: 4 * _SNIPPET]
    if has_markup(start):
        start = " ".join(blocks(start)) or start
    is_cut = len(start) > _SNIPPET or len(text) > 4 * _SNIPPET
    return start[:_SNIPPET] + ("…" if is_cut else "")
