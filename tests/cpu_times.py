"""CPU seconds of tests, for `pytest --cpu-times`: by package, and of the tests that take the most.

Other work on a machine stretches how long a test takes, and hardly the CPU seconds that it needs. `make test` should
take their sum divided by the number of cores. A test counts with its fixtures and with the processes that it started:
the system counts a process when it has ended, so a browser that serves a module counts with the module's last test.
"""

from __future__ import annotations

import os
from collections import defaultdict
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from _pytest.terminal import TerminalReporter

PROPERTY = "cpu_seconds"
BUDGET = 2.0
"""CPU seconds; a test that takes more is listed and does not fail."""
LISTED = 40
START = pytest.StashKey[float]()


def cpu_seconds() -> float:
    """Of this process and of its processes that have ended, since it began."""
    return sum(os.times()[:4])


def package_of(test: str) -> str:
    """The folder of a test below tests/ (below tests/contrib/ for a package there), or its file."""
    parts = test.partition("::")[0].split("/")
    return "/".join(parts[:3] if parts[1:2] == ["contrib"] else parts[:2])


def table(seconds: dict[str, float]) -> list[str]:
    """seconds: test -> CPU seconds. Lines: the sum, a line a package, a line a test above the budget; most first."""
    packages: defaultdict[str, list[float]] = defaultdict(list)
    for test, duration in seconds.items():
        packages[package_of(test)].append(duration)
    lines = [f"{sum(seconds.values()):8.1f} CPU s  {len(seconds):6,} tests"]
    lines += [
        f"{sum(durations):8.1f} CPU s  {len(durations):6,} tests  {package}"
        for package, durations in sorted(packages.items(), key=lambda entry: -sum(entry[1]))
    ]
    above = sorted(
        (test for test, duration in seconds.items() if duration > BUDGET),
        key=lambda test: -seconds[test],
    )
    lines += ["", f"Tests above {BUDGET:g} CPU s: {len(above)}"]
    lines += [f"{seconds[test]:8.1f} CPU s  {test}" for test in above[:LISTED]]
    return lines


class CpuTimes:
    """The plug-in. Processes that run tests measure; the one that the user started collects and prints."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_logstart(self) -> None:
        self.before = cpu_seconds()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(self, item: pytest.Item, call: pytest.CallInfo[None]) -> None:
        if call.when == "teardown":
            item.user_properties.append((PROPERTY, cpu_seconds() - self.before))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "teardown":
            for name, value in report.user_properties:
                if name == PROPERTY and isinstance(value, float):
                    self.seconds[report.nodeid] = value

    def pytest_terminal_summary(self, terminalreporter: TerminalReporter) -> None:
        terminalreporter.section("CPU seconds")
        for line in table(self.seconds):
            terminalreporter.write_line(line)
