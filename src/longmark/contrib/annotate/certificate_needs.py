"""What `longmark certify` needs of a study, said before its people start: once they have labelled, it is too late.

The least numbers are those by which `longmark certify` refuses. How large a difference so many labels show is what its
simulations found (design/coverage.md, Certificates): 60 labels of each of two systems, one look, a difference of .6
standard deviations of the labels, .85 of the claims granted. The number grows with the inverse square of the
difference. Needs the extra `stats`, as the certificate does.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.study import Choice, Scale, Study
from longmark.progress import counted

SIMULATED_LABELS = 60
SIMULATED_DIFFERENCE = 0.6
SIMULATED_POWER = 0.85
_TWO_CLASSES = 2
_SINGLE_ANSWERS = ("file", "run")


def certificate_needs(study: Study, items: Sequence[StudyItem]) -> Iterator[str]:
    """Sentences for the owner. None where no certificate can come of the study: it does not rate single answers of two
    systems or more."""
    from longmark.stats.corrected import FEWEST_COVERED, FEWEST_RATERS
    from longmark.stats.labelled_sample import FEWEST_LABELS

    answers = Counter(
        item.systems["answer"]
        for item in items
        if item.kind == "normal" and item.systems.get("answer")
    )
    is_rated = study.items.from_ in _SINGLE_ANSWERS and any(map(_has_order, study.asked))
    if len(answers) < _TWO_CLASSES or not is_rated:
        return
    fewest = min(answers, key=lambda system: answers[system])
    yield (
        f"A certificate that a system is better (longmark certify) needs labels of {FEWEST_COVERED} answers of each "
        f"system or more; the study has {answers[fewest]:,} of {fewest}. {SIMULATED_LABELS} of each show a difference "
        f"of {SIMULATED_DIFFERENCE:g} standard deviations of the labels with a power of {SIMULATED_POWER:g}; half the "
        "difference needs four times as many."
    )
    if study.assignment.overlap < _TWO_CLASSES:
        yield (
            f"It also needs {counted(FEWEST_LABELS, 'answer')} of each system that two raters label: set `overlap: 2`, "
            f"and invite {FEWEST_RATERS} raters or more for a claim that is not about these raters only."
        )


def _has_order(field: object) -> bool:
    """Whether the labels of a field have a mean."""
    if isinstance(field, Scale):
        return True
    return isinstance(field, Choice) and (field.ordered or len(field.options) == _TWO_CLASSES)
