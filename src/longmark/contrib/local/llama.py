"""GGUF models on llama.cpp, through `xllamacpp`: chat, and the log-probabilities of a given text.

`embedded:judge`, `embedded:small` and `gguf:PATH`. The model loads at the first call, in a thread. llama.cpp serves on
a loopback port that it chooses, with a key made for this process: the event loop stays free, and a cancelled call stops
the work. Needs the extra `embedded`.

Prompts are sent as token ids. The chat template's own text may hold control tokens, the messages may not: a text under
evaluation that spells `<|im_end|>` is read as those ten characters. A prompt that fills the context window is refused
(`TooLong`), never cut.

A LoRA adapter can be loaded beside a model (`use_adapter`): one process serves both, and each request says whether the
adapter counts. Requests go to the model one at a time, ordered so that what was read before is used again (`Turns`).
"""

from __future__ import annotations

import asyncio
import importlib.util
import os
import secrets
import time
from collections.abc import Hashable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from longmark import errors
from longmark.contrib.local import TOP_LOGPROBS, catalogue
from longmark.home import sha256
from longmark.models.http import Endpoint
from longmark.models.keys import Key
from longmark.models.protocols import (
    Capabilities,
    ChatReply,
    ChatRequest,
    LikelihoodReply,
    LikelihoodRequest,
    Message,
    TokenLogprobs,
    Tokens,
    log_sum,
    no_start_token,
)
from longmark.models.turns import Turns

if TYPE_CHECKING:
    from longmark.contrib.local.rerank_embedded import LogOddsReranker

_TIMEOUT = 1e7  # seconds of one call: the client keeps the time
CONTEXT = 8192  # tokens; a model trained for fewer gets what it was trained for
_ALL = 1_000_000  # candidates: more than any vocabulary has
_FORCE = (
    1000.0  # added to a token's logit so that it is the one sampled; reported values are before it
)
_BATCH = 256  # prompt tokens evaluated at a time: how soon a cancelled call stops
_NO_FLASH = 0  # LLAMA_FLASH_ATTN_TYPE_DISABLED
_CACHE_MIB = 1024  # memory for evaluated prompts other than the last one
# How often a thread of OpenMP looks whether the others are done before it sleeps. By itself GNU's looks for some ten
# milliseconds, at every step of a pass: next to any other busy program most time goes there (design/leave-one-out.md).
_SPINS = ("GOMP_SPINCOUNT", "2000")
# Without it the grammar lets white space go on for ever, and small models do.
_COMPACT = {"whitespace_flexible": False, "item_separator": ", ", "key_separator": ": "}
_JSON_STARTS = '{["-0123456789tfn'  # and "", for a reply of no token
_CHATS = (False, None)  # the turn of a call without the adapter
_LOOKED_AT = 0.2  # seconds that the processors are looked at before a model loads; their clock has steps of 10 ms
_ANSWERS = 1000  # candidates among which the words of an answer are looked for first
_FINISH = {"eos": "stop", "word": "stop", "limit": "length"}


class LlamaCpp:
    """A GGUF file as a `Chat` and a `LanguageModel`. Construction raises `UserError` where the file is missing or is no
    GGUF file, and `MissingExtra` where the runtime is not installed."""

    capabilities = Capabilities(logprobs=TOP_LOGPROBS, prompt_logprobs=True)
    width: int | None = 1  # one slot, one prompt cache: design/embedded-models.md
    usual_scoring = "text"  # how its scores are read where the user does not say

    def __init__(self, path: Path, name: str, *, context: int = CONTEXT) -> None:
        if importlib.util.find_spec("xllamacpp") is None:
            raise errors.MissingExtra(f"the model {name}", "embedded")
        _check_gguf(path)
        self.name = name
        self.identity = f"gguf:sha256:{sha256(path)}"
        self._path = path
        self._context = context
        self._starting = asyncio.Lock()
        self._server: Any = None
        self._endpoint: Endpoint | None = None
        self._window = 0
        self._adapter: Path | None = None
        self._loaded: Path | None = None  # the adapter of the server that runs
        self._turns = Turns()
        self._templates: dict[tuple[str, ...], tuple[list[int], ...]] = {}

    @classmethod
    def embedded(cls, name: str) -> LlamaCpp:
        """The installed model of this name; `UnknownName`, `ModelNotInstalled`."""
        model = cls(catalogue.model_path(name), f"embedded:{name}")
        model.usual_scoring = "expected"  # measured: design/judge-wordings.md
        return model

    @classmethod
    def gguf(cls, path: Path) -> LlamaCpp:
        """Any GGUF file of the user's."""
        return cls(path, f"gguf:{path}")

    def reranker(self) -> LogOddsReranker:
        """This model as a reranker, in the same process."""
        from longmark.contrib.local.rerank_embedded import LogOddsReranker

        return LogOddsReranker(self)

    def use_adapter(self, path: Path) -> None:
        """Loads a LoRA adapter beside the model, from the next call on. It counts where a call asks for it
        (`log_odds`), and nowhere else."""
        self._adapter = path

    async def chat(self, request: ChatRequest) -> ChatReply:
        """One reply. With temperature 0 the likeliest token is taken; else temperature and top_p alone decide."""
        await self._start()
        body: dict[str, Any] = {
            "prompt": await self._chat_ids(request.messages),
            "n_predict": request.max_tokens,
            "temperature": request.temperature,
            "top_p": request.top_p,
            "samplers": ["temperature", "top_p"],
            "seed": request.sample,
            "n_probs": min(request.logprobs, TOP_LOGPROBS),
            "cache_prompt": True,
        }
        if request.schema is not None:
            body["json_schema"] = {**request.schema, "x-guidance": _COMPACT}
        async with self._turns.turn(_CHATS):
            reply = await self._complete(body)
        text = reply["content"]
        finish = _FINISH.get(reply["stop_type"], reply["stop_type"])
        if request.schema is not None:
            self._check_held(text, whole=finish == "stop")
        return ChatReply(
            text=text,
            finish=finish,
            logprobs=tuple(_token(entry) for entry in reply.get("completion_probabilities", ())),
            tokens=_tokens(reply),
        )

    async def likelihood(self, request: LikelihoodRequest) -> LikelihoodReply:
        """The text's tokens one after the other, each forced in its turn. Prompt and text are tokenised apart, so that
        the text has the same tokens after every prompt."""
        await self._start()
        text = await self._tokenize(request.text)
        if request.chat:
            prompt = await self._chat_ids((Message("user", request.prompt),))
        else:
            prompt = [token for token, _ in await self._tokenize(request.prompt, start=True)]
        if text and not prompt:
            raise no_start_token(self.name)
        self._check_window(len(prompt) + len(text))
        logprobs: list[float] = []
        used = Tokens()
        for position, (token, _) in enumerate(text):
            logprob, counted = await self._logprob(
                prompt + [token for token, _ in text[:position]], token
            )
            logprobs.append(logprob)
            fresh = used.prompt - used.cached_prompt + counted.prompt - counted.cached_prompt
            used = Tokens(len(prompt) + position, len(prompt) + position - fresh)
        return LikelihoodReply(tuple(logprobs), tuple(piece for _, piece in text), tokens=used)

    async def _logprob(self, prompt: list[int], token: int) -> tuple[float, Tokens]:
        """The log-probability of a token after a prompt, and what was read for it."""
        body = {"prompt": prompt, "n_predict": 1, "temperature": 0.0, "cache_prompt": True}
        async with self._turns.turn(_CHATS):
            reply = await self._complete({**body, "logit_bias": [[token, _FORCE]], "n_probs": 1})
        entries = reply.get("completion_probabilities")
        if not entries:  # the token ends inside a character, and llama.cpp shows none of these: it is looked up among all
            (forced_token, _), *_ = await self._tokenize("a")
            reply = await self._complete(
                {**body, "logit_bias": [[forced_token, _FORCE]], "n_probs": _ALL}
            )
            entries = [
                candidate
                for candidate in reply["completion_probabilities"][0]["top_logprobs"]
                if candidate["id"] == token
            ]
        if not entries or entries[0]["id"] != token:
            raise errors.RequestRefused(
                f"llama.cpp did not accept token {token}: it has no probability in this model"
            )
        return float(entries[0]["logprob"]), _tokens(reply)

    async def token_ids(self, text: str, *, control: bool = False) -> list[tuple[int, str]]:
        """The tokens of a text with their pieces. control: whether the text may hold control tokens."""
        await self._start()
        return await self._tokenize(text, special=control)

    async def log_odds(
        self,
        prompt: Sequence[int],
        yes: Sequence[int],
        no: Sequence[int],
        *,
        adapter: bool = False,
        shared: Hashable = None,
    ) -> tuple[float, Tokens]:
        """log P(yes) - log P(no) of the token after a prompt, of all tokens that stand for either, and what was read.

        adapter: whether the adapter counts; shared: what the prompt begins with. Of the requests that wait, those with
        the same beginning follow each other, so that it is read once."""
        await self._start()
        body = {"prompt": list(prompt), "n_predict": 1, "temperature": 0.0, "cache_prompt": True}
        async with self._turns.turn((adapter, shared)):
            reply = await self._complete({**body, "n_probs": _ANSWERS}, adapter=adapter)
            logprobs = _candidates(reply)
            if not logprobs.keys() >= {*yes, *no}:
                all_candidates = await self._complete({**body, "n_probs": _ALL}, adapter=adapter)
                logprobs = _candidates(all_candidates)
        if not logprobs.keys() >= {*yes, *no}:
            raise errors.RequestRefused(
                f"{self.name}: llama.cpp gave no probability for the words of the answer"
            )
        return log_sum([logprobs[token] for token in yes]) - log_sum(
            [logprobs[token] for token in no]
        ), _tokens(reply)

    async def close(self) -> None:
        """Stop llama.cpp and free its memory; the next call would load the model again."""
        endpoint = self._endpoint
        self._endpoint = None
        if endpoint is not None:
            await endpoint.close()
        server = self._server
        self._server = None
        self._templates.clear()
        if server is not None:
            holder = [server]
            del server
            await asyncio.to_thread(
                holder.clear
            )  # the last reference: its destructor waits for the work to stop

    async def _start(self) -> None:
        async with self._starting:
            if self._endpoint is None:
                await self._serve()
            elif self._loaded != self._adapter:
                async with self._turns.turn(
                    None
                ):  # until the new server is there: whoever waits would find none
                    await self.close()
                    await self._serve()

    async def _serve(self) -> None:
        key = secrets.token_urlsafe(24)
        self._server = await asyncio.to_thread(self._load, key)
        endpoint = Endpoint(self._server.listening_address, Key(key, "llama.cpp"), timeout=_TIMEOUT)
        endpoint.host = self.name  # in messages
        properties = await endpoint.post(endpoint.url("/props"), None)
        self._window = properties["default_generation_settings"]["n_ctx"]
        self._endpoint = endpoint

    def _load(self, key: str) -> Any:
        xllamacpp = _runtime()
        params = xllamacpp.CommonParams()
        params.model.path = str(self._path)
        params.n_ctx = self._context
        params.n_parallel = 1
        params.n_batch = params.n_ubatch = _BATCH
        params.flash_attn_type = (
            _NO_FLASH  # with it a value hangs on what was cached before: design/leave-one-out.md
        )
        params.cache_ram_mib = _CACHE_MIB
        params.api_keys = [key]
        params.hostnames = ["127.0.0.1"]
        params.port = 0
        params.ui = False
        params.offline = True
        params.verbosity = 0
        if (threads := threads_for_load()) is not None:
            params.cpuparams.n_threads = threads  # else llama.cpp counts the physical cores itself
        if self._adapter is not None:
            if not hasattr(xllamacpp, "CommonAdapterLoraInfo"):
                raise errors.RequestRefused(
                    "the installed xllamacpp cannot load adapters (LoRA); install a newer one: "
                    "pip install -U 'longmark[embedded]'"
                )
            adapter = xllamacpp.CommonAdapterLoraInfo()
            adapter.path = str(self._adapter)
            adapter.scale = 0.0  # each request says its own
            params.lora_adapters = [adapter]
            # Weights that are repacked are read by other kernels for a few tokens than for many, so that a value hangs
            # on what was cached before: design/claim-checker.md.
            params.no_extra_bufts = True
        self._loaded = self._adapter
        try:
            return xllamacpp.Server(params)
        except Exception as error:  # whatever the binding raises: the file cannot be used
            raise errors.RequestRefused(f"llama.cpp cannot load {self._path}: {error}") from error

    async def _ask(self, path: str, body: dict[str, Any]) -> Any:
        assert self._endpoint is not None
        return await self._endpoint.post(self._endpoint.url(path), body)

    async def _complete(self, body: dict[str, Any], *, adapter: bool = False) -> Any:
        self._check_window(len(body["prompt"]))
        if (
            self._loaded is not None
        ):  # always: without it llama.cpp keeps what it read with the adapter
            body = {**body, "lora": [{"id": 0, "scale": 1.0 if adapter else 0.0}]}
        return await self._ask("/completion", body)

    def _check_window(self, count: int) -> None:
        if count >= self._window:
            raise errors.TooLong(
                f"the prompt has {count:,} tokens, and {self.name} reads at most {self._window - 1:,}; shorten the "
                "texts, or use a model with a larger context window"
            )

    def _check_held(self, text: str, *, whole: bool) -> None:
        """llama.cpp ignores a schema that it cannot turn into a grammar; the reply shows it."""
        try:
            held = text[:1] in _JSON_STARTS
            if whole:
                orjson.loads(text)
        except orjson.JSONDecodeError:
            held = False
        if not held:
            raise errors.RequestRefused(
                f"{self.name}: llama.cpp did not apply the JSON schema to the reply; is the schema valid, without "
                "broken references?"
            )

    async def _tokenize(
        self, text: str, *, start: bool = False, special: bool = False
    ) -> list[tuple[int, str]]:
        """Tokens of a text with their pieces. start: after the model's start token; special: with control tokens."""
        if not text and not start:
            return []
        body = {
            "content": text,
            "add_special": start,
            "parse_special": special,
            "with_pieces": True,
        }
        reply = await self._ask("/tokenize", body)
        pieces = (
            (token["id"], token["piece"]) for token in reply["tokens"]
        )  # part of a character comes as bytes
        return [
            (id, p if isinstance(p, str) else bytes(p).decode("utf-8", errors="replace"))
            for id, p in pieces
        ]

    async def _chat_ids(self, messages: Sequence[Message]) -> list[int]:
        """The messages in the model's chat template, ready for the assistant's turn."""
        roles = tuple(message.role for message in messages)
        if roles not in self._templates:
            self._templates[roles] = await self._template(roles)
        first, *endings = self._templates[roles]
        ids = list(first)
        for message, after in zip(messages, endings, strict=True):
            ids += [token for token, _ in await self._tokenize(message.content)]
            ids += after
        return ids

    async def _template(self, roles: tuple[str, ...]) -> tuple[list[int], ...]:
        """The template's token ids before, between and after the messages of these roles."""
        marks = [f"MESSAGE{number}{secrets.token_hex(8)}" for number in range(len(roles))]
        messages = [
            {"role": role, "content": mark} for role, mark in zip(roles, marks, strict=True)
        ]
        templated: str = (await self._ask("/apply-template", {"messages": messages}))["prompt"]
        pieces = []
        for role, mark in zip(roles, marks, strict=True):
            before, mark_found, templated = templated.partition(mark)
            if not mark_found or mark in templated:
                raise errors.RequestRefused(
                    f"the chat template of {self.name} does not support {role} messages"
                )
            pieces.append(before)
        pieces.append(templated)
        tokens = [
            await self._tokenize(piece, start=i == 0, special=True)
            for i, piece in enumerate(pieces)
        ]
        return tuple([token for token, _ in some] for some in tokens)


def threads_for_load() -> int | None:
    """How many threads a model should use now; None: as many as llama.cpp takes by itself.

    Threads wait for each other at every layer. On a busy machine two of them take three times the processor time of
    one (design/claim-checker.md), so there are no more than processors that are idle, and at least one."""
    usable = (
        len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    )
    idle = usable - round(_busy_processors() * usable / (os.cpu_count() or 1))
    if idle < usable:
        return max(1, idle)
    return usable if usable < (os.cpu_count() or 1) else None


def _busy_processors() -> float:
    """How many processors work now. Linux counts their idle time, which is looked at for a moment; elsewhere it is the
    load of the last minute, which is still high after an installation has ended."""
    if (before := _processor_time()) is not None:
        time.sleep(_LOOKED_AT)
        after = _processor_time()
        if after is not None and after[0] > before[0]:
            idle = (after[1] - before[1]) / (after[0] - before[0])
            return (1 - idle) * (os.cpu_count() or 1)
    try:
        return os.getloadavg()[0]
    except (AttributeError, OSError):  # Windows has none
        return 0.0


def _processor_time() -> tuple[int, int] | None:
    """The time of all processors since the machine started, and the part of it in which they waited; None where the
    system does not say it (proc(5), /proc/stat)."""
    try:
        fields = [
            int(field)
            for field in Path("/proc/stat").read_text("ascii").split("\n", 1)[0].split()[1:9]
        ]
    except (OSError, ValueError):
        return None
    return (sum(fields), fields[3] + fields[4]) if len(fields) == 8 else None  # idle and iowait


def _candidates(reply: dict[str, Any]) -> dict[int, float]:
    """Token -> log-probability, of the candidates for the first token of a reply."""
    entries = reply.get("completion_probabilities") or ({"top_logprobs": ()},)
    return {candidate["id"]: candidate["logprob"] for candidate in entries[0]["top_logprobs"]}


def _runtime() -> Any:
    """The runtime, loaded with `_SPINS` in the environment unless the user has a setting of their own."""
    name, value = _SPINS
    ours = name not in os.environ and "OMP_WAIT_POLICY" not in os.environ
    if ours:
        os.environ[name] = value
    try:
        import xllamacpp
    finally:
        if ours:
            os.environ.pop(name, None)
    return xllamacpp


def _check_gguf(path: Path) -> None:
    try:
        with path.open("rb") as file:
            magic = file.read(4)
    except OSError as error:
        raise errors.UserError(
            f"cannot read the model file {path}: {error.strerror or error}"
        ) from error
    if magic != b"GGUF":
        raise errors.UserError(
            f"{path} is not a GGUF file; give the path of a model in llama.cpp's format"
        )


def _token(entry: dict[str, Any]) -> TokenLogprobs:
    top = tuple((candidate["token"], candidate["logprob"]) for candidate in entry["top_logprobs"])
    return TokenLogprobs(entry["token"], entry["logprob"], top)


def _tokens(reply: dict[str, Any]) -> Tokens:
    """What llama.cpp counted: `prompt_n` prompt tokens were evaluated, `cache_n` were there already."""
    timings = reply["timings"]
    cached = timings["cache_n"]
    return Tokens(timings["prompt_n"] + cached, cached, timings["predicted_n"])
