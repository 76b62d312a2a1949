"""Runs with models of longmark.yaml: what is stored, what a change of the file does, rates, windows, the verbs."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.program import QR as METRIC
from tests.program import Done, manifest_of, rows_of
from tests.program import run as program
from tests.wire import Server, serve

import longmark as package
from longmark.errors import SettingsChanged

EXAMPLES = [{"id": f"e{i}", "question": "Why?", "answer": f"Because {i}."} for i in range(3)]


@pytest.fixture
def server() -> Iterator[Server]:
    with serve(reply="85") as one:
        yield one


def command(folder: Path, *words: str | Path, cwd: Path | None = None) -> Done:
    return program(*words, home=folder / "home", cwd=cwd)


def written(folder: Path, server: Server, *lines: str) -> Path:
    path = folder / "longmark.yaml"
    more = "".join(f"    {line}\n" for line in lines)
    path.write_text(f"models:\n  mine:\n    model: m\n    endpoint: {server.base_url}\n{more}")
    return path


def scored(folder: Path, config: Path, out: str = "run", **options: Any) -> Any:
    cache = folder / "calls.sqlite"
    return package.run(
        EXAMPLES,
        METRIC,
        out=folder / out,
        judges="mine",
        config=config,
        trust=True,
        cache=cache,
        check_profiles=False,
        **options,
    )


def test_the_entry_is_in_the_manifest_and_in_every_row_without_keys_prices_and_rates(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K", "sk-of-this-run-0001")
    said = (
        "key_env: K",
        "temperature: none",
        "body: {x: 1}",
        "headers: {A-Token: '${K}'}",
        "price: {input: 1, output: 1}",
    )
    scored(tmp_path, written(tmp_path, server, *said, "requests_per_minute: 60000"))
    kept = {
        "model": "m",
        "endpoint": server.base_url,
        "temperature": "none",
        "body": {"x": 1},
        "headers": {"A-Token": "${K}"},
    }
    assert manifest_of(tmp_path / "run")["fixed"]["configured"] == {"mine": kept}
    rows = rows_of(tmp_path / "run")
    assert [row.signature.configured for row in rows] == [{"mine": kept}] * 3
    assert rows[0].signature.models == {"judge": ["mine"]}
    assert all(body.get("x") == 1 and "temperature" not in body for _, _, body in server.requests)
    for path in (tmp_path / "run").iterdir():
        assert b"this-run-0001" not in path.read_bytes()


def test_another_entry_under_the_same_name_is_another_run(tmp_path: Path, server: Server) -> None:
    scored(tmp_path, written(tmp_path, server, "temperature: 0.5"))
    with pytest.raises(SettingsChanged, match=r"mine\.temperature: was 0\.5, now 0\.9"):
        scored(tmp_path, written(tmp_path, server, "temperature: 0.9"))
    asked = len(server.requests)
    scored(
        tmp_path, written(tmp_path, server, "temperature: 0.5", "tokens_per_minute: 9000000")
    )  # a rate may change
    assert len(server.requests) == asked
    scored(tmp_path, written(tmp_path, server, "temperature: 0.9"), out="other")
    assert len(server.requests) == asked + 3  # its replies are not those of the first


def test_a_run_is_verified_by_the_stored_entry_without_the_file_and_the_key(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("K", "sk-of-this-run-0001")
    config = written(tmp_path, server, "key_env: K", "top_p: 0.5", "query: {a: b}")
    scored(tmp_path, config)
    config.unlink()
    done = command(tmp_path, "verify", tmp_path / "run", "--cache", tmp_path / "calls.sqlite")
    assert done.code == 0, done.err
    assert "3 of 3 rows verified" in done.out


def test_requests_a_minute_are_kept_by_a_run(tmp_path: Path, server: Server) -> None:
    began = time.monotonic()
    scored(tmp_path, written(tmp_path, server, "requests_per_minute: 300"))
    assert time.monotonic() - began >= 0.4  # three requests, 0.2 s between two of them
    assert len(server.requests) == 3


def test_a_prompt_beyond_the_context_window_is_unscored_without_a_call(
    tmp_path: Path, server: Server
) -> None:
    scored(tmp_path, written(tmp_path, server, "context_window: 10"))
    rows = rows_of(tmp_path / "run")
    assert {row.status for row in rows} == {"too_long"}
    assert "context_window of 10 tokens; nothing was sent" in str(rows[0].reason)
    assert server.requests == []


def test_the_verbs_take_the_file(
    tmp_path: Path, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = written(tmp_path, server, "key_env: MISSING_KEY")
    (tmp_path / "a.jsonl").write_bytes(b"\n".join(map(orjson.dumps, EXAMPLES)))
    words = (
        "run",
        tmp_path / "a.jsonl",
        "--metrics",
        METRIC,
        "--judge",
        "mine",
        "--config",
        config,
        "--trust",
    )
    assert (
        "mine needs a key: set the environment variable MISSING_KEY"
        in command(tmp_path, *words, "--out", "x").err
    )
    assert command(tmp_path, *words, "--dry-run").code == 0  # needs no key
    shown = command(tmp_path, "models", "check", "--config", config)
    assert (shown.code, server.requests) == (0, [])
    assert "key       MISSING_KEY (not set)" in shown.out
    assert command(tmp_path, "models", "check", "mein", "--config", config).err.startswith(
        f"longmark: unknown model in {config}"
    )
    monkeypatch.setenv("MISSING_KEY", "sk-now-it-is-set-01")
    called = command(tmp_path, "models", "check", "--config", config, "--call", "--trust")
    assert called.code == 0, called.out
    assert "mine: replied" in called.out
    assert "now-it-is-set" not in called.out
    assert orjson.loads(command(tmp_path, "models", "schema").out)["title"] == "longmark.yaml"
    no_file = command(tmp_path, "models", "check", cwd=tmp_path / "home")
    assert "there is no longmark.yaml in this folder" in no_file.err


def test_a_model_that_does_not_reply_is_named_and_the_others_are_asked(tmp_path: Path) -> None:
    with serve(force=["401_echo"], reply="ready") as server:
        config = tmp_path / "two.yaml"
        entries = (f"  {name}: {{model: {name}, endpoint: '{server.base_url}'}}\n" for name in "ab")
        config.write_text("models:\n" + "".join(entries))
        done = command(tmp_path, "models", "check", "--config", config, "--call")
    assert done.code == 4
    assert "a: 127.0.0.1" in done.out
    assert "b: replied" in done.out
