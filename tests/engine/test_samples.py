"""`--temperature` and `--samples`: a score is the mean of several sampled replies of each judge."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import longmark
from longmark import cli
from longmark.errors import UserError
from longmark.testing import FakeChat

EXAMPLE = [{"question": "Q?", "answer": "A."}]


def scored(out: Path, judge: FakeChat, **options: Any) -> longmark.Row:
    cache = out.parent / "calls.sqlite"
    result = longmark.run(
        EXAMPLE, "ccrs.question_relevance", out=out, judges=judge, cache=cache, **options
    )
    return next(result.rows())


def by_sample(request: Any) -> str:
    return str(10 * request.sample + 10)


def test_a_score_is_the_mean_of_the_samples_and_each_is_in_the_evidence(tmp_path: Path):
    judge = FakeChat(by_sample)
    row = scored(tmp_path / "run", judge, temperature=0.7, samples=3)
    assert row.score == pytest.approx(0.2)  # (.10 + .20 + .30) / 3
    assert [one["sample"] for one in row.evidence["judges"]] == [0, 1, 2]
    assert {request.temperature for request in judge.requests} == {0.7}
    assert row.signature.params["samples"] == 3


def test_another_seed_draws_other_samples_and_the_same_seed_pays_nothing(tmp_path: Path):
    judge = FakeChat(by_sample)
    first = scored(tmp_path / "a", judge, temperature=0.7, samples=2)
    other = scored(tmp_path / "b", judge, temperature=0.7, samples=2, seed=1)
    again = scored(tmp_path / "c", judge, temperature=0.7, samples=2)
    assert [request.sample for request in judge.requests] == [0, 1, 2, 3]
    assert (first.score, other.score, again.score) == pytest.approx((0.15, 0.35, 0.15))


def test_at_temperature_0_the_seed_changes_no_request(tmp_path: Path):
    judge = FakeChat(by_sample)
    scored(tmp_path / "a", judge)
    scored(tmp_path / "b", judge, seed=1)
    assert [(request.temperature, request.sample) for request in judge.requests] == [(0, 0)]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"samples": 3}, "at temperature 0 a judge gives the same reply again"),
        ({"samples": 0, "temperature": 1}, "samples=0: expected a whole number from 1"),
        ({"temperature": -1}, "temperature=-1: expected a number from 0 to 2"),
        ({"temperature": 0.5, "scoring": "expected"}, "temperature= is for scoring='text'"),
    ],
)
def test_what_makes_no_sense_is_refused(tmp_path: Path, options: dict[str, Any], message: str):
    with pytest.raises(UserError, match=message):
        scored(tmp_path / "run", FakeChat("50"), **options)


def test_a_dry_run_counts_the_samples(tmp_path: Path, capsys: pytest.CaptureFixture[str]):
    (tmp_path / "e.jsonl").write_text('{"question": "Q?", "answer": "A."}')
    options = "--metrics ccrs.question_relevance --judge m@http://localhost:1/v1 --temperature 1 --samples 4 --dry-run"
    code = cli.main(
        ["run", str(tmp_path / "e.jsonl"), "--cache", str(tmp_path / "c.sqlite"), *options.split()]
    )
    assert code == 0
    assert capsys.readouterr().out.splitlines()[1].split()[:3] == [
        "ccrs.question_relevance",
        "1",
        "4",
    ]
