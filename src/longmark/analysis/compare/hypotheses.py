"""Which hypotheses are supported, as a section of the page of a comparison or of a metrics study."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from longmark.analysis.compare.power import unsupportable
from longmark.report.document import Section
from longmark.report.format import counted
from longmark.report.tables import Column, Table
from longmark.stats.results import HypothesisResult, TukeyTest

HYPOTHESES = "Hypotheses"


def hypotheses_section(
    results: Sequence[HypothesisResult], tests: Mapping[str, TukeyTest], permutations: int, alpha: float
) -> tuple[Section, ...]:
    """No section if there are no hypotheses. tests: of the metrics, with so many permutations."""
    if not results:
        return ()
    columns = (
        *map(Column, ("hypothesis", "combine", "direction", "comparisons")),
        *(Column("p", kind="p"), Column("p (adjusted)", kind="p"), Column("supported"), Column("reason")),
    )
    claims = []
    for one, why in zip(results, unsupportable(results, tests, permutations, alpha), strict=True):
        reason = f"not tested: {one.reason}" if one.reason else why and f"could not be supported: {why}"
        supported = one.supported if one.p is not None else None
        counts = (one.combine, one.direction, len(one.comparisons))
        claims.append((one.name, *counts, one.p, one.adjusted, supported, reason))
    parts = (
        *(Column("hypothesis"), Column("metric", kind="metric"), Column("first"), Column("second")),
        *(Column("first - second", places=4, key="difference"), Column("p", kind="p")),
    )
    each = [
        (one.name, part.metric, part.a, part.b, part.difference, part.p) for one in results for part in one.comparisons
    ]
    total = sum(one.supported for one in results)
    return (
        Section(
            HYPOTHESES,
            f"Supported: {total} of {counted(len(results), 'hypothesis', 'hypotheses')} (alpha {alpha:g}, Holm over "
            "the hypotheses).",
            (
                Table("hypotheses", "Hypotheses", columns, claims),
                Table("hypotheses-comparisons", "Comparisons of each hypothesis", parts, each),
            ),
            note="all: the largest p of the comparisons. any: the smallest p times the number of metrics. The p of a "
            "comparison is in the direction of the hypothesis (greater: first above second) and is adjusted for all "
            "pairs of its metric. A hypothesis that is not supported is not disproved.",
        ),
    )
