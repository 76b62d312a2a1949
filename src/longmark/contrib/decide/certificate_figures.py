"""The form of a certificate, a JSON object, and of the figures in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from longmark.stats.results import Estimate

FORM = "longmark_certificate"
"""The first key of every certificate."""
RULES = 2
"""Its value: by which rules it was granted. 1: one fixed 95 % interval, whatever else could have been claimed, and
however often labels were looked at."""

Certificate = dict[str, Any]

_DIGITS = 9  # of figures: they are the same on every machine
_FIELDS = (
    "value",
    "low",
    "high",
    "n",
    "labelled",
    "raw",
    "worth",
    "p",
    "reason",
    "remark",
    "level",
)


def figures(estimate: Estimate) -> dict[str, Any]:
    """What an estimate says; nothing for what it does not have."""
    values = {name: getattr(estimate, name, None) for name in _FIELDS}
    fields = {name: rounded(value) for name, value in values.items() if value is not None}
    bias = getattr(estimate, "bias", None)
    if bias is not None:
        fields["bias"] = figures(bias)
    return fields


def rounded(value: Any) -> Any:
    return float(f"{value:.{_DIGITS}g}") if isinstance(value, float) else value


def interval_in_words(estimate: Mapping[str, Any]) -> str:
    """Of the figures of an estimate: its value and its interval, or why there is none."""
    if estimate.get("value") is None:
        return f"none: {estimate.get('reason')}"
    if estimate.get("low") is None:
        return f"{estimate['value']:.3f} (no interval: {estimate.get('reason')})"
    return f"{estimate['value']:.3f} [{estimate['low']:.3f}, {estimate['high']:.3f}]"
