"""The results of a comprehensiveness study: label match rates by method and model, and their differences.

A method is a metric (`comprehensiveness.qa`), a model its judge. Rates are means of the values of `matches`. Intervals
are by BCa with 10,000 resamples and seed 42, which gives the published ones (appendix B.1.2); they resample clusters,
since answers to one question depend on each other (five models answer each question of WikiContradict five times). The
interval that takes each answer by itself, as published, stands beside it.

An answer without a score is left out and counted. The authors count an empty graph and an unparsable reply as a score
of 0; the rate with these zeros stands beside ours.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from itertools import combinations
from pathlib import Path
from statistics import fmean
from typing import Literal

import numpy as np

from longmark.analysis.grid import Compared, adjusted
from longmark.contrib.make.published import CONFLICTBANK, DATASET, WIKICONTRADICT
from longmark.contrib.papers.comprehensiveness.rows import (
    BANK,
    BOTH,
    KINDS,
    LAX,
    STRICT,
    TESTED,
    WIKI,
    RateOptions,
    RowWithExample,
    check_label,
    cluster_of,
    covered_by_source,
    label_of,
    read,
    value,
)
from longmark.errors import UserError
from longmark.scores.clusters import refuse_unknown
from longmark.scores.files import name_of
from longmark.scores.readings import MeanReading, best, readings
from longmark.stats.bootstrap import BCA, bootstrap_of_sums
from longmark.stats.multiplicity import BENJAMINI_HOCHBERG
from longmark.stats.permutation import paired_permutation
from longmark.stats.results import Difference, Estimate
from longmark.stats.samples import Floats, cluster_numbers

Key = tuple[str, str]
"""Method and model."""
Rate = tuple[str, str, str]
"""What is estimated: kind of rate, method, model."""
By = Literal["cluster", "answer", "zeroed"]
"""How a rate is made: clusters resampled; answers resampled, as published; the same with the authors' zeros."""


@dataclass(slots=True)
class Values:
    """What a method and model give the answers of a data set, in their order: NaN for none. zeroed: with the authors'
    zeros; labels: what was expected of each answer."""

    ids: list[str] = field(default_factory=list)
    clusters: list[str] = field(default_factory=list)
    labels: list[str] = field(default_factory=list)
    values: list[float] = field(default_factory=list)
    zeroed: list[float] = field(default_factory=list)

    def known(self) -> dict[str, float | None]:
        """Answer -> value, None for none."""
        return {
            name: None if math.isnan(value) else value
            for name, value in zip(self.ids, self.values, strict=True)
        }

    def where(self, label: str) -> Values:
        """Those of one label; all for ""."""
        places = [
            place for place, item_label in enumerate(self.labels) if label in ("", item_label)
        ]
        return Values(
            ids=[self.ids[place] for place in places],
            clusters=[self.clusters[place] for place in places],
            labels=[self.labels[place] for place in places],
            values=[self.values[place] for place in places],
            zeroed=[self.zeroed[place] for place in places],
        )


class ComprehensivenessResults:
    """The label match rates, in [0, 1], of what was read. answers: data set -> how many there are."""

    def __init__(
        self, scored: Sequence[RowWithExample], options: RateOptions, notices: Iterable[str]
    ) -> None:
        self.options = options
        self.notices = tuple(notices)
        self._values = _values(scored, options)
        self._coverage = _coverage(scored)
        self.answers = {
            name: len(
                {answer.example.id for answer in scored if answer.example.meta[DATASET] == name}
            )
            for name in (WIKICONTRADICT, CONFLICTBANK)
        }
        self.rate = cache(self._rate)

    @cached_property
    def rates(self) -> list[Rate]:
        """Every kind of rate with its methods and models; a rate over both data sets where both have answers."""
        return [(kind, *key) for kind in KINDS for key in self._of(kind)]

    def of(self, kind: str) -> list[Key]:
        return [(method, model) for name, method, model in self.rates if name == kind]

    def labels(self, rate: Rate) -> list[str]:
        """What was expected of the answers."""
        return list(dict.fromkeys(name for part in self._parts(rate) for name in part.labels))

    def _of(self, kind: str) -> list[Key]:
        part_values = [self._values.get(part, {}) for part in _parts(kind)]
        return [key for key in part_values[0] if all(key in values for values in part_values)]

    def _parts(self, rate: Rate, label: str = "") -> list[Values]:
        return [self._values[part][rate[1:]].where(label) for part in _parts(rate[0])]

    def _rate(self, rate: Rate, by: By = "cluster", label: str = "") -> Estimate:
        """The rate over the answers with a score; of those with a label, "" for all."""
        parts = self._parts(rate, label)
        if by == "zeroed":
            return mean_bca([(part.zeroed, None) for part in parts], self.options)
        clustered = by == "cluster" and any(
            len(set(part.clusters)) < len(part.clusters) for part in parts
        )
        return mean_bca(
            [(part.values, part.clusters if clustered else None) for part in parts], self.options
        )

    @cached_property
    def readings(self) -> dict[Rate, MeanReading]:
        """Over the answers that every method and model of the kind scored, and with 0 for unscored answers."""
        rate_readings: dict[Rate, MeanReading] = {}
        for kind in KINDS:
            keys = self._of(kind)
            parts = [
                {key: self._values[part][key].known() for key in keys}
                for part in _parts(kind)
                if keys
            ]
            rate_readings |= {(kind, *key): reading for key, reading in readings(parts).items()}
        return rate_readings

    def best(self, rates: Iterable[Rate]) -> Rate | None:
        """The rate that is best on the answers that all scored and with 0 for unscored ones; None: undecided."""
        return best({rate: self.readings[rate] for rate in rates})

    def differences(self, by: By = "cluster") -> list[Compared]:
        """Each pair of methods with the same model: a paired permutation test of the mean difference, in which the
        signs of a cluster, or of an answer, flip together. Adjusted after Benjamini and Hochberg within a data set."""
        comparisons: list[Compared] = []
        for kind in TESTED:
            keys = self.of(kind)
            kind_values = self._values.get(kind, {})
            pairs = [
                Compared(
                    first,
                    second,
                    self._difference(kind_values[first, model], kind_values[second, model], by),
                    within=(kind, model),
                )
                for model in dict.fromkeys(model for _, model in keys)
                for first, second in combinations(
                    [method for method, method_model in keys if method_model == model], 2
                )
            ]
            comparisons += adjusted(pairs, self.options.alpha, BENJAMINI_HOCHBERG)
        return comparisons

    def _difference(self, first: Values, second: Values, by: By) -> Difference:
        second_values = dict(zip(second.ids, second.values, strict=True))
        test = paired_permutation(
            first.values,
            [second_values.get(name, math.nan) for name in first.ids],
            clusters=first.clusters if by == "cluster" else None,
            permutations=self.options.draws,
            seed=self.options.seed,
        )
        return Difference(
            test.difference,
            low=None,
            high=None,
            n=test.n,
            p=test.p,
            missing=test.missing,
            clusters=test.clusters,
            reason=test.reason,
        )

    def share_of(self, label: str) -> float | None:
        """The share of WikiContradict's answers with the label; for Partially correct it is the rate of a score of 0.5
        for every answer. None without such answers."""
        for values in self._values.get(WIKI, {}).values():
            return values.labels.count(label) / len(values.labels)
        return None

    @cached_property
    def coverage(self) -> dict[tuple[str, str, str, bool], Estimate]:
        """Method, model, source of ConflictBank, whether answers match it -> the mean S_X over scored answers; missing:
        those in which the source has no statements."""
        return {
            key: mean_bca([(shares, None)], self.options) for key, shares in self._coverage.items()
        }


def _parts(kind: str) -> tuple[str, ...]:
    """The data sets of a kind of rate."""
    return (WIKI, BANK) if kind == BOTH else (kind,)


def study(
    runs: Sequence[Path], options: RateOptions, examples: Path | None = None
) -> ComprehensivenessResults:
    """The label match rates of runs on WikiContradict, ConflictBank or both. UserError if no example has a label."""
    notices: list[str] = []
    scored = read(runs, options, examples, notices)
    labelled = [
        answer
        for answer in scored
        if answer.example.meta.get(DATASET) in (WIKICONTRADICT, CONFLICTBANK)
    ]
    if not labelled:
        condition = f"meta.{DATASET} is {WIKICONTRADICT} or {CONFLICTBANK}"
        raise UserError(
            f"no example has a label ({condition}); make the examples with `longmark dataset`, or add --answers RUN"
        )
    if len(labelled) < len(scored):
        notices.append(
            f"{len(scored) - len(labelled):,} of {len(scored):,} rows have no label and are excluded."
        )
    for answer in labelled:
        check_label(answer.example)
    refuse_unknown(options.cluster, (answer.example for answer in labelled))
    return ComprehensivenessResults(labelled, options, [*notices, *_mixed(labelled)])


def _mixed(scored: Iterable[RowWithExample]) -> Iterator[str]:
    """A notice for each method and model whose rows were not made alike."""
    ways: dict[Key, set[str]] = {}
    for answer in scored:
        made_by = repr((answer.row.signature.params, answer.row.signature.prompts))
        ways.setdefault((answer.row.metric, answer.model), set()).add(made_by)
    for (method, model), settings in ways.items():
        if len(settings) > 1:
            yield f"{method} by {model}: its scores were made with {len(settings)} different parameters or prompts."


def _values(scored: Iterable[RowWithExample], options: RateOptions) -> dict[str, dict[Key, Values]]:
    values_by_kind: dict[str, dict[Key, Values]] = {}
    for answer in scored:
        example = answer.example
        for kind in (WIKI,) if example.meta[DATASET] == WIKICONTRADICT else (STRICT, LAX, BANK):
            to = values_by_kind.setdefault(kind, {}).setdefault(
                (answer.row.metric, answer.model), Values()
            )
            to.ids.append(example.id)
            to.clusters.append(
                example.id if options.as_published else cluster_of(example, options.cluster)
            )
            to.labels.append(label_of(example))
            for values, zero in ((to.values, options.as_published), (to.zeroed, True)):
                got = value(answer, kind, zero=zero)
                values.append(math.nan if got is None else got)
    return values_by_kind


def _coverage(scored: Iterable[RowWithExample]) -> dict[tuple[str, str, str, bool], list[float]]:
    shares: dict[tuple[str, str, str, bool], list[float]] = {}
    for answer in scored:
        if answer.example.meta[DATASET] == CONFLICTBANK and answer.row.score is not None:
            for source, share in covered_by_source(answer, answer.row.evidence).items():
                key = (
                    answer.row.metric,
                    answer.model,
                    source,
                    source in answer.example.meta["matches"],
                )
                shares.setdefault(key, []).append(math.nan if share is None else share)
    return shares


def mean_bca(
    strata: Sequence[tuple[Sequence[float], Sequence[str] | None]], options: RateOptions
) -> Estimate:
    """The mean of the strata's means, with its BCa interval. strata: values (NaN: left out), with the cluster of each.

    Items of all strata are resampled together, so that the size of a stratum varies between resamples: its interval
    is that of independent samples to the first order.
    """
    features = []
    names = list[tuple[int, str]]()
    clustered = False
    for place, (values, clusters) in enumerate(strata):
        column = np.asarray(values, dtype=np.float64)
        keep = ~np.isnan(column)
        block = np.zeros((int(keep.sum()), 2 * len(strata)))
        block[:, 2 * place] = column[keep]
        block[:, 2 * place + 1] = 1.0
        features.append(block)
        clustered = clustered or clusters is not None
        item_clusters = clusters if clusters is not None else list(map(str, range(len(column))))
        names += [
            (place, name) for name, is_kept in zip(item_clusters, keep, strict=True) if is_kept
        ]
    table = np.concatenate(features)
    level = 1 - options.alpha
    missing = sum(len(values) for values, _ in strata) - len(table)
    empty = Estimate(
        None, None, None, len(table), level, BCA, None, missing, resamples=options.resamples
    )
    if not all(len(block) for block in features):
        return replace(empty, method="", reason="no answer has a score", resamples=0)
    numbers, count = cluster_numbers(names, np.ones(len(names), dtype=np.bool_))

    def mean_of_means(sums: Floats) -> Floats:
        return np.asarray((sums[:, 0::2] / sums[:, 1::2]).mean(axis=1))

    by = numbers if clustered and count < len(table) else None
    return bootstrap_of_sums(table, mean_of_means, empty, options.seed, by)


# Answers of systems ---------------------------------------------------------------------------------------------------


class SystemMeans:
    """How comprehensive the answers of several systems are (section 4.2, figure 6): means in [0, 1] by system, method
    and model, in the order of the rows, with BCa intervals that resample clusters."""

    def __init__(
        self, runs: Sequence[Path], options: RateOptions, examples: Path | None, notices: list[str]
    ) -> None:
        unnamed = name_of(runs[0]) if len(runs) == 1 else "(no system)"
        self._options = options
        self._rows: dict[Rate, list[RowWithExample]] = {}
        for answer in read(runs, options, examples, notices) if runs else ():
            system = answer.row.system or answer.example.system or unnamed
            self._rows.setdefault((system, answer.row.metric, answer.model), []).append(answer)
        self.keys = list(self._rows)
        self.mean = cache(self._mean)

    def _mean(self, key: Rate) -> Estimate:
        rows = self._rows[key]
        scores = [math.nan if answer.row.score is None else answer.row.score for answer in rows]
        by_answer = self._options.as_published
        clusters = (
            None
            if by_answer
            else [cluster_of(answer.example, self._options.cluster) for answer in rows]
        )
        return mean_bca([(scores, clusters)], self._options)

    def why_unscored(self, key: Rate) -> str | None:
        """The statuses of unscored answers; None without one."""
        return (
            ", ".join(
                dict.fromkeys(
                    answer.row.status for answer in self._rows[key] if answer.row.score is None
                )
            )
            or None
        )

    @cached_property
    def readings(self) -> dict[Rate, MeanReading]:
        """Over the questions that all systems have a score of, and with 0 for unscored answers."""
        rate_readings: dict[Rate, MeanReading] = {}
        for judged in dict.fromkeys(key[1:] for key in self.keys):
            rate_readings |= readings(
                [
                    {
                        key: _by_question(answers)
                        for key, answers in self._rows.items()
                        if key[1:] == judged
                    }
                ]
            )
        return rate_readings

    def best(self, method: str, model: str) -> str | None:
        """The system that is best in both readings; None: undecided."""
        return best({key[0]: self.readings[key] for key in self.keys if key[1:] == (method, model)})


def _by_question(rows: Sequence[RowWithExample]) -> dict[str, float | None]:
    """Question -> the mean of the system's scores, with 0 for the unscored of several; None where none is scored."""
    scores_by_question: dict[str, list[float | None]] = {}
    for answer in rows:
        scores_by_question.setdefault(answer.example.question_id, []).append(answer.row.score)
    return {
        name: None
        if all(score is None for score in scores)
        else fmean(score or 0.0 for score in scores)
        for name, scores in scores_by_question.items()
    }
