"""The verb `longmark report`."""

from __future__ import annotations

import argparse
import sys
from functools import partial

from longmark import plugins
from longmark.analysis.first_sentence import first_sentence
from longmark.cli import base
from longmark.cli.arguments import UNDER, bounds_of, needs_stats, outputs_of, scores_in, split
from longmark.cli.label_options import corrections_of
from longmark.errors import UserError
from longmark.metrics import built_in, canonical
from longmark.report import outputs
from longmark.report.document import Section
from longmark.report.gate_forecast import cautions
from longmark.report.gates import Checked, check_gates, gates_of, limits_of, refuse_unknown_systems
from longmark.report.html import write_report
from longmark.report.summary import summarise
from longmark.report.tables import print_table
from longmark.scores.files import sources_of
from longmark.scores.manifest import cluster_of


def report(arguments: argparse.Namespace) -> int:
    bounds = bounds_of(arguments.bounds)
    files = outputs_of(arguments, arguments.runs)
    by = split(arguments.by)
    checks = list[Checked]()
    changes = list[outputs.Change]()
    if arguments.base and len(arguments.runs) > 1:
        raise UserError("--base: give one run to compare with it; longmark compare takes several")
    base.check(arguments, arguments.runs[0])
    cluster = cluster_of(arguments.cluster, arguments.runs)
    if arguments.fail_under:  # a wrong gate is refused before the page is written
        counts = summarise(
            sources_of(arguments.runs), cluster, bounds, by, limits_of(arguments.fail_under)
        )
        ends = {name: (fact.lo, fact.hi) for name, fact in counts.facts.items()}
        gates = gates_of(arguments.fail_under, counts.metrics, ends, canonical=canonical)
        refuse_unknown_systems(gates, (cell.system for cell in counts.cells))
        for caution in cautions(gates, built_in(counts.metrics)):
            print(f"Note: --fail-under {caution}", file=sys.stderr)
        checks = check_gates(gates, counts, arguments.max_unscored)
    corrected = _corrected(arguments, cluster)
    primary = scores_in(arguments.primary)
    summary = write_report(
        arguments.runs,
        arguments.out,
        cluster=cluster,
        bounds=bounds,
        by=by,
        corrected=corrected,
        primary=primary,
        verdict=partial(
            first_sentence, arguments.runs, cluster=cluster, bounds=bounds, primary=primary
        ),
    )
    print(f"Report: {arguments.out}")
    if arguments.base:
        changes, against = base.changes(arguments, arguments.runs[0], cluster)
        checks += against
    for check in checks:
        print(check.line)
    code = UNDER if any(not check.met for check in checks) else 0
    if any(files.values()):
        rows = outputs.read(arguments.runs, cluster, bounds, by)
        about = (arguments.out.stem, code, checks, rows)
        outputs.write(
            outputs.Outcome("report", *about, notices=summary.notices, changes=changes), files
        )
    return code


def _corrected(arguments: argparse.Namespace, cluster: str) -> Section | None:
    """What --labels says of the runs' means, which is also printed."""
    if (options := corrections_of(arguments)) is None:
        return None
    needs_stats("report --labels")
    from rich.console import Console

    from longmark.scores.paired import BY_EACH

    corrections = plugins.required("corrections", "labels", "report --labels")
    corrected = corrections.correct_runs(
        arguments.runs, arguments.labels, by=BY_EACH, cluster=cluster, **options
    )
    section: Section = corrections.section(corrected)
    for notice in corrected.notices:
        print(f"Note: {notice}", file=sys.stderr)
    print(f"{section.title}. {section.says}")
    print_table(section.tables[0], Console())
    return section
