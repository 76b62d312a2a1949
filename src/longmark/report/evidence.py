"""What the rows of an answer say, as plain data for the page: the evidence of the metrics, as views.

A view is the evidence of one metric as a person reads it: tables with verdicts and signed numbers, notes, folds. It
stands once for all scores that share it. Evidence of another shape (an older run, a damaged row) has no view.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import compress, zip_longest
from typing import Any

from longmark.records import Row
from longmark.records.metric_name import base_of
from longmark.report.format import BY, counted, fixed, listed

VERDICTS = {
    "yes": ("✓", "stated, and verifiable in the passages"),
    "no": ("✗", "stated, not verifiable in the passages"),
    "n/a": ("–", "not stated"),
}
_NEEDED, _DISTRACTING = "▲ most needed", "▼ most distracting"
_DELTA_OF_POINT = (
    "A point’s delta is that score minus the score of the answer without the point. +: the point makes the answer more "
    "relevant to the question. −: less relevant."
)
_DELTA_OF_FACT = (
    "A fact’s delta is the model’s confidence in the answer given all facts{}, minus its confidence without this fact. "
    "+: the answer rests on the fact. −: the fact contradicts the answer or distracts from it."
)
_HEADS = ("Part", "Text", "Delta", "Place by delta")
_COSINE = (
    "The judge wrote questions that the answer would answer. The cosine says how similar each is to the question that "
    "was asked (1: the same)."
)
_NUMBER = (int, float)
_PARAMETERS = re.compile(r"@\S+")
_OTHER_SHAPE = (KeyError, TypeError, ValueError, AttributeError, StopIteration)

Results = Mapping[str, Row]
Block = tuple[Any, ...]


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
    """title, count: its head; covers: metrics whose evidence it shows; blocks: what it shows, each a name and data of
    the template's macro `block`."""

    title: str
    count: str
    covers: list[str]
    blocks: list[Block]


@dataclass(slots=True)
class Cell:
    """A cell of a view's table. kind: `words` (a text), `verdict` (a key of VERDICTS), `signed` (a number with its bar)
    or `line`; note: small, behind the value; badge: a mark of the row; more: folded below the value."""

    kind: str
    value: Any
    note: str = ""
    badges: Sequence[str] = ()
    more: dict[str, Any] = field(default_factory=dict)


def views_of(results: Results) -> list[View]:
    """The views of an answer; where several judges scored it, each has its own."""
    found = []
    for family, makers in _MAKERS.items():
        judges: dict[str, dict[str, Row]] = {}
        for name, row in results.items():
            base = base_of(name.partition(BY)[0])
            if base == family or base.startswith(f"{family}."):
                judges.setdefault(name.removeprefix(base), {})[base[len(family) + 1 :]] = row
        for judge, its in judges.items():
            for make in makers:
                try:
                    view = make(its)
                except _OTHER_SHAPE:
                    continue
                view.title += judge
                view.covers = [f"{family}.{part}".rstrip(".") + judge for part in view.covers]
                found.append(view)
                break
    titles = [_PARAMETERS.sub("", view.title) for view in found]
    for view, title in zip(found, titles, strict=True):
        view.title = title if titles.count(title) == 1 else view.title.replace("@", ", ")
    with suppress(*_OTHER_SHAPE):
        if people := _people(results):
            return [people, *found]
    return found


def _people(results: Results) -> View | None:
    """People's labels of the answer, a line for each rater and each evaluator, where a study added them to its rows."""
    lines: dict[str, dict[str, str]] = {}
    for name, row in results.items():
        given = row.evidence.get("people")
        if isinstance(given, dict):
            by = name.partition(BY)[2]
            labels = {
                **given["labels"],
                **({f"evaluator {by}".strip(): own} if (own := given.get("evaluator")) else {}),
            }
            for rater, label in labels.items():
                lines.setdefault(rater, {})[given["dimension"]] = (
                    f"{label:g}" if isinstance(label, float) else str(label)
                )
    names = list(dict.fromkeys(name for line in lines.values() for name in line))
    if not names:
        return None
    cells = [[Cell("line", who), *(Cell("line", of.get(name, "–")) for name in names)] for who, of in lines.items()]
    cells.sort(key=lambda line: str(line[0].value).startswith("evaluator"))
    return View(
        "Labels of raters", counted(len(cells), "line"), [], [("table", ["Rater", *map(_plain, names)], cells, "", "")]
    )


def _as(kind: type | tuple[type, ...], value: Any) -> Any:
    """The value; TypeError where it is not of this kind, or not finite."""
    if (
        not isinstance(value, kind)
        or isinstance(value, bool)
        or (isinstance(value, float) and not math.isfinite(value))
    ):
        raise TypeError(f"expected {kind}, found {value!r}")
    return value


def _list(value: Any) -> list[Any]:
    """TypeError where it is no list or an empty one."""
    return list(_as(list, value or None))


def _rest(evidence: Mapping[str, Any], *shown: str) -> Block:
    rest = {key: value for key, value in evidence.items() if key not in shown}
    return "fold", "More of the evidence" if rest else "", rest


def _claims(its: Results) -> View:
    """Claims with the vote on each dimension, and the arithmetic of the score."""
    overall = its[""]
    evidence = overall.evidence
    weights = {name: _as(_NUMBER, weight) for name, weight in _as(dict, evidence["weights"]).items()}
    claims = [(one["claim"], {name: one["dimensions"][name] for name in weights}) for one in _list(evidence["claims"])]
    blocks = _verdicts(its, list(weights), claims, evidence.get("judges"))
    lines, products = [], []
    for name, weight in weights.items():
        given = [votes[name]["vote"] for _, votes in claims]
        yes, no = given.count("yes"), given.count("no")
        mean, product = "no mean, excluded", "–"
        if yes + no:
            products.append((f"{weight * yes / (yes + no):.3f}", f"{weight:.6g}"))
            mean, product = f"{yes} / {yes + no} = {yes / (yes + no):.3f}", products[-1][0]
        counts = {"dimension": _plain(name), "yes": yes, "no": no, "n/a": given.count("n/a")}
        lines.append({**counts, "mean = yes / (yes + no)": mean, "weight": weight, "weight × mean": product})
    blocks += [("head", "Computation of the score"), ("value", lines)]
    if (reason := evidence.get("rule") or overall.reason) or not products:
        blocks.append(("gap", _as(str, reason)))
    else:
        above, below = (" + ".join(parts) for parts in zip(*products, strict=True))
        blocks.append(("sum", f"specificity = ({above}) / ({below})", fixed(overall.score, 3)))
    blocks.append(_rest(evidence, "claims", "weights", "judges", "rule"))
    return View("Claims and their verdicts", counted(len(claims), "claim"), ["", *weights], blocks)


def _dimensions(its: Results) -> View:
    """Claims with their votes from the scores of the dimensions. Each of those has only the claims on which a judge
    found a detail, so the others are n/a."""
    names = [name for name, row in its.items() if name and "votes" in row.evidence and "claims" in row.evidence]
    votes: dict[str, dict[str, Any]] = {}
    for name in names:
        for claim in _list(its[name].evidence["claims"]):
            votes.setdefault(_as(str, claim["claim"]), {one: {"vote": "n/a"} for one in names})[name] = claim
    note = "Claims without a detail are not recorded here. They are in the evidence of score.specificity."
    blocks = [*_verdicts(its, names, _list(list(votes.items())), None), ("note", note)]
    return View("Claims and their verdicts", counted(len(votes), "claim"), names, blocks)


def _verdicts(its: Results, names: Sequence[str], claims: Sequence[tuple[str, Any]], judges: Any) -> list[Block]:
    """judges: the jury's models, where the evidence names them."""
    models = next((models for row in its.values() if (models := row.signature.models.get("judge"))), [])

    def juror(k: int, n: int) -> str:
        jury = next((one for one in (judges, models) if isinstance(one, list) and len(one) == n), None)
        if jury is None:
            return f"{models[0]}, sample {k + 1}" if len(models) == 1 else f"judge {k + 1}"
        return f"{jury[k]}" + (f", sample {k + 1}" if n > 1 and len(set(jury)) == 1 else "")

    def voices(vote: Mapping[str, Any]) -> list[dict[str, Any]]:
        labels, reasons = vote["labels"], _as(list, vote.get("reasons", []))
        given = zip_longest(labels, (_as((str, type(None)), reason) for reason in reasons[: len(labels)]))
        return [
            {"judge": juror(k, len(labels)), "label": label or "missing, counts as n/a", "reason": reason or ""}
            for k, (label, reason) in enumerate(given)
        ]

    def cell(vote: Mapping[str, Any]) -> Cell:
        labels = _as(list, vote.get("labels", []))
        if vote["vote"] not in VERDICTS or any(label is not None and label not in VERDICTS for label in labels):
            raise ValueError("no verdict")
        agreeing = sum((label or "n/a") == vote["vote"] for label in labels)
        return Cell("verdict", vote["vote"], f"{agreeing} of {len(labels)}" if agreeing < len(labels) else "")

    lines = []
    for text, votes in claims:
        cells = [cell(votes[name]) for name in names]
        more = {name: voices(votes[name]) for name in names if votes[name].get("labels")}
        lines.append([Cell("words", _as(str, text), more=more), *cells])
    return [("legend",), ("table", ["Claim", *map(_plain, names)], lines, "claim", "")]


def _points(its: Results) -> View:
    """The parts of the answer, what each adds to its relevance, and their order by that."""
    evidence = next(its[part].evidence for part in ("order_changed", "relevance") if part in its)
    points = [(_as(int, one["point"]), _as(str, one["text"]), one.get("delta")) for one in _list(evidence["points"])]
    numbers, deltas = [point for point, _, _ in points], [delta for _, _, delta in points if delta is not None]
    measured, scale = len(deltas) == len(points), Scale(_as(_NUMBER, delta) for delta in deltas)
    order = evidence.get("new_order") or []
    order = order if sorted(order) == sorted(numbers) else []
    lines = []
    for before, (number, text, delta) in enumerate(points, start=1):
        none = "no effect" if number in _as(list, evidence.get("without_effect", [])) else ""
        after = order.index(number) + 1 if order else before
        place = f"{before}, stays" if after == before else f"{before} → {after} ({'up' if after < before else 'down'})"
        lines.append([Cell("line", f"point {number}"), Cell("words", text), Cell("signed", (delta, scale), none)])
        lines[-1].append(Cell("line", place))
    for part, none, stays in (("intro", "not a point", "stays first"), ("closing", "not scored", "stays last")):
        if text := evidence.get(part):
            aside = [Cell("words", _as(str, text)), Cell("aside", none), Cell("aside", stays)]
            lines.insert(0 if part == "intro" else len(lines), [Cell("line", part), *aside])
    kept = [True, True, measured, bool(order)]
    lines, heads = [[*compress(line, kept)] for line in lines], [*compress(_HEADS, kept)]
    score = its["relevance"].score if "relevance" in its else evidence.get("relevance")
    says = "" if score is None else f"The reranker gives the answer {signed(_as(_NUMBER, score), 3)}. "
    says += _DELTA_OF_POINT if measured else "No delta was computed."
    blocks: list[Block] = [("note", says), ("table", heads, lines, "part of the answer", "parts of the answer")]
    if order:
        way = "keep their order" if order == numbers else f"come in the order {', '.join(map(str, order))}"
        blocks.append(("note", f"Sorted by delta, the points {way}."))
    if "order_changed" in its and its["order_changed"].reason:
        blocks.append(("gap", its["order_changed"].reason))
    blocks.append(_rest(evidence, "points", "intro", "closing", "new_order", "relevance", "without_effect"))
    return View("Points and what each adds", counted(len(points), "point"), ["relevance", "order_changed"], blocks)


def _facts(its: Results) -> View:
    """The facts drawn from the passages, with the passages that each comes from as far as the row knows them."""
    covers = [part for part in ("absolute", "relative") if part in its]
    evidence = next(its[part].evidence for part in covers if "claims" in its[part].evidence)
    scale = Scale(_as(_NUMBER, fact["delta"]) for fact in _list(evidence["claims"]))
    extremes = {_NEEDED: evidence.get("most_needed"), _DISTRACTING: evidence.get("most_distracting")}
    lines = []
    for fact in evidence["claims"]:
        part, passages = fact.get("relative"), [_as(int, number) for number in fact.get("passages") or []]
        badges = [badge for badge, text in extremes.items() if text == fact["claim"]]
        cells = [Cell("words", _as(str, fact["claim"]), badges=badges), Cell("signed", (fact["delta"], scale))]
        cells.append(Cell("number", "–" if part is None else f"{signed(100 * _as(_NUMBER, part), 1)} %"))
        lines.append([*cells, Cell("line", listed(list(map(str, passages))) if passages else "not known")])
    confidence = evidence.get("confidence")
    known = "" if confidence is None else f" ({_as(_NUMBER, confidence):.3g})"
    names = {"absolute": "mean delta", "relative": "mean of delta / confidence"}
    means = [f"{names[part]} = {signed(score, 4)}" for part in covers if (score := its[part].score) is not None]
    blocks: list[Block] = [("note", _DELTA_OF_FACT.format(known)), ("sum", ", ".join(means), "")]
    blocks.append(("table", ["Fact", "Delta", "Of the confidence", "Passages"], lines, "fact", ""))
    blocks.append(_rest(evidence, "claims", "confidence"))
    return View("Facts of the passages and what they contributed", counted(len(lines), "fact"), covers, blocks)


def _questions(its: Results) -> View:
    """Questions that the judge wrote from the answer, masked and as it is, with their cosines."""
    parts = {part: its[part] for part in ("masked", "plain") if part in its and its[part].evidence.get("questions")}
    scale = Scale([1.0, *(_as(_NUMBER, q["cosine"]) for row in parts.values() for q in row.evidence["questions"])], 3)
    blocks: list[Block] = [("note", _COSINE)]
    shown: list[list[Any]] = []
    for part, row in parts.items():
        evidence, questions = row.evidence, _list(row.evidence["questions"])
        blocks.append(("head", "From the masked answer" if part == "masked" else "From the answer as it is"))
        if evidence.get("masked_answer"):
            slots = {
                f"[{slot.upper()}]"
                for slot in (evidence.get("masked_by_code") or evidence.get("rewritten_placeholders", {}))
            }
            blocks.append(("masked", _as(str, evidence["masked_answer"]), slots))
        if questions in shown:
            blocks.append(("note", "The same questions with the same cosines."))
        else:
            shown.append(questions)
            lines = [[Cell("words", _as(str, q["question"])), Cell("signed", (q["cosine"], scale))] for q in questions]
            blocks.append(("table", ["Question", "Cosine"], lines, "question", ""))
        if row.score is not None:
            mean = fixed(row.score, 3).replace("-", "−")
            blocks.append(("sum", f"mean of {counted(len(questions), 'cosine')}", mean))
        blocks.append(_rest(evidence, "questions", "masked_answer"))
    count = counted(len(_list([one for questions in shown for one in questions])), "question")
    return View("Questions the answer would answer", count, list(parts), blocks)


def _graph(its: Results) -> View:
    """The graph of statements of a comprehensiveness metric."""
    from longmark.report.graph_view import graph_view  # which imports the views

    return graph_view(its)


def _plain(name: str) -> str:
    return name.replace("_", " ")


_MAKERS = {
    "score.specificity": (_claims, _dimensions),
    "score.segment_attribution": (_points,),
    "score.context_utilization": (_facts,),
    "score.answer_relevance": (_questions,),
    **{f"comprehensiveness.{way}": (_graph,) for way in ("nli", "qa", "end_to_end")},
}
