"""The answer that a meta-evaluation opens with. Spearman's rho is worked by hand: of 20 answers it is
1 - 6 D / 7980, D the sum of the squared differences of ranks (20 x 399 = 7980)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import pytest

pytest.importorskip("scipy")

from tests.report.runs import row

from longmark.analysis.metaeval import metaeval, ranking
from longmark.analysis.metaeval.choices import ChoiceLabel
from longmark.analysis.metaeval.ranking import (
    beside_baselines,
    ranking_figure,
    ranking_in_words,
)
from longmark.analysis.metaeval.ratings import RatingLabel
from longmark.analysis.metaeval.results import directions
from longmark.analysis.metaeval.sections import sections
from longmark.report.charts import ForestRow
from longmark.report.figures import WIDTH, Figure
from longmark.report.tables import readable
from longmark.scores.manifest import MetricFacts

WORDS = "classic.length.words"


def with_reversed(*parts: tuple[int, int]) -> list[int]:
    """Ranks 0 to 19; those of each part, first and last place, are reversed."""
    ranks = list(range(20))
    for first, last in parts:
        ranks[first : last + 1] = reversed(ranks[first : last + 1])
    return ranks


SWAPPED = with_reversed((0, 1), (7, 8), (12, 13))
"""D = 3 x 2: rho .995."""
FIVES = with_reversed((2, 6), (10, 14))
"""D = 2 x (16 + 4 + 0 + 4 + 16): rho .940."""
TENS = with_reversed((3, 12))
"""D = 2 x (81 + 49 + 25 + 9 + 1): rho .752."""


def rated(
    metrics: Mapping[str, Sequence[float]], raters: Sequence[str] = ("ann",), n: int = 20
) -> RatingLabel:
    """Ratings 0 to n - 1, each rater's the same but for the last, who swaps neighbours."""
    rows = [
        row(f"e{place}", metric, scores[place], question_id=f"q{place}")
        for metric, scores in metrics.items()
        for place in range(n)
    ]
    ratings: list[dict[str, Any]] = [
        {
            "example_id": f"e{place}",
            "rater": rater,
            "value": SWAPPED[place] if rater == "cy" else place,
        }
        for place in range(n)
        for rater in raters
    ]
    (part,) = metaeval(rows, ratings).labels
    assert isinstance(part, RatingLabel)
    return part


def with_p(part: RatingLabel, p: float) -> RatingLabel:
    return replace(part, differences=tuple(replace(pair, adjusted=p) for pair in part.differences))


def test_the_best_metric_is_named_with_the_second_and_each_baseline():
    """.9955 - .9398 = .056; .9955 - .7519 = .244."""
    part = rated({WORDS: TENS, "fives": FIVES, "swapped": SWAPPED})
    says = ranking_in_words(with_p(part, 0.01), 0.05)
    assert says.startswith("swapped agrees best with the human ratings: Spearman 0.995 [")
    assert "It is shown to be above fives (second; +0.056 [" in says
    assert "and Length: words (baseline; +0.244 [" in says
    assert says.count("p = 0.010") == 2


def test_the_adjusted_p_decides_and_not_the_interval():
    part = rated({WORDS: TENS, "fives": FIVES, "swapped": SWAPPED})
    above_0 = tuple(
        replace(pair, result=replace(pair.result, low=0.01, high=0.3)) for pair in part.differences
    )
    part = replace(part, differences=above_0)
    says = ranking_in_words(with_p(part, 0.06), 0.05)
    assert says.startswith("swapped has the highest agreement with the human ratings: Spearman")
    assert "It is not shown to be above fives (second; +0.056 [0.010, 0.300], p = 0.060)" in says
    assert "agrees best" not in says


def test_best_is_said_only_of_a_metric_that_is_above_every_other_one():
    part = rated({"tens": TENS, "fives": FIVES, "swapped": SWAPPED})
    pairs = [
        replace(pair, adjusted=0.2 if {pair.first, pair.second} == {"swapped", "tens"} else 0.01)
        for pair in part.differences
    ]
    says = ranking_in_words(replace(part, differences=tuple(pairs)), 0.05)
    assert says.startswith("swapped has the highest agreement")
    assert "It is shown to be above fives (second;" in says
    assert says.endswith("Of the 2 other metrics it is shown to be above 1.")


def test_a_difference_is_that_of_the_best_metric_whichever_metric_comes_first():
    part = rated({"fives": FIVES, "swapped": SWAPPED})
    (pair,) = part.differences
    low, high = pair.result.ends
    turned = replace(pair.result, value=-pair.result.value, low=-high, high=-low)
    other_way = replace(pair, first="fives", second="swapped", result=turned)
    assert ranking_in_words(replace(part, differences=(other_way,)), 0.05) == ranking_in_words(
        part, 0.05
    )


def test_below_baselines_the_highest_other_metric_is_named_with_how_far_it_is_below():
    """.9955 - .7519 = .244."""
    part = rated({WORDS: SWAPPED, "classic.rouge_l": FIVES, "mine": TENS})
    says = ranking_in_words(with_p(part, 0.01), 0.05)
    assert says.startswith("Length: words (a baseline) agrees best")
    mine = "The highest that is no baseline is mine (0.752 ["
    assert mine in says
    assert "; Length: words is shown to be above it (+0.244 [" in says
    assert "Length: words is not shown to be above it" in ranking_in_words(with_p(part, 0.2), 0.05)
    assert mine not in ranking_in_words(rated({WORDS: SWAPPED, "mine": TENS}), 0.05), "the second"


def test_a_baseline_that_agrees_more_when_it_is_reversed_is_named():
    shorter = [-rank for rank in SWAPPED]
    says = ranking_in_words(with_p(rated({WORDS: shorter, "fives": FIVES}), 0.01), 0.05)
    assert says.startswith("fives has the highest agreement with the human ratings: Spearman 0.940")
    assert "Reversed (lower is better), a baseline has more: Length: words (-0.995 [" in says


def test_without_a_metric_shown_to_agree_none_is_called_best():
    """Ranks 0, 7, 14, 1, 8, 15, 2, 9, 16, 3, 10, 17, 4, 11, 18, 5, 12, 19, 6, 13: D = 840."""
    scattered = [7 * place % 20 for place in range(20)]
    says = ranking_in_words(rated({"scattered": scattered}), 0.05)
    assert says.startswith(
        "No metric is shown to agree with the human ratings; highest agreement: scattered, "
        "Spearman 0.368 ["
    )


def test_few_answers_give_the_figure_and_no_conclusion():
    says = ranking_in_words(rated({"fives": FIVES, "swapped": SWAPPED}, n=9), 0.05)
    assert says.startswith(
        "Too few answers for a conclusion: 9, fewer than 10. Highest agreement: swapped, Spearman "
    )
    assert "above" not in says


@pytest.mark.parametrize(
    ("metric", "baseline"),
    [
        ("classic.length.characters", True),
        ("classic.rouge_l@stem=true", True),
        ("classic.bleu@form=climaqa", True),
        ("classic.chrf (judge-a)", True),
        ("classic.bleurt", False),
        ("classic.bertscore", False),
        ("own.length", False),
    ],
)
def test_lengths_and_overlaps_of_words_are_baselines(metric: str, baseline: bool):
    (ranked,) = ranking.ranking(rated({metric: FIVES}), 0.05)
    assert ranked.baseline is baseline


def lanes(part: RatingLabel | ChoiceLabel, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    drawn: dict[str, Any] = {}

    def forest(rows: Sequence[ForestRow], label: str, reference: float | None) -> Figure:
        drawn.update(rows=rows, label=label, reference=reference)
        return Figure(label, "")

    monkeypatch.setattr(ranking, "forest", forest)
    figure = ranking_figure(part, 0.05)
    assert figure is not None
    return {**drawn, "says": figure.says}


def test_the_figure_has_the_ceiling_as_a_line_and_the_metrics_by_agreement(
    monkeypatch: pytest.MonkeyPatch,
):
    part = rated({WORDS: TENS, "fives": FIVES, "swapped": SWAPPED}, ("ann", "bo", "cy"))
    drawn = lanes(part, monkeypatch)
    ceiling = part.agreement.ceilings[0].spearman
    assert ceiling is not None
    assert ceiling.value is not None
    assert drawn["reference"] == (round(ceiling.value, 2), 0.75), "a rater, and the baseline"
    assert [lane.label for lane in drawn["rows"]] == [
        "A rater: the human ceiling",
        "swapped",
        "fives",
        "Length: words (baseline)",
    ]
    assert "Dashed line: the human ceiling, " in drawn["says"]


def test_without_a_ceiling_the_figure_has_what_the_sentence_says(monkeypatch: pytest.MonkeyPatch):
    drawn = lanes(rated({WORDS: TENS, "swapped": SWAPPED}), monkeypatch)
    assert [(lane.label, round(lane.estimate, 3)) for lane in drawn["rows"]] == [
        ("swapped", 0.995),
        ("Length: words (baseline)", 0.752),
    ]
    assert drawn["reference"] == (0.0, 0.75)
    assert drawn["says"] == (
        "There is no human ceiling. A dashed line is at the highest baseline (Length: words), 0.75."
    )


def test_the_page_says_the_answer_before_the_ceiling():
    rows = [
        row(f"e{place}", metric, ranks[place], question_id=f"q{place}")
        for metric, ranks in (("fives", FIVES), ("swapped", SWAPPED))
        for place in range(20)
    ]
    ratings = [
        {"example_id": f"e{place}", "rater": rater, "value": ranks[place]}
        for place in range(20)
        for rater, ranks in (("ann", list(range(20))), ("bo", list(range(20))), ("cy", SWAPPED))
    ]
    summary = sections(metaeval(rows, ratings))[0]
    assert summary.says.startswith("swapped ")
    assert summary.says.index("fives (second;") < summary.says.index("Human ceiling")
    assert "Held against it on the same ratings, swapped has " in summary.says
    assert [line[0] for line in summary.tables[0].rows] == ["swapped", "fives"]
    assert len(summary.figures) == 1


def chosen(right_of: Mapping[str, int], pairs: int = 20) -> ChoiceLabel:
    """People choose a in 12 pairs and b in 8, in turn as far as that goes; each metric is right on its first pairs."""
    human = ["a", "b"] * 8 + ["a"] * 4
    rows = []
    for metric, right in right_of.items():
        for place in range(pairs):
            a_wins = (human[place] == "a") == (place < right)
            for system, score in (("a", a_wins), ("b", not a_wins)):
                rows.append(
                    row(
                        f"{system}{place}",
                        metric,
                        float(score),
                        question_id=f"q{place}",
                        system=system,
                    )
                )
    choices = [
        {"question_id": f"q{place}", "a": "a", "b": "b", "choice": human[place], "rater": "ann"}
        for place in range(pairs)
    ]
    (part,) = metaeval(rows, choices).labels
    assert isinstance(part, ChoiceLabel)
    return part


def test_choices_are_held_against_their_baselines():
    """19 of 20 are right: .950; always a is right on 12: .600; the difference is .350. The second: 18, .900."""
    part = chosen({"second": 18, "first": 19})
    metrics = [
        metric if metric.adjusted is None else replace(metric, adjusted=0.01)
        for metric in part.metrics
    ]
    says = ranking_in_words(replace(part, metrics=tuple(metrics)), 0.05)
    assert says.startswith(
        "first has the highest agreement with the human choices: accuracy 0.950 ["
    )
    assert "It is shown to be above the baselines (the nearest: +0.350 [" in says
    assert "It is not shown to be above second (second; +0.050 [" in says


def test_a_metric_below_a_baseline_is_not_above_it():
    """9 of 20 are right; always a is right on 12: 3 of 20 less."""
    says = ranking_in_words(chosen({"weak": 9}), 0.05)
    assert says.startswith("weak has the highest agreement with the human choices: accuracy 0.450")
    assert "It is not shown to be above the baselines (the nearest: -0.150 [" in says


def test_the_figure_of_choices_fits_a_phone_and_names_the_baselines(
    monkeypatch: pytest.MonkeyPatch,
):
    part = chosen({"weak": 9})
    figure = ranking_figure(part, 0.05)
    assert figure is not None
    assert figure.width == WIDTH
    labels = [lane.label for lane in lanes(part, monkeypatch)["rows"]]
    assert labels == ["the most frequent choice (a)", "weak"]


def test_each_metric_stands_against_each_baseline_with_the_difference_in_its_own_sign():
    """.9398 - .7519 = .188; .9955 - .7519 = .244."""
    part = with_p(rated({WORDS: TENS, "fives": FIVES, "swapped": SWAPPED}), 0.01)
    table = beside_baselines(part, 0.05)
    assert table is not None
    lines = [
        (line.metric, line.baseline, round(line.difference.value or 0, 3), line.conclusion)
        for line in table.items
    ]
    assert lines == [
        ("swapped", WORDS, 0.244, "above it"),
        ("fives", WORDS, 0.188, "above it"),
    ]
    heads = [column.name for column in readable(table).columns]
    assert len({*heads}) == len(heads), "the answers are counted once"
    not_shown = beside_baselines(with_p(part, 0.2), 0.05)
    assert not_shown is not None
    assert {line.conclusion for line in not_shown.items} == {"not shown to differ"}
    assert beside_baselines(rated({"fives": FIVES, "swapped": SWAPPED}), 0.05) is None


def test_the_direction_of_a_length_is_the_one_that_a_comparison_says():
    length = MetricFacts(lo=0, hi=None, higher_is_better=True, declared=True, descriptive="longer")
    judged = MetricFacts(lo=0, hi=1, higher_is_better=True, declared=True)
    assert directions({WORDS: length, "judged": judged}) == {
        WORDS: "descriptive",
        "judged": "higher is better",
    }
    assert directions({WORDS: length}) == {WORDS: "higher is better"}, "alone it is the baseline"
