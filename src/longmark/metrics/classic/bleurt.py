"""BLEURT: a BERT trained on human ratings rates an answer against a reference (Sellam et al. 2020).

Most values are between 0 and 1. The evidence has the value of each reference. Cost: one call for each reference, on this
machine. The checkpoint is a parameter: a folder (or hub name) with a published BLEURT checkpoint in the form of
transformers, a BERT with one output that reads (reference, answer). Needs the extra `transformers`.
Unscored: an empty answer or reference (`undefined`); no checkpoint (`unsupported`).
Deviations: the model reads its window (512 tokens for both texts together) and cuts the longer one, as the authors'
code does. The original TensorFlow files and BLEURT-20, which is not a BERT, are not supported.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from longmark import plugins
from longmark.concurrency import concurrently
from longmark.errors import NoScore
from longmark.metric import Metric, Score, Silence
from longmark.models.handles import Models
from longmark.models.protocols import Reranker
from longmark.records import Example


@dataclass(frozen=True)
class BleurtParams:
    checkpoint: str = ""

    def ready(self) -> None:
        """Loads the checkpoint, before anything is paid for. UserError where it cannot be loaded."""
        if self.checkpoint:
            _checkpoint(self.checkpoint)


@lru_cache(maxsize=1)
def _checkpoint(source: str) -> Reranker:
    """The model, loaded at its first call and kept."""
    model: Reranker = plugins.required("checkpoints", "rater", f"the checkpoint {source}")(source)
    return model


async def score(example: Example, models: Models, params: BleurtParams) -> Score:
    if not params.checkpoint:
        raise NoScore(
            "unsupported", "No model: set the parameter checkpoint to a BLEURT checkpoint."
        )
    answer = (example.answer or "").strip()
    references = [reference.strip() for reference in example.references if reference.strip()]
    if not answer or not references:
        raise NoScore("undefined", f"The {'reference' if answer else 'answer'} is empty.")
    model = _checkpoint(params.checkpoint)

    async def against(reference: str) -> float:
        return (await models.client.rerank(model, reference, [answer], models.usage_log)).scores[0]

    values = await concurrently(against, references)
    return Score(max(values), {"values": values, "model": model.name})


METRIC = Metric(
    score,
    needs=("answer", "references"),
    params=BleurtParams,
    calls=lambda example, params, _judges: len(example.references) if params.checkpoint else 0,
    silence=Silence(empty="undefined"),
)
