"""`compare --labels`: which answers labels belong to, what is refused, and what the page says."""

from __future__ import annotations

import json
import random
import shlex
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.analysis.compare.runs import Values, run_of, signed
from tests.program import run, write_jsonl
from tests.report.runs import RELEVANCE

from longmark.analysis.compare import compare
from longmark.analysis.metaeval.labels import NO_ANSWER, SEVERAL
from longmark.contrib.decide.corrected import correct, section
from longmark.errors import UnknownName, UserError

N = 60


def truths() -> dict[str, list[float]]:
    chance = random.Random(3)
    return {
        name: [min(1, max(0, chance.gauss(mean, 0.2))) for _ in range(N)]
        for name, mean in (("a", 0.4), ("b", 0.6))
    }


def scores() -> dict[str, Mapping[str, Values]]:
    """A judge that follows the truth, and gives a .25 too much: it has both alike."""
    chance = random.Random(4)
    return {
        system: {
            RELEVANCE: [
                min(1, max(0, one + 0.25 * (system == "a") + chance.gauss(0, 0.05)))
                for one in values
            ]
        }
        for system, values in truths().items()
    }


def ratings(step: int = 2, **more: Any) -> list[dict[str, Any]]:
    return [
        {"example_id": f"{system}-{i}", "value": value, **more}
        for system, values in truths().items()
        for i, value in enumerate(values)
        if i % step == 0
    ]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return run_of(tmp_path_factory.mktemp("runs") / "both", scores())


def corrected(runs: Any, labels: Any, **options: Any) -> Any:
    return correct(compare(runs, draws=200), labels, **options)


def test_a_judge_that_favours_a_system_is_put_right(both: Path):
    found = corrected([both], ratings())
    (metric,) = found.metrics
    (difference,) = metric.pairs.values()
    assert abs(difference.raw) < 0.08
    assert difference.ends is not None
    assert difference.ends[1] < -0.05
    assert difference.p < 0.01
    assert (found.joined, found.unjoined, difference.labelled) == (N, {}, N)
    assert metric.means["b"].worth > metric.means["b"].labelled
    said = section(found)
    assert "b above a" in said.says
    assert [table.name for table in said.tables] == ["corrected-means", "corrected-differences"]


def test_a_favoured_system_fails_the_check_of_transport(both: Path):
    found = corrected([both], ratings(), margin=0.1).metrics[0]
    assert {name: one.verdict for name, one in found.transports.items()} == {
        "a": "fail",
        "b": "fail",
    }


def test_runs_that_use_the_same_ids_need_the_system(tmp_path: Path):
    runs = [run_of(tmp_path / name, {"s": its}) for name, its in scores().items()]
    same = [{**one, "example_id": f"s-{one['example_id'][2:]}"} for one in ratings()]
    with pytest.raises(UserError, match="no label belongs to an answer"):
        corrected(runs, same[: len(same) // 2])
    named = [
        {**one, "system": old["example_id"][0]} for one, old in zip(same, ratings(), strict=True)
    ]
    found = corrected(runs, named)
    assert found.joined == N
    assert found.metrics[0].pairs["a", "b"].value == pytest.approx(
        corrected([run_of(tmp_path / "both", scores())], ratings()).metrics[0].pairs["a", "b"].value
    )
    lost = {"example_id": "none", "value": 1.0}
    mixed = corrected(
        runs, [{"rater": "x"} | one for one in (*named, same[0] | {"rater": "y"}, lost)]
    )
    assert mixed.unjoined == {SEVERAL: ("s-0",), NO_ANSWER: ("none",)}
    assert "1 (no such answer in the rows: none)" in section(mixed).note


def wide(path: Path) -> Path:
    """The labels of two raters, the second .3 lower, as a spreadsheet has them: a column for each."""
    lines = [
        f"{label['example_id']},{label['value']},{label['value'] - 0.3}" for label in ratings()
    ]
    path.write_text("\n".join(["example_id,ann,bo", *lines]) + "\n")
    return path


def test_columns_of_raters_are_read_as_the_lines_of_raters_are(both: Path, tmp_path: Path):
    lines = [
        {**label, "rater": rater, "value": label["value"] - less}
        for rater, less in (("ann", 0), ("bo", 0.3))
        for label in ratings()
    ]
    by_columns = corrected([both], wide(tmp_path / "wide.csv"), raters=("ann", "bo"))
    by_lines = corrected([both], lines)
    assert by_columns.raters == 2
    assert by_columns.metrics == by_lines.metrics


@pytest.mark.parametrize(
    "words",
    [
        "compare both --by system --out new",
        "report both --out new.html",
        f"label next both --metrics {RELEVANCE} --out new.jsonl",
        f"certify both --claim 'b better than a on {RELEVANCE}' --out new",
    ],
)
def test_every_verb_with_labels_reads_columns_of_raters(words: str, both: Path, tmp_path: Path):
    shutil.copytree(both, tmp_path / "both")
    wide(tmp_path / "wide.csv")
    command = [*shlex.split(words), "--labels", "wide.csv"]
    wrong = run(*command, "--raters", "ann,cy", home=tmp_path / "home", cwd=tmp_path)
    assert (wrong.code, "unknown column in --raters: cy" in wrong.err) == (2, True), wrong.err
    alone = run(*command[:-2], "--raters", "ann", home=tmp_path / "home", cwd=tmp_path)
    assert alone.code == 2
    assert "labels" in alone.err
    done = run(*command, "--raters", "ann,bo", home=tmp_path / "home", cwd=tmp_path)
    # 3: a certificate needs to know how the answers were drawn
    assert done.code in (0, 3), done.err


def test_raters_and_final_labels(both: Path):
    strict = [{**one, "value": one["value"] - 0.3} for one in ratings()]
    two = [
        *({**one, "rater": "x"} for one in ratings()),
        *({**one, "rater": "y"} for one in strict),
    ]
    found = corrected([both], two)
    assert (found.raters, found.effective_raters) == (2, 2)
    assert found.metrics[0].means["a"].rater_variance == pytest.approx(0.3**2 / 4), (
        "two raters, .3 apart"
    )
    assert found.metrics[0].pairs["a", "b"].rater_variance == pytest.approx(0, abs=1e-12), (
        "as strict to both systems"
    )
    one = corrected([both], ratings())
    assert found.metrics[0].means["a"].value == pytest.approx(
        one.metrics[0].means["a"].value - 0.15, abs=0.02
    )
    assert found.metrics[0].means["a"].high - found.metrics[0].means["a"].low > 0.4
    decided = corrected([both], [*two, *({**one, "rater": "final"} for one in ratings())])
    assert (decided.raters, decided.metrics[0].means["a"].value) == (
        1,
        one.metrics[0].means["a"].value,
    )


@pytest.mark.parametrize(
    ("labels", "options", "error", "message"),
    [
        ([], {}, UserError, "label"),
        (
            ratings(label="x") + ratings(label="y"),
            {},
            UserError,
            "several labels: x and y. Choose one: --label",
        ),
        (ratings(label="x"), {"label": "z"}, UnknownName, "unknown label: z"),
        ([{**one, "value": "good"} for one in ratings()], {}, UserError, "--order rating=LOWEST"),
        (
            [{"a": "a", "b": "b", "choice": "a", "question_id": "q1"}],
            {},
            UserError,
            "choices between answers",
        ),
        ([{"example_id": "z", "value": 1}], {}, UserError, r"no such answer in the rows \(1: z\)"),
        (ratings(), {"weight": 3}, UserError, "between 0 and 1"),
        (ratings(), {"wait": 3}, UnknownName, "weight"),
    ],
)
def test_what_is_wrong_is_said(
    both: Path, labels: Any, options: Any, error: type[Exception], message: str
):
    with pytest.raises(error, match=message):
        corrected([both], labels, **options)


def test_labels_that_correct_nothing_are_not_said_to_correct(both: Path):
    says = section(corrected([both], [{"example_id": "a-1", "value": 1}])).says
    assert says == (
        "No corrected difference on Question relevance. Labels (rating): 1 labelled answer by 1 rater. No corrected "
        "interval of a (needs at least 10 answers with a label and a score; found 1); b (needs at least 10 answers "
        "with a label and a score; found 0). Draw answers to label by `longmark label next`."
    )


def test_words_in_an_order_are_numbers(both: Path):
    words = [{**one, "value": "good" if one["value"] > 0.5 else "bad"} for one in ratings()]
    found = corrected([both], words, order={"rating": ("bad", "good")})
    mean = found.metrics[0].means["b"]
    assert found.labelled.bounds == (0, 1)
    assert mean.ends is not None
    assert 0 < mean.ends[0] < mean.ends[1] < 1


def test_the_verb(both: Path, tmp_path: Path):
    lines = [f"{one['example_id']},{one['value']}" for one in ratings(2)]
    (tmp_path / "labels.csv").write_text("\n".join(("example_id,value", *lines)))
    words = (
        "compare",
        str(both),
        "--draws",
        "200",
        "--labels",
        "labels.csv",
        "--transport",
        ".1",
        "--out",
        "o",
    )
    done = run(*words, "--looks", "1", home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert (
        "b above a on Question relevance (as this rater judges). Labels (rating): 60 labelled answers by 1 rater."
        in done.out
    )
    assert "30 labels are few: below 50 an interval of skewed labels can be too narrow" in done.out
    assert (
        "Could a system do without labels of its own"
        in (tmp_path / "o" / "report.html").read_text()
    )
    alone = run("compare", str(both), "--transport", ".1", home=tmp_path / "home", cwd=tmp_path)
    assert alone.err == "longmark: --transport needs labels: add --labels FILE\n"


@pytest.mark.parametrize("by", ["run", "system"])
def test_systems_without_a_name_have_that_of_the_run_though_it_has_a_dot(by: str, tmp_path: Path):
    runs = [run_of(tmp_path / f"v1.{name}", {"": its}) for name, its in scores().items()]
    named = [
        {**one, "example_id": one["example_id"][1:], "system": f"v1.{one['example_id'][0]}"}
        for one in ratings()
    ]
    found: Any = correct(compare(runs, draws=200, by=by), named)
    assert found.joined == N
    assert abs(found.metrics[0].pairs["v1.a", "v1.b"].value + 0.2) < 0.1


def test_of_several_judges_their_mean_is_corrected(tmp_path: Path):
    judges = [
        run_of(tmp_path / name, scores(), signed(models={"judge": [name]}))
        for name in ("gpt", "llama")
    ]
    found: Any = correct(compare(judges, draws=200, judges=True), ratings())
    one = corrected([judges[0]], ratings())
    assert found.joined == N
    assert found.metrics[0].pairs["a", "b"].value == pytest.approx(
        one.metrics[0].pairs["a", "b"].value
    )


def chosen() -> list[dict[str, Any]]:
    """Labels of all high answers and of every third low one, each with its probability."""
    high = [one for one in ratings(1) if one["value"] > 0.5]
    low = sorted((one for one in ratings(1) if one["value"] <= 0.5), key=lambda one: one["value"])[
        1::3
    ]
    return [
        {**one, "inclusion_probability": p, "rater": "x"}
        for its, p in ((high, 1), (low, 1 / 3))
        for one in its
    ]


def test_labels_drawn_with_unequal_chances_are_weighted(both: Path):
    of_high = chosen()
    weighted, as_they_are = (
        corrected([both], its, calibrate=False, weight=0.0).metrics[0].means["a"].value
        for its in (of_high, [{**one, "inclusion_probability": 0.5} for one in of_high])
    )
    truth = sum(truths()["a"]) / N
    assert abs(weighted - truth) < 0.02 < 0.08 < as_they_are - truth
    found = corrected([both], of_high)
    assert found.drawn == (pytest.approx(1 / 3), 1)
    assert "drawn with the probabilities 0.333 to 1" in section(found).note


@pytest.mark.parametrize(
    ("labels", "message"),
    [
        (
            [*chosen(), {"example_id": "a-1", "value": 1, "rater": "x"}],
            r"is empty \(1 label\).*label next",
        ),
        ([{**one, "inclusion_probability": ""} for one in ratings()], r"is empty \(60 labels\)"),
        (
            [{**one, "inclusion_probability": 1.5} for one in ratings()],
            "expected a number above 0, at most 1; found 1.5",
        ),
        ([{**one, "inclusion_probability": "often"} for one in ratings()], "at most 1; found"),
        (
            [
                {**one, "rater": f"r{i}", "inclusion_probability": p}
                for i, p in ((0, 0.5), (1, 0.6))
                for one in ratings()
            ],
            "a-0 has 0.6 here, 0.5 before",
        ),
    ],
)
def test_labels_without_their_chances_are_refused(both: Path, labels: Any, message: str):
    with pytest.raises(UserError, match=message):
        corrected([both], labels)


def test_a_missing_chance_is_called_unequal_only_beside_unequal_ones(both: Path):
    extra = ratings()[30]  # without its chance
    equal = [{**label, "inclusion_probability": 0.3} for label in ratings()[:20]]
    with pytest.raises(UserError, match=r"chosen with the chance 0\.3 correct nothing"):
        corrected([both], [*equal, extra])
    unequal = [{**equal[0], "inclusion_probability": 0.5}, *equal[1:]]
    with pytest.raises(UserError, match="chosen with unequal chances correct nothing"):
        corrected([both], [*unequal, extra])


def test_the_bias_of_the_judge_is_what_it_was_made_with(both: Path):
    (metric,) = corrected([both], ratings(), calibrate=False).metrics
    assert metric.means["a"].bias.low < 0.24 < metric.means["a"].bias.high
    assert abs(metric.means["b"].bias.value) < 0.05
    assert metric.pairs["a", "b"].bias.low > 0.1


def test_a_report_shows_raw_and_corrected_means(both: Path, tmp_path: Path):
    lines = [f"{one['example_id']},{one['value']}" for one in ratings()]
    (tmp_path / "labels.csv").write_text("\n".join(("example_id,value", *lines)))
    words = ("report", str(both), "--labels", "labels.csv", "--out", "page.html")
    done = run(*words, home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert "Corrected by labels. b above a" in done.out
    head = next(line for line in done.out.splitlines() if line.startswith("metric"))
    assert [word in head for word in ("corrected", "bias", "scores alone")] == [True, False, True]
    page = (tmp_path / "page.html").read_text()
    assert '<section id="corrected">' in page
    done = run(*words, "--no-calibration", home=tmp_path / "home", cwd=tmp_path)
    assert " bias " in next(line for line in done.out.splitlines() if line.startswith("metric"))
    page = (tmp_path / "page.html").read_text()
    assert "above 0 Question relevance scores the system too high" in page
    assert "above 0 Question relevance favours the first" in page
    assert "the judge" not in section(corrected([both], ratings(), margin=0.1)).tables[2].note


def test_a_report_says_on_the_terminal_which_tool_wrote_the_labels(both: Path, tmp_path: Path):
    def task(rating: dict[str, Any]) -> dict[str, Any]:
        value = {"number": rating["value"]}
        result = {"type": "number", "from_name": "rating", "to_name": "x", "value": value}
        annotation = {"id": 1, "completed_by": 1, "result": [result]}
        return {"id": 1, "data": {"example_id": rating["example_id"]}, "annotations": [annotation]}

    unlabelled = {"id": 2, "data": {"example_id": "-"}, "annotations": []}
    tasks = [*map(task, ratings()), unlabelled]
    (tmp_path / "tasks.json").write_text(json.dumps(tasks))
    words = ("report", str(both), "--labels", "tasks.json", "--out", "page.html")
    done = run(*words, home=tmp_path / "home", cwd=tmp_path)
    note = "Note: tasks.json: read as Label Studio. Not read: 1 records without a label.\n"
    assert (done.code, done.err) == (0, note)


def test_differences_at_equal_lengths(tmp_path: Path):
    """The second system's answers are longer, and its scores are higher by their length only."""
    chance, lines = random.Random(2), []
    for i in range(40):
        about = {"question_id": f"q{i}", "question": "Is it?"}
        for name, count in {
            "short": chance.randint(10, 30),
            "long": chance.randint(20, 50),
        }.items():
            lines.append({**about, "id": f"{i}-{name}", "system": name, "answer": "so " * count})
    write_jsonl(tmp_path / "answers.jsonl", lines)
    metric, home = "classic.length.characters", tmp_path / "home"
    assert (
        run("run", "answers.jsonl", "--metrics", metric, "--out", "r", home=home, cwd=tmp_path).code
        == 0
    )
    done = run("compare", "r", "--draws", "200", "--length-control", home=home, cwd=tmp_path)
    assert done.code == 0
    assert (
        "Length\nHow much of each difference is left at equal lengths of the answers. The interval holds 0 for"
        in done.out
    )


def of_two_raters(first: float, second: float) -> list[dict[str, Any]]:
    """Ratings by two raters, of whom each moves those of `b`."""
    return [
        {
            **rating,
            "rater": rater,
            "value": rating["value"] + taste * rating["example_id"].startswith("b"),
        }
        for rating in ratings(1)
        for rater, taste in (("ada", first), ("bo", second))
    ]


def test_results_for_these_raters_only_say_so(both: Path, tmp_path: Path):
    write_jsonl(tmp_path / "labels.jsonl", of_two_raters(0.1, -0.05))
    words = (
        "compare",
        str(both),
        "--draws",
        "200",
        "--labels",
        "labels.jsonl",
        "--looks",
        "1",
        "--out",
        "o",
    )
    people = run(*words, home=tmp_path / "home", cwd=tmp_path)
    assert "No significant difference on Question relevance" in people.out
    these = run(*words, "--these-raters", home=tmp_path / "home", cwd=tmp_path)
    assert (these.code, these.err) == (0, "")
    assert (
        "b above a on Question relevance (for these 2 raters only; other raters may judge otherwise). "
        in these.out
    )
    page = (tmp_path / "o" / "report.html").read_text()
    assert "The results are for these 2 raters only; other raters may judge otherwise." in page
    alone = run("compare", str(both), "--these-raters", home=tmp_path / "home", cwd=tmp_path)
    assert alone.err == "longmark: --these-raters needs labels: add --labels FILE\n"


def test_a_project_asks_for_these_raters_only(both: Path, tmp_path: Path):
    write_jsonl(tmp_path / "labels.jsonl", of_two_raters(0.1, -0.05))
    settings = f"compare:\n  runs: [{both}]\n  draws: 200\n  labels: labels.jsonl\n  looks: 1\n  these_raters: true\n"
    (tmp_path / "longmark.yaml").write_text(settings)
    done = run("compare", "--trust", home=tmp_path / "home", cwd=tmp_path)
    assert (done.code, done.err) == (0, "")
    assert (
        "b above a on Question relevance (for these 2 raters only; other raters may judge otherwise). "
        in done.out
    )


def test_raters_who_contradict_each_other_are_named_with_what_to_do(both: Path):
    found = section(corrected([both], of_two_raters(0.5, -0.8), these_raters=True, looks=1))
    assert (
        "No corrected interval of a - b (the raters contradict each other: the difference is "
        in found.says
    )
    assert (
        "Let 5 raters or more label the same answers, and ask about people like them, without --these-raters."
        in (found.says)
    )


def test_labels_correct_the_primary_metrics_where_some_are_named(tmp_path: Path):
    systems = {
        name: {**metrics, "mine.other": metrics[RELEVANCE]} for name, metrics in scores().items()
    }
    folder = run_of(tmp_path / "run", systems)
    of_all = correct(compare([folder], draws=200), ratings())
    of_primary = correct(compare([folder], draws=200, primary=[RELEVANCE]), ratings())
    assert {metric.metric for metric in of_all.metrics} == {RELEVANCE, "mine.other"}
    (metric,) = of_primary.metrics
    assert metric.metric == RELEVANCE
    (alone,) = correct(compare([folder], draws=200, metrics=[RELEVANCE]), ratings()).metrics
    assert metric.pairs == alone.pairs
