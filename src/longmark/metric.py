"""What a metric is: one async function and one declaration, `METRIC`, in a module of `longmark.metrics`.

The module's path is the metric's name. The function gets an example, the models behind the client and the metric's
parameters; it returns a `Score` (or, where the metric declares several `values`, a Score or NoScore for each of them)
and raises `errors.NoScore` where there is no value. It loads, caches, retries, prints and aggregates nothing.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from longmark.errors import NoScore

if TYPE_CHECKING:
    from longmark.domain import Domain
    from longmark.models.handles import Models
    from longmark.prompts import Prompt
    from longmark.records import Example

Bounds = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Score:
    """A value and the evidence for it: what a reader needs to believe the value or to dispute it (JSON types only)."""

    value: float
    evidence: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Value:
    """One of several values that a metric publishes from one computation. bounds: least and greatest value that can
    occur, None where there is no limit. summary: what this one says, in a sentence for reports; "": the
    metric's own."""

    bounds: Bounds
    higher_is_better: bool | None
    summary: str = ""


Result = Score | Mapping[str, Score | NoScore]
Values = Mapping[str, Value]


@dataclass(frozen=True, slots=True)
class NoParams:
    """The parameters of a metric that has none."""


@dataclass(frozen=True)
class Metric:
    """The declaration of a metric.

    score             the async function (example, models, params)
    needs             fields of the example without which there is no value (`missing_input`)
    bounds            least and greatest value that can occur, None where there is no limit
    higher_is_better  None where neither end is
    values            the values under the metric's name, where there are several, "" for the one that bears the name
                      itself; bounds and direction are theirs then. A function of the domain where its file decides
    models            the roles it calls: judge, generator, embedder, reranker, lm
    prompts           every prompt it can use, in any scoring
    params            a frozen dataclass with a default for every parameter
    calls             how many model calls an example takes at most (example, params, number of judges), for the
                      estimate before a run
    logprobs          the top log-probabilities it needs from its judge (0: none)
    scorings          how a judge's score can be read: `text`, `expected`; empty where there is no score to read
    variants          it runs on variants of questions, not on the originals
    by_domain         it looks for what the domain of the questions names
    applies           whether a value (by its part of the name) is for a kind of variant (`Example.variant`); for what
                      it is not, it gets no row
    """

    score: Callable[[Example, Models, Any], Awaitable[Result]]
    needs: tuple[str, ...]
    bounds: Bounds = (None, None)
    higher_is_better: bool | None = True
    values: Values | Callable[[Domain], Values] | None = None
    models: tuple[str, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    params: type = NoParams
    calls: Callable[[Example, Any, int], int] = lambda _example, _params, _judges: 0
    logprobs: int = 0
    scorings: tuple[str, ...] = ()
    variants: bool = False
    by_domain: bool = False
    applies: Callable[[str, str | None], bool] = lambda _part, _kind: True

    def published(self, name: str, domain: Domain | None = None) -> dict[str, Value]:
        """The full names of the metric's values, given the metric's own name. domain: None: the built-in one."""
        if self.values is None:
            return {name: Value(self.bounds, self.higher_is_better)}
        values = self.values
        if not isinstance(values, Mapping):
            from longmark.domain import load  # and YAML: only where a domain is asked for

            values = values(domain or load())
        return {full_name(name, part): value for part, value in values.items()}


def full_name(name: str, part: str) -> str:
    """The full name of a value: the metric's own name and the value's part of it, "" for the name itself."""
    return f"{name}.{part}" if part else name
