"""Choices between two answers against those of people: accuracy, ties, and the difference of two metrics.

Intervals are Wilson's, or Hall's t over questions if questions have several pairs. A metric is above the baselines if
its paired difference to each of them is above 0 and significant, by Holm over the metrics.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from operator import itemgetter

from longmark.analysis.metaeval.options import MetaevalOptions
from longmark.analysis.metaeval.results import DifferenceOfChoices, paired
from longmark.stats.means import mean_estimate
from longmark.stats.multiplicity import adjust
from longmark.stats.proportion import clustered_share, share
from longmark.stats.results import Estimate

TIE = "tie"
BASELINE = "baseline"

Made = Sequence[str | None]
"""The choice on each pair: a, b, tie or None."""


@dataclass(frozen=True, slots=True)
class ChoiceMetric:
    """A metric, or a baseline (`direction`), on one label.

    scored: pairs of which both answers have a score; unscored: status -> number of the others. accuracy: a tie is right
    where raters tied; without_ties: on pairs on which raters decided, a tie is wrong; decided: where both decided.
    ties: pairs that the metric ties; first: the share of a among its decisions. accuracy.missing: pairs with a
    human choice and none of the metric. choices: on each pair that has rows. beside: the difference to the baseline
    that it is least above, on the same pairs; baseline: the name of that baseline; adjusted: the p of the difference by
    Holm over the metrics (None for a baseline).
    """

    metric: str
    direction: str
    scored: int
    unscored: Mapping[str, int]
    accuracy: Estimate
    without_ties: Estimate
    decided: Estimate
    ties: Estimate
    first: Estimate
    choices: tuple[str | None, ...]
    beside: DifferenceOfChoices | None = None
    baseline: str | None = None
    adjusted: float | None = None


@dataclass(frozen=True, slots=True)
class ChoiceSample:
    """The pairs: their human choices and questions."""

    gold: Made
    questions: Sequence[str]
    options: MetaevalOptions

    def of(self, rows: Iterable[int]) -> ChoiceSample:
        chosen_rows = list(rows)
        return ChoiceSample(
            [self.gold[row] for row in chosen_rows],
            [self.questions[row] for row in chosen_rows],
            self.options,
        )

    def rate(self, right: Sequence[float | None]) -> Estimate:
        """The mean of values in [0, 1] and None (left out), by question if a question has several pairs."""
        known_values = [
            (value, question)
            for value, question in zip(right, self.questions, strict=True)
            if value is not None
        ]
        values = [value for value, _ in known_values]
        questions = [question for _, question in known_values]
        level = self.options.level
        if len(set(questions)) == len(known_values) and set(values) <= {0, 1}:
            return share(int(sum(values)), len(known_values), level)
        return mean_estimate(values, questions, (0, 1), level)

    def share(self, counted: Sequence[bool | None]) -> Estimate:
        """Wilson's interval, on fewer pairs if those of a question are dependent."""
        return clustered_share(counted, self.questions, self.options.level)

    def right(self, choices: Made) -> list[float | None]:
        return [
            None if g is None or c is None else float(g == c)
            for g, c in zip(self.gold, choices, strict=True)
        ]

    def without_ties(self, right: Sequence[float | None]) -> list[float | None]:
        return [r if g != TIE else None for r, g in zip(right, self.gold, strict=True)]

    def metric(
        self, name: str, direction_words: str, unscored: Mapping[str, int], choices: Made
    ) -> ChoiceMetric:
        right = self.right(choices)
        rights_without_ties = self.without_ties(right)
        missing = sum(g is not None and c is None for g, c in zip(self.gold, choices, strict=True))
        usable = [None if r is None else choice for choice, r in zip(choices, right, strict=True)]
        return ChoiceMetric(
            metric=name,
            direction=direction_words,
            scored=len(choices) - sum(unscored.values()),
            unscored=unscored,
            accuracy=replace(self.rate(right), missing=missing),
            without_ties=self.rate(rights_without_ties),
            decided=self.rate(
                [None if c == TIE else r for c, r in zip(choices, rights_without_ties, strict=True)]
            ),
            ties=self.share([None if choice is None else choice == TIE for choice in usable]),
            first=self.share(
                [None if choice in (None, TIE) else choice == "a" for choice in usable]
            ),
            choices=tuple(choices),
        )

    def difference(
        self, first: Sequence[float | None], second: Sequence[float | None]
    ) -> DifferenceOfChoices:
        """Of two accuracies, by the paired test of right and wrong."""
        rows = zip(first, second, self.questions, strict=True)
        complete_pairs = [
            (a, b, question) for a, b, question in rows if a is not None and b is not None
        ]
        x = [a for a, *_ in complete_pairs]
        y = [b for _, b, _ in complete_pairs]
        questions = [question for *_, question in complete_pairs]
        result = paired(x, y, questions, 1.0, self.options.level, self.options.seed)
        wins = sum(a > b for a, b, _ in complete_pairs), sum(b > a for a, b, _ in complete_pairs)
        return DifferenceOfChoices(**asdict(result), only_first=wins[0], only_second=wins[1])

    def beside(self, metrics: Sequence[ChoiceMetric], alpha: float) -> list[ChoiceMetric]:
        """The metrics, each beside the baseline that it is least above: it is above all of them if it is above this."""
        baselines = [
            (metric.metric, self.right(metric.choices))
            for metric in metrics
            if metric.direction == BASELINE
        ]
        nearest_baselines: list[tuple[DifferenceOfChoices | None, str | None]] = []
        for one in metrics:
            differences = [
                (self.difference(self.right(one.choices), right), name) for name, right in baselines
            ]
            ranked_differences = [
                (difference.value > 0, -(difference.p or 0.0), difference, name)
                for difference, name in differences
                if difference.value is not None
            ]
            nearest_baselines.append(
                min(ranked_differences, key=itemgetter(0, 1))[2:]
                if ranked_differences and one.direction != BASELINE
                else (None, None)
            )
        adjusted = adjust(
            [difference.p if difference else None for difference, _ in nearest_baselines],
            alpha=alpha,
        ).adjusted
        rows = zip(metrics, nearest_baselines, adjusted, strict=True)
        return [
            replace(metric, beside=difference, baseline=name, adjusted=p)
            for metric, (difference, name), p in rows
        ]

    def same(self, first: Made, second: Made) -> Estimate:
        return self.share(
            [None if None in (a, b) else a == b for a, b in zip(first, second, strict=True)]
        )
