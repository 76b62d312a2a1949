"""`--as-published`: the parameters of each metric's paper, as they are declared beside the defaults."""

from __future__ import annotations

from pathlib import Path

import pytest

import longmark
from longmark import metrics
from longmark.metrics.page import as_published
from longmark.models.fake import FakeChat
from longmark.records import Example
from longmark.records.metric_name import joined, parsed

LISTED = dict(map(parsed, as_published().splitlines()))


def test_every_family_of_a_paper_has_its_parameters() -> None:
    of_no_paper = {"sources"}
    assert {name.split(".")[0] for name in LISTED} == {
        name.split(".")[0] for name in metrics.names()
    } - of_no_paper
    expected = {  # the papers and their authors' code
        "comprehensiveness.nli": {
            "empty": "zero",
            "extraction": "typed",
            "plan": "each",
            "relations": "all",
            "summarize": "true",
        },
        "score.specificity": {"all_na": "zero", "check": "none"},
        "citations": {"plan": "each", "limit": "3", "reading": "alce", "empty": "zero"},
        "ragchecker": {"empty": "zero"},
        "ccrs.answer_correctness": {"as_published": "true"},
        "climaqa.mcq": {"read": "first"},
        "classic.bertscore": {"encoder": "hf:roberta-large", "layer": "17"},
    }
    assert {name: LISTED[name] for name in expected} == expected


@pytest.mark.parametrize("name", metrics.names())
def test_the_switch_is_every_listed_parameter_set_by_hand_and_what_is_set_wins(name: str) -> None:
    (published,), (ours,) = metrics.select([name], as_published=True), metrics.select([name])
    assert published.name == joined(name, LISTED.get(name, {}))
    assert metrics.select([published.name]) == [published]
    assert (published == ours) == (name not in LISTED)
    back = joined(name, {key: getattr(ours.params, key) for key in LISTED.get(name, {})})
    assert metrics.select([back], as_published=True) == [ours]


def test_the_signature_of_a_row_shows_the_parameters_of_the_paper(tmp_path: Path) -> None:
    example = Example(
        id="1", question="?", answer="", references=("R.",), claims=(), reference_claims=("R.",)
    )
    found = longmark.run(
        [example], ["ragchecker"], out=tmp_path / "run", judges=[FakeChat("{}")], as_published=True
    )
    row = next(row for row in found.rows() if row.metric == "ragchecker.precision@empty=zero")
    assert (row.score, row.signature.params["empty"]) == (0, "zero")
