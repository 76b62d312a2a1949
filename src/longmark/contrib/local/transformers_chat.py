"""Causal language models of `transformers` that answer: `hf:NAME` as judge, generator or checker, and as before `lm`.

Messages go through the tokenizer's chat template (`transformers_lm.chat_ids`). With temperature 0 the likeliest token
is taken; else temperature and top-p alone decide, drawn with the sample number as the seed: what a model's own
generation settings say of sampling and penalties does not count. Log-probabilities are those before the temperature. A
JSON schema is not enforced. A prompt that leaves no room in the model's window is refused (`TooLong`), never cut.
"""

from __future__ import annotations

import asyncio
import threading
from typing import Any

from longmark import errors
from longmark.contrib.local.batch_room import BatchRoom, read_within
from longmark.contrib.local.transformers_lm import Cancelled, TransformersLM, chat_ids
from longmark.models.protocols import Capabilities, ChatReply, ChatRequest, TokenLogprobs, Tokens

TOP_LOGPROBS = 100


class TransformersChat(TransformersLM):
    """The model `hf:NAME` or `hf:NAME+FOLDER` as a `Chat` and a `LanguageModel`."""

    capabilities = Capabilities(logprobs=TOP_LOGPROBS, prompt_logprobs=True, entropy=True)

    async def chat(self, request: ChatRequest) -> ChatReply:
        """One reply."""
        stop = threading.Event()
        try:
            one_text = BatchRoom(1, 1)  # a prompt and its reply cannot be halved
            return await asyncio.to_thread(
                read_within, one_text, self.name, lambda _size: self._chat(request, stop)
            )
        finally:
            stop.set()  # where the call was cancelled, the thread ends after its present token

    def _chat(self, request: ChatRequest, stop: threading.Event) -> ChatReply:
        import torch

        with self._lock, torch.inference_mode(), torch.random.fork_rng():
            model, tokenizer = self._model()
            prompt = chat_ids(tokenizer, request.messages, self.name)
            window = getattr(model.config.get_text_config(), "max_position_embeddings", None)
            room = (
                request.max_tokens
                if window is None
                else min(request.max_tokens, window - len(prompt))
            )
            if room < 1:
                raise errors.TooLong(
                    f"the prompt has {len(prompt):,} tokens, and {self.name} reads at most {window:,}, the reply with "
                    "them; shorten the texts, or use a model with a larger context window"
                )
            torch.manual_seed(request.sample)
            ids = torch.tensor([prompt], device=model.device)
            generated = model.generate(
                input_ids=ids,
                attention_mask=torch.ones_like(ids),
                generation_config=_settings(model, tokenizer, request, room),
                stopping_criteria=[
                    lambda ids, _scores, **_: torch.full(
                        ids.shape[:1], stop.is_set(), device=ids.device
                    )
                ],
            )
            if stop.is_set():
                raise Cancelled
            tokens = generated.sequences[0, len(prompt) :].tolist()
            ends = set(_ends(model, tokenizer))
            logprobs = tuple(
                _logprobs(tokenizer, logits[0], token, request.logprobs)
                for logits, token in zip(generated.logits or (), tokens, strict=False)
                if token not in ends
            )
        text = tokenizer.decode(
            [token for token in tokens if token not in ends], skip_special_tokens=True
        )
        finish = "stop" if tokens and tokens[-1] in ends else "length"
        return ChatReply(
            text, finish, logprobs=logprobs, tokens=Tokens(len(prompt), 0, len(tokens))
        )


def _settings(model: Any, tokenizer: Any, request: ChatRequest, room: int) -> Any:
    """The settings of a generation. Those of the model count for its control tokens only."""
    from transformers import GenerationConfig

    ends = _ends(model, tokenizer)
    drawn = {
        "do_sample": True,
        "temperature": request.temperature,
        "top_p": request.top_p,
        "top_k": 0,
    }
    return GenerationConfig(
        max_new_tokens=room,
        eos_token_id=ends,
        pad_token_id=tokenizer.pad_token_id
        if tokenizer.pad_token_id is not None
        else (ends or [0])[0],
        return_dict_in_generate=True,
        output_logits=request.logprobs > 0,
        **(drawn if request.temperature > 0 else {"do_sample": False}),
    )


def _ends(model: Any, tokenizer: Any) -> list[int]:
    configured = model.generation_config.eos_token_id
    listed = configured if isinstance(configured, list) else [configured]
    return [
        token for token in dict.fromkeys([*listed, tokenizer.eos_token_id]) if token is not None
    ]


def _logprobs(tokenizer: Any, logits: Any, token: int, top: int) -> TokenLogprobs:
    import torch

    logs = torch.log_softmax(logits.float(), dim=-1)
    top_tokens = logs.topk(min(top, TOP_LOGPROBS, len(logs)))
    ranked = zip(top_tokens.indices.tolist(), top_tokens.values.tolist(), strict=True)
    return TokenLogprobs(
        tokenizer.decode([token]),
        min(0.0, logs[token].item()),
        tuple((tokenizer.decode([i]), v) for i, v in ranked),
    )
