"""The page of a CALF study: accuracy on human choices first, then the paper's tables and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from longmark.analysis.metaeval.label_sections import differences
from longmark.analysis.metaeval.sections import raters
from longmark.contrib.papers.calf import cases, tables
from longmark.contrib.papers.calf.results import NO_SECOND, ORDERS, VOTES, Results
from longmark.contrib.papers.study import Part, notices, sections
from longmark.report.charts import Stack, stacked
from longmark.report.document import Document, Section
from longmark.report.figures import Figure
from longmark.report.format import counted, fixed, listed
from longmark.report.tables import Column, Table

_RATERS = "Raters"
_NO_RATERS = (
    f"Tables 2, 16 and 17 are left out: {NO_SECOND}. No pair has the choices of two raters."
)
_FIRST = "Share of decisions for the answer shown first; dashed: no bias"
_MAPS = {
    "all": "figure 3",
    "human/human": "figure 9",
    "human/model": "figure 10",
    "model/model": "figure 11",
}
_CHANCE = round(1 / 3, 3)


def document(results: Results, stages: Mapping[str, Any], settings: Mapping[str, Any]) -> Document:
    """The page. stages: their states; settings: how the choices were made."""
    pairs, options = results.pairs, results.options
    modes = [f"{len(rows):,} {mode}" for mode, rows in results.modes.items()]
    return Document(
        kind="calf study",
        title="Metrics against human choices between two long answers",
        lede=f"{counted(len(pairs), 'pair')} of {counted(len({pair.question for pair in pairs}), 'question')}"
        f"{f' ({listed(modes)})' if modes else ''}, {counted(len(results.read.judges), 'metric')}",
        sections=list(_sections(results, stages)),
        notices=[*results.read.notices, *results.notices, *notices(PARTS, results, stages)],
        settings={
            **settings,
            "runs": [str(run) for run in results.read.runs],
            "alpha": options.alpha,
            "seed": options.seed,
            "development split": options.development,
        },
    )


def _sections(results: Results, stages: Mapping[str, Any]) -> Iterator[Section]:
    """Those of the parts, with the raters' agreement behind their tables."""
    for one in sections(PARTS, results, stages):
        yield one
        if one.title == _RATERS:
            yield replace(raters(results.people, "pair"), folded=True)


def _none(groups: Mapping[str, Any], what: str, of: str) -> str:
    return "" if groups else f"The pairs have no {what}. Left out: {of}."


def _accuracy(results: Results) -> Figure:
    best = results.best_baseline
    lines = (
        (_CHANCE,)
        if best is None or best.accuracy.value is None
        else (_CHANCE, round(best.accuracy.value, 3))
    )
    label = "Accuracy on a, b or tie; dashed: chance, and the best baseline"
    return tables.accuracy(results).forest(label, reference=lines)


_UNDECIDED = (
    "The best metric is undecided: several are equally accurate on the pairs that all choose on, or another one is "
    "best with missing choices counted as wrong."
)


def in_words(results: Results) -> str:
    """The best metric beside the best baseline and the raters' agreement."""
    known = [one for one in results.metrics if not one.direction and one.accuracy.value is not None]
    says = [
        f"{counted(sum(gold is not None for gold in results.gold), 'pair')} with a human choice."
    ]
    if known:
        accuracy = {one.metric: one.accuracy.value for one in known}
        best = results.best(accuracy, [range(len(results.pairs))])
        says.append(
            f"The best metric is {best}: {fixed(accuracy[best], 3)}." if best else _UNDECIDED
        )
        above = [one.metric for one in known if tables.against_baseline(results, one) == "above"]
        says.append(f"Above the best baseline: {listed(above, 8) if above else 'no metric'}.")
    if (base := results.best_baseline) is not None:
        says.append(f"The best baseline is {base.metric!r}: {fixed(base.accuracy.value, 3)}.")
    agree = results.agreeing(range(len(results.pairs)))
    says.append(
        f"Agreement of raters: {NO_SECOND if agree.value is None else fixed(agree.value, 3)}."
    )
    if undecided := results.gold.count(None):
        says.append(f"Left out: {counted(undecided, 'pair')} without a human choice.")
    return " ".join(says)


def _maps(results: Results) -> Sequence[Figure]:
    """Figures 3 and 9 to 11."""
    of = "Share of pairs with the same choice, "
    return [
        tables.matrix(results, rows).heat_map(f"{of}{mode} (the paper's {_MAPS[mode]})", 0.0, 1.0)
        for mode, rows in tables.every_mode(results).items()
    ]


def _differences(results: Results) -> tuple[Table, Figure]:
    only = [
        Column(f"only {one} right", f"result.only_{one}", key=f"only_{one}")
        for one in ("first", "second")
    ]
    note = (
        "Over the pairs on which both have a choice. Paired sign-flip tests (max-T); the signs of a question flip "
        "together. The interval is the test inverted, so it agrees with p. p (Holm), over all pairs of metrics, "
        "decides."
    )
    title, alpha = "Differences in accuracy", results.options.alpha
    return differences("differences", title, results.differences, note, alpha, only)


def _categories(results: Results) -> Figure:
    """Figure 4."""
    groups = {"all": range(len(results.pairs)), **results.subjects}
    bars = [
        Stack(
            name,
            [(category, len(set(rows) & set(its))) for category, its in results.categories.items()],
        )
        for name, rows in groups.items()
    ]
    return stacked(bars, "Categories of questions (the paper's figure 4)")


PARTS: tuple[Part[Results], ...] = (
    Part("Accuracy", in_words, lambda r: [tables.accuracy(r)], lambda r: [_accuracy(r)]),
    Part(
        "Subjects",
        "Accuracy by the subject of the question.",
        tables.subjects,
        absent=lambda r: _none(r.subjects, "subject", "tables 3, 5 and 15"),
    ),
    Part(
        "Modes",
        "Accuracy by who wrote the two answers. H: human, M: model.",
        tables.modes,
        absent=lambda r: _none(r.modes, "mode", "table 4"),
    ),
    Part(
        "Categories of questions",
        "Accuracy by the category of the question (appendix A.1).",
        tables.categories,
        lambda r: [_categories(r)],
    ),
    Part(
        "Agreement between metrics",
        "How often two metrics, or a metric and a baseline, make the same choice.",
        lambda r: [tables.same_choices(r)],
        _maps,
    ),
    Part(
        "Differences between metrics",
        "Which of two metrics agrees with human choices more often. No significant difference does not mean equal.",
        lambda r: [_differences(r)[0]],
        lambda r: [_differences(r)[1]],
    ),
    Part(
        "Order of the answers",
        "Whether a judge's choice depends on which answer it sees first.",
        lambda r: [tables.orders(r)],
        lambda r: [tables.orders(r).forest(_FIRST, ORDERS[1], 0.5)],
    ),
    Part(
        "Votes",
        "How often the human choice is among a judge's votes, and how often it has most of them.",
        lambda r: [tables.votes(r)],
        lambda r: [
            tables.votes(r).forest(f"Human choice: {what} (the paper's figure 2)", what)
            for what in VOTES[:2]
        ],
    ),
    Part(
        _RATERS,
        "How often two raters agree, and how metrics do where they did not and where they did (appendix C.4).",
        lambda r: [tables.table2(r), *tables.disputes(r)],
        absent=lambda r: "" if r.disputed or r.undisputed else _NO_RATERS,
    ),
    Part(
        "Development split",
        "Tie bands, and the best metric, are chosen on some of the questions and tested on the others.",
        lambda r: [tables.developed(r)],
        note="The sections above are over all pairs.",
    ),
    Part(
        "Disagreements with human choices",
        "The pairs on which each metric disagrees most with raters (appendix C.5): both answers side by side, "
        "the human choice, and the choice of every metric.",
        links=lambda r: [(path, name) for name, path in cases.links(r).items()],
    ),
    Part(
        "The pairs", "What the data set contains.", lambda r: [tables.table1(r), *tables.table6(r)]
    ),
)
