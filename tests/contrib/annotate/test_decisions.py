"""Items on which a third person decides, over HTTP: which are listed, and what is closed after a decision."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import Path

from bench.annotate_adjudication import decisions, rate, write_pairs
from tests.contrib.annotate.serving import STUDY, ServedStudy, Visitor, serving, write_study

RIGHT, WRONG = {"f.right": "yes", "f.relevance": "7"}, {"f.right": "n-a", "f.relevance": "7"}


def decide(person: Visitor, item: str) -> int:
    page = person.get(f"/adjudicate/{item}")
    if page.status != 200:
        return page.status
    hidden = {name: page.hidden(name) for name in ("token", "once", "version")}
    return person.post(
        f"/adjudicate/{item}", {**hidden, **RIGHT, "justification": "The source says so."}
    ).status


def two_differ_on_the_first(served: ServedStudy) -> tuple[Visitor, Visitor, Visitor]:
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
        assert (
            owner.post("/owner/withdraw", {"token": token, "person": "p2", "sure": "yes"}).status
            == 303
        )
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
    study = STUDY.replace(
        "assignment: {", "assignment: {qualification: {path: gold.jsonl, pass: 0.1}, "
    )
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
        assert (
            owner.post("/owner/withdraw", {"token": token, "person": "p3", "sure": "yes"}).status
            == 303
        )
        assert cy.next() == "i1"
        assert served.person("Dora").next() == "i0"
        assert cy.next() == "i1", "also after an invitation, when the assignments are read anew"


def test_a_decision_does_not_depend_on_which_answer_stands_first_in_the_file():
    """People who always take what is shown first: two raters see the sides in both orders and always differ, and an
    adjudicator, who sees each side first as often, decides 8 of 16 for `a`."""
    assert Counter(decisions(16, [lambda north_first: "a"] * 3)) == {"a": 8, "b": 8}


def differing(served: ServedStudy) -> Visitor:
    """An adjudicator, after Ada and Ben have differed on all three items."""
    cy = served.person("Cy", "adjudicator")
    for name, form in (("Ada", RIGHT), ("Ben", WRONG)):
        person = served.person(name)
        while (item := person.next()) is not None:
            person.label(item, form)
    return cy


def test_an_adjudicator_reads_before_the_labels_are_shown_and_it_is_recorded_when_they_are(
    tmp_path: Path,
):
    with serving(write_study(tmp_path)) as served:
        cy = differing(served)
        page = cy.get("/adjudicate/i0")
        assert "Labels so far" not in page.text
        form = {"token": page.hidden("token"), "f.right": "yes", "justification": "typed before"}
        shown = cy.post("/adjudicate/i0/labels", form)
        assert ("Labels so far" in shown.text, "typed before" in shown.text) == (True, True)
        assert "Labels so far" in cy.get("/adjudicate/i0").text, "from now on"
        assert "Labels so far" not in cy.get("/adjudicate/i1").text, "of this item only"
        store = served.store()
        (event,) = [one for one in store.events() if one.kind == "labels seen"]
        assert (event.item_id, event.content) == ("i0", {"values": {"right": "yes"}})
        store.close()


def test_rater_1_is_another_person_from_item_to_item(tmp_path: Path):
    study = STUDY.replace(
        "  - {name: why, type: text, required: true, when: {field: right, is: no}}\n", ""
    )
    with serving(write_study(tmp_path, 12, study)) as served:
        cy, first = differing(served), Counter[str]()
        for item in (f"i{k}" for k in range(12)):
            page = cy.post(f"/adjudicate/{item}/labels", {"token": cy.get("/mine").hidden("token")})
            row = re.search(r'<tr class="differs">.*?<td[^>]*>([^<]*)</td>', page.text, re.S)
            assert row
            first[row[1].strip()] += 1
        assert set(first) == {"yes", "n-a"}, "Ada says yes to each, Ben n-a"


def test_labels_are_shown_in_terms_of_the_page_of_the_adjudicator(tmp_path: Path):
    """Everybody prefers north (side a) but one rater south: where south is shown first, north is answer B."""
    with serving(write_pairs(tmp_path, 6)) as served:
        for name, side in (("Ada", "a"), ("Ben", "b")):
            rate(
                served.person(name),
                lambda north_first, side=side: side if north_first else "ab".replace(side, ""),  # type: ignore[misc]
            )
        cy, swaps = served.person("Cy", "adjudicator"), Counter[bool]()
        token = cy.get("/mine").hidden("token")
        for item in (f"p{k}" for k in range(6)):
            page = cy.post(f"/adjudicate/{item}/labels", {"token": token, "f.preference": "a"})
            shown_first = page.text.index("North says") < page.text.index("South says")
            hidden = {name: page.hidden(name) for name in ("once", "version")}
            assert (
                cy.post(
                    f"/adjudicate/{item}", {"token": token, **hidden, "f.preference": "a"}
                ).status
                == 303
            )
            swaps[shown_first] += 1
            again = cy.get(f"/adjudicate/{item}").text
            assert re.search(r'value="a"[^>]*checked|checked[^>]*value="a"', again), (
                "A stays A on the page"
            )
        store = served.store()
        values = Counter(one.values["preference"] for one in store.adjudications())
        store.close()
        assert swaps == {True: 3, False: 3}
        assert values == {"a": 3, "b": 3}, (
            "A of the page is a of the item where north was shown first"
        )


def test_a_decision_leads_to_the_next_disagreement_or_to_the_list(tmp_path: Path):
    """Ada and Ben differ on three items. Cy decides on the first and gets the second, decides on it and asks for the
    list, which leads to the third; after that nothing is left."""
    with serving(write_study(tmp_path, 3)) as served:
        ada, ben = served.person("Ada"), served.person("Ben")
        for person, form in ((ada, RIGHT), (ben, WRONG)):
            for _ in range(3):
                person.label(str(person.next()), form)
        cy = served.person("Cy", "adjudicator")
        listed = re.findall(r'href="(/adjudicate/i\d)"', cy.get("/owner/disagreements").text)
        first, second, third = listed[1:]
        assert listed[0] == first, "the button leads to the first of the list"

        def decided(path: str, **more: str) -> str | None:
            page = cy.get(path)
            hidden = {name: page.hidden(name) for name in ("token", "once", "version")}
            return cy.post(path, {**hidden, **RIGHT, "justification": "So.", **more}).location

        assert decided(first) == second
        assert decided(second, then="list") == "/owner/disagreements"
        remaining = cy.get("/owner/disagreements").text
        assert f'href="{third}"' in remaining
        assert decided(third) == "/owner/disagreements"
        assert "Decide the next one" not in cy.get("/owner/disagreements").text
