"""Texts of a file that may be none, for notices: ids in place of texts, texts that a spreadsheet cut, words that Python or
pandas write for a missing value, and the thinking of a model in its answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from longmark.options import named
from longmark.records.columns import is_like_an_id
from longmark.records.notation import NOTHING
from longmark.records.pair import Answered
from longmark.records.thinking import split

_FEWEST_IDS = 3  # texts below which nothing is said of them
_CELL = 32_767
"""Characters that a cell of Excel holds (support.microsoft.com, "Excel specifications and limits"). Programs that write
spreadsheets cut longer texts, some of them without a word. Excel counts UTF-16 code units, openpyxl code points."""


class OddTexts:
    """Add each example, then ask for the notices."""

    def __init__(self) -> None:
        self._texts: Counter[str] = Counter()
        self._like_ids: Counter[str] = Counter()
        self._cut: Counter[str] = Counter()
        self._first_cut = 0
        self._words: dict[str, Counter[str]] = {}
        self._thinking = 0
        self._first_thinking = 0

    def add(self, line: int, example: Answered) -> None:
        """line: of the example in its file."""
        texts = {
            "contexts": [context.text for context in example.contexts],
            "references": example.references,
        }
        for field, values in texts.items():
            self._texts[field] += len(values)
            self._like_ids[field] += sum(map(is_like_an_id, values))
        for field in ("question", "answer", "a", "b"):
            text = getattr(example, field, None)
            texts[field] = [text] if text else []
            if text in NOTHING:
                self._words.setdefault(field, Counter())[str(text)] += 1
            if field != "question" and text and split(text).answer != text:
                self._first_thinking = self._first_thinking or line
                self._thinking += 1
        for field, values in texts.items():
            if cut := sum(map(_fills_a_cell, values)):
                self._first_cut = self._first_cut or line
                self._cut[field] += cut

    def notices(self, file: str) -> Iterator[str]:
        """file: its name."""
        for field, texts in self._texts.items():
            if texts >= _FEWEST_IDS and self._like_ids[field] == texts:
                yield (
                    f"All {texts:,} {field} of {file} look like ids, without a space. If they are ids and not "
                    f"texts, leave them out: {named('mapping', {field: ''})}"
                )
        if self._cut:
            kinds = ", ".join(f"{count:,} {field}" for field, count in sorted(self._cut.items()))
            yield (
                f"Texts of {file} have {_CELL:,} characters, the most that a cell of a spreadsheet holds ({kinds}; the "
                f"first in {file}:{self._first_cut}): they may have been cut. Export the texts in another way, such as "
                "JSON Lines."
            )
        if self._thinking:
            have = "answer has" if self._thinking == 1 else "answers have"
            yield (
                f"{self._thinking:,} {have} a model's thinking between tags such as <think> (the first in "
                f"{file}:{self._first_thinking}), which is scored as a part of the answer. Take it out of the file if it "
                "was not shown to readers."
            )
        for field, words in self._words.items():
            listed = ", ".join(f'"{word}"' for word in words)
            count = words.total()
            texts_are = (
                f"text in the field {field} is" if count == 1 else f"texts in the field {field} are"
            )
            yield (
                f"{count:,} {texts_are} {listed}, which programs write for a missing value, and count as texts. If "
                "nothing was there, leave the cell empty or write null."
            )


def _fills_a_cell(text: str) -> bool:
    """Whether a text is as long as a cell can be, in either count."""
    if not _CELL // 2 < len(text) <= _CELL:
        return False
    return len(text) == _CELL or len(text.encode("utf-16-le", "surrogatepass")) == 2 * _CELL
