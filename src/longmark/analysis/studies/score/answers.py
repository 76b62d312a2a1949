"""The pages of a study's answers: for each generator one page with claims, points, passages and scores.

A page is the report of the runs that the generator's answers went through, joined into one run. Where several
evaluators or proxies scored them, the names of their scores say whose they are (`score.specificity by jury`); the page
shows each answer once, with each of them below it.
"""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from shutil import copyfile
from typing import Any, NamedTuple

import orjson

from longmark.analysis.studies.score.plan import EVALUATOR, ONCE, POINTS, PROXY, Plan, answers_page
from longmark.records.write import write_rows
from longmark.report.format import BY
from longmark.report.html import write_report
from longmark.scores.files import rows_of
from longmark.scores.manifest import read_manifest


class _Run(NamedTuple):
    """A run of a generator's answers. by: who gave its scores, if another run has the same scores by others."""

    path: Path
    by: str = ""

    def name(self, metric: str) -> str:
        return f"{metric}{BY}{self.by}" if self.by else metric


_ORDER = (EVALUATOR, ONCE, POINTS, PROXY)


def write_pages(plan: Plan) -> list[Path]:
    """Writes OUT/answers/GENERATOR.html for every generator that has scores; returns their paths."""
    written = []
    several = {EVALUATOR: len(plan.evaluators) > 1, PROXY: len(plan.proxies) > 1}
    for generator in plan.generators:
        named = sorted(plan.runs(), key=lambda run: _ORDER.index(run[0]))
        runs = [_Run(plan.run_path(generator, name), label if several.get(kind) else "") for kind, label, name in named]
        runs = [run for run in runs if (rows := run.path / "rows.jsonl").exists() and rows.stat().st_size]
        if runs:
            page = plan.out / answers_page(generator.label)
            with tempfile.TemporaryDirectory(prefix="longmark-") as scratch:
                write_report([_joined(runs, Path(scratch) / generator.stem)], page)
            written.append(page)
    return written


def _joined(runs: Sequence[_Run], folder: Path) -> Path:
    """The scores of runs of the same answers as one run: the names of their scores differ, so no two rows collide."""
    folder.mkdir()
    copyfile(runs[0].path / "examples.jsonl", folder / "examples.jsonl")
    rows = ((run, row) for run in runs for row in rows_of(run.path))
    write_rows((replace(row, metric=run.name(row.metric)) for run, row in rows), folder / "rows.jsonl")
    manifests = [read_manifest(run.path).data for run in runs]
    facts = [(name, run, of) for run, one in zip(runs, manifests, strict=True) for name, of in one["metrics"].items()]
    places = {name: place for place, name in enumerate(dict.fromkeys(name for name, *_ in facts))}
    facts.sort(key=lambda fact: places[fact[0]])  # the same score by several judges side by side
    ends, fixed = [one["finished"] for one in manifests], [one["fixed"] for one in manifests]
    roles = dict.fromkeys(role for one in fixed for role in one["models"])
    joined: dict[str, Any] = {
        **manifests[0],
        "system": folder.name,
        "metrics": {run.name(name): of for name, run, of in facts},
        "sessions": [session for one in manifests for session in one["sessions"]],
        "finished": None if None in ends else max(ends),
        "fixed": {
            **fixed[0],
            "metrics": [run.name(name) for run, one in zip(runs, fixed, strict=True) for name in one["metrics"]],
            **{key: {name: of for one in fixed for name, of in one[key].items()} for key in ("params", "prompts")},
            "models": {
                role: list(dict.fromkeys(n for one in fixed for n in one["models"].get(role, ()))) for role in roles
            },
        },
    }
    (folder / "manifest.json").write_bytes(orjson.dumps(joined))
    return folder
