"""What the sections of ratings and of choices share."""

from tests.analysis.compare.runs import run_of
from tests.report.drawn import drawn
from tests.report.runs import CORRECTNESS, RELEVANCE

from longmark.analysis.metaeval import metaeval
from longmark.analysis.metaeval.parts import (
    InGroup,
    PairOfMetrics,
    columns_named,
    differences_figure,
    fewest,
    significant_pairs,
)
from longmark.analysis.metaeval.result import RatingLabel
from longmark.analysis.metaeval.sections import sections

PAIRS = [
    PairOfMetrics("x", "y", 0.1, -0.1, 0.3, 0.4, None),
    PairOfMetrics("x", "z", 0.4, 0.3, 0.5, 0.0004, None),
    PairOfMetrics("y", "z", None, None, None, None, "people agree on nothing"),
]


def test_pairs_of_metrics_are_counted_and_the_clearest_is_named():
    assert significant_pairs(PAIRS, 0.05, "accuracy") == (
        "1 of 2 pairs of metrics differ significantly in accuracy (alpha 0.05, Holm); smallest p: x over z."
    )
    assert significant_pairs(PAIRS[:1], 0.05, "accuracy").startswith(
        "No significant difference in accuracy between metrics"
    )
    assert significant_pairs(PAIRS[2:], 0.05, "accuracy") == "No pair of metrics could be tested for accuracy."


def test_the_figure_has_a_p_or_a_reason_and_never_a_p_of_zero():
    shown = drawn([differences_figure(PAIRS, "Difference")])
    assert all(text in shown for text in ("p = 0.400", "p &lt; 0.001", "people agree on nothing"))
    assert "p = 0.000" not in shown


def test_the_smallest_group_is_told():
    groups = [InGroup("subject", "sea", "m", 0.2, 30), InGroup("mode", "dry", "m", 0.4, 1)]
    assert fewest(groups, "pair") == "The smallest group has 1 pair: read the intervals."
    assert columns_named(groups) == "subject and mode"
    without = [InGroup("subject", "sea", "k", None, 0), InGroup("mode", "dry", "k", None, 0)]
    assert fewest(without, "pair") == "No group has an estimate."
    assert fewest([*groups, *without], "pair") == fewest(groups, "pair")
    gap = InGroup("mode", "wet", "m", None, 0)
    assert fewest([*groups, gap], "pair") == "The smallest group has 0 pairs: read the intervals."


def test_what_is_shown_alike_is_told_and_the_axis_says_that_lower_is_better(tmp_path):
    values = [0.1 * i for i in range(9)]
    run = run_of(tmp_path / "run", {"s": {RELEVANCE: values, CORRECTNESS: [1 - value for value in values]}})
    human = [{"example_id": f"s-{i}", "value": [1, 2, 2, 3, 3, 5, 4, 5, 4][i]} for i in range(9)]
    found = metaeval(run, human, lower=[CORRECTNESS])
    (section,) = [one for one in sections(found) if one.title == "Correlation with human ratings"]
    assert f"{CORRECTNESS} has the same to these digits." in section.says
    assert f"{CORRECTNESS} (lower is better)" in drawn(section.figures)
    (part,) = found.labels
    assert isinstance(part, RatingLabel)
    assert part.differences[0].first == RELEVANCE  # as given: the two differ by rounding at most
