"""What a word for a unit can mean, for `text.quantities`.

A unit is read if `text.unit_tables` or `text.ambiguous_units` has its words. A word can have several meanings: a ton is a
short, a metric or a long ton. `usual` are those that a reader must reckon with; the others are possible. Words that share
a notation have the same choice of meaning wherever they are read together: 8 pints are a gallon both by the American and
by the imperial measure.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from longmark.errors import library
from longmark.text.ambiguous_units import AMBIGUOUS
from longmark.text.local_words import english_unit
from longmark.text.unit_tables import (
    BYTE_PREFIXES,
    BYTES,
    CALENDAR,
    DEGREES,
    NO_UNITS,
    PREFIXES,
    SI,
    TEMPERATURE,
    UNITS,
)


@dataclass(frozen=True, slots=True)
class Meaning:
    """expression: of Pint."""

    expression: str
    usual: bool = True


@dataclass(frozen=True, slots=True)
class Word:
    """notation: what has a choice of meanings; choices: choice -> meaning. kind: tells apart what has equal dimensions
    (a percentage and an angle), or `TEMPERATURE`, `CALENDAR`."""

    notation: str
    choices: Mapping[str, Meaning]
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Unit:
    """One meaning of the words of a unit. name: of Pint, equal for equal units; factor: to SI base units; dimensions:
    of Pint, with the kinds of its parts. choices: notation -> the choice that this is. months: of a calendar unit, else
    0; temperature: its name as a scale, else ""."""

    name: str
    factor: float
    dimensions: str
    choices: tuple[tuple[str, str], ...] = ()
    usual: bool = True
    months: float = 0.0
    temperature: str = ""


_SUPERSCRIPTS = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-")
_POWERS = {
    "square": 2,
    "sq": 2,
    "sq.": 2,
    "cubic": 3,
    "cu": 3,
    "cu.": 3,
}
_FACTOR = re.compile(r"(?P<word>[^\W\d_]+|[%‰°Å℃℉][CF]?)(?:\^?(?P<power>-?[1-9]))?")
_MOST_WORDS = 8


@lru_cache(maxsize=4096)
def meanings(text: str, language: str = "en") -> tuple[Unit, ...]:
    """Every meaning of the words of a unit; none where they are no unit that is known here.

    language: whose words are read besides the English ones; "" those that mean one unit in all languages.
    MissingExtra without Pint (extra `graphs`)."""
    text = " ".join(text.split())
    factors = _factors(text)
    if factors is None and (english := english_unit(text, language)) is not None:
        factors = _factors(english)
    return tuple(_units(factors)) if factors else ()


# Words --------------------------------------------------------------------------------------------------------------


def _factors(text: str) -> list[tuple[Word, int]] | None:
    """The words of a unit with their powers."""
    if (whole := _power(text)) is not None:
        return [whole]
    factors_so_far: list[tuple[Word, int]] = []
    numerator, *denominators = re.split(r"\s*/\s*| per ", text)
    for sign, part in [(1, numerator), *((-1, denominator) for denominator in denominators)]:
        factors = _product(part)
        if factors is None:
            return None
        factors_so_far += [(word, sign * power) for word, power in factors]
    return factors_so_far


def _product(text: str) -> list[tuple[Word, int]] | None:
    if (whole := _power(text)) is not None:
        return [whole]
    parts = re.split(r"[ ·⋅*]+", text)
    if not 1 < len(parts) <= _MOST_WORDS:
        return None
    factors = [_power(part) for part in parts]
    return None if None in factors else [factor for factor in factors if factor is not None]


def _power(text: str) -> tuple[Word, int] | None:
    """A word with its power: `km`, `km²`, `m^-2`, `square miles`."""
    if (word := _word(text)) is not None:
        return word, 1
    first, _, second = text.partition(" ")
    if (power := _POWERS.get(first.casefold())) and (word := _word(second)) is not None:
        return word, power
    match = _FACTOR.fullmatch(text.translate(_SUPERSCRIPTS).replace("\N{MINUS SIGN}", "-"))
    if match is None or not match["power"] or (word := _word(match["word"])) is None:
        return None
    return word, int(match["power"])


def _word(text: str) -> Word | None:
    if text in NO_UNITS:
        return None
    symbols, names = _words()
    text = text.replace("\N{GREEK SMALL LETTER MU}", "µ").replace("° ", "°")
    return symbols.get(text) or names.get(text.casefold())


@lru_cache(maxsize=1)
def _words() -> tuple[Mapping[str, Word], Mapping[str, Word]]:
    """Symbol -> word, and folded word -> word."""
    symbols: dict[str, Word] = {}
    names: dict[str, Word] = {}

    def add(word: Word, some_symbols: Iterator[str], some_names: Iterator[str]) -> None:
        symbols.update(dict.fromkeys(some_symbols, word))
        for name in some_names:
            names.update(dict.fromkeys((name.casefold(), f"{name.casefold()}s"), word))

    for name, own_symbols, own_names, prefixes, kind in SI:
        add(_only(name, kind), iter(own_symbols.split()), iter(own_names.split()))
        for prefix in prefixes.split():
            spelled = [prefix, "u"] if prefix == "µ" else [prefix]
            add(
                _only(PREFIXES[prefix] + name, kind),
                (spelling + symbol for spelling in spelled for symbol in own_symbols.split()),
                (PREFIXES[prefix] + spelled_name for spelled_name in own_names.split()),
            )
    for kind, lines in UNITS.items():
        for line in re.sub(r",\s*\n\s*", ", ", lines).strip().splitlines():
            name, _, words = line.strip().partition(":")
            own_symbols, _, own_names = words.partition("|")
            add(_only(name, kind), _listed(own_symbols, ","), _listed(own_names, ","))
    for notation, own_symbols, own_names, choices, kind in AMBIGUOUS:
        meant = {
            choice.lstrip("?"): Meaning(text, not choice.startswith("?"))
            for choice, text in choices.items()
        }
        add(Word(notation, meant, kind), iter(own_symbols.split()), _listed(own_names, "|"))
    for prefix, power in BYTE_PREFIXES.items():
        sizes = {"decimal": f"{1000**power} byte", "binary": f"{1024**power} byte"}
        names_of = () if prefix == "K" else (f"{PREFIXES[prefix]}byte",)
        add(
            Word(BYTES, {k: Meaning(v) for k, v in sizes.items()}, "information"),
            iter((f"{prefix}B",)),
            iter(names_of),
        )
        add(_only(f"{1024**power} byte", "information"), iter((f"{prefix.upper()}iB",)), iter(()))
    add(_only("byte", "information"), iter(()), iter(("byte",)))
    angle_or_temperature = {"angle": "degree", "Celsius": "delta_degC", "Fahrenheit": "delta_degF"}
    degrees = Word(
        "degrees",
        {choice: Meaning(text) for choice, text in angle_or_temperature.items()},
        "degrees",
    )
    symbols |= dict.fromkeys(DEGREES, degrees)
    names |= dict.fromkeys(DEGREES, degrees)
    for letter, unit, scale in (("C", "coulomb", "delta_degC"), ("F", "farad", "delta_degF")):
        symbols[letter] = Word(letter, {"unit": Meaning(unit), "scale": Meaning(scale)}, "degrees")
    return symbols, names


def _only(expression: str, kind: str) -> Word:
    return Word("", {"": Meaning(expression)}, kind)


def _listed(text: str, separator: str) -> Iterator[str]:
    return (word.strip() for word in text.split(separator) if word.strip())


# Values -------------------------------------------------------------------------------------------------------------


def _units(factors: list[tuple[Word, int]]) -> Iterator[Unit]:
    """The meanings of a product; words with one notation have one choice."""
    options: dict[str, list[str]] = {}
    for word, _ in factors:
        if word.notation:
            word_choices = list(word.choices)
            options[word.notation] = [
                choice
                for choice in options.get(word.notation, word_choices)
                if choice in word_choices
            ]
    for choice in itertools.product(*options.values()):
        chosen = dict(zip(options, choice, strict=True))
        meant = [
            (word, word.choices[chosen.get(word.notation, "")], power) for word, power in factors
        ]
        unit = _unit([(meaning.expression, word.kind, power) for word, meaning, power in meant])
        if unit is not None:
            usual = all(meaning.usual for _, meaning, _ in meant)
            yield Unit(*unit, tuple(sorted(chosen.items())), usual, *_special(meant))


def _special(meant: list[tuple[Word, Meaning, int]]) -> tuple[float, str]:
    """Months and temperature of a `Unit`, where it is no product."""
    ((word, meaning, power), *further) = meant
    if further or power != 1:
        return 0.0, ""
    if word.kind == CALENDAR:
        return _value(meaning.expression)[0] / _value("month")[0], ""
    return 0.0, meaning.expression if _is_temperature(meaning.expression) else ""


def _is_temperature(expression: str) -> bool:
    return expression in ("delta_degC", "delta_degF", "kelvin")


def _unit(factors: list[tuple[str, str, int]]) -> tuple[str, float, str] | None:
    """Name, factor and dimensions of a product of (expression, kind, power)."""
    registry = _registry()
    product = registry.Quantity(1.0)
    kinds: dict[str, int] = {}
    for expression, kind, power in factors:
        product = product * registry.Quantity(*_value(expression)) ** power
        if kind == "degrees":
            kind = "angle" if expression == "degree" else ""
        if kind not in ("", TEMPERATURE, CALENDAR):
            kinds[kind] = kinds.get(kind, 0) + power
    base = product.to_base_units()
    name = " ".join(sorted(f"({expression})^{power}" for expression, _, power in factors))
    tags = ", ".join(f"{kind} {power}" for kind, power in sorted(kinds.items()) if power)
    return name, float(base.magnitude), f"{base.dimensionality} {tags}"


@lru_cache(maxsize=1024)
def _value(expression: str) -> tuple[float, Any]:
    """An expression of Pint in base units: factor and unit."""
    value = _registry().Quantity(expression).to_base_units()
    return float(value.magnitude), value.units


@lru_cache(maxsize=1)
def _registry() -> Any:
    return library("pint", "comparing quantities", "graphs").UnitRegistry()
