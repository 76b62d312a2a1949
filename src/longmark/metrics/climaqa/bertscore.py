"""BERTScore as ClimaQA's tables have it (section 3.2.1): how well the tokens of answer and reference match, by F1.

`classic.bertscore` with its parameters; the score is the F1, without a baseline. Range [-1, 1], higher is better. No
call. Unscored (`undefined`): an empty answer or reference.

Deviations: the paper's encoder is roberta-large, layer 17, which the package bert-score takes for English: here
`encoder=hf:roberta-large` and `layer=17` (extra `transformers`). By default it is `embedded:embedder`, which needs no
download. Values of two encoders cannot be compared: of 15 answers that the paper and its code show, the published ones
are from .861 to .926, those of the default from .575 to .815, in nearly the same order (Spearman's rho .95).
"""

from __future__ import annotations

from longmark.metric import Metric
from longmark.metrics.classic.bertscore import Params, score

METRIC = Metric(score, needs=("answer", "references"), bounds=(-1, 1), params=Params)
