"""The page of a ClimaQA study: the paper's tables and figures, the tests, and a list of what was not made."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from longmark.contrib.make.benchmark.settings import DEFAULT
from longmark.contrib.make.validator.evaluate import Precision
from longmark.contrib.make.validator.labels import ValidityLabels, is_valid
from longmark.contrib.papers.climaqa import tables
from longmark.contrib.papers.climaqa.beside import Fever, Window
from longmark.contrib.papers.climaqa.results import MAIN, ClimaqaResults
from longmark.contrib.papers.climaqa.rows import (
    BERT,
    BLEU,
    EM,
    FA,
    FORMS,
    MCQ,
    PS,
    SILVER,
    TableScore,
)
from longmark.contrib.papers.study import PageSection, sections
from longmark.metrics.climaqa.phrase_similarity import WINDOWS
from longmark.records.benchmark import LEVELS
from longmark.report.charts import Curve, Stack, curves, heat_map, stacked
from longmark.report.document import Document
from longmark.report.figures import Figure
from longmark.report.format import counted, listed

_CLOSED = (MCQ, EM, PS)
_FREE = (BLEU, BERT, FA)


@dataclass(frozen=True, slots=True)
class ClimaqaContent:
    """What a page shows. labels, fever: None, and precisions, windows: empty, where they were not given."""

    results: ClimaqaResults
    labels: ValidityLabels | None = None
    precisions: Sequence[Precision] = ()
    windows: Sequence[Window] = ()
    fever: Fever | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)


def document(contents: ClimaqaContent) -> Document:
    results = contents.results
    counts = Counter(item.form for item in results.items.values())
    forms = [counted(counts[form], f"{form} item") for form in FORMS if counts[form]]
    absent = [words for part in PARTS if (words := part.absent(contents))]
    of_labels = contents.labels.notices if contents.labels else ()
    return Document(
        kind="climaqa study",
        title="Models on a benchmark made from books",
        lede=f"{listed(forms)}, {counted(len(results.read.systems), 'system')}"
        if forms
        else "No scores of models",
        sections=sections(PARTS, contents, {}),
        notices=[
            *results.read.notices,
            *of_labels,
            *([f"Not made: {'; '.join(absent)}."] if absent else []),
        ],
        settings={
            **contents.settings,
            "runs": [str(run) for run in results.read.runs],
            **asdict(results.options),
        },
    )


def _none(
    contents: ClimaqaContent, items: str, outcomes: Sequence[TableScore], scores_missing: str
) -> str:
    results = contents.results
    if results.systems(outcomes, results.tiers[items]):
        return ""
    scored = results.systems(outcomes, list(results.items.values()))
    why = "no item is silver" if results.tiers[MAIN] else "all items are silver"
    return f"{scores_missing} ({why if scored else 'no run has such scores'})"


def _levels(results: ClimaqaResults) -> Iterator[Figure]:
    """Figure 5: the default setting, or the first there is."""
    means = tables.every_mean(results)
    systems = results.read.systems
    for outcome in (MCQ, *_FREE):
        rows = [
            place
            for place in means.rows
            if (place.items, place.outcome) == (results.decides, outcome) and place.level in LEVELS
        ]
        settings = [systems[place.system].setting for place in rows]
        setting = DEFAULT if DEFAULT in settings else next(iter(settings), "")
        setting_places = [place for place in rows if systems[place.system].setting == setting]
        if setting_places:
            drawn = replace(
                means,
                rows=setting_places,
                label=lambda place: f"{systems[place.system].label}: {place.level}",
            )
            yield drawn.forest(
                f"{outcome.title} by level, setting {setting} (the paper's figure 5)"
            )


def _books(results: ClimaqaResults) -> Figure:
    """Figure 6."""
    books = [book for book in results.read.books if any(book.items.values())]
    cells: list[list[float | None]] = [
        [float(book.items.get(form, 0)) for form in FORMS] for book in books
    ]
    most_items = max((cell or 0.0 for line in cells for cell in line), default=1.0)
    title = "Items by book (the paper's figure 6)"
    return heat_map([book.name for book in books], FORMS, cells, title, (0.0, most_items), 0)


def _reasons(labels: ValidityLabels) -> Figure:
    invalid = [item for item in labels.items if not is_valid(item)]
    names = dict.fromkeys(reason for item in invalid for reason in item.reasons)
    counts = Counter((item.form, reason) for item in invalid for reason in item.reasons)
    forms = [form for form in FORMS if any(item.form == form for item in invalid)]
    bars = [
        Stack(form, [(name.replace("_", " "), counts[form, name]) for name in names])
        for form in forms
    ]
    return stacked(bars, "Reasons for rejection (the paper's figure 7)")


def _precision(precisions: Sequence[Precision]) -> Figure:
    grid = replace(
        tables.precision(precisions),
        label=lambda precision: f"{precision.form}, split {precision.split}: {precision.way}",
    )
    return grid.forest("Precision by split (the paper's figure 8)")


def _windows(window_means: Sequence[Window]) -> Figure:
    lines = [
        Curve(name, [(float(window.words), getattr(window, name).value) for window in window_means])
        for name in ("right", "wrong")
    ]
    title = "Mean cosine of right and wrong answers (the paper's figure 4)"
    return curves(
        lines,
        title,
        f"words on each side of the blank, {WINDOWS[0]} to {WINDOWS[-1]}",
        "mean cosine",
    )


_NO_GENERATOR = "the test of the generator's own answers (the model that wrote the items is not under test; see --author)"
PARTS: tuple[PageSection[ClimaqaContent], ...] = (
    PageSection(
        "Multiple choice and cloze",
        "How often a model chooses the right option, and finds the term that was left out.",
        lambda f: [tables.closed(f.results, MAIN, 3)],
        absent=lambda f: _none(f, MAIN, _CLOSED, "table 3"),
    ),
    PageSection(
        "Freeform answers",
        "How similar the answers to freeform questions are to the reference.",
        lambda f: [tables.free(f.results, MAIN, 5)],
        absent=lambda f: _none(f, MAIN, _FREE, "table 5"),
    ),
    PageSection(
        "Silver items",
        "Scores on items that no expert has checked.",
        lambda f: [tables.closed(f.results, SILVER, 6), tables.free(f.results, SILVER, 7)],
        absent=lambda f: _none(f, SILVER, (*_CLOSED, *_FREE), "tables 6 and 7"),
    ),
    PageSection(
        "Settings",
        "Whether a setting changes the scores of a model.",
        lambda f: [tables.tests(f.results, "settings")],
        absent=lambda f: (
            ""
            if f.results.tests["settings"]
            else "tests between settings (no model has two settings)"
        ),
    ),
    PageSection(
        "Models",
        "Which model is better in a setting.",
        lambda f: [tables.tests(f.results, "models")],
    ),
    PageSection(
        "The generator's own answers",
        "Whether BLEU and BERTScore favour the model that wrote the items (section 5.2).",
        lambda f: [tables.advantages(f.results)],
        absent=lambda f: "" if f.results.advantages else _NO_GENERATOR,
    ),
    PageSection(
        "All means",
        "Every mean with its interval, by level. Figure 5 has those of the default setting.",
        lambda f: [tables.every_mean(f.results)],
        lambda f: list(_levels(f.results)),
    ),
    PageSection(
        "Books",
        "The books, and the number of items from each.",
        lambda f: [tables.books(f.results)],
        lambda f: [_books(f.results)],
        absent=lambda f: "" if f.results.read.books else "table 4 and figure 6 (give --benchmark)",
    ),
    PageSection(
        "Labels of experts",
        "How many generated items experts accept, and why they reject the others.",
        lambda f: (
            [tables.labels(f.labels, f.results), tables.reasons(f.labels, f.results)]
            if f.labels
            else []
        ),
        lambda f: [_reasons(f.labels)] if f.labels else [],
        absent=lambda f: "" if f.labels else "table 10 and figure 7 (give --labels)",
    ),
    PageSection(
        "Validator",
        "The share of valid items among those that a validator keeps.",
        lambda f: [tables.precision(f.precisions)],
        lambda f: [_precision(f.precisions)],
        absent=lambda f: "" if f.precisions else "figure 8 (give --validator)",
    ),
    PageSection(
        "Window of phrase similarity",
        "Which window best separates right answers from wrong ones.",
        lambda f: [tables.windows(f.windows)],
        lambda f: [_windows(f.windows)],
        absent=lambda f: "" if f.windows else "figure 4 (give --window-labels)",
    ),
    PageSection(
        "Factual accuracy on labelled sentences",
        "Whether factual accuracy agrees with people on Climate-FEVER's sentences (section 3.2.1).",
        lambda f: [tables.fever(f.fever)] if f.fever else [],
        absent=lambda f: "" if f.fever else "factual accuracy on labelled sentences (give --fever)",
    ),
)
