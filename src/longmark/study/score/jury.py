"""How far the voices of a jury agree, claim by claim: several judges, or one that was sampled (SCORE, section 3.1).

The paper reports none; it tells how much a vote of K is worth over one voice. Percentage of agreeing pairs of voices,
with an interval that resamples questions, and Fleiss's kappa
(without an interval: `stats.agreement` has one, at a cost that grows with the square of the claims).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from longmark.study.score.estimates import Settings, of_values
from longmark.study.score.found import Found
from longmark.study.score.marks import SPECIFICITY
from longmark.tables import Cell, Column, Table


def jury_table(found: Found, settings: Settings) -> Table:
    """Each pair of generator and evaluator by dimension; no rows where an evaluator is one voice."""
    columns = (
        Column("Generator"),
        Column("Evaluator"),
        Column("Dimension"),
        Column("Voices"),
        Column("Claims"),
        Column("Agreement", 3),
        Column(settings.interval_name, 3, "range", key="interval"),
        Column("Fleiss's kappa", 3, key="kappa"),
    )
    return Table("jury", "Agreement within the jury", columns, tuple(_rows(found, settings)))


def _rows(found: Found, settings: Settings) -> Iterator[tuple[Cell, ...]]:
    for (generator, evaluator), marks in found.judged.items():
        labelled = marks.get(SPECIFICITY, [])
        for name in found.weights:
            claims = [
                (mark.question, voices)
                for mark in labelled
                for dimension, voices in mark.labels
                if dimension == name and len(voices) > 1
            ]
            if not claims:
                continue
            agreeing = of_values(
                [_agreeing(voices) for _, voices in claims], [question for question, _ in claims], settings
            )
            kappa = _fleiss(agreeing.mean, [voices for _, voices in claims])
            voices_ = len(claims[0][1])
            yield (generator, evaluator, name, voices_, len(claims), agreeing.mean, agreeing.range, kappa)


def _agreeing(voices: Sequence[str]) -> float:
    """The share of pairs of voices that are equal."""
    pairs = list(combinations(voices, 2))
    return sum(a == b for a, b in pairs) / len(pairs)


def _fleiss(agreeing: float | None, claims: Sequence[Sequence[str]]) -> float | None:
    """Fleiss's kappa from the mean share of agreeing pairs; None where all voices say the same everywhere."""
    counts = Counter(voice for voices in claims for voice in voices)
    by_chance = sum((count / counts.total()) ** 2 for count in counts.values())
    return None if agreeing is None or by_chance == 1 else (agreeing - by_chance) / (1 - by_chance)
