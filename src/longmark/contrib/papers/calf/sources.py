"""What the tables of a CALF study are made of: the pairs, and the choices of metrics and raters on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from itertools import combinations
from statistics import fmean
from typing import Any

from longmark.analysis.grid import Grid
from longmark.analysis.metaeval.choice_sample import TIE, ChoiceMetric
from longmark.analysis.metaeval.label_sections import METRIC, differences
from longmark.analysis.metaeval.sections import raters
from longmark.contrib.papers.calf import cases
from longmark.contrib.papers.calf.results import (
    CHECKED,
    MODES,
    NO_SECOND,
    ORDERS,
    VOTES,
    CalfResults,
    Rows,
)
from longmark.contrib.papers.recipe.schema import Vocabulary
from longmark.contrib.papers.recipe.source import Measure, Member, Places, RecipeSource
from longmark.records.pair import EXPANSION_CHECKS
from longmark.report.charts import Stack, stacked
from longmark.report.figures import Figure
from longmark.report.format import counted, fixed, listed, metric_titles
from longmark.report.summary import reasons_in_words
from longmark.report.tables import Cell, Column, Table

ALL = "all"
_METRIC = {"metric": "metric"}
_MAPS = {
    ALL: "figure 3",
    "human/human": "figure 9",
    "human/model": "figure 10",
    "model/model": "figure 11",
}
_FIELDS = (
    "subject",
    "mode",
    "category",
    "human",
    "raters",
    "subject and mode",
    "subject or all",
)
_OF_CHOICES = (
    "accuracy",
    "without ties",
    "against the best baseline",
    "where both decide",
    "ties",
    "chooses a",
    "unscored",
    "unscored because",
)
_LENGTHS = (
    "words of a question",
    "words of a reference",
    "longest reference",
    "words of an answer",
    "longest answer",
    "characters of an answer",
)
_OF_SPLIT = (
    "the rest",
    "the rest, with band",
    "gain",
    "development",
    "band",
    "development, with band",
)
VOCABULARY = {
    "calf.choices": Vocabulary(
        _OF_CHOICES,
        ("metric", *_FIELDS),
        {
            "tables": ("differences",),
            "figures": ("differences", "categories"),
            "sections": ("raters",),
            "texts": ("counts", "summary"),
            "links": ("disagreements",),
            "references": ("best baseline",),
        },
    ),
    "calf.both": Vocabulary(
        ("same choice",), ("metric", "other", *_FIELDS), {"figures": ("maps",)}
    ),
    "calf.orders": Vocabulary(ORDERS, ("metric", *_FIELDS)),
    "calf.votes": Vocabulary(VOTES, ("metric", *_FIELDS)),
    "calf.split": Vocabulary(_OF_SPLIT, ("metric", *_FIELDS)),
    "calf.pairs": Vocabulary(
        (
            "agreement",
            "pairs",
            "questions",
            *_LENGTHS,
            *MODES,
            "human ties",
            "no choice",
        ),
        _FIELDS,
        {"tables": ("table6",)},
    ),
}


def sources(results: CalfResults) -> dict[str, RecipeSource]:
    """The sources by their reader."""
    fields = fields_of(results)
    makers = {
        "calf.choices": _choices,
        "calf.both": _both,
        "calf.orders": _orders_source,
        "calf.votes": _votes,
        "calf.split": _split,
        "calf.pairs": _pairs,
    }
    return {
        reader: replace(
            make(results), fields=fields, items=len(results.pairs), orders=_orders(fields)
        )
        for reader, make in makers.items()
    }


def fields_of(results: CalfResults) -> dict[str, list[str]]:
    """The fields of the pairs; "" for none."""
    count = len(results.pairs)

    def column(groups: dict[str, Rows]) -> list[str]:
        values = [""] * count
        for name, places in groups.items():
            for place in places:
                values[place] = name
        return values

    subjects = column(results.subjects)
    modes = column(results.modes)
    words = {True: "chose differently", False: "agreed", None: ""}
    disputed = [words[pair.disputed] for pair in results.pairs]
    with_subject = {
        agreement for agreement, subject in zip(disputed, subjects, strict=True) if subject
    }
    return {
        "subject": subjects,
        "mode": modes,
        "category": column(results.categories),
        "human": [gold or "" for gold in results.gold],
        "raters": disputed,
        "subject and mode": [
            f"{subject} {MODES[mode]}" if subject and mode else ""
            for subject, mode in zip(subjects, modes, strict=True)
        ],
        "subject or all": [
            subject if agreement in with_subject else "all subjects"
            for agreement, subject in zip(disputed, subjects, strict=True)
        ],
    }


def _orders(fields: dict[str, list[str]]) -> dict[str, list[str]]:
    subjects = sorted({*fields["subject"]} - {""})
    return {
        "mode": list(MODES),
        "subject and mode": [
            f"{subject} {letters}" for subject in subjects for letters in MODES.values()
        ],
    }


def of_member(make: Callable[[str, Places], Cell]) -> Callable[[Sequence[Member], Places], Cell]:
    """A measure of one metric; nothing where a cell has several."""

    def measured(members: Sequence[Member], places: Places) -> Cell:
        return make(members[0][0], places) if len(members) == 1 else None

    return measured


# Choices --------------------------------------------------------------------------------------------------------------


def _choices(results: CalfResults) -> RecipeSource:
    @cache
    def found(metric: str, places: tuple[int, ...]) -> ChoiceMetric:
        choices = [results.chosen[metric][place] for place in places]
        return results.sample.of(places).metric(metric, "", {}, choices)

    def share(attribute: str) -> Callable[[Sequence[Member], Places], Cell]:
        return of_member(lambda metric, places: getattr(found(metric, tuple(places)), attribute))

    def value(attribute: str) -> Callable[[Sequence[Member], Places], Cell]:
        return of_member(
            lambda metric, places: getattr(found(metric, tuple(places)), attribute).value
        )

    def unscored(metric: str, places: Places) -> int:
        judge = results.judges[metric]
        return 0 if judge.baseline else sum(place not in judge.choices for place in places)

    def why(metric: str, places: Places) -> str | None:
        judge = results.judges[metric]
        return None if judge.baseline else reasons_in_words(judge.unscored(places)) or None

    def best(measure: str, members: Sequence[Member], parts: Sequence[Places]) -> Member | None:
        if measure != "accuracy":
            return None
        name = results.best([metric for (metric,) in members], parts)
        return None if name is None else (name,)

    return RecipeSource(
        heads=_METRIC,
        members=[(name,) for name in results.judges],
        measures={
            "accuracy": Measure(share("accuracy")),
            "without ties": Measure(share("without_ties")),
            "against the best baseline": Measure(
                of_member(lambda metric, _places: results.against_baseline(metric)), "text"
            ),
            "where both decide": Measure(value("decided"), "number"),
            "ties": Measure(value("ties"), "number"),
            "chooses a": Measure(value("first"), "number"),
            "unscored": Measure(of_member(unscored), "number", None),
            "unscored because": Measure(of_member(why), "text"),
        },
        best=best,
        tables={"differences": lambda: [_differences(results)[0]]},
        figures={
            "differences": lambda: [_differences(results)[1]],
            "categories": lambda: [_categories(results)],
        },
        sections={"raters": lambda: raters(results.people, "pair")},
        texts={"counts": lambda: counts(results), "summary": lambda: in_words(results)},
        links={
            "disagreements": lambda: [(path, name) for name, path in cases.links(results).items()]
        },
        references={"best baseline": lambda: _best_baseline(results)},
        notices=results.notices,
    )


def _best_baseline(results: CalfResults) -> float | None:
    best = results.best_baseline
    return None if best is None or best.accuracy.value is None else round(best.accuracy.value, 3)


def _differences(results: CalfResults) -> tuple[Table, Figure]:
    only = [
        Column(f"only {which} right", f"result.only_{which}", key=f"only_{which}")
        for which in ("first", "second")
    ]
    note = (
        "Over the pairs on which both have a choice. Paired sign-flip tests (max-T); the signs of a question flip "
        "together. The interval is the test inverted, so it agrees with p. p (Holm), over all pairs of metrics, "
        "decides."
    )
    title = "Differences in accuracy"
    alpha = results.options.alpha
    return differences("differences", title, results.differences, note, alpha, only)


def _categories(results: CalfResults) -> Figure:
    """Figure 4."""
    groups: dict[str, Rows] = {ALL: range(len(results.pairs)), **results.subjects}
    bars = [
        Stack(
            name,
            [
                (category, len({*places} & {*of_category}))
                for category, of_category in results.categories.items()
            ],
        )
        for name, places in groups.items()
    ]
    return stacked(bars, "Categories of questions (the paper's figure 4)")


_UNDECIDED = (
    "The best metric is undecided: several are equally accurate on the pairs that all choose on, or another one is "
    "best with missing choices counted as wrong."
)


def counts(results: CalfResults) -> str:
    """The numbers of pairs, questions and metrics."""
    questions = {pair.question for pair in results.pairs}
    modes = [f"{len(places):,} {mode}" for mode, places in results.modes.items()]
    of_modes = f" ({listed(modes)})" if modes else ""
    return (
        f"{counted(len(results.pairs), 'pair')} of {counted(len(questions), 'question')}{of_modes}, "
        f"{counted(len(results.read.judges), 'metric')}"
    )


def in_words(results: CalfResults) -> str:
    """The best metric beside the best baseline and the raters' agreement."""
    accuracy = {
        metric.metric: metric.accuracy.value
        for metric in results.metrics
        if not metric.direction and metric.accuracy.value is not None
    }
    says = [
        f"{counted(sum(gold is not None for gold in results.gold), 'pair')} with a human choice."
    ]
    if accuracy:
        best = results.best(accuracy, [range(len(results.pairs))])
        says.append(
            f"The best metric is {best}: {fixed(accuracy[best], 3)}." if best else _UNDECIDED
        )
        above = [name for name in accuracy if results.against_baseline(name) == "above"]
        says.append(f"Above the best baseline: {listed(above, 8) if above else 'no metric'}.")
    if (baseline := results.best_baseline) is not None:
        value = fixed(baseline.accuracy.value, 3)
        says.append(f"The best baseline is {baseline.metric!r}: {value}.")
    agreement = results.agreeing(range(len(results.pairs))).value
    says.append(f"Agreement of raters: {NO_SECOND if agreement is None else fixed(agreement, 3)}.")
    if undecided := results.gold.count(None):
        says.append(f"Left out: {counted(undecided, 'pair')} without a human choice.")
    return " ".join(says)


# Two metrics, orders, votes, bands ------------------------------------------------------------------------------------


def _both(results: CalfResults) -> RecipeSource:
    def same(members: Sequence[Member], places: Places) -> Cell:
        if len(members) != 1:
            return None
        metric, second = members[0]
        return results.same(metric, second, places)

    return RecipeSource(
        heads={"metric": "metric", "other": "metric"},
        members=list(combinations(results.judges, 2)),
        measures={"same choice": Measure(same)},
        figures={"maps": lambda: _maps(results)},
    )


def _maps(results: CalfResults) -> list[Figure]:
    """Figures 3 and 9 to 11: how often two metrics make the same choice, metrics by metrics."""
    words = metric_titles(results.judges)
    columns = [Column(name, places=2, words=title) for name, title in words.items()]
    groups: dict[str, Rows] = {ALL: range(len(results.pairs))}
    groups |= results.modes if len(results.modes) > 1 else {}

    def heat_map(mode: str, places: Rows) -> Figure:
        grid: Grid[str] = Grid(
            name="",
            title="",
            heads=(METRIC,),
            rows=list(words),
            columns=columns,
            cell=lambda metric, second: results.same(metric, second, places),
        )
        label = f"Share of pairs with the same choice, {mode} (the paper's {_MAPS[mode]})"
        return grid.heat_map(label, 0.0, 1.0)

    return [heat_map(mode, places) for mode, places in groups.items()]


def _orders_source(results: CalfResults) -> RecipeSource:
    def measure(name: str) -> Measure:
        return Measure(of_member(lambda metric, _places: results.of_orders(metric)[name]))

    return RecipeSource(
        heads=_METRIC,
        members=[(name,) for name, judge in results.judges.items() if judge.orders],
        measures={name: measure(name) for name in ORDERS},
    )


def _votes(results: CalfResults) -> RecipeSource:
    def measure(name: str) -> Measure:
        return Measure(
            of_member(lambda metric, places: results.of_votes(metric, tuple(places))[name])
        )

    return RecipeSource(
        heads=_METRIC,
        members=[(name,) for name, judge in results.judges.items() if judge.votes],
        measures={name: measure(name) for name in VOTES},
    )


def _split(results: CalfResults) -> RecipeSource:
    def measure(attribute: str, *measure_options: Any) -> Measure:
        return Measure(
            of_member(lambda metric, _places: getattr(results.of_split(metric), attribute)),
            *measure_options,
        )

    return RecipeSource(
        heads=_METRIC,
        members=[(name,) for name in results.judges] if results.tuning else [],
        measures={
            "the rest": measure("rest"),
            "the rest, with band": measure("banded"),
            "gain": measure("gain"),
            "development": measure("development"),
            "band": measure("band", "number", None),
            "development, with band": measure("chosen", "number"),
        },
    )


# The pairs, and their raters ------------------------------------------------------------------------------------------


def _pairs(results: CalfResults) -> RecipeSource:
    """The pairs themselves: their numbers and lengths, and how far raters agree."""
    pairs = results.pairs

    def of_pairs(make: Callable[[Places], Cell]) -> Callable[[Sequence[Member], Places], Cell]:
        return lambda _members, places: make(places)

    def count(is_counted: Callable[[int], bool], *, none: bool = False) -> Measure:
        def counted_places(places: Places) -> int | None:
            total = sum(map(is_counted, places))
            return total or (None if none else 0)

        return Measure(of_pairs(counted_places), "number", None)

    def average(lengths: Callable[[int], Sequence[int | None]]) -> Measure:
        return Measure(of_pairs(lambda places: _mean(_known(lengths, places))), "number", 1)

    def longest(lengths: Callable[[int], Sequence[int | None]]) -> Measure:
        def greatest(places: Places) -> int | None:
            return max(_known(lengths, places), default=None)

        return Measure(of_pairs(greatest), "number", None)

    def reference(place: int) -> Sequence[int | None]:
        return [pairs[place].question_words[1] or None]

    def of_mode(mode: str) -> Measure:
        return count(lambda place: pairs[place].mode == mode, none=True)

    return RecipeSource(
        heads={},
        members=[()],
        measures={
            "agreement": Measure(of_pairs(results.agreeing)),
            "pairs": Measure(of_pairs(len), "number", None),
            "questions": Measure(
                of_pairs(lambda places: len({pairs[place].question for place in places})),
                "number",
                None,
            ),
            "words of a question": average(lambda place: [pairs[place].question_words[0]]),
            "words of a reference": average(reference),
            "longest reference": longest(reference),
            "words of an answer": average(lambda place: pairs[place].words),
            "longest answer": longest(lambda place: pairs[place].words),
            "characters of an answer": average(lambda place: pairs[place].characters),
            **{mode: of_mode(mode) for mode in MODES},
            "human ties": count(lambda place: pairs[place].gold == TIE),
            "no choice": count(lambda place: pairs[place].gold is None),
        },
        tables={"table6": lambda: table6(results)},
    )


def _known(lengths: Callable[[int], Sequence[int | None]], places: Places) -> list[int]:
    return [length for place in places for length in lengths(place) if length is not None]


def _mean(lengths: Sequence[int]) -> float | None:
    return fmean(lengths) if lengths else None


def table6(results: CalfResults) -> list[Table]:
    """Errors of expanded references; nothing if nobody checked one."""
    groups: dict[str, Rows] = {**results.subjects, ALL: range(len(results.pairs))}
    errors = {name: results.expansion_errors(places) for name, places in groups.items()}
    checked = {name: numbers for name, numbers in errors.items() if numbers[CHECKED]}
    if not checked:
        return []
    lines = [
        (kind.replace("_", " "), *(numbers[kind] for numbers in checked.values()))
        for kind in (*EXPANSION_CHECKS, CHECKED)
    ]
    columns = (Column("error"), *(Column(name, key=f"group_{name}") for name in checked))
    note = "References with the error: at least half of the raters' answers report it. One reference a question."
    title = "Errors of expanded references (the paper's table 6)"
    return [Table("table6", title, columns, lines, note)]
