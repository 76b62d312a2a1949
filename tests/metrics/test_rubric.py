"""Criteria from a file: scales are read strictly, the total is the arithmetic of the docstring, mistakes have lines."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest

import longmark
from longmark import metrics
from longmark.errors import BadInput, UnknownName, UserError
from longmark.judging import Judging
from longmark.records import Example
from longmark.testing import FakeChat, Scored, score_sync

EXAMPLE = Example(
    question="Why is the sky blue?",
    answer="Air scatters blue light more.",
    references=("Rayleigh.", "No."),
)
TWO = """\
name: tone
inputs: [question, answer]
criteria:
  - {name: warmth, question: How warm is it, scale: 1-5, anchors: {1: cold, 5: warm}, weight: 3}
  - {name: jargon, question: How much jargon is there, scale: {none: 0, some: 1, much: 4}, higher_is_better: false}
"""


def rubric(folder: Path, text: str, name: str = "rubric.yaml") -> str:
    (folder / name).write_text(text)
    return str(folder / name)


def scored(folder: Path, text: str, reply: Any, **options: Any) -> dict[str, Scored]:
    return score_sync(
        rubric(folder, text),
        EXAMPLE,
        judge=reply if isinstance(reply, FakeChat) else FakeChat(reply),
        **options,
    )


def by_question(request: Any) -> str:
    return "4" if "How warm" in request.messages[-1].content else "some"


def test_the_total_is_the_weighted_mean_of_the_places_on_the_scales(tmp_path: Path):
    scores = scored(tmp_path, TWO, by_question)
    assert [scores[f"tone.{name}"].value for name in ("warmth", "jargon")] == [4, 1]
    # warmth (4 - 1) / (5 - 1) = .75, weight 3; jargon, the less the better, (4 - 1) / (4 - 0) = .75, weight 1
    assert scores["tone.total"].value == 0.75
    assert scores["tone.total"].evidence["criteria"]["warmth"] == {"score": 4.0, "weight": 3.0}


@pytest.mark.parametrize(
    ("scale", "reply", "score"),
    [
        ("yes/no", "Yes.", 1),
        ("yes/no", "no", 0),
        ("1-5", "label: 5", 5),
        ("-2 to 2", "-2", -2),
        ("0-100", "72.5", 72.5),
        ("{good: .5, bad: -1}", "**bad**", -1),
        ("{yes: 2, no: 1}", "yes", 2),
    ],
)
def test_a_file_of_one_criterion_is_one_metric_on_its_scale(
    tmp_path: Path, scale: str, reply: str, score: float
):
    scores = scored(tmp_path, f"name: own\nquestion: Is it?\nscale: {scale}\n", reply)
    assert {name: one.value for name, one in scores.items()} == {"own": score}


@pytest.mark.parametrize(
    ("scale", "reply"), [("yes/no", "maybe"), ("1-5", "6"), ("1-5", "3.5"), ("0-100", "101")]
)
def test_a_reply_off_the_scale_is_asked_again_and_then_unscored(
    tmp_path: Path, scale: str, reply: str
):
    judge = FakeChat(reply)
    scores = scored(tmp_path, f"name: own\nquestion: Is it?\nscale: {scale}\n", judge)
    assert (scores["own"].status, len(judge.requests)) == ("unparsable", 2)


def test_a_total_is_unscored_if_a_criterion_is_and_the_other_keeps_its_score(tmp_path: Path):
    scores = scored(
        tmp_path,
        TWO,
        lambda request: "4" if "How warm" in request.messages[-1].content else "who knows",
    )
    assert scores["tone.warmth"].value == 4
    assert scores["tone.total"].status == "unparsable"
    assert (scores["tone.total"].reason or "").startswith("The criterion jargon is unscored: ")


def test_the_prompt_shows_anchors_and_examples_and_only_the_inputs_named(tmp_path: Path):
    judge = FakeChat("2")
    text = """\
name: own
question: What does $5 buy?
inputs: [answer]
scale: 1-3
anchors: {3: all of it}
examples: [{answer: Bread., score: 2, why: it names one thing}]
"""
    scored(tmp_path, text, judge)
    shown = judge.requests[0].messages[-1].content
    assert (
        "What does $5 buy?\n3: all of it\nExample 1\nanswer: Bread.\nscore: 2 (it names one thing)\n"
        in shown
    )
    assert "Why is the sky blue?" not in shown


def test_expected_scoring_reads_letters_for_labels_and_the_value_is_their_mean(tmp_path: Path):
    judge = FakeChat(logprobs={"A": math.log(0.5), " b": math.log(0.25), "x": math.log(0.25)})
    text = "name: own\nquestion: Is it?\nscale: {poor: 1, very good: 4}\n"
    scores = scored(tmp_path, text, judge, judging=Judging("expected"))
    assert "A for poor, B for very good." in judge.requests[0].messages[-1].content
    assert scores["own"].value == pytest.approx(
        (0.5 * 1 + 0.25 * 4) / 0.75
    )  # over the letters that are offered


def test_of_several_references_the_best_score_counts_in_the_direction_of_the_scale(tmp_path: Path):
    text = "name: own\nquestion: Far?\ninputs: [answer, reference]\nscale: 0-10\nhigher_is_better: false\n"
    scores = scored(
        tmp_path, text, lambda request: "7" if "Rayleigh" in request.messages[-1].content else "3"
    )
    assert scores["own"].value == 3


@pytest.mark.parametrize(("empty", "value"), [("worst", 10), ("unscored", None)])
def test_an_empty_answer_is_not_judged(tmp_path: Path, empty: str, value: float | None):
    judge = FakeChat("1")
    text = (
        f"name: own\nquestion: Far?\nscale: 0-10\nhigher_is_better: false\nempty_answer: {empty}\n"
    )
    scores = score_sync(rubric(tmp_path, text), Example(question="Q?", answer=" "), judge=judge)
    assert (scores["own"].value, judge.requests) == (value, [])


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("- a\n", ":1: expected a rubric"),
        ("name: own\nquestion: Q?\nscale: 5-1\n", ":3: scale: 5-1: expected yes/no, a range"),
        ("name: own\nquestion: Q?\nscale: {a: 1}\n", ":3: scale: expected two or more labels"),
        (
            "name: own\nquestion: Q?\nscale: {a: 1, A: 2}\n",
            ":3: scale: expected two or more labels",
        ),
        (
            "name: own\nquestion: Q?\nscale: 1-5\nanchors: {9: top}\n",
            ":4: anchors.9: is not on the scale: 1, 2, 3, 4, 5",
        ),
        ("name: own\nquestion: Q?\nweigth: 2\n", ":3: weigth: "),
        ("name: own\ncriteria:\n  - {question: Q}\n", ":3: criteria[0].name: expected a name"),
        (
            "name: own\ncriteria: [{name: total, question: Q}]\n",
            ":2: criteria[0].name: expected a name",
        ),
        ("name: own\ncriteria: []\n", ":2: criteria: "),
        (
            "name: own\nquestion: Q?\ninputs: [question]\n",
            ":3: inputs: expected each input once, the answer or the turns among them",
        ),
        (
            "name: own\nquestion: Q?\nexamples: [{answer: a, score: 101}]\n",
            ":3: examples[0].score: 101 is not on",
        ),
        ("name: 5\nquestion: ' '\n", ":2: question: "),
    ],
)
def test_a_mistake_has_the_line_and_the_place(tmp_path: Path, text: str, line: str):
    with pytest.raises(BadInput) as error:
        metrics.select([rubric(tmp_path, text)])
    assert line in str(error.value)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            "name: own\nquestion: Q?\nweight: -1\n",
            ["rubric.yaml:3: weight: expected a number greater than 0, found -1"],
        ),
        (
            "name: own\nquestions: Q?\n",
            [
                "rubric.yaml:1: question: is missing",
                "rubric.yaml:2: questions: unknown key: questions. Did you mean question",
            ],
        ),
        (
            "name: own\nquestion: Q?\nanchor: {1: a}\n",
            ["rubric.yaml:3: anchor: unknown key: anchor. Did you mean anchors"],
        ),
        (
            "name: own\ncriteria:\n- {name: a, question: Ask, scael: 1-5}\n",
            ["rubric.yaml:3: criteria[0].scael: unknown key: scael. Did you mean scale"],
        ),
        (
            "name: own\nquestion: Q?\nexamples:\n- {answer: a, score: 1, wy: b}\n",
            ["rubric.yaml:4: examples[0].wy: unknown key: wy. Did you mean why"],
        ),
    ],
)
def test_each_mistake_is_one_line_and_an_unknown_key_has_the_nearest(
    tmp_path: Path, text: str, lines: list[str]
):
    with pytest.raises(BadInput) as error:
        metrics.select([rubric(tmp_path, text)])
    assert len(error.value.lines) == len(lines)
    assert all(line in found for line, found in zip(lines, error.value.lines, strict=True))


def test_one_criterion_costs_one_call(tmp_path: Path):
    (one,) = metrics.select([rubric(tmp_path, "name: own\nquestion: Q?\n")])
    assert "Cost: 1 call for each judge." in one.metric.doc


def test_names_of_built_in_metrics_and_of_two_files_are_refused(tmp_path: Path):
    with pytest.raises(UserError, match="ccrs: a built-in metric or family has this name"):
        metrics.select([rubric(tmp_path, "name: ccrs\nquestion: Q?\n")])
    one, other = (rubric(tmp_path, f"name: own\nquestion: Q{i}?\n", f"{i}.yaml") for i in range(2))
    with pytest.raises(UserError, match="own: two different metrics have this name"):
        metrics.select([one, other])
    assert len(metrics.select([one, one])) == 1


MODULE = '''\
"""Length: how many characters the answer has."""
from longmark.metric import Metric, Score

async def score(example, models, params):
    return Score(float(len(example.answer)))

METRIC = Metric(score, needs=("answer",), bounds=(0, None), higher_is_better=None)
'''


def test_a_module_of_ones_own_runs_by_file_by_name_and_as_a_declaration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    (tmp_path / "own_metrics").mkdir()
    rubric(tmp_path / "own_metrics", MODULE, "length.py")
    monkeypatch.syspath_prepend(str(tmp_path))
    by_file = metrics.select([str(tmp_path / "own_metrics" / "length.py")])[0]
    by_name = metrics.select(["own_metrics.length"])[0]
    assert (by_file.name, by_name.name) == ("length", "own_metrics.length")
    assert by_file.metric.source == by_name.metric.source != ""
    assert by_file.doc == "Length: how many characters the answer has."
    result = longmark.run(
        [{"question": "Q?", "answer": "abcd"}], metrics=by_file.metric, out=tmp_path / "run"
    )
    assert [(row.metric, row.score) for row in result.rows()] == [("length", 4)]


def test_a_changed_rubric_is_another_metric_for_a_run_folder(tmp_path: Path):
    def run(text: str) -> Any:
        own = rubric(tmp_path, text)
        example = [{"question": "Q?", "answer": "abcd"}]
        return longmark.run(example, metrics=own, judges=FakeChat("3"), out=tmp_path / "run")

    run(
        TWO.replace("higher_is_better: false", "weight: 1").replace(
            "{none: 0, some: 1, much: 4}", "1-5"
        )
    )
    with pytest.raises(UserError, match="other settings"):
        run(
            TWO.replace("higher_is_better: false", "weight: 2").replace(
                "{none: 0, some: 1, much: 4}", "1-5"
            )
        )


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("no.py", None, "the file does not exist"),
        ("bad.py", "1 / 0", "ZeroDivisionError while it was loaded"),
        ("exits.py", "raise SystemExit(0)", "SystemExit while it was loaded"),
        ("empty.py", "", "expected METRIC = Metric"),
    ],
)
def test_a_module_that_cannot_be_used_is_an_error_with_its_reason(
    tmp_path: Path, name: str, content: str | None, message: str
):
    if content is not None:
        (tmp_path / name).write_text(content)
    with pytest.raises(UserError, match=message):
        metrics.select([str(tmp_path / name)])


def test_an_unknown_dotted_name_is_unknown(tmp_path: Path):
    with pytest.raises(UnknownName):
        metrics.select(["no_such_package.metric"])
    with pytest.raises(UserError, match="expected METRIC"):
        metrics.select(["os.path"])
