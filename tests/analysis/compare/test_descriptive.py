"""A metric that only describes answers decides nothing beside one that says how good they are."""

from pathlib import Path
from typing import Any

from tests.report.runs import RELEVANCE, manifest, row, write_run

from longmark.analysis.compare import compare
from longmark.analysis.compare.page import conclusion
from longmark.analysis.compare.verdict import verdict
from longmark.report.filters import FilteredAnswer, filters_of
from longmark.scores.manifest import MetricFacts, without_descriptive

LENGTH = "classic.length.words"
DECLARED: dict[str, Any] = {
    RELEVANCE: {"bounds": [0, 1], "higher_is_better": True},
    LENGTH: {"bounds": [0, None], "higher_is_better": True, "descriptive": "longer"},
}


def run(folder: Path, relevance: float, words: float, *metrics: str) -> Path:
    """Twelve answers with scores about these."""
    scores = {RELEVANCE: relevance, LENGTH: words}
    rows = [
        row(f"e{i}", metric, scores[metric] * (1 + i / 1000), question_id=f"q{i}", system=None)
        for i in range(12)
        for metric in metrics or DECLARED
    ]
    return write_run(folder, [], rows, {**manifest(None), "metrics": DECLARED})


def test_a_longer_system_is_longer_and_the_verdict_is_about_the_other_metric(tmp_path: Path):
    runs = [run(tmp_path / "v18", 0.5, 100), run(tmp_path / "v19", 0.4, 200)]
    comparison = compare(runs, draws=999)
    assert verdict(comparison).startswith("v18 is better on Question relevance (v18 - v19: +0.1")
    assert "Length" not in verdict(comparison)
    conclusions = {result.metric: conclusion(result) for result in comparison.metrics}
    assert conclusions == {RELEVANCE: "v18 is better", LENGTH: "v19 is longer"}
    assert comparison.metric(LENGTH).direction == "descriptive"


def test_alone_it_is_compared_as_the_baseline_that_it_is_and_called_longer(tmp_path: Path):
    runs = [run(tmp_path / "v18", 0.5, 100, LENGTH), run(tmp_path / "v19", 0.4, 200, LENGTH)]
    comparison = compare(runs, draws=999)
    assert verdict(comparison).startswith("v19 is longer on Length: words (v18 - v19: -100")
    assert comparison.metric(LENGTH).direction == "higher is better"


def test_a_direction_that_is_given_makes_it_decide(tmp_path: Path):
    runs = [run(tmp_path / "v18", 0.5, 100), run(tmp_path / "v19", 0.5, 200)]
    comparison = compare(runs, draws=999, lower=[LENGTH])
    assert "v18 is better on Length: words" in verdict(comparison)


def test_no_answer_is_worse_for_being_shorter():
    facts = without_descriptive(
        {
            "good": MetricFacts(lo=0, hi=1, higher_is_better=True),
            "length": MetricFacts(lo=0, higher_is_better=True, descriptive="longer"),
        }
    )
    assert facts["length"].higher_is_better is None
    scores = ({"good": 0.8, "length": 300.0}, {"good": 0.8, "length": 100.0})
    statuses = {"good": "ok", "length": "ok"}
    answers = {
        place: FilteredAnswer("q", place, values, statuses, declined=False)
        for place, values in enumerate(scores)
    }
    assert filters_of(answers, facts)[1] == ["different"]
