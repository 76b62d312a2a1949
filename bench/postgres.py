"""What a call costs with its cache in PostgreSQL, beside a file.

`python -m bench.postgres [--calls 2000] [--rounds 5]`

PostgreSQL runs on this machine (`tests.postgres`: its own folder, without fsync), so the network is not in it. Calls go
through the client to a model that answers at once, 50 at a time: `sent` claims each, writes its attempt and stores its
reply; `grouped` shares a budget, too (`--budget-group`); `cached` answers each from the cache. Printed: medians over
the rounds of CPU and clock in microseconds a call (without the server's CPU), and of the ratio to
the file.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from contextlib import closing
from pathlib import Path

from tests.postgres import running

from longmark.models.budget import Budget
from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.protocols import Capabilities, ChatReply, ChatRequest, Message, Tokens


class Instant:
    name = identity = "m"
    width, capabilities = None, Capabilities()

    async def chat(self, _request: ChatRequest) -> ChatReply:
        return ChatReply("yes", tokens=Tokens(10, 0, 1))


async def ask(client: Client, first: int, calls: int) -> None:
    numbers = iter(range(first, first + calls))

    async def work() -> None:
        for number in numbers:
            request = ChatRequest((Message("user", f"question {number}"),), max_tokens=5)
            await client.chat(Instant(), request, UsageLog())  # type: ignore[arg-type]

    await asyncio.gather(*(work() for _ in range(50)))
    if client.budget.group is not None:
        await client.budget.group.close()


def measured(place: Path | str, first: int, calls: int, group: str = "") -> tuple[float, float]:
    """CPU and wall microseconds a call."""
    with closing(CallCache(place)) as cache:
        client = Client(cache, concurrency=50, budget=Budget(max_calls=10**9) if group else None)
        if group:
            client.share_budget(group)
        cpu, wall = time.process_time(), time.perf_counter()
        asyncio.run(ask(client, first, calls))
        return (time.process_time() - cpu) / calls * 1e6, (time.perf_counter() - wall) / calls * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.postgres", description=__doc__)
    parser.add_argument("--calls", type=int, default=2_000)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    found: dict[tuple[str, str], list[tuple[float, float]]] = {}
    with tempfile.TemporaryDirectory() as folder, running() as server:
        places: dict[str, Path | str] = {
            "file": Path(folder) / "calls.sqlite",
            "PostgreSQL": server.database(),
        }
        for turn in range(arguments.rounds):
            for kind, first, group in (("sent", 0, ""), ("grouped", 1, "team"), ("cached", 0, "")):
                for name, place in places.items():
                    at = (2 * turn + first) * arguments.calls
                    found.setdefault((kind, name), []).append(
                        measured(place, at, arguments.calls, group)
                    )
    print("calls    store       CPU us  x file  wall us  x file")
    for (kind, name), pairs in found.items():
        beside = found[kind, "file"]
        medians = [statistics.median(pair[i] for pair in pairs) for i in (0, 1)]
        ratios = [
            statistics.median(a[i] / b[i] for a, b in zip(pairs, beside, strict=True))
            for i in (0, 1)
        ]
        print(
            f"{kind:8} {name:10} {medians[0]:7.0f} {ratios[0]:7.2f} {medians[1]:8.0f} {ratios[1]:7.2f}"
        )


if __name__ == "__main__":
    main()
