"""What `compare` and `metrics-study` check before they use scores, and what a reader must know about them.

Were the scores made in one way? A difference of judges, prompts, parameters (scoring and temperature among them) or
versions can look like a difference between systems. Seeds may differ. The domain is in no signature: the manifests name
it, and it counts for metrics that fill prompts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from longmark.errors import UserError
from longmark.options import named
from longmark.records import Signature
from longmark.records.documents import REMEDY
from longmark.report.format import listed, share
from longmark.scores.files import shortest_names
from longmark.scores.paired import Scores

FEWEST_TESTED = 3
"""Common questions that a test needs."""
_NONE = "none"
_EXCLUDED = 0.05  # share of questions from which a notice counts them
_AGAIN = "repeat its `longmark run` command to score the missing rows"

_PLAIN = {"scoring": "scoring", "version": "version of the metric"}


def check_tests(alpha: float, level: float, draws: int | None) -> None:
    """UserError for a significance level, a confidence level or a number of permutations out of range."""
    if not 0 < alpha < 1:
        raise UserError(f"{named('alpha', alpha)}: expected a number between 0 and 1, such as 0.05")
    if not 0 < level < 1:
        raise UserError(f"{named('level', level)}: expected a number between 0 and 1, such as 0.95")
    if draws is not None and draws < 1:
        raise UserError(f"{named('draws', draws)}: expected a whole number from 1")


def check_scoring(
    scores: Scores, metrics: Sequence[str], allowed: bool, consequence: str, *, judges: bool = False
) -> tuple[str, ...]:
    """The differences in how the scores were made. UserError if there are any and they are not allowed. judges: the
    judge models may differ."""
    differing = tuple(
        line
        for line in differences(scores, metrics)
        if not judges or not line.startswith("judge model: ")
    )
    if differing and not allowed:
        lines = "\n".join(f"  {line}" for line in differing)
        raise UserError(
            f"the scores were made in different ways, so {consequence}:\n{lines}\n"
            f"Score them again with the same settings, or use {named('allow_different_judges', True)} to compare them "
            "anyway."
        )
    return differing


def differences(scores: Scores, metrics: Sequence[str]) -> tuple[str, ...]:
    """A line for each setting that differs: its values, the runs that have them, and the metrics."""
    names = shortest_names([manifest.folder for manifest in scores.manifests])
    metrics_by_line: dict[str, list[str]] = {}
    for metric in metrics:
        settings: dict[tuple[str, str], dict[str, dict[str, None]]] = {}
        used: dict[str, set[str]] = {}  # run -> its models
        for name, manifest, signatures in zip(
            names, scores.manifests, scores.signatures[metric], strict=True
        ):
            for signature in signatures:
                used.setdefault(name, set()).update(
                    model for its in signature.models.values() for model in its
                )
                for setting, model, value in _settings(signature, manifest.fixed.get("domain")):
                    settings.setdefault((setting, model), {}).setdefault(value, {})[name] = None
        for (setting, model), values in settings.items():
            having = {name for runs in values.values() for name in runs}
            # a run without the model differs by its models, which are a setting of their own
            may = (name for name, models in used.items() if not model or model in models)
            if runs_without := [name for name in may if name not in having]:
                values[_NONE] = dict.fromkeys(runs_without)
            if len(values) > 1:
                values_in_runs = "; ".join(
                    f"{value} in {_some(list(runs))}" for value, runs in values.items()
                )
                metrics_by_line.setdefault(f"{setting}: {values_in_runs}", []).append(metric)
    return tuple(
        f"{line} ({_some(metric_names)})" for line, metric_names in metrics_by_line.items()
    )


def _settings(signature: Signature, domain: Any) -> Iterator[tuple[str, str, str]]:
    """(setting, the model that it belongs to or "", value) of what a score depends on."""
    major = signature.version.partition(".")[
        0
    ]  # from 1.0.0 on, a changed score is another version of its metric
    yield "longmark", "", (signature.version if major in ("", "0") else f"{major}.x") or _NONE
    for role, names in signature.models.items():
        yield f"{role} model", "", " + ".join(sorted(names)) or _NONE
    for model, configured in signature.configured.items():
        yield from ((f"{name} of {model}", model, str(value)) for name, value in configured.items())
    for model, words in signature.settled.items():
        yield f"sent to {model}", model, ", ".join(words)
    for name, value in signature.params.items():
        yield _PLAIN.get(name, f"parameter {name}"), "", str(value)
    for prompt, digest in signature.prompts.items():
        yield f"prompt {prompt}", "", digest
    if signature.prompts and domain is not None:
        yield "domain", "", str(domain)


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")


def run_notices(scores: Scores, metrics: Sequence[str], differing: Sequence[str]) -> list[str]:
    """What a reader must know first, the most serious first. differing: what `differences` found."""
    notices = []
    if differing:
        notices.append(
            "The scores were made in different ways, so the differences below may come from the scoring and not from "
            "the systems. " + " · ".join(differing)
        )
    notices += [*scores.notices, *_unfinished(scores)]
    names = shortest_names([manifest.folder for manifest in scores.manifests])
    runs_of_seed: dict[int, dict[str, None]] = {}
    for metric in metrics:
        for name, signatures in zip(names, scores.signatures[metric], strict=True):
            for signature in signatures:
                runs_of_seed.setdefault(signature.seed, {})[name] = None
    if len(runs_of_seed) > 1:
        seeds = "; ".join(
            f"{seed} in {_some(list(runs_of_seed[seed]))}" for seed in sorted(runs_of_seed)
        )
        notices.append(f"The runs have different seeds ({seeds}).")
    return notices


def _unfinished(scores: Scores) -> Iterator[str]:
    """The runs with missing rows, whatever their manifests say, and those that are not finished by them."""
    missing = {run_rows.run: run_rows for run_rows in scores.missing}
    names = shortest_names([manifest.folder for manifest in scores.manifests])
    for run, (manifest, name) in enumerate(zip(scores.manifests, names, strict=True)):
        rows = missing.get(run)
        if rows is not None and rows.empty:
            yield f"The run {name} has no rows, so it is not compared; {_AGAIN}."
        elif manifest.data and not manifest.ended:
            rows_missing = f" ({rows.in_words()})" if rows else ""
            yield f"The run {name} is not finished; rows that do not exist yet count as unscored{rows_missing}."
        elif rows is not None:
            though = ", although its manifest says that it is finished" if manifest.ended else ""
            yield f"The run {name} has missing rows{though}: {rows.in_words()}. If rows.jsonl was cut off, {_AGAIN}."


def by_reason(metric_reasons: Iterable[tuple[str, str | None]]) -> list[str]:
    """A notice for each reason, with the metrics that have it. metric_reasons: metrics, each with its reason or None."""
    metrics: dict[str, list[str]] = {}
    for metric, why in metric_reasons:
        if why:
            metrics.setdefault(why, []).append(metric)
    return [
        f"{listed(of) if len(of) < 4 else f'{len(of)} metrics'}: {why}."
        for why, of in metrics.items()
    ]


def question_notices(
    scores: Scores,
    metrics: Sequence[str],
    places: Sequence[int],
    *,
    complete: bool = True,
    incomplete: bool = False,
) -> Iterator[str]:
    """Excluded questions, systems without a score, questions answered twice. complete: a question needs a score of
    every system, else of a pair; incomplete: no question is excluded."""
    names = [scores.systems[place] for place in places]
    excluded: dict[str, list[str]] = {}
    missing_counts = np.zeros(len(names), dtype=np.int64)
    for metric in metrics:
        present_scores = ~np.isnan(scores.matrix(metric)[:, list(places)])
        present = np.asarray(present_scores.any(axis=0))
        any_score = present_scores.any(axis=1)
        present_scores = present_scores[any_score]
        system_scores = present_scores[:, present].astype(np.int64)
        used = (
            system_scores.all(axis=1).sum() if complete else (system_scores.T @ system_scores).min()
        )
        n_excluded = len(present_scores) - int(used)
        total = len(present_scores)
        if n_excluded > _EXCLUDED * total and not incomplete:
            count = f"{n_excluded:,} of {total:,} ({share(n_excluded, total)})"
            excluded.setdefault(count, []).append(metric)
            missing_counts += (~present_scores).sum(axis=0) * present
        if absent := [name for name, scored in zip(names, present, strict=True) if not scored]:
            yield f"{metric}: no score of {listed(absent)}; the other systems are compared."
    repeated = (
        (metric, [name for name in names if scores.repeated.get((metric, name))])
        for metric in metrics
    )
    remark = "answered some questions more than once; their mean score counts once"
    yield from by_reason(
        (metric, f"{listed(answering)} {remark}" if answering else None)
        for metric, answering in repeated
    )
    if any(scores.repeated.values()):
        yield f"If several answers of a system to one question text are to different tasks, {REMEDY}."
    if excluded:
        why = (
            "because a system has no score"
            if complete
            else "for pairs with a system that has no score"
        )
        sparse = names[int(np.argmax(missing_counts))]
        up_to = "" if complete else "up to "
        counts = [f"{listed(of_count)} {up_to}{count}" for count, of_count in excluded.items()]
        yield f"Questions are excluded {why}: {'; '.join(counts)}. Most missing scores: {sparse}."
