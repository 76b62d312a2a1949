"""What labels correct, and how: the options of `compare --labels`, `label next` and `certify`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from longmark.scores.clusters import QUESTION


@dataclass(frozen=True, slots=True, kw_only=True)
class CorrectionOptions:
    """What labels correct, and how.

    by, cluster, judges   as for `compare`; metrics, systems: names; all if none is given
    label      the label to correct to; None: the only one of the file. mapping, raters, label_columns, order,
               leave_out: as for `metaeval`
    calibrate  scores are put on the labels' scale first, by one isotonic regression for all systems
    weight     λ; None: tuned, 1: as the paper on prediction-powered inference has it
    margin     in the labels' units: whether the other systems' labels would have corrected a system as well
    draw       the file of the draw that chose the labelled answers (`longmark label next`)
    looks      how often labels are looked at, the caller's word; None: as the draw says, else any number of times
    these_raters  the results are for the raters of the labels only; False: for people like them
    level      of a mean's interval. (1 - level) / 2 is the chance that any difference is shown the wrong way
    """

    by: str | None = None
    cluster: str = QUESTION
    judges: bool = False
    metrics: Sequence[str] = ()
    systems: Sequence[str] = ()
    label: str | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    raters: Sequence[str] = ()
    label_columns: Sequence[str] = ()
    order: Mapping[str, Sequence[str]] = field(default_factory=dict)
    leave_out: Sequence[str] = ()
    calibrate: bool = True
    weight: float | None = None
    margin: float | None = None
    draw: str | Path | None = None
    looks: int | None = None
    these_raters: bool = False
    level: float = 0.95
    seed: int = 0
