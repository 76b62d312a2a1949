"""Before a run: which gates could be met at all by its examples, whatever their scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from longmark.errors import UserError
from longmark.records.documents import document_of
from longmark.records.metric_name import in_slice, slice_name
from longmark.report.format import share
from longmark.report.gate import MAX_UNSCORED, Gate
from longmark.report.gate_texts import refuse_unknown_systems
from longmark.report.tables import one_line
from longmark.scores.clusters import QUESTION, fields_of
from longmark.stats.means import Bounds


class Forecast:
    """Which gates can pass with examples that are not scored yet. gates: with what they select; bounds: of the scores;
    own: the system of examples without one; cluster, by, max_unscored: as for the run."""

    def __init__(
        self,
        gates: Sequence[Gate],
        bounds: Mapping[str, Bounds],
        own: str,
        cluster: str = QUESTION,
        by: Sequence[str] = (),
        max_unscored: float = MAX_UNSCORED,
    ) -> None:
        self.gates = gates
        self.own = own
        self.cluster = cluster
        self.by = by
        self.max_unscored = max_unscored
        self._needed = {
            (gate, name): gate.needed(bounds[name]) for gate in gates for name in gate.scores
        }
        self._enough = max((count or 0 for count in self._needed.values()), default=0)
        # (score, system) -> clusters; more than enough of them are not kept, so that memory stays flat
        self._clusters: dict[tuple[str, str], set[str]] = {}
        self._rows = Counter[tuple[str, str]]()
        self._unscored = Counter[tuple[str, str]]()

    def read(
        self, examples: Iterable[Any], due: Callable[[Any], Iterable[tuple[str, bool]]]
    ) -> None:
        """Counts. due: example -> each score that it gets, and whether it will be unscored, since an input is missing.
        UnknownName for a gate on a system that no example has."""
        systems: dict[str, None] = {}
        gated_scores = {name for gate in self.gates for name in gate.scores}
        for example in examples:
            system = example.system or self.own
            systems[system] = None
            fields = fields_of(example) if self.by or self.cluster != QUESTION else {}
            cluster = f":{example.question_id}.{document_of(example)}"
            if self.cluster in fields:
                cluster = f"={fields[self.cluster]}"
            parts = ("", *(slice_name(field, fields.get(field)) for field in self.by))
            for score, unscored in due(example):
                for part in parts:
                    if (name := in_slice(score, part)) in gated_scores:
                        self._count((name, system), cluster, unscored=unscored)
        refuse_unknown_systems(self.gates, systems)

    def _count(self, key: tuple[str, str], cluster: str, *, unscored: bool) -> None:
        clusters = self._clusters.setdefault(key, set())
        self._rows[key] += 1
        self._unscored[key] += unscored
        if not unscored and len(clusters) < self._enough:
            clusters.add(cluster)

    def lines(self) -> list[tuple[str, bool]]:
        """A line for each gate, metric and system, and whether it can pass."""
        unit = "answers" if self.cluster == QUESTION else f"clusters ({one_line(self.cluster)})"
        lines = []
        for gate in self.gates:
            for (name, system), clusters in self._clusters.items():
                if name not in gate.scores or gate.system not in (None, system):
                    continue
                needed = self._needed[gate, name]
                reason = self._too_many_unscored(gate, (name, system))
                if needed is None or len(clusters) < needed:
                    missing = self._unscored[name, system]
                    without_input = f", and {missing:,} with a missing input" if missing else ""
                    reason = f"; the file has {len(clusters):,}{without_input}"
                line = f"{gate.rule(name, system)}: {gate.remark(needed, unit)}{reason}"
                lines.append((line, not reason))
        return lines

    def _too_many_unscored(self, gate: Gate, key: tuple[str, str]) -> str:
        rows = self._rows[key]
        unscored = self._unscored[key]
        allowed = gate.allowed(rows) if gate.bad else self.max_unscored * rows
        if unscored <= allowed:
            return ""
        limit = f"more than the {share(self.max_unscored, 1)} of --max-unscored"
        if gate.bad:
            limit = f"allowed: {allowed:,}"
        return f"; {unscored:,} of {rows:,} answers will be unscored, because an input is missing, {limit}"

    def refuse_impossible(self) -> None:
        """UserError if a gate cannot pass with these examples, whatever their scores."""
        lines = [line for line, possible in self.lines() if not possible]
        if not lines:
            return
        impossible = "\n  ".join(lines[:10])
        if len(lines) > 10:
            impossible += f"\n  … and {len(lines) - 10} more"
        raise UserError(
            f"--fail-under cannot be met by these examples, even if every score is perfect:\n  {impossible}\n"
            f"{self._advice()}. Nothing was sent"
        )

    def _advice(self) -> str:
        for gate in self.gates:
            for name, system in self._clusters:
                selected = name in gate.scores and gate.system in (None, system)
                if selected and self._too_many_unscored(gate, (name, system)):
                    return (
                        "Add the missing inputs, leave out the answers without them, or test a metric that needs no "
                        "such input; for a gate on a mean, --max-unscored allows more unscored answers"
                    )
        return "Add answers, lower the limit, or test the mean of these answers: METRIC sample mean >= NUMBER"


def cautions(
    gates: Sequence[Gate],
    selected: Iterable[Any],
) -> Iterator[str]:
    """Which lower limits few answers can reach (`Metric.caution`). selected: the metrics, as `metrics.select` gives
    them."""
    lower_limits = [gate for gate in gates if gate.above and not gate.bad]
    for chosen in selected:
        for gate in lower_limits:
            if not any(map(gate.selects, chosen.scores)):
                continue
            caution = chosen.metric.caution(chosen.params, gate.limit)
            if caution:
                yield f"{gate}: on {chosen.name} {caution}"
