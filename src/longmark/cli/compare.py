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
    add_bounds,
    add_cluster,
    add_labels,
    add_outputs,
    add_project,
    add_verb,
    add_verbose,
    bounds_of,
    corrections_of,
    needs_stats,
    outputs_of,
    scores_in,
    share,
    split,
    whole,
)

if TYPE_CHECKING:
    from longmark.analysis.compare import Comparison
    from longmark.report.document import Document


def add_to(verbs: Any) -> None:
    text = "Compare runs, or the systems of a run: paired tests, confidence intervals, rankings."
    parser, statistics = _add(verbs, "compare", text, compare)
    by = "compare runs or systems (default: run if several runs are given, else system), or also the slices of a field"
    add(parser, "--by", "run|system|FIELD", f"{by}; repeatable", action="append", default=[])
    add(parser, "--systems", "NAME,…", "the systems (or runs) to compare (default: all)")
    judges = "the runs score the same systems by different judges: compare by the mean over judges"
    add(parser, "--judges", "", judges)
    complete = "compare only the questions with a score of every system (default: each pair on its own questions)"
    add(parser, "--complete", "", complete)
    margin = "the largest difference that does not matter; tests equivalence and non-inferiority"
    add(statistics, "--margin", "[METRIC=]NUMBER", margin)
    worse = (
        "exit code 3 if a system is worse than the first one (with --margin: and not equivalent)"
    )
    add(parser, "--fail-if-worse", "", worse)
    unscored_help = (
        "with --fail-if-worse: how much larger the share of unscored answers may be than the first one's "
        "(default: 0)"
    )
    add(parser, "--max-unscored", "SHARE", unscored_help, type=share, default=0.0)
    add(
        parser,
        "--require-decision",
        "",
        "with --fail-if-worse and --margin: exit code 3 for undecided, too",
    )
    equal = "also show the differences at equal lengths of the answers"
    add(statistics, "--length-control", "", equal)
    add_labels(parser)
    add_outputs(parser)
    add(
        statistics, "--draws", "N", "permutations per test (default: 10,000; fewer for huge tables)"
    )
    add_project(parser)

    text = "Report properties of metrics: bounds, ties, distributions, correlations, discriminative power, cost."
    parser, statistics = _add(verbs, "metrics-study", text, metrics_study)
    by = "systems are the examples' systems, or the runs (default: system)"
    add(parser, "--by", "", by, action="store", choices=("system", "run"), default="system")
    add(statistics, "--draws", "N", "permutations of each test (default: 10,000)", default=10_000)
    file = "the file of `longmark defects` that was scored: show which metric notices which defect"
    add(parser, "--defects", "FILE", file)
    alarms = "with --defects: share of originals that may score below the threshold (default: 0.05)"
    add(statistics, "--false-alarms", "SHARE", alarms, type=share, default=0.05)
    published = "compute as the authors of CCRS did: p = count / permutations; keep questions with a missing system"
    add(statistics, "--as-published", "", published)


def _add(
    verbs: Any, name: str, text: str, verb: Any
) -> tuple[argparse.ArgumentParser, argparse._ArgumentGroup]:
    """A verb with the options that both have, and its group of statistical options."""
    parser = add_verb(verbs, name, verb, text)
    add(parser, "runs", "RUN", "run folders or files of rows", nargs="+")
    add(parser, "--metrics", "NAME,…", "the metrics or families to read (default: all)")
    add(
        parser,
        "--out",
        "DIR",
        "the folder for the tables (CSV, Markdown, LaTeX, JSON) and report.html",
    )
    add_verbose(parser)
    add(
        parser,
        "--allow-different-judges",
        "",
        "accept scores of different judges, prompts, parameters or versions",
    )
    add(
        parser,
        "--hypotheses",
        "FILE.yaml",
        "test the hypotheses of this file, each over several comparisons",
    )
    statistics = parser.add_argument_group("statistics")
    add_cluster(statistics)
    add_bounds(statistics)
    add(parser, "--higher", "NAME,…", "metrics where higher is better, if no run declares it")
    add(parser, "--lower", "NAME,…", "metrics where lower is better, if no run declares it")
    over = "over all comparisons" if name == "compare" else "for each metric"
    add(statistics, "--alpha", "SHARE", f"significance level, {over} (default: 0.05)", default=0.05)
    add(
        statistics,
        "--level",
        "SHARE",
        "confidence level of each interval (default: 0.95)",
        default=0.95,
    )
    add(statistics, "--seed", "N", "seed of all draws (default: 0)", type=whole, default=0)
    return parser, statistics


def compare(arguments: argparse.Namespace) -> int:
    needs_stats("compare")
    from longmark.analysis.compare import compare as compared
    from longmark.analysis.compare.margin import parsed
    from longmark.analysis.compare.page import document
    from longmark.errors import UserError

    files = outputs_of(arguments, arguments.runs)
    options: dict[str, Any] = {
        name: getattr(arguments, name) for name in ("draws", "complete", "judges")
    }
    fields = split(arguments.by)
    sides = [field for field in fields if field in ("run", "system")]
    if len(sides) > 1:
        raise UserError("--by: compare runs or systems, not both")
    arguments.by = sides[0] if sides else None
    options.update(slices=[field for field in fields if field not in sides])
    options.update(systems=split(arguments.systems), margin=parsed(arguments.margin))
    options.update(against_first=arguments.fail_if_worse or arguments.require_decision)
    corrections = corrections_of(arguments)

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

    return _published(arguments, compared, options, page, partial(_worse, files, options["slices"]))


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

    if arguments.defects:
        from longmark.analysis.metrics_study.defects import defects_study
        from longmark.analysis.metrics_study.defects import document as defects_document

        if arguments.as_published:
            raise UserError(
                "--defects: there is no published form of this study; omit --as-published"
            )
        study = partial(defects_study, defects=arguments.defects)
        return _published(
            arguments, study, {"false_alarms": arguments.false_alarms}, defects_document
        )
    options = {"draws": arguments.draws, "as_published": arguments.as_published}
    return _published(arguments, studied, options, document)


def _published(
    arguments: argparse.Namespace,
    study_of: Any,
    options: dict[str, Any],
    document: Any,
    code: Any = lambda *_: 0,
) -> int:
    """made: the verb's function; options: those that only it has; document: makes its page; code: the exit code."""
    from rich.console import Console

    from longmark.cli.terminal import under_way
    from longmark.report.document import check_out, publish
    from longmark.scores.manifest import cluster_of
    from longmark.stats.hypotheses import load_hypotheses

    check_out(arguments.out)
    same = ("by", "alpha", "level", "seed", "allow_different_judges")
    shared = {name: getattr(arguments, name) for name in same}
    claims = load_hypotheses(arguments.hypotheses) if arguments.hypotheses else ()
    shared["cluster"] = cluster_of(arguments.cluster, arguments.runs)
    metrics = scores_in(arguments.metrics)
    shared["bounds"] = bounds_of(arguments.bounds)
    shared.update(higher=scores_in(arguments.higher), lower=scores_in(arguments.lower))
    with under_way() as tell:
        study = study_of(
            arguments.runs, metrics=metrics, hypotheses=claims, progress=tell, **shared, **options
        )
    page = document(study)
    publish(page, arguments.out, Console(), verbose=arguments.verbose)
    return int(code(study, arguments, page))
