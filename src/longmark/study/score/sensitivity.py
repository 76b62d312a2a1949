"""How far context utilization hangs on the proxy: SCORE's tables 3, 8 and 9 (section 5.1.4, appendix B.2).

    consistency   Pearson's correlation, over answers, of the proxy's confidence given the facts, f(q, C), with that
                  given the whole passages, f(q, D); as geometric mean of probabilities (table 3) and, where the proxy
                  gives it, as entropy too (table 8)
    agreement     of two proxies' scores of the same answers (table 9): Pearson's correlation with its p, as in the
                  paper; Spearman's, and the mean difference, which say whether they rank alike and lie alike

Intervals of correlations are by the jackknife on Fisher's scale, of mean differences as those of means (`estimates`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations

from scipy import stats as scipy_stats

from longmark.stats.correlation import correlation
from longmark.stats.results import Estimate as Correlation
from longmark.study.score.estimates import LACKS, METHOD, Estimate, Settings, in_words, of_values
from longmark.study.score.found import Found
from longmark.study.score.marks import ABSOLUTE, RELATIVE, Bounds, Mark, gaps
from longmark.tables import Cell, Column, Range, Table

GEOMETRIC, ENTROPY = "geometric mean of probabilities", "entropy"


@dataclass(frozen=True, slots=True)
class Consistency:
    """Of one proxy on one generator's answers. pairs: (f(q, C), f(q, D)) of each answer that has both; gaps: why others
    have not."""

    generator: str
    proxy: str
    measure: str
    pairs: tuple[tuple[float, float], ...]
    of: int
    correlation: Correlation
    p: float | None
    gaps: str = ""


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of two proxies on one generator's answers; difference: mean of the first minus mean of the second; of: answers
    that either marked; gaps: why some have no score of both."""

    generator: str
    proxies: tuple[str, str]
    score: str
    pearson: Correlation
    p: float | None
    spearman: Correlation
    difference: Estimate
    of: int
    gaps: str


def consistencies(found: Found, settings: Settings) -> list[Consistency]:
    """Of every proxy and generator, by each measure that the proxy gives."""
    made = []
    for (generator, proxy), marks in found.proxied.items():
        its = marks.get(ABSOLUTE, [])
        for measure in (GEOMETRIC, ENTROPY):
            both, lacking = list[tuple[float, float]](), list[Mark]()
            for mark in its:
                pair = _pair(mark, measure)
                if pair is None:
                    lacking.append(mark)
                else:
                    both.append(pair)
            if both or measure == GEOMETRIC:
                x, y = [pair[0] for pair in both], [pair[1] for pair in both]
                r = correlation(x, y, level=settings.level)
                p, why = pearson_p(r, x, y), _no_confidence(lacking, measure)
                made.append(Consistency(generator, proxy, measure, tuple(both), len(its), r, p, why))
    return made


def _pair(mark: Mark, measure: str) -> tuple[float, float] | None:
    one = mark.confidence
    if one is None:
        return None
    pair = (one.facts_entropy, one.documents_entropy) if measure == ENTROPY else (one.facts, one.documents)
    return None if pair[0] is None or pair[1] is None else (pair[0], pair[1])


def _no_confidence(lacking: Sequence[Mark], measure: str) -> str:
    """Why answers have no pair of confidences."""
    scored = sum(mark.value is not None for mark in lacking)
    told = f"{scored:,} with a score but without both confidences ({measure})" if scored else ""
    return in_words(gaps(lacking), told) or ""


def agreements(found: Found, settings: Settings) -> list[Agreement]:
    """Of every two proxies on every generator's answers, absolute and relative."""
    made = []
    for first, second in combinations(found.proxies, 2):
        for generator in found.generators:
            both = [found.proxied.get((generator, proxy)) for proxy in (first, second)]
            if both[0] is None or both[1] is None:
                continue
            for score, metric in (("absolute", ABSOLUTE), ("relative", RELATIVE)):
                first_marks, second_marks = both[0].get(metric, []), both[1].get(metric, [])
                x, y, questions = _paired(first_marks, second_marks)
                r = correlation(x, y, level=settings.level)
                rho = correlation(x, y, "spearman", level=settings.level)
                difference = of_values(
                    [a - b for a, b in zip(x, y, strict=True)],
                    questions,
                    settings,
                    _of_differences(found.bounds_of(metric)),
                )
                told = [
                    f"{name}: {its}"
                    for name, one in zip((first, second), (first_marks, second_marks), strict=True)
                    if (its := gaps(one))
                ]
                of = len({mark.example for mark in (*first_marks, *second_marks)})
                made.append(
                    Agreement(
                        generator, (first, second), score, r, pearson_p(r, x, y), rho, difference, of, "; ".join(told)
                    )
                )
    return made


def _paired(first: Sequence[Mark], second: Sequence[Mark]) -> tuple[list[float], list[float], list[str]]:
    """The values of the answers that both have a value of, and the questions of these."""
    others = {mark.example: mark.value for mark in second}
    pairs = [(mark.value, others.get(mark.example), mark.question) for mark in first]
    whole = [(a, b, question) for a, b, question in pairs if a is not None and b is not None]
    return [a for a, *_ in whole], [b for _, b, _ in whole], [question for *_, question in whole]


def _of_differences(bounds: Bounds) -> Bounds:
    """Between what a difference of two values lies."""
    lo, hi = bounds
    return (None, None) if lo is None or hi is None else (lo - hi, hi - lo)


def pearson_p(r: Correlation, x: Sequence[float], y: Sequence[float]) -> float | None:
    """Two-sided p of no correlation, from Student's t with n - 2 degrees; None where there is no correlation."""
    return None if r.value is None else float(scipy_stats.pearsonr(x, y).pvalue)


def consistency_table(name: str, title: str, rows: Sequence[Consistency], settings: Settings) -> Table:
    """Tables 3 and 8."""
    cells = tuple(
        (
            *(one.proxy, one.generator, one.measure, *_correlated(one.correlation), one.p, one.correlation.n, one.of),
            in_words(one.gaps, why_not(one.correlation)),
        )
        for one in rows
    )
    columns = (
        Column("Proxy"),
        Column("Generator"),
        Column("Confidence"),
        Column("Pearson r", 3, key="pearson"),
        Column(settings.interval_name, 3, "range", key="interval"),
        Column("p", kind="p"),
        Column("n"),
        Column("of"),
        LACKS,
    )
    return Table(name, title, columns, cells)


def agreement_table(rows: Sequence[Agreement], settings: Settings) -> Table:
    """Table 9."""
    cells: list[tuple[Cell, ...]] = [
        (
            " and ".join(one.proxies),
            one.generator,
            one.score,
            *_correlated(one.pearson),
            one.p,
            *_correlated(one.spearman),
            one.difference.mean,
            one.difference.range,
            one.difference.by,
            one.pearson.n,
            one.of,
            in_words(one.gaps, *dict.fromkeys((why_not(one.pearson), why_not(one.spearman), one.difference.lacks))),
        )
        for one in rows
    ]
    columns = (
        Column("Proxies"),
        Column("Generator"),
        Column("Score"),
        Column("Pearson r", 3, key="pearson"),
        Column(settings.interval_name, 3, "range", key="pearson_interval"),
        Column("p", kind="p"),
        Column("Spearman rho", 3, key="spearman"),
        Column(settings.interval_name, 3, "range", key="spearman_interval"),
        Column("Mean difference", 4, key="difference"),
        Column(settings.interval_name, 4, "range", key="difference_interval"),
        METHOD,
        Column("n"),
        Column("of"),
        LACKS,
    )
    return Table("table9", "Agreement of proxies on context utilization (SCORE's table 9)", columns, tuple(cells))


def _correlated(one: Correlation) -> tuple[Cell, Cell]:
    return one.value, Range(one.low, one.high)


def why_not(one: Correlation) -> str:
    """Why there is no correlation, or none of its interval."""
    if not one.reason:
        return ""
    return f"no {'correlation' if one.value is None else 'interval of the correlation'}: {one.reason}"
