"""The meta-evaluation, whole: read both sides, join them, take every figure that a label allows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np

from longmark.analysis.metaeval.binary import auc, auc_differences, calibration
from longmark.analysis.metaeval.classes import by_class
from longmark.analysis.metaeval.correlate import by_group, columns_of, correlations, differences, grouping
from longmark.analysis.metaeval.join import Join, Pair, Rated, check_any, join_choices, join_ratings
from longmark.analysis.metaeval.orient import direction, on_scale
from longmark.analysis.metaeval.people import People, Vote, people
from longmark.analysis.metaeval.powered import powered
from longmark.analysis.metaeval.preferences import preferences, votes_of
from longmark.analysis.metaeval.questions import Clusters, clusters_of, questions_of
from longmark.analysis.metaeval.result import ChoiceLabel, Metaeval, MetricJoin, RatingLabel
from longmark.analysis.metaeval.scale import BINARY, Scale, class_of, majority, mean_of, scale_of, text_of
from longmark.errors import UnknownName, UserError
from longmark.records.labels import MOST_GROUPS, Labels, read_labels
from longmark.scores.answers import AnswerScores, Source, read_answers
from longmark.stats.samples import Floats

_POINTS = 2_000


def whole(
    rows: Source | Sequence[Source],
    human: str | Path | Iterable[Mapping[str, Any]],
    *,
    metrics: Sequence[str],
    labels: Sequence[str],
    mapping: Mapping[str, str],
    by: Sequence[str],
    order: Mapping[str, Sequence[str]],
    lower: Sequence[str],
    round_to: int,
    alpha: float,
    seed: int,
) -> Metaeval:
    """As `longmark.analysis.metaeval.metaeval`, which has the defaults."""
    if not 0 < alpha < 1:
        raise UserError(f"alpha lies between 0 and 1, as 0.05 does; found {alpha}")
    if not 0 <= round_to <= 12:
        raise UserError(f"values are rounded to 0 to 12 decimals, not {round_to}")
    said = read_labels(human, mapping=mapping, by=by, labels=labels)
    marks = read_answers(rows, metrics, lower)
    wanted = tuple(dict.fromkeys(labels)) or said.labels
    for name in order:
        if name not in said.labels:
            raise UnknownName("label in --order", name, said.labels, f"The labels are {', '.join(said.labels[:20])}.")
    job = _Job(said, marks, {name: tuple(words) for name, words in order.items()}, round_to, alpha, seed)
    return job.run(wanted)


class _Job:
    """One meta-evaluation under way."""

    def __init__(
        self,
        human: Labels,
        marks: AnswerScores,
        order: Mapping[str, tuple[str, ...]],
        places: int,
        alpha: float,
        seed: int,
    ) -> None:
        self._human, self._marks, self._order = human, marks, order
        self._places, self._alpha, self._level, self._seed = places, alpha, 1 - alpha, seed

    def run(self, labels: Sequence[str]) -> Metaeval:
        human, marks = self._human, self._marks
        parts: list[RatingLabel | ChoiceLabel] = []
        if human.choices:
            paired = [join_choices(human, marks, label) for label in labels]
            check_any([join for _, join in paired], human, marks)
            parts += [self._choices(label, pairs, join) for label, (pairs, join) in zip(labels, paired, strict=True)]
        else:
            rated = [join_ratings(human, marks, label) for label in labels]
            check_any([join for _, join in rated], human, marks)
            parts += [self._ratings(label, each, join) for label, (each, join) in zip(labels, rated, strict=True)]
        return Metaeval(
            sources=marks.sources,
            human=human.name,
            metrics={name: direction(facts) for name, facts in marks.metrics.items()},
            labels=tuple(parts),
            by=human.by,
            empty=human.empty,
            alpha=self._alpha,
            round=self._places,
            seed=self._seed,
            order=self._order,
            notices=tuple(self._notices()),
        )

    def _notices(self) -> Iterable[str]:
        yield from self._marks.notices
        for name in self._marks.mixed:
            if name in self._marks.metrics:
                yield (
                    f"The marks of {name} were not all made by the same models, prompts and parameters; "
                    "its figures are of a mixture."
                )
        if self._human.empty:
            yield f"{self._human.empty:,} lines of {self._human.name} have no value and are left out."

        for column, why in self._human.unused:
            yield f"Nothing is broken down by the column {column}: {why}."

    def _by(self, groups: Sequence[Sequence[str | None]]) -> tuple[str, ...]:
        for place, column in enumerate(self._human.by):
            count = len({each[place] for each in groups})
            if count > MOST_GROUPS:
                raise UserError(
                    f"the column {column} has {count:,} different values, which are no groups (at most {MOST_GROUPS}); "
                    "name another with --by COLUMN"
                )
        return self._human.by

    def _ratings(self, label: str, rated: Sequence[Rated], join: Join) -> RatingLabel:
        scale = scale_of([r for each in rated for r in each.said], self._order.get(label, ()), self._human.name)
        here = [each for each in rated if each.place is not None]
        places = [each.place for each in here if each.place is not None]
        columns = columns_of(self._marks, places)
        means = [mean_of(each.said, scale) for each in here]
        mean = np.array([np.nan if value is None else value for value in means], dtype=np.float64)
        verdicts = [majority(class_of(rating.value, scale) for rating in each.said) for each in here]
        groups = [each.groups for each in here]
        by = self._by(groups)
        numeric, level, alpha, seed = scale.numeric, self._level, self._alpha, self._seed
        yes = _yes(verdicts, scale) if scale.kind == BINARY else None
        its = clusters_of(questions_of(self._marks, places))
        return RatingLabel(
            label=label,
            join=join,
            metrics=self._metric_joins(places),
            scale=scale,
            ratings=sum(len(each.said) for each in rated),
            undecided=verdicts.count(None),
            people=self._people(rated, scale, places),
            correlations=correlations(self._marks, columns, mean, its, level) if numeric else (),
            grouping=grouping(self._marks, places, columns, mean, level, seed) if numeric else (),
            groups=by_group(columns, mean, by, groups, its, level) if numeric else (),
            differences=differences(columns, mean, its, alpha) if numeric else (),
            aucs=() if yes is None else tuple(auc(name, values, yes, level, its) for name, values in columns.items()),
            auc_differences=() if yes is None else auc_differences(columns, yes, alpha, its),
            calibrations=() if yes is None else self._calibrations(places, yes, its),
            classes=self._classes(places, columns, verdicts, scale, its) if scale.classes else (),
            powered=powered(self._marks, places, mean, scale.low or 0.0, scale.high or 0.0, level) if numeric else (),
            points={name: _points(mean, values, seed) for name, values in self._values(places)} if numeric else {},
            clustered=its is not None,
        )

    def _values(self, places: Sequence[int]) -> Iterable[tuple[str, Floats]]:
        """The values of every metric as it gave them."""
        index = np.asarray(places, dtype=np.int64)
        return ((name, self._marks.column(name)[index]) for name in self._marks.metrics)

    def _metric_joins(self, places: Sequence[int]) -> tuple[MetricJoin, ...]:
        found = []
        for name in self._marks.metrics:
            values, gaps = self._marks.scores[name], self._marks.unscored[name]
            without = Counter(gaps.get(place, "no row") for place in places if place not in values)
            found.append(MetricJoin(name, len(places) - without.total(), dict(without.most_common())))
        return tuple(found)

    def _calibrations(self, places: Sequence[int], yes: Floats, clusters: Clusters) -> tuple[Any, ...]:
        facts = self._marks.metrics
        return tuple(
            calibration(name, on_scale(values, facts[name], 0, 1), yes, self._level, clusters)
            for name, values in self._values(places)
        )

    def _classes(
        self,
        places: Sequence[int],
        columns: Mapping[str, Floats],
        verdicts: Sequence[str | None],
        scale: Scale,
        clusters: Clusters,
    ) -> tuple[Any, ...]:
        found = []
        for name, values in self._values(places):
            scaled = None
            if scale.low is not None and scale.high is not None:
                scaled = on_scale(values, self._marks.metrics[name], scale.low, scale.high)
            found.append(
                by_class(name, values, columns[name], scaled, verdicts, scale, clusters, self._level, self._seed)
            )
        return tuple(found)

    def _people(self, rated: Sequence[Rated], scale: Scale, places: Sequence[int]) -> People:
        """Agreement is over all rated answers, with and without a row; metrics stand beside it where they have one."""
        items = [
            [
                Vote(r.rater, class_of(r.value, scale), scale.number[text_of(r.value)] if scale.numeric else None)
                for r in each.said
            ]
            for each in rated
        ]
        wide: dict[str, Floats] = {}
        if scale.numeric:
            rows = [row for row, each in enumerate(rated) if each.place is not None]
            for name, values in columns_of(self._marks, places).items():
                wide[name] = np.full(len(rated), np.nan)
                wide[name][rows] = values
        kind: Literal["nominal", "interval"] = "interval" if scale.numeric else "nominal"
        names = [each.name if each.place is None else self._marks.answers[each.place].question_id for each in rated]
        return people(
            items, kind, wide, {}, self._level, self._seed, classes=bool(scale.classes), questions=clusters_of(names)
        )

    def _choices(self, label: str, pairs: Sequence[Pair], join: Join) -> ChoiceLabel:
        here = [pair for pair in pairs if pair.why is None]
        by = self._by([pair.groups for pair in here])
        found = preferences(self._marks, here, by, self._places, self._alpha, self._seed)
        rows = {id(pair): row for row, pair in enumerate(here)}
        chosen = {
            name: [choices[rows[id(pair)]] if id(pair) in rows else None for pair in pairs]
            for name, choices in found.chosen.items()
        }
        items = [votes_of(pair) for pair in pairs]
        beside = people(
            items,
            "nominal",
            {name: np.empty(0) for name in chosen},
            chosen,
            self._level,
            self._seed,
            questions=clusters_of([pair.question_id for pair in pairs]),
        )
        gaps = []
        for name in self._marks.metrics:
            values = self._marks.scores[name]
            without: Counter[str] = Counter()
            for pair in here:
                lacking = [place for place in (pair.a, pair.b) if place not in values]
                if lacking:
                    without[self._marks.unscored[name].get(lacking[0] or 0, "no row")] += 1
            gaps.append(MetricJoin(name, len(here) - without.total(), dict(without.most_common())))
        return ChoiceLabel(label, join, tuple(gaps), beside, found)


def _yes(verdicts: Sequence[str | None], scale: Scale) -> Floats:
    return np.array([np.nan if verdict is None else scale.number[verdict] for verdict in verdicts])


def _points(people_: Floats, values: Floats, seed: int) -> tuple[tuple[float, float], ...]:
    both = np.flatnonzero(~(np.isnan(people_) | np.isnan(values)))
    if len(both) > _POINTS:
        both = np.sort(np.random.default_rng(seed).choice(both, _POINTS, replace=False))
    return tuple((float(people_[row]), float(values[row])) for row in both)
