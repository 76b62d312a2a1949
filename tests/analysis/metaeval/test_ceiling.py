"""The human ceiling where raters are a sample: the same as computing it anew without each rater, and what it says."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("scipy")

from tests.report.runs import row
from tests.there import there

from longmark.analysis.metaeval import metaeval
from longmark.analysis.metaeval.agreement import Ceiling, RatedItems, Vote, agreement
from longmark.analysis.metaeval.options import MetaevalOptions
from longmark.analysis.metaeval.sections import sections
from longmark.stats.two_way import TWO_WAY, Variance

Votes = list[list[Vote]]


def votes_of(raters: int, items: int = 30, each: int = 3, severity: float = 0.8) -> Votes:
    random = np.random.default_rng(raters)
    shift = random.normal(0, severity, raters)
    made = []
    for _ in range(items):
        worth, who = random.normal(), random.choice(raters, each, replace=False)
        values = [int(np.clip(round(worth + shift[r] + random.normal(0, 0.5)), -2, 2)) for r in who]
        made.append([Vote(f"r{r}", str(v), float(v)) for r, v in zip(who, values, strict=True)])
    return made


def ceiling(votes: Votes) -> Ceiling:
    return agreement(RatedItems(votes, numeric=True), {}, {}, MetaevalOptions()).ceilings[0]


def jackknife(values: list[float]) -> float:
    return (
        (len(values) - 1) / len(values) * float(((np.array(values) - np.mean(values)) ** 2).sum())
    )


def test_the_variance_is_that_of_computing_it_anew_without_each_item_rater_and_rating(
    monkeypatch: pytest.MonkeyPatch,
):
    votes = votes_of(6)
    shown = ceiling(votes)
    monkeypatch.setattr(
        "longmark.analysis.metaeval.agreement.FEWEST_RATERS", 99
    )  # values only, from here on
    monkeypatch.setattr("longmark.analysis.metaeval.agreement._coefficients", lambda *_: [])
    monkeypatch.setattr("longmark.analysis.metaeval.agreement._RESAMPLES", 2)
    items = [ceiling(votes[:place] + votes[place + 1 :]) for place in range(len(votes))]
    raters = [
        ceiling([[v for v in item if v.rater != f"r{r}"] for item in votes]) for r in range(6)
    ]
    cells = [
        ceiling(
            [[v for v in item if (k, v.rater) != (i, vote.rater)] for k, item in enumerate(votes)]
        )
        for i, its in enumerate(votes)
        for vote in its
    ]
    for name in ("pearson", "agrees"):
        parts = [
            jackknife([getattr(one, name).value for one in some]) for some in (items, raters, cells)
        ]
        value = max(parts[0] + parts[1] - parts[2], parts[0])
        estimate = getattr(shown, name)
        df = value**2 / (
            parts[0] ** 2 / 29 + parts[1] ** 2 / (effective(votes) - 1) + parts[2] ** 2 / 89
        )
        made = Variance(value, max(df, effective(votes) - 1))
        around = made.around_correlation if name == "pearson" else made.around_share
        assert estimate.method == TWO_WAY
        assert estimate.ends == pytest.approx(around(estimate.value, 0.95), abs=1e-9)


def effective(votes: Votes) -> float:
    counts = np.unique([vote.rater for item in votes for vote in item], return_counts=True)[1]
    return float(counts.sum() ** 2 / (counts**2).sum())


def test_few_raters_are_taken_as_they_are_and_it_is_said():
    few = agreement(RatedItems(votes_of(3), numeric=True), {}, {}, MetaevalOptions()).ceilings[0]
    assert few.over == "items only, 3 raters"
    assert few.pearson is not None
    assert few.pearson.method == "BCa"
    many = ceiling(votes_of(8, each=8))
    assert many.over == "items and raters"
    first = [Vote("r0", item[0].name, item[0].number) for item in votes_of(8)]
    others = [
        Vote(f"r{place % 7 + 1}", item[1].name, item[1].number)
        for place, item in enumerate(votes_of(8))
    ]
    alone = ceiling([list(pair) for pair in zip(first, others, strict=True)])
    assert alone.over == "items only, 3.5 effective raters", (
        "one of the eight gave half of the ratings"
    )


def test_raters_who_differ_widen_the_interval_and_those_who_do_not_hardly_do(
    monkeypatch: pytest.MonkeyPatch,
):
    def width(severity: float) -> float:
        found = ceiling(votes_of(8, items=80, each=8, severity=severity)).pearson
        assert found is not None
        assert found.low is not None
        assert found.high is not None
        return found.high - found.low

    as_samples = [width(0.0), width(1.2)]
    monkeypatch.setattr("longmark.analysis.metaeval.agreement.FEWEST_RATERS", 99)
    fixed = [width(0.0), width(1.2)]
    assert as_samples[0] < 1.4 * fixed[0]
    assert as_samples[1] > 1.8 * fixed[1]


def test_a_metrics_line_and_several_answers_to_a_question_count_raters_too():
    votes = votes_of(8)
    questions = [f"q{place // 2}" for place in range(len(votes))]
    scores = np.array([np.mean([v.number for v in item if v.number is not None]) for item in votes])
    scores[:5] = np.nan
    found = agreement(
        RatedItems(votes, questions, numeric=True), {"m": scores}, {}, MetaevalOptions()
    )
    person, metric = found.ceilings
    assert [(one.over, one.items) for one in (person, metric)] == [
        ("items and raters", 30),
        ("items and raters", 25),
    ]
    assert metric.pearson is not None
    assert (metric.pearson.method, metric.pearson.n) == (TWO_WAY, 13)


def test_raters_who_all_agree_have_an_interval_over_items():
    votes = [[Vote(f"r{r}", str(i % 3), float(i % 3)) for r in range(6)] for i in range(12)]
    found = ceiling(votes)
    assert found.agrees is not None
    assert (found.agrees.value, found.agrees.method) == (1.0, "all equal")
    assert found.over == "items only, 6 raters"


def test_a_metric_is_above_the_ceiling_only_on_the_same_ratings():
    # Two raters agree on 12 pairs (a, a) and differ on 8 (a, tie): a rater agrees with the other in 24 of 40. The
    # metric makes their choice on 8 of the 12, and no rater's choice on the others: 16 of 40, but 8 of 12 with a
    # majority.
    pairs = range(20)
    metric = {n: (1.0, 0.0) if n < 8 else (0.0, 1.0) for n in pairs}
    rows = [
        row(f"{n}{side}", "m", metric[n][place], question_id=f"q{n}", system=side)
        for n in pairs
        for place, side in enumerate("xy")
    ]
    said = [
        {"question_id": f"q{n}", "a": "x", "b": "y", "choice": "a", "rater": "ann"} for n in pairs
    ]
    said += [
        {
            "question_id": f"q{n}",
            "a": "x",
            "b": "y",
            "choice": "a" if n < 12 else "tie",
            "rater": "bo",
        }
        for n in pairs
    ]
    found = metaeval(rows, said)
    (part,) = found.labels
    ceiling, own = part.agreement.ceilings[:2]
    assert (there(ceiling.agrees).value, there(own.agrees).value, own.rater_agrees) == (
        0.6,
        0.4,
        0.6,
    )
    summary = sections(found)[0]
    assert "Above it" not in summary.says
    assert "on the same ratings" in summary.says
    assert own.above_a_rater is False


def test_a_metric_that_scored_some_answers_is_held_against_a_rater_on_those():
    # On the first ten answers the raters agree perfectly, on the last ten not at all. The metric scored the first ten
    # and is right up to a swap: below a rater on the same answers, above a rater on all.
    order = [1, 2, 3, 4, 5, 1, 2, 3, 4, 5]
    rows = [
        row(str(n), "m", float(order[n] + (n == 0) * 1.5), question_id=f"q{n}") for n in range(10)
    ]
    rows += [row(str(n), "m", None, question_id=f"q{n}") for n in range(10, 20)]
    said = [
        {"example_id": str(n), "rater": name, "value": order[n % 10]}
        for n in range(10)
        for name in ("ann", "bo")
    ]
    said += [
        {
            "example_id": str(n),
            "rater": name,
            "value": order[n % 10] if name == "ann" else order[(3 * n) % 10],
        }
        for n in range(10, 20)
        for name in ("ann", "bo")
    ]
    (part,) = metaeval(rows, said).labels
    ceiling, own = part.agreement.ceilings
    assert own.rater_spearman == pytest.approx(1)
    assert there(there(ceiling.spearman).value) < there(there(own.spearman).value) < 1
    assert "Above it" not in sections(metaeval(rows, said))[0].says


def test_raters_who_agree_on_every_answer_have_a_ceiling_without_an_interval():
    """Both raters give 1, 2, 3, 1, 2, 3, ...: the correlation of one with the other is 1, in every resample."""
    rows = [row(f"e{number}", "m", (number * 7 % 12) / 12) for number in range(12)]
    said = [
        {"example_id": f"e{number}", "value": 1 + number % 3, "rater": rater}
        for number in range(12)
        for rater in ("ann", "bo")
    ]
    summary = sections(metaeval(rows, said))[0].says
    assert "No human ceiling" not in summary
    assert (
        "Human ceiling (leave one rater out): Spearman 1.00, no interval: the rows are alike"
        in summary
    )
