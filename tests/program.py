"""The whole program as its users meet it: the command, in this process or in its own, the test server in another one.

`run` waits for the command; `start` gives its process, to be killed or interrupted. Both work in a home of their own
(`home`), so no call of one test is in the cache of another, and no key of the machine reaches them.
"""

from __future__ import annotations

import io
import os
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import chdir, contextmanager, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import orjson

from longmark import cli
from longmark.records import Row

ROOT = Path(__file__).parent.parent
QR, FRE, FKGL = (
    "ccrs.question_relevance",
    "score.readability.reading_ease",
    "score.readability.grade_level",
)
LONGEST = 300.0  # seconds that a command of a test may take before it is taken for hung


def records(n: int, **more: Any) -> list[dict[str, Any]]:
    return [
        {"id": str(i), "question": f"What is {i}?", "answer": f"It is the number {i}.", **more}
        for i in range(n)
    ]


def write_jsonl(path: Path, lines: list[Any]) -> Path:
    path.write_bytes(b"".join(orjson.dumps(line) + b"\n" for line in lines))
    return path


def rows_of(folder: Path) -> list[Row]:
    return [Row.from_json(line) for line in (folder / "rows.jsonl").read_bytes().splitlines()]


def names_in(folder: Path) -> list[str]:
    """What a user sees in a folder: hidden files are left out."""
    return sorted(path.name for path in folder.iterdir() if not path.name.startswith("."))


def manifest_of(folder: Path) -> dict[str, Any]:
    found = orjson.loads((folder / "manifest.json").read_bytes())
    assert isinstance(found, dict)
    return found


def environment(home: Path, more: Mapping[str, str] | None = None) -> dict[str, str]:
    """The machine's environment without keys and home of longmark, with the source tree in front."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if "LONGMARK" not in name and "API_KEY" not in name
    }
    path = os.pathsep.join(filter(None, (str(ROOT / "src"), str(ROOT), kept.get("PYTHONPATH", ""))))
    return {**kept, "PYTHONPATH": path, "LONGMARK_HOME": str(home), "COLUMNS": "80", **(more or {})}


def start(
    *words: str | Path,
    home: Path,
    cwd: Path | None = None,
    env: Mapping[str, str] | None = None,
    **popen: Any,
) -> subprocess.Popen[bytes]:
    """The command in a process of its own. `python` as the first word starts Python instead of longmark."""
    command = ["-m", "longmark", *words] if words[0] != "python" else list(words[1:])
    return subprocess.Popen(
        [sys.executable, *map(str, command)],
        cwd=cwd or home.parent,
        env=environment(home, env),
        **{
            "stdin": subprocess.DEVNULL,
            "stdout": subprocess.PIPE,
            "stderr": subprocess.PIPE,
            **popen,
        },
    )


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    code: int
    out: str
    err: str


def ended(process: subprocess.Popen[bytes]) -> Done:
    """Waits for the end of a process; one that does not end in time is killed, and the test fails."""
    try:
        out, err = process.communicate(timeout=LONGEST)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return Done(process.returncode, (out or b"").decode(), (err or b"").decode())


def run(*words: str | Path, home: Path, cwd: Path | None = None, **popen: Any) -> Done:
    """The command, waited for: in this process, which saves the start of Python; in its own where `python` is the first
    word, or a stream or a variable is given."""
    if words[0] == "python" or popen:
        return ended(start(*words, home=home, cwd=cwd, **popen))
    out, err = io.StringIO(), io.StringIO()
    with there(cwd or home.parent, environment(home)), redirect_stdout(out), redirect_stderr(err):
        code = in_process(map(str, words))
    return Done(code, out.getvalue(), err.getvalue())


def in_process(words: Iterable[str]) -> int:
    """The exit code of the command in this process."""
    try:
        return cli.main(list(words))
    except SystemExit as end:  # argparse
        return end.code if isinstance(end.code, int) else 1


@contextmanager
def there(folder: Path, env: Mapping[str, str]) -> Iterator[None]:
    """In another folder, with these variables and no others."""
    before = os.environ.copy()
    with chdir(folder):
        os.environ.clear()
        os.environ.update(env)
        try:
            yield
        finally:
            os.environ.clear()
            os.environ.update(before)


class Serving(Protocol):
    """A test server, in this process or another."""

    @property
    def base_url(self) -> str: ...


def judged(
    server: Serving, *more: str | Path, metrics: str = QR, given: str = "given.jsonl"
) -> list[str | Path]:
    """The words of a run into the folder `out` that the server judges."""
    return [
        "run",
        given,
        "--metrics",
        metrics,
        "--judge",
        f"m@{server.base_url}",
        "--out",
        "out",
        *more,
    ]


def until(holds: Callable[[], Any], seconds: float = LONGEST) -> Any:
    """Waits until something holds, and returns what it gave."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := holds():
            return found
        time.sleep(0.005)
    raise AssertionError("it did not come to hold in time")


@dataclass(frozen=True)
class ServerProcess:
    """A test server that outlives whatever happens to its clients."""

    base_url: str

    def counts(self) -> dict[str, Any]:
        with urllib.request.urlopen(
            self.base_url.removesuffix("/v1") + "/counts", timeout=30
        ) as reply:
            found = orjson.loads(reply.read())
        assert isinstance(found, dict)
        return found

    def quiet(self) -> dict[str, Any]:
        """The counts when no request is under way any more."""
        counts: dict[str, Any] = until(lambda: (c := self.counts())["in_flight"] == 0 and c)
        return counts


@contextmanager
def server_process(*options: str) -> Iterator[ServerProcess]:
    """`python -m tests.wire` with these options; it ends with its standard input."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.wire", "--stdin", *options],
        cwd=ROOT,
        env=environment(ROOT),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stdin is not None
    try:
        yield ServerProcess(process.stdout.readline().decode().strip())
    finally:
        process.stdin.close()
        process.stdout.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
