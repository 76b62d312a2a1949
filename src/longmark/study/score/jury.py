"""How far the voices of a jury agree, claim by claim: several judges, or one that was sampled (SCORE, section 3.1).

The paper reports none; it tells how much a vote of K is worth over one voice. Percentage of agreeing pairs of voices,
with an interval that resamples questions, and Fleiss's kappa without one (`stats.agreement` takes claims that every
voice labelled). A label that a voice left out is none: it agrees with nothing, and a claim with fewer than two labels
is not compared.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import combinations

from longmark.study.score.estimates import LACKS, METHOD, Estimate, Settings, in_words, of_values
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
        Column("Agreement", 3),
        Column(settings.interval_name, 3, "range", key="interval"),
        METHOD,
        Column("Fleiss's kappa", 3, key="kappa"),
        Column("Claims compared", key="n"),
        Column("of"),
        LACKS,
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
            voices = len(claims[0][1])
            labels = [[label for label in its if label is not None] for _, its in claims]
            shares = [agreeing(its) for its in labels]
            one = of_values(shares, [question for question, _ in claims], settings, (0.0, 1.0))
            kappa = _fleiss(one.mean, [its for its in labels if len(its) > 1])
            figures = (one.mean, one.range, one.by, kappa, one.n, one.of)
            yield (generator, evaluator, name, voices, *figures, _lacks(one, kappa, voices * len(claims), labels))


def _lacks(one: Estimate, kappa: float | None, asked: int, labels: Sequence[Sequence[str]]) -> str | None:
    left_out = asked - sum(map(len, labels))
    told = f"{left_out:,} of {asked:,} labels left out by the voices" if left_out else ""
    if not one.n:
        return in_words(told, "no claim has two labels to compare")
    return in_words(told, one.lacks, "" if kappa is not None else "no kappa: every voice gives the same label")


def agreeing(voices: Sequence[str]) -> float | None:
    """The share of pairs of voices that are equal; None where there is no pair."""
    pairs = list(combinations(voices, 2))
    return sum(a == b for a, b in pairs) / len(pairs) if pairs else None


def _fleiss(agreeing: float | None, claims: Sequence[Sequence[str]]) -> float | None:
    """Fleiss's kappa from the mean share of agreeing pairs; None where all voices say the same everywhere."""
    counts = Counter(voice for voices in claims for voice in voices)
    if agreeing is None or len(counts) == 1:
        return None
    by_chance = sum((count / counts.total()) ** 2 for count in counts.values())
    return (agreeing - by_chance) / (1 - by_chance)
