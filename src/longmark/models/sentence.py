"""Any sentence-transformers model as an embedder: `st:NAME`, where NAME is a hub name or a folder.

The library loads the model itself (and downloads it, where NAME is a hub name that is not in its cache yet). Texts are
cut at the model's own limit: `token_count` and `max_tokens` tell where. Needs the extra `transformers`.
"""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from longmark import errors
from longmark.models import filehash
from longmark.models.protocols import Capabilities, EmbedReply, Tokens

_BATCH = 32


class SentenceTransformerEmbedder:
    """The embedder `st:NAME`. It loads at the first call; vectors are as the model's own pipeline gives them.

    identity: a folder's files by their hashes; a hub name by the name, which is all that is known before loading.
    Construction raises `MissingExtra` where the library is not installed.
    """

    def __init__(self, name: str) -> None:
        if importlib.util.find_spec("sentence_transformers") is None:
            raise errors.MissingExtra(f"the embedder st:{name}", "transformers")
        self.name = f"st:{name}"
        self.capabilities = Capabilities(json_schema=False, logprobs=0, prompt_logprobs=False)
        self.width: int | None = 1  # one call uses every core
        folder = Path(name).expanduser()
        self._source = str(folder) if folder.is_dir() else name
        self.identity = folder_identity(folder) if folder.is_dir() else self.name
        self._lock = threading.Lock()
        self._model: Any = None

    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        """Vectors of the texts, in their order; tokens counts what the model read, after its cut."""
        return await asyncio.to_thread(self._embed, list(texts))

    def token_count(self, text: str) -> int:
        """Tokens of a text, markers included, before any cut; above `max_tokens` the text will be cut."""
        return len(self._load().tokenizer.encode(text, truncation=False, verbose=False))

    def max_tokens(self) -> int | None:
        """The model's limit in tokens, markers included; None where it has none."""
        limit = self._load().max_seq_length
        return None if limit is None else int(limit)

    async def close(self) -> None:
        """Let go of the model; the next call loads it again."""
        with self._lock:
            self._model = None

    def _load(self) -> Any:
        with self._lock:
            if self._model is None:
                from sentence_transformers import SentenceTransformer

                try:
                    self._model = SentenceTransformer(self._source)
                except Exception as error:  # the library raises errors of several others: the model cannot be had
                    reason = (str(error) or type(error).__name__).splitlines()[0]
                    raise errors.RequestRefused(
                        f"sentence-transformers cannot load {self._source} ({reason[:300]}); give a folder that "
                        "holds the model, or a hub name that can be reached"
                    ) from error
            return self._model

    def _embed(self, texts: list[str]) -> EmbedReply:
        if not texts:
            return EmbedReply(())
        model = self._load()
        rows = model.encode(texts, batch_size=_BATCH, convert_to_numpy=True, show_progress_bar=False)
        limit = self.max_tokens()
        counts = [self.token_count(text) for text in texts]
        read = sum(count if limit is None else min(count, limit) for count in counts)
        return EmbedReply(tuple(tuple(map(float, row)) for row in rows), Tokens(prompt=read))


def folder_identity(folder: Path) -> str:
    """A hash over the names and hashes of a model folder's files."""
    found = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            found.update(f"{path.relative_to(folder).as_posix()}\0{filehash.sha256(path)}\n".encode())
    return f"st:sha256:{found.hexdigest()}"
