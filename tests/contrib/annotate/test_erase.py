"""Exports without names, withdrawal, and the erasure of a person: no byte of theirs is left on the disk."""

from __future__ import annotations

import shutil
from contextlib import closing
from datetime import datetime
from pathlib import Path

import pytest
from tests.contrib.annotate.serving import ServedStudy, Visitor, serving, write_study
from tests.program import Done, run

from longmark.contrib.annotate.erase import erase
from longmark.contrib.annotate.export import FILES
from longmark.contrib.annotate.site import lock_of, open_store
from longmark.errors import UserError

NAME, COMMENT, SKIPPED, REASON = (
    "Zoë Quux",
    "a-comment-of-hers",
    "her-reason-to-skip",
    "her-justification",
)
HERS = [text.encode() for text in (NAME, COMMENT, SKIPPED, REASON)]


def at_work(served: ServedStudy) -> None:
    """Zoë labels i0 with a comment, skips i1, and decides i2, on which the others differ; Ben mentions nobody."""
    zoe = served.person(NAME, "adjudicator")
    assert zoe.next() == "i0"
    zoe.label("i0", {"f.right": "no", "f.relevance": "3", "f.why": COMMENT})
    for name, right in (("Ada", "yes"), ("Ben", "n-a")):
        person = served.person(name)
        while (item := person.next()) is not None:
            person.label(item, {"f.right": right, "f.relevance": "7"})
    _, hidden = zoe.view("i1")
    zoe.post("/work/i1/skip", {**hidden, "reason": SKIPPED})
    page = zoe.get("/adjudicate/i2")
    decision = {name: page.hidden(name) for name in ("token", "once", "version")}
    decision |= {"f.right": "yes", "f.relevance": "7", "justification": REASON}
    assert zoe.post("/adjudicate/i2", decision).status == 303


def holding(folder: Path, texts: list[bytes] = HERS) -> set[str]:
    """The files of a folder in which one of the texts stands."""
    files = (one for one in folder.rglob("*") if one.is_file())
    return {
        str(one.relative_to(folder))
        for one in files
        if any(text in one.read_bytes() for text in texts)
    }


def command(action: str, study: Path, *words: str | Path) -> Done:
    return run("annotate", action, study, *words, home=study.parent / "home")


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = write_study(tmp_path)
    with serving(path) as served:
        served.person("Olga", "owner")
        at_work(served)
    return path


def test_no_file_of_an_export_has_a_name_unless_it_is_asked_for(study: Path):
    folder = study.parent
    assert command("export", study, "--out", folder / "out").code == 0
    assert command("export", study, "--out", folder / "named", "--names").code == 0
    names = [name.encode() for name in (NAME, "Ada", "Ben", "Olga")]
    assert holding(folder / "out", names) == set()
    assert {"audit.jsonl", "labels.jsonl", "ratings.csv"} <= holding(folder / "named", names)
    assert {one.name for one in (folder / "out").iterdir()} <= FILES.keys()


def test_withdrawal_leaves_no_label_or_comment_in_an_export(tmp_path: Path):
    with serving(write_study(tmp_path)) as served:
        owner = served.person("Olga", "owner")
        at_work(served)
        form = {"token": owner.get("/owner/people").hidden("token"), "person": "p2", "sure": "yes"}
        assert owner.post("/owner/withdraw", form).status == 303
        with closing(served.store()) as store:
            assert store.adjudications() == [], "decisions are withdrawn too"
        assert "i2" in owner.get("/owner/disagreements").text
    done = command("export", served.path, "--out", tmp_path / "out")
    assert done.code == 0
    assert holding(tmp_path / "out") == set()


def test_an_erased_person_is_in_no_byte_of_the_database_and_the_exports(study: Path):
    """Backups, which cannot be reached, are named, whatever their names."""
    folder = study.parent
    command("export", study, "--out", folder / "out")
    command("export", study, "--out", folder / "named", "--names")
    backups = [folder / "monday.sqlite", folder / "tuesday.bak"]
    for backup in backups:
        command("backup", study, "--out", backup)
    shutil.copyfile(backups[0], folder / "copy")
    assert holding(folder) >= {
        "study.sqlite",
        "monday.sqlite",
        "named/audit.jsonl",
        "out/audit.jsonl",
    }
    done = command("erase", study, NAME)
    assert (done.code, done.err) == (0, "")
    assert holding(folder) == {"monday.sqlite", "tuesday.bak", "copy"}
    assert "p2 is erased" in done.out
    assert all(f"Not reached: {one}, a copy" in done.out for one in (*backups, folder / "copy"))
    assert f"{folder / 'named'}: written again" in done.out
    assert b"Ada" in (folder / "named" / "labels.jsonl").read_bytes(), "the others stay"
    with serving(study) as served:
        assert served.person("Dora").next() == "i0", "others get the items"
        with closing(served.store()) as store:
            numbers = [one.number for one in store.events()]
        assert numbers == list(range(1, len(numbers) + 1)), "no hole in the audit"
        assert Visitor(served.url).sign_in(served.link("Dora")).status == 303


def test_erase_says_what_it_cannot_do(study: Path):
    with pytest.raises(UserError, match="only owner"):
        erase(study, "Olga")
    with pytest.raises(UserError, match="Zoe"):
        erase(study, "Zoe")
    with closing(open_store(study)) as store, store.committing():
        answer = store.answer("i2", "p3")
        assert answer
        store.write(
            "UPDATE answers SET content = ? WHERE item_id = 'i2'", ('{"why": "as Zoë Quux says"}',)
        )
    assert ("answers", "i2") in erase(study, "p2").texts
    with lock_of(study.with_suffix(".sqlite")), pytest.raises(UserError, match="served"):
        erase(study, "Ada")


def test_only_the_owner_of_the_files_reads_them(study: Path):
    """The database with its log, backups, exports, and a link that nobody is there to read from a terminal."""
    folder = study.parent
    command("export", study, "--out", folder / "out")
    command("backup", study, "--out", folder / "monday.sqlite")
    command("restore", study, folder / "monday.sqlite", "--replace")
    files = [one for one in folder.rglob("*") if ".sqlite" in one.name or one.parent.name == "out"]
    files = [one for one in files if not one.name.endswith(".lock")]
    assert len(files) >= 7
    assert {one.name: one.stat().st_mode & 0o777 for one in files} == {
        one.name: 0o600 for one in files
    }


def test_a_name_is_no_formula(study: Path):
    for name in ("=HYPERLINK(1)", "+1", "-1", "@SUM"):
        assert "must not begin with" in command("invite", study, name).err


def test_a_link_signs_in_for_30_days(study: Path):
    command("invite", study, "Dora")
    with closing(open_store(study)) as store:
        rows = store.rows("SELECT created_at, expires_at FROM invitations")
    days = [
        (datetime.fromisoformat(end) - datetime.fromisoformat(begin)).days for begin, end in rows
    ]
    assert set(days) <= {29, 30}


def test_names_that_look_the_same_are_one_person(study: Path):
    for name in ("ada", "ADA", "\uff21da", "Ad\u0430", "\u0391da"):
        assert "a person named Ada already" in command("invite", study, name).err, ascii(name)
    assert command("invite", study, "Adam").code == 0


def test_a_damaged_database_names_the_remedy(study: Path):
    path = study.with_suffix(".sqlite")
    content = bytearray(path.read_bytes())
    content[4096:] = b"\xff" * (len(content) - 4096)
    path.write_bytes(content)
    error = command("status", study).err
    assert "TMPDIR" not in error
    assert "restore" in error or "cannot be opened as the database" in error
