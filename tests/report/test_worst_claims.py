"""Why a score of RAGChecker is low: the claim that the list of answers shows."""

from __future__ import annotations

from pathlib import Path

import longmark
from longmark.records import Context, Example
from longmark.report.format import metric_titles
from longmark.report.worst import worst_of
from longmark.scores.manifest import read_manifest


def test_a_low_score_shows_the_claim_that_makes_it_low(tmp_path: Path):
    example = Example(
        answer="a b",
        references=("r s",),
        contexts=(Context(text="one"),),
        claims=("a", "b"),
        reference_claims=("r", "s"),
        claims_by_reference=("entails", "contradicts"),
        reference_claims_by_answer=("neutral", "entails"),
        claims_by_contexts=(("neutral",), ("entails",)),
        reference_claims_by_contexts=(("entails",), ("neutral",)),
    )
    rows = {
        row.metric: row
        for row in longmark.run([example], "ragchecker", out=tmp_path / "run").rows()
    }

    def why(name: str) -> tuple[str, str] | None:
        metric = f"ragchecker.{name}"
        facts = read_manifest(tmp_path / "run").metrics()[metric]
        return dict(worst_of({metric: rows[metric]}, {metric: facts}))[metric]

    assert why("precision") == ("Claim that the reference does not entail", "b")
    assert why("faithfulness") == ("Unsupported claim", "a")
    assert why("noise_sensitivity_in_relevant") == ("Claim that the reference does not entail", "b")
    assert why("recall") == ("Missing claim", "r")
    assert why("claim_recall") == ("Claim that no passage entails", "s")


def test_a_graph_gives_the_first_statement_to_add(tmp_path: Path):
    nodes = [{"id": "c", "side": "context", "text": "It rains."}]
    example = Example(
        question="Q?",
        answer="A.",
        contexts=(Context(text="C"),),
        graph={"nodes": nodes, "edges": []},
    )
    name = "comprehensiveness.nli"
    (row,) = longmark.run([example], name, out=tmp_path / "run").rows()
    facts = read_manifest(tmp_path / "run").metrics()
    assert dict(worst_of({name: row}, facts))[name] == ("Missing statement", "It rains.")
    assert metric_titles([name]) == {name: "Comprehensiveness by entailment"}
