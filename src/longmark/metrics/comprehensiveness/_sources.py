"""What the three metrics share: the passages they read, and the score of a graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from longmark.concurrency import concurrently
from longmark.errors import NoScore
from longmark.judge import ask, text
from longmark.metric import Score
from longmark.models.handles import ChatHandle, Models
from longmark.prompts import prompt
from longmark.records import Example
from longmark.text.graph import StatementGraph, coverage, from_evidence, to_evidence
from longmark.text.pieces import utf8_size
from longmark.text.refusal import is_refusal

Empty = Literal["undefined", "zero"]
"""The score of a graph without statements of the passages: none, or 0 as in the authors' code."""

Refusal = Literal["zero", "undefined"]
"""What a refusal gets: it covers nothing, as by the formula, or no score."""

NEEDS = ("question", "answer", "contexts")
"""The fields of an example that the metrics read."""

_MOST_TOKENS = 2048  # of a summary

SUMMARY = prompt("""comprehensiveness.summary(context, question)
Shorten the context to what has to do with the question, for a reader who will not see the context. Keep every fact, \
reason and view that supports an answer or speaks against one, also where the context disagrees with itself or with \
what you know. Keep names, places, times and figures as they are written. Leave out headings, markup and all that has \
nothing to do with the question. Do not answer the question, add nothing and correct nothing. If you are not sure that \
a part is irrelevant, keep it. Write in the language of the context.
Reply with the shortened text and nothing else. If nothing in the context has to do with the question, reply with the \
one word None.""")


@dataclass(frozen=True, slots=True)
class Source:
    """A passage. id: the document's own id, else its number from 1; of equal ids, the later ones get a suffix."""

    id: str
    text: str


def sources_of(example: Example) -> list[Source]:
    """The passages of an example in their order."""
    sources: list[Source] = []
    taken: set[str] = set()
    for number, context in enumerate(example.contexts, 1):
        name = wanted_name = context.id or str(number)
        suffix = 2
        while name in taken:
            name = f"{wanted_name} ({suffix})"
            suffix = suffix + 1
        taken.add(name)
        sources.append(Source(name, context.text))
    return sources


async def summarized(models: Models, question: str, sources: Sequence[Source]) -> list[Source]:
    """The passages, each shortened by the first judge to what concerns the question, in one call; those that have
    nothing to do with it (the judge replies None) are left out.

    Raises NoScore (`unparsable`, `refused`; `missing_input` without a judge) and ModelError.
    """

    async def of_one(source: Source) -> Source:
        reader = text(min(_MOST_TOKENS, 256 + utf8_size(source.text)))
        inputs = {"context": source.text, "question": question}
        return replace(
            source, text=(await ask(models, first_judge(models), SUMMARY, inputs, reader)).value
        )

    summaries = await concurrently(of_one, sources)
    return [source for source in summaries if source.text.strip("\"'*`. ").casefold() != "none"]


def first_judge(models: Models) -> ChatHandle:
    """The first judge; NoScore (`missing_input`) without one."""
    if not models.judges:
        raise NoScore("missing_input", "There is no judge to read the texts: add --judge.")
    return models.judges[0]


def result(
    graph: StatementGraph,
    empty: Empty,
    further_evidence: Mapping[str, Any] | None = None,
    *,
    carried: bool = False,
) -> Score:
    """The score of a graph, with the graph as evidence.

    NoScore (`undefined`) if it has no statement of the passages, unless `empty` is `zero`. more: other evidence.
    carried: the example has brought the graph, so nothing was judged irrelevant.
    """
    graph_coverage = coverage(graph)
    evidence = {**to_evidence(graph, graph_coverage), **(further_evidence or {})}
    value = graph_coverage.score
    if value is None and empty == "zero":
        return Score(
            0.0,
            {**evidence, "rule": "no statement of the passages is left: scored 0 by empty=zero"},
        )
    if value is None:
        reason = "No statement of the passages is relevant to the question, so there is nothing to cover."
        if carried:
            reason = "The graph that the example carries has no statement of the passages (side: context)."
        raise NoScore("undefined", reason, evidence)
    return Score(value, evidence)


def carried_graph(example: Example) -> StatementGraph | None:
    """The graph that the example carries: the evidence of a row, or node-link JSON (`export --graphs`), whose edges
    have `source`, `target`, `entails` (the default) and `contradicts`. NoScore (`missing_input`) if it is neither."""
    if example.graph is None:
        return None
    try:
        return from_evidence(_as_evidence(example.graph))
    except ValueError as error:
        raise NoScore(
            "missing_input", f"The graph that the example carries cannot be read: {error}"
        ) from None


def _as_evidence(graph: Mapping[str, Any]) -> dict[str, Any]:
    links = graph.get("edges", graph.get("links"))
    listed = graph.get("contradictions", [])
    if not isinstance(links, list) or not any(isinstance(link, dict) for link in links):
        return {**graph, "edges": links, "contradictions": listed}
    if not all(isinstance(link, dict) for link in links):
        raise ValueError("edges: expected objects or pairs of ids, found both")
    ends = [([link.get("source"), link.get("target")], link) for link in links]
    entailed = [pair for pair, link in ends if link.get("entails", not link.get("contradicts"))]
    contradicting = [pair for pair, link in ends if link.get("contradicts")]
    return {
        **graph,
        "edges": entailed,
        "contradictions": contradicting + listed if isinstance(listed, list) else listed,
    }


def without_refusal(example: Example, refusal: Refusal) -> tuple[Example, dict[str, Any]]:
    """An example whose answer is empty if it only says that the texts have nothing relevant (listing 21), and what the
    evidence says of that. NoScore (`undefined`) for such an answer if `refusal` is `undefined`."""
    if not is_refusal(example.answer or ""):
        return example, {}
    if refusal == "undefined":
        raise NoScore(
            "undefined",
            "The answer is a refusal: it only says that it has no relevant information.",
        )
    silent = example.model_copy(
        update={"answer": "", "claims": None if example.claims is None else ()}
    )
    return silent, {
        "refusal": "the answer only says that it has no relevant information: it covers nothing"
    }
