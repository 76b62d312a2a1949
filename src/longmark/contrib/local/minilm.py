"""all-MiniLM-L6-v2 in numpy: sentence embeddings without torch.

The model is BERT with 6 layers, 12 heads and 384 dimensions; a text's vector is the mean of its tokens' last hidden
states, brought to length 1. Texts are cut at 256 tokens, as sentence-transformers does with this model: `token_count`
tells a caller which ones, so that it can embed pieces instead. Cosines agree with sentence-transformers within 1e-4
(tests/goldens/minilm.json). Needs the extra `embedded`.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark import errors
from longmark.contrib.local import catalogue
from longmark.contrib.local.sentence import LazyModel
from longmark.home import sha256
from longmark.models.protocols import EmbedReply, Tokens

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Array = NDArray[np.float32]
    Weights = dict[str, Array]

MAX_TOKENS = 256  # with the two markers; `max_seq_length` in the model's sentence_bert_config.json
# The model's config.json:
_LAYERS = 6
_HEADS = 12
_WIDTH = 384
_EPSILON = 1e-12
_QKV = ("query", "key", "value")
_BATCH_TEXTS = 64
_BATCH_TOKENS = 4096  # padded tokens in a batch: bounds the memory of the attention scores


@dataclass(frozen=True, slots=True)
class TokenVectors:
    """A text as the model sees it; the two markers at its ends only where they were asked for.

    pieces: the tokens as the model spells them (`##` continues a word); spans: where each stands in the text (first
    character, end); text: the text's unit vector (width); tokens: unit vectors of shape (layers, tokens, width).
    """

    pieces: tuple[str, ...]
    spans: tuple[tuple[int, int], ...]
    text: Array
    tokens: Array


class MiniLM(LazyModel):
    """The embedder `embedded:embedder`. Vectors have 384 values and length 1.

    Construction raises `ModelNotInstalled` or `MissingExtra`.
    """

    def __init__(self) -> None:
        super().__init__("embedded:embedder")
        self._path = catalogue.model_path("embedder")
        self.identity = f"safetensors:sha256:{sha256(self._path)}"
        for name in ("numpy", "tokenizers"):
            errors.library(name, "the embedded embedder", "embedded")

    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        """Vectors of the texts, in their order; tokens counts what the model read, after the cut."""
        return await asyncio.to_thread(self._embed, list(texts))

    def token_vectors(
        self, texts: Sequence[str], layers: Sequence[int], *, markers: bool = False
    ) -> list[TokenVectors]:
        """The tokens of the texts with their vectors at some layers (0: the input of the first layer; 6: the last),
        in the order of the texts. A text is cut as for `embed`. Blocks until it is done."""
        import numpy as np

        weights, tokenizer = self._model()
        read = tokenizer.encode_batch(list(texts))
        encoded = [_cut(item.ids) for item in read]
        vectors_by_text: dict[int, TokenVectors] = {}
        for batch in _batches(encoded):
            units, states = _forward(weights, [encoded[index] for index in batch], layers)
            for row, index in enumerate(batch):
                content = (
                    slice(0, len(encoded[index])) if markers else slice(1, len(encoded[index]) - 1)
                )
                vectors = np.stack([states[layer][row, content] for layer in layers])
                vectors /= np.linalg.norm(vectors, axis=2, keepdims=True)
                pieces = tuple(read[index].tokens[content])
                spans = tuple(read[index].offsets[content])
                vectors_by_text[index] = TokenVectors(pieces, spans, units[row], vectors)
        return [vectors_by_text[index] for index in range(len(encoded))]

    def token_count(self, text: str) -> int:
        """Tokens of a text, the two markers included, before any cut; above `MAX_TOKENS` the text will be cut."""
        _, tokenizer = self._model()
        return len(tokenizer.encode(text).ids)

    def _load(self) -> tuple[Weights, Any]:
        from tokenizers import Tokenizer

        tokenizer = Tokenizer.from_file(str(self._path.with_name("tokenizer.json")))
        tokenizer.no_truncation()
        tokenizer.no_padding()
        return _read_weights(self._path), tokenizer

    def _embed(self, texts: list[str]) -> EmbedReply:
        weights, tokenizer = self._model()
        encoded = [_cut(item.ids) for item in tokenizer.encode_batch(texts)]
        vectors: list[tuple[float, ...]] = [()] * len(texts)
        for batch in _batches(encoded):
            rows, _ = _forward(weights, [encoded[index] for index in batch])
            for index, row in zip(batch, rows.tolist(), strict=True):
                vectors[index] = tuple(row)
        return EmbedReply(tuple(vectors), Tokens(prompt=sum(map(len, encoded))))


def _cut(ids: list[int]) -> list[int]:
    """The ids within the limit; the closing marker stays."""
    return ids if len(ids) <= MAX_TOKENS else [*ids[: MAX_TOKENS - 1], ids[-1]]


def _batches(encoded: Sequence[Sequence[int]]) -> Iterator[list[int]]:
    """Indexes of texts of like length, so that little is padded."""
    batch: list[int] = []
    for index in sorted(range(len(encoded)), key=lambda index: len(encoded[index])):
        padded = (len(batch) + 1) * len(encoded[index])
        if batch and (len(batch) == _BATCH_TEXTS or padded > _BATCH_TOKENS):
            yield batch
            batch = []
        batch.append(index)
    if batch:
        yield batch


def _read_weights(path: Path) -> Weights:
    """The tensors of a safetensors file (8 bytes of header length, a JSON header, the raw values) by name; the query,
    key and value of a layer as one, `attention.self.qkv`."""
    import numpy as np

    content = path.read_bytes()
    start = 8 + int.from_bytes(content[:8], "little")
    tensors: Weights = {}
    for name, entry in json.loads(content[8:start]).items():
        if entry.get("dtype") == "F32":
            begin, end = entry["data_offsets"]
            values = np.frombuffer(content[start + begin : start + end], dtype="<f4")
            tensors[name] = values.reshape(entry["shape"])
    for layer in range(_LAYERS):
        at = f"encoder.layer.{layer}.attention.self"
        for kind in ("weight", "bias"):
            tensors[f"{at}.qkv.{kind}"] = np.concatenate(
                [tensors.pop(f"{at}.{n}.{kind}") for n in _QKV]
            )
    return tensors


def _forward(
    weights: Weights, encoded: Sequence[Sequence[int]], keep: Sequence[int] = ()
) -> tuple[Array, dict[int, Array]]:
    """Unit vectors (texts, width) of token ids, and the hidden states (texts, tokens, width) of the layers to keep."""
    import numpy as np

    def linear(hidden: Array, name: str) -> Array:
        """One product for all texts: numpy would else multiply text by text."""
        matrix = weights[f"{name}.weight"].T
        flat = hidden.reshape(-1, hidden.shape[-1]) @ matrix
        flat += weights[f"{name}.bias"]
        result: Array = flat.reshape(*hidden.shape[:-1], matrix.shape[1])
        return result

    def normalise(hidden: Array, name: str) -> Array:
        centred = hidden - hidden.mean(axis=-1, keepdims=True)
        deviation = np.sqrt((centred * centred).mean(axis=-1, keepdims=True) + np.float32(_EPSILON))
        normal: Array = centred / deviation * weights[f"{name}.weight"] + weights[f"{name}.bias"]
        return normal

    texts = len(encoded)
    longest = max(map(len, encoded))
    ids = np.zeros((texts, longest), dtype=np.int64)
    mask = np.zeros((texts, longest), dtype=np.float32)
    for row, tokens in enumerate(encoded):
        ids[row, : len(tokens)] = tokens
        mask[row, : len(tokens)] = 1
    positions = (
        weights["embeddings.position_embeddings.weight"]
        + weights["embeddings.token_type_embeddings.weight"][0]
    )
    hidden = weights["embeddings.word_embeddings.weight"][ids] + positions[:longest]
    hidden = normalise(hidden, "embeddings.LayerNorm")
    states = {0: hidden} if 0 in keep else {}
    ignore = ((1 - mask) * np.float32(-1e9))[:, None, None, :]
    for layer in range(_LAYERS):
        at = f"encoder.layer.{layer}"
        joined = linear(hidden, f"{at}.attention.self.qkv").reshape(
            texts, longest, 3, _HEADS, _WIDTH // _HEADS
        )
        query, key, value = joined.transpose(
            2, 0, 3, 1, 4
        )  # each (texts, heads, length, width of a head)
        scores = query @ key.swapaxes(-1, -2) / np.float32(np.sqrt(_WIDTH // _HEADS)) + ignore
        scores = np.exp(scores - scores.max(axis=-1, keepdims=True))
        scores /= scores.sum(axis=-1, keepdims=True)
        mixed = (scores @ value).transpose(0, 2, 1, 3).reshape(texts, longest, _WIDTH)
        attended = linear(mixed, f"{at}.attention.output.dense")
        hidden = normalise(hidden + attended, f"{at}.attention.output.LayerNorm")
        inner = _gelu(linear(hidden, f"{at}.intermediate.dense"))
        hidden = normalise(hidden + linear(inner, f"{at}.output.dense"), f"{at}.output.LayerNorm")
        if layer + 1 in keep:
            states[layer + 1] = hidden
    mean = (hidden * mask[:, :, None]).sum(axis=1) / mask.sum(axis=1, keepdims=True)
    unit: Array = mean / np.linalg.norm(mean, axis=1, keepdims=True)
    return unit, states


def _gelu(x: Array) -> Array:
    """x * Phi(x), with the error function by formula 7.1.26 of Abramowitz and Stegun (off by at most 1.5e-7)."""
    import numpy as np

    z = np.abs(x) * np.float32(2**-0.5)
    t = 1 / (1 + np.float32(0.3275911) * z)
    series = np.float32(1.061405429) * t
    for factor in (-1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = (series + np.float32(factor)) * t
    tail = series * np.exp(-z * z) / 2  # 1 - Phi(|x|)
    active: Array = x * np.where(x < 0, tail, 1 - tail)
    return active
