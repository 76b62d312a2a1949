"""Which metrics a file allows, by what they take: `longmark init` writes them down, and `longmark run` without metrics
names them."""

from __future__ import annotations

import argparse
import shlex
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from functools import partial
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from longmark.cli.arguments import reading
from longmark.engine.look import FIRST, Allowed, Look, look
from longmark.errors import UserError
from longmark.progress import counted
from longmark.records.files import one_line

if TYPE_CHECKING:
    from longmark.engine.estimate import MetricEstimate

_REASON = 90  # characters of why a metric cannot be used
_PLACE = (
    "judge@http://localhost:8000/v1"  # stands for every model in the dry run, which sends nothing
)
_ROLES: dict[str, Any] = dict.fromkeys(("generator", "embedder", "reranker", "lm"), _PLACE)
_SHORT_ANSWERS = "climaqa.exact_match"
_SHORT_REFERENCE = 10  # words of the shortest reference, from which it is left out
_PRICED = 20  # examples that the forecast of the message reads


@dataclass(frozen=True, slots=True)
class MetricMenu:
    """The metrics with all that they need. free: without a model; asking: with models that the command names; loading:
    with a model that they load themselves; costs: name -> what is expected on the first examples; unfit: name -> why a
    metric is not for this file, or not without another option."""

    free: tuple[Allowed, ...]
    asking: tuple[Allowed, ...]
    loading: tuple[Allowed, ...]
    costs: dict[str, MetricEstimate]
    unfit: dict[str, str]


def menu_of(arguments: argparse.Namespace, seen: Look, priced: int) -> MetricMenu:
    """priced: the examples that the dry run reads."""
    costs, unfit = _costs(arguments, seen, priced)
    allowed = [metric for metric in seen.metrics if metric.count and metric.name in costs]
    loading = [metric for metric in allowed if _loads_a_model(metric)]
    words = _fewest_words(seen)
    if words > _SHORT_REFERENCE and _SHORT_ANSWERS in costs:
        why = f"is for references of a few words; these have {words} or more"
        unfit = {_SHORT_ANSWERS: why, **unfit}
    usable = [metric for metric in allowed if metric not in loading and metric.name not in unfit]
    return MetricMenu(
        free=tuple(metric for metric in usable if not metric.metric.models),
        asking=tuple(metric for metric in usable if metric.metric.models),
        loading=tuple(loading),
        costs=costs,
        unfit=unfit,
    )


def metrics_without_a_model(seen: Look) -> list[str]:
    """Those that a file allows and that cost nothing."""
    short = _fewest_words(seen) <= _SHORT_REFERENCE
    return [
        metric.name
        for metric in seen.metrics
        if metric.count
        and not metric.metric.models
        and not _loads_a_model(metric)
        and (short or metric.name != _SHORT_ANSWERS)
    ]


def _loads_a_model(metric: Allowed) -> bool:
    return bool({"encoder", "checkpoint"} & {field.name for field in fields(metric.metric.params)})


def _fewest_words(seen: Look) -> int:
    """Of the references of the examples that were kept."""
    lengths = (
        len(" ".join(example.references).split())
        for _, example in seen.examples
        if example.references
    )
    return min(lengths, default=0)


def cost_of(estimate: MetricEstimate) -> str:
    expected = estimate.expected
    calls = counted(expected.calls, "call")
    prompt = f"{expected.prompt_tokens:,} prompt"
    return f"{calls}, {prompt} and {expected.completion_tokens:,} completion tokens"


def _costs(
    arguments: argparse.Namespace, seen: Look, priced: int
) -> tuple[dict[str, MetricEstimate], dict[str, str]]:
    """Metric -> what it takes on the first examples; and metric -> why it cannot be used as it is."""
    # imported here, because they load the engine and the models, and `longmark look` needs neither
    from longmark.engine.estimate import MetricEstimate, dry_run
    from longmark.engine.run import finish, make_settings, open_cache
    from longmark.engine.settings import RunOptions
    from longmark.models.registry import Registry

    costs: dict[str, MetricEstimate] = {}
    why_not: dict[str, str] = {}
    reading_options = {**reading(arguments), "limit": priced, "skip_bad": True}
    options = RunOptions(
        judges=[_PLACE], quiet=True, check_profiles=False, **_ROLES, **reading_options
    )
    with closing(open_cache(None)) as cache:
        for metric in seen.metrics:
            if not metric.count:
                continue
            try:
                settings = make_settings(
                    [metric.name],
                    Registry(cache, sends=False),
                    options,
                )
                if not metric.metric.models:
                    costs[metric.name] = MetricEstimate()
                    continue
                estimated = partial(dry_run, arguments.examples, settings, None, cache, options)
                costs[metric.name] = finish(estimated).total
            except UserError as error:
                why_not[metric.name] = shorten(
                    str(error),
                    _REASON,
                    placeholder=" …",
                )
    return costs, why_not


def without_metrics(arguments: argparse.Namespace) -> UserError:
    """The error of a run that names no metrics: those that its file allows, cheapest first, and a command."""
    options = reading(arguments)
    del options["skip_bad"]
    seen = look(
        arguments.examples,
        limit=options.pop("limit") or FIRST,
        **options,
    )
    menu = menu_of(arguments, seen, _PRICED)
    lines = ["no metrics are named: add --metrics NAME,…"]
    if menu.free:
        names = ", ".join(metric.name for metric in menu.free)
        lines.append(f"Without a model, this file allows {names}.")
    if menu.asking:
        first = f"the first {_PRICED} examples" if seen.read > _PRICED else "its examples"
        lines.append(f"With --judge MODEL (or what `longmark metrics NAME` says), for {first}:")
        by_calls = sorted(menu.asking, key=lambda metric: menu.costs[metric.name].expected.calls)
        width = max(len(metric.name) for metric in by_calls)
        lines += [
            f"  {metric.name:<{width}}  {cost_of(menu.costs[metric.name])}" for metric in by_calls
        ]
    used = menu.free or menu.asking[:1]
    if used:
        judge = () if menu.free else ("--judge", "MODEL")
        command = run_command(arguments, [metric.name for metric in used], judge)
        lines += ["For example:", f"  {command}"]
    else:
        lines.append(f"No metric has all that it needs; see: longmark look {seen.name}")
    return UserError("\n".join(lines))


def run_command(
    arguments: argparse.Namespace, metrics: Sequence[str], options: Sequence[str] = ()
) -> str:
    """The command that scores a file as it was read."""
    words = ["longmark", "run", str(arguments.examples)]
    words += [word for mapped in arguments.map for word in ("--map", mapped)]
    words += ["--metrics", ",".join(metrics), *options]
    run_folder = getattr(arguments, "out", None) or f"runs/{arguments.examples.stem}"
    return one_line(shlex.join([*words, "--out", str(run_folder)]))
