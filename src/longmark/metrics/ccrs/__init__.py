"""CCRS (Muhamed 2025): five scores that a judge gives without examples in its prompt.

All are judge(...) / 100 but for answer correctness. An empty answer scores 0. With several references the highest
score counts, and the evidence names its reference. Cost: 1 call for each judge, and each reference where one is read.
With `--scoring expected` the judge's score is its probability of "yes"; for density and recall the expected digit
from 0 to 9, divided by 9.
Deviations: the prompts are ours. The paper has one judge, Llama-3-70B-Instruct.
"""

from __future__ import annotations

from longmark.metric import Score

# Appendix B: where no response was generated the score is 0
EMPTY_ANSWER = Score(
    0.0, {"rule": "the answer is empty: CCRS scores it 0, no judge was asked"}, automatic=True
)
