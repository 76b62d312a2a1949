"""How numbers are written for people."""

from __future__ import annotations

import pytest

from longmark.report.format import (
    counted,
    decimals,
    direction,
    fixed,
    listed,
    metric_titles,
    p_value,
)
from longmark.scores.manifest import MetricFacts


@pytest.mark.parametrize(
    ("bounds", "least", "greatest", "places"),
    [
        ((0.0, 1.0), 0.2, 0.9, 3),
        ((0.0, 100.0), 12.0, 88.0, 1),
        ((None, None), 4.0, 9.0, 2),
        ((None, None), None, None, 3),
        ((-1.0, 1.0), -0.00012, 0.00047, 5),  # 0.00047: two figures that count
        ((-1.0, 1.0), 0.0, 0.0, 3),
        ((None, None), 1e-30, 2e-30, 7),
    ],
)
def test_as_many_decimals_as_the_values_can_bear(bounds, least, greatest, places):
    assert decimals(MetricFacts(*bounds), least, greatest) == places


def test_a_small_value_is_not_written_as_zero():
    assert fixed(0.000118, decimals(MetricFacts(-1.0, 1.0), -0.0027, 0.00047)) == "0.0001"
    assert fixed(-0.0001, 3) == "0.000"


def test_a_p_value_is_never_zero():
    assert [p_value(p) for p in (0.0009, 0.001, 0.2, None)] == [
        "p < 0.001",
        "p = 0.001",
        "p = 0.200",
        "not tested",
    ]


def test_lists_name_as_many_as_may_be_and_count_the_rest():
    assert listed(["a"]) == "a"
    assert listed(["a", "b", "c", "d"]) == "a, b, c and d"
    assert listed([*"abcdefghij"]) == "a, b, c and 7 more"
    assert listed([*"abcde"], 8) == "a, b, c, d and e"


def test_a_title_is_the_published_name_and_a_metric_of_a_users_own_keeps_its_name():
    names = [
        "ccrs.question_relevance",
        "score.specificity.location by jury",
        "classic.rouge_l",
        "classic.bleu@n=2",
    ]
    titles = ["Question relevance", "Specificity: location (jury)", "ROUGE-L", "BLEU (n=2)"]
    names += [
        "ragchecker.claim_recall",
        "score.answer_relevance",
        "my.metric",
        "classic",
        "/etc/passwd",
        "",
    ]
    titles += [
        "RAGChecker: claim recall",
        "Answer relevance",
        "my.metric",
        "classic",
        "/etc/passwd",
        "",
    ]
    assert list(metric_titles(names).values()) == titles


def test_counts_agree_with_their_words():
    assert (counted(1, "pair"), counted(1200, "pair"), counted(2, "query", "queries")) == (
        "1 pair",
        "1,200 pairs",
        "2 queries",
    )


def test_a_direction_is_named_the_same_way_everywhere():
    declared = [MetricFacts(higher_is_better=way, declared=True) for way in (True, False, None)]
    assert [direction(facts) for facts in declared] == [
        "higher is better",
        "lower is better",
        "neither",
    ]
    assert direction(MetricFacts()) == "not known"
