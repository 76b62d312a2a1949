"""The page of a comprehensiveness study: the label match rates in words first, then the paper's figures and tables."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from typing import Any

from longmark.analysis.studies.comprehensiveness.annotation import ERRORS, Annotated, MethodErrors
from longmark.analysis.studies.comprehensiveness.answers import SystemMean
from longmark.analysis.studies.comprehensiveness.results import Rate, Results, best_of, rate_by_label
from longmark.analysis.studies.comprehensiveness.rows import BOTH, KINDS, PUBLISHED, TESTED, WIKI, Options
from longmark.datasets.published import CONFLICTBANK, PARTIAL, WIKICONTRADICT
from longmark.report.charts import ForestRow, forest, heat_map
from longmark.report.document import Document, Section
from longmark.report.figures import Figure
from longmark.report.format import counted, fixed, listed
from longmark.report.tables import Column, Mean, Table, interval_columns, systems_table
from longmark.scores.readings import UNDECIDED, best
from longmark.stats.results import Estimate

_NAMES = {"comprehensiveness.nli": "NLI", "comprehensiveness.qa": "Q&A", "comprehensiveness.end_to_end": "E2E"}
_TITLES = {WIKICONTRADICT: "WikiContradict", CONFLICTBANK: "ConflictBank"}
_FIGURES = {WIKI: "figure 3", TESTED[1]: "figure 4", BOTH: "figure 5"}
METHOD, MODEL = Column("method", lambda one: short(one.method), key="method"), Column("model")


def short(method: str) -> str:
    """The paper's name of a method; for other metrics, their own."""
    return _NAMES.get(method, method)


@dataclass(frozen=True, slots=True)
class Found:
    """What a page shows. sources: names of the runs; results, annotated: None where there are none."""

    options: Options
    sources: Sequence[str]
    results: Results | None = None
    means: Sequence[SystemMean] = ()
    annotated: Annotated | None = None
    notices: Sequence[str] = ()

    @property
    def ci(self) -> str:
        return f"{100 * (1 - self.options.alpha):g} % CI"


def document(found: Found) -> Document:
    """The page."""
    options = found.options
    intervals = f"BCa bootstrap, {options.resamples:,} resamples, seed {options.seed}; clusters: {options.cluster}"
    answers = found.results.answers if found.results else {}
    return Document(
        kind="comprehensiveness study",
        title="Comprehensiveness study",
        lede=", ".join(
            [f"{count:,} labelled answers of {_TITLES[name]}" for name, count in answers.items() if count]
            + ([f"{sum(one.total for one in found.means):,} scores of answers"] if found.means else [])
        )
        + f"; rows of {listed(list(found.sources))}",
        sections=(
            *(_rates(found, found.results) if found.results else ()),
            *_answers(found),
            *(_annotations(found, found.annotated) if found.annotated else ()),
        ),
        notices=found.notices,
        settings={
            "runs": list(found.sources),
            "metrics": list(options.metrics),
            "intervals of rates and means": intervals,
            "tests": f"paired permutation, {options.draws:,} patterns of signs; Benjamini-Hochberg in each data set",
            "alpha": options.alpha,
            **({"as published": PUBLISHED} if options.as_published else {}),
        },
    )


# Label match rates ----------------------------------------------------------------------------------------------------


def _rates(found: Found, results: Results) -> Iterator[Section]:
    kinds = [kind for kind in KINDS if results.of(kind)]
    yield Section(
        "Label match rates",
        _in_words(results),
        [_overview(found, results), Table("rates", "All rates", _rate_columns(found, "kind"), results.rates, _NOTE)],
        [_figure(kind, results) for kind in kinds if kind in _FIGURES],
        "A rate says how often scores are consistent with weak labels. It does not say that the lists of covered and "
        "uncovered statements are right.",
    )
    yield from _differences(found, results)
    by_label = [on for kind in TESTED for on in rate_by_label(kind, results.values.get(kind, {}), found.options)]
    columns = (Column("label", lambda on: on[0], key="label"), *_rate_columns(found, "kind", lambda on: on[1]))
    keys = dict.fromkeys((one.kind, one.method, one.model) for _, one in by_label)
    balanced = [(kind, short(method), *_balanced(by_label, (kind, method, model))) for kind, method, model in keys]
    heads = (Column("rate of", key="kind"), *map(Column, ("method", "model", "labels")), Column("mean", places=3))
    yield Section(
        "Rates by label",
        "The same rates over the answers of each label, or of each claim of ConflictBank. The mean over labels counts "
        "each label alike, so that a frequent label does not favour a constant score.",
        [
            Table("balanced", "Mean of the labels' rates", heads, balanced),
            Table("rates_by_label", "Rate of each label", columns, [list(on) for on in by_label]),
        ],
    )
    if len({one.model for one in results.rates}) > 1:
        names = ("models", "mean", "sd", "least", "greatest")
        head = (METHOD, Column("rate of", "kind", key="kind"))
        columns = (*head, Column(names[0]), *(Column(name, places=3) for name in names[1:]))
        note = f"sd: standard deviation of the models' rates, with {'n' if found.options.as_published else 'n - 1'}."
        says = "How much the rate of a method depends on the model (section 4.1, last paragraph of the results)."
        table = Table("spread", "Rates over models", columns, results.spreads, note)
        yield Section("Dependence on the model", says, [table])
    if results.coverage:
        columns = (
            *(METHOD, MODEL, Column("source"), Column("answer matches it", "matching", key="matching")),
            *(Column("mean S_X", "mean", 3, key="mean"), Column("answers", "n")),
            Column("without statements", "without", key="without"),
        )
        says = "S_X, the covered share of a source's own statements: 1 is expected where the answer matches the source."
        table = Table("coverage_by_source", "Coverage by source", columns, results.coverage, "Over scored answers.")
        yield Section("ConflictBank: coverage by source", says, [table])


def _overview(found: Found, results: Results) -> Table:
    """The rates as cells: a line for each method and model."""
    by = {(f"{short(one.method)} by {one.model}", one.kind): one.rate for one in results.rates}
    kinds = [Column(kind, places=3) for kind in KINDS if results.of(kind)]
    note = f"Rate with {found.ci}, over scored answers. {UNDECIDED}"
    decided = (best_of(results.of(kind.name)) for kind in kinds)
    bold = {(f"{short(one.method)} by {one.model}", one.kind) for one in decided if one is not None}
    names = list(dict.fromkeys(name for name, _ in by))
    table = _means("overview", "Label match rates", names, kinds, by, bold if len(names) > 1 else (), note)
    head = replace(table.columns[0], name="method" if table.columns[0].name == "system" else "rate of")
    return replace(table, columns=(head, *table.columns[1:]))


def _means(
    name: str,
    title: str,
    rows: Sequence[str],
    columns: Sequence[Column],
    by: Mapping[tuple[str, str], Estimate],
    bold: Collection[tuple[str, str]],
    note: str,
) -> Table:
    def cell(row: str, column: str) -> Mean | None:
        one = by.get((row, column))
        return None if one is None else Mean(one.value, one.low, one.high, best=(row, column) in bold)

    table = systems_table(rows, columns, cell, note)
    return replace(table, name=name, title=title, columns=tuple(replace(one, words="") for one in table.columns))


def _balanced(by_label: Sequence[tuple[str, Rate]], key: tuple[str, str, str]) -> tuple[str, int, float | None]:
    """The model, the labels, and the mean of their rates; None if a label has no scored answer."""
    rates = [one.rate.value for _, one in by_label if (one.kind, one.method, one.model) == key]
    known = [rate for rate in rates if rate is not None]
    return key[2], len(rates), fmean(known) if len(known) == len(rates) else None


_NOTE = (
    "CI: clusters are resampled. CI by answer: answers are resampled, as published. unscored as 0: empty graphs and "
    "unparsable replies count as a score of 0, as published."
)


def _rate_columns(found: Found, kind: str, of: Callable[[Any], Rate] = lambda one: one) -> tuple[Column, ...]:
    def at(name: str) -> Callable[[Any], Any]:
        return lambda item: getattr(of(item), name)

    return (
        *(Column("rate of", at(kind), key="kind"), Column("method", lambda item: short(of(item).method), key="method")),
        *(Column("model", at("model")), *interval_columns("rate", at("rate"), 3, found.ci)),
        interval_columns("plain", at("plain"), 3, f"{found.ci} by answer", "plain", "plain")[1],
        *(Column("scored", lambda item: of(item).rate.n), Column("answers", at("total"), key="answers")),
        Column("clusters", lambda item: of(item).rate.clusters, spare=1),
        *interval_columns("unscored as 0", at("zeroed"), 3, f"{found.ci}, as published", "as_published"),
        Column("on common answers", lambda item: (one := of(item).reading) and one.common, 3, key="common"),
        Column("common answers", lambda item: (one := of(item).reading) and one.n, key="common_answers", spare=2),
        Column("unscored as worst", lambda item: (one := of(item).reading) and one.worst, 3, key="worst"),
        Column("reason", lambda item: of(item).rate.reason),
    )


def _in_words(results: Results) -> str:
    """The best of each method, in words."""
    kind = BOTH if results.of(BOTH) else next(kind for kind in reversed(KINDS) if results.of(kind))
    known = [one for one in results.of(kind) if one.rate.value is not None]
    if not known:
        scores = counted(sum(one.total for one in results.of(kind)), "score")
        return f"No answer has a score: 0 of {scores}. `longmark report RUN` shows why."
    parts = []
    for name in dict.fromkeys(one.method for one in known):
        one = best_of(of := [rate for rate in known if rate.method == name])
        one = of[0] if len(of) == 1 else one
        rate = (
            f"{fixed(one.rate.value, 3)} (with {one.model})" if one else f"undecided among {counted(len(of), 'model')}"
        )
        parts.append(f"{short(name)} {rate}")
    says = [f"Label match rate on {kind}, each method with its best model: {listed(parts, 8)}."]
    if any("undecided" in part for part in parts):
        says.append(
            "Undecided: the best model on the answers that all scored is not the best where unscored answers count as "
            "0, or several are equal (columns on common answers, and unscored as worst)."
        )
    if (constant := _constant(results)) is not None:
        says.append(f"A score of 0.5 for every answer would have {fixed(constant, 3)} on WikiContradict.")
    total = sum(one.total for one in results.of(kind))
    if unscored := total - sum(one.rate.n for one in results.of(kind)):
        says.append(f"{unscored:,} of {counted(total, 'score')} are missing and excluded.")
    return " ".join(says)


def _constant(results: Results) -> float | None:
    """The rate on WikiContradict of a score of 0.5 for every answer; None without such answers."""
    for values in results.values.get(WIKI, {}).values():
        return values.labels.count(PARTIAL) / len(values.labels)
    return None


def _figure(kind: str, results: Results) -> Figure:
    """The rates of a kind; on WikiContradict with a line at the rate of a constant score."""
    rows = [_lane(f"{short(one.method)} by {one.model}", one.rate, one.total) for one in results.of(kind)]
    line = _constant(results) if kind == WIKI else None
    label = f"Label match rate, {kind} (the paper's {_FIGURES[kind]})"
    return forest(rows, label if line is None else f"{label}; dashed: a score of 0.5 for every answer", reference=line)


def _lane(name: str, estimate: Estimate, total: int) -> ForestRow:
    return ForestRow(name, estimate.value, estimate.low, estimate.high, f"n = {estimate.n:,} of {total:,}")


def _differences(found: Found, results: Results) -> Iterator[Section]:
    if not results.differences:
        return
    alpha = found.options.alpha
    columns = (
        *(Column("rate of", "kind", key="kind"), MODEL, Column("first", lambda one: short(one.first))),
        *(Column("second", lambda one: short(one.second)), Column("difference", "test.difference", 3)),
        *(Column("p", "test.p", kind="p"), Column("p adjusted", "adjusted", kind="p")),
        Column("significant", lambda one: None if one.adjusted is None else one.adjusted <= alpha),
        Column("p adjusted, by answer", "plain_adjusted", kind="p", key="plain_adjusted"),
        *(Column("answers", "test.n"), Column("clusters", "test.clusters", spare=1), Column("reason", "test.reason")),
    )
    significant = sum(one.adjusted is not None and one.adjusted <= alpha for one in results.differences)
    yield Section(
        "Differences between methods",
        f"{significant} of {counted(len(results.differences), 'pair')} of methods with the same model differ "
        f"significantly (adjusted p up to {alpha:g}).",
        [Table("differences", "Differences between methods", columns, results.differences)],
        note="Paired permutation tests on answers that both methods scored; the signs of a cluster flip together. "
        "Benjamini-Hochberg over the pairs of all models in a data set. by answer: each answer flips by itself, as "
        "published.",
    )


# Answers of systems ---------------------------------------------------------------------------------------------------


def _answers(found: Found) -> Iterator[Section]:
    """Figure 6."""
    if not found.means:
        return
    by = {(one.system, f"{short(one.method)} by {one.model}"): one for one in found.means}
    systems, judged = (list(dict.fromkeys(key[place] for key in by)) for place in (0, 1))
    means = {key: one.mean for key, one in by.items()}

    columns = (
        *(Column("system"), METHOD, MODEL, *interval_columns("mean", "mean", 3, found.ci)),
        *(Column("scored", "mean.n"), Column("answers", "total"), Column("clusters", "mean.clusters", spare=1)),
        Column("on common questions", "reading.common", 3, key="common"),
        Column("unscored as worst", "reading.worst", 3, key="worst"),
        Column("unscored because", lambda one: ", ".join(one.reasons) or None),
        Column("reason", "mean.reason"),
    )
    metrics = [Column(name, places=3) for name in judged]
    decided = {
        name: best({one.system: one.reading for key, one in by.items() if key[1] == name and one.reading})
        for name in judged
    }
    bold = {(system, name) for name, system in decided.items() if system is not None and len(systems) > 1}
    figures = [
        forest([_lane(s, by[s, name].mean, by[s, name].total) for s in systems if (s, name) in by], name, None)
        for name in judged
    ]
    yield Section(
        "Comprehensiveness of answers",
        "Mean comprehensiveness of each system's answers (section 4.2, figure 6). Methods count different "
        f"statements, so compare systems within a method, not methods.{_left_out(found.means)}",
        [
            _means(
                *("systems", "Means of the systems", systems, metrics, means, bold),
                f"Mean with {found.ci}. {UNDECIDED}",
            ),
            Table("answers", "Means by system and method", columns, found.means),
        ],
        figures,
        "longmark compare tests the differences between systems.",
    )


def _left_out(means: Sequence[SystemMean]) -> str:
    """The scores that are missing from the means, with their statuses; empty if none is."""
    total = sum(one.total for one in means)
    if not (unscored := total - sum(one.mean.n for one in means)):
        return ""
    why = listed(list(dict.fromkeys(reason for one in means for reason in one.reasons)), 8)
    return f" {unscored:,} of {counted(total, 'score')} are missing ({why}) and left out."


# Annotation -----------------------------------------------------------------------------------------------------------


def _count(error: str, one: MethodErrors) -> int:
    return one.counts[error]


def _annotations(found: Found, annotated: Annotated) -> Iterator[Section]:
    """Table 1, figure 8, the agreement rate, and the raters among themselves."""
    rows = [*annotated.methods, annotated.all]

    def named(one: MethodErrors) -> str:
        return short(one.method) or "all"

    head = (Column("method", named), Column("model", lambda one: one.model or None))
    columns = (
        *(*head, Column("annotations")),
        *interval_columns("fully correct", "correct", 3, found.ci),
        *interval_columns("agrees with the label", "agree", 3, f"{found.ci} of agreement", "agreement"),
    )
    errors = (*head, *(Column(error, partial(_count, error), key=error) for error in ERRORS))
    shares = [[one.counts[error] / one.annotations for error in ERRORS] for one in annotated.methods]
    label = "Share of outputs with each error (the paper's figure 8)"
    figure = heat_map([named(one) for one in annotated.methods], list(ERRORS), shares, label, 0.0, 1.0, 2)
    coefficients = Table(
        "raters",
        "Agreement of raters on outputs with and without errors",
        (Column("coefficient"), *interval_columns("value", lambda one: one, 3, found.ci), Column("items", "n")),
        annotated.raters.coefficients,
    )
    first, missing = annotated.all, f" {annotated.missing:,} items have no label." if annotated.missing else ""
    agree, correct = fixed(first.agree.value, 3), fixed(first.correct.value, 3)
    yield Section(
        "Errors found by raters",
        f"{correct} of {counted(first.annotations, 'annotated output')} have no error. The match of score and label "
        f"equals this verdict in {agree}.{missing}",
        [
            Table("table1", "Fully correct outputs (the paper's table 1)", columns, rows),
            Table("figure8", "Annotations with each error (the paper's figure 8)", errors, rows),
            *([coefficients] if coefficients.rows else []),
        ],
        [figure],
        "An output may have several errors. " + " ".join(f"{name}: {what}." for name, what in ERRORS.items()),
    )
