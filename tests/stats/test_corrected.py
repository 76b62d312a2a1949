"""Means and differences that labels correct: a case worked by hand, what is refused, and that intervals hold."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from longmark.errors import UserError
from longmark.stats.corrected import (
    LabelledScores,
    bias_of,
    calibrated,
    isotonic,
    transport,
)
from longmark.stats.corrected import corrected as _corrected
from longmark.stats.corrected_moments import UNSEEN
from longmark.stats.ppi import ppi_mean
from longmark.stats.student import t_quantile, two_sided
from longmark.stats.transport import FAIL, NOT_CHECKED, PASS

NAN = math.nan


def corrected(table: LabelledScores, sides: dict[int, float], **more: Any) -> Any:
    return _corrected(table, sides, **more)


def column(*values: float) -> Any:
    return np.array([values], dtype=float).T


def drawn(
    chance: np.random.Generator, questions: int = 400, labelled: int = 50, bias: float = 0.5
) -> LabelledScores:
    """Two systems, true means 0 and .3; a judge that follows the truth and favours the second by `bias`."""
    truth = (
        0.6 * chance.normal(size=(questions, 1))
        + 0.8 * chance.normal(size=(questions, 2))
        + [0, 0.3]
    )
    scores = 0.8 * truth + 0.6 * chance.normal(size=(questions, 2)) + [0, bias]
    labels = np.full_like(truth, NAN)
    for system in range(2):
        chosen = chance.permutation(questions)[:labelled]
        labels[chosen, system] = truth[chosen, system]
    return LabelledScores(scores, labels)


def test_a_case_by_hand():
    scores = column(*range(20))
    labels = column(*(place / 2 + (place % 2) if place < 10 else NAN for place in range(20)))
    found = corrected(LabelledScores(scores, labels), {0: 1.0}, weight=0.5)
    # mean of the labels 2.25 + 0.5 = 2.75; scores of all 9.5, of the labelled 4.5
    assert found.value == pytest.approx(2.75 + 0.5 * (9.5 - 4.5))
    # what is left of each label is its parity - .5, in size .5: its variance, 10 / 9 for ten clusters, is shared with
    # what each answer adds through the score: m - mean = (score - 9.5) / 2 over 20
    labelled = [
        math.sqrt(10 / 9) * (place % 2 - 0.5) / 10 if place < 10 else 0.0 for place in range(20)
    ]
    adds = [(place - 9.5) / 40 + labelled[place] for place in range(20)]
    half = t_quantile(0.95, 9) * math.sqrt(math.fsum(one * one for one in adds))
    assert found.low == pytest.approx(found.value - half)
    # no label lies in the upper half of what is left to the greatest one, 5: an unseen one there counts in full
    assert found.high > found.value + half
    assert found.method == UNSEEN
    assert (found.raw, found.labelled, found.n, found.weight) == (9.5, 10, 20, 0.5)
    assert found.people is not None
    assert found.people.value == 2.75


def test_with_nothing_to_learn_from_the_scores_it_is_the_labels_mean():
    table = drawn(np.random.default_rng(0))
    flat = replace(table, scores=np.ones_like(table.scores))
    found = corrected(flat, {0: 1.0})
    assert found.weight == 0
    assert found.people is not None
    assert (found.value, found.worth) == (found.people.value, pytest.approx(50))
    assert np.nanmean(table.labels[:, 0]) == pytest.approx(found.value)


def test_it_agrees_with_the_mean_of_one_sample():
    table = drawn(np.random.default_rng(1), labelled=100)
    one: Any = ppi_mean(table.labels[:, 0].tolist(), table.scores[:, 0].tolist())
    other = corrected(table, {0: 1.0})
    assert other.value == pytest.approx(one.value, abs=0.02)
    assert 1 <= (other.high - other.low) / (one.high - one.low) < 1.25, (
        "labels that were missed are counted here only"
    )


@pytest.mark.parametrize("calibrate", [False, True])
@pytest.mark.parametrize("labelled", [20, 50])
def test_the_judges_bias_is_removed_and_intervals_hold(calibrate: bool, labelled: int):
    chance, runs, held, wide = np.random.default_rng(7), 120, 0, 0.0
    for _ in range(runs):
        table = drawn(chance, 200, labelled)
        found = corrected(calibrated(table) if calibrate else table, {1: 1.0, 0: -1.0})
        if found.ends is not None:
            held += found.ends[0] <= 0.3 <= found.ends[1]
            wide += found.worth / found.labelled
    assert held / runs >= 0.89, "3 standard errors below .95"
    assert wide / runs > 1.3


def test_weights_and_strata_undo_how_answers_were_chosen():
    chance = np.random.default_rng(3)
    truth = chance.normal(size=(20_000, 1)) + 1
    chances = np.where(truth > 1, 0.3, 0.1)
    table = LabelledScores(
        truth + chance.normal(size=truth.shape),
        np.where(chance.random(truth.shape) < chances, truth, NAN),
    )
    refused = corrected(table, {0: 1.0})
    assert "higher scores than all of them" in str(refused.reason), "as if it were a random sample"
    weighted = corrected(replace(table, weights=1 / chances), {0: 1.0})
    stratified = corrected(replace(table, strata=(truth[:, 0] > 1).astype(int)), {0: 1.0})
    for found in (weighted, stratified):
        assert found.ends is not None
        assert found.ends[0] < 1 < found.ends[1]
    assert stratified.high - stratified.low < weighted.high - weighted.low


def test_clusters_widen_the_interval():
    table = drawn(np.random.default_rng(4), 200, 100)
    twice = LabelledScores(np.repeat(table.scores, 4, axis=0), np.repeat(table.labels, 4, axis=0))
    alone, together = (
        corrected(one, {0: 1.0})
        for one in (twice, replace(twice, clusters=np.repeat(np.arange(200), 4)))
    )
    assert (together.high - together.low) / (alone.high - alone.low) == pytest.approx(2.1, abs=0.25)
    assert (together.clusters, alone.clusters) == (100, None)


def test_labels_of_0_and_1_stay_between_them():
    chance = np.random.default_rng(5)
    labels = np.full((100, 1), NAN)
    labels[:20, 0] = [1] * 19 + [0]
    found = corrected(LabelledScores(chance.random((100, 1)), labels), {0: 1.0}, weight=0)
    assert 0.7 < found.low < 0.95 < found.high <= 1


def rated(table: LabelledScores, shifts: Any) -> LabelledScores:
    """With the labels of raters: those of the table, moved by (rater, system)."""
    of_raters = [table.labels + np.array(shift) for shift in shifts]
    return replace(table, labels=np.mean(of_raters, axis=0), rater_labels=of_raters)


def test_a_raters_severity_cancels_in_a_difference_and_widens_a_mean():
    table = drawn(np.random.default_rng(6))
    strict = rated(table, [(0.5, 0.5), (-0.5, -0.5)])
    mean, difference = (corrected(strict, sides) for sides in ({0: 1.0}, {0: 1.0, 1: -1.0}))
    plain = [corrected(table, sides) for sides in ({0: 1.0}, {0: 1.0, 1: -1.0})]
    assert mean.rater_variance == pytest.approx(0.25), (
        "of two raters, 1 apart: 1 / 2 of the variance 1 / 2"
    )
    assert mean.high - mean.low > 2 * (plain[0].high - plain[0].low)
    assert difference.rater_variance == pytest.approx(0, abs=1e-12)
    assert difference.high - difference.low == pytest.approx(plain[1].high - plain[1].low)


def test_raters_who_contradict_each_other_about_the_systems_show_nothing():
    table = drawn(np.random.default_rng(6))
    difference = {1: 1.0, 0: -1.0}
    agreed = corrected(rated(table, [(0.0, 1.0), (0.0, 1.0)]), difference)
    assert agreed.low > 0
    split = corrected(rated(table, [(0.0, 1.8), (0.0, 0.2)]), difference)
    assert split.value == pytest.approx(agreed.value)
    assert split.rater_variance == pytest.approx(0.8**2), (
        "d = 1.8 and .2 more: (1.6 / 2)^2 with two raters"
    )
    assert split.low < 0 < split.high
    assert split.raters == 2


def test_nothing_is_known_of_raters_who_have_no_two_answers_in_common():
    table = drawn(np.random.default_rng(6))
    half = np.arange(400)[:, None] % 2 == np.zeros(2)
    alone = replace(
        table, rater_labels=[np.where(half, table.labels, NAN), np.where(half, NAN, table.labels)]
    )
    found = corrected(alone, {0: 1.0})
    assert found.rater_variance is None
    assert found.raters == pytest.approx(2, abs=0.1)


def unscored(table: LabelledScores, missing: Any) -> LabelledScores:
    """The same without the scores of some answers."""
    return replace(
        table,
        scores=np.where(missing, NAN, table.scores),
        unscored=missing.astype(float),
        bounds=(-8.0, 8.0),
    )


def test_labels_of_answers_without_a_score_count():
    chance = np.random.default_rng(1)
    truth = np.column_stack([chance.normal(0, 1, 100), chance.normal(0.3, 1, 100)])
    worst = np.zeros((100, 2), dtype=bool)
    worst[np.argsort(truth[:, 0])[:25], 0] = True
    table = unscored(LabelledScores(truth + chance.normal(0, 0.3, truth.shape), truth), worst)
    for used in (table, calibrated(table)):
        found = corrected(used, {0: 1.0, 1: -1.0})
        assert found.value == pytest.approx(float(truth[:, 0].mean() - truth[:, 1].mean()))
        assert found.value < 0, "without the worst 25 of the first it would be above 0"
        assert found.unknown == 0
        assert found.labelled == 200


def test_answers_with_neither_a_score_nor_a_label_may_have_any_label_of_the_scale():
    chance = np.random.default_rng(2)
    labels = chance.choice([2.0, 3.0, 4.0], (200, 1))
    missing = np.zeros((200, 1), dtype=bool)
    missing[:20] = True
    table = LabelledScores(
        labels + chance.normal(0, 0.1, labels.shape), np.where(missing, NAN, labels)
    )
    table = replace(unscored(table, missing), bounds=(1.0, 5.0))
    found, known = corrected(table, {0: 1.0}), corrected(replace(table, unscored=None), {0: 1.0})
    assert found.unknown == pytest.approx(0.1)
    assert found.low == pytest.approx(0.9 * known.low + 0.1 * 1, abs=0.01)
    assert found.high == pytest.approx(0.9 * known.high + 0.1 * 5, abs=0.01)
    assert "10 % of a system's answers have neither a score nor a label" in found.remark
    assert "scale are not known" in (corrected(replace(table, bounds=None), {0: 1.0}).reason or "")


def test_unscored_answers_that_were_chosen_for_labelling_by_more_than_chance_are_a_stratum():
    chance = np.random.default_rng(3)
    labels = np.where(np.arange(400) < 40, 1.0, 4.0)[:, None] + chance.normal(0, 0.1, (400, 1))
    missing = (np.arange(400) < 40)[:, None]
    chosen = missing | (chance.random((400, 1)) < 0.2)
    found = corrected(
        unscored(LabelledScores(labels, np.where(chosen, labels, NAN)), missing), {0: 1.0}
    )
    assert found.value == pytest.approx(0.1 * 1 + 0.9 * 4, abs=0.05), (
        "40 of 400, though 40 of about 110 labels"
    )


def test_equal_labels_of_both_systems_have_clopper_and_pearsons_limits():
    labels = np.column_stack([np.ones(60), np.zeros(60)])
    flat = LabelledScores(np.random.default_rng(0).random((60, 2)), labels, bounds=(0.0, 1.0))
    mean = corrected(flat, {0: 1.0})
    assert mean.low == pytest.approx(0.025 ** (1 / 60), abs=0.001), (
        "Clopper and Pearson's for 60 of 60"
    )
    assert mean.high == 1
    difference = corrected(flat, {0: 1.0, 1: -1.0})
    assert 1 - 2 * (1 - 0.025 ** (1 / 60)) < difference.low < mean.low
    assert difference.p < 1e-6


def test_a_scale_without_known_ends_is_asked_for_where_nearly_all_labels_are_equal():
    labels = np.where(np.arange(60) < 55, 5.0, 4.0)[:, None]
    table = LabelledScores(np.random.default_rng(0).random((60, 1)), labels)
    found = corrected(table, {0: 1.0})
    assert found.low is None
    assert found.reason == "55 of 60 labels are 5, and the ends of the labels' scale are not known"
    known = corrected(replace(table, bounds=(1.0, 5.0)), {0: 1.0})
    assert known.low < 4.75 < 55 / 60 * 5 + 5 / 60 * 4 <= known.high <= 5


def test_rare_failures_do_not_show_a_difference_that_is_not_there():
    """The first system fails (1) in 2 % of its answers, the second has the same mean without failures."""
    chance, wrong, runs = np.random.default_rng(5), 0, 150
    for _ in range(runs):
        first = np.where(chance.random(400) < 0.02, 1.0, 5.0)
        second = 4 + (chance.random(400) < 0.92)
        truth = np.column_stack([first, second])
        labels = np.full(truth.shape, NAN)
        chosen = chance.choice(400, 50, replace=False)
        labels[chosen] = truth[chosen]
        scores = chance.random(truth.shape)
        found = corrected(LabelledScores(scores, labels, bounds=(1.0, 5.0)), {0: 1.0, 1: -1.0})
        wrong += found.low is not None and found.low > 0
    assert wrong / runs <= 0.025 + 2 * math.sqrt(0.025 * 0.975 / runs), "it was .2"


def test_the_bias_of_a_fair_judge_is_0():
    chance, wrong, runs = np.random.default_rng(4), 0, 100
    for _ in range(runs):
        table = drawn(chance, 200, 60, 0.0)
        fair = replace(table, scores=np.where(np.isnan(table.labels), table.scores, table.labels))
        noise = chance.normal(0, 0.7, fair.scores.shape)
        fair = replace(fair, scores=fair.labels + noise, labels=fair.labels)
        bias = bias_of(fair, {1: 1.0, 0: -1.0}, weight=0)
        assert bias.ends is not None
        wrong += not bias.ends[0] <= 0 <= bias.ends[1]
    assert wrong / runs <= 0.05 + 2 * math.sqrt(0.05 * 0.95 / runs)


def test_isotonic_regression_pools_what_falls():
    fit = isotonic(np.array([1.0, 2, 2, 3]), np.array([1.0, 4, 2, 2]), np.array([1.0, 1, 1, 2]))
    # 3 (mass 2) falls to 2 (mass 2): both are 2.5
    assert fit(np.array([0.0, 1, 1.5, 2, 3, 9])).tolist() == [1, 1, 1.75, 2.5, 2.5, 2.5]


def test_a_labels_own_score_is_calibrated_without_it():
    table = drawn(np.random.default_rng(9))
    place = tuple(np.argwhere(table.both)[0])
    changed = table.labels.copy()
    changed[place] = 50.0
    before, after = calibrated(table).scores, calibrated(replace(table, labels=changed)).scores
    assert before[place] == after[place]
    assert not np.allclose(before, after)
    assert calibrated(table, 1).scores[place] != before[place]


@pytest.mark.parametrize(
    ("bias", "verdict"),
    [(0.0, PASS), (3.0, FAIL)],
    ids=["the judge is alike to all", "it favours one system"],
)
def test_a_system_that_the_judge_favours_needs_labels_of_its_own(bias: float, verdict: str):
    table = drawn(np.random.default_rng(10), 3000, 800, bias)
    found = transport(table, 1, 0.25)
    assert found.verdict == verdict
    few = replace(table, labels=np.where(np.arange(3000)[:, None] < 9, table.labels, NAN))
    assert transport(few, 1, 0.25).verdict == NOT_CHECKED
    with pytest.raises(UserError, match="margin"):
        transport(table, 1, 0)


def changed(**more: Any) -> LabelledScores:
    return replace(drawn(np.random.default_rng(11)), **more)


@pytest.mark.parametrize(
    ("table", "reason"),
    [
        (
            changed(labels=np.full((400, 2), NAN)),
            "needs at least 10 answers with a label and a score; found 0",
        ),
        (changed(scores=np.full((400, 2), NAN)), "at least 10 answers"),
        (
            changed(labels=np.where(np.isnan(changed().labels), NAN, 3.0)),
            "50 of 50 labels are 3, and the ends of the labels' scale are not known",
        ),
        (changed(clusters=np.zeros(400, dtype=int)), "belong to one cluster"),
        (changed(clusters=np.arange(400) % 4), "3.4 effective clusters are too few"),
        (
            changed(strata=np.arange(400)),
            "stratum 0 has answers, but fewer than two clusters of them have a label",
        ),
        (
            changed(scores=np.where(np.isnan(drawn(np.random.default_rng(11)).labels), 99.0, 0.0)),
            "no random sample",
        ),
    ],
)
def test_what_cannot_be_corrected_says_why(table: LabelledScores, reason: str):
    found = corrected(table, {0: 1.0})
    assert found.ends is None
    assert reason in (found.reason or "")


def test_few_labels_are_remarked_on():
    assert "20 labels are few" in (
        corrected(drawn(np.random.default_rng(12), labelled=20), {0: 1.0}).remark or ""
    )
    assert corrected(drawn(np.random.default_rng(12), labelled=50), {0: 1.0}).remark is None


@pytest.mark.parametrize(
    ("more", "message"),
    [
        ({"weights": np.zeros((400, 2))}, "above 0"),
        ({"labels": np.zeros((3, 2))}, r"labels: expected the shape \(400, 2\)"),
    ],
)
def test_what_is_wrong_is_an_error(more: dict[str, Any], message: str):
    with pytest.raises(UserError, match=message):
        corrected(changed(**more), {0: 1.0})
    with pytest.raises(UserError, match="between 0 and 1"):
        corrected(changed(), {0: 1.0}, weight=2)


def test_a_p_of_students_t():
    assert two_sided(t_quantile(0.95, 7), 7) == pytest.approx(0.05)
    assert (two_sided(0, 7), two_sided(math.inf, 7)) == (1, 0)


# A sample that is none ------------------------------------------------------------------------------------------------


def selected(seed: int, share: float) -> LabelledScores:
    """Two equal systems. 60 labels of the questions on which the scores favour the first most, of so large a share of
    all; four of them are those of the lowest and highest scores, so that no score is outside the labelled range."""
    chance = np.random.default_rng(seed)
    quality = 0.7 * chance.normal(size=(200, 1)) + 0.7 * chance.normal(size=(200, 2))
    scores = quality + 0.7 * chance.normal(size=quality.shape)
    first = np.argsort(scores[:, 1] - scores[:, 0])[: round(200 * share)]
    extremes = np.concatenate([scores.argmin(axis=0), scores.argmax(axis=0)])
    chosen = np.union1d(chance.permutation(first)[:56], extremes)
    labels = np.full_like(scores, np.nan)
    labels[chosen] = np.clip(np.round(3 + quality + 0.4 * chance.normal(size=quality.shape)), 1, 5)[
        chosen
    ]
    return LabelledScores(scores, labels, bounds=(1.0, 5.0))


def test_labels_of_the_answers_that_scores_favour_correct_nothing():
    """Of these samples 11 of 40 showed the first system above the second (nominal: 1)."""
    for seed in range(40):
        found = corrected(calibrated(selected(seed, 0.4)), {0: 1.0, 1: -1.0})
        assert found.low is None
        assert "no random sample" in str(found.reason)


@pytest.mark.parametrize("kind", ["clusters", "skewed", "rare", "unequal chances"])
def test_an_honest_sample_is_refused_hardly_ever(kind: str):
    """A sample of ten whole clusters was refused in 2 to 5 of 100, since its answers counted as so many draws."""
    refused = 0
    for seed in range(200):
        chance = np.random.default_rng(seed)
        documents = np.repeat(np.arange(40), 10) if kind == "clusters" else None
        scores = np.exp(chance.normal(size=(400, 2)))
        if documents is not None:
            scores *= np.exp(chance.normal(size=(40, 2)))[documents]
        if kind == "rare":
            scores = (chance.random((400, 2)) > 0.03).astype(float)
        sizes = 25 ** chance.random(400) if kind == "unequal chances" else np.ones(400)
        probability = np.minimum(1.0, 60 * sizes / sizes.sum())
        drawn = chance.random(400) < probability
        if documents is not None:
            drawn = np.isin(documents, chance.permutation(40)[:10])
        labels = np.where(drawn[:, None], chance.integers(1, 6, size=(400, 2)), np.nan)
        weights = (
            np.repeat(1 / probability[:, None], 2, axis=1) if kind == "unequal chances" else None
        )
        table = LabelledScores(scores, labels, weights, clusters=documents, bounds=(1.0, 5.0))
        refused += "no random sample" in str(corrected(table, {0: 1.0, 1: -1.0}).reason)
    assert refused <= 1


@pytest.mark.parametrize("unit", [1e-50, 1e-14, 1e59])
def test_the_unit_of_labels_changes_nothing(unit: float):
    """What a question adds was taken for nothing below 1e-12, so that small units had no spread."""
    table = drawn(np.random.default_rng(4))
    found = corrected(
        replace(table, scores=table.scores * unit, labels=table.labels * unit), {0: 1.0}
    )
    usual = corrected(table, {0: 1.0})
    assert found.value == pytest.approx(usual.value * unit)
    assert found.low == pytest.approx(usual.low * unit)
