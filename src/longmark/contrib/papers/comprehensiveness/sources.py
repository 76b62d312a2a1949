"""What the tables of a comprehensiveness study are made of: label match rates, means of systems, raters' labels."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from pathlib import Path
from typing import Any

from longmark.analysis.grid import Compared
from longmark.contrib.make.published import CONFLICTBANK, PARTIAL, WIKICONTRADICT
from longmark.contrib.papers.comprehensiveness.annotation import (
    AGREES,
    ERRORS,
    FULLY_CORRECT,
    Annotated,
    annotated,
    read_annotations,
    read_key,
)
from longmark.contrib.papers.comprehensiveness.results import (
    ComprehensivenessResults,
    Key,
    Rate,
    SystemMeans,
    study,
)
from longmark.contrib.papers.comprehensiveness.rows import BOTH, KINDS, TESTED, RateOptions
from longmark.contrib.papers.recipe.schema import Vocabulary
from longmark.contrib.papers.recipe.source import (
    Member,
    Places,
    RecipeSource,
    RecordMeasure,
    source_of_records,
)
from longmark.errors import UserError
from longmark.records.metric_name import base_of
from longmark.report.charts import heat_map
from longmark.report.figures import Figure
from longmark.report.format import counted, fixed, listed
from longmark.scores.readings import MeanReading
from longmark.stats.results import Estimate

_NAMES = {
    "comprehensiveness.nli": "NLI",
    "comprehensiveness.qa": "Q&A",
    "comprehensiveness.end_to_end": "E2E",
}
_TITLES = {WIKICONTRADICT: "WikiContradict", CONFLICTBANK: "ConflictBank"}
_EVERY_METHOD = ("", "")
_ADJUSTED = "p (Benjamini-Hochberg)"
_READINGS = ("on common answers", "common answers", "unscored as worst")
_RATE = ("kind", "method", "model")
VOCABULARY = {
    "comprehensiveness.study": Vocabulary((), (), {"texts": ("counts",)}),
    "comprehensiveness.rates": Vocabulary(
        ("rate", "by answer", "unscored as 0", *_READINGS),
        _RATE,
        {"texts": ("summary",), "references": ("constant score",)},
    ),
    "comprehensiveness.differences": Vocabulary(
        ("difference", "p", _ADJUSTED, "significant", f"{_ADJUSTED}, by answer"),
        ("kind", "model", "first", "second"),
        {"texts": ("summary",)},
    ),
    "comprehensiveness.labels": Vocabulary(("rate",), ("label", *_RATE)),
    "comprehensiveness.balanced": Vocabulary(("labels", "mean"), _RATE),
    "comprehensiveness.spread": Vocabulary(
        ("models", "mean", "sd", "least", "greatest"), ("method", "kind"), {"texts": ("sd",)}
    ),
    "comprehensiveness.coverage": Vocabulary(
        ("mean",), ("method", "model", "source", "answer matches it")
    ),
    "comprehensiveness.systems": Vocabulary(
        (
            "mean",
            "on common questions",
            "common questions",
            "unscored as worst",
            "unscored because",
        ),
        ("system", "method", "model", "judged"),
        {"texts": ("summary",)},
    ),
    "comprehensiveness.errors": Vocabulary(
        (FULLY_CORRECT, AGREES, *ERRORS),
        ("method", "model"),
        {"texts": ("summary",), "figures": ("shares",)},
    ),
    "comprehensiveness.raters": Vocabulary(("value",), ("coefficient",)),
}


@dataclass(frozen=True)
class ComprehensivenessContent:
    """What a page shows. sources: names of the runs; results, means, annotated: None where there are none."""

    options: RateOptions
    sources: Sequence[str]
    results: ComprehensivenessResults | None = None
    means: SystemMeans | None = None
    annotated: Annotated | None = None
    notices: Sequence[str] = ()


def content(
    runs: Sequence[Path],
    answers: Sequence[Path],
    labels: Path | None,
    key: Path | None,
    options: RateOptions,
    examples: Path | None = None,
    results: ComprehensivenessResults | None = None,
) -> ComprehensivenessContent:
    """Of runs on labelled answers, runs on answers of systems, and a file of raters' labels with the key of its items.
    results: of the runs, where they were read before. UserError if one of them cannot be read."""
    if runs and results is None:
        results = study(runs, options, examples)
    notices = list(results.notices) if results else []
    means = SystemMeans(answers, options, examples, notices)
    unmasked_labels = None
    if labels is not None:
        if key is None:
            raise UserError(f"{labels}: the key of the items is missing; name the key.json")
        items = read_key(key)
        annotations = read_annotations(labels, items, notices)
        unmasked_labels = annotated(annotations, items, options.alpha, options.seed)
    return ComprehensivenessContent(
        options,
        [str(path) for path in (*runs, *answers, labels) if path],
        results,
        means,
        unmasked_labels,
        notices,
    )


def read_sources(parts: Sequence[Sequence[Path]]) -> dict[str, RecipeSource]:
    """The sources of a recipe. parts: the paths of its inputs: runs, runs on answers of systems, the labels of raters,
    and their key."""
    if len(parts) > 4 or any(len(paths) > 1 for paths in parts[2:]):
        raise UserError(
            "the readers of comprehensiveness read runs, runs on answers, one file of labels and its key, in this order"
        )
    no_paths: list[Sequence[Path]] = [()] * (4 - len(parts))
    runs, answers, labels, keys = [*parts, *no_paths]
    label_file = next(iter(labels), None)
    contents = content(runs, answers, label_file, next(iter(keys), None), RateOptions())
    made_sources = sources(contents)
    read_study = made_sources["comprehensiveness.study"]
    made_sources["comprehensiveness.study"] = replace(read_study, notices=contents.notices)
    return made_sources


def sources(contents: ComprehensivenessContent) -> dict[str, RecipeSource]:
    """The sources by their reader; those of what was not given are left out."""
    results = contents.results
    nothing = source_of_records((), {}, {})
    made_sources = {
        "comprehensiveness.study": replace(nothing, texts={"counts": lambda: _counts(contents)})
    }
    if results is not None:
        made_sources["comprehensiveness.rates"] = _rates(results)
        made_sources["comprehensiveness.differences"] = _differences(results)
        made_sources["comprehensiveness.labels"] = _labels(results)
        made_sources["comprehensiveness.balanced"] = _balanced(results)
        made_sources["comprehensiveness.spread"] = _spread(results)
        made_sources["comprehensiveness.coverage"] = _coverage(results)
    if contents.means is not None and contents.means.keys:
        made_sources["comprehensiveness.systems"] = _systems(contents.means)
    if contents.annotated is not None:
        made_sources["comprehensiveness.errors"] = _errors(contents.annotated)
        made_sources["comprehensiveness.raters"] = _raters(contents.annotated)
    return made_sources


def short(method: str) -> str:
    """The paper's name of a method; for other metrics, their own."""
    base = base_of(method)
    return _NAMES.get(base, base) + method[len(base) :]


def _of_rate(places: tuple[int, int, int] = (-3, -2, -1)) -> dict[str, Callable[[Any], str]]:
    """The heads of a record that has a kind of rate, a method and a model at these places."""
    kind, method, model = places
    return {
        "kind": lambda row: row[kind],
        "method": lambda row: short(row[method]),
        "model": lambda row: row[model],
    }


def _number(get: Callable[[Any], Any], decimals: int | None = None) -> RecordMeasure:
    return RecordMeasure(get, "number", decimals)


def _in_readings(
    readings: Callable[[Any], MeanReading], common: str, items: str
) -> dict[str, RecordMeasure]:
    return {
        common: _number(lambda row: readings(row).common, 3),
        items: _number(lambda row: readings(row).n),
        "unscored as worst": _number(lambda row: readings(row).worst, 3),
    }


def _total(estimates: Iterable[Estimate]) -> int:
    """The scores that estimates are of, missing ones too."""
    return sum(estimate.n + estimate.missing for estimate in estimates)


# Label match rates (section 4.1, figures 3 to 5) ----------------------------------------------------------------------


def _rates(results: ComprehensivenessResults) -> RecipeSource:
    """Every rate, by all its intervals and in both readings."""
    source = source_of_records(
        results.rates,
        _of_rate(),
        {
            "rate": RecordMeasure(results.rate),
            "by answer": RecordMeasure(lambda rate: results.rate(rate, "answer")),
            "unscored as 0": RecordMeasure(lambda rate: results.rate(rate, "zeroed")),
            **_in_readings(lambda rate: results.readings[rate], *_READINGS[:2]),
        },
    )
    rate_of = dict(zip(source.members, results.rates, strict=True))
    member_of = {rate: member for member, rate in rate_of.items()}

    def best(measure: str, members: Sequence[Member], parts: Sequence[Places]) -> Member | None:
        """The best method and model of a kind of rate; of one, nothing is the best."""
        if measure != "rate" or len({rate[1:] for rate in results.rates}) < 2:
            return None
        winner = results.best([rate_of[member] for member in members])
        return None if winner is None else member_of[winner]

    constant = results.share_of(PARTIAL)
    return replace(
        source,
        best=best,
        texts={"summary": lambda: _in_words(results, constant)},
        references={"constant score": lambda: constant},
    )


def _counts(contents: ComprehensivenessContent) -> str:
    answers = contents.results.answers if contents.results else {}
    parts = [
        f"{count:,} labelled answers of {_TITLES[name]}" for name, count in answers.items() if count
    ]
    means = contents.means
    if means and means.keys:
        parts.append(f"{_total(map(means.mean, means.keys)):,} scores of answers")
    return f"{', '.join(parts)}; rows of {listed(list(contents.sources))}"


def _differences(results: ComprehensivenessResults) -> RecipeSource:
    alpha = results.options.alpha
    differences = results.differences()

    def key(row: Compared) -> tuple[tuple[str, ...], str, str]:
        return row.within, row.first, row.second

    by_answer = {key(row): row.adjusted for row in results.differences("answer")}

    def significant(row: Compared) -> bool | None:
        return None if row.adjusted is None else row.adjusted <= alpha

    def summary() -> str:
        count = sum(significant(row) is True for row in differences)
        return (
            f"{count} of {counted(len(differences), 'pair')} of methods with the same model differ significantly "
            f"(adjusted p up to {alpha:g})."
        )

    source = source_of_records(
        differences,
        {
            "kind": lambda row: row.within[0],
            "model": lambda row: row.within[1],
            "first": lambda row: short(row.first),
            "second": lambda row: short(row.second),
        },
        {
            "difference": RecordMeasure("result"),
            "p": RecordMeasure("result.p", "p"),
            _ADJUSTED: RecordMeasure("adjusted", "p"),
            "significant": RecordMeasure(significant, "text"),
            f"{_ADJUSTED}, by answer": RecordMeasure(lambda row: by_answer[key(row)], "p"),
        },
    )
    return replace(source, texts={"summary": summary})


def _rows_of_labels(results: ComprehensivenessResults) -> list[tuple[str, str, str, str]]:
    """Label, kind of rate, method and model."""
    return [
        (label, *rate)
        for rate in results.rates
        if rate[0] in TESTED
        for label in results.labels(rate)
    ]


def _labels(results: ComprehensivenessResults) -> RecipeSource:
    return source_of_records(
        _rows_of_labels(results),
        {"label": itemgetter(0), **_of_rate()},
        {"rate": RecordMeasure(lambda row: results.rate(row[1:], label=row[0]))},
    )


def _balanced(results: ComprehensivenessResults) -> RecipeSource:
    """The mean of the labels' rates; none if a label has no scored answer."""
    groups: dict[Rate, list[float | None]] = {}
    for label, *rate in _rows_of_labels(results):
        kind, method, model = rate
        value = results.rate((kind, method, model), label=label).value
        groups.setdefault((kind, method, model), []).append(value)

    def mean(rate: Rate) -> float | None:
        scored_rates = [value for value in groups[rate] if value is not None]
        is_complete = len(scored_rates) == len(groups[rate])
        return statistics.fmean(scored_rates) if is_complete else None

    return source_of_records(
        groups,
        _of_rate(),
        {"labels": _number(lambda rate: len(groups[rate])), "mean": _number(mean, 3)},
    )


def _spread(results: ComprehensivenessResults) -> RecipeSource:
    """A method over models: mean, standard deviation, least and greatest rate; nothing of one model."""
    groups: dict[tuple[str, str], list[float]] = {}
    if len({model for *_, model in results.rates}) > 1:
        for rate in results.rates:
            if (value := results.rate(rate).value) is not None:
                groups.setdefault(rate[:2], []).append(value)
    is_published = results.options.as_published
    deviation = statistics.pstdev if is_published else statistics.stdev

    def sd(group: tuple[str, str]) -> float | None:
        return deviation(groups[group]) if len(groups[group]) > 1 else None

    source = source_of_records(
        groups,
        {"method": lambda group: short(group[1]), "kind": lambda group: group[0]},
        {
            "models": _number(lambda group: len(groups[group])),
            "mean": _number(lambda group: statistics.fmean(groups[group]), 3),
            "sd": _number(sd, 3),
            "least": _number(lambda group: min(groups[group]), 3),
            "greatest": _number(lambda group: max(groups[group]), 3),
        },
    )
    divisor = "n" if is_published else "n - 1"
    note = f"sd: standard deviation of the models' rates, with {divisor}."
    return replace(source, texts={"sd": lambda: note})


def _coverage(results: ComprehensivenessResults) -> RecipeSource:
    return source_of_records(
        results.coverage,
        {
            "method": lambda row: short(row[0]),
            "model": itemgetter(1),
            "source": itemgetter(2),
            "answer matches it": itemgetter(3),
        },
        {"mean": RecordMeasure(lambda row: results.coverage[row])},
    )


def _in_words(results: ComprehensivenessResults, constant: float | None) -> str:
    """The best of each method, in words."""
    present = [kind for kind in KINDS if results.of(kind)]
    kind = BOTH if BOTH in present else present[-1]
    every = {(kind, *key): results.rate((kind, *key)) for key in results.of(kind)}
    total = _total(every.values())
    rates_with_value = [rate for rate, estimate in every.items() if estimate.value is not None]
    if not rates_with_value:
        return f"No answer has a score: 0 of {counted(total, 'score')}. `longmark report RUN` shows why."
    parts = []
    for name in dict.fromkeys(method for _, method, _ in rates_with_value):
        method_rates = [rate for rate in rates_with_value if rate[1] == name]
        best = method_rates[0] if len(method_rates) == 1 else results.best(method_rates)
        undecided = f"undecided among {counted(len(method_rates), 'model')}"
        parts.append(
            f"{short(name)} "
            + (f"{fixed(every[best].value, 3)} (with {best[2]})" if best else undecided)
        )
    sentences = [
        f"Label match rate on {kind}, each method with its best model: {listed(parts, 8)}."
    ]
    if any("undecided" in part for part in parts):
        sentences.append(
            "Undecided: the best model on the answers that all scored is not the best where unscored answers count as "
            "0, or several are equal (columns on common answers, and unscored as worst)."
        )
    if constant is not None:
        sentences.append(
            f"A constant score of 0.5 would have a rate of {fixed(constant, 3)} on WikiContradict."
        )
    if unscored := sum(estimate.missing for estimate in every.values()):
        sentences.append(f"{unscored:,} of {counted(total, 'score')} are missing and excluded.")
    return " ".join(sentences)


# Answers of systems (section 4.2, figure 6) ---------------------------------------------------------------------------


def _systems(means: SystemMeans) -> RecipeSource:
    source = source_of_records(
        means.keys,
        {
            "system": itemgetter(0),
            "method": lambda key: short(key[1]),
            "model": itemgetter(2),
            "judged": lambda key: f"{short(key[1])} by {key[2]}",
        },
        {
            "mean": RecordMeasure(means.mean),
            **_in_readings(
                lambda key: means.readings[key], "on common questions", "common questions"
            ),
            "unscored because": RecordMeasure(means.why_unscored, "text"),
        },
    )
    key_of = dict(zip(source.members, means.keys, strict=True))

    def best(measure: str, members: Sequence[Member], parts: Sequence[Places]) -> Member | None:
        if measure != "mean" or len({key[0] for key in means.keys}) < 2:
            return None
        systems = {key_of[member]: member for member in members}
        _, method, model = next(iter(systems))
        system = means.best(method, model)
        return None if system is None else systems.get((system, method, model))

    return replace(source, best=best, texts={"summary": lambda: _of_systems(means)})


def _of_systems(means: SystemMeans) -> str:
    """What the means are, and the scores that are missing from them, with their statuses."""
    text = (
        "Mean comprehensiveness of each system's answers (section 4.2, figure 6). Methods count different "
        "statements, so compare systems within a method, not methods."
    )
    estimates = list(map(means.mean, means.keys))
    unscored = sum(estimate.missing for estimate in estimates)
    if not unscored:
        return text
    why = listed(list(dict.fromkeys(filter(None, map(means.why_unscored, means.keys)))), 8)
    return f"{text} {unscored:,} of {counted(_total(estimates), 'score')} are missing ({why}) and left out."


# Annotation (table 1, figure 8) ---------------------------------------------------------------------------------------


def _errors(labels: Annotated) -> RecipeSource:
    """Outputs without an error and those with each, by method and model, and of all."""
    rows: list[Key] = [*labels.methods, _EVERY_METHOD]

    def count(error: str) -> RecordMeasure:
        return _number(lambda key: labels.counts(key)[error])

    source = source_of_records(
        rows,
        {"method": lambda key: short(key[0]) or "all", "model": lambda key: key[1]},
        {
            FULLY_CORRECT: RecordMeasure(lambda key: labels.share(key, FULLY_CORRECT)),
            AGREES: RecordMeasure(lambda key: labels.share(key, AGREES)),
            **{error: count(error) for error in ERRORS},
        },
    )
    return replace(
        source,
        texts={"summary": lambda: _of_errors(labels)},
        figures={"shares": lambda: [_shares(labels)]},
    )


def _of_errors(labels: Annotated) -> str:
    correct = labels.share(_EVERY_METHOD, FULLY_CORRECT)
    agree = labels.share(_EVERY_METHOD, AGREES)
    missing = f" Without a label: {labels.missing:,}." if labels.missing else ""
    return (
        f"{fixed(correct.value, 3)} of {counted(correct.n, 'annotated output')} have no error. The match of score and "
        f"weak label agrees with the raters in {fixed(agree.value, 3)}.{missing}"
    )


def _shares(labels: Annotated) -> Figure:
    methods = labels.methods
    shares = [
        [count / len(labels.of(key)) for count in labels.counts(key).values()] for key in methods
    ]
    label = "Share of outputs with each error (the paper's figure 8)"
    names = [short(method) for method, _ in methods]
    return heat_map(names, list(ERRORS), shares, label, (0.0, 1.0), 2)


def _raters(labels: Annotated) -> RecipeSource:
    return source_of_records(
        labels.raters.coefficients,
        {"coefficient": lambda coefficient: coefficient.coefficient},
        {"value": RecordMeasure(lambda coefficient: coefficient)},
    )
