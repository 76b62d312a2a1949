"""`longmark.testing`: a metric's scores of one example in one line."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from longmark.errors import RequestRefused, UnknownName, UserError
from longmark.metric import Metric, NoParams, Score
from longmark.models.handles import Models
from longmark.records import Context, Example
from longmark.testing import FakeChat, Scored, score, score_sync

NAME = "ccrs.question_relevance"
EXAMPLE = Example(id="1", question="Will it rain?", answer="Perhaps.")


def test_a_score_by_its_name_with_its_evidence():
    found = asyncio.run(score(NAME, EXAMPLE, judge=FakeChat("85")))
    assert list(found) == [NAME]
    assert (found[NAME].value, found[NAME].status, found[NAME].reason) == (0.85, "ok", None)
    assert found[NAME].evidence["judges"][0]["text"] == "85"


def test_what_is_unscored_has_a_status_and_a_reason():
    def refuse(_request: object) -> Exception:
        return RequestRefused("no such model")

    missing = score_sync(NAME, EXAMPLE.model_copy(update={"question": None}), judge=FakeChat("85"))
    assert missing == {NAME: Scored(None, "missing_input", "The example has no question.")}
    assert score_sync(NAME, EXAMPLE, judge=FakeChat(refuse))[NAME].status == "model_error"
    assert score_sync(NAME, EXAMPLE, judge=FakeChat("fine"))[NAME].status == "unparsable"


def test_one_score_of_a_metric():
    name = "score.readability.grade_level"
    assert list(score_sync(name, EXAMPLE)) == [name]


def test_parameters_by_name():
    example = Example(
        id="1", answer="Paris", contexts=(Context(text="Paris."),), references=("Paris",)
    )
    name = "ccrs.answer_correctness"
    # .5 x 1 + .5 x .8 = .9
    assert score_sync(name, example, {"weight": 0.5}, judge=FakeChat("80"))[
        name
    ].value == pytest.approx(0.9)


def test_a_declaration_that_is_no_module_of_longmark():
    async def words(example: Example, models: Models, params: NoParams) -> Score:
        return Score(len((example.answer or "").split()))

    assert score_sync(Metric(words, needs=("answer",)), EXAMPLE) == {"metric": Scored(1.0)}


def test_it_works_inside_a_running_event_loop():
    async def cell() -> float | None:
        return score_sync(NAME, EXAMPLE, judge=FakeChat("50"))[NAME].value

    assert asyncio.run(cell()) == 0.5


def test_the_cache_can_be_kept(tmp_path: Path):
    judge = FakeChat("50")
    for _ in range(2):
        score_sync(NAME, EXAMPLE, judge=judge, cache=tmp_path / "calls.sqlite")
    assert len(judge.requests) == 1
    score_sync(NAME, EXAMPLE, judge=judge)
    assert len(judge.requests) == 2


def test_mistakes_are_named():
    with pytest.raises(UnknownName, match=r"unknown option: judges\. Did you mean judge"):
        score_sync(NAME, EXAMPLE, judges=FakeChat("50"))  # type: ignore[call-arg]
    with pytest.raises(UnknownName, match="question_relevance"):
        score_sync("ccrs.question_relevence", EXAMPLE)
    with pytest.raises(UserError, match="ccrs is a family"):
        score_sync("ccrs", EXAMPLE)
    with pytest.raises(UserError, match="variant_of"):
        score_sync("score.robustness", EXAMPLE)
    with pytest.raises(UserError, match="--judge nonsense"):
        score_sync(NAME, EXAMPLE, judge="nonsense")
