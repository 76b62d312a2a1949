"""The verb `longmark hedges RUN`. What needs more than the parser is imported where the verb is called, so that this
package does not slow down the other verbs."""

from __future__ import annotations

import argparse
from typing import Any

from longmark.cli.arguments import add, add_verb


def hedges(verbs: Any) -> None:
    text = "Show how much the answers of a run hedge, by system, and with which words."
    verb = add_verb(verbs, "hedges", show, text)
    add(verb, "run", "RUN", "a run folder with scores of the metric hedges")
    metric = "the score to show, with its parameters (default: hedges)"
    add(verb, "--metric", "NAME", metric, default="hedges")
    add(verb, "--out", "DIR", "the folder for report.html and tables")


def show(arguments: argparse.Namespace) -> int:
    from rich.console import Console

    from longmark.report.document import check_out, publish
    from longmark_example.page import document, read_hedging

    check_out(arguments.out)
    hedging = read_hedging(arguments.run, arguments.metric)
    publish(document(hedging, arguments.metric), arguments.out, Console())
    return 0
