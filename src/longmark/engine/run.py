"""`longmark.run`: examples x metrics -> rows, in a resumable run folder.

    result = longmark.run("answers.jsonl", metrics="ccrs", judges="embedded", out="runs/first")
    for row in result.rows(): ...

The same call resumes a run that was killed, stopped or ran out of budget: existing rows and paid replies are kept.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from longmark.engine.default_checker import default_checker
from longmark.engine.remarks import absent_models, untried_languages
from longmark.engine.session import RunResult, execute
from longmark.engine.settings import (
    RunOptions,
    Settings,
    check,
    choose,
    every_prompt,
    replaces_text_alone,
)
from longmark.errors import UserError
from longmark.home import home
from longmark.judging import Judging
from longmark.keyword_values import checked_options
from longmark.metric import Metric
from longmark.metrics import Selected
from longmark.models.cache import CallCache
from longmark.models.handles import DEFAULT_DOMAIN, Backends
from longmark.models.registry import Registry
from longmark.models.stores import is_url
from longmark.models.trust import Trust
from longmark.options import named, with_keywords
from longmark.places import expanded
from longmark.prompts import PromptBook, from_folder, translation
from longmark.records.read import ExampleSource

if TYPE_CHECKING:
    from longmark.text.calibration import CheckerCalibration

T = TypeVar("T")


@with_keywords(RunOptions)
def run(
    examples: ExampleSource,
    metrics: Sequence[str | Metric] | str | Metric,
    *,
    out: str | Path,
    **options: Any,
) -> RunResult:
    """Scores examples. Returns when every example has a row for every metric, or when the budget is spent.

    examples: a file, or Examples, or records (dicts) as a file would hold them. metrics: names of metrics or families,
    files of rubrics or of metrics (`rubric.yaml`, `my_metric.py`), or declarations. out: the run folder. options: the
    fields of `RunOptions`, by keyword (`judges=`, `seed=`, `max_usd=`, ...). Works inside a running event loop too (a
    notebook): it then runs in a thread of its own, and the caller waits. Raises `errors.UserError` and its kinds, all
    of them before any call.
    """
    chosen = checked_options(RunOptions, options, "longmark.run")
    call_cache = open_cache(chosen.cache)
    try:
        trust = Trust(chosen.trust)
        registry = Registry(
            call_cache, chosen.timeout, chosen.max_reply_bytes, config=chosen.config, trust=trust
        )
        names = [metrics] if isinstance(metrics, str | Metric) else metrics
        settings = make_settings(names, registry, chosen, examples)
        return finish(lambda: execute(examples, settings, Path(out), call_cache, chosen))
    finally:
        call_cache.close()


def open_cache(path: str | Path | None) -> CallCache:
    """The call cache at a path, or where it usually is: `calls.sqlite` in longmark's home."""
    return CallCache(cache_path(path))


def cache_path(path: str | Path | None) -> Path | str:
    """The file of the call cache, or its URL: as given, or where it usually is."""
    if path and is_url(path):
        return str(path)
    return expanded(path) if path else home() / "calls.sqlite"


def make_settings(
    names: Sequence[str | Metric],
    registry: Registry,
    options: RunOptions,
    examples: ExampleSource | None = None,
) -> Settings:
    """The settings of a run, checked: names of metrics first, then parameters, prompts, models and what they can do.

    examples: what will be scored, by which a checker is chosen where none is named (`engine.default_checker`); None:
    none is chosen."""
    domain = None
    if options.domain is not None:
        from longmark.domain import load

        domain = load(options.domain)
    selected = choose(names, domain, as_published=options.as_published)
    if domain is None and (
        readers := [chosen.name for chosen in selected if chosen.metric.by_domain]
    ):
        from longmark.domain import named as named_domain

        named_domain(
            None,
            f"{' and '.join(readers)} look{'s' * (len(readers) == 1)} for what the questions' domain names",
        )
    book = PromptBook()
    if options.prompts:
        book = from_folder(Path(options.prompts), every_prompt(selected))
    called = {role for chosen in selected for role in chosen.metric.models}
    if (
        "checker" in called
        and options.prompt is None
        and (checker := default_checker(selected, options, examples)) is not None
    ):
        options = replace(options, checker=checker)
    if options.checker is not None or options.prompt is not None:
        from longmark.text.overlap import named_checker

        options = replace(options, checker=named_checker(options.checker, options.prompt))
    backends = registry.backends(options, called)
    if options.calibrate is not None:
        backends = replace(backends, calibration=_calibration(options, backends, selected))
    judging = Judging.of(options)
    by_text = options.as_published or replaces_text_alone(book, selected)
    settings = Settings(
        selected,
        backends,
        book,
        domain or DEFAULT_DOMAIN,
        judging.for_judges(() if by_text else backends.judges),
        options.comparison,
        options.turns,
    ).named_shortly()
    check(settings)
    for sentence in (
        *settings.departures(names),
        *absent_models(settings, options, examples),
        *untried_languages(settings, options, examples),
    ):
        options.tell(sentence)
    if options.prompts and translation(Path(options.prompts)):
        english = settings.own_prompts()
        if english:
            option = named("prompts", str(options.prompts))
            options.tell(f"{option}: not translated, and sent in English: {', '.join(english)}")
    return settings


def _calibration(
    options: RunOptions, backends: Backends, selected: Sequence[Selected]
) -> CheckerCalibration:
    """What --calibrate names. UserError without a checker, or for one that is asked several pairs in one call."""
    from longmark.text.calibration import CheckerCalibration, read_labels

    labels = read_labels(expanded(options.calibrate or ""))
    if backends.checker is None:
        raise UserError(
            f"{named('calibrate')}: there is no checker to calibrate: add {named('checker')}, and a metric "
            "that takes one"
        )
    if hasattr(backends.checker, "chat"):
        for chosen in (chosen for chosen in selected if "checker" in chosen.metric.models):
            if (
                getattr(chosen.params, "batch", 0) != 1
                and getattr(chosen.params, "relations", "") != "strongest"
            ):
                parameter = "batch=1" if hasattr(chosen.params, "batch") else "relations=strongest"
                raise UserError(
                    f"{named('calibrate')}: {backends.checker.name} gives probabilities only if it is asked one pair a "
                    f"call: name the metric {chosen.base}@{parameter}"
                )
    return CheckerCalibration(labels, options.tell)


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
    from concurrent.futures import ThreadPoolExecutor, wait

    running: list[tuple[asyncio.AbstractEventLoop, asyncio.Task[T]]] = []

    async def noted() -> T:
        loop = asyncio.get_running_loop()
        task = loop.create_task(main())
        running.append((loop, task))
        return await task

    executor = ThreadPoolExecutor(1, "longmark.run")
    ended = executor.submit(lambda: asyncio.run(noted()))
    executor.shutdown(wait=False)
    try:
        return ended.result()
    except BaseException:
        for loop, task in running:
            with suppress(RuntimeError):  # it has ended
                loop.call_soon_threadsafe(task.cancel)
        wait([ended])
        raise
