"""A budget that the sessions of a group share through the call cache, in a file and in PostgreSQL."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Callable
from typing import Any

import pytest
from tests.models.conftest import Place

from longmark.contrib.scale import budget_group
from longmark.engine.settings import RunOptions
from longmark.engine.split import limited
from longmark.errors import OverBudget, UserError
from longmark.models import stores
from longmark.models.budget import Budget, given
from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.protocols import Capabilities, ChatReply, ChatRequest, Message, Tokens
from longmark.models.settings import TokenPrice
from longmark.models.stores.copying import Copied
from longmark.records.parts import Part

PRICE = given(TokenPrice(input=1.0, output=100.0, cached=None, batch=None))


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budget_group, "_EVERY", 0.02)


class AllowanceModel:
    """Takes what a request allows, or less; nothing where it is free."""

    name = identity = "m"
    width, capabilities = None, Capabilities()

    def __init__(self, seed: int = 0) -> None:
        self.rng, self.calls, self.tokens, self.usd = random.Random(seed), 0, 0, 0.0
        self.free = False
        self.waits = asyncio.Event()
        self.waits.set()

    async def chat(self, request: ChatRequest) -> ChatReply:
        self.calls += 1
        await asyncio.sleep(0)
        await self.waits.wait()
        tokens = (
            Tokens()
            if self.free
            else Tokens(self.rng.randint(0, 400), 0, self.rng.randint(0, request.max_tokens))
        )
        self.tokens += tokens.prompt + tokens.completion
        self.usd += PRICE(tokens) or 0.0
        return ChatReply("yes", tokens=tokens)


class GroupClient:
    """A client of a group with its own connection."""

    def __init__(self, place: Any, limits: dict[str, Any] | Budget, name: str = "team") -> None:
        self.cache = CallCache(place)
        budget = limits if isinstance(limits, Budget) else Budget(**limits)
        self.client = Client(self.cache, concurrency=4, budget=budget, price_of=lambda _: PRICE)
        self.client.share_budget(name)

    async def ask(self, model: AllowanceModel, *numbers: int) -> list[Any]:
        def one(number: int) -> Any:
            request = ChatRequest((Message("user", f"question {number}"),), max_tokens=50)
            return self.client.chat(model, request, UsageLog())  # type: ignore[arg-type]

        return await asyncio.gather(*map(one, numbers), return_exceptions=True)

    async def close(self) -> None:
        group = self.client.budget.group
        assert isinstance(group, budget_group.BudgetGroup)
        await group.close()
        self.cache.close()

    async def die(self) -> None:
        """Ends without a word, as a killed process does; its lease has run out."""
        group = self.client.budget.group
        assert isinstance(group, budget_group.BudgetGroup)
        for task in (group._reporting, group._asking):
            if task is not None:
                task.cancel()
        lapsed = "UPDATE budgets SET until = 1.0 WHERE session = ?"
        await self.cache.aside(
            self.cache.do, lapsed, (self.client.token,)
        )  # after what the thread is at


async def until(is_so: Callable[[], bool]) -> None:
    for _ in range(10_000):
        if is_so():
            return
        await asyncio.sleep(0.002)
    raise AssertionError("it did not come")


def refused(replies: list[Any]) -> int:
    kinds = {type(reply) for reply in replies} - {ChatReply, OverBudget}
    assert not kinds, replies
    return sum(isinstance(reply, OverBudget) for reply in replies)


@pytest.mark.parametrize(
    "limits",
    [{"max_calls": 30}, {"max_tokens": 20_000}, {"max_usd": 0.1}],
    ids=lambda limits: next(iter(limits)),
)
def test_what_all_sessions_spend_stays_within_the_budget_and_is_spent(
    place: Place, limits: dict[str, Any]
):
    async def main() -> None:
        model = AllowanceModel()
        sessions = [GroupClient(place("a"), limits) for _ in range(3)]
        works = [one.ask(model, *range(100 * i, 100 * i + 40)) for i, one in enumerate(sessions)]
        ends = [refused(replies) for replies in await asyncio.wait_for(asyncio.gather(*works), 60)]
        assert any(ends)  # a session may have ended before the rest was spent
        spent = {"max_calls": model.calls, "max_tokens": model.tokens, "max_usd": model.usd}
        most = {"max_calls": 1, "max_tokens": 700, "max_usd": 0.0056}  # of one call
        for name, limit in limits.items():
            assert limit - most[name] < spent[name] <= limit
        for one, end in zip(sessions, ends, strict=True):
            assert (
                not end
                or "that the sessions of the group team share does not allow"
                in one.client.budget.stopped
            )
            await one.close()

        later, other = GroupClient(place("a"), limits), GroupClient(place("a"), limits, "others")
        assert (
            refused(await later.ask(model, 1000)) == 1
        )  # spent is spent, also in the next session
        assert refused(await other.ask(model, 1001)) == 0
        await later.close()
        await other.close()

    asyncio.run(main())


def test_sessions_with_one_budget_after_each_other_count_what_each_spent_once(place: Place):
    async def main() -> None:
        model, budget = AllowanceModel(), Budget(max_calls=30)
        for look in range(3):  # as `decide` does
            one = GroupClient(place("a"), budget)
            assert refused(await one.ask(model, *range(10 * look, 10 * look + 10))) == 0
            await one.close()
        other = GroupClient(place("a"), Budget(max_calls=32))
        assert refused(await other.ask(model, *range(100, 110))) == 8
        assert model.calls == 32
        await other.close()

    asyncio.run(asyncio.wait_for(main(), 60))


def test_of_a_killed_session_what_it_sent_is_spent_and_the_rest_comes_back(place: Place):
    async def main() -> None:
        model, hung = AllowanceModel(), AllowanceModel()
        hung.waits.clear()
        one, other = (
            GroupClient(place("a"), {"max_calls": 100}),
            GroupClient(place("a"), {"max_calls": 100}),
        )
        assert refused(await one.ask(model, 1, 2)) == 0
        work = asyncio.ensure_future(one.ask(hung, 3, 4, 5))
        await until(lambda: hung.calls == 3)
        await one.die()
        (row,) = other.cache.do("SELECT calls, held_calls FROM budgets").fetchall()
        assert sum(row) > 5  # it holds more than it sent
        assert refused(await other.ask(model, *range(100, 200))) == 5
        assert (model.calls, hung.calls) == (97, 3)
        work.cancel()
        await other.close()
        one.cache.close()

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_process_that_was_suspended_for_longer_than_its_lease_asks_again_before_it_sends(
    place: Place,
):
    async def main() -> None:
        model, limits = AllowanceModel(), {"max_calls": 100}
        one, other = GroupClient(place("a"), limits), GroupClient(place("a"), limits)
        assert refused(await one.ask(model, 1)) == 0
        group = one.client.budget.group
        assert isinstance(group, budget_group.BudgetGroup)
        await one.die()
        group._may, group._until = (
            (65, 0, 0.0),
            0.0,
        )  # what it had, and what the clock says when it goes on
        assert refused(await other.ask(model, *range(100, 200))) == 1
        assert refused(await one.ask(model, *range(2, 6))) == 4
        assert model.calls == 100
        await one.close()
        await other.close()

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_copied_cache_brings_what_sessions_have_spent_and_not_what_they_hold(place: Place):
    async def main() -> None:
        model, hung, limits = AllowanceModel(), AllowanceModel(), {"max_calls": 10}
        hung.waits.clear()
        ended, killed, running = (GroupClient(place("a"), limits) for _ in range(3))
        assert refused(await ended.ask(model, 1, 2)) == 0
        await ended.close()
        lost = asyncio.ensure_future(killed.ask(hung, 3))
        await until(lambda: hung.calls == 1)
        await killed.die()
        assert refused(await running.ask(model, 4)) == 0
        there = CallCache(place("b"))
        assert [await there.aside(there.take_from, place("a")) for _ in "ab"] == [
            Copied(3, 3, 0, 2),
            Copied(),
        ]
        there.close()
        await running.close()
        other = GroupClient(place("b"), limits)
        assert (
            refused(await other.ask(model, *range(100, 110))) == 3
        )  # of 10, two were spent, and one is unknown
        await other.close()
        lost.cancel()
        killed.cache.close()

    asyncio.run(asyncio.wait_for(main(), 60))


def test_who_needs_what_another_holds_waits_for_it(place: Place):
    async def main() -> None:
        hung, model = AllowanceModel(), AllowanceModel()
        hung.waits.clear()
        hung.free = True
        limits = {"max_usd": 0.0056 * 2}  # two calls, and a third where one takes nothing
        one, other = GroupClient(place("a"), limits), GroupClient(place("a"), limits)
        first = asyncio.ensure_future(one.ask(hung, 1))
        await until(lambda: hung.calls == 1)
        second = asyncio.ensure_future(other.ask(model, 2, 3))
        await until(lambda: model.calls == 1)
        await asyncio.sleep(3 * budget_group._EVERY)
        assert model.calls == 1
        hung.waits.set()
        assert refused(await first) == 0
        assert refused(await second) == 0
        assert model.calls == 2
        await one.close()
        await other.close()

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_lease_is_renewed_while_calls_are_in_flight(
    place: Place, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr(stores, "LEASE", 1000.0)

    async def main() -> None:
        hung = AllowanceModel()
        hung.waits.clear()
        one = GroupClient(place("a"), {"max_calls": 10})
        work = asyncio.ensure_future(one.ask(hung, 1))
        lease = "SELECT max(until) FROM budgets"
        await until(lambda: hung.calls == 1)
        (before,) = one.cache.do(lease).fetchone()
        await until(lambda: one.cache.do(lease).fetchone() > (before,))
        hung.waits.set()
        await work
        await one.close()

    asyncio.run(asyncio.wait_for(main(), 60))


def test_a_group_needs_a_name_and_limits_that_are_its_own():
    with pytest.raises(
        UserError, match="budget_group= needs a limit to share: max_usd=, max_tokens= or max_calls="
    ):
        RunOptions(budget_group="team")
    with pytest.raises(UserError, match="budget_group=' ': expected a name"):
        RunOptions(budget_group=" ", max_calls=1)
    options = RunOptions(budget_group="team", max_calls=1)
    part = Part(1, 2, "split", "answers.jsonl", None, None, 20, 0, 10, max_usd=1.0)
    with pytest.raises(UserError, match="the part has a share of max_usd= of its own"):
        limited(options, part)
