"""The arithmetic of a CALF study: how often metrics, and baselines, make the human choice.

Accuracy is the share of pairs on which a metric makes the human choice: a, b or tie. Pairs without a human choice,
or without one of the metric, are left out and counted. Intervals and tests take pairs of one question together.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property

from longmark.analysis.grid import Compared, compared
from longmark.analysis.metaeval.agreement import RatedItems, RaterAgreement, agreeing, agreement
from longmark.analysis.metaeval.baselines import (
    FIRST,
    LONGER,
    LONGER_WORDS,
    MODEL,
    PairSides,
    baseline_choices,
)
from longmark.analysis.metaeval.choice_sample import TIE, ChoiceMetric, ChoiceSample, Made
from longmark.analysis.metaeval.options import MetaevalOptions
from longmark.analysis.metaeval.results import clusters_of
from longmark.analysis.metaeval.tie_bands import TieBand, split, tie_band
from longmark.contrib.papers.calf.rows import CalfRows, Judge, PairFacts
from longmark.errors import UserError
from longmark.records.pair import EXPANSION_CHECKS
from longmark.scores.labels import MOST_GROUPS
from longmark.scores.readings import best, readings
from longmark.stats.results import Estimate

MODES = {"human/human": "H/H", "human/model": "H/M", "model/model": "M/M"}
"""The modes of comparison (section 3.3), and their names in the paper's table 4."""
BASELINES = (LONGER_WORDS, LONGER, FIRST, MODEL)
NO_SECOND = "no second rater"
CHECKED = "references checked"
ORDERS = (
    "same choice",
    "chooses the first shown",
    "right in both",
    "accuracy, a first",
    "accuracy, b first",
)
VOTES = ("among the votes", "plurality", "all the same")

Rows = Sequence[int]
"""Places of pairs."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalfOptions:
    """alpha: of tests, intervals are at 1 - alpha; seed: of all sampling; development: the share of questions on which
    tie bands and the best metric are chosen (0: none); worst: disagreements shown of each metric."""

    alpha: float = 0.05
    seed: int = 0
    development: float = 0.0
    worst: int = 5

    def __post_init__(self) -> None:
        MetaevalOptions(alpha=self.alpha, development=self.development)  # checks both


class CalfResults:
    """The results of the pairs and choices that were read."""

    def __init__(
        self,
        estimates: CalfRows,
        options: CalfOptions,
    ) -> None:
        self.read = estimates
        self.options = options
        self.pairs = estimates.pairs
        self.notices: list[str] = []
        self.levels = MetaevalOptions(alpha=options.alpha, seed=options.seed)
        self.gold = [pair.gold for pair in self.pairs]
        self.sample = ChoiceSample(self.gold, [pair.question for pair in self.pairs], self.levels)
        read_nothing = {entry.name: entry for entry in baselines(self.pairs)}
        if taken := estimates.judges.keys() & read_nothing:
            raise UserError(
                f"meta.verdicts: {min(taken)!r} is the name of a baseline; give the verdicts another name"
            )
        self.judges = estimates.judges | read_nothing
        self.chosen: dict[str, Made] = {
            name: judge.made(len(self.pairs)) for name, judge in self.judges.items()
        }
        self.right = {name: self.sample.right(choices) for name, choices in self.chosen.items()}
        self.of_orders = cache(self._of_orders)
        self.of_votes = cache(self._of_votes)
        self.of_split = cache(self._of_split)

    @cached_property
    def metrics(self) -> list[ChoiceMetric]:
        """All judges, baselines last."""
        count = len(self.pairs)
        return [
            self.sample.metric(
                name,
                "baseline" if judge.baseline else "",
                {}
                if judge.baseline
                else {why.status: why.count for why in judge.unscored(range(count))},
                self.chosen[name],
            )
            for name, judge in self.judges.items()
        ]

    @cached_property
    def differences(self) -> tuple[Compared, ...]:
        """Paired tests of every two judges, adjusted together by Holm."""
        right = self.right
        return compared(
            right, lambda a, b: self.sample.difference(right[a], right[b]), self.options.alpha
        )

    @property
    def best_baseline(self) -> ChoiceMetric | None:
        """Of the baselines that choose on every pair that raters decided."""
        whole = [
            entry
            for entry in self.metrics
            if entry.direction and not entry.accuracy.missing and entry.accuracy.value is not None
        ]
        return max(whole, key=lambda entry: entry.accuracy.value or 0.0, default=None)

    def against_baseline(self, name: str) -> str | None:
        """Whether a metric is better than the best baseline; `not tested` where there are too few pairs or questions."""
        if self.judges[name].baseline:
            return "baseline"
        best = self.best_baseline
        if best is None:
            return None
        (pair,) = (
            pair for pair in self.differences if {pair.first, pair.second} == {name, best.metric}
        )
        if pair.adjusted is None:
            return "not tested"
        if pair.adjusted > self.options.alpha:
            return "no significant difference"
        return "above" if pair.first == name else "below"

    def best(
        self,
        names: Iterable[str],
        parts: Sequence[Rows],
        ties: bool = True,
    ) -> str | None:
        """The most accurate on the pairs that all choose on, which is so with a missing choice counted as wrong, too;
        None: undecided. parts: pairs, whose accuracies are averaged; ties False: without those on which raters tied. A
        baseline counts where it chooses on every pair (what it does not apply to is no silence), a judge where it chose
        at all."""
        decided = [
            [row for row in rows if self.gold[row] and (ties or self.gold[row] != TIE)]
            for rows in parts
        ]
        right_by_place = {
            name: [{str(row): self.right[name][row] for row in rows} for rows in decided]
            for name in names
        }
        for name, subset in list(right_by_place.items()):
            missing = [right is None for part in subset for right in part.values()]
            if all(missing) or (self.judges[name].baseline and any(missing)):
                del right_by_place[name]
        if not all(decided):
            return None
        return best(
            readings(
                [
                    {name: subset[place] for name, subset in right_by_place.items()}
                    for place in range(len(parts))
                ]
            )
        )

    @cached_property
    def subjects(self) -> dict[str, Rows]:
        return self._groups(lambda pair: pair.subject)

    @cached_property
    def modes(self) -> dict[str, Rows]:
        estimates = self._groups(lambda pair: pair.mode)
        return {mode: estimates[mode] for mode in MODES if mode in estimates}

    @cached_property
    def categories(self) -> dict[str, Rows]:
        return self._groups(lambda pair: pair.category)

    def _groups(
        self,
        value_of: Callable[[PairFacts], str],
    ) -> dict[str, Rows]:
        """The pairs of each value, in the order of the values; those without one are in no group."""
        names = sorted({value_of(pair) for pair in self.pairs} - {""})
        if len(names) > MOST_GROUPS:
            self.notices.append(
                f"{len(names):,} groups such as {names[0]!r} are too many (at most {MOST_GROUPS})."
            )
            return {}

        def rows_of(name: str) -> Rows:
            return self.where(lambda pair: value_of(pair) == name)

        return {name: rows_of(name) for name in names}

    def where(
        self, test: Callable[[PairFacts], bool | None], among: Rows | None = None
    ) -> list[int]:
        places = range(len(self.pairs)) if among is None else among
        return [place for place in places if test(self.pairs[place])]

    def accuracy(
        self,
        name: str,
        rows: Rows,
        ties: bool = True,
    ) -> Estimate:
        """On these pairs; ties False: without those on which raters tied (table 15)."""
        subset = self.sample.of(rows)
        right = [self.right[name][row] for row in rows]
        counted = [gold is not None and (ties or gold != TIE) for gold in subset.gold]
        estimates = subset.rate(
            [r if is_counted else None for r, is_counted in zip(right, counted, strict=True)]
        )
        return replace(estimates, missing=sum(counted) - estimates.n)

    def same(
        self,
        entry: str,
        second: str,
        rows: Rows,
    ) -> Estimate:
        """How often two judges make the same choice (figures 3 and 9 to 11)."""
        a, b = ([self.chosen[name][row] for row in rows] for name in (entry, second))
        return self.sample.of(rows).same(a, b)

    # Orders and votes -------------------------------------------------------------------------------------------------

    def _of_orders(self, name: str) -> dict[str, Estimate]:
        """Of a judge that saw pairs in one order or both: the same choice in both; of its decisions, those for the
        answer shown first; right in both; its accuracy with either answer shown first."""
        sample = self.sample
        orders_shown = [self.judges[name].orders.get(row, {}) for row in range(len(self.pairs))]
        by = {
            first: sample.right([entry.get(first) for entry in orders_shown])
            for first in ("a", "b")
        }
        twice = [
            None if None in both_right else float(all(both_right))
            for both_right in zip(by["a"], by["b"], strict=True)
        ]
        places = [
            (row, first == choice)
            for row, entry in enumerate(orders_shown)
            for first, choice in entry.items()
            if choice != TIE
        ]
        same = sample.share(
            [entry["a"] == entry["b"] if len(entry) > 1 else None for entry in orders_shown]
        )
        first = sample.of(row for row, _ in places).share([first for _, first in places])
        return dict(
            zip(ORDERS, (same, first, *map(sample.rate, (twice, by["a"], by["b"]))), strict=True)
        )

    def _of_votes(
        self,
        name: str,
        rows: tuple[int, ...],
    ) -> dict[str, Estimate]:
        """Of a judge with several votes on each pair (figure 2): the human choice is among them; it is that of most;
        all are the same. rows: places of pairs."""
        subset = self.sample.of(rows)
        votes_of_pairs = [(self.gold[row], self.judges[name].votes.get(row)) for row in rows]
        among = subset.share(
            [
                None if gold is None or votes is None else gold in votes
                for gold, votes in votes_of_pairs
            ]
        )
        plurality = subset.rate(
            [self.right[name][row] if self.judges[name].votes.get(row) else None for row in rows]
        )
        same = subset.share(
            [None if votes is None else len(set(votes)) == 1 for _, votes in votes_of_pairs]
        )
        return dict(zip(VOTES, (among, plurality, same), strict=True))

    # Raters -----------------------------------------------------------------------------------------------------------

    @cached_property
    def disputed(self) -> list[int]:
        """Pairs on which raters chose differently."""
        return self.where(lambda pair: pair.disputed)

    @cached_property
    def undisputed(self) -> list[int]:
        return self.where(lambda pair: pair.disputed is False)

    @cached_property
    def people(self) -> RaterAgreement:
        """Coefficients, the human ceiling, each rater."""
        questions = clusters_of([pair.question for pair in self.pairs])
        return agreement(
            RatedItems([pair.votes for pair in self.pairs], questions), {}, self.chosen, self.levels
        )

    def agreeing(self, rows: Rows) -> Estimate:
        """The share of pairs of raters with the same choice (table 2)."""
        twice = [row for row in rows if len(self.pairs[row].votes) > 1]
        if not twice:
            return Estimate(None, None, None, 0, self.levels.level, reason=NO_SECOND)
        return self.sample.of(twice).rate(
            [agreeing(vote.name for vote in self.pairs[row].votes) for row in twice]
        )

    def expansion_errors(self, rows: Rows) -> dict[str, int]:
        """Errors of expanded references, one a question, and how many were checked (table 6). An error counts if at
        least half of the raters' answers report it."""
        answers: dict[tuple[str, str], list[bool]] = defaultdict(list)
        for row in rows:
            for check, wrong in self.pairs[row].checks:
                answers[self.pairs[row].question, check].append(wrong)
        errors = Counter(
            check for (_, check), subset in answers.items() if 2 * sum(subset) >= len(subset)
        )
        checked = len({question for question, _ in answers})
        return {**{check: errors[check] for check in EXPANSION_CHECKS}, CHECKED: checked}

    # Development ------------------------------------------------------------------------------------------------------

    @cached_property
    def tuning(self) -> list[int]:
        """The pairs of the development split."""
        questions = split(
            [pair.question for pair in self.pairs], self.options.development, self.options.seed
        )
        return self.where(lambda pair: pair.question in questions)

    def _of_split(self, name: str) -> TieBand:
        """Of a metric: its accuracy on the rest and on the development split, and what a tie band is worth."""
        scores = self.judges[name].scores
        differences = [
            scores[place][0] - scores[place][1] if place in scores else None
            for place in range(len(self.pairs))
        ]
        return tie_band(name, self.sample, self.chosen[name], differences, self.tuning)


def baselines(pairs: Sequence[PairFacts]) -> Iterator[Judge]:
    """Those of `metaeval` that read no human choice. One that never chooses is left out."""
    sides = [PairSides(pair.characters, pair.words, pair.model) for pair in pairs]
    for title, choices in baseline_choices(BASELINES, sides, ()).items():
        chosen = {row: choice for row, choice in enumerate(choices) if choice}
        yield Judge(title, baseline=True, choices=chosen)
