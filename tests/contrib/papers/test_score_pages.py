"""The pages of a SCORE study: that of its tables, and those of each generator's answers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.contrib.papers.score_models import Fakes, carry, make_index
from tests.report.browser import needs_chromium, opened

from longmark.contrib.papers.score.page import write_pages
from longmark.contrib.papers.score.plan import Member, ScorePlan
from longmark.contrib.papers.study import StudyOutcome
from longmark.models.cache import CallCache
from longmark.records.read import Reading
from longmark.report.document import write_document


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> tuple[ScorePlan, StudyOutcome]:
    folder = tmp_path_factory.mktemp("study")
    plan = Fakes().plan(folder / "s", make_index(folder / "idx"))
    return plan, carry(plan, CallCache(folder / "calls.sqlite"))


def test_the_page_of_a_generator_shows_each_answer_once_with_all_its_scores(
    whole: tuple[ScorePlan, StudyOutcome],
):
    plan, _ = whole
    pages = write_pages(plan)
    assert [page.name for page in pages] == ["A.html", "B.html"]
    page = pages[0].read_text(encoding="utf-8").replace("<wbr>", "")
    assert "24 answers" in page
    assert "of 2 systems" not in page
    for metric in (
        "score.specificity.hazard",
        "score.segment_attribution.relevance",
        "score.robustness.paraphrase",
    ):
        assert metric in page
    for metric, whose in (
        ("specificity.hazard@samples=1", "yes"),
        ("specificity.hazard@samples=1", "no"),
        ("context_utilization.absolute@documents=true", "Q"),
    ):
        assert f'"score.{metric} by {whose}"' in page
    assert "on 15 metrics by" in page
    assert (
        "<bdi>Specificity: hazard (samples=1) (no)</bdi> <code>score.specificity.hazard@samples=1 by no</code>"
        in page
    )


def test_the_page_of_tables_leads_to_the_pages_of_answers(
    whole: tuple[ScorePlan, StudyOutcome], tmp_path: Path
):
    plan, outcome = whole
    assert outcome.document is not None
    answers = next(section for section in outcome.document.sections if section.links)
    assert [plan.out / path for path, _ in answers.links] == write_pages(plan)
    write_document(outcome.document, tmp_path / "report.html")
    assert '<a href="answers/A.html"><bdi>Answers of A</bdi></a>' in (
        tmp_path / "report.html"
    ).read_text("utf-8")


@needs_chromium
def test_an_answer_has_a_view_for_each_of_several_evaluators_and_proxies(
    whole: tuple[ScorePlan, StudyOutcome],
):
    plan, _ = whole
    page = write_pages(plan)[0]
    name = next(iter(Reading(plan.answers_path(plan.generators[0])))).id
    shown = opened(page, f"#open={name}")
    titles = re.findall(r"<h4><bdi>(.*?)</bdi></h4><span class=\"view-count\">", shown)
    assert titles == [
        *(
            "Claims and their verdicts by yes",
            "Claims and their verdicts by no",
            "Points and what each adds",
        ),
        *(f"Facts of the passages and what they contributed by {proxy}" for proxy in "PQ"),
        *(
            "Questions that the answer would answer by yes",
            "Questions that the answer would answer by no",
        ),
    ]
    # the legend has each verdict once; claims have yes by the one judge only
    yes, no = (shown.split(f"by {whose}</bdi></h4>")[1].split("<h4>")[0] for whose in ("yes", "no"))
    assert yes.count("verdict verdict-yes") > 2
    assert no.count("verdict verdict-yes") == 1


def test_a_page_of_answers_counts_calls_from_the_cache_among_its_calls(tmp_path: Path):
    """A study again in another folder, with everything in the cache: all its calls come from there, 100 %."""
    fakes, idx, cache = Fakes(), make_index(tmp_path / "idx"), CallCache(tmp_path / "calls.sqlite")
    few = {
        "generators": [Member("A", (fakes.generators[0],))],
        "proxies": [],
        "n": 2,
        "variants": ["location"],
    }
    carry(fakes.plan(tmp_path / "first", idx, **few), cache)
    plan = fakes.plan(tmp_path / "again", idx, **few)
    carry(plan, cache)
    (page,) = write_pages(plan)
    found = re.search(
        r"<dt>Model calls</dt><dd><b>(\d+)</b><span>(\d+) from the call cache \((.*?)\)",
        page.read_text(),
    )
    assert found is not None
    assert int(found[1]) == int(found[2]) > 0
    assert found[3] == "100 %"
