"""Between which numbers of calls a run will end, where they depend on how many statements a judge lists.

The first examples of a metric are walked with a judge that lists a statement for three sentences, and with one that
lists two for each. Recorded lists lie between: those of the embedded judge have 1.0 statements a sentence (answers of
`examples/answers.jsonl`), those of gpt-oss-20b 1.8 (passages of WikiContradict, 4,879 statements). RAGChecker's triplets
are smaller than statements: 2 to 8 a sentence in its two examples.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol

from longmark.engine.worker import Task

FEWEST = 1 / 3  # statements of a sentence
MOST = 2.0
_WALKED = 20  # examples of a metric
_NOTABLE = 1.1  # the most calls by the fewest, from which on a range is shown


class HasCalls(Protocol):
    @property
    def calls(self) -> int: ...


WalkCalls = Callable[[Task], Awaitable[HasCalls | None]]


@dataclass(slots=True)
class _Sums:
    """Calls of the examples that were walked to their end, of those that were tried."""

    tried: int = 0
    expected: int = 0
    at_fewest: int = 0
    at_most: int = 0


@dataclass(slots=True)
class Spread:
    """walk_fewest, walk_most: what an example takes at FEWEST and at MOST statements of a sentence."""

    walk_fewest: WalkCalls
    walk_most: WalkCalls
    sums: dict[str, _Sums] = field(default_factory=dict)

    async def add(self, task: Task, expected: int) -> None:
        """expected: the calls of this example at one statement a sentence."""
        sums = self.sums.setdefault(task.chosen.name, _Sums())
        if sums.tried == _WALKED:
            return
        sums.tried += 1
        at_fewest = await self.walk_fewest(task)
        at_most = await self.walk_most(task)
        if at_fewest is None or at_most is None:
            return
        sums.expected += expected
        sums.at_fewest += at_fewest.calls
        sums.at_most += at_most.calls

    def calls(self, name: str, expected: int) -> tuple[int, int] | None:
        """The fewest and the most calls of a metric of which so many are expected; None where the number of statements
        hardly changes them."""
        sums = self.sums.get(name)
        if sums is None or not sums.expected or sums.at_most < _NOTABLE * sums.at_fewest:
            return None
        by_expected = expected / sums.expected
        return (
            round(by_expected * sums.at_fewest),
            round(by_expected * sums.at_most),
        )
