"""A run against an endpoint that sends what it should not: nothing lost, nothing free, no failure a number."""

from __future__ import annotations

import gzip
import json
import re
import socketserver
import threading
import time
from collections import Counter
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.program import QR, records, rows_of
from tests.wire import Answer, serve

import longmark
from longmark.engine.session import RunResult
from longmark.models import budget as prices
from longmark.models.budget import Price
from longmark.models.cache import CallCache
from longmark.models.protocols import Tokens

N = 12


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("LONGMARK_API_KEY", raising=False)
    from longmark.models import limits, sending

    def wait(attempt: int, retry_after: float | None, rng: Any) -> float:
        return limits.wait_before(attempt, retry_after, rng) / (100 if retry_after is None else 1)

    monkeypatch.setattr(sending, "wait_before", wait)


def chat(content: str = "80", usage: Any = None, **choice: Any) -> bytes:
    body: dict[str, Any] = {
        "choices": [{"message": {"content": content}, "finish_reason": "stop", **choice}]
    }
    return json.dumps(body if usage is None else {**body, "usage": usage}).encode()


def always(body: bytes, headers: str = "") -> Answer:
    return lambda _number, _path, _request: (200, body, headers)


def scored(tmp_path: Path, base_url: str, out: str = "r", n: int = N, **more: Any) -> RunResult:
    return longmark.run(records(n), QR, judges=f"m@{base_url}", out=tmp_path / out, **more)


def priced(monkeypatch: pytest.MonkeyPatch) -> None:
    """A dollar for 1,000 tokens, at any endpoint."""

    def price(tokens: Tokens) -> float | None:
        return (tokens.prompt + tokens.completion) / 1000

    def of(_model: str, _url: str) -> Price:
        return price

    monkeypatch.setattr(prices, "for_endpoint", of)


@pytest.mark.parametrize("concurrency", [1, 16])
@pytest.mark.parametrize("asks", ["3600", "1000000000", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_a_call_that_is_told_to_come_back_in_an_hour_ends_and_the_run_goes_on(
    tmp_path: Path, concurrency: int, asks: str
):
    def answer(number: int, _path: str, _request: Any) -> tuple[int, bytes, str] | None:
        return (
            (429, b'{"error": {"message": "daily limit"}}', f"retry-after: {asks}\r\n")
            if number < 4
            else None
        )

    began = time.monotonic()
    with serve(answer=answer) as server:
        result = scored(tmp_path, server.base_url, concurrency=concurrency)
    assert time.monotonic() - began < 600  # not the hour that it asks for
    assert Counter(row.status for row in rows_of(tmp_path / "r")) == {"ok": 8, "model_error": 4}
    assert result.closed == ()


def test_an_endpoint_that_tells_everyone_to_come_back_in_an_hour_is_asked_no_more(tmp_path: Path):
    with serve(
        answer=lambda *_: (429, b'{"error": {"message": "daily limit"}}', "retry-after: 3600\r\n")
    ) as server:
        result = scored(tmp_path, server.base_url, n=60, concurrency=4)
    assert server.counts["requests"] <= 5 + 4
    assert len(result.closed) == 1
    assert "daily limit" in result.closed[0]
    assert {row.status for row in rows_of(tmp_path / "r")} == {"model_error"}


ODD = [
    {"prompt_tokens": 200, "completion_tokens": 1, "prompt_tokens_details": {"cached_tokens": 900}},
    {"prompt_tokens": "12", "completion_tokens": 1},
    {"prompt_tokens": 12, "completion_tokens": "1"},
    {"prompt_tokens": -1_000_000, "completion_tokens": 1},
    {"prompt_tokens": 2**64, "completion_tokens": 1},
    {"prompt_tokens": 12.5, "completion_tokens": 1},
    {"prompt_tokens": None},
    "many",
    None,
]


@pytest.mark.parametrize("usage", ODD)
def test_a_usage_that_makes_no_sense_is_unknown_and_its_reply_is_kept(tmp_path: Path, usage: Any):
    with serve(answer=always(chat(usage=usage))) as server:
        result = scored(tmp_path, server.base_url)
        again = scored(tmp_path, server.base_url, out="again")
    rows = rows_of(tmp_path / "r")
    assert [(row.status, row.usage.unmetered, row.usage.prompt_tokens) for row in rows] == [
        ("ok", 1, 0)
    ] * N
    assert (result.counts.unmetered, result.counts.usd) == (N, None)
    assert again.counts.requests == 0


@pytest.mark.parametrize("usage", ODD)
def test_a_budget_in_dollars_stops_at_the_first_reply_without_a_price(
    tmp_path: Path, usage: Any, monkeypatch: pytest.MonkeyPatch
):
    priced(monkeypatch)
    with serve(answer=always(chat(usage=usage))) as server:
        result = scored(tmp_path, server.base_url, max_usd=100.0, concurrency=1)
    assert server.counts["requests"] == 1
    assert result.stopped == "budget"
    assert "--max-usd cannot be enforced" in result.budget
    assert Counter(row.status for row in rows_of(tmp_path / "r")) == {"ok": 1, "over_budget": N - 1}


@pytest.mark.parametrize("usage", ODD)
def test_a_budget_in_tokens_counts_what_a_reply_without_a_count_could_take(
    tmp_path: Path, usage: Any
):
    with serve(answer=always(chat(usage=usage))) as server:
        result = scored(tmp_path, server.base_url, max_tokens=6000, concurrency=1)
    assert 1 <= server.counts["requests"] < N
    assert result.stopped == "budget"


@pytest.mark.parametrize(
    ("body", "known"),
    [(orjson.dumps({"choices": [], "usage": {"prompt_tokens": 600}}), True), (b"<html>", False)],
)
def test_failed_attempts_that_were_billed_count(tmp_path: Path, body: bytes, known: bool):
    with serve(answer=always(body)) as server:
        result = scored(tmp_path, server.base_url, max_tokens=6000, concurrency=1)
    assert server.counts["requests"] <= 8
    assert result.stopped == "budget"
    assert (result.counts.prompt_tokens > 0, result.counts.unmetered > 0) == (known, not known)


def test_attempts_that_ran_into_the_deadline_count(tmp_path: Path):
    with serve(rates={"hang": 1.0}) as server:
        result = scored(tmp_path, server.base_url, max_tokens=6000, concurrency=1, timeout=0.05)
    assert server.counts["requests"] <= 5
    assert result.stopped == "budget"


@pytest.mark.parametrize(
    "choice",
    [
        {"finish_reason": 5},
        {"finish_reason": ["stop"]},
        {"logprobs": {"content": [{"token": None, "logprob": -1}]}},
        {
            "logprobs": {
                "content": [{"token": "80", "logprob": 709.7}, {"token": "80", "logprob": 709.7}]
            }
        },
        {
            "logprobs": {
                "content": [
                    {"token": "80", "logprob": -0.1, "top_logprobs": [{"token": 5, "logprob": 0}]}
                ]
            }
        },
    ],
)
@pytest.mark.parametrize("scoring", ["text", "expected"])
def test_a_row_that_is_ok_never_pays_again(tmp_path: Path, choice: dict[str, Any], scoring: str):
    usage = {"prompt_tokens": 12, "completion_tokens": 1}
    with serve(answer=always(chat(usage=usage, **choice))) as server:
        scored(tmp_path, server.base_url, n=3, scoring=scoring)
        rows = rows_of(tmp_path / "r")
        first = server.counts["requests"]
        scored(tmp_path, server.base_url, out="again", n=3, scoring=scoring)
        assert all(row.score is None or row.status == "ok" for row in rows)
        if all(row.status == "ok" for row in rows):
            assert server.counts["requests"] == first


def test_a_key_that_a_reply_repeats_is_written_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    secret = "sk-" + "abc123XYZ789" * 3
    monkeypatch.setenv("LONGMARK_API_KEY", secret)
    body = orjson.dumps(
        {
            "choices": [
                {"message": {"content": f"80 {secret}", "refusal": secret}, "finish_reason": secret}
            ],
            "usage": {"prompt_tokens": 12, "completion_tokens": 1},
        }
    ).replace(
        secret.encode(), "".join(f"\\u{ord(char):04x}" for char in secret).encode(), 1
    )  # escaped once
    with serve(answer=always(body)) as server:
        scored(tmp_path, server.base_url)
    shown = capsys.readouterr()
    assert secret not in shown.out + shown.err
    assert [
        path
        for path in tmp_path.rglob("*")
        if path.is_file() and secret.encode() in path.read_bytes()
    ] == []
    assert any(b"[key]" in path.read_bytes() for path in (tmp_path / "home").rglob("calls.sqlite*"))


def test_a_body_above_the_limit_is_given_up_unread(tmp_path: Path):
    body = orjson.dumps({"choices": [{"message": {"content": "80" + " " * 2_000_000}}]})
    with serve(answer=always(body)) as server:
        scored(tmp_path, server.base_url, n=2, max_reply_bytes=1_000_000)
        assert server.counts["requests"] == 2  # asking again would bring the same
        assert all(
            re.search("1,000,000 bytes.*--max-reply-bytes", row.reason or "")
            for row in rows_of(tmp_path / "r")
        )
        scored(tmp_path, server.base_url, n=2, max_reply_bytes=3_000_000)
    assert {row.status for row in rows_of(tmp_path / "r")} == {"ok"}


def test_a_packed_reply_is_unpacked_up_to_the_limit(tmp_path: Path):
    usage = {"prompt_tokens": 12, "completion_tokens": 1}
    with serve(
        answer=always(gzip.compress(chat(usage=usage)), "content-encoding: gzip\r\n")
    ) as server:
        scored(tmp_path, server.base_url, n=2)
    assert {row.status for row in rows_of(tmp_path / "r")} == {"ok"}
    bomb = gzip.compress(b" " * 100_000_000, 1)
    with serve(answer=always(bomb, "content-encoding: gzip\r\n")) as server:
        import resource

        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        scored(tmp_path, server.base_url, out="bomb", n=2)
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert {row.status for row in rows_of(tmp_path / "bomb")} == {"model_error"}
    assert grown < 80_000  # kB


@pytest.mark.parametrize("encoding", ["br", "gzip", "deflate"])
def test_a_reply_that_is_not_packed_as_it_says_is_a_fault(tmp_path: Path, encoding: str):
    with serve(answer=always(chat(), f"content-encoding: {encoding}\r\n")) as server:
        scored(tmp_path, server.base_url, n=1)
    assert [row.status for row in rows_of(tmp_path / "r")] == ["model_error"]


def test_two_runs_at_once_on_one_cache_pay_once(tmp_path: Path):
    """Each has a cache object and an event loop of its own, as two processes would."""
    with serve(latency=0.05) as server:
        runs = [
            threading.Thread(
                target=scored, args=(tmp_path, server.base_url, f"r{i}"), kwargs={"n": 80}
            )
            for i in (1, 2)
        ]
        for one in runs:
            one.start()
        for one in runs:
            one.join()
        assert server.counts["paid"] == 80
    assert [[row.score for row in rows_of(tmp_path / out)] for out in ("r1",)] == [
        [row.score for row in rows_of(tmp_path / "r2")]
    ]


def test_a_full_disk_under_the_rows_lets_calls_in_flight_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    from longmark.engine.folder import RunFolder
    from longmark.errors import UserError

    append = RunFolder.append
    written = 0

    def full(folder: RunFolder, n: int, row: Any) -> None:
        nonlocal written
        written += 1
        if written > 5:
            raise UserError("no space left")
        append(folder, n, row)

    with serve(latency=0.02) as server:
        with monkeypatch.context() as broken:
            broken.setattr(RunFolder, "append", full)
            with pytest.raises(UserError, match="no space left"):
                scored(tmp_path, server.base_url, n=100)
        paid = server.counts["paid"]
        assert len(CallCache(tmp_path / "home" / "calls.sqlite").lines()) == 1
        scored(tmp_path, server.base_url, n=100)
        assert server.counts["paid"] == 100
        assert server.counts["paid_again"] == 0
    assert paid < 100


def test_an_odd_host_is_a_mistake_of_the_user(tmp_path: Path):
    from longmark.errors import UserError

    for base_url in ("http://a..b/v1", f"http://{'a' * 64}.example/v1"):
        with pytest.raises(UserError, match="not a base URL"):
            scored(tmp_path, base_url)


class _Plain(socketserver.BaseRequestHandler):
    """What a server that speaks no TLS says to a greeting in it."""

    def handle(self) -> None:
        self.request.recv(1024)
        self.request.sendall(b"HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n")


def test_tls_to_a_port_that_speaks_none_says_so(tmp_path: Path):
    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), _Plain) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        scored(tmp_path, f"https://127.0.0.1:{server.server_address[1]}/v1", n=1)
        server.shutdown()
    (row,) = rows_of(tmp_path / "r")
    assert row.status == "model_error"
    assert "TLS: wrong version number (is it an http:// address?)" in str(row.reason)


def test_a_reply_of_a_million_lists_is_refused_unparsed(tmp_path: Path):
    body = b'{"choices":[' + b"[]," * 1_100_000 + b"[]]}"
    with serve(answer=always(body)) as server:
        scored(tmp_path, server.base_url, n=1)
    (row,) = rows_of(tmp_path / "r")
    assert (row.status, "not JSON" in str(row.reason)) == ("model_error", True)


def test_a_key_that_a_reply_escapes_inside_its_own_json_is_written_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    secret = "sk-" + "abc123XYZ789" * 3
    monkeypatch.setenv("LONGMARK_API_KEY", secret)
    escaped = "".join(f"\\u{ord(char):04x}" for char in secret)
    content = (
        '{"claims": ["'
        + escaped
        + '"], "facts": ["'
        + escaped
        + '"], "questions": ["'
        + escaped
        + '"]}'
    )
    with serve(
        answer=lambda _n, path, _r: (
            (200, chat(content), "") if path.endswith("chat/completions") else None
        )
    ) as at:
        longmark.run(
            records(1), "score.answer_relevance.plain", judges=f"m@{at.base_url}", embedder=f"e@{at.base_url}",
            domain="hazards", out=tmp_path / "r",
        )  # fmt: skip
        assert secret not in str(at.requests[-1][2])
    assert [
        path
        for path in tmp_path.rglob("*")
        if path.is_file() and secret.encode() in path.read_bytes()
    ] == []


def test_bytes_behind_a_finished_gzip_stream_count_towards_the_limit(tmp_path: Path):
    body = gzip.compress(chat()) + b"x" * 2_000_000
    with serve(answer=always(body, "content-encoding: gzip\r\n")) as server:
        scored(tmp_path, server.base_url, n=1, max_reply_bytes=1_000_000)
    (row,) = rows_of(tmp_path / "r")
    assert (row.status, "1,000,000 bytes" in str(row.reason)) == ("model_error", True)


@pytest.mark.parametrize("usd", ["abc", -5.0, float("inf")])
def test_a_stored_price_that_cannot_be_is_asked_anew(tmp_path: Path, usd: object):
    import sqlite3

    with serve() as server:
        scored(tmp_path, server.base_url, n=1)
        with sqlite3.connect(tmp_path / "home" / "calls.sqlite") as database:
            database.execute("UPDATE calls SET usd = ?", (usd,))
        scored(tmp_path, server.base_url, out="again", n=1)
        assert server.counts["requests"] == 2
    assert [row.status for row in rows_of(tmp_path / "again")] == ["ok"]


@pytest.mark.parametrize("finish", [5, True, {"a": 1}, ["stop"], 0, None])
def test_a_reply_that_ends_for_an_odd_reason_is_paid_once_and_read(tmp_path: Path, finish: Any):
    with serve(answer=always(chat(finish_reason=finish))) as server:
        scored(tmp_path, server.base_url, n=3)
        assert server.counts["requests"] == 3
    assert [row.score for row in rows_of(tmp_path / "r")] == [0.8] * 3


def test_a_reply_that_cannot_be_read_is_paid_for_three_times_at_most(tmp_path: Path):
    with serve(
        answer=always(
            b'{"choices": null, "usage": {"prompt_tokens": "9", "completion_tokens": -1}}'
        )
    ) as server:
        scored(tmp_path, server.base_url, n=1)
        assert server.counts["requests"] == 3
    (row,) = rows_of(tmp_path / "r")
    assert (row.status, "incomplete chat reply" in (row.reason or "")) == ("model_error", True)


def test_a_dead_endpoint_stops_the_run_with_the_reason(tmp_path: Path):
    with socketserver.TCPServer(("127.0.0.1", 0), socketserver.BaseRequestHandler) as server:
        port = server.server_address[1]
    result = scored(tmp_path, f"http://127.0.0.1:{port}/v1", n=16)
    assert result.refused == f"the connection to 127.0.0.1:{port} failed: Connection refused"
    assert (result.counts.requests, result.stopped) == (4, "refused")
