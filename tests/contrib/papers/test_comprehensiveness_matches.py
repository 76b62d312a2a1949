"""Label match values: by hand, against every stored match of the authors, and what their published rates imply."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.contrib.make.published import CONFLICTS, DEFAULT, GIVEN
from longmark.contrib.papers.comprehensiveness.matches import (
    adjusted,
    conflictbank,
    covered_by_source,
    wikicontradict,
)
from longmark.errors import UserError

FOLDER = Path(__file__).parents[4] / "shared" / "data" / "wikicontradict"
SOURCES = (DEFAULT, *CONFLICTS)
WC = "WikiContradict Base"


def real(name: str) -> Path:
    if not (FOLDER / name).exists():
        pytest.skip(f"the published data are not here ({name})")
    return FOLDER / name


def shares(*values: float | None) -> dict[str, float | None]:
    return dict(zip(SOURCES, values, strict=True))


@pytest.mark.parametrize(
    ("score", "label"),
    [
        *(
            (0.0, "Incorrect"),
            (1e-5, "Incorrect"),
            (2e-5, "Partially correct"),
            (0.5, "Partially correct"),
        ),
        *((1 - 2e-5, "Partially correct"), (1 - 1e-6, "Correct"), (1.0, "Correct")),
    ],
)
def test_a_score_is_consistent_with_exactly_one_label(score: float, label: str):
    assert [
        one for one in ("Correct", "Partially correct", "Incorrect") if wikicontradict(score, one)
    ] == [label]


def test_correct_means_partially_correct_for_an_answer_from_one_context():
    assert [adjusted("Correct", given) for given in GIVEN] == [
        "Correct",
        *["Partially correct"] * 2,
        *["Correct"] * 2,
    ]
    assert adjusted("Incorrect", ("context1",)) == "Incorrect"


def test_the_default_claim_expects_its_source_covered_and_the_others_not():
    assert conflictbank(0.25, shares(1.0, 0.0, 0.0, 0.0), [DEFAULT]).mean == 1.0
    # fails: 0 < S < 1, the first conflict is 0; lax: 1 > .5 and 1 > 0 twice
    found = conflictbank(1.0, shares(1.0, 0.5, 0.0, 0.0), [DEFAULT])
    assert (found.strict, found.lax) == (3 / 5, 1.0)


def test_the_conflicting_claim_expects_the_opposite():
    found = conflictbank(0.4, shares(0.5, 1.0, 0.5, 0.2), CONFLICTS)
    assert (found.strict, found.lax, found.mean) == (2 / 5, 1 / 3, (2 / 5 + 1 / 3) / 2)


def test_a_source_without_statements_expects_nothing():
    found = conflictbank(0.4, shares(0.0, 1.0, None, 1.0), CONFLICTS)
    assert (found.strict, found.lax) == (1.0, 1.0)
    none = conflictbank(0.4, shares(None, 1.0, 1.0, 1.0), CONFLICTS)
    assert (none.strict, none.lax, none.mean) == (1.0, None, None)
    assert conflictbank(0.0, shares(None, None, None, None), CONFLICTS).strict is None


def test_as_published_a_default_source_without_statements_is_not_covered_and_lax_without_a_pair_is_0():
    published = conflictbank(0.4, shares(None, 1.0, 1.0, 1.0), CONFLICTS, as_published=True)
    assert (published.strict, published.lax) == (1.0, 1.0)
    empty = conflictbank(0.0, shares(None, None, None, None), CONFLICTS, as_published=True)
    assert (empty.strict, empty.lax) == (0.5, 0.0)  # of 0 < S < 1 and S_D = 0 the second holds


def test_as_published_the_longer_of_two_sources_that_are_covered_in_full_is_covered_more():
    """3 / (3 + 1e-9) > 1 / (1 + 1e-9): the authors' lax counts 1 where ours counts 0."""
    names = {
        "default0": "default",
        "default1": "default",
        "default2": "default",
        "temporal0": "temporal",
    }
    nodes = [
        {"id": name, "side": "context", "text": "t", "sources": [source]}
        for name, source in names.items()
    ]
    evidence = {"nodes": nodes, "covered": [[name] for name in names], "uncovered": []}
    ours, published = (
        conflictbank(
            0.5,
            covered_by_source(evidence, ["default", "temporal"], as_published=of),
            [DEFAULT],
            as_published=of,
        )
        for of in (False, True)
    )
    assert (ours.lax, published.lax) == (0.0, 1.0)
    assert ours.strict == published.strict == 2 / 3


@given(st.tuples(*[st.floats(0, 1)] * 4), st.floats(0, 1))
def test_both_claims_cannot_match_in_full_at_once(values: tuple[float, ...], score: float):
    default, conflicting = (
        conflictbank(score, shares(*values), one) for one in ([DEFAULT], CONFLICTS)
    )
    assert default.lax is not None
    assert conflicting.lax is not None
    assert default.lax + conflicting.lax <= 1
    assert default.strict is not None
    assert conflicting.strict is not None
    assert (
        default.strict + conflicting.strict <= 6 / 5 + 1e-12
    )  # only the first term can hold for both


def test_the_coverage_of_a_source_counts_its_own_statements_and_one_with_two_sources_for_both():
    nodes: list[dict[str, Any]] = [
        {"id": "a0", "side": "answer", "text": "t", "sources": ["x"]},
        {"id": "c0", "side": "context", "text": "t", "sources": ["x"]},
        {"id": "c1", "side": "context", "text": "t", "sources": ["x", "y"]},
        {"id": "c2", "side": "context", "text": "t", "sources": ["y"]},
    ]
    evidence = {"nodes": nodes, "covered": [["c0"]], "uncovered": [["c1", "c2"]]}
    assert covered_by_source(evidence, ["x", "y", "z"]) == {"x": 0.5, "y": 0.0, "z": None}
    assert covered_by_source({"rule": "scored 0 by unparsable=zero"}, ["x"]) == {"x": None}
    with pytest.raises(
        UserError, match=r"no coverage by source .* use scores of comprehensiveness"
    ):
        covered_by_source({"nodes": nodes}, ["x"])


def test_every_stored_match_of_the_authors_is_reproduced():
    with real("e2e_scores_2models.csv").open(encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    wrong = [
        (row["sample"], row["answer_field"], model)
        for row in rows
        for model in ("gpt-oss-20b", "gpt-oss-120b")
        if wikicontradict(float(row[f"score:{model}"]), row["adjusted_label"])
        != bool(int(row[f"match:{model}"]))
        or adjusted(row["label"], GIVEN[int(row["answer_field"].removeprefix("answer"))])
        != row["adjusted_label"]
    ]
    assert (len(rows), wrong) == (1200, [])


def test_every_match_of_the_stored_graphs_is_reproduced():
    graphs = [
        json.loads(line)
        for line in real("e2e_graphs_gpt-oss-20b.jsonl").read_text("utf-8").splitlines()
    ]
    assert [wikicontradict(one["score"], one["adjusted_label"]) for one in graphs] == [
        one["match"] for one in graphs
    ]
    assert len(graphs) == 600


def test_the_published_rates_of_conflictbank_need_strict_shares_of_three_four_and_five_terms():
    """1,000 claims: shares of k terms have a mean that is a multiple of 1 / (1000 k). The rates have six decimals."""
    rows = [
        {
            name: float(row[f"{name} (Mean)"])
            for name in (*(f"ConflictBank {k}" for k in ("Strict", "Lax", "Mean")), WC, "Mean")
        }
        for row in json.loads(real("published_lmr.json").read_text("utf-8"))
    ]
    for row in rows:
        strict, lax = row["ConflictBank Strict"], row["ConflictBank Lax"]
        assert (strict + lax) / 2 == pytest.approx(row["ConflictBank Mean"], abs=1.1e-6)
        assert (row["ConflictBank Mean"] + row[WC]) / 2 == pytest.approx(row["Mean"], abs=1.1e-6)
        assert is_multiple(strict, 60_000)
        assert is_multiple(lax, 6_000)
    for fewer in (
        5_000,
        12_000,
        15_000,
        20_000,
    ):  # five terms alone; three and four; three and five; four and five
        assert not all(is_multiple(row["ConflictBank Strict"], fewer) for row in rows)


def is_multiple(rate: float, of: int) -> bool:
    return abs(rate * of - round(rate * of)) < 6e-7 * of
