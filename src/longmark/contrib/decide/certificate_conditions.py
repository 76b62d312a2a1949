"""The conditions of a certificate: what is missing between its inputs and the claim, each with what to do."""

from __future__ import annotations

from collections.abc import Iterator

from longmark.analysis.compare.checks import check_scoring
from longmark.contrib.decide.certificate_claim import Claimed
from longmark.contrib.decide.certificate_figures import figures, interval_in_words
from longmark.contrib.decide.certificate_raters import answers_by_several, uneven_raters
from longmark.contrib.decide.correction import Correction
from longmark.contrib.decide.correction_words import misfits_in_words, remedy_of
from longmark.errors import UserError
from longmark.report.format import counted, listed
from longmark.scores.answer_texts import OTHER_TEXT
from longmark.scores.labels import first_few
from longmark.stats.agreement import Agreement
from longmark.stats.corrected import (
    FEWEST_COVERED,
    FEWEST_RATERS,
    NO_SCALE,
    NOT_TOLD_APART,
    CorrectedEstimate,
)
from longmark.stats.labelled_sample import FEWEST_LABELS
from longmark.stats.raters import CONTRADICT


def unmet_conditions(
    claimed: Claimed, correction: Correction, agreement: Agreement | None
) -> Iterator[str]:
    """What stands between these inputs and any certificate."""
    yield from _unfinished_runs(correction)
    yield from _several_ways_of_scoring(correction)
    yield from _few_labels(claimed, correction)
    yield from _labels_of_no_sample(claimed, correction)
    yield from _stopped_runs(correction)
    yield from _repeated_questions(correction)
    if claimed.these_raters and (uneven := uneven_raters(correction)) is not None:
        yield uneven
    for names in correction.alike:
        yield f"One name for each rater: {names} Give each person one name."
    yield from _no_agreement(correction, agreement)


# Runs -----------------------------------------------------------------------------------------------------------------


def _unfinished_runs(correction: Correction) -> Iterator[str]:
    scores = correction.labelled.scores
    for manifest in scores.manifests:
        if not manifest.data:
            yield f"How {manifest.folder} was scored: it has no manifest. Score the answers by `longmark run`."
        elif not manifest.ended:
            yield f"The rest of {manifest.folder}: the run is not finished. Repeat its `longmark run`."
    for missing in scores.missing:
        folder = scores.manifests[missing.run].folder
        yield f"Rows of {folder}: {missing.in_words()}. Repeat its `longmark run`."


def _several_ways_of_scoring(correction: Correction) -> Iterator[str]:
    scores = correction.labelled.scores
    metric = correction.metrics[0].metric
    try:
        check_scoring(scores, [metric], False, "their means cannot be held against each other")
    except UserError as error:
        reason = str(error).partition(" Score them again")[0]
        yield f"One way of scoring: {reason}".replace("\n", " ")


def _stopped_runs(correction: Correction) -> Iterator[str]:
    """Runs whose questions were chosen by their scores."""
    for manifest in correction.labelled.scores.manifests:
        if manifest.data.get("stopping"):
            yield (
                f"A run with a fixed number of questions: {manifest.folder} was stopped by its scores (longmark "
                "decide). Score all questions by `longmark run`."
            )


def _repeated_questions(correction: Correction) -> Iterator[str]:
    repeated = correction.repeated
    if repeated.too_many:
        yield (
            f"Each question once: {repeated.in_words()}, so that the variance is up to {repeated.inflation:.1f} times as "
            "large as it seems. Leave them out, or name a field that copies share (--cluster FIELD)."
        )


# Labels ---------------------------------------------------------------------------------------------------------------


def _few_labels(claimed: Claimed, correction: Correction) -> Iterator[str]:
    metric = correction.metrics[0]
    better, worse, _ = claimed.parts()
    for name in (better, worse):
        mean = metric.means.get(name)
        if mean is None:
            yield f"Scores of {name} on {metric.metric}: it has none. Score its answers by `longmark run`."
        elif mean.labelled < FEWEST_COVERED:
            number = f"{mean.labelled} of at least {FEWEST_COVERED} answers"
            yield f"Labels of {name}: {number}. {_more_labels(claimed, correction)}"


def _more_labels(claimed: Claimed, correction: Correction) -> str:
    """How more labels are drawn, if the plan allows another draw."""
    looks = correction.family.looks
    if looks.planned is not None and looks.number is not None and looks.number >= looks.planned:
        used = (
            "The one look that was planned is used"
            if looks.planned == 1
            else f"All {looks.planned} looks are used"
        )
        return (
            f"{used}: plan a new study with more answers and labels of its own (`longmark label next --n N --out "
            "FILE`, without --earlier)."
        )
    earlier = "" if claimed.draw is None else f" --earlier {claimed.draw}"
    return f"Draw more by `longmark label next{earlier}`."


def _labels_of_no_sample(claimed: Claimed, correction: Correction) -> Iterator[str]:
    """How the labelled answers were chosen, and labels that are not of this sample."""
    if claimed.draw is None and not correction.drawn and not claimed.equal_chances:
        yield (
            "How the labelled answers were chosen: the labels have no inclusion_probability. Draw answers by `longmark "
            "label next` and give its file by --draw; or add --equal-chances, if each answer was chosen with the same "
            "chance."
        )
    yield from _unjoined_labels(correction)
    if correction.departures:
        yield (
            f"The answers that were drawn: {correction.departures.in_words()}. Certify the run that {claimed.draw} was "
            "drawn from, or draw and label anew."
        )
    for misfit in misfits_in_words(correction.family):
        yield f"The labels that were drawn: {misfit}. Certify all labels of the draw, or draw anew."
    if correction.empty:
        lines = counted(correction.empty, "line")
        yield (
            f"Labels with a value: {lines} of {correction.file} without one. Have them labelled, or leave them out."
        )
    if correction.replaced:
        labels = counted(correction.replaced, "label was", "labels were")
        yield f"One label of a rater for an answer: {labels} given again. Keep the one that counts."
    yield from _labels_beside_the_draw(claimed, correction)


def _unjoined_labels(correction: Correction) -> Iterator[str]:
    for reason, ids in correction.unjoined.items():
        labels = f"{counted(len(ids), 'labelled answer')} ({first_few(ids, 3)})"
        remedy = (
            "Label the new text, or leave these labels out."
            if reason == OTHER_TEXT
            else "Mend their ids, or leave them out."
        )
        yield f"Labels of answers of these runs: {labels} could not be joined ({reason}). {remedy}"


def _labels_beside_the_draw(claimed: Claimed, correction: Correction) -> Iterator[str]:
    """Drawn answers without a label, labels of answers that were not drawn, and claims that were not planned."""
    family = correction.family
    if family.unlabelled:
        answers = counted(len(family.unlabelled), "answer")
        ids = first_few(family.unlabelled, 3)
        yield f"Labels of every drawn answer: {answers} of {claimed.draw} without one ({ids}). Have them labelled."
    if family.undrawn:
        answers = counted(len(family.undrawn), "labelled answer")
        ids = first_few(family.undrawn, 3)
        yield (
            f"Labels of drawn answers only: {answers} ({ids}) were not drawn by {claimed.draw}. Leave these labels out."
        )
    if not family.may_claim(*claimed.parts()):
        planned = listed(family.planned)
        yield f"A planned claim: the draw was for {planned}. Draw new answers for another claim."


# Raters ---------------------------------------------------------------------------------------------------------------


def _no_agreement(correction: Correction, agreement: Agreement | None) -> Iterator[str]:
    if agreement is None:
        yield "Agreement of raters: let two raters or more label the same answers."
        return
    shared = min(answers_by_several(correction).values(), default=0)
    if shared < FEWEST_LABELS:
        yield (
            f"Answers of each system that two raters or more labelled: at least {FEWEST_LABELS}, found {shared}. "
            "Without them strict raters cannot be told from bad answers: let two raters or more label the same answers."
        )
    elif agreement.value is None or (agreement.low is None and agreement.value < 1):
        yield f"Agreement of raters: {agreement.reason}. Let two raters or more label more of the same answers."
    elif agreement.low is not None and agreement.low <= 0:
        alpha = interval_in_words(figures(agreement))
        yield (
            f"Raters who agree: Krippendorff's alpha may be 0 ({alpha}). Read with them some answers on which they "
            "differ, sharpen the guidelines, and have the answers of a new draw labelled."
        )


# The difference -------------------------------------------------------------------------------------------------------


def unshown_difference(
    claimed: Claimed, correction: Correction, difference: CorrectedEstimate | None
) -> Iterator[str]:
    """Why the corrected difference does not show the claim: it has no interval, or its interval holds 0."""
    if difference is None:
        remedy = _more_labels(claimed, correction)
        yield f"A corrected difference with an interval: it has no labels. {remedy}"
    elif difference.low is None:
        reason = _without_interval(claimed, correction, difference)
        yield f"A corrected difference with an interval: {reason}"
    elif difference.low <= 0:
        above = difference.value is not None and difference.value > 0
        figure = interval_in_words(figures(difference))
        condition = (
            f"A difference above 0: the corrected one is {figure}, over {correction.family.in_words()}. "
            f"{_no_claim(claimed, correction, difference)}"
        )
        if above and _raters_are_few(correction, difference):
            condition += (
                f" {correction.raters} raters show little of how far people differ about the systems: let "
                f"{FEWEST_RATERS} or more label, or claim it for these raters only (--these-raters)."
            )
        yield condition
        if difference.unknown and above:
            yield f"Scores or labels of all answers: {difference.remark}."


def _raters_are_few(correction: Correction, difference: CorrectedEstimate) -> bool:
    """Whether it is the raters' disagreement that makes the interval of a claim about people wide."""
    effective = correction.effective_raters
    return bool(
        effective is not None
        and effective < FEWEST_RATERS
        and difference.rater_variance
        and not correction.options.these_raters
    )


def _without_interval(
    claimed: Claimed, correction: Correction, difference: CorrectedEstimate
) -> str:
    """Why a difference has no interval, of which system that is said, and what to do."""
    of_systems = "; ".join(
        f"{name}: {mean.reason}"
        for name, mean in correction.metrics[0].means.items()
        if mean.low is None and mean.reason
    )
    reason = of_systems or difference.reason or "no reason is known"
    more_labels_help = not any(text in reason for text in (NO_SCALE, NOT_TOLD_APART, CONTRADICT))
    remedy = (
        _more_labels(claimed, correction) if more_labels_help else remedy_of(correction, [reason])
    )
    return f"{reason}. {remedy}"


def _no_claim(claimed: Claimed, correction: Correction, difference: CorrectedEstimate) -> str:
    """What is left to do where the interval holds 0 or lies below it."""
    better, worse, _ = claimed.parts()
    if difference.high is not None and difference.high < 0:
        return f"The labels show the opposite: {worse} is above {better}."
    remedy = _more_labels(claimed, correction)
    return f"These labels do not show the claim; more of them may. {remedy}"
