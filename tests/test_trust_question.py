"""The question whether a file is trusted, in a real terminal: every answer to it."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from tests.program import environment, rows_of, write_jsonl
from tests.wire import serve

from longmark import home as homes

if sys.platform == "win32":
    pytest.skip("there are no pseudo-terminals", allow_module_level=True)

import fcntl
import pty
import subprocess
import termios

WORDS = [
    "-m",
    "longmark",
    "run",
    "a.jsonl",
    "--metrics",
    "ccrs.question_relevance",
    "--judge",
    "mine",
    "--out",
    "out",
]


def in_a_terminal(folder: Path, answer: bytes) -> tuple[int, str]:
    """The exit code of the command, and all that the terminal showed. answer: typed once the question is there."""
    ours, theirs = pty.openpty()
    command = subprocess.Popen(
        [sys.executable, *WORDS],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        cwd=folder,
        env=environment(folder / "home", {"GITHUB_TOKEN": "the-secret"}),
        start_new_session=True,
        preexec_fn=lambda: fcntl.ioctl(
            0, termios.TIOCSCTTY, 0
        ),  # so that a typed Ctrl-C is a signal
    )
    os.close(theirs)
    shown = b""
    try:
        while True:
            try:
                read = os.read(ours, 4096)
            except OSError:  # Linux, where the other end is closed
                read = b""
            if not read:
                break
            shown += read
            if answer and b"[y/N] " in shown:
                os.write(ours, answer)
                answer = b""
        return command.wait(60), shown.decode()
    finally:
        command.kill()
        command.wait()
        os.close(ours)


@pytest.mark.parametrize(
    ("answer", "code"),
    [
        (b"y\n", 0),
        (b"YES\n", 0),
        (b"n\n", 2),
        (b"\n", 2),
        (b"yesterday\n", 2),
        (b"\x04", 2),
        (b"\x03", 130),
    ],
    ids=["y", "YES", "n", "enter", "another word", "end of input", "Ctrl-C"],
)
def test_only_a_yes_trusts_a_file(
    tmp_path: Path, answer: bytes, code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    write_jsonl(tmp_path / "a.jsonl", [{"id": "1", "question": "Private?", "answer": "A text."}])
    with serve(reply="85") as server:
        config = f"models:\n  mine:\n    model: m\n    endpoint: {server.base_url}\n    key_env: GITHUB_TOKEN\n"
        (tmp_path / "longmark.yaml").write_text(config)
        ended, shown = in_a_terminal(tmp_path, answer)
        assert ended == code, shown
        assert f"sends texts to {server.base_url}" in shown
        assert "sends the variable GITHUB_TOKEN there (the key)" in shown
        assert "Traceback" not in shown
        assert [headers["authorization"] for _, headers, _ in server.requests] == [
            "Bearer the-secret"
        ] * (code == 0)
        assert bool(homes.trusted(tmp_path / "longmark.yaml")) == (code == 0)
        if code == 0:
            assert len(rows_of(tmp_path / "out")) == 1
            assert in_a_terminal(tmp_path, b"")[1].count("[y/N]") == 0  # it is asked once
        elif code == 2:
            assert "longmark trust longmark.yaml (or --trust, for one command)" in shown.replace(
                "\r\n", "\n"
            )
