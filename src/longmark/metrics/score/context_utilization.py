"""Context utilization: how much the confidence in an answer depends on each fact of its passages (SCORE, section 3.4).

    f(q, C)   = exp(mean over the answer's tokens of log p(token | q, C, the tokens before it))
    delta_i   = f(q, C) - f(q, C without fact i)
    absolute  = mean of delta_i                 higher: the answer depends more on its passages
    relative  = mean of delta_i / f(q, C)       likewise

f is equation 4; appendix B.2 discusses proxy models. C is the set of facts that the first judge finds in the passages.
The proxy (`--lm`) gets the question and the facts; the score uses its probabilities of the given answer.
The evidence has each fact with its delta and the numbers of the passages that it can come from (a single number is
certain), the most needed fact (greatest delta above 0) and the most distracting one (least delta below 0); from a proxy
that gives it (`hf:`, not llama.cpp or vLLM) also the mean entropy over the answer's positions (nats, lower is more
confident).
Unscored (`undefined`): an empty answer, passages without a fact, more than `max_claims` facts.
Cost: the calls that find the facts, and n + 1 likelihoods for n facts, each cached separately. Their order lets the
proxy evaluate common beginnings once (design/leave-one-out.md).

Parameters: chat: use the proxy's chat template (false: plain text, for a model without one). documents:
the evidence also has the confidence given the complete passages, f(q, D) (1 more likelihood). f varies with the
proxy's backend, and from run to run with the embedded judge (docs/models.md).
Deviations: the prompts are ours.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from string import Template
from typing import Any

from longmark.errors import NoScore, Unsupported
from longmark.metric import Metric, Score, ScoreSpec, Silence
from longmark.models.handles import Models
from longmark.models.leave_one_out import order
from longmark.models.protocols import LikelihoodReply, LikelihoodRequest
from longmark.prompts import prompt
from longmark.records import Example
from longmark.records import evidence as recorded
from longmark.text.claims import FACTS, PassageFact, fact_calls, facts
from longmark.text.sentences import sentences

# The facts come last, a line each, so that two sets begin with the same tokens up to their first difference.
PROXY = prompt("""score.context_utilization.proxy()
Answer the question with the help of what is known.
Question: $question
What is known:
$facts""")
_ANSWER_LINE = "Answer:"  # before the answer, without a chat template


@dataclass(frozen=True, slots=True)
class ContextUtilizationParams:
    chat: bool = True
    max_claims: int = 100
    documents: bool = False

    def __post_init__(self) -> None:
        if self.max_claims < 1:
            raise ValueError("max_claims is at least 1")


# Arithmetic --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Confidence:
    """f: equation 4, the geometric mean of the tokens' probabilities. entropy: the mean of their positions' entropies
    in nats, None if the proxy does not give them."""

    f: float
    entropy: float | None


@dataclass(frozen=True, slots=True)
class Utilization:
    """deltas: one for each fact. relative: None if f(q, C) is 0."""

    deltas: tuple[float, ...]
    absolute: float
    relative: float | None


def confidence(reply: LikelihoodReply) -> Confidence:
    """The confidence in an answer from the log-probabilities (and entropies) of its tokens."""
    count = len(reply.logprobs)
    entropy = math.fsum(reply.entropies) / count if len(reply.entropies) == count else None
    return Confidence(math.exp(math.fsum(reply.logprobs) / count), entropy)


def utilization(complete: float, without: Sequence[float]) -> Utilization:
    """complete: f(q, C). without: f(q, C without fact i) for each fact."""
    deltas = tuple(complete - f for f in without)
    absolute = math.fsum(deltas) / len(deltas)
    relative = (
        math.fsum(delta / complete for delta in deltas) / len(deltas) if complete > 0 else None
    )
    return Utilization(deltas, absolute, relative)


# Calls and evidence ------------------------------------------------------------------------------------------------


async def score(
    example: Example, models: Models, params: ContextUtilizationParams
) -> dict[str, Score | NoScore]:
    answer = (example.answer or "").strip()
    if not answer:
        raise NoScore("undefined", "The answer is empty.")
    passages = [context.text for context in example.contexts]
    found_facts = await facts(models, passages)
    if not found_facts:
        raise NoScore("undefined", "No facts were found in the passages.")
    if len(found_facts) > params.max_claims:
        reason = (
            f"The passages contain {len(found_facts):,} facts; at most {params.max_claims:,} are left out one by one "
            "(score.context_utilization@max_claims=N)."
        )
        raise NoScore("undefined", reason, {"claims": len(found_facts)})
    left_out = order(len(found_facts))
    sets = [[fact.text for i, fact in enumerate(found_facts) if i != left] for left in left_out]
    if params.documents:
        sets.append([" ".join(passage.split()) for passage in passages])
    complete, *others_confidences = await confidences(
        models, example.question or "", sets, answer, chat=params.chat
    )
    by_fact = dict(zip(left_out[1:], others_confidences, strict=False))
    without = [by_fact[i] for i in range(len(found_facts))]
    result = utilization(complete.f, [left.f for left in without])
    evidence = _evidence(
        found_facts, complete, without, result, others_confidences[-1] if params.documents else None
    )
    absolute = Score(result.absolute, evidence)
    if result.relative is None:
        why = "The confidence in the answer is 0, so there is no relative score."
        return {"absolute": absolute, "relative": NoScore("undefined", why, evidence)}
    return {"absolute": absolute, "relative": Score(result.relative, evidence)}


async def confidences(
    models: Models, question: str, sets: Sequence[Sequence[str]], answer: str, *, chat: bool = True
) -> list[Confidence]:
    """The proxy's confidence in an answer, given the question and each set of facts.

    Raises NoScore (`unsupported`: the proxy gives no likelihoods, or other tokens each time) and ModelError.
    """
    template = Template(models.prompts.get(PROXY).text)
    prompts = [
        template.substitute(question=question, facts="".join(f"- {fact}\n" for fact in fact_set))
        for fact_set in sets
    ]
    if chat:
        requests = [LikelihoodRequest(prompt, answer, chat=True) for prompt in prompts]
    else:
        requests = [LikelihoodRequest(prompt + _ANSWER_LINE, f" {answer}") for prompt in prompts]
    try:
        replies = await models.likelihoods(requests)
    except Unsupported as error:
        raise NoScore("unsupported", str(error)) from None
    if not replies[0].logprobs:
        raise NoScore("undefined", "The answer has no token for the proxy model.")
    if len({reply.pieces for reply in replies}) > 1:
        raise NoScore(
            "unsupported",
            "The proxy model tokenized the answer differently for different sets of facts.",
        )
    return [confidence(reply) for reply in replies]


def _evidence(
    found_facts: Sequence[PassageFact],
    complete: Confidence,
    without: Sequence[Confidence],
    result: Utilization,
    passages: Confidence | None,
) -> dict[str, Any]:
    """passages: the confidence given the passages, where it was asked for."""
    deltas = result.deltas
    needed = max(range(len(found_facts)), key=deltas.__getitem__)
    distracting = min(range(len(found_facts)), key=deltas.__getitem__)
    claims = [
        recorded.Fact(
            claim=fact.text,
            passages=list(fact.passages),
            delta=delta,
            relative=delta / complete.f if complete.f else None,
            confidence_without=left.f,
            entropy_without=left.entropy,
        )
        for fact, delta, left in zip(found_facts, deltas, without, strict=True)
    ]
    of_passages = passages and recorded.ProxyConfidence(
        confidence=passages.f, entropy=passages.entropy
    )
    return recorded.Facts(
        confidence=complete.f,
        entropy=complete.entropy,
        most_needed=found_facts[needed].text if deltas[needed] > 0 else None,
        most_distracting=found_facts[distracting].text if deltas[distracting] < 0 else None,
        claims=claims,
        **({"given_the_passages": of_passages} if of_passages else {}),
    ).evidence()


def _calls(example: Example, params: ContextUtilizationParams, _judges: int) -> int:
    """The facts are not known before the first call; there are about as many as sentences of the passages."""
    if not (example.answer or "").strip():
        return 0
    passages = [context.text for context in example.contexts]
    count = min(params.max_claims, sum(len(sentences(passage)) for passage in passages))
    return fact_calls(passages) + count + 1 + params.documents


METRIC = Metric(
    score,
    needs=("question", "answer", "contexts"),
    scores={
        "absolute": ScoreSpec(bounds=(-1, 1), higher_is_better=True),
        "relative": ScoreSpec(bounds=(None, 1), higher_is_better=True),
    },
    models=("judge", "lm"),
    prompts=(FACTS, PROXY),
    params=ContextUtilizationParams,
    calls=_calls,
    silence=Silence(empty="undefined"),
    view="facts",
)
