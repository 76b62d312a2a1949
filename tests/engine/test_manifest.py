"""What a manifest says of the values that are marked."""

from __future__ import annotations

from pathlib import Path

import orjson

import longmark
from longmark.models.fake import FakeReranker


def test_a_value_has_its_own_sentence_or_that_of_its_metric(tmp_path: Path):
    answers = [{"id": "1", "question": "What fell?", "answer": "- Rain fell.\n- Snow fell."}]
    wanted = "score.readability,score.segment_attribution"
    longmark.run(answers, metrics=wanted, reranker=FakeReranker(), out=tmp_path / "run")
    described = orjson.loads((tmp_path / "run" / "manifest.json").read_bytes())["metrics"]
    said = {name.removeprefix("score."): value["summary"] for name, value in described.items()}
    assert said["readability.reading_ease"].startswith("Flesch reading ease (")
    assert said["readability.grade_level"].startswith("Flesch-Kincaid grade level (")
    of_all = "Segment attribution: an answer's relevance to a reranker, and what each point adds (SCORE, section"
    assert said["segment_attribution.relevance"].startswith(of_all)
    assert said["segment_attribution.order_changed"] == said["segment_attribution.relevance"]
