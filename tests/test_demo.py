"""What `longmark demo` does, with models that need no model."""

from __future__ import annotations

from longmark import demo, metrics
from longmark.models.fake import FakeChat, FakeEmbedder, FakeLanguageModel, FakeReranker
from longmark.models.registry import ModelNames
from longmark.records.write import read_rows


def test_the_demo_marks_every_value_and_writes_the_report(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    judge = FakeChat(logprobs={"yes": -0.2, "no": -2.0})
    models = ModelNames([judge], judge, FakeEmbedder(), FakeReranker(), FakeLanguageModel())
    monkeypatch.setattr(demo, "MODELS", models)
    out = tmp_path / "demo"
    assert demo.run_demo(out) == 0
    rows = list(read_rows(out / "run" / "rows.jsonl"))
    families = {row.metric.split(".")[1] for row in rows}
    assert families == {name.split(".")[1] for name in metrics.names()}
    assert all(row.score is not None or row.reason for row in rows)
    printed = capsys.readouterr().out
    assert "do not fit the domain" not in printed
    assert "score.readability.reading_ease" in printed
    assert printed.endswith(f"Report: {out / 'report.html'}\n")
    page = (out / "report.html").read_text("utf-8")
    assert all(row.metric in page for row in rows)
    asked = len(judge.requests)
    assert demo.run_demo(out) == 0  # the same command again finds all of it done
    assert len(judge.requests) == asked > 0
