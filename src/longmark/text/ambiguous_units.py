"""Units whose word has several meanings, such as ton and pint, with Pint's expressions of each."""

from __future__ import annotations

# Ambiguous units: (notation, symbols, words, choice -> Pint's expression, kind). A choice that begins with ? is only
# possible. Units of one notation have the names of their choices in common: US gallons go with US pints.
_MEASURE = "measure"
_TON = "ton"
AMBIGUOUS: tuple[tuple[str, str, str, dict[str, str], str], ...] = (
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
