"""Which metrics a comparison shows first."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.analysis.compare.runs import run_of

from longmark.analysis.compare import compare, document

WORDS = "classic.bleu"
PRECISION = "citations.precision@limit=3"
RECALL = "citations.recall@limit=3"


def metrics_of(folder: Path, *metrics: str, **options: Any) -> list[str]:
    """The metrics of a comparison of two systems with these, in its order."""
    first = [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7]
    second = [0.2, 0.1, 0.5, 0.5, 0.4, 0.8, 0.9]
    systems = {"old": dict.fromkeys(metrics, first), "new": dict.fromkeys(metrics, second)}
    run_of(folder, systems)
    comparison = compare([folder], draws=99, higher=list(metrics), **options)
    page = str(document(comparison))
    assert page
    return [metric.metric for metric in comparison.metrics]


def test_precision_and_recall_of_citations_lead_where_answers_cite(tmp_path: Path) -> None:
    metrics = (WORDS, RECALL, "citations.f1@limit=3", PRECISION)
    assert metrics_of(tmp_path / "run", *metrics) == [
        RECALL,
        PRECISION,
        WORDS,
        "citations.f1@limit=3",
    ]


def test_recall_of_citations_does_not_lead_where_no_answer_cites(tmp_path: Path) -> None:
    """Without a citation there is no precision, and recall is 0 of every answer."""
    assert metrics_of(tmp_path / "run", WORDS, RECALL) == [WORDS, RECALL]


@pytest.mark.parametrize("primary", [WORDS, RECALL])
def test_a_primary_metric_stands_before_them(tmp_path: Path, primary: str) -> None:
    order = metrics_of(tmp_path / "run", WORDS, RECALL, PRECISION, primary=[primary])
    assert order[0] == primary
    assert order[1:] == [metric for metric in (RECALL, PRECISION, WORDS) if metric != primary]
