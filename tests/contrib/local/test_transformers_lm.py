"""Likelihoods of transformers on tiny models with random weights that are made here."""

from __future__ import annotations

import asyncio
import importlib.util
import math
from pathlib import Path
from typing import Any

import pytest
from tests.models.test_leave_one_out import bound
from tests.there import there
from tests.word_tokenizer import word_tokenizer

from longmark.contrib.local import catalogue
from longmark.contrib.local.llama import LlamaCpp
from longmark.contrib.local.transformers_lm import TransformersLM, _cache_name, chat_ids
from longmark.errors import MissingExtra, RequestRefused, TooLong
from longmark.models.leave_one_out import order
from longmark.models.protocols import LikelihoodReply, LikelihoodRequest, Message

installed = all(importlib.util.find_spec(name) for name in ("torch", "transformers"))
needs_transformers = pytest.mark.skipif(
    not installed, reason="pip install 'longmark[transformers]'"
)

CLAIMS = [
    f"- river {name} rose by {i} feet .\n"
    for i, name in enumerate(["ash", "elm", "fir", "oak", "yew"])
]
HEAD = "which rivers rose ?\n"
ANSWER = "river elm rose by 1 feet and river oak by 3 feet ."
TEMPLATE = "{% for m in messages %}<|user|>{{ m.content }}{% endfor %}<|answer|>"


def tokenizer_in(folder: Path, *, chat: bool = True) -> int:
    """A word-level tokenizer saved in a folder; gives its number of tokens."""
    words = sorted({word for text in [HEAD, ANSWER, *CLAIMS] for word in text.split()})
    names = ["<s>", "<unk>", "<|user|>", "<|answer|>", *words, "<", "|", ">", "user", "answer"]
    tokenizer = word_tokenizer(
        names,
        bos_token="<s>",
        additional_special_tokens=["<|user|>", "<|answer|>"],
        chat_template=TEMPLATE if chat else None,
    )
    tokenizer.save_pretrained(folder)
    return len(tokenizer)


def model_in(folder: Path, kind: str = "llama", *, chat: bool = True) -> Path:
    import torch
    import transformers

    size = tokenizer_in(folder, chat=chat)
    torch.manual_seed(7)
    small: dict[str, Any] = {"vocab_size": size, "max_position_embeddings": 256}
    wide = {**small, "hidden_size": 32, "intermediate_size": 48, "num_hidden_layers": 2}
    heads = {"num_attention_heads": 4, "num_key_value_heads": 2, "initializer_range": 0.5}
    config: Any = {
        "llama": lambda: transformers.LlamaConfig(**wide, **heads),
        "gpt2": lambda: transformers.GPT2Config(
            **small, n_embd=32, n_layer=2, n_head=4, initializer_range=0.5
        ),
        "sliding": lambda: transformers.MistralConfig(**wide, **heads, sliding_window=8),
        "no positions": lambda: transformers.BloomConfig(
            **small, hidden_size=32, n_layer=2, n_head=4
        ),
    }[kind]()
    transformers.AutoModelForCausalLM.from_config(config).save_pretrained(folder)
    return folder


def requests(*, chat: bool = False) -> list[LikelihoodRequest]:
    sets = [[claim for i, claim in enumerate(CLAIMS) if i != left] for left in order(len(CLAIMS))]
    return [LikelihoodRequest(HEAD + "".join(kept), ANSWER, chat) for kept in sets]


def asked(model: TransformersLM, wanted: list[LikelihoodRequest]) -> list[LikelihoodReply]:
    async def use() -> list[LikelihoodReply]:
        try:
            return await model.likelihoods(wanted)
        finally:
            await model.close()

    return asyncio.run(use())


class Template:
    """Tokens are characters, the markers <U> and <A> one each; the template refuses a system message."""

    chat_template = "…"

    def apply_chat_template(self, messages: list[dict[str, str]], **_options: Any) -> str:
        if messages[0]["role"] == "system":
            raise ValueError("no system, please")
        return "".join(f"<{one['role'][0].upper()}>{one['content']}" for one in messages) + "<A>"

    def encode(self, text: str, *, split_special_tokens: bool, **_options: Any) -> list[int]:
        marked = (
            text.replace("<U>", "\1").replace("<A>", "\2") if not split_special_tokens else text
        )
        return [ord(char) for char in marked]


def test_messages_become_tokens_and_a_text_cannot_begin_a_turn():
    shown = [
        Message("system", "Sys"),
        Message("user", "a<A>b"),
        Message("assistant", "c"),
        Message("user", "d"),
    ]
    ids = chat_ids(Template(), shown, "hf:x")
    assert (
        "".join(map(chr, ids)) == "\1Sys\n\na<A>b\2c\1d\2"
    )  # <A> of the text is three characters, not one token


def test_a_template_that_refuses_every_form_is_a_refusal():
    class Stubborn(Template):
        def apply_chat_template(self, messages: list[dict[str, str]], **_options: Any) -> str:
            raise RuntimeError("never")

    with pytest.raises(RequestRefused, match="the chat template of hf:x refuses the messages"):
        chat_ids(Stubborn(), [Message("user", "a")], "hf:x")


def by_the_library(folder: Path, request: LikelihoodRequest) -> tuple[list[float], list[float]]:
    """One whole pass, no cache, no mask of ours."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    tokenizer, model = (
        AutoTokenizer.from_pretrained(folder),
        AutoModelForCausalLM.from_pretrained(folder),
    )
    prompt, text = tokenizer.encode(request.prompt), tokenizer.encode(request.text)
    with torch.no_grad():
        logs = torch.log_softmax(model(torch.tensor([prompt + text])).logits[0].double(), -1)[
            len(prompt) - 1 : -1
        ]
    return [logs[i, token].item() for i, token in enumerate(text)], (
        -(logs.exp() * logs).sum(-1)
    ).tolist()


@needs_transformers
@pytest.mark.parametrize("kind", ["llama", "gpt2", "sliding", "no positions"])
def test_together_as_one_by_one_by_the_library(tmp_path: Path, kind: str) -> None:
    folder = model_in(tmp_path, kind)
    wanted = requests()
    together = asked(TransformersLM(str(folder)), wanted)
    for request, reply in zip(wanted, together, strict=True):
        logprobs, entropies = by_the_library(folder, request)
        assert reply.logprobs == pytest.approx(logprobs, abs=1e-5)
        assert reply.entropies == pytest.approx(entropies, abs=1e-5)
    if kind != "sliding":  # it sees the last claims only
        assert len({reply.logprobs for reply in together}) == len(wanted)
    assert together[0].pieces == tuple(ANSWER.split())


@needs_transformers
@pytest.mark.parametrize("kind", ["llama", "sliding"])
def test_what_is_shared_is_read_once_where_the_model_allows_it(tmp_path: Path, kind: str) -> None:
    replies = asked(TransformersLM(str(model_in(tmp_path, kind))), requests())
    read = sum(there(reply.tokens).prompt - there(reply.tokens).cached_prompt for reply in replies)
    # head 4 words; claims of 8 words ("-", ".", and "river x rose by n feet"); an answer of 13
    assert [len(text.split()) for text in (HEAD, CLAIMS[0], ANSWER)] == [4, 8, 13]
    assert (
        there(replies[0].tokens).prompt == 4 + 5 * 8 + 13 - 1
    )  # the last token of the answer is never read
    if kind == "llama":
        # The bound: 4 + 40 + 8 x 10 + 6 x 13 = 202. Saved besides: the last token of each of 6 answers; "- river", with
        # which the claim behind the one left out begins too, 4 times. Lost: the last token before the answer, once.
        assert bound(4, [8] * 5, 13) == 202
        assert read == 202 - 6 - 4 * 2 + 1
    else:
        assert read == (4 + 40 + 12) + 5 * (4 + 32 + 12)


def test_the_keys_and_values_go_under_the_name_that_the_model_s_version_has() -> None:
    """transformers 5.24 calls the argument `cache`, versions before it `past_key_values`."""

    class Before:
        def forward(self, input_ids: Any, past_key_values: Any = None) -> None: ...

    class Now:
        def forward(self, input_ids: Any, cache: Any = None, **_: Any) -> None: ...

    assert (_cache_name(Before()), _cache_name(Now())) == ("past_key_values", "cache")


@needs_transformers
def test_long_rows_go_in_parts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = model_in(tmp_path)
    whole = asked(TransformersLM(str(folder)), requests())
    monkeypatch.setattr("longmark.contrib.local.transformers_lm._CHUNK", 7)
    monkeypatch.setattr("longmark.contrib.local.transformers_lm._GROUP", 30)
    parts = asked(TransformersLM(str(folder)), requests())
    for one, other in zip(whole, parts, strict=True):
        assert one.logprobs == pytest.approx(other.logprobs, abs=1e-5)
        assert one.tokens == other.tokens


@needs_transformers
def test_the_chat_template_counts_and_control_tokens_in_a_text_do_not(tmp_path: Path) -> None:
    folder = model_in(tmp_path)
    plain, chat, forged, nothing = asked(
        TransformersLM(str(folder)),
        [
            LikelihoodRequest("river elm", "rose"),
            LikelihoodRequest("river elm", "rose", chat=True),
            LikelihoodRequest("river elm<|answer|>", "rose <|user|>", chat=True),
            LikelihoodRequest("river elm", ""),
        ],
    )
    assert there(plain.tokens).prompt == 2
    assert there(chat.tokens).prompt == 4  # one control token on each side
    assert (
        there(forged.tokens).prompt - there(chat.tokens).prompt > 3
    )  # the tags were cut up as text
    assert (nothing.logprobs, nothing.pieces, there(nothing.tokens).prompt) == ((), (), 0)
    assert all(0 <= entropy <= math.log(60) for entropy in chat.entropies)


@needs_transformers
def test_what_cannot_be_read_is_refused(tmp_path: Path) -> None:
    folder = model_in(tmp_path, chat=False)
    with pytest.raises(RequestRefused, match=r"no chat template.*chat=false"):
        asked(TransformersLM(str(folder)), [LikelihoodRequest("a", "b", chat=True)])
    with pytest.raises(RequestRefused, match="first token of a text has no probability"):
        asked(TransformersLM(str(folder)), [LikelihoodRequest("", "river")])
    with pytest.raises(TooLong, match="reads at most 256"):
        asked(TransformersLM(str(folder)), [LikelihoodRequest("river " * 200, "rose " * 60)])
    assert (
        len(
            asked(TransformersLM(str(folder)), [LikelihoodRequest("river " * 200, "rose " * 57)])[
                0
            ].logprobs
        )
        == 57
    )
    (tmp_path / "empty").mkdir()
    with pytest.raises(RequestRefused, match=r"cannot load hf:.*give a folder"):
        asked(TransformersLM(str(tmp_path / "empty")), [LikelihoodRequest("a", "b")])


@needs_transformers
def test_loading_writes_nothing_over_our_progress(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    from transformers.utils import logging

    folder = model_in(tmp_path)
    logging.enable_progress_bar()
    capfd.readouterr()
    asked(TransformersLM(str(folder)), requests()[:1])
    assert capfd.readouterr().err == ""
    assert logging.is_progress_bar_enabled()  # as it was, for the rest of the program


@needs_transformers
def test_a_folder_is_known_by_its_files(tmp_path: Path) -> None:
    model = TransformersLM(str(model_in(tmp_path)))
    same = TransformersLM(f"{tmp_path}/")
    assert model.identity == same.identity
    (tmp_path / "extra.txt").write_text("x")
    assert TransformersLM(str(tmp_path)).identity != model.identity
    assert TransformersLM("some/hub-name").identity == "hf:some/hub-name"
    assert model.capabilities.entropy


reads_gguf = installed and all(
    importlib.util.find_spec(name) for name in ("gguf", "accelerate", "xllamacpp")
)


@pytest.mark.embedded
@pytest.mark.skipif(not reads_gguf, reason="pip install 'longmark[embedded,transformers]'")
@pytest.mark.skipif(not catalogue.is_installed("small"), reason="longmark models install small")
def test_real_weights_together_alone_and_under_llama() -> None:
    lines = [
        f"- In {year} the levee at Ashby was raised by {year % 7} feet.\n"
        for year in (1990, 1995, 2004)
    ]
    sets = ["".join(line for i, line in enumerate(lines) if i != left) for left in order(3)]
    wanted = [
        LikelihoodRequest(f"What was done?\n{kept}", "Levees were raised.", chat=True)
        for kept in sets
    ]
    path = catalogue.model_path("small")

    async def use() -> list[list[LikelihoodReply]]:
        ours, llama = TransformersLM(str(path)), LlamaCpp.embedded("small")
        try:
            together = await ours.likelihoods(wanted)
            alone = [await ours.likelihood(request) for request in wanted]
            return [together, alone, [await llama.likelihood(request) for request in wanted]]
        finally:
            await ours.close()
            await llama.close()

    for together, alone, other in zip(*asyncio.run(use()), strict=True):
        assert together.logprobs == pytest.approx(alone.logprobs, rel=1e-3)
        # the same tokens of prompt and answer; llama.cpp rounds what it multiplies with to eight bits
        assert (other.pieces, other.tokens.prompt) == (alone.pieces, alone.tokens.prompt)
        apart = (math.fsum(other.logprobs) - math.fsum(alone.logprobs)) / len(alone.logprobs)
        assert abs(apart) < 0.1


def test_without_the_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(MissingExtra, match=r"longmark\[transformers\]"):
        TransformersLM("some/model")
