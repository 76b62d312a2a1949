"""Which categories and which items Gwet's AC1 counts, in `metaeval` and in the progress of a study."""

from __future__ import annotations

from html import unescape
from pathlib import Path
from typing import Any

import pytest
from tests.contrib.annotate.studies import labelled, lines, records_of
from tests.program import run, write_jsonl

from longmark import metaeval
from longmark.analysis.metaeval.agreement import RatedItems, Vote, coefficients_of
from longmark.analysis.metaeval.options import MetaevalOptions
from longmark.contrib.annotate.checks import load
from longmark.contrib.annotate.items import read_items
from longmark.contrib.annotate.labels import collect
from longmark.contrib.annotate.progress import agreement_table, agreements
from longmark.contrib.annotate.study import template
from longmark.stats.agreement import GWET_AC1

FIRST = [5, 5, 5, 5, 5, 5, 5, 4, 5, 5, 5, 5]
SECOND = [5, 5, 5, 5, 4, 5, 5, 5, 5, 5, 4, 5]


def rows(folder: Path, count: int) -> Path:
    path = folder / "rows.jsonl"
    write_jsonl(
        path, [{"example_id": str(i), "metric": "m", "score": i / count} for i in range(count)]
    )
    return path


def ac1_of(found: Any) -> Any:
    return next(
        one for one in found.labels[0].agreement.coefficients if one.coefficient == GWET_AC1
    )


def test_ac1_counts_the_categories_of_the_scale_not_those_that_occur(tmp_path: Path):
    """Nine of twelve pairs agree: .75. The shares are 21/24 and 3/24, the sum of p(1 - p) is .21875. With five
    categories chance is .21875 / 4, with two .21875: (.75 - .0546875) / .9453125 = .73554, .53125 / .78125 = .68."""
    rated = [
        {"example_id": str(i), "rater": name, "value": value}
        for i, pair in enumerate(zip(FIRST, SECOND, strict=True))
        for name, value in zip(("ann", "bo"), pair, strict=True)
    ]
    scores = rows(tmp_path, 12)
    assert ac1_of(metaeval(scores, rated)).value == pytest.approx(0.68)
    assert ac1_of(metaeval(scores, rated, order={"rating": list("12345")})).value == pytest.approx(
        0.73554, abs=1e-5
    )
    declared = [one | {"label_scale": "1..5"} for one in rated]
    found = ac1_of(metaeval(scores, declared))
    assert (found.value, len(found.categories)) == (pytest.approx(0.73554, abs=1e-5), 5)
    write_jsonl(tmp_path / "ratings.jsonl", declared)
    told = run(
        "metaeval",
        scores,
        tmp_path / "ratings.jsonl",
        "--verbose",
        "--out",
        tmp_path / "out",
        home=tmp_path,
    )
    assert "Gwet's AC1 (5 categories)" in told.out
    page = unescape((tmp_path / "out" / "report.html").read_text())
    assert "Gwet's AC1 counts the 5 categories of the scale (1, 2, 3, 4, 5)." in page


def test_an_answer_with_one_rating_counts_among_the_shares():
    """100 answers with one rating (98 yes, 2 no), 20 with two (7 agree on yes, 7 on no, 6 differ): shares .9 and .1 of
    all 120, so chance is .18 and AC1 (.7 - .18) / .82 = .634146; irrCAC 0.4.4, CAC(table).gwet(), gives .63415."""
    items = [[name] for name in ["yes"] * 98 + ["no"] * 2]
    items += [["yes", "yes"]] * 7 + [["no", "no"]] * 7 + [["yes", "no"]] * 6
    rated = RatedItems(
        [[Vote(f"r{place}", name, None) for place, name in enumerate(item)] for item in items]
    )
    by_name = {one.coefficient: one for one in coefficients_of(rated, MetaevalOptions())}
    assert by_name[GWET_AC1].value == pytest.approx(0.634146, abs=1e-6)
    assert (by_name[GWET_AC1].n, by_name["percentage"].n) == (120, 20)
    assert by_name["Krippendorff's alpha"].value == pytest.approx(0.415, abs=1e-3)


def test_a_sample_of_many_items_keeps_the_shares():
    """6,000 answers with two equal ratings, all yes, and 60,000 with one, all no: the share of yes is 1/11 in whatever
    part of them is used, chance is 2 · 1/11 · 10/11, and AC1 is 1 because all pairs agree."""
    votes = [[Vote("a", "yes", None), Vote("b", "yes", None)]] * 6_000 + [
        [Vote("a", "no", None)]
    ] * 60_000
    found = {one.coefficient: one for one in coefficients_of(RatedItems(votes), MetaevalOptions())}
    assert (found[GWET_AC1].n, found["percentage"].n) == (50_000, 5_000)
    assert found[GWET_AC1].value == 1


def test_choices_count_a_tie_where_the_study_allows_one(tmp_path: Path):
    """Three of four pairs agree: .75. The shares are 5/8 and 3/8, the sum of p(1 - p) is 15/32: chance with two
    choices; with three 15/64."""
    write_jsonl(tmp_path / "rows.jsonl", [
        {"example_id": f"{i}{side}", "question_id": str(i), "system": side, "metric": "m", "score": 0.5}
        for i in range(4) for side in "st"
    ])  # fmt: skip
    choices = [
        {"question_id": str(i), "a": "s", "b": "t", "choice": choice, "rater": rater}
        for i, pair in enumerate(("aa", "bb", "aa", "ba")) for rater, choice in zip(("ann", "bo"), pair, strict=True)
    ]  # fmt: skip
    of_two = ac1_of(metaeval(tmp_path / "rows.jsonl", choices)).value
    assert of_two == pytest.approx((0.75 - 15 / 32) / (1 - 15 / 32))
    declared = [one | {"label_scale": "a|b|tie"} for one in choices]
    of_three = ac1_of(metaeval(tmp_path / "rows.jsonl", declared)).value
    assert of_three == pytest.approx((0.75 - 15 / 64) / (1 - 15 / 64))


def test_the_progress_of_a_study_counts_the_options_that_nobody_chose(tmp_path: Path):
    """The twelve pairs of ratings above, on the template's scale from 1 to 5, and an answer that one rater labelled
    with 1: 12 of 13 answers share (5: 21/24, 4: 3/24), one has 1. Shares 10.5/13, 1.5/13, 1/13."""
    text = template("rating").replace(
        "from: run, path: runs/first", "from: file, path: answers.jsonl"
    )
    (tmp_path / "STUDY.yaml").write_text(text)
    lines(tmp_path / "answers.jsonl", records_of("rating", 13))
    study = load(tmp_path / "STUDY.yaml")
    items = read_items(study, tmp_path)
    places = {item.id: place for place, item in enumerate(items)}

    def label(item: Any, rater: str) -> dict[str, Any] | None:
        place = places[item.id]
        if place == 12:
            return {"quality": 1, "confidence": 5} if rater == "Ann" else None
        return {"quality": (FIRST if rater == "Ann" else SECOND)[place], "confidence": 5}

    store = labelled(tmp_path / "s.sqlite", study, items, ["Ann", "Bo"], label)
    found = [one for one in agreements(collect(study, items, store)) if one.label == "quality"]
    ac1 = next(one.estimate for one in found if one.estimate.coefficient == GWET_AC1)
    chance = sum(share / 13 * (1 - share / 13) for share in (10.5, 1.5, 1)) / 4
    assert ac1.value == pytest.approx((0.75 - chance) / (1 - chance))
    assert any(one.name == "Gwet's AC1 (5 categories)" for one in found)
    assert "counts all options of a field" in agreement_table(found).note


def test_a_correlation_without_a_spread_says_why_there_is_no_conclusion(tmp_path: Path):
    """Scores that rise with the classes, four answers in each: no answer changes rho when it is left out."""
    rated = [
        {"example_id": str(i), "value": ("None", "Partial", "Full")[i // 4]} for i in range(12)
    ]
    write_jsonl(tmp_path / "ratings.jsonl", rated)
    words = (
        "metaeval",
        rows(tmp_path, 12),
        tmp_path / "ratings.jsonl",
        "--order",
        "rating=None,Partial,Full",
    )
    told = " ".join(run(*words, home=tmp_path).out.split())
    assert (
        "no conclusion: the value is the same without any one pair, so its variance is unknown"
        in told
    )
    assert "0.946 [" not in told  # an interval without a width would say that rho is known exactly
