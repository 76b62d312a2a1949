"""Any model of sentence-transformers, `st:NAME` (a hub name or a folder): embedders, and cross-encoders as rerankers.

The library loads the model itself, and downloads a hub name that it does not have. Needs the extra `transformers`.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import math
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, TypeVar

from longmark import errors
from longmark.contrib.local.batch_room import BatchRoom, read_within, room_on
from longmark.home import sha256
from longmark.models.protocols import Capabilities, EmbedReply, RelationReply, RerankReply, Tokens
from longmark.places import expanded

T = TypeVar("T")

_BATCH = 16  # pairs or, doubled, texts on a processor, and first on a GPU
_MOST = 1024  # on a GPU; more does not make it faster, as the library sorts texts by their length


class LazyModel:
    """A model on this machine that loads at the first call, in a thread. One call uses every core."""

    capabilities = Capabilities()
    width: int | None = 1

    def __init__(self, name: str) -> None:
        self.name = name
        self._lock = threading.RLock()
        self._loaded: Any = None
        self._batch_room: BatchRoom | None = None

    def _load(self) -> Any:
        raise NotImplementedError

    def _model(self) -> Any:
        with self._lock:
            if self._loaded is None:
                self._loaded = self._load()
            return self._loaded

    async def close(self) -> None:
        """Releases the model; the next call loads it again."""
        await asyncio.to_thread(self._unload)

    def _unload(self) -> None:
        with self._lock:
            self._loaded = None


def load_by(library: str, model_name: str, remedy: str, load: Callable[[], T]) -> T:
    """What a library loads. RequestRefused, with the reason and the remedy, for whatever it raises."""
    try:
        return load()
    except Exception as error:  # libraries raise errors of several others
        reason = (str(error) or type(error).__name__).splitlines()[0]
        raise errors.RequestRefused(
            f"{library} cannot load {model_name} ({reason[:300]}); give {remedy}"
        ) from error


def folder_identity(folder: Path) -> str:
    """A hash over the names and hashes of a model folder's files."""
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(f"{path.relative_to(folder).as_posix()}\0{sha256(path)}\n".encode())
    return f"st:sha256:{digest.hexdigest()}"


class _SentenceTransformer(LazyModel):
    """identity: a folder's files by their hashes; a hub name by the name, which is all that is known before loading.
    Construction raises `MissingExtra` where the library is not installed."""

    def __init__(self, name: str) -> None:
        super().__init__(f"st:{name}")
        if importlib.util.find_spec("sentence_transformers") is None:
            raise errors.MissingExtra(f"the model {self.name}", "transformers")
        folder = expanded(name)
        self._source = str(folder) if folder.is_dir() else name
        self.identity = folder_identity(folder) if folder.is_dir() else self.name

    def _in_batches(self, first: int, count: int, read: Callable[[int], T]) -> T:
        """What the library gives in batches of a size that the memory holds. first: the size to begin with; count: of
        the texts."""
        with self._lock:
            if self._batch_room is None:
                device = getattr(self._model(), "device", None)
                device_type = str(getattr(device, "type", "cpu"))
                self._batch_room = room_on(device_type, cpu=first, gpu=first, limit=_MOST)
            outputs = read_within(self._batch_room, self.name, read)
            self._batch_room.held(count)
            return outputs


class SentenceTransformerEmbedder(_SentenceTransformer):
    """The embedder `st:NAME`. Vectors are as the model's own pipeline gives them. Texts are cut at the model's own
    limit: `token_count` and `max_tokens` tell where."""

    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        """Vectors of the texts, in their order; tokens counts what the model read, after its cut."""
        return await asyncio.to_thread(self._embed, list(texts)) if texts else EmbedReply(())

    def token_count(self, text: str) -> int:
        """Tokens of a text, markers included, before any cut; above `max_tokens` the text will be cut."""
        return len(self._model().tokenizer.encode(text, truncation=False, verbose=False))

    def max_tokens(self) -> int | None:
        """The model's limit in tokens, markers included; None where it has none."""
        limit = self._model().max_seq_length
        return None if limit is None else int(limit)

    def _load(self) -> Any:
        from sentence_transformers import SentenceTransformer

        remedy = "a folder with the model, or the name of a reachable hub repository"
        return load_by(
            "sentence-transformers", self._source, remedy, lambda: SentenceTransformer(self._source)
        )

    def _embed(self, texts: list[str]) -> EmbedReply:
        rows = self._in_batches(
            2 * _BATCH,
            len(texts),
            lambda size: self._model().encode(
                texts, batch_size=size, convert_to_numpy=True, show_progress_bar=False
            ),
        )
        limit = self.max_tokens()
        counts = [self.token_count(text) for text in texts]
        read = sum(count if limit is None else min(count, limit) for count in counts)
        return EmbedReply(tuple(tuple(map(float, row)) for row in rows), Tokens(prompt=read))


class _CrossEncoder(_SentenceTransformer):
    """A cross-encoder: it reads two texts together and gives raw outputs, without an activation."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.identity = f"cross-encoder:{name if self.identity == self.name else self.identity}"

    def _load(self) -> Any:
        from sentence_transformers import CrossEncoder

        remedy = "a folder with one, or the name of a reachable hub repository"
        model_name = f"the cross-encoder {self._source}"
        return load_by(
            "sentence-transformers", model_name, remedy, lambda: CrossEncoder(self._source)
        )

    def _outputs(self, first: str, seconds: list[str]) -> tuple[Any, Tokens]:
        """The raw outputs for a text with each of others, and what the model read, after its cut."""
        import torch

        with self._lock:
            model = self._model()
            pairs = [(first, second) for second in seconds]
            rows = self._in_batches(
                _BATCH,
                len(pairs),
                lambda size: model.predict(
                    pairs,
                    batch_size=size,
                    activation_fn=torch.nn.Identity(),
                    convert_to_numpy=True,
                    show_progress_bar=False,
                ),
            )
            limit = model.max_seq_length if hasattr(model, "max_seq_length") else model.max_length
            read = model.tokenizer(
                [first] * len(seconds), seconds, truncation=True, max_length=limit
            )
        return rows, Tokens(prompt=sum(map(len, read["input_ids"])))


class CrossEncoderReranker(_CrossEncoder):
    """The reranker `st:NAME`.

    Scores are the model's raw outputs, without the sigmoid that the library applies to a model with one output. A model
    with several outputs is no reranker and is refused. Question and document are cut together at the model's own limit
    (512 tokens for BAAI/bge-reranker-base).
    """

    async def rerank(self, query: str, documents: Sequence[str]) -> RerankReply:
        """One raw score a document, in their order; tokens counts what the model read, after its cut."""
        return (
            await asyncio.to_thread(self._rerank, query, list(documents))
            if documents
            else RerankReply(())
        )

    def _rerank(self, query: str, documents: list[str]) -> RerankReply:
        rows, tokens = self._outputs(query, documents)
        if len(rows.shape) != 1:
            raise errors.RequestRefused(
                f"{self.name} gives {rows.shape[1]} scores for a document; a reranker gives one: choose another model"
            )
        scores = tuple(float(row) for row in rows)
        if not all(map(math.isfinite, scores)):
            raise errors.RequestRefused(f"{self.name} gave a score that is not a number")
        return RerankReply(scores, tokens)


class CrossEncoderChecker(_CrossEncoder):
    """The checker `st:NAME`: a cross-encoder trained on natural language inference.

    Its classes are known by their names in the model's configuration: one contains "entail" without "not", another
    "contradict"; whatever else it has is neutral. Probabilities are the softmax of the raw outputs.
    """

    piece = (
        1200  # bytes of a premise, about 300 tokens: most such models read 512 with the hypothesis
    )

    _class_names: list[str] | None = None

    @property
    def contradicts(self) -> bool:
        """Whether one of the classes is a contradiction. True where they are not known before the model is loaded, and
        where `classify` refuses them."""
        if self._class_names is None:
            self._class_names = _names_of_classes(self._loaded, self._source)
        places = [_nli_class(name) for name in self._class_names or ()]
        return places.count(0) != 1 or 1 in places

    async def classify(self, premise: str, hypotheses: Sequence[str]) -> RelationReply:
        """Probabilities of each hypothesis, in their order. RequestRefused for a model without such classes."""
        if not hypotheses:
            return RelationReply(())
        return await asyncio.to_thread(self._classify, premise, list(hypotheses))

    def _classify(self, premise: str, hypotheses: list[str]) -> RelationReply:
        rows, tokens = self._outputs(premise, hypotheses)
        names = _ordered(_config(self._model()))
        places = [_nli_class(name) for name in names]
        if places.count(0) != 1 or places.count(1) > 1 or len(rows.shape) != 2:
            raise errors.RequestRefused(
                f"{self.name} has the classes {', '.join(names)}; a checker needs entailment and others: choose an NLI "
                "model"
            )
        return RelationReply(
            tuple(_triple([float(number) for number in row], places) for row in rows), tokens
        )


def _config(model: Any) -> Any:
    """The configuration of a cross-encoder, where the library's version keeps it."""
    return getattr(model, "config", None) or model.model.config


def _ordered(config: Any) -> list[str]:
    """The names of the classes of a configuration, by their numbers."""
    names = {int(place): str(name).casefold() for place, name in config.id2label.items()}
    return [names[place] for place in range(len(names))]


def _names_of_classes(loaded: Any, source: str) -> list[str] | None:
    """The names of the classes of a model that is loaded, or whose files are on this machine; None where they cannot be
    read. Nothing is downloaded for them."""
    try:
        if loaded is not None:
            return _ordered(_config(loaded))
        from transformers import AutoConfig

        return _ordered(
            AutoConfig.from_pretrained(source, local_files_only=True, trust_remote_code=False)
        )
    except Exception:  # the library raises errors of several others; loading the model says why
        return None


def _nli_class(name: str) -> int:
    """0 for entailment, 1 for contradiction, 2 for anything else."""
    if "entail" in name and "not" not in name:
        return 0
    return 1 if "contradict" in name else 2


def _triple(outputs: Sequence[float], places: Sequence[int]) -> tuple[float, float, float]:
    """The softmax of raw outputs, added up by class."""
    top = max(outputs)
    weights = [math.exp(output - top) for output in outputs]
    sums = [
        math.fsum(w for w, place in zip(weights, places, strict=True) if place == k)
        for k in range(3)
    ]
    total = math.fsum(weights)
    return sums[0] / total, sums[1] / total, sums[2] / total
