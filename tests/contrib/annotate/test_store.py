"""The database of a study: what is saved, what is replaced, what is refused, and what survives."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from longmark.contrib.annotate.database import MIGRATIONS, StoreFailed, checked
from longmark.contrib.annotate.store import Assignment, Page, StudyStore, Visit
from longmark.errors import UserError

NOW = "2026-11-23T08:00:00.000Z"


@pytest.fixture
def store(tmp_path: Path) -> StudyStore:
    new = StudyStore(tmp_path / "study.sqlite", create=True)
    with new.committing():
        new.put_items(
            [(f"i{n}", {"id": f"i{n}", "shown": {"question": f"Why {n}?"}}) for n in range(3)]
        )
        new.add_person("Ada", "owner")
        new.add_person("Ben", "annotator")
    return new


def given(item: str, person: str = "p2", position: int = 1) -> Assignment:
    return Assignment(item, person, False, "open", None, NOW, None, position, "normal")


def test_one_current_answer_and_its_history(store: StudyStore):
    with store.committing():
        store.assign(given("i0"))
        first = store.save("i0", "p2", {"relevance": 3}, Page("page", 1), complete=False)
        second = store.save(
            "i0", "p2", {"relevance": 4}, Page("page", 2, submitted=True), complete=True
        )
        store.set_status("i0", "p2", "done", "p2")
    assert (first.version, second.version) == (1, 2)
    assert store.answers() == [second] == store.answers("i0") == store.answers(person="p2")
    assert store.page_of("i0", "p2") == Page("page", 2)
    history = [(e.kind, e.content.get("values")) for e in store.events() if e.item_id == "i0"]
    assert history == [
        ("given", None),
        ("draft", {"relevance": 3}),
        ("submitted", {"relevance": 4}),
        ("done", None),
    ]
    assert [e.number for e in store.events()] == list(range(1, len(store.events()) + 1))


def test_suggestions_once_shown_stay_noted(store: StudyStore):
    with store.committing():
        store.save("i0", "p2", {}, Page("a"), complete=False, suggestions_shown=True)
        assert store.save("i0", "p2", {}, Page("b"), complete=False).suggestions_shown


def test_the_time_of_the_first_submission_stays(store: StudyStore):
    with store.committing():
        store.assign(given("i0"))
        store.set_status("i0", "p2", "done", "p2")
        done_at = store.assignment("i0", "p2").done_at  # type: ignore[union-attr]
        store.set_status("i0", "p2", "open", "p1")
        store.set_status("i0", "p2", "done", "p2")
    assert done_at is not None
    assert store.assignment("i0", "p2").done_at == done_at  # type: ignore[union-attr]


def test_an_item_is_given_once(store: StudyStore):
    with store.committing():
        store.assign(given("i0"))
        store.assign(given("i0", position=9))
    assert [one.position for one in store.assignments(person="p2")] == [1]


def test_a_visit_counts_once_with_its_most_seconds(store: StudyStore):
    with store.committing():
        for seconds in (10.0, 25.5, 20.0):
            store.visit("view", Visit("i0", "p2", seconds, NOW))
        store.visit(
            "view", Visit("i1", "p2", 900.0, NOW)
        )  # the key of another item's view changes nothing
        store.visit("other", Visit("i0", "p2", 1.0, NOW))
    assert [visit.seconds for visit in store.visits("i0")] == [25.5, 1.0]
    assert store.visits("i1") == []


def test_an_import_again_adds_and_replaces_but_not_what_was_given(store: StudyStore):
    with store.committing():
        assert store.put_items([("i3", {"id": "i3"}), ("i0", {"id": "i0", "shown": {}})]) == (1, 1)
        store.assign(given("i0"))
    assert store.items() == ["i0", "i1", "i2", "i3"]
    with pytest.raises(UserError, match=r"i0\. Labels would refer to other texts"):
        store.put_items([("i4", {"id": "i4"}), ("i0", {"id": "i0", "shown": {"question": "new"}})])
    assert store.items() == ["i0", "i1", "i2", "i3"]


def test_a_unit_that_fails_leaves_nothing_and_the_group_goes_on(store: StudyStore):
    with store.unit():
        store.assign(given("i0"))

    def broken() -> None:
        with store.unit():
            store.assign(given("i1"))
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        broken()
    with store.unit():
        store.assign(given("i2", position=2))
    store.commit()
    assert [one.item_id for one in store.assignments()] == ["i0", "i2"]
    assert [one.item_id for one in StudyStore(store.path).assignments()] == ["i0", "i2"]


def test_what_comes_together_is_committed_together(
    store: StudyStore, monkeypatch: pytest.MonkeyPatch
):
    commits = []
    commit = store.commit

    def counted() -> None:
        commits.append(1)
        commit()

    monkeypatch.setattr(store, "commit", counted)

    async def post(n: int) -> None:
        with store.unit():
            store.save("i0", "p2", {"n": n}, Page(str(n)), complete=False)
        await store.committed()

    async def together() -> None:
        await asyncio.gather(*(post(n) for n in range(20)))

    asyncio.run(together())
    assert len(commits) == 1
    assert store.answers()[0].version == 20


def test_a_lost_group_is_told_to_all_who_wait_and_forgotten(store: StudyStore):
    async def lose() -> list[Any]:
        with store.unit():
            store.assign(given("i0"))
        store._db.execute(
            "CREATE TABLE broken (id TEXT REFERENCES people (id) DEFERRABLE INITIALLY DEFERRED)"
        )
        store._db.execute("INSERT INTO broken VALUES ('nobody')")  # the commit fails
        return list(
            await asyncio.gather(store.committed(), store.committed(), return_exceptions=True)
        )

    assert [type(one) for one in asyncio.run(lose())] == [StoreFailed, StoreFailed]
    assert store.assignments() == []


def test_what_another_process_wrote_is_noticed(store: StudyStore):
    assert store.assignments() == []
    other = StudyStore(store.path)
    with other.committing():
        other.assign(given("i0"))
    store.refresh()
    assert len(store.assignments()) == 1


def test_another_process_leaves_the_log_of_a_database_that_is_open(store: StudyStore):
    """The owner's pages open the database of a served study once more, and end that; then a command runs beside it."""
    with closing(StudyStore(store.path)) as second, second.committing():
        second.add_person("Cy", "annotator")
    code = (
        "import sys\nfrom pathlib import Path\nfrom longmark.contrib.annotate.store import StudyStore\n"
        "store = StudyStore(Path(sys.argv[1]))\nprint(len(store.people()))\nstore.close()"
    )
    for name in ("Di", "Ed"):
        beside = subprocess.run(
            [sys.executable, "-c", code, str(store.path)],
            capture_output=True,
            text=True,
            check=True,
        )
        with store.committing():
            store.add_person(name, "annotator")
        assert store.path.with_name("study.sqlite-wal").is_file(), (
            "it is not removed under a server"
        )
    assert beside.stdout.split() == ["4"], "what was saved in between is seen"
    with closing(StudyStore(store.path)) as last:
        assert [one.name for one in last.people()] == ["Ada", "Ben", "Cy", "Di", "Ed"]


def test_names_are_unique_and_printable(store: StudyStore):
    for name, why in (
        ("ben", "already"),
        ("", "1 to 80"),
        ("x" * 81, "1 to 80"),
        ("a\u202eb", "control"),
    ):
        with pytest.raises(UserError, match=why):
            store.add_person(name, "annotator")


def test_files_that_are_none_of_ours(tmp_path: Path):
    with pytest.raises(UserError, match="annotate import"):
        StudyStore(tmp_path / "none.sqlite")
    text = tmp_path / "text.sqlite"
    text.write_text("not a database at all, but long enough to be taken for one" * 50)
    with pytest.raises(UserError, match="cannot be opened"):
        StudyStore(text)
    with pytest.raises(UserError, match="not the database of a study"):
        checked(text)


def test_a_newer_file_is_refused(store: StudyStore):
    store.close()
    with sqlite3.connect(store.path) as db:
        db.execute("INSERT INTO migrations VALUES (?, ?)", (len(MIGRATIONS) + 1, NOW))
    with pytest.raises(UserError, match="newer version"):
        StudyStore(store.path)


def test_a_backup_while_a_group_is_open_is_whole(store: StudyStore, tmp_path: Path):
    with store.unit():
        store.assign(given("i0"))
    store.commit()
    store.backup(tmp_path / "copy.sqlite")
    checked(tmp_path / "copy.sqlite")
    assert StudyStore(tmp_path / "copy.sqlite").assignments() == store.assignments()
    with pytest.raises(UserError, match="exists already"):
        store.backup(tmp_path / "copy.sqlite")
