"""The range of calls of a dry run."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace
from typing import Any, cast

from longmark.engine.spread import Spread
from longmark.engine.worker import Task


def test_a_metric_that_fails_on_stand_ins_is_walked_for_no_more_examples_than_others() -> None:
    walked: list[Task] = []

    async def walk(task: Task) -> Any:
        walked.append(task)
        return None if len(walked) > 3 else SimpleNamespace(calls=2 * len(walked))

    async def add_all() -> Spread:
        spread = Spread(walk, walk)
        task = cast(Task, SimpleNamespace(chosen=SimpleNamespace(name="nli")))
        for _ in range(100):
            await spread.add(task, 3)
        return spread

    spread = asyncio.run(add_all())
    assert len(walked) == 40  # 20 examples, each with the fewest statements and with the most
    assert spread.calls("nli", 30) == (20, 40)  # of the one that came to its end: 2 and 4 for 3
