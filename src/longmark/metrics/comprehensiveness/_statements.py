"""The statements of an answer and of its passages, as nodes of a graph, which metrics of one graph list alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

from longmark.concurrency import concurrently
from longmark.metrics.comprehensiveness._sources import Source, sources_of, summarized
from longmark.models.handles import Models
from longmark.records import Example
from longmark.text.context import sent_with
from longmark.text.entailment import checker_of
from longmark.text.graph import ANSWER, CONTEXT
from longmark.text.graph import Statement as Node
from longmark.text.relevance import LOW, relevance
from longmark.text.statements import ATOMS, TextStatement, once, statements

Extraction = Literal["shared", "typed"]


@dataclass(frozen=True, slots=True)
class Listing:
    """How statements are listed. relevance: the least of a statement of the passages, from 1 to 5; extraction: the list
    that other metrics share, or that of the paper; summarize: whether passages are shortened first."""

    relevance: float
    extraction: Extraction = "shared"
    summarize: bool = False

    @property
    def keeps_all(self) -> bool:
        """Whether no statement can be below the threshold, so that no relevance is asked for."""
        return self.relevance <= LOW


async def answer_nodes(
    example: Example, models: Models, listing: Listing
) -> tuple[list[Node], list[Any]]:
    """The statements of the answer; none is left out."""
    if example.claims is not None:
        listed = once(TextStatement(claim) for claim in example.claims)
    else:
        listed = await statements(models, example.answer or "", "answer", listing.extraction)
    return [
        Node(f"a{n}", ANSWER, statement.text) for n, statement in enumerate(_atoms(listed), 1)
    ], []


async def context_nodes(
    example: Example, models: Models, listing: Listing
) -> tuple[list[Node], list[Any]]:
    """The relevant statements of the passages, and those that are left out, each with its relevance."""
    sources = sources_of(example)
    question = example.asked
    by_source: list[tuple[Source, list[TextStatement]]]
    if example.context_claims is not None:
        by_source = [
            (source, once(TextStatement(claim) for claim in claims))
            for source, claims in zip(sources, example.context_claims, strict=True)
        ]
    else:
        if listing.summarize:
            sources = await summarized(models, question, sources)
        listed = await concurrently(
            lambda source: statements(models, source.text, "context", listing.extraction), sources
        )
        by_source = list(zip(sources, listed, strict=True))
    by_source = [(source, _atoms(all_of_it)) for source, all_of_it in by_source]
    if listing.keeps_all:
        sourced = [(source, atom) for source, atoms in by_source for atom in atoms]
        return [
            Node(f"c{n}", CONTEXT, atom.text, (source.id,))
            for n, (source, atom) in enumerate(sourced, 1)
        ], []
    # each text once, so that a statement of two passages has one relevance
    texts = list(dict.fromkeys(atom.text for _, atoms in by_source for atom in atoms))
    grades = dict(zip(texts, await relevance(models, question, texts), strict=True))
    nodes: list[Node] = []
    left_out: list[Any] = []
    for source, atoms in by_source:
        for statement in atoms:
            grade = grades[statement.text]
            if grade.score >= listing.relevance:
                nodes.append(Node(f"c{len(nodes) + 1}", CONTEXT, statement.text, (source.id,)))
            else:
                left_out.append(
                    {"text": statement.text, "source": source.id, "relevance": grade.score}
                )
    return nodes, left_out


def _atoms(listed: Sequence[TextStatement]) -> list[TextStatement]:
    """The facts and claims; a carried statement has no type and stays."""
    return [statement for statement in listed if statement.kind is None or statement.kind in ATOMS]


def sent_texts(example: Example, nodes: Sequence[Node], models: Models) -> dict[str, str]:
    """What a checker that asks for context gets in place of a statement that it decides on, of those that point back.
    As a premise a statement stays as it is."""
    checker = checker_of(models)
    listed = [node.text for node in nodes if node.side == ANSWER]
    sent: dict[str, str] = {}
    for source in sources_of(example):
        theirs = [node.text for node in nodes if node.side == CONTEXT and source.id in node.sources]
        sent |= sent_with(checker, theirs, source.text, example.asked)
    return sent | dict(sent_with(checker, listed, example.answer or "", example.asked))
