"""Shell completion: a script for the user's shell, made of the parser by shtab."""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from typing import Any

from longmark.cli import parser
from longmark.metrics import names

_NO_FILES = (
    "N",
    "T",
    "P",
    "X",
    "SHARE",
    "SECONDS",
    "DOLLARS",
    "MODEL",
    "NAME",
    "NAME,…",
    "TEXT",
    "ID",
    "LABEL",
)


def completion(arguments: argparse.Namespace) -> int:
    import shtab

    whole = parser()
    metrics = sorted({*names(), *(name.rpartition(".")[0] for name in names())})
    for action in _actions(whole):
        if action.dest == "metrics":
            action.choices = metrics
        elif action.choices or action.nargs == 0:
            continue
        elif action.metavar and re.fullmatch(r"[a-z]+(\|[a-z]+)+", action.metavar):
            action.choices = action.metavar.split("|")
        elif action.metavar not in _NO_FILES:
            action.complete = shtab.FILE
    print(shtab.complete(whole, shell=arguments.shell))
    return 0


def _actions(command: argparse.ArgumentParser) -> Iterator[Any]:
    for action in command._actions:
        yield action
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _actions(below)
