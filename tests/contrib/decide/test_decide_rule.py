"""What a decision says of scores: the rule, both readings, directions, clusters, several comparisons."""

from __future__ import annotations

import random
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.compare.runs import Values, run_of
from tests.report.runs import RELEVANCE

from longmark.contrib.decide.decide import (
    Decided,
    Rule,
    all_decided,
    check_metric,
    decide,
    document,
)
from longmark.errors import UserError
from longmark.scores.manifest import MetricFacts
from longmark.scores.paired import BY_SYSTEM, read_scores

N = 120


def noisy(mean: float, seed: int, n: int = N) -> list[float | None]:
    chance = random.Random(seed)
    return [min(1, max(0, chance.gauss(mean, 0.1))) for _ in range(n)]


def decided(
    folder: Path, systems: Mapping[str, Values], units: dict[str, int] | None = None, **more: Any
) -> list[Decided]:
    names = list(systems)
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    run = run_of(folder, {name: {RELEVANCE: values} for name, values in systems.items()})
    rule = Rule(metrics=[RELEVANCE], pairs=pairs, **{"margins": {}, **more})
    return decide(read_scores([run], BY_SYSTEM), units or {f"q{i}": i for i in range(N)}, rule)


def test_a_clear_difference_is_decided_in_both_directions(tmp_path: Path):
    (found,) = decided(tmp_path / "a", {"a": noisy(0.7, 1), "b": noisy(0.5, 2)})
    assert (found.result, found.counted) == ("better", None)
    assert found.difference.low > 0  # type: ignore[operator]
    (found,) = decided(tmp_path / "b", {"a": noisy(0.5, 2), "b": noisy(0.7, 1)})
    assert found.result == "worse"


def test_only_the_questions_that_were_looked_at_count_and_more_can_decide(tmp_path: Path):
    systems = {"a": noisy(0.6, 1), "b": noisy(0.5, 2)}
    (few,) = decided(tmp_path / "few", systems, {f"q{i}": i for i in range(10)})
    assert (few.result, few.difference.n, few.reason) == ("undecided", 10, "")
    (all_,) = decided(tmp_path / "all", systems)
    assert (all_.result, all_.difference.n) == ("better", N)


def test_the_order_is_that_of_the_units_not_of_the_questions_names(tmp_path: Path):
    """The first fifty say `better`, so early that the later ones cannot take it back."""
    first = [0.9 if i < 50 else 0.1 for i in range(N)]
    systems: dict[str, Values] = {"a": first, "b": [1 - one for one in first]}
    (found,) = decided(tmp_path / "a", systems)
    assert found.result == "better"
    (found,) = decided(tmp_path / "b", systems, {f"q{i}": N - i for i in range(N)})
    assert found.result == "worse"


def test_equivalence_needs_a_margin(tmp_path: Path):
    systems = {"a": noisy(0.5, 1), "b": noisy(0.5, 2)}
    (without,) = decided(tmp_path / "a", systems)
    assert without.result == "undecided"
    (within,) = decided(tmp_path / "b", systems, margins={RELEVANCE: 0.15})
    assert (within.result, within.margin) == ("equivalent", 0.15)


def test_silence_does_not_win(tmp_path: Path):
    """A system that answers only what it answers well is better on the common questions, and worse with the others."""
    silent = [0.8 if i % 3 == 0 else None for i in range(N)]
    (found,) = decided(
        tmp_path / "a", {"silent": silent, "plain": [0.5 + 0.001 * (i % 2) for i in range(N)]}
    )
    assert found.result == "undecided"
    assert (
        found.reason
        == "better on the common questions, worse with unscored answers as the worst score"
    )
    assert found.counted is not None
    assert (found.difference.n, found.counted.n) == (N // 3, N)
    (none,) = decided(tmp_path / "b", {"never": [None] * N, "plain": [0.5] * N})
    assert (none.result, none.difference.n) == ("undecided", 0)
    assert (
        none.reason
        == "undecided on the common questions, worse with unscored answers as the worst score"
    )


def test_several_comparisons_share_alpha_and_all_must_be_decided(tmp_path: Path):
    found = decided(tmp_path / "a", {"a": noisy(0.8, 1), "b": noisy(0.5, 2), "c": noisy(0.5, 3)})
    assert [one.result for one in found] == ["better", "better", "undecided"]
    assert all(one.difference.level == pytest.approx(1 - 0.05 / 3) for one in found)
    assert (all_decided(found), all_decided(found[:2])) == (False, True)
    rule = Rule(metrics=[RELEVANCE], pairs=[("a", "b"), ("a", "c"), ("b", "c")], margins={})
    page = document(found, N, 500, rule, "The money is spent.")
    assert (
        page.sections[0].says
        == "Undecided (1 of 3 comparisons) after 120 of 500 questions. The money is spent."
    )
    page = document(found[:2], N, 500, rule)
    assert page.sections[0].says == (
        f"Decided after 120 of 500 questions: a is better than b on {RELEVANCE} and a is better than c on {RELEVANCE}."
    )


def test_answers_of_a_cluster_count_as_one(tmp_path: Path):
    systems: dict[str, Values] = {"a": [0.8] * N, "b": [0.5] * N}
    units = {f"q{i}": i // 30 for i in range(N)}
    (found,) = decided(tmp_path / "a", systems, units, clustered=True, largest=30)
    assert (found.result, found.difference.clusters) == ("undecided", 4)


def test_a_metric_without_bounds_or_without_a_direction_is_refused():
    with pytest.raises(UserError, match="a least and a greatest score"):
        check_metric("m", MetricFacts(0.0, None, True))
    with pytest.raises(UserError, match="higher, or lower, scores are better"):
        check_metric("m", MetricFacts(0.0, 1.0, None))
    with pytest.raises(UserError, match="alpha must be between 0 and 1"):
        Rule(metrics=["m"], pairs=[("a", "b")], margins={}, alpha=1.5)
