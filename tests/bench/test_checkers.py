"""The figures of the checkers' bench against scikit-learn and by hand; the training on planted data; the split."""

from __future__ import annotations

import pytest

np = pytest.importorskip("numpy")
metrics = pytest.importorskip("sklearn.metrics")

from bench.checkers import figures  # noqa: E402
from bench.checkers.data import DATA, FILES, SETS, MarkedClaim, claims, in_test  # noqa: E402
from bench.checkers.train import fit, folds, held_out, mark_of_characters, set_weights  # noqa: E402


def test_auc_and_average_precision_are_those_of_scikit_learn_ties_and_weights_too() -> None:
    random = np.random.default_rng(0)
    scores, labels = random.integers(0, 12, 80) / 10, random.integers(0, 2, 80).astype(float)
    weights = random.integers(0, 4, (3, 80)).astype(float)
    for own, value, found in zip(
        weights,
        figures.auc(scores, labels, weights),
        figures.average_precision(scores, labels, weights),
        strict=True,
    ):
        assert value == pytest.approx(metrics.roc_auc_score(labels, scores, sample_weight=own))
        assert found == pytest.approx(
            metrics.average_precision_score(1 - labels, -scores, sample_weight=own)
        )


def test_figures_by_hand() -> None:
    scores, labels, weights = (
        np.array([0.1, 0.4, 0.4, 0.8]),
        np.array([0.0, 0, 1, 1]),
        np.ones((1, 4)),
    )
    assert figures.auc(scores, labels, weights)[0] == 3.5 / 4  # one of four pairs is a tie
    assert figures.average_precision(scores, labels, weights)[0] == pytest.approx(
        0.5 * 1 + 0.5 * 2 / 3
    )
    assert figures.brier(scores, labels, weights)[0] == pytest.approx(
        (0.01 + 0.16 + 0.36 + 0.04) / 4
    )
    bins = figures.reliability(scores, labels)
    assert figures.calibration_error(bins) == pytest.approx((0.1 + 0.4 + 0.6 + 0.2) / 4)


def test_rows_of_one_label_have_no_auc() -> None:
    found = figures.estimate(figures.auc, np.array([0.1, 0.2, 0.3]), np.ones(3), ["a", "b", "c"])
    assert (found.value, found.low) == (None, None)
    assert found.reason


def test_a_checker_less_itself_is_no_difference() -> None:
    random = np.random.default_rng(1)
    scores, labels = random.random(60), random.integers(0, 2, 60).astype(float)
    found = figures.estimate(
        figures.auc, scores, labels, [str(index // 3) for index in range(60)], scores
    )
    assert (found.value, found.clusters) == (0.0, 20)


def test_training_finds_what_is_planted_and_nothing_in_shuffled_labels() -> None:
    random = np.random.default_rng(2)
    features = random.normal(size=(600, 8)).astype(np.float32)
    labels = (features[:, 0] + random.normal(size=600) > 0).astype(int)
    groups = [str(index // 4) for index in range(600)]
    weights = set_weights(["a"] * 200 + ["b"] * 400)
    assert weights.mean() == pytest.approx(1)
    assert weights[:200].sum() == pytest.approx(weights[200:].sum())
    found = held_out(features, labels, groups, 0.1, weights)
    assert metrics.roc_auc_score(labels, found) > 0.75
    shuffled = random.permutation(labels)
    assert (
        abs(
            metrics.roc_auc_score(shuffled, held_out(features, shuffled, groups, 0.1, weights))
            - 0.5
        )
        < 0.1
    )


def test_a_constant_feature_is_no_error() -> None:
    features = np.c_[np.ones(20), np.arange(20)].astype(np.float32)
    model = fit(features, (np.arange(20) > 9).astype(int), 1.0)
    assert np.isfinite(model.log_odds(features)).all()


def test_a_group_is_in_one_fold_and_in_one_part() -> None:
    groups = [str(index % 7) for index in range(50)]
    assert len(set(zip(groups, folds(groups).tolist(), strict=True))) == 7
    assert in_test("wice", "Some Title") == in_test("wice", "SOME title")


def test_tokens_mark_the_characters_that_they_stand_on() -> None:
    claim = MarkedClaim(
        "1",
        "g",
        "Ex-pats left.",
        ("Ex", "-", "pats", "left", "."),
        (False, False, True, True, False),
        (),
        (),
    )
    marks = mark_of_characters(claim)
    assert marks == [False] * 3 + [True] * 4 + [None] + [True] * 4 + [False]


@pytest.mark.skipif(
    not (DATA / FILES["wice"]).exists(), reason="no shared/data beside the repository"
)
def test_both_parts_of_each_set_hold_both_labels() -> None:
    for name in SETS:
        rows = claims(name)
        assert {(row.test, row.supported) for row in rows} == {
            (a, b) for a in (True, False) for b in (True, False)
        }
        assert all(row.claim and row.evidence for row in rows)
