"""Tie bands: how far apart two scores must be to count as a choice, chosen on some questions and tested on the others.

A metric that scores answers ties two of them if their scores are at most a band apart. The band that is best on a
development split of the questions is applied to the rest, so that it is not tested on what it was chosen on.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate

from longmark.analysis.metaeval.choice_sample import TIE, ChoiceSample, Made
from longmark.analysis.metaeval.results import DifferenceOfChoices
from longmark.stats.results import Estimate


@dataclass(frozen=True, slots=True)
class TieBand:
    """A metric on a development split and on the rest. development, rest: accuracy as it stands; band: the greatest
    difference of two scores that is a tie, None for a metric without scores; chosen: the accuracy with the band on the
    development split, banded: on the rest; gain: of the rest, banded - rest."""

    metric: str
    development: Estimate
    rest: Estimate
    band: float | None = None
    chosen: float | None = None
    banded: Estimate | None = None
    gain: DifferenceOfChoices | None = None


def tie_band(
    metric: str,
    sample: ChoiceSample,
    choices: Made,
    differences: Sequence[float | None],
    tuning: Collection[int],
) -> TieBand:
    """The band of a metric, and what it is worth. choices: of the metric; differences: its score of a minus that of b,
    above 0 where it prefers a, None where it has no scores; tuning: the places of the development split."""
    right = sample.right(choices)
    tuned = sorted(tuning)
    rest = [place for place in range(len(choices)) if place not in set(tuned)]
    others = sample.of(rest)
    right_of_rest = [right[place] for place in rest]
    decided = [(place, gold) for place in tuned if (gold := sample.gold[place]) is not None]
    on_tuned = sample.of(tuned).rate([right[place] for place in tuned])
    found = TieBand(
        metric,
        development=replace(on_tuned, missing=len(decided) - on_tuned.n),
        rest=others.rate(right_of_rest),
    )
    given = [
        (difference, gold)
        for place, gold in decided
        if (difference := differences[place]) is not None
    ]
    if not given:
        return found
    band, chosen = best_band(given)
    banded = others.right([
        None if (difference := differences[place]) is None else with_band(difference, 0, band)
        for place in rest
    ])  # fmt: skip
    return replace(
        found,
        band=band,
        chosen=chosen,
        banded=others.rate(banded),
        gain=others.difference(banded, right_of_rest),
    )


def with_band(a: float, b: float, band: float) -> str:
    """The choice of the greater score; a tie if they are at most `band` apart."""
    return TIE if abs(a - b) <= band else "a" if a > b else "b"


def best_band(given: Sequence[tuple[float, str]]) -> tuple[float, float]:
    """The band with the most right choices, the smallest of equal ones, and its share of right choices.

    given: a - b and the human choice. Bands are 0 and the sizes of the differences: with the i-th the i smallest
    differences tie, and the others decide as their sign does.
    """
    ordered = sorted((abs(difference), difference, gold) for difference, gold in given)
    ties = [0, *accumulate(gold == TIE for *_, gold in ordered)]
    signs = [0, *accumulate(gold == with_band(difference, 0, 0) for _, difference, gold in ordered)]
    right: dict[float, int] = {}
    for count, (size, *_) in enumerate([(0.0, 0.0, ""), *ordered]):
        # of equal sizes the last one counts, where all of them tie
        right[size] = ties[count] + signs[-1] - signs[count]
    band = max(right, key=lambda size: (right[size], -size))
    return band, right[band] / len(given)


def split(questions: Sequence[str], share: float, seed: int) -> set[str]:
    """A share of the questions, drawn by a hash of each: it does not depend on their order or on other questions."""
    ranked = sorted(
        set(questions), key=lambda name: hashlib.sha256(f"{seed} {name}".encode()).digest()
    )
    return set(ranked[: round(share * len(ranked))])
