"""A checker calibrated on labels of one's own (`--calibrate FILE`): what its probability means on one's own texts.

A line of the file is a JSON object: `claim`, `evidence` (a text, or a list of texts) and `label`: `entails` (or
`supported`, `true`), else `contradicts`, `neutral`, `partial`, `not_supported` (or `false`). The checker reads every
pair; a logistic curve of its log-odds of `entails` is fitted with the targets of Platt (1999, "Probabilistic outputs
for support vector machines", section 2.2: (N+ + 1)/(N+ + 2) and 1/(N- + 2)). From then on the probability of `entails`
is the curve's, and the label is `entails` from a half on, or from the threshold that the checker's name sets; else
`contradicts` or `neutral`, whichever had more.

The accuracy that is reported is of labels left out: all pairs with one evidence text are labelled by the curve of the
others. Its interval (Wilson, 95 %) counts evidence texts, not pairs.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from pathlib import Path
from statistics import NormalDist
from typing import Any

from longmark.errors import ModelError, NoScore, UserError
from longmark.records.files import at, lines, parse_json
from longmark.text.entailment import (
    CONTRADICTS,
    ENTAILS,
    NEUTRAL,
    Checker,
    Relation,
    finds_contradictions,
)

FEWEST = 30
OF_EACH = 8
MOST = 5000
"""Labels at least; of supported and of unsupported claims at least; at most."""
_NOT = (CONTRADICTS, NEUTRAL, "partial", "not_supported", "false", False)
_SUPPORTED = dict.fromkeys((ENTAILS, "supported", "true", True), True) | dict.fromkeys(_NOT, False)
_LEAST = 1e-6  # of a probability, before its log-odds
_STEPS = 50
_CHANGE = 1e-9  # of Newton's method: steps at most, and the change that ends it


@dataclass(frozen=True, slots=True)
class LabelledClaim:
    """A claim, its evidence, and whether a person found that the evidence supports it."""

    claim: str
    evidence: str
    supported: bool


@dataclass(frozen=True, slots=True)
class CalibrationCurve:
    """P(supported) = 1 / (1 + exp(-(slope * log-odds + bias))). right, low, high: the share of left-out labels that it
    gives, and the interval; majority: the share that the more frequent label alone gives."""

    slope: float
    bias: float
    right: float
    low: float
    high: float
    majority: float

    def probability(self, entails: float) -> float:
        return _logistic(self.slope * _log_odds(entails) + self.bias)


@dataclass(slots=True)
class CheckerCalibration:
    """The labels of a run, and the curve once its checker has read them. tell: gets a sentence about the curve."""

    labels: tuple[LabelledClaim, ...]
    tell: Callable[[str], None] = lambda sentence: None
    _curve: CalibrationCurve | None = None
    _lock: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def suffix(self) -> str:
        """What stands behind the checker's name: the number of labels and their hash."""
        content = json.dumps(self.plain()).encode("utf-8", "surrogatepass")
        return f"{BEHIND}{len(self.labels)}:{hashlib.sha256(content).hexdigest()[:8]}"

    def plain(self) -> list[dict[str, Any]]:
        """The labels as a file has them."""
        return [
            {"claim": label.claim, "evidence": label.evidence, "label": label.supported}
            for label in self.labels
        ]

    def around(self, checker: Checker) -> CalibratedChecker:
        return CalibratedChecker(checker, self)

    async def curve(self, checker: Checker) -> CalibrationCurve:
        """The curve of a checker; fitted once. NoScore (`unsupported`) where it has none."""
        async with self._lock:
            if self._curve is None:
                self._curve = await self._fitted(checker)
        return self._curve

    async def _fitted(self, checker: Checker) -> CalibrationCurve:
        claims: dict[str, list[int]] = {}
        for place, label in enumerate(self.labels):
            claims.setdefault(label.evidence, []).append(place)
        odds = [0.0] * len(self.labels)
        for evidence, places in claims.items():
            relations = await _relations(
                checker, evidence, [self.labels[place].claim for place in places]
            )
            for place, relation in zip(places, relations, strict=True):
                if relation.entails is None and relation.label == NEUTRAL:
                    relation = Relation(NEUTRAL, entails=0.0)  # no word to go by
                if relation.entails is None:
                    raise NoScore(
                        "unsupported",
                        f"--calibrate: {checker.name} gives labels without probabilities; use another.",
                    )
                odds[place] = _log_odds(relation.entails)
        labels = [label.supported for label in self.labels]
        slope, bias = fit(odds, labels)
        if slope <= 0:
            raise NoScore(
                "unsupported",
                f"--calibrate: the probabilities of {checker.name} are not higher for the claims labelled as supported "
                f"({len(labels)} labels, slope {slope:.2f}). Use another checker.",
            )
        right = 0
        border = _log_odds(_threshold(checker))
        for places in claims.values():
            held_in = [place for place in range(len(labels)) if place not in places]
            some = fit([odds[place] for place in held_in], [labels[place] for place in held_in])
            right += sum(
                (some[0] * odds[place] + some[1] >= border) == labels[place] for place in places
            )
        share = right / len(labels)
        majority = max(sum(labels), len(labels) - sum(labels)) / len(labels)
        curve = CalibrationCurve(slope, bias, share, *_wilson(share, len(claims)), majority)
        self.tell(
            f"{checker.name}, calibrated on {len(labels)} labels: right on {share:.2f} of them when left out "
            f"[{curve.low:.2f}, {curve.high:.2f}]; the more frequent label alone is right on {majority:.2f}"
        )
        return curve


async def _relations(checker: Checker, evidence: str, claims: Sequence[str]) -> list[Relation]:
    """The relations of labelled claims. An error says that the labels are at fault, and not the text of the example that
    waits for the curve."""
    place = f"--calibrate, at the labels of the evidence {evidence.strip()[:40]!r}: "
    try:
        return await checker.relations(evidence, claims)
    except NoScore as error:
        raise NoScore(error.status, place + error.reason, error.evidence) from error
    except ModelError as error:
        placed_error = copy(error)  # with its status and whether another attempt may succeed
        placed_error.args = (place + str(error),)
        raise placed_error from error


BEHIND = "+calibrated:"


@dataclass(frozen=True, slots=True)
class CalibratedChecker:
    """A `Checker` whose probabilities of `entails` go through a curve."""

    inner: Checker
    calibration: CheckerCalibration

    @property
    def name(self) -> str:
        return self.inner.name + self.calibration.suffix

    @property
    def context(self) -> bool:
        return getattr(self.inner, "context", False)

    @property
    def contradicts(self) -> bool:
        return finds_contradictions(self.inner)

    async def relations(self, premise: str, hypotheses: Sequence[str]) -> list[Relation]:
        curve = await self.calibration.curve(self.inner)
        threshold = _threshold(self.inner)
        return [
            _through(curve, relation, threshold)
            for relation in await self.inner.relations(premise, hypotheses)
        ]


def _threshold(checker: Checker) -> float:
    """The calibrated probability from which on the label is `entails`: that of the checker's name, else a half."""
    threshold = getattr(checker, "threshold", None)
    return 0.5 if threshold is None else float(threshold)


def _through(curve: CalibrationCurve, relation: Relation, threshold: float) -> Relation:
    if relation.entails is None:
        return relation
    entails = curve.probability(relation.entails)
    remaining = 1 - relation.entails
    not_entailed = CONTRADICTS if (relation.contradicts or 0) > (relation.neutral or 0) else NEUTRAL
    label = ENTAILS if entails >= threshold else not_entailed
    if relation.contradicts is None or relation.neutral is None or remaining <= 0:
        return Relation(label, entails)
    return Relation(
        label,
        entails,
        *((1 - entails) * share / remaining for share in (relation.contradicts, relation.neutral)),
    )


def read_labels(path: Path) -> tuple[LabelledClaim, ...]:
    """The labels of a file. UserError for a line that is none, and for too few of them."""
    labels_read = []
    for number, line in lines(path):
        if line.strip():
            try:
                labels_read.append(labelled(parse_json(line)))
            except ValueError as error:
                raise UserError(at(path, number, f"{error}")) from None
    supported = sum(label.supported for label in labels_read)
    few = min(supported, len(labels_read) - supported)
    if not FEWEST <= len(labels_read) <= MOST or few < OF_EACH:
        raise UserError(
            f"--calibrate {path}: it has {len(labels_read)} labels, {supported} of supported claims. A calibration needs "
            f"{FEWEST} to {MOST} labels, at least {OF_EACH} of supported and {OF_EACH} of unsupported claims"
        )
    return tuple(labels_read)


def labelled(record: Any) -> LabelledClaim:
    """A label as a file has it. ValueError that says what is wrong."""
    if not isinstance(record, dict):
        raise ValueError("is no JSON object with claim, evidence and label")
    claim, evidence, label = (record.get(name) for name in ("claim", "evidence", "label"))
    if isinstance(evidence, list) and all(isinstance(passage, str) for passage in evidence):
        evidence = "\n\n".join(evidence)
    for name, text in (("claim", claim), ("evidence", evidence)):
        if not isinstance(text, str) or not text.strip():
            raise ValueError(f"{name}: expected a text that is not empty, found {str(text)[:40]!r}")
    if not isinstance(label, str | bool) or label not in _SUPPORTED:
        raise ValueError(
            f"label: expected one of {', '.join(map(str, _SUPPORTED))}, found {str(label)[:40]!r}"
        )
    return LabelledClaim(str(claim), str(evidence), _SUPPORTED[label])


# The curve -----------------------------------------------------------------------------------------------------------


def fit(odds: Sequence[float], labels: Sequence[bool]) -> tuple[float, float]:
    """(slope, bias) of the logistic curve, by Newton's method; slope 0 where all log-odds are equal."""
    positives = sum(labels)
    zeros = len(labels) - sum(labels)
    targets = [(positives + 1) / (positives + 2) if label else 1 / (zeros + 2) for label in labels]
    centre = math.fsum(odds) / len(odds)
    scale = math.sqrt(math.fsum((x - centre) ** 2 for x in odds) / len(odds))
    share = math.fsum(targets) / len(targets)
    slope = 0.0
    bias = _log_odds(share)
    if scale == 0:
        return slope, bias
    xs = [(x - centre) / scale for x in odds]
    for _ in range(_STEPS):
        likely = [_logistic(slope * x + bias) for x in xs]
        weights = [p * (1 - p) for p in likely]
        errors = [p - t for p, t in zip(likely, targets, strict=True)]
        g1 = math.fsum(e * x for e, x in zip(errors, xs, strict=True))
        g0 = math.fsum(errors)
        h11 = math.fsum(w * x * x for w, x in zip(weights, xs, strict=True)) + 1e-9
        h01 = math.fsum(w * x for w, x in zip(weights, xs, strict=True))
        h00 = math.fsum(weights) + 1e-9
        by = h11 * h00 - h01 * h01
        steps = (g1 * h00 - g0 * h01) / by, (g0 * h11 - g1 * h01) / by
        short = min(
            1.0, 2 / max(map(abs, (*steps, 1e-12)))
        )  # far from the optimum a full step can overshoot
        slope = slope - short * steps[0]
        bias = bias - short * steps[1]
        if max(map(abs, steps)) < _CHANGE:
            break
    return slope / scale, bias - slope * centre / scale


def _log_odds(p: float) -> float:
    p = min(max(p, _LEAST), 1 - _LEAST)
    return math.log(p / (1 - p))


def _logistic(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x >= 0 else math.exp(x) / (1 + math.exp(x))


def _wilson(p: float, n: int) -> tuple[float, float]:
    """Wilson's interval of a share (Wilson 1927), 95 %."""
    z = NormalDist().inv_cdf(0.975)
    centre = p + z * z / (2 * n)
    half = z * math.sqrt(p * (1 - p) / n + z * z / (4 * n * n))
    return (centre - half) / (1 + z * z / n), (centre + half) / (1 + z * z / n)
