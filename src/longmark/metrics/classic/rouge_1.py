"""ROUGE-1: the words that an answer shares with a reference (Lin 2004).

    precision = shared / words of the answer    recall = shared / words of the reference    F1 = 2 P R / (P + R)

A word that occurs m times in one text and n times in the other counts min(m, n) times. The reference with the greatest
F1 counts. An answer without words scores 0. The evidence has precision, recall, F1 and the numbers of tokens. Values are
those of the package rouge-score, without stemming.
Parameters: measure: which of the three is the score.
Deviations: no stemming.
"""

from __future__ import annotations

from functools import partial

from longmark.metrics.classic._rouge import metric, ngrams_in_common

METRIC = metric(partial(ngrams_in_common, 1))
