"""What still works and will be removed, with what replaces it (docs/versions.md, "Deprecation").

Code that still serves a deprecated function, parameter, option, key or field calls `used` with its entry. In Python
this warns with a `DeprecationWarning`; the command line prints one line on standard error. A test fails from the
release on that should no longer have it.
"""

from __future__ import annotations

import sys
import warnings
from dataclasses import dataclass
from traceback import walk_stack

from longmark.options import on_command_line, print_once


@dataclass(frozen=True)
class Deprecated:
    """since: the release that deprecates it; removed: the release without it; instead: what to write."""

    since: str
    removed: str
    instead: str


DEPRECATED = {
    "the field `reference` of --map": Deprecated("1.0.0", "2.0.0", "`references`"),
    "the field `context` of --map": Deprecated("1.0.0", "2.0.0", "`contexts`"),
}
"""Everything that is deprecated, by the name that warnings and the changelog give it."""


def used(name: str) -> None:
    """Warns that an entry of `DEPRECATED` was used; in Python, at the line that called longmark."""
    entry = DEPRECATED[name]
    text = (
        f"{name} is deprecated since longmark {entry.since} and will be removed in {entry.removed}; "
        f"use {entry.instead}"
    )
    if on_command_line():
        print_once(name, f"longmark: {text}")
    else:
        warnings.warn(text, DeprecationWarning, stacklevel=_caller())


def respelt(old: str, new: str) -> None:
    """Says on the command line, once, that an option has another spelling; both are read."""
    if on_command_line():
        print_once(old, f"longmark: {old} is now written {new}")


def _caller() -> int:
    """The stack level, as `used` gives it to `warnings.warn`, of what called the outermost function of longmark."""
    stack = enumerate(walk_stack(sys._getframe(1)), 2)
    ours = (
        level
        for level, (at, _) in stack
        if at.f_globals.get("__name__", "").partition(".")[0] == "longmark"
    )
    return max(ours)
