"""The verb `demo` with its options."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from longmark.cli.arguments import add, add_verb


def demo(verbs: Any) -> None:
    text = "Compare four bundled systems in a minute: which is better, the worst answers, which metric sees which defect."
    verb = add_verb(verbs, "demo", "longmark.contrib.demo.cli:demo", text)
    add(verb, "--out", "DIR", "the output folder (default: demo)", default=Path("demo"))
    add(
        verb,
        "--live",
        "",
        "ask the embedded judge for all scores instead of reading its recorded replies",
    )
    add(
        verb,
        "--full",
        "",
        "run the whole pipeline: questions, passages, answers, variants, metrics",
    )
