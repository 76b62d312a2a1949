"""The words of a text, as BM25 counts them: letters and digits, case folded; no stemming and no list of stop words, so
that every language is treated alike. Scripts that put no spaces between words give overlapping pairs of characters.

`VERSION` stands in an index: one made with other words cannot be asked with these.
"""

from __future__ import annotations

import re
import unicodedata

VERSION = 1

_UNSPACED = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af"
_WORD = re.compile(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+")
_IS_UNSPACED = re.compile(rf"[{_UNSPACED}]")


def words(text: str) -> list[str]:
    """The words in their order, each as often as it occurs."""
    folded = text.lower() if text.isascii() else unicodedata.normalize("NFKC", text).casefold()
    found = _WORD.findall(folded)
    if text.isascii():
        return found
    return [part for word in found for part in (_pairs(word) if _IS_UNSPACED.match(word) else (word,))]


def _pairs(run: str) -> tuple[str, ...]:
    return tuple(run[i : i + 2] for i in range(len(run) - 1)) or (run,)
