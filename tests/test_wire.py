"""The test server counts and fails as it says, since other tests lean on it."""

from __future__ import annotations

import json
import subprocess
import sys
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from tests.wire import serve

CHAT = {"model": "m", "messages": [{"role": "user", "content": "hello"}]}


def post(base_url: str, path: str = "/chat/completions", body: object = CHAT) -> dict[str, object]:
    with urlopen(Request(base_url + path, json.dumps(body).encode()), timeout=5) as response:
        found: dict[str, object] = json.load(response)
        return found


def test_equal_requests_get_equal_replies_and_are_counted() -> None:
    with serve(force=["ok", "500"]) as server:
        first = post(server.base_url)
        with pytest.raises(HTTPError, match="500"):
            post(server.base_url)
        assert post(server.base_url) == first
        post(server.base_url, body=CHAT | {"max_tokens": 3})
        with urlopen(server.base_url.removesuffix("/v1") + "/counts", timeout=5) as response:
            counts = json.load(response)
    assert counts == {
        "requests": 4,
        "by_status": {"200": 3, "500": 1},
        "faults": {"500": 1},
        "unique": 2,
        "repeated": 2,
        "paid": 3,
        "paid_again": 1,
        "in_flight": 0,
        "max_in_flight": 1,
    }


def test_rates_are_drawn_from_the_seed() -> None:
    def statuses(seed: int) -> dict[str, int]:
        found = {"200": 0, "500": 0}
        with serve(rates={"500": 0.5}, draw=seed) as server:
            for _ in range(30):
                try:
                    post(server.base_url)
                    found["200"] += 1
                except HTTPError:
                    found["500"] += 1
        assert server.counts["by_status"] == found
        return found

    assert statuses(1) == statuses(1)
    assert 5 < statuses(1)["500"] < 25


def test_it_runs_by_itself() -> None:
    command = [sys.executable, "-m", "tests.wire", "--reply", "42", "--stdin"]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        reply = post(process.stdout.readline().strip())
        process.stdin.close()
        assert process.wait(timeout=10) == 0
    assert reply["choices"][0]["message"]["content"] == "42"  # type: ignore[index]


def test_what_it_does_not_serve() -> None:
    with serve() as server, pytest.raises(HTTPError, match="404"):
        post(server.base_url, "/audio")
