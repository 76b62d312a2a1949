"""The verb `longmark climaqa-study`: compares models under test on a benchmark, with the ClimaQA paper's tables."""

from __future__ import annotations

import argparse
from typing import Any

from longmark.cli.arguments import add, add_verb, needs_stats
from longmark.cli.study import add_session, run_study

_GIVEN = ("runs", "out", "benchmark", "labels", "validator", "window_labels", "embedder", "fever")


def add_to(verbs: Any) -> None:
    text = "Compare models and settings on a benchmark made from books, with the ClimaQA paper's tables and figures."
    one = add_verb(verbs, "climaqa-study", climaqa_study, text)
    add(one, "runs", "RUN", "folders of `longmark run ANSWERS --metrics climaqa`", nargs="*")
    add(one, "--out", "STUDY", "the study's folder; repeat the same command to resume it", required=True)
    text = "the benchmark's folder, or a file of its items; it has books, generators and tiers"
    add(one, "--benchmark", "FILE", text)
    add(one, "--labels", "FILE", "verdicts of experts: training.jsonl of `longmark annotate export`, or checked items")
    add(one, "--validator", "DIR", "a folder of `longmark validator train`, for the table of its precision")
    labelled = "cloze answers with a column `label`, right or wrong"
    add(one, "--window-labels", "FILE", labelled)
    add(one, "--embedder", "MODEL", "the embedding model for the phrases of --window-labels")
    add(one, "--fever", "RUN", "a run of climaqa.factual_accuracy on sentences with meta.label SUPPORTS or REFUTES")
    end = one.add_argument_group("analysis")
    text = "the model under test that wrote the items (default: the one with the name of their generator)"
    add(end, "--author", "LABEL", text)
    add(end, "--alpha", "P", "significance level of tests and intervals (default: 0.05)", default=0.05)
    add(end, "--seed", "N", "seed of all sampling (default: 0)", default=0)
    add_session(one, ("windows",))


def climaqa_study(arguments: argparse.Namespace) -> int:
    needs_stats("climaqa-study")
    from longmark.analysis.studies.climaqa.results import Options
    from longmark.analysis.studies.climaqa.study import Plan
    from longmark.analysis.studies.climaqa.study import climaqa_study as declared

    options = Options(alpha=arguments.alpha, seed=arguments.seed, author=arguments.author or "")
    plan = Plan(**{name: getattr(arguments, name) for name in _GIVEN}, options=options)
    return run_study(arguments, lambda session: declared(plan, session))
