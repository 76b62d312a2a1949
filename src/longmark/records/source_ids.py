"""Ids of sources as they are compared: an address names a page however a link to it was written."""

from __future__ import annotations

import re
from collections.abc import Iterable

_ADDRESS = re.compile(
    r"(?:https?|ftp)://(?:www\.)?([^/?#]*)([^?#]*)(\?[^#]*)?(#.*)?", re.IGNORECASE | re.DOTALL
)
_TRACKING = re.compile(
    r"(?:utm_\w+|(?:g|fb|d|y|tt)clid|msclkid|gclsrc|[gw]braid|mc_[ce]id|igshid|_g[al]|ref|ref_src|ref_url)(?:=.*)?",
    re.IGNORECASE | re.DOTALL,
)
"""Parameters that say where a reader comes from, not what he reads."""
_HIGHLIGHT = re.compile(r":~:.*", re.DOTALL)  # of #:~:text=…, which a browser marks on the page
_LONGEST_NUMBER = 40  # digits


def comparable_id(source_id: str) -> str:
    """An id as it is compared: an address without scheme, `www.`, tracking and last slash; a number without zeros
    before it, in digits from 0 to 9."""
    address = _ADDRESS.fullmatch(source_id.strip())
    if address is None:
        plain = source_id.strip()
        is_number = plain.isdecimal() and len(plain) <= _LONGEST_NUMBER
        return str(int(plain)) if is_number else plain
    host, path, query, fragment = address.groups(default="")
    fields = [field for field in query[1:].split("&") if field and not _TRACKING.fullmatch(field)]
    place = _HIGHLIGHT.sub("", fragment[1:])
    return (
        f"{host.casefold()}{path.rstrip('/')}"
        f"{'?' * bool(fields)}{'&'.join(fields)}{'#' * bool(place)}{place}"
    )


class SourceIds:
    """Which of several sources an id names. ids: of the sources in their order, None where one has none."""

    def __init__(self, ids: Iterable[str | None]) -> None:
        self._places: dict[str, list[int]] = {}
        self._pages: dict[str, list[int]] = {}
        for place, source_id in enumerate(ids):
            if source_id:
                comparable = comparable_id(source_id)
                self._places.setdefault(comparable, []).append(place)
                if (page := _page(source_id, comparable)) != comparable:
                    self._pages.setdefault(page, []).append(place)

    def __contains__(self, source_id: str) -> bool:
        return bool(self.places(source_id))

    def places(self, source_id: str) -> list[int]:
        """The places of the sources that an id names, from 0. An address with a fragment that no source has names the
        page, where that is a source; one without names all sources of its page, where none is the page itself."""
        comparable = comparable_id(source_id)
        if comparable in self._places:
            return self._places[comparable]
        page = _page(source_id, comparable)
        sources = self._pages if page == comparable else self._places
        return sources.get(page, [])


def _page(source_id: str, comparable: str) -> str:
    return comparable.partition("#")[0] if _ADDRESS.fullmatch(source_id.strip()) else comparable
