"""The answer of a meta-evaluation: the metrics by their agreement with people, in one sentence and one figure.

The sentence names the metric with the highest agreement, and says of the second and of each baseline whether it is
shown to be below: by the tests of the page (differences of two metrics on the same answers, p by Holm over all pairs;
of choices and their baselines, p by Holm over the metrics). "Agrees best" is said only of a metric that is shown to be
above every other one. A metric with too few answers is not ranked; with too few for all, nothing is concluded.

Baselines of ratings are the lengths and overlaps of words among the metrics (`classic.length`, ROUGE, BLEU, chrF);
choices have their own (`choices`).

The figure is about single raters, so that the human ceiling can stand in it: each metric, and a rater, against the
other raters on the same ratings. Without a ceiling it has the agreement that the sentence speaks of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from longmark.analysis.metaeval.agreement import RATER, Ceiling, RaterAgreement
from longmark.analysis.metaeval.choice_sample import BASELINE, ChoiceMetric
from longmark.analysis.metaeval.choices import ChoiceLabel
from longmark.analysis.metaeval.ratings import RatedMetric, RatingLabel
from longmark.report.charts import ForestRow, forest
from longmark.report.figures import Figure
from longmark.report.format import fixed, listed, metric_titles, p_value
from longmark.report.tables import Column, Table
from longmark.stats.clusters import FEWEST_EFFECTIVE
from longmark.stats.multiplicity import adjust
from longmark.stats.results import Estimate

_FEWEST = 10
"""Answers (or questions, if they have several answers) from which a conclusion is drawn; a convention."""
_PLACES = 3
_MOST_NAMED = 6
"""Metrics that the sentence names in a list; of more, how many more there are."""
_SAME = 1e-9
_WORDS_AND_LENGTHS = re.compile(r"classic\.(length\.\w+|rouge_\w+|bleu|chrf)(?![\w.])")


@dataclass(frozen=True, slots=True)
class RankedMetric:
    """A metric or a baseline. agreement: Spearman's rho with the mean rating, or the accuracy on choices; adjusted: the
    summary's p; few: why nothing is concluded from it, None where something can be."""

    name: str
    title: str
    agreement: Estimate
    adjusted: float | None
    baseline: bool
    few: str | None

    @property
    def measured(self) -> str:
        return _interval(self.agreement, _PLACES)


@dataclass(frozen=True, slots=True)
class BesideBaseline:
    """A metric minus a baseline. adjusted: the p by Holm over all pairs of metrics."""

    metric: str
    baseline: str
    difference: Estimate
    adjusted: float | None
    alpha: float

    @property
    def conclusion(self) -> str:
        if self.difference.value is None or self.adjusted is None:
            return self.difference.reason or "not tested"
        if self.adjusted > self.alpha:
            return "not shown to differ"
        return "above it" if self.difference.value > 0 else "below it"


def ranking(part: RatingLabel | ChoiceLabel, alpha: float) -> list[RankedMetric]:
    """The metrics that have an agreement with people, the highest first; those with too few answers at the end."""
    titles = metric_titles(metric.metric for metric in part.metrics)
    metrics: Sequence[RatedMetric | ChoiceMetric] = part.metrics
    ranked = []
    for metric, adjusted in zip(metrics, adjusted_ps(part, alpha), strict=True):
        if isinstance(metric, RatedMetric):
            estimate = metric.spearman
            unit = part.unit if isinstance(part, RatingLabel) else "pair"
        else:
            estimate = metric.accuracy
            unit = "pair"
        if estimate is None or estimate.value is None:
            continue
        baseline = bool(_WORDS_AND_LENGTHS.match(metric.metric)) or metric.direction == BASELINE
        ranked.append(
            RankedMetric(
                name=metric.metric,
                title=titles[metric.metric],
                agreement=estimate,
                adjusted=adjusted,
                baseline=baseline,
                few=too_few(estimate, unit),
            )
        )
    return sorted(ranked, key=lambda metric: (metric.few is not None, -_value(metric.agreement)))


def adjusted_ps(part: RatingLabel | ChoiceLabel, alpha: float) -> list[float | None]:
    """The p of each metric by Holm over the metrics: of no correlation, or of being above the baselines."""
    if isinstance(part, ChoiceLabel):
        return [metric.adjusted for metric in part.metrics]
    ps = [getattr(metric.spearman, "p", None) for metric in part.metrics]
    return list(adjust(ps, alpha=alpha).adjusted)


def too_few(estimate: Estimate, unit: str) -> str | None:
    """Why an estimate allows no conclusion; None if it allows one."""
    units = estimate.n if estimate.clusters is None else estimate.clusters
    unit = unit if estimate.clusters is None else "question"
    if units < _FEWEST:
        return f"too few {unit}s for a conclusion: {units}, fewer than {_FEWEST}"
    if estimate.effective is not None and estimate.effective < FEWEST_EFFECTIVE:
        return f"no conclusion: {estimate.remark}"
    return None


# In words -------------------------------------------------------------------------------------------------------------


def ranking_in_words(
    part: RatingLabel | ChoiceLabel, alpha: float, *, comparing: bool = True
) -> str:
    """Which metric agrees best, and whether that is shown; "" where no metric has an agreement. comparing: False where
    the labels allow no conclusion, and only the figures are said."""
    everything = ranking(part, alpha)
    metrics = [metric for metric in everything if metric.name not in _own_baselines(part)]
    if not metrics:
        return ""
    best = metrics[0]
    measure = "Spearman" if isinstance(part, RatingLabel) else "accuracy"
    figures = f"{measure} {best.measured}"
    if best.few:
        reason = best.few[0].upper() + best.few[1:]
        return f"{reason}. Highest agreement: {_titled(best)}, {figures}."
    if not comparing:
        return f"Highest agreement: {_titled(best)}, {figures}."
    concluded = [metric for metric in metrics if metric.few is None]
    not_ranked = [metric.title for metric in metrics if metric.few is not None]
    left_out = f" Not ranked: {listed(not_ranked)} (too few answers)." if not_ranked else ""
    if isinstance(part, RatingLabel):
        return _of_ratings(part, concluded, figures, alpha) + left_out
    return _of_choices(part, concluded, figures, alpha) + left_out


def _of_ratings(
    part: RatingLabel, metrics: Sequence[RankedMetric], figures: str, alpha: float
) -> str:
    best = metrics[0]
    title = _titled(best)
    if not any(_agrees(metric, alpha) for metric in metrics):
        reason = best.agreement.reason if best.adjusted is None else p_value(best.adjusted)
        return (
            "No metric is shown to agree with the human ratings; highest agreement: "
            f"{title}, {figures}, {reason or 'not tested'}."
        )
    if not _agrees(best, alpha):
        figures += f", not shown to be above 0 ({p_value(best.adjusted)})"
    if len(metrics) == 1:
        return f"{title} agrees with the human ratings: {figures}."
    beside = _beside(part, best.name)
    lower = [metric for metric in metrics[1:] if _shown(beside.get(metric.name), alpha)]
    second_and_baselines = [
        metric for metric in metrics[1:] if metric is metrics[1] or metric.baseline
    ]
    reversed_baselines = _reversed_baselines(metrics)
    above_all = len(lower) == len(metrics) - 1 and _agrees(best, alpha) and not reversed_baselines
    sentences = [
        _highest(title, "ratings", figures, above_all),
        _against(second_and_baselines, metrics[1], beside, alpha),
    ]
    validated = next((metric for metric in metrics if not metric.baseline), None)
    if best.baseline and validated is not None and validated is not metrics[1]:
        sentences.append(_highest_but_baselines(validated, best, beside, alpha))
    if len(second_and_baselines) < len(metrics) - 1:
        sentences.append(_of_all(len(lower), len(metrics) - 1))
    return " ".join([*sentences, *reversed_baselines])


def _highest_but_baselines(
    validated: RankedMetric,
    best: RankedMetric,
    beside: Mapping[str, tuple[Estimate, float | None]],
    alpha: float,
) -> str:
    """The metric that is validated, where baselines take the first places and the sentence would not name it."""
    difference = beside.get(validated.name)
    relation = "shown" if _shown(difference, alpha) else "not shown"
    figures = "not compared" if difference is None else _figures(*difference)
    return (
        f"The highest that is no baseline is {validated.title} ({validated.measured}); {best.title} is {relation} to "
        f"be above it ({figures})."
    )


def _reversed_baselines(metrics: Sequence[RankedMetric]) -> list[str]:
    """That a baseline would agree more than the best metric if it were read the other way round: whether longer answers
    are better is not known before, and a metric that does not reach this says little."""
    highest = _value(metrics[0].agreement)
    titles = [
        f"{metric.title} ({metric.measured})"
        for metric in metrics[1:]
        if metric.baseline and -_value(metric.agreement) > highest
    ]
    if not titles:
        return []
    return [f"Reversed (lower is better), a baseline has more: {listed(titles)}."]


def _of_choices(
    part: ChoiceLabel, metrics: Sequence[RankedMetric], figures: str, alpha: float
) -> str:
    """As of ratings; the baselines are tested together, by the one that the metric is least above."""
    best = metrics[0]
    beside = _beside(part, best.name)
    lower = [metric for metric in metrics[1:] if _shown(beside.get(metric.name), alpha)]
    nearest = next(metric.beside for metric in part.metrics if metric.metric == best.name)
    baselines = (nearest, best.adjusted) if nearest is not None else None
    above_baselines = _shown(baselines, alpha)
    sentences = [
        _highest(
            _titled(best),
            "choices",
            figures,
            bool(lower) and above_baselines and len(lower) == len(metrics) - 1,
        )
    ]
    if baselines is not None:
        relation = "shown" if above_baselines else "not shown"
        nearest_figures = _figures(*baselines)
        sentences.append(
            f"It is {relation} to be above the baselines (the nearest: {nearest_figures})."
        )
    if len(metrics) > 1:
        sentences.append(_against([metrics[1]], metrics[1], beside, alpha))
    if len(metrics) > 2:
        sentences.append(_of_all(len(lower), len(metrics) - 1))
    return " ".join(sentences)


def _highest(title: str, labels: str, figures: str, above_all: bool) -> str:
    verb = "agrees best" if above_all else "has the highest agreement"
    return f"{title} {verb} with the human {labels}: {figures}."


def _of_all(lower: int, compared: int) -> str:
    return f"Of the {compared} other metrics it is shown to be above {lower or 'none'}."


def _against(
    metrics: Sequence[RankedMetric],
    second: RankedMetric,
    beside: Mapping[str, tuple[Estimate, float | None]],
    alpha: float,
) -> str:
    """Above which of these metrics the best is shown to be, and above which it is not."""
    by_relation: dict[str, list[str]] = {}
    for metric in metrics:
        roles = ["second"] if metric is second else []
        roles += ["baseline"] if metric.baseline else []
        difference = beside.get(metric.name)
        relation = "shown to be above " if _shown(difference, alpha) else "not shown to be above "
        figures = "not compared" if difference is None else _figures(*difference)
        words = f"{metric.title} ({', '.join(roles)}; {figures})"
        by_relation.setdefault(relation, []).append(words)
    parts = [relation + listed(words, _MOST_NAMED) for relation, words in by_relation.items()]
    return f"It is {'; '.join(parts)}."


def _beside(part: RatingLabel | ChoiceLabel, best: str) -> dict[str, tuple[Estimate, float | None]]:
    """How far the metric is above each other one, on the same answers, and the adjusted p."""
    differences: dict[str, tuple[Estimate, float | None]] = {}
    for pair in part.differences:
        if pair.first == best:
            differences[pair.second] = (pair.result, pair.adjusted)
        elif pair.second == best:
            differences[pair.first] = (_turned(pair.result), pair.adjusted)
    return differences


def beside_baselines(part: RatingLabel | ChoiceLabel, alpha: float) -> Table | None:
    """Each metric against each baseline, on the same answers; None without a baseline or a metric beside it. The tests
    are those of the differences of all pairs of metrics."""
    ranked = ranking(part, alpha)
    baselines = [metric for metric in ranked if metric.baseline]
    lines = list[BesideBaseline]()
    for metric in ranked:
        differences = {} if metric.baseline else _beside(part, metric.name)
        lines += [
            BesideBaseline(metric.name, baseline.name, *differences[baseline.name], alpha)
            for baseline in baselines
            if baseline.name in differences
        ]
    if not lines:
        return None
    measure = "Spearman's rho" if isinstance(part, RatingLabel) else "accuracy"
    columns = (
        Column("metric", kind="metric"),
        Column("baseline", kind="metric"),
        Column("metric - baseline", "difference", _PLACES, "estimate", key="difference"),
        Column("p (Holm)", "adjusted", kind="p", key="p"),
        Column("conclusion"),
    )
    note = (
        f"Differences in {measure} on the answers that both have a score of; p over all pairs of metrics. Baselines are "
        "lengths and overlaps of words."
        if isinstance(part, RatingLabel)
        else "Differences in accuracy on the pairs on which both have a choice; p over all pairs of metrics."
    )
    return Table("beside_baselines", "Each metric against each baseline", columns, lines, note=note)


def _turned(difference: Estimate) -> Estimate:
    """second - first."""
    return replace(
        difference,
        value=None if difference.value is None else -difference.value,
        low=None if difference.high is None else -difference.high,
        high=None if difference.low is None else -difference.low,
    )


def _shown(difference: tuple[Estimate, float | None] | None, alpha: float) -> bool:
    """Whether it is above 0 by the adjusted p: the interval is not adjusted and does not decide."""
    if difference is None:
        return False
    estimate, adjusted = difference
    return _value(estimate) > 0 and adjusted is not None and adjusted <= alpha


def _agrees(metric: RankedMetric, alpha: float) -> bool:
    return _shown((metric.agreement, metric.adjusted), alpha)


def _figures(difference: Estimate, adjusted: float | None) -> str:
    """`+0.120 [0.031, 0.204], p = 0.012`; Pearson's where a large sample was compared by it."""
    if difference.value is None or adjusted is None:
        return difference.reason or "not tested"
    kind = getattr(difference, "kind", "")
    measure = "Pearson " if kind == "pearson" else ""
    sign = "+" if difference.value > 0 else ""
    return f"{measure}{sign}{_interval(difference, _PLACES)}, {p_value(adjusted)}"


def _titled(metric: RankedMetric) -> str:
    return f"{metric.title} (a baseline)" if metric.baseline else metric.title


def _own_baselines(part: RatingLabel | ChoiceLabel) -> set[str]:
    """The baselines that are no metric of the rows."""
    return {metric.metric for metric in part.metrics if metric.direction == BASELINE}


def _value(estimate: Estimate) -> float:
    return estimate.value or 0.0


def _interval(estimate: Estimate, places: int) -> str:
    value = fixed(estimate.value, places)
    if estimate.ends is None:
        return value
    return f"{value} [{', '.join(fixed(end, places) for end in estimate.ends)}]"


# Beside the ceiling ---------------------------------------------------------------------------------------------------


def ceiling_value(ceiling: Ceiling | None) -> Estimate | None:
    """What a line of the ceiling says: Spearman's rho, or without it the share of choices."""
    return None if ceiling is None else ceiling.spearman or ceiling.agrees


def below_ceiling(name: str, agreement: RaterAgreement) -> bool:
    """Whether the metric's interval is below that of a rater, on the same ratings."""
    lines = {ceiling.name: ceiling_value(ceiling) for ceiling in agreement.ceilings}
    rater = lines.get(RATER)
    metric = lines.get(name)
    low = None if rater is None else rater.low
    high = None if metric is None else metric.high
    return low is not None and high is not None and high < low


def best_beside_ceiling(part: RatingLabel | ChoiceLabel, alpha: float) -> str:
    """The metric with the highest agreement against the other raters, as a rater is; "" where it has no such line."""
    own_baselines = _own_baselines(part)
    best = next(
        (metric for metric in ranking(part, alpha) if metric.name not in own_baselines), None
    )
    lines = {ceiling.name: ceiling for ceiling in part.agreement.ceilings}
    line = lines.get(best.name) if best else None
    estimate = ceiling_value(line)
    if best is None or line is None or estimate is None or estimate.value is None:
        return ""
    below = "below it" if below_ceiling(best.name, part.agreement) else "not shown to be below it"
    return (
        f" Held against it on the same ratings{_rater_there(line, lines[RATER])}, {best.title} has "
        f"{_interval(estimate, 2)}: {below}."
    )


def _rater_there(line: Ceiling, rater: Ceiling) -> str:
    """What a rater has on the ratings of a metric that scored only some; "" where these are all."""
    on_these = line.rater_agrees if line.rater_spearman is None else line.rater_spearman
    overall = _value(ceiling_value(rater) or Estimate(None, None, None, 0))
    if on_these is None or abs(on_these - overall) <= _SAME:
        return ""
    return f" (a rater there: {fixed(on_these, 2)})"


def ranking_figure(part: RatingLabel | ChoiceLabel, alpha: float) -> Figure | None:
    """The metrics, the highest agreement first, with the human ceiling as a line; None where no metric has any."""
    ranked = ranking(part, alpha)
    if not ranked:
        return None
    lines = {ceiling.name: ceiling for ceiling in part.agreement.ceilings}
    rater = lines.get(RATER)
    rater_value = ceiling_value(rater)
    on_line = [metric for metric in ranked if metric.name in lines]
    if rater is None or rater_value is None or rater_value.value is None or not on_line:
        return _without_ceiling(part, ranked)
    measure = "Spearman's rho" if rater.spearman else "Share of equal choices"
    rows = [_lane("A rater: the human ceiling", rater_value, rater.ratings, "")]
    for metric in on_line:
        line = lines[metric.name]
        rows.append(
            _lane(_lane_title(metric), ceiling_value(line), line.ratings, _rater_there(line, rater))
        )
    baseline = _highest_baseline(
        (metric.title, ceiling_value(lines[metric.name])) for metric in on_line if metric.baseline
    )
    figure = forest(
        rows,
        f"{measure} with the other raters: {part.label}",
        (round(rater_value.value, 2), *baseline.values()),
    )
    label = "rating" if rater.spearman else "choice"
    compared_with = "mean" if rater.spearman else "majority"
    says = (
        f"Each {label}, and each metric, is compared with the {compared_with} of the other raters. Dashed line: the human "
        f"ceiling, {_interval(rater_value, 2)}.{_second_line(baseline)}"
    )
    return replace(figure, says=says)


def _without_ceiling(part: RatingLabel | ChoiceLabel, ranked: Sequence[RankedMetric]) -> Figure:
    of_ratings = isinstance(part, RatingLabel)
    measure = "Spearman's rho with the human ratings" if of_ratings else "Accuracy on human choices"
    rows = [
        _lane(_lane_title(metric), metric.agreement, metric.agreement.n, "") for metric in ranked
    ]
    baseline = _highest_baseline(
        (metric.title, metric.agreement) for metric in ranked if metric.baseline
    )
    references = (*((0.0,) if of_ratings else ()), *baseline.values())
    return replace(
        forest(rows, f"{measure}, the highest first: {part.label}", references or None),
        says=f"There is no human ceiling.{_second_line(baseline)}",
    )


def _highest_baseline(agreements: Iterable[tuple[str, Estimate | None]]) -> dict[str, float]:
    """Title -> value of the baseline with the highest agreement; empty without one."""
    values = {
        title: round(estimate.value, 2)
        for title, estimate in agreements
        if estimate is not None and estimate.value is not None
    }
    highest = max(values, key=values.__getitem__, default=None)
    return {} if highest is None else {highest: values[highest]}


def _second_line(baseline: Mapping[str, float]) -> str:
    return "".join(
        f" A dashed line is at the highest baseline ({title}), {value:.2f}."
        for title, value in baseline.items()
    )


def _lane_title(metric: RankedMetric) -> str:
    """The baselines of choices say in their names what they are; longer lanes do not fit a phone."""
    if metric.baseline and metric.title.startswith("always "):
        return metric.title.removeprefix("always ")
    return f"{metric.title} (baseline)" if metric.baseline else metric.title


def _lane(title: str, estimate: Estimate | None, n: int, remark: str) -> ForestRow:
    if estimate is None or estimate.value is None:
        reason = "" if estimate is None else estimate.reason or ""
        return ForestRow(title, None, None, None, reason)
    return ForestRow(title, estimate.value, estimate.low, estimate.high, f"n = {n:,}{remark}")
