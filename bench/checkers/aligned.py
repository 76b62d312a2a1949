"""The trained claim checker: whether evidence supports a claim, by the words that the evidence matches.

1. The evidence is split into sentences; the 24 closest to the claim are kept (cosine of MiniLM).
2. Each word of the claim is beside its best match among the tokens of the evidence (`alignment`).
3. A logistic model gives each word the log-odds that it is not supported; a second one gives the claim its probability
   of support from the matches and those log-odds. Both were trained on human labels (`claim_checker.json`).

It is no part of longmark, since it did not pass the rule of design/claim-checker.md. It tells support from its absence,
not contradiction from a statement left open. It knows English. It needs the extra `embedded` and the model `embedder`.
"""

from __future__ import annotations

import asyncio
import hashlib
import math
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark.contrib.local.minilm import MiniLM, TokenVectors
from longmark.models.protocols import Capabilities
from longmark.text.entailment import ENTAILS, NEUTRAL, Relation
from longmark.text.pieces import pieces
from longmark.text.sentences import sentences

if TYPE_CHECKING:
    import numpy as np
    from bench.checkers.alignment import Alignment, Floats
    from numpy.typing import NDArray

WEIGHTS = Path(__file__).with_name("claim_checker.npz")
THRESHOLD = 0.5
_SENTENCE = 700  # bytes of a sentence; a longer one is split, since MiniLM reads 256 tokens


@dataclass(frozen=True, slots=True)
class AlignedWord:
    """A word of a claim: its text, where it stands (first character, end), and the probability, in [0, 1], that the
    evidence does not support it."""

    text: str
    start: int
    end: int
    unsupported: float


@dataclass(frozen=True, slots=True)
class AlignedCheck:
    """support: the probability, in [0, 1], that the evidence supports the claim. words: those of the claim with a
    letter or a digit, in their order, as far as MiniLM reads (254 tokens)."""

    support: float
    words: tuple[AlignedWord, ...]


class AlignedChecker:
    """A `Checker` (text.entailment) on this machine. weights: a file of another training; encoder: one to share.

    Construction raises `ModelNotInstalled` or `MissingExtra`.
    """

    capabilities = Capabilities()
    width: int | None = 1

    def __init__(self, weights: Path = WEIGHTS, encoder: MiniLmEncoder | None = None) -> None:
        self._encoder = encoder or MiniLmEncoder()
        self._model = load(weights)
        self.name = "trained claim checker"
        self.identity = f"claim-checker:{hashlib.sha256(weights.read_bytes()).hexdigest()}:{self._encoder.identity}"

    async def relations(self, premise: str, hypotheses: Sequence[str]) -> list[Relation]:
        """entails, with its probability, from a half on; else neutral. A premise or hypothesis without a word is
        neutral, without a probability."""
        found = await asyncio.to_thread(
            lambda: [self.check(premise, hypothesis) for hypothesis in hypotheses]
        )
        return [
            Relation(NEUTRAL)
            if one is None
            else Relation(ENTAILS if one.support >= THRESHOLD else NEUTRAL, entails=one.support)
            for one in found
        ]

    def check(self, premise: str, claim: str) -> AlignedCheck | None:
        """Whether the premise supports a claim, and which words it does not; None where either has no word."""
        alignment = self.align(premise, claim)
        return None if alignment is None else self.judge(claim, alignment)

    def judge(self, claim: str, alignment: Alignment) -> AlignedCheck:
        odds = self._model.words.log_odds(alignment.words)
        support = self._model.claims.log_odds(claim_row(alignment, odds)[None])[0]
        words = [
            AlignedWord(claim[start:end], start, end, _probability(odd))
            for (start, end), odd, counted in zip(
                alignment.spans, odds.tolist(), alignment.counted, strict=True
            )
            if counted
        ]
        return AlignedCheck(_probability(float(support)), tuple(words))

    def align(self, premise: str, claim: str) -> Alignment | None:
        return self._encoder.align(premise, claim, self._model.rarity)

    async def close(self) -> None:
        """Releases the model; the next call loads it again."""
        await self._encoder.close()


# The steps, for the training too -----------------------------------------------------------------------------------


class MiniLmEncoder:
    """Premises and claims as MiniLM sees them. keep: how many of the latest texts stay in memory (70 kB each)."""

    def __init__(self, keep: int = 1024) -> None:
        self._keep = keep
        self._embedder = MiniLM()
        self.identity = self._embedder.identity
        self._known: OrderedDict[str, TokenVectors] = OrderedDict()

    def vectors(self, texts: Sequence[str]) -> list[TokenVectors]:
        import numpy as np
        from bench.checkers.alignment import LAYERS

        known, wanted = self._known, list(dict.fromkeys(texts))
        found = {text: known[text] for text in wanted if text in known}
        new = [text for text in wanted if text not in found]
        for text, one in zip(
            new, self._embedder.token_vectors(new, LAYERS) if new else [], strict=True
        ):
            found[text] = replace(one, tokens=one.tokens.astype(np.float16))
        known.update(found)
        for text in wanted:
            known.move_to_end(text)
        while len(known) > self._keep:
            known.popitem(last=False)
        return [found[text] for text in texts]

    def align(self, premise: str, claim: str, rarity: Rarity) -> Alignment | None:
        from bench.checkers.alignment import align

        read, *rest = self.vectors([claim, *split(premise)])
        return align(claim, read, rest, rarity.of(read.pieces)) if rest and read.pieces else None

    async def close(self) -> None:
        self._known.clear()
        await self._embedder.close()


def split(premise: str) -> list[str]:
    """The sentences of a premise, a long one in parts that MiniLM reads as a whole."""
    return [piece for sentence in sentences(premise) for piece in pieces(sentence, _SENTENCE)]


def claim_row(alignment: Alignment, log_odds: Floats) -> Floats:
    """What the claim's model reads: its features, and each once more where the evidence is a single sentence."""
    import numpy as np
    from bench.checkers.alignment import CLAIM_FEATURES

    row = alignment.claim(log_odds)
    return np.concatenate([row, row * row[CLAIM_FEATURES.index("one sentence")]])


@dataclass(frozen=True)
class Rarity:
    """Inverse document frequencies of MiniLM's tokens: values by token; unseen: that of any other."""

    values: dict[str, float]
    unseen: float

    def of(self, tokens: Sequence[str]) -> Floats:
        import numpy as np

        return np.array([self.values.get(token, self.unseen) for token in tokens], dtype=np.float32)


@dataclass(frozen=True)
class Logistic:
    """log-odds = (x - mean) / scale . weights + bias; x of shape (rows, features)."""

    mean: NDArray[np.float32]
    scale: NDArray[np.float32]
    weights: NDArray[np.float32]
    bias: float

    def log_odds(self, rows: Floats) -> Floats:
        import numpy as np

        return ((rows - self.mean) / self.scale @ self.weights + np.float32(self.bias)).astype(
            np.float32
        )


@dataclass(frozen=True)
class TrainedModels:
    """What was trained: the rarity of tokens, the model of words and the model of claims."""

    rarity: Rarity
    words: Logistic
    claims: Logistic


def save(model: TrainedModels, path: Path) -> None:
    import numpy as np

    arrays: dict[str, Any] = {
        "tokens": np.array("\n".join(model.rarity.values)),
        "rarity": np.array([*model.rarity.values.values()], dtype=np.float16),
        "unseen": np.float32(model.rarity.unseen),
    }
    for name, part in (("words", model.words), ("claims", model.claims)):
        for key in ("mean", "scale", "weights", "bias"):
            arrays[f"{name}.{key}"] = np.asarray(getattr(part, key), dtype=np.float32)
    np.savez_compressed(path, **arrays)


@cache
def load(path: Path) -> TrainedModels:
    """The weights of a file. OSError where it cannot be read."""
    import numpy as np

    with np.load(path, allow_pickle=False) as file:
        arrays = {name: file[name] for name in file.files}

    def part(name: str) -> Logistic:
        mean, scale, weights, bias = (
            arrays[f"{name}.{key}"] for key in ("mean", "scale", "weights", "bias")
        )
        return Logistic(mean, scale, weights, float(bias))

    values = dict(
        zip(str(arrays["tokens"]).split("\n"), arrays["rarity"].astype(float).tolist(), strict=True)
    )
    return TrainedModels(Rarity(values, float(arrays["unseen"])), part("words"), part("claims"))


def _probability(log_odds: float) -> float:
    return 1 / (1 + math.exp(-max(log_odds, -700.0)))
