"""The verb `longmark power`: how many questions show a difference, from a pilot."""

from __future__ import annotations

import argparse
from typing import Any

from longmark.cli.arguments import (
    add,
    add_composed,
    add_options,
    add_project,
    add_verb,
    keywords,
    needs_stats,
)
from longmark.options.analyses import PageOptions, PowerGroups


def add_to(verbs: Any) -> None:
    text = "Plan a comparison from a pilot: the required sample size, or the smallest detectable difference."
    parser = add_verb(verbs, "power", power, text)
    add(parser, "runs", "RUN", "run folders or files of rows of the pilot", nargs="+")
    add_composed(parser, PowerGroups)
    text = "the folder for the table (CSV, Markdown, LaTeX, JSON) and report.html"
    add_options(parser, PageOptions, ("out",), titled=True, help={"out": text})
    add_project(parser)


def power(arguments: argparse.Namespace) -> int:
    needs_stats("power")
    from rich.console import Console

    from longmark.analysis.power import PowerOptions, document
    from longmark.analysis.power import power as plan
    from longmark.report.document import check_out, publish
    from longmark.scores.manifest import cluster_of

    check_out(arguments.out)
    options = keywords(PowerGroups, arguments)
    options["cluster"] = cluster_of(arguments.cluster, arguments.runs)
    how = PowerOptions(**options)
    publish(document(plan(arguments.runs, how)), arguments.out, Console())
    return 0
