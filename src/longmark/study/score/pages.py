"""The answers of a study for people: for each generator a page with claims, points, passages and what they came to.

It is the report of its runs: `once`, `points`, the first evaluator's, the first proxy's. `longmark report` makes it of
any others.
"""

from __future__ import annotations

from pathlib import Path

from longmark.report.html import write_report
from longmark.study.score.plan import ONCE_RUN, POINTS_RUN, Plan, evaluator_run, proxy_run


def write_pages(plan: Plan) -> list[Path]:
    """Writes OUT/answers/GENERATOR.html for every generator that has marks; their paths."""
    written = []
    names = [evaluator_run(plan.evaluators[0]), ONCE_RUN, POINTS_RUN, *map(proxy_run, plan.proxies[:1])]
    for generator in plan.generators:
        runs = [run for name in names if (run := plan.run_path(generator, name)).joinpath("rows.jsonl").exists()]
        if runs:
            page = plan.out / "answers" / f"{generator.stem}.html"
            write_report(runs, page)
            written.append(page)
    return written
