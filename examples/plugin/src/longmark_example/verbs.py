"""The verb `longmark hedges RUN`. What needs more than the parser is imported where the verb is called, so that this
package does not slow down the other verbs."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longmark.cli.arguments import add, add_options, add_verb, keywords
from longmark.options import option


@dataclass(frozen=True)
class HedgesOptions:
    """what is shown"""

    metric: str = option("hedges", "the score, with its parameters (default: {default})", "NAME")
    out: Path | None = option(None, "the folder for report.html and tables", "DIR")


def hedges(verbs: Any) -> None:
    text = "Show how much the answers of a run hedge, by system, and with which words."
    verb = add_verb(verbs, "hedges", show, text)
    add(verb, "run", "RUN", "a run folder with scores of the metric hedges")
    add_options(verb, HedgesOptions)


def show(arguments: argparse.Namespace) -> int:
    from rich.console import Console

    from longmark.report.document import check_out, publish
    from longmark_example.page import document, read_hedging

    options = HedgesOptions(**keywords(HedgesOptions, arguments))
    check_out(options.out)
    hedging = read_hedging(arguments.run, options.metric)
    publish(document(hedging, options.metric), options.out, Console())
    return 0
