"""Questions of another domain: what a run and a study say of them, and that they say it once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.contrib.papers.score_models import Fakes, carry, make_index
from tests.program import run, write_jsonl

from longmark.domain import load
from longmark.engine.profile_check import ProfileCheck
from longmark.engine.settings import choose
from longmark.models.cache import CallCache
from longmark.records import Example

MINDING = "score.specificity,score.answer_relevance"
FITS = {
    "hazard": "Ice  Storm",
    "location": "Cook, IL",
    "sector": "energy",
    "concern": "hybrid",
    "timeline": None,
}


def message(profiles: list[dict[str, Any] | None], metrics: str = MINDING) -> str | None:
    fit = ProfileCheck(load())
    examples = [
        Example(id=str(n), question="q", profile=profile) for n, profile in enumerate(profiles)
    ]
    assert list(fit.over(examples)) == examples
    return fit.message(choose(metrics.split(",")))


def test_what_does_not_fit():
    drug = {"drug": "aspirin", "profession": "Nurse"}
    said = message(
        [FITS, drug, {**drug, "hazard": "stroke", "ward": "3"}, {"hazard": "fall"}, None, {}]
    )
    assert said == (
        "3 of 4 profiles do not fit the domain hazards: it has no slot drug (2), ward (1); it has no such profession "
        "(2: Nurse); it has no such hazard (2: stroke; fall). score.specificity and score.answer_relevance use the "
        "domain. If it is the wrong one, name another with domain=FILE.yaml."
    )


def test_what_fits_and_whom_it_does_not_concern():
    assert message([FITS, None, {}, {"hazard": None}, {"hazard": ["?"]}]) is None
    assert message([{"drug": "aspirin"}], "score.readability") is None


def test_many_values_are_not_all_named():
    said = message([{"hazard": f"storm {n}"} for n in range(9)])
    assert said is not None
    assert "it has no such hazard (9: storm 0; storm 1; storm 2; …)." in said


@pytest.mark.parametrize(("metrics", "times"), [("score.specificity", 1), ("score.readability", 0)])
def test_a_run_says_it_once_on_standard_error_and_goes_on(tmp_path: Path, metrics: str, times: int):
    records = [
        {"id": str(n), "question": "q", "answer": "", "profile": {"drug": "aspirin"}}
        for n in range(3)
    ]
    asked = write_jsonl(tmp_path / "q.jsonl", records)
    done = run(
        *(
            "run",
            asked,
            "--metrics",
            metrics,
            "--domain",
            "hazards",
            "--judge",
            "m@http://127.0.0.1:9/v1",
            "--out",
            tmp_path / "run",
        ),
        home=tmp_path / "home",
    )
    assert done.err.count("3 of 3 profiles do not fit the domain hazards") == times
    assert "do not fit" not in done.out
    assert (tmp_path / "run" / "rows.jsonl").exists()


def test_a_study_says_it_once_and_before_anything_is_paid(tmp_path: Path):
    fakes = Fakes()
    records = [
        {"id": str(n), "question": f"Question {n}?", "profile": {"drug": "aspirin"}}
        for n in range(2)
    ]
    plan = fakes.plan(
        tmp_path / "study",
        make_index(tmp_path / "idx"),
        questions=write_jsonl(tmp_path / "q.jsonl", records),
        n=None,
        variants=["paraphrase"],
    )
    said: list[tuple[str, int]] = []
    carry(
        plan,
        CallCache(tmp_path / "c.sqlite"),
        allow_missing=True,
        tell=lambda one: said.append((one, fakes.calls)),
    )
    told = [(one, calls) for one, calls in said if "do not fit" in one]
    assert len(told) == 1
    assert told[0][0].startswith("2 of 2 profiles do not fit the domain hazards: ")
    assert told[0][1] == 0 < fakes.calls
