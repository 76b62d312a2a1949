"""What `longmark demo` does, with models that need no model."""

from __future__ import annotations

import csv
import re
from pathlib import Path

import pytest
from tests.report.runs import answers_on

from longmark import demo
from longmark.demo import page
from longmark.models.fake import FakeChat, FakeEmbedder, FakeLanguageModel, FakeReranker
from longmark.models.protocols import Capabilities, ChatReply, ChatRequest, TokenLogprobs
from longmark.models.registry import ModelNames
from longmark.records.read import Reading
from longmark.records.write import read_rows

RATED = {line["example_id"]: line for line in csv.DictReader(demo.RATINGS.open(encoding="utf-8", newline=""))}
ANSWERS = {one.answer: one.id for one in Reading(demo.ANSWERS).singles()}


def judge(*, knows: bool = True) -> FakeChat:
    """A judge of contextual coherence that follows the ratings, or that gives every answer the same."""

    def replies(request: ChatRequest) -> ChatReply | str:
        text = request.messages[-1].content
        if not request.logprobs:
            return '{"facts": ["Ice is heavy.", "Lines break."]}'
        name = next(name for answer, name in ANSWERS.items() if answer and f"\n{answer}\n" in text)
        yes = (
            -2.0 + 0.35 * int(RATED[name]["value"]) + 0.001 * (len(name) % 7) if knows and "<context" in text else -1.0
        )
        return ChatReply("yes", logprobs=(TokenLogprobs("yes", yes, (("yes", yes), ("no", -1.0))),))

    return FakeChat(replies, capabilities=Capabilities(logprobs=20))


def run(out: Path, monkeypatch: pytest.MonkeyPatch, chat: FakeChat) -> None:
    monkeypatch.setenv("LONGMARK_HOME", str(out.parent / "home"))
    models = ModelNames([chat], chat, FakeEmbedder(), FakeReranker(), FakeLanguageModel())
    monkeypatch.setattr(demo, "MODELS", models)
    assert demo.run_demo(out) == 0


def test_every_answer_is_rated_and_every_bad_rating_has_a_reason():
    examples = list(Reading(demo.ANSWERS))
    assert [example.id for example in examples] == list(RATED)
    assert len({example.question_id for example in examples}) == 10
    assert {example.system for example in examples} == set(page.SYSTEMS)
    assert all(bool(line["reason"]) == (line["value"] != "5") for line in RATED.values())


def test_the_demo_says_which_system_is_better_which_metric_to_trust_and_where_to_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    chat, out = judge(), tmp_path / "demo"
    run(out, monkeypatch, chat)
    printed = capsys.readouterr().out.splitlines()
    assert len(printed) <= 12
    assert "The system reader is better than memory and keyword, by contextual coherence." in printed
    assert any(line.startswith("Contextual coherence agrees with the ratings") for line in printed)
    assert any("Question relevance by this judge is not shown to agree" in line for line in printed)
    rows = list(read_rows(out / "scores" / "rows.jsonl")) + list(read_rows(out / "costly" / "rows.jsonl"))
    assert len([row for row in rows if row.score is not None]) == 30 * 4 + page.FEW * 2
    named = [line.split()[0] for line in printed if line.startswith(str(out))]
    assert len(named) == 5
    assert all(Path(name).is_file() for name in named)
    first = (out / "index.html").read_text("utf-8")
    assert "<h1><bdi>The system reader is better than memory and keyword" in first
    assert {(out / link).is_file() for link in re.findall(r'href="([^"#:]+)"', first)} == {True}
    worst = re.search(r'<section id="the-worst-answers">.*?</section>', first, re.DOTALL)
    assert worst is not None
    assert "off the question" in worst[0]
    assert "reader" not in worst[0]  # a good answer does not stand among the worst
    assert "Why do power lines break" in answers_on(out / "report.html")[0]
    asked = len(chat.requests)
    run(out, monkeypatch, chat)  # the same command again finds all of it done
    assert len(chat.requests) == asked > 0


def test_a_judge_that_cannot_tell_answers_apart_decides_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    run(tmp_path / "demo", monkeypatch, judge(knows=False))
    printed = capsys.readouterr().out
    assert "undecided, because no metric of the judge agrees with the ratings" in printed
    assert "Contextual coherence by this judge is not shown to agree" in printed
    assert "is better" not in (tmp_path / "demo" / "index.html").read_text("utf-8").split("Provenance")[0].replace(
        "Which system is better", ""
    )
