"""BERTScore: each token of the answer matched with the most similar token of a reference, and vice versa.

    P = mean over tokens of the answer of the greatest cosine with a token of the reference     (Zhang et al. 2020)
    R = mean over tokens of the reference of the greatest cosine with a token of the answer     F1 = 2 P R / (P + R)

Unrelated texts score far above 0, which `baseline` corrects. The evidence has P, R, F1, tokens and pieces. Cost: each
text goes once through the encoder. The arithmetic is that of the package bert-score without idf: markers ([CLS],
[SEP]) can be matched, but are not in the means. The encoder is in the signature: `embedded:embedder` is
all-MiniLM-L6-v2 (last layer; extra `embedded`), `hf:NAME` or `st:NAME` any encoder of transformers (extra
`transformers`). Values of two encoders cannot be compared: published ones are mostly of roberta-large, layer 17
(`--as-published`).
Unscored (`undefined`): an empty answer or reference.
Parameters: encoder; layer: -1 is the last; measure: which of the three is the score; baseline: b in (x - b) / (1 -
b), no less than -1, 0 for none (bert-score has a file of baselines for each encoder: F1 .8315 for roberta-large,
layer 17); long_texts: `pieces` reads a text beyond the encoder's limit in pieces, `cut` its beginning only, as
bert-score does.
Deviations: by default another encoder and long texts in pieces; no idf weights.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

from longmark.concurrency import aside
from longmark.errors import NoScore
from longmark.metric import Metric, Score, Silence, paper
from longmark.metrics.classic._encoders import (
    EMBEDDED,
    NAMES,
    LongTexts,
    Vectors,
    identity,
    vectors,
)
from longmark.metrics.classic._rouge import OverlapScores
from longmark.records import Example

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_ROWS = 1024  # tokens whose cosines with all others are held at once


@dataclass(frozen=True)
class BertScoreParams:
    encoder: str = paper(
        EMBEDDED, "hf:roberta-large"
    )  # of bert-score for English, and of ClimaQA's tables
    layer: int = paper(-1, 17)
    measure: Literal["f1", "precision", "recall"] = "f1"
    baseline: float = 0.0
    long_texts: LongTexts = "pieces"

    def __post_init__(self) -> None:
        if not NAMES.fullmatch(self.encoder):
            raise ValueError(f"encoder is {EMBEDDED}, hf:NAME or st:NAME, not {self.encoder}")
        if not 0 <= self.baseline < 1:
            raise ValueError(f"baseline is a number from 0 to below 1, not {self.baseline}")

    def ready(self) -> None:
        """Loads the encoder, before anything is paid for. UserError where it, or the layer, is not there."""
        vectors(self.encoder, "a", self.layer, self.long_texts)

    def identity(self) -> str:
        """The encoder's, for workers on other machines."""
        return identity(self.encoder)


def match(answer: Vectors, reference: Vectors) -> OverlapScores:
    """Greedy matching of two texts' tokens: the two means of greatest cosines."""
    return OverlapScores(_covered(answer, reference.units), _covered(reference, answer.units))


def _covered(text: Vectors, candidates: NDArray[np.float32]) -> float:
    """The mean over a text's tokens, without its markers, of the greatest cosine with one of the others."""
    units = text.units[text.content]
    total = sum(
        float((units[i : i + _ROWS] @ candidates.T).max(axis=1).sum())
        for i in range(0, len(units), _ROWS)
    )
    return total / len(units)


def bertscore(answer: str, references: Sequence[str], params: BertScoreParams) -> Score:
    """The score of one answer. Blocks until it is done."""
    ours = vectors(params.encoder, answer, params.layer, params.long_texts)
    matches = []
    for reference in references:
        theirs = vectors(params.encoder, reference, params.layer, params.long_texts)
        matches.append((match(ours, theirs), theirs))
    best_match, theirs = max(matches, key=lambda pair: pair[0].f1)
    measures = {"precision": best_match.precision, "recall": best_match.recall, "f1": best_match.f1}
    value = (measures[params.measure] - params.baseline) / (1 - params.baseline)
    counts = {
        "answer_tokens": int(ours.content.sum()),
        "reference_tokens": int(theirs.content.sum()),
    }
    many = {"answer_pieces": ours.pieces, "reference_pieces": theirs.pieces}
    return Score(max(-1.0, min(1.0, value)), {**measures, **counts, **many})


async def score(example: Example, _models: object, params: BertScoreParams) -> Score:
    answer = (example.answer or "").strip()
    references = [reference.strip() for reference in example.references if reference.strip()]
    if not answer or not references:
        raise NoScore("undefined", f"The {'reference' if answer else 'answer'} is empty.")
    return await aside(math.inf, partial(bertscore, answer, references, params))


METRIC = Metric(
    score,
    needs=("answer", "references"),
    bounds=(-1, 1),
    params=BertScoreParams,
    silence=Silence(empty="undefined"),
)
