"""DeepResearch Bench's aggregates from its result files: RACE and FACT (Du et al. 2025).

    race_means   of `raw_results.jsonl`: the means over reports of the overall score and of the four dimensions
                 (Ayanami0730/deep_research_bench at 214741e, deepresearch_bench_race.py: main); a report with `error`
                 counts in none
    fact_means   of `validated.jsonl`, over the reports that cite anything (utils/stat.py):
                 citations   facts that a readable page was read for, and that are not `unknown`, by report
                 effective   those of them that are `supported`, by report
                 accuracy    effective by citations, over all reports together

The values are the authors'; the intervals are ours: of means over reports, and of the accuracy with a report as a cluster.
Where no report has a citation, the accuracy has no value, as in a later version of their code 0. What a run of longmark
computes itself is the metric `criteria` with `form=relative` and `tag`, and `citations`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from longmark.errors import UserError
from longmark.records import sources
from longmark.records.files import BadLines, at
from longmark.records.values import Problem, found
from longmark.stats.means import mean_estimate
from longmark.stats.results import Estimate

DIMENSIONS = ("comprehensiveness", "insight", "instruction_following", "readability")
_OVERALL = "overall_score"
_SUPPORTED = "supported"
_UNKNOWN = "unknown"
_RESULTS = (_SUPPORTED, "unsupported", _UNKNOWN)
Report = TypeVar("Report")


@dataclass(frozen=True, slots=True)
class RaceMeans:
    """Of the reports without an error. failed: the others; overall, dimensions: in [0, 1], .5 is as good as the
    reference reports."""

    reports: int
    failed: int
    overall: Estimate
    dimensions: Mapping[str, Estimate]


@dataclass(frozen=True, slots=True)
class FactMeans:
    """Of the reports that cite. uncited: the others; citations, effective: a report; accuracy: in [0, 1]; unread: pages
    that could not be checked; unknown: facts of which the judge could not say whether the page supports them."""

    reports: int
    uncited: int
    citations: Estimate
    effective: Estimate
    accuracy: Estimate
    unread: int
    unknown: int


def race_means(file: str | Path, level: float = 0.95) -> RaceMeans:
    """The aggregates of RACE. level: of the intervals. BadInput with the lines that are wrong; UserError for a file
    without a report that was scored."""
    failed = 0
    scores: dict[str, list[float]] = {name: [] for name in (_OVERALL, *DIMENSIONS)}
    for report in _reports(Path(file), _race_scores):
        failed += not report
        for name, score in report.items():
            scores[name].append(score)
    if not scores[_OVERALL]:
        raise UserError(
            f"{file}: no report has scores of RACE; every one of {failed:,} has an error"
        )
    means = {
        name: mean_estimate(values, bounds=(0, 1), level=level) for name, values in scores.items()
    }
    overall = means.pop(_OVERALL)
    return RaceMeans(len(scores[_OVERALL]), failed, overall, means)


def fact_means(file: str | Path, level: float = 0.95) -> FactMeans:
    """The aggregates of FACT. level: of the intervals. BadInput with the lines that are wrong; UserError for a file
    without a report that cites."""
    uncited = unread = unknown = 0
    verdicts: list[list[bool]] = []
    for report in _reports(Path(file), _fact_verdicts):
        if report is None:
            uncited += 1
            continue
        verdicts.append(report.supported)
        unread += report.unread
        unknown += report.unknown
    if not verdicts:
        raise UserError(f"{file}: no report cites anything, so that FACT has no value")
    pooled = [
        (float(supported), number)
        for number, of_report in enumerate(verdicts)
        for supported in of_report
    ]
    return FactMeans(
        reports=len(verdicts),
        uncited=uncited,
        citations=mean_estimate(map(float, map(len, verdicts)), bounds=(0, None), level=level),
        effective=mean_estimate(map(float, map(sum, verdicts)), bounds=(0, None), level=level),
        accuracy=mean_estimate(
            [value for value, _ in pooled],
            [number for _, number in pooled],
            (0, 1),
            level,
        ),
        unread=unread,
        unknown=unknown,
    )


def _reports(file: Path, read: Callable[[Mapping[str, Any]], Report]) -> Iterator[Report]:
    """What `read` makes of each line. BadInput with the first lines that are wrong, behind the last report."""
    wrong = BadLines()
    number = 0
    for line, record in sources.records(file, sources.kind_of(file)):
        number += 1
        try:
            if not isinstance(record, Mapping):
                raise Problem(f"expected an object, found {found(record)}")
            yield read(record)
        except Problem as problem:
            wrong.add(at(str(file), line, str(problem)))
    wrong.check()
    if not number:
        raise UserError(f"{file} has no reports; it needs one a line")


def _race_scores(record: Mapping[str, Any]) -> dict[str, float]:
    """Name -> score; {} for a report with an error."""
    if "error" in record:
        return {}
    scores = {}
    for name in (_OVERALL, *DIMENSIONS):
        score = record.get(name)
        if isinstance(score, bool) or not isinstance(score, int | float) or not 0 <= score <= 1:
            raise Problem(f"{name}: expected a score from 0 to 1, found {found(score)}")
        scores[name] = float(score)
    return scores


@dataclass(frozen=True, slots=True)
class _ReportVerdicts:
    supported: list[bool]
    unread: int
    unknown: int


def _fact_verdicts(record: Mapping[str, Any]) -> _ReportVerdicts | None:
    """The verdicts on the facts of one report; None for one without citations."""
    if "citations" not in record:
        raise Problem("citations: is not there; FACT needs validated.jsonl of utils/validate.py")
    if not record["citations"]:
        return None
    pages = record.get("citations_deduped")
    if not isinstance(pages, Mapping):
        raise Problem(f"citations_deduped: expected an object of pages, found {found(pages)}")
    supported: list[bool] = []
    unread = unknown = 0
    for address, page in pages.items():
        place = f"citations_deduped.{address}"
        if not isinstance(page, Mapping) or "validate_error" not in page:
            raise Problem(f"{place}: expected an object with validate_error and validate_res")
        if page["validate_error"] is not None:
            unread += 1
            continue
        for result in _results(place, page.get("validate_res")):
            if result == _UNKNOWN:
                unknown += 1
            else:
                supported.append(result == _SUPPORTED)
    return _ReportVerdicts(supported, unread, unknown)


def _results(place: str, verdicts: Any) -> Iterator[str]:
    if not isinstance(verdicts, list):
        raise Problem(f"{place}.validate_res: expected a list, found {found(verdicts)}")
    for number, verdict in enumerate(verdicts):
        result = verdict.get("result") if isinstance(verdict, Mapping) else None
        if result not in _RESULTS:
            raise Problem(
                f"{place}.validate_res[{number}].result: expected supported, unsupported or unknown, "
                f"found {found(result)}"
            )
        yield result
