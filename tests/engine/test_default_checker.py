"""Which checker decides where a run names neither a judge nor a checker."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import longmark
from longmark.engine import default_checker
from longmark.engine.run import make_settings
from longmark.engine.settings import RunOptions
from longmark.errors import SettingsChanged
from longmark.models.cache import CallCache
from longmark.models.fake import FakeChat
from longmark.models.protocols import Capabilities, RelationReply
from longmark.models.registry import Registry
from longmark.records import Example
from longmark.records.expected import Nugget
from longmark.records.turn import Context
from longmark.records.write import read_rows

PASSAGE = Context(text="The dam broke in June.")
ANSWER = "The dam broke in May."
CARRIES = Example(question="When?", answer=ANSWER, contexts=(PASSAGE,), claims=(ANSWER,))
LABELLED = CARRIES.model_copy(update={"claims_by_contexts": (("neutral",),)})


class UnsupportingChecker:
    """A checker that supports nothing."""

    name = "embedded@threshold=0.5"
    identity = "stub"
    capabilities = Capabilities()
    width = None
    piece = 1000
    threshold = 0.5

    async def classify(self, premise: str, hypotheses: Sequence[str]) -> RelationReply:
        return RelationReply(tuple((0.25, 0.0, 0.75) for _ in hypotheses))

    async def close(self) -> None:
        """Nothing is open."""


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The built-in checker is installed, and a stub stands for it."""
    open_model = Registry.open

    def opens(self: Registry, role: str, name: Any) -> Any:
        stubs: dict[tuple[str, Any], Any] = {
            ("checker", "embedded"): UnsupportingChecker(),
            ("judge", "embedded"): FakeChat(""),
        }
        return stubs.get((role, name)) or open_model(self, role, name)

    monkeypatch.setattr(default_checker, "_missing", lambda _name: "")
    monkeypatch.setattr(Registry, "open", opens)


def chosen(
    tmp_path: Path, examples: Sequence[Example], metric: str = "ragchecker", **options: Any
) -> tuple[str, str]:
    """The checker that a signature has, "" for none, and what is told of it (what is told of an absent model is in
    test_absent_models)."""
    told: list[str] = []
    cache = CallCache(tmp_path / "calls.sqlite")
    settings = make_settings(
        [metric], Registry(cache), RunOptions(tell=told.append, **options), examples
    )
    cache.close()
    return ",".join(settings.backends.names().get("checker", [])), "\n".join(
        sentence for sentence in told if "none is named" not in sentence
    )


@pytest.mark.usefixtures("installed")
def test_without_a_judge_the_built_in_checker_decides_and_says_so(tmp_path: Path):
    told: list[str] = []
    longmark.run(
        [CARRIES],
        "ragchecker.faithfulness",
        out=tmp_path / "run",
        cache=tmp_path / "calls.sqlite",
        tell=told.append,
    )
    (row,) = read_rows(tmp_path / "run" / "rows.jsonl")
    assert row.score == 0.0
    assert row.evidence["claims"][0]["passages_probability"] == 0.25
    assert "checker:embedded@threshold=0.5" in row.signature.line(row.metric)
    assert "--checker embedded" in "\n".join(told)
    assert "--checker overlap" in "\n".join(told)


@pytest.mark.usefixtures("installed")
def test_it_decides_on_nuggets_that_carry_no_assignments(tmp_path: Path):
    nugget = Nugget(text="It broke in May.")
    example = Example(question="When?", answer=ANSWER, nuggets=(nugget,))
    assert chosen(tmp_path, [example], "nuggets")[0] == "embedded@threshold=0.5"
    assigned = nugget.model_copy(update={"assignment": "support"})
    example = example.model_copy(update={"nuggets": (assigned,)})
    assert chosen(tmp_path, [example], "nuggets") == ("", "")


@pytest.mark.usefixtures("installed")
def test_what_is_named_decides(tmp_path: Path):
    assert chosen(tmp_path, [CARRIES], checker="overlap")[0].startswith("overlap")
    assert chosen(tmp_path, [CARRIES], checker="judge") == ("", "")


@pytest.mark.usefixtures("installed")
def test_a_judge_decides_and_the_embedded_one_is_told_of_the_checker(tmp_path: Path):
    checker, told = chosen(tmp_path, [CARRIES], judges="embedded")
    assert checker == ""
    assert "--checker embedded" in told
    assert chosen(tmp_path, [CARRIES], judges=[FakeChat("")]) == ("", "")
    assert chosen(tmp_path, [CARRIES], judges=FakeChat("")) == ("", "")


def test_a_run_that_was_begun_without_it_goes_on_without_it_by_name(
    tmp_path: Path, request: pytest.FixtureRequest
):
    with pytest.MonkeyPatch.context() as nothing:
        nothing.setattr(default_checker, "_missing", lambda _name: "it is not installed")
        longmark.run(
            [CARRIES],
            "ragchecker.faithfulness",
            out=tmp_path / "run",
            cache=tmp_path / "calls.sqlite",
        )
    request.getfixturevalue("installed")
    with pytest.raises(SettingsChanged, match="checker"):
        longmark.run(
            [CARRIES],
            "ragchecker.faithfulness",
            out=tmp_path / "run",
            cache=tmp_path / "calls.sqlite",
        )
    result = longmark.run(
        [CARRIES],
        "ragchecker.faithfulness",
        out=tmp_path / "run",
        cache=tmp_path / "calls.sqlite",
        checker="judge",
    )
    assert [row.status for row in result.rows()] == ["missing_input"]


@pytest.mark.usefixtures("installed")
def test_where_nothing_is_to_be_checked_nothing_is_chosen(tmp_path: Path):
    assert chosen(tmp_path, [LABELLED], "ragchecker.faithfulness") == ("", "")
    assert chosen(tmp_path, [CARRIES.model_copy(update={"contexts": ()})]) == ("", "")
    assert chosen(tmp_path, [CARRIES.model_copy(update={"claims": None})]) == ("", "")
    assert chosen(tmp_path, [CARRIES], "classic.length") == ("", "")


@pytest.mark.usefixtures("installed")
def test_a_metric_that_needs_contradictions_keeps_its_judge(tmp_path: Path):
    assert chosen(tmp_path, [CARRIES], "comprehensiveness.nli") == ("", "")


@pytest.mark.packages
def test_where_it_is_not_installed_the_run_says_how_to_install_it_and_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    monkeypatch.setenv("LONGMARK_HOME", str(tmp_path / "home"))
    checker, told = chosen(tmp_path, [CARRIES])
    assert checker == ""
    assert "longmark models install judge embedder" in told
    assert "--checker overlap" in told
