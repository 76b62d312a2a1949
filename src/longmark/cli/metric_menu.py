"""Which metrics a file allows, by what they take: `longmark init` writes them down, and `longmark run` without metrics
names them."""

from __future__ import annotations

import argparse
import math
import shlex
from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, fields
from functools import partial
from textwrap import shorten
from typing import TYPE_CHECKING, Any

from longmark.cli.arguments import reading
from longmark.cli.first_look import by_proposal, first_look
from longmark.engine.look import Allowed, Look
from longmark.errors import UserError
from longmark.progress import counted
from longmark.records.files import one_line
from longmark.records.system_columns import run_names
from longmark.report.format import listed

if TYPE_CHECKING:
    from longmark.engine.estimate import MetricEstimate

_REASON = 90  # characters of why a metric cannot be used
_PLACE = (
    "judge@http://localhost:8000/v1"  # stands for every model in the dry run, which sends nothing
)
_ROLES: dict[str, Any] = dict.fromkeys(("generator", "embedder", "reranker", "lm"), _PLACE)
_SHORT_REFERENCE = 10  # words of the shortest reference, above which an answer is long
_OF_WORDS = (
    "counts what a long answer shares with its reference; classic.rouge_l is the baseline for that"
)
_FOR_SHORT_ANSWERS = {
    "climaqa.exact_match": "is for references of a few words; these have {words} or more",
    "classic.bleu": _OF_WORDS,
    "classic.chrf": _OF_WORDS,
    "classic.rouge_1": _OF_WORDS,
    "classic.rouge_2": _OF_WORDS,
}
"""Metric -> why it is not proposed where the references are long."""
_FAMILIES = ("citations", "ragchecker", "nuggets", "comprehensiveness", "ccrs", "score", "criteria")
"""Families that are made for long answers, in the order in which they are shown; the others follow, classic last."""
_JUDGED_EXAMPLE = ("citations", "ccrs.information_recall", "ccrs.contextual_coherence")
"""What a command with a judge proposes, of those that a file allows: few calls, and what most people ask first."""
_CHECKED_EXAMPLE = ("citations",)
"""What the claim checker decides without a judge: the claims are the sentences that cite."""
_PROMPT_TOKENS = 350  # of a call beside the example's texts, about, with those of the reply
_CHARACTERS_A_TOKEN = 4
_TOKENS_A_SECOND = 35  # docs/models.md, Resources


@dataclass(frozen=True, slots=True)
class MetricMenu:
    """The metrics with all that they need, those for long answers first. free: without a model; asking: with models that
    the command names; loading: with a model that they load themselves; costs: name -> what is expected on the first
    examples; unfit: name -> why a metric is not for this file, or not without another option."""

    free: tuple[Allowed, ...]
    asking: tuple[Allowed, ...]
    loading: tuple[Allowed, ...]
    costs: dict[str, MetricEstimate]
    unfit: dict[str, str]


def menu_of(arguments: argparse.Namespace, seen: Look, priced: int) -> MetricMenu:
    """priced: the examples that the dry run reads; 0: there is none, and the costs are empty."""
    costs, unfit = _costs(arguments, seen, priced)
    allowed = [
        metric for metric in long_answers_first(seen) if metric.count and metric.name in costs
    ]
    loading = [metric for metric in allowed if _loads_a_model(metric)]
    words = _fewest_words(seen)
    if words > _SHORT_REFERENCE:
        short = {
            name: why.format(words=words)
            for name, why in _FOR_SHORT_ANSWERS.items()
            if name in costs
        }
        unfit = {**short, **unfit}
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
        for metric in long_answers_first(seen)
        if metric.count
        and not metric.metric.models
        and not _loads_a_model(metric)
        and (short or metric.name not in _FOR_SHORT_ANSWERS)
    ]


def metrics_with_a_judge(seen: Look) -> list[str]:
    """A few that a file allows and that a judge decides."""
    return [
        metric.name
        for metric in long_answers_first(seen)
        if metric.count and metric.calls and metric.name in _JUDGED_EXAMPLE
    ]


def is_uncited(metric: Allowed) -> bool:
    """Whether a metric is of citations, and the first answers have none."""
    return metric.name == "citations" and not metric.calls and bool(metric.metric.models)


def embedded_minutes(seen: Look, metrics: Sequence[str]) -> int:
    """About how long the embedded judge takes for these metrics on two cores, from the lengths of the first examples."""
    texts = 0
    for _, example in seen.examples:
        fields = example.model_dump(
            include={"question", "answer", "contexts", "references", "a", "b"}
        )
        texts += sum(len(str(value)) for value in fields.values())
    tokens = _PROMPT_TOKENS + texts / max(1, len(seen.examples)) / _CHARACTERS_A_TOKEN
    calls = sum(metric.calls * metric.count for metric in seen.metrics if metric.name in metrics)
    return math.ceil(calls * tokens / _TOKENS_A_SECOND / 60)


def long_answers_first(seen: Look) -> list[Allowed]:
    """The metrics in the order in which somebody with long answers asks for them."""

    def place(metric: Allowed) -> tuple[int, str]:
        family = metric.name.partition(".")[0]
        if family in _FAMILIES:
            return _FAMILIES.index(family), metric.name
        return len(_FAMILIES) + (family == "classic"), metric.name

    return sorted(seen.metrics, key=place)


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
    reading_options = {**reading(arguments), "limit": priced or None, "skip_bad": True}
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
                if not (metric.metric.models and priced):
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
    """The error of a run that names no metrics: those that its file allows, and commands to paste."""
    arguments = argparse.Namespace(**vars(arguments))  # which a proposal of columns changes
    seen, read_by_proposal = first_look(arguments)
    menu = menu_of(arguments, seen, 0)  # a dry run takes half a minute on long answers
    lines = ["no metrics are named: add --metrics NAME,…"]
    if read_by_proposal:
        lines.append(by_proposal(seen))
        lines += [f"  {field:<11} {path}" for field, path in seen.mapped.items()]
    if menu.free:
        names = ", ".join(metric.name for metric in menu.free)
        lines.append(f"Without a model, this file allows {names}.")
    judged = [metric for metric in menu.asking if "judge" in metric.metric.models and metric.calls]
    if judged:
        lines.append(
            "With a judge (--judge MODEL, or --judge embedded on this machine), with the most calls for one example "
            "(--dry-run says what a run would cost):"
        )
        by_calls = sorted(judged, key=lambda metric: metric.calls)
        width = max(len(metric.name) for metric in by_calls)
        lines += [
            f"  {metric.name:<{width}}  {counted(metric.calls, 'call')}" for metric in by_calls
        ]
    other_models = [metric.name for metric in menu.asking if "judge" not in metric.metric.models]
    if other_models:
        lines.append(
            f"With another model, as `longmark metrics NAME` says: {', '.join(other_models)}."
        )
    if not menu.free and not menu.asking:
        lines.append(f"No metric has all that it needs; see: longmark look {seen.name}")
    lines += commands(arguments, seen, [metric.name for metric in menu.free])
    return UserError("\n".join(lines))


def commands(arguments: argparse.Namespace, seen: Look, free: Sequence[str]) -> list[str]:
    """The commands that score a file as it was read: with a judge, then without a model."""
    lines = []
    if judged := metrics_with_a_judge(seen):
        lines += [
            "To score them with a judge (embedded runs on this machine and costs nothing: about "
            f"{counted(embedded_minutes(seen, judged), 'minute')} on two cores; of another the name at an endpoint, as "
            "my-model@http://localhost:8000/v1):",
            f"  {run_command(arguments, judged, ('--judge', 'embedded'))}",
        ]
    checked = [
        metric.name
        for metric in seen.metrics
        if metric.count and metric.name in _CHECKED_EXAMPLE and not is_uncited(metric)
    ]
    if checked:
        lines += [
            "To check claims without a judge (the built-in claim checker, on this machine; about two seconds for a claim "
            "and a passage):",
            f"  {run_command(arguments, checked, ('--checker', 'embedded'))}",
        ]
    if free:
        lines += ["To score them without a model:", f"  {run_command(arguments, free)}"]
    return lines


def a_run_for_each(arguments: argparse.Namespace, seen: Look) -> list[str]:
    """The commands that score each of several columns of answers into a run of its own, and compare the runs."""
    runs = []
    count = len(seen.answers)
    columns = listed(seen.answers)
    lines = [
        f"{columns} could hold the answers of {count} systems. To score each and compare them:"
    ]
    name_of_column = run_names(seen.answers)
    for column, name in name_of_column.items():
        run = f"runs/{name}"
        runs.append(run)
        mapping = dict(seen.proposed)
        mapping["answer"] = column
        own_run = argparse.Namespace(**vars(arguments))
        own_run.out = run
        own_run.map = list(arguments.map)
        for field, path in mapping.items():
            own_run.map.append(f"{field}={path}")
        seen_with_answers, _ = first_look(own_run)
        free = metrics_without_a_model(seen_with_answers)
        command = run_command(own_run, free)
        lines.append(f"  {command}")
    words = ["longmark", "compare", *runs]
    comparison = one_line(shlex.join(words))
    lines.append(f"  {comparison}")
    return lines


def run_command(
    arguments: argparse.Namespace, metrics: Sequence[str], options: Sequence[str] = ()
) -> str:
    """The command that scores a file as it was read."""
    words = ["longmark", "run", str(arguments.examples)]
    words += [word for mapped in arguments.map for word in ("--map", mapped)]
    words += ["--turns", arguments.turns] if arguments.turns != "last" else []
    words += ["--questions", str(arguments.questions)] if arguments.questions is not None else []
    words += ["--encoding", arguments.encoding] if arguments.encoding else []
    words += ["--metrics", ",".join(metrics), *options]
    run_folder = getattr(arguments, "out", None) or f"runs/{arguments.examples.stem}"
    return one_line(shlex.join([*words, "--out", str(run_folder)]))
