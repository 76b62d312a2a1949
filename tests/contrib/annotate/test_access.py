"""Who may do what: every route by everybody, links, sessions, passwords, forged forms, foreign text."""

from __future__ import annotations

import re
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote, urlsplit

import pytest
from tests.contrib.annotate.serving import STUDY, ServedStudy, Visitor, serving, write_study

from longmark.contrib.annotate import auth
from longmark.contrib.annotate.server import ROUTES
from longmark.contrib.annotate.store import ROLES
from longmark.contrib.annotate.web import MOST_BYTES
from longmark.report.web.address import Address

RIGHT = {"f.right": "yes", "f.relevance": "7"}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedStudy]:
    with serving(write_study(tmp_path)) as one:
        yield one


# What each gets, in the order of the header; 200 and 303 are success. Others: 401 signed out, 403 not for this role.
_TABLE = """
                                  nobody annotator adjudicator owner
GET  /                            200    303       303         303
GET  /in/{token}                  404    404       404         404
POST /in/{token}                  404    404       404         404
GET  /static/{name}               404    404       404         404
POST /out                         401    303       303         303
GET  /guidelines                  401    200       200         200
POST /guidelines                  401    303       303         403
GET  /consent                     401    200       200         403
POST /consent                     401    303       303         403
GET  /work                        401    303       303         403
GET  /work/{item}                 401    404       404         403
GET  /work/{item}/feedback        401    404       404         403
POST /work/{item}                 401    404       404         403
POST /work/{item}/draft           401    404       404         403
POST /work/{item}/skip            401    404       404         403
POST /work/{item}/undo            401    404       404         403
POST /work/{item}/visit           401    404       404         403
GET  /mine                        401    200       200         403
GET  /owner/disagreements         401    403       200         200
GET  /adjudicate/{item}           401    403       404         404
POST /adjudicate/{item}           401    403       404         404
POST /adjudicate/{item}/labels    401    403       404         404
GET  /owner                       401    403       403         200
GET  /owner/items                 401    403       403         200
GET  /owner/items/{item}          401    403       403         200
GET  /owner/preview/{item}        401    403       403         200
GET  /owner/people                401    403       403         200
GET  /owner/export/{file}         401    403       403         404
POST /owner/invite                401    403       403         400
POST /owner/revoke                401    403       403         404
POST /owner/role                  401    403       403         404
POST /owner/retry                 401    403       403         404
POST /owner/withdraw              401    403       403         404
POST /owner/pause                 401    403       403         303
POST /owner/reopen                401    403       403         303
POST /owner/release               401    403       403         404
"""
EXPECTED = {
    (line.split()[0], line.split()[1]): tuple(map(int, line.split()[2:]))
    for line in _TABLE.strip().splitlines()[1:]
}


def test_every_route_by_everybody(served: ServedStudy):
    """Nobody was given item i2, so that it is nobody's."""
    assert {(route.method, route.path) for route in ROUTES} == EXPECTED.keys()
    found = {}
    people = {role: served.person(role, role) for role in reversed(ROLES)}
    for route in ROUTES:
        path = re.sub(r"\{\w+\}", "i2", route.path)
        statuses = []
        for role in (None, *people):
            client = Visitor(served.url) if role is None else people[role]
            token = "" if role is None else client.get("/guidelines").hidden("token")
            form = {"token": token, "once": "k"}
            reply = client.get(path) if route.method == "GET" else client.post(path, form)
            statuses.append(reply.status)
            if route.path != "/static/{name}":
                assert reply.headers["Cache-Control"] == "no-store"
            assert "default-src 'none'" in reply.headers["Content-Security-Policy"]
            if role is not None and route.path == "/out":
                people[role] = served.person(role, role)
        found[route.method, route.path] = tuple(statuses)
    assert found == EXPECTED


def test_labels_of_others_are_never_on_a_page(served: ServedStudy):
    """Rater 2's pages hold neither rater 1's labels nor the name of a system; the owner waits until both are done."""
    ada, ben, owner = served.person("Ada"), served.person("Ben"), served.person("Olga", "owner")
    ada.next()
    ada.label("i0", {"f.right": "no", "f.relevance": "2", "f.why": "SECRET-OF-ADA"})
    assert ben.next() == "i0"
    pages = [ben.get(path).text for path in ("/work/i0", "/mine", "/guidelines")]
    assert not any(
        word in page for page in pages for word in ("SECRET-OF-ADA", "Ada", "alpha", "beta")
    )
    assert "SECRET-OF-ADA" not in owner.get("/owner/items/i0").text
    ben.label("i0", RIGHT)
    assert "SECRET-OF-ADA" in owner.get("/owner/items/i0").text
    assert ben.get("/work/i2").status == 404  # not given yet


def test_an_adjudicator_sees_labels_without_names_and_only_where_they_differ(served: ServedStudy):
    ada, ben, cem = served.person("Ada"), served.person("Ben"), served.person("Cem", "adjudicator")
    for person, right in ((ada, "yes"), (ben, "n-a")):
        for item in ("i0", "i1"):
            person.next()
            person.label(item, {"f.right": right if item == "i0" else "yes", "f.relevance": "5"})
    assert cem.get("/adjudicate/i1").status == 404  # agreed
    page = cem.get("/adjudicate/i0")
    assert page.status == 200
    assert not any(word in page.text for word in ("Ada", "Ben", "alpha"))
    hidden = {name: page.hidden(name) for name in ("token", "once", "version")}
    assert cem.post("/adjudicate/i0", {**hidden, **RIGHT}).status == 422  # without a justification
    form = {**hidden, **RIGHT, "justification": "The source says so."}
    for _ in range(2):  # a double click
        assert cem.post("/adjudicate/i0", form).location == "/owner/disagreements"
    store = served.store()
    (decision,) = store.adjudications()
    assert (decision.values["right"], decision.justification) == ("yes", "The source says so.")
    assert [e.kind for e in store.events()].count("adjudicated") == 1
    store.close()
    owner = served.person("Olga", "owner")
    late = owner.post(
        "/adjudicate/i0", {**form, "token": owner.get("/guidelines").hidden("token"), "once": "x"}
    )
    assert late.status == 409  # the page showed no decision
    assert ada.get("/work/i0").location == "/mine"  # labels under a decision are final
    assert "i0" not in (cem.next() or "")


def test_whoever_labelled_an_item_does_not_decide_on_it(served: ServedStudy):
    ada, cem = served.person("Ada"), served.person("Cem", "adjudicator")
    for person, right in ((ada, "yes"), (cem, "n-a")):
        person.next()
        person.label("i0", {"f.right": right, "f.relevance": "5"})
    assert cem.get("/adjudicate/i0").status == 403


def test_a_link_signs_in_by_its_button_and_until_it_is_revoked(served: ServedStudy):
    link = served.link("Ada")
    path = urlsplit(link).path
    client = Visitor(served.url)
    page = client.get(path)
    assert (page.status, client.cookies) == (200, {})
    assert "<form" in page.text
    reply = client.sign_in(link)
    cookie = reply.headers["Set-Cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Lax" in cookie
    assert client.get("/mine").status == 200
    owner = served.person("Olga", "owner")
    form = {"token": owner.get("/owner/people").hidden("token"), "person": "p1"}
    assert owner.post("/owner/revoke", form).status == 303
    assert client.get("/mine").status == 401
    assert Visitor(served.url).get(path).status == 404
    assert Visitor(served.url).sign_in(link).status == 404
    again = owner.post("/owner/invite", form)
    (new,) = re.findall(r"http://[^\s\"<]+/in/[\w-]+", again.text)
    assert client.sign_in(new).status == 303
    assert new not in owner.get("/owner/people").text  # it was shown once
    database = served.path.with_suffix(".sqlite").read_bytes()
    assert new.rpartition("/")[2].encode() not in database


def test_the_session_of_a_revoked_link_cannot_post(served: ServedStudy):
    ada = served.person("Ada")
    ada.next()
    path, hidden = ada.view("i0")
    store = served.store()
    with store.committing():
        auth.Access(store).revoke("p1")
    store.close()
    reply = ada.post(path, {**hidden, "f.right": "no", "f.why": "kept <i>"})
    assert reply.status == 401
    assert "kept &lt;i&gt;" in reply.text
    draft = ada.post(f"{path}/draft", {**hidden, **RIGHT})
    assert (draft.status, draft.json["signed_out"]) == (401, True)


def test_every_sign_in_has_a_new_session(served: ServedStudy):
    """A session that was planted is never taken over, and the one before ends."""
    link = served.link("Ada")
    store = served.store()
    name = f"longmark-{store.setting('id')}"
    store.close()
    client = Visitor(served.url, {name: "planted"})
    client.sign_in(link)
    first = client.cookies[name]
    assert first != "planted"
    client.sign_in(link)
    assert client.cookies[name] != first
    assert Visitor(served.url, {name: first}).get("/mine").status == 401
    token = client.get("/mine").hidden("token")
    before = dict(client.cookies)
    client.post("/out", {"token": token})
    assert Visitor(served.url, before).get("/mine").status == 401


def test_forged_posts_are_refused(served: ServedStudy):
    ada, ben = served.person("Ada"), served.person("Ben")
    ada.next()
    path, hidden = ada.view("i0")
    form = {**hidden, **RIGHT}
    assert ada.post(path, form, Origin="https://evil.example").status == 403
    assert ada.post(path, form, Origin="null").status == 403
    assert ada.post(path, form, Origin=served.url.replace("http", "https")).status == 403
    for site in ("cross-site", "same-site", "none"):
        assert ada.post(path, form, **{"Sec-Fetch-Site": site}).status == 403
    assert (
        ada.ask("POST", path, b"", {"Content-Type": "application/x-www-form-urlencoded"}).status
        == 403
    )
    assert ada.post(path, {**form, "token": ""}).status == 403
    assert ada.post(path, {**form, "token": ben.get("/mine").hidden("token")}).status == 403
    assert ada.post(path, form, **{"Content-Type": "text/plain"}).status == 415
    assert ada.ask("GET", "/mine", headers={"Host": "evil.example"}).status == 421
    assert ada.ask("DELETE", path).status == 405
    store = served.store()
    assert store.answers() == []
    store.close()
    assert ada.post(path, form, **{"Sec-Fetch-Site": "same-origin", "Origin": "null"}).status == 303


def test_bodies_are_bounded(served: ServedStudy):
    ada = served.person("Ada")
    ada.next()
    path, hidden = ada.view("i0")
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Site": "same-origin"}
    many = "&".join(f"f.x{n}=" for n in range(30_000)).encode()
    assert ada.ask("POST", path, many, headers).status == 400
    assert ada.ask("POST", path, b"token=%FF%FE", headers).status == 400
    assert ada.ask("POST", path, b"token=" + b"x" * MOST_BYTES, headers).status == 413
    long = ada.post(path, {**hidden, "f.right": "no", "f.relevance": "1", "f.why": "ü" * 10_001})
    assert long.status == 422
    assert "the limit is 10,000" in long.text


@pytest.mark.parametrize(
    "path", ["/static/../server.py", "/static/..%2f..%2fserver.py", "/static/%2e%2e/store.py"]
)
def test_no_path_leads_out(served: ServedStudy, path: str):
    assert Visitor(served.url).get(path).status == 404
    owner = served.person("Olga", "owner")
    assert owner.get(path.replace("/static/", "/owner/export/")).status == 404


PAYLOADS = (
    "<script>alert(1)</script>\"'`",
    "javascript:alert(1)",
    "{{7*7}}",
    "'; DROP TABLE people; --",
    "\u202e\x00",
)


def test_foreign_text_stays_text_everywhere(served: ServedStudy):
    """Posted in every field, then shown to the person, the owner and the adjudicator."""
    owner, cem = served.person("Olga", "owner"), served.person("Cem", "adjudicator")
    ada, ben = served.person("Ada"), served.person("<b>Ben</b>")
    for n, person in enumerate((ada, ben)):
        person.next()
        path, hidden = person.view("i0")
        for payload in PAYLOADS:
            fields = ("f.right", "f.relevance", "f.why", "reason", "version", "count", "force")
            reply = person.post(path, {**hidden, **dict.fromkeys(fields, payload)})
            assert reply.status in (409, 422)
            assert "<script>alert" not in reply.text
            assert person.post(
                f"{path}/draft", {**hidden, **dict.fromkeys(fields, payload)}
            ).status in (200, 409)
            assert (
                person.post(
                    f"{path}/visit", {**hidden, **dict.fromkeys(("visit", "seconds"), payload)}
                ).status
                == 400
            )
        assert (
            person.label(
                "i0", {"f.right": "no", "f.relevance": str(n + 1), "f.why": PAYLOADS[0]}
            ).status
            == 303
        )
    store = served.store()
    with store.committing():
        store.set_setting("paused", "yes")
    store.close()
    pages = [
        owner.get(path) for path in ("/owner", "/owner/items", "/owner/items/i0", "/owner/people")
    ]
    pages += [cem.get("/owner/disagreements"), ada.get("/work/i0"), ben.get("/mine")]
    token = owner.get("/owner/people").hidden("token")
    pages.append(
        owner.post("/owner/invite", {"token": token, "name": PAYLOADS[0], "role": "annotator"})
    )
    for page in pages:
        assert page.status == 200
        assert "<script>alert" not in page.text
        assert "<b>Ben" not in page.text
    assert "&lt;script&gt;alert" in pages[2].text


def test_wrong_links_are_slowed_down_and_take_no_longer_when_they_are_close(served: ServedStudy):
    link = urlsplit(served.link("Ada")).path
    client = Visitor(served.url)
    statuses = [client.get(f"/in/{quote('x' * n)}").status for n in range(1, 13)]
    assert (statuses[:10], statuses[10:]) == ([404] * 10, [429] * 2)
    assert client.get(link).status == 200  # a good link still opens
    store = served.store()
    access = auth.Access(store)
    token = link.rpartition("/")[2]

    def seconds(guess: str) -> float:
        times = []
        for _ in range(200):
            began = time.perf_counter()
            access.link(guess)
            times.append(time.perf_counter() - began)
        return sorted(times)[50]

    close, far = seconds(token[:-1] + "!"), seconds("!" * len(token))
    assert 0.2 < close / far < 5  # the database is searched by a hash
    store.close()


def test_a_password_is_asked_for_with_the_link(
    served: ServedStudy, monkeypatch: pytest.MonkeyPatch
):
    link = served.link("Ada")
    store = served.store()
    person = store.people()[0]
    with store.committing():
        auth.Access(store).set_password(person, "correct horse battery")
    stored = store.row("SELECT password FROM people")
    store.close()
    assert "horse" not in str(stored)
    client = Visitor(served.url)
    assert 'type="password"' in client.get(urlsplit(link).path).text
    assert client.sign_in(link).status == 403
    assert client.sign_in(link, "wrong").status == 403
    assert client.cookies == {}
    assert client.sign_in(link, "correct horse battery").status == 303
    other = Visitor(served.url)
    monkeypatch.setattr(auth, "_scrypt", lambda password, salt: b"no")
    statuses = [other.sign_in(link, "guess").status for _ in range(10)]
    assert statuses == [403] * 8 + [429] * 2  # ten failures with the two before


def test_attempts_are_forgotten_after_their_window():
    attempts = auth.Attempts(limit=2, window=0.05, capacity=3)
    for _ in range(2):
        attempts.failed("a")
    assert attempts.wait("a") > 0
    assert attempts.wait("b") == 0
    time.sleep(0.06)
    assert attempts.wait("a") <= 0
    for name in "bcd":
        attempts.failed(name)
    assert len(attempts._failed) == 3  # bounded


def test_a_study_does_not_know_the_sessions_of_another(served: ServedStudy, tmp_path: Path):
    (tmp_path / "other").mkdir()
    ada = served.person("Ada")
    with serving(write_study(tmp_path / "other")) as other:
        stranger = Visitor(other.url, dict(ada.cookies))
        assert stranger.get("/mine").status == 401
        name, value = next(iter(ada.cookies.items()))
        store = other.store()
        stranger.cookies = {f"longmark-{store.setting('id')}": value}
        store.close()
        assert name not in stranger.cookies
        assert stranger.get("/mine").status == 401


def test_behind_tls_cookies_are_secure_and_the_public_name_counts(tmp_path: Path):
    address = Address("https://labels.example.org", frozenset({"labels.example.org"}), True)
    with serving(write_study(tmp_path), address) as served:
        link = served.link("Ada")
        client = Visitor(served.url)
        assert client.get("/").status == 421
        headers = {"Host": "labels.example.org", "Origin": "https://labels.example.org"}
        form = {"Content-Type": "application/x-www-form-urlencoded"}
        reply = client.ask("POST", urlsplit(link).path, b"", {**headers, **form})
        assert reply.status == 303
        assert reply.headers["Set-Cookie"].startswith("__Host-longmark-")
        assert "Secure" in reply.headers["Set-Cookie"]
        assert "max-age" in reply.headers["Strict-Transport-Security"]


def test_the_last_owner_stays(served: ServedStudy):
    owner = served.person("Olga", "owner")
    token = owner.get("/owner/people").hidden("token")
    for path in ("/owner/revoke", "/owner/role", "/owner/withdraw"):
        reply = owner.post(
            path, {"token": token, "person": "p1", "role": "annotator", "sure": "yes"}
        )
        assert reply.status == 409, path


def test_withdrawn_labels_free_the_items_and_reopening_gives_them_back(served: ServedStudy):
    ada, ben, owner = served.person("Ada"), served.person("Ben"), served.person("Olga", "owner")
    for person in (ada, ben):
        person.next()
        person.label("i0", RIGHT)
    cem = served.person("Cem")
    assert cem.next() == "i2"  # i0 is done, i1 was given to both
    token = owner.get("/owner/people").hidden("token")
    assert owner.post("/owner/withdraw", {"token": token, "person": "p1"}).status == 400
    assert (
        owner.post("/owner/withdraw", {"token": token, "person": "p1", "sure": "yes"}).status == 303
    )
    assert ada.get("/mine").status == 401
    assert served.person("Dana").next() == "i0"
    page = owner.get("/owner/items/i0")  # a button for Ben's labels alone: Ada's are withdrawn
    assert (page.text.count('action="/owner/reopen"'), page.hidden("person")) == (1, "p2")
    reopened = owner.post("/owner/reopen", {"token": token, "person": "p2", "item": "i0"})
    assert reopened.location == "/owner/items/i0"
    store = served.store()
    assert [(one.person_id, one.status) for one in store.assignments("i0")] == [
        ("p1", "withdrawn"),
        ("p2", "open"),
        ("p5", "open"),
    ]
    store.close()


def test_the_list_of_items_opens_after_consent(tmp_path: Path):
    study = STUDY.replace("guidelines: |", "consent: Your labels are stored.\nguidelines: |")
    with serving(write_study(tmp_path, study=study)) as served:
        ada = Visitor(served.url)
        assert ada.post(urlsplit(served.link("Ada")).path, {}).status == 303
        assert ada.get("/mine").location == "/consent"
        token = ada.get("/consent").hidden("token")
        assert ada.post("/consent", {"token": token}).location == "/work"
        assert ada.get("/mine").location == "/guidelines"
        ada.post("/guidelines", {"token": token})
        assert ada.get("/mine").status == 200


def test_the_owner_sees_the_files_that_there_is_something_for(served: ServedStudy):
    def listed() -> list[str]:
        return re.findall(r'href="(/owner/export/[^"]+)"', olga.get("/owner").text)

    olga, ada = served.person("Olga", "owner"), served.person("Ada")
    assert listed() == ["/owner/export/audit.jsonl"]
    assert ada.next() == "i0"
    assert ada.label("i0", RIGHT).status == 303
    files = listed()
    assert [one.rpartition("/")[2] for one in files] == [
        "labels.jsonl",
        "items.csv",
        "ratings.csv",
        "audit.jsonl",
        "methods.md",
    ]
    assert {olga.get(one).status for one in files} == {200}
