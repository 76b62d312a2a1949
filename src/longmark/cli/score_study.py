"""The verb `longmark score-study`: SCORE's whole experiment, from questions to the paper's tables."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark.cli.arguments import from_one, model_names, needs_stats, pairs, split
from longmark.cli.study import add_session, run_study

if TYPE_CHECKING:
    from longmark.analysis.studies.score.plan import Plan


def add_to(verbs: Any) -> None:
    """Adds the verb to the command line's verbs."""
    text = "Run the experiment of the SCORE paper: generators x evaluators, with the paper's tables."
    one = verbs.add_parser("score-study", help=text, description=text, allow_abbrev=False)
    one.set_defaults(verb=score_study)
    help = "the questions: examples with profiles (or give --n)"
    one.add_argument("questions", nargs="?", type=Path, metavar="QUESTIONS", help=help)
    help = "the study's folder; repeat the same command to resume it"
    one.add_argument("--out", type=Path, required=True, metavar="STUDY", help=help)
    one.add_argument("--index", type=Path, required=True, metavar="IDX", help="an index of `longmark rag index`")
    help = "sample N questions of the domain; with QUESTIONS: read its first N"
    one.add_argument("--n", type=from_one, metavar="N", help=help)
    one.add_argument("--labels", type=Path, metavar="FILE", help="the raters' labels of the answers")
    model = one.add_argument_group("models", f"{model_names()}. LABEL=MODEL sets its name in tables.")
    several: dict[str, Any] = {"action": "append", "required": True}
    model.add_argument("--generator", **several, metavar="MODEL", help="a model that writes answers; repeatable")
    jury = "a model that judges answers; repeatable; models joined by commas are a jury"
    model.add_argument("--evaluator", **several, metavar="MODEL[,MODEL…]", help=jury)
    help = "the model for robustness and answer relevance"
    model.add_argument("--embedder", required=True, metavar="MODEL", help=help)
    model.add_argument("--reranker", metavar="MODEL", help="the model for table 2")
    proxies = "a model for the proxies of context utilization (tables 3, 4, 8, 9); repeatable"
    model.add_argument("--lm", action="append", default=[], metavar="MODEL", help=proxies)
    help = "the model that paraphrases (default: the first generator)"
    model.add_argument("--paraphraser", metavar="MODEL", help=help)
    help = "the model that finds facts for --lm (default: the first evaluator)"
    model.add_argument("--extractor", metavar="MODEL", help=help)
    fixed = one.add_argument_group("fixed for a study's folder")
    fixed.add_argument("--seed", type=int, default=0, metavar="N", help="seed of all sampling (default: 0)")
    help = "the domain of the questions (default: hazards)"
    fixed.add_argument("--domain", type=Path, metavar="FILE.yaml", help=help)
    help = "the variants to make (default: all of the domain)"
    fixed.add_argument("--variants", action="append", default=[], metavar="NAME,…", help=help)
    fixed.add_argument("--k", type=from_one, default=5, metavar="N", help="passages for each question (default: 5)")
    retriever = "how passages are found (default: dense if the index has vectors, else bm25)"
    fixed.add_argument("--retriever", metavar="bm25|dense|hybrid", help=retriever)
    context = "the passages and profile for variants: their own, or those of the original (default: own)"
    fixed.add_argument("--variant-context", default="own", metavar="own|original", help=context)
    help = "temperature of the answers (default: 0.1)"
    fixed.add_argument("--temperature", type=float, default=0.1, metavar="T", help=help)
    fixed.add_argument("--top-p", type=float, default=0.9, metavar="P", help="top-p of the answers (default: 0.9)")
    help = "the most tokens of an answer (default: 1024)"
    fixed.add_argument("--max-answer", type=from_one, default=1024, metavar="N", help=help)
    help = "set a parameter of a metric; repeatable"
    fixed.add_argument("--param", action="append", default=[], metavar="METRIC.NAME=VALUE", help=help)
    fixed.add_argument("--prompts", type=Path, metavar="DIR", help="a folder with ID.txt files that replace prompts")
    data = one.add_argument_group("input")
    column = "read a field from this column of QUESTIONS; repeatable"
    data.add_argument("--map", action="append", default=[], metavar="FIELD=COLUMN", help=column)
    data.add_argument("--skip-bad", action="store_true", help="skip unreadable records instead of stopping")
    add_session(one, ("questions", "variants", "answers", "scores"))


def score_study(arguments: argparse.Namespace) -> int:
    """Continues a study as far as it can, and writes its tables."""
    from longmark.analysis.studies.score.stages import score_study as declared

    needs_stats("score-study")
    plan = _plan(arguments)
    return run_study(arguments, lambda session: declared(plan, session, arguments.labels))


def _plan(arguments: argparse.Namespace) -> Plan:
    from longmark.analysis.studies.score.plan import Plan, member
    from longmark.rag.generate import Generation

    same = (
        *("out", "index", "embedder", "reranker", "paraphraser", "extractor", "questions", "n", "skip_bad", "seed"),
        *("k", "retriever", "variant_context", "prompts", "domain"),
    )
    return Plan(
        **{name: getattr(arguments, name) for name in same},
        generators=[member(text) for text in arguments.generator],
        evaluators=[member(text, jury=True) for text in arguments.evaluator],
        proxies=[member(text) for text in arguments.lm],
        mapping=pairs(arguments.map, "--map FIELD=COLUMN"),
        variants=split(arguments.variants),
        how=Generation(arguments.temperature, arguments.top_p, arguments.max_answer),
        params=pairs(arguments.param, "--param METRIC.NAME=VALUE"),
    )
