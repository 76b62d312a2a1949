"""The page of a CALF study: accuracy on people's choices first, then the paper's tables and figures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from longmark.analysis.metaeval import label_sections
from longmark.analysis.metaeval.sections import raters
from longmark.analysis.studies.calf import cases, tables
from longmark.analysis.studies.calf.results import NO_SECOND, Results
from longmark.analysis.studies.study import Part, notices, sections
from longmark.report.charts import Stack, forest, stacked
from longmark.report.document import Document, Section
from longmark.report.figures import Figure
from longmark.report.format import counted, fixed, listed, metric_titles
from longmark.report.tables import Column

_RATERS = "Raters"
_MAPS = {"human/human": "figure 9", "human/model": "figure 10", "model/model": "figure 11"}
_CHANCE = round(1 / 3, 3)


def document(results: Results, stages: Mapping[str, Any], settings: Mapping[str, Any]) -> Document:
    """The page. stages: their states; settings: how the choices were made."""
    pairs, options, parts = results.pairs, results.options, list(_parts(results))
    modes = [f"{len(rows):,} {mode}" for mode, rows in results.modes.items()]
    return Document(
        kind="calf study",
        title="Metrics against people's choices between two long answers",
        lede=f"{counted(len(pairs), 'pair')} of {counted(len({pair.question for pair in pairs}), 'question')}"
        f"{f' ({listed(modes)})' if modes else ''}, {counted(len(results.read.judges), 'metric')}",
        sections=list(_sections(results, parts, stages)),
        notices=[*results.read.notices, *results.notices, *notices(parts, results, stages)],
        settings={
            **settings,
            "runs": [str(run) for run in results.read.runs],
            "alpha": options.alpha,
            "seed": options.seed,
            "development split": options.development,
        },
    )


def _sections(results: Results, parts: Sequence[Part[Results]], stages: Mapping[str, Any]) -> Iterator[Section]:
    """Those of the parts, with the raters' agreement behind their tables."""
    for one in sections(parts, results, stages):
        yield one
        if one.title == _RATERS:
            yield raters(results.people, "pair")


def _parts(results: Results) -> Iterator[Part[Results]]:
    yield Part("Accuracy", in_words(results), lambda r: [tables.accuracy(r)], lambda r: [_accuracy(r)])
    says = "Accuracy by the subject of the question."
    yield Part("Subjects", says, tables.accuracies, absent=lambda r: _none(r.subjects, "subject", "tables 3, 5 and 15"))
    says = "Accuracy by who wrote the two answers."
    yield Part("Modes", says, tables.modes, absent=lambda r: _none(r.modes, "mode", "table 4"))
    says = "Accuracy by the category of the question (appendix A.1)."
    yield Part("Categories of questions", says, tables.categories, lambda r: [_categories(r)])
    says = "How often two metrics, or a metric and a baseline, make the same choice."
    yield Part("Agreement between metrics", says, lambda r: [tables.same_choices(r)], _maps)
    table, figure = label_sections.differences(
        "differences",
        "Differences in accuracy",
        results.differences,
        "Over the pairs on which both have a choice. Paired sign-flip tests (max-T); the signs of a question flip "
        "together. The interval is the test inverted, so it agrees with p. p (Holm), over all pairs of metrics, "
        "decides.",
        results.options.alpha,
        [Column(f"only {one} right", f"result.only_{one}", key=f"only_{one}") for one in ("first", "second")],
    )
    says = "Which of two metrics agrees with people more often. One that is not significant does not show equality."
    yield Part("Differences between metrics", says, lambda _: [table], lambda _: [figure])
    says = "Whether a judge's choice depends on which answer it sees first."
    yield Part("Order of the answers", says, lambda r: [tables.orders(r)], lambda r: [_first(r)])
    says = "How often people's choice is among a judge's votes, and how often most votes are for it."
    yield Part("Votes", says, lambda r: [tables.votes(r)], lambda r: [_votes(r)])
    says = "How often two raters agree, and how metrics do where they did not and where they did (appendix C.4)."
    yield Part(_RATERS, says, lambda r: [tables.table2(r), *tables.disputes(r)], absent=_no_second)
    says = "Tie bands, and the best metric, are chosen on some of the questions and tested on the others."
    note = "The sections above are over all pairs."
    yield Part("Development split", says, lambda r: [tables.developed(r)], note=note)
    yield Part(
        "Disagreements with people",
        "The pairs on which each metric disagrees most with people (appendix C.5): both answers side by side, people's "
        "choice, and the choice of every metric.",
        links=lambda r: [(path, name) for name, path in cases.links(r).items()],
    )
    yield Part("The pairs", "What the data set contains.", lambda r: [tables.table1(r), *tables.table6(r)])


def _none(groups: Mapping[str, Any], what: str, of: str) -> str:
    return "" if groups else f"The pairs have no {what}. Left out: {of}."


def _no_second(results: Results) -> str:
    twice = results.disputed or results.undisputed
    return "" if twice else f"Tables 2, 16 and 17 are left out: {NO_SECOND}. No pair has the choices of two raters."


def _accuracy(results: Results) -> Figure:
    words, best = metric_titles(one.metric for one in results.metrics), results.best_baseline
    rows = [label_sections.lane(words[one.metric], one.accuracy) for one in results.metrics]
    lines = (_CHANCE,) if best is None or best.accuracy.value is None else (_CHANCE, round(best.accuracy.value, 3))
    return forest(rows, "Accuracy on a, b or tie; dashed: chance, and the best baseline", lines)


def in_words(results: Results) -> str:
    """The best metric beside the best baseline and the raters' agreement."""
    known = [one for one in results.metrics if not one.direction and one.accuracy.value is not None]
    says = [f"{counted(sum(gold is not None for gold in results.gold), 'pair')} with people's choice."]
    if known:
        best = max(known, key=lambda one: one.accuracy.value or 0.0)
        says.append(f"The best metric is {best.metric}: {fixed(best.accuracy.value, 3)}.")
        above = [one.metric for one in known if tables.verdict(results, one) == "above"]
        says.append(f"Above the best baseline: {listed(above, 8) if above else 'no metric'}.")
    if (base := results.best_baseline) is not None:
        says.append(f"The best baseline is {base.metric!r}: {fixed(base.accuracy.value, 3)}.")
    agree = results.agreeing(range(len(results.pairs)))
    says.append(f"Agreement of raters: {NO_SECOND if agree.value is None else fixed(agree.value, 3)}.")
    if undecided := results.gold.count(None):
        says.append(f"Left out: {counted(undecided, 'pair')} without people's choice.")
    return " ".join(says)


def _maps(results: Results) -> Sequence[Figure]:
    """Figures 3 and 9 to 11."""
    groups = {"all pairs (the paper's figure 3)": range(len(results.pairs))}
    if len(results.modes) > 1:
        groups |= {f"{mode} (the paper's {_MAPS[mode]})": rows for mode, rows in results.modes.items()}  # type: ignore[misc]
    title = "Share of pairs with the same choice"
    return [
        label_sections.same_choices(results.agreements(rows), label=f"{title}, {of}").figures[0]
        for of, rows in groups.items()
    ]


def _categories(results: Results) -> Figure:
    """Figure 4."""
    groups = {"all": range(len(results.pairs)), **results.subjects}
    bars = [
        Stack(name, [(category, len(set(rows) & set(its))) for category, its in results.categories.items()])
        for name, rows in groups.items()
    ]
    return stacked(bars, "Categories of questions (the paper's figure 4)")


def _first(results: Results) -> Figure:
    rows = [label_sections.lane(one.metric, one.first) for one in results.orders]
    return forest(rows, "Share of decisions for the answer shown first; dashed: no bias", 0.5)


def _votes(results: Results) -> Figure:
    rows = [
        label_sections.lane(f"{one.metric}, {one.subject or 'all'}: {what}", estimate)
        for one in results.votes
        for what, estimate in (("among the votes", one.among), ("plurality", one.plurality))
    ]
    return forest(rows, "People's choice among the votes, and plurality (the paper's figure 2)", None)
