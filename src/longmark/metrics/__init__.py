"""The metrics, one module each; a folder is a family. There is no other registry.

A module whose name begins with an underscore is not a metric: it belongs to the metrics in its folder. A family whose
scores come from one computation is one metric, in the `__init__.py` of its folder. A name selects everything under it:
`ccrs` a family, `score.readability` a metric with two scores, `score.readability.grade_level` one of them. Parameters
are part of the name: `classic.bleu@form=climaqa` (records/metric_name.py).

Metrics from outside the package are selected by a file, `rubric.yaml` (rubric.py) or `metric.py`, by the name of an
installed module, or by an entry point of the group `longmark.metrics`. A module has a declaration `METRIC`.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from longmark.errors import ModelError, NoScore, OverBudget, UnknownName, UserError
from longmark.metric import Metric, Score, ScoreSpec, full_name
from longmark.metric_sources import docstring as docstring
from longmark.metric_sources import names as names
from longmark.metrics._parameters import judging_kinds, not_default, parameters
from longmark.prompts import Prompt
from longmark.records.columns import NAMES
from longmark.records.expected import LISTED_AS
from longmark.records.metric_name import (
    base_of,
    in_slice,
    joined,
    parsed,
    settings_in,
    without_slice,
)
from longmark.records.values import found

if TYPE_CHECKING:
    from longmark.domain import Domain
    from longmark.models.handles import Models
    from longmark.records import Answered

_SEE = "See: longmark metrics"
_OF_A_FILE = (
    "The signature is of a rubric or a module of your own, which its file selects: write the file in place of the "
    "name, as in rubric.yaml|scoring:text"
)
_FIELDS = {
    "turns": "turns of a conversation",
    "answer": "answer (null)",
    "references": "reference answer",
    "base_answer": "base answer",
}  # in reasons


@dataclass(frozen=True)
class Selected:
    """A metric that was asked for. base: its name without parameters; params: its parameters; judging: fields of the
    run's `Judging` that differ for it; scores: full name -> declaration of those wanted, in the order of the metric's.
    """

    base: str
    metric: Metric
    scores: dict[str, ScoreSpec]
    params: Any
    judging: Mapping[str, Any] = field(default_factory=dict)

    @cached_property
    def suffix(self) -> str:
        """The parameters that are not at their defaults, as they end every name."""
        return joined("", {**not_default(self.params), **self.judging})

    def with_(self, **fields: Any) -> Selected:
        """The metric with other parameters or another judging, and so with other names of its scores."""
        changed = replace(self, **fields)
        return replace(
            changed,
            scores={base_of(name) + changed.suffix: spec for name, spec in self.scores.items()},
        )

    @property
    def name(self) -> str:
        """The metric's name with its parameters."""
        return self.base + self.suffix

    @property
    def version(self) -> int:
        """Of the metric, as its parameters are."""
        return self.metric.version + self.metric.raised(self.params)

    @property
    def doc(self) -> str:
        return self.metric.doc if self.metric.source else docstring(self.base)

    def due(self, *, is_variant: bool, kind: str | None) -> list[str]:
        """The full names of the scores to compute for an example: an original, or a variant of a kind."""
        if is_variant != self.metric.variants:
            return []
        if not is_variant:
            return list(self.scores)
        return [name for name in self.scores if self.metric.applies(self.part_of(name), kind)]

    def part_of(self, name: str) -> str:
        """The part of the name of one of its scores, "" for the metric's own."""
        return base_of(name)[len(self.base) + 1 :]

    def missing(self, example: Answered, name: str) -> list[str]:
        """The fields that a score needs, and that the example neither has nor replaces by what it carries."""
        part = self.part_of(name)
        missing = [needed for needed in self.metric.needs_of(part) if is_missing(example, needed)]
        carried = self.metric.carries(example, self.params, part) if missing else ()
        return [needed for needed in missing if needed not in carried]

    def calls(self, example: Answered, judges: int) -> int:
        """The greatest number of calls for an example, for all scores that were selected."""
        return (
            self.metric.calls(example, self.params, judges, *self._parts(example))
            if self._able(example)
            else 0
        )

    def checks(self, example: Answered) -> int:
        """Those of the calls that the checker takes."""
        return (
            self.metric.checks(example, self.params, *self._parts(example))
            if self._able(example)
            else 0
        )

    def relations(self, example: Answered) -> int:
        """The pairs of a premise and a claim in those calls."""
        return (
            self.metric.relations(example, self.params, *self._parts(example))
            if self._able(example)
            else 0
        )

    def shares(self, example: Answered) -> Mapping[str, int]:
        """Text -> calls that other metrics make for it alike."""
        return self.metric.shares(example, *self._parts(example)) if self._able(example) else {}

    def _able(self, example: Answered) -> list[str]:
        """The parts of the names of the scores that were selected and whose inputs the example has."""
        return [self.part_of(name) for name in self.scores if not self.missing(example, name)]

    def _parts(self, example: Answered) -> tuple[list[str], ...]:
        """The last argument of what the declaration of a metric `by_part` has."""
        return (self._able(example),) if self.metric.by_part else ()

    async def score(
        self, example: Answered, models: Models, score_names: Sequence[str]
    ) -> dict[str, Score | NoScore]:
        """Full name -> score of an example, for every name wanted. Missing inputs, ModelError and OverBudget become
        NoScore."""
        lacking = {name: fields for name in score_names if (fields := self.missing(example, name))}
        results: dict[str, Score | NoScore] = {
            name: _without(example, fields) for name, fields in lacking.items()
        }
        able = [name for name in score_names if name not in lacking]
        if able:
            results |= await self._computed(example, models, able)
        return {name: results[name] for name in score_names}

    async def _computed(
        self, example: Answered, models: Models, score_names: Sequence[str]
    ) -> dict[str, Score | NoScore]:
        try:
            # all that were selected: what is asked does not depend on which rows an earlier session left
            result = await self.metric.score(example, models, self.params, *self._parts(example))
            if isinstance(result, Score):
                result = {"": result}
            by_name = {
                full_name(self.base, part) + self.suffix: part_result
                for part, part_result in result.items()
            }
            return {name: by_name[name] for name in score_names}
        except NoScore as unscored:
            return dict.fromkeys(score_names, unscored)
        except (ModelError, OverBudget) as error:
            return dict.fromkeys(score_names, NoScore(error.status, str(error)))


def _without(example: Answered, fields: Sequence[str]) -> NoScore:
    """Why an example without fields that a score needs is unscored."""
    reason = " ".join(f"The example has no {_FIELDS.get(name, name)}." for name in fields)
    if "answer" in fields and isinstance(why := example.meta.get("no_answer"), str):
        reason += f" {why}"  # of `longmark benchmark run`
    for name in LISTED_AS.keys() & set(fields):
        column = next((column for column in NAMES[name] if column in example.meta), None)
        if column is not None:
            reason += (
                f" Its column {column} was left as it is: expected {LISTED_AS[name]}, found "
                f"{found(example.meta[column])}."
            )
    return NoScore("missing_input", reason)


def is_missing(example: Answered, name: str) -> bool:
    """Whether a field is None or has no entries. A blank answer is not missing; any other blank text is."""
    value = getattr(example, name, None)
    if name in ("answer", "base_answer", "a", "b"):
        return value is None
    return value is None or value == () or (isinstance(value, str) and not value.strip())


def load(name: str) -> Metric:
    """The declaration of a metric. UnknownName for an unknown one."""
    if name not in names():
        raise UnknownName("metric", name, names(), _SEE)
    metric = importlib.import_module(f"longmark.metrics.{name}").METRIC
    assert isinstance(metric, Metric)
    return metric


def from_origin(origin: Mapping[str, Any]) -> Metric | None:
    """The metric of a file or an installed module, as `Metric.origin` names it; None where it is not there."""
    from longmark.metrics._outside import of_file, of_module

    named_metric = of_file(origin["file"]) if "file" in origin else of_module(origin["module"])
    return named_metric[1] if named_metric is not None else None


def select(
    requested: Sequence[str | Metric], domain: Domain | None = None, *, as_published: bool = False
) -> list[Selected]:
    """What the names (or declarations) select, each metric once for its parameters, in the order asked for.

    domain: whose dimensions have scores; None: the built-in one. as_published: parameters that a name does not give
    have the values of the metric's paper. UnknownName for a name that selects nothing, a parameter that a metric does
    not have and a value that is none of its choices; UserError for a metric from outside the package that cannot be
    used, and for another value.
    """
    selected: dict[str, Selected] = {}
    for request in requested:
        requested_name, settings = (
            ("", {})
            if isinstance(request, Metric)
            else (request, {})
            if os.path.isfile(request)
            else parsed(request)
        )
        inside = (
            next((name for name in names() if load(name) is request), "")
            if isinstance(request, Metric)
            else requested_name
        )
        hits = [(name, load(name), score) for name, score in _under(inside, domain)]
        if not hits:
            from longmark.metrics._outside import named, of_file, of_module

            named_metric = (
                named(request)
                if isinstance(request, Metric)
                else of_file(requested_name) or of_module(requested_name)
            )
            if named_metric is None:
                raise UnknownName(
                    "metric",
                    requested_name,
                    _all_names(domain),
                    _OF_A_FILE if "|source:" in str(request) else _SEE,
                )
            name, metric = named_metric
            if any(
                name == metric_name or metric_name.startswith(f"{name}.") for metric_name in names()
            ):
                raise UserError(
                    f"{name}: a built-in metric or family has this name; give the metric another one"
                )
            hits = [(name, metric, score) for score in metric.published(name, domain)]
        for name, metric, score in hits:
            params, judging = parameters(name, metric, settings, as_published=as_published)
            cited = _cited(request, name, metric, params)
            chosen = Selected(name, metric, {}, params, judging | cited)
            before = selected.setdefault(chosen.name, chosen)
            if before.metric.source != metric.source:
                raise UserError(f"{name}: two different metrics have this name; rename one of them")
            before.scores[score + chosen.suffix] = metric.spec(name, score, params, domain)
    return [
        replace(selection, scores=_in_order(selection, domain)) for selection in selected.values()
    ]


def built_in(scores: Iterable[str]) -> list[Selected]:
    """The metrics of these scores, as far as they are longmark's own; no other module is imported."""
    selected: list[Selected] = []
    for score in scores:
        if any(f"{base_of(score)}.".startswith(f"{name}.") for name in names()):
            with suppress(UnknownName):  # a score of another domain
                selected += select([score])
    return selected


def _cited(signature: str | Metric, name: str, metric: Metric, params: Any) -> dict[str, Any]:
    """How a signature says that the metric's judges were asked. UserError where it is of another version of it."""
    signed_settings = settings_in(signature) if isinstance(signature, str) else {}
    version = metric.version + metric.raised(params)
    if signed_settings.get("metric", str(version)) != str(version):
        raise UserError(
            f"{name}: the signature is of version {signed_settings['metric']} of the metric, and this longmark has version "
            f"{version}, which gives other scores. Install the longmark of the signature, or name the metric alone"
        )
    return parameters(
        name,
        metric,
        {key: signed_settings[key] for key in judging_kinds(metric) if key in signed_settings},
    )[1]


def canonical(name: str) -> str:
    """The name of a score, slice included, as rows have it: parameters in their order, without those at their defaults.
    A family, and what is no metric of longmark's, has the name as it is. Errors as of `select`."""
    whole, part = without_slice(name)
    metric = next(
        (
            metric_name
            for metric_name in names()
            if f"{base_of(whole)}.".startswith(f"{metric_name}.")
        ),
        None,
    )
    if metric is None or "@" not in whole:
        return name
    base, settings = parsed(whole)
    params, judging = parameters(metric, load(metric), settings)
    return in_slice(joined(base, {**not_default(params), **judging}), part)


def _in_order(chosen: Selected, domain: Domain | None) -> dict[str, ScoreSpec]:
    """The scores in the order of the metric's declaration."""
    names = (score + chosen.suffix for score in chosen.metric.published(chosen.base, domain))
    return {name: chosen.scores[name] for name in names if name in chosen.scores}


def all_prompts() -> list[Prompt]:
    """The prompts of all metrics, each once."""
    return list({prompt.id: prompt for name in names() for prompt in load(name).prompts}.values())


def _under(name: str, domain: Domain | None) -> Iterator[tuple[str, str]]:
    """(metric, score) for everything under a name."""
    for metric in names():
        if metric == name or metric.startswith(f"{name}."):
            yield from ((metric, score) for score in load(metric).published(metric, domain))
        elif name.startswith(f"{metric}.") and name in load(metric).published(metric, domain):
            yield metric, name


def _all_names(domain: Domain | None) -> list[str]:
    """Everything that can be asked for: families, metrics and their scores."""
    families = {name.rsplit(".", 1)[0] for name in names()}
    scores = {score for name in names() for score in load(name).published(name, domain)}
    return sorted(families | set(names()) | scores)
