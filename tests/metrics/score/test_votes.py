"""The vote and the weighted score: by hand, by properties, and on 700 labelled answers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.metrics.score._labels import LABELS, Label
from longmark.metrics.score.specificity import share_of_yes, vote, weighted_score

WEIGHTS = {"hazard": 0.6, "location": 0.2, "timeline": 0.1, "intensity": 0.1}
# 700 answers with the labels of three judges, their consensus, means and score: figures of SCORE's authors, checked
# against their code's output (github.com/hhshomee/score, results/specificity). PROVENANCE: they lie beside the project.
DATA = Path(__file__).parents[4] / "shared" / "data" / "score" / "specificity_labels.jsonl"
LABEL: dict[Any, Label] = {0: "no", 1: "yes", "n/a": "n/a"}


@pytest.mark.parametrize(
    ("labels", "winner"),
    [
        (("yes",), "yes"),
        (("yes", "no", "yes"), "yes"),
        (("n/a", "no", "no"), "no"),
        (("n/a", "yes", "n/a"), "n/a"),
        (("yes", "no", "n/a"), "n/a"),  # the only tie of three
        (("yes", "no"), "no"),
        (("yes", "n/a"), "n/a"),
        (("no", "n/a"), "n/a"),
        (("yes", "yes", "no", "no", "n/a"), "no"),  # yes and no tie, n/a has fewer
        (("yes", "yes", "n/a", "n/a", "no"), "n/a"),
        (("yes", "yes", "no", "n/a"), "yes"),  # the most frequent, though no more than half
    ],
)
def test_the_vote(labels: tuple[Label, ...], winner: Label):
    assert vote(labels) == winner
    assert vote(labels[::-1]) == winner


def test_a_vote_needs_a_label():
    with pytest.raises(ValueError, match="needs a label"):
        vote([])


many = st.lists(st.sampled_from(LABELS), min_size=1, max_size=9)


@given(labels=many, more=st.integers(1, 4))
def test_a_judge_that_repeats_the_majority_never_changes_the_vote(labels: list[Label], more: int):
    assert vote(labels + [vote(labels)] * more) == vote(labels)


@given(labels=many, data=st.data())
def test_the_order_of_the_judges_is_nothing(labels: list[Label], data: st.DataObject):
    assert vote(data.draw(st.permutations(labels))) == vote(labels)


def test_the_share_leaves_out_what_is_not_stated():
    assert share_of_yes(["yes", "n/a", "no", "yes", "n/a"]) == pytest.approx(2 / 3)
    assert share_of_yes(["no", "n/a"]) == 0
    assert share_of_yes(["n/a", "n/a"]) is None
    assert share_of_yes([]) is None


def test_the_weighted_score():
    # (.6 x .5 + .2 x 1 + .1 x 0 + .1 x .25) / 1 = .525
    means = {"hazard": 0.5, "location": 1.0, "timeline": 0.0, "intensity": 0.25}
    assert weighted_score(means, WEIGHTS) == pytest.approx(0.525)
    # without location and intensity: (.6 x .5 + .1 x 0) / .7 = 3/7
    assert weighted_score({**means, "location": None, "intensity": None}, WEIGHTS) == pytest.approx(
        3 / 7
    )
    assert weighted_score(dict.fromkeys(WEIGHTS), WEIGHTS) is None
    # weights are relative: (3 x .5 + 1 x 1) / 4 = .625
    assert weighted_score({"a": 0.5, "b": 1.0}, {"a": 3, "b": 1}) == pytest.approx(0.625)


@given(means=st.fixed_dictionaries({name: st.none() | st.floats(0, 1) for name in WEIGHTS}))
def test_the_score_lies_between_the_means(means: dict[str, float | None]):
    present = [mean for mean in means.values() if mean is not None]
    score = weighted_score(means, WEIGHTS)
    if not present:
        assert score is None
    else:
        assert score is not None
        assert min(present) - 1e-12 <= score <= max(present) + 1e-12


@pytest.mark.skipif(not DATA.exists(), reason="the label data of SCORE is not beside the project")
def test_the_authors_labels_give_their_consensus_means_and_scores():
    rows = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    assert len(rows) == 700
    scored = 0
    for row in rows:
        claims = len(row["consensus"])
        votes = [
            {
                name: vote([LABEL[judge[i][j]] for judge in row["agents"]])
                for j, name in enumerate(WEIGHTS)
            }
            for i in range(claims)
        ]
        assert [list(one.values()) for one in votes] == [
            [LABEL[x] for x in claim] for claim in row["consensus"]
        ]
        means = {name: share_of_yes(one[name] for one in votes) for name in WEIGHTS}
        for mean, theirs in zip(means.values(), row["dimension_averages"], strict=True):
            assert (mean is None) == (theirs == "n/a")
            assert mean is None or mean == pytest.approx(theirs, abs=1e-12)
        score = weighted_score(means, WEIGHTS)
        assert row["score"] == pytest.approx(0.0 if score is None else score, abs=1e-12)
        scored += score is not None
    assert scored == 669
