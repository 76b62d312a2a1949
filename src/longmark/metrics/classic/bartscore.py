"""BARTScore: the mean log-probability of an answer given a reference, or of the reference given the answer.

    S(y | x) = mean over the tokens of y of log p(token | tokens before it, x)        (Yuan et al. 2021, equation 2)
    precision = S(answer | reference)    recall = S(reference | answer)    f = (precision + recall) / 2

0 is certainty. With several references the mean over them counts. The evidence has precision, recall, the tokens, the
model and its form. Cost: one call (two sets of likelihoods with `f`). It is BARTScore with `checkpoint`, a
sequence-to-sequence model (facebook/bart-large-cnn in the paper): `form` is then `seq2seq`. Without one the run's causal
language model (`--lm`) reads x, a line break and y: `form` is `causal`, and values are not comparable with published ones.
Unscored: an empty answer or reference (`undefined`); a text beyond the model's window (`too_long`); neither checkpoint
nor `--lm` (`unsupported`).
Parameters: direction: which of the three is the score; checkpoint: a folder or hub name (extra `transformers`).
Deviations: the authors cut texts at 1,024 tokens; here no text is cut.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from longmark.errors import NoScore
from longmark.metric import Metric, Score, Silence
from longmark.metrics.classic._likelihood import checkpoint, mean, of_checkpoint
from longmark.models.handles import Models
from longmark.models.protocols import LikelihoodReply, LikelihoodRequest
from longmark.records import Example


@dataclass(frozen=True)
class BartScoreParams:
    direction: Literal["f", "precision", "recall"] = "f"
    checkpoint: str = ""

    def ready(self) -> None:
        """Loads the checkpoint, before anything is paid for. UserError where it cannot be loaded."""
        if self.checkpoint:
            checkpoint(self.checkpoint)


async def score(example: Example, models: Models, params: BartScoreParams) -> Score:
    answer = (example.answer or "").strip()
    references = [reference.strip() for reference in example.references if reference.strip()]
    if not answer or not references:
        raise NoScore("undefined", f"The {'reference' if answer else 'answer'} is empty.")
    needed = {"precision": params.direction != "recall", "recall": params.direction != "precision"}
    pairs = [(reference, answer) for reference in references] if needed["precision"] else []
    pairs += [(answer, reference) for reference in references] if needed["recall"] else []
    replies = await _replies(models, params, pairs)
    means = iter([mean(reply) for reply in replies])
    values = {
        name: math.fsum(next(means) for _ in references) / len(references)
        for name, has in needed.items()
        if has
    }
    evidence = {
        **values,
        "tokens": sum(len(reply.logprobs) for reply in replies),
        "form": "seq2seq" if params.checkpoint else "causal",
        "model": checkpoint(params.checkpoint).name
        if params.checkpoint
        else models.backends.names()["lm"][0],
    }
    return Score(math.fsum(values.values()) / len(values), evidence)


async def _replies(
    models: Models, params: BartScoreParams, pairs: list[tuple[str, str]]
) -> list[LikelihoodReply]:
    """The likelihoods of the second text of each pair, given the first."""
    if params.checkpoint:
        return await of_checkpoint(
            models, params.checkpoint, [LikelihoodRequest(x, y) for x, y in pairs]
        )
    if models.backends.lm is None:
        reason = "No model: set the parameter checkpoint to a BART checkpoint, or give a language model with --lm."
        raise NoScore("unsupported", reason)
    return await models.likelihoods([LikelihoodRequest(f"{x}\n", y) for x, y in pairs])


METRIC = Metric(
    score,
    needs=("answer", "references"),
    bounds=(None, 0),
    models=("lm",),
    optional=("lm",),
    params=BartScoreParams,
    calls=lambda example, _params, _judges: 2 * len(example.references),
    silence=Silence(empty="undefined"),
)
