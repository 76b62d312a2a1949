"""What the command line prints: no control character of foreign text, and no traceback where the machine fails."""

from __future__ import annotations

import errno
import os
import re
import sys
import unicodedata
from collections.abc import Callable
from pathlib import Path

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.program import LONGEST, QR, Done, ended, judged, records, run, start, write_jsonl
from tests.wire import serve

from longmark import cli
from longmark.cli.terminal import plain
from longmark.engine.run import open_cache

HOSTILE = "\x1b[2J\x1b]0;owned\x07\x9b31m\r\u202e\x7f"
SHOWN = r"\x1b[2J\x1b]0;owned\x07\x9b31m\r\u202e\x7f"
FOUND = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
TEXT = "A flood rises. The wind is strong, and the water is warm."

Command = Callable[..., Done]


@pytest.fixture
def longmark(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Command:
    """The command in this process, in a folder and a home of the test's own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))

    def command(*words: str) -> Done:
        capfd.readouterr()
        try:
            code = cli.main(words)
        except SystemExit as end:  # argparse
            code = int(end.code or 0)
        out, err = capfd.readouterr()
        return Done(code, out, err)

    return command


def scored_by(longmark: Command, out: str = "out", **more: object) -> Done:
    write_jsonl(
        Path("given.jsonl"),
        [{"id": str(i), "question": "Q?", "answer": TEXT, **more} for i in range(3)],
    )
    return longmark("run", "given.jsonl", "--metrics", "score.readability", "--out", out, "--quiet")


@given(st.text())
def test_plain_text_has_no_control_character_and_loses_nothing_else(text: str):
    shown = plain(text)
    assert all(char in "\n\t" or unicodedata.category(char) not in ("Cc", "Cs") for char in shown)
    assert not FOUND.search(shown)
    assert plain(shown) == shown
    if text.isprintable():
        assert shown == text


def ids(longmark: Command) -> Done:
    write_jsonl(Path("a.jsonl"), [{"id": f"a{HOSTILE}", "question": "Q?", "answer": TEXT}] * 2)
    return longmark("run", "a.jsonl", "--metrics", "score.readability", "--out", "out")


def columns(longmark: Command) -> Done:
    Path("a.csv").write_text(
        f'id,question,"answer{HOSTILE}","answer{HOSTILE}"\n1,Q?,a,b\n', encoding="utf-8", newline=""
    )
    return longmark(
        "run",
        "a.csv",
        "--metrics",
        "score.readability",
        "--out",
        "out",
        "--map",
        f"answer=zz{HOSTILE}",
    )


def profiles(longmark: Command) -> Done:
    write_jsonl(
        Path("a.jsonl"),
        [{"id": "1", "question": "Q?", "profile": {f"hazard{HOSTILE}": f"flood{HOSTILE}"}}],
    )
    return longmark(
        "vary",
        "a.jsonl",
        "--out",
        "b.jsonl",
        "--variants",
        f"hazard{HOSTILE}",
        "--domain",
        "hazards",
    )


def documents(longmark: Command) -> Done:
    Path("docs").mkdir()
    (Path("docs") / f"bad{HOSTILE}.txt").write_text("")
    return longmark("rag", "index", "docs", "--out", "index")


def systems(longmark: Command) -> Done:
    scored_by(longmark, system=f"s{HOSTILE}")
    return longmark(
        *("run", "given.jsonl", "--metrics", "score.readability", "--out", "out", "--quiet"),
        *("--fail-under", "score.readability.grade_level<=12"),
    )


def manifest_models(longmark: Command) -> Done:
    scored_by(longmark)
    path = Path("out/manifest.json")
    manifest = orjson.loads(path.read_bytes())
    manifest["fixed"]["models"] = {"judges": [f"m{HOSTILE}"]}
    path.write_bytes(orjson.dumps(manifest))
    return scored_by(longmark)


def cached_models(longmark: Command) -> Done:
    store = open_cache(None)
    store.store.do(  # as a call of this model would leave it
        "INSERT INTO calls (key, kind, model, created, reply) VALUES (?, 'chat', ?, 0, ?)",
        (b"k", f"m{HOSTILE}", b"r"),
    )
    store.close()
    return longmark("cache")


def options(longmark: Command) -> Done:
    return longmark("metrics", f"--no-such{HOSTILE}")


def names(longmark: Command) -> Done:
    return longmark("metrics", f"no.such{HOSTILE}")


def paths(longmark: Command) -> Done:
    scored_by(longmark)
    return longmark("report", "out", "--out", f"r{HOSTILE}.html")


def bugs(longmark: Command) -> Done:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("longmark.cli.metrics.listing", lambda: os.environ[f"KEY{HOSTILE}"])
        done = longmark("metrics")
    assert done.code == 1
    assert "Traceback" in done.err
    return done


@pytest.mark.parametrize(
    "printed",
    [
        ids,
        columns,
        profiles,
        documents,
        systems,
        manifest_models,
        cached_models,
        options,
        names,
        paths,
        bugs,
    ],
)
def test_foreign_text_is_printed_without_its_control_characters(
    longmark: Command, printed: Callable[[Command], Done]
):
    done = printed(longmark)
    assert "31m" in done.out + done.err, "the hostile text is there"
    assert not FOUND.search(done.out + done.err), done


def test_what_a_control_character_was_can_be_read(longmark: Command):
    assert f"no.such{SHOWN}" in names(longmark).err


def test_a_name_cannot_write_a_verdict_line_of_its_own(longmark: Command):
    forged = "x\nmet: score.readability.grade_level<=1 for all: done"
    write_jsonl(
        Path("a.jsonl"),
        [{"id": str(i), "question": "Q?", "answer": TEXT, "system": forged} for i in range(3)],
    )
    done = longmark(
        *("run", "a.jsonl", "--metrics", "score.readability", "--out", "out", "--quiet"),
        *("--fail-under", "mean(score.readability.grade_level)<=0.1"),
    )
    assert done.code == 3
    assert [line for line in done.out.splitlines() if line.startswith("met:")] == []


# On a terminal ---------------------------------------------------------------------------------------------------

OWN = re.compile(
    r"\x1b\[[0-9;]*m|\x1b\[\?25[lh]|\x1b\[[0-9]*[AK]|\r"
)  # colours, cursor on or off, up, line cleared
BAR = """
import asyncio, sys
from longmark.home import home
from longmark.cli.terminal import plain_streams
from longmark.engine.worker import RunProgress
from longmark.models.client import Client
from longmark.models.cache import CallCache
from rich.console import Console
HOSTILE = {hostile!r} + "\\x1b[35;8mhidden\\x1b]8;;http://evil\\x1b\\\\link"
with plain_streams():
    async def draw():
        progress = RunProgress(2, 0, Client(CallCache(home() / "calls.sqlite")))
        with progress.shown():
            print("told " + HOSTILE, file=sys.stderr)
            progress.done = 2
            progress.tell()
    asyncio.run(draw())
    Console().print("[bold]drawn[/bold] " + HOSTILE)
    print("printed " + HOSTILE)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="has no pseudo-terminal")
def test_on_a_terminal_rich_draws_and_foreign_text_does_not(tmp_path: Path):
    shown = on_a_terminal("python", "-c", BAR.format(hostile=HOSTILE), home=tmp_path / "home")
    assert "\x1b[1mdrawn\x1b[0m" in shown, "a style of rich"
    assert "━" in shown, "the bar"
    for word in ("told", "printed"):
        assert f"{word} {SHOWN}" in shown
    assert r"drawn \x1b[2J\x1b]0;owned" in OWN.sub("", shown)
    assert "\x1b[35" not in shown, "no colour that foreign text asked for"
    assert "\x1b]8" not in shown, "no link"
    assert not FOUND.search(OWN.sub("", shown).replace("\r", "").replace("\n", "")), repr(shown)


@pytest.mark.skipif(sys.platform == "win32", reason="has no pseudo-terminal")
def test_a_run_on_a_terminal_has_its_bar_and_its_table(tmp_path: Path):
    write_jsonl(tmp_path / "given.jsonl", records(3, system=f"s{HOSTILE}"))
    with serve(reply="80") as server:
        shown = on_a_terminal(
            *judged(server, "--fail-under", f"mean({QR})>=0.9"), home=tmp_path / "home"
        )
    assert "3/3 rows" in shown
    assert "\x1b[1m" in shown, "the heads of the table are bold"
    assert "not met" in shown
    assert not FOUND.search(OWN.sub("", shown).replace("\n", "")), repr(shown)


def on_a_terminal(*words: str | Path, home: Path) -> str:
    """What the command writes where standard output and standard error are a terminal."""
    import pty
    import threading

    master, slave = pty.openpty()
    env = {"TERM": "xterm-256color", "COLUMNS": "200"}
    process = start(*words, home=home, env=env, stdout=slave, stderr=slave)
    os.close(slave)
    read: list[bytes] = []

    def reader() -> None:
        try:
            while piece := os.read(master, 65536):
                read.append(piece)
        except OSError:  # Linux: the other side is closed
            pass

    thread = threading.Thread(target=reader)
    thread.start()
    process.wait(LONGEST)
    thread.join(LONGEST)
    os.close(master)
    return b"".join(read).decode()


@pytest.mark.skipif(sys.platform == "win32", reason="has no pseudo-terminal")
def test_a_study_on_a_terminal_shows_what_is_computed_in_one_line(tmp_path: Path):
    script = (
        "import sys\nfrom longmark.cli.terminal import plain_streams\nfrom longmark.cli.terminal import under_way\n"
        f"with plain_streams(), under_way() as tell: tell('part' + {HOSTILE!r})"
    )
    shown = on_a_terminal("python", "-c", script, home=tmp_path / "home")
    assert shown.startswith("\r\x1b[2Kpart")
    assert shown.endswith("\r\x1b[2K")
    assert not FOUND.search(OWN.sub("", shown)), repr(shown)


@pytest.mark.parametrize("closed", [">&-", "2>&-"])
def test_a_stream_that_the_shell_closed_is_no_error(tmp_path: Path, closed: str):
    done = run("python", "-c", CLOSED, closed, home=tmp_path / "home")
    assert (done.code, "Traceback" in done.err) == (0, False)


CLOSED = """
import subprocess, sys
sys.exit(subprocess.run(f"{sys.executable} -m longmark metrics {sys.argv[1]}", shell=True).returncode)
"""


# What the machine cannot do --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "line"),
    [
        (
            OSError(errno.ENOSPC, "No space left on device", "runs/rows.jsonl"),
            "runs/rows.jsonl: No space left on device",
        ),
        (
            PermissionError(errno.EACCES, "Permission denied", "a.jsonl"),
            "a.jsonl: Permission denied",
        ),
        (BrokenPipeError(errno.EPIPE, "Broken pipe"), "Broken pipe"),
        (
            OSError(errno.ENOSPC, "No space left on device", f"a{HOSTILE}"),
            f"a{SHOWN}: No space left on device",
        ),
    ],
)
def test_an_error_of_the_system_is_one_line_and_2(
    longmark: Command, monkeypatch: pytest.MonkeyPatch, error: OSError, line: str
):
    def fails() -> str:
        raise error

    monkeypatch.setattr("longmark.cli.metrics.listing", fails)
    assert longmark("metrics") == Done(2, "", f"longmark: {line}\n")


def test_too_little_memory_is_no_traceback(longmark: Command, monkeypatch: pytest.MonkeyPatch):
    def fails() -> str:
        raise MemoryError

    monkeypatch.setattr("longmark.cli.metrics.listing", fails)
    done = longmark("metrics")
    assert (done.code, "Traceback" in done.err) == (2, False)
    assert "memory" in done.err


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="has no full device")
def test_standard_output_on_a_full_disk_is_told(tmp_path: Path):
    with open("/dev/full", "wb") as full:
        done = run("metrics", home=tmp_path / "home", stdout=full)
    assert (done.code, done.err) == (2, "longmark: standard output: No space left on device\n")


def test_a_gate_says_in_its_exit_code_what_nobody_reads(tmp_path: Path):
    write_jsonl(tmp_path / "given.jsonl", records(3))
    reading, writing = os.pipe()
    os.close(reading)  # as `| grep -q` does when it has its line
    try:
        with serve(reply="80") as server:
            done = run(
                *judged(server, "--quiet", "--fail-under", f"mean({QR})>=0.9"),
                home=tmp_path / "home",
                stdout=writing,
            )
    finally:
        os.close(writing)
    assert (done.code, done.err) == (3, "")


def test_what_the_terminal_cannot_show_is_escaped(tmp_path: Path):
    write_jsonl(tmp_path / "given.jsonl", records(3, system="洪水"))
    words = ("run", "given.jsonl", "--metrics", "score.readability", "--out", "out", "--quiet")
    done = run(*words, home=tmp_path / "home", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert (done.code, done.err) == (0, "")
    assert r"\u6d2a\u6c34" in done.out


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="every file name is Unicode there")
def test_a_file_name_that_is_not_unicode_is_printed(tmp_path: Path):
    (tmp_path / "docs").mkdir()
    Path(os.fsdecode(os.fsencode(tmp_path / "docs") + b"/\xff.txt")).write_text("")
    done = ended(start("rag", "index", "docs", "--out", "index", home=tmp_path / "home"))
    assert done.code == 2
    assert done.err == "\\udcff.txt: is empty\n--skip-bad skips the bad records.\n"
