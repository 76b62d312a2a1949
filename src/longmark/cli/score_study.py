"""The verb `longmark score-study`: SCORE's whole experiment, from questions to the paper's tables.

Exit codes as for every verb; 4: the budget ended it, a model gave no reply for some lines, or there is no mark yet.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark.cli.arguments import INTERRUPTED, NO_VALUE, add_calls, from_one, model_names, needs_stats, pairs, split

if TYPE_CHECKING:
    from longmark.models.cache import CallCache
    from longmark.study.score.page import Result
    from longmark.study.score.plan import Plan
    from longmark.study.score.stages import Expected


def add_to(verbs: Any) -> None:
    """Adds the verb to the command line's verbs."""
    text = "SCORE's experiment: generators x evaluators on questions of a domain, and the paper's tables."
    one = verbs.add_parser("score-study", help=text, description=text, allow_abbrev=False)
    one.set_defaults(verb=score_study)
    one.add_argument("questions", nargs="?", type=Path, metavar="QUESTIONS", help="examples with profiles (or --n)")
    one.add_argument("--out", type=Path, required=True, metavar="STUDY", help="the folder; the same command goes on")
    one.add_argument("--index", type=Path, required=True, metavar="IDX", help="an index of `longmark rag index`")
    one.add_argument("--n", type=from_one, metavar="N", help="questions to draw of the domain; of a file, its first N")
    one.add_argument(
        "--labels", type=Path, metavar="FILE", help="people's labels: item, system, rater, dimension, label"
    )
    model = one.add_argument_group("models", f"{model_names()}. LABEL=MODEL names one in the tables.")
    model.add_argument(
        "--generator", action="append", required=True, metavar="MODEL", help="may be given several times"
    )
    model.add_argument(
        "--evaluator",
        action="append",
        required=True,
        metavar="MODEL[,MODEL…]",
        help="may be given several times; models joined by commas are a jury",
    )
    model.add_argument("--embedder", required=True, metavar="MODEL", help="for robustness and answer relevance")
    model.add_argument("--reranker", metavar="MODEL", help="for table 2")
    model.add_argument(
        "--lm", action="append", default=[], metavar="MODEL", help="proxies of context utilization: tables 3, 4, 8, 9"
    )
    model.add_argument("--paraphraser", metavar="MODEL", help="writes the paraphrases (default: the first generator)")
    model.add_argument(
        "--extractor", metavar="MODEL", help="finds the facts in passages for --lm (default: the first evaluator)"
    )
    fixed = one.add_argument_group("fixed for a study's folder")
    fixed.add_argument("--seed", type=int, default=0, metavar="N")
    fixed.add_argument(
        "--domain", type=Path, metavar="FILE.yaml", help="what the questions are about (default: hazards)"
    )
    fixed.add_argument("--variants", action="append", default=[], metavar="NAME,…", help="default: all of the domain")
    fixed.add_argument("--k", type=from_one, default=5, metavar="N", help="passages for each question (default: 5)")
    fixed.add_argument(
        "--retriever", metavar="bm25|dense|hybrid", help="default: dense where the index has vectors, else bm25"
    )
    fixed.add_argument(
        "--variant-context",
        default="own",
        metavar="own|original",
        help="passages and profile that variants are answered with (default: own)",
    )
    fixed.add_argument("--temperature", type=float, default=0.1, metavar="T", help="of answers (default: 0.1)")
    fixed.add_argument("--top-p", type=float, default=0.9, metavar="P", help="of answers (default: 0.9)")
    fixed.add_argument("--max-answer", type=from_one, default=1024, metavar="N", help="tokens (default: 1024)")
    fixed.add_argument("--param", action="append", default=[], metavar="METRIC.NAME=VALUE")
    fixed.add_argument("--prompts", type=Path, metavar="DIR", help="a folder with ID.txt files in place of our prompts")
    data = one.add_argument_group("input")
    data.add_argument(
        "--map", action="append", default=[], metavar="FIELD=COLUMN", help="the column of QUESTIONS that holds a field"
    )
    data.add_argument("--skip-bad", action="store_true", help="leave bad records out instead of stopping")
    spend = add_calls(one)
    spend.add_argument("--dry-run", action="store_true", help="say what each stage would take, and send nothing")
    spend.add_argument(
        "--until", default="marks", metavar="questions|variants|answers|marks", help="the last part to work on"
    )
    spend.add_argument(
        "--allow-gaps", action="store_true", help="go on without the lines that a model gave no reply for"
    )


def score_study(arguments: argparse.Namespace) -> int:
    """Goes on with a study as far as it can, and writes its tables."""
    from longmark.engine.run import open_cache

    needs_stats("score-study")
    cache = open_cache(arguments.cache)
    try:
        return _work(arguments, cache)
    finally:
        cache.close()


def _work(arguments: argparse.Namespace, cache: CallCache) -> int:
    from longmark.cli.progress import Stages
    from longmark.models.budget import Budget
    from longmark.models.registry import Registry
    from longmark.study.score.experiment import carry_out, expect
    from longmark.study.score.stages import How
    from longmark.study.stages import INTERRUPT

    how = How(
        concurrency=arguments.concurrency,
        budget=Budget(arguments.max_calls, arguments.max_tokens, arguments.max_usd),
        gaps=arguments.allow_gaps,
        until=arguments.until,
        quiet=arguments.quiet,
        handle_signals=True,
        tell=lambda notice: print(notice, file=sys.stderr, flush=True),
        progress=(lambda _what, _done, _of: None) if arguments.quiet else Stages(),
    )
    plan = _plan(arguments)
    if arguments.dry_run:
        _print_expected(expect(plan, cache, how))
        return 0
    registry = Registry(cache, arguments.timeout, arguments.max_reply_bytes)
    outcome = carry_out(plan, cache, how, labels=arguments.labels, registry=registry)
    if outcome.stopped is not None and outcome.stopped.why == INTERRUPT:
        print(f"Stopped. The same command goes on in {arguments.out}.", file=sys.stderr)
        return INTERRUPTED
    _publish(plan, outcome.result)
    if outcome.stopped is not None:
        print(f"longmark: {outcome.stopped}", file=sys.stderr)
        return NO_VALUE
    return 0


def _plan(arguments: argparse.Namespace) -> Plan:
    from longmark.rag.generate import Generation
    from longmark.study.score.plan import Plan, member

    return Plan(
        out=arguments.out,
        index=arguments.index,
        generators=[member(text) for text in arguments.generator],
        evaluators=[member(text, jury=True) for text in arguments.evaluator],
        proxies=[member(text) for text in arguments.lm],
        embedder=arguments.embedder,
        reranker=arguments.reranker,
        paraphraser=arguments.paraphraser,
        extractor=arguments.extractor,
        questions=arguments.questions,
        n=arguments.n,
        mapping=pairs(arguments.map, "--map FIELD=COLUMN"),
        skip_bad=arguments.skip_bad,
        seed=arguments.seed,
        variants=split(arguments.variants),
        k=arguments.k,
        retriever=arguments.retriever,
        variant_context=arguments.variant_context,
        how=Generation(arguments.temperature, arguments.top_p, arguments.max_answer),
        params=pairs(arguments.param, "--param METRIC.NAME=VALUE"),
        prompts=arguments.prompts,
        domain=arguments.domain,
    )


def _publish(plan: Plan, result: Result) -> None:
    """Prints and writes the tables; where there is no mark yet, prints the stages."""
    from rich.console import Console

    from longmark.report.publish import publish
    from longmark.study.score.page import document
    from longmark.study.score.pages import write_pages
    from longmark.study.stages import stage_table
    from longmark.tables import print_table

    console = Console()
    if not result.found.any:
        print_table(stage_table(result.stages), console)
        return
    publish(document(result), plan.out, console)
    for page in write_pages(plan):
        print(f"Answers: {page}")


def _print_expected(stages: list[Expected]) -> None:
    from rich.console import Console

    from longmark.tables import Column, Table, print_table

    rows = tuple((one.name, one.rows, one.calls, one.says) for one in stages)
    columns = (Column("Stage"), Column("Lines to make"), Column("Calls, at most"), Column(""))
    print_table(Table("expected", "What is still to do", columns, rows), Console())
    print("Nothing was sent.")
