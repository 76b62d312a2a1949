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

from longmark.contrib.papers.recipe.page import pages_of
from longmark.contrib.papers.score import people
from longmark.contrib.papers.score.labels import DimensionLabels
from longmark.contrib.papers.score.plan import (
    EVALUATOR,
    ONCE,
    POINTS,
    PROXY,
    ScorePlan,
    answers_page,
)
from longmark.contrib.papers.score.results import ScoreResults
from longmark.contrib.papers.score.sources import VOCABULARY, sources
from longmark.records import Row
from longmark.records.write import write_object, write_rows
from longmark.report.document import Document
from longmark.report.format import BY, counted
from longmark.report.html import write_report
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
        "means: Hall's t, clipped to the metric's bounds, with the rows of a question as one cluster; values that are all "
        "at one of two bounds, one for each question: Wilson; equal values: "
        f"computed from the bounds; kappa: BCa bootstrap ({results.intervals.resamples:,} resamples, seed "
        f"{results.intervals.seed})"
    )
    page = pages_of("score", VOCABULARY, sources(results, questions))
    recipe = page.recipe.parts
    return Document(
        kind="score study",
        title=recipe.title,
        lede=page.text(recipe.text, recipe.made_text),
        sections=page.sections(stages),
        notices=(*_warnings(results, questions), *page.notices(stages)),
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
