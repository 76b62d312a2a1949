"""The verb `longmark pairs`: `join` pairs the answers of two runs, `build` makes pairs from questions."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from longmark.cli.arguments import add, add_verb
from longmark.progress import counted

_PAIRS = "the pairs to write: .jsonl, .csv, .tsv or .parquet"


def add_to(verbs: Any) -> None:
    pairs = add_verb(verbs, "pairs", None, "Make pairs of answers: of two runs, or of questions.")
    actions = pairs.add_subparsers(dest="action", required=True, metavar="join|build")
    one = add_verb(actions, "join", join, "Pair the answers of two runs (or files of examples) by question.")
    add(one, "one", "RUN", "a run folder or a file of examples: answer a")
    add(one, "other", "RUN", "another one, with answers to the same questions: answer b")
    add(one, "--out", "FILE", _PAIRS, required=True)
    add(one, "--balanced", "", "draw which answer is a, so that each system is first in half of the pairs")
    add(one, "--seed", "N", "seed of that draw (default: 0)", type=int, default=0)
    add(one, "--skip-bad", "", "skip bad records instead of stopping")


def join(arguments: argparse.Namespace) -> int:
    from longmark.datasets import pairing
    from longmark.records.write import format_of, write_examples

    format_of(arguments.out, "--out ")
    one, other, balanced = arguments.one, arguments.other, arguments.balanced
    joined = pairing.join(one, other, balanced=balanced, seed=arguments.seed, skip_bad=arguments.skip_bad)
    for why, count in joined.left_out.items():
        print(f"{counted(count, 'answer')} omitted: {why}", file=sys.stderr)
    print(f"{counted(write_examples(joined.pairs, arguments.out), 'pair')}: {arguments.out}")
    return 0
