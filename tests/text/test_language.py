"""In which language a text is, by its function words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.samples import PARAGRAPHS

from longmark.text.language import NAMES, language_of


@pytest.mark.parametrize("language", NAMES)
def test_a_paragraph_is_in_its_language(language: str) -> None:
    assert language_of(PARAGRAPHS[language]) == language


@pytest.mark.parametrize("language", sorted(PARAGRAPHS.keys() - NAMES.keys()))
def test_a_paragraph_in_a_language_without_a_list_is_in_none(language: str) -> None:
    assert language_of(PARAGRAPHS[language]) is None


@pytest.mark.parametrize(
    "text",
    [
        "",
        "42 km",
        "Rio de la Plata",
        "Cabeza de Vaca, Dorantes de Carranza and Castillo de Maldonado",  # one word of another language
        "e g r e g o r e s",
        "Die, die, die my darling, no man is an island: Ludwig van Beethoven, Leonardo da Vinci",
        "pip install numpy==2.0; SELECT * FROM runs WHERE id = 3",
    ],
)
def test_names_figures_and_code_are_in_no_other_language(text: str) -> None:
    assert language_of(text) in (None, "en")


def test_an_english_text_with_a_quotation_is_english() -> None:
    text = f"{PARAGRAPHS['en']} The mayor said: „Die Brücke ist nicht sicher, und wir warten auf den Bericht.“"
    assert language_of(text) == "en"


@given(st.text(max_size=300))
def test_any_text_has_one_of_the_languages_or_none(text: str) -> None:
    assert language_of(text) in (None, *NAMES)
