"""The verb `longmark metaeval ROWS HUMAN`: validates metrics against human ratings."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

from longmark.cli.arguments import needs_stats, pairs, split, whole


def add_to(verbs: Any) -> None:
    """Adds the verb to the command line's."""
    text = "Validate metrics against human ratings, or human choices between two answers."
    one = verbs.add_parser("metaeval", help=text, description=text, allow_abbrev=False)
    one.set_defaults(verb=metaeval)
    human = "ratings (example_id, label, value, rater) or choices (question_id, a, b, choice, rater): "
    human += ".csv, .tsv, .jsonl, .json or .parquet"
    one.add_argument("rows", nargs="+", type=Path, metavar="ROWS", help="run folders or files of rows")
    one.add_argument("human", type=Path, metavar="HUMAN", help=human)
    for option, metavar, text in (
        ("metrics", "NAME,…", "the metrics or families to read (default: all)"),
        ("label", "NAME,…", "the labels to read (default: all)"),
        ("map", "FIELD=COLUMN", "read a field from this column of HUMAN"),
        ("by", "COLUMN,…", "break the results down by these columns (default: group, mode, subject)"),
        ("order", "LABEL=LOWEST,…,HIGHEST", "the order of a label's categories"),
        ("lower", "NAME,…", "metrics where lower is better, if no run declares it"),
    ):
        one.add_argument(f"--{option}", action="append", default=[], metavar=metavar, help=text)
    decimals = "round scores to N decimals before comparing two answers (default: 2)"
    one.add_argument("--round", type=whole, default=2, metavar="N", help=decimals)
    help = "significance level of tests and intervals (default: 0.05)"
    one.add_argument("--alpha", type=float, default=0.05, metavar="P", help=help)
    one.add_argument("--seed", type=whole, default=0, metavar="N", help="seed of the resampling (default: 0)")
    one.add_argument("--verbose", action="store_true", help="print every table (default: one line per metric)")
    help = "the folder for the tables (CSV, Markdown, LaTeX, JSON) and report.html"
    one.add_argument("--out", type=Path, metavar="DIR", help=help)


def metaeval(arguments: argparse.Namespace) -> int:
    """Validates metrics against human ratings."""
    needs_stats("metaeval")
    from rich.console import Console

    from longmark.analysis.metaeval import metaeval as hold
    from longmark.analysis.metaeval.sections import brief, document
    from longmark.report.document import check_out, publish

    check_out(arguments.out)
    found = hold(
        arguments.rows,
        arguments.human,
        metrics=split(arguments.metrics),
        labels=split(arguments.label),
        mapping=pairs(arguments.map, "FIELD=COLUMN"),
        by=split(arguments.by),
        order={name: split([words]) for name, words in pairs(arguments.order, "LABEL=LOWEST,…,HIGHEST").items()},
        lower=split(arguments.lower),
        round=arguments.round,
        alpha=arguments.alpha,
        seed=arguments.seed,
    )
    page = document(found)
    console = Console(file=sys.stdout, highlight=False)
    publish(page, arguments.out, console, printed=page if arguments.verbose else brief(page))
    return 0
