"""What must be true for a certificate to hold, and what voids it. The rest is arithmetic on the inputs."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from longmark.contrib.decide.certificate_claim import Claimed
from longmark.contrib.decide.correction import Correction
from longmark.contrib.decide.correction_words import raters_in_words
from longmark.report.format import counted, listed
from longmark.scores.label_scales import DeclaredScale, shown_classes
from longmark.stats.corrected import FEWEST_COVERED
from longmark.stats.looks import CLAIM_ERROR

VOID_IF = [
    "An input is not the file with this SHA-256.",
    "Labelled answers were chosen in another way than is said here, or by their scores or texts.",
    "A rater saw which system an answer is of, or its score.",
    "More labels than this look's were seen when the claim was made, or there was an earlier draw of these answers.",
    "Another claim was made from the same labels with another plan, or with another number of looks.",
    "Drawn answers were left unlabelled because of what they say.",
    "A rater, a rater's labels or another label of these answers are not in the file of labels.",
    "Two names of raters are of one person, or a rater saw another's labels.",
    "The systems, their questions or the way of scoring have changed since: it is about these answers only.",
]


def assumptions(claimed: Claimed, correction: Correction) -> Iterator[str]:
    raters = counted(correction.raters, "rater")
    classes = _classes_in_words(correction)
    columns = _columns_in_words(claimed)
    yield f"What counts is the label {correction.label} by {raters}: higher is better.{classes}{columns}"
    if correction.drawn:
        chances = " to ".join(
            dict.fromkeys(f"{probability:.3g}" for probability in correction.drawn)
        )
        seeds = _seeds_in_words(correction.family.seeds)
        yield f"Each answer was drawn for labelling with its inclusion probability ({chances}).{seeds}"
    elif claimed.equal_chances:
        yield "Each answer had the same chance of being labelled. Whoever asked for this certificate says so."
    yield (
        "The questions are a sample of those that matter; questions of a cluster "
        f"({claimed.cluster}) depend on each other, others do not."
    )
    if correction.unhashed:
        yield _labelled_texts_in_words(correction)
    yield raters_in_words(correction)
    yield _error_in_words(claimed, correction)
    yield _ends_in_words(correction)


def _labelled_texts_in_words(correction: Correction) -> str:
    """That the labels are of the answers that were scored, where the labels do not say it themselves."""
    labels = counted(correction.unhashed, "label carries", "labels carry")
    if correction.departures.texts_compared:
        return (
            f"The raters saw the texts that were drawn: by the hashes of the draw these are the answers, but {labels} "
            "none of the labelled text (answer_sha256), as labels of `longmark annotate export` do."
        )
    return (
        f"The labels are of these answers: {labels} no hash of the labelled text (answer_sha256), as labels of "
        "`longmark annotate export` do."
    )


def _columns_in_words(claimed: Claimed) -> str:
    """Whose word it is which columns of a table are labels, where somebody named them."""
    if not claimed.label_columns:
        return ""
    columns = listed(list(claimed.label_columns), len(claimed.label_columns))
    return (
        " The columns that are labels of these answers, as whoever asked for this certificate says (--label-columns): "
        f"{columns}."
    )


def _error_in_words(claimed: Claimed, correction: Correction) -> str:
    stated = ""
    if claimed.looks is not None:
        stated = " Whoever asked for this certificate says how often labels were looked at."
    return (
        f"The chance that a false claim is made from these labels is at most {100 * CLAIM_ERROR:g} % in all, over "
        f"{correction.family.in_words()}. Simulations of the command with {FEWEST_COVERED} labels or more of a system "
        f"bear this out.{stated}"
    )


def _ends_in_words(correction: Correction) -> str:
    if correction.labelled.bounds is not None:
        return "The scale is known, so that the worst label that the sample may have missed is in the interval."
    ends = f"{correction.scale.low:g} to {correction.scale.high:g}"
    return f"No answer deserves a label outside {ends}, those that were seen: the ends of the scale were not given."


def _classes_in_words(correction: Correction) -> str:
    """Which label is the lowest and which the highest, where that is known, and whose word it is."""
    classes = correction.scale.declared
    if not classes:
        return ""
    given_order = bool(correction.options.order)
    source = "whoever asked for this certificate (--order)" if given_order else "the file"
    text = f" From the lowest to the highest: {shown_classes(classes)}, as {source} says."
    if not given_order or correction.declared is None:
        return text
    declared = correction.declared.written()
    if declared != _written(classes):
        text += f" The file says {declared}."
    return text


def _written(classes: Sequence[str]) -> str:
    return DeclaredScale(tuple(classes), ordered=True).written()


def _seeds_in_words(seeds: Sequence[int]) -> str:
    """The seeds that somebody chose, where they are not the default."""
    if not any(seeds):
        return ""
    numbers = listed(list(map(str, seeds)), len(seeds))
    if len(seeds) == 1:
        return f" The draw has the seed {numbers}; whoever drew chose it. The default is 0."
    return f" The draws have the seeds {numbers}; whoever drew chose them. The default is 0."
