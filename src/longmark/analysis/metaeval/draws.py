"""How often answers are resampled for an interval: less often where they are very many and it is narrow anyway."""

from __future__ import annotations

_USUAL, _FEWEST = 5_000, 500
_MOST_INDICES = 50_000_000  # half a second


def draws(n: int) -> int:
    """Resamples for n answers: 5,000 up to 10,000 of them, 500 from 100,000."""
    return max(_FEWEST, min(_USUAL, _MOST_INDICES // max(1, n)))
