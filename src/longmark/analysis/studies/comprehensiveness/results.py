"""The results of a comprehensiveness study: label match rates by method and model, their differences and their spread.

A method is a metric (`comprehensiveness.qa`), a model its judge. Rates are means of the values of `matches`. Intervals
are by BCa with 10,000 resamples and seed 42, which gives the published ones (appendix B.1.2); they resample clusters,
since answers to one question depend on each other (five models answer each question of WikiContradict five times). The
interval that takes each answer by itself, as published, stands beside it.

An answer without a score is left out and counted. The authors count an empty graph and an unparsable reply as a score
of 0; the rate with these zeros stands beside ours.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from pathlib import Path

import numpy as np

from longmark.analysis.studies.comprehensiveness.rows import (
    BANK,
    BOTH,
    KINDS,
    LAX,
    STRICT,
    TESTED,
    WIKI,
    Options,
    Scored,
    check_label,
    cluster_of,
    covered_by_source,
    label_of,
    read,
    value,
)
from longmark.datasets.published import CONFLICTBANK, DATASET, WIKICONTRADICT
from longmark.errors import UserError
from longmark.scores.clusters import refuse_unknown
from longmark.scores.readings import Reading, best, readings
from longmark.stats.bootstrap import BCA, bootstrap_of_sums
from longmark.stats.multiplicity import BENJAMINI_HOCHBERG, adjust
from longmark.stats.permutation import paired_permutation
from longmark.stats.results import Estimate, PermutationTest
from longmark.stats.samples import Floats, cluster_numbers

Key = tuple[str, str]
"""Method and model."""


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
        return {name: None if math.isnan(value) else value for name, value in zip(self.ids, self.values, strict=True)}

    def where(self, label: str) -> Values:
        """Those of one label."""
        kept = [i for i, one in enumerate(self.labels) if one == label]
        lists = (self.ids, self.clusters, self.labels, self.values, self.zeroed)
        return Values(*([one[i] for i in kept] for one in lists))  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Rate:
    """A label match rate, in [0, 1]. rate: over the answers with a score, clusters resampled; plain: the same, answers
    resampled; zeroed: over all answers with the authors' zeros, answers resampled; total: answers; reading: over the
    answers that every method and model of the kind scored, and with 0 for unscored answers."""

    kind: str
    method: str
    model: str
    rate: Estimate
    plain: Estimate
    zeroed: Estimate
    total: int
    reading: Reading | None = None


@dataclass(frozen=True, slots=True)
class Difference:
    """Two methods with the same model: a paired permutation test of the mean difference first - second. test: signs
    flip by cluster; plain: by answer, as published. adjusted: after Benjamini and Hochberg within the data set."""

    kind: str
    model: str
    first: str
    second: str
    test: PermutationTest
    plain: PermutationTest
    adjusted: float | None = None
    plain_adjusted: float | None = None


@dataclass(frozen=True, slots=True)
class Spread:
    """A method over models: mean, standard deviation (None below two models), least and greatest rate."""

    kind: str
    method: str
    models: int
    mean: float
    sd: float | None
    least: float
    greatest: float


@dataclass(frozen=True, slots=True)
class SourceCoverage:
    """The mean S_X of a ConflictBank source over the answers that match it, or over those that do not."""

    method: str
    model: str
    source: str
    matching: bool
    mean: float | None
    n: int
    without: int


@dataclass(frozen=True, slots=True)
class Results:
    """values: kind -> method and model -> what the answers got; answers: dataset -> how many there are."""

    options: Options
    values: dict[str, dict[Key, Values]]
    rates: tuple[Rate, ...]
    differences: tuple[Difference, ...]
    spreads: tuple[Spread, ...]
    coverage: tuple[SourceCoverage, ...]
    answers: dict[str, int]
    notices: tuple[str, ...]

    def of(self, kind: str) -> list[Rate]:
        return [one for one in self.rates if one.kind == kind]


def best_of(rates: Iterable[Rate]) -> Rate | None:
    """The rate that is best on the answers that all scored and with 0 for unscored ones; None: undecided."""
    by = {(one.method, one.model): one for one in rates}
    key = best({key: one.reading for key, one in by.items() if one.reading is not None})
    return None if key is None else by[key]


def study(runs: Sequence[Path], options: Options, examples: Path | None = None) -> Results:
    """The label match rates of runs on WikiContradict, ConflictBank or both. UserError if no example has a label."""
    notices: list[str] = []
    scored = read(runs, options, examples, notices)
    labelled = [one for one in scored if one.example.meta.get(DATASET) in (WIKICONTRADICT, CONFLICTBANK)]
    if not labelled:
        what = f"meta.{DATASET} is {WIKICONTRADICT} or {CONFLICTBANK}"
        raise UserError(
            f"no example has a label ({what}); make the examples with `longmark dataset`, or add --answers RUN"
        )
    if len(labelled) < len(scored):
        notices.append(f"{len(scored) - len(labelled):,} of {len(scored):,} rows have no label and are excluded.")
    for one in labelled:
        check_label(one.example)
    refuse_unknown(options.cluster, (one.example for one in labelled))
    notices += _mixed(labelled)
    values = _values(labelled, options)
    rates = tuple(_rates(values, options))
    return Results(
        options=options,
        values=values,
        rates=rates,
        differences=tuple(one for kind in TESTED for one in _differences(kind, values.get(kind, {}), options)),
        spreads=tuple(_spreads(rates, options)),
        coverage=tuple(_coverage(labelled)),
        answers={
            name: len({one.example.id for one in labelled if one.example.meta[DATASET] == name})
            for name in (WIKICONTRADICT, CONFLICTBANK)
        },
        notices=tuple(notices),
    )


def _mixed(scored: Iterable[Scored]) -> Iterator[str]:
    """A notice for each method and model whose rows were not made alike."""
    ways: dict[Key, set[str]] = {}
    for one in scored:
        made_by = repr((one.row.signature.params, one.row.signature.prompts))
        ways.setdefault((one.row.metric, one.model), set()).add(made_by)
    for (method, model), of in ways.items():
        if len(of) > 1:
            yield f"{method} by {model}: its scores were made with {len(of)} different parameters or prompts."


def _values(scored: Iterable[Scored], options: Options) -> dict[str, dict[Key, Values]]:
    found: dict[str, dict[Key, Values]] = {}
    for one in scored:
        example = one.example
        for kind in (WIKI,) if example.meta[DATASET] == WIKICONTRADICT else (STRICT, LAX, BANK):
            to = found.setdefault(kind, {}).setdefault((one.row.metric, one.model), Values())
            to.ids.append(example.id)
            to.clusters.append(example.id if options.as_published else cluster_of(example, options.cluster))
            to.labels.append(label_of(example))
            for values, zero in ((to.values, options.as_published), (to.zeroed, True)):
                got = value(one, kind, zero=zero)
                values.append(math.nan if got is None else got)
    return found


# Rates ----------------------------------------------------------------------------------------------------------------


def mean_bca(strata: Sequence[tuple[Sequence[float], Sequence[str] | None]], options: Options) -> Estimate:
    """The mean of the strata's means, with its BCa interval. strata: values (NaN: left out), with the cluster of each.

    Items of all strata are resampled together, so that the size of a stratum varies between resamples: its interval
    is that of independent samples to the first order.
    """
    features, names, clustered = [], list[tuple[int, str]](), False
    for place, (values, clusters) in enumerate(strata):
        column = np.asarray(values, dtype=np.float64)
        keep = ~np.isnan(column)
        block = np.zeros((int(keep.sum()), 2 * len(strata)))
        block[:, 2 * place], block[:, 2 * place + 1] = column[keep], 1.0
        features.append(block)
        clustered = clustered or clusters is not None
        own = clusters if clusters is not None else list(map(str, range(len(column))))
        names += [(place, name) for name, here in zip(own, keep, strict=True) if here]
    table = np.concatenate(features)
    level, missing = 1 - options.alpha, sum(len(values) for values, _ in strata) - len(table)
    empty = Estimate(None, None, None, len(table), level, BCA, None, missing, resamples=options.resamples)
    if not all(len(block) for block in features):
        return Estimate(None, None, None, len(table), level, reason="no answer has a score", missing=missing)
    numbers, count = cluster_numbers(names, np.ones(len(names), dtype=np.bool_))

    def mean_of_means(sums: Floats) -> Floats:
        return np.asarray((sums[:, 0::2] / sums[:, 1::2]).mean(axis=1))

    by = numbers if clustered and count < len(table) else None
    return bootstrap_of_sums(table, mean_of_means, empty, options.seed, by)


def _rates(values: dict[str, dict[Key, Values]], options: Options) -> Iterator[Rate]:
    for kind in KINDS:
        parts = (WIKI, BANK) if kind == BOTH else (kind,)
        of = [values.get(part, {}) for part in parts]
        keys = [key for key in of[0] if all(key in one for one in of)]
        known = readings([{key: one[key].known() for key in keys} for one in of])
        for key in keys:
            yield replace(_rate(kind, key, [one[key] for one in of], options), reading=known[key])


def _rate(kind: str, key: Key, parts: Sequence[Values], options: Options) -> Rate:
    plain = mean_bca([(one.values, None) for one in parts], options)
    several = any(len(set(one.clusters)) < len(one.clusters) for one in parts)
    same = all(np.array_equal(one.values, one.zeroed, equal_nan=True) for one in parts)
    return Rate(
        kind,
        *key,
        rate=mean_bca([(one.values, one.clusters) for one in parts], options) if several else plain,
        plain=plain,
        zeroed=plain if same else mean_bca([(one.zeroed, None) for one in parts], options),
        total=sum(len(one.ids) for one in parts),
    )


def rate_by_label(kind: str, of: dict[Key, Values], options: Options) -> Iterator[tuple[str, Rate]]:
    """The rate over the answers of each label."""
    for key, values in of.items():
        for label in dict.fromkeys(values.labels):
            yield label, _rate(kind, key, [values.where(label)], options)


def _differences(kind: str, of: dict[Key, Values], options: Options) -> list[Difference]:
    """Each pair of methods with the same model; p-values are adjusted over all of them."""
    found = []
    for model in dict.fromkeys(model for _, model in of):
        for a, b in combinations([method for method, its in of if its == model], 2):
            first, second = of[a, model], dict(zip(of[b, model].ids, of[b, model].values, strict=True))
            paired = [second.get(name, math.nan) for name in first.ids]
            how = {"permutations": options.draws, "seed": options.seed}
            test, plain = (
                paired_permutation(first.values, paired, clusters=clusters, **how)  # type: ignore[arg-type]
                for clusters in (first.clusters, None)
            )
            found.append(Difference(kind, model, a, b, test, plain))
    both = [[one.test.p for one in found], [one.plain.p for one in found]]
    adjusted = [adjust(ps, BENJAMINI_HOCHBERG, options.alpha).adjusted for ps in both]
    return [replace(one, adjusted=p, plain_adjusted=plain) for one, p, plain in zip(found, *adjusted, strict=True)]


def _spreads(rates: Iterable[Rate], options: Options) -> Iterator[Spread]:
    found: dict[tuple[str, str], list[float]] = {}
    for one in rates:
        if one.rate.value is not None:
            found.setdefault((one.kind, one.method), []).append(one.rate.value)
    for key, of in found.items():
        sd = (statistics.pstdev if options.as_published else statistics.stdev)(of) if len(of) > 1 else None
        yield Spread(*key, len(of), statistics.fmean(of), sd, min(of), max(of))


def _coverage(scored: Iterable[Scored]) -> Iterator[SourceCoverage]:
    found: dict[tuple[str, str, str, bool], list[float | None]] = {}
    for one in scored:
        if one.example.meta[DATASET] == CONFLICTBANK and one.row.score is not None:
            for source, share in covered_by_source(one, one.row.evidence).items():
                key = (one.row.metric, one.model, source, source in one.example.meta["matches"])
                found.setdefault(key, []).append(share)
    for key, shares in found.items():
        known = [share for share in shares if share is not None]
        yield SourceCoverage(*key, statistics.fmean(known) if known else None, len(known), len(shares) - len(known))
