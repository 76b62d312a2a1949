"""A result of an assertion in words."""

from __future__ import annotations

from dataclasses import replace

from longmark.assertions.result import UNDECIDED, Checked


def with_line(checked: Checked) -> Checked:
    """A result with its line: outcome, assertion, why, and what would decide it."""
    decides = f"; to decide it: {checked.decides}" if checked.decides else ""
    reason = checked.reason.removeprefix(f"{UNDECIDED}: ")
    return replace(checked, line=f"{checked.outcome}: {checked.rule}: {reason}{decides}")
