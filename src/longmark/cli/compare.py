"""The verb `longmark compare`: runs or systems against each other, paired by question."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from longmark.cli.arguments import from_one, needs_stats, split, whole


def add_to(verbs: Any) -> None:
    """Adds the verb to the command line's verbs."""
    text = "Compare runs, or the systems of a run: which is better on which metric, by how much, how sure."
    one = verbs.add_parser("compare", help=text, description=text, allow_abbrev=False)
    one.set_defaults(verb=compare)
    one.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="run folders or files of rows")
    one.add_argument(
        "--by",
        choices=("run", "system"),
        help="what is compared (default: runs where several are given, else the systems of the one)",
    )
    one.add_argument(
        "--metrics", action="append", default=[], metavar="NAME,…", help="metrics or families (default: all)"
    )
    one.add_argument(
        "--systems", action="append", default=[], metavar="NAME,…", help="systems (or runs) (default: all)"
    )
    one.add_argument(
        "--out", type=Path, metavar="DIR", help="a folder for the tables (CSV, Markdown, LaTeX, JSON) and report.html"
    )
    one.add_argument(
        "--allow-different-judges",
        action="store_true",
        help="compare marks of different judges, prompts, parameters or versions, under a notice that says so",
    )
    one.add_argument(
        "--hypotheses", type=Path, metavar="FILE.yaml", help="hypotheses made of several comparisons, to be decided"
    )
    how = one.add_argument_group("statistics")
    how.add_argument(
        "--alpha",
        type=float,
        default=0.05,
        metavar="SHARE",
        help="of the tests, over all comparisons together (default: 0.05)",
    )
    how.add_argument(
        "--level", type=float, default=0.95, metavar="SHARE", help="of each interval by itself (default: 0.95)"
    )
    how.add_argument(
        "--draws",
        type=from_one,
        metavar="N",
        help="for a test and an interval (default: 10,000; fewer for huge tables)",
    )
    how.add_argument("--seed", type=whole, default=0, metavar="N", help="of all draws (default: 0)")


def compare(arguments: argparse.Namespace) -> int:
    """Compares runs or systems."""
    needs_stats("compare")
    from rich.console import Console

    from longmark.cli.progress import under_way
    from longmark.compare.comparison import compare as compared
    from longmark.compare.sections import brief, document
    from longmark.report.publish import check_out, publish
    from longmark.stats.hypotheses import load_hypotheses

    check_out(arguments.out)
    claims = load_hypotheses(arguments.hypotheses) if arguments.hypotheses else ()
    with under_way() as tell:
        found = compared(
            arguments.runs,
            by=arguments.by,
            metrics=split(arguments.metrics),
            systems=split(arguments.systems),
            alpha=arguments.alpha,
            level=arguments.level,
            seed=arguments.seed,
            draws=arguments.draws,
            allow_different_judges=arguments.allow_different_judges,
            hypotheses=claims,
            progress=tell,
        )
    whole = document(found)
    publish(whole, arguments.out, Console(), printed=brief(whole))
    return 0
