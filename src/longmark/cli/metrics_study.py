"""The verb `longmark metrics-study`: properties of the metrics of runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from longmark.cli.arguments import from_one, needs_stats, split, whole


def add_to(verbs: Any) -> None:
    """Adds the verb to the command line's verbs."""
    text = "Study the metrics of runs: bounds, ties, distributions, correlations, discriminative power, cost."
    one = verbs.add_parser("metrics-study", help=text, description=text, allow_abbrev=False)
    one.set_defaults(verb=metrics_study)
    one.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="run folders or files of rows")
    one.add_argument(
        "--by", choices=("system", "run"), default="system", help="what counts as a system (default: system)"
    )
    one.add_argument(
        "--metrics", action="append", default=[], metavar="NAME,…", help="metrics or families (default: all)"
    )
    one.add_argument(
        "--out", type=Path, metavar="DIR", help="a folder for the tables (CSV, Markdown, LaTeX, JSON) and report.html"
    )
    one.add_argument(
        "--hypotheses", type=Path, metavar="FILE.yaml", help="hypotheses over several comparisons, to be tested"
    )
    one.add_argument("--verbose", action="store_true", help="print every table (default: a line per metric)")
    one.add_argument(
        "--allow-different-judges",
        action="store_true",
        help="study scores of different judges, prompts, parameters or versions, with a notice",
    )
    how = one.add_argument_group("statistics")
    how.add_argument(
        "--alpha", type=float, default=0.05, metavar="SHARE", help="of each metric's tests (default: 0.05)"
    )
    how.add_argument("--level", type=float, default=0.95, metavar="SHARE", help="of intervals (default: 0.95)")
    how.add_argument(
        "--permutations", type=from_one, default=10_000, metavar="N", help="of each test (default: 10,000)"
    )
    how.add_argument("--seed", type=whole, default=0, metavar="N", help="of the permutations (default: 0)")
    how.add_argument(
        "--as-published",
        action="store_true",
        help="as the authors of CCRS: p = count / permutations, and questions with a missing system are kept",
    )


def metrics_study(arguments: argparse.Namespace) -> int:
    """Studies the metrics of runs."""
    needs_stats("metrics-study")
    from rich.console import Console

    from longmark.analysis.metrics_study.page import brief, document
    from longmark.analysis.metrics_study.study import metrics_study as studied
    from longmark.cli.terminal import under_way
    from longmark.report.document import check_out, publish
    from longmark.stats.hypotheses import load_hypotheses

    check_out(arguments.out)
    claims = load_hypotheses(arguments.hypotheses) if arguments.hypotheses else ()
    with under_way() as tell:
        found = studied(
            arguments.runs,
            by=arguments.by,
            metrics=split(arguments.metrics),
            alpha=arguments.alpha,
            level=arguments.level,
            permutations=arguments.permutations,
            seed=arguments.seed,
            hypotheses=claims,
            as_published=arguments.as_published,
            allow_different_judges=arguments.allow_different_judges,
            progress=tell,
        )
    page = document(found)
    publish(page, arguments.out, Console(), printed=page if arguments.verbose else brief(page))
    return 0
