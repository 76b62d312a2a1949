"""How comprehensive the answers of several systems are (section 4.2, figure 6): means by system, method and model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean

from longmark.analysis.studies.comprehensiveness.results import mean_bca
from longmark.analysis.studies.comprehensiveness.rows import Options, Scored, cluster_of, read
from longmark.scores.files import name_of
from longmark.scores.readings import Reading, readings
from longmark.stats.results import Estimate


@dataclass(frozen=True, slots=True)
class SystemMean:
    """The mean score of a system, in [0, 1], by a method and model. total: answers, scored or not; reasons: why answers
    are unscored, most frequent first; reading: over the questions that all systems have a score of, and with 0 for
    unscored answers."""

    system: str
    method: str
    model: str
    mean: Estimate
    total: int
    reasons: tuple[str, ...]
    reading: Reading | None = None


def system_means(runs: Sequence[Path], options: Options, examples: Path | None, notices: list[str]) -> list[SystemMean]:
    """The means, with BCa intervals that resample clusters. Systems in the order of the rows."""
    groups: dict[tuple[str, str, str], list[Scored]] = {}
    for one in read(runs, options, examples, notices):
        system = one.row.system or one.example.system or (name_of(runs[0]) if len(runs) == 1 else "(no system)")
        groups.setdefault((system, one.row.metric, one.model), []).append(one)
    known: dict[tuple[str, str, str], Reading] = {}
    for judged in dict.fromkeys(key[1:] for key in groups):
        of = {key: _by_question(group) for key, group in groups.items() if key[1:] == judged}
        known |= readings([of])
    return [replace(_mean(key, group, options), reading=known[key]) for key, group in groups.items()]


def _by_question(group: Sequence[Scored]) -> dict[str, float | None]:
    """Question -> the mean of the system's scores, with 0 for the unscored of several; None where none is scored."""
    found: dict[str, list[float | None]] = {}
    for one in group:
        found.setdefault(one.example.question_id, []).append(one.row.score)
    return {
        name: None if all(score is None for score in of) else fmean(score or 0.0 for score in of)
        for name, of in found.items()
    }


def _mean(key: tuple[str, str, str], group: Sequence[Scored], options: Options) -> SystemMean:
    scores = [float("nan") if one.row.score is None else one.row.score for one in group]
    of = None if options.as_published else [cluster_of(one.example, options.cluster) for one in group]
    reasons = dict.fromkeys(one.row.status for one in group if one.row.score is None)
    return SystemMean(*key, mean_bca([(scores, of)], options), len(group), tuple(reasons))
