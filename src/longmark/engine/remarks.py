"""What the metrics of a run have to say of how they read its examples, told once with the number of answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from longmark.engine.pairs import sides
from longmark.metric import Remark
from longmark.metrics import Selected
from longmark.records import Answered

_PLACES_SHOWN = 5
_LONGEST_PLACE = 40  # characters


class Remarks:
    """Counts the remarks of metrics (`Metric.remarks`) while examples go through. A remark of two metrics, or of two
    sets of their parameters, is one."""

    def __init__(self, selected: Iterable[Selected]) -> None:
        self._asked = [chosen for chosen in selected if chosen.metric.remarks is not None]
        self._answers: Counter[str] = Counter()
        self._places: dict[str, Counter[str]] = {}

    def over(self, examples: Iterable[Answered]) -> Iterable[Answered]:
        """The examples as they are."""
        return self._counted(examples) if self._asked else examples

    def _counted(self, examples: Iterable[Answered]) -> Iterator[Answered]:
        for example in examples:
            remarks: list[str | Remark] = []
            for chosen in self._asked:
                assert chosen.metric.remarks is not None
                for answer in sides(chosen, example):
                    remarks += chosen.metric.remarks(answer, chosen.params)
            self._count(dict.fromkeys(remarks))
            yield example

    def _count(self, remarks: Iterable[str | Remark]) -> None:
        texts: dict[str, None] = {}
        for remark in remarks:
            text = remark if isinstance(remark, str) else remark.text
            texts[text] = None
            if isinstance(remark, Remark):
                self._places.setdefault(text, Counter()).update(remark.places)
        self._answers.update(list(texts))

    def notices(self) -> Sequence[str]:
        """The most frequent first."""
        return [
            f"{count:,} {'answer' if count == 1 else 'answers'}: {remark}{self._shown(remark)}"
            for remark, count in self._answers.most_common()
        ]

    def _shown(self, remark: str) -> str:
        """The most frequent places that a remark is about, with how often each stands there, and how many are left."""
        places = self._places.get(remark)
        if not places:
            return ""
        frequent = places.most_common(_PLACES_SHOWN)
        texts = [f"{_short(place)} ({count:,})" for place, count in frequent]
        left_out = places.total() - sum(count for _, count in frequent)
        return f" {', '.join(texts)}{f', {left_out:,} others' if left_out else ''}"


def _short(place: str) -> str:
    return place if len(place) <= _LONGEST_PLACE else f"{place[: _LONGEST_PLACE - 1]}…"
