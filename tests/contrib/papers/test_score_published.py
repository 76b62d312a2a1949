"""What of SCORE's tables can be made again from the published labels: 700 answers, three judges, four dimensions.

PROVENANCE: results/specificity of the authors' repository, read from ../shared/data (never committed here); the cell is
of table 1 of the paper (arXiv 2602.10017), the answers of Gemini 2.5 as Qwen3-8B judged them.
"""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest
from tests.contrib.papers.score_results import WEIGHTS, grids, results
from tests.report.runs import row, write_run

from longmark.contrib.papers.score.results import SPECIFICITY, ScoreResults, read
from longmark.metrics.score._labels import Label
from longmark.metrics.score.specificity import share_of_yes, vote, weighted_score
from longmark.records import Example, Row

DATA = Path(__file__).parents[4] / "shared" / "data" / "score" / "specificity_labels.jsonl"
LABELS: dict[object, Label] = {1: "yes", 0: "no", "n/a": "n/a"}

pytestmark = pytest.mark.skipif(
    not DATA.exists(), reason=f"the published labels are not here: {DATA}"
)


def _zero(its: Row) -> Row:
    """The row with a score of 0 if it has none."""
    return its if its.score is not None else replace(its, score=0.0, status="ok", reason=None)


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory) -> ScoreResults:
    """The published labels as the rows of a run, voted and weighted by our code."""
    examples, rows = [], []
    for record in map(json.loads, DATA.read_text(encoding="utf-8").splitlines()):
        name = str(record["id"])
        examples.append(Example(id=name, question=f"Question {name}?", answer="An answer."))
        claims = []
        for labels in zip(*record["agents"], strict=True):
            voices = {d: [LABELS[agent[i]] for agent in labels] for i, d in enumerate(WEIGHTS)}
            claims.append(
                {d: {"vote": vote(its), "labels": its, "reasons": []} for d, its in voices.items()}
            )
        votes = {d: [claim[d]["vote"] for claim in claims] for d in WEIGHTS}
        means = {d: share_of_yes(its) for d, its in votes.items()}  # type: ignore[arg-type]
        evidence = {"claims": [{"claim": "", "dimensions": claim} for claim in claims]}
        overall = weighted_score(means, WEIGHTS)
        more = {
            "question_id": name,
            "status": "ok" if overall is not None else "undefined",
            "reason": None,
        }
        if overall is None:
            more["reason"] = "All votes are n/a."
        rows.append(row(name, SPECIFICITY, overall, evidence=evidence, **more))
        for d in WEIGHTS:
            counts = Counter(votes[d])
            gap = (
                {"status": "undefined", "reason": "All votes are n/a."} if means[d] is None else {}
            )
            its = {"votes": {label: counts[label] for label in ("yes", "no", "n/a")}}
            rows.append(
                row(name, f"{SPECIFICITY}.{d}", means[d], question_id=name, evidence=its, **gap)
            )
    scores = read(write_run(tmp_path_factory.mktemp("published") / "run", examples, rows))
    return results(
        generators=("Gemini2.5",),
        evaluators=("Qwen3-8B",),
        judged={("Gemini2.5", "Qwen3-8B"): scores},
    )


def test_a_cell_of_table_1(study: ScoreResults):
    """0.45 ± 0.27 where an answer without a detail scores 0, as the authors have it; 0.47 ± 0.25 where it has none."""
    wide, long = grids(study, "table1", "table1_intervals")
    ours = dict(zip([c.field for c in wide.table().columns], wide.table().rows[0], strict=True))
    assert (round(ours["specificity"], 2), round(ours["specificity_sd"], 2)) == (0.47, 0.25)
    first = long[long.rows[0], "mean"]
    assert first is not None
    assert (first.n, first.missing) == (669, 31)
    (its,) = [scores[SPECIFICITY] for scores in study.judged.values()]
    as_published = study.mean(SPECIFICITY, [replace(one, row=_zero(one.row)) for one in its])
    assert (f"{as_published.value:.2f}", f"{as_published.sd:.2f}") == ("0.45", "0.27")


def test_dimensions_lie_as_far_apart_as_the_published_means(study: ScoreResults):
    (table,) = grids(study, "specificity_dimensions")
    made = {row_[2]: table[row_, "mean"] for row_ in table.rows}
    published: dict[str, list[float]] = {d: [] for d in WEIGHTS}
    for record in map(json.loads, DATA.read_text(encoding="utf-8").splitlines()):
        for d, mean in zip(WEIGHTS, record["dimension_averages"], strict=True):
            if mean not in (None, "n/a"):
                published[d].append(mean)
    assert {d: one.value for d, one in made.items() if one} == {
        d: pytest.approx(sum(its) / len(its)) for d, its in published.items()
    }
    assert [one.n for one in made.values() if one] == [len(its) for its in published.values()]


def test_how_far_the_three_judges_agree(study: ScoreResults):
    (table,) = grids(study, "jury")
    assert [row_[4] for row_ in table.table().rows] == [3] * 4
    made = [one for row_ in table.rows if (one := table[row_, "agreement"])]
    assert {one.n + one.missing for one in made} == {
        sum(len(json.loads(line)["consensus"]) for line in DATA.read_text().splitlines())
    }
    assert all(0.5 < (one.value or 0.0) < 1 for one in made)
