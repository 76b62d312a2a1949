"""How comprehensive the answers of several systems are (section 4.2, figure 6): means by system, method and model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from longmark.analysis.studies.comprehensiveness.results import mean_bca
from longmark.analysis.studies.comprehensiveness.rows import Options, Scored, cluster_of, read
from longmark.scores.files import name_of
from longmark.stats.results import Estimate


@dataclass(frozen=True, slots=True)
class SystemMean:
    """The mean score of a system, in [0, 1], by a method and model. total: answers, scored or not; reasons: why answers
    are unscored, most frequent first."""

    system: str
    method: str
    model: str
    mean: Estimate
    total: int
    reasons: tuple[str, ...]


def system_means(runs: Sequence[Path], options: Options, examples: Path | None, notices: list[str]) -> list[SystemMean]:
    """The means, with BCa intervals that resample clusters. Systems in the order of the rows."""
    groups: dict[tuple[str, str, str], list[Scored]] = {}
    for one in read(runs, options, examples, notices):
        system = one.row.system or one.example.system or (name_of(runs[0]) if len(runs) == 1 else "(no system)")
        groups.setdefault((system, one.row.metric, one.model), []).append(one)
    return [_mean(key, group, options) for key, group in groups.items()]


def _mean(key: tuple[str, str, str], group: Sequence[Scored], options: Options) -> SystemMean:
    scores = [float("nan") if one.row.score is None else one.row.score for one in group]
    of = [cluster_of(one.example, options.cluster) for one in group]
    reasons = dict.fromkeys(one.row.status for one in group if one.row.score is None)
    return SystemMean(*key, mean_bca([(scores, of)], options), len(group), tuple(reasons))
