"""Encoders that give a vector for each token of a text, for metrics such as BERTScore: `embedded:embedder`, `hf:NAME` or
`st:NAME`. MissingExtra, ModelNotInstalled, and UserError for a layer that an encoder does not have."""

from __future__ import annotations

import importlib.util
from typing import Any

from longmark.contrib.local.batch_room import BatchRoom, read_within
from longmark.contrib.local.minilm import MAX_TOKENS, MiniLM
from longmark.contrib.local.sentence import LazyModel, folder_identity, load_by
from longmark.errors import MissingExtra, UserError
from longmark.places import expanded

EMBEDDED = "embedded:embedder"
_NO_LIMIT = 100_000  # tokens; a tokenizer without a limit gives a larger number


def opened(name: str) -> EmbeddedEncoder | TransformerEncoder:
    """The encoder of a name, not loaded yet."""
    if name == EMBEDDED:
        return EmbeddedEncoder()
    return TransformerEncoder(name.partition(":")[2], name)


def identity(name: str) -> str:
    """What two machines compare of an encoder: the hash of its files; a hub name's own words."""
    if name == EMBEDDED:
        return MiniLM().identity
    folder = expanded(name.partition(":")[2])
    return folder_identity(folder) if folder.is_dir() else name


class EmbeddedEncoder:
    """all-MiniLM-L6-v2. ModelNotInstalled or MissingExtra where it is not there."""

    name = EMBEDDED

    def __init__(self) -> None:
        self._model = MiniLM()
        self._most = MAX_TOKENS

    def count(self, text: str) -> int:
        return self._model.token_count(text)

    def limit(self) -> int:
        return self._most

    def encode(self, text: str, layer: int) -> tuple[Any, Any]:
        import numpy as np

        (token_vectors,) = self._model.token_vectors(
            [text], [_layer(layer, 6, self.name)], markers=True
        )
        content = np.ones(len(token_vectors.pieces), dtype=bool)
        content[[0, -1]] = False
        return token_vectors.tokens[0], content


class TransformerEncoder(LazyModel):
    """An encoder of transformers, a folder or a hub name: in float32, on a GPU where there is one."""

    def __init__(self, source: str, name: str) -> None:
        if (
            importlib.util.find_spec("transformers") is None
            or importlib.util.find_spec("torch") is None
        ):
            raise MissingExtra(f"the encoder {name}", "transformers")
        super().__init__(name)
        self._source = source

    def _load(self) -> Any:
        import torch
        from transformers import AutoModel, AutoTokenizer

        def load() -> Any:
            model = AutoModel.from_pretrained(
                self._source, dtype=torch.float32, trust_remote_code=False
            )
            model = model.eval().to("cuda" if torch.cuda.is_available() else "cpu")
            return model, AutoTokenizer.from_pretrained(self._source, trust_remote_code=False)

        return load_by(
            "transformers",
            self.name,
            "a folder with an encoder, or the name of a reachable hub",
            load,
        )

    def _ids(self, text: str) -> list[int]:
        _, tokenizer = self._model()
        if type(tokenizer).__name__.startswith(
            ("Roberta", "GPT2")
        ):  # bert-score: the first word is one like others
            text = f" {text}"
        return list(tokenizer.encode(text, split_special_tokens=True))

    def count(self, text: str) -> int:
        return len(self._ids(text))

    def limit(self) -> int:
        model, tokenizer = self._model()
        longest = tokenizer.model_max_length
        positions = getattr(model.config, "max_position_embeddings", None) or _NO_LIMIT
        return (
            int(longest) if longest < _NO_LIMIT else max(8, positions - 2)
        )  # RoBERTa's positions begin at 2

    def encode(self, text: str, layer: int) -> tuple[Any, Any]:
        import numpy as np
        import torch

        with self._lock, torch.inference_mode():
            model, tokenizer = self._model()
            ids = self._ids(text)
            if len(ids) > self.limit():
                ids = [*ids[: self.limit() - 1], ids[-1]]
            tokens = torch.tensor([ids], device=model.device)
            states = read_within(
                BatchRoom(1, 1),
                self.name,
                lambda _size: model(input_ids=tokens, output_hidden_states=True).hidden_states,
            )
            layer_states = states[_layer(layer, len(states) - 1, self.name)]
            vectors = layer_states[0].float().cpu().numpy()
        units = vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
        markers = {tokenizer.cls_token_id, tokenizer.sep_token_id}
        return units, np.array([token_id not in markers for token_id in ids])


def _layer(layer: int, layers: int, name: str) -> int:
    """A layer's number from 0 to the last one. UserError for one that the encoder does not have."""
    place = layers + 1 + layer if layer < 0 else layer
    if not 0 <= place <= layers:
        raise UserError(
            f"classic.bertscore.layer={layer}: {name} has the layers 0 to {layers}, or -1 for the last"
        )
    return place
