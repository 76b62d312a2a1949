"""Runs for the tests of `metrics-study`: scores in, run folders out; and a study whose properties are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tests.report.runs import manifest, row, write_run

from longmark.records import Usage

Scores = NDArray[np.float64]
SYSTEMS = tuple("ABCDEF")

FACTS: dict[str, dict[str, Any]] = {
    "made.tied": {"bounds": [0, 1], "higher_is_better": True, "summary": "Thirds."},
    "made.ceiling": {"bounds": [0, 1], "higher_is_better": True, "summary": "Mostly 1."},
    "made.first": {
        "bounds": [None, None],
        "higher_is_better": True,
        "summary": "Correlates .8 with the next.",
    },
    "made.second": {
        "bounds": [None, None],
        "higher_is_better": True,
        "summary": "Correlates .8 with the one before.",
    },
    "made.harm": {"bounds": [0, None], "higher_is_better": False, "summary": "Lower is better."},
}


def known(questions: int = 500, seed: int = 11) -> dict[str, Scores]:
    """Six systems on five metrics.

    tied      0, 1/3, 2/3 or 1, each with probability 1/4: two are equal with probability 1/4; systems do not differ
    ceiling   1 with probability .9, else uniform; systems do not differ
    first     normal, correlation .8 with second; means 0, 0, 1, 1, 2, 2: of 15 pairs, 12 differ
    second    normal, systems do not differ
    harm      squares of normals, lower is better; system A has 1 more than the others: 5 of 15 pairs differ
    """
    random = np.random.default_rng(seed)
    shape = (questions, len(SYSTEMS))
    first = random.normal(size=shape)
    second = 0.8 * first + 0.6 * random.normal(size=shape)  # .8² + .6² = 1
    return {
        "made.tied": random.integers(0, 4, shape) / 3,
        "made.ceiling": np.where(random.random(shape) < 0.9, 1.0, random.random(shape)),
        "made.first": first + np.array([0, 0, 1, 1, 2, 2]),
        "made.second": second,
        "made.harm": random.normal(size=shape) ** 2 + np.array([1, 0, 0, 0, 0, 0]),
    }


def write_scores(
    folder: Path,
    scores: Mapping[str, Scores],
    systems: Sequence[str] = SYSTEMS,
    facts: Mapping[str, dict[str, Any]] = FACTS,
    usage: Mapping[str, Usage] | None = None,
    **more: Any,
) -> Path:
    """A run folder of scores (questions x systems for each metric); NaN is a row without a value. more: of each row."""
    rows = [
        row(
            f"{system}-{question}",
            metric,
            None if np.isnan(value) else float(value),
            question_id=f"q{question}",
            system=system,
            usage=(usage or {}).get(metric, Usage()),
            **more,
        )
        for place, system in enumerate(systems)
        for metric, matrix in scores.items()
        for question, value in enumerate(matrix[:, place])
    ]
    return write_run(
        folder, [], rows, manifest(metrics={name: facts[name] for name in scores if name in facts})
    )
