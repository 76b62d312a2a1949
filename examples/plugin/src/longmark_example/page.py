"""What `longmark hedges` shows: the rows of a run, read once, as tables in a document.

The document is printed, and written as a page that opens offline and as files of its tables (`report.document.publish`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from longmark.api import RunScores
from longmark.errors import UserError
from longmark.records import Row
from longmark.records.metric_name import base_of
from longmark.report.document import Document, Section
from longmark.report.tables import Column, Table
from longmark.scores.files import name_of
from longmark.stats.means import mean_estimate
from longmark.stats.results import Estimate

MOST_ANSWERS = 10
"""Answers in the table of the most hedged ones."""


@dataclass
class Hedging:
    """How much the answers of one system hedge. scored, unscored: its rows, with and without a score."""

    system: str
    scored: list[Row] = field(default_factory=list)
    unscored: list[Row] = field(default_factory=list)

    @property
    def sentences(self) -> int:
        return sum(row.evidence["sentences"] for row in self.scored)

    @property
    def hedged(self) -> int:
        return sum(len(row.evidence["marked"]) for row in self.scored)

    @property
    def words(self) -> Counter[str]:
        """How often each hedge word occurs."""
        return Counter(
            word
            for row in self.scored
            for marked in row.evidence["marked"]
            for word in marked["label"].split(", ")
        )

    @property
    def share(self) -> Estimate:
        """The mean of the answers' shares, with its interval. Answers to one question may depend on each other."""
        scores = [row.score for row in self.scored if row.score is not None]
        questions = [row.question_id for row in self.scored]
        return mean_estimate(scores, questions, bounds=(0, 1))

    def per_hundred(self, word: str) -> float | None:
        """Occurrences of a word in 100 sentences; None without a sentence."""
        return 100 * self.words[word] / self.sentences if self.sentences else None


def read_hedging(run: Path | str, metric: str = "hedges") -> list[Hedging]:
    """The hedging of each system in a run folder, in the order of the rows. UserError where it has no such score."""
    scores = RunScores.of(run)
    systems: dict[str, Hedging] = {}
    others: dict[str, None] = {}
    for row in scores.rows:
        if row.metric == metric:
            system = row.system or name_of(scores.folder)  # a file without systems is one system
            hedging = systems.setdefault(system, Hedging(system))
            (hedging.unscored if row.score is None else hedging.scored).append(row)
        elif base_of(row.metric) == "hedges":
            others[row.metric] = None
    if not systems:
        remedy = (
            f"it has {', '.join(others)}: name one with --metric"
            if others
            else f"score it first: longmark run EXAMPLES --metrics {metric} --out RUN"
        )
        raise UserError(f"{run} has no score {metric}; {remedy}")
    return list(systems.values())


def document(systems: Sequence[Hedging], metric: str = "hedges") -> Document:
    """The page: hedging by system, the words, and the most hedged answers."""
    rows = [row for hedging in systems for row in hedging.scored]
    unscored = sum(len(hedging.unscored) for hedging in systems)
    total = len(rows) + unscored
    # A dict keeps the order of the rows, which is the same each time.
    signatures = list(dict.fromkeys(row.signature.line(metric) for row in rows))
    return Document(
        kind="hedging",
        title="Hedging",
        lede=f"{len(rows):,} of {total:,} answers scored by {metric}.",
        sections=(by_system(systems), by_word(systems), most_hedged(rows)),
        notices=[f"{unscored} of {total} answers are unscored and not in the shares."]
        * (unscored > 0),
        settings={"metric": metric},
        signatures=signatures,
    )


def by_system(systems: Sequence[Hedging]) -> Section:
    columns = (
        Column("system", "system"),
        Column("answers", lambda hedging: len(hedging.scored), kind="number"),
        Column("unscored", lambda hedging: len(hedging.unscored), kind="number"),
        Column("sentences", "sentences", kind="number"),
        Column("hedged", "hedged", kind="number"),
        Column("share", "share", places=3, kind="estimate"),
    )
    note = "share: the mean over answers, in [0, 1]. Answers to one question are a cluster."
    table = Table("hedging", "Hedging by system", columns, systems, note)
    return Section(table.title, "The share of an answer's sentences that hedge.", (table,))


def by_word(systems: Sequence[Hedging]) -> Section:
    occurrences = sum((hedging.words for hedging in systems), Counter[str]())
    # By frequency, then by the alphabet: equal counts come in the same order each time.
    words = sorted(occurrences, key=lambda word: (-occurrences[word], word))
    columns = (
        Column("word", lambda word: word),
        *(
            Column(hedging.system, partial(Hedging.per_hundred, hedging), places=1, kind="number")
            for hedging in systems
        ),
    )
    table = Table("words", "Hedge words", columns, words, "Occurrences in 100 sentences.")
    says = "How often each system uses which word." if words else "No answer contains a hedge word."
    return Section(table.title, says, (table,) if words else ())


def most_hedged(rows: Sequence[Row]) -> Section:
    hedged_rows = [row for row in rows if row.score]
    first = sorted(hedged_rows, key=lambda row: -(row.score or 0))[:MOST_ANSWERS]
    columns = (
        Column("answer", "example_id"),
        Column("system", "system"),
        Column("share", "score", places=3),
        Column(
            "hedged sentences",
            lambda row: " … ".join(marked["text"] for marked in row.evidence["marked"]),
        ),
    )
    table = Table("answers", "The most hedged answers", columns, first)
    says = f"The {len(first)} answers with the greatest shares." if first else "No answer hedges."
    return Section(table.title, says, (table,) if first else (), folded=True)
