"""A judge as a checker, in the form that served the embedded one best: one sentence of the evidence at a time, the
log-odds of yes and no of the first token, less the log-odds with an empty sentence; the greatest counts.

    python -m bench.checkers.judge [--judge NAME] [--rows N] [--cache FILE]

asks for a seeded subset of each test part, one row a group, and prints how far it is. Replies stay in the cache:
`bench.checkers.evaluate` with the same options reads them from there. A judge needs log-probabilities.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import math
from contextlib import closing
from pathlib import Path

from bench.checkers.baselines import closest
from bench.checkers.data import DATA, SETS, Claim, claims

from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.handles import ChatHandle
from longmark.models.protocols import ChatRequest
from longmark.models.registry import Registry
from longmark.prompts import Prompt, PromptBook

PROMPT = Prompt(
    "bench.supports",
    ("claim", "evidence"),
    "Does the evidence say that all of the claim is true? Reply with one word, yes or no, and nothing else.",
)
SENTENCES = 3  # of the evidence, the closest to the claim
CACHE = Path("/tmp/longmark-bench-checkers.sqlite")
_CANDIDATES = 20


def subset(rows: list[Claim], count: int) -> list[Claim]:
    """Rows of the test part in an order fixed by a hash, at most one a group."""
    order = sorted(
        (row for row in rows if row.test), key=lambda row: hashlib.sha256(row.id.encode()).digest()
    )
    first: dict[str, Claim] = {}
    for row in order:
        first.setdefault(row.group, row)
    return list(first.values())[:count]


async def score(judge: ChatHandle, row: Claim) -> float | None:
    """The greatest log-odds of support by a sentence, less those of no evidence; None where the judge said neither."""
    null = await log_odds(judge, row.claim, "")
    found = [
        await log_odds(judge, row.claim, text)
        for text in closest(row.claim, row.evidence, SENTENCES)
    ]
    known = [odds for odds in found if odds is not None]
    return max(known) - null if known and null is not None else None


async def log_odds(judge: ChatHandle, claim: str, evidence: str) -> float | None:
    """The log-odds of yes and no; None where the judge said neither."""
    messages = PromptBook().fill(PROMPT, {"claim": claim, "evidence": evidence})
    reply = await judge.chat(ChatRequest(messages, max_tokens=1, logprobs=_CANDIDATES))
    candidates = reply.logprobs[0].top if reply.logprobs else ()
    mass = {"yes": 0.0, "no": 0.0}
    for token, logprob in candidates:
        if (word := token.strip().casefold()) in mass:
            mass[word] += math.exp(logprob)
    if sum(mass.values()) == 0:
        return None
    least = math.exp(min(logprob for _, logprob in candidates))
    return math.log(mass["yes"] or least) - math.log(mass["no"] or least)


async def scores(name: str, rows: list[Claim], cache: Path) -> list[float | None]:
    """The judge's scores of rows, in their order; replies are kept in the cache."""
    stored = CallCache(cache)
    with closing(stored):
        client = Client(stored)
        judge = ChatHandle(Registry(stored).open("judge", name), client, UsageLog())
        try:
            found = []
            for number, row in enumerate(rows, start=1):
                found.append(await score(judge, row))
                if number % 10 == 0:
                    print(f"{row.data}: {number} of {len(rows)}", flush=True)
            return found
        finally:
            await judge.model.close()


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--judge", default="embedded")
    parser.add_argument(
        "--rows", type=int, default=40, help="rows of each set that the judge is asked about"
    )
    parser.add_argument("--cache", type=Path, default=CACHE)
    parser.add_argument("--data", type=Path, default=DATA)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.checkers.judge", description=__doc__)
    arguments(parser)
    given = parser.parse_args()
    for data in SETS:
        asyncio.run(scores(given.judge, subset(claims(data, given.data), given.rows), given.cache))


if __name__ == "__main__":
    main()
