"""Rows with graphs of statements, for tests of the view and for a look at it: `python -m tests.report.graphs DIR`."""

from __future__ import annotations

import random
import sys
from itertools import pairwise
from pathlib import Path
from typing import Any

from tests.report.runs import manifest, row, sentence, write_run

from longmark.records import Example, Row
from longmark.text.graph import Statement, StatementGraph, coverage, to_evidence

NLI = "comprehensiveness.nli"
DECLARED = {
    NLI: {
        "bounds": [0, 1],
        "higher_is_better": True,
        "summary": "The share of the sources that is covered.",
        "view": ["graph", NLI],
    }
}


def made_graph(size: int, seed: int = 0) -> StatementGraph:
    """A graph of so many statements, a fifth of them of the answer: equal statements, chains, contradictions."""
    chance = random.Random(seed)
    answers = [f"a{i}" for i in range(max(1, size // 5))]
    contexts = [f"c{i}" for i in range(size - len(answers))]
    edges: set[tuple[str, str]] = set()
    for name in answers:
        for other in chance.sample(contexts, chance.randint(1, 2)):
            edges |= {(name, other)} | ({(other, name)} if chance.random() < 0.5 else set())
    for _ in range(size // 6):
        chain = chance.sample(contexts, min(len(contexts), chance.randint(2, 4)))
        edges |= set(pairwise(chain)) | (
            {(chain[-1], chain[0])} if chance.random() < 0.3 else set()
        )
    against = {(chance.choice(answers), chance.choice(contexts)) for _ in range(size // 12)}
    nodes = [
        Statement(
            name,
            "answer" if name[0] == "a" else "context",
            sentence(chance, chance.randint(6, 16)),
            (f"passage {chance.randint(1, 5)}",) if name[0] == "c" else (),
        )
        for name in (*answers, *contexts)
    ]
    return StatementGraph(tuple(nodes), frozenset(edges), frozenset(against))


def graph_row(example: str, graph: StatementGraph, **more: Any) -> Row:
    return row(example, NLI, coverage(graph).score, evidence=to_evidence(graph) | more)


def graph_run(folder: Path, graphs: dict[str, StatementGraph]) -> Path:
    """A run whose examples have these graphs."""
    examples = [
        Example(
            id=name,
            question_id=f"q-{name}",
            question=f"What is known of {name}?",
            answer="An answer.",
            system="first",
        )
        for name in graphs
    ]
    rows = [
        graph_row(name, graph, asked={"calls": 3, "pairs": 12}) for name, graph in graphs.items()
    ]
    described = manifest(metrics=DECLARED)
    described["fixed"] |= {"metrics": [NLI], "params": {}, "prompts": {}}
    return write_run(folder, examples, rows, described)


if __name__ == "__main__":
    from longmark.report.html import write_report

    out = Path(sys.argv[1])
    for size in (5, 60, 200):
        write_report(
            [graph_run(out / f"run-{size}", {f"graph-{size}": made_graph(size)})],
            out / f"graph-{size}.html",
        )
