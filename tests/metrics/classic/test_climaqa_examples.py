"""The published examples of ClimaQA: BLEU of characters is theirs, BERTScore orders answers as theirs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from scipy.stats import spearmanr
from tests.installed import is_installed

from longmark.records import Example
from longmark.testing import score_sync


def test_bleu_of_characters_is_the_published_one():
    data = Path(__file__).parents[4] / "shared" / "data" / "climaqa" / "published_examples.json"
    if not data.exists():
        pytest.skip("the published examples are not here")
    examples = json.loads(data.read_text(encoding="utf-8"))["freeform"]
    assert len(examples) == 15
    for one in examples:
        example = Example(question="q", answer=one["answer"], references=(one["reference"],))
        found = score_sync(name := "classic.bleu@form=climaqa", example)[name].value
        assert found == pytest.approx(
            one["bleu"], abs=1.1e-3
        )  # printed with three decimals, of text copied from a PDF
        assert found == pytest.approx(one["bleu_char_recomputed"], abs=1e-4)


@pytest.mark.embedded
@pytest.mark.skipif(not is_installed("embedder"), reason="longmark models install embedder")
def test_bertscore_orders_answers_as_the_published_one_of_another_encoder():
    data = Path(__file__).parents[4] / "shared" / "data" / "climaqa" / "published_examples.json"
    if not data.exists():
        pytest.skip("the published examples are not here")
    examples = json.loads(data.read_text(encoding="utf-8"))["freeform"]
    ours = []
    for one in examples:
        example = Example(question="q", answer=one["answer"], references=(one["reference"],))
        ours.append(score_sync("classic.bertscore", example)["classic.bertscore"].value)
    assert spearmanr(ours, [one["bertscore_f1"] for one in examples]).statistic > 0.9
