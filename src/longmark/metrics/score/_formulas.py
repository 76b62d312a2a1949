"""Reading ease in languages other than English: Flesch's formula with the weights that its authors fitted anew.

    reading ease = base - per_sentence words/sentences - per_word syllables/words        higher is easier

The weights are those of textstat 0.7.8 (German, Spanish, French, Italian, Dutch, Russian) and of Martins et al. 1996
(Portuguese). Syllables are the points of hyphenation (pyphen) + 1, as textstat counts them; in Russian they are the
vowels. Points are too few where a word may not be broken (after one letter): 1 to 4 % of the syllables of running text
in German, Dutch, Portuguese, Italian and Spanish; in French, 13 % beside written vowels, many of which are silent
(design/languages.md).
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from longmark.records.same import canonical, visible

_RUN = re.compile(r"[^\W\d_]+|\d+(?:[.,]\d+)*")
_RUSSIAN_VOWELS = re.compile(r"[аеёиоуыэюя]", re.IGNORECASE)
_LONGEST = 100  # letters hyphenated at once, since the time grows as the square


@dataclass(frozen=True, slots=True)
class ReadingEaseFormula:
    """source: who fitted the weights; dictionary: of pyphen, "" where vowels are counted."""

    source: str
    base: float
    per_sentence: float
    per_word: float
    dictionary: str = ""

    def ease(self, words: int, sentences: int, syllables: int) -> float:
        return self.base - self.per_sentence * words / sentences - self.per_word * syllables / words

    @property
    def easiest(self) -> float:
        """Of sentences of one syllable."""
        return self.ease(1, 1, 1)

    def syllables(self, word: str) -> int:
        """Of a word or a figure, which counts one; at least one."""
        count = _by_dictionary(self.dictionary) if self.dictionary else _by_vowels
        runs = _RUN.findall(visible(canonical(word)))
        return max(1, sum(1 if run[0].isdigit() else max(1, count(run)) for run in runs))


def _by_vowels(run: str) -> int:
    return len(_RUSSIAN_VOWELS.findall(run))


def _by_dictionary(dictionary: str) -> Callable[[str], int]:
    return partial(_points, _hyphenation(dictionary))


def _points(hyphenation: Any, run: str) -> int:
    parts = (run[start : start + _LONGEST] for start in range(0, len(run), _LONGEST))
    return sum(len(hyphenation.positions(part.lower())) + 1 for part in parts)


@cache
def _hyphenation(dictionary: str) -> Any:
    import pyphen

    return pyphen.Pyphen(lang=dictionary)


FORMULAS = {
    "de": ReadingEaseFormula("Amstad 1978", 180, 1, 58.5, "de_DE"),
    "es": ReadingEaseFormula("Fernández Huerta 1959", 206.84, 1.02, 60, "es"),
    "fr": ReadingEaseFormula("Kandel and Moles 1958", 207, 1.015, 73.6, "fr"),
    "it": ReadingEaseFormula("Vacca and Franchina 1986", 217, 1.3, 60, "it_IT"),
    "nl": ReadingEaseFormula("Douma 1960", 206.835, 0.93, 77, "nl_NL"),
    "pt": ReadingEaseFormula("Martins et al. 1996", 248.835, 1.015, 84.6, "pt_BR"),
    "ru": ReadingEaseFormula("Oborneva 2006", 206.835, 1.3, 60.1),
}
