"""The raters behind a certificate: how far they agree, and how much each of them labelled."""

from __future__ import annotations

from collections import Counter

from longmark.contrib.decide.correction import Correction
from longmark.stats.agreement import Agreement, krippendorff_alpha

LEAST_EVEN = 0.9
"""The effective number of raters by their numbers of labels, as a share of all, for a claim that is for these raters
only: one of two may have given a third of the labels."""


def rater_agreement(correction: Correction) -> Agreement | None:
    """Krippendorff's alpha of all raters over answers that two or more labelled; None where there are none."""
    of_raters = list(correction.rated.values())
    cells = sorted({cell for labels in of_raters for cell in labels})
    table = [[labels.get(cell) for labels in of_raters] for cell in cells]
    by_several = [row for row in table if sum(value is not None for value in row) > 1]
    if not by_several:
        return None
    binary = {value for row in by_several for value in row} <= {0.0, 1.0, None}
    return krippendorff_alpha(
        by_several,
        "nominal" if binary else "interval",
        seed=correction.options.seed,
    )


def answers_by_several(correction: Correction) -> dict[str, int]:
    """system -> how many of its answers two raters or more labelled."""
    systems = correction.labelled.scores.systems
    raters_of_cell = Counter(cell for labels in correction.rated.values() for cell in labels)
    counts = Counter(systems[cell[1]] for cell, raters in raters_of_cell.items() if raters > 1)
    return {name: counts[name] for name in correction.options.systems or systems}


def uneven_raters(correction: Correction) -> str | None:
    """What the raters of a claim for these raters only must still label: a mean of what each of them would say of every
    answer cannot rest on the labels of one. None where they labelled about as many answers each."""
    systems = correction.labelled.scores.systems
    places = [systems.index(name) for name in correction.options.systems]
    label_counts = {
        rater: sum(cell[1] in places for cell in labels)
        for rater, labels in correction.rated.items()
    }
    total = sum(label_counts.values())
    squares = sum(count**2 for count in label_counts.values())
    if not total or total**2 / squares >= LEAST_EVEN * len(label_counts):
        return None
    fewest = min(label_counts, key=label_counts.__getitem__)
    return (
        f"About as many labels of each rater: {fewest} gave {label_counts[fewest]:,} of {total:,}, and the claim is for "
        f"what each of these {len(label_counts)} raters would say of every answer. Let each of them label more, or "
        "claim without --these-raters."
    )
