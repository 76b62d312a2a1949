"""`longmark demo --full`: a hazard question, passages, answers, variants, scores and a report, on this machine.

The question is drawn from the tables of the domain. The passages come from a small knowledge base that was written for
this demo (`corpus/`; nothing in it is research). Every metric of SCORE and CCRS scores the answers that needs no
reference answer, since a drawn question has none. The stages are those of `longmark score-study`; the same command
resumes them.
"""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console

from longmark import metrics
from longmark.contrib.make.rag import index as rag_index
from longmark.contrib.make.rag.generate import Generation
from longmark.contrib.papers.score.plan import Member, ScorePlan, Scoring
from longmark.contrib.papers.study import StudySession, carry_out, stage_table
from longmark.domain import NATURAL_HAZARDS
from longmark.engine.run import finish, make_settings, open_cache
from longmark.engine.settings import RunOptions
from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.handles import Backends, Models
from longmark.models.registry import Registry, price_of
from longmark.options.groups import ModelNames
from longmark.prompts import PromptBook
from longmark.report.html import write_report
from longmark.report.summary import score_table, summarise
from longmark.report.tables import print_table, write_tables
from longmark.writing import check_within
from longmark.writing import folder as make_folder

MODELS = ModelNames(
    judges=["embedded"],
    generator="embedded",
    embedder="embedded",
    reranker="embedded",
    lm="embedded:small",
)
PARAMS = {
    "score.specificity": "@samples=1",
    "score.answer_relevance": "@questions=2",
}  # fewer than by default
CORPUS = Path(__file__).parent / "corpus"
FAMILIES = ("score", "ccrs")
QUESTIONS = 1
SEED = 7
VARIANTS = ("paraphrase", "hazard")
PASSAGES = 3
LONGEST = 300  # few passages and tokens of an answer: a small model reads and writes slowly


def run_full(out: Path) -> int:
    """Makes the study in `out`, prints the table and the stages, writes `out/report.html`; 0."""
    from longmark.contrib.papers.score.stages import score_study  # needs NumPy

    for name in ("index", "study", "tables"):
        check_within(out, out / name)
    cache = open_cache(None)
    began = time.monotonic()
    try:
        _index(out / "index", cache)
        indexed = time.monotonic() - began
        plan = _plan(out)
        session = StudySession(
            cache, quiet=False, tell=print, handle_signals=True, progress=_show, keep_going=True
        )
        outcome = carry_out(score_study(plan, session, runs=_runs))
    finally:
        cache.close()
    if outcome.stopped is not None:
        raise outcome.stopped
    run = plan.run_path(plan.generators[0], "all")
    stages = outcome.stages
    console = Console()
    print_table(score_table(summarise([run])), console)
    written = time.monotonic()
    write_report([run], out / "report.html")
    table = stage_table(
        {"index": _timed(indexed), **stages, "report": _timed(time.monotonic() - written)}
    )
    write_tables([table], out / "tables")
    console.file.write("\n")
    print_table(table, console)
    for name, facts in stages.items():
        for note in facts.get("notes", ()):
            print(f"{name}: {note}")
    print(f"\nReport: {out / 'report.html'}")
    return 0


def _index(folder: Path, cache: CallCache) -> None:
    """Makes the index of the corpus, if there is none."""
    if (folder / rag_index.MANIFEST).exists():
        return
    backends: Backends = Registry(cache).backends(ModelNames(embedder=MODELS.embedder))
    models = Models(backends, Client(cache, price_of=price_of), UsageLog(), PromptBook())
    make_folder(folder.parent)
    finish(lambda: rag_index.build(CORPUS, folder, models=models))


def _plan(out: Path) -> ScorePlan:
    assert MODELS.generator is not None
    assert MODELS.embedder is not None
    return ScorePlan(
        out=out / "study",
        index=out / "index",
        generators=[Member("demo", (MODELS.generator,))],
        evaluators=[Member("judge", tuple(MODELS.judges))],
        embedder=MODELS.embedder,
        n=QUESTIONS,
        seed=SEED,
        domain=NATURAL_HAZARDS,
        variants=VARIANTS,
        k=PASSAGES,
        retriever="hybrid",
        how=Generation(max_tokens=LONGEST),
    )


def _runs(plan: ScorePlan, registry: Registry) -> list[Scoring]:
    """One run of every metric that needs no reference."""
    names = [
        name + PARAMS.get(name, "")
        for name in metrics.names()
        if name.startswith(tuple(f"{family}." for family in FAMILIES))
        and "references" not in metrics.load(name).needs
    ]
    options = RunOptions(**vars(MODELS), scoring="expected", seed=plan.seed, domain=plan.domain)
    return [Scoring("all", make_settings(names, registry, options))]


def _show(stage: str, n_done: int, total: int | None) -> None:
    print(f"{stage}: {n_done} of {total}", flush=True)


def _timed(seconds: float) -> dict[str, float | int]:
    """A stage that is no stage of the study, for the table."""
    zero = dict.fromkeys(("calls", "from_cache", "prompt_tokens", "completion_tokens", "usd"), 0)
    return {"seconds": round(seconds, 3), **zero}
