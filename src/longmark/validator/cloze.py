"""Which word of a statement to leave out, learned from the words that experts chose (ClimaQA, appendix A.5.3).

Each word of a statement that could be left out is a candidate; a linear model of its vector and of `WORD_NUMBERS` gives
it log-odds, and the likeliest one is picked. The measure is the share of statements whose term is picked exactly,
compared with a random word and with the word that is rarest in the passages (the longest of several).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from longmark.datasets.benchmark.cloze import no_term, stripped, word_counts
from longmark.errors import UserError
from longmark.models.handles import Models
from longmark.records.benchmark import Item
from longmark.stats.proportion import clustered_share
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats
from longmark.text.overlap import FUNCTION_WORDS
from longmark.validator.features import Inputs, embedded
from longmark.validator.labels import Case
from longmark.validator.linear import FOLDS, Linear, folds, uncalibrated

WORD_NUMBERS = ("rarity", "length", "position", "repeats", "capital", "digits", "proposed", "near_statement")
STRENGTH = 0.1
FEWEST = 20  # statements with a term


@dataclass(frozen=True)
class Words:
    """The candidates of a statement, as they stand in it."""

    words: tuple[str, ...]
    inputs: Inputs


@dataclass(frozen=True)
class Picked:
    """model, rarest, chance: shares of statements whose term is picked; unpickable: terms that are no candidate, which
    every way misses."""

    model: Estimate
    rarest: Estimate
    chance: float
    unpickable: int


def counts_of(items: Iterable[Item]) -> Counter[str]:
    """Word -> the number of passages that have it."""
    return word_counts(dict.fromkeys(one.text for item in items for one in item.passages))


def candidates(statement: str) -> tuple[str, ...]:
    """The words that could be left out, in their order, each once."""
    found: dict[str, str] = {}
    for part in statement.split():
        word = stripped(part)
        if word and word.casefold() not in FUNCTION_WORDS and no_term(statement, word) is None:
            found.setdefault(word.casefold(), word)
    return tuple(found.values())


async def words_of(items: Sequence[Item], counts: Mapping[str, int], models: Models) -> list[Words]:
    """The candidates of each item with what the model sees of them."""
    statements = [item.statement or "" for item in items]
    every = [candidates(statement) for statement in statements]
    vectors = await embedded([*(word for some in every for word in some), *statements], models)
    width = len(next(iter(vectors.values()), ()))
    most = max(counts.values(), default=0)
    made = []
    for item, statement, words in zip(items, statements, every, strict=True):
        proposed = [one.casefold() for one in item.proposals]
        folded = statement.casefold()
        numbers = []
        for word in words:
            own = word.casefold()
            rank = 1 / (1 + proposed.index(own)) if own in proposed else 0.0
            position, capital = folded.find(own) / len(folded), word[0].isupper() and not statement.startswith(word)
            near = float(vectors[word] @ vectors[statement])
            rarity = math.log((1 + most) / (1 + counts.get(own, 0)))
            numbers.append([rarity, math.log(len(word)), position, folded.count(own), float(capital),
                            float(any(map(str.isdigit, word))), rank, near])  # fmt: skip
        stacked = np.array([vectors[word] for word in words]).reshape(len(words), width)
        made.append(Words(words, Inputs(stacked, np.array(numbers).reshape(len(words), -1), WORD_NUMBERS)))
    return made


def pick(model: Linear, words: Words) -> tuple[str, float] | None:
    """The word to leave out, and its share of the candidates' odds; None for a statement without a candidate."""
    if not words.words:
        return None
    log_odds = model.log_odds(words.inputs)
    odds = np.exp(log_odds - log_odds.max())
    best = int(odds.argmax())
    return words.words[best], float(odds[best] / odds.sum())


def train(cases: Sequence[Case], words: Sequence[Words], seed: int) -> tuple[Linear, Picked]:
    """The model of all statements, and how often it picks the experts' term in statements of families that it did not
    see. UserError for too few statements."""
    families = [case.family for case in cases]
    if len(cases) < FEWEST or len(set(families)) < FOLDS:
        raise UserError(
            f"cloze: a model of terms needs at least {FEWEST} statements with a term from {FOLDS} different seed "
            f"passages; found {len(cases)} from {len(set(families))}. Label more statements, or omit --cloze"
        )
    fold = folds([True] * len(cases), families, FOLDS, seed)
    hits, rare, chances = np.zeros(len(cases)), np.zeros(len(cases)), np.zeros(len(cases))
    for k in range(FOLDS):
        model = _fit([pair for pair, own in zip(zip(cases, words, strict=True), fold, strict=True) if own != k])
        for i in np.flatnonzero(fold == k).tolist():
            term, own = _term(cases[i]), words[i]
            if term in map(str.casefold, own.words):
                chances[i] = 1 / len(own.words)
                found = pick(model, own)
                hits[i] = found is not None and found[0].casefold() == term
                rare[i] = rarest(own).casefold() == term
    shares = [clustered_share(values, families) for values in (hits, rare)]
    missed = int((chances == 0).sum())
    return _fit(list(zip(cases, words, strict=True))), Picked(shares[0], shares[1], float(chances.mean()), missed)


def rarest(words: Words) -> str:
    """The candidate that is rarest in the passages; the longest of several."""
    return max(zip(words.inputs.numbers[:, 0], map(len, words.words), words.words, strict=True))[2]


def _fit(pairs: Sequence[tuple[Case, Words]]) -> Linear:
    some = [(case, words) for case, words in pairs if words.words]
    vectors: Floats = np.concatenate([words.inputs.vectors for _, words in some])
    numbers: Floats = np.concatenate([words.inputs.numbers for _, words in some])
    chosen = [word.casefold() == _term(case) for case, words in some for word in words.words]
    return uncalibrated(Inputs(vectors, numbers, WORD_NUMBERS), np.array(chosen, dtype=np.int64), STRENGTH)


def _term(case: Case) -> str:
    return stripped(case.term or "").casefold()
