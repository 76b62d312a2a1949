"""Context utilization under each proxy: SCORE's tables 3, 4, 8 and 9 (section 5.1.4, appendix B.2).

    table 4       over answers, CU = mean of an answer's deltas; and over single facts
    consistency   Pearson's correlation, over answers, of the proxy's confidence given the facts, f(q, C), with that
                  given the whole passages, f(q, D); as geometric mean of probabilities (table 3) and, if the proxy
                  gives it, as entropy too (table 8)
    agreement     of two proxies' scores of the same answers (table 9): Pearson's correlation with its p, as in the
                  paper; Spearman's, and the mean difference: do the two rank and score alike

Intervals of correlations are by the jackknife on Fisher's scale, of mean differences as those of means (`results`).
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations, product
from types import SimpleNamespace as Line

from scipy import stats as scipy_stats

from longmark.analysis.studies.score.results import (
    ABSOLUTE,
    RELATIVE,
    SHARE,
    UNBOUNDED,
    AnswerScore,
    Results,
    in_words,
    mean_of,
    why_unscored,
)
from longmark.analysis.studies.score.tables import GENERATOR, mean_columns, means, scaled
from longmark.report.tables import Column, Table, interval_columns
from longmark.stats.correlation import correlation
from longmark.stats.means import Bounds
from longmark.stats.results import Estimate

NOISE = 0.01
"""How far the confidence of a model with llama.cpp can vary from run to run (2 % of f; docs/models.md). The mean CU of
the paper is .003 to .004 (table 4)."""
GEOMETRIC, ENTROPY = "geometric mean of probabilities", "entropy"
_PROXY = Column("proxy")


def table_4(results: Results) -> list[Table]:
    """Context utilization of answers; of single facts beside it."""
    answers, facts = list[Line](), list[Line]()
    for (generator, proxy), scores in results.proxied.items():
        for name, metric, by in (("CU", ABSOLUTE, 1), ("CU relative, %", RELATIVE, 100)):
            mean = scaled(results.mean(metric, scores.get(metric, [])), by)
            answers.append(Line(generator=generator, proxy=proxy, score=name, mean=mean))
        facts.append(Line(generator=generator, proxy=proxy, **_of_facts(results, scores.get(ABSOLUTE, []))))
    ends = (Column("min", "mean.least", 4), Column("max", "mean.greatest", 4))
    of_facts = (
        *(GENERATOR, _PROXY, Column("facts", "mean.total")),
        *(Column("min, %", "least", 2, key="min"), Column("max, %", "greatest", 2, key="max")),
        Column("mean, %", "average", 2, key="mean"),
        *mean_columns(results, "distracting", 3, "distracting"),
        Column("reason", "missing"),
    )
    columns = (GENERATOR, _PROXY, Column("score"), *ends, *means(results, 4))
    within = [line for line in answers if line.score == "CU" and line.mean.value is not None]
    within = [line for line in within if abs(line.mean.value) < NOISE]
    note = ", ".join(f"{line.generator} by {line.proxy}" for line in within)
    note = note and (
        f"Mean CU below {NOISE:g}: {note}. The confidence of a model with llama.cpp can vary by about {NOISE:g} from "
        "run to run, more than the paper's mean CU (.003 to .004); check such means with a transformers model "
        "(--lm hf:NAME)."
    )
    return [
        Table("table4", "Context utilization of answers (SCORE's table 4)", columns, answers, note),
        Table("table4_facts", "Context utilization of single facts", of_facts, facts),
    ]


def _of_facts(results: Results, scores: Sequence[AnswerScore]) -> dict[str, object]:
    """Relative deltas of facts in percent, and the share of facts that lower the confidence."""
    facts = [(fact, one.question) for one in scores for fact in one.facts]
    relative = [100 * fact["relative"] for fact, _ in facts if fact["relative"] is not None]
    unscored = why_unscored(one for one in scores if not one.facts)
    lower = [float(fact["delta"] < 0) for fact, _ in facts]
    mean = mean_of(lower, [question for _, question in facts], results.intervals, SHARE, unscored)
    without = len(facts) - len(relative)
    why = f"{without:,} of {len(facts):,} facts have no relative change" if without else ""
    return {
        "mean": mean,
        "missing": in_words(mean.why_missing, why),
        "least": min(relative, default=None),
        "greatest": max(relative, default=None),
        "average": sum(relative) / len(relative) if relative else None,
    }


def consistencies(results: Results) -> list[Line]:
    """Of every proxy and generator, by each measure that the proxy gives. pairs: (f(q, C), f(q, D)) of each answer that
    has both."""
    made = []
    for ((generator, proxy), scores), measure in product(results.proxied.items(), (GEOMETRIC, ENTROPY)):
        rows = [(one, _pair(one, measure)) for one in scores.get(ABSOLUTE, [])]
        pairs = [pair for _, pair in rows if pair is not None]
        if pairs or measure == GEOMETRIC:
            without = [one for one, pair in rows if pair is None]
            scored = sum(one.score is not None for one in without)
            no_pair = f"{scored:,} with a score but without both confidences ({measure})" if scored else ""
            x, y = [a for a, _ in pairs], [b for _, b in pairs]
            r = correlation(x, y, level=results.intervals.level)
            line = Line(generator=generator, proxy=proxy, measure=measure, pairs=pairs, total=len(rows))
            missing = in_words(why_unscored(without), no_pair, why_not(r))
            made.append(Line(**vars(line), correlation=r, p=pearson_p(r, x, y), missing=missing))
    return made


def _pair(score: AnswerScore, measure: str) -> tuple[float, float] | None:
    key = "entropy" if measure == ENTROPY else "confidence"
    a, b = score.evidence.get(key), score.evidence.get("given_the_passages", {}).get(key)
    return None if a is None or b is None else (a, b)


def agreements(results: Results) -> list[Line]:
    """Of every two proxies on every generator's answers, absolute and relative. mean: of the first proxy's score minus
    the second's, of relative scores in percent; total: answers that either scored."""
    return [
        _agreement(results, generator, proxies, score, metric)
        for proxies in combinations(results.proxies, 2)
        for generator in results.generators
        if all((generator, proxy) in results.proxied for proxy in proxies)
        for score, metric in (("absolute", ABSOLUTE), ("relative, %", RELATIVE))
    ]


def _agreement(results: Results, generator: str, proxies: tuple[str, str], score: str, metric: str) -> Line:
    first, second = (results.proxied[generator, proxy].get(metric, []) for proxy in proxies)
    others = {one.example: one.score for one in second}
    both = [
        (one.score, other, one.question)
        for one in first
        if one.score is not None and (other := others.get(one.example)) is not None
    ]
    x, y, questions = [a for a, *_ in both], [b for _, b, _ in both], [question for *_, question in both]
    level = results.intervals.level
    r, rho = correlation(x, y, level=level), correlation(x, y, "spearman", level=level)
    lo, hi = results.bounds.get(metric, UNBOUNDED)
    bounds: Bounds = UNBOUNDED if lo is None or hi is None else (lo - hi, hi - lo)
    mean = mean_of([a - b for a, b in zip(x, y, strict=True)], questions, results.intervals, bounds)
    if metric == RELATIVE:
        mean = scaled(mean, 100)
    unscored = [
        f"{name}: {why}" for name, of in zip(proxies, (first, second), strict=True) if (why := why_unscored(of))
    ]
    reasons = dict.fromkeys((why_not(r), why_not(rho), mean.why_missing))
    return Line(
        proxies=" and ".join(proxies),
        generator=generator,
        score=score,
        pearson=r,
        p=pearson_p(r, x, y),
        spearman=rho,
        mean=mean,
        total=len({one.example for one in (*first, *second)}),
        missing=in_words("; ".join(unscored), *reasons),
    )


def pearson_p(r: Estimate, x: Sequence[float], y: Sequence[float]) -> float | None:
    """Two-sided p of no correlation, from Student's t with n - 2 degrees; None if there is no correlation."""
    return None if r.value is None else float(scipy_stats.pearsonr(x, y).pvalue)


def consistency_table(name: str, title: str, rows: Sequence[Line], results: Results) -> Table:
    """Tables 3 and 8."""
    r = interval_columns("Pearson r", "correlation", 3, results.intervals.name, "pearson", "interval")
    last = (Column("p", kind="p"), Column("n", "correlation.n"), Column("total"), Column("reason", "missing"))
    return Table(name, title, (_PROXY, GENERATOR, Column("confidence", "measure"), *r, *last), rows)


def agreement_tables(rows: Sequence[Line], results: Results) -> list[Table]:
    """Table 9: correlations, and mean differences in a table of their own, so that each fits a page."""
    head = results.intervals.name
    lines = (Column("proxies"), GENERATOR, Column("score"))
    correlations = (
        *interval_columns("Pearson r", "pearson", 3, head, "pearson", "pearson_interval"),
        Column("p", kind="p"),
        *interval_columns("Spearman rho", "spearman", 3, head, "spearman", "spearman_interval"),
    )
    differences = mean_columns(results, "mean difference", 4, "difference", "difference_interval")
    last = (Column("n", "pearson.n"), Column("total"), Column("reason", "missing"))
    title = "proxies on context utilization (SCORE's table 9)"
    return [
        Table("table9", f"Agreement of {title}", (*lines, *correlations, *last), rows),
        Table("table9_differences", f"Differences between {title}", (*lines, *differences, *last), rows),
    ]


def why_not(one: Estimate) -> str:
    """Why there is no correlation, or no interval of it."""
    if not one.reason:
        return ""
    what = "correlation" if one.value is None else "interval of the correlation"
    return f"no {what}: {one.reason.removesuffix(', so no interval')}"
