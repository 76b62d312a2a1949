"""People among themselves, and what was joined, as sections."""

from __future__ import annotations

from longmark.metaeval.people import PERSON, RATERS_SHOWN, People
from longmark.metaeval.result import ChoiceLabel, RatingLabel
from longmark.metaeval.words import between, figure, gaps, level_name, span
from longmark.report.document import Section
from longmark.report.words import counted
from longmark.tables import Column, Table


def join_section(part: RatingLabel | ChoiceLabel, heading: str, prefix: str) -> Section:
    """How many answers (or pairs) have both sides, and why the others have not."""
    join = part.join
    what = "answer" if isinstance(part, RatingLabel) else "pair"
    rows = tuple(
        (metric.metric, metric.both, sum(metric.gaps.values()), gaps(metric.gaps) or None) for metric in part.metrics
    )
    columns = (Column("metric"), Column("with both"), Column("without a value"), Column("why"))
    tables = [Table(f"{prefix}join", f"Rated {what}s with a value of each metric", columns, rows)]
    says = f"People rated {counted(join.in_human, what)}; with rows: {join.joined:,}."
    if what == "pair":
        says = f"People chose in {counted(join.in_human, what)}; with rows of both answers: {join.joined:,}."
    if join.unmatched:
        lost = tuple((one.reason, one.count, ", ".join(one.names)) for one in join.unmatched)
        heads = (Column("why"), Column(f"{what}s"), Column("the first of them", key="first"))
        tables.append(Table(f"{prefix}unmatched", f"Rated {what}s without rows", heads, lost))
        worst = join.unmatched[0]
        names = ", ".join(worst.names[:3]) + (", …" if worst.count > 3 else "")
        says += f" Without rows: {sum(one.count for one in join.unmatched):,}; mostly, {worst.reason} ({names})."
    if join.only_in_rows:
        says += f" {counted(join.only_in_rows, 'answer')} of the rows nobody rated."
    return Section(f"{heading}What was joined", says, tuple(tables))


def people_section(people: People, heading: str, prefix: str, alpha: float, what: str) -> Section:
    """Agreement, the ceiling, and each rater."""
    raters = Table(
        f"{prefix}raters",
        "Raters",
        (
            Column("rater"),
            Column("ratings"),
            Column("mean", 3),
            Column("with others"),
            Column("agrees with the others", 3, key="agrees"),
        ),
        tuple((r.name, r.ratings, r.mean, r.with_others, r.agrees) for r in people.by_rater[:RATERS_SHOWN]),
        note="Agrees: the share of a rater's ratings that are what most of the others said. Ratings on which the "
        "others have no majority are left out."
        + (f" The {RATERS_SHOWN} of {len(people.by_rater):,} with the most ratings." if _more(people) else ""),
    )
    title = f"{heading}People among themselves"
    if people.reason:
        return Section(
            title,
            f"No agreement, for {people.reason}: how far people agree is not known, so there is no ceiling to hold a "
            "metric against, and a low figure may be the rater's as well as the metric's.",
            (raters,),
        )
    columns = (
        Column("coefficient"),
        Column("value", 3),
        Column(level_name(alpha), 3, "range", "value"),
        Column(f"{what}s", key="items"),
        Column("left out"),
        Column("why none", key="reason"),
    )
    agreement = Table(
        f"{prefix}agreement",
        "Agreement among people",
        columns,
        tuple(
            (
                f"{a.coefficient} ({a.scale})" if a.scale else a.coefficient,
                a.value,
                span(a),
                a.n,
                a.missing,
                a.reason if a.value is None else None,
            )
            for a in people.agreement
        ),
        note=f"Of the {people.rated_twice:,} {what}s with two ratings or more"
        + (f", a sample of {people.sampled:,}" if people.sampled < people.rated_twice else "")
        + ". Percentage: pairs of raters that agree. The others take off what chance would give; 1 is full agreement. "
        f"Intervals resample {_units(people, what)}.",
    )
    return Section(title, _says(people, what), (agreement, _ceiling(people, prefix, alpha, what), raters))


def _units(people: People, what: str) -> str:
    return "questions" if people.clustered else f"{what}s"


def _more(people: People) -> bool:
    return len(people.by_rater) > RATERS_SHOWN


def _ceiling(people: People, prefix: str, alpha: float, what: str) -> Table:
    interval = level_name(alpha)
    columns = [Column("marker")]
    numbers = any(c.pearson is not None for c in people.ceilings)
    shares = any(c.agrees is not None for c in people.ceilings)
    if numbers:
        columns += [
            Column("Pearson", 3),
            Column(interval, 3, "range", "pearson"),
            Column("Spearman", 3),
            Column(interval, 3, "range", "spearman"),
        ]
    if shares:
        columns += [Column("agrees", 3), Column(interval, 3, "range", "agrees")]
    columns += [Column("ratings"), Column(f"{what}s", key="items")]
    rows = []
    for c in people.ceilings:
        row: list[object] = [c.name]
        if numbers:
            row += [c.pearson and c.pearson.value, span(c.pearson), c.spearman and c.spearman.value]
            row += [span(c.spearman)]
        if shares:
            row += [c.agrees and c.agrees.value, span(c.agrees)]
        rows.append((*row, c.ratings, c.items))
    return Table(
        f"{prefix}ceiling",
        "A person against the others, and metrics on the same ratings",
        tuple(columns),
        tuple(rows),  # type: ignore[arg-type]
        note=f"Each rating in turn is held against the mean (agrees: the majority) of the others on that {what}, and "
        f"so is the metric. Intervals resample {_units(people, what)}.",
    )


def _says(people: People, what: str) -> str:
    first = people.agreement[0]
    says = f"{counted(people.raters, 'rater')}, {counted(people.rated_twice, what)} rated by two or more."
    if first.value is not None:
        found = between(first.value, first.low, first.high)
        says += f" {first.coefficient[0].upper()}{first.coefficient[1:]}: {found}."
    person = next((c for c in people.ceilings if c.name == PERSON), None)
    if person is None:
        return says
    if person.spearman is not None and person.spearman.value is not None:
        best = max(
            (c for c in people.ceilings if c.name != PERSON and c.spearman and c.spearman.value is not None),
            key=lambda c: c.spearman.value if c.spearman and c.spearman.value is not None else -2.0,
            default=None,
        )
        says += f" A person follows the mean of the others with Spearman's rho {figure(person.spearman.value)}"
        if best is not None and best.spearman is not None:
            says += f"; the closest metric on the same ratings, {best.name}, with {figure(best.spearman.value)}"
        return says + "."
    if person.agrees is not None and person.agrees.value is not None:
        says += f" A person makes the choice of most of the others in {figure(100 * person.agrees.value, 0)} %"
        best = max(
            (c for c in people.ceilings if c.name != PERSON and c.agrees and c.agrees.value is not None),
            key=lambda c: c.agrees.value if c.agrees and c.agrees.value is not None else -1.0,
            default=None,
        )
        if best is not None and best.agrees is not None and best.agrees.value is not None:
            says += f"; {best.name}, the closest, in {figure(100 * best.agrees.value, 0)} %"
        return says + "."
    return says
