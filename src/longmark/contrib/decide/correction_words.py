"""What the results of a correction are about, and what to do where there is none, as parts of sentences."""

from __future__ import annotations

from collections.abc import Collection, Iterator

from longmark.contrib.decide.claim_family import Family
from longmark.contrib.decide.correction import Correction
from longmark.report.format import counted, listed
from longmark.stats.corrected import FEWEST_RATERS, NO_SCALE, NOT_TOLD_APART
from longmark.stats.labelled_sample import FEWEST_LABELS
from longmark.stats.raters import CONTRADICT


def units_in_words(correction: Correction) -> str:
    """The label and its scale, as a part of a sentence."""
    scale = correction.scale
    if scale.low is None or scale.high is None:
        return correction.label
    seen = "" if correction.labelled.bounds is not None else ", as seen"
    return f"{correction.label}, {scale.low:g} to {scale.high:g}{seen}"


def as_judged(raters: int, effective: float | None, *, these_raters: bool) -> str:
    """Behind a result: that it is about these raters only, where it is. these_raters: by choice."""
    if these_raters:
        return f" ({for_these_raters(raters)})"
    if effective is not None and effective >= FEWEST_RATERS:
        return ""
    return " (as this rater judges)" if raters == 1 else f" (as these {raters} raters judge)"


def remedy_of(correction: Correction, reasons: Collection[str]) -> str:
    """What to do where these reasons stand in the way of an interval."""
    if any(CONTRADICT in reason for reason in reasons):
        return (
            f"Let {FEWEST_RATERS} raters or more label the same answers, and ask about people like them, without "
            "--these-raters."
        )
    if any(NO_SCALE in reason for reason in reasons):
        label = correction.label
        return f"Name every value of the scale, lowest first: --order {label}=LOWEST,…,HIGHEST."
    if any(NOT_TOLD_APART in reason for reason in reasons):
        return f"Let two raters or more label the same answers, {FEWEST_LABELS} or more of each system."
    return "Draw answers to label by `longmark label next`."


def for_these_raters(raters: int) -> str:
    """Whom a result is for that takes its raters as fixed, as a part of a sentence."""
    whom = "this rater" if raters == 1 else f"these {raters} raters"
    return f"for {whom} only; other raters may judge otherwise"


def raters_in_words(correction: Correction) -> str:
    """Whether the intervals are about other raters, too, or about these only."""
    effective = correction.effective_raters
    same = "".join(
        f" {listed(names, len(names))} gave the same labels to all answers that they share ({count:,}), and count as "
        "one."
        for names, count in correction.copies
    )
    if correction.finals:
        are = "has" if correction.finals == 1 else "have"
        return (
            f"Of {counted(correction.joined, 'answer')} {correction.finals:,} {are} a final label, which counts alone: "
            f"the results are about those who decided it only.{same}"
        )
    if correction.raters < 2:
        return "There is one rater: the results are about this rater's labels only, and how people differ is not known."
    if correction.options.these_raters:
        return f"The results are {for_these_raters(correction.raters)}.{same}"
    if effective is None:
        return f"No two raters labelled the same answers of each system: the results are about these raters only.{same}"
    if effective < FEWEST_RATERS:
        needed = f"{FEWEST_RATERS} or more"
        if correction.raters >= FEWEST_RATERS:
            needed += " with shares of the labels that are alike"
        return (
            f"The results are about these {correction.raters} raters only: {needed} are needed for people in general. "
            f"How far the raters differ about the systems is in the intervals.{same}"
        )
    return (
        f"The {correction.raters} raters stand for others like them: how far they differ about the systems is in the "
        f"intervals.{same}"
    )


def misfits_in_words(family: Family) -> Iterator[str]:
    """How the probabilities of the labelled answers do not fit the number of answers."""
    for system, (estimate, answers_of_system) in family.misfits.items():
        if not family.unlabelled:
            yield (
                f"by their inclusion probabilities the labelled answers of {system} stand for about {estimate:,.0f} "
                f"answers, and there are {answers_of_system:,}: drawn answers have no label, or the probabilities are "
                "not theirs"
            )
