"""Compares two short answers that are quantities or dates, by code (Comprehensiveness, 3.2: the paper's tool is Pint).

Only answers that consist of a number (with or without a unit), a percentage or a date are read; "about 3 km" is not.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from datetime import date, datetime
from functools import lru_cache
from typing import Any, Literal

from longmark.errors import library

TOLERANCE = 0.01  # relative, of quantities (the authors' code)
CALENDAR_TOLERANCE = 1e-5  # relative, of days, months and years (the authors' code)
KELVINS = 0.3  # absolute, of temperatures: a value in °C written as whole degrees Fahrenheit is off by 0.28 K at most

Comparison = Literal["equivalent", "contradictory"]

_LARGE = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_QUANTITY = re.compile(
    r"(?P<number>[-+−]?(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.\d{1,15})?(?:[eE][-+]?\d{1,2})?)"
    rf"(?:\s+(?P<large>{'|'.join(_LARGE)}))?\s*"
    r"(?P<unit>%|°[CF]|[^\W\d_][^\W\d_ /·^²³.]*(?:[ /·][^\W\d_]{1,20}){0,3}[²³]?)?"
)
_DATES = ("%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%B %d %Y", "%d %b %Y", "%b %d, %Y")
_LONGEST = 60  # characters of an answer that is read
_ROUNDING = 1e-9
_NOT_UNITS = ("am", "pm")  # hours, which Pint reads as attometres and picometres


@dataclass(frozen=True, slots=True)
class _Number:
    value: float
    unit: Any  # of Pint; None: no unit


def compare(one: str, other: str) -> Comparison | None:
    """Whether two answers are the same quantity or date; the same for both orders. None if code cannot decide: one of
    them is neither, their units have different dimensions, or only one has a unit; numbers without a unit that differ
    (counts, years, rounded figures); days, months and years that are equal by some calendars only; temperatures in two
    units that are equal as differences.

    Quantities are equal within 1 % of the greater one (days, months and years: 1e-5), temperatures also within 0.3 K
    at most; dates if they are identical. MissingExtra without Pint (extra `graphs`).
    """
    first, second = _read(one), _read(other)
    if isinstance(first, date) and isinstance(second, date):
        return "equivalent" if first == second else "contradictory"
    if not isinstance(first, _Number) or not isinstance(second, _Number):
        return None
    if first.unit is None and second.unit is None:
        return "equivalent" if first.value == second.value else None
    if first.unit is None or second.unit is None or first.unit.dimensionality != second.unit.dimensionality:
        return None
    if first == second:
        return "equivalent"
    value, other_value = _in_base_units(first), _in_base_units(second)
    if value is None or other_value is None:
        return None
    same_unit = first.unit == second.unit
    if first.unit.dimensionality == {"[temperature]": 1}:
        near = abs(value - other_value) <= KELVINS + _ROUNDING
        if same_unit:
            near = near and math.isclose(first.value, second.value, rel_tol=TOLERANCE)
        elif not near and math.isclose(_degrees(first), _degrees(second), rel_tol=TOLERANCE):
            return None
        return "equivalent" if near else "contradictory"
    units = {str(first.unit), str(second.unit)}
    if units & {"day", "month", "year"}:
        if math.isclose(value, other_value, rel_tol=CALENDAR_TOLERANCE):
            return "equivalent"
        return "contradictory" if same_unit or not units & {"month", "year"} else None
    return "equivalent" if math.isclose(value, other_value, rel_tol=TOLERANCE) else "contradictory"


@lru_cache(maxsize=4096)
def _read(answer: str) -> _Number | date | None:
    text = " ".join(answer.split()).strip(" .").removeprefix("+")
    if not text or len(text) > _LONGEST:
        return None
    for form in _DATES:
        try:
            return datetime.strptime(text, form).date()
        except ValueError:
            continue
    found = _QUANTITY.fullmatch(text)
    if found is None or (found["unit"] or "").casefold() in _NOT_UNITS:
        return None
    value = float(found["number"].replace(",", "").replace("−", "-")) * _LARGE.get(found["large"] or "", 1.0)
    if found["unit"] is None:
        return _Number(value, None)
    unit = _unit(found["unit"])
    return None if unit is None else _Number(value, unit)


def _unit(name: str) -> Any:
    """Pint's unit of a name; None for a word that is none."""
    name = {"%": "percent", "°C": "degC", "°F": "degF"}.get(name, name)
    name = name.replace("²", "**2").replace("³", "**3").replace("·", "*").replace(" per ", "/")
    try:
        return _registry().parse_units(name)
    except Exception:  # Pint's errors are of many kinds: an unknown unit, a word of its grammar
        return None


def _in_base_units(number: _Number) -> float | None:
    """The value in base units, so that both orders of a pair compare the same numbers; None if Pint has none."""
    try:
        value = float(_registry().Quantity(number.value, number.unit).to_base_units().magnitude)
    except Exception:  # logarithmic units, values beyond them, offsets inside a product
        return None
    return value if math.isfinite(value) else None


def _degrees(number: _Number) -> float:
    """A temperature as a difference, in kelvins."""
    return number.value * (5 / 9 if str(number.unit) in ("degree_Fahrenheit", "degree_Rankine") else 1)


@lru_cache(maxsize=1)
def _registry() -> Any:
    return library("pint", "comparing quantities", "graphs").UnitRegistry()
