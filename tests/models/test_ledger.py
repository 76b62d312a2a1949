"""The ledger: what stands in it of every attempt, from the moment it is sent."""

from __future__ import annotations

import asyncio
import os
import random
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager, nullcontext
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from tests.models.conftest import Place
from tests.models.test_cache import KEYS, LAYOUT_1
from tests.program import ROOT, environment

from longmark.contrib.scale.batches.journal import Journal
from longmark.errors import (
    AskAgain,
    ModelError,
    OverBudget,
    RateLimited,
    RequestRefused,
    ServerFault,
    UserError,
)
from longmark.models import ledger
from longmark.models.budget import Budget
from longmark.models.cache import Attempt, CallCache, call_key
from longmark.models.client import Client, NotResent, UsageLog
from longmark.models.protocols import (
    Capabilities,
    ChatReply,
    ChatRequest,
    EmbedReply,
    Message,
    Tokens,
)
from longmark.models.stores import StoreTurn
from longmark.models.stores.copying import Copied

CUT = ServerFault("cut").with_bill()
UNREACHED = ServerFault("no connection")
UNREACHED.unreached = True
COUNTED = ServerFault("failed", 500).with_bill(Tokens(10, 0, 0))


class ScriptedModel:
    """Answers with these replies and errors, one after the other; the last one stays."""

    name = identity = "m"
    capabilities = Capabilities()

    def __init__(self, *answers: str | BaseException, width: int | None = None) -> None:
        self.answers, self.width = list(answers), width
        self.sent = 0
        self.used: list[str | BaseException] = []

    async def chat(self, request: ChatRequest) -> ChatReply:
        self.sent += 1
        await asyncio.sleep(0)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.used.append(answer)
        if isinstance(answer, BaseException):
            raise answer
        return ChatReply(answer, tokens=Tokens(100, 0, 10))

    async def embed(self, texts: Sequence[str]) -> EmbedReply:
        self.sent += 1
        return EmbedReply(tuple((1.0, 2.0) for _ in texts), Tokens(len(texts)))

    async def close(self) -> None:
        return None


def asking(text: str = "?") -> ChatRequest:
    return ChatRequest((Message("user", text),), max_tokens=20)


def dollars(tokens: Tokens) -> float:
    return tokens.prompt * 1.0 + tokens.completion * 10.0


@pytest.fixture
def cache(place: Place) -> Iterator[CallCache]:
    cache = CallCache(place("c"))
    yield cache
    cache.close()


@pytest.fixture(autouse=True)
def no_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("longmark.models.sending.wait_before", lambda *_: 0.0)


def client_of(cache: CallCache, **options: Any) -> Client:
    return Client(cache, price_of=lambda _model: dollars, **options)


def ask(client: Client, model: ScriptedModel, *texts: str) -> list[str | type]:
    """What comes of each text: the reply, or the kind of error."""

    async def one(text: str) -> str | type:
        try:
            return (await client.chat(model, asking(text), UsageLog())).text
        except ModelError as error:
            return type(error)

    async def every() -> list[str | type]:
        return list(await asyncio.gather(*map(one, texts)))

    return asyncio.run(every())


def rows(cache: CallCache, *columns: str) -> list[tuple[Any, ...]]:
    """The ledger's rows as another process sees them."""
    with closing(CallCache(cache.store.place)) as other:
        found: list[tuple[Any, ...]] = other.do(
            f"SELECT {', '.join(columns or ['state'])} FROM attempts ORDER BY id"
        ).fetchall()
        return found


def test_an_attempt_is_on_disk_as_sent_before_the_request_leaves(cache: CallCache):
    seen = []

    class LedgerReadingModel(ScriptedModel):
        async def chat(self, request: ChatRequest) -> ChatReply:
            seen.extend(rows(cache, "state", "most_completion", "usd"))
            return await super().chat(request)

    ask(client_of(cache), LedgerReadingModel("85"), "a")
    assert seen == [("sent", 20, None)]
    assert rows(cache, "state", "status", "prompt", "completion", "usd") == [
        ("answered", 200, 100, 10, 200.0)
    ]


# by hand: a reply is 100 + 10 x 10 dollars; a prompt of "a" is 16 tokens, which the most rounds up to 256; 20 x 10
@pytest.mark.parametrize(
    ("answers", "ledger"),
    [
        (["85"], [("answered", 200, 100, 200.0)]),
        ([CUT, "85"], [("unknown", None, None, None), ("answered", 200, 100, 200.0)]),
        ([UNREACHED, "85"], [("unreached", None, None, None), ("answered", 200, 100, 200.0)]),
        (
            [RateLimited("slow", 429), "85"],
            [("answered", 429, 0, 0.0), ("answered", 200, 100, 200.0)],
        ),
        (
            [ServerFault("failed", 500), "85"],
            [("answered", 500, 0, 0.0), ("answered", 200, 100, 200.0)],
        ),
        ([COUNTED, "85"], [("answered", 500, 10, 10.0), ("answered", 200, 100, 200.0)]),
        (
            [ServerFault("prose", 200).with_bill(), "85"],
            [("answered", 200, None, None), ("answered", 200, 100, 200.0)],
        ),
        ([RequestRefused("no", 400)], [("answered", 400, 0, 0.0)]),
        ([RequestRefused("known beforehand").unsent()], []),
    ],
)
def test_each_end_of_an_attempt_has_its_state_and_its_money(
    cache: CallCache, answers: list[Any], ledger: list[tuple[Any, ...]]
):
    client = client_of(cache)
    ask(client, ScriptedModel(*answers), "a")
    asyncio.run(cache.look([b"none"]))  # after what a call that fails leaves to be written
    assert rows(cache, "state", "status", "prompt", "usd") == ledger
    assert set(rows(cache, "most_usd")) <= {(456.0,)}
    assert client.counts.requests == len(ledger)


def test_a_cancelled_call_is_unknown_and_a_timeout_too(cache: CallCache):
    began = asyncio.Event()

    class Hanging(ScriptedModel):
        async def chat(self, request: ChatRequest) -> ChatReply:
            began.set()
            await asyncio.sleep(60)
            raise AssertionError

    async def cancelled() -> None:
        task = asyncio.ensure_future(client_of(cache).chat(Hanging("85"), asking(), UsageLog()))
        await began.wait()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        for _ in range(3000):
            if rows(cache) == [("unknown",)]:
                break
            await asyncio.sleep(0.01)

    asyncio.run(cancelled())
    assert rows(cache) == [("unknown",)]


def test_one_attempt_for_several_texts_is_one_row(cache: CallCache):
    client = client_of(cache)
    asyncio.run(client.embed(ScriptedModel(""), ["a", "b", "c"], UsageLog()))
    assert rows(cache, "calls", "kind", "state", "prompt") == [(3, "embed", "answered", 3)]
    assert cache.do("SELECT count(*), min(attempt), max(attempt) FROM calls").fetchone() == (
        3,
        1,
        1,
    )


def test_what_is_not_sent_has_no_row(cache: CallCache):
    client = client_of(cache, budget=Budget(max_calls=1))
    ask(client, ScriptedModel("85"), "a")
    with pytest.raises(OverBudget):
        ask(client, ScriptedModel("85"), "b")
    assert len(rows(cache)) == 1
    ask(client_of(cache), ScriptedModel("85"), "a")  # out of the cache
    assert len(rows(cache)) == 1


def test_a_call_whose_last_attempt_is_unknown_is_sent_again_or_not_as_the_user_says(
    cache: CallCache,
):
    model = ScriptedModel(CUT)
    quiet = client_of(cache, resend_unknown=False)
    assert ask(quiet, model, "a") == [NotResent]  # neither in this session ...
    for _ in range(3000):  # the ledger is written beside the call
        if rows(cache) == [("unknown",)]:
            break
        time.sleep(0.01)
    assert (model.sent, quiet.not_resent, rows(cache)) == (1, 1, [("unknown",)])
    later = client_of(cache, resend_unknown=False)
    assert ask(later, model, "a") == [NotResent]  # ... nor in a later one
    assert (model.sent, later.not_resent, later.counts.requests) == (1, 1, 0)
    model.answers = ["85"]
    assert ask(client_of(cache, resend_unknown=False), model, "b") == ["85"]  # another call
    assert ask(client_of(cache), model, "a") == ["85"]
    assert rows(cache) == [("unknown",), ("answered",), ("answered",)]
    assert ask(client_of(cache, resend_unknown=False), model, "a") == ["85"]  # stored


def test_an_attempt_that_was_answered_with_an_error_after_an_unknown_one_makes_the_call_known(
    cache: CallCache,
):
    model = ScriptedModel(CUT, RequestRefused("no", 400))
    assert ask(client_of(cache), model, "a") == [RequestRefused]
    assert ask(client_of(cache, resend_unknown=False), ScriptedModel("85"), "a") == ["85"]


def test_a_model_on_this_machine_is_always_asked_again(cache: CallCache):
    assert ask(client_of(cache, resend_unknown=False), ScriptedModel(CUT, "85", width=1), "a") == [
        "85"
    ]


def test_the_attempts_of_a_process_that_was_killed_are_unknown(tmp_path: Path):
    program = (
        "import asyncio, os\nfrom pathlib import Path\nfrom longmark.models.cache import Attempt, CallCache\n"
        f"cache = CallCache(Path({str(tmp_path / 'c.sqlite')!r}))\n"
        "attempt = Attempt(('token', '/run'), 'chat', 'm', most_usd=0.5)\n"
        "asyncio.run(cache.claim([b'a' * 32], attempt))\nos._exit(9)"
    )
    subprocess.run(
        [sys.executable, "-c", program], env=environment(tmp_path / "home"), cwd=ROOT, check=False
    )
    cache = CallCache(tmp_path / "c.sqlite")
    assert rows(cache) == [("sent",)]
    assert cache.unknown(KEYS).keys() == {KEYS[0]}
    assert cache.unknown(KEYS)[KEYS[0]].most_usd == 0.5
    cache.bury()
    assert rows(cache) == [("unknown",)]
    assert cache.unknown(KEYS).keys() == {KEYS[0]}
    assert asyncio.run(cache.claim(KEYS[:1])) == {KEYS[0]}
    cache.close()


def test_attempts_under_way_elsewhere_are_not_unknown(place: Place):
    async def both() -> None:
        one, other = CallCache(place("c")), CallCache(place("c"))
        await one.claim(KEYS[:1], Attempt(("token", ""), "chat", "m"))
        other.bury()
        assert (other.unknown(KEYS), rows(one)) == ({}, [("sent",)])
        assert other.held(KEYS) == {KEYS[0]}
        one.close()
        assert (list(other.unknown(KEYS)), rows(other)) == ([KEYS[0]], [("unknown",)])
        other.close()

    asyncio.run(both())


def test_a_call_in_a_batch_is_an_attempt_from_the_request_that_submits_it_on(place: Place):
    """Its process dies: before that request nothing was sent; then nobody knows; then the vendor has it."""

    async def main() -> None:
        one, other = CallCache(place("c")), CallCache(place("c"))
        keys = [*KEYS, b"d" * 32]
        for key in keys:
            await one.claim(
                [key], Attempt(("token", ""), "chat", "m", most_usd=0.5, state="queued")
            )
        journal = Journal(one.store)
        prepared, sending, running = (
            journal.intend("m", "m", "", [key], 24.0).id for key in keys[1:]
        )
        assert (ledger.by_run(other), other.unknown(keys)) == ([], {})
        assert other.clear() == (0, 0)
        for id in (sending, running):
            journal.sending(id, None)
        journal.running(running, "batch_1")
        (line,) = ledger.by_run(other)
        assert (line.attempts, line.in_flight, line.in_flight_usd, line.unknown) == (2, 2, 1.0, 0)
        journal.close()
        one.close()
        (line,) = ledger.by_run(other)
        assert (line.attempts, line.unknown, line.unknown_usd, line.in_flight) == (2, 1, 0.5, 1)
        assert rows(other) == [("unknown",), ("unknown",)]
        assert await other.claim(keys, resend=False) == set(keys[:2])
        journal = Journal(other.store)
        journal.finish(running, {}, rest_status=0)
        assert [batch.state for batch in journal.batches()] == ["prepared", "sending", "done"]
        assert (prepared, ledger.by_run(other)[0].unknown) == (journal.batches()[0].id, 2)
        journal.close()
        other.close()

    asyncio.run(main())


def test_a_claim_whose_asker_was_cancelled_leaves_no_attempt(place: Place):
    async def main() -> None:
        cache = CallCache(place("c"))
        asking = asyncio.ensure_future(cache.claim(KEYS, Attempt(("token", ""), "chat", "m")))
        await asyncio.sleep(0)  # it has asked, and nothing is committed yet
        asking.cancel()
        for _ in range(3000):
            await asyncio.sleep(0.01)
            if (rows(cache), cache.held(KEYS)) == ([], set()):
                break
        assert (rows(cache), cache.held(KEYS)) == ([], set())
        cache.close()

    asyncio.run(main())


def test_two_clients_of_one_process_share_a_call(cache: CallCache):
    model = ScriptedModel("85")

    async def both() -> list[str]:
        asked = [client_of(cache).chat(model, asking(), UsageLog()) for _ in range(2)]
        return [reply.text for reply in await asyncio.gather(*asked)]

    assert asyncio.run(both()) == ["85", "85"]
    assert (model.sent, len(rows(cache))) == (1, 1)


def test_a_file_of_the_layout_without_a_ledger_keeps_its_replies(tmp_path: Path):
    with sqlite3.connect(tmp_path / "c.sqlite") as database:
        database.executescript(LAYOUT_1)
        database.execute("PRAGMA user_version = 1")
        database.execute("INSERT INTO calls VALUES (?, 'chat', 'm', 7.0, 0.5, ?)", (KEYS[0], b"{}"))
        database.execute("INSERT INTO facts VALUES ('m', 'text-only')")
        database.execute("INSERT INTO claims VALUES (?, 'a dead one', 0.0)", (KEYS[1],))
    cache = CallCache(tmp_path / "c.sqlite")
    assert cache.get(KEYS[0]) == (b"{}", 0.5)
    assert cache.known("m", "text-only")
    assert asyncio.run(cache.claim(KEYS)) == {KEYS[1], KEYS[2]}
    asyncio.run(cache.put(KEYS[1], "chat", "m", b"{}", None))
    cache.close()
    CallCache(tmp_path / "c.sqlite").close()


def test_a_file_that_an_earlier_version_uses_at_this_moment_is_left_alone(tmp_path: Path):
    import platform
    import time

    with sqlite3.connect(tmp_path / "c.sqlite") as database:
        database.executescript(LAYOUT_1)
        database.execute("PRAGMA user_version = 1")
        claim = (KEYS[1], f"{platform.node()} {os.getpid()} x", time.time() + 30)
        database.execute("INSERT INTO claims VALUES (?, ?, ?)", claim)
    with pytest.raises(UserError, match="wait until that command has ended"):
        CallCache(tmp_path / "c.sqlite")
    with sqlite3.connect(tmp_path / "c.sqlite") as database:
        assert database.execute("PRAGMA user_version").fetchone() == (1,)
        assert len(database.execute("PRAGMA table_info(calls)").fetchall()) == 6


def test_another_cache_takes_over_replies_ledger_and_what_is_unknown(place: Place):
    """Two caches of three calls, of which one is in both; a fourth was cut off, and answered in a third cache."""

    def attempts(name: str) -> list[tuple[Any, ...]]:
        with closing(CallCache(place(name))) as cache:
            query = "SELECT token, run, key, state, usd FROM attempts JOIN sessions ON sessions.id = session"
            return sorted(cache.do(query), key=repr)

    calls: dict[str, list[tuple[str | BaseException, str]]] = {
        "one": [("yes", "a"), ("yes", "b")],
        "two": [("yes", "c"), ("no", "a"), (CUT, "d")],
    }
    for name, asked in calls.items():
        cache = CallCache(place(name))
        for answer, text in asked:
            ask(client_of(cache), ScriptedModel(answer), text)
        cache.close()
    of_both = sorted(attempts("one") + attempts("two"), key=repr)
    merged = CallCache(place("merged"))
    taken = [merged.take_from(place(name)) for name in ("one", "two", "two")]
    assert taken == [Copied(2, 2), Copied(1, 8, 1), Copied(0, 0, 1)]
    assert attempts("merged") == of_both
    linked = "SELECT count(*) FROM calls JOIN attempts ON attempts.id = calls.attempt AND attempts.key = calls.key"
    assert merged.do(linked).fetchone() == (3,)
    keys = {key for _, _, key, state, _ in of_both if state == "unknown"}
    assert len(keys) == 1
    assert merged.unknown(keys).keys() == keys
    cache = CallCache(place("three"))
    ask(client_of(cache), ScriptedModel("yes"), "d")
    cache.close()
    assert merged.take_from(place("three")) == Copied(1, 1)
    assert merged.unknown(keys) == {}
    merged.close()


def test_a_copy_that_is_interrupted_is_consistent_and_is_completed_by_repeating_it(
    place: Place, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("longmark.models.stores.copying._STEP", 2)
    with closing(CallCache(place("from"))) as cache:
        ask(client_of(cache), ScriptedModel("yes"), *"abcdef")
        ask(client_of(cache), ScriptedModel(CUT), "g")
    dangling = "SELECT count(*) FROM calls LEFT JOIN attempts ON attempts.id = calls.attempt WHERE attempts.id IS NULL"
    target, cut = CallCache(place("to")), 0
    units = target.store.unit

    @contextmanager
    def interrupted() -> Iterator[None]:
        nonlocal cut
        cut -= 1
        with units():
            yield
            if not cut:
                raise KeyboardInterrupt

    monkeypatch.setattr(target.store, "unit", interrupted)
    seen = set()
    for after in range(
        1, 6
    ):  # in the first and second session, the second step of replies, what is unknown
        cut = after
        with pytest.raises(KeyboardInterrupt) if after < 5 else nullcontext():
            target.take_from(place("from"))
        assert target.do(dangling).fetchone() == (0,)
        seen.add(target.do("SELECT count(*) FROM calls").fetchone())
    assert seen == {(0,), (2,), (6,)}
    assert target.do("SELECT count(*), count(DISTINCT token) FROM sessions").fetchone() == (2, 2)
    with closing(CallCache(place("from"))) as cache:
        assert rows(target, "key", "state", "usd") == rows(cache, "key", "state", "usd")
        keys = [key for (key,) in cache.do("SELECT key FROM claims")]
        assert target.unknown(keys) == cache.unknown(keys) != {}
    target.close()


# What a run paid, needed, and does not know ------------------------------------------------------------------------


def test_the_ledger_of_a_run_by_hand(cache: CallCache, tmp_path: Path):
    """A run pays for a and b; a was cut before, b's first attempt failed with counted tokens. c was paid elsewhere."""
    ask(client_of(cache, run=tmp_path / "other"), ScriptedModel("85"), "c")
    client = client_of(cache, run=tmp_path / "r")
    ask(client, ScriptedModel(CUT, "85"), "a")
    ask(client, ScriptedModel(COUNTED, "85"), "b")
    ask(client, ScriptedModel("85"), "c")
    keys = [call_key("m", "chat", asking(text)) for text in "abc"]
    (line,) = ledger.by_model(
        cache, ledger.sessions_of(cache, tmp_path / "r", [client.token]), keys
    )
    assert line == ledger.LedgerLine("m", 4, 3, 410.0, 1, 456.0, 0, 0.0, 3, 600.0, 1)
    assert line == ledger.by_model(cache, ledger.sessions_of(cache, tmp_path / "r"), keys)[0]
    assert ledger.sessions_of(cache, tmp_path) == [1, 2]
    assert [(one.name, one.attempts, one.paid) for one in ledger.by_run(cache)] == [
        (str(tmp_path / "other"), 1, 200.0),
        (str(tmp_path / "r"), 4, 410.0),
    ]
    (cheap,) = ledger.by_model(cache, [1])
    assert (cheap.needed, cheap.needed_usd, cheap.elsewhere) == (None, None, None)


def test_money_that_is_not_known_is_none_and_not_zero(cache: CallCache):
    ask(client_of(cache), ScriptedModel(ServerFault("prose", 200).with_bill(), "85"), "a")
    ask(Client(cache, price_of=lambda _model: lambda _tokens: None), ScriptedModel(CUT, "85"), "b")
    (line,) = ledger.by_run(cache)
    assert (line.name, line.paid, line.unknown, line.unknown_usd) == ("", None, 1, None)


def test_folding_keeps_every_sum_and_the_unknown(cache: CallCache, tmp_path: Path):
    for folder in ("a", "b"):
        client = client_of(cache, run=tmp_path / folder)
        ask(client, ScriptedModel(CUT, COUNTED, "85"), *(f"{folder}{n}" for n in range(5)))
        ask(client_of(cache, run=tmp_path / folder), ScriptedModel(CUT), f"{folder} cut")
    keys = [call_key("m", "chat", asking(f"{folder}{n}")) for folder in "ab" for n in range(5)]

    def sums() -> list[Any]:
        runs = [
            ledger.by_model(cache, ledger.sessions_of(cache, tmp_path / folder), keys)
            for folder in "ab"
        ]
        return [
            ledger.by_run(cache),
            runs,
            sorted(cache.unknown([*keys, call_key("m", "chat", asking("a cut"))])),
        ]

    before, attempts = sums(), len(rows(cache))
    assert ledger.compact(cache)[0] == attempts
    assert sums() == before
    left = rows(cache, "state", "status", "count")
    assert left.count(("answered", 200, 5)) == 2
    assert len([row for row in left if row[0] == "unknown"]) == 2 * (1 + 6)
    assert ledger.compact(cache) == (len(left), len(left))
    ask(client_of(cache), ScriptedModel("85"), "later")
    assert rows(cache, "count")[-1] == (1,)


def test_the_ledger_is_read_after_what_a_session_that_has_ended_has_still_to_write(
    cache: CallCache, monkeypatch: pytest.MonkeyPatch
):
    """The thread of a distant store still writes the end of the last attempt when the event loop ends."""
    asked, commit, written = Event(), cache.store.commit, cache._written

    def slow(turn: StoreTurn) -> None:
        if turn.left and not cache.store.quick:  # the end of a call that is given up
            asked.wait(60)
        commit(turn)

    def told() -> None:
        asked.set()
        written()

    monkeypatch.setattr(cache.store, "commit", slow)
    monkeypatch.setattr(cache, "_written", told)
    ask(client_of(cache), ScriptedModel(CUT), "cut")
    try:
        (line,) = ledger.by_run(cache)
        assert (line.attempts, line.unknown, line.in_flight) == (6, 6, 0)
        assert rows(cache) == [("unknown",)] * 6
    finally:
        asked.set()


def test_clearing_takes_the_ledger_of_the_model_and_leaves_what_is_under_way(cache: CallCache):
    ask(client_of(cache), ScriptedModel(CUT, "85"), "a")
    other = ScriptedModel("85")
    other.name = other.identity = "other"
    ask(client_of(cache), other, "a")

    async def both() -> None:
        await cache.claim(KEYS[:1], Attempt(("token", ""), "chat", "other"))
        assert cache.clear("m") == (1, 2)
        assert rows(cache, "model", "state") == [("other", "answered"), ("other", "sent")]
        assert cache.clear() == (1, 1)
        assert rows(cache) == [("sent",)]
        assert cache.held(KEYS) == {KEYS[0]}
        cache.release(KEYS)

    asyncio.run(both())


@pytest.mark.parametrize("seed", range(20))
def test_the_sums_of_the_ledger_are_the_counts_of_the_session(tmp_path: Path, seed: int):
    """Whatever comes of the calls: errors of each kind, replies with and without counts, retries, batches."""
    rng = random.Random(seed)
    kinds: list[Any] = [
        "85",
        "20",
        CUT,
        UNREACHED,
        COUNTED,
        RateLimited("slow", 429, 0.0),
        ServerFault("x", 503),
    ]
    kinds += [
        RequestRefused("no", 400),
        ServerFault("prose", 200).with_bill(),
        AskAgain("other form"),
    ]
    kinds += [RequestRefused("known").unsent(), AskAgain("cut").with_bill(Tokens(5, 2, 7))]
    model = ScriptedModel(*rng.choices(kinds, k=60), "85")
    cache = CallCache(tmp_path / "c.sqlite")
    client = client_of(cache, concurrency=4, resend_unknown=rng.random() < 0.5)
    ask(client, model, *(str(rng.randrange(30)) for _ in range(40)))
    asyncio.run(client.embed(model, ["a", "b", "c"], UsageLog()))
    counts = client.counts
    cache.close()
    with sqlite3.connect(tmp_path / "c.sqlite") as database:
        query = """SELECT count(*), total(prompt), total(cached_prompt), total(completion), total(usd),
            total(state IN ('answered', 'unknown') AND prompt IS NULL), total(state = 'sent') FROM attempts"""
        (found,) = database.execute(query)
        assert database.execute("SELECT count(*) FROM claims WHERE until > 0").fetchone() == (0,)
    tokens = counts.prompt_tokens, counts.cached_prompt_tokens, counts.completion_tokens
    assert found == (counts.requests, *tokens, pytest.approx(found[4]), counts.unmetered, 0)
    assert (counts.usd is None) == (counts.unmetered > 0)
    if counts.usd is not None:
        assert found[4] == pytest.approx(counts.usd)
    assert model.sent == counts.requests + sum(
        kind.sent is False for kind in model.used if isinstance(kind, ModelError)
    )


def test_closing_a_file_that_another_process_holds_is_no_error(tmp_path: Path):
    async def main() -> None:
        cache = CallCache(tmp_path / "c.sqlite")
        await cache.claim(KEYS[:1], Attempt(("token", ""), "chat", "m"))
        cache.do("PRAGMA busy_timeout = 1")
        other = sqlite3.connect(tmp_path / "c.sqlite", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")
        cache.close()
        other.execute("ROLLBACK")
        other.close()

    asyncio.run(main())
    assert rows(CallCache(tmp_path / "c.sqlite")) == [("sent",)]
