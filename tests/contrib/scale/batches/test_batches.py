"""Batches through the command, against servers that follow the vendors' formats strictly."""

from __future__ import annotations

import asyncio
import re
import signal
import subprocess
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.contrib.scale.batches.strict_server import DIALECTS, BatchServer, Behaviour, serve
from tests.contrib.scale.batches.three_steps import THREE_STEPS
from tests.contrib.scale.run_words import trusted_run
from tests.program import QR, Done, manifest_of, records, rows_of, run, start, until, write_jsonl

from longmark.contrib.scale.batches import batch_vendor, batcher, file_vendors, tracker, vendors
from longmark.engine.estimate import MetricEstimate, _affordable
from longmark.models.batching import too_few
from longmark.models.http import Endpoint
from longmark.models.http_chat import HttpChat
from longmark.records import Row


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    """A batch is looked at often."""
    monkeypatch.setattr(batcher, "_AGAIN", 0.03)
    monkeypatch.setattr(tracker, "_SOON", 0.03)
    monkeypatch.setattr(tracker, "_LATE", 0.03)
    monkeypatch.setattr("longmark.models.limits._LEAST_WAIT", 0.01)
    monkeypatch.setattr(tracker, "wait_before", lambda *_: 0.01)
    monkeypatch.setattr("longmark.models.sending.wait_before", lambda *_: 0.01)
    monkeypatch.setitem(vendors._HOSTS, "127.0.0.1", file_vendors.FileVendor)


@contextmanager
def serving(
    dialect: str,
    folder: Path,
    monkeypatch: pytest.MonkeyPatch | None = None,
    n: int = 60,
    **behaviour: Any,
) -> Iterator[BatchServer]:
    """A server of a dialect, with examples and a longmark.yaml whose model `m` it serves."""
    with serve(dialect, Behaviour(**behaviour)) as server:
        if monkeypatch is not None and dialect in ("mistral", "together"):
            kind = {"mistral": file_vendors.Mistral, "together": file_vendors.Together}[dialect]
            monkeypatch.setitem(vendors._HOSTS, "127.0.0.1", kind)
        entry = {
            "model": "m",
            "endpoint": server.base_url,
            "price": {"input": 1.0, "output": 2.0, "batch": 0.5},
        }
        entry |= {"dialect": "anthropic"} if dialect == "anthropic" else {}
        (folder / "longmark.yaml").write_text(yaml.safe_dump({"models": {"m": entry}}))
        write_jsonl(folder / "given.jsonl", records(n))
        yield server


def score(folder: Path, out: str, *more: str, metrics: str = QR) -> Done:
    words = trusted_run(out, *more, "--cache", f"{out}.sqlite", metrics=metrics)
    return run(*words, home=folder / "home", cwd=folder)


def started_batch_run(folder: Path) -> subprocess.Popen[bytes]:
    """A process that scores the examples of the folder into its folder `b`, in batches."""
    words = trusted_run("b", "--batch", "--cache", "b.sqlite")
    return start(*words, home=folder / "home", cwd=folder)


def told(rows: list[Row]) -> list[dict[str, Any]]:
    """All of the rows but what the calls cost, and where they were made."""
    return [
        {k: v for k, v in asdict(row).items() if k not in ("usage", "system", "signature")}
        for row in rows
    ]


def reasons(rows: list[Row]) -> list[str | None]:
    return [row.reason for row in rows if row.status != "ok"]


def repeated(server: BatchServer) -> int:
    """Requests of batches that were processed, and so paid, more than once."""
    return sum(count - 1 for count in server.paid.values())


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("odd", [False, True])
def test_a_batch_run_equals_a_run_of_single_calls_row_for_row(
    dialect: str, odd: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with serving(dialect, tmp_path, monkeypatch, odd=odd) as server:
        batched, single = score(tmp_path, "b", "--batch"), score(tmp_path, "s")
        assert (batched.code, single.code, server.refused) == (0, 0, [])
        assert told(rows_of(tmp_path / "b")) == told(rows_of(tmp_path / "s"))
        assert (server.created, sum(server.paid.values()), repeated(server)) == (
            1,
            40,
            0,
        )  # 20 went by themselves
        used = [row.usage for row in rows_of(tmp_path / "b")]
        price = {(one.usd or 0.0) / (one.prompt_tokens + 2 * one.completion_tokens) for one in used}
        assert sorted(price) == pytest.approx([0.5e-6, 1e-6])
        assert server.files == {} or dialect == "anthropic"


def test_a_metric_of_three_steps_takes_three_rounds(tmp_path: Path):
    (tmp_path / "three.py").write_text(THREE_STEPS)
    with serving("openai", tmp_path, n=50) as server:
        batched = score(tmp_path, "b", "--batch", metrics="three.py")
        single = score(tmp_path, "s", metrics="three.py")
        assert (batched.code, single.code) == (0, 0), batched.err
        assert told(rows_of(tmp_path / "b")) == told(rows_of(tmp_path / "s"))
        assert (server.created, sum(server.paid.values())) == (3, 130)


def test_few_examples_open_at_once_make_more_and_smaller_batches(tmp_path: Path):
    with serving("openai", tmp_path, n=80) as server:
        done = score(tmp_path, "b", "--batch", "--batch-examples", "40")
        assert done.code == 0
        assert [len(job.lines) for job in server.jobs.values()] == [
            40,
            20,
        ]  # the examples of the single calls make room for more


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_what_expired_goes_into_the_next_batch_and_what_finished_is_kept(
    dialect: str, tmp_path: Path
):
    with serving(dialect, tmp_path, expire=0.5, bad=1) as server:
        assert score(tmp_path, "b", "--batch").code == 0
        assert [len(job.lines) for job in server.jobs.values()] == [40, 20]
        assert repeated(server) == 0


@pytest.mark.parametrize("dialect", ["openai", "anthropic", "mistral"])
def test_lines_that_failed_go_into_the_next_batch(
    dialect: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    with serving(dialect, tmp_path, monkeypatch, fail=0.25, bad=1) as server:
        assert score(tmp_path, "b", "--batch").code == 0
        assert [len(job.lines) for job in server.jobs.values()] == [40, 10]
        assert repeated(server) == 0


def test_a_line_that_is_refused_is_unscored_as_a_single_call_would_be(tmp_path: Path):
    with serving("anthropic", tmp_path, refuse=0.1) as server:
        score(tmp_path, "b", "--batch")
        assert len(reasons(rows_of(tmp_path / "b"))) == 4
        assert all(
            "refused the request (400)" in str(reason)
            for reason in reasons(rows_of(tmp_path / "b"))
        )
        assert server.created == 1


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
@pytest.mark.parametrize("after", [False, True])
def test_a_submission_without_a_reply_is_looked_for_before_anything_is_sent_again(
    dialect: str, after: bool, tmp_path: Path
):
    with serving(dialect, tmp_path, cut=1, cut_after=after) as server:
        assert score(tmp_path, "b", "--batch", "--timeout", "2").code == 0
        assert repeated(server) == 0
        assert len(server.jobs) == 1


def test_a_batch_without_metadata_is_known_by_its_input_file(tmp_path: Path):
    with serving("openai", tmp_path, cut=1, metadata=False) as server:
        assert score(tmp_path, "b", "--batch").code == 0
        assert (len(server.jobs), repeated(server)) == (1, 0)


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_a_lost_batch_is_unknown_and_not_sent_again_unless_that_is_wanted(
    dialect: str, tmp_path: Path
):
    with serving(dialect, tmp_path, lose=1) as server:
        score(tmp_path, "b", "--batch")
        score(tmp_path, "b", "--batch")
        assert (server.created, len(reasons(rows_of(tmp_path / "b")))) == (1, 40)
        assert "--resend-unknown yes" in str(reasons(rows_of(tmp_path / "b"))[0])
        listed = run("batches", "--cache", "b.sqlite", home=tmp_path / "home", cwd=tmp_path).out
        assert " lost " in listed
        assert server.files == {}, "the answers do not stay at the vendor"
        assert score(tmp_path, "b", "--batch", "--resend-unknown", "yes").code == 0
        assert (server.created, reasons(rows_of(tmp_path / "b"))) == (2, [])
        listed = run("batches", "--cache", "b.sqlite", home=tmp_path / "home", cwd=tmp_path).out
        assert [line.split()[1] for line in listed.split("\n")[1:3]] == ["lost", "cleaned"]


def test_a_result_that_is_missing_in_a_completed_batch_is_unknown(tmp_path: Path):
    with serving("openai", tmp_path, missing=3, bad=1) as server:
        score(tmp_path, "b", "--batch")
        score(tmp_path, "b", "--batch")
        assert (server.created, len(reasons(rows_of(tmp_path / "b")))) == (1, 3)
        assert score(tmp_path, "b", "--batch", "--resend-unknown", "yes").code == 0
        assert [len(job.lines) for job in server.jobs.values()] == [40, 3]


def test_a_full_queue_is_met_by_smaller_batches_one_after_the_other(tmp_path: Path):
    with serving("openai", tmp_path, queue=15) as server:
        assert score(tmp_path, "b", "--batch").code == 0
        assert max(len(job.lines) for job in server.jobs.values() if not job.failure) <= 15
        assert (sum(server.paid.values()), repeated(server)) == (40, 0)


def test_limits_of_a_vendor_are_met_by_splitting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(file_vendors.FileVendor, "most_lines", 15)
    with serving("openai", tmp_path, most=15) as server:
        assert score(tmp_path, "b", "--batch").code == 0
        assert (sorted(len(job.lines) for job in server.jobs.values()), server.refused) == (
            [10, 15, 15],
            [],
        )


def test_a_batch_that_is_refused_as_a_whole_says_why(tmp_path: Path):
    with serving("openai", tmp_path, failure="invalid_model", bad=1):
        score(tmp_path, "b", "--batch")
        assert "refused the batch" in str(reasons(rows_of(tmp_path / "b"))[0])


def test_a_judge_that_refuses_its_key_stops_before_a_batch(tmp_path: Path):
    with serving("openai", tmp_path) as server:
        write_jsonl(tmp_path / "given.jsonl", records(30))
        (tmp_path / "longmark.yaml").write_text(
            yaml.safe_dump(
                {"models": {"m": {"model": "m", "endpoint": server.base_url + "/nowhere"}}}
            )
        )
        assert score(tmp_path, "b", "--batch").code == 4
        assert server.created == 0


def test_submitted_money_counts_against_the_budget(tmp_path: Path):
    with serving("openai", tmp_path, n=100) as server:
        score(tmp_path, "b", "--batch", "--max-calls", "50")
        assert sum(server.singles.values()) + sum(server.paid.values()) == 50


def test_a_round_under_a_budget_in_dollars_is_one_batch(tmp_path: Path):
    with serving("openai", tmp_path, n=60) as server:
        assert score(tmp_path, "b", "--batch", "--max-usd", "5").code == 0
        assert server.created == 1


def test_a_round_that_does_not_fit_into_the_budget_is_split(tmp_path: Path):
    with serving("openai", tmp_path, n=60) as server:
        assert score(tmp_path, "free", "--batch").code == 0
        [session] = manifest_of(tmp_path / "free")["sessions"]
        spent = session["usd"]
        assert server.created == 1
        done = score(
            tmp_path, "tight", "--batch", "--max-usd", str(1.5 * spent)
        )  # 40 calls need 5 x that at most
        [session] = manifest_of(tmp_path / "tight")["sessions"]
        assert (done.code, reasons(rows_of(tmp_path / "tight"))) == (0, [])
        assert session["usd"] == pytest.approx(spent)
        assert server.created > 3


def test_a_budget_that_leaves_a_tiny_batch_ends_the_run_and_its_rest_serves_single_calls(
    tmp_path: Path,
):
    with serving("openai", tmp_path, n=60) as server:
        assert score(tmp_path, "free", "--batch").code == 0
        [session] = manifest_of(tmp_path / "free")["sessions"]
        limit = str(0.8 * session["usd"])  # after 20 single calls there is money for 2 of 40
        dry = score(tmp_path, "tight", "--batch", "--max-usd", limit, "--dry-run").out
        assert "and the run would end" in dry
        done = score(tmp_path, "tight", "--batch", "--max-usd", limit)
        [session] = manifest_of(tmp_path / "tight")["sessions"]
        assert (done.code, server.created, session["requests"], session["stopped"]) == (
            4,
            1,
            20,
            "budget",
        )
        assert "enough for 2 of the 40 calls that wait" in done.err
        assert in_ledger(tmp_path, "tight") == {
            "attempts": 20,
            "answered": 20,
            "unknown": 0,
            "in flight": 0,
        }
        score(tmp_path, "tight", "--max-usd", limit)
        assert manifest_of(tmp_path / "tight")["sessions"][1]["requests"] > 5


@pytest.mark.parametrize(
    ("waiting", "least"),
    [(1, 1), (2, 2), (9, 2), (20, 2), (21, 3), (100, 10), (200, 20), (201, 20), (10_000, 20)],
)
def test_a_batch_is_as_large_as_its_wait_is_long(waiting: int, least: int):
    assert next(fitting for fitting in range(waiting + 1) if not too_few(fitting, waiting)) == least


def test_what_a_budget_lets_go_in_batches_by_hand():
    """Calls of $.10 that reserve $1 each: with $30, 30, 27 and 24 of 100 fit, then the 19 that are left."""
    total = MetricEstimate(calls=100, usd=10.0, reserved=100.0)
    assert [_affordable(total, most) for most in (100.0, 30.0, 8.0, None)] == [
        None,
        (100, 4),
        (0, 0),
        None,
    ]
    assert _affordable(replace(total, usd=50.0), 30.0) == (
        52,
        3,
    )  # 30, 15, 7; then 4 of 48, no tenth


def test_an_endpoint_without_a_known_batch_api_is_told_before_it_is_paid_at_the_full_price(
    tmp_path: Path,
):
    write_jsonl(tmp_path / "given.jsonl", records(2))
    entry = {"model": "g", "dialect": "gemini", "endpoint": "http://127.0.0.1:9/v1beta"}
    (tmp_path / "longmark.yaml").write_text(yaml.safe_dump({"models": {"m": entry}}))
    assert "m: no batch API is known here" in score(tmp_path, "b", "--batch", "--dry-run").err
    assert "no batch API" not in score(tmp_path, "b", "--dry-run").err


def test_a_vendor_that_fails_for_long_is_asked_again_by_each_call(tmp_path: Path):
    with serving("openai", tmp_path, broken=15) as server:
        assert score(tmp_path, "b", "--batch").code == 0
        assert (server.created, repeated(server)) == (1, 0)


def test_an_endpoint_without_batches_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(file_vendors.FileVendor, "files", "/nothing")
    with serving("openai", tmp_path):
        score(tmp_path, "b", "--batch")
        assert "takes no batches" in str(reasons(rows_of(tmp_path / "b"))[0])


def test_what_is_cleared_from_the_cache_is_not_read_from_the_journal(tmp_path: Path):
    with serving("openai", tmp_path) as server:
        score(tmp_path, "b", "--batch")
        run("cache", "--cache", "b.sqlite", "clear", home=tmp_path / "home", cwd=tmp_path)
        (tmp_path / "b").rename(tmp_path / "before")
        score(tmp_path, "b", "--batch")
        assert (server.created, repeated(server)) == (2, 40)


def test_batch_true_of_a_model_needs_no_option_and_false_withstands_it(tmp_path: Path):
    with serving("openai", tmp_path) as server:
        for batch, more, created in ((True, (), 1), (False, ("--batch",), 1)):
            given: Mapping[str, Any] = yaml.safe_load((tmp_path / "longmark.yaml").read_text())
            given["models"]["m"]["batch"] = batch
            (tmp_path / "longmark.yaml").write_text(yaml.safe_dump(given))
            assert score(tmp_path, f"b{batch}", *more).code == 0
            assert server.created == created


@pytest.mark.parametrize(
    "kind", [file_vendors.FileVendor, file_vendors.Mistral, file_vendors.Together]
)
def test_an_uploaded_file_is_found_by_its_name(kind: type[file_vendors.FileVendor]):
    dialect = {file_vendors.Mistral: "mistral", file_vendors.Together: "together"}.get(
        kind, "openai"
    )

    async def main(base_url: str) -> tuple[list[str], list[str], str]:
        vendor = kind(Endpoint(base_url))
        try:
            first, _ = (
                await vendor.upload("a.jsonl", b"{}\n"),
                await vendor.upload("b.jsonl", b"{}\n"),
            )
            return await vendor.uploaded("a.jsonl"), await vendor.uploaded("c.jsonl"), first
        finally:
            await vendor.endpoint.close()

    with serve(dialect, Behaviour()) as server:
        found, none, first = asyncio.run(main(server.base_url))
    assert (found, none, server.refused) == ([first], [], [])


def test_keep_files_leaves_what_was_uploaded(tmp_path: Path):
    with serving("openai", tmp_path) as server:
        score(tmp_path, "b", "--batch", "--keep-files")
        assert (len(server.files), server.deleted) == (2, [])


def test_ctrl_c_leaves_batches_running_and_they_can_be_fetched_and_cancelled(tmp_path: Path):
    with serving("openai", tmp_path, latency=2.0) as server:
        process = started_batch_run(tmp_path)
        until(lambda: server.created)
        process.send_signal(signal.SIGINT)
        _, err = process.communicate(timeout=60)
        assert process.returncode == 130
        assert b"1 batch left running" in err
        assert manifest_of(tmp_path / "b")["sessions"][-1]["stopped"] == "interrupt"
        (id,) = (
            line.split()[0] for line in batches("", tmp_path).out.splitlines() if "running" in line
        )
        assert in_ledger(tmp_path) == {
            "attempts": 60,
            "answered": 20,
            "unknown": 0,
            "in flight": 40,
        }
        assert batches("fetch", tmp_path, id).code in (0, 4)  # 4: it has not ended
        until(lambda: batches("fetch", tmp_path).code == 0)
        assert "40" in batches("", tmp_path).out
        assert score(tmp_path, "b", "--batch").code == 0
        assert (server.created, sum(server.paid.values()), repeated(server)) == (1, 40, 0)


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL])
def test_an_upload_without_a_reply_is_cut_by_a_stop_and_its_file_is_deleted_later(
    end: int, tmp_path: Path
):
    """A stop, or a kill: nothing was submitted, so the ledger has the 20 single calls alone."""
    with serving("openai", tmp_path, hang="/files") as server:
        code, err = ended_by(end, tmp_path, server)
        assert code in (130, -signal.SIGKILL)
        assert (b"1 upload cut off" in err) == (end == signal.SIGINT)
        assert (server.created, len(server.files)) == (0, 1)
        assert "prepared" in batches("", tmp_path).out
        assert in_ledger(tmp_path) == {"attempts": 20, "answered": 20, "unknown": 0, "in flight": 0}
        if end == signal.SIGINT:
            assert score(tmp_path, "b", "--batch").code == 0
            assert (server.created, server.files, repeated(server), server.refused) == (
                1,
                {},
                0,
                [],
            )
        else:
            assert "was never submitted; forgotten" in batches("fetch", tmp_path).out
            assert (server.files, batches("", tmp_path).out) == ({}, "No batches.\n")


def test_a_submission_without_a_reply_is_cut_by_a_stop_and_looked_for_later(tmp_path: Path):
    with serving("anthropic", tmp_path, hang="/batches") as server:
        code, err = ended_by(signal.SIGINT, tmp_path, server)
        assert (code, b"1 batch left running" in err) == (130, True)
        ledger = in_ledger(tmp_path)
        assert ledger == {"attempts": 60, "answered": 20, "unknown": 40, "in flight": 0}
        assert score(tmp_path, "b", "--batch", "--timeout", "1").code == 0
        assert (server.created, sum(server.paid.values()), repeated(server)) == (1, 40, 0)
        assert in_ledger(tmp_path) == {"attempts": 60, "answered": 60, "unknown": 0, "in flight": 0}


def ended_by(end: int, folder: Path, server: BatchServer) -> tuple[int, bytes]:
    """A run that gets a signal when the server gives it no reply: its exit code, and what it told."""
    process = started_batch_run(folder)
    until(lambda: server.hung)
    process.send_signal(end)
    _, err = process.communicate(timeout=60)
    return process.returncode, err


def in_ledger(folder: Path, out: str = "b") -> dict[str, int]:
    told = run(
        "cache", "--cache", f"{out}.sqlite", "ledger", out, home=folder / "home", cwd=folder
    ).out.splitlines()
    figures = re.split(r"\s{2,}", told[1].strip())
    names = re.split(r"\s{2,}", told[0].strip())
    return {
        name: int(figures[names.index(name)])
        for name in ("attempts", "answered", "unknown", "in flight")
    }


def test_a_cancelled_batch_keeps_what_was_finished(tmp_path: Path):
    with serving("anthropic", tmp_path, latency=600) as server:
        process = started_batch_run(tmp_path)
        until(lambda: server.created)
        until(lambda: "running" in batches("", tmp_path).out)
        process.kill()
        process.communicate()
        assert batches("cancel", tmp_path).code == 0
        server.behaviour.latency = 0.05
        assert score(tmp_path, "b", "--batch").code == 0
        assert [len(job.lines) for job in server.jobs.values()] == [40, 20]
        assert repeated(server) == 0


def batches(action: str, folder: Path, *more: str) -> Done:
    words = ["batches", "--cache", "b.sqlite", *([action, *more, "--trust"] if action else [])]
    return run(*words, home=folder / "home", cwd=folder)


@pytest.mark.parametrize(
    ("base_url", "query", "files"),
    [
        ("https://r.openai.azure.com/openai/v1", {}, "https://r.openai.azure.com/openai/v1/files"),
        (
            "https://r.openai.azure.com/openai/deployments/mine",
            {"api-version": "2024-10-21"},
            "https://r.openai.azure.com/openai/files?api-version=2024-10-21",
        ),
    ],
)
def test_files_of_azure_stand_beside_its_deployments(
    base_url: str, query: dict[str, str], files: str
):
    assert file_vendors.Azure(Endpoint(base_url).sending({}, query))._url("/files") == files


@pytest.mark.parametrize(
    ("base_url", "kind", "share"),
    [
        ("https://api.openai.com/v1", file_vendors.FileVendor, 0.5),
        ("https://api.groq.com/openai/v1", file_vendors.FileVendor, 0.5),
        ("https://r.openai.azure.com/openai/v1", file_vendors.Azure, 0.5),
        ("https://api.mistral.ai/v1", file_vendors.Mistral, 0.5),
        ("https://api.together.xyz/v1", file_vendors.Together, 1.0),
        ("http://10.0.0.1:8000/v1", file_vendors.FileVendor, 1.0),
    ],
)
def test_the_vendor_is_known_by_the_host(
    base_url: str, kind: type[batch_vendor.BatchVendor], share: float
):
    vendor = vendors.vendor_of(HttpChat(Endpoint(base_url), "m", "m"))
    assert vendor is not None
    assert (type(vendor), vendor.price) == (kind, share)


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_a_judge_that_cannot_be_read_stops_before_a_batch_is_paid_for(dialect: str, tmp_path: Path):
    with serving(dialect, tmp_path, n=60, reply="It is rather good.") as server:
        done = [score(tmp_path, "b", "--batch") for _ in range(2)]
        assert ([one.code for one in done], server.created) == ([5, 5], 0)
        assert 20 <= sum(server.singles.values()) <= 21
        assert score(tmp_path, "b", "--batch", "--keep-going").code == 4
        assert (server.created > 0, repeated(server)) == (True, 0)


def test_a_resumed_run_sends_no_first_calls_for_a_judge_that_gave_verdicts(tmp_path: Path):
    with serving("openai", tmp_path, n=60) as server:
        assert score(tmp_path, "b", "--batch", "--limit", "25").code == 0
        assert (sum(server.singles.values()), sum(server.paid.values())) == (20, 5)
        assert score(tmp_path, "b", "--batch").code == 0
        assert (sum(server.singles.values()), sum(server.paid.values()), server.created) == (
            20,
            40,
            2,
        )


def test_the_first_calls_for_each_metric_are_sent_by_themselves(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(
        file_vendors.FileVendor, "most_lines", 5
    )  # a full batch does not go before the first replies came
    with serving("openai", tmp_path, n=30, latency=0.05) as server:
        assert (
            score(tmp_path, "b", "--batch", metrics=f"{QR},{QR}@scoring=text@temperature=0.5").code
            == 0
        )
        assert (sum(server.singles.values()), sum(server.paid.values())) == (40, 20)
