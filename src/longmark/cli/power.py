"""The verb `longmark power`: how many questions show a difference, from a pilot."""

from __future__ import annotations

import argparse
from typing import Any

from longmark.cli.arguments import (
    add,
    add_cluster,
    add_project,
    add_verb,
    needs_stats,
    positive,
    scores_in,
    split,
)


def add_to(verbs: Any) -> None:
    text = "Plan a comparison from a pilot: the required sample size, or the smallest detectable difference."
    parser = add_verb(verbs, "power", power, text)
    add(parser, "runs", "RUN", "run folders or files of rows of the pilot", nargs="+")
    add(
        parser,
        "--effect",
        "D",
        "the smallest true difference that matters to you, in the metric's units",
        type=positive,
    )
    add(
        parser,
        "--questions",
        "N",
        "report the smallest difference that N questions can detect (default: as many as the pilot has)",
    )
    add(
        parser,
        "--power",
        "SHARE",
        "the probability that the test finds the difference (default: 0.8)",
        default=0.8,
    )
    add(
        parser,
        "--alpha",
        "SHARE",
        "significance level over all comparisons (default: 0.05)",
        default=0.05,
    )
    text = "the probability that the plan reaches the power; 0.5 plans for the pilot's own variance (default: 0.8)"
    add(parser, "--assurance", "SHARE", text, default=0.8)
    add(
        parser,
        "--level",
        "SHARE",
        "confidence level of each interval (default: 0.95)",
        default=0.95,
    )
    add(parser, "--metrics", "NAME,…", "the metrics or families to plan for (default: all)")
    add(parser, "--systems", "NAME,…", "the systems (or runs) to compare (default: all)")
    by = "compare runs or systems (default: run if several runs are given, else system)"
    add(parser, "--by", "", by, action="store", choices=("run", "system"))
    add_cluster(parser)
    add(
        parser,
        "--allow-different-judges",
        "",
        "accept scores of different judges, prompts, parameters or versions",
    )
    add(
        parser,
        "--out",
        "DIR",
        "the folder for the table (CSV, Markdown, LaTeX, JSON) and report.html",
    )
    add_project(parser)


def power(arguments: argparse.Namespace) -> int:
    needs_stats("power")
    from rich.console import Console

    from longmark.analysis.power import PowerOptions, document
    from longmark.analysis.power import power as plan
    from longmark.report.document import check_out, publish
    from longmark.scores.manifest import cluster_of

    check_out(arguments.out)
    same = (
        "effect",
        "questions",
        "power",
        "alpha",
        "level",
        "assurance",
        "by",
        "allow_different_judges",
    )
    options = {name: getattr(arguments, name) for name in same}
    options["cluster"] = cluster_of(arguments.cluster, arguments.runs)
    how = PowerOptions(
        metrics=scores_in(arguments.metrics), systems=split(arguments.systems), **options
    )
    publish(document(plan(arguments.runs, how)), arguments.out, Console())
    return 0
