"""Has a run the rows that it must have? What is certain of it, from its examples and its rows.

A metric is either for originals or for variants of questions, and then for all of the one kind. So a metric that one
original has a row of, every original must have a row of. Of variants nothing is certain: a metric may be for some kinds
of them only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from longmark.report.examples import examples_of
from longmark.report.index import MarkIndex
from longmark.report.manifest import Manifest


@dataclass(frozen=True, slots=True)
class Lacking:
    """A run without rows that it must have. examples: originals; without: those without any row; rows: that lack in
    all, those of `without` among them; empty: the run has no row at all, and no more is known of it."""

    run: int
    examples: int
    without: int
    rows: int
    empty: bool

    def in_words(self) -> str:
        none = f"{self.without:,} of {self.examples:,} examples have no row at all; " if self.without else ""
        return f"{none}{self.rows:,} row{'s' if self.rows > 1 else ''} {'are' if self.rows > 1 else 'is'} missing"


def lacking(index: MarkIndex, manifests: Sequence[Manifest]) -> tuple[Lacking, ...]:
    """The runs that lack rows, by their place."""
    having = {run for run, _ in index.runs_and_names()}
    found = []
    for run, manifest in enumerate(manifests):
        originals = {example.id for example in examples_of(manifest.folder) if example.variant_of is None}
        if run not in having:
            found.append(Lacking(run, len(originals), len(originals), 0, empty=True))
            continue
        metrics: Counter[int] = Counter()
        seen = set()
        for example, metric in index.marked(run):
            if example in originals:
                metrics[metric] += 1
                seen.add(example)
        rows = sum(len(originals) - count for count in metrics.values())
        if rows:
            found.append(Lacking(run, len(originals), len(originals) - len(seen), rows, empty=False))
    return tuple(found)
