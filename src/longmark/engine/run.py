"""`longmark.run`: examples x metrics -> rows, in a folder that can be gone on with at any time.

    result = longmark.run("answers.jsonl", metrics="ccrs", judges="embedded", out="runs/first")
    for row in result.rows(): ...

A run that was killed, stopped or ran out of budget is continued by the same call: rows that are there are kept, calls
that were paid are in the cache.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from longmark.domain import load
from longmark.engine.session import CONCURRENCY, Options, RunResult, execute
from longmark.engine.settings import Settings, check, choose, every_prompt, parameters
from longmark.engine.source import ExampleSource
from longmark.errors import UserError
from longmark.home import home
from longmark.models.budget import Budget
from longmark.models.cache import CallCache
from longmark.models.registry import ModelNames, Name, Registry
from longmark.prompts import PromptBook, from_folder

T = TypeVar("T")


def run(
    examples: ExampleSource,
    metrics: Sequence[str] | str,
    *,
    out: str | Path,
    judges: Sequence[Name] | str = (),
    generator: Name | None = None,
    embedder: Name | None = None,
    reranker: Name | None = None,
    lm: Name | None = None,
    params: Mapping[str, Any] | None = None,
    scoring: str = "text",
    seed: int = 0,
    prompts: str | Path | None = None,
    domain: str | Path | None = None,
    cache: str | Path | None = None,
    timeout: float | None = None,
    max_reply_bytes: int | None = None,
    limit: int | None = None,
    mapping: Mapping[str, str] | None = None,
    skip_bad: bool = False,
    concurrency: int = CONCURRENCY,
    max_calls: int | None = None,
    max_tokens: int | None = None,
    max_usd: float | None = None,
    retry: Collection[str] = (),
    quiet: bool = True,
) -> RunResult:
    """Marks examples and returns when every example has a row for every metric, or the budget is spent.

    examples: a file, or Examples, or records (dicts) as a file would hold them. metrics, models (by name, or a backend
    itself), params (`METRIC.NAME` -> value), scoring, seed, prompts and domain are as on the command line, and fixed
    for the folder `out`. Works inside a running event loop too (a notebook): it then runs in a thread of its own, and
    the caller waits. Errors: `errors.UserError` and its kinds, all of them before any call.
    """
    if timeout is not None and not (isinstance(timeout, int | float) and timeout > 0):
        raise UserError(f"timeout: expected a number of seconds above 0, found {timeout!r}")
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise UserError(f"seed: expected a whole number, found {seed!r}")
    call_cache = open_cache(cache)
    try:
        settings = make_settings(
            [metrics] if isinstance(metrics, str) else metrics,
            Registry(call_cache, timeout, max_reply_bytes),
            ModelNames([judges] if isinstance(judges, str) else judges, generator, embedder, reranker, lm),
            params=params or {},
            scoring=scoring,
            seed=seed,
            prompts=Path(prompts) if prompts else None,
            domain=Path(domain) if domain else None,
        )
        options = Options(
            limit=limit,
            mapping=mapping or {},
            skip_bad=skip_bad,
            concurrency=concurrency,
            budget=Budget(max_calls, max_tokens, max_usd),
            retry=retry,
            quiet=quiet,
        )
        return finish(lambda: execute(examples, settings, Path(out), call_cache, options))
    finally:
        call_cache.close()


def open_cache(path: str | Path | None) -> CallCache:
    """The call cache at a path, or where it usually is: `calls.sqlite` in longmark's home."""
    return CallCache(Path(path).expanduser() if path else home() / "calls.sqlite")


def make_settings(
    names: Sequence[str],
    registry: Registry,
    models: ModelNames,
    *,
    params: Mapping[str, Any],
    scoring: str,
    seed: int,
    prompts: Path | None,
    domain: Path | None = None,
) -> Settings:
    """The settings of a run, checked: names of metrics first, then parameters, prompts, models and what they can do."""
    about = load(domain)
    selected = choose([name for comma_separated in names for name in comma_separated.split(",")], about)
    given = parameters(selected, params)
    book = from_folder(prompts, every_prompt()) if prompts else PromptBook()
    called = {role for chosen in selected for role in chosen.metric.models}
    settings = Settings(selected, registry.backends(models, called), given, book, scoring, seed, about)
    check(settings)
    return settings


def finish(work: Callable[[], Awaitable[T]]) -> T:
    """Runs a coroutine to its end, in a thread of its own where this thread's event loop is running already."""

    async def main() -> T:
        return await work()

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        pass
    else:
        return _in_thread(main)
    try:
        return asyncio.run(main())
    except asyncio.CancelledError:  # by the second Ctrl-C
        raise KeyboardInterrupt from None


def _in_thread(main: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Runs a coroutine to its end in a thread of its own; a Ctrl-C here ends it there first."""
    result: list[T] = []
    error: list[BaseException] = []
    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[T]]] = []
    ended = threading.Event()  # not thread.join(): Python 3.11 takes a thread for ended once a Ctrl-C breaks into it

    async def noted() -> T:
        loop = asyncio.get_running_loop()
        task = loop.create_task(main())
        running.append((loop, task))
        return await task

    def in_thread() -> None:
        try:
            result.append(asyncio.run(noted()))
        except BaseException as raised:  # raised again in the caller's thread
            error.append(raised)
        finally:
            ended.set()

    threading.Thread(target=in_thread, name="longmark.run").start()
    try:
        ended.wait()
    except BaseException:
        for loop, task in running:
            with suppress(RuntimeError):  # it has just ended
                loop.call_soon_threadsafe(task.cancel)
        ended.wait()
        raise
    if error:
        raise error[0]
    return result[0]
