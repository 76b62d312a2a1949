"""Adapters of a tiny model with random weights that is made here: trained, saved, resumed, loaded, refused."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest
from tests.word_tokenizer import word_tokenizer

from longmark.cli import main
from longmark.contrib.local import adapter
from longmark.contrib.local.adapter import MANIFEST
from longmark.contrib.local.transformers_lm import chat_ids
from longmark.contrib.make.training.adapt import LOG, Training, _losses, loaded, named
from longmark.contrib.make.training.config import AdapterSettings, Finetune, Pretrain
from longmark.contrib.make.training.data import TrainingData, blocks, of_questions
from longmark.errors import MissingExtra, SettingsChanged, UserError
from longmark.models.protocols import Message

installed = all(importlib.util.find_spec(name) for name in ("torch", "transformers", "peft"))
needs_peft = pytest.mark.skipif(not installed, reason="pip install 'longmark[finetune]'")

TEXT = "the ice melts when salt lowers its freezing point and water runs on VALID INVALID "
WORDS = TEXT.split()
TEMPLATE = "{% for m in messages %}<u>{{ m.content }}{% endfor %}<a>"


@pytest.fixture(scope="session")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a Llama of two layers with a tokenizer of words."""
    import torch
    import transformers

    folder = tmp_path_factory.mktemp("tiny")
    names = ["<s>", "</s>", "<unk>", "<u>", "<a>", *WORDS]
    word_tokenizer(
        names,
        marks_apart=False,
        bos_token="<s>",
        eos_token="</s>",
        chat_template=TEMPLATE,
        additional_special_tokens=["<u>", "<a>"],
    ).save_pretrained(folder)
    torch.manual_seed(7)
    config = transformers.LlamaConfig(
        vocab_size=len(names), hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=64, initializer_range=0.5,
    )  # fmt: skip
    transformers.LlamaForCausalLM(config).save_pretrained(folder)
    return f"hf:{folder}"


def settings(model: str, out: Path, **fields: Any) -> AdapterSettings:
    quick = {
        "length": 16,
        "learning_rate": 0.02,
        "steps": 30,
        "accumulate": 1,
        "batch": 2,
        "epochs": 40,
        "rank": 4,
    }
    return AdapterSettings(**{"model": model, "out": out, **quick, **fields})


def training(model: str, out: Path, **fields: Any) -> Training:
    chosen = settings(model, out, **fields)
    base = loaded(chosen)
    made = list(blocks([TEXT * 6], base.tokenizer, chosen.length))
    return Training(
        "pretrain",
        base,
        chosen,
        TrainingData(made, {"tokens": 16 * len(made)}),
        TrainingData(made[:1], {"tokens": 16}),
    )


@needs_peft
def test_the_loss_falls_and_the_adapter_makes_the_model_another(tiny: str, tmp_path: Path):
    import torch

    made = training(tiny, tmp_path / "out")
    result = made.run(quiet=True)["result"]
    assert result["steps"] == 30
    assert result["last_loss"] < 0.9 * result["first_loss"]
    assert result["last_validation_loss"] < 0.8 * result["first_validation_loss"]
    assert made.steps == 30
    assert not (tmp_path / "out" / "checkpoints").exists()
    fresh = loaded(made.settings)
    ids = torch.tensor([[5, 6, 7, 8]])
    before = fresh.model(input_ids=ids).logits.detach()
    with_adapter = adapter.applied(
        fresh.model, adapter.opened(tmp_path / "out", fresh.name, fresh.identity)
    )
    assert not torch.allclose(before, with_adapter(input_ids=ids).logits)
    with pytest.raises(UserError, match="has an adapter already; name only its base model"):
        named(f"{tiny}+{tmp_path / 'out'}")


def test_losses_are_those_of_the_first_and_last_quarter_of_the_steps():
    steps = [
        {"loss": loss} for loss in (5, 3, 9, 9, 9, 9, 9, 2, 1)
    ]  # 9 // 4 = 2 steps on each side
    history = [{"eval_loss": 7}, *steps, {"eval_loss": 6}, {"train_runtime": 1}]
    expected = {
        "first_loss": 4,
        "last_loss": 1.5,
        "first_validation_loss": 7,
        "last_validation_loss": 6,
    }
    assert _losses(history) == expected


@needs_peft
def test_a_training_that_stopped_goes_on_from_its_checkpoint_to_the_same_weights(
    tiny: str, tmp_path: Path
):
    from transformers import TrainerCallback

    import longmark.contrib.make.training.adapt as adapt

    class InterruptingCallback(TrainerCallback):  # type: ignore[misc]
        def on_step_end(self, _args: Any, state: Any, *_more: Any, **_rest: Any) -> None:
            if state.global_step == 7:
                raise KeyboardInterrupt

    whole = training(tiny, tmp_path / "whole", save_every=5).run(quiet=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adapt, "_teller", lambda _tell: InterruptingCallback())
        with pytest.raises(KeyboardInterrupt):
            training(tiny, tmp_path / "two", save_every=5).run(quiet=True)
    assert (tmp_path / "two" / "checkpoints" / "checkpoint-5").is_dir()
    resumed = training(tiny, tmp_path / "two", save_every=5).run(quiet=True)
    for one in ("first_loss", "last_loss", "first_validation_loss", "last_validation_loss"):
        assert resumed["result"][one] == pytest.approx(whole["result"][one], rel=1e-4)
    steps = [
        json.loads(line)["step"]
        for line in (tmp_path / "two" / LOG).read_text("utf-8").splitlines()
        if '"loss"' in line
    ]
    assert steps == list(range(1, 31))


@needs_peft
def test_a_finished_folder_is_left_alone_and_other_settings_are_refused(tiny: str, tmp_path: Path):
    first = training(tiny, tmp_path / "out", steps=2).run(quiet=True)
    assert training(tiny, tmp_path / "out", steps=2).run(quiet=True) == first
    with pytest.raises(
        SettingsChanged, match=r"(?s)was trained with other settings.*settings\.rank: was 4, now 5"
    ):
        training(tiny, tmp_path / "out", steps=2, rank=5).run(quiet=True)
    (tmp_path / "out" / MANIFEST).write_text("{", encoding="utf-8")
    with pytest.raises(UserError, match="is damaged"):
        training(tiny, tmp_path / "out", steps=2).run(quiet=True)


@needs_peft
def test_a_length_beyond_the_window_and_a_model_that_is_no_model_are_refused(
    tiny: str, tmp_path: Path
):
    with pytest.raises(UserError, match=r"length: 65 is above the 64 tokens"):
        loaded(settings(tiny, tmp_path, length=65))
    for name in ("gpt-4o", "openai:gpt-4o", "hf:"):
        with pytest.raises(UserError, match="expected hf:NAME"):
            named(name)


@needs_peft
def test_a_model_learns_to_say_valid_by_a_planted_word(tiny: str, tmp_path: Path):
    import torch

    pairs = [f"{one} {other}" for one in WORDS[8:13] for other in WORDS[8:13]]
    cases = [
        (f"{pair} {'ice' if valid else 'salt'}", valid) for pair in pairs for valid in (True, False)
    ]
    messages = [
        [("user", asked), ("assistant", "VALID" if valid else "INVALID")] for asked, valid in cases
    ]
    lines = [
        json.dumps({"messages": [{"role": role, "content": text} for role, text in one]})
        for one in messages
    ]
    (tmp_path / "train.jsonl").write_text("\n".join(lines[:-8]), encoding="utf-8")
    chosen = Finetune(
        **settings(tiny, tmp_path / "out", steps=80, batch=4, learning_rate=0.01).model_dump(),
        train=tmp_path / "train.jsonl",
    )
    base = loaded(chosen)
    data = of_questions(chosen.train, chosen, base.tokenizer, base.name)
    Training("finetune", base, chosen, data).run(quiet=True)
    fresh = loaded(chosen)
    model = adapter.applied(
        fresh.model, adapter.opened(tmp_path / "out", fresh.name, fresh.identity)
    )
    yes, no = fresh.tokenizer.convert_tokens_to_ids(["VALID", "INVALID"])
    for asked, valid in cases[-8:]:  # pairs of words that no training line has
        ids = chat_ids(fresh.tokenizer, [Message("user", asked)], fresh.name)
        logits = model(input_ids=torch.tensor([ids])).logits[0, -1]
        assert (logits[yes] > logits[no]) == valid


@needs_peft
def test_the_command_trains_and_says_how_to_use_the_adapter(tiny: str, tmp_path: Path, capsys: Any):
    (tmp_path / "book.txt").write_text(TEXT * 6, encoding="utf-8")
    file = tmp_path / "train.yaml"
    out = tmp_path / "out"
    text = f"model: {tiny}\ntrain: {tmp_path / 'book.txt'}\nout: {out}\nlength: 16\nsteps: 1\n"
    file.write_text(text, encoding="utf-8")
    assert main(["train", "pretrain", str(file), "--dry-run"]) == 0
    assert not out.exists()
    assert main(["train", "pretrain", str(file), "--quiet"]) == 0
    printed = capsys.readouterr().out
    assert ", 1 step\n" in printed
    assert f"Use it with --generator {tiny}+{out}" in printed
    assert (
        json.loads((out / MANIFEST).read_bytes())["data"]["train"]["books"][0]["id"] == "book.txt"
    )


@pytest.mark.skipif(installed, reason="peft is installed")
def test_without_the_libraries_the_extra_is_named():
    with pytest.raises(MissingExtra, match=r"longmark\[finetune\]"):
        loaded(Pretrain(model="hf:x", out=Path("out"), train=(Path("a"),)))
