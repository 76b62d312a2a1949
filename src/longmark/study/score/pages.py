"""The answers of a study for people: for each generator a page with claims, points, passages and what they came to.

It is the report of the runs that its answers went through, put together as one: `once`, `points`, the first
evaluator's, the first proxy's. `longmark report` makes it of any others.
"""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import orjson

from longmark.report.html import write_report
from longmark.study.score.plan import ONCE_RUN, POINTS_RUN, Plan, evaluator_run, proxy_run


def write_pages(plan: Plan) -> list[Path]:
    """Writes OUT/answers/GENERATOR.html for every generator that has marks; their paths."""
    written = []
    names = [evaluator_run(plan.evaluators[0]), ONCE_RUN, POINTS_RUN, *map(proxy_run, plan.proxies[:1])]
    for generator in plan.generators:
        runs = [run for name in names if _has_rows(run := plan.run_path(generator, name))]
        if runs:
            page = plan.out / "answers" / f"{generator.stem}.html"
            with tempfile.TemporaryDirectory(prefix="longmark-") as scratch:
                write_report([_together(runs, Path(scratch) / generator.stem)], page)
            written.append(page)
    return written


def _has_rows(run: Path) -> bool:
    rows = run / "rows.jsonl"
    return rows.exists() and rows.stat().st_size > 0


def _together(runs: Sequence[Path], folder: Path) -> Path:
    """The marks of runs of the same answers as one run: their metrics differ, so no two rows meet."""
    folder.mkdir()
    shutil.copyfile(runs[0] / "examples.jsonl", folder / "examples.jsonl")
    with open(folder / "rows.jsonl", "wb") as rows:
        for run in runs:
            rows.write((run / "rows.jsonl").read_bytes())
    manifests = [orjson.loads((run / "manifest.json").read_bytes()) for run in runs]
    whole: dict[str, Any] = {**manifests[0], "system": folder.name}
    whole["metrics"] = {name: facts for one in manifests for name, facts in one["metrics"].items()}
    whole["sessions"] = [session for one in manifests for session in one["sessions"]]
    whole["finished"] = None if None in (ends := [one["finished"] for one in manifests]) else max(ends)
    fixed = [one["fixed"] for one in manifests]
    roles = dict.fromkeys(role for one in fixed for role in one["models"])
    whole["fixed"] = {
        **fixed[0],
        "metrics": [name for one in fixed for name in one["metrics"]],
        "params": {name: its for one in fixed for name, its in one["params"].items()},
        "prompts": {name: its for one in fixed for name, its in one["prompts"].items()},
        "models": {
            role: list(dict.fromkeys(n for one in fixed for n in one["models"].get(role, ()))) for role in roles
        },
    }
    (folder / "manifest.json").write_bytes(orjson.dumps(whole))
    return folder
