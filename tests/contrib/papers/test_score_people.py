"""People's labels against each other and against evaluators, worked by hand."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.contrib.papers.score_results import FAST, WEIGHTS, grids, results, score
from tests.program import write_jsonl

from longmark.contrib.papers.score import people
from longmark.contrib.papers.score.labels import (
    DimensionLabels,
    GeneratedAnswer,
    Label,
    read_labels,
)
from longmark.contrib.papers.score.results import ABSOLUTE, MASKED, SPECIFICITY
from longmark.errors import BadInput, UserError
from longmark.records.evidence import VoteLabel
from longmark.stats.means import mean_estimate


def item(i: int, generator: str = "g") -> GeneratedAnswer:
    return GeneratedAnswer(generator, f"a-q{i}", f"q{i}")


KNOWN = {"g": {"q0": item(0), "a-q0": item(0), "q1": item(1), "a-q1": item(1)}}

# Four answers, two people each. They agree on 0, 1 and 2 and differ on 3.
HAZARD = {
    item(0): {"ann": "yes", "bob": "yes"},
    item(1): {"ann": "yes", "bob": "yes"},
    item(2): {"ann": "no", "bob": "no"},
    item(3): {"ann": "yes", "bob": "no"},
}


def labels(**more: Any) -> DimensionLabels:
    given = more or {"hazard": HAZARD}
    return DimensionLabels(
        [
            Label(d, i, r, v)
            for d, items in given.items()
            for i, by in items.items()
            for r, v in by.items()
        ]
    )


def judged(*votes: dict[str, int]) -> Any:
    its = [score(f"q{i}", None if not one else 0.5, votes=one) for i, one in enumerate(votes)]
    return {("g", "e"): {f"{SPECIFICITY}.hazard": its}}


@pytest.mark.parametrize(
    ("votes", "label"),
    [
        ({"yes": 3, "no": 2, "n/a": 9}, "yes"),
        ({"yes": 2, "no": 3, "n/a": 0}, "no"),
        ({"yes": 2, "no": 2, "n/a": 0}, "no"),
        ({"yes": 0, "no": 0, "n/a": 5}, "n/a"),
        ({}, "n/a"),
    ],
)
def test_the_label_of_an_answer_is_the_majority_of_its_claims_that_are_not_na(
    votes: dict[VoteLabel, int], label: str
):
    assert people.answer_label(votes) == label


def test_people_among_themselves():
    # agreement 3 of 4. Shares over 8 labels: yes 5/8, no 3/8; chance = 25/64 + 9/64 = 34/64;
    # kappa = (3/4 - 34/64) / (30/64) = (48 - 34) / 30 = .46667
    (one,) = people.among(labels(), list(WEIGHTS), FAST).values()
    assert (one.agree, one.share.n) == (3, 4)
    assert one.share.value == pytest.approx(0.75)
    assert one.kappa.value == pytest.approx(14 / 30)


def test_people_against_an_evaluator_by_label():
    # labels of the evaluator: yes, no, no, n/a. Rows that agree: 2 (item 0) + 0 + 2 (item 2) + 0 = 4 of 8.
    # Mismatches: 2 on item 1, where people agree, 2 on item 3, where they differ: half of them are contested,
    # of all rows 2 of 8
    scored = judged({"yes": 1}, {"no": 1}, {"no": 4, "yes": 1}, {"n/a": 2})
    study = results(judged=scored, labels=labels())
    ((key, one),) = people.by_label(labels(), study).items()
    assert (key, one.agree, one.share.n, one.share.missing) == (("hazard", "e"), 4, 8, 0)
    assert one.share.value == pytest.approx(0.5)
    assert (one.mismatches, one.shared, one.contested, one.base) == (4, 4, 2, 2)
    (row,) = people.mismatch_table({key: one}).rows
    assert row == ("hazard", "e", 4, 4, 2, 0.5, 0.25, None)
    (row,) = grids(study, "table12")[0].table().rows
    assert (row[2].value, row[3:]) == (50.0, (4, 4))


def test_answers_to_one_question_count_as_one_against_an_evaluator():
    # Two generators on six questions, one person, who says yes to all. The evaluator's labels agree on 2, 2, 2, 0, 1
    # and 2 of a question's two: shares 1 1 1 0 .5 1 of six questions, not 12 rows
    both = (
        ["yes"] * 6,
        ["yes", "yes", "yes", "no", "no", "yes"],
        ["yes", "yes", "yes", "no", "yes", "yes"],
    )
    by_item = {item(i, g): {"ann": label} for g in "gh" for i, label in enumerate(both[0])}
    marks = {
        (g, "e"): {
            f"{SPECIFICITY}.hazard": [
                score(f"q{i}", 0.5, votes={label: 1}) for i, label in enumerate(its)
            ]
        }
        for g, its in zip("gh", both[1:], strict=True)
    }
    (one,) = people.by_label(
        labels(hazard=by_item), results(generators=("g", "h"), judged=marks)
    ).values()
    assert (one.agree, one.share.n, one.share.method) == (9, 12, "Hall's t")
    assert (one.share.clusters, one.share.ends) == (
        6,
        mean_estimate([1, 1, 1, 0, 0.5, 1], bounds=(0, 1)).ends,
    )


def kappa_of(one: Any) -> list[float | None]:
    return [one.kappa.value, one.kappa.low, one.kappa.high]


def test_answers_to_one_question_count_as_one_among_people():
    random = np.random.default_rng(5)
    said = {
        i: {rater: str(random.choice(["yes", "yes", "no"])) for rater in ("ann", "bob")}
        for i in range(20)
    }
    own = {item(i): its for i, its in said.items()}
    twice = {item(i, g): its for i, its in said.items() for g in "gh"}
    one, both = (
        people.among(labels(hazard=its), ["hazard"], FAST)["hazard"] for its in (own, twice)
    )
    assert (both.share.n, one.share.n) == (40, 20)
    assert one.kappa.low is not None
    agree = [float(len(set(its.values())) == 1) for its in said.values()]
    assert both.share.ends == pytest.approx(
        mean_estimate(2 * agree, 2 * list(range(20)), (0, 1)).ends
    )
    assert (both.share.clusters, one.share.method) == (20, "Wilson")
    assert kappa_of(both) == pytest.approx(kappa_of(one))
    scores = {
        item: {rater: float(len(label)) for rater, label in its.items()}
        for item, its in twice.items()
    }
    (rho,) = people.on_scales(labels(answer_relevance=scores), results()).values()
    assert (rho.n, rho.clusters) == (80, 20)


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        # kappa of three answers that all differ, two labels each, yes, no and n/a twice each: chance 1/3,
        # (0 - 1/3) / (2/3) = -1/2
        (
            [("yes", "no"), ("no", "n/a"), ("yes", "n/a")],
            (
                *(0, 3, 0.0, "all equal", pytest.approx(-0.5)),
                "no interval of kappa: it needs 15 questions, and there are 3",
            ),
        ),
        (
            [("yes", "yes")] * 3,
            (
                *(3, 0, 100.0, "all equal", None),
                "no kappa: all ratings are the same, so chance alone would give the same agreement",
            ),
        ),
        (
            [("yes", "yes")],
            (
                *(1, 0, 100.0, None, None),
                "no interval: there is only 1 value; no kappa: agreement needs at least 3 items, not 1",
            ),
        ),
        # of three the answers with three labels: shares of yes 7/9, no 2/9; chance 53/81; agreement (1 + 1 + 1/3) / 3
        # = 7/9 = 63/81; kappa 10/28
        (
            [("yes",) * 3, ("yes",) * 3, ("yes", "no", "no"), ("yes", "no")],
            (
                *(2, 2, pytest.approx(175 / 3), "Hall's t", pytest.approx(10 / 28)),
                "kappa excludes 1 answer with fewer than 3 labels; "
                "no interval of kappa: it needs 15 questions, and there are 3",
            ),
        ),
    ],
)  # fmt: skip
def test_table_11_has_a_value_or_a_reason(said: list[tuple[str, ...]], shown: tuple[Any, ...]):
    by_item = {item(i): dict(zip("abc", its, strict=False)) for i, its in enumerate(said)}
    (one,) = people.among(labels(hazard=by_item), list(WEIGHTS), FAST).values()
    percent, why = (
        one.share.scaled(100),
        "; ".join(filter(None, (one.share.reason, one.kappa.reason))),
    )
    assert (
        one.agree,
        one.disagree,
        percent.value,
        percent.method or None,
        one.kappa.value,
        why,
    ) == shown
    (row,) = grids(results(labels=labels(hazard=by_item)), "table11")[0].table().rows
    assert row == ("hazard", percent, one.kappa, one.agree, one.disagree)


def test_tables_of_people_say_why_a_cell_is_empty():
    given = labels(hazard={item(0): {"ann": "yes"}}, answer_relevance={item(0): {"ann": 3.0}})
    other = {
        f"{SPECIFICITY}.hazard": [score("q9", 1.0, votes={"yes": 1})],
        MASKED: [score("q9", 0.5)],
    }
    study = results(judged={("g", "e"): other})
    rows = people.by_label(given, study)
    assert [row[-1] for row in people.table_5({}, rows, ["e"]).rows] == [
        "no answer has labels of two raters; e judged no labelled answer"
    ]
    assert [row[-1] for row in people.mismatch_table(rows).rows] == [
        "no labelled answer was judged"
    ]
    assert [one.share.reason for one in rows.values()] == [
        "1 label of answers that the evaluator did not judge"
    ]
    lacks = [one.reason for one in people.on_scales(given, study).values()]
    none = "no correlation: a correlation needs at least 3 pairs; found 0"
    assert lacks == [none, f"1 label of answers without a score; {none}"]


def test_an_answer_that_the_evaluator_has_not_judged_is_counted_and_not_compared():
    gap = [
        score("q0", None, status="model_error", reason="down"),
        score("q1", 0.5, votes={"yes": 1}),
    ]
    study = results(judged={("g", "e"): {f"{SPECIFICITY}.hazard": gap}})
    (one,) = people.by_label(labels(), study).values()
    assert (one.agree, one.share.n, one.share.total) == (2, 2, 8)


def test_table_5_has_people_and_every_evaluator_in_percent():
    study = results(judged=judged({"yes": 1}, {"no": 1}, {"no": 4, "yes": 1}, {"n/a": 2}))
    table = people.table_5(
        people.among(labels(), list(WEIGHTS), FAST), people.by_label(labels(), study), ["e"]
    )
    assert table.rows == (("hazard", 75.0, 50.0, None),)


def test_correlations_on_the_scales():
    # people: (1, 2), (2, 1), (3, 3), each both ways: six pairs; x: 1 2 2 1 3 3, y: 2 1 1 2 3 3. Midranks of both:
    # 1.5 3.5 3.5 1.5 5.5 5.5 and 3.5 1.5 1.5 3.5 5.5 5.5; centred (3.5): -2 0 0 -2 2 2 and 0 -2 -2 0 2 2; products
    # 0 0 0 0 4 4 = 8, squares 16 and 16: rho = 1/2
    scores = {
        item(0): {"a": 1.0, "b": 2.0},
        item(1): {"a": 2.0, "b": 1.0},
        item(2): {"a": 3.0, "b": 3.0},
    }
    study = results(
        judged={("g", "e"): {MASKED: [score(f"q{i}", v) for i, v in enumerate([0.1, 0.1, 0.9])]}}
    )
    given = labels(answer_relevance=scores, context_utilization=scores)
    made = people.on_scales(given, study)
    relevance = "answer_relevance"
    assert list(made) == [
        (relevance, "raters"),
        (relevance, "e"),
        ("context_utilization", "raters"),
    ]
    assert made[relevance, "raters"].value == pytest.approx(0.5)
    # rows: people 1 2 2 1 3 3 against .1 .1 .1 .1 .9 .9: ranks centred -2 0 0 -2 2 2 and -1 -1 -1 -1 2 2; products
    # 2 0 0 2 4 4 = 12; squares 16 and 12: rho = 12/sqrt(192) = .86603
    assert made[relevance, "e"].n == 6
    assert made[relevance, "e"].value == pytest.approx(0.75**0.5)
    by_proxy = results(
        proxied={("g", "p"): {ABSOLUTE: [score(f"q{i}", v) for i, v in enumerate([0.1, 0.1, 0.9])]}}
    )
    assert [other for _, other in people.on_scales(given, by_proxy)] == ["raters", "raters", "p"]


def test_labels_are_read_from_a_file(tmp_path: Path):
    path = tmp_path / "labels.csv"
    path.write_text(
        "item,rater,dimension,label\nq0,ann,hazard,Yes\na-q0,bob,hazard,N/A\nq1,ann,answer_relevance,7\n"
        "q1,ann,confidence,9\n",
        encoding="utf-8",
    )
    got = read_labels(path, WEIGHTS, KNOWN)
    hazard, relevance = {item(0): {"ann": "yes", "bob": "n/a"}}, {item(1): {"ann": 7.0}}
    assert got.by_dimension == {"hazard": hazard, "answer_relevance": relevance}
    assert got.left_out == {"confidence": 1}
    assert (got.raters, got.items) == ({"ann", "bob"}, {item(0), item(1)})


@pytest.mark.parametrize(
    ("record", "told"),
    [
        ({"item": "q0", "rater": "ann", "dimension": "hazard"}, "label: is empty"),
        (
            {"item": "q9", "rater": "ann", "dimension": "hazard", "label": "yes"},
            "g has no answer q9",
        ),
        (
            {"item": "q0", "rater": "ann", "dimension": "hazard", "label": "perhaps"},
            "expected yes, no or n/a",
        ),
        (
            {"item": "q0", "rater": "ann", "dimension": "answer_relevance", "label": "high"},
            "expected a number",
        ),
        (
            {"item": "q0", "rater": "ann", "dimension": "answer_relevance", "label": "nan"},
            "label: is empty",
        ),
        (
            {"item": "q0", "rater": "ann", "dimension": "hazard", "label": "no", "system": "h"},
            "no generator h",
        ),
    ],
)
def test_a_wrong_label_is_named_with_its_line(tmp_path: Path, record: dict[str, str], told: str):
    good = {"item": "q0", "rater": "bob", "dimension": "hazard", "label": "yes"}
    with pytest.raises(BadInput, match=f"labels.jsonl:2: .*{told}"):
        read_labels(write_jsonl(tmp_path / "labels.jsonl", [good, record]), WEIGHTS, KNOWN)


@pytest.mark.parametrize("name", ["Hazard", "HAZARD", " hazard "])
def test_a_dimension_is_known_in_any_case(tmp_path: Path, name: str):
    lines = [{"item": "q0", "rater": "ann", "dimension": name, "label": "YES"}]
    lines += [{"item": "q0", "rater": "ann", "dimension": "Answer Relevance", "label": "7"}]
    got = read_labels(write_jsonl(tmp_path / "labels.jsonl", lines), WEIGHTS, KNOWN)
    own = {"hazard": {item(0): {"ann": "yes"}}, "answer_relevance": {item(0): {"ann": 7.0}}}
    assert (got.by_dimension, got.left_out) == (own, {})


def test_labels_that_belong_nowhere_are_refused(tmp_path: Path):
    twice = [{"item": "q0", "rater": "bob", "dimension": "hazard", "label": "yes"}] * 2
    with pytest.raises(BadInput, match="the study has several generators, g, h"):
        read_labels(write_jsonl(tmp_path / "one.jsonl", twice[:1]), WEIGHTS, {**KNOWN, "h": {}})
    other = [{**twice[0], "dimension": "style"}]
    with pytest.raises(UserError, match="no label of the study's dimensions: hazard, location"):
        read_labels(write_jsonl(tmp_path / "other.jsonl", other), WEIGHTS, KNOWN)
