"""Which word of a statement to leave out, learned from the words that experts chose (ClimaQA, appendix A.5.3).

Each word of a statement that could be left out is a candidate; a linear model of its vector and of `WORD_NUMBERS` gives
it log-odds, and the likeliest one is picked. The measure is the share of statements whose term is picked exactly,
compared with a random word.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from longmark.contrib.make.benchmark.cloze import no_term, stripped, word_counts
from longmark.contrib.make.validator.features import Inputs, embedded
from longmark.contrib.make.validator.linear import FOLDS, Linear, folds, out_of_folds, uncalibrated
from longmark.models.handles import Models
from longmark.records.benchmark import Item
from longmark.records.same import caseless
from longmark.stats.proportion import clustered_share
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats, Ints
from longmark.text.overlap import FUNCTION_WORDS

WORD_NUMBERS = (
    "rarity",
    "length",
    "position",
    "repeats",
    "capital",
    "digits",
    "proposed",
    "near_statement",
)
FEWEST = 20  # statements with a term


@dataclass(frozen=True)
class Candidates:
    """The words of statements that could be left out. statement: the place of each word's statement; terms: the number
    of statements."""

    words: tuple[str, ...]
    statement: Ints
    inputs: Inputs
    statements: int

    def best(self, log_odds: Floats) -> list[tuple[str, float] | None]:
        """For each statement the likeliest word, and its share of the odds; None for one without a candidate."""
        found: list[tuple[str, float] | None] = []
        for n in range(self.statements):
            own = np.flatnonzero(self.statement == n)
            odds = np.exp(log_odds[own] - log_odds[own].max(initial=-np.inf))
            best = int(odds.argmax()) if len(own) else 0
            found.append(
                (self.words[own[best]], float(odds[best] / odds.sum())) if len(own) else None
            )
        return found


@dataclass(frozen=True)
class Picked:
    """model: the share of statements whose term is picked; chance: of a random word; unpickable: terms that are no
    candidate, which every way misses."""

    model: Estimate
    chance: float
    unpickable: int


def counts_of(items: Iterable[Item]) -> Counter[str]:
    """Word -> the number of passages that have it."""
    return word_counts(dict.fromkeys(passage.text for item in items for passage in item.passages))


def candidates(statement: str) -> tuple[str, ...]:
    """The words that could be left out, in their order, each once."""
    found: dict[str, str] = {}
    for part in statement.split():
        word = stripped(part)
        if word and caseless(word) not in FUNCTION_WORDS and no_term(statement, word) is None:
            found.setdefault(caseless(word), word)
    return tuple(found.values())


async def candidates_of(
    items: Sequence[Item], counts: Mapping[str, int], models: Models
) -> Candidates:
    """The candidates of all items with what the model sees of them."""
    every = [(n, word) for n, item in enumerate(items) for word in candidates(item.statement or "")]
    vectors = await embedded(
        [*(word for _, word in every), *(item.statement or "" for item in items)], models
    )
    width = len(next(iter(vectors.values()), ()))
    most = max(counts.values(), default=0)
    numbers = []
    for n, word in every:
        statement = items[n].statement or ""
        own = caseless(word)
        folded = caseless(statement)
        proposed = [caseless(proposal) for proposal in items[n].proposals]
        features: dict[str, float] = {
            "rarity": math.log((1 + most) / (1 + counts.get(own, 0))),
            "length": math.log(len(word)),
            "position": folded.find(own) / len(folded),
            "repeats": folded.count(own),
            "capital": word[0].isupper() and not statement.startswith(word),
            "digits": any(map(str.isdigit, word)),
            "proposed": 1 / (1 + proposed.index(own)) if own in proposed else 0.0,
            "near_statement": float(vectors[word] @ vectors[statement]),
        }
        numbers.append([features[name] for name in WORD_NUMBERS])
    stacked = np.array([vectors[word] for _, word in every]).reshape(len(every), width)
    inputs = Inputs(stacked, np.array(numbers).reshape(len(every), len(WORD_NUMBERS)), WORD_NUMBERS)
    places = np.array([n for n, _ in every], dtype=np.int64)
    return Candidates(tuple(word for _, word in every), places, inputs, len(items))


def too_few(families: Sequence[str]) -> str | None:
    """Why a model cannot be trained on statements of these families: too few. None if it can."""
    if len(families) >= FEWEST and len(set(families)) >= FOLDS:
        return None
    return (
        f"a model of terms needs at least {FEWEST} statements with a term from {FOLDS} different seed passages; found "
        f"{len(families)} from {len(set(families))}"
    )


def train(
    terms: Sequence[str], families: Sequence[str], given: Candidates, seed: int
) -> tuple[Linear, Picked]:
    """The model of all statements, and how often it picks the experts' term in statements of families that it did not
    see. given: the candidates of the statements."""
    wanted = [caseless(stripped(term)) for term in terms]
    chosen = [
        caseless(word) == wanted[n] for word, n in zip(given.words, given.statement, strict=True)
    ]
    y = np.array(chosen, dtype=np.int64)
    fold = folds([True] * len(wanted), families, seed)
    best = given.best(out_of_folds(given.inputs, y, fold[given.statement]))
    hits = [
        float(one is not None and caseless(one[0]) == term)
        for one, term in zip(best, wanted, strict=True)
    ]
    able = np.bincount(given.statement, y, given.statements)
    words = np.bincount(given.statement, minlength=given.statements)
    chance = float((able / np.maximum(words, 1)).mean())
    picked = Picked(clustered_share(hits, families), chance, int((able == 0).sum()))
    return uncalibrated(given.inputs, y), picked
