"""The small verbs: what there is (metrics, prompts, cache), the report, the demo."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing

from longmark.cli.arguments import INTERRUPTED, NO_VALUE, UNDER, bounds_of, split, tell_own_words
from longmark.engine.run import cache_path, finish, open_cache
from longmark.engine.settings import Settings, choose, every_prompt
from longmark.engine.verify import MOST, Given, Verification, opened
from longmark.engine.verify import export as exported
from longmark.engine.verify import verify as verified
from longmark.errors import UnknownName, UserError
from longmark.metrics.page import as_published, listing, page
from longmark.models.handles import Backends
from longmark.progress import counted
from longmark.prompts import SYSTEM, PromptBook, from_folder, to_folder
from longmark.report.html import write_report
from longmark.report.summary import fail_under, parse_conditions, refuse_unknown_systems, summarise
from longmark.report.tables import one_line
from longmark.scores.files import sources_of
from longmark.scores.graphs import write_graphs


def metrics(arguments: argparse.Namespace) -> int:
    if arguments.signature:
        settings = Settings(choose([arguments.name or ""]), Backends())
        for chosen in settings.selected:
            print(*(settings.signature(chosen).line(score) for score in chosen.scores), sep="\n")
        return 0
    if arguments.as_published:
        print(as_published(arguments.name) or f"longmark: the defaults of {arguments.name} are the paper's")
        return 0
    print(page(arguments.name) if arguments.name else listing())
    return 0


def prompts(arguments: argparse.Namespace) -> int:
    selected = choose(arguments.metrics) if arguments.metrics else []
    every = every_prompt(selected)
    book = from_folder(arguments.prompts, (SYSTEM, *every)) if arguments.prompts else PromptBook()
    listed = [prompt for chosen in selected for prompt in chosen.metric.prompts] if selected else every
    known = {prompt.id: prompt for prompt in (SYSTEM, *listed)}
    if arguments.id and arguments.id not in known:
        hint = "See: longmark prompts" if selected else "Prompts of a rubric: longmark prompts --metrics rubric.yaml"
        raise UnknownName("prompt", arguments.id, known, hint)
    if arguments.out:
        names = [arguments.id] if arguments.id else list(known)
        to_folder(arguments.out, [book.get(known[name]) for name in names])
        print(f"{counted(len(names), 'prompt')}: {arguments.out}")
        return 0
    if arguments.id:
        prompt = book.get(known[arguments.id])
        print(f"id      {prompt.id}\nhash    {prompt.hash}\ninputs  {', '.join(prompt.inputs) or 'none'}")
        print(f"fields  {', '.join(sorted(prompt.fields)) or 'none'}\n\n{prompt.text.strip()}")
        return 0
    width = max(map(len, known))
    for prompt in map(book.get, known.values()):
        mark = "  replaced" if prompt.hash != known[prompt.id].hash else ""
        print(f"{prompt.id:{width}}  {prompt.hash}  {', '.join(prompt.inputs)}{mark}")
    return 0


def cache(arguments: argparse.Namespace) -> int:
    with closing(open_cache(arguments.cache)) as store:
        if arguments.action == "clear":
            known = [line.model for line in store.lines()]
            if arguments.model is not None and arguments.model not in known:
                raise UnknownName("model in the cache", arguments.model, known, "See: longmark cache")
            count = store.clear(arguments.model)
            print(f"{counted(count, 'stored call')} deleted from {store.path}")
            return 0
        print(store.path)
        for line in store.lines():
            print(f"{line.replies:>9,} {line.kind} replies  {line.size / 1e6:9,.1f} MB  {one_line(line.model)}")
        return 0


def report(arguments: argparse.Namespace) -> int:
    bounds, conditions = bounds_of(arguments.bounds), []
    if arguments.fail_under:  # a wrong condition is refused before the page is written
        runs = sources_of(arguments.runs)
        found = summarise(runs, arguments.cluster, bounds)
        limits = {name: (one.lo, one.hi) for name, one in found.facts.items()}
        conditions = parse_conditions(arguments.fail_under, found.metrics, limits)
        refuse_unknown_systems(conditions, (cell.system for cell in found.cells))
        tell_own_words(conditions, found.metrics)
    summary = write_report(arguments.runs, arguments.out, cluster=arguments.cluster, bounds=bounds)
    print(f"Report: {arguments.out}")
    checks = fail_under(conditions, summary, arguments.max_unscored)
    for check in checks:
        print(check.line)
    return UNDER if any(not check.met for check in checks) else 0


def verify(arguments: argparse.Namespace) -> int:
    """Computes the scores of a run again."""
    most = arguments.max_bundle_bytes or MOST
    with opened(arguments.run, cache_path(arguments.cache), most) as (folder, store):
        found = finish(lambda: verified(folder, store, _given(arguments)))
    return _verification(found)


def _given(arguments: argparse.Namespace) -> Given:
    return Given(split(arguments.metrics), arguments.embedder)


def export(arguments: argparse.Namespace) -> int:
    """Packs a run, and writes its graphs."""
    if not arguments.bundle and not arguments.graphs:
        raise UserError("there is nothing to write: add --bundle FILE.zip or --graphs DIR")
    if arguments.graphs:
        count, damaged = write_graphs(arguments.run, arguments.graphs)
        for line in damaged:
            print(f"longmark: {line}", file=sys.stderr)
        print(f"Graphs: {arguments.graphs} ({counted(count, 'graph')}, each as JSON and as GraphML)")
    return _bundle(arguments) if arguments.bundle else 0


def _bundle(arguments: argparse.Namespace) -> int:
    path = cache_path(arguments.cache)
    found = finish(lambda: exported(arguments.run, path, arguments.bundle, _given(arguments)))
    code = _verification(found)
    print(f"Bundle: {arguments.bundle} (check it: longmark verify {arguments.bundle})")
    return code


_SHOWN = 20  # rows that are listed


def _verification(found: Verification) -> int:
    for line in found.changed:
        print(f"changed since the run: {line.strip()}")
    findings = sorted(found.findings, key=lambda one: not one.differs)
    for one in findings[:_SHOWN]:
        print(f"{'differs' if one.differs else 'not verifiable'}: {one.row.metric} of {one.row.example_id}: {one.why}")
    if len(findings) > _SHOWN:
        print(f"… and {len(findings) - _SHOWN:,} more")
    differ = sum(one.differs for one in findings)
    parts = [f"{found.verified:,} of {counted(found.rows, 'row')} verified", f"{differ:,} differ"]
    parts.append(f"{len(findings) - differ:,} not verifiable")
    parts += [f"{found.without_reply:,} had no reply to verify"] if found.without_reply else []
    parts += [f"{counted(found.missing, 'row')} missing from rows.jsonl"] if found.missing else []
    print(" · ".join(parts))
    return 0 if found.ok else UNDER


def demo(arguments: argparse.Namespace) -> int:
    if arguments.full:
        from longmark.analysis.studies.study import INTERRUPT, StudyStopped
        from longmark.demo.full import run_full

        try:
            return run_full(arguments.out)
        except StudyStopped as stop:
            print(f"longmark: {stop}", file=sys.stderr)
            return INTERRUPTED if stop.why == INTERRUPT else NO_VALUE
    from longmark.demo import run_demo

    return run_demo(arguments.out)
