"""ROUGE-L: the longest common subsequence of words of an answer and a reference (Lin 2004).

    precision = LCS / words of the answer    recall = LCS / words of the reference    F1 = 2 P R / (P + R)

The text is one sequence, whatever its lines (`rougeL` of the package rouge-score, not its `rougeLsum`). In [0, 1],
higher is better. With several references the one with the greatest F1 counts. An answer without words scores 0. The
evidence has precision, recall, F1 and the numbers of tokens. Cost: no calls; needs the extra `classic` (rapidfuzz).
Values are those of rouge-score, without stemming.
Unscored (`undefined`): the reference has no words, or the tokenizer loses or cuts more than 5 % of the words of a text
(Chinese under `rouge`, and languages with letters beside a-z: German, French, Vietnamese).
Parameters: tokenizer (`unicode` or `zh` for Chinese, `unicode` or `ja-mecab` for Japanese); measure: which of the three
is the score;
citations: `ignore` leaves the markers of citations ([1], text.citations) out of both texts.
Deviations: no stemming. A text that the tokenizer does not read is unscored (rouge-score: the score of what is left).
Characters that are not seen, such as soft hyphens, are left out before.
"""

from __future__ import annotations

from longmark.metrics.classic._rouge import SequenceParams, longest_in_common, metric

METRIC = metric(longest_in_common, SequenceParams)
