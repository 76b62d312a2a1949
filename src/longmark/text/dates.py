"""Dates of the Gregorian (or Julian) calendar with day, month and year, as languages write them, for `text.quantities`.

Not read: years of other eras (令和6年, พ.ศ. 2567), other calendars, two digits of a year, a date without a year.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, datetime

from longmark.text.local_words import DAY_FIRST, month
from longmark.text.numerals import numeral_value

_ENGLISH = (
    "%d %B %Y",
    "%B %d, %Y",
    "%B %d %Y",
    "%d %b %Y",
    "%b %d, %Y",
)
_YEAR_FIRST = re.compile(r"(\d{4})(?:-|/|\. ?)(\d{1,2})(?:-|/|\. ?)(\d{1,2})")
_POINTS = re.compile(r"(\d{1,2})\. ?(\d{1,2})\. ?(\d{4})")
_TWO_ORDERS = re.compile(r"(\d{1,2})([/-])(\d{1,2})\2(\d{4})")
_EAST_ASIAN = re.compile(
    r"([\d〇零一二三四五六七八九]{4}) ?[年년] ?([\d一二三四五六七八九十]{1,3}) ?[月월] ?"
    r"([\d一二三四五六七八九十]{1,3}) ?[日号號일]"
)
_ORDINAL = re.compile(r"\b(\d{1,2})(?:st|nd|rd|th)\b")
_DAY_MONTH = re.compile(
    r"(\d{1,2})(?:\.|er|º|ª|°)? ?(?:de |d['’])?(\D+?)\.?,? ?(?:de |del )?(\d{4})"
    r"(?: (?:г|г\.|года|م))?",
    re.IGNORECASE,
)
_MONTH_DAY = re.compile(r"(\D+?)\.? (\d{1,2})\.?,? (\d{4})")


def calendar_dates(text: str, language: str) -> dict[date, bool]:
    """The days that a text can mean, each with whether the language usually means it; none where the text is no date.

    text: with European digits. language: "" if not known; 03/04/2024 then has two usual readings, as in English."""
    days = dict.fromkeys(_certain(text, language), True)
    match = _TWO_ORDERS.fullmatch(text)
    if days or match is None:
        return days
    month_first = _day(match[4], match[1], match[3])
    day_first = _day(match[4], match[3], match[1])
    if month_first is not None:
        days[month_first] = day_first is None or language not in DAY_FIRST
    if day_first is not None:
        days[day_first] = True
    return days


def _certain(text: str, language: str) -> Iterator[date]:
    """The day of a text that names its month, or has an order that is the same everywhere."""
    for numbers in _numbers(text, language):
        if (day := _day(*numbers)) is not None:
            yield day
    plain = _ORDINAL.sub(r"\1", text).replace("Sept ", "Sep ")
    for form in _ENGLISH:
        try:
            yield datetime.strptime(plain, form).date()
        except ValueError:
            continue


def _numbers(text: str, language: str) -> Iterator[tuple[str, str, str]]:
    """Year, month and day of a text."""
    if match := _YEAR_FIRST.fullmatch(text):
        yield match[1], match[2], match[3]
    if match := _POINTS.fullmatch(text):
        yield match[3], match[2], match[1]
    if match := _EAST_ASIAN.fullmatch(text):
        year = numeral_value(match[1])
        number = numeral_value(match[2])
        day = numeral_value(match[3])
        if year is not None and number is not None and day is not None:
            yield f"{year:f}", f"{number:f}", f"{day:f}"
    match = _DAY_MONTH.fullmatch(text)
    month_number = month(match[2], language) if match else None
    if match and month_number:
        yield match[3], str(month_number), match[1]
    match = _MONTH_DAY.fullmatch(text)
    month_number = month(match[1], language) if match else None
    if match and month_number:
        yield match[3], str(month_number), match[2]


def _day(year: str, number_of_month: str, day: str) -> date | None:
    try:
        return date(int(year), int(number_of_month), int(day))
    except ValueError:
        return None
