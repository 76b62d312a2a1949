"""The sections of a label with classes: AUC and calibration of yes or no, and a metric's error by class."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

from longmark.analysis.metaeval.result import RatingLabel
from longmark.analysis.metaeval.scale import shown
from longmark.analysis.metaeval.words import Naming, between, figure, percent, questions, reasons, shared
from longmark.report import charts, lanes
from longmark.report.document import Section
from longmark.report.format import counted
from longmark.report.tables import Column

_DIAGRAMS, _MAPS = 6, 4


def binary_sections(part: RatingLabel, naming: Naming) -> Iterator[Section]:
    """AUC and calibration."""
    yield _auc(part, naming)
    yield _calibration(part, naming)


def _auc(part: RatingLabel, naming: Naming) -> Section:
    how = "Obuchowski's interval over questions" if part.clustered else "DeLong's interval"
    tables = [
        naming.table(
            "auc",
            "Area under the ROC curve",
            (
                *(Column("metric"), *naming.estimate("AUC"), Column("yes"), Column("no")),
                Column("questions", lambda a: questions(a.clusters, a.yes + a.no)),
                *(Column("missing"), Column("reason")),
            ),
            part.aucs,
            "The probability that the metric ranks an answer labelled yes above one labelled no; 0.5 is chance. "
            f"{how} on the logit scale. The label is the majority of the raters.",
        )
    ]
    if part.auc_differences:
        columns = (
            *(Column("first metric", "first"), Column("second metric", "second")),
            *(
                *naming.estimate("difference"),
                Column("p", kind="p"),
                Column("p (Holm)", "adjusted", kind="p"),
            ),
            *(Column("n"), Column("questions", lambda d: questions(d.clusters, d.n)), Column("reason")),
        )
        test = "Obuchowski's test over questions" if part.clustered else "DeLong's test"
        note = f"{test} on the same answers; Holm over all pairs of metrics."
        tables.append(naming.table("auc_differences", "Differences in AUC", columns, part.auc_differences, note))
    forest = lanes.forest(
        [lanes.ForestRow(a.metric, a.value, a.low, a.high, a.reason or f"n = {a.yes + a.no}") for a in part.aucs],
        f"Area under the ROC curve for {part.label}",
        0.5,
    )
    known = [a for a in part.aucs if a.value is not None]
    without = reasons((a.metric, a.reason) for a in part.aucs)
    if not known:
        return naming.section("Discrimination of yes and no", f"No metric has an AUC.{without}", tables, (forest,))
    best = max(known, key=lambda a: a.value or 0.0)
    above = sum((a.low or 0.0) > 0.5 for a in known)
    says = (
        f"Highest AUC: {best.metric}, {between(best.value, best.low, best.high)} ({best.yes:,} yes, {best.no:,} no). "
        f"Interval above 0.5: {above} of {counted(len(part.aucs), 'metric')}."
    )
    says += shared(best.value, ((a.metric, a.value) for a in known if a is not best))
    if part.undecided:
        says += f" {counted(part.undecided, 'answer')} with as many yes as no excluded."
    return naming.section("Discrimination of yes and no", says + without, tables, (forest,))


class _Bin(NamedTuple):
    of: Any
    bin: Any


def _calibration(part: RatingLabel, naming: Naming) -> Section:
    whole = naming.table(
        "calibration",
        "Calibration",
        (
            *(Column("metric"), Column("expected calibration error", "error", 3, key="ece")),
            *(Column("Brier", places=3), Column("n"), Column("missing"), Column("reason")),
        ),
        part.calibrations,
        "Ten bins of equal width; expected calibration error: mean distance between a bin's mean score and its share "
        "of yes, weighted by answers. Brier: mean squared distance of score and label. Where lower is better "
        "the score is 1 - the metric.",
    )
    bins = naming.table(
        "calibration_bins",
        "Share of yes by score",
        (
            *(
                Column("metric", "of.metric"),
                Column("from", "bin.low", 1, key="low"),
                Column("to", "bin.high", 1, key="high"),
            ),
            *(Column("n", "bin.yes.n"), Column("questions", "bin.questions"), Column("mean score", "bin.mean", 3)),
            *naming.estimate("share of yes", "bin.yes", "share"),
        ),
        [_Bin(c, b) for c in part.calibrations for b in c.bins],
        "A bin includes its lower edge and excludes its upper edge; the last includes both. Wilson's intervals"
        + (", wider where answers to one question are dependent." if part.clustered else "."),
    )
    known = sorted((c for c in part.calibrations if c.error is not None), key=lambda c: c.error or 0.0)
    diagrams = [
        charts.reliability(
            [charts.Bin(b.low, b.high, b.yes.n, b.mean, b.yes.value, b.yes.low, b.yes.high) for b in c.bins],
            f"{c.metric}: share of yes against score",
            says=f"Expected calibration error {figure(c.error)}, {counted(c.n, 'answer')}.",
        )
        for c in known[:_DIAGRAMS]
    ]
    without = reasons((c.metric, c.reason) for c in part.calibrations)
    if not known:
        return naming.section("Calibration", f"No metric can be read as a probability of yes.{without}", (whole,))
    best, worst = known[0], known[-1]
    says = f"Lowest expected calibration error: {best.metric}, {figure(best.error)}"
    says += f"; highest: {worst.metric}, {figure(worst.error)}." if worst is not best else "."
    says += (
        " Read it with the AUC: a constant score can be calibrated; a metric that ranks well can be miscalibrated, and "
        "then its scores are not probabilities."
    )
    return naming.section("Calibration", says + without, (whole, bins), tuple(diagrams))


def class_section(part: RatingLabel, naming: Naming) -> Section:
    """Error by class."""
    names = shown(part.scale)
    how = "this class or a higher one above one of a lower" if part.scale.number else "this class above one of another"
    each = [c for one in part.classes for c in one.classes]
    tables = [
        naming.table(
            "classes",
            "Scores by human class",
            (
                *(Column("metric"), Column("class", lambda c: names[c.name]), Column("n"), Column("missing")),
                *(*naming.estimate("mean", "mean"), Column("error", places=3), Column("AUC", "auc", 3)),
            ),
            each,
            f"mean: in the metric's own units, BCa interval{' over questions' if part.clustered else ''}. error: mean "
            f"distance from the class's number. AUC: probability that the metric ranks an answer of {how} class.",
        )
    ]
    scaled = [one for one in part.classes if one.error is not None]
    if scaled:
        columns = (
            *(Column("metric"), Column("n"), Column("mean error", "error", 3)),
            Column("nearest class is right", "right", 3, key="right"),
        )
        tables.append(naming.table("errors", "Error over all answers", columns, scaled))
        confusion = (
            *(Column("metric"), Column("human class", lambda c: names[c.name], key="class")),
            *(_nearest(name, place) for place, name in enumerate(names.values())),
        )
        note = "Answers of the class in the row whose score is nearest to the class in the column."
        of_scaled = [c for one in scaled for c in one.classes]
        tables.append(naming.table("confusion", "Nearest class by human class", confusion, of_scaled, note))
    maps = [
        charts.heat_map(
            [names[c.name] for c in one.classes],
            list(names.values()),
            [[count / sum(c.nearest) if sum(c.nearest) else None for count in c.nearest] for c in one.classes],
            f"{one.metric}: share of the human class (row) by nearest class (column)",
            0.0,
            1.0,
            2,
            says=f"Nearest to the human class in {percent(one.right)} of {counted(one.n, 'answer')}.",
        )
        for one in scaled[:_MAPS]
    ]
    return naming.section("Error by class", _classes_say(part), tables, maps)


def _nearest(name: str, place: int) -> Column:
    return Column(name, lambda c: c.nearest[place], key=f"nearest_{place}")


def _classes_say(part: RatingLabel) -> str:
    names = shown(part.scale)
    says = f"{counted(len(names), 'class', 'classes')}: {', '.join(names.values())}."
    if part.undecided:
        says += f" {counted(part.undecided, 'answer')} without a majority excluded."
    scaled = [each for each in part.classes if each.error is not None]
    if not scaled:
        why = "; ".join(dict.fromkeys(each.reason for each in part.classes if each.reason))
        return f"{says} No error: {why or 'no metric has a score'}."
    best = min(scaled, key=lambda each: each.error or 0.0)
    worst = max((c for c in best.classes if c.error is not None), key=lambda c: c.error or 0.0)
    return (
        f"{says} Lowest error: {best.metric}, {figure(best.error)}, nearest class right in {percent(best.right)}; "
        f"highest error on {names[worst.name]} ({figure(worst.error)}, n = {worst.n:,})."
    )
