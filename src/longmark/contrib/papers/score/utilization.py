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
from dataclasses import dataclass, replace
from itertools import combinations, product

from scipy import stats as scipy_stats

from longmark.contrib.papers.score.results import (
    ABSOLUTE,
    RELATIVE,
    SHARE,
    UNBOUNDED,
    AnswerScore,
    Mean,
    ScoreResults,
    in_words,
    mean_of,
    why_unscored,
)
from longmark.report.format import counted
from longmark.stats.correlation import correlation
from longmark.stats.means import Bounds
from longmark.stats.results import Difference, Estimate

NOISE = 0.01
"""How far the confidence of a model with llama.cpp can vary from run to run (2 % of f; docs/models.md). The mean CU of
the paper is .003 to .004 (table 4)."""
GEOMETRIC = "geometric mean of probabilities"
ENTROPY = "entropy"
_UNITS = {"absolute": (ABSOLUTE, 1), "relative, %": (RELATIVE, 100)}
"""Of scores: their metric, and what they are multiplied by."""


@dataclass(frozen=True, slots=True)
class ProxyUtilization:
    """A proxy's scores of a generator's answers, absolute or relative."""

    generator: str
    proxy: str
    score: str
    mean: Mean


def utilizations(results: ScoreResults) -> list[ProxyUtilization]:
    """Table 4."""
    return [
        ProxyUtilization(
            generator, proxy, score, results.mean(metric, scores.get(metric, [])).scaled(by)
        )
        for (generator, proxy), scores in results.proxied.items()
        for score, (metric, by) in _UNITS.items()
    ]


def within_noise(results: ScoreResults) -> str:
    """Which means of table 4 a model's own noise could make; "" for none."""
    within = ", ".join(
        f"{of_answers.generator} by {of_answers.proxy}"
        for of_answers in utilizations(results)
        if of_answers.score == "absolute"
        and of_answers.mean.value is not None
        and abs(of_answers.mean.value) < NOISE
    )
    return within and (
        f"Mean CU below {NOISE:g}: {within}. The confidence of a model with llama.cpp can vary by about {NOISE:g} from "
        "run to run, more than the paper's mean CU (.003 to .004); check such means with a transformers model "
        "(--lm hf:NAME)."
    )


@dataclass(frozen=True, slots=True)
class FactDeltas:
    """The single facts of a generator's answers under a proxy. distracting: the share that lower the confidence; least,
    greatest, mean: relative deltas in percent, None without any."""

    generator: str
    proxy: str
    distracting: Mean
    least: float | None
    greatest: float | None
    mean: float | None


def fact_deltas(results: ScoreResults) -> list[FactDeltas]:
    """What stands beside table 4."""
    return [
        FactDeltas(generator, proxy, *_of_facts(results, scores.get(ABSOLUTE, [])))
        for (generator, proxy), scores in results.proxied.items()
    ]


def _of_facts(
    results: ScoreResults, scores: Sequence[AnswerScore]
) -> tuple[Mean, float | None, float | None, float | None]:
    """The share of facts that lower the confidence; least, greatest and mean relative delta of facts in percent."""
    facts = [
        (fact, score.question) for score in scores if score.facts for fact in score.facts.claims
    ]
    relative = [100 * fact.relative for fact, _ in facts if fact.relative is not None]
    without_facts = [score for score in scores if not (score.facts and score.facts.claims)]
    lower = [float(fact.delta < 0) for fact, _ in facts]
    mean = mean_of(
        lower,
        [question for _, question in facts],
        results.intervals,
        SHARE,
        why_unscored(without_facts),
    )
    without = len(facts) - len(relative)
    unread = sum(score.score is not None for score in without_facts)
    why = in_words(
        f"the facts of {counted(unread, 'scored answer')} cannot be read" if unread else "",
        f"{without:,} of {len(facts):,} facts have no relative change" if without else "",
    )
    figures = (
        (min(relative), max(relative), sum(relative) / len(relative))
        if relative
        else (None, None, None)
    )
    return replace(mean, reason=in_words(mean.reason, why)), *figures


@dataclass(frozen=True, slots=True)
class Consistency:
    """How a proxy's confidence given the facts goes with that given the passages. confidence: its measure; pairs:
    f(q, C) and f(q, D) of each answer that has both."""

    proxy: str
    generator: str
    confidence: str
    pearson: Difference
    pairs: Sequence[tuple[float, float]]


def consistencies(results: ScoreResults) -> list[Consistency]:
    """Tables 3 and 8: for each proxy, generator, and measure that the proxy gives."""
    correlations = []
    for ((generator, proxy), scores), measure in product(
        results.proxied.items(), (GEOMETRIC, ENTROPY)
    ):
        rows = [(score, _pair(score, measure)) for score in scores.get(ABSOLUTE, [])]
        pairs = [pair for _, pair in rows if pair is not None]
        if pairs or measure == GEOMETRIC:
            without = [score for score, pair in rows if pair is None]
            scored = sum(score.score is not None for score in without)
            no_pair = (
                f"{scored:,} with a score but without both confidences ({measure})"
                if scored
                else ""
            )
            r = _pearson([a for a, _ in pairs], [b for _, b in pairs], results)
            why = in_words(why_unscored(without), no_pair, why_not(r))
            correlations.append(
                Consistency(
                    proxy, generator, measure, replace(r, missing=len(without), reason=why), pairs
                )
            )
    return correlations


def _pearson(x: Sequence[float], y: Sequence[float], results: ScoreResults) -> Difference:
    """Pearson's correlation; p: two-sided, of none, from Student's t with n - 2 degrees."""
    r = correlation(x, y, level=results.intervals.level)
    p = None if r.value is None else float(scipy_stats.pearsonr(x, y).pvalue)
    return Difference(r.value, r.low, r.high, r.n, r.level, r.method, r.reason, p=p)


def _pair(score: AnswerScore, measure: str) -> tuple[float, float] | None:
    if (facts := score.facts) is None:
        return None
    a, b = (
        claim_facts.entropy if measure == ENTROPY else claim_facts.confidence
        for claim_facts in (facts, facts.given_the_passages)
    )
    return None if a is None or b is None else (a, b)


@dataclass(frozen=True, slots=True)
class ProxyAgreement:
    """Two proxies on a generator's answers. score: absolute or relative; difference: of the first proxy's score minus
    the second's, of relative scores in percent. missing: answers that one of them did not score."""

    proxies: str
    generator: str
    score: str
    pearson: Difference
    spearman: Estimate
    difference: Mean


def agreements(results: ScoreResults) -> list[ProxyAgreement]:
    """Table 9."""
    return [
        _agreement(results, generator, proxies, score)
        for proxies in combinations(results.proxies, 2)
        for generator in results.generators
        if all((generator, proxy) in results.proxied for proxy in proxies)
        for score in _UNITS
    ]


def _agreement(
    results: ScoreResults, generator: str, proxies: tuple[str, str], score: str
) -> ProxyAgreement:
    metric, unit = _UNITS[score]
    first, second = (results.proxied[generator, proxy].get(metric, []) for proxy in proxies)
    second_scores = {score.example: score.score for score in second}
    shared_answers = [
        (score.score, second_score, score.question)
        for score in first
        if score.score is not None
        and (second_score := second_scores.get(score.example)) is not None
    ]
    x = [a for a, *_ in shared_answers]
    y = [b for _, b, _ in shared_answers]
    questions = [question for *_, question in shared_answers]
    lo, hi = results.bounds.get(metric, UNBOUNDED)
    bounds: Bounds = UNBOUNDED if lo is None or hi is None else (lo - hi, hi - lo)
    mean = mean_of(
        [a - b for a, b in zip(x, y, strict=True)], questions, results.intervals, bounds
    ).scaled(unit)
    r = _pearson(x, y, results)
    rho = correlation(x, y, "spearman", level=results.intervals.level)
    whose = zip(proxies, (first, second), strict=True)
    unscored = "; ".join(
        f"{name}: {why}" for name, scores in whose if (why := why_unscored(scores))
    )
    missing = len({score.example for score in (*first, *second)}) - len(shared_answers)
    return ProxyAgreement(
        " and ".join(proxies),
        generator,
        score,
        replace(r, missing=missing, reason=in_words(unscored, why_not(r))),
        replace(rho, missing=missing, reason=in_words(unscored, why_not(rho))),
        replace(mean, missing=missing, reason=in_words(unscored, mean.reason)),
    )


def why_not(estimate: Estimate) -> str:
    """Why there is no correlation, or no interval of it."""
    if not estimate.reason:
        return ""
    missing_value = "correlation" if estimate.value is None else "interval of the correlation"
    return f"no {missing_value}: {estimate.reason.removesuffix(', so no interval')}"
