"""Any cross-encoder of sentence-transformers as a reranker: `st:NAME`, where NAME is a hub name or a folder.

Scores are the model's raw outputs, without the sigmoid that the library puts on them where a model has one output. A
model with several outputs is no reranker and is refused. Question and document are cut together at the model's own
limit (512 tokens for BAAI/bge-reranker-base): what stands behind it moves no score. Needs the extra `transformers`; the
library downloads a hub name that it does not have.
"""

from __future__ import annotations

import asyncio
import importlib.util
import math
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from longmark import errors
from longmark.models.protocols import Capabilities, RerankReply, Tokens
from longmark.models.sentence import folder_identity

_BATCH = 16


class CrossEncoderReranker:
    """The reranker `st:NAME`. It loads at the first call, in a thread.

    identity: a folder's files by their hashes; a hub name by the name. Construction raises `MissingExtra` where the
    library is not installed.
    """

    def __init__(self, name: str) -> None:
        if importlib.util.find_spec("sentence_transformers") is None:
            raise errors.MissingExtra(f"the reranker st:{name}", "transformers")
        self.name = f"st:{name}"
        self.capabilities = Capabilities(json_schema=False, logprobs=0, prompt_logprobs=False)
        self.width: int | None = 1  # one call uses every core
        folder = Path(name).expanduser()
        self._source = str(folder) if folder.is_dir() else name
        self.identity = f"cross-encoder:{folder_identity(folder) if folder.is_dir() else name}"
        self._lock = threading.Lock()
        self._model: Any = None

    async def rerank(self, query: str, documents: Sequence[str]) -> RerankReply:
        """One raw score a document, in their order; tokens counts what the model read, after its cut."""
        if not documents:
            return RerankReply(())
        return await asyncio.to_thread(self._rerank, query, list(documents))

    async def close(self) -> None:
        """Let go of the model; the next call loads it again."""
        await asyncio.to_thread(self._unload)

    def _unload(self) -> None:
        with self._lock:
            self._model = None

    def _load(self) -> Any:
        if self._model is None:
            from sentence_transformers import CrossEncoder

            try:
                self._model = CrossEncoder(self._source)
            except Exception as error:  # the library raises errors of several others: the model cannot be had
                reason = (str(error) or type(error).__name__).splitlines()[0]
                raise errors.RequestRefused(
                    f"sentence-transformers cannot load the cross-encoder {self._source} ({reason[:300]}); give a "
                    "folder that holds one, or a hub name that can be reached"
                ) from error
        return self._model

    def _rerank(self, query: str, documents: list[str]) -> RerankReply:
        import torch

        with self._lock:
            model = self._load()
            pairs = [(query, document) for document in documents]
            rows = model.predict(
                pairs,
                batch_size=_BATCH,
                activation_fn=torch.nn.Identity(),
                convert_to_numpy=True,
                show_progress_bar=False,
            )
            limit = model.max_seq_length if hasattr(model, "max_seq_length") else model.max_length
            read = model.tokenizer([query] * len(documents), documents, truncation=True, max_length=limit)
        if len(rows.shape) != 1:
            raise errors.RequestRefused(
                f"{self.name} gives {rows.shape[1]} scores for a document; a reranker gives one: take another model"
            )
        scores = tuple(float(row) for row in rows)
        if not all(map(math.isfinite, scores)):
            raise errors.RequestRefused(f"{self.name} gave a score that is no number")
        return RerankReply(scores, Tokens(prompt=sum(map(len, read["input_ids"]))))
