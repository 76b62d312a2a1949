"""Causal language models of `transformers` as proxies for likelihoods: `hf:` and a folder, a hub name or a GGUF file,
with `+FOLDER` behind it for a LoRA adapter.

In float32, all positions in batches, with the entropy of the whole vocabulary at each of them. Requests that come
together and begin alike (the claim sets of `score.context_utilization`) are read by a plan (`models.leave_one_out`):
what they share once, and what follows packed into one row of tokens, in which a mask lets each token see the shared
beginning and its own sequence only. Models whose state is no plain key-value cache (sliding windows, state spaces) or
that take no positions are read sequence by sequence: the same values, more tokens.

Control tokens that a text spells are read as text; only the chat template's own count. A text beyond the model's window
is refused, never cut. Needs the extra `transformers`; the library downloads a hub name that it does not have.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import inspect
import secrets
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from longmark import errors
from longmark.contrib.local.adapter import applied, opened
from longmark.contrib.local.batch_room import read_within, room_on
from longmark.contrib.local.sentence import LazyModel, folder_identity, load_by
from longmark.home import sha256
from longmark.models.leave_one_out import Branch, ReadingOrder, plan
from longmark.models.protocols import (
    Capabilities,
    LikelihoodReply,
    LikelihoodRequest,
    Message,
    Tokens,
    no_start_token,
)
from longmark.places import expanded

_CHUNK = (
    256  # tokens in one pass: enough to keep the cores busy, and their logits stay below 200 MB
)
_MOST_CHUNK = 4096  # on a GPU, where it begins with the same
_GROUP = 2048  # tokens of packed sequences before their states are dropped


@dataclass(frozen=True, slots=True)
class _Sequence:
    """Ids to read and what to look up: `text` follows `prompt`; its last token is looked up and never read."""

    prompt: list[int]
    text: list[int]

    @property
    def read(self) -> list[int]:
        return self.prompt + self.text[:-1]


class Cancelled(Exception):
    """The call was cancelled."""


class TransformersLM(LazyModel):
    """The language model `hf:NAME` or `hf:NAME+FOLDER`.

    identity: the files by their hashes; a hub name by the name, which is all that is known before loading. Construction
    raises `MissingExtra` where the library is not installed.
    """

    capabilities = Capabilities(prompt_logprobs=True, entropy=True)

    def __init__(self, source: str) -> None:
        if (
            importlib.util.find_spec("transformers") is None
            or importlib.util.find_spec("torch") is None
        ):
            raise errors.MissingExtra(f"the language model hf:{source}", "transformers")
        super().__init__(f"hf:{source}")
        base, plus, folder = ("", "", "") if expanded(source).exists() else source.rpartition("+")
        source = base if plus else source
        self._adapter = None
        path = expanded(source)
        self._arguments = dict[str, Any](trust_remote_code=False)
        if path.is_file():
            self._source = str(path.parent)
            self._arguments["gguf_file"] = path.name
            self.identity = f"hf:gguf:sha256:{sha256(path)}"
        elif path.is_dir():
            self._source = str(path)
            self.identity = f"hf:{folder_identity(path)}"
        else:
            self._source = source
            self.identity = f"hf:{source}"
        if plus:
            self._adapter = opened(expanded(folder), f"hf:{source}", self.identity)
            self.identity += f"+{self._adapter.identity}"

    async def likelihood(self, request: LikelihoodRequest) -> LikelihoodReply:
        """Natural-log probability of each token of the text, and the entropies."""
        return (await self.likelihoods([request]))[0]

    async def likelihoods(self, requests: Sequence[LikelihoodRequest]) -> list[LikelihoodReply]:
        """One reply a request, in their order. tokens.cached_prompt: what another request of the same call had read."""
        stop = threading.Event()
        try:
            return await asyncio.to_thread(self._likelihoods, list(requests), stop)
        finally:
            stop.set()  # where the call was cancelled, the thread ends after its present pass

    def _likelihoods(
        self, requests: list[LikelihoodRequest], stop: threading.Event
    ) -> list[LikelihoodReply]:
        with self._lock:
            model, tokenizer = self._model()
            sequences = [self._sequence(model, tokenizer, request) for request in requests]
            with_text = [sequence for sequence in sequences if sequence.text]
            values = iter(self._evaluate(model, with_text, stop))
            return [
                self._reply(tokenizer, s, *next(values)) if s.text else LikelihoodReply((), ())
                for s in sequences
            ]

    def _evaluate(
        self, model: Any, sequences: list[_Sequence], stop: threading.Event
    ) -> list[tuple[list[float], list[float], int]]:
        """`_evaluate` with as many tokens in one pass as the memory holds."""
        if self._batch_room is None:
            self._batch_room = room_on(model.device.type, cpu=_CHUNK, gpu=_CHUNK, limit=_MOST_CHUNK)
        room = self._batch_room
        values = read_within(room, self.name, lambda size: _evaluate(model, sequences, stop, size))
        room.held(max((len(sequence.read) for sequence in sequences), default=0))
        return values

    def _load(self) -> tuple[Any, Any]:
        import torch

        model, tokenizer = self.pretrained(torch.float32)
        model = model.eval().to("cuda" if torch.cuda.is_available() else "cpu")
        return applied(model, self._adapter) if self._adapter else model, tokenizer

    def pretrained(self, dtype: Any) -> tuple[Any, Any]:
        """Base model and tokenizer, loaded anew in this type of numbers. RequestRefused if they cannot be loaded."""
        from transformers import AutoModelForCausalLM, AutoTokenizer

        def load() -> tuple[Any, Any]:
            with no_progress_bar():
                tokenizer = AutoTokenizer.from_pretrained(self._source, **self._arguments)
                return AutoModelForCausalLM.from_pretrained(
                    self._source, dtype=dtype, **self._arguments
                ), tokenizer

        remedy = (
            "a folder with a causal language model, a GGUF file (needs the packages gguf and accelerate), or the name "
            "of a reachable hub repository"
        )
        return load_by("transformers", self.name, remedy, load)

    def _sequence(self, model: Any, tokenizer: Any, request: LikelihoodRequest) -> _Sequence:
        text = _ids(tokenizer, request.text)
        prompt = (
            self._chat_ids(tokenizer, request.prompt)
            if request.chat
            else _start(tokenizer, request.prompt)
        )
        if text and not prompt:
            raise no_start_token(self.name)
        window = getattr(model.config.get_text_config(), "max_position_embeddings", None)
        if window is not None and len(prompt) + len(text) - 1 > window:
            raise errors.TooLong(
                f"prompt and text have {len(prompt) + len(text):,} tokens, and {self.name} reads at most {window:,}; "
                "shorten the texts, or use a model with a larger context window"
            )
        return _Sequence(prompt, text)

    def _chat_ids(self, tokenizer: Any, prompt: str) -> list[int]:
        """The prompt as a user's message in the model's chat template, ready for the assistant's turn."""
        if not tokenizer.chat_template:
            raise errors.RequestRefused(
                f"{self.name} has no chat template: give its prompts as plain text ("
                "score.context_utilization@chat=false), or use a model that was trained for chat"
            )
        return chat_ids(tokenizer, [Message("user", prompt)], self.name)

    def _reply(
        self,
        tokenizer: Any,
        sequence: _Sequence,
        logprobs: list[float],
        entropies: list[float],
        cached: int,
    ) -> LikelihoodReply:
        return LikelihoodReply(
            tuple(logprobs),
            tuple(tokenizer.decode([token]) for token in sequence.text),
            tuple(entropies),
            Tokens(prompt=len(sequence.read), cached_prompt=cached),
        )


@contextlib.contextmanager
def no_progress_bar() -> Iterator[None]:
    """Loading without the library's own bars: they would be drawn over ours. Downloads keep theirs, and so does the
    conversion of a GGUF file."""
    from transformers.utils import logging

    is_enabled = logging.is_progress_bar_enabled()
    logging.disable_progress_bar()
    try:
        yield
    finally:
        if is_enabled:
            logging.enable_progress_bar()


def _ids(tokenizer: Any, text: str, *, special: bool = False) -> list[int]:
    """Token ids of a text; special: with the control tokens that it spells."""
    return (
        list(tokenizer.encode(text, add_special_tokens=False, split_special_tokens=not special))
        if text
        else []
    )


def chat_ids(tokenizer: Any, messages: Sequence[Message], name: str) -> list[int]:
    """Token ids of messages in the model's chat template, ready for the assistant's turn.

    A system message becomes the beginning of the first user message where the template refuses that role.
    name: of the model. RequestRefused for a tokenizer without a template, or one that refuses the messages.
    """
    if not tokenizer.chat_template:
        raise errors.RequestRefused(
            f"{name} has no chat template; use a model that was trained for chat"
        )
    marks = [f"MESSAGE{secrets.token_hex(8)}" for _ in messages]
    turns = [
        {"role": message.role, "content": mark}
        for message, mark in zip(messages, marks, strict=True)
    ]
    merged = (
        [{**turns[1], "content": f"{marks[0]}\n\n{marks[1]}"}, *turns[2:]]
        if turns[0]["role"] == "system"
        else []
    )
    for form in filter(None, (turns, merged)):
        with contextlib.suppress(Exception):  # a template raises what it likes
            whole = str(
                tokenizer.apply_chat_template(form, tokenize=False, add_generation_prompt=True)
            )
            if all(whole.count(mark) == 1 for mark in marks):
                break
    else:
        raise errors.RequestRefused(
            f"the chat template of {name} refuses the messages; use another model"
        )
    ids = list[int]()
    for mark, message in zip(marks, messages, strict=True):
        before, _, whole = whole.partition(mark)
        ids += [*_ids(tokenizer, before, special=True), *_ids(tokenizer, message.content)]
    return ids + _ids(tokenizer, whole, special=True)


def _start(tokenizer: Any, text: str) -> list[int]:
    """Token ids of a text after the start token, where the model is used to one."""
    started = list(tokenizer.encode("", add_special_tokens=True))
    bos = tokenizer.bos_token_id
    return ([bos] if bos is not None and bos in started else []) + _ids(tokenizer, text)


# One pass over packed sequences ----------------------------------------------------------------------------------
def _evaluate(
    model: Any, sequences: list[_Sequence], stop: threading.Event, chunk: int
) -> list[tuple[list[float], list[float], int]]:
    """Log-probabilities, entropies and tokens read before, for each sequence. chunk: tokens in one pass."""
    import torch

    if not sequences:
        return []
    shared = _can_share(model)
    plans = [sequences] if shared else [[sequence] for sequence in sequences]
    results: list[tuple[list[float], list[float], int]] = []
    with torch.inference_mode():
        for some in plans:
            reading_order = plan(
                [sequence.read for sequence in some], [len(sequence.text) for sequence in some]
            )
            results += (
                _Packed(model, some, reading_order, stop, chunk).values()
                if shared
                else [_plain(model, some[0])]
            )
            if stop.is_set():
                raise Cancelled
    return results


# Of the argument that holds keys and values: transformers 5.24 gave it the second name.
_CACHE_NAMES = {"past_key_values", "cache"}


def _cache_name(model: Any) -> str:
    """The name by which a model takes its keys and values."""
    return "cache" if "cache" in inspect.signature(model.forward).parameters else "past_key_values"


def _can_share(model: Any) -> bool:
    """Whether what a token sees can be chosen freely: keys and values of all positions kept, positions taken."""
    from transformers import DynamicCache
    from transformers.cache_utils import DynamicLayer

    parameters = set(inspect.signature(model.forward).parameters)
    if (
        not {"position_ids", "attention_mask", "logits_to_keep"} <= parameters
        or not parameters & _CACHE_NAMES
    ):
        return False
    layers = DynamicCache(config=model.config).layers
    return bool(layers) and all(type(layer) is DynamicLayer for layer in layers)


def _plain(model: Any, sequence: _Sequence) -> tuple[list[float], list[float], int]:
    import torch

    ids = torch.tensor([sequence.read], device=model.device)
    logits = model(input_ids=ids).logits[0, len(sequence.prompt) - 1 :]
    logprobs, entropies = look_up(logits, sequence.text)
    return logprobs, entropies, 0


def look_up(logits: Any, tokens: list[int]) -> tuple[list[float], list[float]]:
    """The log-probability of a token in each row of logits, and the row's entropy in nats."""
    import torch

    logs = torch.log_softmax(logits.float(), dim=-1)
    token_logs = logs.gather(1, torch.tensor(tokens, device=logs.device)[:, None])[:, 0]
    entropies = -(logs.exp() * logs.clamp_min(torch.finfo(logs.dtype).min)).sum(dim=-1)
    return token_logs.tolist(), entropies.tolist()


class _Packed:
    """The reading of sequences by a plan: the spine first, then groups of branches in one row each."""

    def __init__(
        self,
        model: Any,
        sequences: list[_Sequence],
        reading_order: ReadingOrder,
        stop: threading.Event,
        chunk: int,
    ) -> None:
        from transformers import DynamicCache

        self._model = model
        self._sequences = sequences
        self._plan = reading_order
        self._stop = stop
        self._chunk = chunk
        self._cache = DynamicCache(config=model.config)
        self._cache_argument = {_cache_name(model): self._cache}
        self._logprobs: list[list[float]] = [[] for _ in sequences]
        self._entropies: list[list[float]] = [[] for _ in sequences]

    def values(self) -> list[tuple[list[float], list[float], int]]:
        spine = self._plan.spine
        self._read(0, [(token, position, -1, -1) for position, token in enumerate(spine)])
        for group in self._groups():
            longest = (
                group[0].shared
            )  # what is left needs no more of the spine: branches come with the longest first
            if (beyond := self._cache.get_seq_length() - longest) > 0:
                self._cache.crop(-beyond)
            self._read(longest, [token for branch in group for token in self._tokens(branch)])
        cached = {branch.sequence: branch.shared for branch in self._plan.branches}
        cached[self._plan.branches[0].sequence] -= len(
            spine
        )  # the spine was read for the first of them
        return [
            (self._logprobs[i], self._entropies[i], cached[i]) for i in range(len(self._sequences))
        ]

    def _groups(self) -> list[list[Branch]]:
        groups: list[list[Branch]] = []
        room = 0
        for branch in self._plan.branches:
            size = len(self._sequences[branch.sequence].read) - branch.shared
            if not groups or size > room:
                groups.append([])
                room = _GROUP
            groups[-1].append(branch)
            room -= size
        return groups

    def _tokens(self, branch: Branch) -> list[tuple[int, int, int, int]]:
        """(token, position, sequence, token that is looked up after it or -1) of what a branch reads for itself."""
        sequence = self._sequences[branch.sequence]
        ids = sequence.read
        first = len(sequence.prompt) - 1
        return [
            (ids[at], at, branch.sequence, sequence.text[at - first] if at >= first else -1)
            for at in range(branch.shared, len(ids))
        ]

    def _read(self, start: int, row: list[tuple[int, int, int, int]]) -> None:
        """Reads a row of tokens of several sequences behind the first `start` tokens of the spine."""
        import torch

        device = self._model.device
        ids, positions, owners, targets = torch.tensor(row or [(0, 0, 0, 0)], device=device).unbind(
            1
        )
        begins = torch.zeros(len(self._sequences), dtype=torch.long, device=device)
        for branch in self._plan.branches:
            begins[branch.sequence] = branch.shared
        for low in range(0, len(row), self._chunk):
            if self._stop.is_set():
                raise Cancelled
            high = min(low + self._chunk, len(row))
            sequence_owners = owners[low:high, None]
            before = (
                torch.arange(start, device=device)[None, :] < begins[sequence_owners.clamp_min(0)]
            )
            order = torch.arange(high, device=device)
            same = (owners[None, :high] == sequence_owners) & (
                order[None, :] <= order[low:high, None]
            )
            keep = (targets[low:high] >= 0).nonzero()[:, 0]
            mask = torch.zeros((1, 1, high - low, start + high), device=device)
            mask.masked_fill_(~torch.cat([before, same], dim=1), torch.finfo(mask.dtype).min)
            logits = self._model(
                input_ids=ids[None, low:high],
                position_ids=positions[None, low:high],
                attention_mask=mask,
                **self._cache_argument,
                use_cache=True,
                logits_to_keep=keep,
            ).logits[0]
            looked_up = look_up(logits, targets[low:high][keep].tolist())
            for owner, logprob, entropy in zip(
                owners[low:high][keep].tolist(), *looked_up, strict=True
            ):
                self._logprobs[owner].append(logprob)
                self._entropies[owner].append(entropy)
