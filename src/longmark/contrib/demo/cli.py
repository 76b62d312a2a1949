"""What the verb `demo` does."""

from __future__ import annotations

import argparse
import sys

from longmark.cli.arguments import INTERRUPTED, NO_VALUE
from longmark.writing import check_within


def demo(arguments: argparse.Namespace) -> int:
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
