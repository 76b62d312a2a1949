"""ROUGE-2: the pairs of adjacent words that an answer shares with a reference (Lin 2004).

    precision = shared / pairs of the answer    recall = shared / pairs of the reference    F1 = 2 P R / (P + R)

A pair that occurs m times in one text and n times in the other counts min(m, n) times. In [0, 1], higher is better.
With several references the one with the greatest F1 counts. An answer without words scores 0. The evidence has
precision, recall, F1 and the numbers of tokens. Cost: no calls; values are those of the package rouge-score, without
stemming.
Unscored (`undefined`): the reference has no words, or the tokenizer loses or cuts more than 5 % of the words of a text
(Chinese under `rouge`, and languages with letters beside a-z: German, French, Vietnamese).
Parameters: tokenizer (`unicode` or `zh` for Chinese, `unicode` or `ja-mecab` for Japanese); measure: which of
the three is the score;
citations: `ignore` leaves the markers of citations ([1], text.citations) out of both texts.
Deviations: no stemming. A text that the tokenizer does not read is unscored (rouge-score: the score of what is left).
Characters that are not seen, such as soft hyphens, are left out before.
"""

from __future__ import annotations

from functools import partial

from longmark.metrics.classic._rouge import metric, ngrams_in_common

METRIC = metric(partial(ngrams_in_common, 2))
