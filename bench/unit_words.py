"""Writes `src/longmark/text/unit_words.json`: how ten and more languages write units and months, from the CLDR.

`python -m bench.unit_words` with Babel 2.19.0 (CLDR; not an extra of longmark: 36 MB for what is 40 kB here)

Of each unit of `UNITS` the long and the short forms in every plural, without those that English symbols have; of months
the wide and the abbreviated names. Words that mean two units in one language are left out.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LOCALES = {
    "ar": "ar ar_EG ar_LB ar_IQ ar_MA ar_DZ",
    "de": "de de_AT de_CH",
    "es": "es es_MX",
    "fr": "fr fr_CA",
    "hi": "hi",
    "it": "it",
    "ja": "ja",
    "ko": "ko",
    "pt": "pt pt_PT",
    "ru": "ru",
    "tr": "tr",
    "zh": "zh zh_Hant",
}
UNITS = {  # of the CLDR -> word or symbol of text.units
    "angle-arc-minute": "arcminute",
    "angle-arc-second": "arcsecond",
    "angle-degree": "°",
    "angle-radian": "radian",
    "area-acre": "acre",
    "area-hectare": "hectare",
    "area-square-centimeter": "cm²",
    "area-square-foot": "ft²",
    "area-square-inch": "in²",
    "area-square-kilometer": "km²",
    "area-square-meter": "m²",
    "area-square-mile": "square mile",
    "area-square-yard": "square yard",
    "concentr-part-per-1e6": "ppm",
    "concentr-percent": "%",
    "concentr-permille": "‰",
    "digital-bit": "bit",
    "digital-byte": "byte",
    "digital-gigabyte": "GB",
    "digital-kilobyte": "kB",
    "digital-megabyte": "MB",
    "digital-terabyte": "TB",
    "duration-day": "day",
    "duration-decade": "decade",
    "duration-hour": "hour",
    "duration-microsecond": "µs",
    "duration-millisecond": "ms",
    "duration-minute": "minute",
    "duration-month": "month",
    "duration-nanosecond": "ns",
    "duration-second": "second",
    "duration-week": "week",
    "duration-year": "year",
    "electric-ampere": "ampere",
    "electric-milliampere": "mA",
    "electric-ohm": "ohm",
    "electric-volt": "volt",
    "energy-calorie": "calorie",
    "energy-electronvolt": "eV",
    "energy-joule": "joule",
    "energy-kilocalorie": "kcal",
    "energy-kilojoule": "kJ",
    "energy-kilowatt-hour": "kWh",
    "force-newton": "newton",
    "frequency-gigahertz": "GHz",
    "frequency-hertz": "Hz",
    "frequency-kilohertz": "kHz",
    "frequency-megahertz": "MHz",
    "length-astronomical-unit": "AU",
    "length-centimeter": "cm",
    "length-decimeter": "dm",
    "length-fathom": "fathom",
    "length-foot": "foot",
    "length-inch": "inch",
    "length-kilometer": "km",
    "length-light-year": "light year",
    "length-meter": "metre",
    "length-micrometer": "µm",
    "length-mile": "mile",
    "length-millimeter": "mm",
    "length-nanometer": "nanometre",
    "length-nautical-mile": "nautical mile",
    "length-parsec": "parsec",
    "length-yard": "yard",
    "light-lumen": "lumen",
    "light-lux": "lux",
    "mass-carat": "carat",
    "mass-gram": "gram",
    "mass-kilogram": "kg",
    "mass-microgram": "µg",
    "mass-milligram": "mg",
    "mass-ounce": "ounce",
    "mass-ounce-troy": "troy ounce",
    "mass-pound": "pound",
    "mass-tonne": "t",
    "power-gigawatt": "GW",
    "power-horsepower": "horsepower",
    "power-kilowatt": "kW",
    "power-megawatt": "MW",
    "power-milliwatt": "mW",
    "power-watt": "watt",
    "pressure-atmosphere": "atmosphere",
    "pressure-bar": "bar",
    "pressure-hectopascal": "hPa",
    "pressure-kilopascal": "kPa",
    "pressure-megapascal": "MPa",
    "pressure-millibar": "mbar",
    "pressure-millimeter-ofhg": "mmHg",
    "pressure-pascal": "pascal",
    "speed-kilometer-per-hour": "km/h",
    "speed-knot": "knot",
    "speed-meter-per-second": "m/s",
    "speed-mile-per-hour": "mph",
    "temperature-celsius": "°C",
    "temperature-fahrenheit": "°F",
    "temperature-kelvin": "kelvin",
    "volume-barrel": "barrel",
    "volume-centiliter": "cl",
    "volume-cubic-centimeter": "cm³",
    "volume-cubic-foot": "ft³",
    "volume-cubic-kilometer": "km³",
    "volume-cubic-meter": "m³",
    "volume-cubic-mile": "cubic mile",
    "volume-deciliter": "dl",
    "volume-gallon": "gallon",
    "volume-hectoliter": "hl",
    "volume-liter": "litre",
    "volume-milliliter": "ml",
}
# Common words that the CLDR does not have
FURTHER = {
    "ar": {"بالمئة": "%", "بالمائة": "%", "في المئة": "%", "في المائة": "%"},
    "de": {"vom Hundert": "%", "Stundenkilometer": "km/h", "Grad": "°", "Jahren": "year",
           "Jahre": "year", "Monaten": "month", "Tagen": "day", "Quadratkilometern": "km²",
           "Kilometern": "km", "Metern": "metre", "Grad Celsius": "°C", "Tonnen": "t"},
    "es": {"por ciento": "%", "toneladas": "t", "tonelada": "t", "grados": "°", "grado": "°"},
    "fr": {"pour cent": "%", "degrés": "°", "degré": "°", "kilos": "kg",
           "année": "year", "années": "year"},
    "hi": {"टन": "t", "डिग्री": "°"},
    "it": {"per cento": "%", "percento": "%", "gradi": "°", "grado": "°", "tonnellate": "t"},
    "ja": {"パーセント": "%", "トン": "t", "年": "year", "年間": "year", "日間": "day", "度": "°",
           "か月": "month", "カ月": "month", "ヶ月": "month", "平方キロ": "km²", "平方キロメートル": "km²"},
    "ko": {"톤": "t", "퍼센트": "%", "도": "°"},
    "pt": {"por cento": "%", "toneladas": "t", "tonelada": "t", "graus": "°", "grau": "°"},
    "ru": {"процентов": "%", "процента": "%", "процент": "%", "тонн": "t", "тонны": "t",
           "тонна": "t", "градусов": "°", "градуса": "°", "лет": "year", "км/ч": "km/h"},
    "tr": {"yüzde": "%", "ton": "t"},
    "zh": {"吨": "t", "噸": "t", "千米": "km", "公里": "km", "公斤": "kg", "千克": "kg", "度": "°",
           "年": "year", "天": "day", "个月": "month", "米": "metre", "平方千米": "km²"},
}  # fmt: skip
FILE = Path(__file__).parents[1] / "src/longmark/text/unit_words.json"


AMBIGUOUS = {
    "fr": ("mille",),
    "it": ("decade",),
    "ru": ("г.", "г", "л.", "л", "с.", "г./л."),
    "hi": ("से॰",),
}
"""Words that stand for two units, of which the CLDR names one: a `г` is a gram or a year."""


def _forms(patterns: Any) -> set[str]:
    """The words of a unit: its patterns around a number. `摂氏{0}度` stays; `{0} Meter` is `meter`."""
    forms = set()
    for width in ("long", "short"):
        for plural, pattern in patterns[width].items():
            if plural == "per" or "{0}" not in pattern:
                continue
            before, _, behind = (
                " ".join(part.strip("\u200f\u200e").split()) for part in pattern.partition("{0}")
            )
            word = behind.casefold() if width == "long" else behind
            forms.add(f"{before}{{0}}{word}" if before else word)
    return {form for form in forms if len(form) > 1 or not form.isalpha() or form >= "\u3000"}


def words_of(language: str) -> dict[str, Any]:
    """units: word or symbol of `text.units` -> words; months: number -> names."""
    from babel import Locale

    units: dict[str, set[str]] = defaultdict(set)
    months: dict[str, set[int]] = defaultdict(set)
    for name in LOCALES[language].split():
        locale = Locale.parse(name)
        for unit, word in UNITS.items():
            for form in _forms(locale._data["unit_patterns"][unit]):
                units[form].add(word)
        for context in ("format", "stand-alone"):
            for width in ("wide", "abbreviated"):
                for number, month in locale.months[context][width].items():
                    months[" ".join(month.casefold().rstrip(".॰").split())].add(number)
    for form, word in FURTHER.get(language, {}).items():
        units[form.casefold()] = {word}
    for form in AMBIGUOUS.get(language, ()):
        units.pop(form, None)
    return {
        "units": _by_meaning(units),
        "months": _by_meaning({form: n for form, n in months.items() if not form[0].isdigit()}),
    }


def _by_meaning(words: Mapping[str, set[Any]]) -> dict[str, str]:
    """Meaning -> its words, between bars; without words of two meanings."""
    grouped: dict[str, list[str]] = defaultdict(list)
    for word, meanings in sorted(words.items()):
        if len(meanings) == 1:
            grouped[str(min(meanings))].append(word)
    return {meaning: "|".join(grouped[meaning]) for meaning in sorted(grouped)}


def main() -> None:
    table = {language: words_of(language) for language in LOCALES}
    FILE.write_text(json.dumps(table, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")
    print(f"{FILE.stat().st_size:,} bytes in {FILE}")


if __name__ == "__main__":
    main()
