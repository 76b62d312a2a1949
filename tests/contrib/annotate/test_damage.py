"""The database of a study that something else has changed: an error of every command, which names the file and what to
do. Nothing of it is run, and none of it is lost."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from tests.contrib.annotate.serving import write_study
from tests.program import Done, run

DEEP = "[" * 2000
CHANGES = {
    "a view": "ALTER TABLE posts RENAME TO other; CREATE VIEW posts AS SELECT * FROM other",
    "a trigger": "CREATE TRIGGER after_it AFTER INSERT ON people BEGIN DELETE FROM people; END",
    "a virtual table": "DROP TABLE visits; CREATE VIRTUAL TABLE visits USING fts5(x)",
    "a missing table": "DROP TABLE sessions",
    "other columns": "DROP TABLE posts; CREATE TABLE posts (x)",
    "a number for a name": "UPDATE people SET name = x'ff' WHERE name = 'Olga'",
    "no JSON in an item": "UPDATE items SET content = '{' WHERE place = 0",
    "a list in an item": "UPDATE items SET content = '[5]' WHERE place = 0",
    "an item without its parts": "UPDATE items SET content = '{}' WHERE place = 0",
    "an item with other parts": "UPDATE items SET content = json_set(content, '$.shown', 5) WHERE place = 0",
    "a deep item": f"UPDATE items SET content = '{DEEP}' WHERE place = 0",
    "bytes in an item": "UPDATE items SET content = x'fffe' WHERE place = 0",
    "no study": "UPDATE settings SET value = '[]' WHERE name = 'study'",
    "a deep study": f"UPDATE settings SET value = '{DEEP}' WHERE name = 'study'",
}
READS = ("status", "export", "import", "retry Cara", "erase Cara")
OF_CONTENTS = ("a deep setting", f"UPDATE settings SET value = '{DEEP}' WHERE name = 'exports'")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made") / "study"
    folder.mkdir()
    write_study(folder)
    for words in ("import study.yaml", "invite study.yaml Olga --role owner", "invite study.yaml Cara",
                  "export study.yaml --out labels"):  # fmt: skip
        assert annotate(folder, words).code == 0
    return folder


def annotate(folder: Path, words: str) -> Done:
    return run("annotate", *words.split(), home=folder.parent / "home", cwd=folder)


def changed(made: Path, to: Path, sql: str, file: str = "study.sqlite") -> Path:
    shutil.copytree(made, to)
    with closing(sqlite3.connect(to / file)) as db:
        db.executescript(sql)
        db.commit()
    return to


@pytest.mark.parametrize("change", CHANGES)
def test_a_changed_database_is_an_error_of_every_command_that_reads_it(
    change: str, made: Path, tmp_path: Path
):
    for number, words in enumerate(READS):
        verb, *rest = words.split()
        if change.startswith(("no study", "a deep study")) and verb == "import":
            continue  # it puts the study of the file in its place
        folder = changed(made, tmp_path / str(number), CHANGES[change])
        before = (folder / "study.sqlite").read_bytes()
        out = ["--out", "new"] if verb == "export" else []
        done = annotate(folder, " ".join([verb, "study.yaml", *rest, *out]))
        assert (done.code, "Traceback" in done.err) == (2, False), (words, done)
        if (words, done.err) != (
            "retry Cara",
            "longmark: Cara has not failed the training or the qualification\n",
        ):
            assert "study.sqlite is damaged" in done.err, (words, done)
            assert "annotate restore" in done.err, (words, done)
        assert (folder / "study.sqlite").read_bytes() == before, words


def test_a_damaged_list_of_exports_stops_an_erasure_before_anything_is_erased(
    made: Path, tmp_path: Path
):
    name, sql = OF_CONTENTS
    folder = changed(made, tmp_path / "study", sql)
    for words in ("erase study.yaml Cara", "export study.yaml --out new"):
        done = annotate(folder, words)
        assert (done.code, "the setting exports cannot be read" in done.err) == (2, True), (
            name,
            done,
        )
    assert "Cara" in annotate(folder, "status study.yaml").out


@pytest.mark.parametrize("change", [name for name in CHANGES if name.startswith(("a view", "a trigger", "a virtual",
                                    "a missing", "other", "a number"))])  # fmt: skip
def test_a_changed_database_is_not_restored_or_backed_up(change: str, made: Path, tmp_path: Path):
    backed = annotate(
        folder := changed(made, tmp_path / "own", CHANGES[change]),
        "backup study.yaml --out new.sqlite",
    )
    assert (backed.code, (folder / "new.sqlite").exists()) == (2, False), backed
    folder = changed(made, tmp_path / "study", CHANGES[change])
    (folder / "study.sqlite").rename(folder / "monday.sqlite")
    for suffix in ("-wal", "-shm"):
        (folder / f"study.sqlite{suffix}").unlink(missing_ok=True)
    done = annotate(folder, "restore study.yaml monday.sqlite")
    assert (done.code, "monday.sqlite is damaged" in done.err) == (2, True), done
    assert not (folder / "study.sqlite").exists()


@pytest.mark.parametrize(
    "write",
    [
        lambda path: path.write_bytes(b""),
        lambda path: path.write_bytes(b"SQLite format 3\0" + b"x" * 5000),
        lambda path: path.write_bytes(path.read_bytes()[:9000]),
        lambda path: path.write_text("id,name\n"),
        lambda path: (path.unlink(), path.mkdir()),
        lambda path: (path.unlink(), path.symlink_to(path.name)),
        lambda path: path.unlink(),
    ],
)
def test_what_is_no_database_of_a_study_is_not_restored(
    write: Callable[[Path], object], made: Path, tmp_path: Path
):
    shutil.copytree(made, folder := tmp_path / "study")
    shutil.copy(folder / "study.sqlite", folder / "monday.sqlite")
    write(folder / "monday.sqlite")
    before = (folder / "study.sqlite").read_bytes()
    for options in ("", " --replace"):
        done = annotate(folder, f"restore study.yaml monday.sqlite{options}")
        assert (done.code, "monday.sqlite" in done.err, "Traceback" in done.err) == (
            2,
            True,
            False,
        ), done
    assert (folder / "study.sqlite").read_bytes() == before


def test_an_item_with_half_a_character_is_a_bad_line_of_its_file(made: Path, tmp_path: Path):
    shutil.copytree(made, folder := tmp_path / "study")
    file = folder / "items.jsonl"
    lines = file.read_text().splitlines()
    lines[1] = lines[1].replace("{", r'{"more": ["\ud800"], ', 1)
    file.write_text("\n".join(lines) + "\n")
    for words in ("check study.yaml", "import study.yaml"):
        done = annotate(folder, words)
        assert (done.code, "items.jsonl:2: has a text with half a character" in done.err) == (
            2,
            True,
        ), done
