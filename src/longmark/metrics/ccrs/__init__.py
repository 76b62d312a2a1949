"""CCRS (Muhamed 2025): five scores that a judge gives without examples in its prompt."""

from __future__ import annotations

from longmark.metric import Score

# Appendix B: where no response was generated the score is 0
EMPTY_ANSWER = Score(
    0.0, {"rule": "the answer is empty: CCRS scores it 0, no judge was asked"}, automatic=True
)
