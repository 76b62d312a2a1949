"""The section of a label whose values are classes: a metric's mean in each, its error, and the class it is nearest."""

from __future__ import annotations

from longmark.metaeval.result import RatingLabel
from longmark.metaeval.scale import shown
from longmark.metaeval.words import figure, level_name, percent, span
from longmark.report import charts
from longmark.report.document import Section
from longmark.report.words import counted
from longmark.tables import Column, Table

_MAPS = 4


def class_section(part: RatingLabel, heading: str, prefix: str, alpha: float) -> Section:
    """Error by class."""
    names = shown(part.scale)
    means = Table(
        f"{prefix}classes",
        "Metrics by people's class",
        (
            Column("metric"),
            Column("class"),
            Column("n"),
            Column("missing"),
            Column("mean", 3),
            Column(level_name(alpha), 3, "range", "mean"),
            Column("error", 3),
            Column("AUC", 3),
        ),
        tuple(
            (c.metric, names[c.name], c.n, c.missing, c.mean.value, span(c.mean), c.error, c.auc)
            for each in part.classes
            for c in each.classes
        ),
        note=_note(part),
    )
    tables = [means]
    scaled = [each for each in part.classes if each.error is not None]
    if scaled:
        tables.append(
            Table(
                f"{prefix}errors",
                "Error over all answers",
                (
                    Column("metric"),
                    Column("n"),
                    Column("mean error", 3),
                    Column("nearest class is right", 3, key="right"),
                ),
                tuple((each.metric, each.n, each.error, each.right) for each in scaled),
            )
        )
        tables.append(
            Table(
                f"{prefix}confusion",
                "Nearest class by people's class",
                (
                    Column("metric"),
                    Column("people's class", key="class"),
                    *(Column(name, key=f"nearest_{place}") for place, name in enumerate(names.values())),
                ),
                tuple((c.metric, names[c.name], *c.nearest) for each in scaled for c in each.classes),
                note="Answers of the class on the left whose score is nearest to the class above.",
            )
        )
    maps = [
        charts.heat_map(
            [names[c.name] for c in each.classes],
            list(names.values()),
            [[count / sum(c.nearest) if sum(c.nearest) else None for count in c.nearest] for c in each.classes],
            f"{each.metric}: share of people's class (line) by nearest class (column)",
            0.0,
            1.0,
            2,
            says=f"Nearest to people's own class in {percent(each.right)} of {counted(each.n, 'answer')}.",
        )
        for each in scaled[:_MAPS]
    ]
    return Section(f"{heading}Error by class", _says(part), tuple(tables), tuple(maps))


def _note(part: RatingLabel) -> str:
    how = (
        "AUC: the chance that the metric ranks an answer of this class or a higher one above one of a lower class."
        if part.scale.number
        else "AUC: the chance that the metric ranks an answer of this class above one of another class."
    )
    over = " over questions" if part.clustered else ""
    return f"Mean in the metric's own units, BCa intervals{over}. Error: mean distance from the class's number. {how}"


def _says(part: RatingLabel) -> str:
    names = shown(part.scale)
    says = f"{counted(len(names), 'class', 'classes')}: {', '.join(names.values())}."
    if part.undecided:
        says += f" {counted(part.undecided, 'answer')} without a majority left out."
    scaled = [each for each in part.classes if each.error is not None]
    if not scaled:
        why = "; ".join(dict.fromkeys(each.reason for each in part.classes if each.reason))
        return (
            says
            + f" No error, for {why or 'no metric has a value'}; the means by class still tell what the metrics see."
        )
    best = min(scaled, key=lambda each: each.error or 0.0)
    says += f" {best.metric} is nearest to people: off by {figure(best.error)}, right class in {percent(best.right)}."
    worst = max((c for c in best.classes if c.error is not None), key=lambda c: c.error or 0.0)
    return says + f" It errs most on {names[worst.name]} ({figure(worst.error)}, n = {worst.n:,})."
