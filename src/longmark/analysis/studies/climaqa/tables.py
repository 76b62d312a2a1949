"""The tables of a ClimaQA study: those of the paper, by number, and others."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace as Line
from typing import Any

from longmark.analysis.metaeval.label_sections import Interval, intervals
from longmark.analysis.studies.climaqa.beside import Fever, Window
from longmark.analysis.studies.climaqa.results import OVERALL, Kind, Results
from longmark.analysis.studies.climaqa.rows import BERT, BLEU, EM, FA, FORMS, MCQ, PS, Outcome
from longmark.records.benchmark import Item
from longmark.report.tables import Column, Mean, Table
from longmark.stats.proportion import clustered_share
from longmark.validator.evaluate import Precision
from longmark.validator.labels import EDITED, Labels, is_valid

LETTERS = {"base": "B", "reasoning": "R", "hypothetical": "H", OVERALL: "O"}
OUTCOME = Column("score", "outcome.title", key="score")
_CLOSED = [*((MCQ, level) for level in LETTERS), (EM, OVERALL), (PS, OVERALL)]
_FREE = [(outcome, level) for outcome in (BLEU, BERT, FA) for level in LETTERS]
_SHORT = {"mcq": "MCQ", "em": "EM", "ps": "PS", "fa": "FA"}
_NOTE = (
    "B: base, R: reasoning, H: hypothetical, O: all items, so levels are weighted by their number of items. Bold: "
    "the greatest value of a column. The table of all means has every interval and the number of scored items."
)


def closed(results: Results, items: Sequence[Item], number: int) -> Table:
    """Tables 3 and 6."""
    note = f"MCQ: accuracy. EM: exact match; PS: phrase similarity. {_NOTE}"
    return _means(results, items, (f"table{number}", "Multiple choice and cloze", note), _CLOSED)


def free(results: Results, items: Sequence[Item], number: int) -> Table:
    """Tables 5 and 7."""
    note = f"BLEU: corpus BLEU of characters for each level. FA: factual accuracy. {_NOTE}"
    return _means(results, items, (f"table{number}", "Freeform answers", note), _FREE)


def _means(
    results: Results, items: Sequence[Item], head: tuple[str, str, str], places: Sequence[tuple[Outcome, str]]
) -> Table:
    """The means of each system. head: name, title, note; places: a column each, without those that have no score."""
    made = {
        one.name: [results.cell(outcome, one, items, level).estimate for outcome, level in places]
        for one in results.systems(dict.fromkeys(outcome for outcome, _ in places), items)
    }
    columns = [Column("system")]
    rows: list[list[Any]] = [[name] for name in made]
    for place, (outcome, level) in enumerate(places):
        its = [cells[place] for cells in made.values()]
        if known := [one.value for one in its if one.value is not None]:
            title = _SHORT.get(outcome.key, outcome.title) + (f" {LETTERS[level]}" if outcome.form != "cloze" else "")
            columns.append(Column(title, places=3, kind="mean", key=f"{outcome.key}_{level}"))
            winner = results.best(outcome, list(made), items, level)
            for row, one in zip(rows, its, strict=True):
                # twelve intervals are too broad for a page
                low, high = (one.low, one.high) if places is _CLOSED else (None, None)
                row.append(Mean(one.value, low, high, best=max(known) == one.value and row[0] == winner))
    name, title, note = head
    title = f"{title} (the paper's table {name.removeprefix('table')})"
    return Table(name, title, tuple(columns), [tuple(row) for row in rows], note)


def _ci(results: Results) -> Interval:
    return intervals(results.level)


def tests(results: Results, kind: Kind) -> Table:
    """Settings of a model, or models in a setting."""
    what, within = ("setting", "model") if kind == "settings" else ("model", "setting")
    columns = (
        *(OUTCOME, Column(within, "within", key=within)),
        *(Column(f"first {what}", "first", key="first"), Column(f"second {what}", "second", key="second")),
        *(*_ci(results)("difference", "result"), Column("p", "result.p", kind="p")),
        *(Column("p (Holm)", "adjusted", kind="p"), Column("items", "result.n"), Column("reason", "result.reason")),
    )
    note = (
        "first - second, on the items that both have scores for; BLEU: of single answers. Paired sign-flip tests "
        "(max-T); the interval is the test inverted, so it agrees with p. p (Holm), over the tests of a score in this "
        "table, decides. A difference that is not significant does not show that two "
        f"{what}s are equal."
    )
    return Table(kind, f"Differences between {kind}", columns, results.tests[kind], note)


def advantages(results: Results) -> Table:
    columns = (
        *(Column("setting"), OUTCOME, Column("generator", "author"), Column("other models", "others")),
        *_ci(results)("above the others", "above"),
        *_ci(results)("minus that of factual accuracy", "against", "against"),
        *(Column("p", lambda one: one.against and one.against.p, kind="p", key="p"),),
        *(Column("p (Holm)", "adjusted", kind="p"), Column("items", "above.n"), Column("reason", "above.reason")),
    )
    note = (
        "above the others: the share of other models that the generator scores above on an item; a tie counts half. It "
        "can be compared between scores on different scales. A score that favours the generator's own answers puts it "
        "above others more often than factual accuracy does. Items that every model has every score of. Paired "
        "sign-flip tests (max-T), inverted for the intervals; p (Holm), over the settings and scores, decides."
    )
    return Table("generator", "The generator's own answers", columns, results.advantages, note)


def books(results: Results) -> Table:
    columns = (
        *(Column("book", "name"), Column("pages"), Column("chunks"), Column("characters")),
        *(Column(form, lambda one, form=form: one.items.get(form, 0), key=form) for form in FORMS),  # type: ignore[misc]
        Column("items", lambda one: sum(one.items.values())),
    )
    note = "Items count for the book of their seed passage. A dash: the benchmark does not have this number."
    return Table("table4", "The books (the paper's table 4, figure 6)", columns, results.read.books, note)


def labels(given: Labels, results: Results) -> Table:
    """Table 10."""
    lines = []
    for form in FORMS:
        if items := given.of(form):
            share = clustered_share(list(map(is_valid, items)), given.family(items), results.level)
            edited = sum(one.status == EDITED for one in items)
            valid = sum(map(is_valid, items))
            lines.append(Line(form=form, valid=valid, invalid=len(items) - valid, total=len(items), edited=edited,
                              share=share))  # fmt: skip
    columns = (
        *(Column("form"), Column("valid"), Column("invalid"), Column("total"), Column("edited")),
        *_ci(results)("share valid", "share"),
    )
    note = (
        f"Items, by the majority of raters; {len(given.left_out):,} without a majority and {given.unlabelled:,} "
        "without a verdict are omitted. edited: valid, with an answer that an expert edited. Intervals: Wilson; "
        "a cluster is the items of one seed passage."
    )
    return Table("table10", "Verdicts of experts (the paper's table 10)", columns, lines, note)


def reasons(given: Labels, results: Results) -> Table:
    invalid = [one for one in given.items if not is_valid(one)]
    lines = []
    for name in dict.fromkeys(reason for one in invalid for reason in one.reasons):
        its = [one for one in invalid if name in one.reasons]
        share = clustered_share([name in one.reasons for one in invalid], given.family(invalid), results.level)
        by_form = {form: sum(one.form == form for one in its) for form in FORMS}
        lines.append(Line(reason=name.replace("_", " "), share=share, items=len(its), **by_form))
    columns = (
        *(Column("reason"), *map(Column, FORMS), Column("items"), *_ci(results)("share of invalid items", "share")),
    )
    note = "An item may have several reasons."
    return Table("figure7", "Reasons for rejection (the paper's figure 7)", columns, lines, note)


def precision(given: Sequence[Precision]) -> Table:
    columns = (
        *map(Column, ("form", "split", "way")),
        *intervals(0.95)("precision", "estimate", "precision"),
        Column("items", "n"),
    )
    note = "precision: the share of valid items among kept items. none: all items are kept."
    return Table("figure8", "Precision of the validator (the paper's figure 8)", columns, given, note)


def windows(given: Sequence[Window], results: Results) -> Table:
    columns = (
        *(Column("window", "words", key="window"), *_ci(results)("right", "right"), *_ci(results)("wrong", "wrong")),
        *(*_ci(results)("right - wrong", "difference", "difference"), Column("right answers", "right.n")),
        *(Column("wrong answers", "wrong.n"), Column("reason", "difference.reason")),
    )
    note = (
        "Mean cosine between the phrase with the reference and the phrase with the answer. window: words on each side "
        "of the blank. The difference of the best window is biased upwards, because the window is chosen on the same "
        "answers."
    )
    return Table("figure4", "Cosine by window (the paper's figure 4)", columns, given, note)


def fever(given: Fever, results: Results) -> Table:
    rows = [Line(figure=name, estimate=one, p=getattr(one, "p", None)) for name, one in given.rows.items()]
    columns = (
        *(Column("figure"), *_ci(results)("value", "estimate")),
        *(Column("sentences", "estimate.n"), Column("p", kind="p")),
    )
    note = f"{given.unscored:,} labelled sentences are unscored. Sentences of one claim depend on each other."
    return Table("fever", "Factual accuracy on labelled sentences", columns, rows, note)


def every_mean(results: Results) -> Table:
    columns = (
        *(Column("tier", lambda one: one.tier or None), Column("system", "system.name")),
        *(Column("model", "system.model"), Column("setting", "system.setting"), OUTCOME, Column("level")),
        *(*_ci(results)("mean", "estimate"), Column("scored", "estimate.n"), Column("items", "total")),
        *(Column("unscored"), Column("reason", "estimate.reason")),
    )
    note = "Intervals: Wilson for shares, BCa bootstrap for BLEU, Hall's t for other means."
    return Table("means", "All means", columns, results.cells, note)
