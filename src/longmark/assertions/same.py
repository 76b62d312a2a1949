"""A run against an earlier one: each system with the one of the same name, paired by question, as in `compare`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from longmark.assertions.result import MET, NOT_MET, NOT_TESTED, UNDECIDED
from longmark.errors import UserError
from longmark.report.tables import one_line
from longmark.scores.files import rows_of, sources_of
from longmark.scores.observations import Observations
from longmark.stats.results import Estimate


def _labels_of(runs: Sequence[Path]) -> list[dict[str, str]]:
    """Of each run: system -> its label among the systems of all runs."""
    labels: list[dict[str, str]] = [{} for _ in runs]
    with Observations() as index:
        index.read(sources_of(runs))
        for (place, name), label in zip(index.runs_and_names(), index.systems(), strict=True):
            labels[place][name] = label
    return labels


def pairs_of(earlier: Path, run: Path) -> Iterator[tuple[str, list[str]]]:
    """Each system of the run with its label in the earlier run and in this one. Two runs of one system each belong
    together whatever the names. UserError where the earlier run lacks a system."""
    before, now = _labels_of([earlier, run])
    if len(before) == len(now) == 1:
        before = dict.fromkeys(now, *before.values())
    if missing := [one_line(name) for name in now if name not in before]:
        present = ", ".join(map(one_line, before))
        raise UserError(
            f"the base has no scores of {', '.join(missing)}; it has {present or 'none'}"
        )
    for name, label in now.items():
        yield name, [before[name], label]


def lost_systems(earlier: Path, runs: Sequence[Path]) -> list[str]:
    """The systems of the earlier run that none of the runs has: nothing says that their scores are the same."""
    before, *now = _labels_of([earlier, *runs])
    if len(before) == 1 and all(len(systems) == 1 for systems in now):
        return []  # they belong together whatever their names
    present = {name for systems in now for name in systems}
    return [name for name in before if name not in present]


@dataclass(frozen=True, slots=True)
class Drift:
    """How the scores of a metric and system have changed between two runs. result: of the assertion that nothing
    changed; finding: it in words; change: now - then, None if not compared; places: its decimals."""

    metric: str
    system: str
    result: str
    finding: str
    change: Estimate | None = None
    places: int = 3


def drifts(
    kept: Path, now: Path, *, alpha: float = 0.05, systems: Sequence[str] = (), **options: Any
) -> Iterator[Drift]:
    """The change of each metric and system, tested at alpha / systems, the metrics of a system as one family. systems:
    only these; options: of `compare`. UserError for runs that cannot be compared, as of `compare`."""
    from longmark.analysis.compare import compare
    from longmark.scores.paired import BY_EACH

    pairs = [pair for pair in pairs_of(kept, now) if not systems or pair[0] in systems]
    for system, labels in pairs:
        comparison = compare(
            [kept, now],
            by=BY_EACH,
            systems=labels,
            against_first=True,
            alpha=alpha / len(pairs),
            **options,
        )
        for metric in comparison.metrics:
            (pair,) = metric.pairs
            result, finding = MET, "no significant change"
            if pair.significant:
                result, finding = NOT_MET, "the scores have changed"
            elif pair.p is None or pair.few or pair.undecided:
                why = pair.undecided or pair.few or pair.difference.reason or "no test"
                result, finding = UNDECIDED, f"undecided: {why}"
            yield Drift(metric.metric, system, result, finding, pair.difference, metric.places)
        for name, why in comparison.left_out:
            yield Drift(name, system, NOT_TESTED, f"{NOT_TESTED}: {why}")


def turned(difference: Estimate) -> Estimate:
    """Second - first of an estimate of first - second."""
    value, low, high = (
        None if end is None else -end for end in (difference.value, difference.high, difference.low)
    )
    return replace(difference, value=value, low=low, high=high)


def versions(kept: Path, now: Path) -> str:
    """The versions that the models of two runs reported, in words."""
    then, today = _reported(kept), _reported(now)
    return f"the models reported {today}" + (f", then {then}" if then != today else ", as then")


def _reported(run: Path) -> str:
    """The models of a run with the versions that their endpoints reported."""
    by_model: dict[str, dict[str, Any]] = {}
    for row in rows_of(run):
        for model, names in row.versions.items():
            by_model.setdefault(model, {}).update(dict.fromkeys(names))
    return (
        ", ".join(
            f"{one_line(model)} as {' and '.join(map(one_line, names))}"
            for model, names in by_model.items()
        )
        or "no version"
    )
