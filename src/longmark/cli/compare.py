"""The verbs `longmark compare` and `longmark metrics-study`: systems, or metrics, from the scores of runs."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from longmark.cli.arguments import from_one, needs_stats, split, whole


def add_to(verbs: Any) -> None:
    """Adds the verbs to the command line's verbs."""
    text = "Compare runs, or the systems of a run: paired tests, confidence intervals, rankings."
    one, how = _add(verbs, "compare", text, compare)
    by = "compare runs or systems (default: run if several runs are given, else system)"
    one.add_argument("--by", choices=("run", "system"), help=by)
    names = "the systems (or runs) to compare (default: all)"
    one.add_argument("--systems", action="append", default=[], metavar="NAME,…", help=names)
    draws = "permutations per test and resamples per interval (default: 10,000; fewer for huge tables)"
    how.add_argument("--draws", type=from_one, metavar="N", help=draws)

    text = "Report properties of metrics: bounds, ties, distributions, correlations, discriminative power, cost."
    one, how = _add(verbs, "metrics-study", text, metrics_study)
    by = "systems are the examples' systems, or the runs (default: system)"
    one.add_argument("--by", choices=("system", "run"), default="system", help=by)
    number = "permutations of each test (default: 10,000)"
    how.add_argument("--draws", type=from_one, default=10_000, metavar="N", help=number)
    published = (
        "compute as the authors of CCRS did: p = count / permutations, and questions with a missing system are kept"
    )
    how.add_argument("--as-published", action="store_true", help=published)


def _add(verbs: Any, name: str, text: str, verb: Any) -> tuple[argparse.ArgumentParser, argparse._ArgumentGroup]:
    """A verb with the options that both have, and its group of statistical options."""
    one = verbs.add_parser(name, help=text, description=text, allow_abbrev=False)
    one.set_defaults(verb=verb)
    one.add_argument("runs", nargs="+", type=Path, metavar="RUN", help="run folders or files of rows")
    metrics = "the metrics or families to read (default: all)"
    one.add_argument("--metrics", action="append", default=[], metavar="NAME,…", help=metrics)
    out = "the folder for the tables (CSV, Markdown, LaTeX, JSON) and report.html"
    one.add_argument("--out", type=Path, metavar="DIR", help=out)
    one.add_argument("--verbose", action="store_true", help="print every table (default: one line per metric)")
    differing = "accept scores of different judges, prompts, parameters or versions"
    one.add_argument("--allow-different-judges", action="store_true", help=differing)
    hypotheses = "test the hypotheses of this file, each over several comparisons"
    one.add_argument("--hypotheses", type=Path, metavar="FILE.yaml", help=hypotheses)
    how = one.add_argument_group("statistics")
    alpha = f"significance level, {'over all comparisons' if name == 'compare' else 'for each metric'} (default: 0.05)"
    how.add_argument("--alpha", type=float, default=0.05, metavar="SHARE", help=alpha)
    level = "confidence level of each interval (default: 0.95)"
    how.add_argument("--level", type=float, default=0.95, metavar="SHARE", help=level)
    how.add_argument("--seed", type=whole, default=0, metavar="N", help="seed of all draws (default: 0)")
    return one, how


def compare(arguments: argparse.Namespace) -> int:
    """Compares runs or systems."""
    needs_stats("compare")
    from longmark.analysis.compare import compare as compared
    from longmark.analysis.compare.page import document

    options = {"systems": split(arguments.systems), "draws": arguments.draws}
    return _published(arguments, compared, options, document)


def metrics_study(arguments: argparse.Namespace) -> int:
    """Studies the metrics of runs."""
    needs_stats("metrics-study")
    from longmark.analysis.metrics_study import metrics_study as studied
    from longmark.analysis.metrics_study.page import document

    options = {"draws": arguments.draws, "as_published": arguments.as_published}
    return _published(arguments, studied, options, document)


def _published(arguments: argparse.Namespace, made: Any, options: dict[str, Any], document: Any) -> int:
    """made: the verb's function; options: those that only it has; document: makes its page."""
    from rich.console import Console

    from longmark.analysis.compare.page import brief
    from longmark.cli.terminal import under_way
    from longmark.report.document import check_out, publish
    from longmark.stats.hypotheses import load_hypotheses

    check_out(arguments.out)
    shared = {name: getattr(arguments, name) for name in ("by", "alpha", "level", "seed", "allow_different_judges")}
    claims = load_hypotheses(arguments.hypotheses) if arguments.hypotheses else ()
    metrics = split(arguments.metrics)
    with under_way() as tell:
        found = made(arguments.runs, metrics=metrics, hypotheses=claims, progress=tell, **shared, **options)
    page = document(found)
    publish(page, arguments.out, Console(), printed=page if arguments.verbose else brief(page))
    return 0
