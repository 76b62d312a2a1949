"""The tables of a ClimaQA study: those of the paper, by number, and others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from longmark.analysis.grid import Compared, Grid, pairs_grid
from longmark.analysis.metaeval.label_sections import estimates
from longmark.contrib.make.validator.evaluate import Precision
from longmark.contrib.make.validator.labels import EDITED, ValidityLabels, is_valid
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
    outcome_levels: Sequence[tuple[TableScore, str]],
    kind: str = "",
) -> Grid[str]:
    """The means of each system. outcome_levels: a column each, without those that have no score."""
    systems = [
        system.name
        for system in results.systems(
            dict.fromkeys(outcome for outcome, _ in outcome_levels), results.tiers[items]
        )
    ]
    columns = []
    places = {}
    best = {}
    for outcome, level in outcome_levels:
        values = {name: results.at(Place(items, name, outcome, level)).value for name in systems}
        if scored_means := [value for value in values.values() if value is not None]:
            name = _SHORT.get(outcome.key, outcome.title) + (
                f" {LETTERS[level]}" if outcome.form != "cloze" else ""
            )
            columns.append(Column(name, places=3, kind=kind, key=f"{outcome.key}_{level}"))
            places[name] = outcome, level
            winner = results.best(outcome, systems, results.tiers[items], level)
            best[name] = [winner] if winner and values[winner] == max(scored_means) else []
    return Grid(
        f"table{number}",
        f"{title} (the paper's table {number})",
        ("system",),
        systems,
        columns,
        lambda system, column: results.at(Place(items, system, *places[column])),
        _NOTES[outcome_levels is _FREE] + _NOTE,
        unit="",
        best=best,
    )


def tests(results: ClimaqaResults, kind: Kind) -> Grid[Compared]:
    """Settings of a model, or models in a setting."""
    compared_kind, within = ("setting", "model") if kind == "settings" else ("model", "setting")
    note = (
        "first - second, on the items that both have scores for; BLEU: of single answers. Paired sign-flip tests "
        "(max-T); the interval is the test inverted, so it agrees with p. p (Holm), over the tests of a score in this "
        f"table, decides. A difference that is not significant does not show that two {compared_kind}s are equal."
    )
    heads = (
        Column("score", lambda row: row.within[0]),
        Column(within, lambda row: row.within[1]),
        Column(f"first {compared_kind}", "first", key="first"),
        Column(f"second {compared_kind}", "second", key="second"),
    )
    title = f"Differences between {kind}"
    alpha = results.options.alpha
    return replace(pairs_grid(kind, title, results.tests[kind], note, heads, alpha), unit="items")


def advantages(results: ClimaqaResults) -> Grid[Advantage]:
    heads = (
        "setting",
        Column("score", "outcome.title"),
        Column("generator", "author"),
        Column("other models", "rivals"),
    )
    columns = estimates("above the others=above", "minus that of factual accuracy=against")
    p = Column("p", lambda row: row.against and row.against.p, kind="p")
    note = (
        "above the others: the share of other models that the generator scores above on an item; a tie counts half. It "
        "can be compared between scores on different scales. A score that favours the generator's own answers puts it "
        "above others more often than factual accuracy does. Items that every model has every score of. Paired "
        "sign-flip tests (max-T), inverted for the intervals; p (Holm), over the settings and scores, decides."
    )
    title = "The generator's own answers"
    beside = (p, Column("p (Holm)", "adjusted", kind="p", key="p_adjusted"))
    return Grid(
        "generator", title, heads, results.advantages, columns, None, note, "items", beside=beside
    )


def books(results: ClimaqaResults) -> Table:
    def items_of(form: str) -> Column:
        return Column(form, lambda book: book.items.get(form, 0), key=form)

    columns = (
        Column("book", "name"),
        Column("pages"),
        Column("chunks"),
        Column("characters"),
        *map(items_of, FORMS),
        Column("items", lambda book: sum(book.items.values())),
    )
    note = "Items count for the book of their seed passage. A dash: the benchmark does not have this number."
    return Table(
        "table4", "The books (the paper's table 4, figure 6)", columns, results.read.books, note
    )


def labels(expert_labels: ValidityLabels, results: ClimaqaResults) -> Grid[str]:
    """Table 10."""
    items_of_form = {
        str(form): (items, list(map(is_valid, items)))
        for form in FORMS
        if (items := expert_labels.of(form))
    }
    note = (
        f"Items, by the majority of raters; {len(expert_labels.left_out):,} without a majority and "
        f"{expert_labels.unlabelled:,} without a label are omitted. edited: valid, with an answer that an expert edited. "
        "A cluster is the items of one seed passage."
    )

    def share(form: str, _column: str) -> Estimate:
        return clustered_share(
            items_of_form[form][1], expert_labels.family(items_of_form[form][0]), results.level
        )

    beside = (
        Column("valid", lambda form: sum(items_of_form[form][1])),
        Column("invalid", lambda form: items_of_form[form][1].count(False)),
        Column(
            "edited", lambda form: sum(item.status == EDITED for item in items_of_form[form][0])
        ),
    )
    title = "Labels of experts (the paper's table 10)"
    columns = [Column("share valid", places=3)]
    return Grid(
        "table10",
        title,
        ("form",),
        list(items_of_form),
        columns,
        share,
        note,
        "total",
        beside=beside,
    )


def reasons(expert_labels: ValidityLabels, results: ClimaqaResults) -> Grid[str]:
    invalid = [item for item in expert_labels.items if not is_valid(item)]
    names = list(dict.fromkeys(reason for item in invalid for reason in item.reasons))

    def count(reason: str, form: str = "") -> int:
        return sum(reason in item.reasons and form in ("", item.form) for item in invalid)

    def share(reason: str, _column: str) -> Estimate:
        return clustered_share(
            [reason in item.reasons for item in invalid],
            expert_labels.family(invalid),
            results.level,
        )

    heads = [Column("reason", lambda reason: reason.replace("_", " "))]
    columns = [Column("share of invalid items", places=3)]
    beside = [*(Column(form, partial(count, form=form)) for form in FORMS), Column("items", count)]
    title = "Reasons for rejection (the paper's figure 7)"
    note = "An item may have several reasons."
    return Grid(
        "figure7", title, heads, names, columns, share, note, "invalid items", beside=beside
    )


def precision(precisions: Sequence[Precision]) -> Grid[Precision]:
    heads = ("form", "split", "way")
    note = "The share of valid items among kept items. none: all items are kept."
    title = "Precision of the validator (the paper's figure 8)"
    columns = [Column("precision", "estimate", 3)]
    return Grid("figure8", title, heads, precisions, columns, note=note, unit="items")


def windows(window_means: Sequence[Window]) -> Grid[Window]:
    note = (
        "Mean cosine between the phrase with the reference and the phrase with the answer. window: words on each side "
        "of the blank. The difference of the best window is biased upwards, because the window is chosen on the same "
        "answers."
    )
    heads = [Column("window", "words")]
    columns = estimates("right", "wrong", "right - wrong=difference")
    title = "Cosine by window (the paper's figure 4)"
    return Grid("figure4", title, heads, window_means, columns, note=note, unit="right answers")


def fever(fever_result: Fever) -> Grid[str]:
    note = f"{fever_result.unscored:,} labelled sentences are unscored. Sentences of one claim depend on each other."
    return Grid(
        "fever",
        "Factual accuracy on labelled sentences",
        ("figure",),
        list(fever_result.rows),
        [Column("value", places=3)],
        lambda name, _column: fever_result.rows[name],
        note,
        unit="sentences",
        beside=[Column("p", lambda name: getattr(fever_result.rows[name], "p", None), kind="p")],
    )


def every_mean(results: ClimaqaResults) -> Grid[Place]:
    systems = results.read.systems

    def why(place: Place) -> str | None:
        return unscored(place.outcome, systems[place.system], results.items_at(place)) or None

    heads = (
        Column("tier", lambda place: results.items_at(place)[0].tier),
        Column("system"),
        Column("model", lambda place: systems[place.system].model),
        Column("setting", lambda place: systems[place.system].setting),
        Column("score", "outcome.title"),
        "level",
    )
    return Grid(
        "means",
        "All means",
        heads,
        results.places,
        [Column("mean", places=3)],
        lambda place, _column: results.at(place),
        unit="items",
        beside=[Column("unscored", why)],
    )
