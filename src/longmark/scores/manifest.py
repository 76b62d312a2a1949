"""`manifest.json` of a run folder, read leniently: a missing key is shown as unknown."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from longmark.errors import UserError
from longmark.options import named
from longmark.records.files import REMAKE, read_object
from longmark.records.manifest_types import check_manifest
from longmark.records.verdicts import UnreadableJudge, unreadable
from longmark.scores.clusters import QUESTION
from longmark.scores.files import source_of, sources_of

_FARTHEST = 1e100  # of a bound from 0


@dataclass(frozen=True, slots=True)
class MetricFacts:
    """What a table or a figure must know of a metric's scores.

    lo, hi: least and greatest value that can occur, None if there is no limit or it is not known; higher_is_better:
    None if neither direction is better or, unless `declared`, if that is not known. view: how its evidence is shown,
    and the metric's own name without parameters, which scores that share a view have in common; evidence: what it
    judges an answer by (`metric.SOURCES`), None if that is not known; why: what makes a score bad (`metric.Why`), as
    texts; reach: the greatest score of an answer in its own words, None: hi; descriptive: what an answer with a higher
    score is, as `longer`, where the score does not say how good it is.
    """

    lo: float | None = None
    hi: float | None = None
    higher_is_better: bool | None = None
    summary: str = ""
    declared: bool = False
    view: tuple[str, ...] = ("", "")
    evidence: tuple[str, ...] | None = None
    why: tuple[str, ...] = ("", "", "", "")
    reach: float | None = None
    descriptive: str = ""

    @property
    def attainable(self) -> float | None:
        """The upper end of what an answer can get by what it says: scores are good or bad beside it."""
        is_inside = self.reach is not None and self.bounded and (self.lo or 0.0) < self.reach
        return self.reach if is_inside else self.hi

    @property
    def bounded(self) -> bool:
        return self.lo is not None and self.hi is not None and self.lo < self.hi


def without_descriptive(
    facts: Mapping[str, MetricFacts], beside: Collection[str] | None = None
) -> dict[str, MetricFacts]:
    """The facts, where a metric that only describes answers has no direction beside one that says how good they are: an
    answer is not better for being longer. Alone it keeps its direction, as the baseline that it is. beside: the metrics
    that are looked at, None: all."""
    selected = facts if beside is None else [metric for metric in facts if metric in beside]
    if not any(
        facts[metric].higher_is_better is not None and not facts[metric].descriptive
        for metric in selected
    ):
        return dict(facts)
    return {
        name: replace(metric_facts, higher_is_better=None)
        if metric_facts.descriptive
        else metric_facts
        for name, metric_facts in facts.items()
    }


@dataclass(frozen=True, slots=True)
class Manifest:
    """The manifest of one source. folder: the run folder or file of rows; data: the JSON object as it stands, {} if
    there is no file."""

    folder: Path
    data: dict[str, Any]

    @property
    def fixed(self) -> dict[str, Any]:
        """The settings that cannot change within the folder."""
        return _object(self.data.get("fixed"))

    @property
    def sessions(self) -> list[dict[str, Any]]:
        """What each call of the command did: rows, requests, tokens, dollars, seconds."""
        listed = self.data.get("sessions")
        return [_object(session) for session in listed] if isinstance(listed, list) else []

    @property
    def models(self) -> dict[str, list[str]]:
        """Role -> names of models."""
        by_role = _object(self.fixed.get("models")).items()
        return {
            role: [str(name) for name in (names if isinstance(names, list) else [names])]
            for role, names in by_role
        }

    @property
    def judging(self) -> dict[str, Any]:
        """How the judges were asked (`longmark.judging`)."""
        return _object(self.fixed.get("judging"))

    @property
    def of_pairs(self) -> bool:
        return self.data.get("kind") == "pairs"

    @property
    def seed(self) -> int:
        seed = self.judging.get("seed")
        return seed if isinstance(seed, int) else 0

    @property
    def cluster(self) -> str:
        """The field of the examples that dependent answers share, as the run was told."""
        return str(self.data.get("cluster") or QUESTION)

    @property
    def ended(self) -> bool:
        """The run has a row for each example and metric."""
        return bool(self.data.get("finished"))

    @property
    def unreadable(self) -> list[UnreadableJudge]:
        """The judges none of whose first replies had a verdict."""
        return list(unreadable(self.data.get("verdicts")))

    def metrics(self) -> dict[str, MetricFacts]:
        """The names of the scores, in the order of the manifest, with what is known of each."""
        return {
            name: _facts(_object(entry))
            for name, entry in _object(self.data.get("metrics")).items()
        }


def read_manifest(run: Path) -> Manifest:
    """The manifest of a run folder; an empty one for a file of rows, or if the folder has rows but no manifest.

    UserError if there is no such source, or the file is not a JSON object.
    """
    run = source_of(run)
    path = run / "manifest.json"
    if not run.is_dir() or not path.exists():
        return Manifest(run, {})
    manifest = read_object(path, REMAKE)
    check_manifest(manifest, path)
    return Manifest(run, manifest)


def cluster_of(field: str | None, runs: Iterable[Path]) -> str:
    """The field whose values are clusters: `field`, else that of the runs. UserError where they differ."""
    if field is not None:
        return field
    fields = {read_manifest(run).cluster: run for run in sources_of(list(runs))}
    if len(fields) > 1:
        listed = ", ".join(f"{field} ({run})" for field, run in fields.items())
        raise UserError(
            f"the runs were made with different {named('cluster')} fields: {listed}; name one with "
            f"{named('cluster', 'FIELD')}"
        )
    return next(iter(fields), QUESTION)


def refuse_pairs(manifests: Iterable[Manifest]) -> None:
    """UserError where a run's examples are pairs: its scores are choices, and say nothing of a system."""
    for manifest in manifests:
        if manifest.of_pairs:
            raise UserError(
                f"{manifest.folder} is a run of pairs: a score is a choice between two answers, not the score of a "
                "system. `longmark calf-study` and `longmark report` compare the choices with those of people. To "
                "compare systems, score single answers"
            )


def _object(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _facts(entry: dict[str, Any]) -> MetricFacts:
    bounds = entry.get("bounds")
    lo, hi = bounds if isinstance(bounds, list) and len(bounds) == 2 else (None, None)
    better = entry.get("higher_is_better")
    return MetricFacts(
        lo=_bound(lo),
        hi=_bound(hi),
        higher_is_better=better if isinstance(better, bool) else None,
        summary=str(entry.get("summary") or ""),
        declared="higher_is_better" in entry,
        view=_texts(entry.get("view"), 2),
        evidence=_sources(entry.get("evidence")),
        why=_texts(entry.get("why"), 4),
        reach=_bound(entry.get("reach")),
        descriptive=str(entry.get("descriptive") or ""),
    )


def _texts(value: Any, count: int) -> tuple[str, ...]:
    """So many texts of a list; empty ones for another value."""
    fits = (
        isinstance(value, list)
        and len(value) == count
        and all(isinstance(item, str) for item in value)
    )
    return tuple(value) if fits else ("",) * count


def _sources(value: Any) -> tuple[str, ...] | None:
    """What a score judges an answer by; None for another value."""
    readable = isinstance(value, list) and all(isinstance(source, str) for source in value)
    return tuple(value) if readable else None


def _bound(value: Any) -> float | None:
    """A bound to compute with: the distance of two of them is finite."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= _FARTHEST:
        return None
    return float(value)
