"""Lists and tables of longmark.yaml as the command line writes them.

A value of a list is one value: a comma in it separates nothing, as in a list of Python.

    leave_out: [don't know, "n/a, skipped"]
    order: {clarity: [poor, "fair, mostly", good]}
    bounds: {relevance: [0, 5]}
"""

from __future__ import annotations

import argparse
from datetime import date
from typing import Any

from longmark.records.values import found
from longmark.records.yaml_file import Written

QUOTES = "; put it in quotes"
_SEPARATED = ("FIELD", "run|system|FIELD", "LABEL=LOWEST,…,HIGHEST")
"""Forms of options beside `…,…` whose texts are divided at commas, with `%2C` for a comma in a name."""


def entries_of(action: argparse.Action, value: Any) -> list[Any]:
    """What a repeatable option is given, once for each entry of a table or of a list. ValueError for a table with
    what is no text and no number."""
    if isinstance(value, dict) and "=" in str(action.metavar):
        return [f"{key}={_table_entry(action, key, entry)}" for key, entry in value.items()]
    if isinstance(value, list):
        return [_escaped(action, entry) for entry in value]
    return [value]


def _table_entry(action: argparse.Action, key: object, entry: Any) -> str:
    if not isinstance(entry, list):
        return _text(key, entry)
    if action.metavar == "METRIC=LOW:HIGH":
        return ":".join(_text(key, bound) for bound in entry)
    texts = []
    for part in entry:
        text = _text(key, part)
        texts.append(_escaped(action, text))
    return ",".join(texts)


def _text(key: object, value: Any) -> str:
    if isinstance(value, str | int | float | date) and not isinstance(value, bool):
        return str(value)
    quotes = QUOTES if value is None or isinstance(value, bool) else ""
    raise ValueError(f"{key}: expected text or a number, found {found(value)}{quotes}")


def _escaped(action: argparse.Action, value: Any) -> Any:
    """A value of a list, with commas that separate nothing. Names of metrics have commas of their own only as `%2C`,
    and `@FILE` names a file."""
    metavar = str(action.metavar)
    of_names = metavar.endswith(",…") or metavar in _SEPARATED
    of_metrics = action.dest == "metrics" or getattr(action, "kind", "") == "scores"
    if not isinstance(value, str) or isinstance(value, Written):  # a number has no comma
        return value
    is_file = value.startswith("@")
    if is_file or of_metrics or not of_names:
        return value
    return value.replace(",", "%2C")
