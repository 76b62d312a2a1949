"""What the rows of an answer say, as plain data for the page: the evidence of the metrics, as views.

A view is the evidence of one metric as a person reads it: tables with verdicts and signed numbers, notes, folds. It
stands once for all scores that share it. The metric declares which (`Metric.view`; the manifest of the run holds it).
Evidence of another shape (an older run, a damaged row) is shown as recorded. What longmark's metrics mean by a delta, a
cosine or a verdict is said of them alone, and a computation is shown only if its result is the score.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import compress, zip_longest
from typing import Any, TypeVar

from longmark.records import Row
from longmark.records.evidence import (
    Claims,
    DimensionScore,
    Facts,
    Labelled,
    MajorityVote,
    Passages,
    Points,
    Question,
    Questions,
    Turns,
)
from longmark.records.metric_name import base_of
from longmark.report.format import BY, counted, fixed, listed
from longmark.report.graph_view import graph_view
from longmark.report.support_tables import support_view
from longmark.report.view import Block, OtherForm, Results, View, ViewCell, ViewRows, read_as
from longmark.scores.manifest import MetricFacts

VERDICTS = {
    "yes": ("✓", "stated, and verifiable in the passages"),
    "no": ("✗", "stated, not verifiable in the passages"),
    "n/a": ("–", "not stated"),
}
_NEEDED = "▲ most needed"
_DISTRACTING = "▼ most distracting"
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
_PARAMETERS = re.compile(r"@\S+")
_LISTS = {"claims": "claims", "facts": "claims", "points": "points", "questions": "questions"}
"""View -> its list in the evidence; with an empty one there is nothing to show but what is recorded."""
_T = TypeVar("_T")


# Numbers with a sign -------------------------------------------------------------------------------------------------


def signed(value: float, places: int) -> str:
    """`+0.25`, `−0.25`, `0`; a number too small for the decimals keeps one figure."""
    digits = f"{abs(value):.{places}f}"
    return (
        "0"
        if not value
        else ("−" if value < 0 else "+") + (digits if float(digits) else f"{abs(value):.1g}")
    )


class DifferenceAxis:
    """What the differences of one view share: the ends of their bars' axis and the decimals of their numbers."""

    def __init__(self, values: Iterable[float], places: int | None = None) -> None:
        bounds = [0.0, *values]
        self.least, self.greatest = min(bounds), max(bounds)
        most = max(-self.least, self.greatest)
        self.places = (
            (min(max(2 - math.floor(math.log10(most)), 0), 6) if most else 1)
            if places is None
            else places
        )

    def at(self, value: float) -> float:
        """The place of a value on the axis, in percent."""
        span = self.greatest - self.least
        return round(100 * (value - self.least) / span, 2) if 0 < span < math.inf else 0.0


def views_of(results: Results, facts: Mapping[str, MetricFacts]) -> list[View]:
    """The views of an answer, as its metrics declare them; where several judges scored it, each has its own. Evidence
    of another shape is shown as recorded."""
    shared: dict[tuple[str, str, str], dict[str, Row]] = {}
    declared: dict[tuple[str, str, str], dict[str, MetricFacts]] = {}
    for name, row in results.items():
        kind, metric = facts[name].view if name in facts else ("", "")
        if kind in _MAKERS and row.evidence:
            base = base_of(name.partition(BY)[0])
            key = (kind, metric, name.removeprefix(base))
            part = base[len(metric) + 1 :]
            shared.setdefault(key, {})[part] = row
            declared.setdefault(key, {})[part] = facts[name]
    views = []
    order = list(_MAKERS)
    for (kind, metric, suffix), rows in sorted(
        shared.items(), key=lambda entry: order.index(entry[0][0])
    ):
        if all(row.evidence.get(_LISTS.get(kind, "")) == [] for row in rows.values()):
            continue
        try:
            view = _MAKERS[kind](ViewRows(metric, suffix, rows, declared[kind, metric, suffix]))
        except OtherForm:
            if all(row.score is None for row in rows.values()):
                continue  # replies that could not be read, say: they are shown with the reason
            recorded = [
                block
                for row in rows.values()
                for block in (("head", row.metric), ("value", row.evidence))
            ]
            note = f"{metric} declares the view {kind}, and this evidence has another form. It is shown as recorded."
            view = View(
                "Evidence as recorded",
                counted(len(rows), "score"),
                list(rows),
                [("note", note), *recorded],
            )
        if view is None:
            continue
        view.title += suffix
        view.covers = [f"{metric}.{part}".rstrip(".") + suffix for part in view.covers]
        views.append(view)
    titles = [_PARAMETERS.sub("", view.title) for view in views]
    for view, title in zip(views, titles, strict=True):
        view.title = title if titles.count(title) == 1 else view.title.replace("@", ", ")
    people = _people(results)
    return [people, *views] if people else views


def _people(results: Results) -> View | None:
    """Human labels of the answer, a line for each rater and each evaluator, where a study added them to its rows."""
    lines: dict[str, dict[str, str]] = {}
    for name, row in results.items():
        if labelled := Labelled.of(row.evidence):
            judge = name.partition(BY)[2]
            labels = labelled.people
            judged = {f"evaluator {judge}".strip(): labels.evaluator} if labels.evaluator else {}
            for rater, label in {**labels.labels, **judged}.items():
                lines.setdefault(rater, {})[labels.dimension] = (
                    f"{label:g}" if isinstance(label, float) else str(label)
                )
    names = list(dict.fromkeys(name for line in lines.values() for name in line))
    if not names:
        return None
    cells = [
        [
            ViewCell("line", rater),
            *(ViewCell("line", by_dimension.get(name, "–")) for name in names),
        ]
        for rater, by_dimension in lines.items()
    ]
    cells.sort(key=lambda line: str(line[0].value).startswith("evaluator"))
    return View(
        "Labels of raters",
        counted(len(cells), "line"),
        [],
        [("table", ["Rater", *map(_plain, names)], cells, "", "")],
    )


def _some(listed: list[_T]) -> list[_T]:
    """The list; OtherForm where it is empty."""
    if not listed:
        raise OtherForm("an empty list")
    return listed


def _note(text: str) -> list[Block]:
    return [("note", text)] if text else []


def _is(computed: float | None, score: float | None) -> bool:
    """Whether a computation gives the score."""
    return None not in (computed, score) and math.isclose(
        computed or 0.0, score or 0.0, rel_tol=1e-6, abs_tol=1e-6
    )


def _rest(row: Row, *named_keys: str) -> Block:
    unnamed = {key: value for key, value in row.evidence.items() if key not in named_keys}
    return "fold", "More of the evidence" if unnamed else "", unnamed


def _claims(shared: ViewRows) -> View | None:
    """Claims with the vote on each dimension, and the arithmetic of the score."""
    overall = next((row for row in shared.rows.values() if "weights" in row.evidence), None)
    if overall is None:
        return _dimensions(shared)
    evidence = read_as(Claims, overall)
    if any(evidence.weights.keys() - claim.dimensions.keys() for claim in evidence.claims):
        raise OtherForm("a claim without a vote on a dimension that is weighted")
    claims = [
        (claim.claim, {name: claim.dimensions[name] for name in evidence.weights})
        for claim in _some(evidence.claims)
    ]
    blocks = _verdicts(shared, list(evidence.weights), claims, evidence.judges)
    lines = []
    products = []
    for name, weight in evidence.weights.items():
        votes_given = [votes[name].vote for _, votes in claims]
        yes = votes_given.count("yes")
        no = votes_given.count("no")
        mean = "no mean, excluded"
        product = "–"
        if yes + no:
            products.append((f"{weight * yes / (yes + no):.3f}", weight, yes / (yes + no)))
            mean = f"{yes} / {yes + no} = {yes / (yes + no):.3f}"
            product = products[-1][0]
        counts = {"dimension": _plain(name), "yes": yes, "no": no, "n/a": votes_given.count("n/a")}
        lines.append(
            {**counts, "mean = yes / (yes + no)": mean, "weight": weight, "weight × mean": product}
        )
    total = sum(weight for _, weight, _ in products)
    computed = sum(weight * mean for _, weight, mean in products) / total if total else None
    reason = evidence.rule or overall.reason or ("" if products else "no dimension has a mean")
    if not reason and not _is(computed, overall.score):
        columns = ("dimension", "yes", "no", "n/a", "weight")
        blocks.append(("value", [{key: line[key] for key in columns} for line in lines]))
    else:
        blocks += [("head", "Computation of the score"), ("value", lines)]
        above = " + ".join(product_words for product_words, _, _ in products)
        below = " + ".join(f"{weight:.6g}" for _, weight, _ in products)
        name = _plain(shared.metric.rpartition(".")[2])
        score = fixed(overall.score, 3)
        blocks.append(
            ("gap", reason) if reason else ("sum", f"{name} = ({above}) / ({below})", score)
        )
    blocks.append(_rest(overall, "claims", "weights", "judges", "rule"))
    return View(
        "Claims and their verdicts", counted(len(claims), "claim"), list(shared.rows), blocks
    )


def _dimensions(shared: ViewRows) -> View | None:
    """Claims with their votes from the scores of the dimensions. Each of those has only the claims on which a judge
    found a detail, so the others are n/a."""
    names = [
        name
        for name, row in shared.rows.items()
        if "votes" in row.evidence and "claims" in row.evidence
    ]
    votes: dict[str, dict[str, MajorityVote]] = {}
    for name in names:
        for claim in read_as(DimensionScore, shared.rows[name]).claims:
            votes.setdefault(claim.claim, dict.fromkeys(names, MajorityVote(vote="n/a")))[name] = (
                claim
            )
    if names and not votes:
        return None
    note = f"Claims without a detail are not recorded here. They are in the evidence of {shared.metric}."
    blocks = [*_verdicts(shared, names, _some(list(votes.items())), []), ("note", note)]
    return View("Claims and their verdicts", counted(len(votes), "claim"), names, blocks)


def _verdicts(
    shared: ViewRows,
    names: Sequence[str],
    claims: Sequence[tuple[str, Mapping[str, MajorityVote]]],
    judges: Sequence[str],
) -> list[Block]:
    """judges: the jury's models, where the evidence names them."""
    models = next(
        (models for row in shared.rows.values() if (models := row.signature.models.get("judge"))),
        [],
    )

    def juror(k: int, n: int) -> str:
        jury = next(
            (names_of_models for names_of_models in (judges, models) if len(names_of_models) == n),
            None,
        )
        if jury is None:
            return f"{models[0]}, sample {k + 1}" if len(models) == 1 else f"judge {k + 1}"
        return f"{jury[k]}" + (f", sample {k + 1}" if n > 1 and len(set(jury)) == 1 else "")

    def voices(vote: MajorityVote) -> list[dict[str, Any]]:
        voices_of_jurors = zip_longest(vote.labels, vote.reasons[: len(vote.labels)])
        return [
            {
                "judge": juror(k, len(vote.labels)),
                "label": label or "missing, counts as n/a",
                "reason": reason or "",
            }
            for k, (label, reason) in enumerate(voices_of_jurors)
        ]

    def cell(vote: MajorityVote) -> ViewCell:
        count = len(vote.labels)
        agreeing = sum((label or "n/a") == vote.vote for label in vote.labels)
        return ViewCell("verdict", vote.vote, f"{agreeing} of {count}" if agreeing < count else "")

    lines = []
    for text, votes in claims:
        cells = [cell(votes[name]) for name in names]
        by_dimension = {name: voices(votes[name]) for name in names if votes[name].labels}
        lines.append([ViewCell("words", text, more=by_dimension), *cells])
    legend: list[Block] = [("legend",)] if shared.ours else []
    return [*legend, ("table", ["Claim", *map(_plain, names)], lines, "claim", "")]


def _points(shared: ViewRows) -> View:
    """The parts of the answer, what each adds to its relevance, and their order by that."""
    row = max(shared.rows_with("points"), key=lambda row: len(row.evidence))
    evidence = read_as(Points, row)
    points = _some(evidence.points)
    numbers = [point.point for point in points]
    deltas = [point.delta for point in points if point.delta is not None]
    measured = len(deltas) == len(points)
    scale = DifferenceAxis(deltas)
    order = evidence.new_order if sorted(evidence.new_order) == sorted(numbers) else []
    lines = []
    for before, one in enumerate(points, start=1):
        none = "no effect" if one.point in evidence.without_effect else ""
        after = order.index(one.point) + 1 if order else before
        place = (
            f"{before}, stays"
            if after == before
            else f"{before} → {after} ({'up' if after < before else 'down'})"
        )
        cells = [
            ViewCell("line", f"point {one.point}"),
            ViewCell("words", one.text),
            ViewCell("signed", (one.delta, scale), none),
        ]
        lines.append([*cells, ViewCell("line", place)])
    if evidence.intro:
        aside = [
            ViewCell("words", evidence.intro),
            ViewCell("aside", "not a point"),
            ViewCell("aside", "stays first"),
        ]
        lines.insert(0, [ViewCell("line", "intro"), *aside])
    if evidence.closing:
        aside = [
            ViewCell("words", evidence.closing),
            ViewCell("aside", "not scored"),
            ViewCell("aside", "stays last"),
        ]
        lines.append([ViewCell("line", "closing"), *aside])
    columns_kept = [True, True, measured, bool(order)]
    lines = [[*compress(line, columns_kept)] for line in lines]
    heads = [*compress(_HEADS, columns_kept)]
    score = shared.rows["relevance"].score if "relevance" in shared.rows else evidence.relevance
    note = (
        ""
        if score is None or not shared.ours
        else f"The reranker gives the answer {signed(score, 3)}. "
    )
    note += "No delta was computed." if not measured else _DELTA_OF_POINT if shared.ours else ""
    blocks: list[Block] = [
        *_note(note),
        ("table", heads, lines, "part of the answer", "parts of the answer"),
    ]
    if order:
        way = (
            "keep their order"
            if order == numbers
            else f"come in the order {', '.join(map(str, order))}"
        )
        blocks.append(("note", f"Sorted by delta, the points {way}."))
    blocks += [
        ("gap", reason)
        for reason in dict.fromkeys(row.reason for row in shared.rows.values())
        if reason
    ]
    blocks.append(
        _rest(row, "points", "intro", "closing", "new_order", "relevance", "without_effect")
    )
    return View(
        "Points and what each adds", counted(len(points), "point"), list(shared.rows), blocks
    )


def _facts(shared: ViewRows) -> View:
    """The facts drawn from the passages, with the passages that each comes from as far as the row knows them."""
    covers = list(shared.rows)
    row = shared.rows_with("claims")[0]
    evidence = read_as(Facts, row)
    scale = DifferenceAxis(fact.delta for fact in _some(evidence.claims))
    extremes = {_NEEDED: evidence.most_needed, _DISTRACTING: evidence.most_distracting}
    lines = []
    for fact in evidence.claims:
        badges = [badge for badge, text in extremes.items() if text == fact.claim]
        part = "–" if fact.relative is None else f"{signed(100 * fact.relative, 1)} %"
        passages = listed(list(map(str, fact.passages))) if fact.passages else "not known"
        cells = [
            ViewCell("words", fact.claim, badges=badges),
            ViewCell("signed", (fact.delta, scale)),
        ]
        lines.append([*cells, ViewCell("number", part), ViewCell("line", passages)])
    confidence = "" if evidence.confidence is None else f" ({evidence.confidence:.3g})"
    words = (
        {"absolute": "mean delta", "relative": "mean of delta / confidence"} if shared.ours else {}
    )
    scored = {part: row.score for part, row in shared.rows.items() if row.score is not None}
    means = [
        f"{words.get(part, _plain(part) or 'score')} = {signed(score, 4)}"
        for part, score in scored.items()
    ]
    blocks: list[Block] = _note(_DELTA_OF_FACT.format(confidence) if shared.ours else "")
    blocks.append(("sum", ", ".join(means), ""))
    blocks.append(("table", ["Fact", "Delta", "Of the confidence", "Passages"], lines, "fact", ""))
    blocks.append(_rest(row, "claims", "confidence"))
    return View(
        "Facts of the passages and what they contributed" if shared.ours else "Facts",
        counted(len(lines), "fact"),
        covers,
        blocks,
    )


def _questions(shared: ViewRows) -> View:
    """Questions that the judge wrote from the answer, masked and as it is, with their cosines."""
    parts = {part: row for part, row in shared.rows.items() if row.evidence.get("questions")}
    read = [(row, read_as(Questions, row)) for row in parts.values()]
    scale = DifferenceAxis(
        [1.0, *(question.cosine for _, evidence in read for question in evidence.questions)], 3
    )
    blocks: list[Block] = _note(_COSINE if shared.ours else "")
    question_lists: list[list[Question]] = []
    for row, evidence in read:
        questions = evidence.questions
        if shared.ours or evidence.masked_answer:
            blocks.append(("head", _FROM[evidence.masked_answer is not None]))
        if evidence.masked_answer:
            slots = {
                f"[{slot.upper()}]"
                for slot in evidence.masked_by_code or evidence.rewritten_placeholders
            }
            blocks.append(("masked", evidence.masked_answer, slots))
        if questions in question_lists:
            blocks.append(("note", "The same questions with the same cosines."))
        else:
            question_lists.append(questions)
            lines = [
                [ViewCell("words", question.question), ViewCell("signed", (question.cosine, scale))]
                for question in questions
            ]
            blocks.append(("table", ["Question", "Cosine"], lines, "question", ""))
        if row.score is not None and _is(
            math.fsum(question.cosine for question in questions) / len(questions), row.score
        ):
            mean = fixed(row.score, 3).replace("-", "−")
            blocks.append(("sum", f"mean of {counted(len(questions), 'cosine')}", mean))
        blocks.append(_rest(row, "questions", "masked_answer"))
    count = counted(
        len(_some([question for questions in question_lists for question in questions])), "question"
    )
    return View(
        "Questions that the answer would answer" if shared.ours else "Questions",
        count,
        list(parts),
        blocks,
    )


def _plain(name: str) -> str:
    return name.replace("_", " ")


def _cells(shared: ViewRows) -> View | None:
    """Every list of objects as a table, all of one row of the evidence that several scores share."""
    blocks: list[Block] = []
    shown_tables: list[Any] = []
    for part, row in shared.rows.items():
        tables = {
            key: value
            for key, value in row.evidence.items()
            if _objects(value) and (key, value) not in shown_tables
        }
        if tables and len(shared.rows) > 1:
            blocks.append(("head", _plain(part) or shared.metric))
        for key, lines in tables.items():
            shown_tables.append((key, lines))
            heads = list(dict.fromkeys(name for line in lines for name in line))
            cells = [[_cell(line.get(head)) for head in heads] for line in lines]
            blocks += [
                ("head", _plain(key).capitalize()),
                ("table", [_plain(head) for head in heads], cells, "line", ""),
            ]
        blocks.append(_rest(row, *(key for key, value in row.evidence.items() if _objects(value))))
    title = _plain(shared.metric.rpartition(".")[2]).capitalize()
    return (
        View(title, counted(len(shown_tables), "table"), list(shared.rows), blocks)
        if shown_tables
        else None
    )


def _objects(value: Any) -> bool:
    return (
        isinstance(value, list) and bool(value) and all(isinstance(entry, dict) for entry in value)
    )


def _cell(value: Any) -> ViewCell:
    if value is None or isinstance(value, bool):
        return ViewCell("line", {None: "–", True: "yes", False: "no"}[value])
    if isinstance(value, int | float):
        return ViewCell("number", f"{value:g}")
    return ViewCell(
        "words", value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    )


def _turns(shared: ViewRows) -> View | None:
    """Who said what, in turn."""
    row = shared.rows_with("turns")[0]
    lines = [
        [ViewCell("line", turn.who), ViewCell("words", turn.text)]
        for turn in read_as(Turns, row).turns
    ]
    return _two(shared, ("Who", "Text"), lines, ("Turns", "turn"), _rest(row, "turns"))


def _marked(shared: ViewRows) -> View | None:
    """Passages of the answer with what they are."""
    row = shared.rows_with("marked")[0]
    marked = read_as(Passages, row).marked
    lines = [
        [ViewCell("words", passage.text), ViewCell("line", passage.label)] for passage in marked
    ]
    return _two(
        shared,
        ("Text", "Label"),
        lines,
        ("Passages of the answer", "passage"),
        _rest(row, "marked"),
    )


def _two(
    shared: ViewRows,
    heads: tuple[str, str],
    lines: Sequence[list[ViewCell]],
    title: tuple[str, str],
    last_block: Block,
) -> View | None:
    """A table of two texts of each entry; None if there is none."""
    blocks: list[Block] = [("table", heads, lines, title[1], ""), last_block]
    return (
        View(title[0], counted(len(lines), title[1]), list(shared.rows), blocks) if lines else None
    )


_MAKERS: dict[str, Callable[[ViewRows], View | None]] = {
    "claims": _claims,
    "points": _points,
    "facts": _facts,
    "questions": _questions,
    "graph": graph_view,
    "turns": _turns,
    "marked": _marked,
    "support": support_view,
    "cells": _cells,
}
"""View -> what makes it of evidence, None where there is nothing to show. The view `judges` is made in `reasons`, for
all metrics of an answer together."""
