"""How the sources are written: counts of what makes them hard to read stay within budgets that only fall."""

from __future__ import annotations

import ast
import re
from collections import Counter, defaultdict
from functools import cache
from pathlib import Path

import pytest
from tests.house import ROOT, count_style
from tests.style import lowered, measured, measured_packages, read_budgets

# it reads every source, so not where tests are collected
counts_of_packages = cache(measured_packages)
SOURCE = '''"""A module of eight code lines."""


class Row:
    def read(self, given):
        """Its docstring is not code."""
        found, path = [], given  # a comment
        for one in path:
            found.append(one)
        print(*(found, path))
        first, second = found  # what a call returned: no parallel assignment
        return first
'''


def test_the_counts_of_a_module_worked_by_hand() -> None:
    counts = count_style(SOURCE)
    assert counts.code_lines == 8
    assert counts.comments == 2
    assert counts.vague == {"given": 1, "found": 1, "one": 1}
    assert counts.bindings == 7  # self, given, found, path, one, first, second
    assert counts.splats == 1
    assert counts.parallel_assignments == 1
    # class Row: | def read(self, given): | found, path = [], given | for one in path: | found.append(one)
    # print(*(found, path)) | first, second = found | return first
    assert counts.tokens == 3 + 8 + 8 + 5 + 6 + 9 + 5 + 2


def test_a_class_counts_as_shared_where_another_module_has_its_name() -> None:
    assert measured(count_style(SOURCE), Counter(Row=1))["shared_classes"] == 0
    assert measured(count_style(SOURCE), Counter(Row=2))["shared_classes"] == 1


def test_a_budget_falls_with_its_count_and_never_rises() -> None:
    budgets = {"records": {"splats": 3.0, "vague_bindings": 2.0}}
    counts = {"records": {"splats": 5.0, "vague_bindings": 1.0}}
    assert lowered(budgets, counts) == {"records": {"splats": 3.0, "vague_bindings": 1.0}}


def test_every_package_has_a_budget() -> None:
    """`python -m tests.style` writes the line of a new package, and takes out that of one that is gone."""
    assert set(read_budgets()) == set(counts_of_packages())


@pytest.mark.parametrize("package", sorted(read_budgets()))
def test_a_package_stays_within_its_budget(package: str) -> None:
    """Above it: give bindings names that say what they hold, write calls over several lines, name classes once
    (tests/house.py says what is counted). A class can share its name with one of another package."""
    budgets = read_budgets()[package]
    over = {
        measure: f"{count:g}, and the budget is {budgets[measure]:g}"
        for measure, count in counts_of_packages().get(package, {}).items()
        if measure in budgets and count > budgets[measure]
    }
    assert over == {}


def class_names(path: Path) -> Counter[str]:
    return Counter(
        node.name
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.ClassDef)
    )


def test_a_class_of_tests_or_bench_has_a_name_of_its_own() -> None:
    """Two classes of one kind become one, in a module that is named after what it holds."""
    texts = {
        path: path.read_text()
        for folder in ("src/longmark", "tests", "bench")
        for path in (ROOT / folder).rglob("*.py")
    }
    # a name may stand in a text that is no code: only the files that seem to share one are parsed
    names = {path: {*re.findall(r"^ *class (\w+)", text, re.M)} for path, text in texts.items()}
    files = Counter(name for module_names in names.values() for name in module_names)
    repeated = [
        path
        for path, module_names in names.items()
        if any(files[name] > 1 for name in module_names)
    ]
    places = defaultdict(list)
    for path in repeated:
        for name in class_names(path).elements():
            places[name].append(str(path.relative_to(ROOT)))
    shared = {
        name: paths
        for name, paths in places.items()
        if len(paths) > 1 and any(not path.startswith("src/") for path in paths)
    }
    assert shared == {}
