"""Tie bands of metrics on choices: chosen on a development split, tested on the other questions."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.program import run, write_jsonl

from longmark.analysis.metaeval import metaeval
from longmark.analysis.metaeval.choices import ChoiceLabel
from longmark.errors import UserError

METRIC = "classic.made_up"


def study(folder: Path) -> tuple[Path, Path]:
    """Twenty questions: where people tie, the scores of x and y are 0.05 apart; where they choose x, 0.5."""
    rows, lines = [], ["question_id,a,b,choice,rater"]
    for number in range(20):
        is_tie = number % 2 == 0
        for system, score in (("x", 0.9), ("y", 0.85 if is_tie else 0.4)):
            rows.append(
                {
                    "example_id": f"{system}{number}",
                    "question_id": f"q{number}",
                    "system": system,
                    "metric": METRIC,
                    "score": score,
                }
            )
        lines.append(f"q{number},x,y,{'tie' if is_tie else 'a'},ada")
    (folder / "choices.csv").write_text("\n".join(lines), "utf-8")
    return write_jsonl(folder / "rows.jsonl", rows), folder / "choices.csv"


def test_a_band_makes_close_scores_tie_and_its_gain_is_on_the_other_questions(tmp_path: Path):
    rows, choices = study(tmp_path)
    (label,) = metaeval(rows, choices, development=0.5, seed=1).labels
    assert isinstance(label, ChoiceLabel)
    metric, usual = label.bands
    assert metric.metric == METRIC
    assert metric.band == pytest.approx(0.05)
    assert metric.chosen == 1.0  # of the development split, with the band
    assert (metric.development.n, metric.rest.n) == (10, 10)
    assert metric.banded is not None
    assert metric.gain is not None
    assert metric.rest.value is not None
    assert metric.banded.value == 1.0
    assert metric.gain.value == pytest.approx(1.0 - metric.rest.value)
    total = 10 * metric.rest.value + 10 * (metric.development.value or 0)
    assert total == pytest.approx(10)  # without the band it is wrong on all ten ties
    assert usual.band is None  # a baseline has no scores
    assert usual.gain is None


def test_without_a_split_there_are_no_bands(tmp_path: Path):
    (label,) = metaeval(*study(tmp_path)).labels
    assert isinstance(label, ChoiceLabel)
    assert label.bands == ()


def test_a_share_of_all_questions_is_refused(tmp_path: Path):
    with pytest.raises(UserError, match=r"development=1.0: expected a share"):
        metaeval(*study(tmp_path), development=1.0)


def test_the_table_of_bands_is_written(tmp_path: Path):
    rows, choices = study(tmp_path)
    words = ("metaeval", str(rows), str(choices), "--development", "0.5", "--out", "out")
    done = run(*words, home=tmp_path / "home", cwd=tmp_path)
    assert done.code == 0, done.err
    (table,) = (tmp_path / "out" / "tables").glob("*development.csv")
    assert table.read_text("utf-8").splitlines()[1].startswith(METRIC)
