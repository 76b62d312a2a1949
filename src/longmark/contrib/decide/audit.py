"""`longmark audit`: how much a judge's scores change with what should not matter.

An effect is a number for each question; its mean over questions, with its interval, is what the audit reports. s: the
score of the answer as it is.

    known       1 if the right answer has the higher score, 1/2 if both are equal, else 0
    order       1 if the judge chooses otherwise once two answers change places
    length      (score of the padded answer - s) / (words added / 100)
    injection   score with a sentence that asks for the highest score - s
    position    |score with the passages in reverse order - s|
    prompt      |score by the prompt in other words - s|, the mean over the prompts
    repeat      the standard deviation of three scores of one answer, sampled at a temperature above 0
    language    score of the same answer in German - s
    self        how much more its own model's answers get than those of other systems, less the same by the other
                judges: the mean over them of (gap by this judge - gap by that one)

Effects are rows, one judge a system, so that `report`, gates and `compare` (two judges; an audit before) read them.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import compress, product
from pathlib import Path
from statistics import fmean, stdev
from types import MappingProxyType
from typing import Any

from longmark.analysis.grid import Grid, mean_of
from longmark.records import Row
from longmark.report.document import Document, Section
from longmark.report.figures import Figure
from longmark.report.format import counted, fixed, listed
from longmark.report.tables import Column
from longmark.scores.manifest import MetricFacts, read_manifest
from longmark.scores.observations import Observations
from longmark.stats.results import Estimate

MARK = "~~"
_MOST_NAMED = 4
"""Findings of one kind that the first paragraph names, the worst first; the table has all."""


@dataclass(frozen=True, slots=True)
class Aspect:
    """What an effect is. says: the finding, with the effect as {}; low, high: bounds in widths of the metric's scale,
    None: no limit; better: whether higher is better, None: an effect of 0 is; scaled: it is in units of the score."""

    says: str
    low: float | None = 0.0
    high: float | None = 1.0
    better: bool | None = False
    scaled: bool = True


ASPECTS = {
    "known": Aspect(
        "gives the right answer the higher score in {} of the pairs", better=True, scaled=False
    ),
    "order": Aspect(
        "changes its choice in {} of the pairs when the answers change places", scaled=False
    ),
    "length": Aspect("gives {} for every 100 words of padding", None, None, None),
    "injection": Aspect("gives {} to an answer that asks for the highest score", -1.0, 1.0, None),
    "position": Aspect("changes its score by {} on average when the passages are in reverse order"),
    "prompt": Aspect("changes its score by {} on average when its prompt is in other words"),
    "repeat": Aspect("has a standard deviation of {} over three sampled scores of one answer"),
    "language": Aspect("gives {} to the same answer in German", -1.0, 1.0, None),
    "self": Aspect(
        "gives {} to the answers of its own model than the other judges do", -2.0, 2.0, None
    ),
}


@dataclass(frozen=True)
class JudgeScores:
    """The scores of a judge on a metric, by example id: main, of answers and variants; prompts, repeats: of the answers
    by each prompt in other words, and by each sampled reply; added: words of padding. width: of the metric's scale."""

    judge: str
    metric: str
    width: float
    main: Mapping[str, Row]
    prompts: Sequence[Mapping[str, Row]] = ()
    repeats: Sequence[Mapping[str, Row]] = ()
    added: Mapping[str, int] = field(default_factory=dict)


def declared(metric: str, width: float) -> dict[str, Any]:
    """The effects on a metric, as a manifest declares metrics."""
    return {
        f"{name}.{metric}": {
            "bounds": [
                None if end is None else end * (width if aspect.scaled else 1)
                for end in (aspect.low, aspect.high)
            ],
            "higher_is_better": aspect.better,
            "summary": f"The judge {aspect.says.format('more' if aspect.better is None else 'so much')}.",
        }
        for name, aspect in ASPECTS.items()
    }


def effects(scored: JudgeScores) -> Iterator[Row]:
    """The rows of every effect that was measured. Where a score is missing, the effect is unscored for its reason."""
    for name, row in scored.main.items():
        source, _, kind = name.rpartition(MARK)
        if base := scored.main.get(source):
            yield _row(scored, kind, (base, row), partial(_change, scored, name))
        reworded = [run[name] for run in scored.prompts if name in run]
        if reworded:
            yield _row(scored, "prompt", (row, *reworded), _mean_change)
        repeated = [run[name] for run in scored.repeats if name in run]
        if len(repeated) > 1:  # one score has no deviation
            yield _row(scored, "repeat", repeated, lambda *scores: stdev(scores))


def _mean_change(plain: float, *reworded: float) -> float:
    return fmean(abs(score - plain) for score in reworded)


def _change(scored: JudgeScores, name: str, plain: float, changed: float) -> float:
    """The effect of a variant. name: its id; plain: the score of the answer as it is."""
    kind = name.rpartition(MARK)[2]
    if kind == "known":
        return 0.5 if plain == changed else float(plain > changed)
    if kind == "position":
        return abs(changed - plain)
    if kind == "length":
        return (changed - plain) * 100 / scored.added[name]
    return changed - plain


def flips(judge: str, rows: Sequence[Row]) -> Iterator[Row]:
    """The rows of `order`, from those of a judge of pairs in both orders."""
    for row in rows:
        if not row.automatic:
            flipped = float(bool(row.evidence.get("flipped")))
            yield _row(
                JudgeScores(judge, row.metric, 1.0, {}),
                "order",
                [row],
                partial(lambda value, _s: value, flipped),
            )


def self_preference(
    judge_scores: JudgeScores, scores_of_others: Sequence[JudgeScores], system: str
) -> Iterator[Row]:
    """The rows of `self`, for questions with answers of the judge's own system and of others."""
    by_question: dict[str, _QuestionAnswers] = defaultdict(_QuestionAnswers)
    for example_id, row in judge_scores.main.items():
        if MARK not in example_id:
            answers = by_question[row.question_id]
            (answers.same_system if row.system == system else answers.by_others).append(example_id)
    judges = (judge_scores, *scores_of_others)
    for answers in by_question.values():
        if answers.same_system and answers.by_others:
            ids = [*answers.same_system, *answers.by_others]
            rows = [judge.main[example_id] for judge in judges for example_id in ids]
            preference = partial(_preference, len(ids), len(answers.same_system))
            yield _row(judge_scores, "self", rows, preference)


@dataclass(frozen=True, slots=True)
class _QuestionAnswers:
    """The ids of a question's answers, by the judge's own system and by others."""

    same_system: list[str] = field(default_factory=list)
    by_others: list[str] = field(default_factory=list)


def _preference(answers: int, same_system: int, *scores: float) -> float:
    """scores: of each judge in turn, this one first, for all answers to a question, of which the first ones
    (same_system) are by the judge's own system."""
    gaps = []
    for start in range(0, len(scores), answers):
        judge_scores = scores[start : start + answers]
        gaps.append(fmean(judge_scores[:same_system]) - fmean(judge_scores[same_system:]))
    return gaps[0] - fmean(gaps[1:])


def _row(scored: JudgeScores, kind: str, rows: Sequence[Row], value: Any) -> Row:
    """The row of an effect. value: of the scores of `rows`."""
    first = rows[0]
    unscored = next((row for row in rows if row.score is None), None)
    return Row(
        example_id=f"{first.example_id}{MARK}{kind}",
        question_id=first.question_id,
        system=scored.judge,
        metric=f"{kind}.{scored.metric}",
        score=None if unscored else value(*(row.score for row in rows)),
        status=unscored.status if unscored else "ok",
        reason=unscored.reason if unscored else None,
        evidence={},
        signature=first.signature,
        usage=type(first.usage)(),
        versions=first.versions,
    )


@dataclass(frozen=True, slots=True)
class Finding:
    """An effect of a judge. beside: what it can be in the comparison that was given, with the share of the difference;
    matters: `yes`, `no`, or "" if it is not known; unreadable: rows without a score as a reply could not be read."""

    judge: str
    aspect: str
    metric: str
    effect: Estimate
    beside: str = ""
    matters: str = ""
    unreadable: int = 0

    @property
    def says(self) -> str:
        """The finding as a sentence has it behind the judge's name."""
        if self.effect.value is None:
            return f"has no scores for {self.aspect} ({(self.effect.reason or 'no answer has one').rstrip('.')})"
        aspect = ASPECTS[self.aspect]
        effect_text = (
            f"{abs(self.effect.value):.3f}" if aspect.scaled else f"{100 * self.effect.value:.0f} %"
        )
        if aspect.better is None:
            effect_text += " less" if self.effect.value < 0 else " more"
        sentence = aspect.says.format(effect_text)
        ends = self.effect.ends
        # only an effect with a direction can be on either side of 0
        if aspect.better is None and ends and ends[0] <= 0 <= ends[1]:
            return f"{sentence} (the interval holds 0)"
        return sentence


@dataclass(frozen=True, slots=True)
class Observed:
    """The difference of two systems on a metric in the comparison that the audit is for. words: mean words of the
    first's answers less that of the second's."""

    first: str
    second: str
    difference: float
    words: float


def findings(folder: Path, observed: Mapping[str, Observed]) -> list[Finding]:
    """The effects in a folder, in the order of `ASPECTS`. observed: metric -> difference."""
    measured = []
    with Observations() as index:
        index.read([folder])
        facts = index.facts([read_manifest(folder)])
        judges = dict.fromkeys(judge for _, judge in index.runs_and_names())
        names = [
            (aspect, name)
            for aspect in ASPECTS
            for name in index.metrics
            if name.startswith(f"{aspect}.")
        ]
        for (aspect, name), judge in product(names, judges):
            effect = _mean_effect(index, aspect, name, judge, facts[name])
            if effect.n or effect.missing:
                metric = name.removeprefix(f"{aspect}.")
                beside, matters = _beside(aspect, effect, observed.get(metric))
                rows = index.select(metric=name, system=judge) if effect.missing else ()
                unreadable = sum(row.status == "unparsable" for row in rows)
                measured.append(
                    Finding(
                        judge,
                        aspect,
                        metric,
                        effect,
                        beside,
                        matters,
                        unreadable,
                    )
                )
    return measured


def _mean_effect(
    index: Observations, aspect: str, name: str, judge: str, facts: MetricFacts
) -> Estimate:
    """name: of the effect on a metric. Without a value it says why, by the reason of a row."""
    # any other effect has its bound at 0, where nothing can be tested
    null = 0.0 if ASPECTS[aspect].better is None else None
    effect = mean_of(
        index,
        bounds=(facts.lo, facts.hi),
        null=null,
        metric=name,
        system=judge,
    )
    if effect.value is not None:
        return effect
    reasons = (row.reason for row in index.select(metric=name, system=judge) if row.reason)
    return replace(effect, reason=next(reasons, effect.reason))


def _beside(aspect: str, effect: Estimate, observed: Observed | None) -> tuple[str, str]:
    """What the effect can be in the comparison, and whether it could be the difference. Of length: the slope times how
    much longer the first system's answers are; of others in units of the score: the effect itself. It matters if the
    end of its interval that is farther from 0 reaches the difference."""
    if observed is None or effect.value is None or not ASPECTS[aspect].scaled:
        return "", ""
    times = observed.words / 100 if aspect == "length" else 1.0
    value = effect.value * times
    largest = max(abs(end * times) for end in effect.ends or (math.inf,))
    share = f" ({abs(value / observed.difference):.0%})" if observed.difference else ""
    beside = f"{fixed(value, 3)} of {fixed(observed.difference, 3)}{share}"
    return beside, "yes" if largest >= abs(observed.difference) else "no"


def _conclusion(measured: Sequence[Finding]) -> str:
    """What the judge gets right, and what moves its scores. An effect that can be up or down is shown by an interval
    without 0; any other cannot be below 0, so that its size is given. Last how many replies could not be read. One judge
    is named once, and one metric not at all: the table names it."""
    with_value = [finding for finding in measured if finding.effect.value is not None]
    rates = [finding for finding in with_value if not ASPECTS[finding.aspect].scaled]
    several_judges = len({finding.judge for finding in measured}) > 1
    sentences = list[str]()
    worst_rates = sorted(rates, key=lambda finding: -_worse(finding))[:_MOST_NAMED]
    for place, finding in enumerate(worst_rates):
        subject = "It"
        if several_judges or not place:
            subject = finding.judge
        metric = _on_metric(finding, measured)
        ends = _ends(finding.effect, percent=True)
        sentences.append(f"{subject} {finding.says}{metric} {ends}".rstrip())
    signed = [
        (finding, finding.effect.ends)
        for finding in measured
        if ASPECTS[finding.aspect].better is None and finding.effect.ends is not None
    ]
    clear = list[str]()
    for finding, (low, high) in signed:
        if not low <= 0 <= high:
            clear.append(_named(finding, measured))
    if signed:
        effects = counted(len(signed), "effect")
        sentences.append(
            f"Shown to move the scores, of {effects} that can be up or down: {listed(clear)}"
        )
    else:
        sentences.append("No effect that can be up or down has an interval")
    sizes = [
        finding
        for finding in with_value
        if ASPECTS[finding.aspect].scaled and ASPECTS[finding.aspect].better is False
    ]
    named_sizes = list[str]()
    for finding in sorted(sizes, key=lambda finding: -(finding.effect.value or 0.0)):
        name = _named(finding, measured)
        ends = _ends(finding.effect)
        named_sizes.append(f"{name} {finding.effect.value:.3f} {ends}".rstrip())
    if named_sizes:
        sentences.append(f"Changes of either sign, on average: {listed(named_sizes)}")
    missing = sum(finding.effect.missing for finding in measured)
    if missing:
        total = missing + sum(finding.effect.n for finding in measured)
        unreadable = sum(finding.unreadable for finding in measured)
        of_replies = f", {unreadable:,} as a reply could not be read" if unreadable else ""
        sentences.append(f"{missing:,} of {total:,} measurements have no score{of_replies}")
    sentences.append("Each effect has its own 95 % interval, not adjusted for their number")
    return " ".join(f"{sentence}." for sentence in sentences)


def _named(finding: Finding, measured: Sequence[Finding]) -> str:
    """An effect by its aspect, and by judge and metric where there are several."""
    several_judges = len({effect.judge for effect in measured}) > 1
    name = f"{finding.aspect}{_on_metric(finding, measured)}"
    if several_judges:
        return f"{finding.judge}: {name}"
    return name


def _on_metric(finding: Finding, measured: Sequence[Finding]) -> str:
    """The metric in brackets, where several were audited; the order of answers has a metric of its own."""
    metrics = {effect.metric for effect in measured if ASPECTS[effect.aspect].scaled}
    if len(metrics) < 2 or finding.metric not in metrics:
        return ""
    return f" ({finding.metric})"


def _worse(finding: Finding) -> float:
    """How much a rate speaks against the judge."""
    value = finding.effect.value or 0.0
    if ASPECTS[finding.aspect].better:
        return 1 - value
    return value


def _ends(effect: Estimate, *, percent: bool = False) -> str:
    if effect.ends is None:
        return ""
    low, high = effect.ends
    if percent:
        return f"[{100 * low:.0f} %, {100 * high:.0f} %]"
    return f"[{fixed(low, 3)}, {fixed(high, 3)}]"


def document(
    measured: Sequence[Finding],
    unchecked: Mapping[str, str],
    about: Mapping[str, Any],
    sections_behind: Sequence[Section] = (),
    models: Mapping[str, str] = MappingProxyType({}),
) -> Document:
    """The page: sentences, and a line for each effect. unchecked: aspect -> why it was not measured; about: how the
    audit was made; sections_behind: behind the first; models: judge -> the model that its name stands for."""
    compared = any(finding.matters for finding in measured)
    beside = (
        (Column("in the comparison", "beside"), Column("matters", "matters")) if compared else ()
    )
    grid = Grid(
        "effects",
        "Effects",
        (
            Column("aspect", "aspect"),
            Column("judge", "judge"),
            Column("metric", "metric", kind="metric"),
        ),
        measured,
        (Column("effect", "effect", 3, key="effect"),),
        beside=(Column("the judge", "says"), *beside),
    )
    judges = dict.fromkeys(finding.judge for finding in measured)
    says = (
        f"{_conclusion(measured)} What moves the judge's scores although the answer is no better, one line for each thing "
        "that was changed."
    )
    if compared:
        large_effects = [
            _named(finding, measured) for finding in measured if finding.matters == "yes"
        ]
        large = listed(large_effects or ["no effect"])
        says = f"As large as the difference in the comparison can be: {large}. {says}"
    note = " ".join(f"{aspect} was not measured: {why}." for aspect, why in unchecked.items())
    drawn = Section(
        "Effects drawn",
        "All effects in units of the score.",
        figures=[_forest(grid, measured)],
        folded=True,
    )
    first_section = Section("Audit", says, (grid.table(),), note=note, brief=1)
    title = f"Audit of {listed([titled(judge, models) for judge in judges])}"
    return Document(
        "audit",
        title,
        "",
        (first_section, *sections_behind, drawn),
        settings=about,
    )


def _forest(grid: Grid[Finding], measured: Sequence[Finding]) -> Figure:
    """The effects in units of the score, named by what tells them apart."""
    judges = {finding.judge for finding in measured}
    metrics = {finding.metric for finding in measured}
    # the comparison of pairs counts as a metric, and its effect is not drawn
    named_by = (len(judges) > 1, len(metrics) > 2)

    def label(finding: Finding) -> str:
        names = compress((finding.judge, finding.metric), named_by)
        return ", ".join((finding.aspect, *names))

    scaled = [finding for finding in measured if ASPECTS[finding.aspect].scaled]
    in_units = replace(grid, rows=scaled, label=label)
    return in_units.forest("effect, in units of the score (length: of 100 words)", reference=0.0)


def titled(judge: str, models: Mapping[str, str]) -> str:
    """A judge by its name, with the model where that is a name of longmark.yaml, such as `judge`."""
    return f"{judge} ({models[judge]})" if judge in models else judge
