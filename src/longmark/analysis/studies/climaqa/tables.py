"""The tables of a ClimaQA study: those of the paper, by number, and others."""

from __future__ import annotations

from collections.abc import Sequence

from longmark.analysis.grid import Compared, Grid, pairs_grid
from longmark.analysis.metaeval.label_sections import estimates
from longmark.analysis.studies.climaqa.beside import Fever, Window
from longmark.analysis.studies.climaqa.results import OVERALL, Advantage, Kind, Place, Results, unscored
from longmark.analysis.studies.climaqa.rows import BERT, BLEU, EM, FA, FORMS, MCQ, PS, SILVER, Outcome
from longmark.report.tables import Column, Table
from longmark.stats.proportion import clustered_share
from longmark.validator.evaluate import Precision
from longmark.validator.labels import EDITED, Labels, is_valid

LETTERS = {"base": "B", "reasoning": "R", "hypothetical": "H", OVERALL: "O"}
_CLOSED = [*((MCQ, level) for level in LETTERS), (EM, OVERALL), (PS, OVERALL)]
_FREE = [(outcome, level) for outcome in (BLEU, BERT, FA) for level in LETTERS]
_SHORT = {"mcq": "MCQ", "em": "EM", "ps": "PS", "fa": "FA"}
_NOTE = (
    "B: base, R: reasoning, H: hypothetical, O: all items, so levels are weighted by their number of items. Bold: "
    "the greatest value of a column. The table of all means has every interval and the number of scored items."
)


def closed(results: Results, items: str, number: int) -> Grid[str]:
    """Tables 3 and 6."""
    note = f"MCQ: accuracy. EM: exact match; PS: phrase similarity. {_NOTE}"
    return _means(results, items, (f"table{number}", "Multiple choice and cloze", note), _CLOSED)


def free(results: Results, items: str, number: int) -> Grid[str]:
    """Tables 5 and 7. Twelve intervals are too broad for a page."""
    note = f"BLEU: corpus BLEU of characters for each level. FA: factual accuracy. {_NOTE}"
    return _means(results, items, (f"table{number}", "Freeform answers", note), _FREE, "value")


def _means(
    results: Results, items: str, head: tuple[str, str, str], of: Sequence[tuple[Outcome, str]], kind: str = ""
) -> Grid[str]:
    """The means of each system. head: name, title, note; of: a column each, without those that have no score."""
    systems = [one.name for one in results.systems(dict.fromkeys(outcome for outcome, _ in of), results.tiers[items])]
    columns, places, best = [], {}, {}
    for outcome, level in of:
        values = {name: results.at(Place(items, name, outcome, level)).value for name in systems}
        if known := [value for value in values.values() if value is not None]:
            name = _SHORT.get(outcome.key, outcome.title) + (f" {LETTERS[level]}" if outcome.form != "cloze" else "")
            columns.append(Column(name, places=3, kind=kind, key=f"{outcome.key}_{level}"))
            places[name] = outcome, level
            winner = results.best(outcome, systems, results.tiers[items], level)
            best[name] = [winner] if winner and values[winner] == max(known) else []
    name, title, note = head
    return Grid(
        name,
        f"{title} (the paper's table {name.removeprefix('table')})",
        ("system",),
        systems,
        columns,
        lambda system, column: results.at(Place(items, system, *places[column])),
        note,
        "",
        best,
    )


def tests(results: Results, kind: Kind) -> Grid[Compared]:
    """Settings of a model, or models in a setting."""
    what, within = ("setting", "model") if kind == "settings" else ("model", "setting")
    note = (
        "first - second, on the items that both have scores for; BLEU: of single answers. Paired sign-flip tests "
        "(max-T); the interval is the test inverted, so it agrees with p. p (Holm), over the tests of a score in this "
        f"table, decides. A difference that is not significant does not show that two {what}s are equal."
    )
    heads = (
        *(Column("score", lambda one: one.within[0]), Column(within, lambda one: one.within[1])),
        *(Column(f"first {what}", "first", key="first"), Column(f"second {what}", "second", key="second")),
    )
    title, alpha = f"Differences between {kind}", results.options.alpha
    return pairs_grid(kind, title, results.tests[kind], note, heads, unit="items", alpha=alpha)


def advantages(results: Results) -> Grid[Advantage]:
    return Grid(
        "generator",
        "The generator's own answers",
        (
            Column("setting"),
            Column("score", "outcome.title"),
            Column("generator", "author"),
            Column("other models", "others"),
        ),
        results.advantages,
        estimates("above the others=above", "minus that of factual accuracy=against"),
        note="above the others: the share of other models that the generator scores above on an item; a tie counts "
        "half. It can be compared between scores on different scales. A score that favours the generator's own answers "
        "puts it above others more often than factual accuracy does. Items that every model has every score of. Paired "
        "sign-flip tests (max-T), inverted for the intervals; p (Holm), over the settings and scores, decides.",
        unit="items",
        beside=(
            Column("p", lambda one: one.against and one.against.p, kind="p"),
            Column("p (Holm)", "adjusted", kind="p", key="p_adjusted"),
        ),
    )


def books(results: Results) -> Table:
    columns = (
        *(Column("book", "name"), Column("pages"), Column("chunks"), Column("characters")),
        *(Column(form, lambda one, form=form: one.items.get(form, 0), key=form) for form in FORMS),  # type: ignore[misc]
        Column("items", lambda one: sum(one.items.values())),
    )
    note = "Items count for the book of their seed passage. A dash: the benchmark does not have this number."
    return Table("table4", "The books (the paper's table 4, figure 6)", columns, results.read.books, note)


def labels(given: Labels, results: Results) -> Grid[str]:
    """Table 10."""
    of = {form: items for form in FORMS if (items := given.of(form))}
    valid = {form: sum(map(is_valid, items)) for form, items in of.items()}
    return Grid(
        "table10",
        "Verdicts of experts (the paper's table 10)",
        ("form",),
        list(of),
        [Column("share valid", places=3)],
        lambda form, _column: clustered_share(list(map(is_valid, of[form])), given.family(of[form]), results.level),
        f"Items, by the majority of raters; {len(given.left_out):,} without a majority and {given.unlabelled:,} "
        "without a verdict are omitted. edited: valid, with an answer that an expert edited. A cluster is the items of "
        "one seed passage.",
        "total",
        beside=(
            Column("valid", lambda form: valid[form]),
            Column("invalid", lambda form: len(of[form]) - valid[form]),
            Column("edited", lambda form: sum(one.status == EDITED for one in of[form])),
        ),
    )


def reasons(given: Labels, results: Results) -> Grid[str]:
    invalid = [one for one in given.items if not is_valid(one)]
    clusters = given.family(invalid)

    def count(reason: str, form: str = "") -> int:
        return sum(reason in one.reasons and form in ("", one.form) for one in invalid)

    return Grid(
        "figure7",
        "Reasons for rejection (the paper's figure 7)",
        (Column("reason", lambda reason: reason.replace("_", " ")),),
        list(dict.fromkeys(reason for one in invalid for reason in one.reasons)),
        [Column("share of invalid items", places=3)],
        lambda reason, _column: clustered_share([reason in one.reasons for one in invalid], clusters, results.level),
        "An item may have several reasons.",
        "invalid items",
        beside=[
            *(Column(form, lambda reason, form=form: count(reason, form)) for form in FORMS),  # type: ignore[misc]
            Column("items", count),
        ],
    )


def precision(given: Sequence[Precision]) -> Grid[Precision]:
    heads, note = ("form", "split", "way"), "The share of valid items among kept items. none: all items are kept."
    title, columns = "Precision of the validator (the paper's figure 8)", [Column("precision", "estimate", 3)]
    return Grid("figure8", title, heads, given, columns, note=note, unit="items")


def windows(given: Sequence[Window]) -> Grid[Window]:
    return Grid(
        "figure4",
        "Cosine by window (the paper's figure 4)",
        (Column("window", "words"),),
        given,
        estimates("right", "wrong", "right - wrong=difference"),
        note="Mean cosine between the phrase with the reference and the phrase with the answer. window: words on each "
        "side of the blank. The difference of the best window is biased upwards, because the window is chosen on the "
        "same answers.",
        unit="right answers",
    )


def fever(given: Fever) -> Grid[str]:
    return Grid(
        "fever",
        "Factual accuracy on labelled sentences",
        ("figure",),
        list(given.rows),
        [Column("value", places=3)],
        lambda name, _column: given.rows[name],
        f"{given.unscored:,} labelled sentences are unscored. Sentences of one claim depend on each other.",
        "sentences",
        beside=[Column("p", lambda name: getattr(given.rows[name], "p", None), kind="p")],
    )


def every_mean(results: Results) -> Grid[Place]:
    systems = results.read.systems

    def why(place: Place) -> str | None:
        return unscored(place.outcome, systems[place.system], results.items_at(place)) or None

    return Grid(
        "means",
        "All means",
        (
            Column("tier", lambda place: SILVER if place.items == SILVER else results.items_at(place)[0].tier),
            *(Column("system"), Column("model", lambda place: systems[place.system].model)),
            Column("setting", lambda place: systems[place.system].setting),
            *(Column("score", "outcome.title", key="score"), Column("level")),
        ),
        results.places,
        [Column("mean", places=3)],
        lambda place, _column: results.at(place),
        unit="items",
        beside=[Column("unscored", why)],
    )
