"""Quantities and dates as languages write them: read as what they are, or left to the judge, and never as another."""

from __future__ import annotations

from decimal import Decimal
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.text import local_words
from longmark.text.dates import calendar_dates
from longmark.text.language import common_language, written_language
from longmark.text.local_words import MARKS, english_unit
from longmark.text.numerals import numeral_value
from longmark.text.quantities import compare, usual_meanings
from longmark.text.units import meanings

LANGUAGES = ("ar", "de", "en", "es", "fr", "hi", "it", "ja", "ko", "pt", "ru", "tr", "zh")
NARROW = "\u202f"  # narrow no-break space

# Language -> (as it writes a quantity or date, the same in English)
SAME = {
    "ar": [
        ("٣٫٥ كيلومتر", "3.5 km"),
        ("١٬٢٣٤ كم", "1234 km"),
        ("٥٠٪", "50 %"),
        ("٪٥٠", "50 %"),
        ("٥٠ في المئة", "50 %"),
        ("٣ ملايين كيلومتر", "3 million km"),
        ("\u061c-٥ °م", "-5 °C"),
        ("٣ مارس ٢٠٢٤", "3 March 2024"),
        ("٣ آذار ٢٠٢٤", "3 March 2024"),  # the Levant
        ("3 كانون الثاني 2024", "3 January 2024"),
    ],
    "de": [
        ("1.234 km", "1234 km"),
        ("1.234,5 km", "1234.5 km"),
        ("1’234 km", "1234 km"),  # Switzerland
        ("3,5 Millionen Kilometer", "3500000 km"),
        ("3 Mrd. Liter", "3e9 L"),
        ("2 Billionen Liter", "2e12 L"),
        ("50 Prozent", "50 %"),
        ("–5 °C", "minus 5 °C"),
        ("120 Stundenkilometer", "120 km/h"),
        ("3. März 2024", "2024-03-03"),
        ("3. Jänner 2024", "2024-01-03"),  # Austria
        ("03.04.2024", "3 April 2024"),
    ],
    "en": [
        ("1,234 km", "1234 km"),
        ("1,00,000 km", "100000 km"),  # India
        ("1 lakh km", "100000 km"),
        ("3rd March 2024", "2024-03-03"),
        ("3 Sept 2024", "2024-09-03"),
    ],
    "es": [
        ("3,5 kilómetros", "3.5 km"),
        (f"1{NARROW}234 km", "1234 km"),
        ("3 mil millones de litros", "3e9 L"),
        ("2 billones de litros", "2e12 L"),
        ("50 por ciento", "50 %"),
        ("menos 5 °C", "-5 °C"),
        ("3 de marzo de 2024", "2024-03-03"),
        ("3 de marzo del 2024", "2024-03-03"),
    ],
    "fr": [
        (f"1{NARROW}234,5 km", "1234.5 km"),
        ("1 234 567 m", "1234567 m"),
        ("3 millions de kilomètres", "3000000 km"),
        ("3 milliards d’années", "3e9 years"),
        ("50 pour cent", "50 %"),
        (f"50{NARROW}%", "50 %"),
        ("moins 5 °C", "-5 °C"),
        ("1er mars 2024", "2024-03-01"),
        ("03/04/2024", "3 April 2024"),
    ],
    "hi": [
        ("१२,३४,५६७ किलोमीटर", "1234567 km"),
        ("3 करोड़ किलोमीटर", "30000000 km"),
        ("50 प्रतिशत", "50 %"),
        ("३ मार्च २०२४", "2024-03-03"),
        ("4 अग॰ 1961", "1961-08-04"),
    ],
    "it": [
        ("1.234 chilometri", "1234 km"),
        ("3 miliardi di litri", "3e9 L"),
        ("10 mila litri", "10000 L"),
        ("50 per cento", "50 %"),
        ("meno 5 °C", "-5 °C"),
        ("1º marzo 2024", "2024-03-01"),
    ],
    "ja": [
        ("３．５キロメートル", "3.5 km"),
        ("1億5000万キロメートル", "150000000 km"),
        ("三千五百キロメートル", "3500 km"),
        ("2兆リットル", "2e12 L"),
        ("50パーセント", "50 %"),
        ("摂氏5度", "5 °C"),
        ("時速120キロメートル", "120 km/h"),
        ("2024年3月3日", "2024-03-03"),
        ("二〇二四年三月三日", "2024-03-03"),
    ],
    "ko": [
        ("3억 2천만 킬로미터", "320000000 km"),
        ("1,234킬로미터", "1234 km"),
        ("50퍼센트", "50 %"),
        ("섭씨 5도", "5 °C"),
        ("2024년 3월 3일", "2024-03-03"),
        ("2024. 3. 3.", "2024-03-03"),
    ],
    "pt": [
        ("1.234 quilômetros", "1234 km"),
        ("1.234 quilómetros", "1234 km"),
        ("3 mil milhões de litros", "3e9 L"),  # Portugal
        ("3 bilhões de litros", "3e9 L"),  # Brazil
        ("50 por cento", "50 %"),
        ("1º de maio de 2024", "2024-05-01"),
    ],
    "ru": [
        ("1 234,5 километра", "1234.5 km"),
        ("3,5 млн км²", "3500000 km²"),
        ("3 миллиарда лет", "3e9 years"),
        ("50 процентов", "50 %"),
        ("минус 5 °C", "-5 °C"),
        ("120 км/ч", "120 km/h"),
        ("3 марта 2024 г.", "2024-03-03"),
        ("3 марта 2024 года", "2024-03-03"),
    ],
    "tr": [
        ("%50", "50 %"),
        ("-%27,1", "-27.1 %"),
        ("1.234 kilometre", "1234 km"),
        ("3 milyar litre", "3e9 L"),
        ("3 Mart 2024", "2024-03-03"),
    ],
    "zh": [
        ("1.5亿公里", "150000000 km"),
        ("三千五百米", "3500 m"),
        ("３亿２０００万公里", "320000000 km"),
        ("百分之五", "5 %"),
        ("百分之五十", "50％"),
        ("零下5摄氏度", "-5 °C"),
        ("5 吨", "5 t"),
        ("二〇二四年三月三日", "2024-03-03"),
        ("2024年3月3号", "2024-03-03"),
    ],
}


@pytest.mark.parametrize(
    ("language", "local", "english"),
    [(language, *pair) for language, pairs in SAME.items() for pair in pairs],
)
def test_a_quantity_or_date_is_the_same_in_its_language_and_in_english(
    language: str, local: str, english: str
) -> None:
    assert compare(local, english, language) == compare(english, local, language) == "equivalent"


@pytest.mark.parametrize(
    ("language", "local", "english"),
    [(language, *pair) for language, pairs in SAME.items() for pair in pairs],
)
def test_accents_that_are_signs_of_their_own_change_no_quantity(
    language: str, local: str, english: str
) -> None:
    assert compare(normalize("NFD", local), english, language) == "equivalent"


@pytest.mark.parametrize(
    ("squared", "english"), [("5㎞", "5 km"), ("5㎡", "5 m²"), ("5㎏", "5 kg")]
)
def test_a_unit_in_one_sign_is_the_unit(squared: str, english: str) -> None:
    assert compare(squared, english, "ja") == "equivalent"
    assert compare(squared, english.replace("5", "6"), "ja") == "contradictory"


# What no reader can tell, or code does not read: it is left to the judge.
LEFT = [
    ("", "1,234 km", "1234 km"),  # no language is known
    ("", "1.234 km", "1234 km"),
    ("es", "1.234 km", "1234 km"),  # Spain or Mexico
    ("ar", "1,234 كم", "1234 km"),  # Morocco or Egypt
    ("de", "1,234 km", "1234 km"),
    ("en", "1.234 km", "1234 km"),
    ("ru", "1.234 км", "1234 km"),
    ("en", "03/04/2024", "3 April 2024"),
    ("", "03/04/2024", "3 April 2024"),
    ("de", "03/04/2024", "4 March 2024"),
    ("de", "5–7 km", "5 km"),
    ("fr", "5 à 7 km", "7 km"),
    ("zh", "3至5公里", "5 公里"),
    ("zh", "三万五", "35000"),  # colloquial
    ("zh", "2兆", "2000000000000"),  # 10⁶ or 10¹²
    ("zh", "约5公里", "5公里"),
    ("ru", "5 г", "5 g"),  # a gram or a year
    ("fr", "3e", "3"),
    ("es", "3.º", "3 °"),
    ("de", "eine halbe Million", "500000"),
    ("ja", "令和6年3月3日", "2024-03-03"),
    ("ar", "٣ رمضان ١٤٤٥", "2024-03-13"),
    ("en", "5 mil", "5000"),  # Spanish or Portuguese thousands, not English
    ("en", "3 bin", "3000"),
]


@pytest.mark.parametrize(("language", "first", "second"), LEFT)
def test_what_code_cannot_read_for_certain_is_left_to_the_judge(
    language: str, first: str, second: str
) -> None:
    assert compare(first, second, language) is None
    assert compare(second, first, language) is None


@pytest.mark.parametrize(
    ("language", "first", "second"),
    [
        ("de", "1.234 km", "2.468 km"),
        ("fr", "3 milliards d’années", "3 millions d’années"),
        ("zh", "1.5亿公里", "1.5万公里"),
        ("ar", "٥ كم", "٦ كم"),
        ("ja", "2024年3月3日", "2024年3月4日"),
        ("de", "9 °C", "−5 °C"),
        ("ru", "3 марта 2024 г.", "4 марта 2024 г."),
    ],
)
def test_different_quantities_and_dates_contradict_each_other_in_any_language(
    language: str, first: str, second: str
) -> None:
    assert compare(first, second, language) == compare(second, first, language) == "contradictory"


def grouped(value: int, language: str) -> str:
    """A whole number with the marks of thousands of a language."""
    marks = {use: mark for mark, use in MARKS[language].items()}
    group = marks.get(local_words.GROUP, NARROW)
    return f"{value:,}".replace(",", group)


@given(st.integers(0, 10**9), st.sampled_from(LANGUAGES))
def test_a_number_with_the_marks_of_its_language_is_itself_and_never_another(
    value: int, language: str
) -> None:
    local = f"{grouped(value, language)} km"
    assert compare(local, f"{value} km", language) == "equivalent"
    for other_language in ("", *LANGUAGES):
        assert compare(local, f"{value} km", other_language) != "contradictory"


@given(st.integers(1, 999), st.integers(0, 999), st.sampled_from(".,"))
def test_three_digits_behind_one_mark_are_never_read_in_one_way_where_no_language_is_known(
    whole: int, behind: int, mark: str
) -> None:
    written = f"{whole}{mark}{behind:03} km"
    assert compare(written, f"{whole}{behind:03} km", "") is None
    assert usual_meanings(written, "") == f"{whole + behind / 1000:.15g} or {whole}{behind:03}"


DIGITS = "〇一二三四五六七八九"


def chinese(value: int) -> str:
    """A whole number below 10¹² in Chinese characters, as a textbook has it."""
    if value >= 10**8:
        high, low = divmod(value, 10**8)
        return chinese(high) + "亿" + _behind(low, 10**7)
    if value >= 10**4:
        high, low = divmod(value, 10**4)
        return chinese(high) + "万" + _behind(low, 10**3)
    for unit, name in ((1000, "千"), (100, "百"), (10, "十")):
        if value >= unit:
            high, low = divmod(value, unit)
            return DIGITS[high] + name + _behind(low, unit // 10)
    return DIGITS[value]


def _behind(value: int, least: int) -> str:
    if not value:
        return ""
    return ("零" if value < least else "") + chinese(value)


@given(st.integers(11, 10**12 - 1))
def test_a_chinese_numeral_has_the_value_that_it_was_written_for(value: int) -> None:
    assert numeral_value(chinese(value)) in (Decimal(value), None)
    if value % 10 == 0 or value < 100:
        assert numeral_value(chinese(value)) == value


@pytest.mark.parametrize(
    ("numeral", "value"),
    [
        ("十五", 15),
        ("二〇二四", 2024),
        ("两百", 200),
        ("一万零五", 10005),
        ("一万亿", 10**12),
        ("三点五亿", 350_000_000),
        ("1.5億", 150_000_000),
        ("3억2천만", 320_000_000),
        ("二三", None),  # two or three
        ("三万五", None),
        ("万", None),
        ("十千", None),
        ("亿万", None),
    ],
)
def test_a_numeral_has_one_value_or_none(numeral: str, value: int | None) -> None:
    assert numeral_value(numeral) == value


def test_every_word_for_a_unit_is_a_unit() -> None:
    table = local_words._table()
    assert set(table) == set(LANGUAGES) - {"en"}
    for language, kinds in table.items():
        for unit, words in kinds["units"].items():
            assert meanings(unit), unit
            for word in words.split("|"):
                read = None if word in local_words.DOUBTED else unit
                assert "{0}" in word or english_unit(word, language) == read, (language, word)


@pytest.mark.parametrize("language", sorted(set(LANGUAGES) - {"en", "ja", "ko", "zh"}))
def test_every_month_of_a_language_has_a_name(language: str) -> None:
    months = local_words._table()[language]["months"]
    assert set(months) == set(map(str, range(1, 13)))
    for number, names in months.items():
        for name in names.split("|"):
            (day,) = calendar_dates(f"3 {name} 2024", language)
            assert (day.day, day.month, day.year) == (3, int(number), 2024)


def test_a_name_of_a_month_means_one_month_in_all_languages() -> None:
    for language in local_words._table():
        for number, names in local_words._table()[language]["months"].items():
            assert {local_words.month(name, "") for name in names.split("|")} == {int(number)}


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("水位在夜间上升，低处的街道被淹没。", "zh"),
        ("川は夜のうちに水位が上がった。", "ja"),
        ("강물이 밤사이 불어났다.", "ko"),
        ("नदी रात में बढ़ गई।", "hi"),
        ("ارتفع النهر أثناء الليل.", "ar"),
        ("رودخانه در شب بالا آمد و گل‌آلود شد.", None),  # Persian
        ("Der Fluss stieg in der Nacht, und am Morgen war die Stadt unter Wasser.", "de"),
        ("5 km", None),
        ("", None),
    ],
)
def test_the_language_of_a_text_is_told_by_its_script_or_its_function_words(
    text: str, language: str | None
) -> None:
    assert written_language(text) == language


def test_texts_in_two_languages_have_none_in_common() -> None:
    german = "Der Fluss stieg in der Nacht, und am Morgen war die Stadt unter Wasser."
    assert common_language([german, "5 km"]) == "de"
    assert common_language([german, "川は夜のうちに水位が上がった。"]) is None
    assert common_language(["5 km"]) is None


@pytest.mark.parametrize(
    ("first", "second", "language"),
    [
        ("2 Pfund", "0,9 kg", "de"),
        ("2 livres", "0,9 kg", "fr"),
        ("1 фунт", "0,4095 кг", "ru"),
        ("1 libbra", "0,327 kg", "it"),
        ("1 pied", "0,3248 m", "fr"),
        ("1 Meile", "7,5 km", "de"),
        ("2000卡", "2000千卡", "zh"),
        ("98年", "1998年", "zh"),
        ("98年", "1998年", "ja"),
    ],
)
def test_words_that_people_use_for_two_units_are_left_to_the_judge(
    first: str, second: str, language: str
) -> None:
    assert compare(first, second, language) is None
    assert compare(first, second, "") is None


@pytest.mark.parametrize(("symbol", "english"), [("мг", "mg"), ("мВт", "mW"), ("МВт", "MW")])
def test_a_symbol_of_another_script_keeps_its_case(symbol: str, english: str) -> None:
    assert english_unit(symbol, "ru") == english


def test_a_capital_letter_makes_no_milli_of_mega() -> None:
    assert english_unit("Мг", "ru") is None
    assert english_unit("Мм", "ru") is None
    assert compare("5 Мг", "5 мг", "ru") is None
    assert english_unit("Миллиграмм", "ru") == "mg"
    assert english_unit("КМ", "ru") == "km"


def test_the_dot_of_a_product_may_be_any_middle_dot() -> None:
    assert compare("5 кВт·ч", "5 kWh", "ru") == "equivalent"
    assert compare("5 кВт⋅ч", "5 kWh", "ru") == "equivalent"
