"""The server of `longmark view`: GET only, on loopback, for requests that name this server as their host.

All reading is done in one thread, a short while for each request; the scores of runs are read in another one.
"""

from __future__ import annotations

import asyncio
import sys
import traceback
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl

from aiohttp import web

from longmark.errors import UserError
from longmark.report.web.address import address_of
from longmark.report.web.connections import Connection, first_in_a_minute, interrupted, listening
from longmark.report.web.headers import HEADERS
from longmark.view import pages
from longmark.view.answers import Changed
from longmark.view.site import NotFound, RunSite

HOST = "127.0.0.1"
PORT = 8766
_YEAR = 365 * 24 * 3600
_LONGEST = 4096  # characters of an address
_SITE = web.AppKey("site", RunSite)
_HOSTS = web.AppKey("hosts", set[str])
_THREAD = web.AppKey("thread", ThreadPoolExecutor)
Page = Callable[[RunSite, dict[str, str]], str]
ROUTES: dict[str, Page] = {"/": pages.runs, "/run": pages.run, "/answer": pages.answer}


def _problem(status: int, title: str, text: str) -> web.Response:
    page = pages.render("problem", title=title, text=text)
    return web.Response(text=page, status=status, content_type="text/html", charset="utf-8")


@web.middleware
async def _guard(request: web.Request, handler: Any) -> web.StreamResponse:
    """The right host, and the headers of every response; what is not found or broken gets a page."""
    connection = request.protocol
    hosts = request.app[_HOSTS]
    try:
        if isinstance(connection, Connection):
            connection.at_work()
        if request.host.lower() not in hosts:  # a page of another site whose name leads here
            response: web.StreamResponse = _problem(
                421, "Wrong address", f"Open http://{min(hosts)} instead."
            )
        else:
            response = await handler(request)
    except web.HTTPException as error:
        text = (
            "There is no page at this address."
            if error.status == 404
            else "This server only shows pages."
        )
        response = _problem(error.status, error.reason, text)
    except (ConnectionError, asyncio.CancelledError):
        raise
    except Exception as error:
        if first_in_a_minute(repr(error)[:200]):
            print(traceback.format_exc(), file=sys.stderr)
        response = _problem(
            500, "An error of longmark", "It is noted where longmark view was started."
        )
    finally:
        if isinstance(connection, Connection):
            connection.served()
    response.headers.update(HEADERS)
    response.headers.setdefault("Cache-Control", "no-store")
    return response


def _handler(page: Page) -> Any:
    async def handle(request: web.Request) -> web.Response:
        app = request.app
        loop = asyncio.get_running_loop()
        raw = request.rel_url.raw_query_string
        if len(raw) > _LONGEST:
            return _problem(414, "Too long", f"An address has at most {_LONGEST:,} characters.")
        query = dict.fromkeys(pages.KEYS, "")
        for key, value in parse_qsl(raw, errors="surrogateescape"):
            if key in query:  # a path may have any bytes
                query[key] = value if key == "path" else value.encode("utf-8", "replace").decode()
        for last in (False, True):
            try:
                text = await loop.run_in_executor(app[_THREAD], page, app[_SITE], query)
                return web.Response(text=text, content_type="text/html", charset="utf-8")
            except NotFound as error:
                return _problem(404, "Not found", str(error))
            except (UserError, Changed) as error:
                if last or isinstance(error, UserError):
                    why = str(error) or "The run was written again in this moment. Reload the page."
                    return _problem(503, "The run cannot be read", why)
        raise AssertionError

    return handle


async def _static(request: web.Request) -> web.Response:
    static_file = pages.static().get(request.match_info["name"])
    if static_file is None:
        raise web.HTTPNotFound
    kind, content = static_file
    return web.Response(
        body=content,
        headers={"Content-Type": kind, "Cache-Control": f"public, max-age={_YEAR}, immutable"},
    )


def application(site: RunSite, hosts: set[str]) -> web.Application:
    """hosts: names with ports that requests may have as their host."""
    app = web.Application(middlewares=[_guard])
    app[_SITE] = site
    app[_HOSTS] = hosts
    app[_THREAD] = ThreadPoolExecutor(1)
    for path, page in ROUTES.items():
        app.router.add_get(path, _handler(page))
    app.router.add_get("/static/{name}", _static)
    return app


def serve(folder: Path, port: int, ready: Callable[[str, RunSite], None]) -> None:
    """Shows the runs beneath a folder until it is interrupted. ready: is called with the address. UserError for what
    is no folder, or a port that is taken."""
    site = RunSite(folder)
    address = address_of(HOST, port)

    async def run() -> None:
        async with listening(application(site, set(address.hosts)), HOST, port):
            ready(address.url, site)
            await interrupted()

    asyncio.run(run())
