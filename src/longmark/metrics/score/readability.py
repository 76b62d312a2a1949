"""Readability: Flesch reading ease and Flesch-Kincaid grade level (SCORE, appendix B.3, equations 5 and 6).

    reading_ease = 206.835 - 1.015 words/sentences - 84.6 syllables/words      (-inf, 121.22], higher is easier
    grade_level  = 0.39 words/sentences + 11.8 syllables/words - 15.59         [-3.40, inf), US school years

The limits are those of one-syllable sentences. Neither end is better in itself: the paper asks whether the level suits
the reader, and an answer for an expert may be hard; so no direction is declared. The evidence names the paper's band.
Words, sentences and syllables are counted for English (`text.sentences`, `text.syllables`); list items, headings and
table rows are sentences. No value (`undefined`): no words, or mostly letters of another script. Text in another
language that uses Latin letters is not noticed: its value means nothing. Calls: none, works offline.
Deviations: syllables are counted by rule, not looked up in a dictionary of pronunciations. Against the CMU dictionary
the total of running text is 0.2 % low, and the reading ease of 219 expert answers differs by 1.0 on average, without
bias (design/readability-syllables.md).
"""

from __future__ import annotations

import unicodedata

from longmark.errors import NoScore
from longmark.metric import Metric, NoParams, Score, Value
from longmark.records import Example
from longmark.text.sentences import sentences, words
from longmark.text.syllables import syllables

# Flesch 1948 (SCORE, equation 5) and Kincaid et al. 1975 (equation 6): base, words a sentence, syllables a word.
READING_EASE = (206.835, -1.015, -84.6)
GRADE_LEVEL = (-15.59, 0.39, 11.8)
EASIEST = 121.22  # 206.835 - 1.015 - 84.6
LOWEST_GRADE = -3.40  # -15.59 + 0.39 + 11.8

# Least reading ease of each band: Flesch's own table (1948), which SCORE's table 10 counts by.
EASE_BANDS = (
    (90.0, "very easy"),
    (80.0, "easy"),
    (70.0, "fairly easy"),
    (60.0, "plain English"),
    (50.0, "fairly difficult"),
    (30.0, "difficult"),
)
# The grade below which a text is in each band (SCORE, table 10; from 16 on, graduate).
GRADE_BANDS = ((5.0, "elementary"), (9.0, "middle school"), (12.0, "high school"), (16.0, "undergraduate"))


async def score(example: Example, models: object, params: NoParams) -> dict[str, Score | NoScore]:
    """The two values of one answer."""
    answer = example.answer or ""
    spoken = [found for found in map(words, sentences(answer)) if found]
    n_words = sum(map(len, spoken))
    if n_words == 0:
        raise NoScore("undefined", "The answer has no words.")
    foreign = _share_of_other_scripts(answer)
    if foreign > 0.5:
        reason = f"The formulas are made for English, and {foreign:.0%} of the answer's letters are not Latin."
        raise NoScore("undefined", reason, {"share_of_other_scripts": round(foreign, 4)})
    n_syllables = sum(max(1, syllables(word)) for sentence in spoken for word in sentence)
    counts = {"words": n_words, "sentences": len(spoken), "syllables": n_syllables}
    ease = min(EASIEST, _formula(READING_EASE, counts))
    grade = max(LOWEST_GRADE, _formula(GRADE_LEVEL, counts))
    return {
        "reading_ease": Score(ease, {**counts, "band": ease_band(ease)}),
        "grade_level": Score(grade, {**counts, "band": grade_band(grade)}),
    }


def ease_band(ease: float) -> str:
    """The name of the band of a reading ease."""
    return next((name for least, name in EASE_BANDS if ease >= least), "very difficult")


def grade_band(grade: float) -> str:
    """The name of the band of a grade level."""
    return next((name for below, name in GRADE_BANDS if grade < below), "graduate")


def _formula(constants: tuple[float, float, float], counts: dict[str, int]) -> float:
    base, sentence_length, word_length = constants
    return (
        base
        + sentence_length * counts["words"] / counts["sentences"]
        + word_length * counts["syllables"] / counts["words"]
    )


def _share_of_other_scripts(text: str) -> float:
    """The share of a text's letters that are not Latin; 0 where it has no letters."""
    if text.isascii():
        return 0.0
    letters = [char for char in text if char.isalpha()]
    other = sum(not char.isascii() and "LATIN" not in unicodedata.name(char, "") for char in letters)
    return other / len(letters) if letters else 0.0


METRIC = Metric(
    score,
    needs=("answer",),
    values={
        "reading_ease": Value(
            bounds=(None, EASIEST),
            higher_is_better=None,
            summary="Flesch reading ease (SCORE, appendix B.3, equation 5): the higher, the easier to read.",
        ),
        "grade_level": Value(
            bounds=(LOWEST_GRADE, None),
            higher_is_better=None,
            summary="Flesch-Kincaid grade level (SCORE, appendix B.3, equation 6): US school years needed to read it.",
        ),
    },
)
