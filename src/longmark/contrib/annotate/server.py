"""The server: one study, one process, one database.

Every route stands in ROUTES with the roles that may use it; a test tries each by everybody.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path

from aiohttp import web
from filelock import Timeout

from longmark.contrib.annotate import routes_adjudicate, routes_owner, routes_sign_in, routes_work
from longmark.contrib.annotate.site import Site, lock_of, open_store
from longmark.contrib.annotate.store import Role
from longmark.contrib.annotate.web import SITE, Route, entrance, guard
from longmark.errors import UserError
from longmark.report.web.address import Address
from longmark.report.web.connections import interrupted, listening

_ALL: frozenset[Role] = frozenset(("owner", "adjudicator", "annotator"))
_LABEL: frozenset[Role] = frozenset(("adjudicator", "annotator"))
_DECIDE: frozenset[Role] = frozenset(("owner", "adjudicator"))
_OWN: frozenset[Role] = frozenset(("owner",))

ROUTES = (
    Route("GET", "/", routes_sign_in.home, None),
    Route("GET", "/in/{token}", routes_sign_in.link, None),
    Route("POST", "/in/{token}", routes_sign_in.sign_in, None),
    Route("GET", "/static/{name}", routes_sign_in.static, None),
    Route("POST", "/out", routes_sign_in.sign_out, _ALL),
    Route("GET", "/guidelines", routes_work.guidelines, _ALL),
    Route("POST", "/guidelines", routes_work.confirm, _LABEL),
    Route("GET", "/consent", routes_work.consent, _LABEL),
    Route("POST", "/consent", routes_work.confirm, _LABEL),
    Route("GET", "/work", routes_work.next_item, _LABEL),
    Route("GET", "/work/{item}", routes_work.work, _LABEL),
    Route("GET", "/work/{item}/feedback", routes_work.feedback, _LABEL),
    Route("POST", "/work/{item}", routes_work.submit, _LABEL),
    Route("POST", "/work/{item}/draft", routes_work.draft, _LABEL, script=True),
    Route("POST", "/work/{item}/skip", routes_work.skip, _LABEL),
    Route("POST", "/work/{item}/undo", routes_work.undo, _LABEL),
    Route("POST", "/work/{item}/visit", routes_work.visit, _LABEL, script=True),
    Route("GET", "/mine", routes_work.mine, _LABEL),
    Route("GET", "/owner/disagreements", routes_adjudicate.disagreements, _DECIDE),
    Route("GET", "/adjudicate/{item}", routes_adjudicate.case, _DECIDE),
    Route("POST", "/adjudicate/{item}", routes_adjudicate.decide, _DECIDE),
    Route("POST", "/adjudicate/{item}/labels", routes_adjudicate.labels, _DECIDE),
    Route("GET", "/owner", routes_owner.progress, _OWN),
    Route("GET", "/owner/items", routes_owner.items, _OWN),
    Route("GET", "/owner/items/{item}", routes_owner.item, _OWN),
    Route("GET", "/owner/preview/{item}", routes_owner.preview, _OWN),
    Route("GET", "/owner/people", routes_owner.people, _OWN),
    Route("GET", "/owner/export/{file}", routes_owner.exported, _OWN),
    Route("POST", "/owner/invite", routes_owner.invite, _OWN),
    Route("POST", "/owner/revoke", routes_owner.revoke, _OWN),
    Route("POST", "/owner/role", routes_owner.role, _OWN),
    Route("POST", "/owner/retry", routes_owner.retry, _OWN),
    Route("POST", "/owner/withdraw", routes_owner.withdraw, _OWN),
    Route("POST", "/owner/pause", routes_owner.pause, _OWN),
    Route("POST", "/owner/reopen", routes_owner.reopen, _OWN),
    Route("POST", "/owner/release", routes_owner.release, _OWN),
)


def application(site: Site) -> web.Application:
    app = web.Application(middlewares=[guard])
    app[SITE] = site
    for route in ROUTES:
        app.router.add_route(route.method, route.path, entrance(route))
    return app


def serve(
    path: Path, host: str, port: int, address: Address, ready: Callable[[Site], None]
) -> None:
    """Serves STUDY.yaml until it is interrupted. ready: is called when people can come."""
    store = open_store(path)
    try:
        with lock_of(store.path):
            asyncio.run(_run(Site(store, path.parent, address), host, port, ready))
    except Timeout:
        raise UserError(
            f"{store.path} is served or restored by another process; stop it first"
        ) from None
    finally:
        store.close()


async def _run(site: Site, host: str, port: int, ready: Callable[[Site], None]) -> None:
    async with listening(application(site), host, port):
        ready(site)
        await interrupted()
