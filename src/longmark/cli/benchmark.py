"""The verb `longmark benchmark`: benchmarks out of books. Each action has a module of its own."""

from __future__ import annotations

import importlib
from typing import Any

from longmark.cli.arguments import add_verb

_ACTIONS: tuple[str, ...] = ("generate", "export", "run")  # after benchmark_


def add_to(verbs: Any) -> None:
    text = "Make benchmarks of questions out of books, check them, and put them to models."
    benchmark = add_verb(verbs, "benchmark", None, text)
    actions = benchmark.add_subparsers(dest="action", required=True)
    for name in _ACTIONS:
        importlib.import_module(f"longmark.cli.benchmark_{name}").add_to(actions)
    actions.metavar = "|".join(actions.choices)
