"""What reaches the terminal: no control character that comes from data does.

Ids, columns, documents, models and replies are foreign text, and an escape sequence in one of them could clear the
screen, set the window's title or write over the lines before. So while a verb works, standard output and standard error
are `Plain` streams: whoever prints (print, argparse, rich, warnings, a traceback), what is unsafe is written as its
escape, `\\x1b`. The only text that passes as it is is `Drawn`: what rich renders, its own sequences around the texts,
which are made safe before it.

Everything printed is for people. A machine's form (CSV, JSON) is lossless and goes to a file; a verb that prints one
writes bytes to `sys.stdout.buffer`, which this leaves alone.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TextIO, cast

# C0 but line feed and tab, DEL, C1, the separators and the overrides that turn or end a line, and lone surrogates
# (a file name that is not UTF-8 has them), which no stream can encode
_UNSAFE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def plain(text: str) -> str:
    """The text with each unsafe character as Python writes it in a literal: `\\x1b`, `\\u202e`."""
    return _UNSAFE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


class Drawn(str):
    """Text whose control sequences are longmark's own or rich's, around foreign text that is `plain`."""

    __slots__ = ()


class Plain:
    """A text stream that writes `plain` text, and what its encoding lacks as escapes.

    Where its reader has gone (`| head`) it writes nowhere: the verb goes on, and its exit code says how it ended. An
    OSError of another kind (a full disk) has the stream's name as its `filename`.
    """

    def __init__(self, stream: TextIO, name: str) -> None:
        self._stream, self._name = stream, name

    def write(self, text: str) -> int:
        safe = text if isinstance(text, Drawn) else plain(text)
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
    if any(stream.isatty() for stream in before) or {"FORCE_COLOR", "TTY_COMPATIBLE"} & os.environ.keys():
        _mark_drawings()
    now = Plain(before[0], "standard output"), Plain(before[1], "standard error")
    sys.stdout, sys.stderr = cast(tuple[TextIO, TextIO], now)
    try:
        yield
    finally:
        sys.stdout, sys.stderr = before
        for stream in now:
            with suppress(OSError):
                stream.flush()


def _mark_drawings() -> None:
    """Every console of rich gives its stream `Drawn` text made of `plain` texts.

    rich tells nobody which sequences are its own, so this stands where it joins texts and styles. While a bar is shown,
    rich also takes what is printed and reads colours and links out of it (`FileProxy`): it gets plain text to read.
    """
    from rich.console import Console
    from rich.file_proxy import FileProxy
    from rich.segment import Segment

    join, take = getattr(Console, "_render_buffer", None), FileProxy.write
    if join is None or getattr(join, "marks", False):  # without it sequences of rich are shown as escapes
        return

    def drawn(console: Console, buffer: Iterable[Segment]) -> Drawn:
        return Drawn(join(console, (one if one.control else one._replace(text=plain(one.text)) for one in buffer)))

    drawn.marks = True  # type: ignore[attr-defined]
    Console._render_buffer = drawn  # type: ignore[method-assign]
    FileProxy.write = lambda proxy, text: take(proxy, plain(text))  # type: ignore[method-assign]
