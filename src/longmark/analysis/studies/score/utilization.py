"""Context utilization under each proxy: SCORE's tables 3, 4, 8 and 9 (section 5.1.4, appendix B.2).

    table 4       over answers, CU = mean of an answer's deltas; and over single facts
    consistency   Pearson's correlation, over answers, of the proxy's confidence given the facts, f(q, C), with that
                  given the whole passages, f(q, D); as geometric mean of probabilities (table 3) and, where the proxy
                  gives it, as entropy too (table 8)
    agreement     of two proxies' scores of the same answers (table 9): Pearson's correlation with its p, as in the
                  paper; Spearman's, and the mean difference, which say whether the two rank and score alike

Intervals of correlations are by the jackknife on Fisher's scale, of mean differences as those of means (`results`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations, product
from typing import Any

from scipy import stats as scipy_stats

from longmark.analysis.studies.score.results import (
    ABSOLUTE,
    RELATIVE,
    SHARE,
    UNBOUNDED,
    AnswerScore,
    Bounds,
    Mean,
    Results,
    in_words,
    mean_of,
    why_unscored,
)
from longmark.analysis.studies.score.tables import Row, heads, mean_columns, means
from longmark.report.tables import Column, Range, Table
from longmark.stats.correlation import correlation
from longmark.stats.results import Estimate

GEOMETRIC, ENTROPY = "geometric mean of probabilities", "entropy"


@dataclass(frozen=True, slots=True)
class Consistency:
    """Of one proxy on one generator's answers. pairs: (f(q, C), f(q, D)) of each answer that has both; unscored: why
    others have not."""

    generator: str
    proxy: str
    measure: str
    pairs: tuple[tuple[float, float], ...]
    total: int
    correlation: Estimate
    p: float | None
    unscored: str = ""

    @property
    def missing(self) -> str | None:
        return in_words(self.unscored, why_not(self.correlation))


@dataclass(frozen=True, slots=True)
class Agreement:
    """Of two proxies on one generator's answers. mean: of the first proxy's score minus the second's; total: answers
    that either scored; unscored: why some have no score of both."""

    generator: str
    proxies: tuple[str, str]
    score: str
    pearson: Estimate
    p: float | None
    spearman: Estimate
    mean: Mean
    total: int
    unscored: str

    @property
    def missing(self) -> str | None:
        reasons = dict.fromkeys((why_not(self.pearson), why_not(self.spearman), self.mean.missing))
        return in_words(self.unscored, *reasons)


def table_4(results: Results) -> list[Table]:
    """Context utilization of answers; of single facts beside it."""
    answers, facts = list[Row](), list[Row]()
    for pair, scores in results.proxied.items():
        for name, metric, scale in (("CU", ABSOLUTE, 1.0), ("CU relative, %", RELATIVE, 100.0)):
            rows = scores.get(metric, [])
            values = [None if one.score is None else scale * one.score for one in rows]
            lo, hi = (None if end is None else scale * end for end in results.bounds.get(metric, UNBOUNDED))
            questions = [one.question for one in rows]
            mean = mean_of(values, questions, results.intervals, (lo, hi), why_unscored(rows))
            answers.append(Row((*pair, name), mean))
        facts.append(_of_facts(results, pair, scores.get(ABSOLUTE, [])))
    spread = (
        *heads("Generator", "Proxy", "Score"),
        Column("Min", lambda row: row.mean.least, 4),
        Column("Max", lambda row: row.mean.greatest, 4),
    )
    of_facts = (
        *heads("Generator", "Proxy"),
        Column("Facts", lambda row: row.mean.total),
        *(
            Column(f"{name}, %", partial(_relative, of), 2, key=name.lower())
            for name, of in (("Min", min), ("Max", max), ("Mean", _average))
        ),
        *mean_columns(results, "Distracting", 3, "distracting"),
        Column("Missing", lambda row: in_words(row.mean.missing, row.more[1])),
    )
    return [
        Table("table4", "Context utilization of answers (SCORE's table 4)", means(results, spread, 4), answers),
        Table("table4_facts", "Context utilization of single facts", of_facts, facts),
    ]


def _relative(of: Callable[[Sequence[float]], float], row: Row) -> float | None:
    return of(row.more[0]) if row.more[0] else None


def _average(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _of_facts(results: Results, pair: tuple[str, str], scores: Sequence[AnswerScore]) -> Row:
    """Relative deltas of facts in percent, and the share of facts that lower the confidence."""
    relative = [100 * rel for one in scores for _, rel in one.deltas if rel is not None]
    below = [(float(delta < 0), one.question) for one in scores for delta, _ in one.deltas]
    unscored = why_unscored(one for one in scores if not one.deltas)
    values, questions = [value for value, _ in below], [question for _, question in below]
    mean = mean_of(values, questions, results.intervals, SHARE, unscored)
    without = len(below) - len(relative)
    return Row(
        pair, mean, (relative, f"{without:,} of {len(below):,} facts have no relative change" if without else "")
    )


def consistencies(results: Results) -> list[Consistency]:
    """Of every proxy and generator, by each measure that the proxy gives."""
    made = []
    for ((generator, proxy), scores), measure in product(results.proxied.items(), (GEOMETRIC, ENTROPY)):
        rows = [(one, _pair(one, measure)) for one in scores.get(ABSOLUTE, [])]
        both = tuple(pair for _, pair in rows if pair is not None)
        if both or measure == GEOMETRIC:
            unscored = _no_confidence([one for one, pair in rows if pair is None], measure)
            x, y = [a for a, _ in both], [b for _, b in both]
            r = correlation(x, y, level=results.intervals.level)
            made.append(Consistency(generator, proxy, measure, both, len(rows), r, pearson_p(r, x, y), unscored))
    return made


def _pair(score: AnswerScore, measure: str) -> tuple[float, float] | None:
    one = score.confidence
    if one is None:
        return None
    a, b = (one.facts_entropy, one.documents_entropy) if measure == ENTROPY else (one.facts, one.documents)
    return None if a is None or b is None else (a, b)


def _no_confidence(scores: Sequence[AnswerScore], measure: str) -> str:
    """Why answers have no pair of confidences."""
    scored = sum(one.score is not None for one in scores)
    without = f"{scored:,} with a score but without both confidences ({measure})" if scored else ""
    return in_words(why_unscored(scores), without) or ""


def agreements(results: Results) -> list[Agreement]:
    """Of every two proxies on every generator's answers, absolute and relative."""
    return [
        _agreement(results, generator, proxies, score, metric)
        for proxies in combinations(results.proxies, 2)
        for generator in results.generators
        if all((generator, proxy) in results.proxied for proxy in proxies)
        for score, metric in (("absolute", ABSOLUTE), ("relative", RELATIVE))
    ]


def _agreement(results: Results, generator: str, proxies: tuple[str, str], score: str, metric: str) -> Agreement:
    first, second = (results.proxied[generator, proxy].get(metric, []) for proxy in proxies)
    others = {one.example: one.score for one in second}
    pairs = [(one.score, other, one.question) for one in first if (other := others.get(one.example)) is not None]
    both = [(a, b, question) for a, b, question in pairs if a is not None]
    x, y, questions = [a for a, *_ in both], [b for _, b, _ in both], [question for *_, question in both]
    level = results.intervals.level
    r, rho = correlation(x, y, level=level), correlation(x, y, "spearman", level=level)
    lo, hi = results.bounds.get(metric, UNBOUNDED)
    bounds: Bounds = UNBOUNDED if lo is None or hi is None else (lo - hi, hi - lo)
    mean = mean_of([a - b for a, b, _ in both], questions, results.intervals, bounds)
    unscored = [
        f"{proxy}: {why}" for proxy, rows in zip(proxies, (first, second), strict=True) if (why := why_unscored(rows))
    ]
    total = len({one.example for one in (*first, *second)})
    return Agreement(generator, proxies, score, r, pearson_p(r, x, y), rho, mean, total, "; ".join(unscored))


def pearson_p(r: Estimate, x: Sequence[float], y: Sequence[float]) -> float | None:
    """Two-sided p of no correlation, from Student's t with n - 2 degrees; None where there is no correlation."""
    return None if r.value is None else float(scipy_stats.pearsonr(x, y).pvalue)


def consistency_table(name: str, title: str, rows: Sequence[Consistency], results: Results) -> Table:
    """Tables 3 and 8."""
    columns = (
        Column("Proxy"),
        Column("Generator"),
        Column("Confidence", "measure"),
        *correlated("Pearson r", "pearson", lambda row: row.correlation, results, key="interval"),
        Column("p", kind="p"),
        Column("n", "correlation.n"),
        Column("Total"),
        Column("Missing"),
    )
    return Table(name, title, columns, rows)


def agreement_table(rows: Sequence[Agreement], results: Results) -> Table:
    """Table 9."""
    columns = (
        Column("Proxies", lambda row: " and ".join(row.proxies)),
        Column("Generator"),
        Column("Score"),
        *correlated("Pearson r", "pearson", lambda row: row.pearson, results),
        Column("p", kind="p"),
        *correlated("Spearman rho", "spearman", lambda row: row.spearman, results),
        *mean_columns(results, "Mean difference", 4, "difference", "difference_interval"),
        Column("n", "pearson.n"),
        Column("Total"),
        Column("Missing"),
    )
    return Table("table9", "Agreement of proxies on context utilization (SCORE's table 9)", columns, rows)


def correlated(
    name: str, field: str, get: Callable[[Any], Estimate], results: Results, key: str = ""
) -> tuple[Column, Column]:
    """A correlation and its interval. key: of the interval."""
    ends = Column(results.intervals.name, lambda row: span(get(row)), 3, "range", key or f"{field}_interval")
    return Column(name, lambda row: get(row).value, 3, key=field), ends


def span(one: Estimate) -> Range:
    return Range(one.low, one.high)


def why_not(one: Estimate) -> str:
    """Why there is no correlation, or no interval of it."""
    if not one.reason:
        return ""
    return f"no {'correlation' if one.value is None else 'interval of the correlation'}: {one.reason}"
