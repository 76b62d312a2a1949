"""What the page of a SCORE study is made of: its tables, figures and links, by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
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


def _raters(results: ScoreResults) -> list[Grid[Any] | Table]:
    return people.tables(results) if results.labels else []


def _mismatches(results: ScoreResults) -> Iterable[Table]:
    labels = results.labels
    return [people.mismatch_table(people.by_label(labels, results))] if labels else []


def _scales(results: ScoreResults) -> Iterable[Grid[Any]]:
    labels = results.labels
    return [people.scale_grid(labels, results)] if labels else []


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


def _consistency(results: ScoreResults) -> Iterator[Grid[Any]]:
    title = "Confidence given facts and given passages (SCORE's table 3)"
    yield utilization.consistency_grid("table3", title, results, [utilization.GEOMETRIC])
    if any(measure == utilization.ENTROPY for *_, measure in utilization.consistency(results)):
        title = "Both measures of confidence (SCORE's table 8)"
        yield utilization.consistency_grid(
            "table8", title, results, [utilization.GEOMETRIC, utilization.ENTROPY]
        )


def _scatters(results: ScoreResults) -> Sequence[Figure]:
    figures = []
    for (proxy, generator, measure), (r, pairs) in utilization.consistency(results).items():
        if pairs and measure == utilization.GEOMETRIC:
            n = len(pairs)
            says = (
                f"Correlation {r.value:.3f}, n = {n}."
                if r.value is not None
                else f"No correlation, n = {n}."
            )
            label = f"{proxy} on answers of {generator}"
            axes = ("given the facts", "given the passages")
            figures.append(scatter(pairs, label, *axes, line=(1, 0), says=says))
    return figures


_TABLES: Mapping[str, Callable[[ScoreResults], Iterable[Table | Grid[Any]]]] = {
    "table4": utilization.table_4,
    "consistency": _consistency,
    "table9": utilization.agreement_grids,
    "raters": _raters,
    "mismatches": _mismatches,
    "scales": _scales,
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
}
