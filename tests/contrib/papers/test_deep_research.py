"""RACE and FACT of DeepResearch Bench from its result files, as utils/stat.py and deepresearch_bench_race.py have them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.contrib.papers.deep_research import DIMENSIONS, fact_means, race_means
from longmark.errors import BadInput, UserError


def file_of(folder: Path, *records: Any) -> Path:
    path = folder / "results.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def race(overall: float, *dimensions: float, **changes: Any) -> dict[str, Any]:
    scores = dict(zip(DIMENSIONS, dimensions, strict=True))
    return {"id": 1, "prompt": "Why?", **scores, "overall_score": overall, **changes}


def page(*results: str, error: str | None = None) -> dict[str, Any]:
    """A cited page as utils/validate.py writes it."""
    verdicts = [{"idx": place, "result": result} for place, result in enumerate(results)]
    return {"facts": ["…"], "url_content": "…", "validate_res": verdicts, "validate_error": error}


def report(*pages: dict[str, Any], citations: Any = True) -> dict[str, Any]:
    cited = [{"fact": "…", "url": "…"}] if citations is True else citations
    by_address = {f"https://a.org/{place}": one for place, one in enumerate(pages)}
    return {"id": 1, "prompt": "Why?", "citations": cited, "citations_deduped": by_address}


def test_race_is_the_mean_over_reports_of_the_overall_score_and_of_each_dimension(
    tmp_path: Path,
) -> None:
    failed = {"id": 3, "prompt": "Why?", "error": "Failed to get valid response after 10 retries"}
    path = file_of(tmp_path, race(0.4, 0.3, 0.5, 0.4, 0.4), race(0.5, 0.5, 0.6, 0.4, 0.2), failed)
    means = race_means(path)
    assert (means.reports, means.failed) == (2, 1)
    assert means.overall.value == pytest.approx(0.45)
    assert {name: mean.value for name, mean in means.dimensions.items()} == {
        "comprehensiveness": pytest.approx(0.4),
        "insight": pytest.approx(0.55),
        "instruction_following": pytest.approx(0.4),
        "readability": pytest.approx(0.3),
    }


def test_fact_counts_a_report_and_its_accuracy_is_over_all_reports_together(
    tmp_path: Path,
) -> None:
    path = file_of(
        tmp_path,
        # 3 decided, 2 of them supported; one unknown; a page that could not be read
        report(
            page("supported", "unsupported", "unknown"),
            page("supported"),
            page("supported", error="no reference"),
        ),
        report(page("unsupported")),  # 1, 0 supported
        report(page("supported", error="no reference")),  # 0: cites, and nothing was checked
        report(citations=[]),  # no report that cites
    )
    means = fact_means(path)
    assert (means.reports, means.uncited, means.unread, means.unknown) == (3, 1, 2, 1)
    assert means.citations.value == pytest.approx(4 / 3)
    assert means.effective.value == pytest.approx(2 / 3)
    assert means.accuracy.value == pytest.approx(2 / 4)  # not the mean of 2/3 and 0


@given(st.lists(st.lists(st.sampled_from(("supported", "unsupported", "unknown"))), min_size=1))
def test_fact_is_what_the_authors_loop_adds_up(
    tmp_path_factory: pytest.TempPathFactory, results: list[list[str]]
) -> None:
    path = file_of(tmp_path_factory.mktemp("fact"), *(report(page(*one)) for one in results))
    decided = [one for of_report in results for one in of_report if one != "unknown"]
    means = fact_means(path)
    assert means.citations.value == pytest.approx(len(decided) / len(results))
    assert means.effective.value == pytest.approx(decided.count("supported") / len(results))
    if decided:
        assert means.accuracy.value == pytest.approx(decided.count("supported") / len(decided))
    else:
        assert means.accuracy.value is None
        assert means.accuracy.reason


@pytest.mark.parametrize(
    ("record", "says"),
    [
        (race(1.5, 0.1, 0.1, 0.1, 0.1), "overall_score: expected a score from 0 to 1, found 1.5"),
        (race(0.5, 0.1, 0.1, 0.1, 0.1, insight=None), "insight: expected a score from 0 to 1"),
        (race(0.5, 0.1, 0.1, 0.1, 0.1, insight=True), "insight: expected a score from 0 to 1"),
        ([1], "expected an object"),
    ],
)
def test_what_is_wrong_in_a_line_of_race_is_named(tmp_path: Path, record: Any, says: str) -> None:
    path = file_of(tmp_path, race(0.4, 0.3, 0.5, 0.4, 0.4), record)
    with pytest.raises(BadInput) as raised:
        race_means(path)
    assert "results.jsonl:2" in str(raised.value)
    assert says in str(raised.value)


@pytest.mark.parametrize(
    ("record", "says"),
    [
        ({"id": 1}, "citations: is not there; FACT needs validated.jsonl"),
        (report() | {"citations_deduped": [1]}, "citations_deduped: expected an object of pages"),
        (report({"facts": []}), "https://a.org/0: expected an object with validate_error"),
        (report({"validate_error": None}), "validate_res: expected a list, found null"),
        (
            report({"validate_error": None, "validate_res": [{"idx": 0}]}),
            "validate_res[0].result: expected supported, unsupported or unknown, found null",
        ),
        (
            report({"validate_error": None, "validate_res": [{"idx": 0, "result": "Supported"}]}),
            "validate_res[0].result: expected supported, unsupported or unknown, found ",
        ),
    ],
)
def test_what_is_wrong_in_a_line_of_fact_is_named(tmp_path: Path, record: Any, says: str) -> None:
    with pytest.raises(BadInput) as raised:
        fact_means(file_of(tmp_path, record))
    assert says in str(raised.value)


def test_files_without_a_value_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no report cites anything"):
        fact_means(file_of(tmp_path, report(citations=[])))
    with pytest.raises(UserError, match="no report has scores of RACE"):
        race_means(file_of(tmp_path, {"id": 1, "error": "no"}))
    with pytest.raises(UserError, match=r"results\.jsonl"):
        race_means(file_of(tmp_path))
