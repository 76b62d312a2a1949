"""What the verb `demo` does."""

from __future__ import annotations

import argparse
import sys

from longmark.cli.arguments import INTERRUPTED, NO_VALUE
from longmark.errors import SettingsChanged
from longmark.writing import check_within


def demo(arguments: argparse.Namespace) -> int:
    try:
        return _demo(arguments)
    except SettingsChanged as changed:
        # no setting of the demo is the user's, so another build of longmark has made the folder
        out = arguments.out
        differences = "\n".join(str(changed).splitlines()[1:])
        raise SettingsChanged(
            f"{out} is the demo of another build of longmark, whose scores cannot stand beside today's. Move or delete "
            f"it, or name another folder: longmark demo --out {out}-2\n{differences}"
        ) from changed


def _demo(arguments: argparse.Namespace) -> int:
    if str(arguments.out) == "demo":  # a name that longmark chose, not the user
        check_within(arguments.out.parent, arguments.out)
    if arguments.full:
        from longmark.contrib.demo.full import run_full
        from longmark.contrib.papers.study import INTERRUPT, StudyStopped

        try:
            return run_full(arguments.out)
        except StudyStopped as stop:
            print(f"longmark: {stop}", file=sys.stderr)
            return INTERRUPTED if stop.why == INTERRUPT else NO_VALUE
    from longmark.contrib.demo.steps import run_demo

    return run_demo(arguments.out, live=arguments.live)
