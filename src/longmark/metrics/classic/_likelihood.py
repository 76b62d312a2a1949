"""Likelihoods for metrics: of the run's language model, or of a checkpoint that a parameter names."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

from longmark import plugins
from longmark.errors import NoScore
from longmark.models.handles import Models
from longmark.models.protocols import LanguageModel, LikelihoodReply, LikelihoodRequest


@lru_cache(maxsize=2)
def checkpoint(source: str) -> LanguageModel:
    """The model of a checkpoint, loaded at its first call and kept. MissingExtra without the extra `transformers`."""
    model: LanguageModel = plugins.required("checkpoints", "seq2seq", f"the checkpoint {source}")(
        source
    )
    return model


async def of_checkpoint(
    models: Models, source: str, requests: Sequence[LikelihoodRequest]
) -> list[LikelihoodReply]:
    """One reply a request, from the call cache where it has them."""
    return await models.client.likelihoods(checkpoint(source), requests, models.usage_log)


def mean(reply: LikelihoodReply) -> float:
    """The mean log-probability of a text's tokens. NoScore (`undefined`) for a text without tokens."""
    if not reply.logprobs:
        raise NoScore("undefined", "The text has no tokens, and so no likelihood.")
    return math.fsum(reply.logprobs) / len(reply.logprobs)
