"""What the rows of an answer say, as plain data for the page: why a score is low; the evidence of the SCORE metrics.

A view is the evidence of one metric as a person reads it, shown once for all scores that share it. Evidence of another
shape (an older run, a damaged row) has no view and is shown like any other.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import zip_longest
from operator import itemgetter
from typing import Annotated, Any, Literal, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from longmark.records import Context, Row
from longmark.report.format import BY, fixed
from longmark.scores.manifest import MetricFacts

GOOD, FAIR = 2 / 3, 1 / 3
"""Places on a metric's scale from which a score is drawn as good and as fair; below it is drawn as poor."""
_MOST_REASONS = 2

Label = Literal["yes", "no", "n/a"]
Finite = Annotated[float, Field(allow_inf_nan=False)]
Results = Mapping[str, Row]
Shape = TypeVar("Shape", bound=BaseModel)


# Why a score is low --------------------------------------------------------------------------------------------------


def place_of(facts: MetricFacts, score: float) -> float | None:
    """A score's place between its metric's bounds, 0 (lowest) to 1 (highest); None without bounds."""
    lo, hi = facts.lo, facts.hi
    return None if lo is None or hi is None or hi <= lo else (score - lo) / (hi - lo)


def goodness(facts: MetricFacts, score: float) -> float | None:
    """The place, 0 (bad) to 1 (good): reversed if lower is better; None without a direction or without bounds."""
    place = place_of(facts, score)
    return None if place is None or facts.higher_is_better is None else place if facts.higher_is_better else 1 - place


def kind_of(facts: MetricFacts, score: float) -> str:
    """`good`, `fair`, `poor`, or `plain` for a metric without a direction or bounds."""
    place = goodness(facts, score)
    return "plain" if place is None else "good" if place >= GOOD else "fair" if place >= FAIR else "poor"


def worst_of(results: Results, facts: Mapping[str, MetricFacts]) -> list[tuple[str, tuple[str, str] | None]]:
    """The lowest scores of an answer that are not good, at most two of different evidence, and one missing score; each
    metric with what its row says about it: a label and a text."""
    rows = [(name, results[name]) for name in facts if name in results]
    places = {name: goodness(facts[name], row.score) for name, row in rows if row.score is not None}
    low = [(place, name) for name, place in places.items() if place is not None and place < GOOD]
    found: dict[str, tuple[str, str] | None] = {}
    for _, name in sorted(low, key=itemgetter(0)):
        why = _why(results[name])
        if why is None or why[1] not in {other[1] for other in found.values() if other}:
            found[name] = why
        if len(found) == _MOST_REASONS:
            break
    missing = next(((name, _why(row)) for name, row in rows if row.score is None), None)
    return [*found.items(), *([missing] if missing else [])]


def _why(row: Row) -> tuple[str, str] | None:
    if row.score is None:
        return ("Not scored", row.reason) if row.reason else None
    evidence = row.evidence
    votes = [
        (claim.get("claim"), claim["dimensions"].values() if isinstance(claim.get("dimensions"), dict) else [claim])
        for claim in _dicts(evidence.get("claims"))
    ]
    no = [claim for claim, its in votes if any(isinstance(vote, dict) and vote.get("vote") == "no" for vote in its)]
    point = _lowest(evidence.get("points"), "delta", below=0)
    judge = _lowest(evidence.get("judges"), "score")
    model = judge.get("model")
    missing = evidence.get("missing") or evidence.get("missing_facts")
    finders = (
        ("Unsupported claim", no),
        ("Missing fact", missing if isinstance(missing, list) else []),
        ("Most distracting fact", [evidence.get("most_distracting")]),
        ("Least relevant point", [point.get("text")]),
        ("The answer fits another question", [_lowest(evidence.get("questions"), "cosine").get("question")]),
        (f"Reply of {model.partition('@')[0] if isinstance(model, str) else 'the judge'}", [judge.get("text")]),
        ("Reason", [evidence.get("reason") or evidence.get("rule")]),
    )
    for label, entries in finders:
        given = (one.get("text") or one.get("claim") if isinstance(one, dict) else one for one in entries)
        texts: list[str] = [text for text in given if isinstance(text, str) and text.strip()]
        if texts:
            return (f"{label} (1 of {len(texts)})" if len(texts) > 1 else label), texts[0]
    return None


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def _lowest(value: Any, key: str, below: float = math.inf) -> dict[str, Any]:
    """The entry with the lowest number under the key; an empty one where there is none."""
    known = [one for one in _dicts(value) if isinstance(one.get(key), int | float) and one[key] < below]
    return min(known, key=lambda one: one[key], default={})


# Numbers with a sign -------------------------------------------------------------------------------------------------


def signed(value: float, places: int) -> str:
    """`+0.25`, `−0.25`, `0`; a number too small for the decimals keeps one figure."""
    shown = f"{abs(value):.{places}f}"
    return "0" if not value else ("−" if value < 0 else "+") + (shown if float(shown) else f"{abs(value):.1g}")


class Scale:
    """What the differences of one view share: the ends of their bars' axis and the decimals of their numbers."""

    def __init__(self, values: Iterable[float], places: int | None = None) -> None:
        known = [0.0, *values]
        self.least, self.greatest = min(known), max(known)
        most = max(-self.least, self.greatest)
        self.places = (min(max(2 - math.floor(math.log10(most)), 0), 6) if most else 1) if places is None else places

    def at(self, value: float) -> float:
        """The place of a value on the axis, in percent."""
        span = self.greatest - self.least
        return round(100 * (value - self.least) / span, 2) if 0 < span < math.inf else 0.0


# Views ---------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class View:
    """kind: the template's macro; title, count: its head; covers: metrics whose evidence it shows; data: for the macro;
    passages: whether it shows the passages."""

    kind: str
    title: str
    count: list[tuple[int, str]]
    covers: list[str]
    data: dict[str, Any] = field(default_factory=dict)
    passages: bool = False


class _Shape(BaseModel):
    model_config = ConfigDict(strict=True)


class _Vote(_Shape):
    vote: Label
    labels: list[Label | None] = []
    reasons: list[str | None] = []

    @property
    def voices(self) -> list[tuple[Label | None, str | None]]:
        """The label and the reason of each judge; the reasons may be missing."""
        return list(zip_longest(self.labels, self.reasons[: len(self.labels)]))

    @property
    def split(self) -> str:
        """How many judges gave the label that won, where they did not agree."""
        agreeing = sum((label or "n/a") == self.vote for label in self.labels)
        return f"{agreeing} of {len(self.labels)}" if agreeing < len(self.labels) else ""


class _Claim(_Shape):
    claim: str
    dimensions: dict[str, _Vote]


class _Specificity(_Shape):
    weights: dict[str, Finite] = Field(min_length=1)
    claims: list[_Claim]
    judges: list[str] | None = None
    # the second names are those of longmark 0.1.0's rows
    labels_missing: int = Field(0, validation_alias=AliasChoices("labels_missing", "labels_left_out"))
    labels_corrected: int = Field(0, validation_alias=AliasChoices("labels_corrected", "labels_set_by_words"))
    rule: str | None = None
    details: dict[str, Any] | None = None


class _DimensionClaim(_Vote):
    claim: str


class _Dimension(_Shape):
    votes: dict[str, Any]
    claims: list[_DimensionClaim]


class _Point(_Shape):
    point: int
    text: str
    delta: Finite | None = None


class _Points(_Shape):
    points: list[_Point] = Field(min_length=1)
    intro: str | None = None
    closing: str | None = None
    new_order: list[int] | None = None
    rewritten_answer: str | None = None
    relevance: Finite | None = None
    without_effect: list[int] = []


class _Fact(_Shape):
    claim: str
    delta: Finite
    relative: Finite | None = None
    passages: list[int] | None = None


class _Facts(_Shape):
    claims: list[_Fact] = Field(min_length=1)
    most_needed: str | None = None
    most_distracting: str | None = None
    confidence: Finite | None = None


class _Question(_Shape):
    question: str
    cosine: Finite


class _Questions(_Shape):
    questions: list[_Question] = Field(min_length=1)
    masked_answer: str | None = None
    masked_by_model: int | None = None
    masked_by_code: dict[str, int] = {}
    masked_phrases_not_found: int = 0


def views_of(results: Results, contexts: Sequence[Context]) -> list[View]:
    """The views of an answer; where several judges scored it, each has its own."""
    makers: dict[str, Callable[[Results, str], View | None]] = {
        "score.specificity": _claims,
        "score.segment_attribution": _points,
        "score.context_utilization": lambda its, family: _passages(its, family, contexts),
        "score.answer_relevance": _questions,
    }
    found = []
    for family, make in makers.items():
        judges: dict[str, dict[str, Row]] = {}
        for name, row in results.items():
            metric, by, whose = name.partition(BY)
            if metric == family or metric.startswith(f"{family}."):
                judges.setdefault(by + whose, {})[metric] = row
        for judge, its in judges.items():
            if view := make(its, family):
                view.title += judge
                view.covers = [name + judge for name in view.covers]
                found.append(view)
    return found


def _read(shape: type[Shape], row: Row | None) -> Shape | None:
    try:
        return shape.model_validate(row.evidence) if row else None
    except ValidationError:
        return None


def _claims(results: Results, family: str) -> View | None:
    """Claims with the vote on each dimension, from the overall score, else from the dimensions' scores. Each of those
    has only the claims on which a judge found a detail, so the others are n/a."""
    overall = results.get(family)
    evidence = _read(_Specificity, overall)
    votes: dict[int | str, tuple[str, dict[str, _Vote]]] = {}
    if evidence is not None and all(claim.dimensions.keys() >= evidence.weights.keys() for claim in evidence.claims):
        names = list(evidence.weights)
        votes = {i: (claim.claim, claim.dimensions) for i, claim in enumerate(evidence.claims)}
    else:
        evidence, names = None, []
        for metric, row in results.items():
            if metric != family and (one := _read(_Dimension, row)):
                names.append(metric[len(family) + 1 :])
                for claim in one.claims:
                    votes.setdefault(claim.claim, (claim.claim, {}))[1][names[-1]] = claim
        if not votes:
            return None
    none = _Vote(vote="n/a")
    claims = [(text, [(name, its.get(name, none)) for name in names]) for text, its in votes.values()]
    models = next((models for row in results.values() if (models := row.signature.models.get("judge"))), [])

    def juror(k: int, n: int) -> str:
        juries = (evidence.judges if evidence else None, models)
        jury = next((one for one in juries if one and len(one) == n), None)
        if jury is None:
            return f"{models[0]}, sample {k + 1}" if len(models) == 1 else f"judge {k + 1}"
        return jury[k] + (f", sample {k + 1}" if n > 1 and len(set(jury)) == 1 else "")

    covers = [f"{family}.{name}" for name in names]
    data = {"names": names, "claims": claims, "juror": juror, "evidence": evidence}
    if evidence is not None and overall is not None:
        covers.insert(0, family)
        data |= {
            "lines": _arithmetic(evidence, claims),
            "score": overall.score,
            "reason": evidence.rule or overall.reason,
        }
    return View("claims", "Claims and their verdicts", [(len(claims), "claim")], covers, data)


def _arithmetic(evidence: _Specificity, claims: Sequence[tuple[str, list[tuple[str, _Vote]]]]) -> list[dict[str, Any]]:
    """Counts, mean and weight of each dimension."""
    lines = []
    for name, weight in evidence.weights.items():
        given = [vote.vote for _, votes in claims for dimension, vote in votes if dimension == name]
        yes, no = given.count("yes"), given.count("no")
        mean = yes / (yes + no) if yes + no else None
        lines.append({"name": name, "yes": yes, "no": no, "na": given.count("n/a"), "weight": weight, "mean": mean})
    return lines


def _points(results: Results, family: str) -> View | None:
    relevance, moved = results.get(f"{family}.relevance"), results.get(f"{family}.order_changed")
    evidence = _read(_Points, moved) or _read(_Points, relevance)
    if evidence is None:
        return None
    numbers = [one.point for one in evidence.points]
    order = evidence.new_order if evidence.new_order and sorted(evidence.new_order) == sorted(numbers) else None
    known = [one.delta for one in evidence.points if one.delta is not None]
    data = {
        "evidence": evidence,
        "measured": len(known) == len(evidence.points),
        "scale": Scale(known),
        "order": order,
        "changed": order is not None and order != numbers,
        "score": relevance.score if relevance and relevance.score is not None else evidence.relevance,
        "reason": moved.reason if moved else None,
    }
    covers = [f"{family}.relevance", f"{family}.order_changed"]
    return View("points", "Points and what each adds", [(len(numbers), "point")], covers, data)


def _passages(results: Results, family: str, contexts: Sequence[Context]) -> View | None:
    """The facts drawn from each passage, as far as the row knows: of one, of some together, or of all together."""
    covers = [name for part in ("absolute", "relative") if (name := f"{family}.{part}") in results]
    evidence = next((one for name in covers if (one := _read(_Facts, results[name]))), None)
    if evidence is None:
        return None
    groups: dict[tuple[int, ...], list[_Fact]] = {}
    for fact in evidence.claims:
        numbers = tuple(fact.passages or ())
        known = numbers and all(0 < number <= (len(contexts) or math.inf) for number in numbers)
        groups.setdefault(numbers if known else (1,) if len(contexts) == 1 else (), []).append(fact)
    alone = {(i,): context for i, context in enumerate(contexts, start=1)}
    data = {
        "evidence": evidence,
        "scale": Scale(fact.delta for fact in evidence.claims),
        "means": [(name.rpartition(".")[2], score) for name in covers if (score := results[name].score) is not None],
        "alone": [(key[0], context, groups.get(key)) for key, context in alone.items()],
        "shared": {number for key in groups if len(key) > 1 for number in key},
        "unknown": () in groups,
        "together": [(_numbers(key), facts) for key, facts in groups.items() if key not in alone],
    }
    counts = [(len(contexts), "passage")] if contexts else []
    counts.append((len(evidence.claims), "fact"))
    return View("passages", "Passages and what they contributed", counts, covers, data, bool(contexts))


def _numbers(key: Sequence[int]) -> str:
    """`1 to 3`, `1 and 4`; nothing for none."""
    if len(key) < 2:
        return "".join(map(str, key))
    if len(key) > 2 and key[-1] - key[0] == len(key) - 1:
        return f"{key[0]} to {key[-1]}"
    return f"{', '.join(map(str, key[:-1]))} and {key[-1]}"


def _questions(results: Results, family: str) -> View | None:
    parts: list[dict[str, Any]] = []
    for part in ("masked", "plain"):
        row = results.get(f"{family}.{part}")
        if row and (evidence := _read(_Questions, row)):
            again = bool(parts) and evidence.questions == parts[0]["evidence"].questions
            slots = {f"[{slot.upper()}]" for slot in evidence.masked_by_code}
            parts.append(
                {"part": part, "evidence": evidence, "again": again, "score": fixed(row.score, 3), "slots": slots}
            )
    if not parts:
        return None
    count = sum(len(one["evidence"].questions) for one in parts if not one["again"])
    scale = Scale([1.0, *(one.cosine for part in parts for one in part["evidence"].questions)], 3)
    covers = [f"{family}.{one['part']}" for one in parts]
    data = {"parts": parts, "scale": scale}
    return View("questions", "Questions the answer would answer", [(count, "question")], covers, data)
