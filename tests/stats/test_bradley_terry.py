"""Bradley-Terry strengths: two systems by hand, a known likelihood, intervals, and where there is no strength."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import minimize
from tests.there import there

from longmark.errors import UserError
from longmark.stats.bradley_terry import Strength, bradley_terry
from longmark.stats.clusters import effective
from longmark.stats.student import t_quantile


def of(found: tuple[Strength, ...], system: str) -> float:
    return there(next(one.log_strength.value for one in found if one.system == system))


def test_the_odds_of_two_systems_are_the_ratio_of_their_wins():
    # A wins 6, B 2; 4 ties, half a win each: odds (6 + 2) / (2 + 2) = 2
    made = (
        [("A", "B", "a")] * 4
        + [("B", "A", "b")] * 2
        + [("A", "B", "b")] * 2
        + [("B", "A", "tie")] * 4
    )
    first, second = bradley_terry(made)
    assert (first.system, first.rank, first.won, first.n) == ("A", 1, 8.0, 12)
    assert (second.system, second.rank, second.won, second.n) == ("B", 2, 4.0, 12)
    assert of((first, second), "A") - of((first, second), "B") == pytest.approx(
        math.log(2), abs=1e-6
    )
    assert of((first, second), "A") == pytest.approx(-of((first, second), "B"))


def test_the_strengths_are_the_maximum_of_the_likelihood():
    random = np.random.default_rng(1)
    made = [
        (str(a), str(b), str(random.choice(["a", "b", "tie"])))
        for a, b in (random.choice(list("ABCD"), 2, replace=False) for _ in range(60))
    ]
    systems = sorted("ABCD")

    def loss(logs: np.ndarray) -> float:
        total = 0.0
        for a, b, choice in made:
            share = {"a": 1.0, "b": 0.0, "tie": 0.5}[choice]
            apart = logs[systems.index(a)] - logs[systems.index(b)]
            total += share * math.log1p(math.exp(-apart)) + (1 - share) * math.log1p(
                math.exp(apart)
            )
        return total + float(logs.sum()) ** 2

    best = minimize(loss, np.zeros(4), tol=1e-10).x
    found = bradley_terry(made)
    assert [of(found, name) for name in systems] == pytest.approx(best, abs=1e-4)
    assert [one.rank for one in found] == [1, 2, 3, 4]


def test_the_interval_is_that_of_the_jackknife_over_clusters():
    # Leaving out each question by fitting all others again: one step of Newton's method is near it.
    random = np.random.default_rng(2)
    truth = {"A": 0.6, "B": 0.0, "C": -0.6}
    made, questions = [], []
    for question in range(40):
        for a, b in [("A", "B"), ("B", "C"), ("A", "C")][: 1 + question % 3]:
            wins = random.random() < 1 / (1 + math.exp(truth[b] - truth[a]))
            made.append((a, b, "a" if wins else "b"))
            questions.append(question)
    found = bradley_terry(made, clusters=questions)
    for one in found:
        kept = [[c for c, q in zip(made, questions, strict=True) if q != out] for out in range(40)]
        without = np.array([of(bradley_terry(rest), one.system) for rest in kept])
        error = math.sqrt(39 / 40 * ((without - without.mean()) ** 2).sum())
        its = one.log_strength
        sizes = [
            n
            for q in range(40)
            if (n := sum(q == k and one.system in c for c, k in zip(made, questions, strict=True)))
        ]
        assert its.effective == pytest.approx(effective(sizes))
        low, high = there(its.ends)
        assert low + high == pytest.approx(2 * there(its.value))
        assert (high - low) / 2 == pytest.approx(
            t_quantile(0.95, effective(sizes) - 1) * error, rel=0.02
        )


def test_choices_repeated_under_one_question_change_nothing():
    made = [
        ("A", "B", "a"),
        ("B", "C", "b"),
        ("C", "A", "tie"),
        ("A", "B", "b"),
        ("B", "C", "a"),
    ] * 6
    once = bradley_terry(made, clusters=[str(i) for i in range(30)])
    four = bradley_terry(
        [one for one in made for _ in range(4)],
        clusters=[str(i) for i in range(30) for _ in range(4)],
    )
    for one, other in zip(once, four, strict=True):
        assert one.log_strength.ends == pytest.approx(there(other.log_strength.ends), abs=1e-5)


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        (
            [("A", "B", "a"), ("B", "A", "a"), ("C", "D", "a"), ("D", "C", "a")],
            "never compared with each other",
        ),
        (
            [("A", "B", "a"), ("A", "C", "a"), ("B", "C", "a"), ("C", "B", "a")],
            "A won every comparison, so",
        ),
        ([("A", "B", "a"), ("B", "A", "a"), ("B", "C", "a")], "C lost every comparison, so"),
        (
            [("A", "B", "a"), ("B", "A", "a"), ("C", "D", "a"), ("D", "C", "a"), ("A", "C", "a")],
            "some systems won every comparison with the others",
        ),
    ],
)
def test_where_no_maximum_exists_there_is_a_reason(made: list[tuple[str, str, str]], reason: str):
    for one in bradley_terry(made):
        assert (one.log_strength.value, one.rank) == (None, None)
        assert reason in there(one.log_strength.reason)


def test_few_or_lopsided_choices_have_no_interval():
    few = bradley_terry([("A", "B", "a"), ("A", "B", "b")])
    assert few[0].log_strength.reason == "an interval needs at least 10 comparisons; found 2"
    lopsided = bradley_terry([("A", "B", "a")] * 20 + [("A", "B", "b")])[0].log_strength
    assert (lopsided.low, lopsided.reason) == (
        None,
        "without one comparison a system won or lost every comparison",
    )
    assert lopsided.value == pytest.approx(math.log(20) / 2, abs=1e-6)


def test_mistakes_are_named():
    assert bradley_terry([]) == ()
    for wrong in (("A", "A", "a"), ("A", "B", "A")):
        with pytest.raises(UserError, match="expected two systems and a, b or tie"):
            bradley_terry([wrong])


def test_equal_strengths_share_a_rank():
    found = bradley_terry(
        [("A", "C", "a"), ("A", "C", "b"), ("B", "C", "a"), ("B", "C", "b"), ("A", "B", "tie")]
    )
    assert [one.rank for one in found] == [1, 1, 1]
    behind = bradley_terry(
        [("A", "B", "tie"), *[(one, "C", choice) for one in "AB" for choice in "aab"]]
    )
    assert [(one.system, one.rank) for one in behind] == [("A", 1), ("B", 1), ("C", 3)]


@pytest.mark.parametrize("clusters", [None, [i // 2 for i in range(24)]])
def test_ties_alone_do_not_show_that_systems_are_equally_strong(clusters: list[int] | None):
    """Without any one tie the strengths are 0 as well: the jackknife's variance is 0, and an interval of [0, 0] would
    say that 24 ties exclude every difference."""
    for strength in bradley_terry([("A", "B", "tie")] * 24, clusters=clusters):
        assert (strength.log_strength.value, strength.log_strength.ends) == (0.0, None)
        assert "the same without any one" in (strength.log_strength.reason or "")


def test_only_the_system_that_tied_with_all_others_has_no_interval():
    decided = [("A", "B", "a"), ("A", "B", "b"), ("B", "C", "tie"), ("A", "C", "tie")] * 4
    intervals = {one.system: one.log_strength.ends is not None for one in bradley_terry(decided)}
    assert intervals == {"A": True, "B": True, "C": False}
