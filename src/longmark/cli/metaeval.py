"""The verb `longmark metaeval ROWS HUMAN`: validates metrics against human ratings."""

from __future__ import annotations

import argparse
from pathlib import Path
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
from longmark.cli.next_steps import exported_beside, ratings_alone, validation
from longmark.errors import BadInput, UserError
from longmark.options.analyses import MetaevalGroups, PageOptions


def add_to(verbs: Any) -> None:
    text = "Validate metrics against human ratings, or human choices between two answers."
    parser = add_verb(verbs, "metaeval", metaeval, text)
    human = (
        "ratings (example_id, label, value, rater) or choices (question_id, a, b, choice, rater): "
    )
    add(parser, "rows", "ROWS", "run folders or files of rows", nargs="+")
    add(parser, "human", "HUMAN", human + ".csv, .tsv, .jsonl, .json or .parquet")
    add_composed(parser, MetaevalGroups)
    add_options(parser, PageOptions)
    add_project(parser)


def metaeval(arguments: argparse.Namespace) -> int:
    needs_stats("metaeval")
    from rich.console import Console

    from longmark.analysis.metaeval import metaeval as hold
    from longmark.analysis.metaeval.sections import document
    from longmark.report.document import check_out, publish

    check_out(arguments.out)
    try:
        results = hold(arguments.rows, arguments.human, **keywords(MetaevalGroups, arguments))
    except UserError as error:
        raise _with_proposal(error, arguments) from None
    publish(
        document(results),
        arguments.out,
        Console(highlight=False),
        verbose=arguments.verbose,
        width=arguments.width,
    )
    return 0


def _with_proposal(error: UserError, arguments: argparse.Namespace) -> UserError:
    """The error, with the command for a table that has a column for each rater; an error of another kind as it is."""
    run = str(arguments.rows[0])
    human = Path(arguments.human)
    of_scores = arguments.rows == [arguments.human]
    if isinstance(error, BadInput) or arguments.scores or (arguments.raters and not of_scores):
        return error
    lines = validation(human, "" if of_scores else run) or exported_beside(arguments.rows, human)
    if not (lines or of_scores or arguments.map):
        lines = ratings_alone(human, run)
    return UserError("\n".join([str(error), *lines])) if lines else error
