"""The whole way on this machine: a hazard question, passages, an answer, variants, every metric, a report.

The question is drawn from the tables of the domain; the passages come from a small knowledge base that was written for
this demo (`corpus/`; nothing in it is research). Every metric of SCORE and CCRS is asked for that needs no reference
answer, for a question that was drawn has none. The stages are those of `longmark score-study`: whatever ends it, the
same command goes on.
"""

from __future__ import annotations

import time
from pathlib import Path

from rich.console import Console

from longmark import metrics
from longmark.demo import MODELS, PARAMS
from longmark.engine.options import RunOptions
from longmark.engine.run import finish, make_settings, open_cache
from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.handles import Backends, Models
from longmark.models.registry import ModelNames, Registry, price_of
from longmark.prompts import PromptBook
from longmark.rag import index as rag_index
from longmark.rag.generate import Generation
from longmark.report.html import write_report
from longmark.report.summary import summarise
from longmark.report.table import print_table as print_summary
from longmark.study.score.plan import Marking, Member, Plan
from longmark.study.score.stages import How, Study
from longmark.study.stages import stage_table
from longmark.tables import print_table, write_tables

CORPUS = Path(__file__).parent / "corpus"
FAMILIES = ("score", "ccrs")
QUESTIONS, SEED = 1, 7
VARIANTS = ("paraphrase", "hazard")
PASSAGES, LONGEST = 3, 300  # few passages and tokens of an answer: a small model reads and writes slowly


def run_full(out: Path) -> int:
    """Goes the whole way in `out`, prints the table and the stages, writes `out/report.html`; 0."""
    cache = open_cache(None)
    began = time.monotonic()
    try:
        _index(out / "index", cache)
        indexed = time.monotonic() - began
        study = Study(_plan(out), cache, How(quiet=False, tell=print, handle_signals=True, progress=_say), runs=_runs)
        with study.folder() as folder:
            finish(lambda: study.run(folder))
            stages = folder.stages
    finally:
        cache.close()
    (run,) = (study.plan.run_path(generator, marking.name) for generator, marking in study.pairs())
    console = Console()
    print_summary(summarise([run]), console)
    written = time.monotonic()
    write_report([run], out / "report.html")
    table = stage_table({"index": _timed(indexed), **stages, "report": _timed(time.monotonic() - written)})
    write_tables([table], out / "tables")
    console.file.write("\n")
    print_table(table, console)
    for name, known in stages.items():
        for note in known.get("notes", ()):
            print(f"{name}: {note}")
    print(f"\nReport: {out / 'report.html'}")
    return 0


def _index(folder: Path, cache: CallCache) -> None:
    """The index of the corpus, made where there is none."""
    if (folder / rag_index.MANIFEST).exists():
        return
    backends: Backends = Registry(cache).backends(ModelNames(embedder=MODELS.embedder))
    models = Models(backends, Client(cache, price_of=price_of), UsageLog(), PromptBook())
    folder.parent.mkdir(parents=True, exist_ok=True)
    finish(lambda: rag_index.build(CORPUS, folder, models=models))


def _plan(out: Path) -> Plan:
    assert MODELS.generator is not None
    assert MODELS.embedder is not None
    return Plan(
        out=out / "study",
        index=out / "index",
        generators=[Member("demo", (MODELS.generator,))],
        evaluators=[Member("judge", tuple(MODELS.judges))],
        embedder=MODELS.embedder,
        n=QUESTIONS,
        seed=SEED,
        variants=VARIANTS,
        k=PASSAGES,
        retriever="hybrid",
        how=Generation(max_tokens=LONGEST),
    )


def _runs(plan: Plan, registry: Registry) -> list[Marking]:
    """One run of every metric that needs no reference."""
    names = [
        name
        for name in metrics.names()
        if name.startswith(tuple(f"{family}." for family in FAMILIES)) and "references" not in metrics.load(name).needs
    ]
    options = RunOptions(**vars(MODELS), params=PARAMS, scoring="expected", seed=plan.seed)
    settings = make_settings(names, registry, options)
    return [Marking("all", settings)]


def _say(what: str, done: int, of: int | None) -> None:
    print(f"{what}: {done} of {of}", flush=True)


def _timed(seconds: float) -> dict[str, float | int]:
    """A stage that is no stage of the study, for the table."""
    zero = dict.fromkeys(("calls", "from_cache", "prompt_tokens", "completion_tokens", "usd"), 0)
    return {"seconds": round(seconds, 3), **zero}
