"""Sentences that only a source supports which they do not name."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.report.runs import answers_on

import longmark
from longmark.metrics.citations import METRIC, CitationsParams
from longmark.models.protocols import ChatRequest
from longmark.records import Context, Example
from longmark.report.html import write_report
from longmark.testing import FakeChat, score_sync

TEXTS = ["Ice floats on water.", "Salt melts ice on roads.", "Rain falls in Mawsynram."]
ANSWER = (
    "Ice floats on water [1]. Salt melts ice on roads [1]. Rain falls in Mawsynram. Bears like honey [2]. "
    "Who sees it?"
)


def run_of(answer: str, folder: Path, metrics: str, **record: Any) -> Any:
    record = {"id": "a", "question": "Why?", "answer": answer, "contexts": TEXTS, **record}
    return longmark.run([record], metrics, checker="overlap", out=folder)


def states(answer: str, folder: Path, **record: Any) -> list[tuple[str, list[int]]]:
    (row,) = run_of(answer, folder, "citations.recall@elsewhere=true", **record).rows()
    return [(claim["state"], claim["passages"]) for claim in row.evidence["claims"]]


def test_a_sentence_is_supported_elsewhere_by_the_sources_that_it_does_not_name(
    tmp_path: Path,
) -> None:
    assert states(ANSWER, tmp_path / "run") == [
        ("supported", [1]),
        ("supported elsewhere", [2]),
        ("supported elsewhere", [3]),
        ("not supported", []),
        ("not cited", []),  # it asks
    ]


def test_an_answer_without_citations_is_asked_about_with_all_sources(tmp_path: Path) -> None:
    assert states("Rain falls in Mawsynram. Bears like honey.", tmp_path / "run") == [
        ("supported elsewhere", [3]),
        ("not cited", []),
    ]


def test_sources_without_a_text_are_not_asked_about(tmp_path: Path) -> None:
    sources = [{"id": "a", "text": TEXTS[0]}, {"id": "b", "text": None}]
    record = {"sources": sources, "contexts": [TEXTS[0]]}
    assert states("Salt melts ice on roads [1].", tmp_path / "run", **record) == [
        ("not supported", [])
    ]


def test_no_score_changes(tmp_path: Path) -> None:
    names = ("citations.recall", "citations.precision", "citations.f1")
    plain = run_of(ANSWER, tmp_path / "plain", ",".join(names)).rows()
    asked = run_of(
        ANSWER, tmp_path / "asked", ",".join(f"{name}@elsewhere=true" for name in names)
    ).rows()
    assert [row.score for row in plain] == [row.score for row in asked]


def test_the_report_says_so(tmp_path: Path) -> None:
    run_of(ANSWER, tmp_path / "run", "citations.recall@elsewhere=true")
    write_report([tmp_path / "run"], tmp_path / "page.html")
    (answer,) = answers_on(tmp_path / "page.html")
    assert "only a source that it does not name supports it" in answer
    assert "Mawsynram" in answer.partition("a source that it does not name supports it")[2]


def test_the_report_shows_a_source_beside_its_sentence_where_the_example_has_no_passages(
    tmp_path: Path,
) -> None:
    sources = [{"id": f"https://a.org/{number}", "text": text} for number, text in enumerate(TEXTS)]
    record = {"question": "Why?", "answer": "Salt melts ice [2].", "sources": sources}
    run = longmark.run([record], "citations.recall", checker="overlap", out=tmp_path / "run")
    (row,) = run.rows()
    assert row.evidence["claims"][0]["passages"] == [2]
    write_report([tmp_path / "run"], tmp_path / "page.html")
    (answer,) = answers_on(tmp_path / "page.html")
    shown = answer[: answer.index("Claims and what supports them")]
    assert "Salt melts ice on roads." in shown
    assert "https://a.org/1" in shown


def test_grades_have_no_other_sources() -> None:
    with pytest.raises(ValueError, match="leave out support=graded"):
        CitationsParams(elsewhere=True, support="graded")


def test_no_more_calls_are_made_than_are_counted() -> None:
    example = Example(
        answer=ANSWER, contexts=tuple(Context(text=text) for text in TEXTS), question="Why?"
    )
    params = {"elsewhere": True, "plan": "each"}
    judge = FakeChat('{"1": "neutral", "2": "neutral", "3": "neutral", "4": "neutral"}')
    score_sync("citations.recall", example, params, judge=judge)
    counted = METRIC.calls(example, CitationsParams(elsewhere=True, plan="each"), 1, ("recall",))
    assert 2 < len(judge.requests) <= counted == 5  # of two sources, then of three others


@pytest.mark.parametrize("label", ["entails", "neutral"])
@pytest.mark.parametrize("elsewhere", [False, True])
@pytest.mark.parametrize(
    "answer",
    [
        "Rain falls [1]. Snow falls [1][2].",  # the first source is asked about in two rounds
        "Rain falls [1][2][3]. Snow falls [2][3]. Hail falls [3].",
        "Rain falls [1][2]. Rain falls [1][2].",
        "Rain falls. Snow falls [3].",
    ],
)
def test_a_premise_of_several_rounds_is_counted_in_each(
    answer: str, elsewhere: bool, label: str
) -> None:
    def reply(request: ChatRequest) -> str:
        statements = re.findall(r"^\d+\. ", request.messages[1].content, re.MULTILINE)
        return json.dumps({str(number): label for number in range(1, len(statements) + 1)})

    example = Example(
        answer=answer, contexts=tuple(Context(text=text) for text in TEXTS), question="Why?"
    )
    judge = FakeChat(reply)
    params = {"elsewhere": elsewhere, "plan": "each"}
    score_sync("citations.precision", example, params, judge=judge)
    counted = METRIC.calls(
        example, CitationsParams(elsewhere=elsewhere, plan="each"), 1, ("precision",)
    )
    assert len(judge.requests) <= counted
    if label == "entails" and answer.startswith("Rain falls [1]. "):
        assert len(judge.requests) == counted - (2 if elsewhere else 0)
