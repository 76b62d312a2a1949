"""Differences against a margin."""

import numpy as np
import pytest
from tests.analysis.compare.runs import run_of
from tests.report.drawn import drawn
from tests.report.runs import EASE, GRADE, RELEVANCE
from tests.there import there

from longmark.analysis.compare import compare, document
from longmark.analysis.compare.margin import parsed
from longmark.cli import main
from longmark.errors import UserError
from longmark.stats.means import mean_estimate


def run(tmp_path, shift, spread=0.02, metric=RELEVANCE, n=40):
    random = np.random.default_rng(3)
    y = 0.3 + 0.4 * random.random(n)
    return run_of(
        tmp_path / "run", {"x": {metric: (y + random.normal(shift, spread, n)).tolist()}, "y": {metric: y.tolist()}}
    )


@pytest.mark.parametrize(
    ("shift", "spread", "margin", "word"),
    [
        (0.0, 0.02, 0.02, "equivalent"),
        (0.1, 0.02, 0.02, "better"),
        (-0.1, 0.02, 0.02, "worse"),
        (0.03, 0.12, 0.03, "non-inferior"),
        (-0.01, 0.12, 0.035, "non-superior"),
        (0.0, 0.2, 0.02, "undecided"),
    ],
)
def test_the_word_follows_from_the_interval_that_is_drawn(tmp_path, shift, spread, margin, word):
    found = compare([run(tmp_path, shift, spread)], margin=margin, draws=500)
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
    for words, message in ((["x"], "expected a number or METRIC"), ([".1", "a=.2"], "one number for all metrics")):
        with pytest.raises(UserError, match=message):
            parsed(words)
    assert main(["compare", str(folder), "--margin", f"{RELEVANCE}=.02", "--draws", "200"]) == 0
    assert "two one-sided tests at alpha 0.05" in capsys.readouterr().out


P_DECIDES, BY_VALUE = (f"all differences are equal: decided by {what}" for what in ("p", "their value"))


@pytest.mark.parametrize(
    ("shift", "n", "word", "why"),
    [
        (0.0, 20, "equivalent", BY_VALUE),
        (0.05, 20, "equivalent", BY_VALUE),
        (0.3, 6, "better", P_DECIDES),
        (-0.3, 6, "worse", P_DECIDES),
        (0.3, 4, "undecided", "at least 6 are needed"),
        (0.0, 4, "undecided", "at least 6 are needed"),
    ],
)
def test_equal_differences_are_decided_by_their_value_with_and_without_bounds(tmp_path, shift, n, word, why):
    for metric, has in ((RELEVANCE, True), (EASE, False)):
        base = [0.5 + i % 3 / 8 for i in range(n)]
        values = {"x": {metric: [value + shift for value in base]}, "y": {metric: base}}
        found = compare([run_of(tmp_path / metric, values)], margin=0.1, draws=200)
        (one,), pair = found.margins, found.metrics[0].pairs[0]
        assert (one.conclusion, one.difference.ends is not None) == (word, has)
        assert why in (one.reason or "")
        assert (pair.better is not None) is (n >= 6 and shift != 0)
