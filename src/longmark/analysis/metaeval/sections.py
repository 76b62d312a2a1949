"""A meta-evaluation as sections (tables, figures, sentences), and the page that they make."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from longmark.analysis.metaeval.people import PERSON
from longmark.analysis.metaeval.preferences import ALWAYS, LONGER, Accuracy
from longmark.analysis.metaeval.result import ChoiceLabel, Metaeval, RatingLabel
from longmark.analysis.metaeval.sections_choices import choice_sections
from longmark.analysis.metaeval.sections_people import join_section, people_section
from longmark.analysis.metaeval.sections_ratings import rating_sections
from longmark.analysis.metaeval.words import Naming, between
from longmark.report.document import Document, Section
from longmark.report.format import counted
from longmark.report.tables import Column, Table, middle
from longmark.stats.results import Estimate


def sections(found: Metaeval) -> tuple[Section, ...]:
    """A summary, then the sections of each label; with several labels titles and tables have the label's name."""
    made: list[Section] = []
    summaries, says = [], []
    several = len(found.labels) > 1
    taken: set[str] = set()
    for part in found.labels:
        rated = isinstance(part, RatingLabel)
        prefix = _prefix(part.label, taken) if several else ""
        naming = Naming(f"{part.label}: " if several else "", prefix, found.alpha, "answer" if rated else "pair")
        summaries.append(_summary(part, naming))
        says.append(_says(part, naming))
        made.append(join_section(part, naming))
        if part.join.joined:
            made += rating_sections(part, naming) if isinstance(part, RatingLabel) else choice_sections(part, naming)
        made.append(people_section(part.people, naming))
    return (Section("Summary", " ".join(says), summaries), *made)


def brief(page: Document) -> Document:
    """What is printed without --verbose: the summary."""
    note = "--verbose prints every section; --out DIR writes all tables, with figures."
    return replace(page, sections=[replace(page.sections[0], note=note)])


class _Line(NamedTuple):
    """A metric on a label. estimate: Spearman's rho, or the accuracy of its choices; auc: for yes or no, else None."""

    metric: str
    direction: str
    estimate: Any
    missing: int
    conclusion: str
    auc: Any = None


def _correlates(r: Estimate) -> str:
    if r.value is None:
        return f"no correlation: {r.reason}"
    if r.low is None or r.high is None or r.low <= 0 <= r.high:
        return "no significant correlation"
    return "correlates with human ratings" if r.value > 0 else "correlates negatively with human ratings"


def _chooses(one: Accuracy, baselines: Sequence[Accuracy]) -> str:
    if one in baselines:
        return "baseline"
    if one.all.value is None:
        return f"no accuracy: {one.all.reason}"
    above = all((one.all.low or 0.0) > (base.all.value or 0.0) for base in baselines)
    return "above the baselines" if above else "not above the baselines"


def _summary(part: RatingLabel | ChoiceLabel, naming: Naming) -> Table:
    columns = [Column("metric"), Column("direction")]
    if isinstance(part, RatingLabel):
        aucs = {one.metric: one for one in part.aucs}
        lines = [
            _Line(one.metric, one.direction, r, r.missing, _correlates(r), aucs.get(one.metric))
            for one in part.correlations
            for r in [one.by_kind["spearman"]]
        ]
        columns += naming.estimate("Spearman", "estimate")
        columns += naming.estimate("AUC", "auc") if aucs else ()
    else:
        found = part.preferences.accuracies
        bases = [a for a in found if a.name == LONGER or a.name.startswith(ALWAYS)]
        lines = [_Line(a.name, a.direction, a.all, a.missing, _chooses(a, bases)) for a in found]
        columns += naming.estimate("accuracy", "estimate")
    columns += [Column("n", "estimate.n"), Column("missing"), Column("conclusion")]
    return naming.table("summary", f"{naming.heading}Metrics against human ratings", columns, lines)


def _says(part: RatingLabel | ChoiceLabel, naming: Naming) -> str:
    """How many items, and the human ceiling."""
    says = f"{naming.heading}{counted(part.join.joined, naming.what)} with human ratings and rows."
    person = next((one for one in part.people.ceilings if one.name == PERSON), None)
    found = None if person is None else person.spearman or person.agrees
    if found is None or found.low is None:
        return f"{says} No human ceiling{f': {part.people.reason}' if part.people.reason else ''}."
    what = "Spearman" if person and person.spearman else "share of choices"
    return f"{says} Human ceiling (leave one rater out): {what} {between(middle(found), found.low, found.high)}."


def _prefix(label: str, taken: set[str]) -> str:
    """A name for a label's files, no two alike."""
    plain = "_".join("".join(c if c.isascii() and c.isalnum() else " " for c in label.casefold()).split())[:40]
    name = plain or "label"
    number = 2
    while name in taken:
        name = f"{plain or 'label'}_{number}"
        number += 1
    taken.add(name)
    return f"{name}_"


def document(found: Metaeval) -> Document:
    """The page of a meta-evaluation."""
    joined = sum(part.join.joined for part in found.labels)
    rated = all(isinstance(part, RatingLabel) for part in found.labels)
    what = "rated answer" if rated else "compared pair"
    return Document(
        kind="meta-evaluation",
        title="Metrics against human ratings",
        lede=f"{counted(len(found.metrics), 'metric')}, {counted(len(found.labels), 'label')}, "
        f"{counted(joined, what)}; rows of {', '.join(found.sources)}; human ratings from {found.human}",
        sections=sections(found),
        notices=found.notices,
        settings={
            "rows": list(found.sources),
            "human": found.human,
            "metrics": dict(found.metrics),
            "broken down by": list(found.by),
            "order of categories": {name: ", ".join(words) for name, words in found.order.items()},
            "scores rounded to": found.round,
            "alpha": found.alpha,
            "seed": found.seed,
        },
    )
