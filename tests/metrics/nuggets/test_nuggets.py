"""Nuggets: the scores of nuggetizer and open-rag-eval, who assigns, and what is unscored."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

import longmark
from longmark.cli import main
from longmark.errors import BadInput, RequestRefused, UserError
from longmark.metrics.nuggets import FORMULAS, NuggetParams
from longmark.models.fake import FakeChat
from longmark.models.protocols import ChatRequest
from longmark.records import Example
from longmark.records.expected import Assignment, Importance, Nugget
from longmark.testing import Scored, score_sync
from longmark.text.overlap import OverlapChecker, support_of

PARTS = ("strict_vital", "strict_all", "vital", "all", "weighted", "strict_weighted")
LABELS: dict[str, Assignment] = {"+": "support", "/": "partial_support", "-": "not_support"}
IMPORTANCE: dict[str, Importance] = {"v": "vital", "o": "okay"}


def nuggets(written: str) -> tuple[Nugget, ...]:
    """`v+ o/` is a vital nugget with support, and an okay one with partial support; `v` one without an assignment."""
    return tuple(
        Nugget(
            text=f"Fact number {number}.",
            importance=IMPORTANCE[mark[0]],
            assignment=LABELS[mark[1]] if mark[1:] else None,
        )
        for number, mark in enumerate(written.split())
    )


def scored(
    listed: Sequence[Nugget], params: Mapping[str, Any] | None = None, **models: Any
) -> dict[str, Scored]:
    example = Example(id="1", question="Why?", answer="Because.", nuggets=tuple(listed))
    return score_sync("nuggets", example, params, **models)


def values(written: str, **params: Any) -> dict[str, float | None]:
    return {
        full.removeprefix("nuggets."): score.value
        for full, score in scored(nuggets(written), params).items()
    }


def judge(labels: Mapping[str, str], sent: list[str] | None = None) -> FakeChat:
    """A judge that labels each nugget as the mapping says, by its text."""

    def reply(request: ChatRequest) -> str:
        asked = request.messages[1].content
        listed = re.findall(r"^\[(\d+)\] (.*)$", asked, re.MULTILINE)
        if sent is not None:
            sent.append(asked)
        return json.dumps({number: labels[text] for number, text in listed})

    return FakeChat(reply)


# Definitions -------------------------------------------------------------------------------------------------------


def test_the_scores_are_those_of_nuggetizers_own_test() -> None:
    # castorini/nuggetizer d00dc3e, tests/test_scripts.py:463-502: strict_vital 1, strict_all .5, vital 1, all .75
    found = values("v+ o/")
    assert [found[part] for part in PARTS[:4]] == [1.0, 0.5, 1.0, 0.75]


def test_the_weighted_scores_are_those_of_open_rag_evals_own_test() -> None:
    # vectara/open-rag-eval dfc4175, tests/test_autonugget_metric.py:64-85: .83333 and .66666
    found = values("v+ o/")
    assert found["weighted"] == pytest.approx(1.25 / 1.5)
    assert found["strict_weighted"] == pytest.approx(1 / 1.5)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("v+ v+", (1, 1, 1, 1, 1, 1)),
        ("v- v-", (0, 0, 0, 0, 0, 0)),
        ("v/ v/", (0, 0, 0.5, 0.5, 0.5, 0)),
        ("v+ v/ v- o+ o-", (1 / 3, 2 / 5, 1.5 / 3, 2.5 / 5, 2 / 4, 1.5 / 4)),
        ("v- o+ o+ o/", (0, 2 / 4, 0, 2.5 / 4, 1.25 / 2.5, 1 / 2.5)),
        ("v/ o/ o/", (0, 0, 0.5, 0.5, 1 / 2, 0)),
        ("o+ v- v+ v+ v/", (2 / 4, 3 / 5, 2.5 / 4, 3.5 / 5, 3 / 4.5, 2.5 / 4.5)),
    ],
)
def test_every_branch_of_the_formulas_gives_the_value_worked_by_hand(
    written: str, expected: tuple[float, ...]
) -> None:
    found = values(written)
    assert [found[part] for part in PARTS] == pytest.approx(list(expected))


def test_scores_over_vital_nuggets_of_a_question_without_one_are_unscored() -> None:
    scores = scored(nuggets("o+ o-"))
    for part in ("strict_vital", "vital"):
        assert scores[f"nuggets.{part}"].status == "undefined"
        assert scores[f"nuggets.{part}"].reason == "There are no vital nuggets for this question."
    assert scores["nuggets.all"].value == 0.5
    assert scores["nuggets.weighted"].value == 0.5


def test_without_vital_nuggets_the_authors_score_0_and_count_one_that_is_missing() -> None:
    # nuggetizer metrics.py:34-39: 0.0; open-rag-eval autonugget_metric.py:333-345: max(0, 1) vital nuggets
    found = values("o+ o-", empty="zero")
    assert [found[part] for part in PARTS] == [0, 0.5, 0, 0.5, 0.5 / 2, 0.5 / 2]
    found = values("v+ v+", empty="zero")
    assert found["weighted"] == pytest.approx(2 / 2.5)
    assert set(values("", empty="zero").values()) == {0.0}


def test_as_published_sets_the_authors_way() -> None:
    assert longmark.metrics.load("nuggets").as_published == {"empty": "zero"}


@pytest.mark.parametrize("part", PARTS)
def test_every_score_grows_with_each_assignment(part: str) -> None:
    formula = FORMULAS[part]
    for importance in ("vital", "okay"):
        found = [
            formula.value([("vital", "partial_support"), (importance, label)], as_authors=False)
            for label in ("not_support", "partial_support", "support")
        ]
        assert found == sorted(value for value in found if value is not None)
        assert all(0 <= value <= 1 for value in found if value is not None)


# Who assigns -------------------------------------------------------------------------------------------------------


def test_a_judge_labels_ten_nuggets_a_call_once_for_all_scores() -> None:
    sent: list[str] = []
    listed = [Nugget(text=f"Fact {n}.", importance="vital" if n < 5 else "okay") for n in range(25)]
    labels = {nugget.text: "support" if n % 2 else "not_support" for n, nugget in enumerate(listed)}
    scores = scored(listed, judge=judge(labels, sent))
    assert len(sent) == 3
    assert [len(re.findall(r"^\[\d+\] ", asked, re.MULTILINE)) for asked in sent] == [10, 10, 5]
    assert scores["nuggets.strict_all"].value == 12 / 25
    assert scores["nuggets.strict_vital"].value == 2 / 5
    assert all("Because." in asked and "Why?" in asked for asked in sent)


def test_a_thousand_nuggets_take_a_hundred_calls() -> None:
    sent: list[str] = []
    listed = [Nugget(text=f"Fact {n}.") for n in range(1000)]
    labels = {nugget.text: "support" for nugget in listed}
    scores = scored(listed, judge=judge(labels, sent))
    assert (scores["nuggets.all"].value, len(sent)) == (1.0, 100)


def test_equal_nuggets_are_asked_about_once_and_each_counts() -> None:
    sent: list[str] = []
    listed = [Nugget(text="Same."), Nugget(text="Same.", importance="okay"), Nugget(text="Other.")]
    scores = scored(listed, judge=judge({"Same.": "support", "Other.": "not_support"}, sent))
    assert len(re.findall(r"^\[\d+\] ", sent[0], re.MULTILINE)) == 2
    assert scores["nuggets.strict_all"].value == 2 / 3
    assert scores["nuggets.strict_vital"].value == 1 / 2


def test_nuggets_in_another_language_than_the_answer_are_the_judges_to_decide() -> None:
    listed = [Nugget(text="Eis schwimmt auf Wasser."), Nugget(text="冰浮在水上。")]
    scores = scored(listed, judge=judge(dict.fromkeys((n.text for n in listed), "support")))
    assert scores["nuggets.vital"].value == 1.0


def test_carried_assignments_need_no_judge_and_are_ignored_where_a_user_says_so() -> None:
    listed = nuggets("v+ v-")
    assert scored(listed)["nuggets.vital"].evidence["assigner"] == "carried by the example"
    anew = judge(dict.fromkeys((nugget.text for nugget in listed), "support"))
    assert scored(listed, judge=anew)["nuggets.vital"].value == 0.5
    assert scored(listed, {"assigned": "anew"}, judge=anew)["nuggets.vital"].value == 1.0


def test_an_empty_answer_holds_no_nugget_whatever_it_carries() -> None:
    example = Example(id="1", question="Why?", answer="", nuggets=nuggets("v+ o/"))
    (vital, _) = (score_sync("nuggets", example)[f"nuggets.{part}"] for part in ("vital", "all"))
    assert vital.value == 0
    assert "the answer is empty" in vital.evidence["rule"]


def test_nuggets_of_which_one_carries_no_assignment_are_all_assigned_anew() -> None:
    listed = nuggets("v+ v")
    by_judge = judge(dict.fromkeys((nugget.text for nugget in listed), "not_support"))
    assert scored(listed, judge=by_judge)["nuggets.vital"].value == 0.0


def test_a_checker_gives_support_or_none_and_no_part() -> None:
    listed = [Nugget(text="Ice floats."), Nugget(text="Whales sing."), Nugget(text="Iron rusts.")]
    example = Example(
        id="1", question="What?", answer="Ice floats on water.", nuggets=tuple(listed)
    )
    scores = score_sync("nuggets", example, checker=OverlapChecker())
    facts = scores["nuggets.all"].evidence["reference_claims"]
    assert [fact["held"] for fact in facts] == ["support", "not_support", "not_support"]
    shares = [fact["answer_probability"] for fact in facts]
    assert shares == [round(support_of(share), 4) for share in (1, 0, 0)]
    assert scores["nuggets.all"].value == pytest.approx(1 / 3)


def test_a_chat_model_as_checker_is_asked_as_a_judge_is() -> None:
    listed = nuggets("v v")
    by_judge = judge(dict.fromkeys((nugget.text for nugget in listed), "partial_support"))
    assert scored(listed, checker=by_judge)["nuggets.vital"].value == 0.5


def test_an_empty_answer_holds_nothing_without_a_call() -> None:
    example = Example(id="1", question="Why?", answer=" ", nuggets=nuggets("v o"))
    scores = score_sync("nuggets", example)
    assert {score.value for score in scores.values()} == {0.0}


# What is unscored --------------------------------------------------------------------------------------------------


def test_a_batch_that_cannot_be_read_leaves_only_its_scores_unscored() -> None:
    listed = [
        Nugget(text=f"Fact {n}.", importance="vital" if n < 10 else "okay") for n in range(20)
    ]

    def reply(request: ChatRequest) -> str:
        numbers = re.findall(r"^\[(\d+)\] Fact 1\d\.$", request.messages[1].content, re.MULTILINE)
        if numbers:
            return '{"1": "support"}'
        return json.dumps({str(n): "support" for n in range(1, 11)})

    scores = scored(listed, judge=FakeChat(reply))
    assert scores["nuggets.vital"].value == 1.0
    for part in ("all", "strict_all", "weighted"):
        assert scores[f"nuggets.{part}"].value is None
        assert scores[f"nuggets.{part}"].status == "unparsable"
        reason = scores[f"nuggets.{part}"].reason or ""
        assert "one label for each number from 1 to 10" in reason


@pytest.mark.parametrize(
    "reply",
    [
        '["support", "support"]',  # nuggetizer's own form, which says nothing of the numbers
        '{"1": "support", "2": "supported"}',
        '{"1": "support", "2": "support", "3": "support"}',
        '{"1": "support", "1": "not_support", "2": "support"}',
        'Both are there: {"1": "support", "2": "support"}',
        "",
    ],
)
def test_a_reply_that_is_not_one_label_for_each_number_is_no_assignment(reply: str) -> None:
    scores = scored(nuggets("v o"), judge=FakeChat(reply))
    assert {score.status for score in scores.values()} == {"unparsable"}


def test_a_judge_that_refuses_or_fails_leaves_the_scores_unscored() -> None:
    failing = FakeChat(lambda _request: RequestRefused("out of order", 400))
    scores = scored(nuggets("v o"), judge=failing)
    assert {score.status for score in scores.values()} == {"model_error"}


def test_without_a_judge_and_a_checker_the_reason_says_what_to_add() -> None:
    scores = scored(nuggets("v o"))
    assert {score.status for score in scores.values()} == {"missing_input"}
    assert "add --judge or --checker" in (scores["nuggets.all"].reason or "")


def test_an_example_without_nuggets_says_so_and_an_empty_list_is_undefined() -> None:
    missing = score_sync("nuggets", Example(id="1", question="Why?", answer="So."))
    assert missing["nuggets.all"].reason == "The example has no nuggets."
    assert missing["nuggets.all"].status == "missing_input"
    empty = scored(())
    assert empty["nuggets.all"].status == "undefined"
    assert empty["nuggets.all"].reason == "There are no nuggets for this question."


# Nuggets in a file of their own ------------------------------------------------------------------------------------


def write(path: Path, *records: Any) -> Path:
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


RECORD = {
    "query": "What is Python?",
    "qid": "q1",
    "nuggets": [
        {"text": "Python is a language.", "importance": "vital"},
        {"text": "Guido van Rossum made Python.", "importance": "okay"},
    ],
}


def notices_of(
    answers: Path, name: str, out: Path, capsys: pytest.CaptureFixture[str]
) -> list[str]:
    """What a run of a metric tells, a line each."""
    arguments = ["run", str(answers), "--metrics", name, "--checker", "overlap", "--out", str(out)]
    assert main(arguments) == 0
    return capsys.readouterr().err.splitlines()


def test_nuggets_of_a_file_are_found_by_the_id_of_the_question_and_by_its_text(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "nuggets.jsonl", RECORD)
    answer = "Python is a language."
    by_id = Example(id="1", question_id="q1", answer=answer)
    by_text = Example(id="1", question="what  is python?", answer=answer)
    for example in (by_id, by_text):
        scores = score_sync("nuggets", example, {"file": str(path)}, checker=OverlapChecker())
        assert {full: score.value for full, score in scores.items()} == {
            f"nuggets.{part}": pytest.approx(value)
            for part, value in zip(PARTS, (1, 0.5, 1, 0.5, 1 / 1.5, 1 / 1.5), strict=True)
        }, example


def test_a_run_of_trec_finds_its_nuggets_by_the_topic(tmp_path: Path) -> None:
    answer = {
        "run_id": "r1",
        "topic_id": "q1",
        "topic": "what is python",
        "references": ["msmarco_v2.1_doc_00_1#1"],
        "response_length": 8,
        "answer": [
            {"text": "Python is a language.", "citations": [0]},
            {"text": "It is old.", "citations": []},
        ],
    }
    answers = write(tmp_path / "answers.jsonl", answer)
    path = write(tmp_path / "nuggets.jsonl", RECORD | {"query": "another wording"})
    name = f"nuggets.all@file={path}"
    result = longmark.run(answers, name, checker="overlap", out=tmp_path / "run")
    assert [(row.system, row.score) for row in result.rows()] == [("r1", 0.5)]


def test_a_run_names_ids_under_which_the_file_has_another_question(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Every set has a question 1; a question in other letters and spaces is the same one."""
    record = RECORD | {"query": "What is Python?"}
    path = write(tmp_path / "nuggets.jsonl", record, record | {"qid": "q2", "query": "What is C?"})
    answers = write(
        tmp_path / "answers.jsonl",
        {"id": "a", "question_id": "q1", "question": "what is  python?", "answer": "A language."},
        {"id": "b", "question_id": "q2", "question": "What is Rust?", "answer": "A language."},
        {"id": "c", "question_id": "q2", "answer": "A language."},
    )
    notices = notices_of(answers, f"nuggets.all@file={path}", tmp_path / "run", capsys)
    (notice,) = [notice for notice in notices if "another question" in notice]
    assert notice.startswith("1 answer: The record with the question's id")
    assert notice.endswith("The ids: q2 (1)")


def test_a_run_counts_answers_whose_assignments_are_incomplete_and_made_anew(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nuggets = [{"text": "It rains.", "assignment": "support"}, {"text": "It snows."}]
    complete = [nugget | {"assignment": "not_support"} for nugget in nuggets]
    answers = write(
        tmp_path / "answers.jsonl",
        *(
            {"id": str(number), "question": "Why?", "answer": "It rains.", "nuggets": listed}
            for number, listed in enumerate((nuggets, complete, nuggets[1:]))
        ),
    )
    notices = {
        assigned: " ".join(
            notices_of(answers, f"nuggets.all@assigned={assigned}", tmp_path / assigned, capsys)
        )
        for assigned in ("carried", "anew")
    }
    assert "1 answer: Some of the nuggets have an assignment" in notices["carried"]
    assert "assignment and others" not in notices["anew"]


@pytest.mark.parametrize("by_file", [False, True])
def test_a_list_that_says_no_importance_is_vital_and_the_run_says_so(
    by_file: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    silent = [{"text": "It rains."}, "It snows."]
    lists = {"q1": silent, "q2": [*silent, {"text": "It hails.", "vital": False}]}
    answered = [{"question_id": key, "question": key, "answer": "It rains."} for key in lists]
    listed = [{"qid": key, "query": key, "nuggets": nuggets} for key, nuggets in lists.items()]
    carried = [line | {"nuggets": lists[line["question_id"]]} for line in answered]
    answers = write(tmp_path / "answers.jsonl", *(answered if by_file else carried))
    path = write(tmp_path / "nuggets.jsonl", *listed)
    name = f"nuggets.all@file={path}" if by_file else "nuggets.all"
    notices = " ".join(notices_of(answers, name, tmp_path / "run", capsys))
    assert "1 answer: No nugget of its list says its importance, so that all are vital" in notices


def test_a_question_that_the_file_does_not_have_is_unscored_and_named(tmp_path: Path) -> None:
    path = write(tmp_path / "nuggets.jsonl", RECORD)
    example = Example(id="1", question_id="q9", question="Which?", answer="That one.")
    scores = score_sync("nuggets", example, {"file": str(path)}, checker=OverlapChecker())
    assert scores["nuggets.all"].status == "missing_input"
    reason = scores["nuggets.all"].reason or ""
    assert 'nuggets.jsonl has no nuggets for the question "q9"' in reason


def test_a_record_that_stands_twice_is_read_once(tmp_path: Path) -> None:
    path = write(tmp_path / "nuggets.jsonl", RECORD, RECORD)
    example = Example(id="1", question_id="q1", answer="Python is a language.")
    scores = score_sync("nuggets", example, {"file": str(path)}, checker=OverlapChecker())
    assert scores["nuggets.all"].value == 0.5


def test_one_text_of_two_questions_with_other_nuggets_finds_neither(tmp_path: Path) -> None:
    other = RECORD | {"qid": "q2", "nuggets": ["Python is old."]}
    path = write(tmp_path / "nuggets.jsonl", RECORD, other)
    example = Example(id="1", question="What is Python?", answer="A language.")
    scores = score_sync("nuggets", example, {"file": str(path)}, checker=OverlapChecker())
    assert scores["nuggets.all"].status == "missing_input"


@pytest.mark.parametrize(
    ("records", "says"),
    [
        ((RECORD, RECORD | {"nuggets": ["Other."]}), ':2: the question "q1" is already in line 1'),
        (({"qid": "q1"},), ":1: has no nuggets"),
        (({"nuggets": [{"text": "a"}]},), ":1: names no question; give it an id"),
        (([1, 2],), ":1: expected an object with named fields"),
        (
            (RECORD | {"nuggets": [{"text": "a", "assignment": "support"}]},),
            ":1: nuggets: assignments belong to one answer",
        ),
        (
            (RECORD | {"nuggets": [{"text": "a", "importance": "must"}]},),
            ':1: nuggets[0].importance: expected vital or okay, found "must"',
        ),
        ((RECORD | {"nuggets": [{"text": ""}]},), ":1: nuggets[0].text: is empty"),
        ((RECORD | {"nuggets": "many"},), ":1: nuggets: expected a list of nuggets"),
    ],
)
def test_what_is_wrong_in_a_file_is_named_with_its_line_before_anything_is_paid_for(
    records: tuple[Any, ...], says: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "nuggets.jsonl", *records)
    example = Example(id="1", question_id="q1", answer="A language.")
    sent: list[str] = []
    with pytest.raises(BadInput) as raised:
        longmark.run(
            [example],
            f"nuggets@file={path}",
            out=tmp_path / "run",
            judges=[judge({}, sent)],
            cache=tmp_path / "calls.sqlite",
        )
    assert says in str(raised.value)
    assert not sent


def test_a_file_that_is_not_there_or_has_changed_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match=r"none\.jsonl"):
        NuggetParams(file=str(tmp_path / "none.jsonl"))
    path = write(tmp_path / "nuggets.jsonl", RECORD)
    signed = NuggetParams(file=str(path)).file
    write(path, RECORD | {"qid": "q7"})
    with pytest.raises(UserError, match="has changed"):
        NuggetParams(file=signed)


# Evidence ----------------------------------------------------------------------------------------------------------


def test_the_evidence_lists_vital_nuggets_first_with_their_assignments() -> None:
    shown = scored(nuggets("o+ v/ v-"))["nuggets.all"].evidence["reference_claims"]
    assert [(fact["claim"], fact["expected_by"], fact["held"]) for fact in shown] == [
        ("Fact number 1.", "vital nugget", "partial_support"),
        ("Fact number 2.", "vital nugget", "not_support"),
        ("Fact number 0.", "okay nugget", "support"),
    ]
    vital = scored(nuggets("o+ v/ v-"))["nuggets.vital"].evidence
    assert [fact["claim"] for fact in vital["reference_claims"]] == [
        "Fact number 1.",
        "Fact number 2.",
    ]


def test_a_dry_run_counts_the_calls_of_a_run(tmp_path: Path) -> None:
    listed = [Nugget(text=f"Fact {n}.") for n in range(23)]
    sent: list[str] = []
    longmark.run(
        [Example(id="1", question="Why?", answer="So.", nuggets=tuple(listed))],
        "nuggets.strict_vital,nuggets.all",
        out=tmp_path / "run",
        judges=[judge({nugget.text: "support" for nugget in listed}, sent)],
        cache=tmp_path / "calls.sqlite",
    )
    metric = longmark.metrics.load("nuggets")
    example = Example(id="1", question="Why?", answer="So.", nuggets=tuple(listed))
    assert metric.calls(example, NuggetParams(), 1) == len(sent) == 3
