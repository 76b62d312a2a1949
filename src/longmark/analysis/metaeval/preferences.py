"""Metrics against people's choices between two answers: accuracy on a, b or tie, with and without the people's ties.

A metric prefers the answer with the better value; values that are equal after rounding are a tie. People's choice is
the one that most raters made (none where two lead: such a pair is left out, and counted). A rater who was shown a pair
in both orders has one voice on it: a tie where the two choices differ.

Baselines: the longer answer (characters of the text), and always the choice that people made most. By chance three
choices are right in 1/3, two in 1/2. Intervals are Wilson's; where questions have several pairs, BCa over questions.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from longmark.analysis.metaeval.draws import draws
from longmark.analysis.metaeval.join import Pair
from longmark.analysis.metaeval.orient import direction
from longmark.analysis.metaeval.people import Vote
from longmark.analysis.metaeval.scale import majority
from longmark.scores.answers import AnswerScores
from longmark.stats.bootstrap import bootstrap_difference, bootstrap_mean
from longmark.stats.clustered_share import clustered_share
from longmark.stats.multiplicity import adjust
from longmark.stats.permutation import paired_permutation
from longmark.stats.proportion import share
from longmark.stats.results import Estimate

LONGER = "always the longer answer"
ALWAYS = "always the most frequent choice"


@dataclass(frozen=True, slots=True)
class Accuracy:
    """How often a metric (or a baseline) makes people's choice.

    all: a tie is right where people tied; without_ties: of the pairs on which people decided, a tie is wrong; decided:
    of those on which both decided. ties: pairs the metric calls equal; first: of its decisions those for a.
    missing: pairs on which people have a choice and the metric none, since an answer has no value.
    """

    name: str
    direction: str
    all: Estimate
    without_ties: Estimate
    decided: Estimate
    ties: Estimate
    first: Estimate
    missing: int


@dataclass(frozen=True, slots=True)
class GroupAccuracy:
    """A metric's accuracy among the pairs of one group. column: which column the group is of."""

    column: str
    group: str
    name: str
    all: Estimate
    without_ties: Estimate


@dataclass(frozen=True, slots=True, kw_only=True)
class ChoiceDifference(Estimate):
    """accuracy(first) - accuracy(second) on the pairs on which both have a choice.

    only_first, only_second: pairs on which only that one is right. p: paired permutation of right and wrong (McNemar's
    exact test where each question has one pair); adjusted: Holm over all pairs of metrics.
    """

    first: str
    second: str
    only_first: int
    only_second: int
    p: float | None
    adjusted: float | None = None


@dataclass(frozen=True, slots=True)
class SameChoice:
    """How often two metrics make the same choice, of the pairs on which both have one."""

    first: str
    second: str
    share: Estimate


@dataclass(frozen=True, slots=True)
class Position:
    """Raters and the order in which they saw two answers.

    first: of the choices that were no tie those for the answer shown first (.5 without bias, where the order was drawn
    by lot). both_orders: pairs that a rater saw in both; same: of those with the same choice.
    """

    rater: str
    first: Estimate
    both_orders: int
    same: Estimate


@dataclass(frozen=True, slots=True)
class Gold:
    """People's choices: pairs with one, without a majority, and how the choices are spread over a, b and tie."""

    pairs: int
    undecided: int
    counts: Mapping[str, int]
    ties: Estimate


@dataclass(frozen=True, slots=True)
class Preferences:
    """All about the choices on a label. chosen: of each metric and pair in the order of `pairs`."""

    gold: Gold
    accuracies: tuple[Accuracy, ...]
    groups: tuple[GroupAccuracy, ...]
    differences: tuple[ChoiceDifference, ...]
    same: tuple[SameChoice, ...]
    positions: tuple[Position, ...]
    chosen: Mapping[str, tuple[str | None, ...]]
    places: int


def votes_of(pair: Pair) -> list[Vote]:
    """One vote for each rater."""
    said: dict[str, set[str]] = {}
    for rater, choice, _ in pair.said:
        said.setdefault(rater, set()).add(choice)
    return [Vote(rater, choices.pop() if len(choices) == 1 else "tie", None) for rater, choices in said.items()]


def preferences(
    marks: AnswerScores, pairs: Sequence[Pair], by: Sequence[str], places: int, alpha: float, seed: int
) -> Preferences:
    """pairs: those with both answers; places: decimals that a metric's values are rounded to."""
    level = 1 - alpha
    gold = [majority(vote.name for vote in votes_of(pair)) for pair in pairs]
    questions = [pair.question_id for pair in pairs]
    counts = Counter(choice for choice in gold if choice is not None)
    chosen = {name: _chosen(marks, name, pairs, places) for name in marks.metrics}
    how = {name: direction(facts) for name, facts in marks.metrics.items()}
    longer = _longer(marks, pairs)
    if any(choice is not None for choice in longer):
        chosen[LONGER], how[LONGER] = longer, "baseline"
    scorer = _Scorer(gold, questions, level, seed)
    accuracies = [_accuracy(name, how[name], choices, scorer) for name, choices in chosen.items()]
    if counts:
        usual = min(counts, key=lambda choice: (-counts[choice], choice))
        accuracies.append(_accuracy(f"{ALWAYS} ({usual})", "baseline", (usual,) * len(pairs), scorer))
    return Preferences(
        Gold(
            len(pairs),
            gold.count(None),
            dict(counts),
            scorer.share([None if choice is None else choice == "tie" for choice in gold]),
        ),
        tuple(accuracies),
        _by_group(chosen, pairs, by, gold, level, seed),
        _differences(chosen, scorer, alpha, seed),
        tuple(
            SameChoice(one, other, _same(chosen[one], chosen[other], scorer)) for one, other in combinations(chosen, 2)
        ),
        _positions(pairs, level),
        chosen,
        places,
    )


def _chosen(marks: AnswerScores, metric: str, pairs: Sequence[Pair], places: int) -> tuple[str | None, ...]:
    values, lower = marks.scores[metric], marks.metrics[metric].higher_is_better is False
    found: list[str | None] = []
    for pair in pairs:
        a, b = values.get(pair.a if pair.a is not None else -1), values.get(pair.b if pair.b is not None else -1)
        if a is None or b is None:
            found.append(None)
            continue
        a, b = round(a, places), round(b, places)
        found.append("tie" if a == b else "a" if (a > b) != lower else "b")
    return tuple(found)


def _longer(marks: AnswerScores, pairs: Sequence[Pair]) -> tuple[str | None, ...]:
    found: list[str | None] = []
    for pair in pairs:
        a = marks.answers[pair.a].length if pair.a is not None else None
        b = marks.answers[pair.b].length if pair.b is not None else None
        found.append(None if a is None or b is None else "tie" if a == b else "a" if a > b else "b")
    return tuple(found)


@dataclass(frozen=True, slots=True)
class _Scorer:
    """Rates over the pairs that people decided upon."""

    gold: Sequence[str | None]
    questions: Sequence[str]
    level: float
    seed: int

    def rate(self, right: Sequence[float | None]) -> Estimate:
        """The mean of 1, 0 and None (left out), by question where a question has several pairs."""
        kept = [(value, question) for value, question in zip(right, self.questions, strict=True) if value is not None]
        if len({question for _, question in kept}) == len(kept):
            return share(int(sum(value for value, _ in kept)), len(kept), self.level)
        interval = bootstrap_mean(
            [value for value, _ in kept],
            clusters=[question for _, question in kept],
            level=self.level,
            resamples=draws(len(kept)),
            seed=self.seed,
        )
        return replace(interval, method=f"BCa over {interval.clusters} questions")

    def share(self, counted: Sequence[bool | None]) -> Estimate:
        """Wilson's interval, on fewer pairs where those of a question hang together."""
        return clustered_share(counted, self.questions, self.level)

    def right(self, choices: Sequence[str | None]) -> list[float | None]:
        return [None if g is None or c is None else float(g == c) for g, c in zip(self.gold, choices, strict=True)]


def _accuracy(name: str, how: str, choices: Sequence[str | None], scorer: _Scorer) -> Accuracy:
    right = scorer.right(choices)
    usable = [None if r is None else choice for choice, r in zip(choices, right, strict=True)]
    people = [g not in (None, "tie") for g in scorer.gold]
    both = [p and c not in (None, "tie") for p, c in zip(people, choices, strict=True)]
    return Accuracy(
        name,
        how,
        scorer.rate(right),
        scorer.rate([r if keep else None for r, keep in zip(right, people, strict=True)]),
        scorer.rate([r if keep else None for r, keep in zip(right, both, strict=True)]),
        scorer.share([None if choice is None else choice == "tie" for choice in usable]),
        scorer.share([None if choice in (None, "tie") else choice == "a" for choice in usable]),
        sum(g is not None and c is None for g, c in zip(scorer.gold, choices, strict=True)),
    )


def _by_group(
    chosen: Mapping[str, Sequence[str | None]],
    pairs: Sequence[Pair],
    by: Sequence[str],
    gold: Sequence[str | None],
    level: float,
    seed: int,
) -> tuple[GroupAccuracy, ...]:
    found = []
    for place, column in enumerate(by):
        for group in sorted({pair.groups[place] or "(empty)" for pair in pairs}):
            rows = [row for row, pair in enumerate(pairs) if (pair.groups[place] or "(empty)") == group]
            scorer = _Scorer([gold[row] for row in rows], [pairs[row].question_id for row in rows], level, seed)
            people = [g not in (None, "tie") for g in scorer.gold]
            for name, choices in chosen.items():
                right = scorer.right([choices[row] for row in rows])
                without = [r if keep else None for r, keep in zip(right, people, strict=True)]
                found.append(GroupAccuracy(column, group, name, scorer.rate(right), scorer.rate(without)))
    return tuple(found)


def _differences(
    chosen: Mapping[str, Sequence[str | None]], scorer: _Scorer, alpha: float, seed: int
) -> tuple[ChoiceDifference, ...]:
    right = {name: scorer.right(choices) for name, choices in chosen.items()}
    found = [_difference(one, other, right, scorer, seed) for one, other in combinations(right, 2)]
    adjusted = adjust([each.p for each in found], alpha=alpha).adjusted
    return tuple(replace(each, adjusted=p) for each, p in zip(found, adjusted, strict=True))


def _difference(
    one: str, other: str, right: Mapping[str, Sequence[float | None]], scorer: _Scorer, seed: int
) -> ChoiceDifference:
    both = [
        (a, b, question)
        for a, b, question in zip(right[one], right[other], scorer.questions, strict=True)
        if a is not None and b is not None
    ]
    if sum(a - b for a, b, _ in both) < 0:
        return _difference(other, one, right, scorer, seed)
    x, y, questions = [a for a, _, _ in both], [b for _, b, _ in both], [q for _, _, q in both]
    clusters = questions if len(set(questions)) < len(questions) else None
    test = paired_permutation(x, y, clusters=clusters, seed=seed)
    interval = bootstrap_difference(x, y, clusters=clusters, level=scorer.level, seed=seed, resamples=draws(len(x)))
    return ChoiceDifference(
        test.difference,
        interval.low,
        interval.high,
        len(both),
        scorer.level,
        interval.method,
        test.reason or interval.reason,
        clusters=interval.clusters,
        first=one,
        second=other,
        only_first=sum(a > b for a, b, _ in both),
        only_second=sum(b > a for a, b, _ in both),
        p=test.p,
    )


def _same(one: Sequence[str | None], other: Sequence[str | None], scorer: _Scorer) -> Estimate:
    return scorer.share([None if None in (a, b) else a == b for a, b in zip(one, other, strict=True)])


def _positions(pairs: Sequence[Pair], level: float) -> tuple[Position, ...]:
    """All raters together, and where there are several each of them, those with the most choices first."""
    first: dict[str, list[tuple[bool, str]]] = {}  # of each rater, with the question
    same: dict[str, list[tuple[bool, str]]] = {}
    for pair in pairs:
        seen: dict[str, list[tuple[str, bool]]] = {}
        for rater, choice, was_turned in pair.said:
            seen.setdefault(rater, []).append((choice, was_turned))
            if choice != "tie":
                first.setdefault(rater, []).append((choice == ("b" if was_turned else "a"), pair.question_id))
        for rater, both in seen.items():
            if len(both) == 2:
                same.setdefault(rater, []).append((both[0][0] == both[1][0], pair.question_id))
    raters = list(dict.fromkeys(rater for pair in pairs for rater, _, _ in pair.said))

    def taken(found: Mapping[str, list[tuple[bool, str]]], who: Sequence[str]) -> Estimate:
        each = [one for rater in who for one in found.get(rater, ())]
        return clustered_share([counted for counted, _ in each], [question for _, question in each], level)

    def of(name: str, who: Sequence[str]) -> Position:
        stayed = taken(same, who)
        return Position(name, taken(first, who), stayed.n, stayed)

    each = sorted(raters, key=lambda rater: (-len(first.get(rater, ())), rater)) if len(raters) > 1 else []
    return (of("all raters", raters), *(of(rater, [rater]) for rater in each))
