"""The metric, the verb and the page of the package, as it is installed: longmark finds them by their entry points."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from longmark_example.hedges import hedges_in
from longmark_example.page import document, read_hedging

import longmark
from longmark.cli import main
from longmark.errors import UserError
from longmark.records import Example
from longmark.testing import score_sync

ANSWERS = [
    {"id": "a", "question_id": "q", "system": "x", "question": "Why?", "answer": "It may. It is."},
    {"id": "b", "question_id": "r", "system": "x", "question": "How?", "answer": "It is so."},
    {"id": "c", "question_id": "q", "system": "y", "question": "Why?",
     "answer": "Perhaps it seems so, perhaps not."},
    {"id": "d", "question_id": "r", "system": "y", "question": "How?", "answer": ""},
]  # fmt: skip


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A run of the answers, in a home of its own: no test uses the call cache of the machine."""
    folder = tmp_path_factory.mktemp("hedges")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("LONGMARK_HOME", str(folder / "home"))
        longmark.run(ANSWERS, "hedges,hedges@modals=false", out=folder / "run")
        yield folder / "run"


@pytest.mark.parametrize(
    ("sentence", "hedges"),
    [
        ("Perhaps it might rain.", ["perhaps", "might"]),
        ("It may rain in May.", ["may"]),  # the month is no hedge
        ("They couldn’t know.", ["couldn't"]),
        ("It mightily appeals to seemingly everybody.", []),  # whole words only
        ("It is.", []),
    ],
)
def test_hedge_words_are_whole_words(sentence: str, hedges: list[str]):
    assert hedges_in(sentence) == hedges


def test_one_of_two_sentences_hedges():
    example = Example(question="Why?", answer="It may be so. It is so.")
    scores = score_sync("hedges", example)
    assert scores["hedges"].value == 0.5  # 1 / 2
    assert scores["hedges"].evidence["marked"] == [{"text": "It may be so.", "label": "may"}]
    assert score_sync("hedges", example, params={"modals": False})["hedges"].value == 0.0


def test_an_answer_without_a_sentence_is_unscored():
    unscored = score_sync("hedges", Example(question="Why?", answer=" "))["hedges"]
    assert (unscored.value, unscored.status) == (None, "undefined")


def test_each_system_has_its_shares_and_words(run: Path):
    first, second = read_hedging(run)
    assert (first.system, first.sentences, first.hedged, first.words) == ("x", 3, 1, {"may": 1})
    assert first.share.value == 0.25  # (1/2 + 0/1) / 2
    assert (len(second.scored), len(second.unscored)) == (1, 1)
    assert second.words == {"perhaps": 2, "seems": 1}
    assert second.per_hundred("perhaps") == 200.0  # 2 in 1 sentence
    assert first.per_hundred("may") == pytest.approx(100 / 3)


def test_the_verb_prints_the_tables_and_writes_the_page(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    out = tmp_path / "out"
    assert main(["hedges", str(run), "--out", str(out)]) == 0
    printed = capsys.readouterr().out
    assert re.search(r"^x +2 +0 +3 +1 +0\.250", printed, re.MULTILINE)
    page = html.unescape((out / "report.html").read_text("utf-8"))
    for words in ("3 of 4 answers scored by hedges.", "Hedge words", "perhaps", "It may."):
        assert words in page
    assert (out / "tables" / "words.csv").read_text("utf-8").startswith("word,x,y\n")


def test_parameters_choose_another_score(run: Path):
    first, second = read_hedging(run, "hedges@modals=false")
    assert (first.hedged, second.hedged) == (0, 1)
    assert "hedges@modals=false" in document([first, second], "hedges@modals=false").lede


def test_a_run_without_the_score_says_which_it_has(run: Path, tmp_path: Path):
    with pytest.raises(UserError, match=r"it has hedges, hedges@modals=false: name one"):
        read_hedging(run, "hedges@modals=true")
    longmark.run(ANSWERS[:1], "classic.length", out=tmp_path / "other")
    with pytest.raises(UserError, match="score it first: longmark run"):
        read_hedging(tmp_path / "other")
