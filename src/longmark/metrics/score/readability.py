"""Readability: Flesch reading ease and Flesch-Kincaid grade level (SCORE, appendix B.3, equations 5 and 6).

    reading_ease = 206.835 - 1.015 words/sentences - 84.6 syllables/words      higher is easier
    grade_level  = 0.39 words/sentences + 11.8 syllables/words - 15.59         US school years

The bounds are the scores of sentences of one syllable. The paper asks whether the level
suits the reader. The evidence names the paper's band. Words, sentences and syllables are counted for English
(`text.sentences`, `metrics/score/_syllables.py`); list items, headings and table rows are sentences.
Unscored (`undefined`): no words, more than 5 % of the words in another script, or a text that is in another language by its
function words or by letters that the language does not use (`text.language`; short texts do not tell). Cost: no
calls.
Parameters: language: `en`; or `de`, `es`, `fr`, `it`, `nl`, `pt`, `ru`, whose reading ease has the weights of
`metrics/score/_formulas.py` and no band, and whose grade level is unscored (no formula). syllables: `rule`, or
`textstat`: words, sentences and syllables as the authors counted them, by the package textstat 0.7.8, which is in no
extra, as its dictionary is under the GPL (pip install textstat==0.7.8). It drops sentences of two words or fewer, and
a list item without a full stop continues a sentence. citations: `ignore` leaves out all markers of citations; [1] and
[2, 3] are no words in either case.
Deviations: by default syllables are counted by rule, not looked up in a dictionary of pronunciations; the difference
is 1.0 points on average, without bias (design/readability-syllables.md).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from importlib import metadata
from typing import Any, Literal

from longmark.concurrency import aside
from longmark.errors import NoScore, UserError
from longmark.metric import ANSWERS, Bounds, Metric, Score, ScoreSpec, Silence, paper
from longmark.metrics.score._formulas import FORMULAS
from longmark.metrics.score._syllables import syllables
from longmark.records import Example
from longmark.records.evidence import Evidence
from longmark.text.citations import Citations, forms_added, scored_texts
from longmark.text.language import ENGLISH, NAMES, foreign_letters, language_of
from longmark.text.sentences import sentences, words
from longmark.text.words import MOST_UNREAD, unread_share

EASIEST = 121.22  # 206.835 - 1.015 - 84.6
LOWEST_GRADE = -3.40  # -15.59 + 0.39 + 11.8

# The least reading ease of each band: Flesch's own table (1948), which SCORE's table 10 uses.
EASE_BANDS = (
    (90.0, "very easy"),
    (80.0, "easy"),
    (70.0, "fairly easy"),
    (60.0, "plain English"),
    (50.0, "fairly difficult"),
    (30.0, "difficult"),
)
# The grade below which a text is in each band (SCORE, table 10; from 16 on, graduate).
GRADE_BANDS = (
    (5.0, "elementary"),
    (9.0, "middle school"),
    (12.0, "high school"),
    (16.0, "undergraduate"),
)


TEXTSTAT = "0.7.8"  # of the authors' notebook; later versions count otherwise


@dataclass(frozen=True)
class ReadabilityParams:
    syllables: Literal["rule", "textstat"] = paper("rule", "textstat")
    citations: Citations = "keep"
    language: Literal["en", "de", "es", "fr", "it", "nl", "pt", "ru"] = "en"

    def __post_init__(self) -> None:
        if self.syllables == "textstat" and self.language != ENGLISH:
            raise ValueError("syllables=textstat counts as the authors did, in English")

    def ready(self) -> None:
        """UserError where the textstat of the authors is not installed."""
        if self.syllables == "textstat" and (version := _textstat_version()) != TEXTSTAT:
            raise UserError(
                f"syllables=textstat needs textstat {TEXTSTAT}, and {version or 'none'} is installed: "
                f"pip install textstat=={TEXTSTAT}"
            )


def _textstat_version() -> str | None:
    try:
        return metadata.version("textstat")
    except metadata.PackageNotFoundError:
        return None


class TextCounts(Evidence):
    """What a score is computed from. band: of the score, in words; "" in other languages than English."""

    words: int
    sentences: int
    syllables: int
    band: str


def band_of(evidence: Mapping[str, Any]) -> str | None:
    """The band of a row's score; None where it has none, or the evidence has another form."""
    counts = TextCounts.of(evidence)
    return (counts.band or None) if counts else None


def reading_ease(words: int, sentences: int, syllables: int) -> float:
    """Flesch 1948 (SCORE, equation 5)."""
    return min(EASIEST, 206.835 - 1.015 * words / sentences - 84.6 * syllables / words)


def grade_level(words: int, sentences: int, syllables: int) -> float:
    """Kincaid et al. 1975 (SCORE, equation 6)."""
    return max(LOWEST_GRADE, -15.59 + 0.39 * words / sentences + 11.8 * syllables / words)


async def score(
    example: Example, models: object, params: ReadabilityParams
) -> dict[str, Score | NoScore]:
    answer, _ = scored_texts(example, params.citations)
    return {**await aside(len(answer), partial(measured, answer, params))}


def measured(answer: str, params: ReadabilityParams) -> dict[str, Score | NoScore]:
    """The two scores of a text. NoScore if it has none."""
    if params.language == ENGLISH:
        return {**in_english(answer, params.syllables)}
    formula = FORMULAS[params.language]
    counts = _counts(_sentences_of(answer, params.language), formula.syllables)
    evidence = TextCounts(**counts, band="").evidence() | {"formula": formula.source}
    return {
        "reading_ease": Score(min(formula.easiest, formula.ease(**counts)), evidence),
        "grade_level": NoScore("undefined", "The grade level has a formula for English only."),
    }


def in_english(
    answer: str, syllable_count: Literal["rule", "textstat"] = "rule"
) -> dict[str, Score]:
    """The paper's two scores. NoScore for a text without words or in another language."""
    by_sentence = _sentences_of(answer, ENGLISH)
    if syllable_count == "textstat":
        counts = _by_textstat(answer)
    else:
        counts = _counts(by_sentence, lambda word: max(1, syllables(word)))
    ease = reading_ease(**counts)
    grade = grade_level(**counts)
    return {
        "reading_ease": Score(ease, TextCounts(**counts, band=ease_band(ease)).evidence()),
        "grade_level": Score(grade, TextCounts(**counts, band=grade_band(grade)).evidence()),
    }


def _sentences_of(answer: str, language: str) -> list[list[str]]:
    """The words of each sentence. NoScore for a text without words, in another script or in another language."""
    by_sentence = [
        sentence_words for sentence_words in map(words, sentences(answer)) if sentence_words
    ]
    if not by_sentence:
        raise NoScore("undefined", "The answer has no words.")
    _check_language(answer, language)
    return by_sentence


def _counts(by_sentence: Sequence[Sequence[str]], count: Callable[[str], int]) -> dict[str, int]:
    return {
        "words": sum(map(len, by_sentence)),
        "sentences": len(by_sentence),
        "syllables": sum(count(word) for sentence in by_sentence for word in sentence),
    }


def _check_language(answer: str, language: str) -> None:
    """NoScore for a text that is in another script or language than the one that is scored."""
    name = NAMES[language]
    foreign = unread_share(answer, _is_cyrillic_word if language == "ru" else _reads)
    if foreign > MOST_UNREAD:
        reason = f"The formulas are for {name}, and {foreign:.0%} of the answer's words are in another script."
        raise NoScore("undefined", reason, {"share_of_other_scripts": round(foreign, 4)})
    written_in = language_of(answer)
    if written_in == language:
        return
    if written_in is None:
        if share := foreign_letters(answer, language):
            reason = (
                f"The formulas are for {name}, and {share:.0%} of the answer's words in small letters have letters "
                f"that {name} does not use. The parameter language scores some other languages."
            )
            raise NoScore("undefined", reason, {"share_of_other_letters": round(share, 4)})
        return
    remedy = "There is no formula for it here."
    if written_in in FORMULAS or written_in == ENGLISH:
        remedy = f"score.readability@language={written_in} scores it."
    reason = (
        f"The formulas are for {name}, and the answer is {NAMES[written_in]} by its function words. "
        f"{remedy}"
    )
    raise NoScore("undefined", reason, {"language": written_in})


def _by_textstat(answer: str) -> dict[str, int]:
    """The counts from which textstat's Flesch scores are computed. NoScore if it finds no word."""
    import textstat  # type: ignore[import-not-found, unused-ignore]

    words = textstat.lexicon_count(answer)
    if not words:
        raise NoScore("undefined", "The answer has no words.")
    return {
        "words": words,
        "sentences": textstat.sentence_count(answer),
        "syllables": textstat.syllable_count(answer),
    }


def ease_band(ease: float) -> str:
    """The name of the band of a reading ease."""
    return next((name for least, name in EASE_BANDS if ease >= least), "very difficult")


def grade_band(grade: float) -> str:
    """The name of the band of a grade level."""
    return next((name for below, name in GRADE_BANDS if grade < below), "graduate")


def _reads(word: str, spaced: bool) -> bool:
    """Whether the formulas can count a word. A Greek letter by itself is a sign, as in `the angle α`."""
    return all(map(_is_latin, word)) or (spaced and len(word) == 1)


def _is_cyrillic_word(word: str, spaced: bool) -> bool:
    """Whether the Russian formula can count a word: Cyrillic, without letters of another script but single ones."""
    return all(not char.isalpha() or "CYRILLIC" in unicodedata.name(char, "") for char in word) or (
        spaced and len(word) == 1
    )


def _is_latin(char: str) -> bool:
    """Whether a character is a Latin letter, or a digit or sign that every script shares."""
    return char.isascii() or not char.isalpha() or "LATIN" in unicodedata.name(char, "")


def _bounds(part: str, params: ReadabilityParams) -> Bounds:
    if part == "grade_level":
        return LOWEST_GRADE, None
    return None, EASIEST if params.language == ENGLISH else FORMULAS[params.language].easiest


METRIC = Metric(
    score,
    needs=("answer",),
    turns=(*ANSWERS, "all"),
    params=ReadabilityParams,
    bounds_with=_bounds,
    scores={
        "reading_ease": ScoreSpec(
            bounds=(None, EASIEST),
            higher_is_better=None,
            summary="Flesch reading ease (SCORE, appendix B.3, equation 5): the higher, the easier to read.",
        ),
        "grade_level": ScoreSpec(
            bounds=(LOWEST_GRADE, None),
            higher_is_better=None,
            summary="Flesch-Kincaid grade level (SCORE, appendix B.3, equation 6): US school years needed to read it.",
        ),
    },
    silence=Silence(empty="undefined"),
    version=4,
    raised=forms_added,
)
