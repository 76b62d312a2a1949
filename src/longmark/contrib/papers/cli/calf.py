"""The verb `longmark calf-study`: which metric agrees with raters on which of two answers is better."""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark.cli.arguments import add, add_input, add_verb, needs_stats, share
from longmark.cli.verbs_runs import add_scoring
from longmark.contrib.papers.cli.study import add_session, run_study

if TYPE_CHECKING:
    from longmark.contrib.papers.study import PaperStudy, StudySession


def add_to(verbs: Any) -> None:
    text = "Measure how often metrics agree with raters on the better of two answers, with the CALF paper's tables."
    parser = add_verb(verbs, "calf-study", calf_study, text)
    inputs = "a file of pairs with human choices, folders of `longmark run PAIRS`, or both"
    add(parser, "given", "PAIRS|RUN", inputs, nargs="+", type=Path)
    metrics = (
        "metrics or families to score on the file of pairs (default: none; only the baselines)"
    )
    add(parser, "--metrics", "NAME,…", metrics, default=None)
    add(
        parser,
        "--out",
        "STUDY",
        "the study's folder; repeat the same command to resume it",
        required=True,
    )
    add_scoring(parser)
    end = parser.add_argument_group("analysis")
    split = "choose tie bands and the best metric on this share of the questions, test them on the others (default: 0)"
    add(end, "--development", "SHARE", split, type=share, default=0.0)
    add(
        end,
        "--worst",
        "N",
        "number of disagreements with raters shown for each metric (default: 5)",
        default=5,
    )
    add(
        end,
        "--alpha",
        "P",
        "significance level of tests and intervals (default: 0.05)",
        default=0.05,
    )
    add_input(parser)
    add_session(parser, ("scores",))


def calf_study(arguments: argparse.Namespace) -> int:
    needs_stats("calf-study")
    from longmark.contrib.papers.calf.results import CalfOptions

    settings_given = {
        name: getattr(arguments, name) for name in ("alpha", "seed", "development", "worst")
    }
    options = CalfOptions(**settings_given)
    return run_study(arguments, lambda session: _declared(arguments, options, session))


def _declared(arguments: argparse.Namespace, options: Any, session: StudySession) -> PaperStudy:
    from longmark.cli.run import run_options
    from longmark.contrib.papers.calf.study import CalfPlan
    from longmark.contrib.papers.calf.study import calf_study as declared
    from longmark.engine.run import make_settings
    from longmark.errors import UserError

    runs = [path for path in arguments.given if path.is_dir() or path.name == "rows.jsonl"]
    files = [path for path in arguments.given if path not in runs]
    if len(files) > 1:
        raise UserError(
            f"{files[1]} is a second file of pairs; put all pairs into one, or score each with longmark run"
        )
    session_options = run_options(arguments)
    session_options = replace(session_options, scoring=session_options.scoring or "text")
    registry = session.registry
    settings = (
        make_settings(arguments.metrics, registry, session_options)
        if arguments.metrics and registry
        else None
    )
    reading = {
        name: value
        for name in ("limit", "mapping", "encoding", "skip_bad")
        if (value := getattr(session_options, name))
    }
    return declared(
        CalfPlan(arguments.out, files[0] if files else None, runs, settings, options, reading),
        session,
    )
