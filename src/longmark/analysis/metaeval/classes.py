"""A metric by the class that people gave: its mean in each, its error, and which class it comes nearest to.

An answer's class is the one that most of its raters gave. Where classes are numbers and the metric is on their scale,
`error` is the mean distance of the metric from the class's number, `nearest` counts the class whose number is nearest
to the metric (the lower one where two are as near). `auc`: the chance that the metric ranks an answer of the class or
a higher one above an answer of a lower class (None for the lowest); of classes without an order, above one of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from longmark.analysis.metaeval.binary import auc
from longmark.analysis.metaeval.draws import draws
from longmark.analysis.metaeval.questions import Clusters, taken
from longmark.analysis.metaeval.scale import Scale
from longmark.stats.bootstrap import bootstrap_mean
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats


@dataclass(frozen=True, slots=True)
class ClassFigures:
    """A metric among the answers of one class. mean: in the metric's own units. nearest: () without a scale."""

    metric: str
    name: str
    n: int
    missing: int
    mean: Estimate
    error: float | None
    auc: float | None
    nearest: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class ErrorByClass:
    """All classes of a metric. error: over all answers; right: share of answers nearest to their class; reason: why the
    two are None."""

    metric: str
    classes: tuple[ClassFigures, ...]
    n: int
    error: float | None
    right: float | None
    reason: str | None


def by_class(
    metric: str,
    values: Floats,
    turned: Floats,
    scaled: Floats | None,
    labels: Sequence[str | None],
    scale: Scale,
    clusters: Clusters,
    level: float,
    seed: int,
) -> ErrorByClass:
    """values: as the metric gave them; turned: more is better; scaled: on the label's scale, None: not on it. Intervals
    resample clusters, where there are any."""
    given = np.array([label if label is not None else "" for label in labels], dtype=object)
    known = np.array([label is not None for label in labels], dtype=bool)
    there = known & ~np.isnan(values)
    nearest = None if scaled is None or not scale.number else _nearest(scaled, scale)
    figures = []
    for name in scale.classes:
        here = there & (given == name)
        distance = nearest is not None and scaled is not None and here.any()
        figures.append(
            ClassFigures(
                metric,
                name,
                int(here.sum()),
                int((known & (given == name) & ~there).sum()),
                bootstrap_mean(
                    values[here],
                    clusters=taken(clusters, here.tolist()),
                    level=level,
                    seed=seed,
                    resamples=draws(int(here.sum())),
                ),
                float(np.abs(scaled[here] - scale.number[name]).mean()) if distance and scaled is not None else None,
                auc(metric, turned[there], _reached(given[there], name, scale), level).value,
                _counts(nearest[here], len(scale.classes)) if nearest is not None else (),
            )
        )
    n = int(there.sum())
    if nearest is None or scaled is None or not n:
        why = "the metric is not on the label's scale" if scale.number else "the classes are no numbers"
        return ErrorByClass(metric, tuple(figures), n, None, None, why if n else "no answer has both")
    numbers = np.array([scale.number[label] for label in given[there]])
    error = float(np.abs(scaled[there] - numbers).mean())
    right = float(
        np.mean([scale.classes[place] == label for place, label in zip(nearest[there], given[there], strict=True)])
    )
    return ErrorByClass(metric, tuple(figures), n, error, right, None)


def _reached(given: np.ndarray, name: str, scale: Scale) -> Floats:
    """1 where an answer's class is this one, or a higher one where classes have an order."""
    if not scale.number:
        return np.asarray(given == name, dtype=np.float64)
    return np.array([float(scale.number[label] >= scale.number[name]) for label in given])


def _nearest(scaled: Floats, scale: Scale) -> np.ndarray:
    numbers = np.array([scale.number[name] for name in scale.classes])
    distance = np.abs(np.nan_to_num(scaled)[:, None] - numbers[None, :])
    return np.asarray(np.argmin(np.round(distance, 9), axis=1))


def _counts(nearest: np.ndarray, classes: int) -> tuple[int, ...]:
    return tuple(int(count) for count in np.bincount(nearest, minlength=classes))
