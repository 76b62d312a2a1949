"""Differences against a margin."""

from collections import Counter

import numpy as np
import pytest
from tests.analysis.compare.runs import run_of
from tests.report.drawn import drawn
from tests.report.runs import EASE, GRADE, RELEVANCE
from tests.there import there

from longmark.analysis.compare import compare, document
from longmark.analysis.compare.margin import Limits, margin_interval, parsed
from longmark.cli import main
from longmark.errors import UserError
from longmark.stats.means import mean_estimate


def run(tmp_path, shift, spread=0.02, metric=RELEVANCE, n=40):
    random = np.random.default_rng(3)
    y = 0.3 + 0.4 * random.random(n)
    return run_of(
        tmp_path / "run",
        {"x": {metric: (y + random.normal(shift, spread, n)).tolist()}, "y": {metric: y.tolist()}},
    )


@pytest.mark.parametrize(
    ("shift", "spread", "margin", "n", "word"),
    [
        (0.0, 0.02, 0.02, 160, "equivalent"),
        (0.1, 0.02, 0.02, 40, "better"),
        (-0.1, 0.02, 0.02, 40, "worse"),
        (-0.01, 0.12, 0.035, 100, "non-inferior"),
        (-0.03, 0.12, 0.035, 100, "non-superior"),
        (0.0, 0.2, 0.02, 40, "undecided"),
        (0.0, 0.02, 0.02, 40, "undecided"),
    ],
)
def test_the_word_follows_from_the_interval_that_is_drawn(tmp_path, shift, spread, margin, n, word):
    found = compare([run(tmp_path, shift, spread, n=n)], margin=margin, draws=500)
    (one,) = found.margins
    low, high = there(one.difference.ends)
    assert one.difference.level == pytest.approx(0.9)
    assert one.conclusion == word
    assert (
        word
        == {
            (True, True): "equivalent",
            (True, False): "better" if low > 0 else "non-inferior",
            (False, True): "worse" if high < 0 else "non-superior",
            (False, False): "undecided",
        }[low > -margin, high < margin]
    )
    section = document(found).sections[2]
    assert (section.title, section.tables[0].rows[0][-2]) == ("Margin", word)
    assert f"dashed lines: -{margin:g} and {margin:g}" in section.figures[0].reading
    assert word in drawn(section.figures)


def test_the_level_counts_the_comparisons_with_a_margin(tmp_path):
    random = np.random.default_rng(3)
    values = {s: {m: random.random(30).tolist() for m in (RELEVANCE, EASE)} for s in "xyz"}
    folder = run_of(tmp_path / "run", values)
    found = compare([folder], margin={RELEVANCE: 0.1}, draws=200)
    assert len(found.margins) == 3
    for one in found.margins:
        differences = np.subtract(values[one.first][RELEVANCE], values[one.second][RELEVANCE])
        alone = mean_estimate(differences.tolist(), bounds=(-1, 1), level=1 - 2 * 0.05 / 3)
        assert one.difference.ends == pytest.approx(there(alone.ends))
    assert len(compare([folder], margin=0.1, draws=200).margins) == 6


def test_without_a_better_direction_nothing_is_inferior(tmp_path):
    (higher,) = compare([run(tmp_path, 0.1, metric=GRADE)], margin=0.02, draws=200).margins
    (open_,) = compare([run(tmp_path, 0.03, 0.12, metric=GRADE)], margin=0.03, draws=200).margins
    assert (higher.conclusion, open_.conclusion) == ("higher", "undecided")


def test_margins_are_read_and_mistakes_are_named(tmp_path, capsys):
    assert parsed([]) is None
    assert parsed([".02"]) == 0.02
    assert parsed(["a=.02", "b=1"]) == {"a": 0.02, "b": 1.0}
    folder = run(tmp_path, 0.0)
    for margin, message in (
        (-1, "above 0"),
        (1, f"1 is not below the range of {RELEVANCE}"),
        ({"other": 0.1}, f"other is not compared; the metrics are {RELEVANCE}"),
    ):
        with pytest.raises(UserError, match=message):
            compare([folder], margin=margin)
    for words, message in (
        (["x"], "expected a number or METRIC"),
        ([".1", "a=.2"], "one number for all metrics"),
    ):
        with pytest.raises(UserError, match=message):
            parsed(words)
    assert main(["compare", str(folder), "--margin", f"{RELEVANCE}=.02", "--draws", "200"]) == 0
    assert "two one-sided tests at alpha 0.05" in capsys.readouterr().out


P_DECIDES = "decided by p"


@pytest.mark.parametrize(
    ("shift", "n", "word", "why"),
    [
        (
            0.0,
            20,
            "undecided",
            "20 questions are too few: at least 29 are needed",
        ),
        (0.3, 6, "better", P_DECIDES),
        (-0.3, 6, "worse", P_DECIDES),
        (0.3, 4, "undecided", "at least 6 are needed"),
    ],
)
def test_equal_differences_are_decided_by_p_and_are_equivalent_only_where_there_are_enough(
    tmp_path, shift, n, word, why
):
    for metric, has in ((RELEVANCE, True), (EASE, False)):
        base = [0.5 + i % 3 / 8 for i in range(n)]
        values = {"x": {metric: [value + shift for value in base]}, "y": {metric: base}}
        found = compare([run_of(tmp_path / metric, values)], margin=0.1, draws=200)
        (one,), pair = found.margins, found.metrics[0].pairs[0]
        assert (one.conclusion, one.difference.ends is not None) == (word, has)
        assert why in (one.reason or "") or (
            not has and "are equal, and the metric has no bounds" in (one.reason or "")
        )
        assert (pair.better is not None) is (n >= 6 and shift != 0)
        if has and word != "undecided":  # the interval says what the word says
            low, high = there(one.difference.ends)
            assert (low >= 0, high <= 0) == (word == "better", word == "worse")


def ties(tmp_path, new, margin=0.05, cluster=None, metric=RELEVANCE):
    """The decision about a new system whose scores these are, where the old one has 1 everywhere."""
    values = {"old": {metric: [1.0] * len(new)}, "new": {metric: list(new)}}
    found = compare(
        [run_of(tmp_path / f"run{len(new)}", values)],
        systems=["new", "old"],
        margin=margin,
        draws=200,
    )
    (one,) = found.margins
    return one


@pytest.mark.parametrize(("n", "word"), [(10, "undecided"), (58, "undecided"), (59, "equivalent")])
def test_ties_are_equivalent_from_as_many_on_as_would_show_a_share_of_lost_questions(
    tmp_path, n, word
):
    # .95^59 = .0485 and .95^58 = .0511: so many ties miss a twentieth of lost questions with a chance below .05, or not
    found = ties(tmp_path, [1.0] * n)
    low, high = there(found.difference.ends)
    assert found.conclusion == word
    assert (low > -0.05 and high < 0.05) == (word == "equivalent")
    assert (-low, high) == pytest.approx((1 - 0.05 ** (1 / n),) * 2, abs=2e-4)
    if word == "undecided":
        assert found.reason == (
            f"{n} questions are too few: at least 59 are needed to exclude that they missed 0.05"
        )


@pytest.mark.parametrize("unlike", [0.999, 0.98, 1 - 1e-7])
def test_nine_ties_and_a_tiny_difference_are_not_equivalent(tmp_path, unlike):
    found = ties(tmp_path, [1.0] * 9 + [unlike])
    assert found.conclusion == "undecided"
    assert "at least 59 are needed" in (found.reason or "")


def test_differences_that_are_nearly_equal_are_like_ties(tmp_path):
    # significantly lower, by far less than the margin; but thirty may have missed a share of lost questions
    found = ties(tmp_path, [1 - 1e-6 * i for i in range(30)])
    assert found.conclusion == "undecided"
    assert ties(tmp_path, [1 - 1e-6 * i for i in range(60)]).conclusion == "equivalent"


def test_some_lost_questions_take_more_ties(tmp_path):
    # Clopper and Pearson's upper bound at 95 % for 1 of n: 1 - .95 = P(at most 1 | n, .05) needs 93 questions
    assert [ties(tmp_path, [0.0, *[1.0] * (n - 1)]).conclusion for n in (92, 93)] == [
        "non-superior",
        "equivalent",
    ]


def test_ties_on_a_metric_without_bounds_decide_nothing(tmp_path):
    for scores in ([1.0] * 80, [1.0] * 79 + [1.001], [1.0] * 74 + [1.01] * 3 + [0.99] * 3):
        found = ties(tmp_path, scores, metric=EASE)
        assert (found.conclusion, found.difference.ends) == ("undecided", None)
        assert "are equal, and the metric has no bounds" in (found.reason or "")
        assert "--bounds METRIC=LOW:HIGH" in (found.reason or "")
    spread = ties(tmp_path, [1 + (i % 9 - 4) / 1000 for i in range(80)], metric=EASE)
    assert spread.conclusion == "equivalent"


def test_ties_in_clusters_count_as_their_clusters():
    def interval(sizes):
        clusters = np.repeat(np.arange(len(sizes)), sizes)
        return there(
            margin_interval(np.zeros(len(clusters)), clusters, Limits(0.05, (-1, 1), 0.9)).ends
        )

    assert interval([4] * 15) == pytest.approx(
        interval([1] * 15), abs=2e-4
    )  # 60 questions that are 15
    assert interval([4] * 59)[1] < 0.05 < interval([4] * 58)[1]
    # of sizes 1, 2, 4 and 16 those that weigh most count: 20 clusters are fewer than 20 of one size
    assert interval([1, 2, 4, 16] * 5)[1] > interval([1] * 20)[1]


@pytest.mark.parametrize("noise", [0.0, 0.01, 0.1])
@pytest.mark.parametrize(("lost", "n"), [(0.1, 10), (0.1, 30), (0.05, 20), (0.05, 60), (0.05, 100)])
def test_a_system_that_loses_the_margin_or_more_is_hardly_ever_equivalent(lost, n, noise):
    chance, runs = np.random.default_rng(n), 400
    shown = 0
    draws = chance.binomial(n, lost, runs).tolist()
    # without noise, runs that lose as many questions are the same run
    counts = Counter(draws).items() if noise == 0 else [(draw, 1) for draw in draws]
    for lost_questions, count in counts:
        rest = np.clip(chance.normal(0, noise, n - lost_questions), -1, 1)
        differences = np.concatenate([np.full(lost_questions, -1.0), rest])
        low, high = there(margin_interval(differences, None, Limits(0.05, (-1, 1), 0.9)).ends)
        shown += count * (low > -0.05 and high < 0.05)
    assert shown / runs <= 0.05 + 2 * (0.05 * 0.95 / runs) ** 0.5


def test_a_gate_that_needs_a_decision_fails_on_ten_ties(tmp_path, capsys):
    values = {system: {RELEVANCE: [1.0] * 10} for system in ("old", "new")}
    folder = str(run_of(tmp_path / "run", values))
    options = ["--systems", "old,new", "--margin", ".05", "--fail-if-worse", "--draws", "200"]
    assert main(["compare", folder, *options, "--require-decision"]) == 3
    assert "at least 59 are needed to exclude that they missed 0.05" in capsys.readouterr().out
    assert main(["compare", folder, *options]) == 0
    assert "met: " in capsys.readouterr().out
