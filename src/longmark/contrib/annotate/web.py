"""What every request goes through: which host it is for, who asks, whether the form is ours, and what goes back.

A handler returns a page or raises `Refused`; both leave with the same headers. A response is sent after the commit of
what it says. Nothing is logged of requests: a link is a secret.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import sys
import traceback
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple
from urllib.parse import parse_qsl, urlsplit

from aiohttp import web

from longmark.contrib.annotate import screens
from longmark.contrib.annotate.auth import Session
from longmark.contrib.annotate.database import StoreFailed
from longmark.contrib.annotate.site import Site
from longmark.contrib.annotate.store import Person, Role
from longmark.report.web.connections import BODY_SECONDS, Connection, first_in_a_minute
from longmark.report.web.headers import HEADERS

MOST_BYTES = 4 << 20  # of a posted form: 100,000 characters of any script, and more
_SIGNED_OUT_BYTES = 16 << 10  # of a form of somebody who is not signed in
_SMALL = (
    4 << 10
)  # bytes of a body that do not count against the limits of bodies that arrive at the same time:
_OF_ONE = 8 << 20
_OF_ALL = 32 << 20  # of one person, and of all
_MOST_FIELDS = 20_000
_FORM = "application/x-www-form-urlencoded"
SITE = web.AppKey("site", Site)


class Refused(Exception):
    """A request that is not carried out; the page says why. data: of the reply to a script."""

    def __init__(self, status: int, title: str, text: str, remedy: str = "", **data: Any) -> None:
        super().__init__(title)
        self.status = status
        self.title = title
        self.text = text
        self.remedy = remedy
        self.data = data


NOT_FOUND = (404, "Page not found", "There is no page at this address, or you may not open it.")


@dataclass(slots=True)
class RequestContext:
    """One request. session: None where nobody is signed in; form: what was posted."""

    site: Site
    request: web.Request
    session: Session | None = None
    form: dict[str, list[str]] = field(default_factory=dict)

    @property
    def person(self) -> Person:
        assert self.session is not None, "a route for people who are signed in"
        return self.session.person

    @property
    def item_id(self) -> str:
        return self.request.match_info["item"]

    def given(self, name: str) -> str:
        """The first value of a posted field, empty where there is none."""
        return next(iter(self.form.get(name, ())), "")

    @property
    def key(self) -> str:
        """The key of the page view that posts. Raises Refused where there is none."""
        key = self.given("once")
        if not 0 < len(key) <= 64:
            raise Refused(
                400,
                "The form cannot be read",
                "Its key is missing.",
                "Reload the page and send it again.",
            )
        return key

    def frame(self, notice: str | None) -> screens.Frame:
        study = self.site.study
        session = self.session
        return screens.Frame(
            study_title=study.title,
            person=session.person if session else None,
            csrf=session.csrf if session else "",
            lang=study.language or "",
            paused=self.site.store.paused,
            notice=notice,
            study_id=self.site.cookie,
        )

    def page(
        self, template: str, status: int = 200, notice: str | None = None, /, **values: Any
    ) -> web.Response:
        """The page of a template. notice: a line at its top."""
        page = screens.render(template, self.frame(notice), **values)
        return web.Response(text=page, status=status, content_type="text/html", charset="utf-8")

    def to(self, path: str) -> web.Response:
        return web.Response(status=303, headers={"Location": path})


Handler = Callable[[RequestContext], Awaitable[web.Response]]


class Route(NamedTuple):
    """roles: who may; None: anybody, also without a session. script: a script asks, and JSON answers."""

    method: str
    path: str
    handler: Handler
    roles: frozenset[Role] | None
    script: bool = False


def once() -> str:
    return secrets.token_urlsafe(12)


def entrance(route: Route) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
    """The aiohttp handler of a route."""

    async def handle(request: web.Request) -> web.StreamResponse:
        site = request.app[SITE]
        context = RequestContext(site, request)
        try:
            try:
                return await _answer(route, context)
            except StoreFailed as error:
                if first_in_a_minute(f"not saved: {error}"):
                    print(f"longmark: {site.store.path}: not saved: {error}", file=sys.stderr)
                raise Refused(
                    503,
                    "Not saved",
                    "The server could not write what you sent.",
                    "Wait a moment and send it again. If it fails again, tell the owner of the study.",
                ) from None
        except Refused as refused:
            return _refusal(route, context, refused)

    return handle


async def _answer(route: Route, context: RequestContext) -> web.Response:
    request = context.request
    site = context.site
    if request.host.lower() not in site.address.hosts:
        raise Refused(421, "Wrong address", f"The address of this server is {site.address.url}.")
    if request.method == "POST":
        _same_origin(request, site)
        site.refresh()
        session = site.access.session(request.cookies.get(site.cookie))
        context.form = await read_form(request, site, session.person.id if session else "")
    if isinstance(request.protocol, Connection):
        request.protocol.at_work()
    site.refresh()  # after the last wait: a link may have been revoked meanwhile
    context.session = site.access.session(request.cookies.get(site.cookie))
    if route.roles is not None:
        _admit(route, context, route.roles)
    try:
        return await route.handler(context)
    finally:
        await (
            site.store.committed()
        )  # also of a request that was refused half-way: the file must not stay locked


def _admit(route: Route, context: RequestContext, roles: frozenset[Role]) -> None:
    """Raises Refused unless a person of one of the roles asks, and a form is of this session."""
    if context.session is None:
        raise Refused(
            401,
            "You are not signed in",
            "Your session has ended, or the owner of the study has ended it.",
            "Open the link that the owner sent you. Then go back and send this again.",
            signed_out=True,
        )
    if context.person.role not in roles:
        raise Refused(
            403, "No access", f"Your role, {context.person.role}, may not open this page."
        )
    token = context.given("token")
    if context.request.method == "POST" and not hmac.compare_digest(
        token.encode(), context.session.csrf.encode()
    ):
        raise Refused(
            403,
            "This page is from an earlier sign-in",
            "What you sent was not saved.",
            "Go back, reload the page and send it again.",
        )


def _same_origin(request: web.Request, site: Site) -> None:
    """Refused unless the browser says that a page of this server posts."""
    fetched = request.headers.get("Sec-Fetch-Site")
    origin = request.headers.get("Origin")
    if fetched is not None:
        ours = fetched == "same-origin"
    else:
        parts = urlsplit(origin or "")
        scheme = "https" if site.address.secure else "http"
        ours = parts.scheme == scheme and parts.netloc.lower() == request.host.lower()
    if not ours:
        raise Refused(
            403, "Sent from another site", "The form was not sent from a page of this study."
        )


async def _body(request: web.Request, site: Site, person: str) -> bytes:
    """The body of a post. person: empty for whoever is not signed in, who may send little. Raises Refused."""
    limit = MOST_BYTES if person else _SIGNED_OUT_BYTES
    bytes_read = site.reading
    if isinstance(request.protocol, Connection):
        request.protocol.limit(BODY_SECONDS + 1)
    body = bytearray()
    counted_bytes = 0
    try:
        async with asyncio.timeout(BODY_SECONDS):
            async for chunk in request.content.iter_any():
                body += chunk
                if len(body) > limit:
                    raise Refused(413, "Too large", f"A form has at most {limit >> 10:,} KB.")
                bytes_read[person] += (new_bytes := max(0, len(body) - _SMALL) - counted_bytes)
                counted_bytes += new_bytes
                if bytes_read[person] > _OF_ONE or bytes_read.total() > _OF_ALL:
                    raise Refused(
                        503, "The server is busy", "What you sent was not saved.", "Send it again."
                    )
    except RuntimeError:  # of aiohttp: the connection was closed while its last bytes were read
        raise ConnectionError from None
    except TimeoutError:
        raise Refused(
            408, "Too slow", f"A form must arrive within {BODY_SECONDS:.0f} seconds."
        ) from None
    finally:
        bytes_read[person] -= counted_bytes
        if not bytes_read[person]:
            del bytes_read[person]
    return bytes(body)


async def read_form(request: web.Request, site: Site, person: str) -> dict[str, list[str]]:
    """The fields of a posted form, each with its values. Raises Refused."""
    if request.content_type != _FORM:
        raise Refused(415, "Not a form", f"Expected a body of the type {_FORM}.")
    form: dict[str, list[str]] = {}
    try:
        body = (await _body(request, site, person)).decode("ascii")
        for name, value in parse_qsl(
            body, keep_blank_values=True, errors="strict", max_num_fields=_MOST_FIELDS
        ):
            form.setdefault(name, []).append(value)
    except ValueError:  # UnicodeDecodeError, too many fields
        raise Refused(
            400, "The form cannot be read", "It is damaged, or has too many fields."
        ) from None
    return form


def _refusal(route: Route, context: RequestContext, refused: Refused) -> web.Response:
    if route.script:
        return web.json_response(
            {"saved": False, "error": refused.title, **refused.data}, status=refused.status
        )
    if refused.status == 401 and context.request.method == "GET":
        return context.page("signin", 401, link_state="none")
    study = context.site.study
    labels = {field.name: field.shown for field in study.asked}
    back = (
        context.request.path
        if context.request.method == "POST" and route.path == "/work/{item}"
        else "/"
    )
    why = {"title": refused.title, "text": refused.text, "remedy": refused.remedy}
    return context.page(
        "problem", refused.status, kept=_kept(context.form, labels), back=back, **why
    )


def _kept(form: Mapping[str, Sequence[str]], labels: Mapping[str, str]) -> list[tuple[str, str]]:
    """What was posted and not saved, as (field, text), so that nobody has to type it again."""
    entries = []
    for name, values in form.items():
        field_name = name.removeprefix("f.")
        if name.startswith("f.") or name in ("reason", "justification"):
            entries += [(labels.get(field_name, field_name), value) for value in values if value]
    return entries


@web.middleware
async def guard(request: web.Request, handler: Any) -> web.StreamResponse:
    """Every response gets the headers; what is not found, too long or broken gets a page."""
    context = RequestContext(request.app[SITE], request)
    connection = request.protocol
    try:
        response: web.StreamResponse = await handler(request)
    except ConnectionError:  # whoever asked has gone
        response = web.Response(status=400)
    except web.HTTPException as error:
        title = error.reason
        text = "The server does not do this."
        if error.status == 404:
            _, title, text = NOT_FOUND
        response = _plain(context, error.status, title, text)
    except Exception as error:
        if first_in_a_minute(repr(error)[:200]):
            traceback.print_exc()
        response = _plain(
            context, 500, "An error of the server", "It is noted in the server's output."
        )
    finally:
        if isinstance(connection, Connection):
            connection.served()
    response.headers.update(HEADERS)
    response.headers.setdefault("Cache-Control", "no-store")
    if context.site.address.secure:
        response.headers["Strict-Transport-Security"] = "max-age=31536000"
    return response


def _plain(context: RequestContext, status: int, title: str, text: str) -> web.Response:
    """A problem outside of a route: the frame says nothing of people."""
    return context.page("problem", status, title=title, text=text, remedy="", kept=(), back="/")
