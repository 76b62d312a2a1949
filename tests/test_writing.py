"""One module writes: what it refuses, what it replaces, and that no other module opens a file for writing."""

from __future__ import annotations

import ast
import os
import shutil
import sqlite3
import zipfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
from tests.contrib.annotate.serving import STUDY, write_study
from tests.program import ROOT, records, run, write_jsonl

from longmark import writing
from longmark.contrib.annotate.cli import annotate as verbs
from longmark.contrib.annotate.erase import erase
from longmark.contrib.annotate.export import FILES
from longmark.contrib.annotate.site import database_of, import_study, open_store
from longmark.contrib.annotate.store import StudyStore
from longmark.contrib.demo.recorded import RecordedJudge, judged_now
from longmark.contrib.demo.steps import run_demo
from longmark.errors import UserError
from longmark.models.cache import CallCache
from longmark.workspace import replaced

SOURCE = ROOT / "src" / "longmark"

# The sources ----------------------------------------------------------------------------------------------------------

METHODS = {
    *(
        "write_text",
        "write_bytes",
        "mkdir",
        "makedirs",
        "unlink",
        "rename",
        "renames",
        "touch",
        "chmod",
        "fchmod",
    ),
    *(
        "rmtree",
        "rmdir",
        "removedirs",
        "copyfile",
        "copy2",
        "copytree",
        "copymode",
        "copystat",
        "symlink",
        "symlink_to",
    ),
    *(
        "hardlink_to",
        "mkstemp",
        "mkdtemp",
        "NamedTemporaryFile",
        "extractall",
        "truncate",
        "ftruncate",
        "utime",
    ),
    *(
        "mkfifo",
        "mknod",
        "to_parquet",
        "to_csv",
        "to_excel",
        "write_table",
        "open_memmap",
        "memmap",
    ),
    *(
        "write_index",
        "save_pretrained",
        "savefig",
        "save_file",
        "savez",
        "FileHandler",
        "RotatingFileHandler",
    ),
}
OF_OS = {"open", "replace", "remove", "link"}  # of `os` only
ALLOWED = {  # module -> why it may write by itself, or only looks as if it did
    "writing.py": "the mechanism",
    "home.py": "the folder of the settings of the user, not of a project",
    "workspace.py": "the folder that a command is given, and folders that `writing` has looked at",
    "contrib/annotate/database.py": "SQLite copies into a file that `writing` made, and reads one with mode=ro",
    "cli/terminal.py": "the null device",
    "engine/estimate.py": "a copy of a run in a temporary folder",
    "engine/folder.py": "the file of rows, which `writing` opened, is cut where the disk was full",
    "contrib/scale/merge.py": "the folder within a folder that `writing` made, which is empty then",
    "contrib/scale/ray_cluster.py": "a temporary folder",
    "engine/verify.py": "a bundle, unpacked into a temporary folder; packed into a file of `writing`",
    "contrib/local/install.py": "a file that `writing` opened is cut where a part of it is torn",
    "contrib/make/rag/dense.py": "NumPy and FAISS write into a folder of `workspace.replaced`, which is empty then",
    "contrib/make/rag/passages.py": "it is opened for reading",
    "report/figures.py": "into memory",
    "contrib/papers/score/page.py": "a copy in a temporary folder",
    "records/arrow_reader.py": "the null device, when nobody reads its output any more",
    "contrib/make/training/adapt.py": "peft writes an adapter at names that `writing` has looked at",
}
MODES = frozenset("wax+")


def opens_for_writing(call: ast.Call) -> bool:
    """Whether a call of `open` has a mode that writes, or one that cannot be read here."""
    modes = [*call.args[:2], *(word.value for word in call.keywords if word.arg == "mode")]
    texts = [
        one.value for one in modes if isinstance(one, ast.Constant) and isinstance(one.value, str)
    ]
    return any(len(text) <= 3 and MODES & {*text} for text in texts)


def what_writes(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """The line and text of each call that makes, changes or deletes a file."""
    for call in ast.walk(tree):
        if not isinstance(call, ast.Call):
            continue
        function = call.func
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        owner = getattr(getattr(function, "value", None), "id", "")
        of_the_system = owner in ("os", "shutil") and (name in OF_OS or name in ("move", "copy"))
        one_path = name == "replace" and owner != "os" and len(call.args) == 1 and not call.keywords
        no_file = (
            bool(call.args)
            and isinstance(call.args[0], ast.Constant)
            and call.args[0].value in ("", ":memory:")
        )
        database = name == "connect" and owner == "sqlite3" and not no_file
        archive = name == "ZipFile" and len(call.args) > 1
        if (
            name in METHODS
            or of_the_system
            or one_path
            or database
            or archive
            or (name == "open" and opens_for_writing(call))
        ):
            yield call.lineno, ast.unparse(call)


def test_only_one_module_writes_files():
    """A new place that writes goes through `longmark.writing`, or says in ALLOWED why it need not."""
    found: dict[str, list[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        name = path.relative_to(SOURCE).as_posix()
        lines = [
            f"{name}:{line}: {text}"
            for line, text in what_writes(ast.parse(path.read_text("utf-8")))
        ]
        if lines:
            found[name] = lines
    assert [line for name, lines in found.items() if name not in ALLOWED for line in lines] == []
    assert {*ALLOWED} <= {*found}, "a module that does not write needs no permission"


@pytest.mark.parametrize(
    "line",
    [
        "open(path, 'w')",
        "open(os.open(path, flags), 'wb')",
        "path.open(mode='a')",
        "io.open(path, 'r+b')",
        "os.open(path, os.O_CREAT)",
        "path.write_text('')",
        "path.unlink()",
        "path.replace(other)",
        "os.replace(path, other)",
        "shutil.rmtree(path)",
        "shutil.copyfile(path, other)",
        "sqlite3.connect(path)",
        "zipfile.ZipFile(path, 'w')",
        "folder.mkdir(parents=True)",
        "frame.to_parquet(path)",
    ],
)
def test_the_rule_sees_what_writes(line: str):
    assert [text for _, text in what_writes(ast.parse(line))] != []


@pytest.mark.parametrize(
    "line", ["open(path)", "path.open('rb')", "text.replace('a', 'b')", "replace(row, score=1)"]
)
def test_the_rule_sees_nothing_in_what_reads(line: str):
    assert [*what_writes(ast.parse(line))] == []


# The mechanism --------------------------------------------------------------------------------------------------------


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (file := tmp_path / "outside" / "mine.txt").write_text("mine")
    return file


def test_a_file_takes_the_place_of_a_link_and_never_of_what_it_leads_to(
    tmp_path: Path, outside: Path
):
    for target in (outside, tmp_path / "none"):
        (link := tmp_path / "page.html").unlink(missing_ok=True)
        link.symlink_to(target)
        with writing.replacing(link) as file:
            file.write(b"new")
        assert (link.is_symlink(), link.read_text(), outside.read_text()) == (False, "new", "mine")
    assert not (tmp_path / "none").exists()


def test_a_file_never_takes_the_place_of_a_folder_a_pipe_or_a_device(tmp_path: Path, outside: Path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(outside.parent)
    for path, kind in (
        (tmp_path / "pipe", "a pipe or a device"),
        (tmp_path / "link", "a folder"),
        (outside.parent, "a folder"),
        (Path("/dev/null"), "a pipe or a device"),
        (Path("/dev/stdout"), "a pipe or a device"),
        (Path("/proc/self/fd/1"), "a pipe or a device"),
    ):
        with pytest.raises(UserError, match=f"is {kind}; name a file"), writing.replacing(path):
            raise AssertionError("nothing is opened")


def test_rows_are_appended_to_a_regular_file_alone(tmp_path: Path, outside: Path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(outside)
    (tmp_path / "dangling").symlink_to(tmp_path / "none")
    for name in ("pipe", "link", "dangling"):
        with pytest.raises(UserError, match=f"{name} cannot be written: it is a (link|pipe)"):
            writing.appending(tmp_path / name)
    with pytest.raises(UserError, match="cannot be written: it is a folder"):
        writing.appending(outside.parent)
    with open(writing.appending(tmp_path / "rows"), "ab") as file:
        file.write(b"row")
    assert (outside.read_text(), (tmp_path / "none").exists()) == ("mine", False)


def test_a_link_that_appears_after_the_check_is_not_followed(
    tmp_path: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
):
    (link := tmp_path / "rows").symlink_to(outside)
    monkeypatch.setattr(writing, "check_ours", lambda *_: None)
    with pytest.raises(OSError, match="symbolic links"):
        writing.appending(link)


def test_what_is_left_of_a_killed_process_is_replaced_and_a_link_is_deleted(
    tmp_path: Path, outside: Path
):
    (staged := tmp_path / ".rows.jsonl.new").symlink_to(outside)
    for _ in range(2):
        with writing.fresh(staged) as file:
            file.write(b"new")
        assert (staged.is_symlink(), outside.read_text()) == (False, "mine")


def test_only_a_folder_that_was_made_by_longmark_is_cleared(tmp_path: Path, outside: Path):
    def make() -> None:
        with replaced(tmp_path / "idx", "index.json", ("part*",)) as folder:
            (folder / "index.json").write_text("{}")
            (folder / "part1").write_text("")

    make()
    for name in (".idx.new", ".idx.old"):
        (tmp_path / name).symlink_to(outside.parent)
        with pytest.raises(UserError, match=f"{name} is in the way, and longmark did not make it"):
            make()
        (tmp_path / name).unlink()
        shutil.copytree(outside.parent, tmp_path / name)
        with pytest.raises(UserError, match=f"{name} is in the way"):
            make()
        assert (tmp_path / name / "mine.txt").read_text() == "mine"
        shutil.rmtree(tmp_path / name)
        (tmp_path / name).mkdir()
        (tmp_path / name / ("index.json" if name.endswith("old") else ".lock")).touch()
        make()
        assert not (tmp_path / name).exists(), "what a killed process left"
    for name in ("notes.md", ".env"):
        (tmp_path / "idx" / name).write_text("mine")
        with pytest.raises(UserError, match=rf"holds other files \({name}\); name a new folder"):
            make()
        (tmp_path / "idx" / name).unlink()
    make()
    (tmp_path / "hidden").mkdir()
    (tmp_path / "hidden" / ".env").write_text("mine")
    with (
        pytest.raises(UserError, match=r"holds other files \(.env\)"),
        replaced(tmp_path / "hidden", "index.json"),
    ):
        raise AssertionError("nothing is made")


def test_a_folder_behind_a_link_is_replaced_only_if_it_is_empty(tmp_path: Path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "idx").symlink_to(tmp_path / "disk")
    with replaced(tmp_path / "idx", "index.json") as folder:
        (folder / "index.json").write_text("{}")
    assert (
        (tmp_path / "idx").is_symlink(),
        [one.name for one in (tmp_path / "disk").iterdir()],
    ) == (
        True,
        ["index.json"],
    )
    refused = pytest.raises(UserError, match="is a link, and what it leads to would be replaced")
    with refused, replaced(tmp_path / "idx", "index.json"):
        raise AssertionError("nothing is made")


# Databases ------------------------------------------------------------------------------------------------------------


def foreign(path: Path) -> bytes:
    with closing(sqlite3.connect(path)) as database:
        database.execute("CREATE TABLE contacts (name TEXT)")
        database.execute("CREATE TABLE migrations (id INTEGER, name TEXT)")
        database.commit()
    path.chmod(0o644)
    return path.read_bytes()


def test_a_database_of_something_else_keeps_its_tables_and_its_mode(tmp_path: Path):
    path = write_study(tmp_path)
    content = foreign(database_of(path))
    with pytest.raises(UserError, match=r"study\.sqlite is a database of something else"):
        import_study(path)
    with pytest.raises(UserError, match=r"study\.sqlite is a database of something else"):
        open_store(path)
    assert database_of(path).read_bytes() == content
    assert database_of(path).stat().st_mode & 0o777 == 0o644
    content = foreign(tmp_path / "calls.sqlite")
    with pytest.raises(UserError, match=r"calls\.sqlite is a database of something else"):
        CallCache(tmp_path / "calls.sqlite")
    assert (tmp_path / "calls.sqlite").read_bytes() == content
    assert not [one for one in tmp_path.iterdir() if one.name.endswith(("-wal", "-shm"))]


def test_a_cache_behind_a_link_is_one_that_is_there(tmp_path: Path):
    CallCache(tmp_path / "real.sqlite").close()
    (tmp_path / "link.sqlite").symlink_to(tmp_path / "real.sqlite")
    CallCache(tmp_path / "link.sqlite").close()
    (tmp_path / "dangling.sqlite").symlink_to(tmp_path / "none")
    (tmp_path / "empty").touch()
    (tmp_path / "to-empty.sqlite").symlink_to(tmp_path / "empty")
    for name in ("dangling.sqlite", "to-empty.sqlite"):
        with pytest.raises(
            UserError, match=r"it is a link, and .* is no database; name the file itself"
        ):
            CallCache(tmp_path / name)
    assert ((tmp_path / "none").exists(), (tmp_path / "empty").stat().st_size) == (False, 0)


def test_the_log_of_a_database_is_no_link_either(tmp_path: Path, outside: Path):
    path = write_study(tmp_path)
    import_study(path)
    for more in ("-wal", "-shm", "-journal"):
        (link := tmp_path / f"study.sqlite{more}").symlink_to(outside)
        with pytest.raises(UserError, match=f"study.sqlite{more} cannot be written: it is a link"):
            open_store(path)
        link.unlink()
    assert outside.read_text() == "mine"


# Verbs ----------------------------------------------------------------------------------------------------------------


def test_a_bundle_takes_the_place_of_a_link_and_holds_no_file_behind_one(
    tmp_path: Path, outside: Path
):
    given, home = write_jsonl(tmp_path / "a.jsonl", records(2)), tmp_path / "home"
    words = ("run", given, "--metrics", "score.readability", "--out", tmp_path / "r", "--quiet")
    assert run(*words, home=home).code == 0
    (bundle := tmp_path / "b.zip").symlink_to(outside)
    assert run("export", tmp_path / "r", "--bundle", bundle, home=home).code == 0
    assert (outside.read_text(), zipfile.is_zipfile(bundle)) == ("mine", True)
    (tmp_path / "r" / "absent.jsonl").symlink_to(outside)
    refused = run("export", tmp_path / "r", "--bundle", tmp_path / "c.zip", home=home)
    assert (refused.code, "absent.jsonl" in refused.err, (tmp_path / "c.zip").exists()) == (
        2,
        True,
        False,
    )


def test_answers_that_are_left_out_are_noted_in_no_file_behind_a_link(
    tmp_path: Path, outside: Path
):
    given, home = write_jsonl(tmp_path / "a.jsonl", [*records(2), {"id": "bad"}]), tmp_path / "home"
    words = (
        "run",
        given,
        "--metrics",
        "score.readability",
        "--out",
        tmp_path / "r",
        "--quiet",
        "--skip-bad",
    )
    assert run(*words, home=home).code == 0
    assert (tmp_path / "r" / "absent.jsonl").is_file()
    (staged := tmp_path / "r" / ".absent.jsonl.new").symlink_to(outside)
    assert run(*words, home=home).code == 0
    staged.unlink(missing_ok=True)
    (tmp_path / "r" / "absent.jsonl").unlink()
    (tmp_path / "r" / "absent.jsonl").symlink_to(outside)
    refused = run(*words, home=home)
    assert (refused.code, "absent.jsonl cannot be written: it is a link" in refused.err) == (
        2,
        True,
    )
    assert outside.read_text() == "mine"


def test_figures_and_tables_are_written_into_no_folder_behind_a_link(tmp_path: Path, outside: Path):
    from rich.console import Console

    from longmark.report.document import Document, publish, write_document

    page = Document("comparison", "Two systems", "", ())
    for name in ("figures", "tables"):
        (out := tmp_path / name).mkdir()
        (out / name).symlink_to(outside.parent)
        with pytest.raises(UserError, match=f"{name} cannot be written: it is a link"):
            publish(page, out, Console(quiet=True))
    with pytest.raises(UserError, match="figures cannot be written: it is a link"):
        write_document(page, tmp_path / "figures" / "report.html")
    assert [one.name for one in outside.parent.iterdir()] == ["mine.txt"]


def test_the_demo_writes_into_no_folder_behind_a_link(tmp_path: Path, outside: Path):
    for name in ("now", "compare", "alone", "scores-recorded"):
        (out := tmp_path / f"demo-{name}").mkdir()
        (out / name).symlink_to(outside.parent)
        with pytest.raises(UserError, match=f"{name} cannot be written: it is a link"):
            run_demo(out)
        assert [one.name for one in out.iterdir()] == [name]
    assert outside.read_text() == "mine"


@pytest.mark.parametrize("words", [("demo",), ("demo", "--full"), ("init",), ("annotate", "init")])
def test_a_name_that_longmark_chooses_itself_is_no_link(
    tmp_path: Path, outside: Path, words: tuple[str, ...]
):
    """The output of a command without --out."""
    for name, target in (
        ("demo", outside.parent),
        ("longmark.yaml", outside),
        ("STUDY.yaml", outside),
    ):
        (tmp_path / name).symlink_to(target)
    done = run(*words, home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, bool(done.err)) == (2, True), done
    assert ([one.name for one in outside.parent.iterdir()], outside.read_text()) == (
        ["mine.txt"],
        "mine",
    )


@pytest.mark.parametrize("place", ["folder", "folder of runs", "itself"])
def test_a_project_is_asked_about_a_link_out_of_its_folder(
    tmp_path: Path, outside: Path, place: str
):
    (project := tmp_path / "project").mkdir()
    write_jsonl(project / "a.jsonl", records(1))
    (project / "longmark.yaml").write_text(
        "runs: {one: {examples: a.jsonl, metrics: score.readability}}"
    )
    if place == "folder of runs":
        (project / "runs").symlink_to(outside.parent)
    else:
        (project / "runs").mkdir()
        target = project / "runs" / "one" if place == "itself" else outside.parent
        (project / "runs" / "one").symlink_to(target)
    done = run("run", "one", home=tmp_path / "home", cwd=project)
    assert (done.code, "Traceback" in done.err) == (2, False), done
    assert place == "itself" or "longmark.yaml is not trusted" in done.err
    assert [one.name for one in outside.parent.iterdir()] == ["mine.txt"]


def test_a_demo_deletes_only_a_run_of_its_own(tmp_path: Path):
    for manifest in ("{}", '{"longmark": "1"}'):
        (now := tmp_path / "now").mkdir(exist_ok=True)
        (now / "manifest.json").write_text(manifest)
        (now / "thesis.txt").write_text("mine")
        with suppress(UserError):
            judged_now(tmp_path, RecordedJudge())
        assert (now / "thesis.txt").read_text() == "mine"


def test_the_link_of_the_owner_is_written_into_no_other_file(
    tmp_path: Path, outside: Path, monkeypatch: pytest.MonkeyPatch
):
    path = write_study(tmp_path)
    (link := tmp_path / "study.owner-link").symlink_to(outside)
    outside.chmod(0o644)

    class StandInSite:
        def __init__(self, store: StudyStore) -> None:
            self.store, self.items = store, dict[str, Any]()
            self.study = store  # its title is printed
            store.title = "Floods"  # type: ignore[attr-defined]

    def serving(study: Path, _host: str, _port: int, _address: Any, ready: Any) -> None:
        with closing(open_store(study)) as store:
            ready(StandInSite(store))

    monkeypatch.setattr(verbs, "serving", serving)
    done = run("annotate", "serve", path, home=tmp_path / "home")
    assert (done.code, "/in/" in link.read_text()) == (0, True), done
    assert (link.is_symlink(), link.stat().st_mode & 0o777) == (False, 0o600)
    assert (outside.read_text(), outside.stat().st_mode & 0o777) == ("mine", 0o644)


# Backups and exports of a study ---------------------------------------------------------------------------------------


def command(action: str, study: Path, *words: str | Path) -> Any:
    return run("annotate", action, study, *words, home=study.parent / "home")


@pytest.mark.parametrize("where", ["a page", "the end"])
def test_a_backup_of_a_damaged_database_is_no_success(tmp_path: Path, where: str):
    """What `restore` refuses, `backup` does not report as done, and leaves no file of it."""
    path = write_study(tmp_path, 400)
    import_study(path)
    content = bytearray(database_of(path).read_bytes())
    if where == "a page":
        middle = len(content) // 4096 // 2 * 4096
        content[middle : middle + 4096] = b"\xff" * 4096
    else:
        del content[-3 * 4096 :]
    database_of(path).write_bytes(content)
    done = command("backup", path, "--out", tmp_path / "monday.sqlite")
    assert (
        done.code,
        "study.sqlite is damaged" in done.err or "database of a study" in done.err,
    ) == (2, True), done
    assert "Traceback" not in done.err
    assert [one.name for one in tmp_path.iterdir() if "monday" in one.name] == []
    shutil.copyfile(database_of(path), tmp_path / "copy.sqlite")
    (tmp_path / "other.yaml").write_text(STUDY)
    assert command("restore", tmp_path / "other.yaml", tmp_path / "copy.sqlite").code == 2


def test_a_backup_can_be_restored(tmp_path: Path):
    path = write_study(tmp_path)
    import_study(path)
    assert command("backup", path, "--out", tmp_path / "monday.sqlite").code == 0
    database_of(path).unlink()
    assert command("restore", path, tmp_path / "monday.sqlite").code == 0
    with closing(open_store(path)) as store:
        assert len(store.contents()) == 3


def exported(path: Path, folder: Path) -> None:
    """Notes an export of the audit log to a folder, as a database from someone else may have it."""
    folder.mkdir(exist_ok=True)
    (folder / "audit.jsonl").write_text("mine")
    with closing(open_store(path)) as store, store.committing():
        store.add_person("Olga", "owner") if not store.people() else None
        if "Ada" not in [one.name for one in store.people()]:
            store.add_person("Ada", "annotator")
        store.keep(
            "exports", {"folder": str(folder.resolve()), "files": ["audit.jsonl"], "names": False}
        )


def test_erase_writes_exports_again_in_the_folder_of_the_study_alone(tmp_path: Path):
    (tmp_path / "study").mkdir()
    path = write_study(tmp_path / "study")
    import_study(path)
    inside, elsewhere, linked = path.parent / "out", tmp_path / "elsewhere", path.parent / "linked"
    exported(path, inside)
    exported(path, elsewhere)
    linked.symlink_to(elsewhere)
    with closing(open_store(path)) as store, store.committing():
        store.keep("exports", {"folder": str(linked), "files": ["audit.jsonl"], "names": False})
    done = command("erase", path, "Ada")
    assert done.code == 0, done
    assert f"{inside}: written again" in done.out
    assert f"Not reached: an export to {elsewhere}, outside the folder of the study" in done.out
    assert (
        (elsewhere / "audit.jsonl").read_text(),
        (inside / "audit.jsonl").read_text() == "mine",
    ) == ("mine", False)
    with pytest.raises(UserError, match="the study was not exported to this folder"):
        erase(path, "p2", [tmp_path])
    again = command("erase", path, "p2", "--exports", elsewhere)
    assert (again.code, f"{elsewhere}: written again" in again.out) == (0, True), again
    assert (elsewhere / "audit.jsonl").read_text() != "mine"


def test_an_export_deletes_only_what_an_earlier_export_wrote(tmp_path: Path):
    """A study without labels has nothing for `pairs.jsonl`; a file of that name is the user's own."""
    path = write_study(tmp_path)
    import_study(path)
    (own := tmp_path / "pairs.jsonl").write_text("mine")
    assert command("export", path, "--out", tmp_path).code == 0
    assert own.read_text() == "mine"
    with closing(open_store(path)) as store, store.committing():
        store.keep(
            "exports", {"folder": str(tmp_path.resolve()), "files": ["pairs.jsonl"], "names": False}
        )
    assert command("export", path, "--out", tmp_path).code == 0
    assert not own.exists()
    assert "pairs.jsonl" in FILES
