"""Vectors of the tokens of a text of any length, by an encoder: `embedded:embedder`, `hf:NAME` or `st:NAME`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, Protocol

from longmark import plugins
from longmark.errors import NoScore
from longmark.text.pieces import pieces

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LongTexts = Literal["pieces", "cut"]

EMBEDDED = "embedded:embedder"
NAMES = re.compile(rf"{EMBEDDED}|(hf|st):.+")


@dataclass(frozen=True, slots=True)
class Vectors:
    """units: unit vectors of a text's tokens (tokens, width), its markers included; content: which of them are no
    markers; pieces: how many pieces it was read in."""

    units: NDArray[np.float32]
    content: NDArray[np.bool_]
    pieces: int


class Encoder(Protocol):
    """count: tokens of a text with its markers; limit: the most that it reads at once; encode: the unit vectors of the
    text's tokens at a layer (negative: from the last one) and which of them are no markers; a longer text is cut."""

    name: str

    def count(self, text: str) -> int: ...

    def limit(self) -> int: ...

    def encode(self, text: str, layer: int) -> tuple[Any, Any]: ...


@lru_cache(maxsize=2)
def encoder(name: str) -> Encoder:
    """The encoder of a name that `NAMES` fits, kept with its model."""
    opened: Encoder = _encoders(name).opened(name)
    return opened


def identity(name: str) -> str:
    """What two machines compare of an encoder: the hash of its files; a hub name's own words."""
    return str(_encoders(name).identity(name))


def _encoders(name: str) -> Any:
    """The module that opens encoders. UserError where no package adds it."""
    return plugins.required("checkpoints", "encoder", f"the encoder {name}")


@lru_cache(maxsize=8)  # the reference of a question's answers is read once
def vectors(name: str, text: str, layer: int, long_texts: LongTexts) -> Vectors:
    """The vectors of a text under an encoder: of its pieces, each as long as the encoder reads, one after the other; or
    of what it reads at once. NoScore (`undefined`) for a text without tokens."""
    reader = encoder(name)  # MissingExtra first
    import numpy as np

    markers = reader.count("")
    parts = [text]
    if long_texts == "pieces" and reader.count(text) > reader.limit():
        parts = pieces(text, reader.limit() - markers, lambda part: reader.count(part) - markers)
    read = [reader.encode(part, layer) for part in parts]
    text_vectors = Vectors(
        np.concatenate([units for units, _ in read]),
        np.concatenate([content for _, content in read]),
        len(read),
    )
    if not text_vectors.content.any():
        raise NoScore("undefined", "A text has no tokens.")
    return text_vectors
