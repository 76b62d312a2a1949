"""People's labels of criteria beside what the metric `criteria` says of the same criteria of the same answers."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.report.runs import row

import longmark
from longmark.analysis.metaeval import metaeval
from longmark.analysis.metaeval.named_part_scores import NamedReading, clusters_of_criteria
from longmark.analysis.metaeval.ratings import RatedMetric, RatingLabel
from longmark.analysis.metaeval.sections import document
from longmark.contrib.decide.correction_options import CorrectionOptions
from longmark.contrib.decide.label_file import read_label_file
from longmark.errors import UserError
from longmark.models.fake import FakeChat
from longmark.models.protocols import ChatRequest
from longmark.scores.answer_parts import AnswerPart

AFRICA = "Says that it is in Africa."
LONG = "Says how long it is."
ASIA = "Says that it is in Asia."


def judge() -> FakeChat:
    """A judge that finds all criteria met that speak of Africa."""

    def reply(request: ChatRequest) -> str:
        listed = re.findall(r"^\[(\d+)\] (.*)$", request.messages[1].content, re.MULTILINE)
        return json.dumps(
            {place: "met" if "Africa" in text else "not_met" for place, text in listed}
        )

    return FakeChat(reply)


def a_run(folder: Path, *questions: str, criteria: Sequence[str] = (AFRICA, LONG, ASIA)) -> Path:
    """An answer to each question, with these criteria."""
    answers = [
        {
            "id": f"{question}-a",
            "question_id": question,
            "question": "Where is the Nile?",
            "answer": "In Africa.",
            "criteria": [{"criterion": text, "points": 1} for text in criteria],
        }
        for question in questions
    ]
    longmark.run(answers, "criteria", judges=[judge()], out=folder / "run")
    return folder / "run"


def label(answer: str, criterion: str, value: object, rater: str = "ann") -> dict[str, Any]:
    return {
        "example_id": answer,
        "criterion": criterion,
        "label": "met",
        "value": value,
        "rater": rater,
    }


def result_of(run: Path, labels: Any) -> tuple[RatingLabel, tuple[str, ...]]:
    results = metaeval(run, labels)
    (of_label,) = results.labels
    assert isinstance(of_label, RatingLabel)
    return of_label, results.notices


def only(of_label: RatingLabel) -> RatedMetric:
    (metric,) = of_label.metrics
    return metric


def scores(evidence: dict[str, Any], criterion: str) -> dict[str, Any]:
    read = NamedReading.of([row("a", "criteria.score", 0.5, evidence=evidence)], "criterion")
    return read.scores(AnswerPart("a", 0, 0, "criterion", criterion))


def test_a_criterion_is_met_as_the_judge_said_and_found_by_its_text() -> None:
    evidence = {"criteria": [{"text": AFRICA, "met": True}, {"text": ASIA, "met": False}]}
    assert scores(evidence, AFRICA) == {"met": 1.0}
    assert scores(evidence, "says that  it is in ASIA.") == {"met": 0.0}
    assert scores(evidence, LONG) == {
        "met": ("undefined", "the metric has no criterion with this text")
    }


def test_a_rating_beside_a_reference_is_a_tenth_of_it() -> None:
    evidence = {"criteria": [{"text": AFRICA, "answer": 6.5, "reference": 7}]}
    assert scores(evidence, AFRICA) == {"rating": 0.65}


@pytest.mark.parametrize(
    "entries",
    [3, "met", [3], [{"met": True}], [{"text": AFRICA, "met": "yes"}], [{"text": AFRICA}], None],
)
def test_evidence_of_another_form_says_nothing_of_criteria(entries: Any) -> None:
    assert scores({"criteria": entries}, AFRICA)["met"][0] == "undefined"


def test_an_answer_without_a_score_leaves_its_criteria_unscored_with_its_reason() -> None:
    read = NamedReading.of([row("a", "criteria.score", None)], "criterion")
    unscored = read.scores(AnswerPart("a", 0, 0, "criterion", AFRICA))["met"]
    assert unscored == ("unparsable", "The judge gave no number, twice.")


def test_labels_of_physicians_meet_the_scores_of_the_same_file(tmp_path: Path) -> None:
    prompt = [{"role": "user", "content": "Where is the Nile?"}]
    records = [
        {
            "prompt_id": f"p{place}",
            "prompt": prompt,
            "completion_id": f"c{place}",
            "completion": "In Africa.",
            "rubric": rubric,
            "category": "cluster:facts",
            "binary_labels": labels,
            "anonymized_physician_ids": ["d1", "d2"],
        }
        for place in range(6)
        for rubric, labels in (
            (f"Africa {place}.", [True, place > 0]),
            (f"Asia {place}.", [False] * 2),
        )
    ]
    file = tmp_path / "meta.jsonl"
    file.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    longmark.run(file, "criteria", judges=[judge()], out=tmp_path / "run")
    of_label, notices = result_of(tmp_path / "run", file)
    metric = only(of_label)
    assert (metric.metric, metric.scored, of_label.unit) == ("criteria.met", 12, "criterion")
    assert metric.auc is not None
    # of 11 criteria with a majority, 5 met and 6 not, the judge is right about each
    assert (metric.auc.yes, metric.auc.no, metric.auc.value) == (5, 6, 1.0)
    assert of_label.undecided == 1
    assert {coefficient.n for coefficient in of_label.agreement.coefficients} == {12}
    assert not any("share criteria" in notice for notice in notices)  # each has its own


def test_the_page_speaks_of_criteria(tmp_path: Path) -> None:
    run = a_run(tmp_path, "q1", "q2")
    labels = [
        label(f"{question}-a", text, 1) for question in ("q1", "q2") for text in (AFRICA, ASIA)
    ]
    page = document(metaeval(run, labels))
    assert "4 rated criteria" in page.lede
    texts = str([(section.says, section.note, section.tables) for section in page.sections])
    assert "criteria" in texts
    assert "criterions" not in texts
    assert "over questions" not in texts  # a notice says what the clusters are


def test_labels_of_criteria_need_a_run_that_judged_criteria(tmp_path: Path) -> None:
    answer = {"id": "q1-a", "question_id": "q1", "question": "Where?", "answer": "In Africa."}
    longmark.run([answer], "classic.length", out=tmp_path / "run")
    with pytest.raises(UserError, match=r"says anything of single criteria.*'label': 'criterion'"):
        metaeval(tmp_path / "run", [label("q1-a", AFRICA, 1)])


def test_a_column_criterion_can_name_what_raters_were_asked(tmp_path: Path) -> None:
    answer = {"id": "q1-a", "question_id": "q1", "question": "Where?", "answer": "In Africa."}
    longmark.run([answer], "classic.length", out=tmp_path / "run")
    labels = [
        {"example_id": "q1-a", "criterion": name, "value": 3, "rater": "ann"}
        for name in ("clear", "whole")
    ]
    results = metaeval(tmp_path / "run", labels, mapping={"label": "criterion"})
    assert [of_label.label for of_label in results.labels] == ["clear", "whole"]


def test_a_mean_is_not_corrected_by_labels_of_criteria() -> None:
    with pytest.raises(UserError, match="has labels of criteria"):
        read_label_file([label("a", AFRICA, 1)], CorrectionOptions())


# Clusters


def pairs(*labels: str) -> dict[tuple[str, str], None]:
    """`1a`: question 1, criterion a."""
    return {(text[0], text[1]): None for text in labels}


def test_questions_with_criteria_of_their_own_are_the_clusters() -> None:
    clusters, notice = clusters_of_criteria(pairs("1a", "1b", "2c"))
    assert clusters == {("1", "a"): "1", ("1", "b"): "1", ("2", "c"): "2"}
    assert notice == ""


def test_questions_that_share_a_criterion_are_one_cluster() -> None:
    labels = pairs("1a", "2a", "2b", "3b", "4c", "5d", "6e", "7f")
    clusters, notice = clusters_of_criteria(labels)
    groups = {question: clusters[question, criterion] for question, criterion in labels}
    assert groups["1"] == groups["2"] == groups["3"]
    assert len(set(groups.values())) == 5
    assert "over the 5 groups of questions" in notice


def test_with_too_few_groups_the_clusters_are_what_there_is_less_of_from_five_on() -> None:
    many_questions = pairs(
        *(f"{question}{criterion}" for question in "123456789" for criterion in "abcde")
    )
    clusters, notice = clusters_of_criteria(many_questions)
    assert set(clusters.values()) == set("abcde")
    assert "over the 5 criteria, as though questions did not matter" in notice
    one_criterion = pairs(*(f"{question}a" for question in "123456"))
    clusters, notice = clusters_of_criteria(one_criterion)
    assert set(clusters.values()) == set("123456")
    assert "over the 6 questions, as though criteria did not matter" in notice
    assert "(1) have" in notice


@given(
    st.dictionaries(
        st.tuples(st.sampled_from("12345678"), st.sampled_from("abcdefgh")), st.none(), min_size=1
    )
)
def test_labels_of_what_the_notice_names_are_in_one_cluster(
    labels: dict[tuple[str, str], None],
) -> None:
    clusters, notice = clusters_of_criteria(labels)
    together = {
        "": (0,),
        "groups of questions that": (0, 1),
        "questions, as": (0,),
        "criteria, as": (1,),
    }
    (places,) = {
        same for words, same in together.items() if (words in notice if words else not notice)
    }
    for place in places:
        for first, second in combinations(labels, 2):
            if first[place] == second[place]:
                assert clusters[first] == clusters[second]


def test_shared_criteria_widen_the_clusters_of_a_study_with_a_notice(tmp_path: Path) -> None:
    run = a_run(tmp_path, *(f"q{place}" for place in range(6)))
    labels = [
        label(f"q{place}-a", text, int(text == AFRICA))
        for place in range(6)
        for text in (AFRICA, LONG, ASIA)
    ]
    _, notices = result_of(run, labels)
    assert any(
        "Questions share criteria: intervals are over the 6 questions" in notice
        for notice in notices
    )


def test_a_score_by_one_tag_stands_beside_labels_of_the_criteria_with_the_tag_alone(
    tmp_path: Path,
) -> None:
    tags = {AFRICA: ["axis:place", "level:easy"], LONG: ["axis:length"], ASIA: ["axis:place"]}
    answers = [
        {
            "id": f"q{number}-a",
            "question_id": f"q{number}",
            "question": "Where is the Nile?",
            "answer": "In Africa.",
            "criteria": [
                {"criterion": text, "points": 1, "tags": tags_of_text}
                for text, tags_of_text in tags.items()
            ],
        }
        for number in range(6)
    ]
    metrics = "criteria,criteria@tag=axis:place,criteria@tag=axis:length"
    longmark.run(answers, metrics, judges=[judge()], out=tmp_path / "run")
    labels = [
        label(f"q{number}-a", text, int(text == AFRICA)) for number in range(6) for text in tags
    ]
    of_label, _ = result_of(tmp_path / "run", labels)
    counts = {metric.metric: (metric.scored, metric.unscored) for metric in of_label.metrics}
    assert counts == {
        "criteria.met": (18, {}),
        "criteria.met@tag=axis:place": (12, {"undefined": 6}),
        "criteria.met@tag=axis:length": (6, {"undefined": 12}),
    }


def test_a_criterion_without_the_tag_has_no_score_by_the_tag() -> None:
    evidence = {
        "criteria": [
            {"text": AFRICA, "met": True, "tags": "style, tone, place"},
            {"text": ASIA, "met": True, "tags": "places"},
        ]
    }
    of_row = row("a", "criteria.score@tag=style%2C%20tone", 1.0, evidence=evidence)
    by_tone = NamedReading.of([of_row], "criterion")
    assert by_tone.scores(AnswerPart("a", 0, 0, "criterion", AFRICA)) == {"met": 1.0}
    assert by_tone.scores(AnswerPart("a", 0, 0, "criterion", ASIA)) == {
        "met": ("undefined", "the metric has no criterion with this text and the tag style, tone")
    }
