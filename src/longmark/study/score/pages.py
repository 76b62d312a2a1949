"""The answers of a study for people: for each generator a page with claims, points, passages and what they came to.

It is the report of the runs that its answers went through, put together as one. Where several evaluators or proxies
marked them, the names of their values say whose they are (`score.specificity by jury`), and the page shows each of them
under an answer that stands there once.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from shutil import copyfile
from typing import Any

import orjson

from longmark.records import Row
from longmark.records.write import read_rows, write_rows
from longmark.report.html import write_report
from longmark.report.manifest import read_manifest
from longmark.report.words import BY
from longmark.study.score.plan import ONCE_RUN, POINTS_RUN, Member, Plan, answers_page, evaluator_run, proxy_run


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of a generator's answers. by: whose marks it holds, where another run holds the same values of others."""

    path: Path
    by: str = ""

    @property
    def has_rows(self) -> bool:
        rows = self.path / "rows.jsonl"
        return rows.exists() and rows.stat().st_size > 0

    def name(self, metric: str) -> str:
        return f"{metric}{BY}{self.by}" if self.by else metric


def write_pages(plan: Plan) -> list[Path]:
    """Writes OUT/answers/GENERATOR.html for every generator that has marks; their paths."""
    written = []
    for generator in plan.generators:
        runs = [run for run in _runs(plan, generator) if run.has_rows]
        if runs:
            page = plan.out / answers_page(generator.label)
            with tempfile.TemporaryDirectory(prefix="longmark-") as scratch:
                write_report([_together(runs, Path(scratch) / generator.stem)], page)
            written.append(page)
    return written


def _runs(plan: Plan, generator: Member) -> Iterator[_Run]:
    for evaluator in plan.evaluators:
        by = evaluator.label if len(plan.evaluators) > 1 else ""
        yield _Run(plan.run_path(generator, evaluator_run(evaluator)), by)
    yield _Run(plan.run_path(generator, ONCE_RUN))
    yield _Run(plan.run_path(generator, POINTS_RUN))
    for proxy in plan.proxies:
        yield _Run(plan.run_path(generator, proxy_run(proxy)), proxy.label if len(plan.proxies) > 1 else "")


def _together(runs: Sequence[_Run], folder: Path) -> Path:
    """The marks of runs of the same answers as one run: the names of their values differ, so no two rows meet."""
    folder.mkdir()
    copyfile(runs[0].path / "examples.jsonl", folder / "examples.jsonl")
    write_rows(_rows(runs), folder / "rows.jsonl")
    manifests = [read_manifest(run.path).data for run in runs]
    whole: dict[str, Any] = {**manifests[0], "system": folder.name}
    facts = [(name, run, of) for run, one in zip(runs, manifests, strict=True) for name, of in one["metrics"].items()]
    places = {name: place for place, name in enumerate(dict.fromkeys(name for name, *_ in facts))}
    facts.sort(key=lambda its: places[its[0]])  # the same value by several stands together
    whole["metrics"] = {run.name(name): of for name, run, of in facts}
    whole["sessions"] = [session for one in manifests for session in one["sessions"]]
    whole["finished"] = None if None in (ends := [one["finished"] for one in manifests]) else max(ends)
    fixed = [one["fixed"] for one in manifests]
    roles = dict.fromkeys(role for one in fixed for role in one["models"])
    whole["fixed"] = {
        **fixed[0],
        "metrics": [run.name(name) for run, one in zip(runs, fixed, strict=True) for name in one["metrics"]],
        "params": {name: its for one in fixed for name, its in one["params"].items()},
        "prompts": {name: its for one in fixed for name, its in one["prompts"].items()},
        "models": {
            role: list(dict.fromkeys(n for one in fixed for n in one["models"].get(role, ()))) for role in roles
        },
    }
    (folder / "manifest.json").write_bytes(orjson.dumps(whole))
    return folder


def _rows(runs: Sequence[_Run]) -> Iterator[Row]:
    for run in runs:
        for row in read_rows(run.path / "rows.jsonl"):
            yield replace(row, metric=run.name(row.metric))
