"""The verb `longmark check`: whether assertions about the scores of runs are met."""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from longmark.cli.arguments import (
    UNDER,
    add,
    add_bounds,
    add_cluster,
    add_options,
    add_outputs,
    add_project,
    add_verb,
    bounds_of,
    needs_stats,
    outputs_of,
    scores_in,
    whole,
)
from longmark.options.groups import GateOptions

_ASSERTION = re.compile(r"[<>]|\s")


def add_to(verbs: Any) -> None:
    text = "Check assertions about scores, such as 'ccrs mean >= 0.6': met, not met or undecided."
    verb = add_verb(verbs, "check", check, text)
    runs = "run folders or files of rows; behind them the assertions, each in quotes"
    add(verb, "runs", "RUN", runs, nargs="+")
    add(
        verb,
        "--assertions",
        "TEXT",
        "one more assertion, as the words behind RUN are; repeatable",
        action="append",
        default=[],
    )
    add(
        verb,
        "--from",
        "FILE",
        "a file with an assertion a line (# begins a comment)",
        dest="source",
    )
    undecided = "exit code of undecided assertions: fail (3, the default) or pass (0)"
    add(
        verb, "--undecided", "", undecided, action="store", choices=("fail", "pass"), default="fail"
    )
    by = "A and B are runs or systems (default: what has both names)"
    add(verb, "--by", "", by, action="store", choices=("run", "system"))
    add_cluster(verb)
    add_bounds(verb)
    add(verb, "--higher", "NAME,…", "metrics where higher is better, if no run declares it")
    add(verb, "--lower", "NAME,…", "metrics where lower is better, if no run declares it")
    unscored = "largest share of unscored answers with which a mean can be met (default: 0.05)"
    add_options(verb, GateOptions, ("max_unscored",), help={"max_unscored": unscored})
    add(
        verb,
        "--allow-different-judges",
        "",
        "accept scores of different judges, prompts, parameters or versions",
    )
    add(verb, "--seed", "N", "seed of the tests of comparisons (default: 0)", type=whole, default=0)
    add_outputs(verb)
    add_project(verb)


def runs_and_assertions(words: Sequence[Path]) -> tuple[list[Path], list[str]]:
    """The words that name runs, and those that are assertions: what no file is named, and has blanks or a sign."""
    runs, assertions = [], []
    for word in words:
        if _ASSERTION.search(str(word)) and not word.exists():
            assertions.append(str(word))
        else:
            runs.append(word)
    return runs, assertions


def assertions_in(path: Path) -> list[str]:
    """The assertions of a file, one a line. UserError for a file that cannot be read or has none."""
    from longmark.errors import UserError

    try:
        lines = path.read_text(encoding="utf-8-sig").splitlines()
    except UnicodeDecodeError:
        raise UserError(f"--from {path}: expected a text file in UTF-8") from None
    assertions = [
        line.strip() for line in lines if line.strip() and not line.strip().startswith("#")
    ]
    if not assertions:
        raise UserError(f"--from {path}: there is no assertion in it; write one a line")
    return assertions


def check(arguments: argparse.Namespace) -> int:
    from longmark.assertions.check import check as checked
    from longmark.assertions.grammar import ScoreAssertion, parsed
    from longmark.assertions.result import MET, UNDECIDED
    from longmark.metrics import canonical
    from longmark.scores.manifest import cluster_of

    runs, texts = runs_and_assertions(arguments.runs)
    texts += arguments.assertions
    if arguments.source is not None:
        texts += assertions_in(arguments.source)
    files = outputs_of(arguments, runs)
    if any(not isinstance(parsed(text), ScoreAssertion) for text in texts):
        needs_stats("check, with an assertion that compares,")
    cluster, bounds = cluster_of(arguments.cluster, runs), bounds_of(arguments.bounds)
    result = checked(
        runs,
        texts,
        by=arguments.by,
        cluster=cluster,
        bounds=bounds,
        higher=scores_in(arguments.higher),
        lower=scores_in(arguments.lower),
        max_unscored=arguments.max_unscored,
        allow_different_judges=arguments.allow_different_judges,
        seed=arguments.seed,
        canonical=canonical,
    )
    for checked_assertion in result.results:
        print(checked_assertion.line)
    print(f"\n{result.says} {result.family}".rstrip())
    for notice in result.notices:
        print(f"Note: {notice}", file=sys.stderr)
    passing = (MET, UNDECIDED) if arguments.undecided == "pass" else (MET,)
    code = 0 if result.outcome in passing else UNDER
    if any(files.values()):
        from longmark.report import outputs
        from longmark.scores.files import name_of

        outcome = outputs.Outcome(
            "check",
            " ".join(map(name_of, runs)),
            code,
            result.results,
            outputs.read(runs, cluster, bounds),
            says=f"{result.says} {result.family}".rstrip(),
            notices=result.notices,
            gate_noun="assertion",
            lenient=arguments.undecided == "pass",
        )
        outputs.write(outcome, files)
    return code
