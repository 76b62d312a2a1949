"""The sections of a label that is a yes or a no: telling the two apart, and calibration."""

from __future__ import annotations

from collections.abc import Iterator

from longmark.metaeval.result import RatingLabel
from longmark.metaeval.words import between, ends, figure, level_name, questions, reasons, shared
from longmark.report import charts, lanes
from longmark.report.document import Section
from longmark.report.words import counted
from longmark.tables import Column, Table

_DIAGRAMS = 6


def binary_sections(part: RatingLabel, heading: str, prefix: str, alpha: float) -> Iterator[Section]:
    yield _auc(part, heading, prefix, alpha)
    yield _calibration(part, heading, prefix, alpha)


def _auc(part: RatingLabel, heading: str, prefix: str, alpha: float) -> Section:
    interval = level_name(alpha)
    tables = [
        Table(
            f"{prefix}auc",
            "Area under the ROC curve",
            (
                Column("metric"),
                Column("AUC", 3),
                Column(interval, 3, "range", "auc"),
                Column("yes"),
                Column("no"),
                Column("questions"),
                Column("missing"),
                Column("why none", key="reason"),
            ),
            tuple(
                (
                    a.metric,
                    a.value,
                    ends(a.low, a.high),
                    a.yes,
                    a.no,
                    questions(a.clusters, a.yes + a.no),
                    a.missing,
                    a.reason,
                )
                for a in part.aucs
            ),
            note="The chance that the metric ranks an answer with a yes above one with a no; 0.5 by chance. "
            + (
                "Intervals by DeLong's components summed over each question's answers (Obuchowski)"
                if part.clustered
                else "DeLong's interval"
            )
            + " on the logit. The label is what most raters said.",
        )
    ]
    if part.auc_differences:
        tables.append(
            Table(
                f"{prefix}auc_differences",
                "Differences in AUC",
                (
                    Column("better"),
                    Column("worse"),
                    Column("difference", 3),
                    Column(interval, 3, "range", "difference"),
                    Column("p", kind="p"),
                    Column("p, Holm", kind="p", key="adjusted"),
                    Column("n"),
                    Column("questions"),
                    Column("why none", key="reason"),
                ),
                tuple(
                    (
                        d.first,
                        d.second,
                        d.value,
                        ends(d.low, d.high),
                        d.p,
                        d.adjusted,
                        d.n,
                        questions(d.clusters, d.n),
                        d.reason,
                    )
                    for d in part.auc_differences
                ),
                note="DeLong's test on the same answers"
                + (", over questions (Obuchowski)" if part.clustered else "")
                + "; Holm over all pairs of metrics.",
            )
        )
    forest = lanes.forest(
        [lanes.ForestRow(a.metric, a.value, a.low, a.high, a.reason or f"n = {a.yes + a.no}") for a in part.aucs],
        f"Area under the ROC curve for {part.label}",
        0.5,
    )
    known = [a for a in part.aucs if a.value is not None]
    without = reasons((a.metric, a.reason) for a in part.aucs)
    if not known:
        return Section(f"{heading}Telling yes from no", f"No metric has an AUC.{without}", tuple(tables), (forest,))
    best = max(known, key=lambda a: a.value or 0.0)
    sure = sum((a.low or 0.0) > 0.5 for a in known)
    says = (
        f"{best.metric} tells yes from no best: AUC {between(best.value, best.low, best.high)} "
        f"({best.yes:,} yes, {best.no:,} no). {sure} of {counted(len(part.aucs), 'metric')} surely above chance."
    )
    says += shared(best.value, ((a.metric, a.value) for a in known if a is not best))
    if part.undecided:
        says += f" On {counted(part.undecided, 'answer')} as many said yes as no; these have no label."
    return Section(f"{heading}Telling yes from no", says + without, tuple(tables), (forest,))


def _calibration(part: RatingLabel, heading: str, prefix: str, alpha: float) -> Section:
    whole = Table(
        f"{prefix}calibration",
        "Calibration",
        (
            Column("metric"),
            Column("expected calibration error", 3, key="ece"),
            Column("Brier", 3),
            Column("n"),
            Column("missing"),
            Column("why none", key="reason"),
        ),
        tuple((c.metric, c.error, c.brier, c.n, c.missing, c.reason) for c in part.calibrations),
        note="Ten bins of equal width; the error is the mean distance between a bin's mean score and its share of yes, "
        "weighted by the answers in it. Brier: the mean squared distance of score and label. Where lower is better "
        "the score is 1 - the metric.",
    )
    bins = Table(
        f"{prefix}calibration_bins",
        "Share of yes by score",
        (
            Column("metric"),
            Column("from", 1, key="low"),
            Column("to", 1, key="high"),
            Column("n"),
            Column("questions"),
            Column("mean score", 3),
            Column("share of yes", 3, key="share"),
            Column(level_name(alpha), 3, "range", "share"),
        ),
        tuple(
            (c.metric, b.low, b.high, b.yes.n, b.questions, b.mean, b.yes.value, ends(b.yes.low, b.yes.high))
            for c in part.calibrations
            for b in c.bins
        ),
        note="A bin holds its lower edge and not its upper one; the last holds both. Wilson's intervals"
        + (", wider where answers to one question hang together." if part.clustered else "."),
    )
    known = sorted((c for c in part.calibrations if c.error is not None), key=lambda c: c.error or 0.0)
    diagrams = [
        charts.reliability(
            [charts.Bin(b.low, b.high, b.yes.n, b.mean, b.yes.value, b.yes.low, b.yes.high) for b in c.bins],
            f"{c.metric}: share of yes against score",
            says=f"Off by {figure(c.error)} on average, over {counted(c.n, 'answer')}.",
        )
        for c in known[:_DIAGRAMS]
    ]
    without = reasons((c.metric, c.reason) for c in part.calibrations)
    if not known:
        return Section(f"{heading}Calibration", f"No metric can be read as a chance of yes.{without}", (whole,))
    best, worst = known[0], known[-1]
    says = f"{best.metric} is off by {figure(best.error)} on average"
    says += f", {worst.metric} by {figure(worst.error)}." if worst is not best else "."
    says += (
        " Read it beside the AUC: a constant can be calibrated and tell nothing; a metric can rank well and be off: "
        "its order is right then, but its values are no chances."
    )
    return Section(f"{heading}Calibration", says + without, (whole, bins), tuple(diagrams))
