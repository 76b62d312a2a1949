"""Sections on the human ratings: what was joined, agreement, the human ceiling, each rater."""

from __future__ import annotations

from longmark.analysis.metaeval.people import PERSON, RATERS_SHOWN, Ceiling, People
from longmark.analysis.metaeval.result import ChoiceLabel, RatingLabel
from longmark.analysis.metaeval.words import Naming, between, figure, gaps
from longmark.report.document import Section
from longmark.report.format import counted
from longmark.report.tables import Column, Table, middle


def join_section(part: RatingLabel | ChoiceLabel, naming: Naming) -> Section:
    """How many answers (or pairs) have both ratings and scores, and why the others have not."""
    join, what = part.join, naming.what
    columns = (
        *(Column("metric"), Column("scored", "both")),
        Column("unscored", lambda metric: sum(metric.gaps.values())),
        Column("reason", lambda metric: gaps(metric.gaps) or None),
    )
    tables = [naming.table("join", f"Rated {what}s with a score of each metric", columns, part.metrics)]
    says = f"{counted(join.in_human, what)} with human ratings; {join.joined:,} of them with rows"
    says += "." if what == "answer" else " of both answers."
    if join.unmatched:
        lost = (
            *(Column("reason"), Column(f"{what}s", "count")),
            Column("first of them", lambda one: ", ".join(one.names), key="first"),
        )
        tables.append(naming.table("unmatched", f"Rated {what}s without rows", lost, join.unmatched))
        worst = join.unmatched[0]
        names = ", ".join(worst.names[:3]) + (", …" if worst.count > 3 else "")
        says += f" Without rows: {sum(one.count for one in join.unmatched):,}; mostly {worst.reason} ({names})."
    if join.only_in_rows:
        says += f" {counted(join.only_in_rows, 'answer')} in the rows without human ratings."
    return naming.section("Joined data", says, tables)


def people_section(people: People, naming: Naming) -> Section:
    """Agreement, the ceiling, and each rater."""
    most = len(people.by_rater)
    raters = naming.table(
        "raters",
        "Raters",
        (
            *(Column("rater", "name"), Column("ratings"), Column("mean", places=3), Column("with others")),
            Column("agreement with majority", "agrees", 3, key="agrees"),
        ),
        people.by_rater[:RATERS_SHOWN],
        "agreement with majority: share of a rater's ratings equal to the majority of the others. Ratings without a "
        "majority of the others are excluded."
        + (f" The {RATERS_SHOWN} of {most:,} raters with the most ratings." if most > RATERS_SHOWN else ""),
    )
    title = "Agreement among raters"
    if people.reason:
        says = f"No agreement: {people.reason}. Without a human ceiling, a low correlation can be due to the rater."
        return naming.section(title, says, (raters,))
    units = "questions" if people.clustered else f"{naming.what}s"
    sample = f", a sample of {people.sampled:,}" if people.sampled < people.rated_twice else ""
    agreement = naming.table(
        "agreement",
        "Coefficients of agreement",
        (
            Column("coefficient", lambda a: f"{a.coefficient} ({a.scale})" if a.scale else a.coefficient),
            *(Column("value", places=3), naming.estimate("value")[1]),
            *(Column(f"{naming.what}s", "n", key="items"), Column("left out", "missing")),
            Column("reason", lambda a: a.reason if a.value is None else None),
        ),
        people.agreement,
        f"Over the {people.rated_twice:,} {naming.what}s with two or more ratings{sample}. Percentage: share of "
        f"agreeing pairs of raters. The others correct for chance; 1 is perfect agreement. Intervals resample {units}.",
    )
    return naming.section(title, _says(people, naming.what), (agreement, _ceiling(people, naming, units), raters))


def _ceiling(people: People, naming: Naming, units: str) -> Table:
    columns = [Column("rater or metric", "name", key="name")]
    if any(c.pearson is not None for c in people.ceilings):
        columns += [*naming.estimate("Pearson", "pearson"), *naming.estimate("Spearman", "spearman")]
    if any(c.agrees is not None for c in people.ceilings):
        columns += naming.estimate("agrees", "agrees")
    columns += [Column("ratings"), Column(f"{naming.what}s", "items", key="items")]
    note = (
        f"Each rating is compared with the mean (agrees: the majority) of the other raters on that {naming.what}, and "
        f"so is the metric. Intervals resample {units}."
    )
    return naming.table("ceiling", "Human ceiling (leave one rater out)", columns, people.ceilings, note)


def _says(people: People, what: str) -> str:
    first = people.agreement[0]
    says = f"{counted(people.raters, 'rater')}, {counted(people.rated_twice, what)} rated by two or more."
    if first.value is not None:
        found = between(first.value, first.low, first.high)
        says += f" {first.coefficient[0].upper()}{first.coefficient[1:]}: {found}."
    for kind, words in (("spearman", "Spearman's rho"), ("agrees", "agreement with the majority")):
        person = next((c for c in people.ceilings if c.name == PERSON), None)
        if person is None or (ceiling := _value(person, kind)) is None:
            continue
        says += f" Human ceiling (leave one rater out): {words} {figure(ceiling)}"
        known = [c for c in people.ceilings if c.name != PERSON and _value(c, kind) is not None]
        if known:
            best = max(known, key=lambda c: _value(c, kind) or 0.0)
            says += f"; best metric on the same ratings: {best.name}, {figure(_value(best, kind))}"
        return f"{says}."
    return says


def _value(one: Ceiling, kind: str) -> float | None:
    return middle(getattr(one, kind))
