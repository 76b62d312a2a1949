"""Finds the blocks of code in a Markdown page that are to be run, and runs the commands of a console block.

A `console` block holds commands, each on a line that begins with `$ `, and the lines they print. Each command must end
with exit code 0, or with the one that `$ echo $?` right after it shows. Lines that are shown must be printed, in that
order; `…` in a line stands for anything, on a line of its own for any lines. Spaces are not counted.

A comment on the line before a block says how it is run:

    <!-- embedded -->           needs the embedded judge: only in the slow set, and figures may differ
    <!-- not run: REASON -->    is not run
"""

from __future__ import annotations

import contextlib
import io
import os
import re
import shlex
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from tests.program import in_process, there

RUN_HERE = ("console", "python")
_FENCE = re.compile(r"^```(\w*)\s*$")
_MARK = re.compile(r"^<!-- (embedded|not run: .+) -->$")
_SHELL = re.compile(r"[|<>;&`*]|\$[({A-Z]")  # what only a shell understands
_FIGURE = re.compile(r"-?\d[\d,.]*")


@dataclass(frozen=True)
class Command:
    """A command, the exit code it is shown with, and the lines it is shown to print."""

    text: str
    code: int
    printed: tuple[str, ...]


@dataclass(frozen=True)
class Block:
    """place: `page:line`. language: `console`, `python` or another. mark: "", `embedded` or `not run`."""

    place: str
    language: str
    text: str
    mark: str = ""
    commands: tuple[Command, ...] = field(default=())


def blocks(page: Path, root: Path) -> Iterator[Block]:
    """The fenced blocks of a page, in their order. ValueError where one has no end or a console block no command."""
    lines = page.read_text(encoding="utf-8").splitlines()
    number = 0
    while number < len(lines):
        opening = _FENCE.match(lines[number])
        if not opening:
            number += 1
            continue
        place = f"{page.relative_to(root)}:{number + 1}"
        mark = _MARK.match(lines[number - 1]) if number else None
        end = next((n for n in range(number + 1, len(lines)) if lines[n] == "```"), None)
        if end is None:
            raise ValueError(f"{place}: the block has no end")
        body = lines[number + 1 : end]
        commands = tuple(_commands(place, body)) if opening[1] == "console" else ()
        yield Block(
            place, opening[1], "\n".join(body), mark[1].partition(":")[0] if mark else "", commands
        )
        number = end + 1


def _commands(place: str, lines: list[str]) -> Iterator[Command]:
    if not any(line.startswith("$ ") for line in lines):
        lines = [f"$ {line}" for line in lines]  # a block of commands only
    found: list[list[str]] = []
    continued = False
    for line in lines:
        if continued:
            found[-1][0] += "\n" + line
        elif line.startswith("$ "):
            found.append([line[2:]])
        elif found:
            found[-1].append(line)
        else:
            raise ValueError(f"{place}: the block begins with what no command prints")
        continued = (continued or line.startswith("$ ")) and line.endswith("\\")
    for number, (text, *printed) in enumerate(found):
        if text.strip() == "echo $?":
            continue
        after = found[number + 1] if number + 1 < len(found) else [""]
        code = int(after[1]) if after[0].strip() == "echo $?" else 0
        yield Command(text.replace("\\\n", " "), code, tuple(printed))


def run_command(command: Command, folder: Path, env: Mapping[str, str]) -> tuple[int, str]:
    """The exit code and what was printed, both streams together. A plain `longmark …` runs in this process, which
    saves the start of Python; anything else goes to the shell."""
    if command.text.startswith("longmark ") and not _SHELL.search(
        re.sub(r"'[^']*'", "", command.text)
    ):
        return _in_process(shlex.split(command.text)[1:], folder, env)
    done = subprocess.run(
        ["bash", "-c", command.text], cwd=folder, env={**os.environ, **env}, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=300, check=False,
    )  # fmt: skip
    return done.returncode, done.stdout


def _in_process(words: list[str], folder: Path, env: Mapping[str, str]) -> tuple[int, str]:
    printed = io.StringIO()
    variables = {**os.environ, **env}
    with (
        there(folder, variables),
        contextlib.redirect_stdout(printed),
        contextlib.redirect_stderr(printed),
    ):
        code = in_process(words)
    return code, printed.getvalue()


def not_printed(shown: tuple[str, ...], printed: str, *, figures: bool) -> str | None:
    """The first shown line that was not printed in its turn, or None. figures: whether numbers must agree."""
    lines = [_plain(line, figures) for line in printed.splitlines() if line.strip()]
    at, anywhere = 0, False
    for line in (line for line in shown if line.strip()):
        if line.strip() == "…":
            anywhere = True
            continue
        pattern = re.compile(
            ".*".join(re.escape(_plain(part, figures)) for part in line.split("…"))
        )
        rest = range(at, len(lines) if anywhere else min(at + 1, len(lines)))
        found = next((n for n in rest if pattern.fullmatch(lines[n])), None)
        if found is None:
            return line
        at, anywhere = found + 1, False
    return (
        None
        if anywhere or at == len(lines) or not any(shown)
        else f"(nothing more, but it printed: {lines[at]})"
    )


def _plain(line: str, figures: bool) -> str:
    words = " ".join(line.split())
    return words if figures else _FIGURE.sub("0", words)
