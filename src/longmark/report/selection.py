"""Which examples the page holds: all, or of more than 2,000 the lowest and a seeded sample; their rank and data."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson

from longmark.records import Example, Row
from longmark.scores.files import examples_of, rows_of, system_of
from longmark.scores.index import ScoreIndex
from longmark.scores.manifest import MetricFacts

MOST = 2000
LOWEST = 1000
_SNIPPET = 240


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
    index: ScoreIndex, facts: dict[str, MetricFacts], seed: int, most: int = MOST, lowest: int = LOWEST
) -> Selection:
    """All examples where there are at most `most`; else the `lowest` by their scores and a sample of the others.

    Answers to the same question come together, so that systems can be compared.
    """
    total = index.example_count()
    index.rank(facts)
    if total <= most:
        ranks = {number: place for place, number in enumerate(index.lowest())}
        return Selection(tuple(range(1, total + 1)), total, 0, 0, seed, ranks)
    taken: dict[int, None] = {}
    _take(index, index.lowest(), lowest, taken)
    low = len(taken)
    _take(index, _draws(random.Random(seed), total), most, taken)
    ranks = {number: place for place, number in enumerate(index.lowest()) if number in taken}
    return Selection(tuple(sorted(taken)), total, low, len(taken) - low, seed, ranks)


def _draws(chance: random.Random, total: int) -> Iterator[int]:
    while True:
        yield chance.randint(1, total)


def _take(index: ScoreIndex, numbers: Iterable[int], until: int, taken: dict[int, None]) -> None:
    """Adds numbers, each with the answers to the same question, until `taken` holds so many."""
    for number in numbers:
        if len(taken) >= until:
            return
        if number not in taken:
            for sibling in index.siblings(number, until - len(taken)):
                if len(taken) < until:
                    taken[sibling] = None


@dataclass(slots=True)
class Shown:
    """An example on the page: its text, where the run has it, and the last row of each metric as JSON-ready objects.
    rank: its place among all examples, 0 for the worst; None where it has no score."""

    rank: int | None
    run: int
    id: str
    question_id: str
    system: int
    example: Example | None
    results: dict[str, dict[str, Any]]

    def line(self) -> dict[str, Any]:
        """What the list shows before the example is opened."""
        text = self.example
        question, answer = (text.question or "", text.answer or "") if text else ("", "")
        return {
            "id": self.id,
            "run": self.run,
            "question_id": self.question_id,
            "system": self.system,
            "snippet": _start(question or answer),
            "excerpt": _start(answer) if question else "",
            "rank": self.rank,
            "scores": {name: result["score"] for name, result in self.results.items()},
            "statuses": {name: result["status"] for name, result in self.results.items()},
        }

    def whole(self) -> dict[str, Any]:
        """All that the page shows of it: `example` is null where examples.jsonl does not hold it."""
        text = self.example.model_dump(exclude_defaults=True, exclude={"system"}) if self.example else None
        if text is not None and self.example is not None:
            text["answer"] = self.example.answer
        return {"example": text, "results": self.results}


def _start(text: str) -> str:
    return text[:_SNIPPET] + ("…" if len(text) > _SNIPPET else "")


@dataclass(frozen=True, slots=True)
class Loaded:
    """shown: the selected examples. answers, cut: how many answers the runs have, and how many of them were cut off."""

    shown: list[Shown]
    answers: int
    cut: int


def load(index: ScoreIndex, runs: Sequence[Path], selection: Selection) -> Loaded:
    """The selected examples in the order of the runs and their files, read once more from the runs' folders."""
    waiting: dict[tuple[int, str], list[Shown]] = {}
    for number in selection.numbers:
        run, name, question, system = index.example(number)
        waiting.setdefault((run, name), []).append(
            Shown(selection.ranks.get(number), run, name, question, system, None, {})
        )
    systems = index.runs_and_names()
    ordered: list[Shown] = []
    answers = cut = 0
    for run, folder in enumerate(runs):
        for example in examples_of(folder):
            answers += bool(example.answer)
            cut += _is_cut(example)
            alike = waiting.get((run, example.id), [])
            for shown in alike:
                mine = len(alike) == 1 or example.system in (None, systems[shown.system][1])
                if shown.example is None and mine:
                    shown.example = example
                    ordered.append(shown)
        for row in rows_of(folder):
            for shown in waiting.get((run, row.example_id), ()):
                if systems[shown.system][1] == system_of(row, folder):
                    shown.results[row.metric] = _result(row)
    without = [shown for alike in waiting.values() for shown in alike if shown.example is None]
    return Loaded(ordered + without, answers, cut)


def _is_cut(example: Example) -> bool:
    """Whether its answer ended at the token limit, as `longmark rag` notes it. The page's script asks the same."""
    told = example.meta.get("rag")
    return isinstance(told, dict) and told.get("finish") == "length"


def _result(row: Row) -> dict[str, Any]:
    usage = orjson.loads(orjson.dumps(row.usage))
    kept = {"score": row.score, "status": row.status, "reason": row.reason, "evidence": row.evidence}
    return {**kept, "usage": usage, "params": row.signature.params, "models": row.signature.models}
