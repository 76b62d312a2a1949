"""What the client makes of endpoints that refuse and fail, on a clock that jumps: no waiting, no load of the machine.

`python -m bench.limits [--seeds 20]`. The client is the real one (limits, retries, waits), its cache a dictionary, its
event loop one whose clock jumps to the next timer. Two tables:

    at random   5 % 429 (Retry-After 1), 2 % 500, 3 % prose (asked once more), 1 % dropped; 0.2 s a call, 50 at once:
                wall time as a ratio to the ideal (calls / 50 x 0.2 s), mean, median, ninth decile
    by rate     a bucket of tokens: so many calls a second, refused above that: wall time as a ratio to the least
                (calls / rate; a full bucket and calls that are lost can bring it below 1), requests a call, calls lost
"""

from __future__ import annotations

import argparse
import asyncio
import random
import selectors
import statistics
from collections.abc import Mapping
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from longmark.errors import ModelError, RateLimited, ServerFault
from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.protocols import Capabilities, ChatReply, ChatRequest, Message, Tokens

LATENCY, REFUSAL = 0.2, 0.02  # seconds a reply takes, and a refusal for want of a token
RATES = {"429": 0.05, "500": 0.02, "prose": 0.03, "drop": 0.01}


class Jumping(asyncio.SelectorEventLoop):
    """An event loop whose clock jumps to the next timer."""

    def __init__(self) -> None:
        self.now = 0.0
        super().__init__(_NoWait(self))

    def time(self) -> float:
        return self.now


class _NoWait(selectors.SelectSelector):
    def __init__(self, loop: Jumping) -> None:
        super().__init__()
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        self._loop.now += max(timeout or 0.0, 0.0)
        return super().select(0)


class FailingEndpoint:
    """Fails at random by `rates`, or, with `per_second`, refuses above that rate; `burst`: tokens at the start and at
    most."""

    name = identity = "endpoint"
    width: int | None = None
    capabilities = Capabilities()

    def __init__(
        self,
        rng: random.Random,
        rates: Mapping[str, float] | None = None,
        *,
        per_second: float | None = None,
        burst: float = 0.0,
        retry_after: float | None = 1.0,
    ) -> None:
        self._rng, self._rates, self._retry_after = rng, rates or {}, retry_after
        self._per_second, self._burst, self._tokens, self._at = per_second, burst, burst, 0.0
        self.requests = 0

    async def chat(self, _request: ChatRequest) -> ChatReply:
        self.requests += 1
        if self._per_second is not None and not self._token(self._per_second):
            await asyncio.sleep(REFUSAL)
            raise RateLimited("refused", 429, self._retry_after)
        fault = self._rng.choices(
            [*self._rates, "none"], [*self._rates.values(), 1 - sum(self._rates.values())]
        )[0]
        await asyncio.sleep(LATENCY)
        if fault == "429":
            raise RateLimited("refused", 429, self._retry_after)
        if fault in ("500", "drop"):
            raise ServerFault("failed", 500)
        return ChatReply(text=fault, finish="stop", tokens=Tokens(10, 0, 1))

    def _token(self, per_second: float) -> bool:
        now = asyncio.get_running_loop().time()
        self._tokens = min(self._burst, self._tokens + (now - self._at) * per_second)
        self._at = now
        if self._tokens < 1:
            return False
        self._tokens -= 1
        return True

    async def close(self) -> None:
        return None


def wall(endpoint: FailingEndpoint, calls: int, concurrency: int, seed: int) -> tuple[float, int]:
    """Seconds by the jumping clock, and calls that were lost."""

    async def main() -> tuple[float, int]:
        client = Client(cache, concurrency=concurrency, rng=random.Random(seed))
        left, lost = iter(range(calls)), 0

        async def worker() -> None:
            nonlocal lost
            for number in left:
                try:
                    if (await ask(str(number))).text == "prose":
                        await ask(f"{number} again")
                except ModelError:
                    lost += 1

        async def ask(text: str) -> ChatReply:
            return await client.chat(
                endpoint, ChatRequest((Message("user", text),), max_tokens=5), UsageLog()
            )

        await asyncio.gather(*(worker() for _ in range(2 * concurrency)))
        return asyncio.get_running_loop().time(), lost

    with (
        TemporaryDirectory() as folder,
        closing(CallCache(Path(folder, "calls.sqlite"))) as cache,
        asyncio.Runner(loop_factory=Jumping) as runner,
    ):
        return runner.run(main())


def at_random(seeds: int) -> None:
    print("at random\n   calls    mean  median  9th decile")
    for calls in (2000, 8000):
        ideal = calls / 50 * LATENCY
        walls = sorted(
            wall(FailingEndpoint(random.Random(s), RATES), calls, 50, s)[0] / ideal
            for s in range(seeds)
        )
        median, ninth = statistics.median(walls), walls[int(0.9 * len(walls))]
        print(f"{calls:8} {statistics.mean(walls):7.3f} {median:7.3f} {ninth:11.3f}", flush=True)


def by_rate(calls: int = 300) -> None:
    print("by rate\ncalls/s  bucket  at once  Retry-After  wall/least  requests/call     lost")
    cases: list[tuple[float, float, int, float | None]] = [
        *((1.0, 1.0, 16, after) for after in (1.0, None, 0.0)),
        *((1 / 3, 3.0, 16, after) for after in (1.0, None)),
        *((5.0, 5.0, 50, after) for after in (1.0, None, 0.0)),
        (20.0, 20.0, 50, 1.0),
        (100.0, 50.0, 50, 1.0),
    ]
    for per_second, burst, concurrency, after in cases:
        sent = max(calls, int(per_second * 60))
        settings: dict[str, Any] = {"per_second": per_second, "burst": burst, "retry_after": after}
        endpoint = FailingEndpoint(random.Random(0), **settings)
        seconds, lost = wall(endpoint, sent, concurrency, 0)
        print(
            f"{per_second:7.2f} {burst:7g} {concurrency:8} {after if after is not None else 'none':>12} "
            f"{seconds / (sent / per_second):11.3f} {endpoint.requests / sent:14.2f} {lost:8}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.limits", description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    at_random(parser.parse_args().seeds)
    by_rate()


if __name__ == "__main__":
    main()
