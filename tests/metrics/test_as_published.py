"""`--as-published`: the parameters of each metric's paper, as they are declared beside the defaults."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

import longmark
from longmark import metrics
from longmark.engine.settings import parameters
from longmark.metrics.page import as_published
from longmark.metrics.score.readability import TEXTSTAT
from longmark.models.fake import FakeChat
from longmark.records import Example

LISTED = dict(line.split("=", 1) for line in as_published().splitlines())


def test_every_family_of_a_paper_has_its_parameters() -> None:
    assert {name.split(".")[0] for name in LISTED} == {name.split(".")[0] for name in metrics.names()} - {"classic"}
    expected = {  # the papers and their authors' code
        "comprehensiveness.nli.extraction": "typed",
        "comprehensiveness.nli.summarize": "true",
        "comprehensiveness.nli.relations": "all",
        "score.specificity.check": "none",
        "score.specificity.all_na": "zero",
        "ragchecker.empty": "zero",
        "ccrs.answer_correctness.as_published": "true",
        "climaqa.mcq.read": "first",
    }
    assert expected.items() <= LISTED.items()


@pytest.mark.parametrize("name", metrics.names())
def test_the_switch_is_every_listed_parameter_set_by_hand_and_what_is_set_wins(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("longmark.metrics.score.readability.metadata.version", lambda _package: TEXTSTAT)
    chosen = metrics.select([name])
    of_metric = {full: value for full, value in LISTED.items() if full.rpartition(".")[0] == name}
    assert parameters(chosen, {}, as_published=True) == parameters(chosen, of_metric)
    assert (parameters(chosen, {}) == parameters(chosen, of_metric)) == (not of_metric)
    defaults = dataclasses.asdict(metrics.load(name).params())
    back = {full: defaults[full.rpartition(".")[2]] for full in of_metric}
    assert parameters(chosen, back, as_published=True) == parameters(chosen, {})


def test_the_signature_of_a_row_shows_the_parameters_of_the_paper(tmp_path: Path) -> None:
    example = Example(id="1", question="?", answer="", references=("R.",), claims=(), reference_claims=("R.",))
    found = longmark.run([example], ["ragchecker"], out=tmp_path / "run", judges=[FakeChat("{}")], as_published=True)
    row = next(row for row in found.rows() if row.metric == "ragchecker.precision")
    assert (row.score, row.signature.params["empty"]) == (0, "zero")
