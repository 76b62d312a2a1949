"""What the metrics of a run have to say of how they read its examples, told once with the number of answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from longmark.engine.pairs import sides
from longmark.metrics import Selected
from longmark.records import Answered


class Remarks:
    """Counts the remarks of metrics (`Metric.remarks`) while examples go through. A remark of two metrics, or of two
    sets of their parameters, is one."""

    def __init__(self, selected: Iterable[Selected]) -> None:
        self._asked = [chosen for chosen in selected if chosen.metric.remarks is not None]
        self._answers: Counter[str] = Counter()

    def over(self, examples: Iterable[Answered]) -> Iterable[Answered]:
        """The examples as they are."""
        return self._counted(examples) if self._asked else examples

    def _counted(self, examples: Iterable[Answered]) -> Iterator[Answered]:
        for example in examples:
            remarks: list[str] = []
            for chosen in self._asked:
                assert chosen.metric.remarks is not None
                for answer in sides(chosen, example):
                    remarks += chosen.metric.remarks(answer, chosen.params)
            self._answers.update(list(dict.fromkeys(remarks)))
            yield example

    def notices(self) -> Sequence[str]:
        """The most frequent first."""
        return [
            f"{count:,} {'answer' if count == 1 else 'answers'}: {remark}"
            for remark, count in self._answers.most_common()
        ]
