"""Budgets of style, a line a package: `python -m tests.style` writes into tests/style.txt what tests/house.py counts
now. A budget only falls: where a count is higher than its budget the line stays, and tests/test_style.py fails."""

from __future__ import annotations

import math
from collections import Counter
from pathlib import Path

from tests.house import StyleCounts, counts_by_package, total_of

BUDGETS = Path(__file__).with_suffix(".txt")
MEASURES = (
    "tokens_a_line",  # in tenths, rounded up
    "vague_bindings",
    "shared_classes",
    "splats",
    "parallel_assignments",
)


def measured(counts: StyleCounts, everywhere: Counter[str]) -> dict[str, float]:
    """The measures of one package. everywhere: the class names of all packages."""
    return {
        "tokens_a_line": math.ceil(10 * counts.tokens_a_line) / 10,
        "vague_bindings": counts.vague.total(),
        "shared_classes": len(counts.shared_classes(everywhere)),
        "splats": counts.splats,
        "parallel_assignments": counts.parallel_assignments,
    }


def measured_packages() -> dict[str, dict[str, float]]:
    counts = counts_by_package()
    everywhere = total_of(counts).classes
    return {name: measured(package, everywhere) for name, package in counts.items()}


def read_budgets() -> dict[str, dict[str, float]]:
    """The budgets of each package; a line without a package is a comment or the heading."""
    budgets = {}
    for line in BUDGETS.read_text().splitlines():
        name, *figures = line.split()
        if name not in ("#", "package"):
            budgets[name] = dict(zip(MEASURES, map(float, figures), strict=True))
    return budgets


def lowered(
    budgets: dict[str, dict[str, float]], counts: dict[str, dict[str, float]]
) -> dict[str, dict[str, float]]:
    """The budgets with those lowered whose counts have fallen. A package without a budget gets its counts."""
    return {
        name: {
            measure: min(count, budgets.get(name, package)[measure])
            for measure, count in package.items()
        }
        for name, package in counts.items()
    }


def lines(budgets: dict[str, dict[str, float]]) -> list[str]:
    heading = "  ".join(("package".ljust(20), *MEASURES))
    rows = (
        "  ".join(
            (
                name.ljust(20),
                *(f"{package[measure]:g}".rjust(len(measure)) for measure in MEASURES),
            )
        )
        for name, package in sorted(budgets.items())
    )
    return ["# python -m tests.style lowers these; nothing raises them", heading, *rows]


def main() -> None:
    budgets = read_budgets() if BUDGETS.exists() else {}
    BUDGETS.write_text("\n".join(lines(lowered(budgets, measured_packages()))) + "\n")


if __name__ == "__main__":
    main()
