"""How far a study is, how well its raters agree so far, and what the owner should look at."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib.util import find_spec
from statistics import median
from typing import TYPE_CHECKING, Any

from longmark.contrib.annotate.assign import Queue, away, to_adjudicate
from longmark.contrib.annotate.assignment_state import AssignmentState
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.items import warnings
from longmark.contrib.annotate.labels import (
    AssignedItem,
    Collected,
    cells,
    collect,
    scales_of,
    simple_labels,
)
from longmark.contrib.annotate.language import sayer
from longmark.contrib.annotate.marked import mark_scales, sentence_marks
from longmark.contrib.annotate.store import Assignment, StudyStore
from longmark.contrib.annotate.study import Matrix, Scale, Study
from longmark.contrib.annotate.values import known_answers
from longmark.report.format import duration
from longmark.report.tables import Column, Table, readable

if TYPE_CHECKING:
    from longmark.stats.agreement import Agreement

_FEWEST_TIMED = 5
_OUTLYING = 3.0
NAMED = 20  # open items
NO_STATS = "Agreement needs the extra `stats`: pip install 'longmark[stats]'"


@dataclass(frozen=True, slots=True)
class Coefficient:
    """A coefficient of agreement on one label."""

    label: str
    estimate: Agreement

    @property
    def name(self) -> str:
        return self.estimate.title


@dataclass(frozen=True, slots=True)
class Progress:
    """figures: (what, how much); progress, agreement: tables; warnings: sentences; outliers: person's id -> what is
    unusual about the times."""

    figures: list[tuple[str, str]]
    progress: list[Table]
    agreement: list[Table]
    warnings: list[str]
    outliers: dict[str, str]


def progress(study: Study, items: Sequence[StudyItem], store: StudyStore) -> Progress:
    collected = collect(study, items, store)
    moment = datetime.now(UTC)
    outliers = speed_outliers(collected)
    names = {person.id: person.name for person in collected.people.values()}
    notes = [
        *warnings(study, items),
        *(f"{names[rater]}: {speed}" for rater, speed in outliers.items()),
    ]
    stopped = stalled(collected, moment)
    expected = forecast(collected, moment)
    if stopped:
        notes.append(
            f"Open items without a change for a day: {len(stopped):,}. You can release them on their pages."
        )
    if expected is not None and expected.missing:
        notes.append(
            f"Labels that will be missing with the present raters: {expected.missing:,}. {_REMEDY}"
        )
    agreement = [agreement_table(agreements(collected))] if find_spec("scipy") else []
    if not agreement:
        notes.append(NO_STATS)
    tables = [
        _raters(collected, expected),
        _coverage(collected),
        *([_stalled(collected, stopped)] if stopped else []),
    ]
    return Progress(_figures(collected), tables, agreement, notes, outliers)


def speed_outliers(collected: Collected) -> dict[str, str]:
    """Raters whose median time an item is below a third, or above three times, the median of the other raters'."""
    times = {
        rater: durations
        for rater, durations in _times(collected.done).items()
        if len(durations) >= _FEWEST_TIMED
    }
    medians = {rater: median(durations) for rater, durations in times.items()}
    unusual = {}
    for rater, usual_time in medians.items():
        other_medians = [
            other_median for person, other_median in medians.items() if person != rater
        ]
        if not other_medians:
            continue
        usual = median(other_medians)
        if usual_time * _OUTLYING < usual or usual_time > usual * _OUTLYING:
            speed = "fast" if usual_time < usual else "slow"
            unusual[rater] = (
                f"{speed}: {duration(usual_time)} per item (median); other raters {duration(usual)}"
            )
    return unusual


def _times(entries: Sequence[AssignedItem]) -> dict[str, list[float]]:
    times: dict[str, list[float]] = defaultdict(list)
    for entry in entries:
        if entry.seconds > 0:
            times[entry.rater.id].append(entry.seconds)
    return times


def waiting(collected: Collected) -> dict[str, tuple[str, ...]]:
    """Item -> the fields on which people differ, of the items that a third person must decide."""
    done_pairs = [(entry.item.id, entry.rater.id) for entry in collected.done]
    return to_adjudicate(
        collected.study,
        (entry.answer for entry in collected.done if entry.answer),
        done_pairs,
        collected.decisions,
    )


# Items that do not end -----------------------------------------------------------------------------------------------

STATES = ("decided", "undecided", "labelled", "skipped", "open")
_STALLED = timedelta(days=1)
_MOST_STEPS = 2_000_000  # of a forecast: labels to give, times items
_REMEDY = "Invite more people, or raise `quota` or `slack`."


@dataclass(frozen=True, slots=True)
class LabelForecast:
    """items: person -> items in all, if the present raters go on in turns until none gets another; missing: labels that
    nobody gives then."""

    items: Mapping[str, int]
    missing: int


def states(collected: Collected) -> dict[str, str]:
    """The state of every item of the study: decided, or labelled as often as planned (undecided: people differ); else
    skipped, if some did and there is nobody left to give it to; else open."""
    people_away = away(collected.people.values())
    undecided = waiting(collected)
    done_entries = collected.by_item
    entries_of: dict[str, list[AssignedItem]] = defaultdict(list)
    for entry in collected.entries:
        entries_of[entry.item.id].append(entry)
    result = {}
    for item in collected.items.values():
        item_entries = entries_of[item.id]
        ended = {entry.assignment.status for entry in item_entries}
        left = collected.people.keys() - people_away - {entry.rater.id for entry in item_entries}
        if item.kind != "normal":
            continue
        if item.id in collected.decisions:
            result[item.id] = "decided"
        elif len(done_entries.get(item.id, ())) >= collected.study.assignment.overlap:
            result[item.id] = "undecided" if item.id in undecided else "labelled"
        else:
            result[item.id] = (
                "skipped" if "skipped" in ended and "open" not in ended and not left else "open"
            )
    return result


def stalled(collected: Collected, now: datetime) -> list[AssignedItem]:
    """Items that a person left open, without a change for a day."""
    return [
        entry
        for entry in collected.entries
        if entry.assignment.status == "open"
        and entry.item.id not in collected.decisions
        and now
        - datetime.fromisoformat(
            entry.answer.saved_at if entry.answer else entry.assignment.given_at
        )
        > _STALLED
    ]


def _stalled(collected: Collected, entries: Sequence[AssignedItem]) -> Table:
    columns = (
        Column("item", "item.id"),
        Column("rater", "rater.name"),
        Column("given", lambda row: row.assignment.given_at[:10]),
        Column("saved", lambda row: row.answer.saved_at[:10] if row.answer else None),
    )
    return Table("stalled", "Open items without a change for a day", columns, entries)


def forecast(collected: Collected, moment: datetime) -> LabelForecast | None:
    """None for a study that is too large, or that nobody labels yet."""
    items = list(collected.items.values())
    overlap = collected.study.assignment.overlap
    normal = [item.id for item in items if item.kind == "normal"]
    state = AssignmentState(away=away(collected.people.values()), decided=set(collected.decisions))
    for entry in collected.entries:
        state.put(
            replace(entry.assignment, status="done")
            if entry.assignment.status == "open"
            else entry.assignment
        )
    missing = len(normal) * overlap - sum(state.counts.values())
    people = [person for person in collected.people if person not in state.away]
    if not people or missing * len(normal) > _MOST_STEPS:
        return None
    for item in items:
        state.right |= {
            (item.id, person): (len(item.gold), len(item.gold)) for person in people if item.gold
        }
    for entry in collected.entries:  # who has failed gets no more
        if entry.item.gold and entry.assignment.status == "done":
            state.right[entry.item.id, entry.rater.id] = known_answers(entry.item, entry.values)
    queue = Queue(collected.study, items)
    time_text = moment.isoformat()
    turns = list(people)
    while turns:
        for turn in list(turns):
            if (new := queue.next(state, turn, moment)) is None:
                turns.remove(turn)
                continue
            state.put(
                Assignment(
                    new.item_id,
                    turn,
                    False,
                    "done",
                    None,
                    time_text,
                    time_text,
                    new.position,
                    new.kind,
                )
            )
    short = sum(
        max(
            0,
            overlap
            - sum(
                assignment.status == "done" for assignment in state.by_item.get(item, {}).values()
            ),
        )
        for item in normal
        if item not in state.decided
    )
    return LabelForecast({person: state.counts[person] for person in people}, short)


def _figures(collected: Collected) -> list[tuple[str, str]]:
    normal = sum(item.kind == "normal" for item in collected.items.values())
    done_entries = collected.done
    overlap = collected.study.assignment.overlap
    t = sayer(collected.study.language)
    people = Counter(entry.item.id for entry in done_entries)
    figures = [
        ("Items", f"{normal:,}"),
        (
            "Complete items",
            t("{} of {}", f"{sum(count >= overlap for count in people.values()):,}", f"{normal:,}"),
        ),
        ("Labels", t("{} of {}", f"{len(done_entries):,}", f"{normal * overlap:,}")),
        (
            "Skipped",
            f"{sum(entry.assignment.status == 'skipped' for entry in collected.entries):,}",
        ),
        ("Open items", f"{Counter(states(collected).values())['open']:,}"),
        ("Raters", f"{len({entry.rater.id for entry in done_entries}):,}"),
    ]
    if collected.study.assignment.adjudication:
        figures.append(("Undecided disagreements", f"{len(waiting(collected)):,}"))
        figures.append(("Decided", f"{len(collected.decisions):,}"))
    times = [entry.seconds for entry in done_entries if entry.seconds > 0]
    if times:
        figures.append(("Median time per item", duration(median(times))))
    return figures


def _raters(collected: Collected, expected: LabelForecast | None) -> Table:
    entries_of: dict[str, list[AssignedItem]] = defaultdict(list)
    for entry in collected.entries:
        entries_of[entry.rater.id].append(entry)
    times = _times(collected.done)
    t = sayer(collected.study.language)

    def count(status: str, person: Any) -> int:
        return sum(
            entry.assignment.status == status and entry.item.kind == "normal"
            for entry in entries_of[person.id]
        )

    def known(person: Any) -> str | None:
        checks = [
            entry
            for entry in entries_of[person.id]
            if entry.item.gold and entry.assignment.status == "done"
        ]
        right = [known_answers(check.item, check.values) for check in checks]
        return t("{} of {}", *map(sum, zip(*right, strict=True))) if right else None

    columns = (
        Column("rater", "name"),
        Column("done", partial(count, "done")),
        Column("begun", partial(count, "open")),
        Column("skipped", partial(count, "skipped")),
        Column("expected in all", lambda row: expected and expected.items.get(row.id)),
        Column("median seconds", lambda row: median(times[row.id]) if times[row.id] else None, 1),
        Column("hours", lambda row: sum(times[row.id]) / 3600 if times[row.id] else None, 2),
        Column("known answers right", known),
    )
    people = [
        person
        for person in collected.people.values()
        if person.role == "annotator" or person.id in entries_of
    ]
    return Table("raters", "Raters", columns, people)


def _coverage(collected: Collected) -> Table:
    people = Counter(entry.item.id for entry in collected.done)
    normal = [item for item in collected.items.values() if item.kind == "normal"]
    counts = Counter(people[item.id] for item in normal)
    return Table(
        "coverage",
        "Items by number of labels",
        (Column("labels"), Column("items")),
        sorted(counts.items()),
    )


# Agreement ------------------------------------------------------------------------------------------------------------
def agreements(collected: Collected, seed: int = 0) -> list[Coefficient]:
    """Of every label that is one word or number, the coefficients that `longmark metaeval` computes, with its
    intervals. Needs the extra `stats`. Nothing for a label that no two raters gave to the same item."""
    from longmark.analysis.metaeval.agreement import RatedItems, Vote, coefficients_of
    from longmark.analysis.metaeval.options import MetaevalOptions
    from longmark.analysis.metaeval.results import clusters_of

    scales = {field.name for field in collected.study.asked if isinstance(field, Scale)}
    declared = {
        label: scale.classes
        for label, scale in (scales_of(collected.study) | mark_scales(collected.study)).items()
    }
    for matrix in (field for field in collected.study.asked if isinstance(field, Matrix)):
        declared[matrix.name] = tuple(option.value for option in matrix.values)
    votes: dict[str, dict[tuple[str, ...], list[Vote]]] = defaultdict(lambda: defaultdict(list))
    for entry in collected.done:
        for label, value in simple_labels(collected.study, entry.item, entry.values):
            number = float(value) if label in scales else None
            votes[label][(entry.item.id,)].append(Vote(entry.rater.id, str(value), number))
        for label, point, column, cell in cells(collected.study, entry.item, entry.values):
            votes[label][entry.item.id, point, column].append(Vote(entry.rater.id, cell, None))
        for mark in sentence_marks(collected.study, entry.item, entry.values):
            unit = (entry.item.id, mark.side, str(mark.start))
            votes[mark.label][unit].append(Vote(entry.rater.id, mark.value, None))
    result = []
    for label, units in votes.items():
        questions = clusters_of([collected.items[unit[0]].question_id for unit in units])
        rated = RatedItems(
            list(units.values()),
            questions,
            numeric=label in scales,
            declared=declared.get(label, ()),
        )
        result += [
            Coefficient(label, _with_enough(coefficient))
            for coefficient in coefficients_of(rated, MetaevalOptions(seed=seed))
        ]
    return result


def _with_enough(agreement: Agreement) -> Agreement:
    """Without its interval if there are too few items (or questions) to resample: it would be too narrow."""
    from longmark.stats.bootstrap import FEWEST_BCA

    if (agreement.clusters or agreement.n) >= FEWEST_BCA or agreement.value is None:
        return agreement
    return replace(
        agreement, low=None, high=None, reason=f"an interval needs {FEWEST_BCA} items or questions"
    )


def agreement_table(coefficients: Sequence[Coefficient]) -> Table:
    columns = (
        Column("label"),
        Column("coefficient", "name", key="coefficient"),
        Column("value", "estimate", 3, "estimate"),
    )
    note = (
        "Over the items with two labels or more. Gwet's AC1 counts all options of a field, chosen or not, and their "
        "shares are those of all labels, also of items with one. Intervals resample items, or questions if a question "
        "has several items. Marks are compared by sentence. Texts and typed key "
        "points are not compared."
    )
    return readable(
        Table("agreement", "Agreement among raters", columns, coefficients, note, "items")
    )
