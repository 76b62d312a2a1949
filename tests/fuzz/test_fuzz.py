"""Whatever a file or an endpoint holds, it ends in a result or in an error of longmark's: 2,000 cases of damage.

The cases are run by `python -m tests.fuzz` in a process of their own, so that one that hangs or dies is a failure with
a name; in two processes where there are many.
`LONGMARK_FUZZ=200000` asks for more of them, `LONGMARK_FUZZ_SEED=7` for others.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import orjson
import pytest
from tests.fuzz.__main__ import FUZZERS
from tests.fuzz.engine import Failure, Report
from tests.program import environment

CASES = int(os.environ.get("LONGMARK_FUZZ", "2000"))
SEED = int(os.environ.get("LONGMARK_FUZZ_SEED", "1"))
PROCESSES = 1 if CASES <= 10_000 else 2  # a process takes two seconds of work to start
LONGEST = 600 + CASES / 10  # seconds for all of them, on a machine that does other things too


@pytest.fixture(scope="module")
def reports(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Report | str]]:
    """Of each fuzzer that is asked for: what came of it, or how its process ended."""
    mine = [
        item
        for item in request.session.items
        if item.path == request.path and hasattr(item, "callspec")
    ]
    wanted = {item.callspec.params["name"] for item in mine}
    names = [name for name in FUZZERS if name in wanted]
    home = tmp_path_factory.mktemp("fuzz")
    started = []
    for number in range(PROCESSES):
        if share := names[number::PROCESSES]:
            at = home / f"at{number}"
            words = ("--json", "--at", str(at), "--cases", str(CASES), "--seed", str(SEED))
            process = subprocess.Popen(
                [sys.executable, "-m", "tests.fuzz", *share, *words],
                env=environment(home),
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            started.append((process, share, at))
    found: dict[str, Report | str] = {}
    for process, share, at in started:
        found |= _ended(process, share, at)
    yield found
    for process, _, _ in started:
        process.kill()


def _ended(process: subprocess.Popen[bytes], names: list[str], at: Path) -> dict[str, Report | str]:
    try:
        out, err = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
    under_way = at.read_text().strip() if at.exists() else "nothing"
    gone = f"The process ended with {process.returncode} in: python -m tests.fuzz {under_way}\n{err.decode()[-3000:]}"
    found: dict[str, Report | str] = dict.fromkeys(names, gone)
    for line in out.splitlines():
        report = Report(**orjson.loads(line))
        report.failures = {
            place: Failure(**orjson.loads(orjson.dumps(one)))
            for place, one in report.failures.items()
        }
        found[report.name] = report
    return found


@pytest.mark.parametrize("name", FUZZERS)
def test_every_case_ends_in_a_result_or_in_an_error_of_longmark(
    name: str, reports: dict[str, Report | str]
):
    report = reports[name]
    assert isinstance(report, Report), report
    assert report.cases == max(1, FUZZERS[name].share * CASES // 10_000)
    assert not report.failures, report.shown(SEED)
    assert report.ended > report.cases / 50, "hardly any case comes as far as a result"


def test_the_fuzzers_share_ten_thousand_cases():
    assert sum(fuzzer.share for fuzzer in FUZZERS.values()) == 10_000
