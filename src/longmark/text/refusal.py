"""The reply of a generator that finds nothing relevant in its passages: an answer that claims nothing."""

from __future__ import annotations

NOTHING_RELEVANT = "The passages say nothing that is relevant to this question."
"""The reply that `rag answer --comprehensive` requests in this case."""

_PUBLISHED = "Sorry, I don't have any information relevant to the given query."  # Comprehensiveness, listing 21


def is_refusal(answer: str) -> bool:
    """Whether an answer is one of the two replies, word for word; case, spacing and quotation marks do not count."""
    return _folded(answer) in (_folded(NOTHING_RELEVANT), _folded(_PUBLISHED))


def _folded(text: str) -> str:
    return " ".join(text.replace("’", "'").casefold().split()).strip("\"'“” .")
