"""A run against a server that misbehaves: every example ends with a value or a reason, and the counts agree."""

from __future__ import annotations

import resource
import sqlite3
import subprocess
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from tests.program import (
    QR,
    ROOT,
    ended,
    manifest_of,
    names_in,
    records,
    rows_of,
    run,
    start,
    write_jsonl,
)
from tests.wire import serve

import longmark
from longmark import cli
from longmark.errors import UserError
from longmark.models.cache import CallCache
from longmark.records import STATUSES

RECALL = "ccrs.information_recall"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    for name in ("LONGMARK_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def _short_waits(monkeypatch: pytest.MonkeyPatch):
    """Waits that the server does not ask for are a hundredth of what they are."""
    from longmark.models import limits, sending

    def wait(attempt: int, retry_after: float | None, rng: Any) -> float:
        return limits.wait_before(attempt, retry_after, rng) / (100 if retry_after is None else 1)

    monkeypatch.setattr(sending, "wait_before", wait)


def check_counts(server_counts: dict[str, Any], folder: Path) -> None:
    """What the run says of its calls is what the server counted."""
    (session,) = manifest_of(folder)["sessions"]
    statuses = server_counts["by_status"]
    assert session["requests"] == server_counts["requests"]
    assert session["calls"] == statuses.get("200", 0)
    assert session["rate_limited"] == statuses.get("429", 0)
    assert session["faults"] == sum(statuses.get(fault, 0) for fault in ("500", "dropped", "cut"))


@pytest.mark.usefixtures("_short_waits")
@pytest.mark.parametrize("draw", [1, 2])
def test_a_bad_day_of_the_endpoint(tmp_path: Path, draw: int):
    n = 400
    rates = {"429_fraction": 0.05, "500": 0.02, "prose": 0.03, "drop": 0.01}
    with serve(latency=0.01, rates=rates, draw=draw, retry_after=0.02) as server:
        result = longmark.run(
            records(n), QR, judges=f"m@{server.base_url}", out=tmp_path / "r", concurrency=20
        )
        counts = server.counts
    assert min(counts["faults"].get(fault, 0) for fault in rates) >= 1  # each of them did happen
    rows = rows_of(tmp_path / "r")
    assert [row.example_id for row in rows] == [str(i) for i in range(n)]
    assert all((row.score is None) == bool(row.reason) for row in rows)
    by_status = Counter(row.status for row in rows)
    # a row is lost only where the judge writes prose twice: 0.03 x 0.03 x 400 = 0.4 of them are to be expected
    assert set(by_status) <= {"ok", "unparsable"}
    assert by_status["unparsable"] <= 5
    check_counts(counts, tmp_path / "r")
    # each reply was for a question, or for its second asking after prose
    assert counts["by_status"]["200"] == n + counts["faults"]["prose"] - by_status["unparsable"]
    failed = sum(counts["faults"][fault] for fault in ("429_fraction", "500", "drop"))
    assert counts["requests"] == counts["by_status"]["200"] + failed
    assert counts["max_in_flight"] <= 20
    assert sum(row.usage.calls for row in rows) == result.counts.calls == counts["paid"]


@pytest.mark.usefixtures("_short_waits")
def test_whole_seconds_of_retry_after_are_waited_for(tmp_path: Path):
    with serve(force=["429", "ok", "429_date"], retry_after=1) as server:
        longmark.run(records(3), QR, judges=f"m@{server.base_url}", out=tmp_path / "r")
        assert server.counts["requests"] == 5
        check_counts(server.counts, tmp_path / "r")
    (session,) = manifest_of(tmp_path / "r")["sessions"]
    assert (session["retries"], session["rate_limited"]) == (2, 2)
    assert session["seconds"] >= 1
    assert {row.status for row in rows_of(tmp_path / "r")} == {"ok"}


@pytest.mark.usefixtures("_short_waits")
@pytest.mark.parametrize("fault", ["cut", "truncated", "not_json", "no_choices", "hang", "drop"])
def test_a_reply_that_is_none_is_asked_for_again(tmp_path: Path, fault: str):
    with serve(force=["ok", fault, "ok", fault]) as server:
        longmark.run(records(4), QR, judges=f"m@{server.base_url}", out=tmp_path / "r", timeout=0.5)
        assert server.counts["requests"] == 6
    assert {row.status for row in rows_of(tmp_path / "r")} == {"ok"}
    (session,) = manifest_of(tmp_path / "r")["sessions"]
    assert (session["requests"], session["calls"], session["retries"], session["faults"]) == (
        6,
        4,
        2,
        2,
    )


@pytest.mark.usefixtures("_short_waits")
@pytest.mark.parametrize("fault", ["500", "hang", "truncated"])
def test_an_endpoint_that_never_answers_gives_rows_with_the_reason(tmp_path: Path, fault: str):
    with serve(rates={fault: 1.0}) as server:
        result = longmark.run(
            records(12), QR, judges=f"m@{server.base_url}", out=tmp_path / "r", timeout=0.2
        )
        asked = server.counts["requests"]
    rows = rows_of(tmp_path / "r")
    assert {row.status for row in rows} == {"model_error"}
    assert all("127.0.0.1" in (row.reason or "") for row in rows)
    assert result.unscored == (QR,)
    assert 12 <= asked <= 12 * 6  # at most six attempts each
    with serve() as well:  # the endpoint is another one then, and so is the model's name
        again = longmark.run(records(12), QR, judges=f"m@{well.base_url}", out=tmp_path / "s")
    assert again.unscored == ()


def test_a_model_without_log_probabilities_is_unsupported_and_asked_once_in_each_run(
    tmp_path: Path,
):
    with serve(logprobs=False) as server:
        words: dict[str, Any] = {
            "judges": f"m@{server.base_url}",
            "scoring": "expected",
            "concurrency": 1,
        }
        longmark.run(records(5), QR, out=tmp_path / "r", **words)
        asked = server.counts["requests"]
        assert asked <= 2
        assert {row.status for row in rows_of(tmp_path / "r")} == {"unsupported"}
        longmark.run(records(5), QR, out=tmp_path / "s", **words)
        assert server.counts["requests"] == asked + 1
        assert {row.status for row in rows_of(tmp_path / "s")} == {"unsupported"}
        assert "log-probabilities" in (rows_of(tmp_path / "s")[0].reason or "")


def test_calls_that_are_not_sent_are_no_requests_and_no_failures(tmp_path: Path):
    with serve(logprobs=False) as server:
        words: dict[str, Any] = {
            "judges": f"m@{server.base_url}",
            "scoring": "expected",
            "max_calls": 3,
        }
        result = longmark.run(records(12), QR, out=tmp_path / "r", **words)
        assert server.counts["requests"] == 1
    assert {row.status for row in rows_of(tmp_path / "r")} == {
        "unsupported"
    }  # none is over the budget of 3
    assert (result.counts.requests, result.counts.faults, result.counts.retries) == (1, 1, 0)


def test_a_prompt_too_long_for_the_users_context_window_is_no_request(tmp_path: Path):
    with serve() as server:
        file = tmp_path / "longmark.yaml"
        file.write_text(
            f"models: {{m: {{model: m, endpoint: '{server.base_url}', context_window: 10}}}}"
        )
        result = longmark.run(
            records(3), QR, judges="m", config=file, out=tmp_path / "r", max_calls=1
        )
        assert server.counts["requests"] == 0
    assert {row.status for row in rows_of(tmp_path / "r")} == {"too_long"}
    assert (result.counts.requests, result.counts.faults) == (0, 0)


def test_a_refused_schema_is_left_out_and_remembered_by_the_next_process(tmp_path: Path):
    """A metric that reads a structure asks for JSON; here the judge is asked as such a metric would ask it."""
    asks = """
import asyncio, sys
from pathlib import Path
from pydantic import BaseModel
from longmark.engine.run import open_cache
from longmark.judge import ask, structure
from longmark.models.client import Client, UsageLog
from longmark.models.handles import Models, Backends
from longmark.models.registry import Registry
from longmark.prompts import Prompt, PromptBook
class Verdict(BaseModel):
    score: int
async def main():
    cache = open_cache(None)
    backends = Backends((Registry(cache).open("judge", sys.argv[1]),))
    models = Models(backends, Client(cache), UsageLog(), PromptBook())
    prompt = Prompt("t", ("answer",), "Give JSON.")
    for answer in sys.argv[2:]:
        print((await ask(models, models.judges[0], prompt, {"answer": answer}, structure(Verdict))).value.score)
    await models.judges[0].model.close()
asyncio.run(main())
"""
    with serve(json_schema=False, reply='{"score": 7}') as server:
        judge = f"m@{server.base_url}"
        done = run("python", "-c", asks, judge, "a", "b", home=tmp_path / "home")
        assert done.out.split() == ["7", "7"], done.err
        assert ["response_format" in body for _, _, body in server.requests] == [True, False, False]
        assert run("python", "-c", asks, judge, "c", home=tmp_path / "home").out.split() == ["7"]
        assert ["response_format" in body for _, _, body in server.requests[3:]] == [False]


def test_two_processes_share_one_cache_at_the_same_time(tmp_path: Path):
    given = write_jsonl(tmp_path / "given.jsonl", records(120))
    with serve(latency=0.02) as server:
        words: list[str | Path] = [
            "run",
            given,
            "--metrics",
            QR,
            "--judge",
            f"m@{server.base_url}",
            "--out",
        ]
        both = [start(*words, tmp_path / out, home=tmp_path / "home") for out in ("a", "b", "c")]
        for process in both:
            done = ended(process)
            assert done.code == 0, done.err
        asked = server.counts["requests"]
        assert 120 <= asked <= 360
        again = run(*words, tmp_path / "d", home=tmp_path / "home")
        assert again.code == 0
        assert server.counts["requests"] == asked
    values = [
        [(row.example_id, row.score, row.status) for row in rows_of(tmp_path / out)]
        for out in "abcd"
    ]
    assert values[0] == values[1] == values[2] == values[3]
    database = sqlite3.connect(tmp_path / "home" / "calls.sqlite")
    assert database.execute("SELECT count(*) FROM calls").fetchone() == (120,)
    assert database.execute("PRAGMA integrity_check").fetchone() == ("ok",)
    database.close()


def test_many_open_a_new_cache_at_the_same_time(tmp_path: Path):
    opens = (
        "import sys; from pathlib import Path; from longmark.models.cache import CallCache\n"
        "print('ready', flush=True); sys.stdin.readline()\n"
        "CallCache(Path('new', 'calls.sqlite')).remember('e', sys.argv[1])"
    )
    processes = [
        start("python", "-c", opens, str(i), home=tmp_path / "home", stdin=subprocess.PIPE)
        for i in range(6)
    ]
    for process in processes:
        assert process.stdout is not None
        process.stdout.readline()
    for process in processes:
        assert process.stdin is not None
        process.stdin.write(b"\n")
        process.stdin.flush()
    assert [(done.code, done.err) for done in map(ended, processes)] == [(0, "")] * 6
    cache = CallCache(tmp_path / "new" / "calls.sqlite")
    assert all(cache.known("e", str(i)) for i in range(6))
    cache.close()


def _no_file_above(size: int) -> Any:
    """A disk that is full, as far as one process can have it: no file of its own grows above `size` bytes."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


@pytest.mark.parametrize("size", [3_000, 90_000, 200_000])
def test_a_full_disk_is_a_message_and_the_run_goes_on_when_there_is_room(tmp_path: Path, size: int):
    """Wherever it strikes: the examples, the manifest, the rows, the index or the cache."""
    given = write_jsonl(tmp_path / "given.jsonl", records(300))
    with serve() as server:
        words: list[str | Path] = ["run", given, "--metrics", QR, "--judge", f"m@{server.base_url}"]
        words += ["--out", tmp_path / "out"]
        done = run(*words, home=tmp_path / "home", preexec_fn=_no_file_above(size))
        assert done.code == 2, done
        assert "Traceback" not in done.err
        assert "longmark: " in done.err
        again = run(*words, home=tmp_path / "home")
        assert again.code == 0, again.err
        counts = server.counts
    assert [row.example_id for row in rows_of(tmp_path / "out")] == [str(i) for i in range(300)]
    assert names_in(tmp_path / "out") == ["examples.jsonl", "manifest.json", "rows.jsonl"]
    # 16 replies that could not be stored, and the 16 calls that had begun meanwhile
    assert counts["paid_again"] <= 32


@pytest.mark.parametrize("size", [40_000, 370_000])
def test_a_disk_that_is_full_without_any_call(tmp_path: Path, size: int):
    # 300 examples of 1.2 kB are 350 kB; their 600 rows, with a long system, 400 kB
    long = [{**record, "answer": record["answer"] * 50} for record in records(300)]
    given = write_jsonl(tmp_path / "given.jsonl", long)
    words: list[str | Path] = [
        "run",
        given,
        "--metrics",
        "score.readability",
        "--out",
        tmp_path / ("out" * 80),
    ]
    assert (
        run("cache", home=tmp_path / "home").code == 0
    )  # the cache is there already, and nothing goes into it
    done = run(*words, home=tmp_path / "home", preexec_fn=_no_file_above(size))
    assert done.code == 2, done
    assert "Traceback" not in done.err
    assert "cannot be written" in done.err
    again = run(*words, home=tmp_path / "home")
    assert again.code == 0, again.err
    assert len(rows_of(tmp_path / ("out" * 80))) == 600


def test_a_cache_that_cannot_be_written_is_a_message(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
):
    # a trigger plays the full disk; that triggers are refused is another matter
    monkeypatch.setattr("longmark.models.stores.sqlite._refuse_other_objects", lambda *_: None)
    given = write_jsonl(tmp_path / "given.jsonl", records(3))
    cache = tmp_path / "calls.sqlite"
    CallCache(cache).close()
    words = [
        "run",
        str(given),
        "--metrics",
        QR,
        "--cache",
        str(cache),
        "--out",
        str(tmp_path / "out"),
    ]
    with serve() as server:
        holder = sqlite3.connect(cache)
        holder.execute(
            "CREATE TRIGGER full BEFORE INSERT ON calls BEGIN SELECT RAISE(FAIL, 'database or disk is full'); END"
        )
        holder.commit()
        assert cli.main([*words, "--judge", f"m@{server.base_url}"]) == 2
        told = capsys.readouterr().err
        assert str(cache) in told
        assert "database or disk is full" in told
        assert "Traceback" not in told
        holder.execute("DROP TRIGGER full")
        holder.commit()
        holder.close()
        assert cli.main([*words, "--judge", f"m@{server.base_url}"]) == 0


def test_a_cache_that_is_no_cache_is_a_message(tmp_path: Path):
    (tmp_path / "calls.sqlite").write_text("Dear diary, " * 500)
    with pytest.raises(UserError, match=r"calls\.sqlite"):
        longmark.run(
            records(1),
            QR,
            judges="m@http://127.0.0.1:9/v1",
            out=tmp_path / "r",
            cache=tmp_path / "calls.sqlite",
        )
    assert not (tmp_path / "r").exists()
    assert (tmp_path / "calls.sqlite").read_text().startswith("Dear diary")


def test_a_damaged_cache_is_a_message(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    given = write_jsonl(tmp_path / "given.jsonl", records(200))
    cache = tmp_path / "calls.sqlite"
    words = ["run", str(given), "--metrics", QR, "--cache", str(cache), "--quiet"]
    with serve() as server:
        assert (
            cli.main([*words, "--judge", f"m@{server.base_url}", "--out", str(tmp_path / "a")]) == 0
        )
        raw = bytearray(cache.read_bytes())
        for page in range(2, len(raw) // 4096):
            raw[page * 4096 : page * 4096 + 64] = b"\xff" * 64
        cache.write_bytes(raw)
        capsys.readouterr()
        code = cli.main([*words, "--judge", f"m@{server.base_url}", "--out", str(tmp_path / "b")])
    told = capsys.readouterr().err
    assert code == 2, told
    assert str(cache) in told
    assert "--cache" in told


def test_every_status_of_a_judge_reaches_its_row(tmp_path: Path):
    with serve(force=["ok", "refusal", "prose", "filtered", "null", "ok"]) as server:
        longmark.run(
            records(4), QR, judges=f"m@{server.base_url}", out=tmp_path / "r", concurrency=1
        )
    rows = Counter(row.status for row in rows_of(tmp_path / "r"))
    assert set(rows) <= set(STATUSES)
    assert rows["refused"] == 2
    assert rows.total() == 4


@pytest.mark.slow
def test_a_real_bad_day_in_real_time(tmp_path: Path):
    """The waits as they are; the process as it is."""
    given = write_jsonl(tmp_path / "given.jsonl", records(2000))
    rates = {"429": 0.05, "500": 0.02, "prose": 0.03, "drop": 0.01}
    with serve(latency=0.2, rates=rates) as server:
        words: list[str | Path] = ["run", given, "--metrics", QR, "--judge", f"m@{server.base_url}"]
        done = run(
            *words, "--concurrency", "50", "--out", tmp_path / "r", home=tmp_path / "home", cwd=ROOT
        )
        assert done.code == 0, done.err
        check_counts(server.counts, tmp_path / "r")
    assert len(rows_of(tmp_path / "r")) == 2000


def test_log_probabilities_that_were_refused_once_are_still_read_from_the_cache(tmp_path: Path):
    def refusing(_number: int, _path: str, body: Any) -> tuple[int, bytes, str] | None:
        return (
            (400, b'{"error": {"message": "no logprobs today"}}', "")
            if "What is 2?" in str(body)
            else None
        )

    with serve(answer=refusing) as server:
        given = {"judges": f"m@{server.base_url}", "scoring": "expected", "concurrency": 1}
        longmark.run(records(3), QR, out=tmp_path / "a", **given)
        sent = server.counts["requests"]
        longmark.run(records(3), QR, out=tmp_path / "b", **given)
        assert server.counts["requests"] == sent + 1
    statuses = [[row.status for row in rows_of(tmp_path / folder)] for folder in "ab"]
    assert statuses == [["ok", "ok", "unsupported"]] * 2
