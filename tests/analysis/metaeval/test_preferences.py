"""Choices between two answers against metrics, and people among themselves: by hand, SciPy's tests, and properties."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from tests.report.runs import manifest, row, write_run
from tests.there import counted, there

from longmark.analysis.metaeval import metaeval
from longmark.analysis.metaeval.agreement import RATER, RatedItems, Vote, agreement, most_of_others
from longmark.analysis.metaeval.baselines import LONGER, TITLES
from longmark.analysis.metaeval.choice_sample import ChoiceMetric
from longmark.analysis.metaeval.choices import ChoiceLabel
from longmark.analysis.metaeval.options import MetaevalOptions
from longmark.analysis.metaeval.sections import document
from longmark.records import Example, Row
from longmark.records.pair import plurality

Values = list[tuple[float | None, float | None]]


def rows_of(metric: str, values: Values) -> list[Row]:
    return [
        row(f"{system}{q}", metric, value, question_id=f"q{q}", system=system)
        for q, both in enumerate(values)
        for system, value in zip("xy", both, strict=True)
    ]


def human(choices: list[str], **more: Any) -> list[dict[str, Any]]:
    return [
        {"question_id": f"q{q}", "a": "x", "b": "y", "choice": choice, "rater": "r", **more}
        for q, choice in enumerate(choices)
    ]


def part_of(found: Any) -> ChoiceLabel:
    part = found.labels[0]
    assert isinstance(part, ChoiceLabel)
    return part


def accuracy(found: Any, name: str) -> ChoiceMetric:
    return next(a for a in part_of(found).metrics if a.metric == name)


def test_accuracy_with_and_without_ties_by_hand():
    # people  a    a          b    tie  b    a
    # metric  a    tie (.004) b    tie  a    –     right: 1, 3, 4 of 5; where people decided: 1, 3 of 1, 2, 3, 5;
    # where both decided: 2 of 1, 3, 5. Ties 2 of 5. Of the three decisions a, b, a two are for a.
    values: Values = [(0.9, 0.1), (0.501, 0.504), (0.2, 0.3), (0.5, 0.5), (0.6, 0.5), (0.9, None)]
    found = metaeval(rows_of("m", values), human(["a", "a", "b", "tie", "b", "a"]))
    m = accuracy(found, "m")
    assert (m.accuracy.value, m.accuracy.n) == (0.6, 5)
    assert (m.without_ties.value, m.without_ties.n) == (0.5, 4)
    assert m.decided.value == pytest.approx(2 / 3)
    assert m.decided.n == 3
    assert (counted(m.ties), counted(m.first), m.first.n, m.accuracy.missing) == (2, 2, 3, 1)
    assert part_of(found).metrics[0].unscored == {"unparsable": 1}
    usual = accuracy(found, "always the most frequent choice (a)")
    assert (usual.accuracy.value, usual.accuracy.n) == (0.5, 6)
    fine = accuracy(
        metaeval(rows_of("m", values), human(["a", "a", "b", "tie", "b", "a"]), round=3), "m"
    )
    assert (counted(fine.ties), fine.accuracy.value) == (1, 0.6)


def test_lower_is_better_turns_the_choice(tmp_path: Path):
    rows = rows_of("rate", [(0.9, 0.1), (0.1, 0.9)])
    facts = {"rate": {"bounds": [0, 1], "higher_is_better": False}}
    run = write_run(tmp_path / "run", [], rows, {**manifest(), "metrics": facts})
    assert accuracy(metaeval(run, human(["b", "a"])), "rate").choices == ("b", "a")
    assert accuracy(metaeval(rows, human(["b", "a"])), "rate").choices == ("a", "b")


def test_the_longer_answer_is_a_baseline_where_answers_are_known(tmp_path: Path):
    texts = {
        "x0": "long answer",
        "y0": "short",
        "x1": "same",
        "y1": "four",
        "x2": "no",
        "y2": "longer",
    }
    examples = [
        Example(id=name, question="q", question_id=f"q{name[1]}", answer=text)
        for name, text in texts.items()
    ]
    rows = rows_of("m", [(1, 0), (1, 0), (1, 0)])
    run = write_run(tmp_path / "run", examples, rows, manifest())
    found = metaeval(run, human(["a", "tie", "a"]))
    assert accuracy(found, TITLES[LONGER]).choices == ("a", "tie", "b")
    assert accuracy(found, TITLES[LONGER]).accuracy.value == pytest.approx(2 / 3)
    assert TITLES[LONGER] not in [
        a.metric for a in part_of(metaeval(rows, human(["a", "tie", "a"]))).metrics
    ]


def test_the_difference_of_two_metrics_is_tested_by_signs_of_right_and_wrong():
    # 12 pairs where only m is right, 3 where only k is, 5 where both are. McNemar's exact p is the binomial's, .035;
    # Student's t of the skewness-corrected statistic has the larger p, and decides.
    m: Values = [*[(1.0, 0.0)] * 12, *[(0.0, 1.0)] * 3, *[(1.0, 0.0)] * 5]
    k: Values = [*[(0.0, 1.0)] * 12, *[(1.0, 0.0)] * 8]
    found = part_of(metaeval(rows_of("k", k) + rows_of("m", m), human(["a"] * 20)))
    (pair,) = found.differences
    assert (pair.first, pair.second) == ("m", "k")
    difference = pair.result
    assert (difference.only_first, difference.only_second, difference.n) == (12, 3, 20)
    assert difference.value == pytest.approx(9 / 20)
    assert stats.binomtest(3, 15).pvalue < difference.p == pytest.approx(0.0442, abs=1e-4)
    (same,) = found.same
    assert (counted(same.result), same.result.n) == (5, 20)


def test_several_pairs_of_a_question_are_resampled_together():
    rows = [
        row(f"{s}{q}", "m", float(v), question_id=f"q{q}", system=s)
        for q in range(6)
        for v, s in enumerate("xyz")
    ]
    said = [
        {"question_id": f"q{q}", "a": a, "b": b, "choice": "b" if q % 2 else "a"}
        for q in range(6)
        for a, b in (("x", "y"), ("y", "z"), ("x", "z"))
    ]
    m = accuracy(metaeval(rows, said), "m")
    assert (m.accuracy.value, m.accuracy.n, m.accuracy.method) == (0.5, 18, "Hall's t")
    assert m.accuracy.low is not None
    assert m.accuracy.low < 0.25  # eighteen independent pairs would give .29


def test_raters_and_the_order_they_saw():
    # r sees q0 both ways and keeps to x (first, then second), q1 both ways and takes the first each time; s ties once.
    said = [
        {"question_id": "q0", "a": "x", "b": "y", "choice": "a", "rater": "r"},
        {"question_id": "q0", "a": "y", "b": "x", "choice": "b", "rater": "r"},
        {"question_id": "q1", "a": "x", "b": "y", "choice": "a", "rater": "r"},
        {"question_id": "q1", "a": "y", "b": "x", "choice": "a", "rater": "r"},
        {"question_id": "q1", "a": "x", "b": "y", "choice": "tie", "rater": "s"},
    ]
    found = part_of(metaeval(rows_of("m", [(1, 0), (1, 0)]), said))
    whole, r, s = found.positions
    assert [
        (p.rater, counted(p.first), p.first.n, p.same.n, counted(p.same)) for p in (whole, r, s)
    ] == [
        ("all raters", 3, 4, 2, 1),
        ("r", 3, 4, 2, 1),
        ("s", 0, 0, 0, 0),
    ]
    # One voice each: r says x on q0, and a tie on q1, where s ties too.
    assert found.human == {"a": 1, "tie": 1}


def test_a_pair_chosen_on_twice_in_one_order_was_not_seen_in_both():
    # q0 twice with x first, named by systems and by ids. q1 twice so, and once with y first: x, x, y.
    labels = [
        {"question_id": "q0", "a": "x", "b": "y", "choice": "a", "rater": "r"},
        {"question_id": "q0", "a": "x0", "b": "y0", "choice": "a", "rater": "r"},
        {"question_id": "q1", "a": "x", "b": "y", "choice": "a", "rater": "r"},
        {"question_id": "q1", "a": "x1", "b": "y1", "choice": "a", "rater": "r"},
        {"question_id": "q1", "a": "y", "b": "x", "choice": "a", "rater": "r"},
    ]
    rater, *_ = part_of(metaeval(rows_of("m", [(1, 0), (1, 0)]), labels)).positions
    assert (counted(rater.same), rater.same.n) == (0, 1)


def test_pairs_without_a_majority_are_left_out_and_counted():
    said = human(["a", "a"]) + human(["b", "a"], rater="s")
    found = part_of(metaeval(rows_of("m", [(1, 0), (1, 0)]), said))
    assert (found.undecided, found.metrics[0].accuracy.n) == (1, 1)


@settings(max_examples=40)
@given(
    st.lists(
        st.tuples(st.integers(0, 4), st.integers(0, 4), st.sampled_from(["a", "b", "tie"])),
        min_size=1,
        max_size=12,
    )
)
def test_turning_all_pairs_round_changes_no_accuracy(items: list[tuple[int, int, str]]):
    turned = {"a": "b", "b": "a", "tie": "tie"}
    rows = rows_of("m", [(float(x), float(y)) for x, y, _ in items])
    said = human([choice for _, _, choice in items])
    other = [
        {**line, "a": line["b"], "b": line["a"], "choice": turned[line["choice"]]} for line in said
    ]
    one, two = accuracy(metaeval(rows, said), "m"), accuracy(metaeval(rows, other), "m")
    assert (one.accuracy, one.without_ties, one.decided, one.ties) == (
        two.accuracy,
        two.without_ties,
        two.decided,
        two.ties,
    )
    assert counted(one.first) == two.first.n - counted(two.first)


def test_a_person_against_the_others_by_hand():
    # Votes 1 1 0 | 0 0 0 | 1 1 1 | 1. On the first item each 1 stands against {1, 0}, which has no majority; the 0
    # against {1, 1}: wrong. The next six are right: 6 of 7. The fourth item has one vote and no others.
    votes = [[1, 1, 0], [0, 0, 0], [1, 1, 1], [1]]
    items = [[Vote(str(i), str(v), float(v)) for i, v in enumerate(each)] for each in votes]
    found = agreement(
        RatedItems(items, numeric=True),
        {"m": np.array([0.5, 0.1, 0.9, 0.9])},
        {},
        MetaevalOptions(),
    )
    assert (found.raters, found.items, found.rated_twice) == (3, 4, 3)
    person, metric = found.ceilings
    assert person.name == RATER
    assert person.agrees is not None
    assert person.agrees.value == pytest.approx(6 / 7)
    own, others = [1, 1, 0, 0, 0, 0, 1, 1, 1], [0.5, 0.5, 1, 0, 0, 0, 1, 1, 1]
    assert person.pearson is not None
    assert person.pearson.value == pytest.approx(stats.pearsonr(own, others).statistic)
    assert person.spearman is not None
    assert person.spearman.value == pytest.approx(stats.spearmanr(own, others).statistic)
    assert metric.pearson is not None
    marks = [0.5] * 3 + [0.1] * 3 + [0.9] * 3
    assert metric.pearson.value == pytest.approx(stats.pearsonr(marks, others).statistic)
    assert (metric.agrees, metric.ratings, metric.items) == (None, 9, 3)
    # Pairs that agree: 1/3, 1, 1.
    assert found.coefficients[0].value == pytest.approx(7 / 9)
    assert [(r.name, r.ratings, r.with_others) for r in found.by_rater] == [
        ("0", 4, 2),
        ("1", 3, 2),
        ("2", 3, 3),
    ]


def test_the_ceiling_is_over_items_with_rows():
    # With rows: 1 2 | 2 1 | 3 3 by two raters; own 1 2 2 1 3 3 against others 2 1 1 2 3 3, both with mean 2: sum of
    # products 0 0 0 0 1 1 = 2 - 4 * 0; deviations -1 0 0 -1 1 1 and 0 -1 -1 0 1 1, squares 4 and 4: r = 2/4. The item
    # without rows, 1 4, would make it lower. The metric scored the first two only.
    votes = [[1, 2], [2, 1], [3, 3], [1, 4]]
    items = [[Vote(str(i), str(v), float(v)) for i, v in enumerate(each)] for each in votes]
    rated = RatedItems(items, numeric=True, rows=[True, True, True, False])
    found = agreement(rated, {"m": np.array([0.1, 0.2, np.nan, np.nan])}, {}, MetaevalOptions())
    person, metric = found.ceilings
    assert person.pearson is not None
    assert person.pearson.value == pytest.approx(0.5)
    assert [(one.ratings, one.items) for one in (person, metric)] == [(6, 3), (4, 2)]
    assert (found.rated_twice, found.coefficients[0].n) == (4, 4)
    assert [one.ratings for one in found.by_rater] == [4, 4]
    none = agreement(
        RatedItems(items[:2], numeric=True, rows=[False, False]), {}, {}, MetaevalOptions()
    )
    assert (none.ceilings, none.rated_twice) == ((), 2)


def test_the_ceiling_of_ratings_and_of_choices_leaves_out_what_has_no_rows():
    rated = [
        {"example_id": f"{system}{q}", "value": q % 3, "rater": rater}
        for q in range(6)
        for system in "xy"
        for rater in ("ann", "bo")
    ]
    of_choices = [
        {"question_id": f"q{q}", "a": "x", "b": "y", "choice": "a", "rater": rater}
        for q in range(6)
        for rater in ("ann", "bo")
    ]
    rows = rows_of("m", [(0.1 * q, 0.2 * q) for q in range(4)])
    for human_file, items in ((rated, 8), (of_choices, 4)):
        (part,) = metaeval(rows, human_file).labels
        assert {(one.ratings, one.items) for one in part.agreement.ceilings} == {(2 * items, items)}


def test_pairs_without_a_majority_are_counted_beside_the_results():
    apart = [{**one, "rater": "s", "choice": "b"} for one in human(["a", "a"])]
    found = metaeval(
        rows_of("m", [(1, 0), (None, 0), (1, 0), (None, 0)]), [*human(["a", "a", "a", "a"]), *apart]
    )
    page = document(found)
    assert page.title == "Metrics against human choices"
    assert "4 compared pairs; scores from rows; human choices from human" in page.lede
    summary = page.sections[0]
    assert "4 pairs with human choices and rows. Excluded: 2 pairs without a majority." in (
        summary.says
    )
    assert "the one that the metric is least above" in summary.tables[0].note
    first, *_, usual = summary.tables[0].rows
    assert (first[0], first[2].n, first[2].missing) == ("m", 1, 1)
    assert (usual[1], usual[-1]) == (None, "baseline")
    join = next(table for table in page.sections[1].tables if table.name == "join")
    assert join.title == "Compared pairs with a score of each metric"
    assert page.sections[1].note.endswith("n and missing below only those with a majority.")


def test_one_rater_has_no_ceiling():
    found = agreement(RatedItems([[Vote("x", "a", None)]] * 5), {}, {}, MetaevalOptions())
    assert (found.reason, found.ceilings, found.coefficients) == ("there is one rater only", (), ())
    apart = agreement(
        RatedItems([[Vote(str(i), "a", None)] for i in range(5)]), {}, {}, MetaevalOptions()
    )
    assert apart.reason == "no answer has ratings of two raters"


def test_three_systems_have_an_order_by_raters_and_by_metrics():
    random = np.random.default_rng(6)
    worth = {"x": 0.8, "y": 0.5, "z": 0.2}
    rows, choices = [], []
    for q in range(30):
        scores = {
            system: float(np.clip(worth[system] + random.normal(0, 0.4), 0, 1)) for system in worth
        }
        rows += [
            row(f"{s}{q}", "m", score, question_id=f"q{q}", system=s) for s, score in scores.items()
        ]
        for a, b in (("x", "y"), ("y", "z"), ("x", "z")):
            for rater in ("ann", "bo"):
                choice = "a" if random.random() < 0.5 + (worth[a] - worth[b]) / 2 else "b"
                choices.append(
                    {"question_id": f"q{q}", "a": a, "b": b, "choice": choice, "rater": rater}
                )
    found = metaeval(rows, choices)
    part = part_of(found)
    (by, people), (metric, scored) = part.strengths
    assert (by, metric) == ("raters", "m")
    assert [one.system for one in people] == [one.system for one in scored] == ["x", "y", "z"]
    assert [one.n for one in people] == [120, 120, 120]  # each rater's choice counts
    assert [one.n for one in scored] == [60, 60, 60]
    first = people[0].log_strength
    assert first.clusters == 30
    assert first.low is not None
    assert first.value is not None
    assert 0 < first.low < first.value
    titles = [section.title for section in document(found).sections]
    assert "Strengths of the systems" in titles


def test_two_systems_have_no_table_of_strengths():
    assert (
        part_of(metaeval(rows_of("m", [(0.9, 0.1)] * 3), human(["a", "b", "tie"]))).strengths == ()
    )


def test_a_metric_is_above_the_baselines_by_its_paired_difference_over_all_metrics():
    # 40 questions, people say a on 22 (the most frequent choice is right on 22) and b on 18. A metric that is right on
    # these 18 and on 12 of the others is right on 30; of discordant pairs it wins 18 and loses 10: p .185 (McNemar).
    # Its accuracy .75 [.60, .86] lies wholly above the point .55. One that is right on 36 wins 18 and loses 4: p .004.
    people = ["a"] * 22 + ["b"] * 18

    def right_on(count: int) -> Values:
        return [(0.9, 0.1) if q < count else (0.1, 0.9) for q in range(40)]

    def conclusions(others: int) -> dict[str, str]:
        rows = rows_of("fair", right_on(12)) + rows_of("good", right_on(18))
        for i in range(others):
            rows += rows_of(
                f"noise{i}",
                [(0.9, 0.1) if (q * (i + 3)) % 7 < 4 else (0.1, 0.9) for q in range(40)],
            )
        found = metaeval(rows, human(people))
        return {str(line[0]): str(line[-1]) for line in document(found).sections[0].tables[0].rows}

    assert conclusions(0)["fair"] == "not above the baselines"
    assert conclusions(0)["good"] == "above the baselines"
    assert conclusions(30)["good"] == "not above the baselines"  # 32 x .004 > .05
    alone = accuracy(metaeval(rows_of("good", right_on(18)), human(people)), "good")
    p = 2 * float(stats.binom.cdf(4, 22, 0.5))
    assert alone.adjusted == pytest.approx(p, abs=1e-3)
    assert there(alone.beside).value == pytest.approx(14 / 40)
    of_rows = metaeval(rows_of("good", right_on(18)), human(people))
    table = document(of_rows).sections[0].tables[0]
    line = dict(zip([column.name for column in table.columns], table.rows[0], strict=True))
    assert line["metric"] == "good"
    assert line["baseline"] == alone.baseline == "always the most frequent choice (a)"


def test_the_majority_of_the_others_is_that_of_each_vote_left_out():
    chance = np.random.default_rng(2)
    for _ in range(200):
        votes = [
            Vote(str(i), str(name), None)
            for i, name in enumerate(chance.integers(0, 4, chance.integers(2, 9)))
        ]
        naive = [
            plurality(vote.name for j, vote in enumerate(votes) if j != i)
            for i in range(len(votes))
        ]
        assert most_of_others(votes) == naive
    many = [
        Vote(str(i), str(i % 5), None) for i in range(30_000)
    ]  # every other vote of every vote: 9 x 10^8
    assert len(most_of_others(many)) == 30_000
