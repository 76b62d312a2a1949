"""`pytest --cpu-times`: what a test and its processes take is measured, and summed by package."""

from __future__ import annotations

import os
import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest
from tests.cpu_times import PROPERTY, CpuTimes, package_of, table


def test_packages_add_up_and_tests_above_the_budget_are_listed() -> None:
    seconds = {
        "tests/stats/test_means.py::test_a": 0.25,
        "tests/stats/deep/test_more.py::test_b[a::b]": 3.0,
        "tests/contrib/scale/test_merge.py::test_c": 2.5,
        "tests/test_cli.py::test_d": 2.0,
    }
    assert table(seconds) == [
        "     7.8 CPU s       4 tests",  # .25 + 3 + 2.5 + 2 = 7.75
        "     3.2 CPU s       2 tests  tests/stats",  # 3.25, rounded to even
        "     2.5 CPU s       1 tests  tests/contrib/scale",
        "     2.0 CPU s       1 tests  tests/test_cli.py",
        "",
        "Tests above 2 CPU s: 2",
        "     3.0 CPU s  tests/stats/deep/test_more.py::test_b[a::b]",
        "     2.5 CPU s  tests/contrib/scale/test_merge.py::test_c",
    ]


@pytest.mark.parametrize(
    ("test", "package"),
    [
        ("tests/test_cli.py::test_a[tests/x]", "tests/test_cli.py"),
        ("tests/records/formats/test_a.py::test_b", "tests/records"),
        ("tests/contrib/make/rag/test_a.py::test_b", "tests/contrib/make"),
    ],
)
def test_a_package_is_a_folder_of_tests_or_of_a_package_of_contrib(test: str, package: str) -> None:
    assert package_of(test) == package


def test_a_test_counts_with_the_processes_that_it_waited_for() -> None:
    plugin = CpuTimes()
    item: Any = SimpleNamespace(user_properties=[])
    plugin.pytest_runtest_logstart()
    before = os.times().children_user
    subprocess.run([sys.executable, "-I", "-S", "-c", "sum(range(3_000_000))"], check=True)
    started = os.times().children_user - before
    for when in ("setup", "call", "teardown"):
        call: Any = SimpleNamespace(when=when)
        plugin.pytest_runtest_makereport(item, call)
    ((name, seconds),) = item.user_properties
    assert name == PROPERTY
    assert started > 0
    assert seconds > started - 0.001  # sums of floats
    report: Any = SimpleNamespace(
        when="teardown", nodeid="test_a.py::test_b", user_properties=item.user_properties
    )
    plugin.pytest_runtest_logreport(report)
    assert plugin.seconds == {"test_a.py::test_b": seconds}
