"""Sequence-to-sequence models of `transformers` (BART, T5) as judges of a text given a source: checkpoints by path.

The encoder reads the prompt, and the text is what the decoder should write: a reply has the log-probability of each of
its tokens, the markers that the tokenizer puts around it included (as in BARTScore and UniEval). A prompt may be in
segments, joined by `SEGMENT`; each is encoded as a text of its own, with the markers. Control tokens that a text spells
are read as text. A text beyond the model's window is refused, never cut. Needs the extra `transformers`.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from functools import partial
from typing import Any, TypeVar

from longmark import errors
from longmark.contrib.local.batch_room import BatchRoom, read_within
from longmark.contrib.local.sentence import load_by
from longmark.contrib.local.transformers_lm import (
    Cancelled,
    TransformersLM,
    look_up,
    no_progress_bar,
)
from longmark.models.protocols import (
    SEGMENT,
    Capabilities,
    LikelihoodReply,
    LikelihoodRequest,
    Tokens,
)

T = TypeVar("T")


class Seq2SeqLM(TransformersLM):
    """A folder, or a hub name that the library downloads. identity: as for `hf:`, with another prefix."""

    capabilities = Capabilities(prompt_logprobs=True)

    def __init__(self, source: str) -> None:
        super().__init__(source)
        self.name = f"seq2seq:{source}"
        self.identity = f"seq2seq:{self.identity}"

    def _load(self) -> tuple[Any, Any]:
        import torch
        from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

        def load() -> tuple[Any, Any]:
            with no_progress_bar():
                tokenizer = AutoTokenizer.from_pretrained(self._source, trust_remote_code=False)
                model = AutoModelForSeq2SeqLM.from_pretrained(
                    self._source, dtype=torch.float32, trust_remote_code=False
                )
                return model.eval().to("cuda" if torch.cuda.is_available() else "cpu"), tokenizer

        remedy = "a folder with a sequence-to-sequence model (BART, T5), or the name of a reachable hub repository"
        return load_by("transformers", self.name, remedy, load)

    def _alone(self, read: Callable[[], T]) -> T:
        """What is read of one text, which cannot be halved."""
        return read_within(BatchRoom(1, 1), self.name, lambda _size: read())

    def _likelihoods(
        self, requests: list[LikelihoodRequest], stop: threading.Event
    ) -> list[LikelihoodReply]:
        import torch

        with self._lock, torch.inference_mode():
            model, tokenizer = self._model()
            window = getattr(
                model.config, "max_position_embeddings", None
            )  # T5 has none: its positions are relative
            replies = []
            before = None
            states = None
            for request in requests:
                if stop.is_set():
                    raise Cancelled
                source = [
                    token
                    for part in request.prompt.split(SEGMENT)
                    for token in _marked(tokenizer, part)
                ]
                target = _marked(tokenizer, request.text)
                if window is not None and max(len(source), len(target)) > window:
                    raise errors.TooLong(
                        f"a text has {max(len(source), len(target)):,} tokens, and {self.name} reads at most "
                        f"{window:,}; shorten the texts, or use a checkpoint with a larger window"
                    )
                read = 0
                if source != before:  # requests on one prompt come one after the other
                    states = self._alone(partial(_encoded, model, source))
                    before = source
                    read = len(source)
                logprobs = self._alone(partial(_decoded, model, states, target))
                pieces = tuple(tokenizer.convert_ids_to_tokens(target))
                total = len(source) + len(target)
                replies.append(
                    LikelihoodReply(tuple(logprobs), pieces, (), Tokens(total, len(source) - read))
                )
            return replies


def _encoded(model: Any, source: list[int]) -> Any:
    """What the encoder makes of a text's tokens."""
    import torch

    return model.get_encoder()(torch.tensor([source], device=model.device))


def _decoded(model: Any, states: Any, target: list[int]) -> list[float]:
    """The log-probability of each token of a text that the decoder should write."""
    import torch

    labels = torch.tensor([target], device=model.device)
    logits = model(encoder_outputs=states, labels=labels).logits[0]
    return look_up(logits, target)[0]


def _marked(tokenizer: Any, text: str) -> list[int]:
    """Token ids of a text with the tokenizer's own markers, and none that the text spells."""
    return list(tokenizer.encode(text, split_special_tokens=True))
