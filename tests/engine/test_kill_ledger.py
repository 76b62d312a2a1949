"""kill -9 at random moments, and the server's own books: nothing stored is asked again, the rest is unknown."""

from __future__ import annotations

import random
import re
import signal
import sqlite3
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.program import QR, ended, manifest_of, records, rows_of, run, start, until, write_jsonl
from tests.wire import Server, serve

CONCURRENCY = 8


class NinthFails:
    """Every ninth request fails, of an item the first alone: a call is given up after six faults, and tries that come
    every ninth time would be such. A reply names its item as the model's version, so that the cache shows whose it is."""

    def __init__(self) -> None:
        self.failed: set[str] = set()

    def __call__(self, number: int, _path: str, request: Any) -> tuple[int, bytes, str]:
        item = item_of(request)
        if number % 9 == 4 and item not in self.failed:
            self.failed.add(item)
            return 500, b'{"error": {"message": "failed"}}', "retry-after-ms: 20\r\n"
        choices = [{"message": {"content": "85"}, "finish_reason": "stop"}]
        usage = {"prompt_tokens": 50, "completion_tokens": 1}
        return 200, orjson.dumps({"model": item, "choices": choices, "usage": usage}), ""


def item_of(request: Any) -> str:
    found = re.search(r"It is the number (\d+)", request["messages"][-1]["content"])
    assert found is not None
    return found[1]


def asked(server: Server) -> list[str]:
    """The items that the server was asked for, in the order of the requests."""
    return [item_of(body) for _, _, body in list(server.requests)]


def stored(path: Path) -> dict[bytes, str]:
    """Key -> item of every stored reply."""
    if not path.exists():
        return {}
    with closing(sqlite3.connect(path, timeout=30)) as database:
        if not database.execute("SELECT 1 FROM sqlite_master WHERE name = 'calls'").fetchone():
            return {}
        return {
            key: orjson.loads(reply)["model"]
            for key, reply in database.execute("SELECT key, reply FROM calls")
        }


def ledger(path: Path) -> Iterator[tuple[Any, ...]]:
    with closing(sqlite3.connect(path)) as database:
        yield from database.execute("SELECT key, state, status, prompt FROM attempts ORDER BY id")


@pytest.mark.parametrize("kills", [6, pytest.param(40, marks=pytest.mark.slow)])
def test_after_kills_the_servers_books_and_the_ledger_agree(tmp_path: Path, kills: int):
    write_jsonl(tmp_path / "given.jsonl", records(50 * kills))
    cache = tmp_path / "home" / "calls.sqlite"
    moments = random.Random(20261124)
    with serve(latency=0.04, answer=NinthFails()) as server:
        words = [
            "run",
            "given.jsonl",
            "--metrics",
            QR,
            "--judge",
            f"m@{server.base_url}",
            "--out",
            "out",
        ]
        words += ["--concurrency", str(CONCURRENCY)]
        for _ in range(kills):
            before, begun = stored(cache), len(server.requests)
            process = start(*words, home=tmp_path / "home", cwd=tmp_path)
            while len(server.requests) == begun and process.poll() is None:
                time.sleep(0.002)
            time.sleep(moments.uniform(0.0, 0.25))
            process.send_signal(signal.SIGKILL)
            assert ended(process).code in (-signal.SIGKILL, 0)
            until(lambda: server.counts["in_flight"] == 0)
            assert not set(asked(server)[begun:]) & set(
                before.values()
            )  # stored: never asked again
        begun, before = len(server.requests), stored(cache)
        last = run(*words, home=tmp_path / "home", cwd=tmp_path)
        assert last.code == 0, last.err
        assert not set(asked(server)[begun:]) & set(before.values())
        told = run("cache", "ledger", "out", home=tmp_path / "home", cwd=tmp_path)
        assert told.code == 0, told.err
        requests = Counter(asked(server))
        by_status = server.counts["by_status"]

    items = stored(cache)
    assert sorted(items.values(), key=int) == [str(n) for n in range(50 * kills)]
    assert len(rows_of(tmp_path / "out")) == 50 * kills
    states = Counter(
        (items[key], state if status != 500 else "failed")
        for key, state, status, _ in ledger(cache)
    )
    lines = list(ledger(cache))
    assert {state for _, state, _, _ in lines} <= {"answered", "unknown"}
    assert all(
        states[item, "answered"] == 1 for item in items.values()
    )  # whatever was sent again had no stored reply
    # each request of the server's books stands in the ledger; a line more is one that was killed before it went out
    assert all(
        requests[item] <= sum(states[item, kind] for kind in ("answered", "failed", "unknown"))
        for item in items.values()
    )
    unsent = len(lines) - sum(requests.values())
    unknown = sum(state == "unknown" for _, state, _, _ in lines)
    assert 0 <= unsent <= unknown <= kills * CONCURRENCY
    failed = sum(status == 500 for _, _, status, _ in lines)
    assert by_status["200"] + by_status["500"] == sum(requests.values())
    assert (
        by_status["200"] - len(items) <= unknown
    )  # paid by the server, and of no use to us: all of it unknown
    assert failed <= by_status["500"]
    (paid,) = [line for line in told.out.splitlines() if line.startswith("m@")]
    figures = paid.replace(",", "").split()
    assert [int(figures[1]), int(figures[2])] == [len(lines), len(lines) - unknown]
    assert len({one["ledger"] for one in manifest_of(tmp_path / "out")["sessions"]}) >= 2
