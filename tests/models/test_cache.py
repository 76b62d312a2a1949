"""The call cache on its own: who may open it, who may ask, what is kept."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path

import pytest
from tests.models.conftest import Place
from tests.program import ROOT, environment

from longmark.errors import UserError
from longmark.models import stores
from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.fake import FakeChat
from longmark.models.protocols import ChatRequest, Message
from longmark.models.stores import StoreTurn
from longmark.models.stores import sqlite as sqlite_store
from longmark.models.stores.sqlite import file_system

KEYS = [b"a" * 32, b"b" * 32, b"c" * 32]
LAYOUT_1 = """
CREATE TABLE calls (
    key BLOB PRIMARY KEY, kind TEXT NOT NULL, model TEXT NOT NULL, created REAL NOT NULL,
    usd REAL, reply BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE facts (endpoint TEXT NOT NULL, fact TEXT NOT NULL, PRIMARY KEY (endpoint, fact));
CREATE TABLE claims (key BLOB PRIMARY KEY, owner TEXT NOT NULL, until REAL NOT NULL) WITHOUT ROWID;
"""


def test_a_file_of_a_newer_layout_is_refused(tmp_path: Path):
    CallCache(tmp_path / "c.sqlite").close()
    with sqlite3.connect(tmp_path / "c.sqlite") as database:
        database.execute("PRAGMA user_version = 99")
    with pytest.raises(UserError, match="another version of longmark"):
        CallCache(tmp_path / "c.sqlite")


def test_a_file_with_other_tables_is_refused(tmp_path: Path):
    with sqlite3.connect(tmp_path / "c.sqlite") as database:
        database.execute("CREATE TABLE calls (key, reply, price)")
    with pytest.raises(UserError, match="another version of longmark"):
        CallCache(tmp_path / "c.sqlite")


@pytest.mark.parametrize(
    ("instead", "what"),
    [
        ("CREATE VIEW calls AS SELECT 1 AS key", "a view calls"),
        (
            "CREATE TABLE calls (key TEXT, reply TEXT GENERATED ALWAYS AS (key || key))",
            "a table calls",
        ),
        ("CREATE VIRTUAL TABLE calls USING fts5(key)", "a table calls"),
    ],
)
def test_what_stands_in_the_place_of_a_table_is_not_read(tmp_path: Path, instead: str, what: str):
    path = tmp_path / "calls.sqlite"
    with closing(sqlite3.connect(path)) as database:
        database.execute(instead)
        database.commit()
    with pytest.raises(
        UserError, match=f"has {what} that longmark did not make: nothing of it is read"
    ):
        CallCache(path)


def test_a_trigger_on_a_table_of_ours_is_refused(tmp_path: Path):
    path = tmp_path / "calls.sqlite"
    CallCache(path).close()
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TRIGGER t AFTER INSERT ON calls BEGIN SELECT 1; END")
        database.commit()
    with pytest.raises(UserError, match="has a trigger t that longmark did not make"):
        CallCache(path)


def test_a_file_made_before_layouts_had_numbers_is_taken(tmp_path: Path):
    with sqlite3.connect(tmp_path / "c.sqlite") as database:
        database.executescript(LAYOUT_1)
        database.execute("DROP TABLE claims")
        database.execute("INSERT INTO calls VALUES (?, 'chat', 'm', 0, 0.5, ?)", (KEYS[0], b"{}"))
    cache = CallCache(tmp_path / "c.sqlite")
    assert cache.get(KEYS[0]) == (b"{}", 0.5)
    cache.close()


def test_a_file_that_cannot_be_written_is_noticed_when_it_is_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    path, connect = tmp_path / "c.sqlite", sqlite3.connect
    CallCache(path).close()
    # as root, for whom no file is read-only, too
    monkeypatch.setattr(
        sqlite3, "connect", lambda at, **more: connect(f"file:{at}?mode=ro", uri=True, **more)
    )
    with pytest.raises(UserError, match=r"cannot be opened .*readonly.*; name another file"):
        CallCache(path)


@pytest.mark.parametrize("kind", ["nfs4", "cifs", "smb3", "lustre", "fuse.sshfs"])
def test_a_network_file_system_is_refused_with_the_way_out(
    tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
):
    mounts = tmp_path / "mountinfo"
    shared = tmp_path / "shared folder"
    escaped = str(shared).replace(" ", "\\040")
    mounts.write_text(
        f"22 1 0:20 / / rw - ext4 /dev/sda1 rw\n31 22 0:40 / {escaped} rw,relatime shared:1 - {kind} host:/x rw\n"
    )
    assert file_system(shared / "deep" / "calls.sqlite", mounts) == kind
    assert file_system(tmp_path / "calls.sqlite", mounts) == "ext4"
    monkeypatch.setattr(sqlite_store, "file_system", lambda path: file_system(path, mounts))
    with pytest.raises(UserError, match=r"network file system.*--cache FILE, or set LONGMARK_HOME"):
        CallCache(shared / "calls.sqlite")
    assert not shared.exists()


def test_one_of_two_is_given_a_key_and_the_other_one_after_it_was_released(place: Place):
    async def both() -> None:
        one, other = CallCache(place("c")), CallCache(place("c"))
        assert await one.claim(KEYS[:2]) == set(KEYS[:2])
        assert await other.claim(KEYS) == {KEYS[2]}
        one.release([KEYS[0]])
        await one.put(KEYS[1], "chat", "m", b"{}", 0.0)
        assert await other.claim(KEYS[:2]) == {KEYS[0]}  # of the second there is a reply
        assert await other.claim([KEYS[1]], anew=True) == {
            KEYS[1]
        }  # which does not count where it is asked anew
        one.close()
        other.close()

    asyncio.run(both())


def test_closing_ends_claims(place: Place):
    async def both() -> None:
        one, other = CallCache(place("c")), CallCache(place("c"))
        await one.claim(KEYS)
        one.close()
        assert await other.claim(KEYS) == set(KEYS)
        other.close()

    asyncio.run(both())


def test_closing_writes_what_is_still_to_be_written(place: Place, caplog: pytest.LogCaptureFixture):
    """As after a failed call: its claim is released in the last turn of the loop."""

    async def main() -> None:
        cache = CallCache(place("c"))
        assert await cache.claim(KEYS[:1]) == {KEYS[0]}
        put = asyncio.ensure_future(cache.put(KEYS[1], "chat", "m", b"{}", None))
        await asyncio.sleep(0)  # it is begun
        cache._begin()
        cache.release(KEYS[:1])
        cache.close()
        await asyncio.wait_for(put, 30)
        await asyncio.sleep(0)

    asyncio.run(main())
    assert caplog.records == []  # "Cannot operate on a closed database"
    cache = CallCache(place("c"))
    assert cache.get(KEYS[1]) == (b"{}", None)
    cache.close()


def test_a_claim_whose_asker_was_cancelled_is_released(place: Place):
    async def both() -> None:
        one, other = CallCache(place("c")), CallCache(place("c"))
        asking = asyncio.ensure_future(one.claim(KEYS))
        await asyncio.sleep(0)  # it has asked, and nothing is committed yet
        asking.cancel()
        granted: set[bytes] = set()
        while granted != set(KEYS):
            await asyncio.sleep(0.01)
            granted |= await other.claim(KEYS)
        one.close()
        other.close()

    asyncio.run(both())


def test_the_claims_of_a_process_that_was_killed_are_free_at_once(tmp_path: Path):
    program = (
        "import asyncio, os, sys\nfrom pathlib import Path\nfrom longmark.models.cache import CallCache\n"
        f"asyncio.run(CallCache(Path({str(tmp_path / 'c.sqlite')!r})).claim([b'a' * 32]))\nos._exit(9)"
    )
    subprocess.run(
        [sys.executable, "-c", program], env=environment(tmp_path / "home"), cwd=ROOT, check=False
    )
    cache = CallCache(tmp_path / "c.sqlite")
    with sqlite3.connect(tmp_path / "c.sqlite") as database:
        assert database.execute("SELECT count(*) FROM claims").fetchone() == (1,)
    assert asyncio.run(cache.claim(KEYS[:1])) == set(KEYS[:1])
    cache.close()


def test_a_claim_from_another_machine_ends_with_its_lease(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    cache = CallCache(tmp_path / "c.sqlite")
    with sqlite3.connect(tmp_path / "c.sqlite") as database:
        for key, lease in zip(KEYS, (-1, 30, 30), strict=True):
            row = (key, f"elsewhere {os.getpid()} x", __import__("time").time() + lease)
            database.execute("INSERT INTO claims VALUES (?, ?, ?, NULL)", row)
    assert asyncio.run(cache.claim(KEYS)) == {KEYS[0]}
    cache.close()


def test_claims_are_renewed_while_they_are_held(place: Place, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(stores, "LEASE", 0.3)

    async def hold() -> set[bytes]:
        one, other = CallCache(place("c")), CallCache(place("c"))
        await one.claim(KEYS)
        await asyncio.sleep(0.8)
        granted = await other.claim(KEYS)
        one.close()
        other.close()
        return granted

    assert asyncio.run(hold()) == set()


def test_a_claim_that_cannot_be_read_or_is_of_a_clock_far_ahead_is_none(tmp_path: Path):
    cache = CallCache(tmp_path / "c.sqlite")
    now = __import__("time").time()
    with sqlite3.connect(tmp_path / "c.sqlite") as database:
        odd = (
            ("garbage", now + 30),
            (f"elsewhere {'9' * 20} x", now + 30),
            ("elsewhere 1 x", 1e18),
        )
        database.executemany(
            "INSERT INTO claims VALUES (?, ?, ?, NULL)",
            [(k, *one) for k, one in zip(KEYS, odd, strict=True)],
        )
    assert asyncio.run(cache.claim(KEYS)) == set(KEYS)
    cache.close()


def test_a_path_that_is_a_link_to_itself_is_a_message(tmp_path: Path):
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    with pytest.raises(UserError, match="cannot be opened"):
        CallCache(tmp_path / "loop")


def test_a_url_that_is_not_postgresql_is_refused_and_makes_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match=r"mysql://…: a call cache is a file or postgres://"):
        CallCache("mysql://a/b")
    assert not list(tmp_path.iterdir())


def test_a_request_that_the_cache_could_not_note_is_not_sent_and_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    model = FakeChat("85")
    with closing(CallCache(tmp_path / "calls.sqlite")) as cache:
        client = Client(cache)

        def full(_turn: StoreTurn) -> None:
            raise sqlite3.OperationalError("database or disk is full")

        async def chat() -> None:
            await client.chat(model, ChatRequest((Message("user", "?"),)), UsageLog())

        with monkeypatch.context() as at_first:
            at_first.setattr(cache.store, "commit", full)
            with pytest.raises(UserError, match="disk is full"):
                asyncio.run(chat())
        assert (client.counts.requests, client.counts.retries, len(model.requests)) == (0, 0, 0)
        asyncio.run(chat())
        assert (client.counts.requests, client.counts.retries, len(model.requests)) == (1, 0, 1)
