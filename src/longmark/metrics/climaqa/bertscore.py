"""BERTScore as in ClimaQA's tables (section 3.2.1): how well the tokens of answer and reference match, by F1.

`classic.bertscore` with its parameters; the score is the F1, without a baseline. Range [-1, 1], higher is better. No
call. Unscored (`undefined`): an empty answer or reference.

Deviations: the paper's encoder is roberta-large, layer 17, the default of the package bert-score for English: here
`encoder=hf:roberta-large` and `layer=17` (extra `transformers`). Our default is `embedded:embedder`, which needs no
download. Values of two encoders cannot be compared. For 15 answers in the paper and its code, the published values are
from .861 to .926. Those of our default are from .575 to .815, in nearly the same order (Spearman's rho .95).
"""

from __future__ import annotations

from dataclasses import dataclass

from longmark.metric import Metric, Silence, paper
from longmark.metrics.classic import bertscore
from longmark.metrics.classic._encoders import EMBEDDED
from longmark.metrics.classic.bertscore import score


@dataclass(frozen=True)
class Params(bertscore.Params):
    encoder: str = paper(EMBEDDED, "hf:roberta-large")
    layer: int = paper(-1, 17)


METRIC = Metric(
    score, needs=("answer", "references"), bounds=(-1, 1), params=Params, silence=Silence(empty="undefined")
)
