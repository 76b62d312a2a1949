"""Every metric that needs no model, on a paragraph in each of many languages: a right score, or a reason."""

from __future__ import annotations

import pytest
from tests.text.samples import PARAGRAPHS

from longmark.records import Example
from longmark.testing import score_sync
from longmark.text.sentences import sentences

OF_A_COPY = {
    "classic.rouge_1": 1.0,
    "classic.rouge_2": 1.0,
    "classic.rouge_l": 1.0,
    "classic.bleu": 1.0,
    "classic.chrf": 1.0,
    "climaqa.exact_match": 1.0,
}
UNICODE = ("classic.rouge_1", "classic.rouge_2", "classic.rouge_l")
SENTENCES = {"th": 1, "fi": 4, "tr": 4} | dict.fromkeys(("ar", "he", "hi", "ja", "zh"), 2)
UNDIVIDED = ("ja", "th", "zh")


@pytest.mark.parametrize("language", PARAGRAPHS)
@pytest.mark.parametrize("metric", OF_A_COPY)
def test_a_copy_of_the_reference_scores_as_a_copy_or_says_why_not(
    metric: str, language: str
) -> None:
    text = PARAGRAPHS[language]
    scored = score_sync(metric, Example(question="q", answer=text, references=(text,)))[metric]
    if scored.value is None:
        assert scored.status == "undefined"
        assert "tokenizer=" in str(scored.reason)
    else:
        assert scored.value == pytest.approx(OF_A_COPY[metric])


@pytest.mark.parametrize("language", PARAGRAPHS)
@pytest.mark.parametrize("metric", UNICODE)
def test_with_the_tokenizer_that_the_reason_names_every_language_is_scored(
    metric: str, language: str
) -> None:
    text = PARAGRAPHS[language]
    name = f"{metric}@tokenizer=unicode"
    other = PARAGRAPHS["zh" if language not in ("zh", "ja") else "ar"]
    copy = score_sync(name, Example(question="q", answer=text, references=(text,)))[name]
    foreign = score_sync(name, Example(question="q", answer=text, references=(other,)))[name]
    assert copy.value == pytest.approx(1.0)
    assert foreign.value == pytest.approx(0.0)


@pytest.mark.parametrize("language", PARAGRAPHS)
def test_sentences_are_found_and_nothing_is_lost(language: str) -> None:
    text = PARAGRAPHS[language]
    parts = sentences(text)
    assert len(parts) == SENTENCES.get(language, 3)
    assert "".join("".join(parts).split()) == "".join(text.split())


@pytest.mark.parametrize("language", PARAGRAPHS)
def test_length_counts_words_or_says_that_there_are_no_spaces(language: str) -> None:
    name = "classic.length"
    scores = score_sync(name, Example(question="q", answer=PARAGRAPHS[language]))
    characters = scores[f"{name}.characters"]
    assert characters.value == len(PARAGRAPHS[language])
    words = scores[f"{name}.words"]
    if language in UNDIVIDED:
        assert words.status == "undefined"
        assert "tokenizer=" in str(words.reason)
    else:
        assert words.value == len(PARAGRAPHS[language].split())
