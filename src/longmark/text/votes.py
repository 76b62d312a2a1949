"""The vote of several judges on yes / no / n/a, and the weighted score over dimensions (SCORE, section 3.1).

n/a means that there is nothing to judge, so it is left out of every mean: where nothing else is left, there is none.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

Label = Literal["yes", "no", "n/a"]
LABELS: tuple[Label, ...] = ("yes", "no", "n/a")


def vote(labels: Sequence[Label]) -> Label:
    """The label that most judges gave. A tie that involves n/a is n/a, one of yes and no is no.

    With three judges the only tie is that of all three labels, and n/a is what the authors' labels have there; the rule
    for other numbers is ours. ValueError where there is no label.
    """
    if not labels:
        raise ValueError("a vote needs a label")
    counts = Counter(labels)
    most = max(counts.values())
    for label in ("n/a", "no"):
        if counts[label] == most:
            return label
    return "yes"


def share_of_yes(labels: Iterable[Label]) -> float | None:
    """yes / (yes + no); None where every label is n/a."""
    stated = [label == "yes" for label in labels if label != "n/a"]
    return sum(stated) / len(stated) if stated else None


def weighted_score(means: Mapping[str, float | None], weights: Mapping[str, float]) -> float | None:
    """The weighted mean of the dimensions that have one (SCORE, equation 1); None where their weights add up to 0."""
    present = {name: mean for name, mean in means.items() if mean is not None}
    total = math.fsum(weights[name] for name in present)
    if total <= 0:
        return None
    return math.fsum(weights[name] * mean for name, mean in present.items()) / total
