"""The verb `longmark batches`: what was submitted and is not used up yet; fetches results, cancels batches.

Exit codes as for every verb; 4: a batch has not ended, or its vendor gave an error.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from longmark.cli.arguments import NO_VALUE
from longmark.cli.trust import trusting
from longmark.contrib.scale.batches.batch_vendor import BatchVendor
from longmark.contrib.scale.batches.batcher import Batcher
from longmark.contrib.scale.batches.journal import Batch
from longmark.contrib.scale.batches.vendors import vendor_of
from longmark.engine.run import finish, open_cache
from longmark.errors import LongmarkError, UnknownName, UserError
from longmark.models.batching import Batching
from longmark.models.cache import CallCache
from longmark.models.client import Client
from longmark.models.registry import Registry
from longmark.progress import counted
from longmark.report.tables import Column, Table, as_text

_OPEN = ("sending", "running")
_HEADS = (
    "batch",
    "state",
    "model",
    "calls",
    "results",
    "unknown",
    "created",
    "ends within",
    "vendor's id",
)


def batches(arguments: argparse.Namespace) -> int:
    with _opened(arguments) as (batcher, _cache):
        rows = [_row(batcher, batch) for batch in batcher.journal.batches()]
        print(
            as_text(Table("batches", "Batches", tuple(map(Column, _HEADS)), tuple(rows)))
            if rows
            else "No batches."
        )
    return 0


def _row(batcher: Batcher, batch: Batch) -> tuple[Any, ...]:
    _waiting, results, unknown = batcher.journal.counts(batch.id)
    left = (batch.created + batch.window * 3600 - time.time()) / 3600
    ends = f"{max(0.0, left):.1f} h" if batch.state in _OPEN else ""
    state = (
        "unknown"
        if batch.state == "sending" or (unknown and batch.state != "lost")
        else batch.state
    )
    created = time.strftime("%Y-%m-%d %H:%M", time.localtime(batch.created))
    return (
        batch.id,
        state,
        batch.model,
        batch.calls,
        results,
        unknown,
        created,
        ends,
        batch.vendor_id or "",
    )


def fetch(arguments: argparse.Namespace) -> int:
    async def fetch_batch(batcher: Batcher, batch: Batch, vendor: BatchVendor) -> str:
        seen = await batcher.tracker.fetch(vendor, batch.id, wait=False)
        _waiting, results, unknown = batcher.journal.counts(batch.id)
        lost = f", {unknown:,} unknown" if unknown else ""
        if seen is None:
            left = batcher.journal.batch(batch.id) is not None
            return f"was never submitted; {'its file could not be deleted now' if left else 'forgotten'}"
        return f"{seen.state}: {counted(results, 'result')}{lost}"

    return _each(arguments, fetch_batch, "prepared", *_OPEN)


def cancel(arguments: argparse.Namespace) -> int:
    async def cancel_batch(_batcher: Batcher, batch: Batch, vendor: BatchVendor) -> str:
        if batch.vendor_id is None:
            raise UserError("its vendor's id is not known yet: longmark batches fetch looks for it")
        await vendor.cancel(batch.vendor_id)
        return "cancelled; longmark batches fetch stores what was finished"

    return _each(arguments, cancel_batch, *_OPEN)


def _each(arguments: argparse.Namespace, work: Any, *states: str) -> int:
    """Does something with each batch that was named, or with all in these states. The exit code."""
    failed = False
    with _opened(arguments) as (batcher, cache):
        batch_of = {batch.id: batch for batch in batcher.journal.batches()}
        for id in arguments.ids:
            if id not in batch_of:
                raise UnknownName(
                    "batch", id, batch_of, f"Looked in {cache.path}; see: longmark batches"
                )
        chosen = arguments.ids or [batch.id for batch in batch_of.values() if batch.state in states]
        registry = Registry(cache, config=arguments.config, trust=trusting(arguments))

        async def line_of(batch: Batch) -> str:
            model = registry.open("judge", batch.model)
            vendor = vendor_of(model)
            if vendor is None or model.identity != batch.identity:
                raise UserError(f"{batch.model} now names another model, or is sent other settings")
            try:
                return str(await work(batcher, batch, vendor))
            finally:
                await model.close()

        for id in chosen:
            batch = batch_of[id]
            try:
                print(f"{id}: {finish(lambda batch=batch: line_of(batch))}")  # type: ignore[misc]
            except LongmarkError as error:
                print(f"{id}: {error}", file=sys.stderr)
                failed = True
    if not chosen:
        print("No batch is open.")
    return NO_VALUE if failed else 0


@contextmanager
def _opened(arguments: argparse.Namespace) -> Iterator[tuple[Batcher, CallCache]]:
    with closing(open_cache(arguments.cache)) as cache:
        batcher = Client(
            cache, batching=Batching(True, keep_files=getattr(arguments, "keep_files", False))
        ).batches
        assert isinstance(batcher, Batcher)  # this package's own, as `longmark.batches` names it
        try:
            yield batcher, cache
        finally:
            batcher.close()
