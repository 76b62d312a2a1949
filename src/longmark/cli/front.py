"""The front door: what `longmark` alone and `longmark --help` show, five verbs with an example and the others by
groups."""

from __future__ import annotations

import argparse
import json
import textwrap
from collections.abc import Mapping
from pathlib import Path
from shutil import get_terminal_size
from typing import Any

from longmark import plugins
from longmark.cli.parsing import Parser

VERBS = Path(__file__).with_name("verbs.json")
"""The verbs with their texts, as they are shipped; `python -m tests.docs.generate` writes it, and a test holds it."""

FIRST = {
    "run": "longmark run answers.jsonl --metrics ccrs --judge embedded --out runs/first",
    "report": "longmark report runs/first --out report.html",
    "compare": "longmark compare runs/first runs/second --out compared",
    "metaeval": "longmark metaeval runs/first ratings.csv",
    "annotate": "longmark annotate init runs/first --out quality.yaml",
}
"""The verbs that come first, each with an example."""

_GROUPS = {
    "Before a run": (
        "demo",
        "look",
        "init",
        "ci",
        "metrics",
        "prompts",
        "models",
        "doctor",
        "trust",
        "completion",
    ),
    "Runs": ("view", "status", "verify", "export", "split", "merge", "cache", "batches"),
    "Statistics": ("check", "power", "decide", "audit", "metrics-study"),
    "Human labels": ("label", "certify"),
    "Making data": (
        "questions",
        "vary",
        "defects",
        "dataset",
        "pairs",
        "rag",
        "benchmark",
        "validator",
        "train",
    ),
    "Papers": ("study", "score-study", "comprehensiveness-study", "calf-study", "climaqa-study"),
}
_PLUGINS = "Plug-ins"  # the verbs of installed packages, and any other that no group names


class FrontParser(Parser):
    """The parser of the whole command line."""

    def format_help(self) -> str:
        return page(self, verbs_of(self))

    def format_help_all(self) -> str:
        return super().format_help()


def listed_verbs() -> dict[str, str]:
    """The verbs of the core and of longmark's installed packages, each with the line that describes it, as `VERBS`
    has them."""
    texts: dict[str, dict[str, str]] = json.loads(VERBS.read_text("utf-8"))
    installed = plugins.own("verbs")
    return texts["core"] | {
        verb: text for verb, text in texts["packages"].items() if verb in installed
    }


def page(parser: argparse.ArgumentParser, texts: Mapping[str, str]) -> str:
    """The front page. texts: the verbs, each with the line that describes it."""
    width = max(40, get_terminal_size().columns - 2)
    lines = [
        f"usage: {parser.prog} VERB ...",
        "",
        *textwrap.wrap(parser.description or "", width),
        "",
        "Start with:",
    ]
    indent = max(map(len, FIRST)) + 4
    for verb, example in FIRST.items():
        if verb in texts:
            lines += _entry(verb, texts[verb], indent, width)
            lines.append(f"{' ' * indent}$ {example}")  # not wrapped: it is there to be copied
    lines += ["", "Other verbs:"]
    groups = _grouped(texts)
    indent = max(map(len, groups)) + 4
    for group, verbs in groups.items():
        lines += _entry(group, ", ".join(verbs), indent, width)
    hint = "longmark VERB --help explains a verb; longmark --help-all describes all of them."
    lines += ["", *textwrap.wrap(hint, width), "", *textwrap.wrap(parser.epilog or "", width)]
    return "\n".join(lines) + "\n"


def verbs_of(parser: argparse.ArgumentParser) -> dict[str, str]:
    """Each verb of the parser with the line that describes it."""
    texts: dict[str, str] = {}
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            choices: Any = action._choices_actions
            texts |= {choice.dest: choice.help or "" for choice in choices}
    return texts


def _grouped(texts: Mapping[str, str]) -> dict[str, list[str]]:
    """The verbs that are not among the first, by group."""
    groups = {group: [verb for verb in verbs if verb in texts] for group, verbs in _GROUPS.items()}
    grouped = {*FIRST, *(verb for verbs in groups.values() for verb in verbs)}
    groups[_PLUGINS] = [verb for verb in texts if verb not in grouped]
    return {group: verbs for group, verbs in groups.items() if verbs}


def _entry(head: str, text: str, indent: int, width: int) -> list[str]:
    wrapped = textwrap.wrap(text, max(20, width - indent), break_on_hyphens=False)
    return [
        f"  {head:<{indent - 2}}{wrapped[0]}",
        *(f"{' ' * indent}{line}" for line in wrapped[1:]),
    ]
