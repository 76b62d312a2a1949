"""The verb `longmark score-study`: SCORE's whole experiment, from questions to the paper's tables."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from longmark.cli.arguments import (
    add,
    add_answers,
    add_prompts,
    add_verb,
    model_names,
    needs_stats,
    pairs,
    split,
)
from longmark.contrib.papers.cli.study import add_session, run_study

if TYPE_CHECKING:
    from longmark.contrib.papers.score.plan import ScorePlan


def add_to(verbs: Any) -> None:
    text = (
        "Run the experiment of the SCORE paper: generators x evaluators, with the paper's tables."
    )
    parser = add_verb(verbs, "score-study", score_study, text)
    add(
        parser,
        "questions",
        "QUESTIONS",
        "questions with profiles (or use --n); answers in the file are used",
        nargs="?",
    )
    add(
        parser,
        "--out",
        "STUDY",
        "the study's folder; repeat the same command to resume it",
        required=True,
    )
    add(
        parser,
        "--index",
        "IDX",
        "an index of `longmark rag index`; not needed if all answers are given",
    )
    add(parser, "--n", "N", "sample N questions of the domain; with QUESTIONS: read its first N")
    add(parser, "--labels", "FILE", "the raters' labels of the answers")
    model = parser.add_argument_group(
        "models", f"{model_names()}. LABEL=MODEL sets its name in tables."
    )
    writes = "a model that writes answers, or LABEL=given for those of QUESTIONS; repeatable"
    add(model, "--generator", "MODEL", writes, action="append", required=True)
    jury = "a model that judges answers; repeatable; models joined by commas are a jury"
    add(model, "--evaluator", "MODEL[,MODEL…]", jury, action="append", required=True)
    add(
        model, "--embedder", "MODEL", "the model for robustness and answer relevance", required=True
    )
    add(model, "--reranker", "MODEL", "the model for table 2")
    proxies = "a model for the proxies of context utilization (tables 3, 4, 8, 9); repeatable"
    add(model, "--lm", "MODEL", proxies, action="append", default=[])
    add(
        model,
        "--paraphraser",
        "MODEL",
        "the model that paraphrases, or evaluators (default: the first generator)",
    )
    add(
        model,
        "--extractor",
        "MODEL",
        "the model that finds facts for --lm (default: the first evaluator)",
    )
    fixed = parser.add_argument_group("fixed for a study's folder")
    add(fixed, "--seed", "N", "seed of all sampling (default: 0)", type=int, default=0)
    add(fixed, "--variants", "NAME,…", "the variants to make (default: all of the domain)")
    add(fixed, "--k", "N", "passages for each question (default: 5)", default=5)
    retriever = "how passages are found (default: dense if the index has vectors, else bm25)"
    add(fixed, "--retriever", "bm25|dense|hybrid", retriever)
    add_answers(fixed, temperature=0.1, max_answer=1024)
    add(
        fixed,
        "--metrics",
        "NAME,…",
        "metrics of the study with other parameters, such as score.specificity@samples=1",
    )
    add(
        fixed, "--as-published", "", "use the parameters of the paper, unless --metrics sets others"
    )
    add_prompts(fixed)
    data = parser.add_argument_group("input")
    add(data, "--map", "FIELD=COLUMN", "read a field from this column of QUESTIONS; repeatable")
    add(data, "--skip-bad", "", "skip unreadable records instead of stopping")
    add_session(parser, ("questions", "variants", "answers", "scores"))


def score_study(arguments: argparse.Namespace) -> int:
    needs_stats("score-study")
    from longmark.contrib.papers.score.stages import score_study as declared

    plan = _plan(arguments)
    return run_study(arguments, lambda session: declared(plan, session, arguments.labels))


def _plan(arguments: argparse.Namespace) -> ScorePlan:
    from longmark.contrib.make.rag.generate import Generation
    from longmark.contrib.papers.score.plan import ScorePlan, member

    same = (
        "out",
        "index",
        "embedder",
        "reranker",
        "paraphraser",
        "extractor",
        "questions",
        "n",
        "skip_bad",
        "seed",
        "k",
        "retriever",
        "variant_context",
        "prompts",
        "domain",
        "as_published",
    )
    return ScorePlan(
        **{name: getattr(arguments, name) for name in same},
        generators=[member(text) for text in arguments.generator],
        evaluators=[member(text, jury=True) for text in arguments.evaluator],
        proxies=[member(text) for text in arguments.lm],
        mapping=pairs(arguments.map, "--map FIELD=COLUMN"),
        variants=split(arguments.variants),
        how=Generation(arguments.temperature, arguments.top_p, arguments.max_answer),
        metrics=split(arguments.metrics),
    )
