"""Adapters: which base model a folder belongs to. What needs torch is in tests/contrib/make/training."""

from __future__ import annotations

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from longmark.contrib.local import adapter
from longmark.errors import MissingExtra, UserError

BASE = {"name": "hf:models/tiny", "identity": "hf:gguf:sha256:" + "a" * 64}


def folder(place: Path, base: dict[str, Any] | None = BASE) -> Path:
    place.mkdir()
    (place / adapter.CONFIG).write_text(
        json.dumps({"base_model_name_or_path": "someone/tiny"}), encoding="utf-8"
    )
    (place / adapter.WEIGHTS).write_bytes(b"weights")
    if base is not None:
        (place / adapter.MANIFEST).write_text(
            json.dumps({"fixed": {"input": {"base": base}}}), encoding="utf-8"
        )
    return place


@pytest.fixture
def peft(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: object())


@pytest.mark.usefixtures("peft")
def test_an_adapter_fits_its_base_model_wherever_that_file_is(tmp_path: Path):
    made = adapter.opened(folder(tmp_path / "one"), "hf:elsewhere/tiny.gguf", BASE["identity"])
    assert made.identity.startswith("lora:sha256:")
    (made.folder / adapter.WEIGHTS).write_bytes(b"other weights")
    assert adapter.opened(made.folder, "hf:tiny", BASE["identity"]).identity != made.identity


@pytest.mark.usefixtures("peft")
def test_an_adapter_of_another_base_model_is_refused(tmp_path: Path):
    with pytest.raises(
        UserError,
        match=r"was trained on hf:models/tiny \(hf:gguf:sha256:a{12}\), not on hf:models/tiny",
    ):
        adapter.opened(folder(tmp_path / "one"), "hf:models/tiny", "hf:gguf:sha256:" + "b" * 64)


@pytest.mark.usefixtures("peft")
def test_without_a_manifest_the_whole_name_in_its_configuration_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    one = folder(tmp_path / "one", None)
    assert adapter.opened(one, "hf:someone/tiny", "hf:someone/tiny")
    for other in ("someone/large", "other/tiny", "tiny", "/home/tiny", "someone/tiny2"):
        with pytest.raises(
            UserError, match=r"was trained on someone/tiny .* base_model_name_or_path"
        ):
            adapter.opened(one, f"hf:{other}", "hf:x")
    (tmp_path / "someone" / "tiny").mkdir(parents=True)
    monkeypatch.chdir(tmp_path)
    assert adapter.opened(
        one, f"hf:{tmp_path / 'someone' / 'tiny'}", "hf:x"
    )  # the folder that the name is


def test_a_folder_without_an_adapter_and_a_broken_manifest_are_refused(tmp_path: Path):
    with pytest.raises(UserError, match=r"is no adapter: it has no adapter_config\.json"):
        adapter.opened(tmp_path, "hf:x", "hf:x")
    for content in (
        "",
        "[]",
        '{"fixed": {"input": {"base": 3}}}',
        '{"fixed": {"input": {"base": {"name": "hf:x"}}}}',
    ):
        (one := folder(tmp_path / f"one{len(content)}")).joinpath(adapter.MANIFEST).write_text(
            content, "utf-8"
        )
        with pytest.raises(UserError, match=r"longmark\.json names no base model"):
            adapter.opened(one, "hf:x", "hf:x")


@pytest.mark.skipif(importlib.util.find_spec("peft") is not None, reason="peft is installed")
def test_a_missing_library_names_its_extra(tmp_path: Path):
    with pytest.raises(MissingExtra, match=r"longmark\[finetune\]"):
        adapter.opened(folder(tmp_path / "one"), BASE["name"], BASE["identity"])
