"""The pages of the demo's long answers: each defect alone, and what the first page says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

pytest.importorskip("scipy")

from bench.demo_corpus import MADE, originals
from bench.demo_story import Corpus, marked, write

from longmark.records.example import DEFECT


def test_each_answer_without_its_defects_stands_before_each_of_them_alone():
    clean, corpus = {one.id: one.answer or "" for one in originals()}, Corpus.read(MADE)
    lines = list(corpus.alone())
    assert [(one.id, one.answer) for one in lines if DEFECT not in one.meta] == list(clean.items())
    alone = [one for one in lines if DEFECT in one.meta]
    labels = [(id, label) for id, some in corpus.labels.items() for label in some]
    for one, (id, label) in zip(alone, labels, strict=True):
        before, old, new = clean[id], label["old"], label["new"]
        assert (one.meta[DEFECT]["source"], one.meta[DEFECT]["kind"]) == (id, label["kind"])
        places = (at for at in range(len(before) + 1) if before.startswith(old, at))
        assert any(before[:at] + new + before[at + len(old) :] == one.answer for at in places), one.id


def test_a_defect_stands_in_brackets_with_its_kind_and_what_was_there():
    corpus = Corpus.read(MADE)
    by_id = {one.id: one for one in corpus.answers}

    def shown(id: str) -> str:
        return marked(by_id[id], corpus.labels[id]) or ""

    assert "⟦number: 110 (was: 55)⟧ degrees, and machines" in shown("heat-pump-birch")
    assert "⟦deleted: Frost on the outdoor coil has to be melted by reversing the cycle.⟧" in shown("heat-pump-cedar")
    assert "⟦unsupported: Owners report" in shown("heat-pump-dogwood")
    assert marked(by_id["heat-pump-alder"], corpus.labels["heat-pump-alder"]) is None


@pytest.mark.slow
def test_the_pages_say_which_system_the_metrics_put_first_and_what_they_notice(tmp_path: Path):
    write(tmp_path)
    page = (tmp_path / "index.html").read_text("utf-8")
    assert {(tmp_path / link).is_file() for link in re.findall(r'href="([^"#:]+)"', page)} == {True}
    assert "alder has the fewest defects, but every metric of words puts cedar first" in page
    assert "Not shown to lower the score of any metric: number. " in page
    assert "at 5 % false alarms, Length: words notices deleted, and nothing else is noticed" in page
    assert page.replace("<wbr>", "").count("https://doi.org/") >= 10
    assert "⟦unsupported: " in page
