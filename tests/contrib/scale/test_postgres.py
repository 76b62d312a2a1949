"""The call cache in PostgreSQL: claims as leases, several processes, a server that goes away, roles, URLs."""

from __future__ import annotations

import asyncio
import gc
import os
import signal
import socketserver
import subprocess
import sys
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path

import pytest
from tests.models.test_cache import KEYS
from tests.postgres import PostgresServer
from tests.program import ROOT, environment

from longmark.errors import UserError
from longmark.models import stores
from longmark.models.cache import Attempt, CallCache
from longmark.models.stores.copying import Copied

_ASKING = """
import asyncio, os, sys
from longmark.models import flights, stores
from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.protocols import Capabilities, ChatReply, ChatRequest, Message, Tokens
url, port, calls, victim = sys.argv[1], int(sys.argv[2]), int(sys.argv[3]), sys.argv[4]
stores.LEASE = 1.0
flights._LOOK_AGAIN = 0.05

class Model:
    name, identity, width, capabilities = "m", "m", None, Capabilities()
    async def chat(self, request):
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(f"{os.getpid()} {victim} {request.messages[0].content}\\n".encode())
        line = await reader.readline()
        writer.close()
        return ChatReply(line.decode().strip(), tokens=Tokens(1, 0, 1))

async def main():
    cache = CallCache(url)
    client, model = Client(cache, concurrency=8), Model()
    ask = lambda i: client.chat(model, ChatRequest((Message("user", str(i)),), max_tokens=5), UsageLog())
    replies = await asyncio.gather(*(ask(i) for i in range(calls)))
    assert all(reply.text == str(i) for i, reply in enumerate(replies))
    cache.close()

asyncio.run(main())
"""


class _Endpoint(socketserver.ThreadingTCPServer):
    """Answers each text with itself, and counts. A process that is to be killed gets no reply to its third request, but
    the signal."""

    allow_reuse_address = daemon_threads = True

    def __init__(self) -> None:
        self.answered: Counter[str] = Counter()
        self.cut: Counter[str] = Counter()
        self._guard = threading.Lock()
        super().__init__(("127.0.0.1", 0), _Handler)

    def reply(self, line: str) -> str | None:
        pid, victim, text = line.split()
        with self._guard:
            if victim == "victim" and sum(self.answered.values()) >= 2:
                self.cut[text] += 1
                os.kill(int(pid), signal.SIGKILL)
                return None
            self.answered[text] += 1
            return text


class _Handler(socketserver.StreamRequestHandler):
    server: _Endpoint

    def handle(self) -> None:
        if (reply := self.server.reply(self.rfile.readline().decode())) is not None:
            self.wfile.write(f"{reply}\n".encode())


def test_of_four_processes_none_asks_what_another_has_asked_though_a_holder_is_killed(
    server: PostgresServer, tmp_path: Path
):
    url, calls = server.database(), 40
    with _Endpoint() as endpoint:
        threading.Thread(target=endpoint.serve_forever, daemon=True).start()

        def start(kind: str) -> subprocess.Popen[bytes]:
            command = [
                sys.executable,
                "-c",
                _ASKING,
                url,
                str(endpoint.server_address[1]),
                str(calls),
                kind,
            ]
            return subprocess.Popen(command, env=environment(tmp_path), cwd=ROOT)

        victim = start("victim")
        assert victim.wait(120) == -signal.SIGKILL
        others = [start("user") for _ in range(3)]
        assert [other.wait(120) for other in others] == [0, 0, 0]
        endpoint.shutdown()
    lost = {text for text, count in endpoint.answered.items() if count > 1}
    assert len(endpoint.answered) == calls
    with closing(CallCache(url)) as cache:
        states = Counter(state for (state,) in cache.do("SELECT state FROM attempts"))
        assert cache.lines()[0].replies == calls
    # what the victim had in flight (8 calls at once) is asked once more, and stands in the ledger as unknown
    assert len(lost) <= 2
    assert max(endpoint.answered.values()) <= 2
    assert states["answered"] == calls
    assert 0 < states["unknown"] <= 8


def test_a_claim_ends_with_its_lease_by_the_clock_of_the_server(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setattr("time.time", lambda: 0.0)  # that of this machine is wrong
    with closing(CallCache(server.database())) as one, closing(CallCache(one.store.place)) as other:
        assert asyncio.run(one.claim(KEYS, Attempt(("token", ""), "chat", "m"))) == set(KEYS)
        assert asyncio.run(other.claim(KEYS)) == set()
        one.do("UPDATE claims SET until = until - ? WHERE key <> ?", (stores.LEASE + 1, KEYS[2]))
        assert asyncio.run(other.claim(KEYS, resend=False)) == set()  # it may have been billed
        assert asyncio.run(other.claim(KEYS)) == {*KEYS[:2]}
        assert one.do("SELECT state FROM attempts").fetchall() == [("unknown",)]


def test_several_processes_make_the_tables_at_once(server: PostgresServer):
    url = server.database()
    with ThreadPoolExecutor(4) as threads:
        for cache in threads.map(lambda _: CallCache(url), range(4)):
            cache.close()
    with closing(CallCache(url)) as cache:
        assert cache.do("SELECT count(*) FROM layout").fetchone() == (1,)


def test_an_older_layout_is_brought_up_and_a_newer_one_is_refused(
    server: PostgresServer, monkeypatch: pytest.MonkeyPatch
):
    from longmark.contrib.scale import postgres

    url = server.database()
    with closing(CallCache(url)) as cache:  # as the first layout was
        cache.do("DROP TABLE budgets")
        cache.do("UPDATE layout SET version = 1")
    with closing(CallCache(url)) as cache:
        assert cache.do("SELECT usd FROM budgets").fetchall() == []
    monkeypatch.setattr(postgres, "_LAYOUT", 1)
    with pytest.raises(
        UserError, match="has layout 3, and this version of longmark reads layout 1; use a newer"
    ):
        CallCache(url)


def test_a_lost_connection_is_made_again_and_nothing_is_lost(server: PostgresServer):
    async def main(cache: CallCache) -> None:
        attempt = Attempt(("token", ""), "chat", "m")
        await cache.claim(KEYS, attempt)
        server.stop()
        put = asyncio.ensure_future(cache.put(KEYS[0], "chat", "m", b"{}", 0.5, attempt))
        await asyncio.sleep(0)
        await asyncio.to_thread(server.start)
        await put
        assert (await cache.look(KEYS)).replies == {KEYS[0]: (b"{}", 0.5)}
        assert cache.held(KEYS) == {*KEYS[1:]}

    with closing(CallCache(server.database())) as cache:
        asyncio.run(main(cache))


def test_replies_that_no_server_takes_are_kept_in_a_file(
    server: PostgresServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path))
    monkeypatch.setattr("longmark.contrib.scale.postgres._PATIENCE", 0.1)
    cache = CallCache(server.database())

    async def main() -> None:
        await cache.claim(KEYS)
        server.stop()
        await cache.put(KEYS[0], "chat", "m", b"{}", 0.5)

    try:
        with pytest.raises(
            UserError, match=r"cannot be reached .*unsaved.sqlite.*longmark cache copy"
        ):
            asyncio.run(main())
        with pytest.raises(UserError, match=r"cannot be reached .*; repeat the command to resume"):
            cache.do("SELECT 1")
    finally:
        server.start()
    cache.close()
    with closing(CallCache(cache.store.place)) as again:
        assert again.take_from(tmp_path / "unsaved.sqlite") == Copied(1)
        assert again.get(KEYS[0]) == (b"{}", 0.5)


def test_a_role_that_may_only_read_serves_replies_and_sends_nothing(
    server: PostgresServer, caplog: pytest.LogCaptureFixture
):
    gc.collect()  # what earlier tests left is not told here
    caplog.clear()
    url = server.database()
    with closing(CallCache(url)) as cache:
        asyncio.run(cache.put(KEYS[0], "chat", "m", b"{}", 0.5))
    name = url.rpartition("/")[2]
    server.sql("CREATE ROLE reader LOGIN; GRANT USAGE ON SCHEMA longmark TO reader", name)
    server.sql("GRANT SELECT ON ALL TABLES IN SCHEMA longmark TO reader", name)
    with closing(CallCache(url.replace("postgres@", "reader@"))) as reading:
        assert reading.store.read_only
        assert reading.get(KEYS[0]) == (b"{}", 0.5)
        assert asyncio.run(reading.look(KEYS)).replies.keys() == {KEYS[0]}
        reading.remember("m", "text-only")
        reading.bury()
        with pytest.raises(
            UserError, match="this role may only read the call cache postgres://reader@"
        ):
            asyncio.run(reading.claim(KEYS[1:]))
    gc.collect()
    assert not caplog.records  # asyncio's "exception was never retrieved", with a traceback


@pytest.mark.parametrize(
    "url",
    [
        "postgres://u:sesame@127.0.0.1:1/db",
        "postgres://u@127.0.0.1:1/db?password=sesame",
        "postgres://u:ses@ame@127.0.0.1:1/db",
        "postgres://u:ses/ame@127.0.0.1:1/db",
        "postgres://u:ses#ame@127.0.0.1:1/db",
        "postgres://sesame:sesame",
        "postgres://u@127.0.0.1:1/db?sesame=sesame",
        "postgres://u@127.0.0.1:1/db?key_env=WORD",
    ],
)
def test_no_message_has_a_part_of_the_password(url: str, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("psycopg")
    monkeypatch.setenv("WORD", "sesame")
    with pytest.raises(UserError) as caught:
        CallCache(url)
    assert "ses" not in str(caught.value).replace("addresses", "")
    assert "ame@" not in str(caught.value).replace("NAME@", "")
    assert "ses" not in str(stores.shown(url))


def test_a_mistyped_option_of_the_url_is_told_by_what_it_resembles():
    pytest.importorskip("psycopg")
    with pytest.raises(
        UserError, match=r"neither key_env nor one of libpq's; did you mean sslmode\?"
    ):
        CallCache("postgres://u@127.0.0.1:1/db?sslmod=require")
