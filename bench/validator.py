"""Does a validator learn from real experts? Items out of ExpertQA or WiCE, with people's verdicts as their status.

    python -m bench.validator expertqa|wice --out ITEMS.jsonl [--n 300] [--seed 0]
    longmark validator train ITEMS.jsonl --out VALIDATOR

A claim is an answer, to the question that it is from (WiCE has none: a fixed one), with its evidence as the passage. It
is valid where people called its support complete. Claims on one question, or from one article, are one family; families
are drawn until there are n claims. These are no items of a benchmark, so the figures say whether the machinery works,
not how well it does on benchmarks.
"""

from __future__ import annotations

import argparse
import random
from collections import Counter
from pathlib import Path

from bench.checkers.data import EXPERTQA, WICE, Claim, claims

from longmark.records.benchmark import Item, Passage, write_items

LONGEST = 1800  # characters of evidence, its beginning
QUESTION = "What do the passages say?"


def item_of(claim: Claim) -> Item:
    return Item(
        id=claim.id,
        form="freeform",
        question=claim.group if claim.data == EXPERTQA else QUESTION,
        answer=claim.claim,
        passages=(Passage(text=" ".join(claim.evidence)[:LONGEST]),),
        status="valid" if claim.supported else "invalid",
        meta={"seed": claim.group},
    )


def drawn(every: list[Claim], n: int, seed: int) -> list[Claim]:
    """The claims of drawn groups, about n."""
    groups = sorted({claim.group for claim in every})
    random.Random(seed).shuffle(groups)
    sizes = Counter(claim.group for claim in every)
    left, chosen = n, set()
    for group in groups:
        if left > 0:
            chosen.add(group)
            left -= sizes[group]
    return [claim for claim in every if claim.group in chosen]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", choices=[EXPERTQA, WICE])
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--n", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    chosen = drawn(claims(arguments.data), arguments.n, arguments.seed)
    print(f"{write_items(map(item_of, chosen), arguments.out)} items: {arguments.out}")


if __name__ == "__main__":
    main()
