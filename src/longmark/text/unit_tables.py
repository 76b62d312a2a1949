"""The units that `text.units` reads: their symbols and words, with Pint's names of them.

A word that is in no table is no unit (Pint alone reads `pct` as picocarats and `kmph` as kilomiles an hour). Values are
Pint's definitions (NIST SP 811, appendix B; SI Brochure, tables 2 to 8). SI prefixes go with SI units alone.
"""

from __future__ import annotations

TEMPERATURE = "temperature"
CALENDAR = "calendar"
BYTES = "bytes"
"""The notation of kB, MB, ...: of a thousand or of 1,024."""

# Units with one meaning: kind -> lines of `Pint's name: symbols | words`. Case counts in symbols. Words also have a
# plural with s.
UNITS = {
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
SI: tuple[tuple[str, str, str, str, str], ...] = (
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
PREFIXES = {
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

DEGREES = ("degree", "degrees", "°", "deg")  # of an angle or a temperature
BYTE_PREFIXES = {
    "k": 1,
    "K": 1,
    "M": 2,
    "G": 3,
    "T": 4,
    "P": 5,
}
NO_UNITS = frozenset({"pm", "am", "PM", "AM"})  # hours
