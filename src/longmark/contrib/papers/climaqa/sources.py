"""What the tables of a ClimaQA study are made of: means and tests of systems, the books, and what is read beside runs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import partial
from pathlib import Path
from typing import Any

from longmark.analysis.grid import Compared, Grid
from longmark.contrib.make.benchmark import items_of
from longmark.contrib.make.benchmark.settings import DEFAULT
from longmark.contrib.make.validator.evaluate import Precision, read_precision
from longmark.contrib.make.validator.labels import EDITED, ValidityLabels, is_valid, read_labels
from longmark.contrib.papers.climaqa.beside import Fever, Window, fever, windows
from longmark.contrib.papers.climaqa.results import (
    ClimaqaOptions,
    ClimaqaResults,
    Kind,
    Place,
    unscored,
)
from longmark.contrib.papers.climaqa.rows import BERT, BLEU, FA, FORMS, MCQ, read
from longmark.contrib.papers.recipe.schema import Vocabulary
from longmark.contrib.papers.recipe.source import (
    Member,
    Places,
    RecipeSource,
    RecordMeasure,
    source_of_records,
)
from longmark.errors import UserError
from longmark.metrics.climaqa.phrase_similarity import WINDOWS
from longmark.records.benchmark import LEVELS
from longmark.report.charts import Curve, Stack, curves, heat_map, stacked
from longmark.report.figures import Figure
from longmark.report.format import counted, listed
from longmark.report.tables import Cell, Column
from longmark.stats.proportion import clustered_share
from longmark.stats.results import Estimate

_FIELDS = ("items", "tier", "system", "model", "setting", "score", "level")
_OF_MEANS = ("mean", "unscored because")
_OF_TESTS = ("difference", "p", "p (Holm)", "significant")
VOCABULARY = {
    "climaqa.means": Vocabulary(_OF_MEANS, _FIELDS, {"figures": ("levels",), "texts": ("counts",)}),
    "climaqa.systems": Vocabulary(_OF_MEANS, _FIELDS),
    "climaqa.settings": Vocabulary(_OF_TESTS, ("score", "model", "first", "second")),
    "climaqa.models": Vocabulary(_OF_TESTS, ("score", "setting", "first", "second")),
    "climaqa.generator": Vocabulary(
        ("above the others", "minus that of factual accuracy", "p", "p (Holm)"),
        ("setting", "score", "generator", "other models"),
    ),
    "climaqa.books": Vocabulary(
        ("pages", "chunks", "characters", *FORMS, "items"), ("book",), {"figures": ("items",)}
    ),
    "climaqa.labels": Vocabulary(
        ("share valid", "valid", "invalid", "edited"), ("form",), {"texts": ("left out",)}
    ),
    "climaqa.reasons": Vocabulary(
        ("share of invalid items", *FORMS, "items"), ("reason",), {"figures": ("forms",)}
    ),
    "climaqa.validator": Vocabulary(("precision",), ("form", "split", "way")),
    "climaqa.windows": Vocabulary(
        ("right", "wrong", "right - wrong"), ("window",), {"figures": ("curves",)}
    ),
    "climaqa.fever": Vocabulary(("value", "p"), ("figure",), {"texts": ("unscored",)}),
}


@dataclass(frozen=True, slots=True)
class ClimaqaPaths:
    """What a study reads: the options of `longmark climaqa-study`, and the inputs of its recipe in this order."""

    runs: Sequence[Path] = ()
    benchmark: Path | None = None
    labels: Path | None = None
    validator: Path | None = None
    window_labels: Path | None = None
    fever: Path | None = None


INPUTS = tuple(path.name for path in fields(ClimaqaPaths))


@dataclass(frozen=True, slots=True)
class ClimaqaContent:
    """What a page shows. labels, fever: None, and precisions, windows: empty, where they were not given."""

    results: ClimaqaResults
    labels: ValidityLabels | None = None
    precisions: Sequence[Precision] = ()
    windows: Sequence[Window] = ()
    fever: Fever | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


def content(paths: ClimaqaPaths, options: ClimaqaOptions) -> ClimaqaContent:
    """UserError if a source cannot be read, or there is none."""
    paths_given = {name: getattr(paths, name) for name in INPUTS}
    if not any(paths_given.values()):
        raise UserError(
            "there is nothing to study; give runs of `longmark run ANSWERS --metrics climaqa`"
        )
    if paths.runs and paths.benchmark is None:
        raise UserError(
            "give the benchmark of the answers as --benchmark: its items have books, levels and tiers"
        )
    results = ClimaqaResults(read(paths.runs, paths.benchmark), options)
    items = items_of(paths.benchmark) if paths.benchmark else []
    return ClimaqaContent(
        results,
        labels=read_labels(paths.labels, items) if paths.labels else None,
        precisions=read_precision(paths.validator) if paths.validator else (),
        windows=windows(paths.window_labels, results) if paths.window_labels else (),
        fever=fever(paths.fever, results) if paths.fever else None,
        settings={name: str(path) for name, path in paths_given.items() if path and name != "runs"},
    )


def read_sources(parts: Sequence[Sequence[Path]]) -> dict[str, RecipeSource]:
    """The sources of a recipe. parts: the paths of each of its inputs, in the order of `ClimaqaPaths`."""
    if len(parts) > len(INPUTS):
        raise UserError(f"the readers of ClimaQA read {listed(INPUTS)}, in this order")
    runs, *single_paths = parts
    single = dict(zip(INPUTS[1:], single_paths, strict=False))
    for name, paths in single.items():
        if len(paths) > 1:
            raise UserError(f"{name}: name one path, not {len(paths)}")
    paths_given = {name: paths[0] for name, paths in single.items() if paths}
    contents = content(ClimaqaPaths(runs=runs, **paths_given), ClimaqaOptions())
    made_sources = sources(contents)
    means = made_sources["climaqa.means"]
    made_sources["climaqa.means"] = replace(means, notices=notices(contents))
    return made_sources


def notices(contents: ClimaqaContent) -> list[str]:
    """What a reader must know of what was read."""
    of_labels = contents.labels.notices if contents.labels else ()
    return [*contents.results.read.notices, *of_labels]


def sources(contents: ClimaqaContent) -> dict[str, RecipeSource]:
    """The sources by their reader; those of what was not given are left out."""
    results = contents.results
    made_sources = {
        "climaqa.means": _means(results),
        "climaqa.systems": _systems(results),
        "climaqa.settings": _tests(results, "settings", "model"),
        "climaqa.models": _tests(results, "models", "setting"),
        "climaqa.generator": _generator(results),
        "climaqa.books": _books(results),
        "climaqa.validator": _validator(contents.precisions),
        "climaqa.windows": _windows(contents.windows),
    }
    if contents.labels is not None:
        made_sources["climaqa.labels"] = _labels(contents.labels, results)
        made_sources["climaqa.reasons"] = _reasons(contents.labels, results)
    if contents.fever is not None:
        made_sources["climaqa.fever"] = _fever(contents.fever)
    return made_sources


# Means ----------------------------------------------------------------------------------------------------------------


def _means(results: ClimaqaResults) -> RecipeSource:
    """Every mean, a member each, in the order of the scores."""
    systems = results.read.systems

    def why(place: Place) -> str | None:
        return unscored(place.outcome, systems[place.system], results.items_at(place)) or None

    source = source_of_records(
        results.places,
        {
            "items": "items",
            "tier": lambda place: results.items_at(place)[0].tier,
            "system": "system",
            "model": lambda place: systems[place.system].model,
            "setting": lambda place: systems[place.system].setting,
            "score": "outcome.title",
            "level": "level",
        },
        {"mean": RecordMeasure(results.at), "unscored because": RecordMeasure(why, "text")},
    )
    return replace(
        source,
        figures={"levels": lambda: list(_levels(results))},
        texts={"counts": lambda: _counts(results)},
    )


def _systems(results: ClimaqaResults) -> RecipeSource:
    """The same means, in the order of the systems, with the best system of a score and level."""
    source = _means(results)
    place_of = dict(zip(source.members, results.places, strict=True))
    order = {name: number for number, name in enumerate(results.read.systems)}
    in_order = sorted(source.members, key=lambda member: order[place_of[member].system])

    def best(
        measure: str,
        members: Sequence[Member],
        parts: Sequence[Places],
    ) -> Member | None:
        at = {place_of[member]: member for member in members}
        if measure != "mean" or len({place._replace(system="") for place in at}) != 1:
            return None
        first = next(iter(at))
        names = [place.system for place in at]
        winner = results.best(first.outcome, names, results.tiers[first.items], first.level)
        if winner is None:
            return None
        values = {place: results.at(place).value for place in at}
        greatest = max((value for value in values.values() if value is not None), default=None)
        place = first._replace(system=winner)
        return at[place] if values[place] == greatest else None

    return replace(source, members=in_order, best=best, figures={}, texts={})


def _counts(results: ClimaqaResults) -> str:
    counts = Counter(item.form for item in results.items.values())
    forms = [counted(counts[form], f"{form} item") for form in FORMS if counts[form]]
    systems = counted(len(results.read.systems), "system")
    return f"{listed(forms)}, {systems}" if forms else "No scores of models"


def _levels(results: ClimaqaResults) -> list[Figure]:
    """Figure 5: the default setting, or the first there is."""
    systems = results.read.systems
    figures = []
    for outcome in (MCQ, BLEU, BERT, FA):
        places = [
            place
            for place in results.places
            if (place.items, place.outcome) == (results.decides, outcome) and place.level in LEVELS
        ]
        settings = [systems[place.system].setting for place in places]
        setting = DEFAULT if DEFAULT in settings else next(iter(settings), "")
        drawn: Grid[Place] = Grid(
            "",
            "",
            (),
            [place for place in places if systems[place.system].setting == setting],
            [Column("mean")],
            lambda place, _column: results.at(place),
            label=lambda place: f"{systems[place.system].label}: {place.level}",
        )
        if drawn.rows:
            label = f"{outcome.title} by level, setting {setting} (the paper's figure 5)"
            figures.append(drawn.forest(label))
    return figures


# Tests ----------------------------------------------------------------------------------------------------------------


def _tests(
    results: ClimaqaResults,
    kind: Kind,
    within: str,
) -> RecipeSource:
    """Settings of a model, or models in a setting. within: which of these a comparison is within."""
    alpha = results.options.alpha

    def significant(row: Compared) -> bool | None:
        return None if row.adjusted is None else row.adjusted <= alpha

    return source_of_records(
        results.tests[kind],
        {
            "score": lambda row: row.within[0],
            within: lambda row: row.within[1],
            "first": "first",
            "second": "second",
        },
        {
            "difference": RecordMeasure("result"),
            "p": RecordMeasure("result.p", "p"),
            "p (Holm)": RecordMeasure("adjusted", "p"),
            "significant": RecordMeasure(significant, "text"),
        },
    )


def _generator(results: ClimaqaResults) -> RecipeSource:
    return source_of_records(
        results.advantages,
        {
            "setting": "setting",
            "score": "outcome.title",
            "generator": "author",
            "other models": "rivals",
        },
        {
            "above the others": RecordMeasure("above"),
            "minus that of factual accuracy": RecordMeasure("against"),
            "p": RecordMeasure(lambda row: row.against and row.against.p, "p"),
            "p (Holm)": RecordMeasure("adjusted", "p"),
        },
    )


# What is read beside runs ---------------------------------------------------------------------------------------------


def _number(get: Any) -> RecordMeasure:
    return RecordMeasure(get, "number", None)


def _books(results: ClimaqaResults) -> RecipeSource:
    source = source_of_records(
        results.read.books,
        {"book": lambda book: book.name},
        {
            "pages": _number("pages"),
            "chunks": _number("chunks"),
            "characters": _number("characters"),
            **{form: _number(partial(_items_of, form=form)) for form in FORMS},
            "items": _number(lambda book: sum(book.items.values())),
        },
    )
    return replace(source, figures={"items": lambda: [_items_by_book(results)]})


def _items_of(book: Any, form: str) -> int:
    return int(book.items.get(form, 0))


def _items_by_book(results: ClimaqaResults) -> Figure:
    """Figure 6."""
    books = [book for book in results.read.books if any(book.items.values())]
    cells: list[list[float | None]] = [
        [float(book.items.get(form, 0)) for form in FORMS] for book in books
    ]
    most_items = max((cell or 0.0 for line in cells for cell in line), default=1.0)
    title = "Items by book (the paper's figure 6)"
    return heat_map([book.name for book in books], FORMS, cells, title, (0.0, most_items), 0)


def _labels(expert_labels: ValidityLabels, results: ClimaqaResults) -> RecipeSource:
    """Table 10: the items of each form."""
    items = {str(form): expert_labels.of(form) for form in FORMS}

    def share(form: str) -> Estimate:
        valid = list(map(is_valid, items[form]))
        return clustered_share(valid, expert_labels.family(items[form]), results.level)

    def valid_items(form: str) -> int:
        return sum(map(is_valid, items[form]))

    source = source_of_records(
        [form for form in FORMS if items[form]],
        {"form": str},
        {
            "share valid": RecordMeasure(share),
            "valid": _number(valid_items),
            "invalid": _number(lambda form: len(items[form]) - valid_items(form)),
            "edited": _number(lambda form: sum(item.status == EDITED for item in items[form])),
        },
    )
    left_out = (
        f"Items, by the majority of raters; {len(expert_labels.left_out):,} without a majority and "
        f"{expert_labels.unlabelled:,} without a label are omitted. edited: valid, with an answer that an expert edited. "
        "A cluster is the items of one seed passage."
    )
    return replace(source, texts={"left out": lambda: left_out})


def _reasons(expert_labels: ValidityLabels, results: ClimaqaResults) -> RecipeSource:
    """Figure 7: the reasons of invalid items."""
    invalid = [item for item in expert_labels.items if not is_valid(item)]

    def count(reason: str, form: str = "") -> int:
        return sum(reason in item.reasons and form in ("", item.form) for item in invalid)

    def share(reason: str) -> Estimate:
        rejected = [reason in item.reasons for item in invalid]
        return clustered_share(rejected, expert_labels.family(invalid), results.level)

    source = source_of_records(
        dict.fromkeys(reason for item in invalid for reason in item.reasons),
        {"reason": lambda reason: reason.replace("_", " ")},
        {
            "share of invalid items": RecordMeasure(share),
            **{form: _number(partial(count, form=form)) for form in FORMS},
            "items": _number(count),
        },
    )
    return replace(source, figures={"forms": lambda: [_reasons_by_form(expert_labels)]})


def _reasons_by_form(expert_labels: ValidityLabels) -> Figure:
    invalid = [item for item in expert_labels.items if not is_valid(item)]
    names = dict.fromkeys(reason for item in invalid for reason in item.reasons)
    counts = Counter((item.form, reason) for item in invalid for reason in item.reasons)
    forms = [form for form in FORMS if any(item.form == form for item in invalid)]
    bars = [
        Stack(form, [(name.replace("_", " "), counts[form, name]) for name in names])
        for form in forms
    ]
    return stacked(bars, "Reasons for rejection (the paper's figure 7)")


def _validator(precisions: Sequence[Precision]) -> RecipeSource:
    return source_of_records(
        precisions,
        {
            "form": "form",
            "split": "split",
            "way": "way",
        },
        {"precision": RecordMeasure("estimate")},
    )


def _windows(window_means: Sequence[Window]) -> RecipeSource:
    source = source_of_records(
        window_means,
        {"window": lambda window: window.words},
        {
            "right": RecordMeasure("right"),
            "wrong": RecordMeasure("wrong"),
            "right - wrong": RecordMeasure("difference"),
        },
    )
    return replace(source, figures={"curves": lambda: [_cosines(window_means)]})


def _cosines(window_means: Sequence[Window]) -> Figure:
    lines = [
        Curve(name, [(float(window.words), getattr(window, name).value) for window in window_means])
        for name in ("right", "wrong")
    ]
    title = "Mean cosine of right and wrong answers (the paper's figure 4)"
    axis = f"words on each side of the blank, {WINDOWS[0]} to {WINDOWS[-1]}"
    return curves(lines, title, axis, "mean cosine")


def _fever(fever_result: Fever) -> RecipeSource:
    def p(name: str) -> Cell:
        return getattr(fever_result.rows[name], "p", None)

    source = source_of_records(
        fever_result.rows,
        {"figure": str},
        {"value": RecordMeasure(lambda name: fever_result.rows[name]), "p": RecordMeasure(p, "p")},
    )
    note = f"{fever_result.unscored:,} labelled sentences are unscored. Sentences of one claim depend on each other."
    return replace(source, texts={"unscored": lambda: note})
