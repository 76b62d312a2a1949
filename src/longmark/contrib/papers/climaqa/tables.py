"""The tables of a ClimaQA study: those of the paper, by number, and others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from longmark.analysis.grid import Cells, Compared, Grid, pairs_grid
from longmark.analysis.metaeval.label_sections import estimates
from longmark.contrib.make.validator.evaluate import Precision
from longmark.contrib.make.validator.labels import EDITED, Labels, is_valid
from longmark.contrib.papers.climaqa.beside import Fever, Window
from longmark.contrib.papers.climaqa.results import (
    OVERALL,
    Advantage,
    ClimaqaResults,
    Kind,
    Place,
    unscored,
)
from longmark.contrib.papers.climaqa.rows import BERT, BLEU, EM, FA, FORMS, MCQ, PS, TableScore
from longmark.report.tables import Column, Table
from longmark.stats.proportion import clustered_share
from longmark.stats.results import Estimate

LETTERS = {"base": "B", "reasoning": "R", "hypothetical": "H", OVERALL: "O"}
_CLOSED = [*((MCQ, level) for level in LETTERS), (EM, OVERALL), (PS, OVERALL)]
_FREE = [(outcome, level) for outcome in (BLEU, BERT, FA) for level in LETTERS]
_SHORT = {"mcq": "MCQ", "em": "EM", "ps": "PS", "fa": "FA"}
_NOTES = (
    "MCQ: accuracy. EM: exact match; PS: phrase similarity. ",
    "BLEU: corpus BLEU of characters for each level. FA: factual accuracy. ",
)
_NOTE = (
    "B: base, R: reasoning, H: hypothetical, O: all items, so levels are weighted by their number of items. Bold: "
    "the greatest value of a column. The table of all means has every interval and the number of scored items."
)


def closed(results: ClimaqaResults, items: str, number: int) -> Grid[str]:
    """Tables 3 and 6."""
    return _means(results, items, number, "Multiple choice and cloze", _CLOSED)


def free(results: ClimaqaResults, items: str, number: int) -> Grid[str]:
    """Tables 5 and 7. Twelve intervals are too broad for a page."""
    return _means(results, items, number, "Freeform answers", _FREE, "value")


def _means(
    results: ClimaqaResults,
    items: str,
    number: int,
    title: str,
    of: Sequence[tuple[TableScore, str]],
    kind: str = "",
) -> Grid[str]:
    """The means of each system. of: a column each, without those that have no score."""
    systems = [
        one.name
        for one in results.systems(
            dict.fromkeys(outcome for outcome, _ in of), results.tiers[items]
        )
    ]
    columns, places, best = [], {}, {}
    for outcome, level in of:
        values = {name: results.at(Place(items, name, outcome, level)).value for name in systems}
        if known := [value for value in values.values() if value is not None]:
            name = _SHORT.get(outcome.key, outcome.title) + (
                f" {LETTERS[level]}" if outcome.form != "cloze" else ""
            )
            columns.append(Column(name, places=3, kind=kind, key=f"{outcome.key}_{level}"))
            places[name] = outcome, level
            winner = results.best(outcome, systems, results.tiers[items], level)
            best[name] = [winner] if winner and values[winner] == max(known) else []
    cell: Cells = lambda system, column: results.at(Place(items, system, *places[column]))  # noqa: E731
    name, title = f"table{number}", f"{title} (the paper's table {number})"
    return Grid(
        name, title, ("system",), systems, columns, cell, _NOTES[of is _FREE] + _NOTE, "", best
    )


def tests(results: ClimaqaResults, kind: Kind) -> Grid[Compared]:
    """Settings of a model, or models in a setting."""
    what, within = ("setting", "model") if kind == "settings" else ("model", "setting")
    note = (
        "first - second, on the items that both have scores for; BLEU: of single answers. Paired sign-flip tests "
        "(max-T); the interval is the test inverted, so it agrees with p. p (Holm), over the tests of a score in this "
        f"table, decides. A difference that is not significant does not show that two {what}s are equal."
    )
    heads = (
        *(Column("score", lambda one: one.within[0]), Column(within, lambda one: one.within[1])),
        *(
            Column(f"first {what}", "first", key="first"),
            Column(f"second {what}", "second", key="second"),
        ),
    )
    title, alpha = f"Differences between {kind}", results.options.alpha
    return replace(pairs_grid(kind, title, results.tests[kind], note, heads, alpha), unit="items")


def advantages(results: ClimaqaResults) -> Grid[Advantage]:
    heads = (
        "setting",
        Column("score", "outcome.title"),
        Column("generator", "author"),
        Column("other models", "others"),
    )
    columns = estimates("above the others=above", "minus that of factual accuracy=against")
    p = Column("p", lambda one: one.against and one.against.p, kind="p")
    note = (
        "above the others: the share of other models that the generator scores above on an item; a tie counts half. It "
        "can be compared between scores on different scales. A score that favours the generator's own answers puts it "
        "above others more often than factual accuracy does. Items that every model has every score of. Paired "
        "sign-flip tests (max-T), inverted for the intervals; p (Holm), over the settings and scores, decides."
    )
    title, beside = (
        "The generator's own answers",
        (p, Column("p (Holm)", "adjusted", kind="p", key="p_adjusted")),
    )
    return Grid(
        "generator", title, heads, results.advantages, columns, None, note, "items", beside=beside
    )


def books(results: ClimaqaResults) -> Table:
    columns = (
        *(Column("book", "name"), Column("pages"), Column("chunks"), Column("characters")),
        *(Column(form, lambda one, form=form: one.items.get(form, 0), key=form) for form in FORMS),  # type: ignore[misc]
        Column("items", lambda one: sum(one.items.values())),
    )
    note = "Items count for the book of their seed passage. A dash: the benchmark does not have this number."
    return Table(
        "table4", "The books (the paper's table 4, figure 6)", columns, results.read.books, note
    )


def labels(given: Labels, results: ClimaqaResults) -> Grid[str]:
    """Table 10."""
    of = {
        str(form): (items, list(map(is_valid, items)))
        for form in FORMS
        if (items := given.of(form))
    }
    note = (
        f"Items, by the majority of raters; {len(given.left_out):,} without a majority and {given.unlabelled:,} "
        "without a label are omitted. edited: valid, with an answer that an expert edited. A cluster is the items of "
        "one seed passage."
    )

    def share(form: str, _column: str) -> Estimate:
        return clustered_share(of[form][1], given.family(of[form][0]), results.level)

    beside = (
        *(
            Column("valid", lambda form: sum(of[form][1])),
            Column("invalid", lambda form: of[form][1].count(False)),
        ),
        Column("edited", lambda form: sum(one.status == EDITED for one in of[form][0])),
    )
    title, columns = "Labels of experts (the paper's table 10)", [Column("share valid", places=3)]
    return Grid("table10", title, ("form",), list(of), columns, share, note, "total", beside=beside)


def reasons(given: Labels, results: ClimaqaResults) -> Grid[str]:
    invalid = [one for one in given.items if not is_valid(one)]
    names = list(dict.fromkeys(reason for one in invalid for reason in one.reasons))

    def count(reason: str, form: str = "") -> int:
        return sum(reason in one.reasons and form in ("", one.form) for one in invalid)

    def share(reason: str, _column: str) -> Estimate:
        return clustered_share(
            [reason in one.reasons for one in invalid], given.family(invalid), results.level
        )

    heads = [Column("reason", lambda reason: reason.replace("_", " "))]
    columns = [Column("share of invalid items", places=3)]
    beside = [*(Column(form, partial(count, form=form)) for form in FORMS), Column("items", count)]
    title, note = (
        "Reasons for rejection (the paper's figure 7)",
        "An item may have several reasons.",
    )
    return Grid(
        "figure7", title, heads, names, columns, share, note, "invalid items", beside=beside
    )


def precision(precisions: Sequence[Precision]) -> Grid[Precision]:
    heads, note = (
        ("form", "split", "way"),
        "The share of valid items among kept items. none: all items are kept.",
    )
    title, columns = (
        "Precision of the validator (the paper's figure 8)",
        [Column("precision", "estimate", 3)],
    )
    return Grid("figure8", title, heads, precisions, columns, note=note, unit="items")


def windows(given: Sequence[Window]) -> Grid[Window]:
    note = (
        "Mean cosine between the phrase with the reference and the phrase with the answer. window: words on each side "
        "of the blank. The difference of the best window is biased upwards, because the window is chosen on the same "
        "answers."
    )
    heads, columns = (
        [Column("window", "words")],
        estimates("right", "wrong", "right - wrong=difference"),
    )
    title = "Cosine by window (the paper's figure 4)"
    return Grid("figure4", title, heads, given, columns, note=note, unit="right answers")


def fever(given: Fever) -> Grid[str]:
    note = f"{given.unscored:,} labelled sentences are unscored. Sentences of one claim depend on each other."
    cell: Cells = lambda name, _column: given.rows[name]  # noqa: E731
    title, columns = "Factual accuracy on labelled sentences", [Column("value", places=3)]
    beside = [Column("p", lambda name: getattr(given.rows[name], "p", None), kind="p")]
    return Grid(
        "fever",
        title,
        ("figure",),
        list(given.rows),
        columns,
        cell,
        note,
        "sentences",
        beside=beside,
    )


def every_mean(results: ClimaqaResults) -> Grid[Place]:
    systems = results.read.systems

    def why(place: Place) -> str | None:
        return unscored(place.outcome, systems[place.system], results.items_at(place)) or None

    heads = (
        Column("tier", lambda place: results.items_at(place)[0].tier),
        *(Column("system"), Column("model", lambda place: systems[place.system].model)),
        *(
            Column("setting", lambda place: systems[place.system].setting),
            Column("score", "outcome.title"),
            "level",
        ),
    )
    columns = [Column("mean", places=3)]
    cell: Cells = lambda place, _column: results.at(place)  # noqa: E731
    rows, beside = results.places, [Column("unscored", why)]
    return Grid("means", "All means", heads, rows, columns, cell, unit="items", beside=beside)
