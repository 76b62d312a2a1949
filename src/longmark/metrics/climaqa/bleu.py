"""BLEU as in ClimaQA's tables (section 3.2.1): sequences of up to four characters that answer and reference share.

`classic.bleu` with `form=climaqa`: characters as they are, with white space. If an order has no shared n-gram, its
numerator is 0.1. Range [0, 1], higher is better. No call. BLEU of words, which the paper's text describes, is
`classic.bleu` with its own parameters; on the published examples it is about a third of this.
The tables have corpus BLEU (counts summed over the answers of a level). The score of a row is that of one answer, as in
the paper's case study (appendix A.2.3).

Deviations: none.
"""

from __future__ import annotations

from functools import partial

from longmark.metric import Metric, Score, Silence
from longmark.metrics.classic._tokens import aside
from longmark.metrics.classic.bleu import characters
from longmark.records import Example


async def score(example: Example, _models: object, _params: object) -> Score:
    """BLEU of characters, with precisions and lengths."""
    answer = example.answer or ""
    size = len(answer) + sum(map(len, example.references))
    return await aside(size, partial(characters, answer, example.references))


METRIC = Metric(score, needs=("answer", "references"), bounds=(0, 1), silence=Silence(empty=0))
