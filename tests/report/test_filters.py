"""Which answers the filters of a report and of `longmark view` let through."""

import json
import re
from pathlib import Path
from typing import Any

from tests.report.runs import CORRECTNESS as SILENT
from tests.report.runs import RELEVANCE, manifest, row, write_run

from longmark.analysis.compare import compare
from longmark.records import Example
from longmark.report.filters import (
    FILTERS,
    FilteredAnswer,
    filters_of,
    in_words,
    offered,
)
from longmark.report.html import write_report
from longmark.scores.manifest import MetricFacts, read_manifest
from longmark.text.refusal import only_declines
from longmark.view.answers import AnswerQuery, RunAnswers

FACTS = {
    "higher": MetricFacts(lo=0, hi=1, higher_is_better=True),
    "lower": MetricFacts(lo=0, hi=1, higher_is_better=False),
    "neither": MetricFacts(lo=0, hi=1, higher_is_better=None),
}


def answer(system: int, question: str = "q", *, declined: bool = False, **scores: float | None):
    statuses = {
        metric: "ok" if score is not None else "refused" for metric, score in scores.items()
    }
    return FilteredAnswer(question, system, scores, statuses, declined)


def passed(*answers: FilteredAnswer, pairs: bool = False) -> list[set[str]]:
    filters = filters_of(dict(enumerate(answers)), FACTS, pairs=pairs)
    return [set(filters[place]) for place in range(len(answers))]


def test_different_is_any_other_score_of_another_system_on_the_question():
    assert passed(answer(0, higher=0.9), answer(1, higher=0.9)) == [set(), set()]
    assert passed(answer(0, neither=0.9), answer(1, neither=0.8)) == [{"different"}, {"different"}]
    assert passed(answer(0, "q", higher=0.9), answer(1, "r", higher=0.8)) == [set(), set()]
    two_of_one = passed(answer(0, higher=0.9), answer(0, higher=0.8))
    assert two_of_one == [set(), set()], "two answers of one system"


def test_worse_is_below_the_first_system_in_the_direction_of_the_metric():
    assert passed(answer(0, higher=0.9), answer(1, higher=0.8))[1] == {"different", "worse"}
    assert passed(answer(0, higher=0.8), answer(1, higher=0.9))[0] == {"different"}
    assert passed(answer(0, lower=0.1), answer(1, lower=0.2))[1] == {"different", "worse"}
    assert passed(answer(0, neither=0.9), answer(1, neither=0.8))[1] == {"different"}
    # the first system has two answers: .9 and .5, on average .7
    mean = passed(answer(0, higher=0.9), answer(0, higher=0.5), answer(1, higher=0.75))[2]
    assert mean == {"different"}


def test_a_failure_is_a_score_in_the_worst_third_of_what_is_attainable_or_a_metric_that_failed():
    assert passed(answer(0, higher=0.33), answer(0, higher=0.34)) == [{"failures"}, set()]
    assert passed(answer(0, lower=0.7)) == [{"failures"}]
    assert passed(answer(0, neither=0.0)) == [set()]
    broken = FilteredAnswer("q", 0, {"higher": None}, {"higher": "metric_error"}, declined=False)
    assert passed(broken) == [{"failures", "unscored"}]


def test_a_refusal_is_an_answer_that_only_declines_or_a_judge_that_did():
    assert passed(answer(0, higher=None)) == [{"unscored", "refusals"}]
    assert passed(answer(0, higher=0.9, declined=True)) == [{"refusals"}]
    assert only_declines("I'm sorry, but I don't have enough information to answer that.")
    assert not only_declines("The API allows 600 requests a minute.")
    assert not only_declines("")


def test_choices_and_a_single_system_have_only_the_filters_that_can_be_meant():
    assert offered(2, pairs=False) == list(FILTERS)
    assert offered(1, pairs=False) == ["failures", "unscored", "refusals"]
    assert offered(2, pairs=True) == ["unscored", "refusals"]
    assert passed(answer(0, higher=-1.0), answer(1, higher=1.0), pairs=True) == [set(), set()]


def two_systems(folder: Path, system: str | None = None) -> Path:
    """v18 and v20 on three questions: v20 is worse on the second; the third it declines, unscored."""
    scores = {"v18": (0.9, 0.9, 0.9), "v20": (0.9, 0.2, None)}
    examples = [
        Example(
            id=f"{system}-{i}",
            question_id=f"q{i}",
            question=f"Question {i}?",
            answer="I do not know." if value is None else "It is so.",
            system=system,
        )
        for system, values in scores.items()
        for i, value in enumerate(values)
    ]
    rows = [
        row(f"{system}-{i}", RELEVANCE, value, system=system, question_id=f"q{i}")
        for system, values in scores.items()
        for i, value in enumerate(values)
    ]
    return write_run(folder, examples, rows, manifest(system))


WANTED = {
    "v18-0": [],
    "v18-1": ["different"],
    "v18-2": [],
    "v20-0": [],
    "v20-1": ["different", "worse", "failures"],
    "v20-2": ["unscored", "refusals"],
}


def test_the_report_and_the_view_have_the_same_filters(tmp_path: Path):
    run = two_systems(tmp_path / "run")
    write_report([run], tmp_path / "page.html")
    html = (tmp_path / "page.html").read_text("utf-8")
    (content,) = re.findall(r'id="data">(.*?)</script>', html, re.DOTALL)
    data = json.loads(content)
    assert {line["id"]: line["filters"] for line in data["examples"]} == WANTED
    assert data["filters"] == list(FILTERS)
    answers = RunAnswers(run)
    described = read_manifest(run)
    answers.advance(described, 60)
    summary = answers.summary(described)
    for name in FILTERS:
        numbers = answers.numbers(AnswerQuery(sort="file", filter=name), summary)
        ids = [example.id for example in answers.shown(numbers)[0]]
        assert ids == [example for example, filters in WANTED.items() if name in filters]


def test_report_view_and_compare_count_the_same_questions_by_the_same_words(tmp_path: Path):
    run = two_systems(tmp_path / "run")
    answers = RunAnswers(run)
    described = read_manifest(run)
    answers.advance(described, 60)
    counts = answers.counts_by_filter(answers.summary(described))
    # of the three questions: q1 differs, is worse and fails; q2 is unscored and declined
    wanted = {"": 3, "different": 1, "worse": 1, "failures": 1, "unscored": 1, "refusals": 1}
    assert counts == wanted
    assert answers.question_count([1, 2, 4]) == 2, "v18-0, v18-1 and v20-0"
    totals = compare([run], draws=99).apart_totals
    assert {name: totals[name] for name in FILTERS} == {name: wanted[name] for name in FILTERS}


def test_a_metric_without_any_score_is_unscored_in_a_comparison_too(tmp_path: Path):
    run = two_systems(tmp_path / "run")
    rows = [
        row(f"{system}-{i}", SILENT, None, system=system, question_id=f"q{i}")
        for system in ("v18", "v20")
        for i in range(3)
    ]
    with (run / "rows.jsonl").open("ab") as file:
        for of_silent in rows:
            file.write(of_silent.to_json() + b"\n")
    assert compare([run], draws=99).apart_totals["unscored"] == 3


def test_one_system_is_summed_up_by_its_failures():
    assert in_words({"": 30, "failures": 1}, directed=True) == (
        "1 of 30 answers fails (a score in the worst third of its range, or a metric that failed)."
    )
    assert in_words({"": 2, "unscored": 2, "refusals": 1}, directed=True) == (
        "None of 2 answers fail (a score in the worst third of its range, or a metric that failed); "
        "2 without one of the scores; 1 refused."
    )
    assert in_words({"": 30}, directed=False) == "", "nothing can fail, and nothing is missing"
    assert in_words({}, directed=True) == "", "there are no answers"


def test_a_name_that_was_given_stands_on_pages_and_a_hash_only_where_there_is_no_other():
    texts: dict[str, Any] = {"question": "How high?", "answer": "Two metres."}
    assert Example(id="own", question_id="T-1007", **texts).shown_id == "own"
    assert Example(question_id="T-1007", **texts).shown_id == "T-1007"
    nameless = Example(**texts)
    assert nameless.shown_id == nameless.id
    of_document = Example(question_id=f"{nameless.question_id}.0123456789abcdef", **texts)
    assert of_document.shown_id == of_document.id, "a hash of the question and its document"
