"""The methods of a study in sentences, for a paper: what raters saw, how labels became final, how far they agreed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from importlib.util import find_spec
from statistics import median, quantiles
from typing import TYPE_CHECKING

from longmark.contrib.annotate.assign import PHASES, Queue
from longmark.contrib.annotate.assignment_state import AssignmentState
from longmark.contrib.annotate.labels import (
    Collected,
)
from longmark.report.format import counted, duration
from longmark.report.tables import as_markdown

if TYPE_CHECKING:
    pass
from longmark.contrib.annotate.progress import (
    NAMED,
    NO_STATS,
    STATES,
    agreement_table,
    agreements,
    states,
)


def methods(collected: Collected) -> str:
    """A paragraph for a paper, in Markdown, with the figures of a study, and the table of agreement."""
    study, done_entries, rules = collected.study, collected.done, collected.study.assignment
    people = Counter(entry.item.id for entry in done_entries)
    raters = len({entry.rater.id for entry in done_entries})
    twice = sum(count > 1 for count in people.values())
    sentences = [
        f"{counted(raters, 'rater')} labelled {counted(len(people), 'item')} ({counted(len(done_entries), 'label set')}); "
        f"{counted(twice, 'item')} {'was' if twice == 1 else 'were'} labelled by two raters or more "
        f"(planned: {counted(rules.overlap, 'rater')} per item)."
    ]
    orders = {
        "random": "in an order drawn for each rater",
        "file": "in the order of the file",
        "priority": "in the order of a file of priorities",
    }
    blind = (
        "The names of the systems were hidden"
        if study.blind.systems == "hidden"
        else "Raters saw the systems"
    )
    balanced = ", and which answer came first was balanced"
    as_given = ", and answers were shown in the order of the file"
    sides = (balanced if study.blind.sides == "balanced" else as_given) if study.pairs else ""
    sentences.append(
        f"Items were shown {orders[rules.order]}. {blind}{sides}. Raters saw no labels of others."
    )
    if study.differences == "marked":
        sentences.append(
            "Words in which the two answers differ were marked; raters could turn the marks off."
        )
    sentences += _beforehand(collected)
    ends = states(collected)
    kinds = Counter(ends.values())
    counts = (
        f"{kinds[state]} {'is' if kinds[state] == 1 else 'are'} {state}"
        for state in STATES
        if kinds[state]
    )
    sentences.append(f"Of the items, {', '.join(counts)}.")
    if left := [item for item, state in ends.items() if state == "open"]:
        unlisted = f" and {len(left) - NAMED} more" if len(left) > NAMED else ""
        sentences.append(f"Open: {', '.join(left[:NAMED])}{unlisted}.")
    skipped = sum(entry.assignment.status == "skipped" for entry in collected.entries)
    if skipped:
        sentences.append(f"Raters skipped {counted(skipped, 'item')}, and gave a reason for each.")
    if any(entry.answer is not None and entry.answer.suggestions_shown for entry in done_entries):
        sentences.append("Raters saw suggested labels, which they could change.")
    times = [entry.seconds for entry in done_entries if entry.seconds > 0]
    if times:
        low, _, high = quantiles(times * 2 if len(times) == 1 else times, n=4, method="inclusive")
        timed = (
            f"of {len(times):,} of the {counted(len(done_entries), 'label set')} "
            if len(times) < len(done_entries)
            else ""
        )
        sentences.append(
            f"The median time per item {timed}was {duration(median(times))} "
            f"(quartiles {duration(low)} and {duration(high)}; {duration(sum(times))} in total)."
        )
    if rules.adjudication:
        sentences.append(
            f"A third person decided {counted(len(collected.decisions), 'item')} on which raters differed."
        )
        sentences += _adjudicated(collected)
    return _with_agreement(collected, sentences)


def _beforehand(collected: Collected) -> Iterator[str]:
    """What raters agreed to, read and passed before their first item."""
    raters = {entry.rater.id for entry in collected.done}
    for text, event, statement in (
        (collected.study.consent, "consent given", "agreed to take part"),
        (
            collected.study.guidelines,
            "guidelines read",
            "confirmed that they had read the guidelines",
        ),
    ):
        if text.strip():
            yield f"Before the first item, {len(raters & collected.people_of(event))} of {len(raters)} raters {statement}."
    state = AssignmentState()
    queue = Queue(collected.study, list(collected.items.values()))
    for entry in collected.entries:
        state.put(entry.assignment)
        state.count_right(entry.item, entry.rater.id, entry.values)
    for kind in PHASES:
        phase_entries = [entry for entry in collected.entries if entry.assignment.kind == kind]
        people = {
            entry.rater.id for entry in phase_entries if entry.assignment.status != "withdrawn"
        }
        if (rules := getattr(collected.study.assignment, kind)) is not None and people:
            passed = sum(queue.passed(kind, state, person) is True for person in people)
            feedback = (
                ", whose right answers were shown after each of them" if kind == "training" else ""
            )
            size = rules.items or sum(item.kind == kind for item in collected.items.values())
            passed_words = f"{passed} of {counted(len(people), 'person', 'people')}"
            yield (
                f"The {kind} was {counted(size, 'item')} with known answers{feedback}; {rules.needed:.0%} had to be right "
                f"in {counted(rules.attempts, 'attempt')}, and {passed_words} passed."
            )
    if second_chances := collected.people_of("another attempt"):
        yield f"An owner let {counted(len(second_chances), 'person', 'people')} try again after the last attempt."


def _adjudicated(collected: Collected) -> list[str]:
    decisions = collected.decisions.values()
    if not decisions:
        return []
    owners = {person.id for person in collected.people.values() if person.role == "owner"}
    by_owners = sum(decision.person_id in owners for decision in decisions)
    looked = sum(collected.looked(decision.item_id, decision.person_id) for decision in decisions)
    firsts = Counter(
        collected.items[item].sides[-1 if assignment.swapped else 0]
        for item, assignment in collected.deciding.items()
    )
    sides = (
        f", with a first for {firsts['a']} and b first for {firsts['b']}"
        if collected.study.pairs
        else ""
    )
    return [
        f"Items were shown to that person as to a rater{sides}, and the labels of the raters on request only: "
        f"before {looked} of the {counted(len(decisions), 'decision')}.",
        *(
            [f"An owner of the study, who can see systems and labels, made {by_owners} of them."]
            if by_owners
            else []
        ),
    ]


def _with_agreement(collected: Collected, sentences: Sequence[str]) -> str:
    text = f"# Methods: {collected.study.title}\n\n{' '.join(sentences)}\n"
    if not find_spec("scipy"):
        return f"{text}\n{NO_STATS}.\n"
    table = agreement_table(agreements(collected))
    return f"{text}\n{as_markdown(table)}\n\n{table.note}\n" if table.items else text
