"""ROUGE-2: the pairs of adjacent words that an answer shares with a reference (Lin 2004).

    precision = shared / pairs of the answer    recall = shared / pairs of the reference    F1 = 2 P R / (P + R)

A pair that occurs m times in one text and n times in the other counts min(m, n) times. All else is as for `rouge_1`.
"""

from __future__ import annotations

from functools import partial

from longmark.metrics.classic._rouge import metric, ngrams_in_common

METRIC = metric(partial(ngrams_in_common, 2))
