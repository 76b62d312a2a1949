"""Perplexity: how unlikely the words of an answer are under a language model.

    perplexity = exp( - mean over its tokens of log p(token | tokens before it) )

It measures how common the wording is, not whether it is right. The evidence has the number of tokens and the mean
log-probability. The language model is the run's `--lm`; for the figures of papers, `--lm hf:gpt2`. Cost: one likelihood
call.
Unscored: an empty answer (`undefined`); an answer beyond the model's window (`too_long`): it is never cut.
Parameters: given: what stands before the answer: `nothing` (a line break, so that the first token has a probability
under every model), or the `question`.
Deviations: CALF uses GPT-2 and does not give its prompt; here the model is a parameter of the run.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from longmark.errors import NoScore
from longmark.metric import Metric, Score, Silence
from longmark.metrics.classic._likelihood import mean
from longmark.models.handles import Models
from longmark.models.protocols import LikelihoodRequest
from longmark.records import Example

_LEAST = -700.0  # exp(700) is near the largest number of a computer


@dataclass(frozen=True)
class PerplexityParams:
    given: Literal["nothing", "question"] = "nothing"


async def score(example: Example, models: Models, params: PerplexityParams) -> Score:
    answer = (example.answer or "").strip()
    if not answer:
        raise NoScore("undefined", "The answer is empty.")
    if params.given == "question" and not (example.question or "").strip():
        raise NoScore("missing_input", "The example has no question.")
    prompt = f"{example.question}\n" if params.given == "question" else "\n"
    reply = await models.likelihood(LikelihoodRequest(prompt, answer))
    logprob = mean(reply)
    if logprob < _LEAST:
        raise NoScore(
            "undefined",
            f"The mean log-probability of a token is {logprob:.0f}: too low for a perplexity.",
        )
    return Score(
        math.exp(-min(0.0, logprob)), {"tokens": len(reply.logprobs), "mean_logprob": logprob}
    )


METRIC = Metric(
    score,
    needs=("answer",),
    bounds=(1, None),
    higher_is_better=False,
    models=("lm",),
    params=PerplexityParams,
    calls=lambda _example, _params, _judges: 1,
    silence=Silence(empty="undefined"),
)
