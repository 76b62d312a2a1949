"""What a cascade would lose: claims that share too few words with their evidence are not asked (`embedded@overlap=`).

    python -m bench.checkers.cascade [--calls CALLS.sqlite]

Of each set with human labels: how many rows have a share of words below a limit, and how many of its supported
claims are among them. With a call cache that holds replies of the built-in claim checker to pairs of the demo: how many
of those pairs are below, and how many of the claims that the checker calls supported.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from pathlib import Path

from bench.checkers.data import CLIMATE, DATA, EXPERTQA, WICE, claims

from longmark.contrib.demo.recorded import ANSWERS
from longmark.contrib.local.checker_form import THRESHOLD
from longmark.models.cache import CallCache, call_key
from longmark.models.registry import Registry
from longmark.records.read import Reading
from longmark.text.overlap import overlap
from longmark.text.sentences import sentences

LIMITS = (0.1, 0.2, 0.3)
Shared = list[tuple[float, bool]]  # the share of words, and whether the claim is supported


def labelled() -> dict[str, Shared]:
    """Set -> its rows."""
    found = {
        name: [(overlap(row.claim, row.evidence) or 0.0, row.supported) for row in claims(name)]
        for name in (WICE, CLIMATE, EXPERTQA)
    }
    for name in ("healthver", "covidfact"):
        rows = map(
            json.loads, (DATA / "claims" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        )
        found[name] = [
            (overlap(row["claim"], [row["evidence"]]) or 0.0, row["label"] == "entails")
            for row in rows
        ]
    return found


async def recorded(calls: Path) -> Shared:
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
        (overlap(claim, [passage]) or 0.0, reply["probabilities"][0][0] >= THRESHOLD)
        for (claim, passage), reply in replies.items()
    ]


def line(name: str, rows: Shared) -> str:
    supported = sum(label for _, label in rows)
    cells = [
        f"{sum(share < limit for share, _ in rows) / len(rows):.2f}, " + lost(rows, limit)
        for limit in LIMITS
    ]
    return f"| {name} | {len(rows):,} | {supported / len(rows):.2f} | {' | '.join(cells)} |"


def lost(rows: Shared, limit: float) -> str:
    """The share of the supported claims that are below a limit."""
    supported = [share for share, label in rows if label]
    return f"{sum(share < limit for share in supported) / len(supported):.2f}"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--calls", type=Path)
    options = parser.parse_args()
    print("Share of the rows below the limit, and of the supported claims\n")
    print(f"| set | rows | supported | {' | '.join(f'below {limit}' for limit in LIMITS)} |")
    print(f"| --- | ---: | ---: | {' | '.join(['---:'] * len(LIMITS))} |")
    tables = labelled()
    if options.calls:
        tables["demo, by the checker"] = asyncio.run(recorded(options.calls))
    for name, rows in tables.items():
        print(line(name, rows))


if __name__ == "__main__":
    main()
