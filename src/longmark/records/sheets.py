"""Spreadsheets (.xlsx), read in a process of their own (`records.sheet_reader`).

A library in another language can end its process, or take all of the memory, on a small file. So the file is opened by
a child with limits, and whatever becomes of it is a message here.
"""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path
from typing import Any

from longmark.errors import UserError, library
from longmark.records import sheet_reader

MOST_CELLS = 20_000_000
"""Of a sheet, empty ones included: a million rows of twenty columns."""
MOST_BYTES = 4 << 30
"""Of the child's address space, where the system can limit it."""
MOST_SECONDS = 600
"""Of the child's CPU time."""


def rows_of(path: Path) -> Generator[tuple[int, list[Any]], None, None]:
    """(row, cells) of the first sheet that has some: texts, numbers that are whole without a point, and
    {"unreadable": why} for an error value. UserError for a file that cannot be read."""
    library("python_calamine", "reading .xlsx", "xlsx")
    limits = map(str, (MOST_CELLS, MOST_BYTES, MOST_SECONDS))
    command = [sys.executable, "-P", sheet_reader.__file__, str(path.absolute()), *limits]
    pipe = subprocess.PIPE
    child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=pipe, stderr=pipe, encoding="utf-8")
    assert child.stdout is not None
    assert child.stderr is not None
    ended = False
    try:
        for number, line in enumerate(child.stdout, 1):
            yield number, json.loads(line)
        ended = True
    finally:
        if not ended:
            child.kill()
        said = child.stderr.read()
        child.stdout.close()
        child.stderr.close()
        code = child.wait()
    if code:
        raise UserError(f"{path} cannot be read as .xlsx: {_why(code, said)}")


def _why(code: int, said: str) -> str:
    if code == sheet_reader.REFUSED:
        return said.strip()
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else str(-code)
        return f"its reader ended with {name}. The file is damaged or too large; save it again, or as CSV"
    return f"its reader ended with the exit code {code}. Save the file again, or as CSV"
