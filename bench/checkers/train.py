"""Trains the claim checker on the halves of the data sets that are for training, and writes its weights.

    python -m bench.checkers.train [--out FILE] [--without FOLDER] [--data FOLDER]

With `--without` each checker trained without a set (WiCE: without its marked words too) is written there as SET.npz.
Beside the weights stands the model card, a JSON file: data with hashes, settings, figures of the cross-validation by
group. Training has no random numbers except the folds' seed.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from bench.checkers.aligned import (
    WEIGHTS,
    Logistic,
    MiniLmEncoder,
    Rarity,
    TrainedModels,
    claim_row,
    save,
    split,
)
from bench.checkers.alignment import CLAIM_FEATURES, WORD_FEATURES, Alignment, Floats
from bench.checkers.baselines import shared_words
from bench.checkers.data import DATA, FILES, SETS, WICE, Claim, MarkedClaim, claims, marked_claims
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

from longmark.home import digest

PAGE = 24  # sentences of a marked claim's page that are its evidence, those with most words of the claim
WORD_PENALTY, CLAIM_PENALTY = 0.1, 0.01  # scikit-learn's C
FOLDS, SEED = 5, 0


@dataclass(frozen=True)
class AlignedRows:
    """Aligned claims: label (1: supported), group and set of each."""

    aligned: list[Alignment]
    labels: np.ndarray[Any, Any]
    groups: list[str]
    sets: list[str]


@dataclass(frozen=True)
class Words:
    """Words of claims: features, label (1: not supported), group of each."""

    features: Floats
    labels: np.ndarray[Any, Any]
    groups: list[str]


def premise(claim: Claim) -> str:
    return "\n\n".join(claim.evidence)


def page(claim: MarkedClaim) -> str:
    """The sentences of a page that share most words with the claim, in their order."""
    order = sorted(
        range(len(claim.evidence)), key=lambda i: -shared_words(claim.claim, claim.evidence[i])
    )
    return "\n\n".join(claim.evidence[index] for index in sorted(order[:PAGE]))


def rarity(encoder: MiniLmEncoder, premises: Sequence[str]) -> Rarity:
    """log((n + 1) / (1 + premises that have the token)), of tokens that two premises have."""
    count: Counter[str] = Counter()
    for text in premises:
        count.update({piece for one in encoder.vectors(split(text)) for piece in one.pieces})
    total = len(premises) + 1
    values = {
        token: float(np.log(total / (1 + number)))
        for token, number in sorted(count.items())
        if number > 1
    }
    return Rarity(values, float(np.log(total)))


def aligned(encoder: MiniLmEncoder, given: Sequence[Claim], rare: Rarity) -> AlignedRows:
    found = [(one, encoder.align(premise(one), one.claim, rare)) for one in given]
    kept = [(one, alignment) for one, alignment in found if alignment is not None]
    return AlignedRows(
        [alignment for _, alignment in kept],
        np.array([one.supported for one, _ in kept], dtype=int),
        [f"{one.data}:{one.group}" for one, _ in kept],
        [one.data for one, _ in kept],
    )


def marked_words(encoder: MiniLmEncoder, given: Sequence[MarkedClaim], rare: Rarity) -> Words:
    """The words of marked claims; a word is marked if most of its characters' tokens are."""
    features, labels, groups = [], [], []
    for one in given:
        alignment = encoder.align(page(one), one.claim, rare)
        if alignment is None:
            continue
        marks = mark_of_characters(one)
        for row, (start, end), counted in zip(
            alignment.words, alignment.spans, alignment.counted, strict=True
        ):
            under = [mark for mark in marks[start:end] if mark is not None]
            if counted and under:
                features.append(row)
                labels.append(int(sum(under) * 2 > len(under)))
                groups.append(one.group)
    return Words(np.array(features), np.array(labels), groups)


def mark_of_characters(claim: MarkedClaim) -> list[bool | None]:
    """For each character of the claim whether its token is marked; None for one that no token has."""
    marks: list[bool | None] = [None] * len(claim.claim)
    position = 0
    for token, mark in zip(claim.tokens, claim.unsupported, strict=True):
        start = claim.claim.find(token, position)
        if start >= 0:
            position = start + len(token)
            marks[start:position] = [mark] * len(token)
    return marks


def words_of(rows: AlignedRows) -> Words:
    """Every word with its claim's label: what there is to learn from where no words are marked."""
    counts = [int(one.counted.sum()) for one in rows.aligned]
    return Words(
        np.concatenate([one.words[one.counted] for one in rows.aligned]),
        np.repeat(1 - rows.labels, counts),
        [group for group, count in zip(rows.groups, counts, strict=True) for _ in range(count)],
    )


def fit(
    features: Floats, labels: np.ndarray[Any, Any], penalty: float, weights: Floats | None = None
) -> Logistic:
    """A logistic model with an L2 penalty, of features brought to mean 0 and deviation 1."""
    mean, scale = features.mean(axis=0), features.std(axis=0)
    scale = np.where(scale > 1e-6, scale, 1).astype(np.float32)
    model = LogisticRegression(C=penalty, max_iter=3000).fit(
        (features - mean) / scale, labels, sample_weight=weights
    )
    return Logistic(mean, scale, model.coef_[0].astype(np.float32), float(model.intercept_[0]))


def set_weights(sets: Sequence[str]) -> Floats:
    """Each set counts alike: the weights have mean 1."""
    counts = Counter(sets)
    return np.array([len(sets) / len(counts) / counts[one] for one in sets], dtype=np.float32)


def claim_rows(rows: AlignedRows, words: Logistic) -> Floats:
    return np.stack([claim_row(one, words.log_odds(one.words)) for one in rows.aligned])


def folds(groups: Sequence[str]) -> np.ndarray[Any, Any]:
    """The fold of each row; rows of a group have one."""
    names = sorted(set(groups))
    places = dict(
        zip(names, np.random.default_rng(SEED).permutation(len(names)) % FOLDS, strict=True)
    )
    return np.array([places[group] for group in groups])


def held_out(
    features: Floats,
    labels: np.ndarray[Any, Any],
    groups: Sequence[str],
    penalty: float,
    weights: Any,
) -> Floats:
    """The log-odds of each row by a model of the other folds."""
    fold, found = folds(groups), np.zeros(len(labels), dtype=np.float32)
    for number in range(FOLDS):
        own = fold == number
        part = fit(
            features[~own], labels[~own], penalty, None if weights is None else weights[~own]
        )
        found[own] = part.log_odds(features[own])
    return found


def train(rows: AlignedRows, words: Words, rare: Rarity) -> tuple[TrainedModels, dict[str, float]]:
    """The model, and its AUC by set in cross-validation by group ("words": of the words)."""
    of_words = fit(words.features, words.labels, WORD_PENALTY)
    features, weights = claim_rows(rows, of_words), set_weights(rows.sets)
    odds = held_out(features, rows.labels, rows.groups, CLAIM_PENALTY, weights)
    sets = np.array(rows.sets)
    figures = {
        one: float(roc_auc_score(rows.labels[sets == one], odds[sets == one]))
        for one in sorted(set(rows.sets))
    }
    by_word = held_out(words.features, words.labels, words.groups, WORD_PENALTY, None)
    figures["words"] = float(roc_auc_score(words.labels, by_word))
    return TrainedModels(
        rare, of_words, fit(features, rows.labels, CLAIM_PENALTY, weights)
    ), figures


@dataclass(frozen=True)
class Material:
    """What there is to train on: aligned claims of every set, marked words, the rarity of tokens."""

    rows: AlignedRows
    words: Words
    rare: Rarity
    embedder: str

    def without(self, left: str) -> Material:
        """Without the claims of a set and what people marked in it. The rarity, which no label goes into, stays."""
        keep = [index for index, name in enumerate(self.rows.sets) if name != left]
        rows = AlignedRows(
            [self.rows.aligned[index] for index in keep],
            self.rows.labels[keep],
            [self.rows.groups[index] for index in keep],
            [self.rows.sets[index] for index in keep],
        )
        return replace(self, rows=rows, words=words_of(rows) if left == WICE else self.words)


def material(data: Path) -> Material:
    """The training halves, as MiniLM sees them."""
    encoder = MiniLmEncoder(keep=100_000)
    training = [one for name in SETS for one in claims(name, data) if not one.test]
    rare = rarity(encoder, [premise(one) for one in training])
    marked = [one for one in marked_claims(data) if not one.test]
    return Material(
        aligned(encoder, training, rare),
        marked_words(encoder, marked, rare),
        rare,
        encoder.identity,
    )


def train_and_save(given: Material, data: Path, out: Path) -> None:
    """Trains; writes the weights and the model card."""
    model, figures = train(given.rows, given.words, given.rare)
    save(model, out)
    files = {name: path for name, path in FILES.items() if name.split()[0] in given.rows.sets}
    card = {
        "model": "logistic models of words and of claims over token matches of all-MiniLM-L6-v2, layers 0, 5 and 6",
        "embedder": given.embedder,
        "data": {
            name: {"file": path, "sha256": digest(data / path)} for name, path in files.items()
        },
        "rows": dict(Counter(given.rows.sets)) | {"words": len(given.words.labels)},
        "settings": {
            "C of words": WORD_PENALTY,
            "C of claims": CLAIM_PENALTY,
            "folds": FOLDS,
            "seed of folds": SEED,
        },
        "AUC in cross-validation by group, training half": {
            name: round(value, 3) for name, value in figures.items()
        },
        "features": {"words": WORD_FEATURES, "claims": CLAIM_FEATURES},
        "sha256 of the weights": digest(out),
    }
    out.with_suffix(".json").write_text(json.dumps(card, indent=1) + "\n", encoding="utf-8")
    print(out.name, card["AUC in cross-validation by group, training half"], flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.checkers.train", description=__doc__)
    parser.add_argument("--out", type=Path, default=WEIGHTS)
    parser.add_argument("--without", type=Path)
    parser.add_argument("--data", type=Path, default=DATA)
    given = parser.parse_args()
    found = material(given.data)
    train_and_save(found, given.data, given.out)
    for left in SETS if given.without else ():
        given.without.mkdir(parents=True, exist_ok=True)
        train_and_save(found.without(left), given.data, given.without / f"{left}.npz")


if __name__ == "__main__":
    main()
