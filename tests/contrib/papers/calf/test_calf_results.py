"""The arithmetic of a CALF study, on the pairs of `calf_runs`, which are counted by hand, and on real ones."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest
from tests.contrib.papers.calf.calf_runs import (
    CHOICES,
    JUDGE,
    METRIC,
    VOTER,
    pairs,
    row,
    rows,
    write_run,
)

from longmark.analysis.grid import Grid
from longmark.analysis.metaeval.baselines import FIRST, LONGER, LONGER_WORDS, MODEL, TITLES
from longmark.analysis.metaeval.tie_bands import best_band, split
from longmark.contrib.papers.calf import cases
from longmark.contrib.papers.calf.page import pages
from longmark.contrib.papers.calf.results import (
    CalfOptions,
    CalfResults,
)
from longmark.contrib.papers.calf.rows import read
from longmark.contrib.papers.calf.sources import in_words, table6
from longmark.contrib.papers.recipe.schema import Condition
from longmark.contrib.papers.recipe.tables import GridTable
from longmark.errors import UserError
from longmark.report.tables import as_csv
from longmark.scores.files import examples_of
from longmark.stats.results import Estimate


def results(folder: Path, *, options: CalfOptions | None = None, **given: Any) -> CalfResults:
    return CalfResults(read([write_run(folder / "run", **given)]), options or CalfOptions())


def grids(found: CalfResults) -> dict[str, Grid[Any]]:
    """The tables of the recipe by their names."""
    return dict(pages(found).grids)


def cells(grid: Grid[Any], row: str | None) -> list[float | None]:
    """The figures of a line, to three decimals; None: of all pairs."""
    return [shown(grid[(row,), column.name])[0] for column in grid.columns]


def shown(estimate: Estimate | None) -> tuple[float | None, int]:
    assert estimate is not None
    return None if estimate.value is None else round(estimate.value, 3), estimate.n


def test_accuracy_is_the_share_of_peoples_choices_with_and_without_their_ties(tmp_path: Path):
    found = {one.metric: one for one in results(tmp_path).metrics}
    metric = found[METRIC]  # right on 1, 4, 5, 8 of the seven it scored
    assert shown(metric.accuracy) == (0.571, 7)
    assert shown(metric.without_ties) == (0.5, 6)  # 1, 5, 8 of 1, 2, 3, 5, 6, 8
    assert shown(metric.decided) == (0.6, 5)  # and without 3, which it ties
    assert metric.unscored == {"unparsable": 1}
    assert shown(found[TITLES[FIRST]].accuracy) == (0.375, 8)  # 1, 5, 7
    assert shown(found[TITLES[MODEL]].accuracy) == (0.5, 2)  # 3 of 3, 4
    assert shown(found[TITLES[LONGER_WORDS]].accuracy) == (0.5, 8)  # 1, 5, 7, 8
    assert found[TITLES[LONGER]].choices == found[TITLES[LONGER_WORDS]].choices
    assert found[JUDGE].unscored == {"no row": 4}


def test_pairs_of_one_question_are_one_cluster(tmp_path: Path):
    (metric,) = [one for one in results(tmp_path).metrics if one.metric == METRIC]
    assert metric.accuracy.clusters == 4  # q1, q2, q3, q5


def test_tables_by_subject_and_mode_have_the_mean_of_the_groups_and_of_all_pairs(tmp_path: Path):
    found = results(tmp_path)
    third, fifteenth = (grids(found)[name] for name in ("table3", "table15"))
    assert [column.name for column in third.columns] == ["all", "art", "law", "Avg."]
    assert cells(third, METRIC) == [
        0.571,
        0.667,
        0.5,
        0.583,
    ]  # 5, 8 of 5, 6, 8; 1, 4 of 1 to 4; (2/3 + 1/2) / 2
    assert cells(third, TITLES[MODEL]) == [
        0.5,
        None,
        0.5,
        None,
    ]  # art has no pair of human and model: no mean
    assert cells(fifteenth, METRIC) == [0.5, 0.667, 0.333, 0.5]  # law without pair 4: 1 of 1, 2, 3
    art = third[(METRIC,), "art"]
    assert (art.n, art.missing) == (3, 1)  # type: ignore[union-attr]  # 7 has no score
    modes = grids(found)
    assert cells(modes["by_mode"], METRIC) == [0.571, 0.5, 0.5, 1.0, 0.667]
    assert [column.name for column in modes["table4"].columns[1:-1]] == [
        "art H/H",
        "art M/M",
        "law H/H",
        "law H/M",
    ]
    assert cells(modes["table4"], METRIC) == [0.571, 0.5, 1.0, 0.5, 0.5, 0.625]


def test_the_raters_agreement_and_accuracy_where_they_differ_and_where_they_agree(tmp_path: Path):
    found = results(tmp_path)
    second = grids(found)["table2"]
    agreeing = {subject: cells(second, subject) for (subject,) in second.rows}
    assert agreeing == {
        "art": [0.75, 0.5, None, 1.0],
        "law": [0.75, 0.5, 1.0, None],
        None: [0.75, 0.5, 1.0, 1.0],
    }
    sixteen, seventeen = (grids(found)[name] for name in ("table16", "table17"))
    assert cells(sixteen, METRIC) == [0.5, 1.0, 0.0, 0.5]  # 5 is right, 2 is not
    assert cells(seventeen, METRIC) == [
        0.6,
        0.5,
        0.667,
        0.583,
    ]  # 8 of 6, 8 (7 has no score); 1, 4 of 1, 3, 4
    assert "Percentage" in found.people.coefficients[0].coefficient.title()
    (ceiling,) = [one for one in found.people.ceilings if one.name == "a rater"]
    assert shown(ceiling.agrees) == (0.75, 16)


def test_errors_of_expanded_references_are_counted_once_a_question(tmp_path: Path):
    checks = {  # pairs 1 and 2 are of q1 (law), 5 of q3 (art): 2 of 3 answers say new information in q1, 1 of 2 in q3
        "1": {
            "one": {"factual_error": "no", "new_information": "yes"},
            "two": {"new_information": "no"},
        },
        "2": {"one": {"new_information": "yes", "improper_expansion": "no"}},
        "5": {
            "one": {"new_information": "no", "factual_error": "no"},
            "two": {"new_information": "yes"},
        },
    }
    given = [{**pair, "expansion_checks": checks.get(pair["id"], {})} for pair in pairs()]
    (table,) = table6(results(tmp_path, given=given))
    assert [column.name for column in table.columns] == ["error", "art", "law", "all"]
    assert list(table.rows) == [
        ("factual error", 0, 0, 0),
        ("new information", 1, 1, 2),
        ("improper expansion", 0, 0, 0),
        ("references checked", 1, 1, 2),
    ]
    assert table6(results(tmp_path)) == []


def test_one_rater_is_no_second_rater(tmp_path: Path):
    single = [{**pair, "labels": {"one": pair["label"]}} for pair in pairs()]
    found = results(tmp_path, given=single)
    second = grids(found)["table2"]
    assert {figure for (subject,) in second.rows for figure in cells(second, subject)} == {None}
    assert [grids(found)[name].rows for name in ("table16", "table17")] == [[], []]
    assert found.agreeing(range(8)).reason == "no second rater"


def test_flips_are_choices_that_depend_on_the_order(tmp_path: Path):
    found = grids(results(tmp_path))["orders"]
    judge = {column.name: shown(found[(JUDGE,), column.name]) for column in found.columns}
    assert judge == {
        "same choice": (0.75, 4),
        "chooses the first shown": (0.667, 6),  # 1: a of a, not of b; 2: both; 3: not of a, of b
        "right in both": (0.75, 4),
        "accuracy, a first": (0.75, 4),  # a a b tie for a b b tie
        "accuracy, b first": (1.0, 4),  # a b b tie
    }
    assert shown(found[(VOTER,), "same choice"]) == (None, 0)  # it saw one order


def test_a_judge_that_always_chooses_the_first_flips_on_every_pair(tmp_path: Path):
    both = [{"first": "a", "choice": "a"}, {"first": "b", "choice": "b"}]
    made = [row(str(number), JUDGE, "tie", choices=both) for number in range(1, 9)]
    judge = results(tmp_path, made=made).of_orders(JUDGE)
    assert (shown(judge["same choice"]), shown(judge["chooses the first shown"])) == (
        (0.0, 8),
        (1.0, 16),
    )


def test_peoples_choice_among_the_votes(tmp_path: Path):
    found = grids(results(tmp_path))["figure2"]
    assert found.rows == [(VOTER, None), (VOTER, "art"), (VOTER, "law")]
    assert [shown(found[(VOTER, None), column.name]) for column in found.columns] == [
        (0.667, 3),  # a in a a b, b in a b tie, b not in a a a
        (0.333, 3),  # a, tie, a for a, b, b
        (0.333, 3),
    ]


def test_two_metrics_make_the_same_choice_on_the_pairs_that_both_scored(tmp_path: Path):
    found = results(tmp_path)
    assert shown(found.same(METRIC, TITLES[FIRST], range(8))) == (0.571, 7)  # a on 1, 2, 5, 6
    assert shown(found.same(METRIC, JUDGE, range(8))) == (0.5, 4)  # a a, a tie, tie b, tie tie


def test_the_best_band_is_the_smallest_with_the_most_right_choices():
    given = [(0.1, "tie"), (-0.2, "tie"), (0.3, "b"), (0.5, "a"), (-0.6, "b")]
    # band 0: .5 and -.6 are right, 2 of 5; .1: 3; .2: 4; .3: 4 (.3 then ties, still wrong); .5: 3; .6: 2
    assert best_band(given) == (0.2, 0.8)
    assert best_band([(0.0, "tie"), (0.0, "a"), (1.0, "a")]) == (0.0, 2 / 3)


@pytest.mark.parametrize("seed", range(20))
def test_the_best_band_is_the_one_of_a_search_through_all(seed: int):
    chance = random.Random(seed)
    given = [(round(chance.uniform(-1, 1), 1), chance.choice(["a", "b", "tie"])) for _ in range(30)]

    def right(band: float) -> int:
        made = [("tie" if abs(x) <= band else "a" if x > 0 else "b", gold) for x, gold in given]
        return sum(one == gold for one, gold in made)

    bands = sorted({0.0, *(abs(x) for x, _ in given)})
    best = max(bands, key=lambda band: (right(band), -band))
    assert best_band(given) == (best, right(best) / 30)


def test_a_band_is_chosen_on_some_questions_and_tested_on_the_others(tmp_path: Path):
    found = results(tmp_path, options=CalfOptions(development=0.4))
    metric = found.of_split(METRIC)
    questions = {found.pairs[row].question for row in found.tuning}
    assert len(questions) == 2  # .4 of five
    assert metric.development.n + metric.rest.n == 7
    assert metric.banded is not None
    assert metric.gain is not None
    assert metric.banded.n == metric.rest.n
    gain = (metric.banded.value or 0) - (metric.rest.value or 0)
    assert metric.gain.value == pytest.approx(gain)
    assert [found.of_split(name).band for name in (JUDGE, TITLES[FIRST])] == [None, None]


def test_the_split_depends_on_the_seed_and_the_questions_only():
    names = [f"q{i}" for i in range(50)]
    assert split(names, 0.3, 0) == split(names[::-1] * 2, 0.3, 0)
    assert len(split(names, 0.3, 0)) == 15
    assert split(names, 0.3, 0) != split(names, 0.3, 1)
    assert split(names, 0.0, 0) == set()


def test_scores_of_which_lower_is_better_are_turned(tmp_path: Path):
    scores = read([write_run(tmp_path / "run")]).judges[METRIC].scores
    assert scores[0] == (-0.5, -0.6)  # a is better with .5 than b with .6
    assert [place for place in scores if CHOICES[place] == "b"] == [7]


def test_the_order_of_the_pairs_and_of_the_sides_changes_nothing(tmp_path: Path):
    mixed = pairs()
    random.Random(1).shuffle(mixed)
    turned = {"a": "b", "b": "a", "tie": "tie", None: None}
    swapped = [
        {
            **pair,
            **{
                f"{mine}{end}": pair[f"{other}{end}"]
                for mine, other in ("ab", "ba")
                for end in ("", "_system")
            },
            "label": turned[pair["label"]],
            "labels": {rater: turned[choice] for rater, choice in pair["labels"].items()},
        }
        for pair in pairs()
    ]
    back = [
        row(str(number), METRIC, turned[choice]) for number, choice in enumerate(CHOICES, start=1)
    ]
    before = {one.metric: one for one in results(tmp_path).metrics}
    shuffled = {one.metric: one for one in results(tmp_path / "mixed", given=mixed).metrics}
    assert {name: one.accuracy for name, one in before.items()} == {
        n: one.accuracy for n, one in shuffled.items()
    }
    other = {
        one.metric: one for one in results(tmp_path / "swapped", given=swapped, made=back).metrics
    }
    for name in (METRIC, TITLES[LONGER_WORDS], TITLES[LONGER], TITLES[MODEL]):
        assert other[name].accuracy == before[name].accuracy


def test_the_worst_disagreements_are_opposite_choices_of_which_the_metric_is_surest(tmp_path: Path):
    found = results(tmp_path)
    # wrong: 2 (raters differ, .2 apart), 3 (a tie), 6 (raters agree, .6 apart)
    assert cases.worst(found, found.judges[METRIC]) == [5, 1, 2]
    assert cases.worst(found, found.judges[VOTER]) == [2, 1]  # 3: a for b; 2: a tie for b
    assert set(cases.links(found)) == {METRIC, JUDGE, VOTER}
    assert cases.worst(results(tmp_path, options=CalfOptions(worst=1)), found.judges[METRIC]) == [5]


def test_verdicts_in_a_file_of_pairs_are_those_of_a_metric(tmp_path: Path):
    both = [{"first": "a", "choice": "a"}, {"first": "b", "choice": "b"}]
    given = [{**pair, "meta": {"verdicts": {"ChatGPT": both}}} for pair in pairs()]
    found = results(tmp_path, given=given, made=[])
    assert found.judges["ChatGPT"].made(8) == ["tie"] * 8
    assert shown(found.of_orders("ChatGPT")["same choice"]) == (0.0, 8)


def test_a_verdict_missing_from_some_pairs_leaves_them_unscored(tmp_path: Path):
    given = [
        {**pair, "meta": {"verdicts": {"ChatGPT": [{"choice": "b"}] if n % 2 else []}}}
        for n, pair in enumerate(pairs())
    ]
    found = results(tmp_path, given=given, made=[])
    assert found.judges["ChatGPT"].made(8) == [None, "b"] * 4
    assert cases.write_pages(found, examples_of(tmp_path / "run"), tmp_path / "out")


@pytest.mark.parametrize(("says", "best"), [("a", None), ("b", METRIC)])
def test_a_judge_that_chose_once_is_not_the_best_for_it(
    tmp_path: Path, says: str, best: str | None
):
    """People chose a on the first pair; the metric is right on it and on six of the other seven."""
    gold = results(tmp_path / "gold").gold
    made = [row(str(n), METRIC, "a" if n == 8 else choice) for n, choice in enumerate(gold, 1)]
    found = results(tmp_path, made=[*made, row("1", JUDGE, says)])
    assert found.gold[0] == "a"
    assert found.best((METRIC, JUDGE), [range(8)]) == best
    assert f"The best metric is {best or 'undecided'}" in in_words(found)
    page = pages(found)
    (table,) = [table for _, table in page.recipe.tables() if table.name == "table3"]
    two = table.model_copy(update={"where": {"metric": Condition(among=(METRIC, JUDGE))}})
    bold = GridTable(two, page.sources["choices"]).grid().best
    assert bold.get("all") == ({(best,)} if best else None)


def test_a_judge_that_sees_one_answer_at_a_time_has_no_orders(tmp_path: Path):
    found = results(
        tmp_path,
        made=[row("1", "pairs.keypoints", "a", choices=[{"choice": "a", "judge": "small"}])],
    )
    assert found.judges["pairs.keypoints"].made(8)[0] == "a"
    assert grids(found)["orders"].rows == []


def test_a_metric_without_a_test_is_not_tested(tmp_path: Path):
    found = results(tmp_path, made=[row("1", METRIC, None), row("1", JUDGE, "b")])
    assert {found.against_baseline(one.metric) for one in found.metrics} == {
        "baseline",
        "not tested",
    }


def test_a_metric_of_two_runs_has_the_runs_name(tmp_path: Path):
    first, second = (write_run(tmp_path / name) for name in ("small", "large"))
    assert f"{METRIC} (small)" in read([first, second]).judges


def judged(**verdicts: Any) -> list[dict[str, Any]]:
    """The pairs with verdicts of models."""
    return [{**pair, "meta": {"verdicts": verdicts}} for pair in pairs()]


@pytest.mark.parametrize(
    ("given", "made", "message"),
    [
        (
            [{**pair, "label": None, "labels": {}} for pair in pairs()],
            rows(),
            "none of the 8 pairs has a human choice",
        ),
        ([{"id": "1", "question": "Why?", "answer": "So."}], [], "is not a pair"),
        (pairs(), [row("9", METRIC, "a")], "unknown pair 9"),
        (pairs(), [{**row("1", METRIC, "a"), "score": 0.5}], "has the score 0.5"),
        ([{**pair, "meta": {"verdicts": "a"}} for pair in pairs()], [], "meta.verdicts"),
        (judged(X=[{"first": "a", "choice": "A"}]), [], 'meta.verdicts: X.0.choice: .* found "A"'),
        (judged(X=[{"first": ["a"], "choice": "a"}]), [], "meta.verdicts: X.0.first"),
        (judged(X=["a"]), [], "meta.verdicts: X.0"),
        (judged(**{"always the first answer": [{"choice": "a"}]}), [], "name of a baseline"),
        (
            judged(**{METRIC: [{"choice": "a"}]}),
            [row("1", METRIC, "a")],
            "also the name of a metric",
        ),
    ],
)
def test_what_cannot_be_studied_is_named(tmp_path: Path, given: Any, made: Any, message: str):
    with pytest.raises(UserError, match=message):
        results(tmp_path, given=given, made=made)


def test_two_pairs_of_one_id_must_be_equal(tmp_path: Path):
    other = [{**pair, "a": "Another answer."} for pair in pairs()]
    runs = [write_run(tmp_path / "one"), write_run(tmp_path / "two", other)]
    with pytest.raises(UserError, match="pair 1 differs"):
        read(runs)


def test_the_tables_hold_every_metric_and_no_figure_is_rounded(tmp_path: Path):
    found = results(tmp_path)
    text = as_csv(grids(found)["accuracy"].table())
    assert text.count("\n") == 8
    assert "0.5714285714285714" in text
    assert [line[1] for line in grids(found)["table1"].table().rows] == [4, 4, 8]


@pytest.mark.parametrize(
    "choices", [5, ["a"], [{"choice": "A"}], [{"first": "c", "choice": "a"}], {"a": 1}]
)
def test_choices_of_another_form_keep_the_score_and_are_counted(tmp_path: Path, choices: Any):
    odd = [
        {**one, "evidence": {"choices": choices, "pair": {"a": "no"}}}
        for one in (row("1", METRIC, "a"),)
    ]
    found = results(tmp_path, made=odd)
    judge = found.read.judges[METRIC]
    assert (judge.choices, judge.orders, judge.votes, judge.scores) == ({0: "a"}, {}, {}, {})
    assert (
        f"{METRIC}: the evidence of 1 row has another form; no orders or votes of them."
        in found.read.notices
    )
