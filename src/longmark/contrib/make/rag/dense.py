"""Passages by the cosine of their vectors with the question's: exact search in numpy, or approximate by faiss.

vectors.npy   (n, d) float32, each row of length 1; it stays on disk and is read where it is needed
faiss.index   if asked for: inverted lists of 8-bit vectors, which propose candidates; their cosines are then
              computed exactly, so that only who is proposed is approximate
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark.concurrency import concurrently
from longmark.contrib.make.rag.bm25 import best
from longmark.errors import UserError, library
from longmark.models.handles import Models

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Matrix = NDArray[np.float32]

Found = list[tuple[int, float]]  # (passage, cosine), best first
VECTORS = "vectors.npy"
APPROXIMATE = "faiss.index"

_TEXTS_PER_CALL = 256
_CALLS_AT_ONCE = 16
_ROWS = 1 << 15  # of vectors multiplied at a time
_LEAST = 1e-18
_GREATEST = 1e18  # of a vector's length: squares stay within 32 bits
_SPARE = 8  # candidates beyond k whose cosines may be equal but for rounding
_DECIMALS = 6  # float32 products of one pair agree so far, in whatever order they are summed
_CANDIDATES = 20  # of the approximate search, for each passage that is wanted
_PROBED = 1 / 16  # share of the inverted lists that are read for a question
_TRAINING = 40  # vectors for each list that its place is learnt from


async def embed_all(
    models: Models,
    texts: Iterable[str],
    count: int,
    path: Path,
    on_done: Callable[[int], None] = lambda _n: None,
) -> int:
    """Writes the vectors of `count` texts into an .npy file; the number of dimensions. on_done: how many are there.

    Every vector is in the call cache before it is in the file, so that the same command continues after a stop.
    """
    import numpy as np

    rows: Any = None
    n_done = 0
    left = iter(texts)
    while window := list(islice(left, _TEXTS_PER_CALL * _CALLS_AT_ONCE)):
        calls = [
            window[start : start + _TEXTS_PER_CALL]
            for start in range(0, len(window), _TEXTS_PER_CALL)
        ]
        embeddings = [
            vector for vectors in await concurrently(models.embed, calls) for vector in vectors
        ]
        block = unit_rows(embeddings)
        if rows is None:
            rows = np.lib.format.open_memmap(
                path, mode="w+", dtype=np.float32, shape=(count, block.shape[1])
            )
        if block.shape[1] != rows.shape[1]:
            raise UserError(
                f"the embedder gave vectors of {block.shape[1]} and of {rows.shape[1]} numbers; use another --embedder"
            )
        rows[n_done : n_done + len(block)] = block
        n_done += len(block)
        on_done(n_done)
    rows.flush()
    return int(rows.shape[1])


def unit_rows(vectors: Sequence[Sequence[float]]) -> Matrix:
    """Vectors as rows of length 1. UserError if they are no vectors, or one has no direction that could be compared: a
    length of 0, or one whose square is beyond 32 bits."""
    import numpy as np

    if len({len(vector) for vector in vectors}) != 1:
        raise UserError("the embedder gave vectors of different lengths; use another --embedder")
    rows = np.asarray(vectors, dtype=np.float32)
    if not np.isfinite(rows).all():
        raise UserError(
            "the embedder gave numbers that are NaN or infinite; use another --embedder"
        )
    lengths = np.linalg.norm(rows.astype(np.float64), axis=1, keepdims=True)
    if (wrong := np.flatnonzero((lengths[:, 0] < _LEAST) | (lengths[:, 0] > _GREATEST))).size:
        first = int(wrong[0])
        raise UserError(
            f"the embedder gave {len(wrong):,} of {len(rows):,} texts a vector that cannot be compared (the first, of "
            f"text {first + 1:,}, has length {lengths[first, 0]:.3g}); use another embedder, or leave such texts out"
        )
    return np.asarray(rows / lengths, dtype=np.float32)


def load_vectors(path: Path) -> Matrix:
    """The vectors of a file, mapped into memory."""
    import numpy as np

    return np.asarray(np.load(path, mmap_mode="r", allow_pickle=False))


def search(vectors: Matrix, questions: Matrix, k: int) -> list[Found]:
    """The best k passages of each question (m, d), exactly; memory: a block of the vectors times m."""
    candidates: list[Found] = [[] for _ in questions]
    for start in range(0, len(vectors), _ROWS):
        cosines = vectors[start : start + _ROWS] @ questions.T
        for number in range(len(questions)):
            candidates[number] += [
                (start + i, cosine) for i, cosine in best(cosines[:, number], k + _SPARE)
            ]
    return [_ranked(found_passages, k) for found_passages in candidates]


def _ranked(found_passages: Found, k: int) -> Found:
    """The best k, the first of equals first; cosines are rounded, or the order would depend on the last bit."""
    rounded = [(i, round(max(-1.0, min(1.0, cosine)), _DECIMALS)) for i, cosine in found_passages]
    return sorted(rounded, key=lambda pair: (-pair[1], pair[0]))[:k]


# Approximate ---------------------------------------------------------------------------------------------------------
def lists_for(count: int) -> int:
    """How many inverted lists so many vectors get: 4 sqrt(n), fewer if there would be too few to learn from."""
    return max(1, min(int(4 * math.sqrt(count)), count // 39))


def build_approximate(vectors: Matrix, path: Path) -> None:
    """Writes a faiss index of the vectors."""
    import numpy as np

    faiss = library("faiss", "an approximate index", "faiss")
    count, dimensions = vectors.shape
    lists = lists_for(count)
    index = faiss.index_factory(dimensions, f"IVF{lists},SQ8", faiss.METRIC_INNER_PRODUCT)
    chosen = np.sort(np.random.default_rng(0).permutation(count)[: max(lists * _TRAINING, 1024)])
    index.train(np.ascontiguousarray(vectors[chosen]))
    for start in range(0, count, _ROWS):
        index.add(np.ascontiguousarray(vectors[start : start + _ROWS]))
    faiss.write_index(index, str(path))


class Approximate:
    """A faiss index that was loaded, beside the exact vectors."""

    def __init__(self, path: Path, vectors: Matrix) -> None:
        self._index = library("faiss", "an approximate index", "faiss").read_index(str(path))
        self._index.nprobe = max(8, math.ceil(self._index.nlist * _PROBED))
        self._vectors = vectors

    def search(self, questions: Matrix, k: int) -> list[Found]:
        """As `search`, among the passages that the index proposes."""
        import numpy as np

        n_candidates = min(_CANDIDATES * k, len(self._vectors))
        _, proposed = self._index.search(np.ascontiguousarray(questions), n_candidates)
        return [
            self._exactly(question, rows[rows >= 0], k)
            for question, rows in zip(questions, proposed, strict=True)
        ]

    def _exactly(self, question: Matrix, rows: Any, k: int) -> Found:
        cosines = self._vectors[rows] @ question
        return _ranked(
            [(int(i), float(cosine)) for i, cosine in zip(rows, cosines, strict=True)], k
        )
