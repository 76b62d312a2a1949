"""The page of a comprehensiveness study: the label match rates in words first, then the paper's figures and tables."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from longmark.analysis.grid import Grid, pairs_grid
from longmark.contrib.make.published import CONFLICTBANK, PARTIAL, WIKICONTRADICT
from longmark.contrib.papers.comprehensiveness.annotation import (
    AGREES,
    ERRORS,
    FULLY_CORRECT,
    Annotated,
)
from longmark.contrib.papers.comprehensiveness.results import (
    ComprehensivenessResults,
    Key,
    Rate,
    SystemMeans,
)
from longmark.contrib.papers.comprehensiveness.rows import (
    BOTH,
    KINDS,
    PUBLISHED,
    TESTED,
    WIKI,
    RateOptions,
)
from longmark.records.metric_name import base_of
from longmark.report.charts import heat_map
from longmark.report.document import Document, Section, folded_after
from longmark.report.format import counted, fixed, listed
from longmark.report.tables import Column, Table
from longmark.scores.readings import UNDECIDED, MeanReading
from longmark.stats.results import Estimate

_NAMES = {
    "comprehensiveness.nli": "NLI",
    "comprehensiveness.qa": "Q&A",
    "comprehensiveness.end_to_end": "E2E",
}
_TITLES = {WIKICONTRADICT: "WikiContradict", CONFLICTBANK: "ConflictBank"}
_FIGURES = {WIKI: "figure 3", TESTED[1]: "figure 4", BOTH: "figure 5"}
_ALL = ("", "")


def short(method: str) -> str:
    """The paper's name of a method; for other metrics, their own."""
    base = base_of(method)
    return _NAMES.get(base, base) + method[len(base) :]


def _judged(key: Sequence[str]) -> str:
    """`NLI by gpt-4o`, of a method and a model."""
    return f"{short(key[-2])} by {key[-1]}"


def _heads(*before: Column) -> tuple[Column, ...]:
    """The heads of rows that end in a method and a model."""
    return (
        *before,
        Column("method", lambda row: short(row[-2]), key="method"),
        Column("model", lambda row: row[-1]),
    )


_KIND = Column("rate of", lambda row: row[-3], key="kind")


@dataclass(frozen=True)
class ComprehensivenessContent:
    """What a page shows. sources: names of the runs; results, means, annotated: None where there are none."""

    options: RateOptions
    sources: Sequence[str]
    results: ComprehensivenessResults | None = None
    means: SystemMeans | None = None
    annotated: Annotated | None = None
    notices: Sequence[str] = ()

    @cached_property
    def sections(self) -> tuple[Section, ...]:
        parts: list[Iterator[Section]] = []
        parts += [_rates(self.results)] if self.results else []
        parts += [_answers(self.means)] if self.means and self.means.keys else []
        parts += [_annotations(self.annotated)] if self.annotated else []
        return folded_after([section for part in parts for section in part])


def document(contents: ComprehensivenessContent) -> Document:
    options = contents.options
    intervals = f"BCa bootstrap, {options.resamples:,} resamples, seed {options.seed}; clusters: {options.cluster}"
    answers = contents.results.answers if contents.results else {}
    lede_parts = [
        f"{count:,} labelled answers of {_TITLES[name]}" for name, count in answers.items() if count
    ]
    if contents.means and contents.means.keys:
        lede_parts.append(
            f"{sum(map(_total, map(contents.means.mean, contents.means.keys))):,} scores of answers"
        )
    return Document(
        kind="comprehensiveness study",
        title="Comprehensiveness study",
        lede=f"{', '.join(lede_parts)}; rows of {listed(list(contents.sources))}",
        sections=[replace(section, brief=1) for section in contents.sections],
        notices=contents.notices,
        settings={
            "runs": list(contents.sources),
            "metrics": list(options.metrics),
            "intervals of rates and means": intervals,
            "tests": f"paired permutation, {options.draws:,} patterns of signs; Benjamini-Hochberg in each data set",
            "alpha": options.alpha,
            **({"as published": PUBLISHED} if options.as_published else {}),
        },
    )


def _total(estimate: Estimate) -> int:
    return estimate.n + estimate.missing


def _in_readings(
    readings_of: dict[Rate, MeanReading], common: str, items: str
) -> tuple[Column, ...]:
    return (
        Column(common, lambda row: readings_of[row].common, 3, key="common"),
        Column(items, lambda row: readings_of[row].n, key="common_items", spare=2),
        Column("unscored as worst", lambda row: readings_of[row].worst, 3, key="worst"),
    )


# Label match rates (section 4.1, figures 3 to 5) ----------------------------------------------------------------------


def overview(results: ComprehensivenessResults) -> Grid[Key]:
    """The rates of every method and model by kind; in bold the best of a kind."""
    best = {
        kind: results.best((kind, *key) for key in results.of(kind))
        for kind in KINDS
        if results.of(kind)
    }
    rows = list(dict.fromkeys(rate[1:] for rate in results.rates))
    rates_present = set(results.rates)
    return Grid(
        "overview",
        "Label match rates",
        _heads(),
        rows,
        [Column(kind, places=3) for kind in best],
        lambda key, kind: results.rate((kind, *key)) if (kind, *key) in rates_present else None,
        f"Over scored answers. {UNDECIDED}",
        unit="",
        best={kind: {rate[1:]} for kind, rate in best.items() if rate is not None}
        if len(rows) > 1
        else {},
        label=_judged,
    )


def rates(results: ComprehensivenessResults) -> Grid[Rate]:
    """Every rate by all its intervals, and in both readings."""
    estimate_of: dict[str, Callable[[Rate], Estimate]] = {
        "rate": results.rate,
        "by answer": lambda rate: results.rate(rate, "answer"),
        "unscored as 0": lambda rate: results.rate(rate, "zeroed"),
    }
    columns = [
        Column("rate", places=3),
        Column("by answer", places=3),
        Column("unscored as 0", places=3),
    ]
    return Grid(
        "rates",
        "All rates",
        _heads(_KIND),
        results.rates,
        columns,
        lambda rate, column: estimate_of[column](rate),
        "rate: clusters are resampled. by answer: answers are resampled, as published. unscored as 0: empty graphs and "
        "unparsable replies count as a score of 0, as published.",
        unit="answers",
        beside=_in_readings(results.readings, "on common answers", "common answers"),
    )


def rates_by_label(results: ComprehensivenessResults) -> Grid[tuple[str, str, str, str]]:
    """The rates over the answers of each label, or of each claim of ConflictBank."""
    rows = [
        (label, *rate)
        for rate in results.rates
        if rate[0] in TESTED
        for label in results.labels(rate)
    ]
    return Grid(
        "rates_by_label",
        "Rate of each label",
        _heads(Column("label"), _KIND),
        rows,
        [Column("rate", places=3)],
        lambda row, _column: results.rate(row[1:], label=row[0]),
        unit="answers",
    )


def _rates(results: ComprehensivenessResults) -> Iterator[Section]:
    constant = results.share_of(PARTIAL)
    wide = overview(results)
    figures = []
    for kind in (column.name for column in wide.columns if column.name in _FIGURES):
        label = f"Label match rate, {kind} (the paper's {_FIGURES[kind]})"
        line = constant if kind == WIKI else None
        label += "" if line is None else "; dashed: a score of 0.5 for every answer"
        figures.append(wide.forest(label, kind, line))
    yield Section(
        "Label match rates",
        _in_words(results, constant),
        [wide.table(), rates(results).table()],
        figures,
        "A rate says how often scores are consistent with weak labels. It does not say that the lists of covered and "
        "uncovered statements are right.",
    )
    yield from _differences(results)
    by_label = rates_by_label(results)
    yield Section(
        "Rates by label",
        "The same rates over the answers of each label, or of each claim of ConflictBank. The mean over labels counts "
        "each label alike, so that a frequent label does not favour a constant score.",
        [_balanced(by_label), by_label.table()],
    )
    if len({model for *_, model in results.rates}) > 1:
        says = "How much the rate of a method depends on the model (section 4.1, last paragraph of the results)."
        yield Section("Dependence on the model", says, [spread(results)])
    if results.coverage:
        heads = (
            Column("method", lambda row: short(row[0]), key="method"),
            "model",
            "source",
            "answer matches it",
        )
        grid = Grid(
            "coverage_by_source",
            "Coverage by source",
            heads,
            list(results.coverage),
            [Column("mean S_X", places=3, key="mean")],
            lambda row, _column: results.coverage[row],
            "Over scored answers in which the source has statements.",
            unit="answers",
        )
        says = "S_X, the covered share of a source's own statements: 1 is expected where the answer matches the source."
        yield Section("ConflictBank: coverage by source", says, [grid.table()])


def _differences(results: ComprehensivenessResults) -> Iterator[Section]:
    if not (differences := results.differences()):
        return
    alpha = results.options.alpha
    by_answer = {
        (difference.within, difference.first, difference.second): difference.adjusted
        for difference in results.differences("answer")
    }
    grid = pairs_grid(
        "differences",
        "Differences between methods",
        differences,
        "",
        (
            Column("rate of", lambda row: row.within[0], key="kind"),
            Column("model", lambda row: row.within[1], key="model"),
            Column("first", lambda row: short(row.first)),
            Column("second", lambda row: short(row.second)),
        ),
        alpha,
    )
    head = "p (Benjamini-Hochberg), by answer"
    by_answer_column = Column(
        head, lambda row: by_answer[row.within, row.first, row.second], kind="p", key="p_by_answer"
    )
    grid = replace(grid, unit="answers", beside=(*grid.beside, by_answer_column))
    significant = sum(
        difference.adjusted is not None and difference.adjusted <= alpha
        for difference in differences
    )
    yield Section(
        "Differences between methods",
        f"{significant} of {counted(len(differences), 'pair')} of methods with the same model differ significantly "
        f"(adjusted p up to {alpha:g}).",
        [grid.table()],
        note="Paired permutation tests on answers that both methods scored; the signs of a cluster flip together. "
        "Benjamini-Hochberg over the pairs of all models in a data set. by answer: each answer flips by itself, as "
        "published.",
    )


def _balanced(by_label: Grid[tuple[str, str, str, str]]) -> Table:
    """The mean of the labels' rates; none if a label has no scored answer."""
    groups: dict[Rate, list[float | None]] = {}
    for row in by_label.rows:
        estimate = by_label[row, "rate"]
        groups.setdefault(row[1:], []).append(estimate.value if estimate else None)
    lines = []
    for (kind, method, model), label_rates in groups.items():
        scored_rates = [rate for rate in label_rates if rate is not None]
        complete = len(scored_rates) == len(label_rates)
        mean = statistics.fmean(scored_rates) if complete else None
        lines.append((kind, short(method), model, len(label_rates), mean))
    heads = (
        Column("rate of", key="kind"),
        *map(Column, ("method", "model", "labels")),
        Column("mean", places=3),
    )
    return Table("balanced", "Mean of the labels' rates", heads, lines)


def spread(results: ComprehensivenessResults) -> Table:
    """A method over models: mean, standard deviation, least and greatest rate."""
    groups: dict[tuple[str, str], list[float]] = {}
    for rate in results.rates:
        if (value := results.rate(rate).value) is not None:
            groups.setdefault(rate[:2], []).append(value)
    published = results.options.as_published
    sd = statistics.pstdev if published else statistics.stdev
    lines = [
        (
            short(method),
            kind,
            len(model_rates),
            statistics.fmean(model_rates),
            sd(model_rates) if len(model_rates) > 1 else None,
            min(model_rates),
            max(model_rates),
        )
        for (kind, method), model_rates in groups.items()
    ]
    heads = (Column("method"), Column("rate of", key="kind"), Column("models"))
    columns = (*heads, *(Column(name, places=3) for name in ("mean", "sd", "least", "greatest")))
    note = f"sd: standard deviation of the models' rates, with {'n' if published else 'n - 1'}."
    return Table("spread", "Rates over models", columns, lines, note)


def _in_words(results: ComprehensivenessResults, constant: float | None) -> str:
    """The best of each method, in words."""
    present = [kind for kind in KINDS if results.of(kind)]
    kind = BOTH if BOTH in present else present[-1]
    every = {(kind, *key): results.rate((kind, *key)) for key in results.of(kind)}
    total = sum(map(_total, every.values()))
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


def _answers(means: SystemMeans) -> Iterator[Section]:
    systems = list(dict.fromkeys(key[0] for key in means.keys))
    judged = {_judged(key): key[1:] for key in means.keys}
    keys_present = set(means.keys)
    best = {name: means.best(*key) for name, key in judged.items()} if len(systems) > 1 else {}
    wide = Grid(
        "systems",
        "Means of the systems",
        ("system",),
        systems,
        [Column(name, places=3) for name in judged],
        lambda system, name: (
            means.mean((system, *judged[name])) if (system, *judged[name]) in keys_present else None
        ),
        UNDECIDED,
        unit="",
        best={name: {system} for name, system in best.items() if system is not None},
    )
    every = Grid(
        "answers",
        "Means by system and method",
        _heads(Column("system", lambda key: key[0])),
        means.keys,
        [Column("mean", places=3)],
        lambda key, _column: means.mean(key),
        unit="answers",
        beside=(
            *_in_readings(means.readings, "on common questions", "common questions"),
            Column("unscored because", means.why_unscored),
        ),
    )
    yield Section(
        "Comprehensiveness of answers",
        "Mean comprehensiveness of each system's answers (section 4.2, figure 6). Methods count different "
        f"statements, so compare systems within a method, not methods.{_left_out(means)}",
        [wide.table(), every.table()],
        [wide.forest(name, name) for name in judged],
        "longmark compare tests the differences between systems.",
    )


def _left_out(means: SystemMeans) -> str:
    """The scores that are missing from the means, with their statuses; empty if none is."""
    estimates = list(map(means.mean, means.keys))
    if not (unscored := sum(estimate.missing for estimate in estimates)):
        return ""
    why = listed(list(dict.fromkeys(filter(None, map(means.why_unscored, means.keys)))), 8)
    return f" {unscored:,} of {counted(sum(map(_total, estimates)), 'score')} are missing ({why}) and left out."


# Annotation (table 1, figure 8) ---------------------------------------------------------------------------------------


def _annotations(annotated: Annotated) -> Iterator[Section]:
    """Errors by method, the agreement rate, and the raters among themselves."""
    rows: list[Key] = [*annotated.methods, _ALL]
    heads = (
        Column("method", lambda row: short(row[0]) or "all"),
        Column("model", lambda row: row[1] or None),
    )
    correct = Grid(
        "table1",
        "Fully correct outputs (the paper's table 1)",
        heads,
        rows,
        (Column(FULLY_CORRECT, places=3, key="correct"), Column(AGREES, places=3, key="agreement")),
        lambda key, column: annotated.share(key, column),
        unit="annotations",
    )
    errors = Table(
        "figure8",
        "Annotations with each error (the paper's figure 8)",
        (Column("method"), Column("model"), *map(Column, ERRORS)),
        [(short(key[0]) or "all", key[1] or None, *annotated.counts(key).values()) for key in rows],
    )
    shares = [
        [count / len(annotated.of(key)) for count in annotated.counts(key).values()]
        for key in annotated.methods
    ]
    label = "Share of outputs with each error (the paper's figure 8)"
    figure = heat_map(
        [short(key[0]) for key in annotated.methods], list(ERRORS), shares, label, (0.0, 1.0), 2
    )
    raters = {coefficient.coefficient: coefficient for coefficient in annotated.raters.coefficients}
    among = Grid(
        "raters",
        "Agreement of raters on outputs with and without errors",
        ("coefficient",),
        list(raters),
        [Column("value", places=3)],
        lambda name, _column: raters[name],
        unit="items",
    )
    missing = f" Without a label: {annotated.missing:,}." if annotated.missing else ""
    first, agree = (annotated.share(_ALL, share_name) for share_name in (FULLY_CORRECT, AGREES))
    yield Section(
        "Errors found by raters",
        f"{fixed(first.value, 3)} of {counted(first.n, 'annotated output')} have no error. The match of score and "
        f"weak label agrees with the raters in {fixed(agree.value, 3)}.{missing}",
        [correct.table(), errors, *([among.table()] if raters else [])],
        [figure],
        "An output may have several errors. "
        + " ".join(f"{name}: {meaning}." for name, meaning in ERRORS.items()),
    )
