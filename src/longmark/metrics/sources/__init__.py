"""Sources against each other: what the sources that an answer cites say and it omits, and conflicts that it hides.

    omitted           components of statements that the answer does not cover / components
    hidden_conflicts  conflicts between the sources of which the answer states one side only

The statements of the answer and of the sources, their relevance to the question, and the graph are those of
`comprehensiveness.nli@plan=each`, of the sources that the answer names; where it names all passages, omitted is 1 minus
that score.
A conflict is a group of statements of different sources that contradictions join. The answer states a side if it covers
it. It hides the conflict if it states a side, states both sides of no contradiction, and does not entail that a source
says the other one. One of which it states no side is omitted, not hidden.

An answer that says little hides little: read both scores together. Evidence: the graph, with what is covered and
omitted, and every conflict with its sources and what the answer says of it.
Unscored (`undefined`): an answer that names no source; omitted without a relevant statement; hidden_conflicts of an
answer without a statement or with one source. Unscored (`missing_input`): a source that the answer names, whose text
the example does not have. Unscored (`unsupported`): hidden_conflicts by `overlap`, `embedded` or a model
of two classes, which find no contradictions.
Cost: that of `comprehensiveness.nli` for these sources (about a tenth of all pairs: design/graph.md),
and for hidden_conflicts 1 call for each statement with each 25 later ones of other sources, and 1 for 25 sides that
the answer leaves out.

Parameters: read: `cited`: the sources that the answer names; `all`: all that the example has. relevance: as for
`comprehensiveness.nli`. missing: `left_out` reads the cited sources whose texts are there. parentheses: whether (1) is a
marker. Numbers that name no source are left out (`citations.resolvable` counts them).
Deviations: the scores are ours; the graph is that of Comprehensiveness, section 3.1.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any, Literal

from longmark.concurrency import concurrently
from longmark.errors import ModelError, NoScore, OverBudget
from longmark.metric import Metric, Score, ScoreSpec, Silence, Why
from longmark.metrics.citations import CitationsParams, read_answer
from longmark.metrics.citations._sources import CitableSource, sources_of
from longmark.metrics.comprehensiveness._asking import Asked, ask
from longmark.metrics.comprehensiveness._sources import without_refusal
from longmark.metrics.comprehensiveness._statements import (
    Listing,
    answer_nodes,
    context_nodes,
    sent_texts,
)
from longmark.metrics.comprehensiveness.nli import METRIC as NLI
from longmark.metrics.comprehensiveness.nli import PLANS, NliParams, counts
from longmark.metrics.sources._conflicts import (
    HIDDEN,
    AskedRelations,
    conflict_entries,
    conflicts_of,
)
from longmark.models.handles import Models
from longmark.records import Context, Example
from longmark.text.claims import CLAIMS, FACTS
from longmark.text.entailment import BATCH, RELATIONS, Checker, checker_of, finds_contradictions
from longmark.text.graph import ANSWER, Coverage, coverage, to_evidence
from longmark.text.relevance import RELEVANCE
from longmark.text.statements import REVISION

OMITTED = "omitted"
CONFLICTS = "hidden_conflicts"
_NAMES_SHOWN = 3  # in a reason
_FEWEST = 2  # sources that can be in conflict


@dataclass(frozen=True)
class SourcesParams:
    read: Literal["cited", "all"] = "cited"
    relevance: float = 3.5  # T_rel, as comprehensiveness.nli
    missing: Literal["unscored", "left_out"] = "unscored"
    parentheses: bool = False

    def __post_init__(self) -> None:
        NliParams(relevance=self.relevance)  # raises ValueError for a threshold off the scale

    @property
    def graph(self) -> NliParams:
        """The parameters of the metric whose graph this is."""
        return NliParams(relevance=self.relevance, plan="each")


# Sources -----------------------------------------------------------------------------------------------------------


def with_sources_read(example: Example, params: SourcesParams) -> Example:
    """The example with the sources that count as its passages, each with its id or its number; NoScore without one."""
    sources = sources_of(example)
    if params.read == "all":
        places = list(range(len(sources)))
        lacking = [
            source.id or str(place) for place, source in enumerate(sources, 1) if not source.text
        ]
    else:
        citations = read_answer(example, CitationsParams(parentheses=params.parentheses)).citations
        if not citations:
            raise NoScore(
                "undefined",
                "The answer names no source: sources@read=all reads all that the example has.",
            )
        places = sorted({place for citation in citations for place in citation.places})
        lacking = [
            citation.label for citation in citations if citation.status in ("no text", "unknown")
        ]
    if lacking and params.missing == "unscored":
        names = list(dict.fromkeys(lacking))
        ellipsis = ", …" if len(names) > _NAMES_SHOWN else ""
        raise NoScore(
            "missing_input",
            f"The example does not have the text of {', '.join(names[:_NAMES_SHOWN])}{ellipsis}: add it to contexts, with "
            "its id or address as id, or leave it out (sources@missing=left_out).",
        )
    places = [place for place in places if (sources[place].text or "").strip()]
    if not places:
        raise NoScore("undefined", "No source that the answer names has a text.")
    return example.model_copy(
        update={
            "contexts": tuple(
                Context(id=sources[place].id or str(place + 1), text=sources[place].text or "")
                for place in places
            ),
            "context_claims": _claims_of(example, [sources[place] for place in places]),
            "graph": None,
        }
    )


def _claims_of(
    example: Example, sources: list[CitableSource]
) -> tuple[tuple[str, ...], ...] | None:
    """The claims of these sources that the example carries with its passages; None where one is no single passage."""
    if example.context_claims is None or any(len(source.numbers) != 1 for source in sources):
        return None
    return tuple(example.context_claims[source.numbers[0] - 1] for source in sources)


# Scores ------------------------------------------------------------------------------------------------------------


async def score(
    example: Example, models: Models, params: SourcesParams, parts: Collection[str]
) -> dict[str, Score | NoScore]:
    """The scores of these parts of the name, of one graph."""
    example = with_sources_read(example, params)
    if OMITTED not in parts:
        if len(example.contexts) < _FEWEST:
            return {CONFLICTS: _one_source()}
        if (blind := await _blind(checker_of(models))) is not None:
            return {CONFLICTS: blind}
    example, refused = without_refusal(example, "zero")
    listing = Listing(params.relevance)
    steps = (answer_nodes, context_nodes)
    (answer_side, _), (context_side, irrelevant) = await concurrently(
        lambda step: step(example, models, listing), steps
    )
    nodes = [*answer_side, *context_side]
    relations = AskedRelations(checker_of(models), sent_texts(example, nodes, models))
    graph_result = await ask(nodes, relations.relate, PLANS["each"])
    graph_coverage = coverage(graph_result.graph)
    evidence = {
        **to_evidence(graph_result.graph, graph_coverage),
        **refused,
        "checker": relations.checker.name,
        "irrelevant": irrelevant,
    }
    results: dict[str, Score | NoScore] = {}
    if OMITTED in parts:
        results[OMITTED] = _omitted(graph_coverage, {**evidence, "calls": _counts_of(graph_result)})
    if CONFLICTS in parts:
        results[CONFLICTS] = await _hidden(example, graph_coverage, relations, evidence)
    return results


def _counts_of(graph_result: Asked) -> dict[str, int]:
    return {"premises": graph_result.inquiries, "pairs": graph_result.decisions}


def _omitted(graph_coverage: Coverage, evidence: dict[str, Any]) -> Score | NoScore:
    if graph_coverage.score is None:
        return NoScore(
            "undefined",
            "No statement of the sources is relevant to the question, so there is nothing to omit.",
            evidence,
        )
    return Score(len(graph_coverage.uncovered) / len(graph_coverage.components), evidence)


async def _hidden(
    example: Example, graph_coverage: Coverage, relations: AskedRelations, evidence: dict[str, Any]
) -> Score | NoScore:
    if len(example.contexts) < _FEWEST:
        return _one_source()
    if (blind := await _blind(relations.checker)) is not None:
        return NoScore(blind.status, blind.reason, evidence)
    if not any(node["side"] == ANSWER for node in evidence["nodes"]):
        return NoScore("undefined", "The answer states nothing, so it hides no conflict.", evidence)
    try:
        conflicts = await conflicts_of(graph_coverage, relations, example.answer or "")
    except NoScore as unscored:
        return NoScore(unscored.status, unscored.reason, {**evidence, **unscored.evidence})
    except (ModelError, OverBudget) as error:
        return NoScore(error.status, str(error), evidence)
    hidden = [conflict for conflict in conflicts if conflict.answer == HIDDEN]
    return Score(
        len(hidden),
        {
            **evidence,
            "conflicts": conflict_entries(conflicts),
            "hidden": conflict_entries(hidden),
        },
    )


async def _blind(checker: Checker) -> NoScore | None:
    """Why a checker has no score of conflicts; None for one that can find them."""
    # in a thread: a model of this machine may have to read the names of its classes
    if await asyncio.to_thread(finds_contradictions, checker):
        return None
    return NoScore(
        "unsupported",
        f"{checker.name} says whether a statement is supported, and never that it is contradicted, so it finds no "
        "conflict: name a judge, or a model with a class for contradictions (--checker st:NAME).",
    )


def _one_source() -> NoScore:
    return NoScore("undefined", "There is one source only, so that none disagrees with it.")


# Declaration -------------------------------------------------------------------------------------------------------


def _read_or_none(example: Example, params: SourcesParams) -> Example | None:
    """The example that is asked about; None where nobody is asked."""
    try:
        return with_sources_read(example, params)
    except NoScore:
        return None


def _conflict_calls(example: Example, parts: Collection[str]) -> int:
    """The most calls for pairs of sources' statements, and for sides that the answer leaves out."""
    if CONFLICTS not in parts or len(example.contexts) < _FEWEST:
        return 0
    _, theirs = counts(example)
    batches = math.ceil(theirs / BATCH)
    return theirs * batches + batches


def _calls(
    example: Example,
    params: SourcesParams,
    judges: int,
    parts: Collection[str] = (OMITTED, CONFLICTS),
) -> int:
    to_read = _read_or_none(example, params)
    if to_read is None:
        return 0
    return NLI.calls(to_read, params.graph, judges) + _conflict_calls(to_read, parts)


def _checks(
    example: Example, params: SourcesParams, parts: Collection[str] = (OMITTED, CONFLICTS)
) -> int:
    to_read = _read_or_none(example, params)
    if to_read is None:
        return 0
    return NLI.checks(to_read, params.graph) + _conflict_calls(to_read, parts)


def _relations(
    example: Example, params: SourcesParams, parts: Collection[str] = (OMITTED, CONFLICTS)
) -> int:
    to_read = _read_or_none(example, params)
    if to_read is None:
        return 0
    _, theirs = counts(to_read)
    pairs: int = NLI.relations(to_read, params.graph)
    return pairs + (theirs * (theirs + 1) // 2 if CONFLICTS in parts else 0)


def _carries(example: Example, params: SourcesParams, _part: str) -> Collection[str]:
    """The sources of the example take the place of its passages; nothing is asked about the question where every
    statement is kept."""
    sources = {"contexts"} if example.sources else set()
    return sources | ({"question"} if params.graph.keeps_all else set())


METRIC = Metric(
    score,
    needs=("question", "answer", "contexts"),
    carries=_carries,
    scores={
        OMITTED: ScoreSpec(
            (0, 1),
            False,
            "The share of what the sources say on the question that the answer leaves out.",
        ),
        CONFLICTS: ScoreSpec(
            (0, None),
            False,
            "The number of conflicts between sources of which the answer states one side only.",
            Why("The other side of a conflict", "hidden"),
        ),
    },
    by_part=True,
    models=("judge", "checker"),
    optional=("judge", "checker"),
    prompts=(CLAIMS, FACTS, REVISION, RELEVANCE, RELATIONS),
    params=SourcesParams,
    calls=_calls,
    rounds=5,
    checks=_checks,
    relations=_relations,
    view="graph",
    version=5,
    silence=Silence("undefined", "undefined", "undefined"),
)
