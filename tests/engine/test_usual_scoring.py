"""How a judge's score is read where the user does not say: by the judge, unless something else asks for text."""

from __future__ import annotations

from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import longmark
from longmark.engine.run import make_settings
from longmark.engine.settings import RunOptions, Settings
from longmark.errors import SettingsChanged
from longmark.models.cache import CallCache
from longmark.models.fake import FakeChat
from longmark.models.registry import Registry
from longmark.records import Example
from longmark.records.write import read_rows
from longmark.testing import score_sync

METRIC = "ccrs.question_relevance"
PROMPT = f"{METRIC}.txt"
EXAMPLE = {"id": "1", "question": "Why does ice float?", "answer": "It is lighter than water."}


class EmbeddedLike(FakeChat):
    """A judge that agrees better with people by its probabilities."""

    usual_scoring = "expected"

    def __init__(self, name: str = "embedded-like") -> None:
        super().__init__(logprobs={"yes": -0.1, "no": -2.4}, name=name)


def settings(tmp_path: Path, *judges: Any, metric: str = METRIC, **options: Any) -> Settings:
    with closing(CallCache(tmp_path / "calls.sqlite")) as cache:
        return make_settings(
            [metric], Registry(cache), RunOptions(judges=judges or [EmbeddedLike()], **options)
        )


def scoring(chosen: Settings) -> str | None:
    return chosen.judging_of(chosen.selected[0]).scoring


def test_embedded_judges_are_read_by_their_probabilities_others_by_their_text(
    tmp_path: Path,
) -> None:
    assert scoring(settings(tmp_path)) == "expected"
    assert scoring(settings(tmp_path, EmbeddedLike("a"), EmbeddedLike("b"))) == "expected"
    assert scoring(settings(tmp_path, FakeChat("80"))) == "text"
    assert scoring(settings(tmp_path, EmbeddedLike(), FakeChat("80"))) == "text"


@pytest.mark.parametrize(
    "options",
    [
        {"scoring": "text"},
        {"temperature": 0.7},
        {"temperature": 0.7, "samples": 3},
        {"reasons": True},
        {"as_published": True},
    ],
    ids=str,
)
def test_what_needs_text_is_read_by_text(tmp_path: Path, options: dict[str, Any]) -> None:
    assert scoring(settings(tmp_path, **options)) == "text"


def test_a_prompt_of_the_users_own_is_the_one_that_is_sent(tmp_path: Path) -> None:
    own = tmp_path / "prompts"
    own.mkdir()
    (own / PROMPT).write_text("Rate it from 0 to 100.")
    assert scoring(settings(tmp_path, prompts=own)) == "text"
    (own / f"{METRIC}.expected.txt").write_text("Is the question answered? yes or no")
    assert scoring(settings(tmp_path, prompts=own)) == "expected"
    assert scoring(settings(tmp_path, prompts="de")) == "expected"  # translations have both


def test_the_name_of_a_metric_says_text_for_itself(tmp_path: Path) -> None:
    named = settings(tmp_path, metric=f"{METRIC}@scoring=text")
    assert scoring(named) == "text"
    assert named.judging.scoring == "expected"


def test_a_metric_that_samples_is_read_by_text(tmp_path: Path) -> None:
    assert scoring(settings(tmp_path, metric=f"{METRIC}@temperature=0.7")) == "text"


def test_rows_and_manifest_say_how_scores_were_read_and_a_resumed_run_keeps_to_it(
    tmp_path: Path,
) -> None:
    def run(**options: Any) -> None:
        longmark.run(
            [EXAMPLE],
            METRIC,
            out=tmp_path / "run",
            judges=[EmbeddedLike()],
            cache=tmp_path / "calls.sqlite",
            **options,
        )

    run()
    (row,) = read_rows(tmp_path / "run" / "rows.jsonl")
    assert row.score == pytest.approx(0.9089, abs=1e-4)  # e^-0.1 / (e^-0.1 + e^-2.4)
    assert "|scoring:expected|" in row.signature.line(METRIC)
    manifest = (tmp_path / "run" / "manifest.json").read_text()
    assert '"scoring": "expected"' in manifest
    run(scoring="expected")
    with pytest.raises(SettingsChanged, match="scoring"):
        run(scoring="text")


def test_a_score_of_one_example_is_read_as_a_run_reads_it() -> None:
    example = Example.model_validate(EXAMPLE)
    (by_probability,) = score_sync(METRIC, example, judge=EmbeddedLike()).values()
    assert by_probability.value == pytest.approx(0.9089, abs=1e-4)
    (by_text,) = score_sync(METRIC, example, judge=FakeChat("80")).values()
    assert by_text.value == 0.8
