"""The verb `longmark cache`: what the call cache holds, and what its ledger says was paid."""

from __future__ import annotations

import argparse
from contextlib import closing

from longmark.cli.verify import named_code
from longmark.engine.run import cache_path, finish, open_cache
from longmark.engine.verify import needed
from longmark.errors import UnknownName, UserError
from longmark.models import ledger as ledgers
from longmark.models.cache import CallCache
from longmark.progress import cost, counted
from longmark.records.files import read_object
from longmark.report.tables import one_line, tabulated


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
        lines = ledgers.by_run(store)
        title = "run"
    else:
        manifest = (
            read_object(run / "manifest.json", "name a run folder")
            if (run / "manifest.json").is_file()
            else {}
        )
        sessions = manifest.get("sessions")
        keys = None
        tokens = (
            [str(session.get("ledger")) for session in sessions if isinstance(session, dict)]
            if sessions
            else []
        )
        try:
            keys, verification = finish(lambda: needed(run, store.path, named_code(arguments)))
            if unknown := len(verification.findings):
                notes.append(
                    f"{counted(unknown, 'row')} could not be computed again: see longmark verify {run}"
                )
        except UserError as error:
            notes.append(f"What its rows needed is not known: {error}")
        lines = ledgers.by_model(store, ledgers.sessions_of(store, run, tokens), keys)
        title = "model"
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
