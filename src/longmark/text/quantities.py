"""Compares two short answers that are quantities or dates, by code (Comprehensiveness, 3.2: the paper's tool is Pint).

Only answers that consist of a number (with or without a unit), a percentage or a date are read; "about 3 km" is not. An
answer can have several readings: 1.500 km are 1.5 or 1500 km, a ton is one of three, 03/04/2023 is in March or April.
Code decides where no reading leaves a doubt. What is usual depends on the language: 1.500 is 1500 in German, 1.5 in
English, and either where the language is not known.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date, timedelta
from decimal import Decimal
from functools import lru_cache
from typing import Literal
from unicodedata import normalize

from longmark.text.dates import calendar_dates
from longmark.text.local_words import (
    DECIMAL,
    EITHER,
    GROUP,
    MARKS,
    UNKNOWN,
    multiples,
    unit_behind,
    with_minus,
)
from longmark.text.numerals import european, with_digits
from longmark.text.units import Unit, meanings

TOLERANCE = 0.01  # relative, of quantities (the authors' code)
CALENDAR_TOLERANCE = 1e-5  # relative, of days, months and years (the authors' code)
KELVINS = 0.3  # absolute, of temperatures: a value in °C written as whole degrees Fahrenheit is off by 0.28 K at most
ROUNDED = 0.05  # relative, at most: what a figure in another unit may be off since it was rounded

Comparison = Literal["equivalent", "contradictory"]

_SCALES: Mapping[
    str, Mapping[str, float]
] = {  # word -> choice -> factor: billions are of the short or the long scale
    "hundred": {"": 1e2},
    "thousand": {"": 1e3},
    "lakh": {"": 1e5},
    "million": {"": 1e6},
    "mln": {"": 1e6},
    "crore": {"": 1e7},
    "milliard": {"": 1e9},
    "billion": {"short": 1e9, "long": 1e12},
    "bn": {"short": 1e9, "long": 1e12},
    "trillion": {"short": 1e12, "long": 1e18},
}
_RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻−", "0123456789--")
_WHOLE = re.compile(r"\d{1,15}")
_SPACED = re.compile(r"(\d{1,3}(?:[ ']\d{3})+)(?:[.,٫](\d{1,15}))?")
_BY_COMMA = re.compile(
    r"(\d{1,3}(?:,\d{3}){2,}|\d{1,2}(?:,\d{2})+,\d{3}|\d{1,3},\d{3}(?=\.))(?:\.(\d{1,15}))?"
)
_BY_STOP = re.compile(r"(\d{1,3}(?:\.\d{3}){2,}|\d{1,3}\.\d{3}(?=,))(?:,(\d{1,15}))?")
_ONE_MARK = re.compile(r"(\d{0,15})([.,٫])(\d{1,15})")
_CONNECTED = re.compile(r"(?:de|do|di) |d['’]")  # millones de kilómetros
_LAST_JULIAN = 1923  # the year in which Greece left the Julian calendar
_LONGEST = 60  # characters of an answer that is read
_SQUARED = re.compile("[\u3300-\u33ff]")  # ㎞, ㎡: units in one sign
_ROUNDING = 1e-9
_DECREASE = "decrease"


@dataclass(frozen=True, slots=True)
class Quantity:
    """value: in the unit, None: without one. rounded: half of the last digit that is written, at most."""

    value: float
    rounded: float
    unit: Unit | None


@dataclass(frozen=True, slots=True)
class QuantityReading:
    """One way to read an answer. choices: what notations are taken to mean, which two answers that are compared share.
    usual: a reader must reckon with it; else it is possible only."""

    value: Quantity | date
    choices: Mapping[str, str] = field(default_factory=dict)
    usual: bool = True

    def fits(self, second: QuantityReading) -> bool:
        """Whether both take the same notation to mean the same."""
        return all(
            second.choices.get(notation, choice) == choice
            for notation, choice in self.choices.items()
        )


def compare(first_answer: str, second_answer: str, language: str = "en") -> Comparison | None:
    """Whether two answers are the same quantity or date; the same for both orders. None if code cannot decide.

    `equivalent`: they agree in every usual reading of both. `contradictory`: they disagree in every reading of both,
    also in those that are only possible (1.500 km as 1500 km, a nautical mile).
    language: of both answers (ISO 639-1), which says how their marks and words are read; "" if it is not known, or not
    the same: then a mark before three digits leaves a doubt.

    Both answer one question, so readings of different kinds (a mass and a volume) are not compared, nor a quantity with
    a number. A word that both have means the same in both: tons are compared with tons, and with tonnes only where no
    meaning of a ton matters.

    Equal texts that have a number are equivalent. Quantities are equal within 1 % of the greater one (days, months and
    years: 1e-5), temperatures also within 0.3 K at most; dates if they are identical. None, too: numbers without a unit
    that differ (counts, years, rounded figures); figures in two units that can be the same figure, rounded; calendar
    units against others where their lengths or the rounding matter; temperatures in two units that are equal as
    differences; a decrease that is written with a minus or without; dates that are one day by the Julian and the
    Gregorian calendar.

    MissingExtra without Pint (extra `graphs`).
    """
    if first_answer.split() == second_answer.split():
        return "equivalent" if any(character.isdigit() for character in first_answer) else None
    if language not in MARKS:
        language = UNKNOWN
    first = _readings(first_answer, language)
    second = _readings(second_answer, language)
    usual: list[bool | None] = []
    possible: list[bool | None] = []
    for a, b in itertools.product(first, second):
        if a.fits(b) and _comparable(a.value, b.value):
            (usual if a.usual and b.usual else possible).append(_agree(a.value, b.value))
    if usual and all(usual):
        return "equivalent"
    if (usual or possible) and all(agreed is False for agreed in (*usual, *possible)):
        return "contradictory"
    return None


def usual_meanings(answer: str, language: str = "en") -> str:
    """What an answer can mean whose digits or date have several usual readings: `1.234 or 1234`; "" for any other."""
    values = dict.fromkeys(
        reading.value.isoformat()
        if isinstance(reading.value, date)
        else f"{reading.value.value:.15g}"
        for reading in _readings(answer, language if language in MARKS else UNKNOWN)
        if reading.usual
    )
    return " or ".join(values) if len(values) > 1 else ""


def _comparable(a: Quantity | date, b: Quantity | date) -> bool:
    if isinstance(a, date) or isinstance(b, date):
        return isinstance(a, date) and isinstance(b, date)
    if a.unit is None or b.unit is None:
        return a.unit is None and b.unit is None
    return a.unit.dimensions == b.unit.dimensions


def _agree(a: Quantity | date, b: Quantity | date) -> bool | None:
    """Whether two values of one kind are the same; None if that cannot be said."""
    if isinstance(a, date) or isinstance(b, date):
        return a == b
    if a.unit is None or b.unit is None:
        return True if a.value == b.value else None
    if a.unit.temperature and b.unit.temperature:
        return _same_temperature(a, b)
    if a.unit.months or b.unit.months:
        return _same_time(a, b)
    first = a.value * a.unit.factor
    second = b.value * b.unit.factor
    days = "(day)^1" in (a.unit.name, b.unit.name)
    if math.isclose(first, second, rel_tol=CALENDAR_TOLERANCE if days else TOLERANCE):
        return True
    if a.unit.name == b.unit.name:
        return False
    rounded = sum(
        min(quantity.rounded, ROUNDED * abs(quantity.value)) * quantity.unit.factor
        for quantity in (a, b)
        if quantity.unit
    )
    return None if abs(first - second) <= rounded else False


def _same_temperature(a: Quantity, b: Quantity) -> bool | None:
    """Two levels that are equal are not two differences that are not, by chance."""
    assert a.unit is not None
    assert b.unit is not None
    near = abs(_kelvins(a.value, a.unit) - _kelvins(b.value, b.unit)) <= KELVINS + _ROUNDING
    if a.unit.name == b.unit.name:
        return near and math.isclose(a.value, b.value, rel_tol=TOLERANCE)
    if near:
        return True
    as_differences = math.isclose(
        a.value * a.unit.factor, b.value * b.unit.factor, rel_tol=TOLERANCE
    )
    return None if as_differences else False


def _kelvins(value: float, unit: Unit) -> float:
    zero = {"delta_degC": 273.15, "delta_degF": 459.67 * 5 / 9}.get(unit.temperature, 0.0)
    return value * unit.factor + zero


def _same_time(a: Quantity, b: Quantity) -> bool | None:
    """Whether a count of months, years or centuries is another one, or one of days or hours."""
    assert a.unit is not None
    assert b.unit is not None
    if a.unit.months and b.unit.months:
        if math.isclose(
            a.value * a.unit.months, b.value * b.unit.months, rel_tol=CALENDAR_TOLERANCE
        ):
            return True
        if a.unit.name == b.unit.name:
            return False
    (low, high), (other_low, other_high) = _days(a), _days(b)
    return None if low <= other_high and other_low <= high else False


def _days(quantity: Quantity) -> tuple[float, float]:
    """The least and the greatest number of days. Calendar units are rounded to whole ones; a month has 28 to 31 days, a
    year 360 (of some contracts) to 366."""
    assert quantity.unit is not None
    ends = (
        quantity.value - min(quantity.rounded, 0.5),
        quantity.value + min(quantity.rounded, 0.5),
    )
    if not quantity.unit.months:
        exact = quantity.value * quantity.unit.factor / 86400
        return exact - CALENDAR_TOLERANCE * abs(exact), exact + CALENDAR_TOLERANCE * abs(exact)
    months = [end * quantity.unit.months for end in ends]
    lengths = (28.0, 31.0) if max(map(abs, months)) < 12 else (30.0, 30.5)
    spans = [end * length for end in months for length in lengths]
    return min(spans), max(spans)


# Readings -----------------------------------------------------------------------------------------------------------


@lru_cache(maxsize=4096)
def _readings(answer: str, language: str) -> tuple[QuantityReading, ...]:
    """Every reading of an answer; none where it is no quantity and no date."""
    if len(answer) > 4 * _LONGEST:
        return ()
    plain = _SQUARED.sub(lambda sign: normalize("NFKC", sign[0]), normalize("NFC", answer))
    text = " ".join(european(plain).split()).rstrip(" .")
    if not text or len(text) > _LONGEST:
        return ()
    if dates := _dates(text, language):
        return dates
    text = with_digits(with_minus(unit_behind(text, language)), language)
    match = _quantity(language).fullmatch(text)
    if match is None:
        return ()
    exponent = int((match["e"] or match["power"] or match["raised"] or "0").translate(_RAISED))
    scale = (match["scale"] or "").casefold()
    scientific = any(match[group] for group in ("e", "power", "raised"))
    units: tuple[Unit | None, ...] = (None,)
    if match["unit"]:
        words = _CONNECTED.sub("", match["unit"], count=1) if scale else match["unit"]
        units = meanings(words, language)
    readings = [
        _reading(number, sign, choice, factor * 10.0**exponent, unit)
        for number in _numbers(match["digits"], scientific, language)
        for sign in _signs(match["sign"])
        for choice, factor in _factors_of(scale, language).items()
        for unit in units
    ]
    return tuple(
        reading
        for reading in readings
        if isinstance(reading.value, Quantity) and math.isfinite(reading.value.value)
    )


@lru_cache(maxsize=64)
def _quantity(language: str) -> re.Pattern[str]:
    """The form of a quantity, with the multiples of a language."""
    local_words = sorted(multiples(language), key=lambda word: (-len(word), word))
    local = "|".join(map(re.escape, local_words))
    return re.compile(
        r"(?P<sign>[-−–+] ?|minus |negative |plus )?"
        r"(?P<digits>[.,]?\d(?:[\d.,٫']| (?=\d{3}(?!\d)))*)"
        r"(?:[eE](?P<e>[-+−]?\d{1,2})"
        r"| ?[×x·] ?10(?:\^(?P<power>[-+−]?\d{1,2})|(?P<raised>⁻?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,2})))?"
        rf"(?: (?P<scale>(?:{'|'.join(_SCALES)})(?=s?(?!\w)){f'|(?:{local})' if local else ''})s?\.?(?!\w))?"
        r" ?(?P<unit>[^\d\s.,'+×-].*)?",
        re.IGNORECASE,
    )


def _factors_of(scale: str, language: str) -> Mapping[str, float]:
    """Choice -> factor, of a multiple."""
    if scale in _SCALES or not scale:
        return _SCALES.get(scale, {"": 1.0})
    return {"": multiples(language)[scale]}


def _reading(
    number: tuple[Decimal, bool],
    sign: tuple[int, str],
    scale: str,
    factor: float,
    unit: Unit | None,
) -> QuantityReading:
    """number: and whether it is usual. sign: and what it is taken to mean. scale: the choice that has this factor."""
    (written, usual), (direction, meant) = number, sign
    choices = dict(unit.choices) if unit else {}
    if meant:
        choices["minus"] = meant
    if scale:
        choices["scale"] = scale
    usual = usual and meant != _DECREASE and (unit is None or unit.usual)
    rounded = 0.5 * 10.0 ** _last_place(written) * factor
    return QuantityReading(
        Quantity(direction * float(written) * factor, rounded, unit), choices, usual
    )


def _last_place(written: Decimal) -> int:
    """The power of ten of the last digit; of a whole number, of the last one that is not 0."""
    exponent = written.as_tuple().exponent
    if exponent == 0:
        exponent = written.normalize().as_tuple().exponent
    assert isinstance(exponent, int)
    return exponent


def _signs(sign: str | None) -> Iterator[tuple[int, str]]:
    """A minus is of a negative value, or possibly of a decrease by the value: -5 % is also a decrease of 5 %."""
    if (sign or "+").strip().casefold() in ("+", "plus"):
        yield 1, ""
    else:
        yield -1, "negative"
        yield 1, _DECREASE


def _numbers(digits: str, scientific: bool, language: str) -> Iterator[tuple[Decimal, bool]]:
    """The values of digits with marks, and whether each is usual. Three digits after a single mark are decimals or a
    group: usual is the way of the language, possible the other. scientific: a power of ten follows, so a single mark is
    the decimal one."""
    if _WHOLE.fullmatch(digits):
        yield Decimal(digits), True
        return
    for pattern, separators in ((_SPACED, " '"), (_BY_COMMA, ","), (_BY_STOP, ".")):
        if grouped := pattern.fullmatch(digits):
            whole = grouped[1].translate(dict.fromkeys(map(ord, separators)))
            yield Decimal(f"{whole}.{grouped[2]}" if grouped[2] else whole), True
            return
    if match := _ONE_MARK.fullmatch(digits):
        whole = match[1]
        mark = match[2]
        decimals = match[3]
        can_be_group = (
            len(decimals) == 3
            and mark != "٫"
            and 1 <= len(whole) <= 3
            and not whole.startswith("0")
            and not scientific
        )
        usual = MARKS[language].get(mark, DECIMAL) if can_be_group else DECIMAL
        yield Decimal(f"{whole or 0}.{decimals}"), usual in (DECIMAL, EITHER)
        if can_be_group:
            yield Decimal(whole + decimals), usual in (GROUP, EITHER)


def _dates(text: str, language: str) -> tuple[QuantityReading, ...]:
    days = calendar_dates(text, language)
    readings = [QuantityReading(day, usual=usual) for day, usual in days.items()]
    readings += [
        QuantityReading(day + _julian(day), usual=False) for day in days if day.year <= _LAST_JULIAN
    ]
    return tuple(readings)


def _julian(day: date) -> timedelta:
    """What is added to a date of the Julian calendar for the Gregorian one."""
    century = (day.year - (day.month <= 2)) // 100
    return timedelta(days=century - century // 4 - 2)
