"""The comparison of quantities and dates: figures of cited sources, ambiguous units and notations, and properties."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from longmark.text.numerals import with_digits
from longmark.text.quantities import compare
from longmark.text.units import meanings

# What a unit is in SI base units. NIST SP 811 (2008), appendix B.8, but for what is named otherwise.
NIST = {
    "acre": 4.046873e3,
    "angstrom": 1.0e-10,
    "astronomical unit": 1.495979e11,
    "bar": 1.0e5,
    "Btu": 1.055056e3,
    "fathom": 1.828804,
    "foot": 3.048e-1,
    "hectare": 1.0e4,
    "inch": 2.54e-2,
    "kcal": 4.184e3,
    "km/h": 2.777778e-1,
    "kWh": 3.6e6,
    "knot": 5.144444e-1,
    "light year": 9.46073e15,
    "long ton": 1.016047e3,
    "metric ton": 1.0e3,
    "micron": 1.0e-6,
    "mmHg": 1.333224e2,
    "mph": 4.4704e-1,
    "nautical mile": 1.852e3,
    "parsec": 3.085678e16,
    "psi": 6.894757e3,
    "short ton": 9.071847e2,
    "stone": 6.350293,
    "torr": 1.333224e2,
    "troy ounce": 3.110348e-2,
    "yard": 9.144e-1,
    "barrel of oil": 1.589873e-1,
    "litre": 1.0e-3,  # SI Brochure, table 8
    "t": 1.0e3,  # SI Brochure, table 8
    "minutes": 60.0,  # SI Brochure, table 8
    "days": 86400.0,  # SI Brochure, table 8
    "cc": 1.0e-6,
}


@pytest.mark.parametrize(("word", "value"), NIST.items())
def test_a_unit_with_one_meaning_has_the_value_of_the_cited_table(word: str, value: float) -> None:
    (unit,) = meanings(word)
    assert unit.factor == pytest.approx(value, rel=1e-4)  # a fathom was of the survey foot: 2e-6


# The meanings of ambiguous words, of the same appendix where it has them.
AMBIGUOUS = {
    "ton": (907.1847, 1000, 1016.047),
    "hundredweight": (45.35924, 50.80235, 50),  # short, long; the German Zentner
    "gallon": (3.785412e-3, 4.54609e-3),
    "quart": (9.463529e-4, 1.136523e-3, 1.101221e-3),
    "pint": (4.731765e-4, 5.682613e-4, 5.506105e-4),
    "cup": (2.365882e-4, 2.841306e-4, 2.5e-4, 2.4e-4, 2.0e-4),
    "fluid ounce": (2.957353e-5, 2.841306e-5, 3.0e-5),
    "barrel": (1.589873e-1, 1.192405e-1, 1.173478e-1, 1.636592e-1, 1.156271e-1),
    "calorie": (4.184, 4184),
    "horsepower": (745.6999, 735.4988, 746, 9809.5),
    "mile": (1609.344, 1852, 10000),
    "league": (4828.03, 5556, 4000),
    "pound": (0.4535924, 0.3732417, 0.5),
    "carat": (2.0e-4,),
}


@pytest.mark.parametrize(("word", "values"), AMBIGUOUS.items())
def test_an_ambiguous_word_has_every_meaning_of_the_cited_table(
    word: str, values: tuple[float, ...]
) -> None:
    assert sorted(unit.factor for unit in meanings(word)) == pytest.approx(sorted(values), rel=2e-4)
    assert meanings(f"{word}s") == meanings(word)


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("100 kmph", "100 km/h", "equivalent"),
        ("100 kmph", "62 mph", "equivalent"),  # 62 x 1.609344 = 99.8
        ("100 kph", "27.8 m/s", "equivalent"),
        ("100 barrels", "15.9 m³", None),
        ("100 barrels of oil", "15.9 m³", "equivalent"),
        ("1 bbl", "159 L", None),
        ("1 bbl", "10 L", "contradictory"),
        ("5 tons", "5 tonnes", None),
        ("1 ton", "1000 kg", None),
        ("10 million tons", "10 million tonnes", None),
        ("5 tons", "6 tons", "contradictory"),
        ("5 tons", "5.0 ton", "equivalent"),
        ("100 tons", "5 kg", "contradictory"),
        ("5 short tons", "4.54 tonnes", "equivalent"),
        ("20 hundredweight", "1 ton", "equivalent"),  # short with short, long with long
        ("2 hundredweight", "200 kg", "contradictory"),
        ("250 calories", "250 kcal", None),
        ("250 calories", "250 cal", "equivalent"),
        ("250 calories", "900 calories", "contradictory"),
        ("8 pints", "1 gallon", "equivalent"),  # by the American and by the imperial measure
        ("1 gallon", "3.8 L", None),
        ("1 gallon", "1 L", "contradictory"),
        ("8 oz", "237 mL", None),
        ("8 oz", "227 g", "equivalent"),
        ("100 hp", "73 kW", None),
        ("12 miles", "22 km", None),  # a territorial sea
        ("12 miles", "19.3 km", "equivalent"),
        ("3 leagues", "14 km", None),
        ("5 kt", "9.3 km/h", "equivalent"),
        ("5 kt", "5000 t", "equivalent"),
        ("5 MT", "5 t", None),
        ("1 GB", "1024 MB", None),
        ("1 GB", "5 GB", "contradictory"),
        ("5 pct", "5 %", "equivalent"),
        ("5 %", "5 percentage points", None),
        ("5 percentage points", "9 percentage points", "contradictory"),
        ("400 ppm", "0.04 %", "equivalent"),
        ("5 ppt", "5 ‰", None),
        ("5 °", "9 %", None),
        ("5 mSv", "9 mGy", None),
        ("5 AU", "748 million km", "equivalent"),
        ("5 carats", "1 g", "equivalent"),
        ("5 W/m²", "5 W m-2", "equivalent"),
        ("5 W/m²", "6 W m⁻²", "contradictory"),
        ("2 square miles", "5.18 km²", "equivalent"),
        ("5 µg/m³", "5 ug/m3", "equivalent"),
        ("5 mg/dL", "5 mmol/L", None),
        ("5 quatloos", "6 quatloos", None),
        ("5 pounds", "5 €", None),
    ],
)
def test_units_are_decided_where_no_meaning_of_theirs_leaves_a_doubt(
    one: str, other: str, expected: str | None
) -> None:
    assert compare(one, other) == compare(other, one) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("1.500 km", "1500 km", None),
        ("1.500 km", "1,500 m", "equivalent"),
        ("1.500 km", "1,500 km", None),
        ("1.500 km", "1.5 km", "equivalent"),
        ("1,500 km", "1500 km", "equivalent"),
        ("1,500 km", "1.5 km", None),
        ("12.000 t", "12,000 t", None),
        ("12.000 t", "90 t", "contradictory"),
        ("0.500 km", "500 km", "contradictory"),
        ("1.500.000 t", "1,500,000 t", "equivalent"),
        ("1.500,5 t", "1,500.5 t", "equivalent"),
        ("12 000 t", "12\N{NO-BREAK SPACE}000 tonnes", "equivalent"),
        ("12'000 t", "12000 t", "equivalent"),
        ("1,00,000 km", "1 lakh km", "equivalent"),
        ("3,5 km", "3.5 km", "equivalent"),
        (".5 km", "5 km", "contradictory"),
        ("1.5 × 10^6 m", "1500 km", "equivalent"),
        ("1.602e-19 J", "1.602 x 10⁻¹⁹ J", "equivalent"),
        ("4.5 billion years", "4500 million years", None),
        ("2 billion years", "3 billion years", "contradictory"),
        ("1 billion", "1000000000", None),
        ("5 millions", "5000000", "equivalent"),
        ("5 thousands", "5000 s", None),
        ("5 million tonnes", "5,000,000 t", "equivalent"),
        ("minus 5 °C", "−5 °C", "equivalent"),
        ("-5 °C", "-9 °C", "contradictory"),
        ("-5 %", "5 %", None),
        ("-5 %", "9 %", "contradictory"),
        ("-40 °C", "-40 °F", "equivalent"),
        ("5 ± 1 km", "9 km", None),
        ("3-5 km", "9 km", None),
        ("3–5 km", "9 km", None),
        ("5th", "6th", None),
        ("$5", "$6", None),
        ("5 € ", "6 €", None),
    ],
)
def test_a_notation_is_decided_where_no_reading_of_it_leaves_a_doubt(
    one: str, other: str, expected: str | None
) -> None:
    assert compare(one, other) == compare(other, one) == expected


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ("36500 days", "1 century", None),
        ("36525 days", "100 years", None),
        ("1 century", "100 years", "equivalent"),
        ("2 centuries", "203 years", None),
        ("1 century", "30 years", "contradictory"),
        ("3 decades", "30 years", "equivalent"),
        ("1 year", "52 weeks", None),
        ("1 year", "3 days", "contradictory"),
        ("2 months", "8 weeks", None),
        ("13 months", "1 year", None),
        ("30 months", "1 year", "contradictory"),
        ("1 week", "7 days", "equivalent"),
        ("1 week", "10 days", "contradictory"),
        ("4 Mar 2023", "4th March 2023", "equivalent"),
        ("4.3.2023", "4 March 2023", "equivalent"),
        ("03/04/2023", "3 April 2023", None),
        ("03/04/2023", "4 March 2023", None),
        ("03/04/2023", "9 March 2023", "contradictory"),
        ("23/04/2023", "23 April 2023", "equivalent"),
        (
            "25 October 1917",
            "7 November 1917",
            None,
        ),  # the same day by the Julian and the Gregorian calendar
        ("25 October 1917", "9 November 1917", "contradictory"),
        ("25 October 1957", "7 November 1957", "contradictory"),
        ("1917", "7 November 1917", None),
        ("5 degrees", "5 °C", None),
        ("5 degrees", "9 degrees", "contradictory"),
        ("5 degrees", "5 °", "equivalent"),
        ("37 centigrade", "98.6 degrees Fahrenheit", "equivalent"),
        ("37 C", "98.6 F", "equivalent"),
        ("10 K", "10 °C", None),  # equal as differences
        ("8 inches", "20 cm", None),  # rounded
        ("30 mph", "50 km/h", None),
        ("3 km", "1 mile", "contradictory"),
        ("6 feet", "1.83 m", "equivalent"),
    ],
)
def test_dates_times_and_temperatures_are_decided_where_no_reading_leaves_a_doubt(
    one: str, other: str, expected: str | None
) -> None:
    assert compare(one, other) == compare(other, one) == expected


# A unit, and what can be meant by it or mean it.
SPELLINGS = (
    ("km", "kilometres", "kilometer", "kms", "KM"),
    ("km/h", "kmph", "kph", "kmh", "kilometres per hour", "km h-1", "km h⁻¹"),
    ("mph", "miles per hour", "mi/h"),
    ("tons", "ton", "Tons", "short tons", "long tons", "tonnes"),
    ("barrels", "bbl", "barrels of oil"),
    ("gallons", "gal", "US gallons", "imperial gallons"),
    ("pints", "pt", "Pint"),
    ("cups", "cup"),
    ("cwt", "hundredweight"),
    ("calories", "cal", "Calories", "kcal"),
    ("hp", "horsepower", "PS"),
    ("miles", "mi", "nautical miles"),
    ("ounces", "oz", "troy ounces", "fl oz"),
    ("months", "mo"),
    ("years", "yr", "y"),
    ("%", "percent", "per cent", "pct"),
    ("°C", "degrees Celsius", "centigrade", "C", "degrees", "deg C"),
    ("°F", "Fahrenheit", "degrees F", "degrees"),
    ("µm", "um", "microns", "micrometres"),
    ("m²", "m2", "square metres", "sq m", "m^2"),
    ("GB", "gigabytes"),
    ("AU", "astronomical units"),
)
SIGNS = ("", "-", "−", "minus ")


def spelled(value: int) -> list[str]:
    """The ways to write a whole number."""
    comma, digits = f"{value:,}", str(value)
    ways = [
        digits,
        comma,
        comma.replace(",", "."),
        comma.replace(",", " "),
        comma.replace(",", "'"),
        f"{value}.0",
    ]
    return [*ways, f"{value // 1000}.{value % 1000:03} thousand", f"{value:.12e}".replace("+", "")]


@settings(max_examples=400, deadline=None)
@given(
    st.one_of(st.integers(0, 3000), st.integers(1, 10**9)),
    st.sampled_from(SPELLINGS),
    st.sampled_from(SIGNS),
    st.data(),
)
def test_a_quantity_never_contradicts_itself_in_another_spelling(
    value: int, units: tuple[str, ...], sign: str, data: st.DataObject
) -> None:
    numbers = st.sampled_from(spelled(value))
    signs = st.sampled_from(SIGNS[1:] if sign else SIGNS[:1])
    one = f"{data.draw(signs)}{data.draw(numbers)} {units[0]}"
    other = f"{data.draw(signs)}{data.draw(numbers)} {data.draw(st.sampled_from(units))}"
    assert compare(one, other) == compare(other, one)
    assert compare(one, other) != "contradictory"


WORDS = sorted(
    {
        *NIST,
        *AMBIGUOUS,
        *itertools.chain(*SPELLINGS),
        "",
        "K",
        "nm",
        "g",
        "T",
        "MT",
        "ppt",
        "decades",
        "days",
    }
)


@settings(max_examples=400, deadline=None)
@given(
    st.floats(-2000, 2000).map(lambda x: f"{x:.3f}"),
    st.sampled_from(WORDS),
    st.floats(-2000, 2000).map(lambda x: f"{x:.1f}"),
    st.sampled_from(WORDS),
)
def test_a_comparison_has_no_order(
    number: str, unit: str, other_number: str, other_unit: str
) -> None:
    one, other = f"{number} {unit}", f"{other_number} {other_unit}"
    assert compare(one, other) == compare(other, one)
    assert compare(one, one) == "equivalent"


@pytest.mark.parametrize("word", WORDS)
def test_a_si_prefix_makes_no_other_unit_of_a_word(word: str) -> None:
    """Pint alone reads kmph as kilomiles an hour and pct as picocarats."""
    if len(word) > 3 and word.isalpha() and word[0].islower():
        assert meanings(f"zepto{word}") == ()
    for none in ("kmi", "ppint", "mpt", "kgal", "pm", "am", "mil", "kinch", "ft-", "quatloo"):
        assert meanings(none) == ()


@pytest.mark.parametrize("numeral", ["2.5点五", "1.2五点五"])
def test_a_numeral_with_two_decimal_points_is_none(numeral: str):
    assert with_digits(f"{numeral} km", "zh") == f"{numeral} km"


def test_a_whole_numeral_can_have_decimals_however_it_is_written():
    assert with_digits("1.5万点五 km", "zh") == "15000.5 km"
