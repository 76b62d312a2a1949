"""The verb `longmark metaeval ROWS HUMAN`: validates metrics against human ratings."""

from __future__ import annotations

import argparse
from typing import Any

from longmark.cli.arguments import (
    add,
    add_project,
    add_verb,
    add_verbose,
    needs_stats,
    orders,
    pairs,
    scores_in,
    share,
    split,
    whole,
)


def add_to(verbs: Any) -> None:
    text = "Validate metrics against human ratings, or human choices between two answers."
    parser = add_verb(verbs, "metaeval", metaeval, text)
    human = (
        "ratings (example_id, label, value, rater) or choices (question_id, a, b, choice, rater): "
    )
    add(parser, "rows", "ROWS", "run folders or files of rows", nargs="+")
    add(parser, "human", "HUMAN", human + ".csv, .tsv, .jsonl, .json or .parquet")
    add(parser, "--metrics", "NAME,…", "the metrics or families to read (default: all)")
    add(parser, "--label", "NAME,…", "the labels to read (default: all)")
    add(parser, "--map", "FIELD=COLUMN", "read a field from this column of HUMAN")
    add(parser, "--raters", "COLUMN,…", "the columns of HUMAN with one rater each")
    add(
        parser,
        "--by",
        "COLUMN,…",
        "break the results down by these columns (default: group, mode, subject)",
    )
    add(
        parser,
        "--order",
        "LABEL=LOWEST,…,HIGHEST",
        "all categories of a label, in order (a comma in one: %%2C)",
    )
    add(parser, "--lower", "NAME,…", "metrics where lower is better, if no run declares it")
    decimals = "round scores to N decimals before comparing two answers (default: 2)"
    add(parser, "--round", "N", decimals, type=whole, default=2)
    development = (
        "choose the tie bands of choices on this share of the questions, test them on the others "
        "(default: 0)"
    )
    add(parser, "--development", "SHARE", development, type=share, default=0.0)
    add(
        parser,
        "--alpha",
        "P",
        "significance level of tests and intervals (default: 0.05)",
        default=0.05,
    )
    add(parser, "--seed", "N", "seed of the resampling (default: 0)", type=whole, default=0)
    add_verbose(parser)
    add(
        parser,
        "--out",
        "DIR",
        "the folder for the tables (CSV, Markdown, LaTeX, JSON) and report.html",
    )
    add_project(parser)


def metaeval(arguments: argparse.Namespace) -> int:
    needs_stats("metaeval")
    from rich.console import Console

    from longmark.analysis.metaeval import metaeval as hold
    from longmark.analysis.metaeval.sections import document
    from longmark.report.document import check_out, publish

    check_out(arguments.out)
    results = hold(
        arguments.rows,
        arguments.human,
        metrics=scores_in(arguments.metrics),
        labels=split(arguments.label),
        mapping=pairs(arguments.map, "FIELD=COLUMN"),
        by=split(arguments.by),
        raters=split(arguments.raters),
        order=orders(arguments.order, "LABEL=LOWEST,…,HIGHEST"),
        lower=split(arguments.lower),
        round=arguments.round,
        development=arguments.development,
        alpha=arguments.alpha,
        seed=arguments.seed,
    )
    publish(document(results), arguments.out, Console(highlight=False), verbose=arguments.verbose)
    return 0
