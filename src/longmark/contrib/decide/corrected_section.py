"""Corrected results as a section of a page: what they say, the means, the differences, transport."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from longmark.analysis.grid import Grid
from longmark.contrib.decide.correction import CorrectedMetric, Correction
from longmark.contrib.decide.correction_words import (
    as_judged,
    misfits_in_words,
    raters_in_words,
    remedy_of,
    units_in_words,
)
from longmark.report.document import Section
from longmark.report.format import counted, listed, metric_titles
from longmark.report.tables import Column
from longmark.scores.labels import first_few
from longmark.stats.corrected import CorrectedEstimate, Transport

CORRECTED = "Corrected by labels"

Row = tuple[str, ...]
"""A metric with the system of a mean, or with the two systems of a difference."""

_MEANS = (
    "In the labels' units ({}). scores alone: their mean, in their own units. worth: how many labels alone would give "
    "as narrow an interval."
)
_DIFFERENCES = (
    "first - second, in the labels' units. The intervals are simultaneous, and p is adjusted, over {}: the chance that "
    "any of them shows a system above another that is not is at most {:.3g}. An interval leaves out 0 where p "
    "is at most {:.3g}."
)
_BIAS = " bias: of score - label, {}, as the scores are in the labels' units."
_BIAS_OF_MEAN = "above 0 {} scores the system too high"
_BIAS_OF_DIFFERENCE = "above 0 {} favours the first"
_TRANSPORT = (
    "residual: mean of label - score, calibrated on the other systems' labels, less theirs. pass: its interval is "
    "inside ± {:g}, so that the others' labels would have corrected this system as well. fail: outside, since {} "
    "treats it differently, or since it is better or worse than noisy scores can show."
)


def section(correction: Correction) -> Section:
    """The corrected results as a section: what they say, the means, the differences, transport."""
    grids = [_means_grid(correction)]
    if any(metric.pairs for metric in correction.metrics):
        grids.append(_differences_grid(correction))
    if any(metric.transports for metric in correction.metrics):
        grids.append(_transport_grid(correction))
    return Section(
        CORRECTED,
        _result_in_words(correction),
        tuple(grid.table() for grid in grids),
        note=_note(correction),
        brief=2,
    )


# Tables ---------------------------------------------------------------------------------------------------------------


def _name(place: int) -> Callable[[Row], str]:
    return lambda row: row[place]


_METRIC = Column("metric", _name(0), kind="metric")
_SYSTEM = Column("system", _name(1))
_FIRST = Column("first", _name(1))
_SECOND = Column("second", _name(2))


def _means_grid(correction: Correction) -> Grid[Row]:
    means: dict[Row, CorrectedEstimate] = {
        (metric.metric, system): mean
        for metric in correction.metrics
        for system, mean in metric.means.items()
    }
    note = _MEANS.format(units_in_words(correction))
    return Grid(
        "corrected-means",
        "Corrected means",
        (_METRIC, _SYSTEM),
        list(means),
        _estimate_columns(correction, means),
        note=note + _bias_note(correction, _BIAS_OF_MEAN),
        unit="answers",
        beside=_figure_columns(means),
    )


def _differences_grid(correction: Correction) -> Grid[Row]:
    pairs: dict[Row, CorrectedEstimate] = {
        (metric.metric, *systems): pair
        for metric in correction.metrics
        for systems, pair in metric.pairs.items()
    }
    alpha = 1 - correction.options.level
    note = _DIFFERENCES.format(correction.family.in_words(), alpha / 2, alpha)
    p = Column("p (adjusted)", lambda row: pairs[row].p, kind="p")
    return Grid(
        "corrected-differences",
        "Corrected differences",
        (_METRIC, _FIRST, _SECOND),
        list(pairs),
        _estimate_columns(correction, pairs),
        note=note + _bias_note(correction, _BIAS_OF_DIFFERENCE),
        unit="answers",
        beside=(p, *_figure_columns(pairs)),
    )


def _transport_grid(correction: Correction) -> Grid[Row]:
    checks: dict[Row, Transport] = {
        (metric.metric, system): check
        for metric in correction.metrics
        for system, check in metric.transports.items()
    }
    residual = Column("residual (90 % CI)", lambda row: checks[row].residual, 3, key="residual")
    return Grid(
        "transport",
        "Could a system do without labels of its own",
        (_METRIC, _SYSTEM),
        list(checks),
        (residual,),
        note=_TRANSPORT.format(correction.options.margin, _scorer(correction)),
        unit="labels",
        beside=(Column("verdict", lambda row: checks[row].verdict),),
    )


def _bias_note(correction: Correction, meaning: str) -> str:
    if correction.options.calibrate:
        return ""
    return _BIAS.format(meaning.format(_scorer(correction)))


def _scorer(correction: Correction) -> str:
    """What scored: a metric by its title; of several no one is meant. It need not have a judge."""
    titles = metric_titles(metric.metric for metric in correction.metrics)
    return next(iter(titles.values())) if len(titles) == 1 else "the metric"


def _estimate_columns(
    correction: Correction, estimates: Mapping[Row, CorrectedEstimate]
) -> tuple[Column, ...]:
    corrected = Column("corrected", lambda row: estimates[row], 3)
    bias = Column("bias", lambda row: estimates[row].bias, 3)
    labels_alone = Column("labels alone", lambda row: estimates[row].people, 3, spare=1)
    if correction.options.calibrate:
        return (corrected, labels_alone)
    return (corrected, bias, labels_alone)


def _figure_columns(estimates: Mapping[Row, CorrectedEstimate]) -> tuple[Column, ...]:
    return (
        Column("scores alone", lambda row: estimates[row].raw, 3, kind="number"),
        Column("labels", lambda row: estimates[row].labelled, kind="number"),
        Column("worth", lambda row: estimates[row].worth, 0, kind="number", spare=2),
        Column("weight of scores", lambda row: estimates[row].weight, 2, kind="number", spare=3),
    )


# Sentences ------------------------------------------------------------------------------------------------------------


def _result_in_words(correction: Correction) -> str:
    """Who is better after the correction, and what it rests on."""
    titles = metric_titles(metric.metric for metric in correction.metrics)
    statements = [
        f"{_differences_in_words(correction, metric)} on {titles[metric.metric]}{_whose(correction, metric)}"
        for metric in correction.metrics
        if metric.pairs
    ]
    result = "; ".join(statements)
    if result.startswith("no "):
        result = result[0].upper() + result[1:]
    answers = counted(correction.joined, "labelled answer")
    raters = counted(correction.raters, "rater")
    labels = f"Labels ({correction.label}): {answers} by {raters}."
    return f"{result}{'. ' if result else ''}{labels} {_corrected_in_words(correction)}"


def _differences_in_words(correction: Correction, metric: CorrectedMetric) -> str:
    if significant := correction.significant_pairs(metric):
        return listed([" above ".join(pair) for pair in significant])
    tested = any(pair.p is not None for pair in metric.pairs.values())
    planned = " planned" if correction.family.planned else ""
    return f"no {'significant' if tested else 'corrected'}{planned} difference"


def _whose(correction: Correction, metric: CorrectedMetric) -> str:
    """Of which raters a result is, where that matters."""
    these_raters = correction.options.these_raters
    if not these_raters and not correction.significant_pairs(metric):
        return ""
    return as_judged(correction.raters, correction.effective_raters, these_raters=these_raters)


def _corrected_in_words(correction: Correction) -> str:
    """Which means and differences have no interval, and what to do."""
    reasons = {
        system: mean.reason
        for metric in correction.metrics
        for system, mean in metric.means.items()
        if mean.reason
    }
    # a pair without an interval is news only where both of its systems have one
    reasons |= {
        f"{first} - {second}": pair.reason
        for metric in correction.metrics
        for (first, second), pair in metric.pairs.items()
        if pair.reason and first not in reasons and second not in reasons
    }
    if not reasons:
        return "They correct the scores of all answers."
    without = "; ".join(f"{name} ({reason})" for name, reason in reasons.items())
    return f"No corrected interval of {without}. {remedy_of(correction, reasons.values())}"


def _note(correction: Correction) -> str:
    """What the results rest on, and all that contradicts it."""
    family = correction.family
    chances = " to ".join(
        dict.fromkeys(f"{probability:.3g}" for probability in correction.drawn or ())
    )
    drawn = f", drawn with the probabilities {chances}" if chances else ""
    scores = (
        "calibrated by one isotonic regression for all systems"
        if correction.options.calibrate
        else "as they are"
    )
    notes = [
        f"Valid only if the labelled answers are a random sample of all{drawn}. Scores: {scores}. "
        f"{raters_in_words(correction)}"
    ]
    if any(metric.pairs for metric in correction.metrics):
        error = (1 - correction.options.level) / 2
        notes.append(
            f"The chance of any false difference is at most {error:.3g}, over {family.in_words()}."
        )
    if family.unlabelled:
        answers = counted(len(family.unlabelled), "drawn answer has", "drawn answers have")
        ids = first_few(family.unlabelled, 3)
        notes.append(
            f"{answers} no label yet ({ids}); until then the labels count as looked at any number of times."
        )
    if family.undrawn:
        answers = counted(len(family.undrawn), "labelled answer was", "labelled answers were")
        ids = first_few(family.undrawn, 3)
        notes.append(f"{answers} not drawn ({ids}): these labels are no random sample.")
    if correction.departures:
        notes.append(
            f"These are not the answers that were drawn: {correction.departures.in_words()}. The sample is of others: "
            "draw and label anew."
        )
    notes += [f"{misfit[0].upper()}{misfit[1:]}." for misfit in misfits_in_words(family)]
    if correction.unjoined:
        unjoined = "; ".join(
            f"{len(ids):,} ({reason}: {first_few(ids, 3)})"
            for reason, ids in correction.unjoined.items()
        )
        notes.append(f"Labels without an answer: {unjoined}.")
    return " ".join((*notes, *correction.notices))
