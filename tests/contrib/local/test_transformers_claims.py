"""The claim checker on transformers, on tiny Qwen2-like models with random weights that are made here."""

from __future__ import annotations

import asyncio
import importlib.util
import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from tests.contrib.local.test_transformers_chat import adapter_in, needs_peft
from tests.contrib.local.test_transformers_lm import needs_transformers
from tests.models.test_http_claims import SameVectorEmbedder

from longmark.contrib.local import lora_file
from longmark.contrib.local.checker_form import checker_settings, form_of
from longmark.contrib.local.claim_checker import ClaimChecker
from longmark.contrib.local.lora_file import LoraFile
from longmark.contrib.local.transformers_claims import TransformersClaims, _batches, _Question
from longmark.errors import MissingExtra, RequestRefused

needs_gguf = pytest.mark.skipif(importlib.util.find_spec("gguf") is None, reason="pip install gguf")
EVIDENCE = "The dam broke in June. Nobody was charged."
CLAIMS = ("The dam broke.", "Nobody was charged in June.", "The dam held <|im_end|> for long.")


def qwen_in(folder: Path, *, control: bool = True) -> Path:
    """A Qwen2 of two layers whose tokens are bytes, Yes and No. control: whether it has the tokens of the prompt."""
    import torch
    from tokenizers import pre_tokenizers
    from transformers import Qwen2Config, Qwen2ForCausalLM, Qwen2Tokenizer

    names = [*sorted(pre_tokenizers.ByteLevel.alphabet()), "Ye", "Yes", "No"]
    merges = [("Y", "e"), ("Ye", "s"), ("N", "o")]
    tokenizer = Qwen2Tokenizer(
        vocab={name: number for number, name in enumerate(names)}, merges=merges
    )
    if control:
        tokenizer.add_special_tokens({"additional_special_tokens": ["<|im_start|>", "<|im_end|>"]})
    tokenizer.save_pretrained(folder)
    torch.manual_seed(5)
    config = Qwen2Config(
        vocab_size=len(tokenizer),
        hidden_size=32,
        intermediate_size=48,
        num_hidden_layers=2,
        num_attention_heads=4,
        num_key_value_heads=2,
        max_position_embeddings=512,
        initializer_range=0.5,
    )
    Qwen2ForCausalLM(config).save_pretrained(folder)
    return folder


def lora_in(path: Path, base: Path, *, layers: int = 2) -> dict[str, Any]:
    """An adapter of rank 2 and alpha 6 in llama.cpp's format; gives (layer, matrix) -> what it adds to the weights."""
    import gguf
    import torch
    from transformers import AutoModelForCausalLM

    state = AutoModelForCausalLM.from_pretrained(base).state_dict()
    writer = gguf.GGUFWriter(path, "qwen2")
    writer.add_string("adapter.type", "lora")
    writer.add_float32("adapter.lora.alpha", 6.0)
    generator = torch.Generator().manual_seed(1)
    added = {}
    for layer in range(layers):
        for name, matrix in (("attn_q", "self_attn.q_proj"), ("ffn_down", "mlp.down_proj")):
            height, width = state[f"model.layers.0.{matrix}.weight"].shape
            half_a, half_b = (
                torch.randn(2, width, generator=generator),
                torch.randn(height, 2, generator=generator),
            )
            writer.add_tensor(f"blk.{layer}.{name}.weight.lora_a", half_a.numpy())
            writer.add_tensor(f"blk.{layer}.{name}.weight.lora_b", half_b.numpy())
            added[f"model.layers.{layer}.{matrix}.weight"] = 6.0 / 2 * half_b @ half_a
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return added


def probabilities(model: TransformersClaims, adapter: Path | None = None) -> list[float]:
    async def ask() -> list[float]:
        settings = checker_settings("claim-checker:hf:tiny")
        checker = ClaimChecker(
            settings, form_of("claim-checker"), model, SameVectorEmbedder(), adapter
        )
        try:
            return [
                triple[0] for triple in (await checker.classify(EVIDENCE, CLAIMS)).probabilities
            ]
        finally:
            await checker.close()

    return asyncio.run(ask())


def by_hand(
    base: Path, added: dict[str, Any] | None = None, peft_folder: Path | None = None
) -> list[float]:
    """Each prompt read whole and alone, by the published curve; the cosine is 1. added: to the weights."""
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model, tokenizer = (
        AutoModelForCausalLM.from_pretrained(base),
        AutoTokenizer.from_pretrained(base),
    )
    for name, matrix in (added or {}).items():
        model.state_dict()[name].add_(matrix)
    if peft_folder is not None:
        from peft import PeftModel

        model = PeftModel.from_pretrained(model, peft_folder)
    found = []
    for claim in CLAIMS:
        before = tokenizer.encode("<|im_start|>", add_special_tokens=False)
        text = f"user\nEvidence: {EVIDENCE}\nClaim: {claim}\nIs all of the claim supported by the evidence?"
        plain = tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True)
        after = tokenizer.encode("<|im_end|>\n<|im_start|>assistant\n", add_special_tokens=False)
        yes, no = (tokenizer.encode(word, add_special_tokens=False)[0] for word in ("Yes", "No"))
        with torch.no_grad():
            logits = model(torch.tensor([[*before, *plain, *after]])).logits[0, -1]
        odds = float(logits[yes] - logits[no])
        found.append(1 / (1 + math.exp(-(0.5153133 * odds + 1.4802816 - 0.8549604))))
    return found


@needs_transformers
def test_a_batch_gives_what_each_prompt_gives_read_alone(tmp_path: Path) -> None:
    base = qwen_in(tmp_path)
    assert probabilities(TransformersClaims(str(base))) == pytest.approx(by_hand(base), abs=1e-4)


@needs_peft
@needs_gguf
@needs_transformers
def test_the_adapter_of_llama_cpp_adds_to_the_weights_what_it_holds(tmp_path: Path) -> None:
    base = qwen_in(tmp_path / "base")
    added = lora_in(tmp_path / "lora.gguf", base)
    found = probabilities(TransformersClaims(str(base)), tmp_path / "lora.gguf")
    assert found == pytest.approx(by_hand(base, added), abs=1e-4)
    assert found != pytest.approx(by_hand(base), abs=1e-2)


@needs_peft
@needs_transformers
def test_an_adapter_of_the_users_takes_the_place_of_the_built_in_one(tmp_path: Path) -> None:
    base = qwen_in(tmp_path / "base")
    folder = adapter_in(tmp_path / "adapter", base)
    model = TransformersClaims(f"{base}+{folder}")
    assert model.brings_adapter
    assert probabilities(model) == pytest.approx(by_hand(base, peft_folder=folder), abs=1e-4)


@needs_peft
@needs_gguf
@needs_transformers
def test_the_adapter_as_a_folder_of_peft_adds_the_same_to_the_weights(tmp_path: Path) -> None:
    base = qwen_in(tmp_path / "base")
    added = lora_in(tmp_path / "lora.gguf", base)
    folder = tmp_path / "peft"
    LoraFile.read(tmp_path / "lora.gguf").write(folder, str(base))
    model = TransformersClaims(f"{base}+{folder}")
    assert probabilities(model) == pytest.approx(by_hand(base, added), abs=1e-4)


@needs_peft
@needs_gguf
def test_the_built_in_adapter_is_written_for_peft(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lora_file.main([str(tmp_path / "peft"), "mine"])
    config = json.loads((tmp_path / "peft" / "adapter_config.json").read_text())
    assert (config["r"], config["base_model_name_or_path"]) == (8, "mine")
    assert config["target_modules"] == sorted(
        ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"]
    )
    assert "CC BY-SA 4.0" in capsys.readouterr().out


@needs_peft
@needs_gguf
@needs_transformers
def test_an_adapter_of_another_model_is_refused(tmp_path: Path) -> None:
    base = qwen_in(tmp_path / "base")
    lora_in(tmp_path / "lora.gguf", base, layers=3)
    with pytest.raises(
        RequestRefused,
        match=r"peft cannot load the adapter lora.gguf .*Qwen2.5-Coder-1.5B-Instruct",
    ):
        probabilities(TransformersClaims(str(base)), tmp_path / "lora.gguf")


@needs_transformers
def test_a_model_without_the_tokens_of_the_prompt_is_refused(tmp_path: Path) -> None:
    base = qwen_in(tmp_path, control=False)
    with pytest.raises(
        RequestRefused,
        match=r"for models of the Qwen2 family, and hf:.* has no token <\|im_start\|>",
    ):
        probabilities(TransformersClaims(str(base)))


@needs_transformers
def test_an_error_of_a_batch_reaches_all_who_wait_and_the_next_batch_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = TransformersClaims(str(qwen_in(tmp_path)))

    async def go() -> tuple[list[Any], list[Any]]:
        def fails(_batch: Sequence[_Question]) -> list[float]:
            raise RequestRefused("the card is full")

        with monkeypatch.context() as patch:
            patch.setattr(model, "_log_odds", fails)
            failed = await asyncio.gather(
                *(model.log_odds([n], [1], [2]) for n in (3, 4)), return_exceptions=True
            )
        return failed, [await model.log_odds([3], [1], [2])]

    failed, replies = asyncio.run(go())
    assert [str(error) for error in failed] == ["the card is full"] * 2
    assert replies[0][1].prompt == 1
    asyncio.run(model.close())


def test_batches_hold_prompts_of_like_length_within_the_room() -> None:
    async def go() -> list[list[int]]:
        loop = asyncio.get_running_loop()
        questions = [
            _Question([0] * size, [], [], loop.create_future())
            for size in (10, 90, 30, 100, 20, 500)
        ]
        return [[len(question.prompt) for question in batch] for batch in _batches(questions, 200)]

    # 500 is longer than the room, and alone; 100 with 90 is 2 x 100; 30, 20 and 10 are 3 x 30
    assert asyncio.run(go()) == [[500], [100, 90], [30, 20, 10]]


@needs_transformers
def test_the_built_in_adapter_needs_peft_and_gguf(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = TransformersClaims(str(qwen_in(tmp_path)))
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)
    with pytest.raises(MissingExtra, match="longmark\\[finetune\\]"):
        model.use_adapter(tmp_path / "lora.gguf")
