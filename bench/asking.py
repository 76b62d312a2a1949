"""What the graph of statements costs: relations asked, beside the paper's and what must be asked; CPU and memory.

`python -m bench.asking [replay] [speed] [prune] [judge] [--seed 0] [--records 8]`

replay: `comprehensiveness._asking` on the authors' 600 stored graphs (../shared/data/wikicontradict; equivalences only)
and on 500 generated ones (chains, cycles, diamonds, cliques and single edges, 5 to 60 statements). Every graph's
coverage, score and basis are compared with those of the whole graph. Counted apart: premises (the calls where a call
has one premise), batches (the calls where it has several), pair decisions, words sent (statements only, without the
instructions of each call). `paper`: 2 |A||C| + |C|(|C| - 1), one relation a call; `a premise a call`: every premise
once with all hypotheses. `least`: what every algorithm must ask, were it to guess each relation right.

speed: CPU seconds and memory of `text.graph.coverage` on 200 answer and 2,000 context statements with 100,000 edges, of
the 600 stored graphs, and of `ask` on 40 to 160 statements.

prune: pairs below a cosine of MiniLM embeddings are taken as neutral (`dissimilar`). On the stored graphs: what is
left to ask, and the scores that change. Their entailments join equal texts, so the error is measured on Climate-FEVER:
the share of evidence sentences labelled SUPPORTS whose cosine with their claim is below the threshold (their entailment
would be lost), beside that of sentences of other claims (whose pairs should be left out).

judge: the embedded judge relates the statements of some stored graphs, in the order of the file: every pair, and only
those that are needed, a premise with up to 25 hypotheses in a call. Calls, pair decisions, tokens and seconds (without
a cache), and whether scores and covered statements agree: a judge's label can depend on what else is in the call.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import resource
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import combinations, pairwise, permutations
from pathlib import Path
from typing import Any

from longmark.metrics.comprehensiveness._asking import (
    Asked,
    Asking,
    Inquiry,
    ask,
    dissimilar,
    pairs_of,
)
from longmark.text.entailment import Relation
from longmark.text.graph import ANSWER, CONTEXT, Coverage, Pair, Statement, StatementGraph, coverage

DATA = Path(__file__).parents[1].parent / "shared" / "data"
CLIMATE = DATA / "climate_fever" / "first900.jsonl"
STORED = DATA / "wikicontradict" / "e2e_graphs_gpt-oss-20b.jsonl"
PLANS = {
    "one premise at a time": Asking(fold=False),
    "4 at once": Asking(width=4, fold=False),
    "all at once, 200 pairs": Asking(width=60, fold=False),
    "one at a time, equal texts folded": Asking(),
}


def stored_graphs() -> list[StatementGraph]:
    """The authors' graphs; ids in place of texts would lose which texts are equal, so the texts are kept."""
    return [graph_of(json.loads(line)) for line in STORED.read_text().splitlines()]


def graph_of(record: dict[str, list[list[str]]]) -> StatementGraph:
    """A stored graph. All of its edges are equivalences."""
    nodes = [
        Statement(name, ANSWER if kind == "atom" else CONTEXT, text)
        for name, kind, text in record["nodes"]
    ]
    pairs = frozenset(pair for a, b, *_ in record["edges"] for pair in ((a, b), (b, a)))
    return StatementGraph(tuple(nodes), pairs)


def generated_graphs(count: int = 500, seed: int = 0) -> Iterator[StatementGraph]:
    """Graphs of 5 to 60 statements, at most a third of them of the answer, in groups of up to six that are a chain, a
    cycle, a diamond, a clique or unrelated, with a few single edges. They are not transitive."""
    draw = random.Random(seed)
    for _ in range(count):
        size = draw.randint(5, 60)
        answers = draw.randint(1, size // 3)
        names = [f"a{i}" for i in range(answers)] + [f"c{i}" for i in range(size - answers)]
        left, edges = (
            draw.sample(names, size),
            {tuple(draw.sample(names, 2)) for _ in range(draw.randint(0, size // 6))},
        )
        while left:
            group, left = left[: (cut := draw.randint(1, 6))], left[cut:]
            kind = draw.choice(["chain", "cycle", "diamond", "clique", "unrelated"])
            if kind in ("chain", "cycle"):
                edges |= set(pairwise(group)) | (
                    {(group[-1], group[0])} if kind == "cycle" and cut > 1 else set()
                )
            elif kind == "diamond":
                edges |= {pair for x in group[1:-1] for pair in ((group[0], x), (x, group[-1]))}
            elif kind == "clique":
                edges |= set(permutations(group, 2))
        nodes = [Statement(name, ANSWER if name[0] == "a" else CONTEXT, name) for name in names]
        kept = {(p, h) for p, h in edges if p != h and not p[0] == h[0] == "a"}
        yield StatementGraph(tuple(nodes), frozenset(kept))


@dataclass(slots=True)
class Oracle:
    """Answers by a graph: the relation of two statements' texts; counts the words that were sent."""

    entails: frozenset[Pair]
    words: int = 0

    async def __call__(self, inquiries: Sequence[Inquiry]) -> list[list[Relation]]:
        self.words += sum(
            len(text.split()) for one in inquiries for text in (one.premise, *one.hypotheses)
        )
        return [
            [
                Relation("entails" if (one.premise, text) in self.entails else "neutral")
                for text in one.hypotheses
            ]
            for one in inquiries
        ]


def replay(
    graph: StatementGraph, plan: Asking, known: dict[Pair, str] | None = None
) -> tuple[Asked, int]:
    """What is asked where a graph answers, and the words sent. A plan that folds needs texts that are related as their
    statements are."""
    text = {node.id: node.text if plan.fold else f"{node.text} {node.id}" for node in graph.nodes}
    nodes = [Statement(node.id, node.side, text[node.id]) for node in graph.nodes]
    oracle = Oracle(frozenset((text[p], text[h]) for p, h in graph.entails))
    return asyncio.run(ask(nodes, oracle, plan, known)), oracle.words


def result(found: Coverage) -> tuple[float | None, list[str], list[tuple[str, list[str]]]]:
    """The score, the covered statements, the components of the basis: what asking less must not change."""
    covered = sorted(node.id for one in found.covered for node in one.members)
    basis = sorted(
        (one.representative.id, sorted(node.id for node in one.members)) for one in found.basis
    )
    return found.score, covered, basis


def least(graph: StatementGraph) -> tuple[int, int]:
    """Premises and pairs that every algorithm must ask to be sure of the coverage, the score and the basis.

    Premises: with something uncovered, each answer and covered statement (does it entail what is uncovered?), and of
    two or more uncovered statements each (it entails another, or is entailed by none, or is shown not to entail a basis
    component). Pairs: no edge from the answer's and covered statements to the uncovered ones; an edge into each covered
    statement; between any two components one direction without an edge; each basis component without an edge from
    outside; an edge into every other uncovered component; as many edges within a component as it has members.
    """
    found = coverage(graph)
    answers = sum(node.side == ANSWER for node in graph.nodes)
    covered, uncovered = (
        sum(len(one.members) for one in its) for its in (found.covered, found.uncovered)
    )
    if not uncovered:
        outgoing = [sum(p == node.id for p, _ in graph.entails) for node in graph.nodes]
        return -(-covered // max([1, *outgoing])), covered
    pairs = (answers + covered) * uncovered
    pairs += sum(len(one.members) + (len(one.members) > 1) for one in found.covered)
    for one, other in combinations(found.covered, 2):
        sizes = [len(its.members) + len(its.answers) for its in (one, other)]
        pairs += sizes[0] * sizes[1] - len(one.answers) * len(other.answers)
    rest = [one for one in found.uncovered if not one.in_basis]
    for one in found.uncovered:
        size = len(one.members)
        pairs += size * (uncovered - size) if one.in_basis else 1
        pairs += size if size > 1 and (one.in_basis or covered) else 0
    if covered:
        pairs += sum(len(one.members) * len(other.members) for one, other in combinations(rest, 2))
    return answers + covered + (uncovered if uncovered > 1 else 0), pairs


@dataclass(slots=True)
class Line:
    """The sums of a table's line."""

    premises: int = 0
    batches: int = 0
    pairs: int = 0
    words: int = 0
    different: int = 0
    shares: list[float] = field(default_factory=list)

    def add(
        self, graph: StatementGraph, plan: Asking, known: dict[Pair, str] | None = None
    ) -> None:
        asked, words = replay(graph, plan, known)
        self.premises += asked.inquiries
        self.batches += asked.batches
        self.pairs += asked.decisions
        self.words += words
        self.different += result(coverage(asked.graph)) != result(coverage(graph))
        self.shares += [asked.inquiries / asked.pairs] if asked.pairs else []

    def show(self, name: str, paper: int) -> None:
        mean = f"{sum(self.shares) / len(self.shares):.3f}" if self.shares else ""
        print(
            f"  {name:34} {self.premises:7,} {self.premises / paper:.4f}  {self.batches:7,} {self.batches / paper:.4f}"
            f"  {self.pairs:8,} {self.pairs / paper:.3f}  {self.words:10,}  {mean:>6} {self.different:4}"
        )


def show_replay(name: str, graphs: list[StatementGraph]) -> None:
    paper = sum(pairs_of(graph.nodes) for graph in graphs)
    print(f"{name}: {len(graphs)} graphs, {paper:,} relations by the paper, as many calls")
    print(
        f"  {'':34} premises asked    batches          pairs decided   words       mean share, results that differ"
    )
    baseline = Line(sum(len(g.nodes) for g in graphs), sum(len(g.nodes) for g in graphs), paper)
    baseline.show("a premise a call", paper)
    for title, plan in PLANS.items():
        line = Line()
        for graph in graphs:
            line.add(graph, plan)
        line.show(title, paper)
    bounds = [least(graph) for graph in graphs]
    Line(sum(p for p, _ in bounds), 0, sum(n for _, n in bounds)).show(
        "least, equal texts apart", paper
    )


def show_speed() -> None:
    draw = random.Random(0)
    nodes = [Statement(f"a{i}", ANSWER, f"answer {i}") for i in range(200)]
    nodes += [Statement(f"c{i}", CONTEXT, f"context {i}") for i in range(2000)]
    names = [node.id for node in nodes]
    edges: set[Pair] = set()
    while len(edges) < 100_000:
        premise, hypothesis = draw.choice(names), draw.choice(names)
        if (
            premise < hypothesis and hypothesis[0] == "c"
        ):  # without cycles: as many components as can be
            edges.add((premise, hypothesis))
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.process_time()
    found = coverage(StatementGraph(tuple(nodes), frozenset(edges)))
    spent = time.process_time() - began
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(
        f"2,200 statements, 100,000 edges, {len(found.components):,} components: {spent:.2f} s of CPU,"
    )
    print(
        f"  {after / 1024:.0f} MB for the process, {(after - before) / 1024:.0f} MB more than before"
    )
    if STORED.exists():
        began = time.process_time()
        count = sum(coverage(graph).score is not None for graph in stored_graphs())
        print(
            f"600 stored graphs, read and scored ({count} have a score): {time.process_time() - began:.2f} s of CPU"
        )
    for size in (40, 160, 500):
        began = time.process_time()
        nodes = [
            Statement(f"n{i}", ANSWER if i < size // 4 else CONTEXT, f"n{i}") for i in range(size)
        ]
        chain = frozenset((f"n{i}", f"n{i + 7}") for i in range(size - 7))
        asked, _ = replay(StatementGraph(tuple(nodes), chain), Asking())
        print(
            f"ask, {size} statements, {asked.decisions:,} pairs: {time.process_time() - began:.2f} s of CPU"
        )


def show_pruning(graphs: list[StatementGraph]) -> None:
    from longmark.contrib.local.minilm import MiniLM

    model = MiniLM()

    def vectors(texts: set[str]) -> dict[str, tuple[float, ...]]:
        ordered = sorted(texts)
        return dict(zip(ordered, asyncio.run(model.embed(ordered)).vectors, strict=True))

    def cosine(one: Sequence[float], other: Sequence[float]) -> float:
        return sum(a * b for a, b in zip(one, other, strict=True))

    with CLIMATE.open() as file:
        records = [json.loads(line) for line in file]
    labelled = [
        (record["claim"], item["evidence"])
        for record in records
        for item in record["evidences"]
        if item["evidence_label"] == "SUPPORTS"
    ]
    shifted = [
        item["evidence"]
        for record in (*records[1:], records[0])
        for item in record["evidences"][:1]
    ]
    foreign = [(record["claim"], text) for record, text in zip(records, shifted, strict=True)]
    known = vectors({text for pair in (*labelled, *foreign) for text in pair})
    true, false = ([cosine(known[a], known[b]) for a, b in pairs] for pairs in (labelled, foreign))
    texts = vectors({node.text for graph in graphs for node in graph.nodes})
    paper = sum(pairs_of(graph.nodes) for graph in graphs)
    print(
        f"stored: threshold, then as above; Climate-FEVER: of {len(true):,} SUPPORTS and {len(false)} foreign pairs,"
    )
    print("  the share below the threshold")
    for threshold in (0.1, 0.2, 0.3, 0.4, 0.5):
        line = Line()
        for graph in graphs:
            line.add(graph, Asking(fold=False), dissimilar(graph.nodes, texts, threshold))
        line.show(f"{threshold:.1f}", paper)
        lost, left_out = (sum(one < threshold for one in its) / len(its) for its in (true, false))
        print(f"      entailments lost {lost:.3f}, foreign pairs left out {left_out:.3f}")


def show_judge(graphs: list[StatementGraph], count: int) -> None:
    from longmark.metrics.comprehensiveness.nli import ask_all
    from longmark.testing import open_models
    from longmark.text.entailment import checker_of

    async def relate_by(ways: dict[str, Any], graph: StatementGraph) -> dict[str, StatementGraph]:
        found = {}
        for name, way in ways.items():
            async with open_models(judge="embedded") as models:

                async def relate(inquiries: Sequence[Inquiry]) -> list[list[Relation]]:
                    checker = checker_of(models)
                    return [
                        await checker.relations(one.premise, one.hypotheses) for one in inquiries
                    ]

                began = time.monotonic()
                asked: Asked = await way(graph.nodes, relate)
                usage = models.usage_log.usage
                spent = time.monotonic() - began
            found[name] = asked.graph
            print(
                f"  {name:8} {usage.calls:4} calls {asked.decisions:5} pairs {usage.prompt_tokens:7,} prompt tokens",
                end="",
            )
            print(
                f" {usage.completion_tokens:6,} completion tokens {spent:6.1f} s  score {coverage(asked.graph).score}"
            )
        return found

    ways = {"all": lambda nodes, relate: ask_all(nodes, relate, strongest=False), "needed": ask}
    some = [graph for graph in graphs if {node.side for node in graph.nodes} == {ANSWER, CONTEXT}][
        :count
    ]
    for number, graph in enumerate(some, start=1):
        print(
            f"record {number}: {len(graph.nodes)} statements, score of the authors {coverage(graph).score:.3f}",
            flush=True,
        )
        full, needed = asyncio.run(relate_by(ways, graph)).values()
        shared = needed.entails & full.entails, needed.entails | full.entails
        same = result(coverage(full)) == result(coverage(needed))
        print(
            f"  same result: {same}; entailments found by both {len(shared[0])} of {len(shared[1])}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("parts", nargs="*", default=["replay", "speed"])
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--records", type=int, default=8)
    given = parser.parse_args()
    if "speed" in given.parts:
        show_speed()
    if "replay" in given.parts:
        if STORED.exists():
            show_replay("stored", stored_graphs())
        show_replay("generated", list(generated_graphs(seed=given.seed)))
    if "prune" in given.parts:
        show_pruning(stored_graphs())
    if "judge" in given.parts:
        show_judge(stored_graphs(), given.records)


if __name__ == "__main__":
    main()
