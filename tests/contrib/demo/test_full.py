"""`longmark demo --full` with models that need no model: every stage, every metric that needs no reference."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.contrib.papers.score_models import generator, judge
from tests.report.runs import answers_on

from longmark import metrics
from longmark.cli import main
from longmark.contrib.demo import full
from longmark.contrib.papers.study import StudyStopped
from longmark.models.fake import FakeChat, FakeEmbedder, FakeLanguageModel, FakeReranker
from longmark.models.protocols import Capabilities, ChatReply, ChatRequest, TokenLogprobs
from longmark.options.groups import ModelNames
from longmark.records.read import Reading
from longmark.records.write import read_rows


def test_the_whole_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    writes, judges = generator("writer", "Roads close."), judge("judge", "yes")

    def says(request: ChatRequest) -> ChatReply | str:
        if request.logprobs:
            number = "digit" in request.messages[-1].content
            candidates = (("7", -0.2), ("3", -2.0)) if number else (("yes", -0.2), ("no", -2.0))
            return ChatReply(
                candidates[0][0], logprobs=(TokenLogprobs(*candidates[0], candidates),)
            )
        text = request.messages[-1].content
        model = (
            writes
            if "Rephrase the question" in text or "Answer the question for" in text
            else judges
        )
        answer = model._answer(request)
        assert isinstance(answer, str)
        return ChatReply(answer, "length") if "Answer the question for" in text else answer

    able = Capabilities(logprobs=20)
    chat = FakeChat(says, name="chat", capabilities=able)
    monkeypatch.setattr(
        full,
        "MODELS",
        ModelNames([chat], chat, FakeEmbedder(), FakeReranker(), FakeLanguageModel()),
    )
    out = tmp_path / "demo"
    assert full.run_full(out) == 0
    answers = list(Reading(out / "study" / "answers" / "demo.jsonl"))
    assert [one.variant for one in answers] == [None, "paraphrase", "hazard"]
    assert all(len(one.contexts) == full.PASSAGES for one in answers)
    rows = list(read_rows(out / "study" / "runs" / "demo" / "all" / "rows.jsonl"))
    expected = {name for name in metrics.names() if "references" not in metrics.load(name).needs}
    assert {name for name in expected if any(row.metric.startswith(name) for row in rows)} == {
        name for name in expected if name.startswith(("score.", "ccrs."))
    }
    assert [row.metric for row in rows if row.score is None and row.status != "undefined"] == []
    printed = capsys.readouterr().out
    for stage in ("index", "questions", "variants", "answers: demo", "scores: demo, all", "report"):
        assert f"\n{stage} " in printed
    assert "\nanswers: demo: 3 of 3 answers were cut off at the limit of 300 tokens\n" in printed
    timed = json.loads((out / "tables" / "stages.json").read_text(encoding="utf-8"))
    assert all(row["seconds"] >= 0 for row in timed["rows"])
    assert answers[0].question is not None
    assert answers[0].question in answers_on(out / "report.html")[0]
    asked = len(chat.requests)
    assert full.run_full(out) == 0  # the same command again finds all of it done
    assert len(chat.requests) == asked > 0


@pytest.mark.parametrize(("why", "code"), [("interrupt", 130), ("missing", 4)])
def test_a_stage_that_is_not_finished_is_no_bug(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], why: str, code: int
):
    def stop(_out: Path) -> int:
        raise StudyStopped(why, "The same command goes on.")

    monkeypatch.setattr(full, "run_full", stop)
    assert main(["demo", "--full"]) == code
    assert capsys.readouterr().err == "longmark: The same command goes on.\n"
