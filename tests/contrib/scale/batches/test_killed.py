"""Runs in batches whose process is killed: by the server's own count nothing is paid twice."""

from __future__ import annotations

import pytest
from bench.batches import killed


@pytest.mark.parametrize("dialect", ["openai", "anthropic"])
def test_a_run_killed_at_random_moments_pays_for_no_batched_call_twice(dialect: str):
    found = killed(dialect, moments=3, examples=40, seed=11, latency=0.2)
    assert (found.twice, found.rows, found.unscored) == (0, 40, 0)
    assert found.paid + found.single - found.single_twice == 120
    assert found.single_twice <= 16 * found.kills  # calls of their own that were under way
