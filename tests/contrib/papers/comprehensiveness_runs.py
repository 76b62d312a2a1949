"""Runs of comprehensiveness metrics on made-up records of WikiContradict and ConflictBank, with scores as asked."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.contrib.make.test_published import BANK, WIKI
from tests.program import write_jsonl

from longmark.contrib.make.published import WIKICONTRADICT, read
from longmark.records import Example
from longmark.records.pair import singles
from longmark.records.write import write_examples

NLI, QA, E2E = (f"comprehensiveness.{name}" for name in ("nli", "qa", "end_to_end"))
Scores = Callable[[Example], float | None]


def wiki(folder: Path, records: int) -> list[Example]:
    """Five answers to each of `records` questions."""
    lines = [{**WIKI, "question": f"How high is tower {i}?"} for i in range(records)]
    return list(
        singles(read("wikicontradict", write_jsonl(folder / "wiki.jsonl", lines)), "wikicontradict")
    )


def bank(folder: Path, records: int) -> list[Example]:
    """Two claims on each of `records` questions."""
    return list(
        singles(
            read("conflictbank", write_jsonl(folder / "bank.jsonl", [BANK] * records)),
            "conflictbank",
        )
    )


def evidence(example: Example, share: float, question: str | None = None) -> dict[str, Any]:
    """Ten statements of each source; of the sources that the answer matches, this share is covered. WikiContradict:
    this share of the first context's."""
    matching = example.meta.get("matches", ["context1"])
    nodes: list[dict[str, Any]] = []
    sides: dict[str, list[list[str]]] = {"covered": [], "uncovered": []}
    for source in (str(context.id) for context in example.contexts):
        for i in range(10):
            name = f"{source}-{i}"
            more = {"question": question} if question else {}
            nodes.append(
                {
                    "id": name,
                    "side": "context",
                    "text": f"{source} says {i}.",
                    "sources": [source],
                    **more,
                }
            )
            is_covered = source in matching and i < 10 * share
            sides["covered" if is_covered else "uncovered"].append([name])
    return {"nodes": nodes, "edges": [], "contradictions": [], **sides, "basis": []}


def row(
    example: Example, metric: str, judge: str, score: float | None, **more: Any
) -> dict[str, Any]:
    """A row; without a score it is unparsable."""
    status = (
        {}
        if score is not None
        else {"status": "unparsable", "reason": "Two replies could not be read."}
    )
    head = {
        "example_id": example.id,
        "question_id": example.question_id,
        "system": example.system,
        "metric": metric,
    }
    return {**head, "score": score, "signature": {"models": {"judge": [judge]}}, **status, **more}


def write_run(folder: Path, examples: list[Example], judge: str, scores: dict[str, Scores]) -> Path:
    """A run folder. scores: metric -> the score of an example; in ConflictBank also the covered share of what the
    answer matches."""
    folder.mkdir(parents=True)
    write_examples(examples, folder / "examples.jsonl")
    rows = []
    for metric, of in scores.items():
        for one in examples:
            score, about = of(one), "What is said?" if metric == QA else None
            shown = {} if score is None else evidence(one, score, about)
            if one.meta["dataset"] != WIKICONTRADICT and score is not None:
                score = 0.5 if score > 0 else 0.0
            rows.append(row(one, metric, judge, score, evidence=shown))
    write_jsonl(folder / "rows.jsonl", rows)
    return folder


def right(one: Example) -> float:
    """What the label expects; of ConflictBank all that the answer matches."""
    if "matches" in one.meta:
        return 1.0
    return 0.0 if one.meta["label"] == "Incorrect" else 1.0 if one.id.endswith("4") else 0.5
