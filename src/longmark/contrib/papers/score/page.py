"""The pages of a SCORE study: the tables, and for each generator its answers.

A page of answers is the report of the runs that a generator's answers went through, joined into one run. If several
evaluators or proxies scored them, the names of scores include theirs (`score.specificity by jury`); the page shows each
answer once, with the results of each below it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from shutil import copyfile
from typing import Any, NamedTuple

from longmark.analysis.grid import Grid
from longmark.contrib.papers.score import people, tables, utilization
from longmark.contrib.papers.score.labels import DimensionLabels
from longmark.contrib.papers.score.plan import (
    EVALUATOR,
    ONCE,
    POINTS,
    PROXY,
    ScorePlan,
    answers_page,
)
from longmark.contrib.papers.score.results import SPECIFICITY, ScoreResults
from longmark.contrib.papers.study import PageSection, notices, sections
from longmark.records import Row
from longmark.records.write import write_object, write_rows
from longmark.report.charts import scatter
from longmark.report.document import Document
from longmark.report.figures import Figure
from longmark.report.format import BY, counted, listed
from longmark.report.html import write_report
from longmark.report.tables import Column
from longmark.scores.files import rows_of
from longmark.scores.manifest import read_manifest
from longmark.writing import check_within
from longmark.writing import folder as make_folder

_FEW = 30  # questions below which the page warns


def document(
    results: ScoreResults, stages: Mapping[str, Any], settings: Mapping[str, Any]
) -> Document | None:
    """The page; None while nothing is scored. stages: of `study.json`."""
    if not any((results.once, results.points, results.judged, results.proxied)):
        return None
    questions = stages.get("questions", {}).get("lines", 0)
    intervals = (
        "means: Hall's t, clipped to the metric's bounds, with the rows of a question as one cluster; equal values: "
        f"computed from the bounds; kappa: BCa bootstrap ({results.intervals.resamples:,} resamples, seed "
        f"{results.intervals.seed})"
    )
    return Document(
        kind="score study",
        title="SCORE study",
        lede=f"{counted(questions, 'question')}. Generators: {listed(results.generators)}. "
        f"Evaluators: {listed(results.evaluators)}.",
        sections=sections(PARTS, results, stages),
        notices=(*_warnings(results, questions), *notices(PARTS, results, stages)),
        settings={**settings, "intervals": intervals},
    )


def _warnings(results: ScoreResults, questions: int) -> Iterator[str]:
    if questions < _FEW:
        yield f"Too few to compare models: {counted(questions, 'question')}. Intervals are wide or missing."
    if len(results.evaluators) < 2:
        yield "There is one evaluator: the effect of the judge is unknown (give --evaluator twice)."
    if len(results.generators) < 2:
        yield "There is one generator: no generators are compared (give --generator twice)."
    if results.labels is not None:
        yield from results.labels.notices
        if left_out := results.labels.left_out:
            counts = ", ".join(f"{count} of {name}" for name, count in left_out.items())
            yield f"Labels of dimensions that are not in the study were ignored: {counts}."
    if not results.judged:
        yield "Table 1 has no specificity and answer relevance: no answer has been judged yet."


def _no_proxy(results: ScoreResults) -> str:
    if not results.proxies:
        return "Tables 3, 4 and 8 are omitted: they need a proxy model (--lm MODEL)."
    return (
        ""
        if results.proxied
        else "Tables 3, 4 and 8 are omitted: no proxy has scored the answers yet."
    )


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


PARTS: tuple[PageSection[ScoreResults], ...] = (
    PageSection(
        "Table 1: generators and evaluators",
        "Mean and standard deviation (sd) of each metric over the answers that have a score. Robustness "
        "depends on the evaluator only if each writes its own paraphrases (--paraphraser evaluators).",
        tables.table_1,
        figures=_specificity,
        note="Robustness is the cosine of the answer to the original question and the answer to a paraphrase (should "
        "be high) or to a perturbed question (should be low).",
    ),
    PageSection(
        "Specificity by dimension",
        "Of the claims that state a detail on a dimension, the share that the passages support: mean over answers. "
        "Then the majority verdicts on all claims.",
        lambda results: [*tables.dimensions(results), tables.jury(results)],
        note="A missing verdict counts as n/a in the majority verdict. The agreement excludes it and compares claims "
        "with two verdicts or more.",
    ),
    PageSection(
        "Answers",
        "A page for each generator with every answer, its passages, and the evidence of each evaluator and proxy: "
        "claims and verdicts, points, facts.",
        links=_answers,
    ),
    PageSection(
        "Robustness by kind of variant",
        "The cosine of the answer to a variant and the answer to the original question.",
        lambda results: [tables.variants(results)],
    ),
    PageSection(
        "Table 2: reranking",
        "The reranker's raw score of question and answer, and the number of answers whose points change their order "
        "when sorted by delta.",
        lambda results: [tables.table_2(results)],
        note="A point's delta is the score of the answer minus the score without the point. Raw scores of different "
        "rerankers are not comparable. An answer with one point has no order.",
        absent=lambda r: (
            "" if r.points else "Table 2 is omitted: it needs a reranker (--reranker MODEL)."
        ),
    ),
    PageSection(
        "Table 4: context utilization",
        "How much a proxy's confidence in an answer falls when a fact of the passages is removed: mean over the facts, "
        "absolute and relative to the confidence with all facts.",
        utilization.table_4,
        note="CU: context utilization, absolute. CU relative: in percent of the confidence with all facts. Min and max "
        "are over answers. The second table is over single facts; a fact is distracting if the confidence is higher "
        "without it.",
        absent=_no_proxy,
    ),
    PageSection(
        "Tables 3 and 8: consistency of the proxies",
        "Correlation over answers of a proxy's confidence given the facts and its confidence given the complete "
        "passages.",
        _consistency,
        figures=_scatters,
        note="Table 8 adds the entropy, which only transformers models (--lm hf:NAME) give.",
    ),
    PageSection(
        "Table 9: agreement of the proxies",
        "Agreement of two proxies on the same answers.",
        utilization.agreement_grids,
        absent=lambda r: (
            ""
            if len(r.proxies) > 1
            else "Table 9 is omitted: it compares two proxies (--lm MODEL twice)."
        ),
    ),
    PageSection(
        "Table 10: readability",
        "Flesch reading ease (higher is easier) and Flesch-Kincaid grade level (US school years).",
        tables.table_10,
    ),
    PageSection(
        "Tables 5, 11 and 12: raters and evaluators",
        "Agreement of raters with each other and with each evaluator. An evaluator's label of an answer is the "
        "majority of its votes on claims, without n/a.",
        people.tables,
        absent=lambda r: (
            ""
            if r.labels
            else "Tables 5, 11 and 12 are omitted: they need human labels (--labels FILE)."
        ),
    ),
    PageSection(
        "Mismatches",
        "Labels of raters that differ from the evaluator's label: the share on items where raters disagree. Compare it "
        "with the share of all labels on such items.",
        lambda r: [people.mismatch_table(people.by_label(r.labels, r))] if r.labels else [],
    ),
    PageSection(
        "Scales",
        "Spearman's correlation of raters with each other, with masked answer relevance, and with context utilization.",
        lambda r: [people.scale_grid(r.labels, r)] if r.labels else [],
        note="Two raters of an answer have no order, so each pair is counted in both orders.",
    ),
)


# Answers -------------------------------------------------------------------------------------------------------------


class _EvaluatedRun(NamedTuple):
    """A run of a generator's answers. by: who gave its scores, if another run has the same scores by others."""

    path: Path
    by: str = ""

    def name(self, metric: str) -> str:
        return f"{metric}{BY}{self.by}" if self.by else metric


_ORDER = (EVALUATOR, ONCE, POINTS, PROXY)


def write_pages(plan: ScorePlan, labels: DimensionLabels | None = None) -> list[Path]:
    """Writes OUT/answers/GENERATOR.html for every generator that has scores, with human labels beside the answers
    (SCORE's figure 6); returns their paths."""
    written = []
    several = {EVALUATOR: len(plan.evaluators) > 1, PROXY: len(plan.proxies) > 1}
    for generator in plan.generators:
        ordered_runs = sorted(plan.runs(), key=lambda run: _ORDER.index(run[0]))
        runs = [
            _EvaluatedRun(plan.run_path(generator, name), label if several.get(kind) else "")
            for kind, label, name in ordered_runs
        ]
        runs = [
            run
            for run in runs
            if (rows := run.path / "rows.jsonl").exists() and rows.stat().st_size
        ]
        if runs:
            page = plan.out / answers_page(generator.label)
            beside = partial(people.beside, labels, generator.label) if labels is not None else None
            check_within(plan.out, page)
            with tempfile.TemporaryDirectory(prefix="longmark-") as scratch:
                write_report([_joined(runs, Path(scratch) / generator.stem, beside)], page)
            written.append(page)
    return written


def _joined(
    runs: Sequence[_EvaluatedRun], folder: Path, beside: Callable[[Row], Row] | None = None
) -> Path:
    """The scores of runs of the same answers as one run: the names of their scores differ, so no two rows collide.
    beside: adds human labels to a row."""
    make_folder(folder)
    copyfile(runs[0].path / "examples.jsonl", folder / "examples.jsonl")
    rows = ((run, beside(row) if beside else row) for run in runs for row in rows_of(run.path))
    write_rows(
        (replace(row, metric=run.name(row.metric)) for run, row in rows), folder / "rows.jsonl"
    )
    manifests = [read_manifest(run.path).data for run in runs]
    facts = [
        (name, run, metric_facts)
        for run, manifest in zip(runs, manifests, strict=True)
        for name, metric_facts in manifest["metrics"].items()
    ]
    places = {name: place for place, name in enumerate(dict.fromkeys(name for name, *_ in facts))}
    facts.sort(key=lambda fact: places[fact[0]])  # the same score by several judges side by side
    ends = [manifest["finished"] for manifest in manifests]
    fixed = [manifest["fixed"] for manifest in manifests]
    roles = dict.fromkeys(role for settings in fixed for role in settings["models"])
    joined: dict[str, Any] = {
        **manifests[0],
        "system": folder.name,
        "metrics": {run.name(name): metric_facts for name, run, metric_facts in facts},
        "sessions": [session for manifest in manifests for session in manifest["sessions"]],
        "finished": None if None in ends else max(ends),
        "fixed": {
            **fixed[0],
            "metrics": [
                run.name(name)
                for run, settings in zip(runs, fixed, strict=True)
                for name in settings["metrics"]
            ],
            **{
                key: {
                    name: setting for settings in fixed for name, setting in settings[key].items()
                }
                for key in ("params", "prompts")
            },
            "models": {
                role: list(
                    dict.fromkeys(n for settings in fixed for n in settings["models"].get(role, ()))
                )
                for role in roles
            },
        },
    }
    write_object(folder / "manifest.json", joined)
    return folder
