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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import compress
from pathlib import Path
from statistics import fmean, stdev
from types import MappingProxyType
from typing import Any

from longmark.analysis.grid import Grid, mean_of
from longmark.records import Row
from longmark.report.document import Document, Section
from longmark.report.format import fixed, listed
from longmark.report.tables import Column
from longmark.scores.manifest import read_manifest
from longmark.scores.observations import Observations
from longmark.stats.results import Estimate

MARK = "~~"


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
                None if end is None else end * (width if one.scaled else 1)
                for end in (one.low, one.high)
            ],
            "higher_is_better": one.better,
            "summary": f"The judge {one.says.format('more' if one.better is None else 'so much')}.",
        }
        for name, one in ASPECTS.items()
    }


def effects(scored: JudgeScores) -> Iterator[Row]:
    """The rows of every effect that was measured. Where a score is missing, the effect is unscored for its reason."""
    for name, row in scored.main.items():
        source, _, kind = name.rpartition(MARK)
        if base := scored.main.get(source):
            yield _row(scored, kind, (base, row), partial(_change, scored, name))
        if its := [run[name] for run in scored.prompts if name in run]:
            yield _row(
                scored, "prompt", (row, *its), lambda s, *new: fmean(abs(one - s) for one in new)
            )
        if len(its := [run[name] for run in scored.repeats if name in run]) > 1:
            yield _row(scored, "repeat", its, lambda *new: stdev(new))


def _change(scored: JudgeScores, name: str, s: float, new: float) -> float:
    kind = name.rpartition(MARK)[2]
    if kind == "known":
        return 0.5 if s == new else float(s > new)
    if kind == "position":
        return abs(new - s)
    return (new - s) * 100 / scored.added[name] if kind == "length" else new - s


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


def self_preference(own: JudgeScores, others: Sequence[JudgeScores], system: str) -> Iterator[Row]:
    """The rows of `self`, for questions with answers of the judge's own system and of others."""
    by_question: dict[str, tuple[list[str], list[str]]] = {}
    for name, row in own.main.items():
        if MARK not in name:
            by_question.setdefault(row.question_id, ([], []))[row.system != system].append(name)

    def gap(scores: Sequence[float], mine: int) -> float:
        return fmean(scores[:mine]) - fmean(scores[mine:])

    for mine, rest in by_question.values():
        if mine and rest:
            names = [*mine, *rest]
            rows = [judge.main[name] for judge in (own, *others) for name in names]

            def preference(*scores: float, size: int = len(names), mine: int = len(mine)) -> float:
                first, *gaps = [
                    gap(scores[at : at + size], mine) for at in range(0, len(scores), size)
                ]
                return first - fmean(gaps)

            yield _row(own, "self", rows, preference)


def _row(scored: JudgeScores, kind: str, rows: Sequence[Row], value: Any) -> Row:
    first = rows[0]
    gone = next((row for row in rows if row.score is None), None)
    return Row(
        example_id=f"{first.example_id}{MARK}{kind}",
        question_id=first.question_id,
        system=scored.judge,
        metric=f"{kind}.{scored.metric}",
        score=None if gone else value(*(row.score for row in rows)),
        status=gone.status if gone else "ok",
        reason=gone.reason if gone else None,
        evidence={},
        signature=first.signature,
        usage=type(first.usage)(),
        versions=first.versions,
    )


@dataclass(frozen=True, slots=True)
class Finding:
    """An effect of a judge. beside: what it can be in the comparison that was given, with the share of the difference;
    matters: `yes`, `no`, or "" if it is not known."""

    judge: str
    aspect: str
    metric: str
    effect: Estimate
    beside: str = ""
    matters: str = ""

    @property
    def says(self) -> str:
        """The finding as a sentence has it behind the judge's name."""
        if self.effect.value is None:
            return f"has no scores for {self.aspect} ({(self.effect.reason or 'no answer has one').rstrip('.')})"
        aspect = ASPECTS[self.aspect]
        shown = (
            f"{abs(self.effect.value):.3f}" if aspect.scaled else f"{100 * self.effect.value:.0f} %"
        )
        if aspect.better is None:
            shown += " less" if self.effect.value < 0 else " more"
        said = aspect.says.format(shown)
        ends = self.effect.ends
        return said + (
            " (the interval holds 0)"
            if aspect.better is None and ends and ends[0] <= 0 <= ends[1]
            else ""
        )


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
    found = []
    with Observations() as index:
        index.read([folder])
        facts = index.facts([read_manifest(folder)])
        for aspect in ASPECTS:
            for name in index.metrics:
                if not name.startswith(f"{aspect}."):
                    continue
                bounds = facts[name]
                for judge in dict.fromkeys(name_ for _, name_ in index.runs_and_names()):
                    null = (
                        0.0 if ASPECTS[aspect].better is None else None
                    )  # else an effect of 0 is at its bound
                    effect = mean_of(
                        index, bounds=(bounds.lo, bounds.hi), null=null, metric=name, system=judge
                    )
                    if effect.value is None:
                        its = (
                            one.reason
                            for one in index.select(metric=name, system=judge)
                            if one.reason
                        )
                        effect = replace(effect, reason=next(its, effect.reason))
                    if effect.n or effect.missing:
                        metric = name.removeprefix(f"{aspect}.")
                        beside = _beside(aspect, effect, observed.get(metric))
                        found.append(Finding(judge, aspect, metric, effect, *beside))
    return found


def _beside(aspect: str, effect: Estimate, observed: Observed | None) -> tuple[str, str]:
    """What the effect can be in the comparison, and whether it could be the difference. Of length: the slope times how
    much longer the first system's answers are; of others in units of the score: the effect itself. It matters if the
    end of its interval that is farther from 0 reaches the difference."""
    if observed is None or effect.value is None or not ASPECTS[aspect].scaled:
        return "", ""
    times = observed.words / 100 if aspect == "length" else 1.0
    value, most = effect.value * times, max(abs(end * times) for end in effect.ends or (math.inf,))
    share = f" ({abs(value / observed.difference):.0%})" if observed.difference else ""
    return f"{fixed(value, 3)} of {fixed(observed.difference, 3)}{share}", "yes" if most >= abs(
        observed.difference
    ) else "no"


def _conclusion(measured: Sequence[Finding]) -> str:
    """Which effects with a direction are shown, by intervals without 0. The others cannot be below 0, so that an
    interval without 0 would show little."""
    signed = [
        (finding, finding.effect.ends)
        for finding in measured
        if ASPECTS[finding.aspect].better is None and finding.effect.ends is not None
    ]
    clear = [finding for finding, (low, high) in signed if not low <= 0 <= high]
    if not signed:
        return "No effect with a direction has an interval; the table has what was measured."
    names = [f"{finding.judge}: {finding.aspect} ({finding.metric})" for finding in clear]
    conclusion = f"Shown to move the scores, of {len(signed)} effects with a direction: {listed(names or ['none'])}."
    return f"{conclusion} Each is judged by its own 95 % interval, not adjusted for their number."


def document(
    found: Sequence[Finding],
    unchecked: Mapping[str, str],
    about: Mapping[str, Any],
    more: Sequence[Section] = (),
    models: Mapping[str, str] = MappingProxyType({}),
) -> Document:
    """The page: sentences, and a line for each effect. unchecked: aspect -> why it was not measured; about: how the
    audit was made; more: sections behind the first; models: judge -> the model that its name stands for."""
    compared = any(one.matters for one in found)
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
        found,
        (Column("effect", "effect", 3, key="effect"),),
        beside=(Column("the judge", "says"), *beside),
    )
    judges = dict.fromkeys(one.judge for one in found)
    says = (
        f"{_conclusion(found)} What moves the judge's scores although the answer is no better, one line for each thing "
        "that was changed."
    )
    if compared:
        large = listed(
            [f"{one.aspect} ({one.metric})" for one in found if one.matters == "yes"]
            or ["no effect"]
        )
        says = f"As large as the difference in the comparison can be: {large}. {says}"
    note = " ".join(f"{aspect} was not measured: {why}." for aspect, why in unchecked.items())
    several = [
        len({getattr(one, name) for one in found}) > 1 + shared
        for name, shared in (("judge", 0), ("metric", 1))
    ]
    in_units = replace(
        grid,
        rows=[one for one in found if ASPECTS[one.aspect].scaled],
        label=lambda one: ", ".join([one.aspect, *compress((one.judge, one.metric), several)]),
    )
    figure = in_units.forest("effect, in units of the score (length: of 100 words)", reference=0.0)
    drawn = Section(
        "Effects drawn", "All effects in units of the score.", figures=[figure], folded=True
    )
    sections = (Section("Audit", says, (grid.table(),), note=note, brief=1), *more, drawn)
    title = f"Audit of {listed([titled(judge, models) for judge in judges])}"
    return Document("audit", title, "", sections, settings=about)


def titled(judge: str, models: Mapping[str, str]) -> str:
    """A judge by its name, with the model where that is a name of longmark.yaml, such as `judge`."""
    return f"{judge} ({models[judge]})" if judge in models else judge
