"""Which rows of a run are missing, as far as its examples and rows show it.

A metric is either for originals or for variants of questions. If one original has a row of a metric, every original
must have one. Nothing is certain for variants: a metric may apply to some kinds of variants only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from longmark.scores.files import examples_of
from longmark.scores.index import ScoreIndex
from longmark.scores.manifest import Manifest


@dataclass(frozen=True, slots=True)
class Missing:
    """A run with missing rows. run: its place; examples: originals; without: those that have no row; rows: missing rows
    in all, including those of `without`; empty: the run has no row, so nothing else is known."""

    run: int
    examples: int
    without: int
    rows: int
    empty: bool

    def in_words(self) -> str:
        none = f"{self.without:,} of {self.examples:,} examples have no row at all; " if self.without else ""
        return f"{none}{self.rows:,} row{'s' if self.rows > 1 else ''} {'are' if self.rows > 1 else 'is'} missing"


def missing_rows(index: ScoreIndex, manifests: Sequence[Manifest]) -> tuple[Missing, ...]:
    """The runs with missing rows."""
    having = {run for run, _ in index.runs_and_names()}
    found = []
    for run, manifest in enumerate(manifests):
        originals = {example.id for example in examples_of(manifest.folder) if example.variant_of is None}
        if run not in having:
            found.append(Missing(run, len(originals), len(originals), 0, empty=True))
            continue
        metrics: Counter[int] = Counter()
        seen = set()
        for example, metric in index.rows(run):
            if example in originals:
                metrics[metric] += 1
                seen.add(example)
        rows = sum(len(originals) - count for count in metrics.values())
        if rows:
            found.append(Missing(run, len(originals), len(originals) - len(seen), rows, empty=False))
    return tuple(found)
