"""What the page of a SCORE study is made of: its tables, figures and links, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from longmark.analysis.grid import Grid
from longmark.contrib.papers.recipe.schema import Vocabulary
from longmark.contrib.papers.recipe.source import RecipeSource, RecordMeasure, source_of_records
from longmark.contrib.papers.score import people, tables, utilization
from longmark.contrib.papers.score.labels import answers_of, read_labels
from longmark.contrib.papers.score.plan import GIVEN, Member, ScorePlan, answers_page
from longmark.contrib.papers.score.results import SPECIFICITY, ScoreResults, results_of
from longmark.contrib.papers.study import STATE
from longmark.domain import load
from longmark.errors import UserError
from longmark.records.files import read_object
from longmark.report.charts import scatter
from longmark.report.figures import Figure
from longmark.report.format import counted, listed
from longmark.report.tables import Column, Table

READER = "score.study"
_HEADS_OF_MEANS = ("table", "generator", "evaluator", "metric", "direction", "dimension", "variant")
_PAIR = ("generator", "evaluator", "dimension")
_OF_UTILIZATION = ("generator", "proxy", "score")
_OF_CONSISTENCY = ("proxy", "generator", "confidence")
_OF_AGREEMENT = ("proxies", "generator", "score")


def read_sources(parts: Sequence[Sequence[Path]]) -> dict[str, RecipeSource]:
    """The source of a recipe. parts: the folder of a study, a file of labels, and the file of its domain (default: the
    built-in domain). UserError for another folder. The pages of answers are written by `score-study` alone."""
    no_paths: list[Sequence[Path]] = [()] * (3 - len(parts))
    if len(parts) > 3 or any(len(paths) > 1 for paths in parts) or not parts[0]:
        raise UserError(
            f"the reader {READER} reads one folder of `longmark score-study`, one file of labels and one domain, in this "
            "order"
        )
    studies, labels, domains = [*parts, *no_paths]
    state = read_object(studies[0] / STATE, "name the folder of `longmark score-study`")
    if state.get("fixed", {}).get("kind of study") != "score":
        raise UserError(f"{studies[0]}: is no folder of `longmark score-study`")
    domain = next(iter(domains), None) or state["fixed"]["domain"].rpartition(" ")[0]
    results = _results(studies[0], state, next(iter(labels), None), domain)
    questions = state["stages"].get("questions", {}).get("lines", 0)
    made_sources = sources(results, questions)
    notices = results.labels.notices if results.labels else ()
    study = replace(made_sources[READER], links={"answers": tuple}, notices=notices)
    return made_sources | {READER: study}


def _results(
    folder: Path, state: Mapping[str, Any], labels: Path | None, domain_name: str | Path
) -> ScoreResults:
    """The scores of a study's folder, with the members that its state names."""
    members = {
        role: [Member(label, (GIVEN,)) for label in models]
        for role, models in state["members"].items()
    }
    domain = load(domain_name)
    plan = ScorePlan(
        out=folder,
        index=None,
        generators=members["generator"],
        evaluators=members["evaluator"],
        embedder=state["fixed"]["embedder"],
        proxies=members.get("lm", ()),
        questions=folder / "questions.jsonl",
        domain=domain_name,
    )
    read_labels_file = None
    if labels is not None:
        read_labels_file = read_labels(labels, tuple(domain.weights), answers_of(plan))
    return results_of(plan, domain, read_labels_file)


def sources(results: ScoreResults, questions: int) -> dict[str, RecipeSource]:
    """The source by its reader. questions: their number."""
    lede = (
        f"{counted(questions, 'question')}. Generators: {listed(results.generators)}. "
        f"Evaluators: {listed(results.evaluators)}."
    )
    source = source_of_records((), {}, {})
    return {
        **_groups(results),
        **_of_proxies(results),
        **_of_raters(results),
        READER: replace(
            source,
            tables={name: partial(make, results) for name, make in _TABLES.items()},
            figures={name: partial(make, results) for name, make in _FIGURES.items()},
            texts={"counts": lambda: lede},
            links={"answers": partial(_answers, results)},
        ),
    }


def _groups(results: ScoreResults) -> dict[str, RecipeSource]:
    """The sources whose members are groups of rows."""
    number = partial(RecordMeasure, kind="number")
    means = source_of_records(
        tables.groups(results),
        {**{name: name for name in _HEADS_OF_MEANS}, "scored": "is_scored"},
        {
            "mean": RecordMeasure("mean"),
            "value": number("mean.value"),
            "sd": number("mean.sd"),
            "weight": number("weight", decimals=2),
        },
    )
    return {
        "score.means": replace(means, texts={"pooling": lambda: tables.pooling(results)}),
        "score.votes": source_of_records(
            tables.votes(results),
            {name: name for name in _PAIR},
            {
                "yes": number("yes", decimals=None),
                "no": number("no", decimals=None),
                "n/a": number("not_applicable", decimals=None),
                "verdicts": number("verdicts", decimals=None),
                "missing": number("left_out", decimals=None),
            },
        ),
        "score.jury": source_of_records(
            tables.jury(results),
            {name: name for name in _PAIR},
            {
                "agreement": RecordMeasure("agreement"),
                "jurors": number("jurors", decimals=None),
                "kappa": number("kappa"),
            },
        ),
        "score.points": source_of_records(
            tables.points(results),
            {"generator": "generator"},
            {
                "mean": RecordMeasure("mean", decimals=2),
                "changed": RecordMeasure("changed"),
                "sd": number("mean.sd", decimals=2),
            },
        ),
        "score.bands": source_of_records(
            tables.bands(results),
            {"metric": "metric", "band": "band", "generator": "generator"},
            {"answers": number("answers", decimals=None)},
        ),
    }


def _of_proxies(results: ScoreResults) -> dict[str, RecipeSource]:
    """The sources of context utilization."""
    answers = source_of_records(
        utilization.utilizations(results),
        {name: name for name in _OF_UTILIZATION},
        {
            "mean": RecordMeasure("mean", decimals=4),
            "sd": RecordMeasure("mean.sd", "number", 4),
            "min": RecordMeasure("mean.least", "number", 4),
            "max": RecordMeasure("mean.greatest", "number", 4),
        },
    )
    return {
        "score.utilization": replace(
            answers, texts={"noise": lambda: utilization.within_noise(results)}
        ),
        "score.facts": source_of_records(
            utilization.fact_deltas(results),
            {"generator": "generator", "proxy": "proxy"},
            {
                "distracting": RecordMeasure("distracting"),
                "min": RecordMeasure("least", "number", 2),
                "max": RecordMeasure("greatest", "number", 2),
                "mean": RecordMeasure("mean", "number", 2),
            },
        ),
        "score.consistency": source_of_records(
            utilization.consistencies(results),
            {name: name for name in _OF_CONSISTENCY},
            {"pearson": RecordMeasure("pearson"), "p": RecordMeasure("pearson.p", "p")},
        ),
        "score.agreement": source_of_records(
            utilization.agreements(results),
            {name: name for name in _OF_AGREEMENT},
            {
                "pearson": RecordMeasure("pearson"),
                "spearman": RecordMeasure("spearman"),
                "difference": RecordMeasure("difference", decimals=4),
                "p": RecordMeasure("pearson.p", "p"),
            },
        ),
    }


def _of_raters(results: ScoreResults) -> dict[str, RecipeSource]:
    """The sources of labels, without a member where there are none."""
    labels = results.labels
    within = people.among(labels, results.weights, results.intervals) if labels else {}
    against = people.by_label(labels, results) if labels else {}
    scales = people.on_scales(labels, results) if labels else {}
    counted_labels = partial(RecordMeasure, kind="number", decimals=None)
    return {
        "score.raters": source_of_records(
            within.items(),
            {"dimension": lambda entry: entry[0]},
            {
                "percent": RecordMeasure(lambda entry: entry[1].share.scaled(100), decimals=1),
                "kappa": RecordMeasure(lambda entry: entry[1].kappa),
                "agree": counted_labels(lambda entry: entry[1].agree),
                "disagree": counted_labels(lambda entry: entry[1].disagree),
            },
        ),
        "score.labels": source_of_records(
            against.items(),
            {"dimension": lambda entry: entry[0][0], "evaluator": lambda entry: entry[0][1]},
            {
                "percent": RecordMeasure(lambda entry: entry[1].share.scaled(100), decimals=1),
                "agree": counted_labels(lambda entry: entry[1].agree),
                "disagree": counted_labels(lambda entry: entry[1].mismatches),
            },
        ),
        "score.scales": source_of_records(
            scales.items(),
            {"scale": lambda entry: entry[0][0], "other": lambda entry: entry[0][1]},
            {"spearman": RecordMeasure(lambda entry: entry[1])},
        ),
    }


def _table_5(results: ScoreResults) -> list[Table]:
    labels = results.labels
    if not labels:
        return []
    within = people.among(labels, results.weights, results.intervals)
    return [people.table_5(within, people.by_label(labels, results), results.evaluators)]


def _mismatches(results: ScoreResults) -> Iterable[Table]:
    labels = results.labels
    return [people.mismatch_table(people.by_label(labels, results))] if labels else []


def _answers(results: ScoreResults) -> list[tuple[str, str]]:
    scored = {
        *results.once,
        *results.points,
        *(generator for generator, _ in (*results.judged, *results.proxied)),
    }
    return [
        (answers_page(generator), f"Answers of {generator}")
        for generator in results.generators
        if generator in scored
    ]


def _specificity(results: ScoreResults) -> list[Figure]:
    grid = Grid(
        "",
        "",
        ("generator", "evaluator"),
        list(results.judged),
        [Column("mean")],
        lambda key, _column: results.mean(SPECIFICITY, results.judged[key].get(SPECIFICITY, [])),
        joint=" by ",
    )
    return [grid.forest("Mean specificity by generator and evaluator")] if grid.rows else []


def _scatters(results: ScoreResults) -> Sequence[Figure]:
    figures = []
    for of_proxy in utilization.consistencies(results):
        pairs = of_proxy.pairs
        if pairs and of_proxy.confidence == utilization.GEOMETRIC:
            n = len(pairs)
            r = of_proxy.pearson.value
            says = f"No correlation, n = {n}." if r is None else f"Correlation {r:.3f}, n = {n}."
            label = f"{of_proxy.proxy} on answers of {of_proxy.generator}"
            axes = ("given the facts", "given the passages")
            figures.append(scatter(pairs, label, *axes, line=(1, 0), says=says))
    return figures


_TABLES: Mapping[str, Callable[[ScoreResults], Iterable[Table | Grid[Any]]]] = {
    "table5": _table_5,
    "mismatches": _mismatches,
}
_FIGURES: Mapping[str, Callable[[ScoreResults], Sequence[Figure]]] = {
    "specificity": _specificity,
    "consistency": _scatters,
}
VOCABULARY = {
    READER: Vocabulary(
        measures=(),
        fields=(),
        made={
            "tables": tuple(_TABLES),
            "figures": tuple(_FIGURES),
            "texts": ("counts",),
            "links": ("answers",),
        },
    ),
    "score.means": Vocabulary(
        ("mean", "value", "sd", "weight"), (*_HEADS_OF_MEANS, "scored"), {"texts": ("pooling",)}
    ),
    "score.votes": Vocabulary(("yes", "no", "n/a", "verdicts", "missing"), _PAIR),
    "score.jury": Vocabulary(("agreement", "jurors", "kappa"), _PAIR),
    "score.points": Vocabulary(("mean", "changed", "sd"), ("generator",)),
    "score.bands": Vocabulary(("answers",), ("metric", "band", "generator")),
    "score.utilization": Vocabulary(
        ("mean", "sd", "min", "max"), _OF_UTILIZATION, {"texts": ("noise",)}
    ),
    "score.facts": Vocabulary(("distracting", "min", "max", "mean"), ("generator", "proxy")),
    "score.consistency": Vocabulary(("pearson", "p"), _OF_CONSISTENCY),
    "score.agreement": Vocabulary(("pearson", "spearman", "difference", "p"), _OF_AGREEMENT),
    "score.raters": Vocabulary(("percent", "kappa", "agree", "disagree"), ("dimension",)),
    "score.labels": Vocabulary(("percent", "agree", "disagree"), ("dimension", "evaluator")),
    "score.scales": Vocabulary(("spearman",), ("scale", "other")),
}
