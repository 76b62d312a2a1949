"""A study that is served on loopback, and people who come to it over HTTP, as browsers do without scripts."""

from __future__ import annotations

import asyncio
import html
import http.client
import re
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote, urlencode, urlsplit

import orjson

from longmark.contrib.annotate.auth import Access
from longmark.contrib.annotate.server import application
from longmark.contrib.annotate.site import Site, import_study, open_store
from longmark.contrib.annotate.store import Role, StudyStore
from longmark.report.web.address import Address
from longmark.report.web.connections import Connections, listening

STUDY = """
title: Answers about floods
guidelines: |
  # How to label
  Read the *answer* first.
items: {from: jsonl, path: items.jsonl}
show: [question, answer]
fields:
  - {name: right, type: choice, options: [{value: yes, key: y}, {value: no, key: n}, n-a]}
  - {name: relevance, type: scale, min: 1, max: 10}
  - {name: why, type: text, required: true, when: {field: right, is: no}}
assignment: {overlap: 2, order: file, adjudication: {justification: true}}
"""


def write_study(folder: Path, n: int = 3, study: str = STUDY, name: str = "study") -> Path:
    """STUDY.yaml with n items i0, i1, … of the systems alpha and beta in turn."""
    lines = [
        {
            "id": f"i{k}",
            "question": f"Why {k}?",
            "answer": f"Because {k}.",
            "system": ("alpha", "beta")[k % 2],
        }
        for k in range(n)
    ]
    (folder / "items.jsonl").write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    path = folder / f"{name}.yaml"
    path.write_text(study, encoding="utf-8")
    return path


@dataclass(frozen=True)
class HttpReply:
    status: int
    headers: Mapping[str, str]
    text: str

    @property
    def location(self) -> str:
        return self.headers.get("Location", "")

    def hidden(self, name: str) -> str:
        """The value of a hidden input."""
        found = re.search(rf'<input type="hidden" name="{name}" value="([^"]*)"', self.text)
        assert found, f"no {name} on the page:\n{self.text[:2000]}"
        return html.unescape(found[1])

    @property
    def json(self) -> Any:
        return orjson.loads(self.text)


@dataclass
class Visitor:
    """A browser of one person: its cookies, and the origin of its posts."""

    url: str
    cookies: dict[str, str] = field(default_factory=dict)
    _connection: http.client.HTTPConnection | None = None

    def ask(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> HttpReply:
        if self._connection is None:
            self._connection = http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=30)
        more = (
            {"Cookie": "; ".join(f"{k}={v}" for k, v in self.cookies.items())}
            if self.cookies
            else {}
        )
        try:
            self._connection.request(method, path, body, {**more, **(headers or {})})
            got = self._connection.getresponse()
            text = got.read().decode("utf-8", "replace")
        except (http.client.HTTPException, OSError):
            self._connection.close()
            self._connection = None
            raise
        for line in got.headers.get_all("Set-Cookie") or []:
            name, _, value = line.partition(";")[0].partition("=")
            self.cookies[name] = value.strip('"')
            if "Max-Age=0" in line:
                del self.cookies[name]
        return HttpReply(got.status, dict(got.headers), text)

    def get(self, path: str) -> HttpReply:
        return self.ask("GET", path)

    def post(self, path: str, form: Mapping[str, Any], **headers: str) -> HttpReply:
        given = {"Content-Type": "application/x-www-form-urlencoded", "Origin": self.url} | headers
        return self.ask("POST", path, urlencode(form, doseq=True).encode(), given)

    def sign_in(self, link: str, password: str = "") -> HttpReply:
        """Signs in, and confirms what comes before the first item."""
        reply = self.post(urlsplit(link).path, {"password": password} if password else {})
        while reply.status == 303 and (first := self.get("/mine").location) in (
            "/consent",
            "/guidelines",
        ):
            self.post(first, {"token": self.get(first).hidden("token")})
        return reply

    def next(self) -> str | None:
        """The id of the next item, None if there is none."""
        location = self.get("/work").location
        return unquote(location.removeprefix("/work/")) if location.startswith("/work/") else None

    def view(self, item: str) -> tuple[str, dict[str, str]]:
        """A page view of an item: its path, and the hidden fields of its form."""
        path = f"/work/{quote(item, safe='')}"
        page = self.get(path)
        assert page.status == 200, (page.status, page.location, page.text[:500])
        return path, {name: page.hidden(name) for name in ("token", "once", "version")}

    def label(self, item: str, form: Mapping[str, Any]) -> HttpReply:
        """Opens an item and submits it. form: as `longmark.contrib.annotate.values` reads it."""
        path, hidden = self.view(item)
        return self.post(path, {**hidden, **form})


@dataclass(frozen=True)
class ServedStudy:
    url: str
    path: Path

    def store(self) -> StudyStore:
        """A connection of its own, as a command has."""
        return open_store(self.path)

    def link(self, name: str, role: Role = "annotator") -> str:
        """Invites a person, or makes another link for one."""
        store = self.store()
        with store.committing():
            known = {person.name: person for person in store.people()}
            token = Access(store).invite(known.get(name) or store.add_person(name, role))
        store.close()
        return f"{self.url}/in/{token}"

    def person(self, name: str, role: Role = "annotator") -> Visitor:
        """A person who is signed in."""
        client = Visitor(self.url)
        assert client.sign_in(self.link(name, role)).status == 303
        return client


@contextmanager
def serving(
    path: Path, address: Address | None = None, connections: Connections | None = None
) -> Iterator[ServedStudy]:
    """STUDY.yaml, imported if it was not, on a free port of loopback, in a thread of its own."""
    if not path.with_suffix(".sqlite").exists():
        import_study(path)
    loop, started = asyncio.new_event_loop(), threading.Event()
    ports: list[int] = []
    stop: asyncio.Event = asyncio.Event()

    async def run() -> None:
        site = Site(open_store(path), path.parent, address or Address("", frozenset()))
        async with listening(application(site), "127.0.0.1", 0, connections) as port:
            ports.append(port)
            if address is None:  # it holds the port
                url = f"http://127.0.0.1:{port}"
                site.address = Address(
                    url, frozenset((url.removeprefix("http://"), f"localhost:{port}"))
                )
            started.set()
            await stop.wait()
        site.store.close()

    thread = threading.Thread(target=loop.run_until_complete, args=(run(),), daemon=True)
    thread.start()
    assert started.wait(20), "the server did not start"
    try:
        yield ServedStudy(f"http://127.0.0.1:{ports[0]}", path)
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(20)
        loop.close()
