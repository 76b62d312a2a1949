"""The first page of `longmark demo`: the result in words, the worst answers, the metrics, links to the other pages."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rich.console import Console

from longmark.analysis.compare import Comparison, compare
from longmark.analysis.compare import document as comparison_page
from longmark.analysis.compare.page import conclusion
from longmark.analysis.compare.results import MetricResult
from longmark.analysis.metaeval import Metaeval, metaeval
from longmark.analysis.metaeval.sections import document as validation_page
from longmark.records import Example, Row
from longmark.records.pair import singles
from longmark.records.write import read_rows
from longmark.report.document import Document, Section, publish, write_document
from longmark.report.format import counted, fixed, listed, metric_titles, p_value
from longmark.report.html import write_report
from longmark.report.tables import Column, Table
from longmark.scores.files import examples_of

COMPARED = ("ccrs.contextual_coherence", "ccrs.question_relevance")
METRICS = (*COMPARED, "score.readability")
COSTLY, FEW = "score.context_utilization", 9  # answers: those to three questions

SYSTEMS = {
    "reader": "answers from the passages",
    "memory": "answers without the passages",
    "keyword": "picks a sentence on the subject",
}
_MEANINGS = {
    "ccrs.contextual_coherence": "the judge's probability that the answer follows from its passage",
    "ccrs.question_relevance": "the judge's probability that the answer addresses the question",
}
_WORST = 6
_LIMITS = (
    "The judge is a model of 1.5 billion parameters. It notices answers that contradict or leave their passages. It "
    "does not notice padding or small differences between good answers, and its scores are not fit for publication.",
    "The answers and the ratings were written by one author for this demo. With your data, let several people rate, "
    "and use a judge that agrees with them.",
    "The questions are few. A difference that is not significant does not show that two systems are equal.",
)


@dataclass(frozen=True)
class Found:
    """What the demo found. trusted: the compared metric whose scores correlate most with the ratings, None if none
    does; rows: of that metric, the lowest score first; ratings: example id -> the line of the file."""

    scores: Path
    comparison: Comparison
    validation: Metaeval
    trusted: MetricResult | None
    metrics: Table
    rows: tuple[Row, ...]
    examples: dict[str, Example]
    ratings: dict[str, dict[str, str]]

    @classmethod
    def of(cls, scores: Path, ratings: Path) -> Found:
        """Compares the systems, and the metrics with the ratings."""
        comparison = compare([scores], metrics=COMPARED)
        validation = metaeval(scores, ratings)
        metrics = validation_page(validation).sections[0].tables[0]
        rhos = {name: rho for name, (rho, agrees) in _against_people(metrics).items() if agrees}
        agreeing = [one for one in comparison.metrics if one.metric in rhos]
        trusted = max(agreeing, key=lambda one: rhos[one.metric] or 0.0, default=None)
        rows = [row for row in read_rows(scores / "rows.jsonl") if trusted and row.metric == trusted.metric]
        with ratings.open(encoding="utf-8", newline="") as file:
            rated = {line["example_id"]: line for line in csv.DictReader(file)}
        return cls(
            scores,
            comparison,
            validation,
            trusted,
            metrics,
            tuple(sorted((row for row in rows if row.score is not None), key=lambda row: row.score or 0.0)),
            {example.id: example for example in singles(examples_of(scores), scores)},
            rated,
        )


def write_pages(found: Found, out: Path, costly: Path) -> None:
    """Writes the report of the scores, that of the costly metric, the comparison, the validation and the first page."""
    quiet = Console(file=io.StringIO())
    write_report([found.scores], out / "report.html")
    write_report([costly], out / "costly.html")
    publish(comparison_page(found.comparison), out / "compare", quiet)
    publish(validation_page(found.validation), out / "metaeval", quiet)
    write_document(document(found), out / "index.html")


def in_words(found: Found) -> list[str]:
    """The result: which system is better, which metrics to trust, where the worst answer is."""
    lines = [_better(found), _agreement(found)]
    if found.rows:
        row = found.rows[0]
        lines.append(f"Lowest score: {row.system} on {_question(found, row)} ({fixed(row.score, 2)})")
    return lines


def _better(found: Found) -> str:
    """The conclusion of the comparison on the trusted metric."""
    one = found.trusted
    if one is None:
        return "Which system is better: undecided, because no metric of the judge agrees with the ratings."
    words = conclusion(one)
    if not any(pair.significant for pair in one.pairs):
        return f"Which system is better: undecided ({words})."
    return f"The system {words}, by {_title(one.metric)}."


def _agreement(found: Found) -> str:
    """Which compared metrics agree with the ratings, and which do not."""
    known = _against_people(found.metrics)
    says = []
    for name in sorted(COMPARED, key=lambda one: not known[one][1]):
        rho = fixed(known[name][0], 2)
        if known[name][1]:
            says.append(f"{_title(name).capitalize()} agrees with the ratings (rank correlation {rho}).")
        else:
            says.append(f"{_title(name).capitalize()} by this judge is not shown to agree with the ratings ({rho}).")
    return " ".join(says)


def _against_people(metrics: Table) -> dict[str, tuple[float | None, bool]]:
    """Metric -> its rank correlation with the ratings, and whether it correlates significantly."""
    heads = [column.name for column in metrics.columns]
    lines = [dict(zip(heads, row, strict=True)) for row in metrics.rows]
    return {
        line["metric"]: (line["Spearman"].value, line["conclusion"].startswith("correlates with")) for line in lines
    }


def _title(metric: str) -> str:
    words = metric_titles([metric])[metric]
    return words[:1].lower() + words[1:]


def _question(found: Found, row: Row) -> str:
    return f'"{found.examples[row.example_id].question}"'


def document(found: Found) -> Document:
    answers, questions = len(found.examples), len({one.question_id for one in found.examples.values()})
    report = ("report.html", "Every answer with its scores and the judge's replies")
    sections = [
        _systems(found),
        _worst(found, report),
        _metrics(found),
        _costly(),
        Section("Limits", " ".join(_LIMITS)),
    ]
    return Document(
        kind="demo",
        title=_better(found).rstrip("."),
        lede=f"{answers} short answers of {counted(len(SYSTEMS), 'system')} to {counted(questions, 'question')}, "
        "scored by a small judge on this machine and rated by the author of this demo.",
        sections=sections,
        settings={"judge": sorted({name for row in found.rows for name in row.signature.models.get("judge", [])})},
    )


def _systems(found: Found) -> Section:
    """Means and ratings of the systems, and their differences on the trusted metric."""
    one = found.trusted
    title = "Which system is better"
    link = ("compare/report.html", "The comparison: all metrics, tests and intervals")
    if one is None:
        return Section(title, "Undecided: no metric of the judge agrees with the ratings.", links=(link,))
    name, ci = _title(one.metric).capitalize(), f"{100 * found.comparison.settings.level:g} % CI"
    ratings: dict[str, list[float]] = {}
    for example in found.examples.values():
        ratings.setdefault(example.system or "", []).append(float(found.ratings[example.id]["value"]))
    systems = Table(
        "systems",
        "The systems",
        (
            Column("system", "system"),
            Column("what it does", lambda its: SYSTEMS.get(its.system)),
            Column(name, "mean", one.places, "estimate", "mean"),
            Column("mean rating (1 to 5)", lambda its: sum(ratings[its.system]) / len(ratings[its.system]), 1),
        ),
        one.systems,
        unit="answers",
    )
    pairs = Table(
        "pairs",
        f"Differences in {_title(one.metric)}",
        (
            Column("pair", lambda pair: f"{pair.first} - {pair.second}"),
            Column("difference", "difference", one.places, "estimate"),
            Column("p (adjusted)", "p", kind="p"),
            Column("conclusion", lambda pair: f"{pair.better} is better" if pair.better else "undecided"),
        ),
        one.pairs,
        "p (adjusted) decides: it allows for all pairs and metrics that were tested.",
        unit="questions",
    )
    best = next((pair for pair in one.pairs if pair.significant), None)
    says = _better(found)
    if best is not None:
        low, high = (fixed(end, one.places) for end in best.difference.ends or (None, None))
        says += (
            f" Over {counted(best.common.n, 'question')}, {best.first} scores "
            f"{fixed(best.difference.value, one.places)} more than {best.second} "
            f"({ci} {low} to {high}, {p_value(best.p)})."
        )
    if open_ := [pair for pair in one.pairs if not pair.significant]:
        says += f" Undecided: {listed([f'{pair.first} and {pair.second}' for pair in open_])}."
    return Section(title, says, (systems, pairs), links=(link,))


def _worst(found: Found, link: tuple[str, str]) -> Section:
    """The answers with the lowest scores of the trusted metric, with the passage, the judge and the rater."""
    if found.trusted is None:
        return Section("The worst answers", "Not listed: no metric agrees with the ratings.", links=(link,))

    def example(row: Row) -> Example:
        return found.examples[row.example_id]

    columns = (
        Column("system"),
        Column("question", lambda row: example(row).question),
        Column("answer", lambda row: example(row).answer),
        Column("passage", lambda row: " ".join(context.text for context in example(row).contexts)),
        Column(_title(found.trusted.metric), "score", 2),
        Column("rating", lambda row: int(found.ratings[row.example_id]["value"])),
        Column("the rater's reason", lambda row: found.ratings[row.example_id]["reason"] or None),
    )
    rows = found.rows[:_WORST]
    name = _title(found.trusted.metric)
    says = f"The {len(rows)} lowest scores of {name}: {_counted(rows)}."
    note = f"{name.capitalize()}: {_MEANINGS[found.trusted.metric]}. The rating is from 1 to 5."
    return Section(
        "The worst answers", says, (Table("worst", "The worst answers", columns, rows, note),), links=(link,)
    )


def _counted(rows: Sequence[Row]) -> str:
    """`4 of keyword and 2 of memory`."""
    names = [row.system for row in rows]
    return listed([f"{names.count(name)} of {name}" for name in sorted(set(names), key=lambda one: -names.count(one))])


def _metrics(found: Found) -> Section:
    """Each metric against the ratings."""
    note = (
        "Spearman's rank correlation of the scores with the ratings: 1 is the same order, 0 none. The interval counts "
        "the questions, not the answers. Readability needs no judge."
    )
    table = replace(found.metrics, name="metrics", title="Metrics against ratings", note=note)
    link = ("metaeval/report.html", "The validation: every metric against the ratings")
    return Section("Agreement with the ratings", _agreement(found), (table,), links=(link,))


def _costly() -> Section:
    says = (
        "Context utilization takes the facts out of a passage one by one and measures how much less likely the answer "
        "becomes. It needs several calls for each answer, so the demo computes it for the first questions only."
    )
    link = ("costly.html", f"Context utilization of {FEW} answers")
    return Section("A metric that shows which facts an answer uses", says, links=(link,))
