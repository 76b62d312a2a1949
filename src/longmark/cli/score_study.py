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
    text = "SCORE's experiment: generators x evaluators on questions of a domain, and the paper's tables."
    one = verbs.add_parser("score-study", help=text, description=text, allow_abbrev=False)
    one.set_defaults(verb=score_study)
    one.add_argument("questions", nargs="?", type=Path, metavar="QUESTIONS", help="examples with profiles (or --n)")
    one.add_argument("--out", type=Path, required=True, metavar="STUDY", help="the folder; the same command resumes it")
    one.add_argument("--index", type=Path, required=True, metavar="IDX", help="an index of `longmark rag index`")
    one.add_argument("--n", type=from_one, metavar="N", help="draw N questions from the domain; of a file, its first N")
    one.add_argument("--labels", type=Path, metavar="FILE", help="people's labels of the answers")
    model = one.add_argument_group("models", f"{model_names()}. LABEL=MODEL names one in the tables.")
    several: dict[str, Any] = {"action": "append", "required": True}
    model.add_argument("--generator", **several, metavar="MODEL", help="may be given several times")
    jury = "may be given several times; models joined by commas are a jury"
    model.add_argument("--evaluator", **several, metavar="MODEL[,MODEL…]", help=jury)
    model.add_argument("--embedder", required=True, metavar="MODEL", help="for robustness and answer relevance")
    model.add_argument("--reranker", metavar="MODEL", help="for table 2")
    proxies = "proxies of context utilization: tables 3, 4, 8, 9"
    model.add_argument("--lm", action="append", default=[], metavar="MODEL", help=proxies)
    model.add_argument("--paraphraser", metavar="MODEL", help="writes the paraphrases (default: the first generator)")
    model.add_argument("--extractor", metavar="MODEL", help="finds facts for --lm (default: the first evaluator)")
    fixed = one.add_argument_group("fixed for a study's folder")
    fixed.add_argument("--seed", type=int, default=0, metavar="N")
    fixed.add_argument("--domain", type=Path, metavar="FILE.yaml", help="topic of the questions (default: hazards)")
    fixed.add_argument("--variants", action="append", default=[], metavar="NAME,…", help="default: all of the domain")
    fixed.add_argument("--k", type=from_one, default=5, metavar="N", help="passages for each question (default: 5)")
    retriever = "default: dense where the index has vectors, else bm25"
    fixed.add_argument("--retriever", metavar="bm25|dense|hybrid", help=retriever)
    context = "whose passages and profile a variant is answered with (default: own)"
    fixed.add_argument("--variant-context", default="own", metavar="own|original", help=context)
    fixed.add_argument("--temperature", type=float, default=0.1, metavar="T", help="of answers (default: 0.1)")
    fixed.add_argument("--top-p", type=float, default=0.9, metavar="P", help="of answers (default: 0.9)")
    fixed.add_argument("--max-answer", type=from_one, default=1024, metavar="N", help="tokens (default: 1024)")
    fixed.add_argument("--param", action="append", default=[], metavar="METRIC.NAME=VALUE")
    fixed.add_argument("--prompts", type=Path, metavar="DIR", help="a folder with ID.txt files in place of our prompts")
    data = one.add_argument_group("input")
    column = "the column of QUESTIONS that holds a field"
    data.add_argument("--map", action="append", default=[], metavar="FIELD=COLUMN", help=column)
    data.add_argument("--skip-bad", action="store_true", help="leave bad records out instead of stopping")
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
