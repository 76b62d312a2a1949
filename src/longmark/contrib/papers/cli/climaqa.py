"""The verb `longmark climaqa-study`: compares models under test on a benchmark, with the ClimaQA paper's tables."""

from __future__ import annotations

import argparse
from typing import Any

from longmark.cli.arguments import add, add_verb, add_verbose, needs_stats
from longmark.contrib.papers.cli.study import without_scores


def add_to(verbs: Any) -> None:
    text = "Compare models and settings on a benchmark made from books, with the ClimaQA paper's tables and figures."
    parser = add_verb(verbs, "climaqa-study", climaqa_study, text)
    add(parser, "runs", "RUN", "folders of `longmark run ANSWERS --metrics climaqa`", nargs="*")
    add(
        parser,
        "--out",
        "DIR",
        "the folder of the report, the tables and the figures",
        required=True,
    )
    add(
        parser,
        "--benchmark",
        "FILE",
        "the benchmark of the answers: its folder, or a file of its items",
    )
    add(
        parser,
        "--labels",
        "FILE",
        "labels of experts: training.jsonl of `longmark annotate export`, or checked items",
    )
    add(
        parser,
        "--validator",
        "DIR",
        "a folder of `longmark validator train`, for the table of its precision",
    )
    text = "a run of climaqa.phrase_similarity with windows=true, on cloze answers with meta.label right or wrong"
    add(parser, "--window-labels", "RUN", text)
    add(
        parser,
        "--fever",
        "RUN",
        "a run of climaqa.factual_accuracy on sentences with meta.label SUPPORTS or REFUTES",
    )
    end = parser.add_argument_group("analysis")
    text = "the model under test that wrote the items (default: the one with the name of their generator)"
    add(end, "--author", "LABEL", text)
    add(
        end,
        "--alpha",
        "P",
        "significance level of tests and intervals (default: 0.05)",
        default=0.05,
    )
    add(end, "--seed", "N", "seed of all sampling (default: 0)", default=0)
    add_verbose(parser)


def climaqa_study(arguments: argparse.Namespace) -> int:
    needs_stats("climaqa-study")
    from rich.console import Console

    from longmark.contrib.papers.climaqa.page import document
    from longmark.contrib.papers.climaqa.results import ClimaqaOptions
    from longmark.contrib.papers.climaqa.sources import ClimaqaPaths, content
    from longmark.report.document import check_out, publish

    check_out(arguments.out)
    names = ("runs", "benchmark", "labels", "validator", "window_labels", "fever")
    paths = ClimaqaPaths(**{name: getattr(arguments, name) for name in names})
    contents = content(
        paths,
        ClimaqaOptions(alpha=arguments.alpha, seed=arguments.seed, author=arguments.author or ""),
    )
    publish(document(contents), arguments.out, Console(), verbose=arguments.verbose)
    return without_scores(contents.results.read.unscored())
