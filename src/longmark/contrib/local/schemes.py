"""The ways to name a model on this machine. The runtimes are imported where a model is opened."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from longmark.errors import UserError
from longmark.models import CHATS, ROLES, Scheme
from longmark.places import expanded

EMBEDDED_FOR = {  # role -> the bundled model that `embedded` alone means
    "judge": "judge",
    "generator": "judge",
    "lm": "small",
    "embedder": "embedder",
    "checker": "judge",
}


def _bundled() -> Iterable[str]:
    from longmark.contrib.local import catalogue

    return catalogue.MODELS


def _open_embedded(role: str, name: str) -> Any:
    from longmark.contrib.local import catalogue

    name = name or EMBEDDED_FOR[role]
    entry = catalogue.entry(name)
    if (entry.kind == "embedder") != (role == "embedder"):
        raise UserError(f"--{role} embedded:{name}: {entry.title} cannot be a {role}")
    if role == "embedder":
        from longmark.contrib.local.minilm import MiniLM

        return MiniLM()
    from longmark.contrib.local.llama import LlamaCpp

    return LlamaCpp.embedded(name)


def _open_gguf(role: str, name: str) -> Any:
    from longmark.contrib.local.llama import LlamaCpp

    if not (path := expanded(name)).is_file():
        raise UserError(f"--{role} gguf:{name}: the file does not exist")
    return LlamaCpp.gguf(path)


def _open_sentence_transformers(role: str, name: str) -> Any:
    from longmark.contrib.local import sentence

    classes = {
        "checker": sentence.CrossEncoderChecker,
        "reranker": sentence.CrossEncoderReranker,
        "embedder": sentence.SentenceTransformerEmbedder,
    }
    return classes[role](name)


def _open_transformers(role: str, name: str) -> Any:
    if role == "claims":
        from longmark.contrib.local.transformers_claims import TransformersClaims

        return TransformersClaims(name)
    from longmark.contrib.local.transformers_chat import TransformersChat

    return TransformersChat(name)


embedded = Scheme(
    "embedded[:NAME]",
    ROLES,
    "embedded",
    "on this machine: the bundled model for the role, or NAME",
    _open_embedded,
    shared=True,
    names=_bundled,
)
gguf = Scheme(
    "gguf:PATH",
    ("judge", "generator", "reranker", "lm", "checker"),
    "embedded",
    "on this machine: a GGUF file",
    _open_gguf,
    shared=True,
)
st = Scheme(
    "st:NAME",
    ("embedder", "reranker", "checker"),
    "transformers",
    "on this machine: a sentence-transformers model",
    _open_sentence_transformers,
)
hf = Scheme(
    "hf:NAME",
    (*CHATS, "lm"),
    "transformers",
    "on this machine: a transformers model (folder, GGUF file or hub name); +FOLDER adds a LoRA adapter",
    _open_transformers,
    shared=True,
    by_tokens=True,
)
