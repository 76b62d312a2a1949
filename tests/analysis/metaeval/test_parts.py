"""What the sections of ratings and of choices share."""

from tests.analysis.compare.runs import run_of
from tests.report.drawn import drawn
from tests.report.runs import CORRECTNESS, RELEVANCE

from longmark.analysis.grid import Compared
from longmark.analysis.metaeval import metaeval
from longmark.analysis.metaeval.label_sections import differences
from longmark.analysis.metaeval.ratings import RatingLabel
from longmark.analysis.metaeval.sections import sections
from longmark.report.tables import as_text
from longmark.stats.results import Difference

PAIRS = [
    Compared("x", "y", Difference(0.1, -0.1, 0.3, 9, p=0.2), 0.4),
    Compared("x", "z", Difference(0.4, 0.3, 0.5, 9, p=0.0002), 0.0004),
    Compared("y", "z", Difference(None, None, None, 0, reason="only one label is left")),
]


def test_pairs_of_metrics_have_a_p_or_a_reason_and_never_a_p_of_zero():
    table, figure = differences("differences", "Differences", PAIRS, "", 0.05)
    assert [row[-1] for row in table.rows] == [False, True, None]
    assert as_text(table).splitlines()[-1].endswith("only one label is left")
    shown = drawn([figure])
    assert all(text in shown for text in ("p = 0.400", "p &lt; 0.001", "only one label is left"))
    assert "p = 0.000" not in shown


def test_an_axis_says_that_lower_is_better(tmp_path):
    values = [0.1 * i for i in range(9)]
    run = run_of(
        tmp_path / "run", {"s": {RELEVANCE: values, CORRECTNESS: [1 - value for value in values]}}
    )
    human = [{"example_id": f"s-{i}", "value": [1, 2, 2, 3, 3, 5, 4, 5, 4][i]} for i in range(9)]
    found = metaeval(run, human, lower=[CORRECTNESS])
    (section,) = [one for one in sections(found) if one.title == "Correlation with human ratings"]
    assert "Answer correctness (lower is better)" in drawn(section.figures)
    assert "mean human rating: rating" in drawn(section.figures)
    (part,) = found.labels
    assert isinstance(part, RatingLabel)
    assert part.differences[0].first == RELEVANCE  # as given: the two differ by rounding at most
