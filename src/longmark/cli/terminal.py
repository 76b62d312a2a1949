"""What reaches the terminal: no control character that comes from data does; and the progress of verbs without a run.

Ids, columns, documents, models and replies are foreign text: an escape sequence in one of them could clear the screen,
set the window's title or write over earlier lines. So while a verb works, standard output and standard error are
`Plain` streams: whatever is printed (by print, argparse, rich, warnings, a traceback), an unsafe character is written
as its escape, `\\x1b`. Only what is written while `drawing` is not changed: what rich renders around safe texts.

Everything printed is for people. A machine's form (CSV, JSON) is lossless and goes to a file; a verb that prints one
writes bytes to `sys.stdout.buffer`, which is not changed here.
"""

from __future__ import annotations

import os
import re
import shutil
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from io import StringIO
from typing import Any, TextIO, cast

# C0 but line feed and tab, DEL, C1, the separators and the overrides that turn or end a line, and lone surrogates
# (a file name that is not UTF-8 has them), which no stream can encode
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str) -> str:
    """The text with each unsafe character as Python writes it in a literal: `\\x1b`, `\\u202e`."""
    return _UNSAFE.sub(lambda match: match[0].encode("unicode_escape").decode(), text)


_drawing = ContextVar("drawing", default=False)


@contextmanager
def drawing() -> Iterator[None]:
    """What is written meanwhile holds control sequences of longmark's own, or of rich's, around `plain` text."""
    before = _drawing.set(True)
    try:
        yield
    finally:
        _drawing.reset(before)


def is_terminal(stream: TextIO) -> bool:
    """Whether rich may take a stream for a terminal."""
    return stream.isatty() or bool({"FORCE_COLOR", "TTY_COMPATIBLE"} & os.environ.keys())


class Plain:
    """A text stream that writes `plain` text, and what its encoding lacks as escapes.

    Where its reader has gone (`| head`) it writes nowhere: the verb goes on, and its exit code says how it ended. An
    OSError of another kind (a full disk) has the stream's name as its `filename`.
    """

    def __init__(self, stream: TextIO, name: str) -> None:
        self._stream = stream
        self._name = name

    def write(self, text: str) -> int:
        safe = text if _drawing.get() else plain(text)
        with self._told():
            try:
                self._stream.write(safe)
            except UnicodeEncodeError:
                encoding = self._stream.encoding
                self._stream.write(safe.encode(encoding, "backslashreplace").decode(encoding))
        return len(text)

    def flush(self) -> None:
        with self._told():
            self._stream.flush()

    @contextmanager
    def _told(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            # the interpreter would write at its end what the stream still holds, and fail once more
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)
            if not isinstance(error, BrokenPipeError):
                error.filename = self._name
                raise

    def writelines(self, lines: Iterable[str]) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def plain_streams() -> Iterator[None]:
    """Standard output and standard error are `Plain`, for as long as the context lasts."""
    before = sys.stdout, sys.stderr
    # there is none where the shell closed it (`>&-`)
    out, err = (cast("TextIO | None", stream) or StringIO() for stream in before)
    if is_terminal(out) or is_terminal(err):
        with suppress(
            AttributeError
        ):  # of a rich that is made otherwise: its sequences are shown as escapes
            _mark_drawings()
    now = Plain(out, "standard output"), Plain(err, "standard error")
    sys.stdout, sys.stderr = cast(tuple[TextIO, TextIO], now)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        for stream in now:
            with suppress(OSError):
                stream.flush()


def _mark_drawings() -> None:
    """Every console of rich writes while `drawing`, and joins its sequences with `plain` texts.

    rich tells nobody which sequences are its own, so this stands where it joins texts and styles. While a bar is shown,
    rich also takes what is printed and reads colours and links out of it (`FileProxy`): it gets plain text to read.
    """
    from rich.console import Console
    from rich.file_proxy import FileProxy
    from rich.segment import Segment

    join, write, take = Console._render_buffer, Console._write_buffer, FileProxy.write
    if getattr(join, "plain", False):
        return

    def joined(console: Console, buffer: Iterable[Segment]) -> str:
        return join(
            console,
            (
                segment if segment.control else segment._replace(text=plain(segment.text))
                for segment in buffer
            ),
        )

    def written(console: Console) -> None:
        with drawing():
            write(console)

    joined.plain = True  # type: ignore[attr-defined]
    Console._render_buffer = joined  # type: ignore[method-assign, assignment]
    Console._write_buffer = written  # type: ignore[method-assign, assignment]
    FileProxy.write = lambda proxy, text: take(proxy, plain(text))  # type: ignore[method-assign, assignment]


# Progress of verbs without a run ----------------------------------------------------------------------------------

_CLEARED = "\r\x1b[2K"


def stage_lines(quiet: bool) -> Callable[[str, int, int | None], None]:
    """Prints how far a stage is on standard error: when it begins, and every ten seconds. quiet: prints nothing."""
    current = ""
    last = 0.0

    def tell(stage: str, done: int, total: int | None) -> None:
        nonlocal current, last
        if not quiet and (stage != current or done == total or time.monotonic() - last >= 10):
            current = stage
            last = time.monotonic()
            print(
                f"{stage}: {done:,}" + (f" of {total:,}" if total is not None else ""),
                file=sys.stderr,
                flush=True,
            )

    return tell


@contextmanager
def under_way() -> Iterator[Callable[[str], None]]:
    """Shows on a terminal which part is being computed, in one line that is deleted at the end."""
    if not sys.stderr.isatty():
        yield lambda _part: None
        return
    from longmark.report.tables import one_line

    width = shutil.get_terminal_size().columns - 1

    def tell(part: str) -> None:
        with drawing():
            sys.stderr.write(_CLEARED + plain(one_line(part))[:width])
            sys.stderr.flush()

    try:
        yield tell
    finally:
        tell("")
