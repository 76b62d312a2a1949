"""ROUGE-L: the longest common subsequence of words of an answer and a reference (Lin 2004).

    precision = LCS / words of the answer    recall = LCS / words of the reference    F1 = 2 P R / (P + R)

The text is one sequence, whatever its lines (`rougeL` of the package rouge-score, not its `rougeLsum`). Needs the extra
`classic` (rapidfuzz). All else is as for `rouge_1`.
"""

from __future__ import annotations

from longmark.metrics.classic._rouge import SequenceParams, longest_in_common, metric

METRIC = metric(longest_in_common, SequenceParams)
