"""What labels say of the systems of runs: the results of `corrected.correct`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from longmark.analysis.metaeval.labels import LabelScale
from longmark.contrib.decide.claim_family import Family
from longmark.contrib.decide.correction_options import CorrectionOptions
from longmark.contrib.decide.labelled_cells import LabelledCells, label_matrix
from longmark.contrib.decide.repeated_answers import RepeatedQuestions
from longmark.scores.draws import Departures
from longmark.scores.label_scales import DeclaredScale
from longmark.scores.labels import FINAL
from longmark.scores.scored_answers import Cell
from longmark.stats.corrected import CorrectedEstimate, Transport
from longmark.stats.raters import copies

NOT_PLANNED = "not a planned claim"
"""The remark of a pair of which nothing can be claimed, since the first draw planned other claims."""


@dataclass(frozen=True, slots=True)
class CorrectedMetric:
    """A metric's systems, corrected. means: system -> its mean; pairs: (first, second) -> their difference, with a
    simultaneous interval and an adjusted p; transports: system -> whether it needs labels of its own."""

    metric: str
    means: Mapping[str, CorrectedEstimate]
    pairs: Mapping[tuple[str, str], CorrectedEstimate]
    transports: Mapping[str, Transport]


@dataclass(frozen=True, slots=True)
class Correction:
    """What `correct` found.

    joined, unjoined   labelled answers with a row; reason -> the ids of those without
    raters, drawn      how many raters; the least and the greatest inclusion probability, None where there is none
    rated, labelled    rater -> cell -> label of all raters, also where a final label counts; what was corrected by what
    family, departures which claims share the error; how the answers are not those that were drawn
    declared           the scale that the file declares, None if it does not
    notices            what else of runs and labels should be known
    unhashed           labels without a hash of the labelled text
    empty, replaced    lines without a value; labels in whose place a later one of the same rater counts
    alike              names of raters that look the same
    repeated           questions that stand several times under other ids
    """

    file: str
    label: str
    scale: LabelScale
    metrics: tuple[CorrectedMetric, ...]
    joined: int
    unjoined: Mapping[str, tuple[str, ...]]
    raters: int
    drawn: tuple[float, float] | None
    rated: Mapping[str, Mapping[Cell, float]] = field(repr=False)
    labelled: LabelledCells = field(repr=False)
    family: Family
    options: CorrectionOptions
    departures: Departures = field(default_factory=Departures)
    declared: DeclaredScale | None = None
    notices: tuple[str, ...] = ()
    unhashed: int = 0
    empty: int = 0
    replaced: int = 0
    alike: tuple[str, ...] = ()
    repeated: RepeatedQuestions = field(default_factory=RepeatedQuestions)

    @property
    def finals(self) -> int:
        """How many answers have a final label, which no rater gave alone."""
        return len(self.labelled.values.get(FINAL, ()))

    @property
    def copies(self) -> list[tuple[list[str], int]]:
        """Raters who gave the same labels to all answers that they share, and the fewest that two of them share."""
        names = list(self.labelled.values)
        scores = self.labelled.scores
        shape = (len(scores.questions), len(scores.systems))
        of_raters = [label_matrix(values, shape) for values in self.labelled.values.values()]
        return [([names[place] for place in places], count) for places, count in copies(of_raters)]

    @property
    def effective_raters(self) -> float | None:
        """The fewest effective raters of a difference (of one system: of its mean); None where that is not known, or
        where final labels count, of which nobody knows who decided them."""
        if self.finals:
            return None
        pairs = [pair for metric in self.metrics for pair in metric.pairs.values()]
        means = [mean for metric in self.metrics for mean in metric.means.values()]
        numbers = [
            estimate.raters
            for estimate in pairs or means
            if estimate.raters is not None and estimate.rater_variance is not None
        ]
        return min(numbers) if numbers else None

    def significant_pairs(self, metric: CorrectedMetric) -> list[tuple[str, str]]:
        """The pairs of which the labels show that the first is above the second, planned claims only where there is a
        plan and every drawn answer has a label."""
        significant = []
        for (first, second), pair in metric.pairs.items():
            if pair.low is None or pair.high is None or pair.low <= 0 <= pair.high:
                continue
            above, below = (first, second) if pair.low > 0 else (second, first)
            if self.family.may_claim(above, below, metric.metric):
                significant.append((above, below))
        return significant
