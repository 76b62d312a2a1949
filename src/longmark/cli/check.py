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
    add_composed,
    add_options,
    add_outputs,
    add_project,
    add_verb,
    keywords,
    needs_stats,
    outputs_of,
)
from longmark.options import values_of
from longmark.options.analyses import CheckGroups, MoreAssertions

_ASSERTION = re.compile(r"[<>]|\s")


def add_to(verbs: Any) -> None:
    text = "Check assertions about scores, such as 'ccrs mean >= 0.6': met, not met or undecided."
    verb = add_verb(verbs, "check", check, text)
    runs = "run folders or files of rows; behind them the assertions, each in quotes"
    add(verb, "runs", "RUN", runs, nargs="+")
    add_options(verb, MoreAssertions, ("assertions",), titled=True)
    add_options(verb, MoreAssertions, ("source",), titled=True)
    add_options(verb, MoreAssertions, ("undecided",), titled=True)
    add_composed(verb, CheckGroups)
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
    if source := values_of(MoreAssertions, arguments)["source"]:
        texts += assertions_in(source)
    files = outputs_of(arguments, runs)
    if any(not isinstance(parsed(text), ScoreAssertion) for text in texts):
        needs_stats("check, with an assertion that compares,")
    options = keywords(CheckGroups, arguments)
    options["cluster"] = cluster_of(arguments.cluster, runs)
    result = checked(runs, texts, canonical=canonical, **options)
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
            outputs.read(runs, options["cluster"], options["bounds"]),
            says=f"{result.says} {result.family}".rstrip(),
            notices=result.notices,
            gate_noun="assertion",
            lenient=arguments.undecided == "pass",
        )
        outputs.write(outcome, files)
    return code
