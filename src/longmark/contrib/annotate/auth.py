"""Who may come in: invitations, sessions, passwords, and how often one may try.

A link and a session are random (192 bits); the database has their SHA-256 only, and the link is shown once. Opening a
link changes nothing: its button signs in, so that a mail program that opens links uses none up. A link works on several
devices until it expires or is revoked. A person with a password gives it with the link. Every sign-in makes a new
session.
"""

from __future__ import annotations

import asyncio
import hashlib
import hmac
import secrets
import time
from collections import OrderedDict, deque
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Literal

from longmark.contrib.annotate.database import utc_now
from longmark.contrib.annotate.store import Person, StudyStore
from longmark.errors import UserError

SESSION_DAYS = LINK_DAYS = 30
SHORTEST_PASSWORD = 10
LONGEST_PASSWORD = 200
_KNOWN_LENGTH = 100  # characters of a link or cookie that is looked at


@dataclass(frozen=True, slots=True)
class Session:
    """csrf: the form token, which only pages of this session have."""

    person: Person
    csrf: str
    hash: str


@dataclass(frozen=True, slots=True)
class Link:
    """What a link is. person: whose; state: `invalid` also for one that was revoked or has expired."""

    state: Literal["ready", "password", "invalid"]
    id: str = ""
    person: Person | None = None


class Access:
    """The people of a study, as far as they come in."""

    def __init__(self, store: StudyStore) -> None:
        self.store = store
        self._hashing = asyncio.Semaphore(2)  # each takes 32 MB

    def invite(self, person: Person, by: str | None = None, days: int = LINK_DAYS) -> str:
        """A new link's token, for a person who may sign in again. days: after which it no longer signs in."""
        token = secrets.token_urlsafe(24)
        ends = _after(days)
        store = self.store
        with store.unit():
            count = store.row("SELECT COUNT(*) FROM invitations")
            id = f"l{(count or (0,))[0] + 1}"
            sql = "INSERT INTO invitations (id, hash, person_id, created_at, expires_at) VALUES (?, ?, ?, ?, ?)"
            store.write(sql, (id, _hash(token), person.id, utc_now(), ends))
            store.write("UPDATE people SET active = 1 WHERE id = ?", (person.id,))
            store.note("invited", by, content={"person": person.id, "link": id, "expires_at": ends})
        return token

    def link(self, token: str) -> Link:
        """What a link is; the database is searched by hash, so that its time says nothing about a token."""
        token_hash = _hash(token[:_KNOWN_LENGTH])
        sql = (
            "SELECT i.hash, i.id, i.expires_at, i.revoked_at, p.password, p.id, p.name, p.role, p.active "
            "FROM invitations i JOIN people p ON p.id = i.person_id WHERE i.hash = ?"
        )
        row = self.store.row(sql, (token_hash,))
        if (
            row is None
            or not hmac.compare_digest(row[0], token_hash)
            or row[3] is not None
            or not row[8]
        ):
            return Link("invalid")
        if row[2] is not None and row[2] <= utc_now():
            return Link("invalid")
        return Link("password" if row[4] else "ready", row[1], Person(row[5], row[6], row[7]))

    def links(self) -> dict[str, int]:
        """Person -> number of links that sign in."""
        sql = (
            "SELECT person_id, COUNT(*) FROM invitations WHERE revoked_at IS NULL AND "
            "(expires_at IS NULL OR expires_at > ?) GROUP BY person_id"
        )
        return dict(self.store.rows(sql, (utc_now(),)))

    def revoke(self, person_id: str, by: str | None = None) -> None:
        """All links and sessions of a person end. Their labels stay, and others get the items that they left open."""
        store = self.store
        with store.unit():
            sql = "UPDATE invitations SET revoked_at = ? WHERE person_id = ? AND revoked_at IS NULL"
            store.write(sql, (utc_now(), person_id))
            store.write("DELETE FROM sessions WHERE person_id = ?", (person_id,))
            store.write("UPDATE people SET active = 0 WHERE id = ?", (person_id,))
            store.note("revoked", by, content={"person": person_id})
            store.release(person_id, by)

    def open(self, link: Link) -> str:
        assert link.person is not None
        token = secrets.token_urlsafe(24)
        store = self.store
        now = utc_now()
        with store.unit():
            store.write("DELETE FROM sessions WHERE expires_at <= ?", (now,))
            sql = "INSERT INTO sessions (hash, person_id, invitation_id, created_at, expires_at) VALUES (?, ?, ?, ?, ?)"
            store.write(sql, (_hash(token), link.person.id, link.id, now, _after(SESSION_DAYS)))
            store.write(
                "UPDATE invitations SET opened_at = COALESCE(opened_at, ?) WHERE id = ?",
                (now, link.id),
            )
            store.note("signed in", link.person.id, content={"link": link.id})
        return token

    def session(self, token: str | None) -> Session | None:
        """The session of a cookie, None if it is over."""
        if not token or len(token) > _KNOWN_LENGTH:
            return None
        sql = (
            "SELECT p.id, p.name, p.role, p.active FROM sessions s JOIN people p ON p.id = s.person_id "
            "WHERE s.hash = ? AND s.expires_at > ? AND p.active = 1"
        )
        row = self.store.row(sql, (hashed := _hash(token), utc_now()))
        if row is None:
            return None
        csrf = hmac.new(token.encode(), b"form", hashlib.sha256).hexdigest()[:32]
        return Session(Person(row[0], row[1], row[2]), csrf, hashed)

    def close(self, session: Session) -> None:
        with self.store.unit():
            self.store.write("DELETE FROM sessions WHERE hash = ?", (session.hash,))
            self.store.note("signed out", session.person.id)

    def set_password(self, person: Person, password: str) -> None:
        """UserError for one that is too short or too long. Sessions that are open end."""
        if not SHORTEST_PASSWORD <= len(password) <= LONGEST_PASSWORD:
            raise UserError(
                f"a password must have {SHORTEST_PASSWORD} to {LONGEST_PASSWORD} characters"
            )
        salt = secrets.token_bytes(16)
        with self.store.unit():
            text = f"{salt.hex()}:{_scrypt(password, salt).hex()}"
            self.store.write("UPDATE people SET password = ? WHERE id = ?", (text, person.id))
            self.store.write("DELETE FROM sessions WHERE person_id = ?", (person.id,))
            self.store.note("password set", None, content={"person": person.id})

    async def password_fits(self, person: Person, password: str) -> bool:
        row = self.store.row("SELECT password FROM people WHERE id = ?", (person.id,))
        if row is None or row[0] is None or len(password) > LONGEST_PASSWORD:
            return False
        salt, _, expected = row[0].partition(":")
        async with self._hashing:
            computed = await asyncio.to_thread(_scrypt, password, bytes.fromhex(salt))
        return hmac.compare_digest(computed.hex(), expected)


class Attempts:
    """Failed sign-ins of each address (or person) in a sliding window. Memory is bounded: the oldest are forgotten."""

    def __init__(self, limit: int = 10, window: float = 60.0, capacity: int = 10_000) -> None:
        self.most = limit
        self.window = window
        self.kept = capacity
        self._failed: OrderedDict[str, deque[float]] = OrderedDict()

    def wait(self, *keys: str) -> float:
        """Seconds until another attempt is allowed, 0.0 or less if it is now."""
        failures = [failed for key in keys if (failed := self._failed.get(key)) is not None]
        full = [failed[0] for failed in failures if len(failed) >= self.most]
        return max((began + self.window - time.monotonic() for began in full), default=0.0)

    def failed(self, *keys: str) -> None:
        for key in keys:
            self._failed.setdefault(key, deque(maxlen=self.most)).append(time.monotonic())
            self._failed.move_to_end(key)
            if len(self._failed) > self.kept:
                self._failed.popitem(last=False)


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "replace")).hexdigest()


def _scrypt(password: str, salt: bytes) -> bytes:
    """32 MB and about 0.1 s."""
    return hashlib.scrypt(password.encode(), salt=salt, n=2**15, r=8, p=1, maxmem=64 << 20)


def _after(days: int) -> str:
    try:
        ends = datetime.now(UTC) + timedelta(days=days)
    except OverflowError:
        raise UserError(f"a link cannot be valid for {days:,} days; give fewer") from None
    return ends.isoformat(timespec="milliseconds").replace("+00:00", "Z")
