"""Comprehensiveness in one call: the judge lists what the answer covers and what it leaves out (Comprehensiveness, 3.3)

    score = covered statements / (covered + uncovered statements)

The judge reads the question, all passages and the answer. It makes two lists of the statements of the passages that
matter for the question: those that the answer contains, and those that it does not, each with the numbers of its
passages. Statements that differ only in case and spacing count once. A statement in both lists is covered.

Unscored: the lists cannot be read (`unparsable`). Cost: 1 call.

Parameters: unparsable: `zero` gives unreadable lists the score 0, as the authors do (137 of 1,200 of one of their
models, whose match rate is .756 with these zeros and .824 without these answers).
Deviations: the lists are JSON; in the paper they are two lists under headings. The basis is the list of uncovered
statements, because the judge gives no relations among them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

from longmark.errors import NoScore
from longmark.judge import Reader, ReplyForm, Unreadable, ask, numbered_apart, structure
from longmark.metric import Metric, Score, Silence, paper
from longmark.metrics.comprehensiveness._sources import (
    NEEDS,
    SUMMARY,
    Empty,
    Refusal,
    Source,
    first_judge,
    result,
    sources_of,
    summarized,
    without_refusal,
)
from longmark.models.handles import Models
from longmark.prompts import prompt
from longmark.records import Example
from longmark.text.claims import each_once
from longmark.text.graph import ANSWER, CONTEXT, Statement, StatementGraph

_MOST_TOKENS = 4096  # of a reply

COVERAGE = prompt("""comprehensiveness.end_to_end(context, answer, question)
Find out what the answer covers of the numbered texts in the context, and what it leaves out.
1. Go through the texts, and think in a few sentences about which of their statements matter for an answer to the \
question, and which of those the answer states.
2. List the statements that matter and that the answer states, in any words: covered.
3. List the statements that matter and that the answer does not state: uncovered.
A statement is one fact or claim of the texts, written as a full sentence that is understood without the rest; divide \
what joins several. Where texts contradict each other, each side is a statement of its own: an answer that gives one \
side does not cover the other. Leave out what has nothing to do with the question, and what only the answer says. With \
each statement give the numbers of the texts that state it. Write in the language of the texts.
Reply with a JSON object and nothing else: {"reasoning": "...", "covered": [{"statement": "...", "texts": [1]}], \
"uncovered": [{"statement": "...", "texts": [1, 2]}]}; a list without statements is [].""")


@dataclass(frozen=True)
class EndToEndParams:
    summarize: bool = paper(False, True)
    empty: Empty = paper("undefined", "zero")
    refusal: Refusal = "zero"
    unparsable: Literal["unparsable", "zero"] = paper("unparsable", "zero")


class _Listed(ReplyForm):
    statement: str
    texts: list[int]


class _Lists(ReplyForm):
    reasoning: str
    covered: list[_Listed]
    uncovered: list[_Listed]


async def score(example: Example, models: Models, params: EndToEndParams) -> Score:
    """Covered statements / statements."""
    example, refused = without_refusal(example, params.refusal)
    question = example.asked
    sources = sources_of(example)
    if params.summarize:
        sources = await summarized(models, question, sources)
    if not sources:
        return result(StatementGraph(()), params.empty, refused)
    inputs = {
        "context": numbered_apart(source.text for source in sources),
        "answer": (example.answer or "").strip() or "(no answer)",
        "question": question,
    }
    try:
        verdict = await ask(models, first_judge(models), COVERAGE, inputs, _reader(len(sources)))
    except NoScore as unscored:
        if unscored.status == "unparsable" and params.unparsable == "zero":
            return Score(
                0.0,
                {
                    **unscored.evidence,
                    "rule": "the lists cannot be read: scored 0 by unparsable=zero",
                },
            )
        raise
    lists = verdict.value
    further_evidence = {**refused, "judge": verdict.model, "reasoning": lists.reasoning}
    return result(
        graph_of(lists.covered, lists.uncovered, sources, example.answer or ""),
        params.empty,
        further_evidence,
    )


def graph_of(
    covered: list[_Listed], uncovered: list[_Listed], sources: list[Source], answer: str
) -> StatementGraph:
    """The lists as a graph: the answer is one node, and it entails the covered statements."""
    texts: dict[str, set[int]] = {}
    first = {**each_once(listed.statement for listed in covered)}
    among_covered = set(first) if answer.strip() else set()
    first |= {
        key: text
        for key, text in each_once(listed.statement for listed in uncovered).items()
        if key not in first
    }
    for listed in (*covered, *uncovered):
        for key in each_once([listed.statement]):
            texts.setdefault(key, set()).update(listed.texts)
    nodes = [
        Statement(f"c{n}", CONTEXT, text, tuple(sources[i - 1].id for i in sorted(texts[key])))
        for n, (key, text) in enumerate(first.items(), 1)
    ]
    edges = frozenset(("a1", f"c{n}") for n, key in enumerate(first, 1) if key in among_covered)
    return StatementGraph((Statement("a1", ANSWER, answer.strip()), *nodes), edges)


def _reader(count: int) -> Reader[Any]:
    """Reads the lists. Unreadable if a statement has the number of no text."""

    def with_known_texts(lists: _Lists) -> _Lists:
        for listed in (*lists.covered, *lists.uncovered):
            for number in listed.texts:
                if not 1 <= number <= count:
                    raise Unreadable(
                        f"no passage has the number {number}; the numbers are 1 to {count}"
                    )
        return lists

    return structure(_Lists, _MOST_TOKENS).then(with_known_texts)


METRIC = Metric(
    score,
    needs=NEEDS,
    bounds=(0, 1),
    models=("judge",),
    prompts=(COVERAGE, SUMMARY),
    params=EndToEndParams,
    version=3,
    calls=lambda example, params, _judges: 1 + (len(example.contexts) if params.summarize else 0),
    silence=Silence(0, 0),
    view="graph",
)
