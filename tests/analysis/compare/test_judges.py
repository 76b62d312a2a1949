"""The same systems scored by several judges."""

import re
import zlib
from itertools import product

import numpy as np
import pytest
from tests.analysis.compare.runs import lines, run_of, signed
from tests.report.runs import CORRECTNESS, RELEVANCE
from tests.there import there

import longmark
from longmark.analysis.compare import compare, document
from longmark.analysis.compare.judges import cautions, sampled
from longmark.errors import UserError
from longmark.report.tables import as_csv, as_json, as_latex
from longmark.scores.files import rows_of
from longmark.scores.paired import read_scores
from longmark.stats.components import variance_components
from longmark.testing import FakeChat


def judged(tmp_path, scores, **more):
    """A run for each judge: name -> system -> values."""
    return [
        run_of(
            tmp_path / name,
            {s: {RELEVANCE: v} for s, v in systems.items()},
            signed(models={"judge": [name]}, **more),
        )
        for name, systems in scores.items()
    ]


def three(n=20):
    random = np.random.default_rng(5)
    base = {s: 0.2 + 0.1 * i + 0.3 * random.random(n) for i, s in enumerate("xyz")}
    return {
        j: {s: (v * scale).tolist() for s, v in base.items()}
        for j, scale in (("mild", 1.0), ("strict", 0.8))
    }


def test_systems_are_compared_by_the_mean_over_judges(tmp_path):
    scores = three()
    runs = judged(tmp_path, scores)
    for by in ("system", "run"):
        with pytest.raises(UserError, match="`compare` with judges=True"):
            compare(runs, by=by, allow_different_judges=True)
    found = compare(runs, judges=True, draws=200)
    assert found.differing == ()
    assert not any("more than once" in notice for notice in found.notices)
    means = {one.system: one.mean.value for one in found.metrics[0].systems}
    for s in "xyz":
        assert means[s] == pytest.approx(np.mean([scores["mild"][s], scores["strict"][s]]))
    (one,) = found.judges
    assert one.means["strict"] == pytest.approx([np.mean(scores["strict"][s]) for s in one.systems])
    # two judges with the same order of three systems: W = 1, chi-squared = 2 x 2 = 4 with 2 d.f.: p = exp(-2)
    assert [there(one.w), there(one.p)] == pytest.approx([1.0, np.exp(-2)])
    table = np.stack([np.array([scores[j][s] for s in one.systems]).T for j in one.means], axis=2)[
        ..., None
    ]
    assert there(one.components).variance == pytest.approx(variance_components(table).variance)
    section = document(found).sections[1]
    assert section.says.count("Twice the ") == 1
    assert (section.title, [table.name for table in section.tables]) == (
        "Judges",
        ["judges", "judge-agreement"],
    )


def test_opposite_orders_have_no_agreement(tmp_path):
    up = {"x": [0.1, 0.2, 0.1], "y": [0.4, 0.5, 0.3], "z": [0.7, 0.6, 0.8]}
    down = {"x": up["z"], "y": up["y"], "z": up["x"]}
    (one,) = compare(judged(tmp_path, {"a": up, "b": down}), judges=True, draws=100).judges
    assert one.w == pytest.approx(0.0)


def test_a_system_that_a_judge_did_not_score_is_left_out(tmp_path):
    scores = three()
    del scores["strict"]["z"]
    found = compare(judged(tmp_path, scores), judges=True, draws=100)
    assert [name for name, _ in found.metrics[0].absent] == ["z"]
    assert {one.system for one in found.metrics[0].systems} == {"x", "y"}
    (one,) = found.judges
    assert (set(one.systems), one.w) == ({"x", "y"}, None)
    assert one.reason == "agreement on the order needs three systems"


def test_answers_are_counted_and_not_what_each_judge_made_of_them(tmp_path):
    scores: dict[str, dict[str, list[float | None]]] = {
        j: {s: [0.1 * (i + k) for i in range(8)] for k, s in enumerate("xy")} for j in "abc"
    }
    scores["a"]["y"][0] = scores["b"]["y"][0] = scores["b"]["y"][1] = None
    found = compare(judged(tmp_path, scores), judges=True, draws=100)
    by_name = {
        one.system: (one.silent, one.asked, one.rows, one.mean.n)
        for one in found.metrics[0].systems
    }
    assert by_name == {"x": (0, 8, 8, 8), "y": (2, 8, 8, 6)}
    counts = {
        row["system"]: (row["mean"].n, row["scored"], row["total"]) for row in lines(found, "means")
    }
    assert counts == {"x": (8, 8, 8), "y": (6, 6, 8)}
    assert lines(found, "readings")[0]["second_unscored"] == "2 / 8"


def test_of_several_answers_to_a_question_those_count_that_every_judge_scored(tmp_path):
    for judge, second in (
        ("mild", "0.5,ok,"),
        ("strict", ",model_error,refused"),
    ):  # the second answer is scored by one judge only
        lines = [
            f"q{i}a{k},q{i},{s},m,0.{i + 1},ok," for s in "xy" for i in range(6) for k in range(2)
        ]
        lines[1] = f"q0a1,q0,x,m,{second}"
        text = "\n".join(["example_id,question_id,system,metric,score,status,reason", *lines])
        (tmp_path / f"{judge}.csv").write_text(text)
    (metric,) = compare(
        [tmp_path / "mild.csv", tmp_path / "strict.csv"], judges=True, draws=100
    ).metrics
    assert {one.system: (one.silent, one.asked) for one in metric.systems} == {
        "x": (1, 12),
        "y": (0, 12),
    }


def test_one_question_equal_scores_and_one_judge(tmp_path):
    single = {j: {s: [0.1 * i] for i, s in enumerate("xyz")} for j in "ab"}
    (one,) = compare(judged(tmp_path / "single", single), judges=True).judges
    assert (one.components, one.reason, one.twice) == (
        None,
        "shares of variance need two questions",
        {},
    )
    equal = {j: {s: [0.1 + 0.2, 0.3, 0.3, 0.3] for s in "xyz"} for j in "ab"}
    (one,) = compare(judged(tmp_path / "equal", equal), judges=True).judges
    assert (one.w, one.reason, one.twice) == (None, "the means are equal", {})
    assert "standard error" not in cautions([one])[0]
    alone = {"a": three()["mild"]}
    assert compare(judged(tmp_path / "alone", alone), judges=True, draws=100).judges == ()


def test_runs_of_one_judge_with_other_seeds_are_samples(tmp_path):
    random = np.random.default_rng(1)
    runs = []
    for name in ("a", "b"):
        for seed in (0, 1):
            values = {s: {RELEVANCE: random.random(10).tolist()} for s in "xyz"}
            runs.append(
                run_of(
                    tmp_path / f"{name}{seed}", values, signed(models={"judge": [name]}, seed=seed)
                )
            )
    (one,) = compare(runs, judges=True, draws=100).judges
    assert there(one.components).levels["sample"] == 2
    assert 0 < one.twice["samples"] < there(one.error)


def test_the_samples_of_a_run_are_samples_of_its_judge(tmp_path):
    examples = [
        {"id": f"{s}{i}", "question": f"Question {i}?", "answer": f"{s} {i}.", "system": s}
        for s in "xyz"
        for i in range(6)
    ]

    def reply(request):
        return str(zlib.crc32(f"{request.messages[-1].content} {request.sample}".encode()) % 101)

    runs = []
    for name in ("a", "b"):
        out = tmp_path / name
        judge = FakeChat(reply, name=name)
        longmark.run(
            examples,
            RELEVANCE,
            out=out,
            judges=judge,
            temperature=0.7,
            samples=3,
            cache=tmp_path / "calls.sqlite",
        )
        runs.append(out)
    (one,) = compare(runs, judges=True, draws=100).judges
    assert there(one.components).levels["sample"] == 3
    assert 0 < one.twice["samples"] < there(one.error)
    rows = list(rows_of(runs[0]))
    first = read_scores([runs[0]], "system")
    cube = sampled(first, RELEVANCE)
    assert len(cube) == 3
    np.testing.assert_allclose(np.mean(cube, axis=0), first.matrix(RELEVANCE), atol=1e-12)
    place = (first.questions.index(rows[0].question_id), first.systems.index(rows[0].system))
    assert [matrix[place] for matrix in cube] == [
        one["score"] for one in rows[0].evidence["judges"]
    ]


@pytest.mark.parametrize("samples", [2, "two", 10**9, True])
def test_evidence_and_parameters_of_another_form_give_no_samples(tmp_path, samples):
    odd = signed(params={"scoring": "text", "temperature": 0.7, "samples": samples})
    run = run_of(
        tmp_path / "run", {"x": {RELEVANCE: [0.1, 0.2]}, "y": {RELEVANCE: [0.3, 0.4]}}, odd
    )
    assert sampled(read_scores([run], "system"), RELEVANCE) == []


def test_the_result_says_that_it_is_for_these_judges_only(tmp_path):
    found = compare(judged(tmp_path, three()), judges=True, draws=200)
    (one,) = found.judges
    now = there(one.components).standard_error(questions=20, judges=2, samples=1)
    assert found.notices[0] == (
        f"{RELEVANCE}: the result is for these judges only (mild, strict). Tests and intervals of differences do not "
        "include the variance between judges; other judges can give other results. For judges in general, the standard "
        f"error of a difference is about {now:.2g}."
    )


def test_files_of_rows_are_judges_by_their_names(tmp_path):
    for judge, systems in three().items():
        lines = [f"q{i},{s},m,{v}" for s, values in systems.items() for i, v in enumerate(values)]
        (tmp_path / f"{judge}.csv").write_text(
            "\n".join(["example_id,system,metric,score", *lines])
        )
    found = compare([tmp_path / "mild.csv", tmp_path / "strict.csv"], judges=True, draws=200)
    (one,) = found.judges
    assert list(one.means) == ["mild", "strict"]
    assert "for these judges only (mild, strict)" in found.notices[0]


def test_every_table_with_a_result_names_the_judges_in_every_form(tmp_path):
    page = document(compare(judged(tmp_path, three()), judges=True, draws=200, margin=0.05))
    known = ("results", "margins", "means", "differences", "wins")
    tables = {
        table.name: table
        for section in page.sections
        for table in section.tables
        if table.name in known
    }
    assert set(tables) >= {"results", "margins", "means", "differences", "wins"}
    for table in tables.values():
        assert all(row[1] == "mild, strict" for row in table.rows), table.name
        assert "For these judges only: mild, strict." in table.note
        for text in (as_csv(table), as_json(table).decode(), as_latex(table)):
            assert "mild, strict" in text, table.name


def test_what_holds_for_several_metrics_is_one_notice(tmp_path):
    """Two judges, two metrics, two answers of each system to a question."""
    for judge in ("mild", "strict"):
        lines = [
            f"{s}{i}{k},q{i},{s},{metric},{(i * 7 + k + len(s + judge)) % 11 / 11}"
            for i, k, s, metric in product(range(12), range(2), ("x", "yy"), ("m", "n"))
        ]
        (tmp_path / f"{judge}.csv").write_text(
            "\n".join(["example_id,question_id,system,metric,score", *lines])
        )
    found = compare([tmp_path / "mild.csv", tmp_path / "strict.csv"], judges=True, draws=200)
    cautions, repeated = (
        [one for one in found.notices if words in one]
        for words in ("for these judges only", "more than once")
    )
    assert len(cautions) == 1
    assert cautions[0].startswith("2 metrics: the result")
    assert re.search(r"is about [\d.e-]+( to [\d.e-]+)?\.$", cautions[0])
    assert repeated == [
        "m and n: x and yy answered some questions more than once; their mean score counts once."
    ]


def test_judges_are_named_without_endpoints_and_the_advice_is_given_once(tmp_path):
    scores = three()
    runs = [
        run_of(
            tmp_path / name,
            {s: {RELEVANCE: v, CORRECTNESS: v[::-1]} for s, v in systems.items()},
            signed(models={"judge": [f"{name}@http://host:8000/v1"]}),
        )
        for name, systems in scores.items()
    ]
    found = compare(runs, judges=True, draws=100)
    assert [list(one.means) for one in found.judges] == [["mild", "strict"]] * 2
    page = document(found)
    assert "http://" not in repr([page.notices, [(one.says, one.tables) for one in page.sections]])
    assert page.sections[1].says.count("Twice the ") == 1
    (line, _) = lines(found, "judge-agreement")
    assert line["standard_error"] == found.judges[0].error
    assert line["error: twice the questions"] == found.judges[0].twice["questions"]
