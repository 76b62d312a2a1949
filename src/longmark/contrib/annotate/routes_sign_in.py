"""Signing in and out, and the files that every page has."""

from __future__ import annotations

from aiohttp import web

from longmark.contrib.annotate import screens
from longmark.contrib.annotate.auth import SESSION_DAYS, Link
from longmark.contrib.annotate.web import NOT_FOUND, Refused, RequestContext

_YEAR = 31_536_000


async def home(c: RequestContext) -> web.Response:
    if c.session is None:
        return c.page("signin", link_state="none")
    return c.to(
        {"owner": "/owner", "adjudicator": "/owner/disagreements"}.get(c.person.role, "/mine")
    )


async def link(c: RequestContext) -> web.Response:
    """GET /in/{token}: changes nothing."""
    invitation = c.site.access.link(c.request.match_info["token"])
    if invitation.state == "invalid":
        return _failed(c, "invalid", 404)
    return _asked(c, invitation, invitation.state)


async def sign_in(c: RequestContext) -> web.Response:
    site = c.site
    invitation = site.access.link(c.request.match_info["token"])
    if invitation.state == "invalid" or invitation.person is None:
        return _failed(c, "invalid", 404)
    if invitation.state == "password":
        if site.attempts.wait(_network(c), invitation.person.id) > 0:
            return _failed(c, "limited", 429)
        if not await site.access.password_fits(invitation.person, c.given("password")):
            site.attempts.failed(invitation.person.id)
            return _failed(c, "wrong", 403, invitation)
        invitation = site.access.link(
            c.request.match_info["token"]
        )  # it may have been revoked meanwhile
        if invitation.person is None:
            return _failed(c, "invalid", 404)
    if c.session is not None:
        site.access.close(c.session)
    response = c.to("/")
    response.set_cookie(
        site.cookie,
        site.access.open(invitation),
        max_age=SESSION_DAYS * 86_400,
        httponly=True,
        samesite="Lax",
        secure=site.address.secure,
        path="/",
    )
    return response


async def sign_out(c: RequestContext) -> web.Response:
    assert c.session is not None
    c.site.access.close(c.session)
    response = c.to("/")
    response.del_cookie(
        c.site.cookie, path="/", secure=c.site.address.secure, httponly=True, samesite="Lax"
    )
    return response


async def static(c: RequestContext) -> web.Response:
    """GET /static/{name}: names hold a hash of the content, and nothing else is found."""
    static_file = screens.static().get(c.request.match_info["name"])
    if static_file is None:
        raise Refused(*NOT_FOUND)
    kind, content = static_file
    headers = {"Content-Type": kind, "Cache-Control": f"public, max-age={_YEAR}, immutable"}
    return web.Response(body=content, headers=headers)


def _asked(c: RequestContext, invitation: Link, state: str, status: int = 200) -> web.Response:
    name = invitation.person.name if invitation.person else ""
    return c.page("signin", status, link_state=state, action=c.request.rel_url.raw_path, name=name)


def _failed(
    c: RequestContext, state: str, status: int, invitation: Link | None = None
) -> web.Response:
    """state: none (no link), ready (a button signs in), password, wrong (password), invalid (unknown or revoked) or
    limited (too many attempts). The attempt counts against its network, and too many end in `limited`."""
    network = _network(c)
    if state == "limited" or c.site.attempts.wait(network) > 0:
        response = c.page("signin", 429, link_state="limited")
        response.headers["Retry-After"] = "60"
        return response
    c.site.attempts.failed(network)
    return _asked(c, invitation or Link("invalid"), state, status)


def _network(c: RequestContext) -> str:
    """Whose attempts are counted together."""
    return c.site.address.asker(
        c.request.remote or "", c.request.headers.get("X-Forwarded-For", "")
    )
