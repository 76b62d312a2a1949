"""The best k of many scores, the same for equal scores on every machine: of equals, the first stands first."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def best(scores: NDArray[np.float32], k: int) -> list[tuple[int, float]]:
    """(index, score) of the k highest of scores (n,), highest first; all of them where there are fewer."""
    import numpy as np

    k = min(k, len(scores))
    if k <= 0:
        return []
    least = np.partition(scores, len(scores) - k)[len(scores) - k]
    above = np.flatnonzero(scores > least)
    equal = np.flatnonzero(scores == least)[: k - len(above)]
    chosen = np.concatenate((above, equal))
    order = chosen[np.lexsort((chosen, -scores[chosen]))]
    return [(int(index), float(scores[index])) for index in order]
