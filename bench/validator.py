"""Does a validator learn from real experts? Items out of ExpertQA or WiCE, with people's verdicts as their status.

    python -m bench.validator expertqa|wice --out ITEMS.jsonl
    longmark validator train ITEMS.jsonl --form freeform --out VALIDATOR

A claim is an answer, to the question that it is from (WiCE has none: a fixed one), with its evidence as the passage. It
is valid where people called its support complete. Claims on one question, or from one article, are one family. These
are no items of a benchmark, so the figures say whether the machinery works, not how well it does on benchmarks.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bench.checkers.data import EXPERTQA, WICE, Claim, claims

from longmark.records.benchmark import Item, Passage, write_items

LONGEST = 4000  # characters of evidence, its beginning
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", choices=[EXPERTQA, WICE])
    parser.add_argument("--out", required=True, type=Path)
    arguments = parser.parse_args()
    print(f"{write_items(map(item_of, claims(arguments.data)), arguments.out)} items: {arguments.out}")


if __name__ == "__main__":
    main()
