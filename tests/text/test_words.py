"""The words of a text in the scripts of the world, and which texts are the same."""

from __future__ import annotations

import sys
import unicodedata

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st
from tests.metrics.classic.test_overlap import scored

from longmark.contrib.decide.audit_material import word_count
from longmark.contrib.make.defects.rules import long_enough
from longmark.metrics.score._labels import occurs
from longmark.records import Context, Example
from longmark.records.example import question_hash
from longmark.records.same import _IGNORABLE, canonical, comparable, place_of
from longmark.text.overlap import overlap
from longmark.text.words import compatible, word_spans, words

# Script -> a sentence; its words by hand, separated by spaces (of scripts without spaces: its pairs of characters).
SCRIPTS = {
    "Latin": ("Größe, naïve Café!", "grösse naïve café"),
    "Vietnamese": ("Bà bán bò.", "bà bán bò"),
    "Turkish": ("İstanbul iki kıtada.", "istanbul iki kıtada"),
    "Greek": ("Ο Σίσυφος ανέβηκε.", "ο σίσυφοσ ανέβηκε"),
    "Cyrillic": ("Её книга на столе.", "её книга на столе"),
    "Armenian": ("Գիրքը սեղանին է։", "գիրքը սեղանին է"),
    "Arabic with vowels": ("الْكِتَابُ عَلَى الطَّاوِلَةِ.", "الْكِتَابُ عَلَى الطَّاوِلَةِ"),
    "Hebrew with vowels": ("הַסֵּפֶר עַל הַשֻּׁלְחָן.", "הַסֵּפֶר עַל הַשֻּׁלְחָן"),
    "Devanagari": ("किताब मेज पर है।", "किताब मेज पर है"),
    "Bengali": ("কিতাব টেবিলে আছে।", "কিতাব টেবিলে আছে"),
    "Gurmukhi": ("ਕਿਤਾਬ ਮੇਜ਼ ਉੱਤੇ ਹੈ।", "ਕਿਤਾਬ ਮੇਜ਼ ਉੱਤੇ ਹੈ"),
    "Gujarati": ("પુસ્તક ટેબલ પર છે.", "પુસ્તક ટેબલ પર છે"),
    "Tamil": ("புத்தகம் மேசையில் உள்ளது.", "புத்தகம் மேசையில் உள்ளது"),
    "Telugu": ("పుస్తకం బల్ల మీద ఉంది.", "పుస్తకం బల్ల మీద ఉంది"),
    "Malayalam": ("പുസ്തകം മേശയിൽ ഉണ്ട്.", "പുസ്തകം മേശയിൽ ഉണ്ട്"),
    "Amharic": ("መጽሐፉ ጠረጴዛ ላይ ነው።", "መጽሐፉ ጠረጴዛ ላይ ነው"),
    "Georgian": ("წიგნი მაგიდაზეა.", "წიგნი მაგიდაზეა"),
    "Tibetan": ("དཔེ་ཆ་", "དཔེ ཆ"),  # its syllables
    "Chinese": ("书在桌上。", "书在 在桌 桌上"),
    "Japanese": ("サーバーは止まる。", "サー ーバ バー ーは は止 止ま まる"),
    "Korean": ("책이 있다.", "책이 있다"),
    "Thai": ("น้ำแข็ง", "น้ำ ำแ แข็ ข็ง"),
    "Khmer": ("ខ្មែរ", "ខ្មែ មែរ"),
    "Burmese": ("မြန်မာ", "မြန် န်မာ"),
    "Lao": ("ນ້ຳ", "ນ້ຳ"),
    "mixed": ("COVID-19は減少した", "covid 19 は減 減少 少し した"),
}
# Two ways to write one text
SAME = {
    "a letter and its accent": ("Café", "Cafe\u0301"),
    "a Korean syllable and its letters": ("한국", unicodedata.normalize("NFD", "한국")),
    "an Indic vowel sign in two parts": ("\u0995\u09cb", "\u0995\u09c7\u09be"),
    "the Ångström sign": ("\u212b", "Å"),
}
UNSEEN = ("\u00ad", "\u200b", "\u2060", "\ufeff", "\u200d", "\ufe0f")


@pytest.mark.parametrize("script", SCRIPTS)
def test_the_words_of_every_script(script: str) -> None:
    text, expected = SCRIPTS[script]
    assert words(text) == expected.split()
    assert words(unicodedata.normalize("NFD", text)) == words(text)


@pytest.mark.parametrize("script", SCRIPTS)
def test_words_have_the_same_places_as_letters(script: str) -> None:
    text, _ = SCRIPTS[script]
    inside = {at for start, end, _ in word_spans(text) for at in range(start, end)}
    assert {at for at, char in enumerate(text) if char.isalnum()} <= inside
    assert not any(text[at].isspace() or text[at] in ".,!।。" for at in inside)


@pytest.mark.parametrize("unseen", UNSEEN)
def test_characters_that_are_not_seen_hide_no_word(unseen: str) -> None:
    assert words(f"Klima{unseen}wandel{unseen} ist") == ["klimawandel", "ist"]
    [span] = word_spans(f"Klima{unseen}wandel")
    assert span == (0, 12, True)


def test_the_characters_that_are_not_seen_are_those_of_unicode() -> None:
    unicode = regex.compile(r"\p{Default_Ignorable_Code_Point}")
    every = map(chr, range(sys.maxunicode + 1))
    assert [
        char for char in every if bool(unicode.match(char)) != bool(_IGNORABLE.match(char))
    ] == []


def test_a_power_a_fraction_and_the_mark_of_a_note_are_no_part_of_a_number_or_a_word() -> None:
    assert words("14 × 10⁶ km²; 1½; people³; CO₂, H₂O; Acme™ №5") == (
        ["14", "10", "6", "km2", "1", "1", "2", "people", "3", "co2", "h2o", "acme", "no", "5"]
    )
    assert compatible("10⁶") != "106"
    assert scored_fold("10⁶", "106") == 0
    assert scored_fold("SO₂", "so2") == 1


def scored_fold(answer: str, reference: str) -> float | None:
    from longmark.testing import score_sync

    example = Example(id="1", answer=answer, references=(reference,))
    return next(iter(score_sync("climaqa.exact_match", example, {"fold": True}).values())).value


@pytest.mark.parametrize("case", SAME)
def test_canonically_equal_texts_are_one_text_wherever_texts_are_compared(case: str) -> None:
    one, two = SAME[case]
    assert one != two or case == "the Ångström sign"
    assert comparable(one) == comparable(two)
    assert question_hash(one) == question_hash(two)
    first, second = (
        Example(
            id=text, answer=text, references=(text,), system=text, contexts=(Context(text=text),)
        )
        for text in (one, two)
    )
    assert first == second
    assert first.content_hash() == second.content_hash()
    assert overlap(one, [two]) == 1
    assert words(one) == words(two)
    assert occurs(two, f"so {one} ist")
    assert place_of(one, f"Das {two}.") == (4, 4 + len(two))
    assert place_of(two, f"Das {one}.") == (4, 4 + len(one))
    for metric, settings in (
        ("rouge_1", {"tokenizer": "unicode"}),
        ("rouge_1", {"tokenizer": "space"}),
        ("bleu", {"tokenizer": "char"}),
        ("bleu", {"form": "climaqa"}),
        ("chrf", {}),
    ):
        assert scored(metric, f"{one} und", f"{two} und", **settings).value == pytest.approx(
            1, abs=0.5
        )
        assert (
            scored(metric, one, two, **settings).value == scored(metric, one, one, **settings).value
        )


def test_a_quotation_is_found_though_characters_are_not_seen() -> None:
    assert place_of("Klimawandel", "Der Klima\u00adwandel kommt") == (4, 16)
    assert place_of("", "text") is None
    assert place_of("x", "text") == (2, 3)
    assert place_of("e", "Cafe\u0301") is None


@given(st.text(max_size=60))
def test_folding_is_idempotent_and_composition_does_not_matter(text: str) -> None:
    assert comparable(comparable(text)) == comparable(text)
    assert comparable(unicodedata.normalize("NFD", text)) == comparable(canonical(text))
    assert words(unicodedata.normalize("NFD", text)) == words(canonical(text))


def test_a_word_of_an_indic_script_is_whole_in_the_checker_and_in_a_cloze_field() -> None:
    text = "किताब मेज पर है"
    assert overlap(text, ["कुत्ता और बिल्ली तालाब के पास बैठे हैं। मैं परसों आया।"]) == 0
    assert [
        text[start:end] for start, end, spaced in word_spans(text, joined=True) if spaced
    ] == text.split()


def test_counts_of_words_in_audits_and_defects() -> None:
    assert word_count("किताब मेज पर है") == 4
    assert word_count("书在桌上 on it") == 6
    assert word_count("น้ำแข็ง") == 5  # characters with their marks
    assert long_enough("किताब मेज पर है")
    assert not long_enough("किताब मेज")


def test_only_whole_words_occur_in_every_script() -> None:
    assert occurs("книга", "Её книга на столе")
    assert not occurs("книг", "Её книга на столе")
    assert occurs("किताब", "किताब मेज पर है")
    assert not occurs("तब", "किताब मेज पर है")
    assert occurs("5-10 years", "about 5-10 years")
    assert not occurs("5 years", "5-10 years")
