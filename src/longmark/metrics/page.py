"""The page of a metric from its docstring and its declaration: for `longmark metrics NAME` and docs/metrics.md."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any, Literal, get_args, get_origin, get_type_hints

from longmark import plugins
from longmark.errors import UserError
from longmark.metric import SCORED, Metric, ScoreSpec
from longmark.metrics import Selected, docstring, load, names, select
from longmark.metrics._parameters import judging_kinds
from longmark.records.metric_name import written


def listing() -> str:
    """One line for each score: full name, range, the first paragraph of the metric's docstring. After ours come the
    metrics of installed packages, with their origin."""
    lines = []
    for name in names():
        title = docstring(name).split("\n\n")[0].replace("\n", " ")
        lines += [
            (score, bounds(spec), title) for score, spec in load(name).published(name).items()
        ]
    for name, point in plugins.installed("metrics").items():
        try:
            (chosen,) = select([name])
        except UserError as error:
            lines.append((name, "", f"cannot be used: {error}"))
        else:
            title = chosen.doc.split("\n\n")[0].replace("\n", " ") + f" ({plugins.origin(point)})"
            lines += [(score, bounds(spec), title) for score, spec in chosen.scores.items()]
    width = max(len(line[0]) for line in lines)
    middle = max(len(line[1]) for line in lines)
    return "\n".join(
        f"{name:{width}}  {bounded:{middle}}  {title}" for name, bounded, title in lines
    )


def page(name: str) -> str:
    """The page of the metric (or the metrics) that a name selects. UnknownName for an unknown name."""
    return "\n\n\n".join(map(_page, select([name])))


def _page(chosen: Selected) -> str:
    metric_facts = facts(chosen.name, chosen.metric)
    width = max(len(label) for label, _ in metric_facts)
    table = "\n".join(f"{label:{width}}  {fact}" for label, fact in metric_facts)
    texts = [chosen.doc, *_of_family(chosen.name)]
    return "\n\n".join((f"{chosen.name}\n{'=' * len(chosen.name)}", *texts, table))


def _of_family(name: str) -> list[str]:
    """What the docstring of the family says of all of its metrics, for a metric of longmark's that is in one."""
    family = name.partition(".")[0]
    if name == family or name not in names():
        return []
    _, _, text = docstring(f"{family}.__init__").partition("\n\n")
    return [f"All of {family}:\n\n{text}"] if text else []


def facts(name: str, metric: Metric) -> list[tuple[str, str]]:
    """The declaration of a metric as (label, fact): needs, each score's range and direction, models, scoring, prompts,
    parameters."""
    rows = [
        (
            "needs",
            ", ".join(metric.needs) if isinstance(metric.needs, tuple) else "as each score says",
        ),
        *(
            (score, _of_score(metric, score[len(name) + 1 :], spec))
            for score, spec in metric.published(name).items()
        ),
        ("models", ", ".join(metric.models) or "none: computed offline"),
    ]
    if metric.judged:
        rows.append(("scoring", "text, expected"))
    if any(prompt.use == "reason" for prompt in metric.prompts):
        rows.append(("reasons", "before the score, or with expected after it (--reasons)"))
    if metric.prompts:
        rows.append(("prompts", ", ".join(prompt.id for prompt in metric.prompts)))
    if metric.pairs:
        rows.append(("runs on", "pairs of answers"))
    else:
        rows.append(("--turns", ", ".join(metric.turns)))
    if metric.variants:
        rows.append(("runs on", "variants of questions"))
    kinds = get_type_hints(metric.params)
    rows += [
        (f"@{field.name}", _of_param(field, kinds[field.name]))
        for field in dataclasses.fields(metric.params)
    ]
    if judging_names := [f"@{name}" for name in judging_kinds(metric) if name not in kinds]:
        rows.append(("for it alone", ", ".join(judging_names)))
    return rows


def _of_score(metric: Metric, part: str, spec: ScoreSpec) -> str:
    needs = "" if isinstance(metric.needs, tuple) else f"; needs {', '.join(metric.needs_of(part))}"
    return f"{bounds(spec)}, {direction(spec)}{needs}"


def _of_param(field: dataclasses.Field[Any], kind: Any) -> str:
    published = field.metadata.get("published")
    paper = "" if published is None else f", --as-published {written(published)}"
    choices = (
        " or ".join(get_args(kind))
        if get_origin(kind) is Literal
        else getattr(kind, "__name__", str(kind))
    )
    return f"{choices}, default {written(field.default)}{paper}"


def as_published(name: str | None = None) -> str:
    """What `--as-published` selects: the names, with parameters, of the metrics that a name selects, or of all, as far
    as their papers' parameters are not the defaults. UnknownName for an unknown name."""
    chosen = select([name] if name else names(), as_published=True)
    return "\n".join(selection.name for selection in chosen if selection.suffix)


def silence() -> str:
    """A Markdown table of what each score gives an answer that says nothing: scores with the same outcomes share a row,
    and a name stands for all scores under it."""
    outcomes: dict[str, tuple[str, ...]] = {}
    for name in names():
        metric = load(name)
        for score in metric.published(name):
            says = metric.silence_of(score[len(name) + 1 :])
            outcomes[score] = tuple(map(_outcome, (says.empty, says.refusal, says.claimless)))
    rows: dict[tuple[str, ...], list[str]] = {}
    for score, cells in outcomes.items():
        name = next(prefix for prefix in _prefixes(score) if _agree(prefix, outcomes))
        if name not in rows.setdefault(cells, []):
            rows[cells].append(name)
    head = ("empty answer", "refusal", "answer without a claim", "metrics")
    lines = [f"| {' | '.join(head)} |", "|---|---|---|---|"]
    for cells, members in rows.items():
        quoted = ", ".join(f"`{name}`" for name in members)
        lines.append(f"| {' | '.join(cells)} | {quoted} |")
    return "\n".join(lines)


def _prefixes(score: str) -> list[str]:
    """`a`, `a.b`, `a.b.c` of the score a.b.c."""
    parts = score.split(".")
    return [".".join(parts[: count + 1]) for count in range(len(parts))]


def _agree(prefix: str, outcomes: Mapping[str, tuple[str, ...]]) -> bool:
    """Whether all scores under a name have the same outcomes."""
    different = {cells for score, cells in outcomes.items() if f"{score}.".startswith(f"{prefix}.")}
    return len(different) == 1


def _outcome(outcome: float | str) -> str:
    if outcome == SCORED:
        return "scored"
    if isinstance(outcome, str):
        return outcome
    return f"{outcome:g}"


def bounds(spec: ScoreSpec) -> str:
    """`[0, 1]`; no limit is infinity."""
    low, high = spec.bounds
    return (
        ("(-inf" if low is None else f"[{low:g}")
        + ", "
        + ("inf)" if high is None else f"{high:g}]")
    )


def direction(spec: ScoreSpec) -> str:
    """Which direction is better, in words."""
    if spec.higher_is_better is None:
        return "neither direction is better"
    return "higher is better" if spec.higher_is_better else "lower is better"
