"""The tables of a SCORE study, from handmade scores."""

from __future__ import annotations

import math
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import orjson
import pytest
from tests.contrib.papers.score_results import confident, grids, results, score, scores
from tests.report.runs import row, write_run

from longmark.analysis.grid import Grid
from longmark.contrib.papers.score import utilization
from longmark.contrib.papers.score.results import (
    ABSOLUTE,
    CHANGED,
    EASE,
    GRADE,
    MASKED,
    PARAPHRASE,
    PERTURBATION,
    RELATIVE,
    RELEVANCE,
    SPECIFICITY,
    Intervals,
    bounds_in,
    read,
)
from longmark.records import Example
from longmark.report.summary import summarise
from longmark.report.tables import Table, as_csv, as_json


def column(made: Table | Grid[Any], key: str) -> list[Any]:
    """A field of the files."""
    return [
        line[key]
        for line in orjson.loads(as_json(made.table() if isinstance(made, Grid) else made))["rows"]
    ]


def test_a_pair_has_mean_and_standard_deviation_and_says_what_is_missing():
    # specificity .2 .4 .9 and one gap: mean 1.5/3 = .5; deviations -.3 -.1 .4, squares .09 .01 .16, sum .26;
    # sd = sqrt(.26/2) = .36056
    study = results(
        judged={("g", "e"): {SPECIFICITY: scores([0.2, None, 0.4, 0.9]), MASKED: scores([0.5] * 4)}}
    )
    # t of 3 values: .5 -+ 4.3027 * .36056 / sqrt(3) = .5 -+ .8957, clipped to [0, 1]
    study = replace(study, bounds={SPECIFICITY: (0.0, 1.0)})
    wide, long = grids(study, "table1", "table1_intervals")
    assert column(wide, "specificity") == [pytest.approx(0.5)]
    assert column(wide, "specificity_sd") == [pytest.approx(math.sqrt(0.13))]
    assert column(wide, "relevance") == [0.5]
    assert column(wide, "paraphrase") == [None]
    assert column(long, "metric") == ["Specificity", "Answer relevance: masked"]
    assert (column(long, "mean_n"), column(long, "mean_missing")) == ([3, 4], [1, 0])
    assert column(long, "mean_reason") == [
        "1 undefined (No claims.)",
        "no interval: all 4 values are equal, and the metric has no bounds",
    ]
    assert column(long, "mean_method") == ["Hall's t", ""]
    assert (column(long, "mean_low"), column(long, "mean_high")) == ([0.0, None], [1.0, None])
    assert "nan" not in as_csv(long.table()).lower()


def test_robustness_is_the_generators_own_under_every_evaluator():
    study = results(
        evaluators=("e", "f"),
        once={"g": {PARAPHRASE: scores([0.8, 0.9, 1.0]), PERTURBATION: scores([0.4, 0.5, 0.9])}},
    )
    (wide,) = grids(study, "table1")
    assert column(wide, "evaluator") == ["e", "f"]
    assert column(wide, "paraphrase") == [pytest.approx(0.9)] * 2
    assert column(wide, "perturbation") == [pytest.approx(0.6)] * 2


def test_paraphrases_of_an_evaluator_are_its_own_robustness():
    """SCORE's table 1: by hand, .8 and 1 of the one, .4 and .6 of the other; perturbations are shared."""
    own = {"e": [0.8, 1.0], "f": [0.4, 0.6]}
    paraphrases = [replace(one, by=name) for name, values in own.items() for one in scores(values)]
    study = results(
        evaluators=("e", "f"),
        once={"g": {PARAPHRASE: paraphrases, PERTURBATION: scores([0.4, 0.5, 0.9])}},
    )
    (wide,) = grids(study, "table1")
    assert column(wide, "paraphrase") == [pytest.approx(0.9), pytest.approx(0.5)]
    assert column(wide, "perturbation") == [pytest.approx(0.6)] * 2
    assert "Answer relevance: masked ↑" in [one.name for one in wide.table().columns]


def test_variants_of_a_question_are_resampled_together():
    """Four equal rows of each question say no more than one of them: the interval stays that of the questions."""
    chance = random.Random(5)
    values = [chance.random() for _ in range(20)]
    alone = results().mean(EASE, [score(f"q{i}", value) for i, value in enumerate(values)])
    repeated = results().mean(
        EASE, [score(f"q{i}", value) for i, value in enumerate(values) for _ in range(4)]
    )
    assert repeated.low == pytest.approx(alone.low)
    assert repeated.high == pytest.approx(alone.high)
    assert repeated.n == 80


def test_a_variant_belongs_to_the_question_that_it_is_a_variant_of(tmp_path: Path):
    examples = [
        Example(
            id="1.x",
            question_id="q.x",
            question="How?",
            answer="So.",
            variant_of="q",
            variant="location",
        ),
        Example(id="2", question_id="q2", question="Why?", answer="Thus."),
    ]
    rows = [
        row("1.x", PERTURBATION, 0.5, question_id="q.x"),
        row(
            "2",
            EASE,
            12.0,
            question_id="q2",
            evidence={"words": 9, "sentences": 1, "syllables": 30, "band": "very difficult"},
        ),
    ]
    read_ = read(write_run(tmp_path / "run", examples, rows))
    assert [(one.question, one.variant) for one in read_[PERTURBATION]] == [("q", "location")]
    assert [(one.question, one.variant, one.row.example_id) for one in read_[EASE]] == [
        ("q2", "", "2")
    ]


def test_specificity_by_dimension_counts_the_votes_of_claims():
    votes = [
        {"yes": 3, "no": 1, "n/a": 2},
        {"yes": 0, "no": 2, "n/a": 4},
        {"yes": 0, "no": 0, "n/a": 6},
    ]
    its = [score(f"q{i}", value, votes=votes[i]) for i, value in enumerate([0.75, 0.0, None])]
    table, voted = grids(
        results(judged={("g", "e"): {f"{SPECIFICITY}.hazard": its}}),
        "specificity_dimensions",
        "specificity_votes",
    )
    first = [
        column(table, key)[0]
        for key in ("dimension", "weight", "mean", "mean_n", "mean_missing", "mean_reason")
    ]
    assert first == ["hazard", 0.6, 0.375, 2, 1, "1 undefined (No claims.)"]
    assert [column(voted, key)[0] for key in ("yes", "no", "na")] == [3, 3, 12]


def test_variants_are_told_apart_by_their_kind():
    its = [
        score("q0", 0.2, variant="hazard"),
        score("q1", 0.4, variant="hazard"),
        score("q0", 0.9, variant="location"),
    ]
    study = results(
        once={"g": {PERTURBATION: its, PARAPHRASE: [score("q0", 1.0, variant="paraphrase")]}}
    )
    (table,) = grids(study, "robustness_variants")
    assert column(table, "variant") == ["paraphrase", "hazard", "location"]
    assert column(table, "mean") == [1.0, pytest.approx(0.3), 0.9]
    assert column(table, "direction") == ["higher is better", "lower is better", "lower is better"]


def test_table_2_counts_the_answers_whose_points_change_places():
    its = {RELEVANCE: scores([6.0, 7.0, 8.0, 9.0]), CHANGED: scores([1.0, 0.0, 1.0, None])}
    (table,) = grids(results(points={"g": its}), "table2")
    assert (column(table, "mean"), column(table, "changed_n")) == ([7.5], [3])
    assert column(table, "changed") == [pytest.approx(2 / 3)]


def test_table_4_has_least_and_greatest_answers_and_the_share_of_distracting_facts():
    # answers: CU .001 and .003; facts: deltas .002 .000 | .006 .000 -.003 relative .01 0 | .03 0 -.015
    its = {
        ABSOLUTE: [
            score("q0", 0.001, deltas=[(0.002, 0.01), (0.0, 0.0)]),
            score("q1", 0.003, deltas=[(0.006, 0.03), (0.0, 0.0), (-0.003, -0.015)]),
        ],
        RELATIVE: scores([0.005, 0.015]),
    }
    answers, facts = grids(results(proxied={("g", "p"): its}), "table4", "table4_facts")
    assert column(answers, "score") == ["absolute", "relative, %"]
    assert column(answers, "min") == [0.001, pytest.approx(0.5)]
    assert column(answers, "max") == [0.003, pytest.approx(1.5)]
    assert answers.note.startswith(
        "Mean CU below 0.01: g by p. The confidence of a model with llama.cpp can vary"
    )
    strong = {ABSOLUTE: scores([0.02, 0.03]), RELATIVE: scores([0.1, 0.2])}
    (answers_apart,) = grids(results(proxied={("g", "p"): strong}), "table4")
    assert answers_apart.note == ""
    assert column(answers, "mean") == [pytest.approx(0.002), pytest.approx(1.0)]
    assert [column(facts, key)[0] for key in ("distracting_n", "min", "max")] == [5, -1.5, 3.0]
    assert column(facts, "mean") == [pytest.approx((1 + 0 + 3 + 0 - 1.5) / 5)]
    assert column(facts, "distracting") == [pytest.approx(1 / 5)]


def test_table_10_puts_every_answer_in_one_band():
    ease = [
        score(f"q{i}", value, band=band)
        for i, (value, band) in enumerate([(12.0, "very difficult"), (40.0, "difficult")])
    ]
    grade = [score(f"q{i}", value, band="graduate") for i, value in enumerate([17.0, 18.0])]
    means, bands = grids(
        results(once={"g": {EASE: ease, GRADE: grade}}), "table10", "table10_bands"
    )
    assert column(means, "mean") == [26.0, 17.5]
    counts = {(row_[0], row_[1]): row_[2] for row_ in bands.table().rows}
    assert (
        counts["Readability: reading ease", "difficult"]
        == counts["Readability: reading ease", "very difficult"]
        == 1
    )
    assert counts["Readability: grade level", "graduate"] == 2
    assert sum(counts.values()) == 4


def test_consistency_is_pearsons_correlation_of_the_two_confidences():
    # x = 1 2 3 4 5 (tenths), y = 2 1 4 3 5: centred -2 -1 0 1 2 and -1 -2 1 0 2, products 2 2 0 0 4 = 8, squares 10
    # and 10: r = 8/10
    pairs = [(0.1, 0.2), (0.2, 0.1), (0.3, 0.4), (0.4, 0.3), (0.5, 0.5)]
    study = results(proxied={("g", "p"): {ABSOLUTE: confident(pairs, [0.1] * 5)}})
    (of_proxy,) = utilization.consistencies(study)
    one = of_proxy.pearson
    assert one.value == pytest.approx(0.8)
    # t = .8 sqrt(3/(1 - .64)) = 2.3094 on 3 degrees: p = .1041
    assert one.p == pytest.approx(0.1041, abs=1e-4)
    assert utilization.agreements(study) == []  # the other proxy marked nothing


def test_agreement_of_proxies_is_on_the_answers_that_both_scored():
    p = confident([(0.5, 0.5)] * 6, [0.1, 0.2, 0.3, 0.4, 0.5, None])
    q = confident([(0.5, 0.5)] * 6, [0.2, 0.1, 0.4, 0.3, 0.5, 0.9])
    study = results(
        proxied={("g", "p"): {ABSOLUTE: p, RELATIVE: p}, ("g", "q"): {ABSOLUTE: q, RELATIVE: q}}
    )
    made = utilization.agreements(study)
    first, second = made
    assert [(row.proxies, row.generator, row.score) for row in made] == [
        ("p and q", "g", "absolute"),
        ("p and q", "g", "relative, %"),
    ]
    assert second.difference.high == pytest.approx(100 * (first.difference.high or 0.0))
    assert first.pearson.value == pytest.approx(0.8)
    assert first.spearman.value == pytest.approx(0.8)  # the same values are their own ranks
    assert first.pearson.n == 5
    assert first.difference.value == pytest.approx(0.0)
    # differences -.1 .1 -.1 .1 0: sd .1, t of 4 degrees 2.7764: 2.7764 * .1 / sqrt(5) = .12417
    assert first.difference.high == pytest.approx(0.12417, abs=1e-5)
    assert first.difference.method == "Hall's t"
    assert (first.difference.total, first.difference.reason) == (6, "p: 1 undefined (No claims.)")
    for grid in grids(study, "table9", "table9_differences"):
        assert column(grid, f"{grid.columns[0].key}_reason") == ["p: 1 undefined (No claims.)"] * 2


def test_a_jury_of_three_agrees_by_pairs():
    # yes yes no: 1 of 3 pairs; yes yes yes: 3 of 3; mean 2/3
    labels = [
        ("hazard", ("yes", "yes", "no")),
        ("hazard", ("yes", "yes", "yes")),
        ("location", ("n/a", "n/a", "n/a")),
    ]
    study = results(judged={("g", "e"): {SPECIFICITY: [score("q0", 0.5, verdicts=labels)]}})
    (table,) = grids(study, "jury")
    assert column(table, "dimension") == ["hazard", "location"]
    assert column(table, "agreement") == [pytest.approx(2 / 3), 1.0]
    assert column(table, "agreement_missing") == [0, 0]
    # yes 5/6, no 1/6: chance = 26/36; kappa = (24/36 - 26/36) / (10/36) = -.2; nothing but n/a: none
    assert column(table, "kappa") == [pytest.approx(-0.2), None]
    alone = results(
        judged={("g", "e"): {SPECIFICITY: [score("q0", 0.5, verdicts=[("hazard", ("yes",))])]}}
    )
    assert grids(alone, "jury")[0].rows == []


def test_a_verdict_that_is_missing_agrees_with_nothing():
    # hazard: one voice left out every label, so no claim has two; location: yes yes (1 of 1), yes no (0 of 1), and one
    # with a single label: mean 1/2 over 2 of 3 claims, 1 of 6 labels left out; yes 3/4, no 1/4: chance 10/16,
    # kappa = (8/16 - 10/16) / (6/16) = -1/3
    hazard = [("hazard", ("yes", None)), ("hazard", ("no", None)), ("hazard", (None, None))]
    location = [
        ("location", ("yes", "yes")),
        ("location", ("yes", "no")),
        ("location", ("yes", None)),
    ]
    its = [
        score(f"q{i}", 0.5, verdicts=pair)
        for i, pair in enumerate(zip(hazard, location, strict=True))
    ]
    study = results(judged={("g", "e"): {SPECIFICITY: its}})
    (table,) = grids(study, "jury")
    assert column(table, "agreement") == [None, 0.5]
    assert (column(table, "agreement_n"), column(table, "agreement_missing")) == ([0, 2], [3, 1])
    assert column(table, "kappa") == [None, pytest.approx(-1 / 3)]
    nothing, some = column(table, "agreement_reason")
    assert nothing == "4 of 6 verdicts are missing; no claim has two verdicts to compare"
    assert str(some).startswith("1 of 6 verdicts are missing")
    (voted,) = grids(study, "specificity_votes")
    assert column(voted, "verdicts") == [6, 6, 0, 0]
    assert column(voted, "verdicts_left_out") == [4, 1, 0, 0]


def test_a_verdict_that_was_left_out_is_read_as_none(tmp_path: Path):
    shown = {"hazard": {"vote": "n/a", "labels": ["yes", None], "reasons": ["", ""]}}
    example = Example(id="1", question_id="q", question="How?", answer="So.")
    its = row(
        "1",
        SPECIFICITY,
        0.5,
        question_id="q",
        evidence={"claims": [{"claim": "", "dimensions": shown}]},
    )
    assert read(write_run(tmp_path / "run", [example], [its]))[SPECIFICITY][0].verdicts(
        "hazard"
    ) == [["yes", None]]


def test_table_1_pools_the_kinds_of_the_paper_only():
    its = [
        score("q0", 0.2, variant="hazard"),
        score("q1", 0.4, variant="location"),
        score("q0", 1.0, variant="profession"),
    ]
    study = results(
        once={"g": {PERTURBATION: its}}, pooled=("hazard", "location", "hazard+location")
    )
    wide, long = grids(study, "table1", "table1_intervals")
    assert column(wide, "perturbation") == [pytest.approx(0.3)]
    assert column(long, "mean_n") == [2]
    assert "profession" in wide.note
    assert column(grids(study, "robustness_variants")[0], "variant") == [
        "hazard",
        "location",
        "profession",
    ]
    (every,) = grids(replace(study, pooled=None), "table1")
    assert (column(every, "perturbation"), every.note) == ([pytest.approx(1.6 / 3)], "")


@pytest.mark.parametrize(
    ("values", "method"),
    [
        ([0.2, 0.9, 0.4], "Hall's t"),
        ([1.0] * 4, "all equal"),
        ([i / 20 for i in range(20)], "Hall's t"),
    ],
)
def test_the_interval_of_a_mean_is_that_of_the_run(
    tmp_path: Path, values: list[float], method: str
):
    examples = [
        Example(id=f"a{i}", question_id=f"q{i}", question="How?", answer="So.")
        for i in range(len(values))
    ]
    rows = [row(f"a{i}", SPECIFICITY, value, question_id=f"q{i}") for i, value in enumerate(values)]
    bounds = {"metrics": {SPECIFICITY: {"bounds": [0, 1], "higher_is_better": True}}}
    run = write_run(tmp_path / "run", examples, rows, bounds)
    one = results(bounds=bounds_in(run), intervals=Intervals()).mean(
        SPECIFICITY, read(run)[SPECIFICITY]
    )
    (cell,) = summarise([run]).cells
    assert one.method == method
    assert (one.value, one.method, one.ends) == (cell.mean, cell.method, cell.interval)


def test_questions_with_several_rows_are_counted_by_questions():
    # three questions of two rows each: sums .4 1.0 1.6, mean 3/6 = .5; each adds .2 .5 .8, sd .3, t of 2 degrees is
    # 4.3027: .5 -+ 4.3027 * .3 / sqrt(3) = .5 -+ .74524; six rows of six questions would give another
    its = [
        score(f"q{i}", value)
        for i, pair in enumerate([(0.1, 0.3), (0.4, 0.6), (0.9, 0.7)])
        for value in pair
    ]
    one = results().mean(EASE, its)
    assert one.low == pytest.approx(0.5 - 0.74524, abs=1e-5)
    assert one.high == pytest.approx(0.5 + 0.74524, abs=1e-5)
    assert (one.method, one.n, one.clusters) == ("Hall's t", 6, 3)
    same = [score("q0", 0.2), score("q0", 0.4)]
    assert results().mean(EASE, same).reason == "no interval: all values belong to one question"


def test_tables_of_proxies_say_why_answers_are_not_among_them():
    both = confident([(0.1, 0.2), (0.2, 0.1), (0.3, 0.4)], [0.1, 0.2, 0.3])
    gap = score("q3", None, status="model_error", reason="The server is down.")
    study = results(proxied={("g", "p"): {ABSOLUTE: [*both, gap]}})
    (table,) = grids(study, "table3")
    assert (column(table, "pearson_n"), column(table, "pearson_missing")) == ([3], [1])
    perfect = confident([(0.1, 0.1), (0.2, 0.2), (0.3, 0.3), (0.4, 0.4)], [0.1] * 4)
    (of_perfect,) = utilization.consistencies(results(proxied={("g", "p"): {ABSOLUTE: perfect}}))
    assert (
        of_perfect.pearson.reason
        == "no interval of the correlation: a perfect correlation has no finite z"
    )
    assert str(column(table, "pearson_reason")[0]).startswith("1 model_error (The server is down.)")
    answers, facts = grids(study, "table4", "table4_facts")
    assert column(answers, "mean_reason")[0] == "1 model_error (The server is down.)"
    assert "1 model_error (The server is down.)" in str(column(facts, "distracting_reason")[0])


def test_a_study_without_scores_makes_tables_without_rows():
    empty = results()
    made: list[Any] = [
        *grids(empty, "table4", "table4_facts"),
        *grids(empty, "specificity_dimensions", "specificity_votes", "table2"),
    ]
    assert [len(one.rows) for one in made] == [0] * 5
    wide, long = grids(empty, "table1", "table1_intervals")
    assert tuple(map(tuple, wide.table().rows)) == (("g", "e", *[None] * 8),)
    assert long.rows == []
    assert utilization.consistencies(empty) == []


def test_one_value_has_neither_spread_nor_interval():
    one = results().mean(EASE, scores([0.4]))
    assert (one.value, one.sd, one.ends, one.n) == (0.4, None, None, 1)
    assert one.reason == "no interval: there is only 1 value"


def test_rows_whose_evidence_has_another_form_are_counted_and_lose_no_score():
    odd = [
        replace(one, row=replace(one.row, evidence={"claims": [5], "votes": 3}))
        for one in scores([0.1, 0.3, 0.5])
    ]
    judged = {SPECIFICITY: odd, f"{SPECIFICITY}.hazard": odd}
    study = results(
        proxied={("g", "p"): {ABSOLUTE: odd}}, judged={("g", "e"): judged}, once={"g": {EASE: odd}}
    )
    answers, facts = grids(study, "table4", "table4_facts")
    assert column(answers, "mean_n")[0] == 3
    assert column(facts, "distracting_reason") == [
        "there is no value; the facts of 3 scored answers cannot be read"
    ]
    (table,) = grids(study, "table3")
    assert "3 with a score but without both confidences" in str(column(table, "pearson_reason")[0])
    means, voted = grids(study, "specificity_dimensions", "specificity_votes")
    assert (column(means, "mean_n")[0], column(voted, "yes")[0]) == (3, 0)
    (readable,) = grids(study, "table10")
    assert column(readable, "mean_n")[0] == 3
