"""The verb `longmark label next`: which answers people label next."""

from __future__ import annotations

import argparse

from longmark.cli.arguments import needs_stats, scores_in, split
from longmark.cli.label_options import corrections_of
from longmark.errors import UserError


def draw(arguments: argparse.Namespace) -> int:
    needs_stats("label next")
    from longmark.contrib.decide.label_next import in_words, label_next, write
    from longmark.scores.manifest import cluster_of

    if arguments.out.suffix.lower() not in (".jsonl", ".ndjson"):
        raise UserError(
            f"--out {arguments.out}: a draw is JSON Lines; give a name that ends in .jsonl"
        )
    if arguments.out.exists():
        raise UserError(f"{arguments.out} exists; a draw is not made twice: name another --out")
    options = (corrections_of(arguments) or {}) | {
        "by": arguments.by,
        "n": arguments.n,
        "floor": arguments.floor,
        "looks": arguments.looks,
        "seed": arguments.seed,
        "metrics": scores_in(arguments.metrics),
        "systems": split(arguments.systems),
        "claims": arguments.claim,
        "cluster": cluster_of(arguments.cluster, arguments.runs),
        "earlier": arguments.earlier,
    }
    drawn = label_next(arguments.runs, arguments.labels, **options)
    write(drawn, arguments.out)
    print(in_words(drawn))
    runs = " ".join(map(str, arguments.runs))
    print(f"Draw: {arguments.out}. Label it: longmark annotate init {runs} --drawn {arguments.out}")
    return 0
