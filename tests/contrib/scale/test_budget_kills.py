"""Processes that share a budget, one of them killed at a random moment: what the server was paid stays within the
limit, no call is made twice, and repeating the commands gives the rows of a single process."""

from __future__ import annotations

import random
import re
import signal
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.contrib.scale.run_words import trusted_run
from tests.models.conftest import Place
from tests.program import QR, ended, records, rows_of, run, start, until, write_jsonl
from tests.wire import Server, serve

from longmark.models.cache import CallCache

CONCURRENCY = 8
_QUICK = """
from longmark.contrib.scale import budget_group
from longmark.models import stores
stores.LEASE, budget_group._EVERY = 3.0, 0.3
from longmark.cli import main
raise SystemExit(main())
"""
_CONFIG = """models:
  m:
    model: m
    endpoint: {endpoint}
    price: {{input: 10, output: 30}}
"""


@dataclass
class Till:
    """What the server was paid. asked: item -> requests; usd: of all replies that it made."""

    asked: Counter[str] = field(default_factory=Counter)
    usd: float = 0.0
    _random: random.Random = field(default_factory=lambda: random.Random(25))

    def answer(self, _number: int, _path: str, request: Any) -> tuple[int, bytes, str]:
        found = re.search(r"It is the number (\d+)", request["messages"][-1]["content"])
        assert found is not None
        self.asked[found[1]] += 1
        prompt, completion = (
            self._random.randint(1, 900),
            self._random.randint(1, request["max_tokens"]),
        )
        self.usd += (10 * prompt + 30 * completion) / 1e6
        choices = [{"message": {"content": str(int(found[1]) % 101)}, "finish_reason": "stop"}]
        usage = {"prompt_tokens": prompt, "completion_tokens": completion}
        return 200, orjson.dumps({"model": found[1], "choices": choices, "usage": usage}), ""


@dataclass
class BudgetTeam:
    """Runs of the same items, each from another one on, with one cache. folder: of all files."""

    folder: Path
    place: Path | str
    server: Server
    runs: int
    items: int

    def __post_init__(self) -> None:
        (self.folder / "longmark.yaml").write_text(_CONFIG.format(endpoint=self.server.base_url))
        lines = records(self.items)
        for one in range(self.runs):
            first = one * self.items // self.runs
            write_jsonl(self.folder / f"{one}.jsonl", lines[first:] + lines[:first])

    def words(self, one: int, out: str, *more: str) -> list[str]:
        return trusted_run(out, "--concurrency", str(CONCURRENCY), *more, examples=f"{one}.jsonl")

    def sharing(self, one: int, usd: float) -> list[str]:
        budget = ["--max-usd", f"{usd:.9f}", "--budget-group", "team"]
        return self.words(one, f"out{one}", "--cache", str(self.place), *budget)

    def start(self, one: int, usd: float) -> subprocess.Popen[bytes]:
        return start(
            "python",
            "-c",
            _QUICK,
            *self.sharing(one, usd),
            home=self.folder / "home",
            cwd=self.folder,
        )

    def stored(self) -> set[str]:
        """The items whose replies are stored."""
        with closing(CallCache(self.place)) as cache:
            return {
                orjson.loads(reply)["model"] for (reply,) in cache.do("SELECT reply FROM calls")
            }

    def spent(self, of: str = "") -> Iterator[tuple[float, float]]:
        """Dollars that sessions have spent and hold: all, or those of one folder."""
        query = "SELECT usd, held_usd FROM budgets LEFT JOIN sessions ON token = session WHERE run LIKE ?"
        with closing(CallCache(self.place)) as cache:
            yield from cache.do(query, (f"%{of}",)).fetchall()

    def finish(self) -> None:
        """Repeats the commands with a limit that suffices."""
        for one in range(self.runs):
            done = run(*self.sharing(one, 1000.0), home=self.folder / "home", cwd=self.folder)
            assert done.code == 0, done.err

    def check_rows(self) -> None:
        """The rows of all runs are those of a single process with a cache of its own."""
        assert run(*self.words(0, "single"), home=self.folder / "other", cwd=self.folder).code == 0
        single = {
            row.example_id: (row.score, row.status) for row in rows_of(self.folder / "single")
        }
        assert set(single.values()) == {(one % 101 / 100, "ok") for one in range(self.items)}
        for one in range(self.runs):
            rows = rows_of(self.folder / f"out{one}")
            assert len(rows) == self.items
            assert {row.example_id: (row.score, row.status) for row in rows} == single


def test_parts_share_a_budget_though_the_process_of_one_is_killed(tmp_path: Path):
    till, home, items = Till(), tmp_path / "home", 12
    write_jsonl(tmp_path / "all.jsonl", records(items))
    with serve(force=["ok", "ok", "hang", "hang"], answer=till.answer) as server:

        def words(given: str, out: str, *more: str) -> list[str]:
            asked = [
                "run",
                given,
                "--metrics",
                QR,
                "--judge",
                f"m@{server.base_url}",
                "--quiet",
                "--out",
                out,
            ]
            return [*asked, "--concurrency", "2", *more]

        def part(number: int, calls: int) -> list[str]:
            return words(
                f"parts/{number}.part",
                f"{number}",
                "--max-calls",
                str(calls),
                "--budget-group",
                "team",
            )

        def code_of(*words: str) -> int:
            return run(*words, home=home, cwd=tmp_path).code

        assert code_of("split", "all.jsonl", "--parts", "2", "--out", "parts") == 0
        process = start(*part(1, items - 1), home=home, cwd=tmp_path)
        until(lambda: server.counts["requests"] == 4)
        process.send_signal(signal.SIGKILL)
        ended(process)
        with closing(CallCache(home / "calls.sqlite")) as cache:
            assert cache.do("SELECT calls + held_calls >= 4 FROM budgets").fetchall() == [
                (1,)
            ]  # spent, or held for it
            cache.do("UPDATE budgets SET until = 1.0")  # a minute later
        assert code_of(*part(2, items - 1)) == 0
        assert code_of(*part(1, items - 1)) == 4
        assert server.counts["requests"] == items - 1
        assert code_of(*part(1, items + 2)) == 0
        assert server.counts["requests"] == items + 2
        assert (
            till.asked.total() == len(till.asked) == items
        )  # what was stored was never asked again
        assert code_of("merge", "1", "2", "--out", "merged") == code_of("verify", "merged") == 0
        assert server.counts["requests"] == items + 2
    scores = {row.example_id: row.score for row in rows_of(tmp_path / "merged")}
    assert scores == {str(one): one / 100 for one in range(items)}


@pytest.mark.slow
@pytest.mark.parametrize("kills", [20])
def test_a_budget_holds_for_four_processes_of_which_one_is_killed(
    place: Place, tmp_path: Path, kills: int
):
    moments, till, step = random.Random(20261125), Till(), 0.7
    holders = 0
    with serve(latency=0.04, answer=till.answer) as server:
        team = BudgetTeam(tmp_path, place("a"), server, runs=4, items=60 * kills)
        for kill in range(1, kills + 1):
            limit, begun, before = kill * step, till.asked.total(), team.stored()
            asked = till.asked.copy()
            processes = [team.start(one, limit) for one in range(team.runs)]
            until(lambda begun=begun: till.asked.total() > begun)  # type: ignore[misc]
            time.sleep(moments.uniform(0.0, 0.6))
            victim = moments.randrange(team.runs)
            holders += any(held > 0 for _, held in team.spent(f"out{victim}"))
            processes[victim].send_signal(signal.SIGKILL)
            ends = [ended(process) for process in processes]
            until(lambda: server.counts["in_flight"] == 0)
            assert till.usd <= limit
            assert not set(till.asked - asked) & before  # stored: never asked again
            codes = {end.code for one, end in enumerate(ends) if one != victim}
            assert codes <= {0, 4}, [end.err for end in ends]
            spent = list(team.spent())
            print(
                f"kill {kill}: limit ${limit:.2f}, server ${till.usd:.4f}, group ${sum(one for one, _ in spent):.4f}"
            )
        repeats = till.asked.total() - len(till.asked)
        print(
            f"{repeats} calls repeated of {till.asked.total()}; {holders} of {kills} held money when they were killed"
        )
        assert repeats <= kills * CONCURRENCY
        asked, before = till.asked.copy(), team.stored()
        team.finish()
        assert not set(till.asked - asked) & before
        team.check_rows()
