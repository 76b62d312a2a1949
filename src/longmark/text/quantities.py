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

from longmark.errors import UserError

TOLERANCE = 0.01  # relative, of quantities (the authors' code)
DATE_TOLERANCE = 1e-5  # relative, of years (the authors' code)

Comparison = Literal["equivalent", "contradictory"]

_LARGE = {"hundred": 1e2, "thousand": 1e3, "million": 1e6, "billion": 1e9, "trillion": 1e12}
_QUANTITY = re.compile(
    r"(?P<number>[-+−]?(?:\d{1,3}(?:,\d{3})+|\d{1,15})(?:\.\d{1,15})?(?:[eE][-+]?\d{1,2})?)"
    rf"(?:\s+(?P<large>{'|'.join(_LARGE)}))?\s*"
    r"(?P<unit>%|°[CF]|[^\W\d_][^\W\d_ /·^²³.]*(?:[ /·][^\W\d_]{1,20}){0,3}[²³]?)?"
)
_DATES = ("%Y-%m-%d", "%d %B %Y", "%B %d, %Y", "%B %d %Y", "%d %b %Y", "%b %d, %Y")
_LONGEST = 60  # characters of an answer that is read
_NOT_UNITS = ("am", "pm")  # hours, which Pint reads as attometres and picometres
_YEARS = (1000, 2200)  # whole numbers without a unit in this range are years


@dataclass(frozen=True, slots=True)
class _Number:
    value: float
    unit: Any  # of Pint; None: no unit

    @property
    def is_year(self) -> bool:
        return self.unit is None and self.value.is_integer() and _YEARS[0] <= self.value <= _YEARS[1]


def compare(one: str, other: str) -> Comparison | None:
    """Whether two answers are the same quantity or date. None if code cannot decide: one of them is neither, their
    units have different dimensions, or only one has a unit.

    Quantities in any units are equal within 1 % of the greater one; years and dates only if they are identical.
    Temperatures are compared in the unit of the first. UserError without Pint (extra `graphs`).
    """
    first, second = _read(one), _read(other)
    if isinstance(first, date) and isinstance(second, date):
        return "equivalent" if first == second else "contradictory"
    if not isinstance(first, _Number) or not isinstance(second, _Number):
        return None
    if (first.unit is None) != (second.unit is None):
        return None
    value = second.value
    if first.unit is not None:
        converted = _converted(second, first.unit)
        if converted is None:
            return None
        value = converted
    tolerance = DATE_TOLERANCE if first.is_year and second.is_year else TOLERANCE
    return "equivalent" if math.isclose(first.value, value, rel_tol=tolerance) else "contradictory"


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


def _converted(number: _Number, unit: Any) -> float | None:
    """The value in another unit; None where the dimensions differ."""
    quantity = _registry().Quantity(number.value, number.unit)
    if not quantity.is_compatible_with(unit):
        return None
    return float(quantity.to(unit).magnitude)


@lru_cache(maxsize=1)
def _registry() -> Any:
    try:
        import pint
    except ImportError:
        raise UserError(
            "comprehensiveness.qa needs Pint to compare quantities: pip install 'longmark[graphs]'"
        ) from None
    return pint.UnitRegistry()
