"""The verb `longmark benchmark`: benchmarks made from books. Each action has its own module."""

from __future__ import annotations

import importlib
from typing import Any

from longmark.cli.arguments import add_verb

_ACTIONS: tuple[str, ...] = ("generate", "export", "run")  # after benchmark_


def add_to(verbs: Any) -> None:
    text = "Make benchmarks of questions from books, audit and export them, and run models on them."
    benchmark = add_verb(verbs, "benchmark", None, text)
    actions = benchmark.add_subparsers(dest="action", required=True)
    for name in _ACTIONS:
        importlib.import_module(f"longmark.cli.benchmark_{name}").add_to(actions)
    actions.metavar = "|".join(actions.choices)
