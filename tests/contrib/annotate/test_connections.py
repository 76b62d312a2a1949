"""Connections that send nothing, bodies that come slowly, and what is no HTTP: others are served, nothing is said."""

from __future__ import annotations

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from aiohttp import StreamReader
from tests.contrib.annotate.serving import ServedStudy, Visitor, serving, write_study

from longmark.contrib.annotate import web
from longmark.errors import UserError
from longmark.report.web.address import address_of
from longmark.report.web.connections import Connections, first_in_a_minute

RIGHT = {"f.right": "yes", "f.relevance": "7"}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedStudy]:
    with serving(write_study(tmp_path), connections=Connections(limit=8, head_seconds=0.3)) as one:
        yield one


def opened(served: ServedStudy, sent: bytes) -> socket.socket:
    host, port = urlsplit(served.url).netloc.split(":")
    one = socket.create_connection((host, int(port)), timeout=10)
    one.sendall(sent)
    return one


def ended(one: socket.socket) -> bytes:
    """What came until the server closed the connection."""
    got = b""
    try:
        while part := one.recv(65_536):
            got += part
    except ConnectionError:
        pass
    return got


def test_half_open_connections_give_way_to_others(served: ServedStudy):
    """The server takes 8; of 40 the oldest are closed, and a rater is served all the while."""
    ada = served.person("Ada")
    with ExitStack() as stack:
        half = [
            stack.enter_context(opened(served, b"GET /mine HTTP/1.1\r\nHost: ")) for _ in range(40)
        ]
        assert ada.next() == "i0"
        assert ada.label("i0", RIGHT).status == 303
        began = time.monotonic()
        assert {ended(one) for one in half} == {b""}, "the others after the time for a head"
        assert time.monotonic() - began < 5


def test_a_newcomer_is_served_where_all_connections_are_idle(served: ServedStudy):
    """The server takes 8; of 12 people who keep theirs open, the one that was idle longest is closed for the next."""
    request = f"GET /mine HTTP/1.1\r\nHost: {urlsplit(served.url).netloc}\r\n\r\n".encode()
    with ExitStack() as stack:
        idle = []
        for _ in range(12):
            idle.append(stack.enter_context(opened(served, request)))
            assert idle[-1].recv(65_536).startswith(b"HTTP/1.1 ")
        assert {ended(connection) for connection in idle[:4]} == {b""}
        idle[-1].sendall(request)
        assert idle[-1].recv(65_536), "the newest is kept"


def test_a_connection_that_is_at_work_is_not_closed_for_its_head(served: ServedStudy):
    """0.3 seconds are for the head alone: an idle connection is used again."""
    ada = served.person("Ada")
    assert ada.next() == "i0"
    time.sleep(0.5)
    assert ada.label("i0", RIGHT).status == 303


def test_a_slow_body_ends(served: ServedStudy, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(web, "BODY_SECONDS", 0.2)
    head = f"POST /mine HTTP/1.1\r\nHost: {urlsplit(served.url).netloc}\r\nOrigin: {served.url}\r\n"
    head += "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 4000\r\n\r\n"
    with opened(served, head.replace("/mine", "/out").encode() + b"token=") as slow:
        assert ended(slow).startswith(b"HTTP/1.1 408")


def test_a_connection_that_is_closed_while_its_body_is_read_is_not_logged(
    served: ServedStudy, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
):
    async def closed(_: StreamReader) -> bytes:
        raise RuntimeError("Connection closed.")  # as aiohttp says it

    ada = served.person("Ada")
    monkeypatch.setattr(StreamReader, "readany", closed)
    assert ada.post("/out", {"token": "x"}).status == 400
    assert capfd.readouterr() == ("", "")


def test_the_bodies_of_one_person_do_not_fill_the_memory(
    served: ServedStudy, monkeypatch: pytest.MonkeyPatch
):
    """Whoever is not signed in may send 16 KB. Of one person, bodies of 8 MB at a time; here of 100 KB."""
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Origin": served.url}
    stranger = Visitor(served.url)
    assert stranger.ask("POST", "/out", b"token=" + b"x" * 20_000, headers).status == 413
    ada, ben = served.person("Ada"), served.person("Ben")
    monkeypatch.setattr(web, "_OF_ONE", 100_000)
    assert ada.ask("POST", "/out", b"token=" + b"x" * 200_000, headers).status == 503
    assert ben.next() == "i0"
    assert ben.label("i0", RIGHT).status == 303, "others are served"
    assert ada.next() == "i0", "and so is she, afterwards"


NO_HTTP = (
    b"\x16\x03\x01\x02\x00\x01\r\n\r\n",
    b"GET / HTTP/9\r\n\r\n",
    b"GET / HTTP/1.1\r\nA B: \x00\r\n\r\n",
)


@pytest.mark.parametrize("sent", NO_HTTP)
def test_what_is_no_http_learns_nothing_of_the_server(
    served: ServedStudy, sent: bytes, capfd: pytest.CaptureFixture[str]
):
    with opened(served, sent) as one:
        reply = ended(one)
    assert b" 400 " in reply.splitlines()[0]
    assert b"Server: longmark" in reply
    assert reply.endswith(b"\r\n\r\nThe request cannot be read.\n")
    assert not any(word in reply for word in (b"aiohttp", b"Python", b"Traceback"))
    assert capfd.readouterr() == ("", "")


def test_the_same_problem_is_logged_once_a_minute():
    assert [first_in_a_minute("x of the test"), first_in_a_minute("x of the test")] == [True, False]


def test_only_a_named_proxy_is_believed_on_who_asks():
    """X-Forwarded-For of anybody else says nothing; of a proxy, the last entry counts, which it added itself."""
    address = address_of("127.0.0.1", 1, "https://labels.example.org", ["172.17.0.1", "10.0.0.0/8"])
    for remote, forwarded, expected in (
        ("172.17.0.1", "6.6.6.6, 203.0.113.9", "203.0.113.9"),
        ("10.1.2.3", "203.0.113.9", "203.0.113.9"),
        ("10.1.2.3", "", "10.1.2.3"),
        ("192.0.2.1", "203.0.113.9", "192.0.2.1"),
        ("", "203.0.113.9", ""),
    ):
        assert address.asker(remote, forwarded) == expected
    assert address_of("127.0.0.1", 1).asker("127.0.0.1", "203.0.113.9") == "127.0.0.1"
    with pytest.raises(UserError, match="--proxy"):
        address_of("127.0.0.1", 1, proxy=["caddy"])
