"""`defects_study`: which metric notices which known defect (`longmark defects`), from the scores of originals and
defects; no label is needed.

A pair is a defect and its original, both scored by the metric; clusters are those of the questions. In a metric's
better direction, s is a score, s_o of the original and s_d of the defect (without a direction: minus the distance from
the median of the originals):

    threshold of a pair   with the m originals of all other clusters: the score that floor(a m) of them at most are
                          below; a: the false-alarm rate. The pair's own original never sets its threshold
    detected              share of pairs with s_d below the threshold
    excess                detected, less the share of the same pairs' originals below the threshold. Where its interval
                          is above 0, the metric notices the defect: answers that have a place for a rule may be
                          others than those that have none. Six pairs at least are needed that are detected while their
                          originals are not: of five, signs as likely the other way have p = .0625
    false alarms          share of originals with s_o below the same threshold: at most about a, less where scores tie
    worse, better         share of pairs with s_d < s_o, and with s_d > s_o
    net                   better less worse; where its interval is above 0, the defect is rewarded
    difference            mean of s_d - s_o, in the metric's units

Shares and means have the intervals of `stats.proportion` and `stats.means`, clustered; that thresholds are estimated is
not in them. detectable: the smallest true detection rate of which so many pairs (effective clusters) would show, with
probability .8, that it is above a: Wilson's interval above a. A pair without both scores is counted, with the reason.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import NormalDist, median
from typing import Any, ClassVar

from scipy.special import betaincinv

from longmark.analysis.compare.checks import by_reason, check_scoring, check_tests, run_notices
from longmark.analysis.grid import Grid
from longmark.analysis.metrics_study.defects_words import (
    EVERY_NOTE,
    SUMMARY_NOTE,
    UNSCORED_NOTE,
    conclusion,
)
from longmark.errors import UserError
from longmark.keyword_values import checked_options
from longmark.options import described, named, with_keywords
from longmark.options.analyses import FalseAlarms, MetricsStudyGroups, QuestionCluster
from longmark.records import Example
from longmark.records.example import DEFECT, DEFECTS_OMITTED
from longmark.records.read import Reading
from longmark.report.document import Document, Section
from longmark.report.format import counted, direction
from longmark.report.notebook import SelfShown
from longmark.report.tables import Column, Table
from longmark.scores.files import examples_of, paths_given, sources_of
from longmark.scores.manifest import MetricFacts
from longmark.scores.observations import Observation, Observations
from longmark.scores.paired import BY_SYSTEM, read_scores
from longmark.stats.means import mean_estimate, wilson
from longmark.stats.proportion import clustered_share
from longmark.stats.results import Estimate

_POWER = 0.8
_SAME = 1e-9  # scores closer together are equal
_NO_ROW = "the runs have no row of it"
_NEITHER = "the metric has no better direction; give --higher or --lower"


@described
@dataclass(frozen=True, kw_only=True)
class DefectsOptions(QuestionCluster, FalseAlarms, MetricsStudyGroups):
    """How defects are studied. UserError for a number out of range, and for what only `metrics_study` has."""

    def __post_init__(self) -> None:
        check_tests(self.alpha, self.level, self.draws)
        if not 0 < self.false_alarms < 0.5:
            raise UserError(
                f"{named('false_alarms', self.false_alarms)}: expected a share above 0 and below 0.5, such as 0.05"
            )
        if self.hypotheses or self.by not in (None, BY_SYSTEM):
            raise UserError(
                f"{named('defects')} takes neither {named('hypotheses')} nor {named('by', 'run')}: a defect is paired "
                "with its original"
            )
        if self.as_published:
            raise UserError(
                f"{named('defects')}: there is no published form of this study; omit {named('as_published')}"
            )


@dataclass(frozen=True, slots=True)
class DefectDetection:
    """What a metric says of the defects of a kind and strength. detectable: None without pairs; unscored: (whose,
    status, reason) -> pairs."""

    detected: Estimate
    excess: Estimate
    worse: Estimate
    better: Estimate
    net: Estimate
    difference: Estimate
    detectable: float | None
    unscored: Mapping[tuple[str, str, str], int]


@dataclass(frozen=True, slots=True, repr=False)
class DefectsStudy(SelfShown):
    """A study. defects: `KIND@STRENGTH` -> how many, in the order of the file; omitted: likewise, with the reasons;
    cells: (metric, defect) -> its cell; false_alarms: metric -> measured."""

    PAGE: ClassVar[str] = "longmark.analysis.metrics_study.defects"

    runs: tuple[str, ...]
    file: str
    metrics: tuple[str, ...]
    facts: Mapping[str, MetricFacts]
    defects: Mapping[str, int]
    omitted: Mapping[str, Counter[str]]
    cells: Mapping[tuple[str, str], DefectDetection]
    false_alarms: Mapping[str, Estimate]
    options: DefectsOptions
    notices: tuple[str, ...]
    signatures: tuple[str, ...]


@with_keywords(DefectsOptions)
def defects_study(
    runs: str | Path | Sequence[str | Path],
    defects: str | Path,
    *,
    progress: Callable[[str], None] = lambda _part: None,
    **options: Any,
) -> DefectsStudy:
    """Studies how metrics score defects. runs: folders or files of rows that have the originals and the defects.
    defects: the file of `longmark defects`; options: of `DefectsOptions`.

    UserError for a file without defects, for runs of other texts than the file's, and as `metrics_study`.
    """
    settings = checked_options(DefectsOptions, options, "defects_study")
    progress("reading the rows")
    lines = list(Reading(Path(defects)).singles())
    paths = paths_given(runs)
    defect_lines = {line.id: line for line in lines if isinstance(line.meta.get(DEFECT), dict)}
    if not defect_lines:
        raise UserError(
            f"{defects}: no line has a proof of a defect; give {named('defects', 'FILE')}, the file of `longmark defects`"
        )
    _check_texts(lines, paths)
    scores = read_scores(paths, BY_SYSTEM, settings.cluster, settings.bounds).directed(
        settings.higher, settings.lower
    )
    names = scores.named(settings.metrics)
    scores.refuse_huge(names)
    differing = check_scoring(
        scores, names, settings.allow_different_judges, "they are not scores of one metric"
    )
    by_kind: dict[str, list[tuple[str, str]]] = {}
    for line_id, line in defect_lines.items():
        proof = line.meta[DEFECT]
        by_kind.setdefault(f"{proof['kind']}@{proof['strength']}", []).append(
            (proof["source"], line_id)
        )
    omitted: dict[str, Counter[str]] = {}
    for line in lines:
        for name, why in line.meta.get(DEFECTS_OMITTED, {}).items():
            omitted.setdefault(name, Counter())[why] += 1
    cells = dict[tuple[str, str], DefectDetection]()
    alarms = dict[str, Estimate]()
    with Observations(settings.cluster, settings.bounds) as index:
        index.read(sources_of(paths))
        for name in names:
            progress(f"defects and {name}")
            rows = {
                observation.example_id: observation for observation in index.select(metric=name)
            }
            originals = [
                rows[line.id] for line in lines if line.id not in defect_lines and line.id in rows
            ]
            metric = _Metric(scores.facts[name], originals, settings)
            alarms[name] = metric.false_alarms()
            for kind, pairs in by_kind.items():
                cells[name, kind] = metric.cell(
                    [(rows.get(original_id), rows.get(two)) for original_id, two in pairs]
                )
    silent = (
        (name, "no defect is scored beside its original")
        for name in names
        if not _scored(cells, name)
    )
    return DefectsStudy(
        runs=tuple(map(str, paths)),
        file=str(defects),
        metrics=tuple(names),
        facts=scores.facts,
        defects={kind: len(pairs) for kind, pairs in by_kind.items()},
        omitted=omitted,
        cells=cells,
        false_alarms=alarms,
        options=settings,
        notices=(*run_notices(scores, names, differing), *by_reason(silent)),
        signatures=scores.lines(names),
    )


def _scored(cells: Mapping[tuple[str, str], DefectDetection], name: str) -> bool:
    return any(cell.detected.n for (metric, _), cell in cells.items() if metric == name)


def _check_texts(lines: Sequence[Example], paths: Sequence[Path]) -> None:
    """UserError if a run scored another text under an id of the file."""
    answers = {line.id: line.answer for line in lines}
    for path in sources_of(paths):
        for example in examples_of(path):
            if (
                isinstance(example, Example)
                and answers.get(example.id, example.answer) != example.answer
            ):
                raise UserError(
                    f'{path}: the answer "{example.id}" is not that of {named("defects")}; score the file again, or '
                    "give the file that was scored"
                )


@dataclass
class _Metric:
    """The originals of a metric, and the thresholds that they set."""

    facts: MetricFacts
    originals: Sequence[Observation]
    how: DefectsOptions
    places: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        scores = [original.score for original in self.originals if original.score is not None]
        self.middle = median(scores) if scores and self.facts.higher_is_better is None else None
        self.ranked = sorted(
            (self.good(original.score), original.cluster)
            for original in self.originals
            if original.score is not None
        )
        for place, (_, cluster) in enumerate(self.ranked):
            self.places.setdefault(cluster, []).append(place)

    def good(self, score: float) -> float:
        """The score in its better direction; without one, minus the distance from the middle."""
        if self.facts.higher_is_better is None:
            return -abs(score - (self.middle or 0.0))
        return score if self.facts.higher_is_better else -score

    def detects(self, observation: Observation) -> float | None:
        """1 if a score is below the threshold that the originals of other clusters set, else 0; None without both."""
        own_places = self.places.get(observation.cluster, [])
        n_others = len(self.ranked) - len(own_places)
        if observation.score is None or not n_others:
            return None
        threshold_place = math.floor(self.how.false_alarms * n_others)
        for place in own_places:  # ascending: each that stands before the threshold moves it by one
            threshold_place += place <= threshold_place
        return float(self.good(observation.score) < self.ranked[threshold_place][0])

    def false_alarms(self) -> Estimate:
        scored = [original for original in self.originals if original.score is not None]
        share = clustered_share(
            [self.detects(original) for original in scored],
            [original.cluster for original in scored],
            self.how.level,
        )
        return replace(share, missing=len(self.originals) - len(scored))

    def cell(
        self, pairs: Sequence[tuple[Observation | None, Observation | None]]
    ) -> DefectDetection:
        unscored = Counter(
            (
                whose,
                observation.status if observation else "no row",
                (observation.reason or "") if observation else _NO_ROW,
            )
            for pair in pairs
            for whose, observation in zip(("original", "defect"), pair, strict=True)
            if observation is None or observation.score is None
        )
        scored_pairs = [
            (original, two)
            for original, two in pairs
            if original and two and original.score is not None and two.score is not None
        ]
        clusters = [original.cluster for original, _ in scored_pairs]
        level = self.how.level
        moves = [
            self.good(two.score or 0.0) - self.good(original.score or 0.0)
            for original, two in scored_pairs
        ]

        def counted_pairs(estimate: Estimate) -> Estimate:
            return replace(estimate, missing=len(pairs) - estimate.n)

        detections = [self.detects(two) for _, two in scored_pairs]
        before = [self.detects(original) for original, _ in scored_pairs]
        detected = counted_pairs(clustered_share(detections, clusters, level))
        known_places = [
            place for place, detection in enumerate(detections) if detection is not None
        ]  # all, or none with one cluster alone
        excesses = [(detections[place] or 0.0) - (before[place] or 0.0) for place in known_places]
        excess = counted_pairs(
            mean_estimate(
                excesses, [clusters[place] for place in known_places], (-1, 1), level, null=0.0
            )
        )
        if self.facts.higher_is_better is None:
            worse = better = net = difference = Estimate(
                None, None, None, 0, level, reason=_NEITHER, missing=len(pairs)
            )
        else:
            worse, better = (
                counted_pairs(
                    clustered_share([float(sign * move > _SAME) for move in moves], clusters, level)
                )
                for sign in (-1, 1)
            )
            signs = [0.0 if abs(move) <= _SAME else math.copysign(1, move) for move in moves]
            net = counted_pairs(mean_estimate(signs, clusters, (-1, 1), level, null=0.0))
            difference = counted_pairs(mean_estimate(moves, clusters, level=level, null=0.0))
        n = math.floor(detected.effective or detected.n)
        return DefectDetection(
            detected, excess, worse, better, net, difference, detectable(n, self.how), unscored
        )


def detectable(n: int, options: DefectsOptions) -> float | None:
    """The smallest rate of which n pairs show with probability .8 that it is above the false-alarm rate; None if none
    do."""
    quantile = NormalDist().inv_cdf((1 + options.level) / 2)
    counts = range(n + 1)
    least = (
        bisect_right(
            counts,
            options.false_alarms,
            key=lambda detected_count: wilson(detected_count / n, n, quantile)[0],
        )
        if n
        else 1
    )
    return float(betaincinv(least, n - least + 1, _POWER)) if least <= n else None


# The page ------------------------------------------------------------------------------------------------------------


_METRIC = Column("metric", kind="metric")


def document(study: DefectsStudy) -> Document:
    rate = study.options.false_alarms
    every = _every_cell(study)
    detection = _by_defect(
        study, "detection", f"Detection rate (false alarms: {rate:g})", "detected"
    )
    better = _by_defect(
        study, "better", "Share of pairs in which the defect scores better", "better"
    )
    noticed = [place for place in every.rows if _is_noticed(study.cells[place])]
    rewarded = [place for place in every.rows if _is_rewarded(study.cells[place])]
    weak = replace(every, name="rewarded", title="Rewarded defects", rows=rewarded)
    threshold = (
        f"Detected: a score that at most {rate:g} of the originals of other questions are below."
    )
    nature = "Made defects are not nature's: a metric that notices them may miss real errors."
    gained = f"{counted(len(rewarded), 'cell')} of {len(every.rows)}: the defect scores better more often than worse."
    defect_count = counted(sum(study.defects.values()), "known defect")
    return Document(
        kind="defects study",
        title=f"{defect_count} and {counted(len(study.metrics), 'metric')}",
        lede="Which metric notices which known defect, and which one it rewards.",
        sections=(
            Section(
                "Summary",
                conclusion(noticed, rewarded, study.metrics, list(study.defects)),
                (_summary(study, _METRIC),),
                brief=1,
            ),
            Section(
                "Detection",
                threshold,
                (every.table(), detection.table()),
                [detection.heat_map(detection.title, 0.0, 1.0)],
                nature,
            ),
            Section(
                "Weaknesses",
                gained,
                (weak.table(), better.table()),
                [better.heat_map(better.title, 0.0, 1.0)],
            ),
            Section("Unscored pairs", UNSCORED_NOTE, (_unscored(study),), folded=True),
            Section(
                "Defects",
                "Defects of the file; reason: the most frequent one.",
                (_defects(study),),
                folded=True,
            ),
        ),
        notices=study.notices,
        settings={
            "Runs": list(study.runs),
            "Defects": study.file,
            "False-alarm rate": rate,
            "Confidence level": study.options.level,
            "Clusters": study.options.cluster,
        },
        signatures=study.signatures,
    )


def _every_cell(study: DefectsStudy) -> Grid[tuple[str, str]]:
    """A line for each metric and defect."""
    figures = ("detected", "excess", "worse", "better", "net")
    return Grid(
        "every",
        "Every metric and defect",
        (_METRIC, "defect"),
        [(metric, kind) for metric in study.metrics for kind in study.defects],
        [*(Column(figure, places=2) for figure in figures), Column("difference", places=3)],
        lambda place, figure: getattr(study.cells[place], figure),
        EVERY_NOTE.format(rate=study.options.false_alarms, power=_POWER),
        "pairs",
        beside=(Column("detectable", lambda place: study.cells[place].detectable, 2),),
    )


def _by_defect(study: DefectsStudy, name: str, title: str, figure: str) -> Grid[str]:
    """A figure with a line for each metric and a column for each defect."""
    columns = [Column(kind, places=2, kind="value") for kind in study.defects]

    def cell(metric: str, kind: str) -> Any:
        return getattr(study.cells[metric, kind], figure)

    return Grid(name, title, (_METRIC,), study.metrics, columns, cell, unit="")


def _unscored(study: DefectsStudy) -> Table:
    lines = [
        (metric, kind, *lost, count)
        for metric in study.metrics
        for kind in study.defects
        for lost, count in study.cells[metric, kind].unscored.items()
    ]
    heads = ("defect", "whose", "status", "reason", "pairs")
    return Table("unscored", "Unscored pairs", (_METRIC, *map(Column, heads)), lines)


def _defects(study: DefectsStudy) -> Table:
    """How many defects of each kind the file has, and why others could not be made."""
    lines = []
    for kind in dict.fromkeys((*study.defects, *study.omitted)):
        omitted = study.omitted.get(kind, Counter())
        frequent = omitted.most_common(1)
        reason = frequent[0][0] if frequent else None
        lines.append((kind, study.defects.get(kind, 0), omitted.total(), reason))
    heads = ("defect", "made", "omitted", "reason")
    return Table("defects", "Defects", tuple(map(Column, heads)), lines)


def _is_noticed(cell: DefectDetection) -> bool:
    return (cell.excess.low or 0.0) > 0


def _is_rewarded(cell: DefectDetection) -> bool:
    return (cell.net.low or 0.0) > 0


def _summary(study: DefectsStudy, metric: Column) -> Table:
    """One line per metric: its false alarms, and the defects that it notices, misses and rewards."""

    def those(holds: Callable[[DefectDetection], bool]) -> Callable[[str], str | None]:
        """The kinds for which it holds; with the strength, if it does not for all strengths."""

        def listed(name: str) -> str | None:
            strengths: dict[str, list[str]] = {}
            for kind, strength in (defect.split("@") for defect in study.defects):
                strengths.setdefault(kind, []).extend(
                    [strength] * holds(study.cells[name, f"{kind}@{strength}"])
                )
            strengths_of = Counter(defect.split("@")[0] for defect in study.defects)
            return (
                ", ".join(
                    kind
                    if len(noticed_strengths) == strengths_of[kind]
                    else f"{kind}@{'/'.join(noticed_strengths)}"
                    for kind, noticed_strengths in strengths.items()
                    if noticed_strengths
                )
                or None
            )

        return listed

    columns = (
        replace(metric, get=str),
        Column("direction", lambda name: direction(study.facts[name]), spare=2),
        Column("false alarms", study.false_alarms.__getitem__, 2, "estimate", spare=1),
        Column("noticed", those(_is_noticed)),
        Column("not noticed", those(lambda cell: cell.detected.n > 0 and not _is_noticed(cell))),
        Column("rewarded", those(_is_rewarded)),
    )
    return Table(
        "summary",
        "Summary of the metrics",
        columns,
        study.metrics,
        f"false alarms: measured. {SUMMARY_NOTE}",
        "originals",
    )
