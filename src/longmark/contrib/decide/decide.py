"""`longmark decide`: which of two systems is better, from scores that come a few questions at a time.

The difference of a pair on a metric has a confidence sequence (`stats.betting`), which holds after every look, so the
rule may look as often as it likes and stop at the first decision:

    equivalent      the sequence lies within ± margin
    better, worse   it lies above or below 0 (below and above where lower scores are better)
    undecided       neither

Each of m comparisons (pairs times metrics) has the level 1 - alpha / m, so that all their sequences hold together, at
every look, with a probability of 1 - alpha at least. An answer without a score is read twice, as in `compare`: the
question is left out, and it counts as the metric's worst score. A decision is what both readings say.

Questions are looked at in an order that their scores have no part in, the questions of a cluster together.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from longmark.analysis.compare.margin import EQUIVALENT, UNDECIDED
from longmark.analysis.compare.results import difference_bounds
from longmark.analysis.grid import Grid
from longmark.assertions.grammar import BETTER as BETTER_THAN
from longmark.assertions.grammar import EQUIVALENT as EQUIVALENT_TO
from longmark.assertions.grammar import name_text, number_text
from longmark.errors import UserError
from longmark.report.document import Document, Section
from longmark.report.format import counted, decimals, listed
from longmark.report.tables import Column
from longmark.scores.manifest import MetricFacts
from longmark.scores.paired import Scores
from longmark.stats.betting import confidence_sequence, units_needed
from longmark.stats.clusters import effective
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats, Ints

BETTER = "better"
WORSE = "worse"
_TENTH = 0.1  # of the scale
# an outlook looks at so many times the units of the input, and at so many units, at most
_TIMES = 50
_UNITS = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What is decided. pairs: of systems; margins: of metrics that have one; largest: questions of the largest cluster
    of the input; clustered: questions of a cluster belong together. UserError for an alpha outside (0, 1)."""

    metrics: Sequence[str]
    pairs: Sequence[tuple[str, str]]
    alpha: float = 0.05
    margins: Mapping[str, float]
    largest: int = 1
    clustered: bool = False

    def __post_init__(self) -> None:
        if not 0 < self.alpha < 1:
            raise UserError(f"alpha must be between 0 and 1, for example 0.05; found {self.alpha}")

    @property
    def level(self) -> float:
        """Of each confidence sequence."""
        return 1 - self.alpha / (len(self.metrics) * len(self.pairs))


@dataclass(frozen=True, slots=True)
class Decided:
    """What is known of a pair on a metric. difference: first - second, over the questions with a score of both;
    counted: with unscored answers as the worst score, None where both readings are the same; result: of the first;
    reason: why it is undecided, "" if more questions may decide it."""

    metric: str
    first: str
    second: str
    difference: Estimate
    counted: Estimate | None
    margin: float | None
    result: str
    reason: str = ""
    places: int = 3


@dataclass(frozen=True, slots=True)
class Outlook:
    """What so many units can decide, whatever the scores: a sequence that holds at every look needs more of them than a
    test of a number that was fixed before, and unequal clusters weigh by the largest.

    sizes: questions of each unit; alike: units after which systems that score alike are equivalent, at the earliest
    (None: the metric has no margin); apart: after which a difference of a tenth of the scale in every question is
    found. Both may be more than there are: units_tried are looked at, and of more they are `math.inf`.
    """

    sizes: Sequence[int]
    alike: float | None
    apart: float
    units_tried: int
    clustered: bool

    @property
    def enough(self) -> bool:
        """Whether there are as many units as the easiest scores take."""
        return max(self.alike or 0, self.apart) <= len(self.sizes)

    def in_words(self) -> str:
        total = len(self.sizes)
        unit = "cluster" if self.clustered else "question"
        units_in_words = f"{total:,} {unit}s"
        if self.clustered and min(self.sizes) < max(self.sizes):
            units_in_words += (
                f" of {min(self.sizes)} to {max(self.sizes)} questions, "
                f"{effective(self.sizes):.1f} effective"
            )

        def after(units: float) -> str:
            if units == math.inf:
                return f"takes more than {self.units_tried:,}"
            available = f", and there are {total:,}" if units > total else ""
            return f"takes {units:,.0f} at the earliest{available}"

        says = f"{units_in_words}: a difference of a tenth of the scale in every question {after(self.apart)}"
        if self.alike is not None:
            says += f"; equivalence of systems that score alike {after(self.alike)}"
        return (
            f"{says}. Scores that vary take more. longmark compare looks once, at all {unit}s scored, and "
            "needs fewer."
        )


def outlook(sizes: Sequence[int], facts: Mapping[str, MetricFacts], rule: Rule) -> Outlook:
    """What units of these sizes, in their order, can decide by the rule; of several metrics the slowest."""
    # the input over and over, to find how many units would be enough where it has too few
    repeated_sizes = [*sizes] * max(1, min(_TIMES, _UNITS // len(sizes)))
    alike: list[float] = []
    for metric, margin in rule.margins.items():
        _, widest = difference_bounds(facts[metric])
        # differences on a scale from 0 to 1: 0.5 is none, and the margin's far end has to be left out
        margin_end = 0.5 - margin / (2 * (widest or 1.0))
        units = units_needed(
            repeated_sizes, 0.5, margin_end, level=rule.level, largest=rule.largest
        )
        alike.append(math.inf if units is None else units)
    apart = units_needed(
        repeated_sizes, 0.5 + _TENTH / 2, 0.5, level=rule.level, largest=rule.largest
    )
    return Outlook(
        sizes,
        max(alike, default=None),
        math.inf if apart is None else apart,
        len(repeated_sizes),
        rule.clustered,
    )


def check_metric(name: str, facts: MetricFacts) -> None:
    """UserError for a metric that no sequence can decide."""
    if facts.lo is None or facts.hi is None or facts.lo >= facts.hi:
        raise UserError(
            f"{name}: a decision needs a metric with a least and a greatest score; it has none"
        )
    if facts.higher_is_better is None:
        raise UserError(
            f"{name}: a decision needs a metric of which higher, or lower, scores are better"
        )


def decide(scores: Scores, units: Mapping[str, int], rule: Rule) -> list[Decided]:
    """What the scores decide. units: question -> the place of its unit (a cluster, or the question); the questions that
    are not in it are not used."""
    places = np.array([units.get(question, -1) for question in scores.questions], dtype=np.int64)
    order = np.argsort(places, kind="stable")[int((places < 0).sum()) :]
    numbers = places[order]
    return [
        _decided(scores, metric, pair, (order, numbers), rule)
        for metric in rule.metrics
        for pair in rule.pairs
    ]


def _decided(
    scores: Scores, metric: str, pair: tuple[str, str], looked: tuple[Ints, Ints], rule: Rule
) -> Decided:
    """One pair on one metric. looked: the questions' numbers in the order of looking, and the unit of each."""
    facts = scores.facts[metric]
    order, numbers = looked
    worst = float((facts.lo if facts.higher_is_better else facts.hi) or 0.0)
    columns = [scores.systems.index(name) if name in scores.systems else None for name in pair]

    def column(place: int | None, unscored: float | None = None) -> Floats:
        if place is None:  # a system without a row
            return np.full(len(order), np.nan)
        values: Floats = scores.matrix(metric, unscored)[order, place]
        return values

    def sequence(differences: Floats) -> Estimate:
        answered = ~np.isnan(differences)
        units = numbers[answered] if rule.clustered else None
        bounds = difference_bounds(facts)
        return confidence_sequence(
            differences[answered], bounds, level=rule.level, units=units, largest=rule.largest
        )

    first, second = (column(place) for place in columns)
    # a question that no system has a score of says nothing, also with the worst score for both
    scored = ~np.isnan(first) | ~np.isnan(second)
    first_filled, second_filled = (
        np.nan_to_num(column(place, worst), nan=worst) for place in columns
    )
    readings = [sequence(first - second)]
    all_scored = np.array_equal(first_filled[scored], first[scored]) and np.array_equal(
        second_filled[scored], second[scored]
    )
    if not all_scored:
        readings.append(sequence(np.where(scored, first_filled - second_filled, np.nan)))
    margin = rule.margins.get(metric)
    claims = [_claims(reading, margin, 1 if facts.higher_is_better else -1) for reading in readings]
    result, reason = _result(claims)
    return Decided(
        metric,
        *pair,
        readings[0],
        readings[1] if readings[1:] else None,
        margin,
        result,
        reason,
        decimals(facts, facts.lo, facts.hi),
    )


def _result(claims: Sequence[Collection[str]]) -> tuple[str, str]:
    """What all readings claim, and why it is undecided where only some claim anything. claims: of each reading."""
    for word in (EQUIVALENT, BETTER, WORSE):
        if all(word in words for words in claims):
            return word, ""
    if not any(claims):
        return UNDECIDED, ""
    common, as_worst = (" and ".join(words) or UNDECIDED for words in claims)
    reason = (
        f"{common} on the common questions, {as_worst} with unscored answers as the worst score"
    )
    return UNDECIDED, reason


def _claims(sequence: Estimate, margin: float | None, sign: int) -> list[str]:
    """What a sequence says of the first; several may hold. sign: -1 where lower scores are better."""
    low, high = sorted(sign * end for end in sequence.ends or (0.0, 0.0))
    within = margin is not None and -margin < low and high < margin
    return [
        word
        for word, holds in ((EQUIVALENT, within), (BETTER, low > 0), (WORSE, high < 0))
        if holds
    ]


def all_decided(decisions: Sequence[Decided]) -> bool:
    """Whether nothing is left to decide."""
    return all(decision.result != UNDECIDED for decision in decisions)


def document(
    decisions: Sequence[Decided],
    looked: int,
    total: int,
    rule: Rule,
    why: str = "",
    ahead: Outlook | None = None,
) -> Document:
    """The page: a sentence, and a line for each comparison. looked: units scored, of the total; why: more were not
    scored, "" if all are or everything is decided; ahead: what so many units could decide, for what is undecided."""
    grid = Grid(
        "decisions",
        "Decisions",
        (
            Column("metric", "metric", kind="metric"),
            Column("first", "first"),
            Column("second", "second"),
        ),
        decisions,
        (
            Column("first - second", "difference", decisions[0].places, key="difference"),
            Column("unscored as worst", "counted", decisions[0].places, key="counted", spare=1),
        ),
        beside=(
            Column(
                "margin", lambda decision: "" if decision.margin is None else f"{decision.margin:g}"
            ),
            Column("result of the first", "result", key="result"),
            Column("remark", "reason"),
        ),
    )
    after = f"after {looked:,} of {total:,} {'cluster' if rule.clustered else 'question'}s"
    open_ = sum(decision.result == UNDECIDED for decision in decisions)
    if open_:
        says = f"Undecided ({open_} of {counted(len(decisions), 'comparison')}) {after}. {why or 'There are no more.'}"
    else:
        says = f"Decided {after}: {listed(list(map(_words, decisions)))}."
    several = f" ({rule.alpha:g} / {len(decisions)} comparisons)" if len(decisions) > 1 else ""
    note = (
        f"Intervals at the level {100 * rule.level:.4g} %{several}. They hold together at every look: confidence "
        "sequences need no fixed number of questions. Intervals and p of longmark compare do not hold for this run, "
        "because it was stopped by its scores."
    )
    if open_ and ahead is not None:
        note = f"{ahead.in_words()} {note}"
    return Document(
        "decision", "Decision", "", (Section("Decision", says, (grid.table(),), note=note),)
    )


def _words(decided: Decided) -> str:
    """The decision as an assertion that is met (`assertions.grammar`)."""
    first = name_text(decided.first)
    second = name_text(decided.second)
    if decided.result == EQUIVALENT:
        margin = f" within {number_text(decided.margin)}" if decided.margin is not None else ""
        return f"{first} is {EQUIVALENT_TO} {second} on {decided.metric}{margin}"
    pair = f"{first} is {BETTER_THAN} {second}"
    if decided.result == WORSE:
        pair = f"{second} is {BETTER_THAN} {first}"
    return f"{pair} on {decided.metric}"
