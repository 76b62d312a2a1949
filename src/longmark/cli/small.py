"""The small verbs: what there is (metrics, prompts, cache), the report, the demo."""

from __future__ import annotations

import argparse
import sys
from contextlib import closing

from longmark import plugins
from longmark.cli import base
from longmark.cli.arguments import (
    UNDER,
    bounds_of,
    corrections_of,
    needs_stats,
    outputs_of,
    split,
    tell_cautions,
)
from longmark.cli.trust import trusting
from longmark.engine.run import cache_path, finish, open_cache
from longmark.engine.settings import Settings, choose, every_prompt
from longmark.engine.verify import Given, Verification, needed, opened
from longmark.engine.verify import export as exported
from longmark.engine.verify import verify as verified
from longmark.errors import UnknownName, UserError
from longmark.metrics import built_in, canonical
from longmark.metrics.page import as_published, listing, page
from longmark.models import ledger as ledgers
from longmark.models.cache import CallCache
from longmark.models.handles import Backends
from longmark.progress import cost, counted
from longmark.prompts import SYSTEM, PromptBook, from_folder, to_folder
from longmark.records.files import read_object
from longmark.report import outputs
from longmark.report.document import Section
from longmark.report.gates import Checked, check_gates, gates_of, limits_of, refuse_unknown_systems
from longmark.report.html import write_report
from longmark.report.summary import summarise
from longmark.report.tables import one_line, print_table, tabulated
from longmark.scores.exchange import write_scores
from longmark.scores.files import sources_of
from longmark.scores.graphs import write_graphs
from longmark.scores.manifest import cluster_of


def metrics(arguments: argparse.Namespace) -> int:
    if arguments.signature:
        settings = Settings(choose([arguments.name or ""]), Backends()).named_shortly()
        for sentence in settings.departures([arguments.name]):
            print(sentence, file=sys.stderr)
        for chosen in settings.selected:
            print(*(settings.signature(chosen).line(score) for score in chosen.scores), sep="\n")
        return 0
    if arguments.as_published:
        print(
            as_published(arguments.name)
            or f"longmark: the defaults of {arguments.name} are the paper's"
        )
        return 0
    print(page(arguments.name) if arguments.name else listing())
    return 0


def prompts(arguments: argparse.Namespace) -> int:
    selected = choose(arguments.metrics) if arguments.metrics else []
    every = every_prompt(selected)
    book = from_folder(arguments.prompts, (SYSTEM, *every)) if arguments.prompts else PromptBook()
    listed = (
        [prompt for chosen in selected for prompt in chosen.metric.prompts] if selected else every
    )
    prompt_of = {prompt.id: prompt for prompt in (SYSTEM, *listed)}
    if arguments.id and arguments.id not in prompt_of:
        hint = (
            "See: longmark prompts"
            if selected
            else "Prompts of a rubric: longmark prompts --metrics rubric.yaml"
        )
        raise UnknownName("prompt", arguments.id, prompt_of, hint)
    if arguments.out:
        names = [arguments.id] if arguments.id else list(prompt_of)
        to_folder(arguments.out, [book.get(prompt_of[name]) for name in names])
        print(f"{counted(len(names), 'prompt')}: {arguments.out}")
        return 0
    if arguments.id:
        prompt = book.get(prompt_of[arguments.id])
        print(
            f"id      {prompt.id}\nhash    {prompt.hash}\ninputs  {', '.join(prompt.inputs) or 'none'}"
        )
        print(f"fields  {', '.join(sorted(prompt.fields)) or 'none'}\n\n{prompt.text.strip()}")
        return 0
    width = max(map(len, prompt_of))
    for prompt in map(book.get, prompt_of.values()):
        mark = "  replaced" if prompt.hash != prompt_of[prompt.id].hash else ""
        print(f"{prompt.id:{width}}  {prompt.hash}  {', '.join(prompt.inputs)}{mark}")
    return 0


def cache(arguments: argparse.Namespace) -> int:
    with closing(open_cache(arguments.cache)) as store:
        if arguments.action == "clear":
            models = [line.model for line in store.lines()]
            if arguments.model is not None and arguments.model not in models:
                raise UnknownName(
                    "model in the cache", arguments.model, models, "See: longmark cache"
                )
            count, attempts = store.clear(arguments.model)
            print(f"{counted(count, 'stored call')} deleted from {store.path}")
            print(f"{counted(attempts, 'attempt')} deleted from its ledger")
            return 0
        if arguments.action == "compact":
            before, after = ledgers.compact(store)
            print(f"{counted(before, 'line')} of the ledger of {store.path} folded into {after:,}")
            return 0
        if arguments.action == "ledger":
            return _ledger(store, arguments)
        print(store.path)
        for line in store.lines():
            print(
                f"{line.replies:>9,} {line.kind} replies  {line.size / 1e6:9,.1f} MB  {one_line(line.model)}"
            )
        rows, size = store.ledger_size()
        if rows:
            hint = "(see: longmark cache ledger, longmark cache compact)"
            print(f"{rows:>9,} ledger lines  {size / 1e6:9,.1f} MB  {hint}")
        return 0


def copy_cache(arguments: argparse.Namespace) -> int:
    """Copies one call cache into another."""
    with closing(open_cache(arguments.target)) as store:
        copied = store.take_from(cache_path(arguments.source))
        replies = counted(copied.replies, "stored reply", "stored replies")
        print(f"{replies} and {counted(copied.attempts, 'attempt')} copied into {store.path}")
        if copied.shares:
            print(f"Copied what {counted(copied.shares, 'session')} spent of the budgets of groups")
        if copied.others:
            print(f"{counted(copied.others, 'call')} had another reply there, which stays")
    return 0


def _ledger(store: CallCache, arguments: argparse.Namespace) -> int:
    """Prints what a run's attempts cost, by model, or what those of all runs cost."""
    run = arguments.run
    notes = [
        "Unknown: sent, and no reply was read; it may have been billed, with the most that is shown."
    ]
    if run is None:
        lines, title = ledgers.by_run(store), "run"
    else:
        manifest = (
            read_object(run / "manifest.json", "name a run folder")
            if (run / "manifest.json").is_file()
            else {}
        )
        sessions, keys = manifest.get("sessions"), None
        tokens = (
            [str(session.get("ledger")) for session in sessions if isinstance(session, dict)]
            if sessions
            else []
        )
        try:
            keys, verification = finish(lambda: needed(run, store.path, _given(arguments)))
            if unknown := len(verification.findings):
                notes.append(
                    f"{counted(unknown, 'row')} could not be computed again: see longmark verify {run}"
                )
        except UserError as error:
            notes.append(f"What its rows needed is not known: {error}")
        lines, title = (
            ledgers.by_model(store, ledgers.sessions_of(store, run, tokens), keys),
            "model",
        )
    columns = [title, "attempts", "answered", "paid", "unknown", "at most", "in flight", "at most"]
    cells: list[list[str | int]] = []
    for line in lines:
        money = (
            cost(line.paid),
            line.unknown,
            cost(line.unknown_usd),
            line.in_flight,
            cost(line.in_flight_usd),
        )
        cells.append([one_line(line.name) or "-", line.attempts, line.answered, *money])
    if run is not None:
        columns += ["needed", "their cost", "paid elsewhere"]
        for row, line in zip(cells, lines, strict=True):
            row += (
                ["-"] * 3
                if line.needed is None
                else [line.needed, cost(line.needed_usd), line.elsewhere or 0]
            )
    texts = [[f"{cell:,}" if isinstance(cell, int) else cell for cell in row] for row in cells]
    print(tabulated(texts, columns, "plain", [False, *(True for _ in columns[1:])]))
    print("", *notes, sep="\n")
    return 0


def report(arguments: argparse.Namespace) -> int:
    bounds, files = bounds_of(arguments.bounds), outputs_of(arguments, arguments.runs)
    by, checks, changes = split(arguments.by), list[Checked](), list[outputs.Change]()
    if arguments.base and len(arguments.runs) > 1:
        raise UserError("--base: give one run to compare with it; longmark compare takes several")
    base.check(arguments, arguments.runs[0])
    cluster = cluster_of(arguments.cluster, arguments.runs)
    if arguments.fail_under:  # a wrong gate is refused before the page is written
        counts = summarise(
            sources_of(arguments.runs), cluster, bounds, by, limits_of(arguments.fail_under)
        )
        ends = {name: (fact.lo, fact.hi) for name, fact in counts.facts.items()}
        gates = gates_of(arguments.fail_under, counts.metrics, ends, canonical=canonical)
        refuse_unknown_systems(gates, (cell.system for cell in counts.cells))
        tell_cautions(gates, built_in(counts.metrics))
        checks = check_gates(gates, counts, arguments.max_unscored)
    corrected = _corrected(arguments, cluster)
    summary = write_report(
        arguments.runs, arguments.out, cluster=cluster, bounds=bounds, by=by, corrected=corrected
    )
    print(f"Report: {arguments.out}")
    if arguments.base:
        changes, against = base.changes(arguments, arguments.runs[0], cluster)
        checks += against
    for check in checks:
        print(check.line)
    code = UNDER if any(not check.met for check in checks) else 0
    if any(files.values()):
        rows = outputs.read(arguments.runs, cluster, bounds, by)
        about = (arguments.out.stem, code, checks, rows)
        outputs.write(
            outputs.Outcome("report", *about, notices=summary.notices, changes=changes), files
        )
    return code


def _corrected(arguments: argparse.Namespace, cluster: str) -> Section | None:
    """What --labels says of the runs' means, which is also printed."""
    if (options := corrections_of(arguments)) is None:
        return None
    needs_stats("report --labels")
    from rich.console import Console

    from longmark.scores.paired import BY_EACH

    corrections = plugins.required("corrections", "labels", "report --labels")
    section: Section = corrections.section(
        corrections.correct_runs(
            arguments.runs, arguments.labels, by=BY_EACH, cluster=cluster, **options
        )
    )
    print(f"{section.title}. {section.says}")
    print_table(section.tables[0], Console())
    return section


def verify(arguments: argparse.Namespace) -> int:
    inside = arguments.run / "certificate.json"
    path = inside if inside.is_file() else arguments.run
    for point in plugins.installed("certificates").values():
        if (certificates := plugins.loaded(point)).is_certificate(path):
            return int(certificates.verify(path, arguments.signers, trusting(arguments)))
    if arguments.signers is not None:
        raise UserError("--signers is for a certificate of `longmark certify`")
    with opened(arguments.run, cache_path(arguments.cache), arguments.max_bundle_bytes) as (
        folder,
        store,
    ):
        verification = finish(lambda: verified(folder, store, _given(arguments)))
    return _verification(verification)


def _given(arguments: argparse.Namespace) -> Given:
    return Given(split(arguments.metrics), arguments.embedder)


def export(arguments: argparse.Namespace) -> int:
    """Packs a run, and writes its graphs and its scores for other tools."""
    if not arguments.bundle and not arguments.graphs and not arguments.to:
        raise UserError(
            "there is nothing to write: add --bundle FILE.zip, --graphs DIR or --to langfuse|otel"
        )
    if bool(arguments.to) != bool(arguments.out):
        raise UserError("--to and --out belong together: --to langfuse --out scores.jsonl")
    if arguments.to:
        count, left_out = write_scores(arguments.run, arguments.to, arguments.out)
        unscored = f"; {counted(left_out, 'unscored row')} left out" if left_out else ""
        print(
            f"Scores: {arguments.out} ({counted(count, 'row')} for {arguments.to}{unscored}). Nothing was sent."
        )
    if arguments.graphs:
        count, damaged = write_graphs(arguments.run, arguments.graphs)
        for line in damaged:
            print(f"longmark: {line}", file=sys.stderr)
        print(
            f"Graphs: {arguments.graphs} ({counted(count, 'graph')}, each as JSON and as GraphML)"
        )
    return _bundle(arguments) if arguments.bundle else 0


def _bundle(arguments: argparse.Namespace) -> int:
    path = cache_path(arguments.cache)
    verification = finish(
        lambda: exported(arguments.run, path, arguments.bundle, _given(arguments))
    )
    code = _verification(verification)
    print(f"Bundle: {arguments.bundle} (check it: longmark verify {arguments.bundle})")
    return code


_SHOWN = 20  # rows that are listed


def _verification(verification: Verification) -> int:
    for line in verification.changed:
        print(f"changed since the run: {line.strip()}")
    findings = sorted(verification.findings, key=lambda finding: not finding.differs)
    for finding in findings[:_SHOWN]:
        outcome = "differs" if finding.differs else "not verifiable"
        print(f"{outcome}: {finding.row.metric} of {finding.row.example_id}: {finding.why}")
    if len(findings) > _SHOWN:
        print(f"… and {len(findings) - _SHOWN:,} more")
    differ = sum(finding.differs for finding in findings)
    parts = [
        f"{verification.verified:,} of {counted(verification.rows, 'row')} verified",
        f"{differ:,} differ",
    ]
    parts.append(f"{len(findings) - differ:,} not verifiable")
    parts += (
        [f"{verification.without_reply:,} had no reply to verify"]
        if verification.without_reply
        else []
    )
    parts += (
        [f"{counted(verification.missing, 'row')} missing from rows.jsonl"]
        if verification.missing
        else []
    )
    print(" · ".join(parts))
    return 0 if verification.ok else UNDER
