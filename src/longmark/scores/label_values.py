"""What a cell of a label says: a number, a text, a choice, a word for none, or nothing."""

from __future__ import annotations

import re
from typing import Any

from longmark.options import named
from longmark.records import paths
from longmark.records.messages import parsed
from longmark.records.same import canonical, comparable
from longmark.records.values import Problem, found, missing
from longmark.records.values import name as name_of
from longmark.scores.label_scales import NUMBER
from longmark.text.numerals import european

_COMMA = re.compile(r"[-+]?[0-9]+,[0-9]+")
_THOUSANDS = re.compile(r"[-+]?[1-9][0-9]{0,2},[0-9]{3}")
NOT_STATED = frozenset(("na", "n/a", "n.a."))
"""Words for none that are a label of their own where every line must have one (SCORE: the detail is not stated)."""
EMPTY_CELLS = NOT_STATED | frozenset(("#n/a", "#na", "<na>", "nan", "none", "null"))
"""Words for none in cells, which are all text. JSON and Parquet write null for them, so that `None` is a text there."""
MOST_LABEL = 1e60
LEAST_LABEL = 1e-60
"""A label lies between them, or is 0: its fourth power is still a number, and not 0."""
_TRUTH = {True: "true", False: "false"}


def spelled(raw: Any) -> str | None:
    """A number or a text as it is written; None for anything else."""
    if isinstance(raw, bool):
        return _TRUTH[raw]
    return " ".join(str(raw).split()) if isinstance(raw, str | int | float) else None


def _digits(text: str) -> str:
    """A number in the digits of another script, or with another minus, as `NUMBER` has it: ３, ٣٫٥, −1."""
    return text if text.isascii() else european(text).replace("−", "-").replace("٫", ".")


def class_key(text: str) -> str:
    """A value as it is compared with those to leave out: without case, and `99.0` as `99`."""
    number = _digits(text)
    return repr(float(number)) if NUMBER.fullmatch(number) else comparable(text)


def group_value(value: Any) -> str | None:
    return (
        None
        if missing(value)
        else _TRUTH[value]
        if isinstance(value, bool)
        else name_of("by", value)
    )


def plain_value(column: str, raw: Any) -> float | str | None:
    """A number, written as such or as text; a text; None if there is none. Raises Problem for anything else."""
    if raw is None:
        return None
    if isinstance(raw, bool):
        return _TRUTH[raw]
    if isinstance(raw, str):
        if isinstance(opened := parsed(raw), dict | list):
            raise Problem(_nested(column, opened))
        text = " ".join(canonical(raw).split())
        number = _digits(text)
        if _COMMA.fullmatch(number):
            remedy = f"write {number.replace(',', '.')}"
            if _THOUSANDS.fullmatch(number):
                remedy += f", or {number.replace(',', '')}"
            raise Problem(f"{column}: {found(raw)} has a decimal comma; {remedy}")
        if not NUMBER.fullmatch(number):
            return text
        raw = float(number)
    if not isinstance(raw, int | float):
        raise Problem(_nested(column, raw))
    if not abs(raw) < MOST_LABEL:
        raise Problem(f"{column}: {found(raw)} is too large for a rating")
    if 0 < abs(raw) < LEAST_LABEL:
        raise Problem(f"{column}: {found(raw)} is too near to 0 for a rating; write 0")
    return float(raw)


def _nested(column: str, value: Any) -> str:
    """That a value holds others, with the path of the first of them."""
    inner = (
        path
        for path in paths.known({column: value})
        if (find := paths.compiled(path)) is not None
        and isinstance(find({column: value}), str | int | float)
    )
    path = next(inner, "")
    several = isinstance(value, list) and len(value) > 1
    if several:
        path = path.replace("[0]", "[]", 1)
    option = named("mapping", {"value": path})
    remedy = f"; name what it holds with a path: {option}" if path else ""
    return f"{column}: expected a number or a text, found {found(value)}{remedy}"


def choice_value(raw: Any) -> tuple[float | None, str | None]:
    """The grade, None for a word; and the choice, None if the cell is empty. Raises Problem."""
    text = raw.strip().casefold() if isinstance(raw, str) else ""
    if text in ("a", "b", "tie"):
        return None, text
    grade = plain_value("choice", raw)
    if isinstance(grade, str):
        raise Problem(
            f"choice: expected a, b or tie, or a number (below 0 for a, above 0 for b), found {found(raw)}"
        )
    return grade, None if grade is None else "tie" if grade == 0 else "a" if grade < 0 else "b"
