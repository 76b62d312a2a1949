"""How languages write units, months, multiples and signs, for `text.quantities`: their words as English ones.

The words of units and months are the CLDR's (`unit_words.json`, written by bench/unit_words.py from Babel 2.19.0), the
multiples are ours. A language is a code (ISO 639-1); "" stands for one that is not known: then a word counts that means
the same in every language which has it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path

UNKNOWN = ""
GROUP = "group"
DECIMAL = "decimal"
EITHER = "either"

# What `.` and `,` before three digits are in a language, by the patterns of the CLDR. EITHER: its countries differ
# (Spanish, Arabic), or it groups by spaces and a point is foreign (French, Russian).
_ENGLISH_MARKS = {".": DECIMAL, ",": GROUP}
_CONTINENTAL_MARKS = {".": GROUP, ",": DECIMAL}
_SPACED_MARKS = {".": EITHER, ",": DECIMAL}
_NO_MARKS = {".": EITHER, ",": EITHER}
MARKS: Mapping[str, Mapping[str, str]] = {
    **dict.fromkeys(("en", "hi", "ja", "ko", "zh"), _ENGLISH_MARKS),
    **dict.fromkeys(("da", "de", "id", "it", "nl", "pt", "ro", "tr"), _CONTINENTAL_MARKS),
    **dict.fromkeys(("cs", "fi", "fr", "pl", "ru", "sv"), _SPACED_MARKS),
    **dict.fromkeys(("ar", "es", UNKNOWN), _NO_MARKS),
}
DAY_FIRST = frozenset(MARKS) - {"en", "ja", "ko", "zh", UNKNOWN}
"""Languages in which 03/04/2024 is the third of April."""

# Multiples by language: words -> factor. Billions of both scales are words that two countries use differently.
_MULTIPLES: Mapping[str, Mapping[str, float]] = {
    "ar": {
        "ألف|آلاف|ألفا": 1e3,
        "مليون|ملايين|مليونا": 1e6,
        "مليار|مليارات|بليون": 1e9,
        "تريليون|تريليونات": 1e12,
    },
    "de": {
        "tausend|tsd": 1e3,
        "millionen|mio": 1e6,
        "milliarde|milliarden|mrd": 1e9,
        "billionen|bio": 1e12,
    },
    "es": {
        "mil": 1e3,
        "millón|millones": 1e6,
        "mil millones|millardo|millardos": 1e9,
        "billón|billones": 1e12,
    },
    "fr": {"millier|milliers": 1e3, "milliards|milliard": 1e9},
    "hi": {"हज़ार|हजार": 1e3, "लाख": 1e5, "करोड़": 1e7, "अरब": 1e9, "खरब": 1e11},
    "it": {
        "mila": 1e3,
        "milione|milioni": 1e6,
        "miliardo|miliardi": 1e9,
        "mila miliardi|bilione|bilioni": 1e12,
    },
    "pt": {
        "mil": 1e3,
        "milhão|milhões": 1e6,
        "mil milhões|bilhão|bilhões": 1e9,
        "bilião|biliões|trilhão|trilhões": 1e12,
    },
    "ru": {
        "тыс|тысяча|тысячи|тысяч": 1e3,
        "млн|миллион|миллиона|миллионов": 1e6,
        "млрд|миллиард|миллиарда|миллиардов": 1e9,
        "трлн|триллион|триллиона|триллионов": 1e12,
    },
    "tr": {"bin": 1e3, "milyon": 1e6, "milyar": 1e9, "trilyon": 1e12},
}
_NOT_WITHOUT_LANGUAGE = frozenset({"mil", "bin", "bio"})  # English words, too

_MINUS = re.compile(
    r"(?:moins|menos|meno|минус|eksi|ناقص|سالب|माइनस|ऋण) |(?:零下|氷点下|영하 ?|マイナス|마이너스 ?|负|負)"
)


@lru_cache(maxsize=64)
def multiples(language: str) -> Mapping[str, float]:
    """Word -> factor, besides the English words."""
    factors: dict[str, float] = {}
    for name, table in _MULTIPLES.items():
        if language not in (UNKNOWN, name):
            continue
        for words, factor in table.items():
            for word in words.split("|"):
                if language or word not in _NOT_WITHOUT_LANGUAGE:
                    factors[word] = factor
    return factors


def with_minus(text: str) -> str:
    """A text whose first word for a minus is `minus`."""
    match = _MINUS.match(text)
    return f"minus {text[match.end() :]}" if match else text


_MILLI = frozenset({"mA", "mW", "mbar", "mg", "ml", "mm", "ms"})
_LONGEST_SYMBOL = 4


def english_unit(text: str, language: str) -> str | None:
    """The word or symbol of `text.units` for the words of a unit; None where they are no unit of this language. A symbol
    keeps its case (МВт, мВт)."""
    words = _words("units", language)
    text = text.removesuffix(".").replace("·", "⋅")
    if unit := words.get(text):
        return unit
    unit = words.get(text.casefold())
    is_symbol = len(text) <= _LONGEST_SYMBOL and text[:1].isupper() and not text.isupper()
    # Мг is no мг: the capital letter stands for mega
    return None if unit in _MILLI and is_symbol else unit


def unit_behind(text: str, language: str) -> str:
    """A text in which the unit stands before the number, or on both sides (`%50`, `摂氏5度`), with the unit behind it;
    another text as it is."""
    sign = text[:1] if text[:1] in ("-", "−") else ""
    unsigned = text.removeprefix(sign)
    for before, behind, unit in _around(language):
        if not unsigned.startswith(before) or not unsigned.endswith(behind):
            continue
        number = unsigned[len(before) : len(unsigned) - len(behind)].strip()
        if number and (behind or number[-1].isnumeric()):
            return f"{sign}{number} {unit}"
    return text


def month(name: str, language: str) -> int | None:
    """The number of a month, from 1."""
    number = _words("months", language).get(name.casefold().rstrip(".॰"))
    return int(number) if number else None


@lru_cache(maxsize=1)
def _table() -> Mapping[str, Mapping[str, Mapping[str, str]]]:
    path = Path(__file__).with_name("unit_words.json")
    table: Mapping[str, Mapping[str, Mapping[str, str]]] = json.loads(
        path.read_text(encoding="utf-8")
    )
    return table


def _pairs(kind: str, language: str) -> Iterator[tuple[str, str]]:
    """Each word with its meaning; of an unknown language, those of all."""
    table = _table()
    for name in table if language == UNKNOWN else [language]:
        for meaning, words in table.get(name, {}).get(kind, {}).items():
            for word in words.split("|"):
                yield word, meaning


_POUNDS = {"pfund", "livre", "livres", "libbra", "libbre", "фунт", "фунта", "фунтов", "фнт"}
_LENGTHS = {"pied", "pieds", "meile", "meilen"}
_CALORIES = {"卡", "卡路里"}
_YEARS = {"年", "년"}
DOUBTED = frozenset(_POUNDS | _LENGTHS | _CALORIES | _YEARS)
"""Words that the CLDR has for one unit, and people use for another as well (half a kilogram, an older mile, a
kilocalorie of food, a calendar year): they are left to the judge."""


@lru_cache(maxsize=64)
def _words(kind: str, language: str) -> Mapping[str, str]:
    """Word -> meaning, of the words that have one."""
    meanings: dict[str, set[str]] = {}
    for word, meaning in _pairs(kind, language):
        if word not in DOUBTED:
            meanings.setdefault(word.removesuffix("."), set()).add(meaning)
    return {word: min(several) for word, several in meanings.items() if len(several) == 1}


@lru_cache(maxsize=64)
def _around(language: str) -> list[tuple[str, str, str]]:
    """What stands before and behind a number, and the unit; the longest first."""
    around = {("%", "", "%"), ("百分之", "", "%"), ("摄氏", "度", "°C"), ("華氏", "度", "°F")}
    for word, unit in _pairs("units", language):
        if "{0}" in word:
            before, _, behind = word.partition("{0}")
            around.add((before, behind, unit))
    return sorted(around, key=lambda parts: (-len(parts[0] + parts[1]), parts))
