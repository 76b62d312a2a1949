"""What a word for a unit can mean, for `text.quantities`.

A unit is read if the tables below have its words; any other word is no unit (Pint alone reads `pct` as picocarats and
`kmph` as kilomiles an hour). A word can have several meanings: a ton is a short, a metric or a long ton. `usual` are
those that a reader must reckon with; the others are possible. Words that share a notation have the same choice of
meaning wherever they are read together: 8 pints are a gallon both by the American and by the imperial measure.
Values are Pint's definitions (NIST SP 811, appendix B; SI Brochure, tables 2 to 8). SI prefixes go with SI units alone.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from longmark.errors import library
from longmark.text.local_words import english_unit

TEMPERATURE = "temperature"
CALENDAR = "calendar"


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


# Units with one meaning: kind -> lines of `Pint's name: symbols | words`. Case counts in symbols. Words also have a
# plural with s.
_UNITS = {
    "": """
        inch: in | inch, inches
        foot: ft | foot, feet
        yard: yd, yds | yard
        fathom: | fathom
        furlong: | furlong
        nautical_mile: nmi, NM | nautical mile, sea mile
        angstrom: Å | angstrom, ångström
        micrometer: | micron
        astronomical_unit: AU, au, ua | astronomical unit
        light_year: ly | light year, light-year
        parsec: pc | parsec
        kiloparsec: kpc | kiloparsec
        megaparsec: Mpc | megaparsec
        acre: ac | acre
        hectare: ha | hectare
        meter ** 2: sqm |
        kilometer ** 2: sqkm |
        foot ** 2: sqft |
        centimeter ** 3: cc, ccm |
        oil_bbl: | barrel of oil, barrels of oil, oil barrel
        microgram: mcg |
        gram: gm, gms |
        kilogram: kgs, Kg, KG | kilo
        kilometer: kms, Km, KM |
        metric_ton: | tonne, metric ton, metric tonne
        kilometric_ton: | kilotonne
        megametric_ton: | megatonne
        gigametric_ton: Gt | gigatonne
        short_ton: | short ton
        long_ton: | long ton, imperial ton
        troy_ounce: ozt | troy ounce
        fluid_ounce: | US fluid ounce
        gallon: | US gallon
        imperial_gallon: | imperial gallon, UK gallon
        stone: | stone
        second: sec, secs | second
        minute: min, mins | minute
        hour: h, hr, hrs | hour
        day: d | day
        week: wk, wks | week
        fortnight: | fortnight
        kilometer / hour: kmph, kph, kmh, km/hr, kmphr, KMPH, KPH |
        mile / hour: mph, MPH |
        knot: kn, kts | knot
        hectopascal: mb |
        bar: bar |
        millibar: mbar | millibar
        atmosphere: | standard atmosphere
        torr: Torr | torr
        mmHg: mmHg | millimetre of mercury, millimetres of mercury, millimeters of mercury
        inHg: inHg |
        psi: psi |
        kilogram_force: kgf |
        force_pound: lbf |
        kilocalorie: kcal | kilocalorie
        watt_hour: Wh | watt hour, watt-hour
        kilowatt_hour: kWh, KWh, kwh | kilowatt hour, kilowatt-hour
        megawatt_hour: MWh | megawatt hour, megawatt-hour
        gigawatt_hour: GWh | gigawatt hour, gigawatt-hour
        terawatt_hour: TWh | terawatt hour, terawatt-hour
        Btu: BTU, Btu |
        dalton: Da | dalton
        metric_horsepower: PS |
        ampere_hour: Ah |
        milliampere_hour: mAh |
    """,
    "ratio": """
        percent: %, pct | percent, per cent
        permille: ‰ | permille, per mille
        ppm: ppm | part per million, parts per million
        ppm / 1000: ppb | part per billion, parts per billion
    """,
    "percentage point": """
        percent: | percentage point
    """,
    "angle": """
        radian: rad | radian
        arcminute: arcmin | arcminute
        arcsecond: arcsec | arcsecond
    """,
    "information": """
        bit: | bit
        kilobit / second: kbps |
        megabit / second: Mbps |
        gigabit / second: Gbps |
    """,
    TEMPERATURE: """
        delta_degC: °C, ℃, ºC | degree celsius, degrees celsius, celsius, centigrade, degree centigrade,
            degrees centigrade, deg C, degrees C, degree C, degC
        delta_degF: °F, ℉, ºF | degree fahrenheit, degrees fahrenheit, fahrenheit, deg F, degrees F, degree F, degF
        kelvin: K | kelvin
    """,
    CALENDAR: """
        month: mo, mos | month
        year: y, yr, yrs | year
        1000 year: kyr | millennium, millennia
        1e6 year: Myr |
        1e9 year: Gyr |
        10 year: | decade
        100 year: | century, centuries
    """,
}

# SI units and those that take SI prefixes: Pint's name, symbols, words, the prefixes of their symbols, kind.
_SI: tuple[tuple[str, str, str, str, str], ...] = (
    ("meter", "m", "metre meter", "f p n µ m c d k M G", ""),
    ("gram", "g", "gram gramme", "n µ m c d k M G T P", ""),
    ("second", "s", "second", "f p n µ m", ""),
    ("ampere", "A", "ampere amp", "n µ m k", ""),
    ("mole", "mol", "mole", "n µ m k", ""),
    ("liter", "l L", "litre liter", "n µ m c d h k M G", ""),
    ("metric_ton", "t", "", "", ""),
    ("pascal", "Pa", "pascal", "m h k M G", ""),
    ("joule", "J", "joule", "m k M G T P", ""),
    ("watt", "W", "watt", "n µ m k M G T", ""),
    ("newton", "N", "newton", "m k M", ""),
    ("volt", "V", "volt", "n µ m k M", ""),
    ("ohm", "Ω", "ohm", "m k M", ""),
    ("tesla", "", "tesla", "n µ m", ""),
    ("electron_volt", "eV", "electronvolt", "m k M G T", ""),
    ("hertz", "Hz", "hertz", "m k M G T", "frequency"),
    ("becquerel", "Bq", "becquerel", "k M G T P", "activity"),
    ("sievert", "Sv", "sievert", "n µ m", "equivalent dose"),
    ("gray", "", "gray", "µ m c k", "absorbed dose"),
    ("lumen", "lm", "lumen", "k", "luminous flux"),
    ("lux", "lx", "lux", "k", "illuminance"),
    ("candela", "cd", "candela", "m k", "luminous intensity"),
)
_PREFIXES = {
    "f": "femto",
    "p": "pico",
    "n": "nano",
    "µ": "micro",
    "m": "milli",
    "c": "centi",
    "d": "deci",
    "h": "hecto",
    "k": "kilo",
    "M": "mega",
    "G": "giga",
    "T": "tera",
    "P": "peta",
}

# Ambiguous units: (notation, symbols, words, choice -> Pint's expression, kind). A choice that begins with ? is only
# possible. Units of one notation have the names of their choices in common: US gallons go with US pints.
_MEASURE = "measure"
_TON = "ton"
_BYTES = "bytes"
_AMBIGUOUS: tuple[tuple[str, str, str, dict[str, str], str], ...] = (
    (
        _TON,
        "",
        "ton",
        {
            "US": "short_ton",
            "metric": "metric_ton",
            "UK": "long_ton",
        },
        "",
    ),
    (
        _TON,
        "kT",
        "kiloton",
        {
            "US": "1e3 short_ton",
            "metric": "1e3 metric_ton",
            "UK": "1e3 long_ton",
        },
        "",
    ),
    (
        _TON,
        "MT",
        "megaton",
        {
            "US": "1e6 short_ton",
            "metric": "1e6 metric_ton",
            "one": "metric_ton",
        },
        "",
    ),
    (
        _TON,
        "",
        "gigaton",
        {
            "US": "1e9 short_ton",
            "metric": "1e9 metric_ton",
            "UK": "1e9 long_ton",
        },
        "",
    ),
    (
        "Mt",
        "Mt",
        "",
        {
            "million": "1e6 metric_ton",
            "one": "metric_ton",
        },
        "",
    ),
    (
        "mt",
        "mt",
        "",
        {
            "one": "metric_ton",
            "million": "1e6 metric_ton",
        },
        "",
    ),
    (
        "kt",
        "kt",
        "",
        {
            "tonne": "kilometric_ton",
            "knot": "knot",
        },
        "",
    ),
    (
        "T",
        "T",
        "",
        {
            "tesla": "tesla",
            "tonne": "metric_ton",
            "ton": "short_ton",
        },
        "",
    ),
    (
        _TON,
        "cwt",
        "hundredweight",
        {
            "US": "US_hundredweight",
            "UK": "UK_hundredweight",
            "metric": "50 kg",
        },
        "",
    ),
    (
        "quintal",
        "",
        "quintal",
        {
            "metric": "100 kg",
            "US": "100 pound",
            "UK": "112 pound",
        },
        "",
    ),
    (
        "pound",
        "lb lbs",
        "pound",
        {
            "avoirdupois": "pound",
            "?troy": "troy_pound",
            "?metric": "500 g",
        },
        "",
    ),
    (
        "ounce",
        "oz",
        "ounce",
        {
            "avoirdupois": "ounce",
            "?troy": "troy_ounce",
            "US": "fluid_ounce",
            "UK": "imperial_fluid_ounce",
        },
        "",
    ),
    (
        "barrel",
        "bbl bbls",
        "barrel",
        {
            "oil": "oil_bbl",
            "US": "barrel",
            "beer": "beer_bbl",
            "imperial": "imperial_barrel",
            "dry": "dry_barrel",
        },
        "",
    ),
    (
        _MEASURE,
        "gal",
        "gallon",
        {
            "US": "gallon",
            "imperial": "imperial_gallon",
        },
        "",
    ),
    (
        _MEASURE,
        "qt qts",
        "quart",
        {
            "US": "quart",
            "imperial": "imperial_quart",
            "dry": "dry_quart",
        },
        "",
    ),
    (
        _MEASURE,
        "pt pts",
        "pint",
        {
            "US": "pint",
            "imperial": "imperial_pint",
            "dry": "dry_pint",
        },
        "",
    ),
    (
        _MEASURE,
        "",
        "cup",
        {
            "US": "cup",
            "imperial": "imperial_cup",
            "metric": "250 mL",
            "legal": "240 mL",
            "Japan": "200 mL",
        },
        "",
    ),
    (
        _MEASURE,
        "",
        "gill",
        {
            "US": "gill",
            "imperial": "imperial_gill",
        },
        "",
    ),
    (
        _MEASURE,
        "floz",
        "fluid ounce|fl oz|fl. oz",
        {
            "US": "fluid_ounce",
            "imperial": "imperial_fluid_ounce",
            "legal": "30 mL",
        },
        "",
    ),
    (
        _MEASURE,
        "tbsp Tbsp",
        "tablespoon",
        {
            "US": "tablespoon",
            "imperial": "17.758 mL",
            "metric": "15 mL",
            "Australia": "20 mL",
        },
        "",
    ),
    (
        _MEASURE,
        "tsp",
        "teaspoon",
        {
            "US": "teaspoon",
            "imperial": "5.919 mL",
            "metric": "5 mL",
        },
        "",
    ),
    (
        _MEASURE,
        "bu",
        "bushel",
        {
            "US": "bushel",
            "imperial": "imperial_bushel",
        },
        "",
    ),
    (
        "calorie",
        "cal Cal",
        "calorie",
        {
            "small": "calorie",
            "food": "kilocalorie",
        },
        "",
    ),
    (
        "horsepower",
        "hp HP",
        "horsepower",
        {
            "mechanical": "horsepower",
            "metric": "metric_horsepower",
            "electric": "electrical_horsepower",
            "?boiler": "boiler_horsepower",
        },
        "",
    ),
    (
        "mile",
        "mi",
        "mile",
        {
            "statute": "mile",
            "?nautical": "nautical_mile",
            "?Scandinavian": "10 km",
        },
        "",
    ),
    (
        "league",
        "",
        "league",
        {
            "land": "league",
            "sea": "3 nautical_mile",
            "metric": "4 km",
        },
        "",
    ),
    (
        "nm",
        "nm",
        "",
        {
            "nanometre": "nanometer",
            "?nautical mile": "nautical_mile",
        },
        "",
    ),
    (
        "atmosphere",
        "atm",
        "atmosphere",
        {
            "standard": "atmosphere",
            "?technical": "technical_atmosphere",
        },
        "",
    ),
    (
        "gr",
        "gr",
        "",
        {
            "grain": "grain",
            "gram": "gram",
        },
        "",
    ),
    (
        "g",
        "g",
        "",
        {
            "gram": "gram",
            "gravity": "standard_gravity",
        },
        "",
    ),
    (
        "mps",
        "mps",
        "",
        {
            "metres": "meter / second",
            "miles": "mile / second",
        },
        "",
    ),
    (
        "ppt",
        "ppt",
        "",
        {
            "trillion": "1e-12",
            "thousand": "1e-3",
        },
        "ratio",
    ),
    (
        "carat",
        "ct",
        "carat",
        {
            "metric": "carat",
        },
        "",
    ),
)
_DEGREES = ("degree", "degrees", "°", "deg")  # of an angle or a temperature
_BYTE_PREFIXES = {
    "k": 1,
    "K": 1,
    "M": 2,
    "G": 3,
    "T": 4,
    "P": 5,
}
_NO_UNITS = frozenset({"pm", "am", "PM", "AM"})  # hours

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
    if text in _NO_UNITS:
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

    for name, own_symbols, own_names, prefixes, kind in _SI:
        add(_only(name, kind), iter(own_symbols.split()), iter(own_names.split()))
        for prefix in prefixes.split():
            spelled = [prefix, "u"] if prefix == "µ" else [prefix]
            add(
                _only(_PREFIXES[prefix] + name, kind),
                (spelling + symbol for spelling in spelled for symbol in own_symbols.split()),
                (_PREFIXES[prefix] + spelled_name for spelled_name in own_names.split()),
            )
    for kind, lines in _UNITS.items():
        for line in re.sub(r",\s*\n\s*", ", ", lines).strip().splitlines():
            name, _, words = line.strip().partition(":")
            own_symbols, _, own_names = words.partition("|")
            add(_only(name, kind), _listed(own_symbols, ","), _listed(own_names, ","))
    for notation, own_symbols, own_names, choices, kind in _AMBIGUOUS:
        meant = {
            choice.lstrip("?"): Meaning(text, not choice.startswith("?"))
            for choice, text in choices.items()
        }
        add(Word(notation, meant, kind), iter(own_symbols.split()), _listed(own_names, "|"))
    for prefix, power in _BYTE_PREFIXES.items():
        sizes = {"decimal": f"{1000**power} byte", "binary": f"{1024**power} byte"}
        names_of = () if prefix == "K" else (f"{_PREFIXES[prefix]}byte",)
        add(
            Word(_BYTES, {k: Meaning(v) for k, v in sizes.items()}, "information"),
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
    symbols |= dict.fromkeys(_DEGREES, degrees)
    names |= dict.fromkeys(_DEGREES, degrees)
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
