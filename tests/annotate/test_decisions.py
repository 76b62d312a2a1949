"""Items on which a third person decides, over HTTP: which are listed, and what is closed after a decision."""

from __future__ import annotations

from pathlib import Path

from tests.annotate.serving import STUDY, Client, Served, serving, write_study

RIGHT, WRONG = {"f.right": "yes", "f.relevance": "7"}, {"f.right": "n-a", "f.relevance": "7"}


def decide(person: Client, item: str) -> int:
    page = person.get(f"/adjudicate/{item}")
    if page.status != 200:
        return page.status
    hidden = {name: page.hidden(name) for name in ("token", "once", "version")}
    return person.post(f"/adjudicate/{item}", {**hidden, **RIGHT, "justification": "The source says so."}).status


def two_differ_on_the_first(served: Served) -> tuple[Client, Client, Client]:
    """The owner and two raters, who differ on i0; the owner has decided."""
    owner, ada, ben = served.person("Olga", "owner"), served.person("Ada"), served.person("Ben")
    for person, form in ((ada, RIGHT), (ben, WRONG)):
        assert person.next() == "i0"
        person.label("i0", form)
    assert decide(owner, "i0") == 303
    return owner, ada, ben


def test_a_decided_item_is_given_to_nobody_else(tmp_path: Path):
    """It is closed: whoever got it could neither label it nor get another one."""
    with serving(write_study(tmp_path)) as served:
        owner, _, _ = two_differ_on_the_first(served)
        token = owner.get("/owner/people").hidden("token")
        assert owner.post("/owner/withdraw", {"token": token, "person": "p2", "sure": "yes"}).status == 303
        dora = served.person("Dora")
        assert dora.next() == "i1"
        dora.view("i1")


def test_a_decided_item_is_not_reopened(tmp_path: Path):
    with serving(write_study(tmp_path)) as served:
        owner, ada, _ = two_differ_on_the_first(served)
        page = owner.get("/owner/items/i0")
        assert "/owner/reopen" not in page.text
        form = {"token": page.hidden("token"), "person": "p2", "item": "i0"}
        refused = owner.post("/owner/reopen", form)
        assert (refused.status, "decided" in refused.text) == (409, True)
        assert ada.next() == "i1"


def test_an_item_that_was_left_open_and_then_decided_blocks_nobody(tmp_path: Path):
    study = STUDY.replace("overlap: 2", "overlap: 2, release: 0.000001")
    with serving(write_study(tmp_path, study=study)) as served:
        dora = served.person("Dora")
        assert dora.next() == "i0"
        two_differ_on_the_first(served)
        assert dora.next() == "i1"
        dora.view("i1")


def test_items_with_known_answers_are_not_decided(tmp_path: Path):
    study = STUDY.replace("assignment: {", "assignment: {qualification: {path: gold.jsonl, pass: 0.1}, ")
    path = write_study(tmp_path, 2, study)
    (tmp_path / "gold.jsonl").write_text(
        '{"id": "g", "question": "Q?", "answer": "A.", "gold": {"right": "yes", "relevance": 7}}'
    )
    with serving(path) as served:
        owner = served.person("Olga", "owner")
        for name, form in (("Ada", RIGHT), ("Ben", WRONG)):
            person = served.person(name)
            assert person.next() == "g"
            person.label("g", form)
        assert "There are no disagreements" in owner.get("/owner/disagreements").text
        assert decide(owner, "g") == 404


def test_who_looked_at_the_labels_of_an_item_does_not_label_it(tmp_path: Path):
    with serving(write_study(tmp_path)) as served:
        cy, owner = served.person("Cy", "adjudicator"), served.person("Olga", "owner")
        for name, form in (("Ada", RIGHT), ("Ben", WRONG)):
            person = served.person(name)
            assert person.next() == "i0"
            person.label("i0", form)
        assert cy.get("/adjudicate/i0").status == 200
        token = owner.get("/owner/people").hidden("token")
        assert owner.post("/owner/withdraw", {"token": token, "person": "p3", "sure": "yes"}).status == 303
        assert cy.next() == "i1"
        assert served.person("Dora").next() == "i0"
        assert cy.next() == "i1", "also after an invitation, when the assignments are read anew"
