"""The verbs `longmark compare` and `longmark metrics-study`: systems, or metrics, from the scores of runs."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark import plugins
from longmark.cli.arguments import (
    UNDER,
    add,
    add_composed,
    add_options,
    add_outputs,
    add_project,
    add_verb,
    bounds_of,
    keywords,
    needs_stats,
    outputs_of,
    split,
)
from longmark.cli.label_options import add_labels, corrections_of
from longmark.options.analyses import (
    CompareGate,
    CompareGroups,
    DefectsFile,
    FalseAlarms,
    LengthOption,
    MetricsStudyGroups,
    PageOptions,
)

if TYPE_CHECKING:
    from longmark.analysis.compare import Comparison
    from longmark.report.document import Document


def add_to(verbs: Any) -> None:
    text = "Compare runs, or the systems of a run: paired tests, confidence intervals, rankings."
    parser = _add(verbs, "compare", text, compare)
    add_composed(parser, CompareGroups)
    add_options(parser, LengthOption)
    add_options(parser, CompareGate)
    add_labels(parser)
    add_outputs(parser)
    add_project(parser)

    text = "Report properties of metrics: bounds, ties, distributions, correlations, discriminative power, cost."
    parser = _add(verbs, "metrics-study", text, metrics_study)
    add_composed(parser, MetricsStudyGroups)
    add_options(parser, DefectsFile)
    add_options(parser, FalseAlarms)


def _add(verbs: Any, name: str, text: str, verb: Any) -> argparse.ArgumentParser:
    parser = add_verb(verbs, name, verb, text)
    add(parser, "runs", "RUN", "run folders or files of rows", nargs="+")
    add_options(parser, PageOptions)
    return parser


def compare(arguments: argparse.Namespace) -> int:
    needs_stats("compare")
    from longmark.analysis.compare import compare as compared
    from longmark.analysis.compare.page import document
    from longmark.errors import UserError
    from longmark.report.document import check_out
    from longmark.scores.manifest import cluster_of

    files = outputs_of(arguments, arguments.runs)
    fields = split(arguments.by)
    sides = [field for field in fields if field in ("run", "system")]
    if len(sides) > 1:
        raise UserError("--by: compare runs or systems, not both")
    slices = [field for field in fields if field not in sides]
    corrections = corrections_of(arguments)
    check_out(arguments.out)
    options = keywords(CompareGroups, arguments)
    options["by"] = sides[0] if sides else None
    options["slices"] = slices
    options["cluster"] = cluster_of(arguments.cluster, arguments.runs)
    options["against_first"] = arguments.fail_if_worse or arguments.require_decision

    def page(comparison: Comparison) -> Document:
        page = document(comparison)
        if arguments.length_control:
            from longmark.analysis.length import section

            page = replace(
                page, sections=(page.sections[0], section(comparison), *page.sections[1:])
            )
        return (
            page
            if corrections is None
            else _with_labels(comparison, page, arguments.labels, corrections)
        )

    return _published(arguments, compared, options, page, partial(_worse, files, slices))


def _with_labels(
    comparison: Comparison, page: Document, labels: Path, options: Mapping[str, Any]
) -> Document:
    """The page with the results that labels correct behind the first section."""
    corrections = plugins.required("corrections", "labels", "compare --labels")
    corrected = corrections.correct(comparison, labels, **options)
    settings = {**page.settings, "Labels": f"{corrected.file} ({corrected.label})"}
    return replace(
        page,
        sections=(page.sections[0], corrections.section(corrected), *page.sections[1:]),
        settings=settings,
    )


def _worse(
    files: Any, slices: Sequence[str], comparison: Any, arguments: argparse.Namespace, page: Any
) -> int:
    """The exit code of --fail-if-worse; prints what it was decided on, and writes the files for CI."""
    from longmark.analysis.compare.gate import against_first

    checked = []
    if arguments.fail_if_worse or arguments.require_decision:
        decision = {
            "require_decision": arguments.require_decision,
            "max_unscored": arguments.max_unscored,
        }
        checked = against_first(comparison, **decision)
    for check in checked:
        print(check.line)
    code = UNDER if any(not check.met for check in checked) else 0
    if any(files.values()):
        from longmark.report import outputs
        from longmark.scores.files import name_of

        read = (
            comparison.cluster,
            bounds_of(arguments.bounds),
            slices,
            {metric.metric: metric.facts for metric in comparison.metrics},
        )
        table_of = {table.name: table for section in page.sections for table in section.tables}
        about = (
            code,
            checked,
            outputs.read(arguments.runs, *read),
            "",
            page.sections[0].says,
            table_of["results"],
        )
        name = " ".join(map(name_of, arguments.runs))
        outcome = outputs.Outcome(
            "compare", name, *about, table_of["differences"], notices=comparison.notices
        )
        outputs.write(outcome, files)
    return code


def metrics_study(arguments: argparse.Namespace) -> int:
    needs_stats("metrics-study")
    from longmark.analysis.metrics_study import metrics_study as studied
    from longmark.analysis.metrics_study.page import document
    from longmark.errors import UserError
    from longmark.report.document import check_out
    from longmark.scores.manifest import cluster_of

    check_out(arguments.out)
    if arguments.defects and arguments.as_published:
        raise UserError("--defects: there is no published form of this study; omit --as-published")
    options = keywords(MetricsStudyGroups, arguments)
    options["cluster"] = cluster_of(arguments.cluster, arguments.runs)
    if not arguments.defects:
        return _published(arguments, studied, options, document)
    from longmark.analysis.metrics_study.defects import defects_study
    from longmark.analysis.metrics_study.defects import document as defects_document

    for name in ("draws", "as_published"):  # of permutation tests, which this study has none of
        del options[name]
    options["false_alarms"] = arguments.false_alarms
    study = partial(defects_study, defects=arguments.defects)
    return _published(arguments, study, options, defects_document)


def _published(
    arguments: argparse.Namespace,
    study_of: Any,
    options: Mapping[str, Any],
    document: Any,
    code: Any = lambda *_: 0,
) -> int:
    """study_of: the function of the verb; options: its keywords; document: makes its page; code: the exit code."""
    from rich.console import Console

    from longmark.cli.terminal import under_way
    from longmark.report.document import publish

    with under_way() as tell:
        study = study_of(arguments.runs, progress=tell, **options)
    page = document(study)
    publish(page, arguments.out, Console(), verbose=arguments.verbose, width=arguments.width)
    return int(code(study, arguments, page))
