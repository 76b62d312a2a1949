"""Answers of transformers models, on tiny ones with random weights that are made here."""

from __future__ import annotations

import asyncio
import importlib.util
import math
from pathlib import Path
from typing import Any

import pytest
from tests.contrib.local.test_transformers_lm import HEAD, model_in, needs_transformers

from longmark.contrib.local.transformers_chat import TransformersChat
from longmark.contrib.local.transformers_lm import chat_ids
from longmark.errors import RequestRefused, TooLong, UserError
from longmark.models.protocols import ChatReply, ChatRequest, LikelihoodRequest, Message
from longmark.models.registry import Registry

needs_peft = pytest.mark.skipif(
    importlib.util.find_spec("peft") is None, reason="pip install 'longmark[finetune]'"
)
TURNS = (Message("user", HEAD), Message("assistant", "river elm rose ."), Message("user", HEAD))


def replies(model: TransformersChat, *wanted: ChatRequest) -> list[ChatReply]:
    async def use() -> list[ChatReply]:
        try:
            return [await model.chat(one) for one in wanted]
        finally:
            await model.close()

    return asyncio.run(use())


def adapter_in(folder: Path, base: Path, rank: int = 2) -> Path:
    """An adapter that changes what the model says."""
    import peft
    import torch
    from transformers import AutoModelForCausalLM

    config = peft.LoraConfig(r=rank, target_modules=["q_proj", "v_proj"], init_lora_weights=False)
    torch.manual_seed(3)
    peft.get_peft_model(AutoModelForCausalLM.from_pretrained(base), config).save_pretrained(folder)
    return folder


@needs_transformers
def test_greedy_replies_are_the_likeliest_tokens_one_after_the_other(tmp_path: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    folder = model_in(tmp_path)
    (reply,) = replies(TransformersChat(str(folder)), ChatRequest(TURNS, max_tokens=6, logprobs=3))
    model, tokenizer = (
        AutoModelForCausalLM.from_pretrained(folder),
        AutoTokenizer.from_pretrained(folder),
    )
    ids, first = chat_ids(tokenizer, TURNS, "x"), len(chat_ids(tokenizer, TURNS, "x"))
    for entry in reply.logprobs:
        with torch.no_grad():
            logs = torch.log_softmax(model(torch.tensor([ids])).logits[0, -1], -1)
        assert entry.logprob == pytest.approx(float(logs.max()), abs=1e-5)
        assert [text for text, _ in entry.top] == [
            tokenizer.decode([i]) for i in logs.topk(3).indices.tolist()
        ]
        ids.append(int(logs.argmax()))
    with torch.no_grad():
        end = int(model(torch.tensor([ids])).logits[0, -1].argmax())
    assert (end, reply.finish) == (
        model.generation_config.eos_token_id,
        "stop",
    )  # which no text has
    assert reply.text == tokenizer.decode(ids[first:], skip_special_tokens=True)
    assert reply.tokens is not None
    assert (reply.tokens.prompt, reply.tokens.completion) == (first, len(reply.logprobs) + 1)
    (short,) = replies(TransformersChat(str(folder)), ChatRequest(TURNS, max_tokens=2))
    assert (short.finish, reply.text.startswith(short.text)) == ("length", True)


@needs_transformers
def test_a_seed_draws_the_same_reply_and_another_one_another(tmp_path: Path) -> None:
    drawn = [
        ChatRequest(TURNS, temperature=1.0, max_tokens=12, sample=sample) for sample in (1, 1, 2, 3)
    ]
    texts = [one.text for one in replies(TransformersChat(str(model_in(tmp_path))), *drawn)]
    assert texts[0] == texts[1]
    assert len(set(texts)) > 1


@needs_transformers
def test_one_model_is_judge_generator_and_lm(tmp_path: Path) -> None:
    name, registry = f"hf:{model_in(tmp_path)}", Registry()
    opened = {role: registry.open(role, name) for role in ("judge", "generator", "checker", "lm")}
    assert len({id(model) for model in opened.values()}) == 1
    found = asyncio.run(opened["lm"].likelihood(LikelihoodRequest(HEAD, "river elm .")))
    assert len(found.logprobs) == 3


@needs_transformers
def test_what_leaves_no_room_or_has_no_template_is_refused(tmp_path: Path) -> None:
    long = ChatRequest((Message("user", "river " * 300),), max_tokens=4)
    with pytest.raises(TooLong, match="reads at most 256"):
        replies(TransformersChat(str(model_in(tmp_path / "a"))), long)
    with pytest.raises(RequestRefused, match="no chat template"):
        replies(TransformersChat(str(model_in(tmp_path / "b", chat=False))), ChatRequest(TURNS))


@needs_transformers
@needs_peft
def test_an_adapter_changes_the_reply_and_the_name_of_its_calls(tmp_path: Path) -> None:
    folder = model_in(tmp_path / "base")
    adapter = adapter_in(tmp_path / "adapter", folder)
    plain, adapted = TransformersChat(str(folder)), TransformersChat(f"{folder}+{adapter}")
    assert plain.identity != adapted.identity
    assert adapted.identity.startswith(plain.identity)
    assert adapted.name == f"hf:{folder}+{adapter}"
    wanted = ChatRequest(TURNS, max_tokens=1, logprobs=5)
    tops: list[Any] = [
        dict(replies(model, wanted)[0].logprobs[0].top) for model in (plain, adapted)
    ]
    assert not all(
        math.isclose(tops[0].get(text, 0), value, abs_tol=1e-4) for text, value in tops[1].items()
    )


@needs_transformers
def test_a_folder_without_an_adapter_is_refused(tmp_path: Path) -> None:
    folder = model_in(tmp_path / "base")
    (tmp_path / "empty").mkdir()
    with pytest.raises(UserError, match="is no adapter"):
        TransformersChat(f"{folder}+{tmp_path / 'empty'}")
