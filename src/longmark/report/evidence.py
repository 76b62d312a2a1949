"""What the rows of an answer say, as plain data for the page: the evidence of the metrics, as views.

A view is the evidence of one metric as a person reads it: tables with verdicts and signed numbers, notes, folds. It
stands once for all scores that share it. The metric declares which (`Metric.view`; the manifest of the run holds it).
Evidence of another shape (an older run, a damaged row) is shown as recorded.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from itertools import compress, zip_longest
from typing import Any

from longmark.records import Row
from longmark.records.metric_name import base_of
from longmark.report.format import BY, counted, fixed, listed
from longmark.report.graph_view import graph_view
from longmark.report.view import Block, Cell, Results, Shared, View
from longmark.scores.manifest import MetricFacts

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
_FROM = {True: "From the masked answer", False: "From the answer as it is"}
_NUMBER = (int, float)
_PARAMETERS = re.compile(r"@\S+")
_OTHER_SHAPE = (KeyError, TypeError, ValueError, AttributeError, StopIteration)


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


def views_of(results: Results, facts: Mapping[str, MetricFacts]) -> list[View]:
    """The views of an answer, as its metrics declare them; where several judges scored it, each has its own. Evidence
    of another shape is shown as recorded."""
    shared: dict[tuple[str, str, str], dict[str, Row]] = {}
    for name, row in results.items():
        kind, metric = facts[name].view if name in facts else ("", "")
        if kind in _MAKERS and row.evidence:
            base = base_of(name.partition(BY)[0])
            shared.setdefault((kind, metric, name.removeprefix(base)), {})[base[len(metric) + 1 :]] = row
    found = []
    order = list(_MAKERS)
    for (kind, metric, suffix), rows in sorted(shared.items(), key=lambda one: order.index(one[0][0])):
        try:
            view = _MAKERS[kind](Shared(metric, suffix, rows))
        except _OTHER_SHAPE:
            if all(row.score is None for row in rows.values()):
                continue  # replies that could not be read, say: they are shown with the reason
            shown = [block for row in rows.values() for block in (("head", row.metric), ("value", row.evidence))]
            note = f"{metric} declares the view {kind}, and this evidence has another form. It is shown as recorded."
            view = View("Evidence as recorded", counted(len(rows), "score"), list(rows), [("note", note), *shown])
        if view is None:
            continue
        view.title += suffix
        view.covers = [f"{metric}.{part}".rstrip(".") + suffix for part in view.covers]
        found.append(view)
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


def _claims(its: Shared) -> View | None:
    """Claims with the vote on each dimension, and the arithmetic of the score."""
    overall = next((row for row in its.rows.values() if "weights" in row.evidence), None)
    if overall is None:
        return _dimensions(its)
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
        name = _plain(its.metric.rpartition(".")[2])
        blocks.append(("sum", f"{name} = ({above}) / ({below})", fixed(overall.score, 3)))
    blocks.append(_rest(evidence, "claims", "weights", "judges", "rule"))
    return View("Claims and their verdicts", counted(len(claims), "claim"), list(its.rows), blocks)


def _dimensions(its: Shared) -> View | None:
    """Claims with their votes from the scores of the dimensions. Each of those has only the claims on which a judge
    found a detail, so the others are n/a."""
    names = [name for name, row in its.rows.items() if "votes" in row.evidence and "claims" in row.evidence]
    votes: dict[str, dict[str, Any]] = {}
    for name in names:
        for claim in _as(list, its.rows[name].evidence["claims"]):
            votes.setdefault(_as(str, claim["claim"]), {one: {"vote": "n/a"} for one in names})[name] = claim
    if names and not votes:
        return None
    note = f"Claims without a detail are not recorded here. They are in the evidence of {its.metric}."
    blocks = [*_verdicts(its, names, _list(list(votes.items())), None), ("note", note)]
    return View("Claims and their verdicts", counted(len(votes), "claim"), names, blocks)


def _verdicts(its: Shared, names: Sequence[str], claims: Sequence[tuple[str, Any]], judges: Any) -> list[Block]:
    """judges: the jury's models, where the evidence names them."""
    models = next((models for row in its.rows.values() if (models := row.signature.models.get("judge"))), [])

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


def _points(its: Shared) -> View:
    """The parts of the answer, what each adds to its relevance, and their order by that."""
    evidence = max((one for one in its.evidence if "points" in one), key=len, default={"points": None})
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
    score = its.rows["relevance"].score if "relevance" in its.rows else evidence.get("relevance")
    says = "" if score is None else f"The reranker gives the answer {signed(_as(_NUMBER, score), 3)}. "
    says += _DELTA_OF_POINT if measured else "No delta was computed."
    blocks: list[Block] = [("note", says), ("table", heads, lines, "part of the answer", "parts of the answer")]
    if order:
        way = "keep their order" if order == numbers else f"come in the order {', '.join(map(str, order))}"
        blocks.append(("note", f"Sorted by delta, the points {way}."))
    blocks += [("gap", reason) for reason in dict.fromkeys(row.reason for row in its.rows.values()) if reason]
    blocks.append(_rest(evidence, "points", "intro", "closing", "new_order", "relevance", "without_effect"))
    return View("Points and what each adds", counted(len(points), "point"), list(its.rows), blocks)


def _facts(its: Shared) -> View:
    """The facts drawn from the passages, with the passages that each comes from as far as the row knows them."""
    covers = list(its.rows)
    evidence = next(one for one in its.evidence if "claims" in one)
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
    scored = {part: row.score for part, row in its.rows.items() if row.score is not None}
    means = [f"{names.get(part, _plain(part) or 'score')} = {signed(score, 4)}" for part, score in scored.items()]
    blocks: list[Block] = [("note", _DELTA_OF_FACT.format(known)), ("sum", ", ".join(means), "")]
    blocks.append(("table", ["Fact", "Delta", "Of the confidence", "Passages"], lines, "fact", ""))
    blocks.append(_rest(evidence, "claims", "confidence"))
    return View("Facts of the passages and what they contributed", counted(len(lines), "fact"), covers, blocks)


def _questions(its: Shared) -> View:
    """Questions that the judge wrote from the answer, masked and as it is, with their cosines."""
    parts = {part: row for part, row in its.rows.items() if row.evidence.get("questions")}
    scale = Scale([1.0, *(_as(_NUMBER, q["cosine"]) for row in parts.values() for q in row.evidence["questions"])], 3)
    blocks: list[Block] = [("note", _COSINE)]
    shown: list[list[Any]] = []
    for row in parts.values():
        evidence, questions = row.evidence, _list(row.evidence["questions"])
        blocks.append(("head", _FROM["masked_answer" in evidence]))
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
    return View("Questions that the answer would answer", count, list(parts), blocks)


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _cells(its: Shared) -> View | None:
    """Every list of objects as a table, all of one row of the evidence that several scores share."""
    blocks: list[Block] = []
    shown: list[Any] = []
    for part, row in its.rows.items():
        tables = {key: value for key, value in row.evidence.items() if _objects(value) and (key, value) not in shown}
        if tables and len(its.rows) > 1:
            blocks.append(("head", _plain(part) or its.metric))
        for key, lines in tables.items():
            shown.append((key, lines))
            heads = list(dict.fromkeys(name for line in lines for name in line))
            cells = [[_cell(line.get(head)) for head in heads] for line in lines]
            blocks += [
                ("head", _plain(key).capitalize()),
                ("table", [_plain(head) for head in heads], cells, "line", ""),
            ]
        blocks.append(_rest(row.evidence, *(key for key, value in row.evidence.items() if _objects(value))))
    title = _plain(its.metric.rpartition(".")[2]).capitalize()
    return View(title, counted(len(shown), "table"), list(its.rows), blocks) if shown else None


def _objects(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(one, dict) for one in value)


def _cell(value: Any) -> Cell:
    if value is None or isinstance(value, bool):
        return Cell("line", {None: "–", True: "yes", False: "no"}[value])
    if isinstance(value, int | float):
        return Cell("number", f"{value:g}")
    return Cell("words", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _turns(its: Shared) -> View | None:
    """Who said what, in turn."""
    return _two(its, "turns", ("who", "text"), ("Turns", "turn"))


def _marked(its: Shared) -> View | None:
    """Passages of the answer with what they are."""
    return _two(its, "marked", ("text", "label"), ("Passages of the answer", "passage"))


def _two(its: Shared, key: str, names: tuple[str, str], title: tuple[str, str]) -> View | None:
    """A table of two texts of each entry; None if there is none."""
    evidence = next(one for one in its.evidence if key in one)
    if evidence[key] == []:
        return None
    lines = [
        [Cell("words" if name == "text" else "line", _as(str, one[name])) for name in names]
        for one in _list(evidence[key])
    ]
    heads = [name.capitalize() for name in names]
    blocks: list[Block] = [("table", heads, lines, title[1], ""), _rest(evidence, key)]
    return View(title[0], counted(len(lines), title[1]), list(its.rows), blocks)


_MAKERS: dict[str, Callable[[Shared], View | None]] = {
    "claims": _claims,
    "points": _points,
    "facts": _facts,
    "questions": _questions,
    "graph": graph_view,
    "turns": _turns,
    "marked": _marked,
    "cells": _cells,
}
"""View -> what makes it of evidence, None where there is nothing to show. The view `judges` is made in `reasons`, for
all metrics of an answer together."""
