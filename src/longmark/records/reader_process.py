"""A file is read by a program in a process of its own, with limits: whatever becomes of it is a message here.

A library in another language can end its process, or take all of the memory, on a small file: a few bytes of a
spreadsheet or of a Parquet file can stand for gigabytes.
"""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import IO

from longmark.errors import UserError

REFUSED = 3
"""The exit code of a program that refuses its file; its error output says why."""
MOST_BYTES = 4 << 30
"""Of the process's address space beyond that of its libraries, where the system can limit it (macOS cannot)."""
MOST_SECONDS = 600
"""Of the process's CPU time; for a table, without a record."""


@contextmanager
def reading(program: str, words: Sequence[object], problem: str) -> Iterator[IO[bytes]]:
    """The output of a program (the path of a Python file). what: begins the message, `a.xlsx cannot be read as .xlsx`.
    If the block is left before the output ends, so is the process. UserError if the program fails."""
    command = [sys.executable, "-P", program, *map(str, words)]
    pipe = subprocess.PIPE
    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, bufsize=1 << 20
    )
    assert child.stdout is not None
    assert child.stderr is not None
    left = True
    failure: Exception | None = None
    try:
        yield child.stdout
        left = False
    except (OSError, EOFError, ValueError) as error:  # the output ends in the middle of something
        left = False
        failure = error
    finally:
        if left:
            child.kill()
        child.stdout.close()
        stderr = child.stderr.read().decode(errors="replace").strip()
        child.stderr.close()
        code = child.wait()
    if code or failure is not None:
        raise UserError(f"{problem}: {_why(code, stderr) if code else failure}")


def _why(code: int, stderr: str) -> str:
    if code == REFUSED:
        return stderr
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        return f"its reader ended with {name}. The file is damaged or too large; save it again, or as CSV"
    return f"its reader ended with the exit code {code}. Save the file again, or as CSV"
