"""The tables and figures of a comparison."""

import dataclasses
import io

import numpy as np
import pytest
from rich.console import Console
from tests.analysis.compare.runs import lines, run_of
from tests.report.drawn import drawn
from tests.report.runs import CORRECTNESS, EASE, GRADE, HOSTILE, RELEVANCE
from tests.there import there

from longmark.analysis.compare import compare, document
from longmark.analysis.compare.basis_sections import bars, rankings
from longmark.analysis.compare.difference_sections import MOST_PAIRS, differences
from longmark.analysis.metrics_study import document as metrics_document
from longmark.analysis.metrics_study import metrics_study
from longmark.report.document import brief, publish, write_document
from longmark.report.tables import Best, Range, as_csv, as_latex, as_text
from longmark.stats.hypotheses import Hypothesis


def pair(tmp_path, shift, metric=RELEVANCE, n=40):
    random = np.random.default_rng(4)
    base = random.random(n) * 0.5
    values = {"x": base + shift + random.normal(0, 0.1, n), "y": base + random.normal(0, 0.1, n)}
    return compare(
        [run_of(tmp_path / "run", {k: {metric: v.tolist()} for k, v in values.items()})], draws=999
    )


def test_a_difference_has_its_size_and_its_certainty_in_one_line(tmp_path):
    found = pair(tmp_path, 0.2)
    difference = found.metrics[0].pairs[0].difference
    (line,) = lines(found, "results")
    assert (line["difference"].value, line["difference"].ends) == (
        difference.value,
        difference.ends,
    )
    assert (line["p_adjusted"], line["n"], line["conclusion"]) == (
        0.001,
        Range(40, 40),
        "x is better",
    )
    size = f"{difference.value:+.3f} [{difference.low:.3f}, {difference.high:.3f}]"
    assert (
        document(found)
        .sections[0]
        .says.startswith(
            f"x is better on Question relevance (x - y: {size}). Significant differences: 1"
        )
    )
    assert line["direction"] == "higher is better"


def test_figures_name_metrics_in_words(tmp_path):
    labels = {
        figure.label
        for section in document(pair(tmp_path, 0.2)).sections
        for figure in section.figures
    }
    words = "Question relevance"
    assert labels == {f"{words} (higher is better)", words, f"{words}: first minus second"}


def test_no_significant_difference_is_not_equality(tmp_path):
    found = pair(tmp_path, 0.0)
    page = document(found)
    assert lines(found, "results")[0]["conclusion"] == "no significant difference"
    most = max(map(abs, found.metrics[0].pairs[0].difference.ends))
    assert page.sections[0].says.startswith(
        f"No difference is shown; any is at most {most:.3f} on Question relevance."
    )
    assert page.sections[0].note.startswith("No significant difference does not mean equal")
    assert (
        lines(found, "differences")[0]["detectable"]
        == found.metrics[0].pairs[0].difference.detectable
    )


def test_if_neither_direction_is_better_no_system_is_called_better(tmp_path):
    found = pair(tmp_path, 3.0, GRADE)
    (line,) = lines(found, "results")
    assert (line["conclusion"], line["direction"]) == ("x is higher", "neither")
    assert [row["rank"] for row in lines(found, "means")] == [None, None]
    assert lines(found, "wins")[0]["counts"] == "first higher / equal / first lower"


def test_without_a_manifest_the_direction_is_not_known(tmp_path):
    run = run_of(
        tmp_path / "run",
        {"x": {RELEVANCE: [0.9] * 8}, "y": {RELEVANCE: [0.1 * i for i in range(8)]}},
    )
    (run / "manifest.json").unlink()
    found = compare([run], draws=200)
    assert lines(found, "results")[0]["direction"] == "not known"
    assert lines(found, "means")[0]["rank"] is None


def test_of_several_systems_the_best_is_named_with_those_below_it(tmp_path):
    random = np.random.default_rng(5)
    base = random.random(60) * 0.4
    shifts = {"a": 0.3, "b": 0.29, "c": 0.0, "d": 0.0}
    values = {
        k: {RELEVANCE: (base + s + random.normal(0, 0.05, 60)).tolist()} for k, s in shifts.items()
    }
    found = compare([run_of(tmp_path / "run", values)], draws=999)
    metric = found.metrics[0]
    (line,) = lines(found, "results")
    one, other = (system.system for system in metric.systems[:2])
    best = f"{one} is better than c and d, {other} than c and d"
    assert (line["pairs_that_differ"], line["n"], line["conclusion"]) == (
        "4 / 6",
        Range(60, 60),
        best,
    )
    assert [system.groups for system in metric.systems] == ["a", "a", "b", "b"]
    assert [row["rank"] for row in lines(found, "means")] == ["1-2", "1-2", "3-4", "3-4"]
    bold = {
        name
        for name, cell in zip(
            "abcd", document(found).sections[0].tables[0].rows[0][2:], strict=False
        )
        if isinstance(cell, Best)
    }
    assert bold == {"a", "b"}, "neither is significantly worse than another"


def test_what_was_not_tested_has_a_reason(tmp_path):
    found = compare(
        [
            run_of(
                tmp_path / "run",
                {k: {RELEVANCE: [0.1, v]} for k, v in {"x": 0.5, "y": 0.9}.items()},
            )
        ]
    )
    page = document(found)
    assert page.sections[0].says == "Nothing was tested."
    why = "the test needs at least 3 common questions; found 2"
    assert lines(found, "results")[0]["conclusion"] == "not tested: too few questions"
    assert why in lines(found, "differences")[0]["difference"].reason
    assert why in as_text(page.sections[1].tables[0])
    assert "not tested" in drawn(differences(found.metrics))


def test_tables_hold_every_pair_and_system_and_write_in_every_form(tmp_path):
    random = np.random.default_rng(6)
    systems = {
        s: {m: random.random(9).tolist() for m in (RELEVANCE, CORRECTNESS, EASE)}
        for s in ("x_1", "y & z", "w")
    }
    systems["w"][EASE][3] = None
    claims = [Hypothesis("h", "any", (EASE,), (("x_1", "w"),))]
    found = compare([run_of(tmp_path / "run", systems)], draws=200, hypotheses=claims)
    page = document(found)
    tables = {table.name: table for section in page.sections for table in section.tables}
    assert list(tables) == [
        *("results", "differences", "hypotheses", "hypotheses-comparisons"),
        *("readings", "means", "wins", "questions", "unscored"),
    ]
    behind = [
        "Unscored answers",
        "Means and ranking",
        "Questions won",
        "Where the systems differ most",
    ]
    assert [one.title for one in page.sections if one.folded] == [*behind, "Missing scores"]
    assert [len(tables[name].rows) for name in ("means", "differences", "wins", "unscored")] == [
        9,
        9,
        9,
        1,
    ]
    for table in tables.values():
        assert "nan" not in (as_csv(table) + as_text(table)).casefold()
        assert "\\midrule" in as_latex(table)
    head = as_csv(tables["differences"]).splitlines()[0]
    assert head.startswith(
        "metric,first,second,difference,difference_low,difference_high,difference_n,"
    )
    assert not any("seed" in table.note for table in tables.values())
    row = next(
        one for one in lines(found, "means") if (one["metric"], one["system"]) == (EASE, "w")
    )
    assert (row["scored"], row["total"], row["mean"].n, row["mean"].method) == (8, 9, 8, "Hall's t")
    assert "Seed" in page.settings
    write_document(page, tmp_path / "page.html")
    assert "y &amp; z" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_many_pairs_are_drawn_against_the_first_system(tmp_path):
    random = np.random.default_rng(7)
    systems = {f"s{i}": {RELEVANCE: random.random(6).tolist()} for i in range(9)}
    (metric,) = compare([run_of(tmp_path / "run", systems)], draws=200).metrics
    assert len(metric.pairs) == 36 > MOST_PAIRS
    first = metric.systems[0].system
    (figure,) = differences([metric])
    assert "the first system against each other one" in figure.label
    shown = drawn([figure])
    assert all(f"{first} - {one.system}" in shown for one in metric.systems[1:])
    assert metric.systems[1].system + " - " not in shown


def test_a_group_with_a_hole_is_drawn_as_its_runs_of_neighbours(tmp_path):
    random = np.random.default_rng(7)
    systems = {f"s{i}": {RELEVANCE: random.random(6).tolist()} for i in range(5)}
    (metric,) = compare([run_of(tmp_path / "run", systems)], draws=200).metrics
    names = [one.system for one in metric.systems]
    odd = dataclasses.replace(
        metric, groups=((names[0], names[1], names[3], names[4]), (names[2],))
    )
    assert bars(odd) == [(0, 1), (3, 4)]


def test_equal_values_make_a_page(tmp_path):
    for name, value in (("one", 1.0), ("zero", 0.0)):
        values = {s: {RELEVANCE: [value] * 5, EASE: [value * 1e6] * 5} for s in "xyz"}
        found = compare([run_of(tmp_path / name, values)], draws=100)
        page = document(found)
        write_document(page, tmp_path / f"{name}.html")
        assert all(pair.p == 1.0 for metric in found.metrics for pair in metric.pairs)
        assert "nan" not in "".join(as_csv(t) for section in page.sections for t in section.tables)


def test_hostile_names_stay_text(tmp_path):
    values = {HOSTILE: {RELEVANCE: [0.1, 0.4, 0.8]}, "y": {RELEVANCE: [0.2, 0.2, 0.9]}}
    found = compare([run_of(tmp_path / "run", values)], draws=100)
    write_document(document(found), tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert "<img src=x" not in page
    assert "<img" not in drawn(
        [figure for section in document(found).sections for figure in section.figures]
    )


@pytest.mark.parametrize("count", [8, 9])
def test_values_stand_side_by_side_for_up_to_eight_systems(tmp_path, count):
    systems = {f"s{i}": {RELEVANCE: [0.1 * i, 0.5, 0.3]} for i in range(count)}
    questions = (
        document(compare([run_of(tmp_path / "run", systems)], draws=100)).sections[4].tables[0]
    )
    assert len(questions.columns) == (6 + 8 if count == 8 else 6)
    assert questions.rows[0][4:6] == (f"s{count - 1}", "s0")


def test_a_terminal_shows_a_line_for_each_metric(tmp_path):
    systems = {
        s: {m: [0.1 * i + 0.05 * j for j in range(6)] for m in (RELEVANCE, EASE)}
        for i, s in enumerate("xyz")
    }
    page = document(compare([run_of(tmp_path / "run", systems)], draws=200))
    (section,) = brief(page).sections
    (table,) = section.tables
    assert [row[0] for row in table.rows] == [RELEVANCE, EASE]
    assert [column.name for column in table.columns] == [
        *("metric", "direction", "x", "y", "z", "pairs that differ", "n", "conclusion"),
    ]


@pytest.mark.parametrize("width", [80, 100])
def test_nothing_is_wider_than_the_terminal(tmp_path, width):
    names = (
        "score.segment_attribution.order_changed",
        "score.answer_relevance.unmasked",
        RELEVANCE,
        EASE,
    )
    values = {
        s: {m: [0.1 * i + 0.05 * j for j in range(12)] for m in names}
        for i, s in enumerate(("alpha", "beta"))
    }
    run = run_of(tmp_path / "run", values)
    for page in (
        document(compare([run], draws=200)),
        metrics_document(metrics_study([run], draws=200)),
    ):
        out = io.StringIO()
        publish(
            page,
            None,
            Console(file=out, width=width, force_terminal=True, color_system=None),
            verbose=False,
        )
        printed = [
            line for line in out.getvalue().splitlines() if not line.startswith("Signature: ")
        ]  # one to copy
        assert max(map(len, printed)) <= width
        assert "Left out for lack of room: " in out.getvalue()
        assert all(name[:20] in out.getvalue() for name in names)


def test_the_difference_of_two_systems_is_first_given_minus_second_everywhere(tmp_path):
    found = pair(tmp_path, -0.2)
    first = found.metrics[0].pairs[0]
    assert (first.first, first.second) == ("x", "y")
    assert [system.rank for system in found.metrics[0].systems] == ["1", "2"]
    turned = compare(found.runs, systems=["y", "x"], draws=999).metrics[0].pairs[0]
    assert (turned.first, turned.difference.value, turned.p) == (
        "y",
        -there(first.difference.value),
        first.p,
    )
    (row,) = lines(found, "results")
    assert row["difference"].value == first.difference.value
    assert first.difference.value == pytest.approx(row["mean: x"].value - row["mean: y"].value)
    assert (row["direction"], row["p_adjusted"], row["conclusion"]) == (
        "higher is better",
        first.p,
        "y is better",
    )


def test_the_figure_shows_the_ranks_of_the_table(tmp_path):
    systems = {f"s{i}": {RELEVANCE: [0.1 * i, 0.4, 0.2, 0.8 - 0.1 * i]} for i in range(3)}
    (metric,) = compare([run_of(tmp_path / "run", systems)], draws=200).metrics
    assert [one.rank for one in metric.systems] == ["1-3"] * 3
    shown = drawn(rankings([metric]))
    assert "1-3. s0" in shown
    assert "2. s" not in shown
