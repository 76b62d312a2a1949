"""A budget that is spent to its end: calls that do not fit wait, and what was promised of the sum holds."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Coroutine
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from bench.limits import Jumping

from longmark.errors import ModelError, OverBudget, RateLimited, RequestRefused, ServerFault
from longmark.models.budget import Budget, Price, free, given
from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.fake import FakeChat
from longmark.models.protocols import ChatReply, ChatRequest, Message, Tokens
from longmark.models.sending import Sender, Stopped
from longmark.models.settings import TokenPrice

HUNG = 1e6  # seconds by the jumping clock


def jumping(work: Coroutine[Any, Any, Any]) -> Any:
    """What comes of work on a clock that jumps; TimeoutError where it hangs."""
    with asyncio.Runner(loop_factory=Jumping) as runner:
        return runner.run(asyncio.wait_for(work, HUNG))


@dataclass
class MeteredModel:
    """A model whose replies count at most what a request allows (`share` of it, if given), but for `beyond` of them.
    price: dollars for a million tokens; faults: the share of attempts that fail, some of them billed."""

    rng: random.Random
    price: TokenPrice
    width: int | None = None
    faults: float = 0.0
    beyond: float = 0.0
    share: float | None = None
    paid: float = 0.0
    identity: str = ""
    name: str = "endpoint"
    settings: Any = field(
        default_factory=lambda: SimpleNamespace(requests_per_minute=None, tokens_per_minute=None)
    )

    async def ask(self, most: Tokens) -> list[ChatReply]:
        await asyncio.sleep(self.rng.expovariate(1.0))
        kind = self.rng.random()
        if kind < self.faults / 3:
            raise RateLimited("too many", 429, 1.0)
        if kind < self.faults * 2 / 3:
            raise ServerFault("down").unsent()
        # as many tokens as the prompt has bytes (four of the estimate), and a template's
        tokens = Tokens(
            self.rng.randint(0, 4 * most.prompt + 500), 0, self.rng.randint(0, most.completion)
        )
        if self.share is not None:
            tokens = Tokens(
                int(self.share * (4 * most.prompt + 500)), 0, int(self.share * most.completion)
            )
        if self.rng.random() < self.beyond:
            tokens = Tokens(tokens.prompt, 0, 30 * most.completion + 1)
        self.paid += given(self.price)(tokens) or 0.0
        if kind < self.faults:
            raise ServerFault("not JSON", 200).with_bill(
                tokens if self.rng.random() < 0.5 else None
            )
        return [ChatReply("1", tokens=tokens)]


async def _kept(_replies: list[ChatReply]) -> None:
    return None


async def outcomes(
    sender: Sender, calls: list[tuple[MeteredModel, Tokens]], workers: int
) -> list[Any]:
    """What comes of each call, asked for by so many workers in their order."""
    done: list[Any] = [None] * len(calls)
    left = iter(enumerate(calls))

    async def worker() -> None:
        for n, (model, most) in left:
            try:
                await sender.send(model, partial(model.ask, most), _kept, partial(replace, most))  # type: ignore[arg-type]
            except Exception as error:
                done[n] = error

    await asyncio.gather(*(worker() for _ in range(workers)))
    return done


def a_case(
    seed: int, **options: Any
) -> tuple[list[MeteredModel], list[tuple[MeteredModel, Tokens]], Sender, int]:
    """Endpoints with prices of their own, calls to them, a sender with a budget in dollars, and workers."""
    rng = random.Random(seed)
    models = [
        MeteredModel(
            rng,
            TokenPrice(10 ** rng.uniform(-2, 1.5), 10 ** rng.uniform(-2, 2)),
            identity=str(i),
            **options,
        )
        for i in range(rng.randint(1, 4))
    ]
    if rng.random() < 0.3:
        models.append(MeteredModel(rng, TokenPrice(0.0, 0.0), width=1, identity="here"))
    calls = [
        (
            rng.choice(models),
            Tokens(int(10 ** rng.uniform(0, 4)), 0, int(10 ** rng.uniform(0, 4.3))),
        )
        for _ in range(rng.randint(1, 80))
    ]
    budget = Budget()
    price_of = lambda model: free if model.width else given(model.price)  # noqa: E731
    budget.max_usd = 1.0  # so that a price is asked for
    needs = [budget.asked(most, price_of(model)).usd for model, most in calls]
    budget.max_usd = (
        max(needs) * rng.uniform(0.5, 2)
        + sum(needs) * rng.choice((0.0, 0.1, 0.5, 1.0)) * rng.random()
    )
    budget.max_usd = budget.max_usd or 1.0
    concurrency = rng.choice((1, 2, 4, 16, 50))
    return models, calls, Sender(concurrency, budget, price_of, rng), 2 * concurrency


@pytest.mark.parametrize("part", range(4))
def test_what_is_spent_stays_within_the_budget_and_the_budget_is_spent(part: int):
    for seed in range(part * 75, part * 75 + 75):
        models, calls, sender, workers = a_case(seed, faults=0.2 if seed % 2 else 0.0)
        done = jumping(outcomes(sender, calls, workers))
        budget, limit = sender.budget, sender.budget.max_usd or 0.0
        assert budget.usd <= limit * (1 + 1e-9), seed
        assert sum(model.paid for model in models) <= limit * (1 + 1e-9), seed
        assert (budget._out, budget._usd_out) == (0, 0.0), seed
        refused = [n for n, one in enumerate(done) if isinstance(one, OverBudget)]
        assert bool(refused) == bool(budget.stopped), seed
        if refused:  # with nothing in flight the first one in the queue did not fit: none is larger than the largest
            largest = max(budget.asked(calls[n][1], sender.price(calls[n][0])).usd for n in refused)  # type: ignore[arg-type]
            assert budget.usd + largest > limit * (1 - 1e-9), seed
        assert all(done[n] is None for n, (model, _) in enumerate(calls) if model.width), (
            seed
        )  # they cost nothing
        assert all(one is None or isinstance(one, OverBudget | ModelError) for one in done), seed


def test_a_budget_of_what_calls_take_and_one_at_most_is_enough_at_any_concurrency():
    """Each reply counts a quarter of what its call can take."""
    for seed in range(60):
        _, calls, sender, workers = a_case(seed, share=0.25)
        needs = [sender.budget.asked(most, sender.price(model)).usd for model, most in calls]  # type: ignore[arg-type]
        sender.budget.max_usd = sum(needs) / 4 * 1.01 + max(needs) + 1e-6
        assert jumping(outcomes(sender, calls, workers)) == [None] * len(calls), seed


def test_after_a_reply_that_counts_too_much_only_calls_then_in_flight_exceed_the_budget():
    for seed in range(80):
        _, calls, sender, workers = a_case(seed, beyond=0.1)
        jumping(outcomes(sender, calls, workers))
        budget, limit = sender.budget, sender.budget.max_usd or 0.0
        assert budget._out == 0, seed
        if not budget.overran:
            assert budget.usd <= limit * (1 + 1e-9), seed


def test_after_a_reply_that_counts_too_much_calls_go_one_at_a_time_over_all_endpoints():
    """Two endpoints, ten calls at once: three replies too many are in flight when the first comes, then one a time."""
    flying: list[int] = []
    now = 0

    async def ask(n: int) -> list[ChatReply]:
        nonlocal now
        now += 1
        flying.append(now)
        await asyncio.sleep(1.0 + n / 100)
        now -= 1
        return [ChatReply("1", tokens=Tokens(1, 0, 1_000 if n == 4 else 1))]

    models = [
        MeteredModel(random.Random(0), TokenPrice(1.0, 1.0), identity=str(i)) for i in range(2)
    ]
    sender = Sender(10, Budget(max_usd=1.0), lambda model: given(model.price), random.Random(0))  # type: ignore[attr-defined]

    async def main() -> None:
        async def one(n: int) -> None:
            await sender.send(models[n % 2], lambda: ask(n), _kept, lambda: Tokens(10, 0, 10))  # type: ignore[arg-type]

        await asyncio.gather(*map(one, range(40)))

    jumping(main())
    assert max(flying[:20]) > 4
    assert flying[24:] == [1] * 16


def o4_mini(request: ChatRequest) -> ChatReply:
    """A reply that thinks 500 tokens of the 16,000 that it may."""
    return ChatReply("85", tokens=Tokens(300, 0, 500))


@pytest.mark.parametrize("concurrency", [1, 4, 50])
def test_a_thinking_judge_scores_all_within_a_dollar_at_any_concurrency(
    tmp_path: Path, concurrency: int
):
    """A call may take $.0704 of thinking alone, and takes 300 x 1.1 + 500 x 4.4 = $.00253: 160 are $.4048."""
    cache = CallCache(tmp_path / "calls.sqlite")
    price = given(TokenPrice(1.1, 4.4))

    async def main() -> Client:
        client = Client(
            cache,
            budget=Budget(max_usd=1.0),
            concurrency=concurrency,
            price_of=lambda _model: price,
        )
        model = FakeChat(o4_mini, latency=0.5)
        requests = [
            ChatRequest((Message("user", f"question {i}" * 100),), max_tokens=16_000)
            for i in range(160)
        ]
        replies = await asyncio.gather(*(client.chat(model, one, UsageLog()) for one in requests))
        assert [reply.text for reply in replies] == ["85"] * 160
        assert model.most_in_flight <= min(concurrency, 13)
        return client

    client = jumping(main())
    cache.close()
    assert client.counts.usd == pytest.approx(0.4048)
    assert not client.budget.stopped


def test_an_expensive_call_is_not_overtaken_by_cheap_ones_to_another_endpoint():
    order: list[str] = []

    async def ask(name: str) -> list[ChatReply]:
        order.append(name)
        await asyncio.sleep(1.0)
        return [ChatReply("1", tokens=Tokens(0, 0, 100))]

    cheap, dear = (
        MeteredModel(random.Random(0), TokenPrice(0.0, usd), identity=str(usd))
        for usd in (1.0, 100.0)
    )
    sender = Sender(8, Budget(max_usd=0.1121), lambda model: given(model.price), random.Random(0))  # type: ignore[attr-defined]

    async def main() -> None:
        async def one(model: MeteredModel, name: str) -> None:
            await sender.send(model, lambda: ask(name), _kept, lambda: Tokens(0, 0, 1_000))  # type: ignore[arg-type]

        await one(dear, "first")  # alone, as the first call to an endpoint always is
        await one(cheap, "first")
        names = ["cheap 0", "cheap 1", "cheap 2", "dear", "cheap 3", "cheap 4"]
        results = await asyncio.gather(
            *(one(dear if name == "dear" else cheap, name) for name in names),
            return_exceptions=True,
        )
        assert results == [None] * 6

    jumping(main())
    assert order[2:] == ["cheap 0", "cheap 1", "cheap 2", "dear", "cheap 3", "cheap 4"]


def test_no_smaller_call_is_sent_after_one_that_did_not_fit():
    async def main() -> list[Any]:
        sizes = [50, 900, 10]
        return await outcomes(sender, [(model, Tokens(0, 0, size)) for size in sizes], 1)

    model = MeteredModel(random.Random(0), TokenPrice(0.0, 1e6))
    sender = Sender(1, Budget(max_usd=800.0), lambda _model: given(model.price), random.Random(0))
    assert [type(one) for one in jumping(main())] == [type(None), OverBudget, OverBudget]


def waiting_for_money(sender: Sender, model: MeteredModel, then: Any) -> list[Any]:
    """What comes of three calls of which one fits at a time. then: called while the second and the third wait."""

    async def ask() -> list[ChatReply]:
        await asyncio.sleep(1.0)
        return [ChatReply("1", tokens=Tokens(0, 0, 100))]

    async def main() -> list[Any]:
        def send() -> Coroutine[Any, Any, None]:
            return sender.send(model, ask, _kept, lambda: Tokens(0, 0, 1_000))  # type: ignore[arg-type]

        tasks = [asyncio.create_task(send()) for _ in range(3)]
        await asyncio.sleep(0.5)
        then(tasks)
        return await asyncio.gather(*tasks, return_exceptions=True)

    return list(jumping(main()))


def one_at_a_time() -> tuple[Sender, MeteredModel]:
    model = MeteredModel(random.Random(0), TokenPrice(0.0, 1e6), identity="one")
    return Sender(
        4, Budget(max_usd=1_500.0), lambda _model: given(model.price), random.Random(0)
    ), model


def test_calls_that_wait_for_money_end_with_a_stop():
    sender, model = one_at_a_time()
    done = waiting_for_money(sender, model, lambda _tasks: sender.stop())
    assert [type(one) for one in done] == [type(None), Stopped, Stopped]
    assert (sender.budget.calls, sender.budget._out) == (1, 0)
    assert sender.budget.usd == pytest.approx(100.0)


def test_calls_that_wait_for_money_end_with_their_endpoint():
    sender, model = one_at_a_time()

    def close(_tasks: Any) -> None:
        sender._limiter(model).closed = ("no credit", 402)  # type: ignore[arg-type]

    done = waiting_for_money(sender, model, close)
    assert [type(one) for one in done] == [type(None), RequestRefused, RequestRefused]
    assert (sender.budget.calls, sender.budget._out) == (1, 0)


def test_a_call_that_is_given_up_while_it_waits_for_money_holds_up_no_other():
    sender, model = one_at_a_time()
    done = waiting_for_money(sender, model, lambda tasks: tasks[1].cancel())
    assert [type(one) for one in done] == [type(None), asyncio.CancelledError, type(None)]
    assert (sender.budget.calls, sender.budget._out) == (2, 0)


def test_a_limit_of_calls_waits_for_those_that_may_not_be_sent():
    """One request is allowed. The first was not sent after all, so the second one is."""
    model = MeteredModel(random.Random(0), TokenPrice(0.0, 0.0), identity="one")
    sender = Sender(4, Budget(max_calls=1), lambda _model: free, random.Random(0))
    asked = 0

    async def ask() -> list[ChatReply]:
        nonlocal asked
        asked += 1
        await asyncio.sleep(1.0)
        if asked == 1:
            raise RequestRefused("a text is too long for it").unsent()
        return [ChatReply("1")]

    async def main() -> list[Any]:
        send = lambda: sender.send(model, ask, _kept, Tokens)  # type: ignore[arg-type]  # noqa: E731
        return list(await asyncio.gather(send(), send(), send(), return_exceptions=True))

    assert [type(one) for one in jumping(main())] == [RequestRefused, type(None), OverBudget]


def test_the_price_is_asked_for_as_many_tokens_as_a_prompt_has_bytes():
    asked: list[Tokens] = []
    price: Price = lambda tokens: asked.append(tokens) or 1.0  # type: ignore[func-returns-value]  # noqa: E731
    held = Budget(max_usd=1.0).asked(Tokens(100, 0, 7), price)
    assert asked == [Tokens(900, 0, 7)]
    assert (held.tokens, held.usd) == (907, 1.0)
    assert held.exceeded(Tokens(901, 0, 7))
    assert held.exceeded(Tokens(900, 0, 8))
    assert not held.exceeded(Tokens(900, 0, 7))
