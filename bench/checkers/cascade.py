"""What a cascade would lose: claims that share too few words with their evidence are not asked (`embedded@overlap=`).

    python -m bench.checkers.cascade [--calls CALLS.sqlite] [--closest ROWS]

Of each set with human labels: how many rows have a share of words below a limit, and how many of its supported
claims are among them. With a call cache that holds replies of the built-in claim checker to pairs of the demo: how many
of those pairs are below, and how many of the claims that the checker calls supported. With `--closest` the same of as
many rows of each set, drawn with a seed, for both limits of `embedded@overlap=,closest=`; MiniLM reads their evidence.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.checkers.baselines import cosines
from bench.checkers.data import CLIMATE, DATA, EXPERTQA, WICE, claims

from longmark.contrib.demo.recorded import ANSWERS
from longmark.contrib.local.checker_form import THRESHOLD
from longmark.models.cache import CallCache, call_key
from longmark.models.registry import Registry
from longmark.records.read import Reading
from longmark.text.overlap import overlap
from longmark.text.sentences import sentences

LIMITS = (0.1, 0.2, 0.3)  # of the share of words
BOTH = ((0.2, 0.4), (0.3, 0.4), (0.3, 0.5))  # of the share of words and of the cosine


@dataclass(frozen=True)
class CheckedPair:
    """A claim, the sentences of its evidence, and whether it is supported."""

    claim: str
    evidence: tuple[str, ...]
    supported: bool

    @property
    def share(self) -> float:
        return overlap(self.claim, self.evidence) or 0.0

    @property
    def cosine(self) -> float:
        return float(cosines(self.claim, self.evidence).max())


def labelled() -> dict[str, list[CheckedPair]]:
    """Set -> its rows."""
    tables = {
        name: [CheckedPair(row.claim, tuple(row.evidence), row.supported) for row in claims(name)]
        for name in (WICE, CLIMATE, EXPERTQA)
    }
    for name in ("healthver", "covidfact"):
        rows = map(
            json.loads, (DATA / "claims" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        )
        tables[name] = [
            CheckedPair(
                row["claim"],
                tuple(sentences(row["evidence"]) or [row["evidence"]]),
                row["label"] == "entails",
            )
            for row in rows
        ]
    return tables


async def recorded(calls: Path) -> list[CheckedPair]:
    """The demo's pairs of claim and passage whose reply is in a call cache, by the checker's own label."""
    identity = Registry().open("checker", "embedded").identity
    pairs = {
        call_key(identity, "relation", {"premise": context.text, "hypothesis": claim}): (
            claim,
            context.text,
        )
        for example in Reading(ANSWERS).singles()
        for context in example.contexts
        for claim in example.claims or sentences(example.answer or "")
    }
    seen = await CallCache(calls).look(list(pairs))
    replies = {pairs[key]: json.loads(stored) for key, (stored, _) in seen.replies.items()}
    return [
        CheckedPair(
            claim,
            tuple(sentences(passage) or [passage]),
            reply["probabilities"][0][0] >= THRESHOLD,
        )
        for (claim, passage), reply in replies.items()
    ]


def line(name: str, rows: list[CheckedPair], below: list[Callable[[CheckedPair], bool]]) -> str:
    """A line of a table: of each limit the share of the rows that is below, and of the supported claims."""
    supported = [row for row in rows if row.supported]
    cells = [
        f"{share_of(rows, is_below):.2f}, {share_of(supported, is_below):.2f}" for is_below in below
    ]
    return f"| {name} | {len(rows):,} | {len(supported) / len(rows):.2f} | {' | '.join(cells)} |"


def share_of(rows: list[CheckedPair], is_below: Callable[[CheckedPair], bool]) -> float:
    return sum(map(is_below, rows)) / len(rows)


def shares_below(limit: float) -> Callable[[CheckedPair], bool]:
    return lambda pair: pair.share < limit


def both_below(share: float, cosine: float) -> Callable[[CheckedPair], bool]:
    return lambda pair: pair.share < share and pair.cosine < cosine


def print_table(
    tables: dict[str, list[CheckedPair]], limits: dict[str, Callable[[CheckedPair], bool]]
) -> None:
    print(f"| set | rows | supported | {' | '.join(limits)} |")
    print(f"| --- | ---: | ---: | {' | '.join(['---:'] * len(limits))} |")
    for name, rows in tables.items():
        print(line(name, rows, list(limits.values())), flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=Path)
    parser.add_argument("--closest", type=int, metavar="ROWS")
    options = parser.parse_args()
    print("Share of the rows below the limit, and of the supported claims\n")
    tables = labelled()
    if options.calls:
        tables = {"demo, by the checker": asyncio.run(recorded(options.calls)), **tables}
    print_table(tables, {f"below {limit}": shares_below(limit) for limit in LIMITS})
    if options.closest:
        for name, rows in tables.items():
            random.Random(0).shuffle(rows)
            tables[name] = rows[: options.closest]
        print()
        both = {
            f"below {share}, closest below {cosine}": both_below(share, cosine)
            for share, cosine in BOTH
        }
        print_table(tables, {f"below {BOTH[0][0]}": shares_below(BOTH[0][0]), **both})


if __name__ == "__main__":
    main()
