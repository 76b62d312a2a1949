"""What the meta-evaluation gives back: frozen, with the settings it was made with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from longmark.analysis.metaeval.binary import Auc, AucDifference, Calibration
from longmark.analysis.metaeval.classes import ErrorByClass
from longmark.analysis.metaeval.correlate import ByGroup, Correlations, Difference, Grouping
from longmark.analysis.metaeval.join import Join
from longmark.analysis.metaeval.people import People
from longmark.analysis.metaeval.powered import Powered
from longmark.analysis.metaeval.preferences import Preferences
from longmark.analysis.metaeval.scale import Scale


@dataclass(frozen=True, slots=True)
class MetricJoin:
    """A metric on a label's answers (or pairs): how many have both, and why the others lack the metric's value.

    gaps: status -> how many; `no row` where the metric has none for an answer.
    """

    metric: str
    both: int
    gaps: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class RatingLabel:
    """All about one label that people rated answers on.

    undecided: rated answers on which no value leads, which have no class. clustered: whether a question has several of
    the answers, so that intervals and tests are over questions. points: for figures, of each metric at most
    2,000 (people's mean, metric).
    """

    label: str
    join: Join
    metrics: tuple[MetricJoin, ...]
    scale: Scale
    ratings: int
    undecided: int
    people: People
    correlations: tuple[Correlations, ...]
    grouping: tuple[Grouping, ...]
    groups: tuple[ByGroup, ...]
    differences: tuple[Difference, ...]
    aucs: tuple[Auc, ...]
    auc_differences: tuple[AucDifference, ...]
    calibrations: tuple[Calibration, ...]
    classes: tuple[ErrorByClass, ...]
    powered: tuple[Powered, ...]
    points: Mapping[str, tuple[tuple[float, float], ...]]
    clustered: bool = False


@dataclass(frozen=True, slots=True)
class ChoiceLabel:
    """All about one label on which people chose between two answers."""

    label: str
    join: Join
    metrics: tuple[MetricJoin, ...]
    people: People
    preferences: Preferences


@dataclass(frozen=True, slots=True)
class Metaeval:
    """The whole: a label's part is a RatingLabel or a ChoiceLabel, by what the human file holds.

    metrics: name -> how it was taken (`higher is better`, …). empty: lines of the human file without a value.
    """

    sources: tuple[str, ...]
    human: str
    metrics: Mapping[str, str]
    labels: tuple[RatingLabel | ChoiceLabel, ...]
    by: tuple[str, ...]
    empty: int
    alpha: float
    round: int
    seed: int
    order: Mapping[str, tuple[str, ...]]
    notices: tuple[str, ...]
