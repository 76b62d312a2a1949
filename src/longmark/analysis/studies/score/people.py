"""People's labels of answers: SCORE's tables 5, 11 and 12 and the tables of section 5.2.

    among       items that several people labelled: those on which all agree, percentage of agreeing pairs, kappa
    by label    every person's label of every item against the evaluator's label of that answer, exact match
    mismatches  labels that differ from the evaluator's: how many of them on items on which people differ too
    scales      Spearman's correlation: of people with each other, of people with an evaluator's relevance (masked), of
                people with a proxy's context utilization (absolute)

The file has a line for each item, rater and dimension (columns: see docs/score-study.md).

The paper does not define an evaluator's label of an answer: here it is the majority of its claims' votes that are not
n/a, `no` for a tie, `n/a` if there is none. Two people of an item have no order, so the correlation of people with each
other takes every pair in both orders.

Answers to one question share it, whoever gave them: intervals count and resample questions (`results`; correlations
leave them out in turn). Fleiss's kappa has one, by BCa, from 15 questions on: below, its upper end lay below the true
kappa in up to 34 % of simulated samples of 5 answers, and 9 % of 12, where 2.5 % is nominal (docs/score-study.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from functools import partial
from itertools import permutations, product
from types import SimpleNamespace as Line
from typing import Any

from longmark.analysis.metaeval.agreement import agreeing, padded
from longmark.analysis.studies.score.labels import RELEVANCE, SCALES, UTILIZATION, Item, Labels
from longmark.analysis.studies.score.results import (
    ABSOLUTE,
    MASKED,
    SHARE,
    SPECIFICITY,
    AnswerScore,
    Intervals,
    Results,
    Scores,
    in_words,
    mean_of,
)
from longmark.analysis.studies.score.tables import DIMENSION, EVALUATOR, mean_columns, scaled
from longmark.analysis.studies.score.utilization import why_not
from longmark.records import Row
from longmark.records.metric_name import base_of
from longmark.report.format import counted
from longmark.report.tables import Column, Table, interval_columns, method_column
from longmark.stats.agreement import fleiss_kappa
from longmark.stats.bootstrap import FEWEST_BCA
from longmark.stats.correlation import correlation
from longmark.stats.results import Estimate

PEOPLE = "raters"
_ON_SCALE = {MASKED: RELEVANCE, ABSOLUTE: UTILIZATION}


# Agreement ----------------------------------------------------------------------------------------------------------


def answer_label(votes: Mapping[str, int]) -> str:
    """The label of an answer on a dimension, from the votes on its claims."""
    if not votes.get("yes", 0) and not votes.get("no", 0):
        return "n/a"
    return "yes" if votes.get("yes", 0) > votes.get("no", 0) else "no"


def among(labels: Labels, dimensions: Iterable[str], intervals: Intervals) -> list[Line]:
    """People among themselves, on each dimension that several labelled. agree: items on which all labels are equal;
    mean: the share of an item's pairs of labels that are equal."""
    lines = []
    for dimension in dimensions:
        by_item = labels.by_dimension.get(dimension, {})
        several = {item: list(by_rater.values()) for item, by_rater in by_item.items() if len(by_rater) > 1}
        if several:
            given, questions = list(several.values()), [item.question for item in several]
            agree = sum(len(set(one)) == 1 for one in given)
            mean = mean_of([agreeing(one) for one in given], questions, intervals, SHARE)
            kappa, why = _kappa(given, questions, intervals)
            line = Line(dimension=dimension, agree=agree, disagree=len(given) - agree, items=len(given), mean=mean)
            lines.append(Line(**vars(line), kappa=kappa, missing=in_words(mean.why_missing, *why)))
    return lines


def _kappa(
    items: Sequence[Sequence[str]], questions: Sequence[str], intervals: Intervals
) -> tuple[Estimate, tuple[str, ...]]:
    """Fleiss's kappa of the items with as many labels as any has; and what is missing."""
    how: dict[str, Any] = asdict(intervals)
    kappa = fleiss_kappa(padded(items), clusters=questions, **how)
    most, count = max(map(len, items)), kappa.clusters or 0
    fewer = f"kappa excludes {counted(kappa.missing, 'answer')} with fewer than {most} labels" if kappa.missing else ""
    if kappa.value is None:
        return kappa, (fewer, f"no kappa: {kappa.reason}")
    reason = by_question(kappa.reason or "")
    if count < FEWEST_BCA:
        kappa = replace(kappa, low=None, high=None)
        reason = f"it needs {FEWEST_BCA} questions, and there {'is' if count == 1 else 'are'} {count}"
    return kappa, (fewer, reason and f"no interval of kappa: {reason}")


def by_question(reason: str) -> str:
    """A reason of `stats` for a study, whose clusters are questions."""
    return reason.replace("clusters", "questions").replace("row or cluster", "question").replace("cluster", "question")


def by_label(labels: Labels, results: Results) -> list[Line]:
    """People against each evaluator, on each dimension.

    compared: labels of answers that the evaluator judged, total: all; mean: the share that agrees; mismatches: labels
    that differ; shared: those of them on items with several labels, contested: on items on which people differ; base:
    all labels on such items.
    """
    lines = []
    for dimension, evaluator in product(results.weights, results.evaluators):
        given = labels.given(dimension)
        judged = _by_item(results, results.judged, evaluator, f"{SPECIFICITY}.{dimension}")
        own = {
            item: answer_label(one.evidence.get("votes", {}))
            for item, one in judged.items()
            if one.row.status in ("ok", "undefined")  # else its judge gave no reply
        }
        if not given or not own:
            continue
        known = [(item, label == own[item]) for item, label in given if item in own]
        agree = sum(same for _, same in known)
        every = labels.by_dimension[dimension].items()
        differ = {item: len(set(by_rater.values())) > 1 for item, by_rater in every if len(by_rater) > 1}
        shared = [differ[item] for item, same in known if not same and item in differ]
        questions = [item.question for item, _ in known]
        mean = mean_of([float(same) for _, same in known], questions, results.intervals, SHARE)
        unjudged = len(given) - len(known)
        why = f"{counted(unjudged, 'label')} of answers that the evaluator did not judge" if unjudged else ""
        no_share = "no share: no mismatch on an item with several labels" if known else "no labelled answer was judged"
        line = Line(
            dimension=dimension,
            evaluator=evaluator,
            agree=agree,
            mismatches=len(known) - agree,
            mean=mean,
            compared=len(known),
            total=len(given),
            missing=in_words(why, mean.why_missing),
            shared=len(shared),
            contested=sum(shared),
            base=sum(differ.get(item, False) for item, _ in known),
            no_share=None if shared else no_share,
        )
        lines.append(line)
    return lines


def _by_item(
    results: Results, runs: Mapping[tuple[str, str], Scores], name: str, metric: str
) -> dict[Item, AnswerScore]:
    """The rows of an evaluator or a proxy, by answer."""
    return {
        Item(generator, one.example, one.question): one
        for generator in results.generators
        for one in runs.get((generator, name), {}).get(metric, [])
    }


def on_scales(labels: Labels, results: Results) -> list[Line]:
    """Spearman's correlations on the two scales. other: `people`, an evaluator or a proxy."""
    lines = []
    of_scale = (
        (RELEVANCE, MASKED, results.evaluators, results.judged),
        (UTILIZATION, ABSOLUTE, results.proxies, results.proxied),
    )
    for scale, metric, names, runs in of_scale:
        if given := labels.given(scale):
            items = labels.by_dimension[scale].items()
            pairs = [(item, *pair) for item, by_rater in items for pair in permutations(by_rater.values(), 2)]
            lines.append(_on_scale(scale, PEOPLE, pairs, 0, results.intervals))
            for name in names:
                if scored := _by_item(results, runs, name, metric):
                    both = [(item, label, scored[item].score) for item, label in given if item in scored]
                    rows = [(item, label, score) for item, label, score in both if score is not None]
                    lines.append(_on_scale(scale, name, rows, len(given) - len(rows), results.intervals))
    return lines


def _on_scale(
    scale: str, other: str, rows: Sequence[tuple[Item, float, float]], unscored: int, intervals: Intervals
) -> Line:
    x, y, questions = [x for _, x, _ in rows], [y for *_, y in rows], [item.question for item, *_ in rows]
    rho = correlation(x, y, "spearman", clusters=questions, level=intervals.level)
    why = f"{counted(unscored, 'label')} of answers without a score" if unscored else ""
    missing = in_words(why, by_question(why_not(rho)))
    return Line(scale=scale, other=other, rho=rho, items=len({item for item, *_ in rows}), missing=missing)


def beside(labels: Labels, generator: str, row: Row) -> Row:
    """The row with people's labels of its answer and dimension in its evidence, beside the evaluator's label of it."""
    dimension = _ON_SCALE.get(base_of(row.metric), base_of(row.metric).removeprefix(f"{SPECIFICITY}."))
    item = Item(generator, row.example_id, row.question_id)
    given = labels.by_dimension.get(dimension, {}).get(item)
    if given is None:
        return row
    shown: dict[str, Any] = {"dimension": dimension, "labels": dict(given)}
    if dimension not in SCALES:
        shown["evaluator"] = answer_label(row.evidence.get("votes", {}))
    return replace(row, evidence={**row.evidence, "people": shown})


# Tables -------------------------------------------------------------------------------------------------------------


def tables(results: Results) -> list[Table]:
    """Tables 5, 11 and 12."""
    assert results.labels is not None
    own = among(results.labels, results.weights, results.intervals)
    rows = by_label(results.labels, results)
    return [table_5(own, rows, results.evaluators), table_11(own, results), table_12(rows, results)]


def table_5(own: Sequence[Line], rows: Sequence[Line], every: Sequence[str]) -> Table:
    """Agreement in percent: of annotators, and of annotators with each evaluator that judged a labelled answer."""
    evaluators = [name for name in every if any(one.evaluator == name for one in rows)]
    percent: dict[tuple[str, str], float | None] = {}
    for one in (*own, *rows):
        value = one.mean.value
        percent[one.dimension, getattr(one, "evaluator", PEOPLE)] = None if value is None else 100 * value

    def missing(dimension: str) -> str | None:
        unjudged = [name for name in evaluators if percent.get((dimension, name)) is None]
        alone = "no answer has labels of two raters" if percent.get((dimension, PEOPLE)) is None else ""
        return in_words(alone, *(f"{name} judged no labelled answer" for name in unjudged))

    def agreed(who: str, dimension: str) -> float | None:
        return percent.get((dimension, who))

    columns = (
        *(Column("dimension", str), Column("raters", partial(agreed, PEOPLE), 1, key="annotators")),
        *(Column(f"raters and {e}", partial(agreed, e), 1, key=f"annotators_and_{e}") for e in evaluators),
        Column("reason", missing),
    )
    names = list(dict.fromkeys(one.dimension for one in (*own, *rows)))
    return Table("table5", "Agreement in percent (SCORE's table 5)", columns, names)


def _in_percent(lines: Sequence[Line]) -> list[Line]:
    return [Line(**{**vars(line), "mean": scaled(line.mean, 100)}) for line in lines]


def table_11(own: Sequence[Line], results: Results) -> Table:
    """People among themselves."""
    columns = (
        *(DIMENSION, Column("agree"), Column("disagree")),
        *mean_columns(results, "agree, %", 1, "percent", "percent_interval"),
        *interval_columns("Fleiss's kappa", "kappa", 3, results.intervals.name, "kappa", "kappa_interval"),
        *(method_column("kappa", "kappa_interval_method"), Column("items"), Column("reason", "missing")),
    )
    return Table("table11", "Agreement of raters (SCORE's table 11)", columns, _in_percent(own))


def table_12(rows: Sequence[Line], results: Results) -> Table:
    """People against each evaluator, by label."""
    columns = (
        *(DIMENSION, EVALUATOR, Column("agree"), Column("disagree", "mismatches")),
        *mean_columns(results, "agree, %", 1, "percent"),
        *(Column("labels compared", "compared", key="compared"), Column("total"), Column("reason", "missing")),
    )
    return Table("table12", "Raters and evaluators (SCORE's table 12)", columns, _in_percent(rows))


def mismatch_table(rows: Sequence[Line]) -> Table:
    """Whether evaluators differ from people where people differ from each other."""
    columns = (
        *(DIMENSION, EVALUATOR, Column("mismatches")),
        Column("on items with several labels", "shared", key="on_shared_items"),
        Column("on items where raters differ", "contested", key="contested"),
        Column("share", lambda row: row.contested / row.shared if row.shared else None, 3),
        Column("share of all labels", lambda row: row.base / row.compared if row.compared else None, 3, key="base"),
        Column("reason", "no_share"),
    )
    return Table("mismatches", "Mismatches on items where raters differ", columns, rows)


def scale_table(rows: Sequence[Line], results: Results) -> Table:
    """Spearman's correlations of section 5.2."""
    columns = (
        *(Column("scale"), Column("raters and", "other", key="other")),
        *interval_columns("Spearman rho", "rho", 3, results.intervals.name, "spearman", "interval"),
        *(Column("pairs", "rho.n"), Column("items"), Column("reason", "missing")),
    )
    return Table("scales", "Rank correlation with ratings on scales", columns, rows)
