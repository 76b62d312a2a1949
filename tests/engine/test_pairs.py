"""Runs of pairs: single-answer metrics choose between two, metrics of pairs are asked themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.program import run, write_jsonl

import longmark
from longmark.engine.pairs import ChoiceRule
from longmark.errors import NoScore, SettingsChanged, UserError
from longmark.metric import Metric, Score, ScoreSpec
from longmark.models.handles import Models
from longmark.records import Example, Pair
from longmark.testing import score_sync


async def _words(example: Example, _models: Models, _params: Any) -> Score:
    words = (example.answer or "").split()
    if not words:
        raise NoScore("undefined", "The answer has no words.")
    return Score(len(words) / 1000, {"words": len(words)})


async def _first(pair: Example, _models: Models, _params: Any) -> Score:
    return Score(1.0, {"choices": [{"first": "a", "choice": "a", "judge": "always the first"}]})


def _share(**more: Any) -> Metric:
    return Metric(
        _words, needs=("answer",), bounds=(0.0, 1.0), doc="Share.", name="share", source="1", **more
    )


FIRST = Metric(
    _first, needs=("a", "b"), bounds=(-1, 1), pairs=True, doc="First.", name="first", source="2"
)


def _pair(a: int, b: int, **more: Any) -> Pair:
    return Pair(question="q", a="w " * a, b="w " * b, **more)


@pytest.mark.parametrize(
    ("a", "b", "bounds", "options", "expected"),
    [
        (0.304, 0.296, (0, 1), {}, (0, 2)),  # .30 and .30
        (0.305001, 0.296, (0, 1), {}, (1, 2)),  # .31 and .30
        (
            0.305001,
            0.296,
            (0, 1),
            {"band": 0.01},
            (0, 2),
        ),  # .01 apart, whatever binary fractions make of it
        (0.305001, 0.296, (0, 1), {"decimals": None}, (1, None)),
        (2.0, 4.0, (1, 5), {}, (-1, 2)),  # .25 and .75 of the way from 1 to 5
        (2.0, 2.01, (1, 5), {}, (0, 2)),  # .25 and .2525
        (7.001, 7.002, (0, None), {}, (-1, None)),  # no upper bound: compared as they are
        (7.001, 7.002, (0, None), {"band": 0.01}, (0, None)),
    ],
)
def test_two_scores_become_a_choice(
    a: float, b: float, bounds: Any, options: Any, expected: Any
) -> None:
    assert ChoiceRule(**options).choice(a, b, ScoreSpec(bounds, True)) == expected
    assert ChoiceRule(**options).choice(b, a, ScoreSpec(bounds, True)) == (
        -expected[0],
        expected[1],
    )
    assert ChoiceRule(**options).choice(a, b, ScoreSpec(bounds, False)) == (
        -expected[0],
        expected[1],
    )


def test_a_metric_of_one_answer_scores_both_and_keeps_both_in_the_evidence() -> None:
    found = score_sync(_share(), _pair(20, 40))["metric"]
    assert found.value == -1
    assert found.evidence == {
        "pair": {"a": 0.02, "b": 0.04, "decimals": 2, "band": 0.0},
        "a": {"words": 20},
        "b": {"words": 40},
    }
    assert score_sync(_share(), _pair(20, 22))["metric"].value == 0  # .02 and .022
    assert (
        score_sync(_share(), _pair(20, 0))["metric"].reason == "Answer b: The answer has no words."
    )
    neither = score_sync(_share(higher_is_better=None), _pair(20, 40))["metric"]
    assert (neither.value, neither.status) == (None, "undefined")


def test_a_run_of_pairs(tmp_path: Path) -> None:
    pairs = [_pair(20, 40, id="1", label="b"), _pair(9, 9, id="2"), _pair(0, 5, id="3")]
    scored = longmark.run(pairs, [_share(), FIRST], out=tmp_path / "run")
    assert [(row.metric, row.score, row.example_id) for row in scored.rows()] == [
        ("share", -1, "1"), ("first", 1, "1"), ("share", 0, "2"), ("first", 1, "2"), ("share", None, "3"),
        ("first", 1, "3"),
    ]  # fmt: skip
    signatures = {row.metric: row.signature.params for row in scored.rows()}
    assert signatures == {
        "share": {"source": "1", "pair": {"decimals": 2, "band": 0.0}},
        "first": {"source": "2"},
    }
    again = longmark.run(
        [pairs[0].model_copy(update={"label": "a"}), *pairs[1:]],
        [_share(), FIRST],
        out=scored.folder,
    )
    assert again.changes.kept_rows == 6  # a new label is not scored again


def test_the_order_of_the_pairs_changes_no_row(tmp_path: Path) -> None:
    pairs = [_pair(n, 30 - n, id=str(n)) for n in range(1, 30)]
    one, other = (
        sorted(
            row.to_json()
            for row in longmark.run(given, [_share()], out=tmp_path / name / "run").rows()
        )
        for name, given in (("one", pairs), ("other", pairs[::-1]))
    )
    assert one == other


def test_settings_of_the_choice_are_fixed_for_a_folder(tmp_path: Path) -> None:
    scored = longmark.run([_pair(20, 22)], [_share()], out=tmp_path / "run", pair_decimals="raw")
    assert [row.score for row in scored.rows()] == [-1]
    with pytest.raises(SettingsChanged, match="pair"):
        longmark.run([_pair(20, 22)], [_share()], out=scored.folder)
    plain = longmark.run([_pair(20, 22)], [_share()], out=tmp_path / "plain")
    with pytest.raises(SettingsChanged, match="EXAMPLES: was pairs, now single answers"):
        longmark.run([{"question": "q", "answer": "a"}], [_share()], out=plain.folder)
    with pytest.raises(
        UserError, match="say when two answers tie, and the records of records have one answer"
    ):
        longmark.run(
            [{"question": "q", "answer": "a"}], [_share()], out=tmp_path / "single", tie_band=0.1
        )
    with pytest.raises(
        UserError, match="pair_decimals='two': expected a whole number from 0 to 12, or raw"
    ):
        longmark.run([_pair(20, 22)], [_share()], out=scored.folder, pair_decimals="two")


def test_a_metric_of_pairs_refuses_single_answers(tmp_path: Path) -> None:
    with pytest.raises(
        UserError, match="first: compares two answers, and the records of records have one"
    ):
        longmark.run([{"question": "q", "answer": "a"}], [FIRST], out=tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_a_condition_on_choices_is_between_minus_one_and_one(tmp_path: Path) -> None:
    pairs = [
        {"question": f"q{n}", "a": "one two three", "b": "one", "reference": "one two"}
        for n in range(40)
    ]
    write_jsonl(tmp_path / "pairs.jsonl", pairs)
    words = ("run", "pairs.jsonl", "--metrics", "classic.rouge_l", "--out", "run", "--fail-under")
    # recall 2/2, precision 2/3: F .8; b: recall 1/2, precision 1: F .667; so a is better in each of the 40
    met = run(*words, "classic.rouge_l>=0.5", home=tmp_path / "home", cwd=tmp_path)
    assert met.code == 0, met.err
    assert run(*words, "classic.rouge_l<=-0.5", home=tmp_path / "home", cwd=tmp_path).code == 3
    assert (
        "are from -1 to 1"
        in run(*words, "classic.rouge_l>=2", home=tmp_path / "home", cwd=tmp_path).err
    )
    verified = run("verify", "run", home=tmp_path / "home", cwd=tmp_path)
    assert verified.code == 0, verified.err
