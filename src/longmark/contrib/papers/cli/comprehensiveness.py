"""The verb `longmark comprehensiveness-study`: the meta-evaluation of the Comprehensiveness paper, and its tables."""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark.cli.arguments import add, add_calls, add_verb, add_verbose, needs_stats, split, whole
from longmark.contrib.papers.cli.study import without_scores
from longmark.progress import counted

if TYPE_CHECKING:
    from longmark.contrib.papers.comprehensiveness.results import ComprehensivenessResults
    from longmark.contrib.papers.comprehensiveness.rows import RateOptions

_FOLDER = "annotation"


def add_to(verbs: Any) -> None:
    text = "Compare comprehensiveness metrics with labels, and the comprehensiveness of systems."
    parser = add_verb(verbs, "comprehensiveness-study", comprehensiveness_study, text)
    add(
        parser,
        "runs",
        "RUN",
        "runs on WikiContradict or ConflictBank, one or more for each judge",
        nargs="*",
    )
    answers = "a run on answers of systems, to compare their means; repeatable"
    add(parser, "--answers", "RUN", answers, action="append", default=[])
    add(
        parser,
        "--examples",
        "FILE",
        "the examples, for files of rows made elsewhere (longmark dataset writes them)",
    )
    add(
        parser,
        "--metrics",
        "NAME,…",
        "the metrics or families to study (default: comprehensiveness)",
    )
    cluster = "the field that dependent answers share, such as record (default: question_id)"
    add(parser, "--cluster", "FIELD", cluster, default="question_id")
    add(
        parser,
        "--alpha",
        "P",
        "significance level of tests and intervals (default: 0.05)",
        default=0.05,
    )
    add(
        parser,
        "--seed",
        "N",
        "seed of all sampling (default: 42, as published)",
        type=whole,
        default=42,
    )
    add(
        parser,
        "--resamples",
        "N",
        "bootstrap resamples (default: 10,000, as published)",
        default=10_000,
    )
    published = "as in the paper: unscored answers count as 0, each answer by itself, spread over models with n"
    add(parser, "--as-published", "", published)
    add_verbose(parser)
    add(
        parser,
        "--out",
        "DIR",
        "the folder for the tables (CSV, Markdown, LaTeX, JSON) and report.html",
    )
    blind = parser.add_argument_group("blind annotation of errors")
    add(
        blind,
        "--annotate",
        "N",
        "write N answers of WikiContradict for raters to DIR/annotation, and nothing else",
    )
    add(
        blind,
        "--generator",
        "MODEL",
        "the model that rewrites answers to questions as statements (with --annotate)",
    )
    add(blind, "--annotated", "FILE", "a file with the raters' labels: item, rater, errors")
    add(blind, "--key", "FILE", "the key.json of the items (default: DIR/annotation/key.json)")
    add_calls(parser)


def comprehensiveness_study(arguments: argparse.Namespace) -> int:
    needs_stats("comprehensiveness-study")
    from rich.console import Console

    from longmark.contrib.papers.comprehensiveness import annotation, page
    from longmark.contrib.papers.comprehensiveness.results import study
    from longmark.contrib.papers.comprehensiveness.rows import RateOptions
    from longmark.contrib.papers.comprehensiveness.sources import content
    from longmark.errors import UserError
    from longmark.report.document import check_out, publish

    if not (arguments.runs or arguments.answers or arguments.annotated):
        raise UserError(
            "there is nothing to study: name a run, or add --answers RUN or --annotated FILE"
        )
    if arguments.annotate and not (arguments.out and arguments.runs):
        raise UserError(
            "--annotate needs runs on WikiContradict, and --out for the folder of the items"
        )
    key = arguments.key or (arguments.out / _FOLDER / annotation.KEY if arguments.out else None)
    if arguments.annotated and key is None:
        raise UserError(
            "--annotated needs the key of the items: add --key FILE, or the same --out as for --annotate"
        )
    check_out(arguments.out)
    same = {
        name: getattr(arguments, name)
        for name in ("cluster", "alpha", "seed", "resamples", "as_published")
    }
    options = RateOptions(metrics=tuple(split(arguments.metrics)) or RateOptions().metrics, **same)
    results = study(arguments.runs, options, arguments.examples) if arguments.runs else None
    if arguments.annotate and results is not None:
        return _annotate(arguments, results, options)
    contents = content(
        arguments.runs,
        arguments.answers,
        arguments.annotated,
        key,
        options,
        arguments.examples,
        results,
    )
    publish(
        page.document(contents),
        arguments.out,
        Console(file=sys.stdout, highlight=False),
        verbose=arguments.verbose,
    )
    counts: Counter[str] = Counter()
    for rate in results.rates if results else ():
        counts[f"{rate[1]} by {rate[2]}"] += results.rate(rate).n if results else 0
    means = contents.means
    for system_key in means.keys if means else ():
        counts[f"{system_key[1]} by {system_key[2]}"] += means.mean(system_key).n if means else 0
    return without_scores(name for name, count in counts.items() if not count)


def _annotate(
    arguments: argparse.Namespace, results: ComprehensivenessResults, options: RateOptions
) -> int:
    from longmark.contrib.make.cli.rag import finish_with, open_models
    from longmark.contrib.papers.comprehensiveness import annotation
    from longmark.contrib.papers.comprehensiveness.rows import read
    from longmark.options.groups import ModelNames

    keys = annotation.best_variants(results)
    scored = read(arguments.runs, options, arguments.examples)
    drawn = annotation.draw(scored, keys, arguments.annotate, options.seed)
    folder: Path = arguments.out / _FOLDER
    with open_models(arguments, ModelNames(generator=arguments.generator)) as (models, _registry):
        statement_models = models if arguments.generator else None
        written = finish_with(models, lambda: annotation.export(drawn, folder, statement_models))
    print(
        f"{counted(written, 'item')} of {counted(len(keys), 'method')}: {folder / annotation.ITEMS}"
    )
    print(f"Key (do not show it to the raters): {folder / annotation.KEY}")
    return 0
