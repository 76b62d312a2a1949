"""The order of the rows changes no figure of a comparison, drawn ones included."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from tests.there import there

from longmark.analysis.compare import compare


def rows(shuffled: bool) -> str:
    random = np.random.default_rng(5)
    lines = [
        f"e{question}{copy}{system},q{question},{system},quality,{random.normal(0.5 + 0.03 * (system == 'a'), 0.1):.6f}"
        for system in "abc"
        for question in range(25)
        for copy in range(1 + question % 3)
    ]
    first = {line.split(",")[2]: line for line in reversed(lines)}  # the systems keep their order
    rest = [line for line in lines if line not in first.values()]
    if shuffled:
        random.shuffle(rest)
    return "\n".join(
        ["example_id,question_id,system,metric,score", *(first[name] for name in "abc"), *rest]
    )


def test_shuffled_rows_give_the_same_figures(tmp_path: Path):
    found: dict[bool, list[Any]] = {False: [], True: []}
    for shuffled in (False, True):
        (tmp_path / "rows.csv").write_text(rows(shuffled))
        (metric,) = compare([tmp_path / "rows.csv"], draws=999).metrics
        for pair in metric.pairs:
            ends = [there(one.ends) for one in (pair.difference, pair.d_z, pair.share)]
            found[shuffled].append([pair.difference.value, *sum(ends, ()), pair.p, pair.p_tukey])
    np.testing.assert_allclose(
        np.array(found[True], dtype=float), np.array(found[False], dtype=float), rtol=1e-12
    )
