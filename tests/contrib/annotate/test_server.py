"""The application over HTTP: working, saving, and what happens when things go wrong."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from tests.contrib.annotate.serving import STUDY, ServedStudy, Visitor, serving, write_study
from tests.program import run

from longmark.contrib.annotate.auth import Access
from longmark.contrib.annotate.checks import load
from longmark.contrib.annotate.export import export
from longmark.contrib.annotate.item_columns import StudyItem
from longmark.contrib.annotate.labels import collect
from longmark.contrib.annotate.methods import methods
from longmark.contrib.annotate.progress import forecast
from longmark.contrib.annotate.site import import_study

RIGHT, WRONG = {"f.right": "yes", "f.relevance": "7"}, {"f.right": "n-a", "f.relevance": "7"}


@pytest.fixture
def served(tmp_path: Path) -> Iterator[ServedStudy]:
    with serving(write_study(tmp_path)) as one:
        yield one


def values_of(served: ServedStudy, item: str, person: str = "p1") -> dict[str, object]:
    store = served.store()
    try:
        answer = store.answer(item, person)
        return answer.values if answer else {}
    finally:
        store.close()


def status_of(served: ServedStudy, item: str, person: str = "p1") -> str:
    store = served.store()
    try:
        found = store.assignment(item, person)
        return found.status if found else ""
    finally:
        store.close()


def test_a_person_labels_all_items(served: ServedStudy):
    ada = served.person("Ada")
    assert ada.get("/").location == "/mine"
    seen = []
    while (item := ada.next()) is not None:
        seen.append(item)
        assert (
            ada.label(
                item, {"f.right": "no", "f.relevance": str(len(seen)), "f.why": "It is wrong."}
            ).status
            == 303
        )
    assert seen == ["i0", "i1", "i2"]
    assert values_of(served, "i1") == {"right": "no", "relevance": 2, "why": "It is wrong."}
    page = ada.get("/mine")
    assert "All your items are done" in page.text
    assert "alpha" not in page.text


def test_a_submit_leads_to_the_next_item_and_an_incomplete_one_is_kept(served: ServedStudy):
    ada = served.person("Ada")
    ada.next()
    reply = ada.label("i0", {"f.right": "no"})
    assert reply.status == 422
    assert values_of(served, "i0") == {"right": "no"}  # what was entered is saved
    again = ada.post("/work/i0", {n: reply.hidden(n) for n in ("token", "once", "version")} | RIGHT)
    assert (again.status, again.location) == (303, "/work/i1")


def test_a_double_click_counts_once_and_leads_to_the_same_place(served: ServedStudy):
    ada = served.person("Ada")
    ada.next()
    path, hidden = ada.view("i0")
    replies = [ada.post(path, {**hidden, **RIGHT}) for _ in range(3)]
    assert [(r.status, r.location) for r in replies] == [(303, "/work/i1")] * 3
    store = served.store()
    assert [e.kind for e in store.events() if e.item_id == "i0"] == ["given", "submitted", "done"]
    store.close()


def test_two_tabs_see_each_other(served: ServedStudy):
    ada = served.person("Ada")
    ada.next()
    path, first = ada.view("i0")
    _, second = ada.view("i0")
    saved = ada.post(f"{path}/draft", {**first, "f.relevance": "3", "count": "1"})
    assert (saved.status, saved.json["saved"], saved.json["version"]) == (200, True, 1)
    stale = ada.post(f"{path}/draft", {**second, "f.relevance": "9", "count": "1"})
    assert (stale.status, stale.json["stale"], stale.json["differ"]) == (
        409,
        True,
        [["Relevance", "9", "3"]],
    )
    page = ada.post(path, {**second, "f.right": "yes", "f.relevance": "9"})
    assert page.status == 409
    assert values_of(served, "i0") == {"relevance": 3}  # nothing is lost, nothing is overwritten
    mine = {name: page.hidden(name) for name in ("token", "once", "version", "force")}
    assert ada.post(path, {**mine, "f.right": "yes", "f.relevance": "9"}).status == 303
    assert values_of(served, "i0") == {"right": "yes", "relevance": 9}


def test_drafts_of_one_page_that_arrive_late_or_twice(served: ServedStudy):
    ada = served.person("Ada")
    ada.next()
    path, hidden = ada.view("i0")

    def draft(count: int, relevance: str) -> dict[str, object]:
        reply = ada.post(f"{path}/draft", {**hidden, "count": str(count), "f.relevance": relevance})
        return {
            "status": reply.status,
            "saved": reply.json["saved"],
            "version": reply.json["version"],
        }

    assert draft(1, "3") == {"status": 200, "saved": True, "version": 1}
    assert draft(1, "3") == {
        "status": 200,
        "saved": True,
        "version": 1,
    }  # the reply was lost: no new version
    assert draft(3, "5")["version"] == 2  # the page still believes in version 0
    assert draft(2, "4") == {"status": 200, "saved": True, "version": 2}  # overtaken
    assert values_of(served, "i0") == {"relevance": 5}
    assert ada.post(path, {**hidden, **RIGHT}).status == 303
    late = ada.post(f"{path}/draft", {**hidden, "count": "4", "f.relevance": "1"})
    assert late.status == 409  # the page was submitted
    assert values_of(served, "i0") == {"right": "yes", "relevance": 7}


def test_what_cannot_be_read_is_said_and_the_rest_is_saved(served: ServedStudy):
    ada = served.person("Ada")
    ada.next()
    path, hidden = ada.view("i0")
    reply = ada.post(f"{path}/draft", {**hidden, "f.relevance": "11", "f.right": "yes"})
    assert (reply.status, reply.json["saved"]) == (200, False)
    assert "from 1 to 10" in reply.json["errors"]["relevance"]
    assert values_of(served, "i0") == {"right": "yes"}


def test_skip_needs_a_reason_and_keeps_what_was_entered(served: ServedStudy):
    ada = served.person("Ada")
    ada.next()
    path, hidden = ada.view("i0")
    assert "Not skipped yet" in ada.post(f"{path}/skip", {**hidden, "f.right": "yes"}).text
    _, hidden = ada.view("i0")
    reply = ada.post(f"{path}/skip", {**hidden, "f.right": "yes", "reason": "I know the author."})
    assert (reply.status, reply.location) == (303, "/work/i1")
    assert (status_of(served, "i0"), values_of(served, "i0")) == ("skipped", {"right": "yes"})
    assert ada.label("i0", RIGHT).status == 303  # later after all
    assert status_of(served, "i0") == "done"
    store = served.store()
    assert [e.content["reason"] for e in store.events() if e.kind == "skipped"] == [
        "I know the author."
    ]
    store.close()


def test_undo_goes_back_step_by_step(served: ServedStudy):
    ada = served.person("Ada")
    ada.next()
    path, hidden = ada.view("i0")
    for count, relevance in enumerate(("3", "4"), 1):
        ada.post(f"{path}/draft", {**hidden, "count": str(count), "f.relevance": relevance})
    for expected in ({"relevance": 3}, {}, {}):
        _, now = ada.view("i0")
        assert ada.post(f"{path}/undo", now).location == path
        assert values_of(served, "i0") == expected


def test_a_finished_item_can_be_changed_and_is_open_again_while_it_is_incomplete(
    served: ServedStudy,
):
    ada = served.person("Ada")
    ada.next()
    ada.label("i0", RIGHT)
    path, hidden = ada.view("i0")
    assert ada.post(
        f"{path}/draft", {**hidden, "count": "1", "f.right": "no", "f.relevance": "2"}
    ).json["saved"]
    assert status_of(served, "i0") == "open"
    assert ada.next() == "i0"
    assert ada.label("i0", {"f.right": "n-a", "f.relevance": "2"}).status == 303
    store = served.store()
    kinds = [event.kind for event in store.events() if event.item_id == "i0"]
    store.close()
    assert kinds == ["given", "submitted", "done", "draft", "open", "submitted", "done"]


def test_another_device_goes_on_where_the_first_stopped(served: ServedStudy):
    link = served.link("Ada")
    phone, laptop = Visitor(served.url), Visitor(served.url)
    for one in (phone, laptop):
        assert one.sign_in(link).status == 303
    phone.next()
    path, hidden = phone.view("i0")
    phone.post(f"{path}/draft", {**hidden, "f.relevance": "3"})
    assert laptop.next() == "i0"
    assert laptop.view("i0")[1]["version"] == "1"


def test_visible_time_counts_once_for_each_view(served: ServedStudy):
    ada = served.person("Ada")
    ada.next()
    path, hidden = ada.view("i0")
    form = {"token": hidden["token"], "visit": "v1", "started": "2026-11-23T09:00:00+01:00"}
    for seconds in ("2.5", "12.25", "7"):
        assert ada.post(f"{path}/visit", {**form, "seconds": seconds}).status == 200
    for seconds in ("-1", "nan", "1e9", "soon"):
        assert ada.post(f"{path}/visit", {**form, "seconds": seconds}).status == 400
    store = served.store()
    assert [(v.seconds, v.started_at) for v in store.visits()] == [
        (12.2, "2026-11-23T08:00:00.000Z")
    ]
    store.close()


def test_no_more_than_two_people_get_an_item(served: ServedStudy):
    people = [served.person(name) for name in ("Ada", "Ben", "Cem")]
    assert [person.next() for person in people] == ["i0", "i0", "i1"]


def test_a_paused_study_keeps_the_work_and_saves_nothing(served: ServedStudy):
    ada, owner = served.person("Ada"), served.person("Olga", "owner")
    ada.next()
    path, hidden = ada.view("i0")
    token = owner.get("/owner/people").hidden("token")
    assert owner.post("/owner/pause", {"token": token}).status == 303
    reply = ada.post(path, {**hidden, "f.right": "no", "f.why": "Es ist <b>falsch</b>"})
    assert reply.status == 503
    assert "Es ist &lt;b&gt;falsch&lt;/b&gt;" in reply.text  # shown again, to be copied
    assert ada.post(f"{path}/draft", {**hidden, **RIGHT}).json == {
        "saved": False, "error": "The study is paused", "paused": True,
    }  # fmt: skip
    assert ada.get("/work").location == "/mine"
    owner.post("/owner/reopen", {"token": token})
    assert ada.post(path, {**hidden, **RIGHT}).status == 303


def test_suggestions_only_where_the_study_says_so_and_recorded(tmp_path: Path):
    study = STUDY.replace("assignment:", "suggestions: {relevance: guess, right: bad}\nassignment:")
    path = write_study(tmp_path, 1, study)
    (tmp_path / "items.jsonl").write_text(
        '{"id": "i0", "question": "Q?", "answer": "A.", "guess": 4, "bad": "maybe"}'
    )
    with serving(path) as served:
        ada = served.person("Ada")
        ada.next()
        page = ada.get("/work/i0")
        assert "Suggested labels are filled in" in page.text
        ada.label("i0", RIGHT)
        store = served.store()
        assert [answer.suggestions_shown for answer in store.answers()] == [True]
        store.close()


def test_an_item_with_a_strange_id_has_an_address(tmp_path: Path):
    path = write_study(tmp_path, 1)
    strange = "a/b ü#?%2F&<x>"
    (tmp_path / "items.jsonl").write_text(
        f'{{"id": "{strange}", "question": "Q?", "answer": "A."}}'
    )
    with serving(path) as served:
        ada = served.person("Ada")
        location = ada.get("/work").location
        assert location == "/work/a%2Fb%20%C3%BC%23%3F%252F%26%3Cx%3E"
        assert ada.get(location).status == 200
        assert ada.label(strange, RIGHT).status == 303
        assert status_of(served, strange) == "done"


def test_a_browser_keeps_unsaved_labels_under_the_name_of_the_study(
    served: ServedStudy, tmp_path: Path
):
    """Another study at the same address, with the same ids, must not find them."""
    (tmp_path / "other").mkdir()
    with serving(write_study(tmp_path / "other")) as other:
        places = set()
        for one in (served, other):
            ada = one.person("Ada")
            assert ada.next() == "i0"
            places.add(ada.get("/work/i0").text.partition('data-person="')[2].partition('"')[0])
    assert len(places) == 2


def test_priorities_that_cannot_be_read_are_reported_once(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
):
    study = STUDY.replace("order: file", "order: priority, priorities: first.jsonl")
    path = write_study(tmp_path, study=study)
    with serving(path) as served:
        ada = served.person("Ada")
        (tmp_path / "first.jsonl").write_text('{"item": "i1", "priority": 2}\n')
        assert ada.next() == "i1"
        (tmp_path / "first.jsonl").write_text('{"item": "i2"}\n')
        for _ in range(3):
            assert ada.next() == "i1"
    assert capfd.readouterr().err.count("the priorities stay as they were") == 1


def test_items_that_are_imported_while_it_runs_are_given(served: ServedStudy):
    from longmark.contrib.annotate.site import import_study

    ada = served.person("Ada")
    for item in ("i0", "i1", "i2"):
        ada.next()
        ada.label(item, RIGHT)
    assert ada.next() is None
    write_study(served.path.parent, 4)
    assert import_study(served.path).added == 1
    assert ada.next() == "i3"


def test_qualification_is_final_and_decides(tmp_path: Path):
    study = STUDY.replace(
        "assignment: {", "assignment: {qualification: {path: gold.jsonl, pass: 1}, "
    )
    path = write_study(tmp_path, 2, study)
    gold = '{"id": "g", "question": "Q?", "answer": "A.", "gold": {"right": "yes"}}'
    (tmp_path / "gold.jsonl").write_text(gold)
    with serving(path) as served:
        ada, ben = served.person("Ada"), served.person("Ben")
        assert ada.next() == ben.next() == "g"
        assert ada.label("g", RIGHT).location == "/work/i0"
        assert ben.label("g", {"f.right": "n-a", "f.relevance": "1"}).location == "/mine"
        assert "qualification answers are right" in ben.get("/mine").text
        assert ben.get("/work/g").location == "/mine"  # no second try
        _, hidden = ada.view("i0")
        reply = ben.post(
            "/work/g", {"token": ben.get("/mine").hidden("token"), "once": hidden["once"], **RIGHT}
        )
        assert reply.status == 409
        assert values_of(served, "g", "p2")["right"] == "n-a"


@pytest.mark.parametrize("how", ["revoke", "command", "role", "release"])
def test_the_open_item_of_whoever_leaves_goes_to_the_next_person(tmp_path: Path, how: str):
    """Revoked on the page or by a command, made an owner, or released on the item's page."""
    with serving(write_study(tmp_path, 1, STUDY.partition("assignment")[0])) as served:
        owner, ada, ben = served.person("Olga", "owner"), served.person("Ada"), served.person("Ben")
        assert (ada.next(), ben.next()) == ("i0", None)
        token = owner.get("/owner/people").hidden("token")
        if how == "command":
            with closing(served.store()) as store, store.committing():
                Access(store).revoke("p2")
        else:
            form = {"token": token, "person": "p2", "role": "owner", "item": "i0"}
            assert owner.post(f"/owner/{how}", form).status == 303
        assert ben.next() == "i0"
        with closing(served.store()) as store:
            assert [one.status for one in store.assignments("i0")] == ["released", "open"]


def events(served: ServedStudy, kind: str) -> list[str]:
    with closing(served.store()) as store:
        return [str(row[0]) for row in store.rows("SELECT at FROM events WHERE kind = ?", (kind,))]


def test_consent_then_guidelines_come_before_the_first_item_and_again_when_they_change(
    tmp_path: Path,
):
    path = write_study(tmp_path, study=f"{STUDY}consent: I **agree** to take part.\n")
    with serving(path) as served:
        ada = Visitor(served.url)
        link = served.link("Ada")
        ada.post(urlsplit(link).path, {})
        token = ada.get("/consent").hidden("token")
        for page, said in (("/consent", "consent given"), ("/guidelines", "guidelines read")):
            assert ada.get("/work").location == page
            assert ada.post("/guidelines", {"token": token}).status == 303 or page == "/consent"
            if page == "/consent":
                assert events(served, "guidelines read") == [], "not before the consent"
                assert "<strong>agree</strong>" in ada.get(page).text
                ada.post(page, {"token": token})
            assert len(events(served, said)) == 1
            assert events(served, said)[0].startswith("20")
        assert ada.get("/work").location == "/work/i0"
        ada.post("/consent", {"token": token})
        assert len(events(served, "consent given")) == 1
        path.write_text(path.read_text("utf-8").replace("Read the", "Now read the"), "utf-8")
        import_study(path)
        assert ada.get("/work").location == "/guidelines"
        assert ada.get("/work/i0").location == "/guidelines"


def test_an_adjudicator_consents_and_reads_the_guidelines_before_the_first_decision(tmp_path: Path):
    with serving(write_study(tmp_path, study=f"{STUDY}consent: I agree.\n")) as served:
        judge = Visitor(served.url)
        judge.post(urlsplit(served.link("Judge", "adjudicator")).path, {})
        token = judge.get("/consent").hidden("token")
        assert judge.get("/").location == "/owner/disagreements"
        for page, then in (("/consent", "/guidelines"), ("/guidelines", "/owner/disagreements")):
            assert (
                judge.get("/owner/disagreements").location
                == judge.get("/adjudicate/i0").location
                == page
            )
            assert judge.post(page, {"token": token}).location == then, "no item is given to label"
        assert judge.get("/owner/disagreements").status == 200


@pytest.mark.parametrize(
    ("answers", "after"), [(("yes", "n-a"), "/work/i0"), (("no", "n-a"), "/mine")]
)
def test_training_shows_the_right_answers_and_has_a_pass_mark(
    tmp_path: Path, answers: tuple[str, str], after: str
):
    right = ("yes", "n-a")
    with (tmp_path / "train.jsonl").open("w") as file:
        for n, one in enumerate(right):
            own = {"id": f"t{n}", "question": "Q?", "answer": "A", "gold": {"right": one}}
            file.write(json.dumps({**own, "explanation": f"Because *{one}*."}) + "\n")
    rules = "assignment: {training: {path: train.jsonl, pass: 0.9}, "
    with serving(write_study(tmp_path, study=STUDY.replace("assignment: {", rules))) as served:
        ada = served.person("Ada")
        for n, answer in enumerate(answers):
            assert ada.next() == f"t{n}"
            reply = ada.label(f"t{n}", {"f.right": answer, "f.relevance": "3", "f.why": "w"})
            assert reply.location == f"/work/t{n}/feedback"
            page = ada.get(reply.location).text
            assert re.search(rf"Because (<[^>]*>)+{right[n]}(<[^>]*>)+\.", page), (
                "it is set as Markdown"
            )
            assert ("differs" in page) == (answer != right[n])
        assert ada.get("/work").location == after
        assert ada.get("/work/t0").location == "/mine", "it cannot be changed"
        with closing(served.store()) as store:
            items = [StudyItem(**one) for one in store.contents()]
            assert {one.kind for one in store.assignments() if one.item_id.startswith("t")} == {
                "training"
            }
            export(load(served.path), items, store, tmp_path / "out")
            found = collect(load(served.path), items, store)
            expected, text = forecast(found, datetime.now(UTC)), methods(found)
            with store.committing():
                store.withdraw(found.entries[0].rater.id, None)
            assert "The training was" not in methods(collect(load(served.path), items, store)), (
                "it counts no more"
            )
        assert (
            "The training was 2 items with known answers, whose right answers were shown after each of them;"
            in text
        )
        assert (
            f"had to be right in 1 attempt, and {int(after != '/mine')} of 1 person passed." in text
        )
        assert expected is not None
        assert bool(expected.items.get("p1")) == (after != "/mine"), (
            "who has failed is expected to get no more"
        )
        assert not (tmp_path / "out" / "ratings.csv").exists(), "no label for a metric"


@pytest.mark.parametrize("kind", ["training", "qualification"])
@pytest.mark.parametrize("how", ["page", "command"])
def test_an_owner_gives_whoever_failed_another_attempt(tmp_path: Path, kind: str, how: str):
    """The last attempt's items come again, empty; what was given before stays in the events, and the labels are counted
    apart."""
    gold = [
        {"id": f"t{n}", "question": "Q?", "answer": "A", "gold": {"right": "yes"}} for n in range(2)
    ]
    (tmp_path / "gold.jsonl").write_text("".join(json.dumps(one) + "\n" for one in gold))
    rules = f"assignment: {{{kind}: {{path: gold.jsonl, items: 1, attempts: 2}}, "
    with serving(write_study(tmp_path, study=STUDY.replace("assignment: {", rules))) as served:
        owner, ada = served.person("Olga", "owner"), served.person("Ada")
        form = {"token": owner.get("/owner/people").hidden("token"), "person": "p2"}

        def again() -> bool:
            if how == "command":
                return (
                    run("annotate", "retry", served.path, "Ada", home=tmp_path / "home").code == 0
                )
            return owner.post("/owner/retry", form).status == 303

        assert not again(), "she has not failed"
        for item in ("t0", "t1"):
            assert ada.next() == item
            ada.label(item, WRONG)
        assert ada.next() is None
        assert 'action="/owner/retry"' in owner.get("/owner/people").text
        assert again()
        assert (ada.next(), again()) == ("t1", False), "she is at it"
        page = ada.get("/work/t1").text
        assert (f"{kind.capitalize()}: Item 2 of 2" in page, "checked" in page) == (True, False)
        assert "/undo" not in page, "the earlier attempt does not come back"
        ada.label("t1", RIGHT)
        assert ada.next() == "i0"
        own = ada.get("/mine").text
        assert ("2 of 2 done" in own, "0 of 3 done" in own) == (True, True)
        assert "Item 1 of 3" in ada.get("/work/i0").text
        ada.label("i0", RIGHT)
        row = owner.get("/owner/people").text.partition(">Ada")[2]
        assert re.findall(r'data-label="(Done|Training)">(\d)', row) == [
            ("Done", "1"),
            ("Training", "2"),
        ]
        assert len(events(served, "another attempt")) == 1
        with closing(served.store()) as store:
            given = [
                one.content["values"]["right"]
                for one in store.events("submitted")
                if one.item_id == "t1"
            ]
            text = methods(
                collect(load(served.path), [StudyItem(**one) for one in store.contents()], store)
            )
        assert given == ["n-a", "yes"]
        assert "1 of 1 raters confirmed that they had read the guidelines." in text
        assert f"The {kind} was 1 item with known answers" in text
        assert (
            "80% had to be right in 2 attempts, and 1 of 1 person passed. An owner let 1 person try again"
            in text
        )


def test_versions_are_compared_in_words(tmp_path: Path):
    """Options by their labels, in a German study, with errors in German."""
    fields = '{name: ok, label: "Passt es?", type: choice, options: [{value: y, label: Ja}, {value: n, label: Nein}]}'
    text = f"title: T\nlanguage: de\nitems: {{from: jsonl, path: items.jsonl}}\nshow: [answer]\nfields: [{fields}]\n"
    with serving(write_study(tmp_path, study=text)) as served:
        ada = served.person("Ada")
        item = ada.next()
        assert item is not None
        (path, first), (_, second) = ada.view(item), ada.view(item)
        ada.post(f"{path}/draft", {**first, "f.ok": "y", "count": "1"})
        stale = ada.post(f"{path}/draft", {**second, "f.ok": "n", "count": "1"})
        assert stale.json["differ"] == [["Passt es?", "Nein", "Ja"]]
        page = ada.post(path, {**ada.view(item)[1], "f.ok": ""})
        assert "ist noch nicht beantwortet" in page.text
