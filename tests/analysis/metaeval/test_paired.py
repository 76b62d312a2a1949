"""The difference of two metrics on the same pairs: p and interval are one inference."""

import numpy as np
import pytest

from longmark.analysis.metaeval.results import paired

SHAPES = {
    "ties": [-1, 0, 0, 0, 0, 1, 1],
    "few wins": [0, 0, 0, 0, 0, 0, 1],
    "skewed": [-1, 0.25, 0.25, 0.25],
    "equal": [0.25],
    "one value": [1],
}
SIZES = {
    "alone": [1] * 24,
    "equal": [3] * 8,
    "unequal": [1, 2, 3] * 6,
    "few": [1, 1, 12],
    "five": [1] * 5,
    "one": [1],
}


@pytest.mark.parametrize("sizes", SIZES.values(), ids=SIZES)
@pytest.mark.parametrize("values", SHAPES.values(), ids=SHAPES)
def test_the_interval_excludes_0_exactly_if_p_is_at_most_the_level(values, sizes):
    questions = [f"q{i}" for i, size in enumerate(sizes) for _ in range(size)]
    chance = np.random.default_rng(len(questions))
    for _ in range(40):
        apart = chance.choice(values, len(questions))
        for level in (0.95, 0.8):
            found = paired(apart.tolist(), [0.0] * len(apart), questions, 1.0, level, 0)
            significant = found.p is not None and found.p <= 1 - level
            if found.low is None or found.high is None:
                assert found.reason
            elif found.method != "all equal" or not significant:
                assert significant == (not found.low <= 0 <= found.high), found


def test_equal_metrics_have_p_1_and_few_effective_questions_none():
    same = paired([1.0, 0.0, 1.0], [1.0, 0.0, 1.0], "abc", 1.0, 0.95, 0)
    assert (same.value, same.p, same.reason) == (0.0, 1.0, "every difference is 0")
    few = paired([1.0] * 12 + [0.0], [0.0] * 13, ["a"] * 11 + ["b", "c"], 1.0, 0.95, 0)
    assert few.p is None
    assert few.reason == few.remark
    assert "effective clusters are too few" in str(few.reason)
