"""The verb `longmark compare`: compares runs or systems, paired by question."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from longmark.cli.arguments import from_one, needs_stats, split, whole


def add_to(verbs: Any) -> None:
    """Adds the verb to the command line's verbs."""
    text = "Compare runs, or the systems of a run: paired tests, confidence intervals, rankings."
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
    one.add_argument("--verbose", action="store_true", help="print every table (default: a line per metric)")
    one.add_argument(
        "--allow-different-judges",
        action="store_true",
        help="compare scores of different judges, prompts, parameters or versions, with a notice",
    )
    one.add_argument(
        "--hypotheses", type=Path, metavar="FILE.yaml", help="hypotheses over several comparisons, to be tested"
    )
    how = one.add_argument_group("statistics")
    how.add_argument(
        "--alpha",
        type=float,
        default=0.05,
        metavar="SHARE",
        help="family-wise error rate over all comparisons (default: 0.05)",
    )
    how.add_argument(
        "--level", type=float, default=0.95, metavar="SHARE", help="confidence level of each interval (default: 0.95)"
    )
    how.add_argument(
        "--draws",
        type=from_one,
        metavar="N",
        help="permutations per test and resamples per interval (default: 10,000; fewer for huge tables)",
    )
    how.add_argument("--seed", type=whole, default=0, metavar="N", help="seed of all draws (default: 0)")


def compare(arguments: argparse.Namespace) -> int:
    """Compares runs or systems."""
    needs_stats("compare")
    from rich.console import Console

    from longmark.analysis.compare.comparison import compare as compared
    from longmark.analysis.compare.page import brief, document
    from longmark.cli.terminal import under_way
    from longmark.report.document import check_out, publish
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
    page = document(found)
    publish(page, arguments.out, Console(), printed=page if arguments.verbose else brief(page))
    return 0
