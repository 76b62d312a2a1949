"""What a vendor of batches has to do, and what all of them share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlencode

import orjson

from longmark.errors import ServerFault
from longmark.models.http import Endpoint, as_json

MB = 1_000_000  # vendors count megabytes in one way or the other: the smaller one
MOST_PAGES = 1000  # of a list that are read, at most
UNPROCESSED = -1  # the status of a line that its vendor did not process, and does not bill


@dataclass(frozen=True, slots=True)
class BatchStatus:
    """A batch as its vendor shows it. marks: what it carries of ours (the id in its metadata, the id of its input
    file); total: its requests, 0: not said; done: those that are processed; ended: nothing of it will change any more;
    complete: its vendor says that every request has a result; failure: why it was not processed at all; full: that is
    because too much is queued; files: those that its vendor keeps, results: those of them that hold results."""

    id: str
    created: float
    state: str
    ended: bool
    marks: frozenset[str] = frozenset()
    total: int = 0
    done: int = 0
    complete: bool = False
    failure: str = ""
    full: bool = False
    wrong: Mapping[int, str] = field(
        default_factory=dict
    )  # number of a line from 1 -> what is wrong with it
    files: tuple[str, ...] = ()
    results: tuple[str, ...] = ()


Result = tuple[str, int, bytes]  # custom id, HTTP status (or UNPROCESSED), body


class BatchVendor(ABC):
    """A batch API at an endpoint. most_lines, most_bytes: of a batch; window: hours in which it ends; marked: its list
    shows what it carries of ours; price: what a call costs, as the vendor documents it: a share of the list price."""

    most_lines = 50_000
    most_bytes = 100 * MB
    window = 24.0
    marked = True
    price = 1.0

    def __init__(self, endpoint: Endpoint) -> None:
        self.endpoint = endpoint
        self.host = endpoint.host

    def line(self, custom_id: str, body: Mapping[str, Any]) -> bytes:
        """A request as a line of the file."""
        return as_json({"custom_id": custom_id, "method": "POST", "url": self.target, "body": body})

    target = "/v1/chat/completions"

    def data(self, lines: Sequence[bytes]) -> bytes:
        """What is sent for a batch."""
        return b"\n".join(lines) + b"\n"

    @abstractmethod
    async def upload(self, name: str, data: bytes) -> str | None:
        """The id of the uploaded file; None where the vendor takes none."""

    async def ready(self, file: str) -> bool:
        """Whether an uploaded file can be used."""
        return True

    async def uploaded(self, name: str) -> list[str]:
        """The ids of uploaded files of this name, among the newest that are listed."""
        return []

    @abstractmethod
    async def submit(self, ours: str, model: str, file: str | None, data: bytes) -> BatchStatus: ...

    @abstractmethod
    async def look(self, id: str) -> BatchStatus: ...

    @abstractmethod
    def listed(self, since: float) -> AsyncIterator[BatchStatus]:
        """Batches created since then (seconds since 1970), newest first where the vendor lists them so."""

    @abstractmethod
    async def results(self, seen: BatchStatus) -> list[Result]: ...

    @abstractmethod
    async def cancel(self, id: str) -> None: ...

    async def delete(self, file: str) -> None:  # noqa: B027 - a vendor without files has none to delete
        """Deletes a file."""

    async def _json(
        self, method: str, path: str, body: Any = None, query: Mapping[str, Any] | None = None
    ) -> Any:
        url = self._url(path)
        if query:
            url += ("&" if "?" in url else "?") + urlencode(
                {k: v for k, v in query.items() if v is not None}
            )
        data = None if body is None else body if isinstance(body, bytes) else as_json(body)
        raw = await self.endpoint.request(method, url, data, large=isinstance(body, bytes))
        try:
            return orjson.loads(raw)
        except orjson.JSONDecodeError:
            raise ServerFault(
                f"{self.host} sent a reply that is not JSON", 200
            ).with_bill() from None

    def _url(self, path: str) -> str:
        return self.endpoint.url(path)

    def _read(self, reply_name: str, reply: Any) -> BatchStatus:
        """A batch out of its JSON. ServerFault where it has another form."""
        try:
            return self._seen(reply)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            wrong = error
        raise ServerFault(
            f"{self.host} sent {reply_name} in another form ({type(wrong).__name__})", 200
        ).with_bill()

    @abstractmethod
    def _seen(self, reply: Any) -> BatchStatus: ...


def objects_of_page(page: Any) -> list[Any]:
    """The entries of a page of a list; Together's is the list itself."""
    entries = page.get("data") if isinstance(page, dict) else page
    return (
        [entry for entry in entries if isinstance(entry, dict)] if isinstance(entries, list) else []
    )


def lines_of(raw: bytes) -> Iterator[dict[str, Any]]:
    """The objects of a file of lines; what is none is left out."""
    for line in raw.splitlines():
        try:
            record = orjson.loads(line)
        except orjson.JSONDecodeError:
            continue
        if isinstance(record, dict):
            yield record


def seconds_of(moment: Any) -> float:
    """Seconds since 1970 of a number or an RFC 3339 text; 0 where there is none."""
    if isinstance(moment, str):
        return datetime.fromisoformat(moment.replace("Z", "+00:00")).timestamp()
    return float(moment or 0)
