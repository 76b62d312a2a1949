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
        best_words: list[tuple[str, float] | None] = []
        for n in range(self.statements):
            own_places = np.flatnonzero(self.statement == n)
            odds = np.exp(log_odds[own_places] - log_odds[own_places].max(initial=-np.inf))
            best = int(odds.argmax()) if len(own_places) else 0
            best_words.append(
                (self.words[own_places[best]], float(odds[best] / odds.sum()))
                if len(own_places)
                else None
            )
        return best_words


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
    words: dict[str, str] = {}
    for part in statement.split():
        word = stripped(part)
        if word and caseless(word) not in FUNCTION_WORDS and no_term(statement, word) is None:
            words.setdefault(caseless(word), word)
    return tuple(words.values())


async def candidates_of(
    items: Sequence[Item], counts: Mapping[str, int], models: Models
) -> Candidates:
    """The candidates of all items with what the model sees of them."""
    numbered_words = [
        (n, word) for n, item in enumerate(items) for word in candidates(item.statement or "")
    ]
    vectors = await embedded(
        [*(word for _, word in numbered_words), *(item.statement or "" for item in items)], models
    )
    width = len(next(iter(vectors.values()), ()))
    highest_count = max(counts.values(), default=0)
    numbers = []
    for n, word in numbered_words:
        statement = items[n].statement or ""
        folded_word = caseless(word)
        folded = caseless(statement)
        proposed = [caseless(proposal) for proposal in items[n].proposals]
        features: dict[str, float] = {
            "rarity": math.log((1 + highest_count) / (1 + counts.get(folded_word, 0))),
            "length": math.log(len(word)),
            "position": folded.find(folded_word) / len(folded),
            "repeats": folded.count(folded_word),
            "capital": word[0].isupper() and not statement.startswith(word),
            "digits": any(map(str.isdigit, word)),
            "proposed": 1 / (1 + proposed.index(folded_word)) if folded_word in proposed else 0.0,
            "near_statement": float(vectors[word] @ vectors[statement]),
        }
        numbers.append([features[name] for name in WORD_NUMBERS])
    stacked = np.array([vectors[word] for _, word in numbered_words]).reshape(
        len(numbered_words), width
    )
    inputs = Inputs(
        stacked, np.array(numbers).reshape(len(numbered_words), len(WORD_NUMBERS)), WORD_NUMBERS
    )
    places = np.array([n for n, _ in numbered_words], dtype=np.int64)
    return Candidates(tuple(word for _, word in numbered_words), places, inputs, len(items))


def too_few(families: Sequence[str]) -> str | None:
    """Why a model cannot be trained on statements of these families: too few. None if it can."""
    if len(families) >= FEWEST and len(set(families)) >= FOLDS:
        return None
    return (
        f"a model of terms needs at least {FEWEST} statements with a term from {FOLDS} different seed passages; found "
        f"{len(families)} from {len(set(families))}"
    )


def train(
    terms: Sequence[str], families: Sequence[str], word_candidates: Candidates, seed: int
) -> tuple[Linear, Picked]:
    """The model of all statements, and how often it picks the experts' term in statements of families that it did not
    see. word_candidates: the candidates of the statements."""
    folded_terms = [caseless(stripped(term)) for term in terms]
    chosen = [
        caseless(word) == folded_terms[n]
        for word, n in zip(word_candidates.words, word_candidates.statement, strict=True)
    ]
    y = np.array(chosen, dtype=np.int64)
    fold = folds([True] * len(folded_terms), families, seed)
    best = word_candidates.best(
        out_of_folds(word_candidates.inputs, y, fold[word_candidates.statement])
    )
    hits = [
        float(best_word is not None and caseless(best_word[0]) == term)
        for best_word, term in zip(best, folded_terms, strict=True)
    ]
    able = np.bincount(word_candidates.statement, y, word_candidates.statements)
    words = np.bincount(word_candidates.statement, minlength=word_candidates.statements)
    chance = float((able / np.maximum(words, 1)).mean())
    picked = Picked(clustered_share(hits, families), chance, int((able == 0).sum()))
    return uncalibrated(word_candidates.inputs, y), picked
