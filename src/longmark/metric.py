"""What a metric is: one async function and one declaration, `METRIC`, in a module of `longmark.metrics`.

The module's path is the metric's name. The function takes an example, the models of the run and the metric's
parameters. It returns a `Score`; a metric that declares several `scores` returns a Score or a NoScore for each of them.
It raises `errors.NoScore` if the example is unscored. It does not load, cache, retry, print or aggregate anything.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import TYPE_CHECKING, Any

from longmark.errors import NoScore, UnknownName

if TYPE_CHECKING:
    from longmark.domain import Domain
    from longmark.prompts import Prompt

Bounds = tuple[float | None, float | None]


@dataclass(frozen=True, slots=True)
class Score:
    """A number and its evidence: what a reader needs to check it (JSON types only). automatic: it follows from a rule
    for answers that no judge is asked about (an empty one, say), in a metric whose other scores are judged."""

    value: float
    evidence: dict[str, Any] = field(default_factory=dict)
    automatic: bool = False


@dataclass(frozen=True, slots=True)
class Why:
    """What makes a score bad: a label, and the key of the evidence that lists it, as texts or as objects with `text` or
    `claim`. unless: (key, value) of the objects that do not make it bad."""

    label: str
    entries: str
    unless: tuple[str, str] = ("", "")


@dataclass(frozen=True, slots=True)
class ScoreSpec:
    """The declaration of one published score. bounds: the least and the greatest possible value, None: no
    limit. summary: one sentence about this score for reports; "": the first paragraph of the metric's docstring. why:
    what a page names where the score is bad, None: what the view names. descriptive: the score describes an answer and
    does not say how good it is, though a baseline takes it for that: what an answer with a higher one is, as `longer`.
    Beside metrics that decide, its direction counts for nothing in comparisons and reports."""

    bounds: Bounds
    higher_is_better: bool | None
    summary: str = ""
    why: Why | None = None
    descriptive: str = ""


ANSWERS = ("last", "each")
"""The modes of `--turns` that score one answer of a conversation; the third, `all`, scores the conversation."""


@dataclass(frozen=True, slots=True)
class Remark:
    """What a user should know of how an answer is read, a sentence, with the places of the answer that it is about."""

    text: str
    places: tuple[str, ...] = ()


SCORED = "scored"
"""What an answer gets that is scored as any other answer."""


@dataclass(frozen=True, slots=True)
class Silence:
    """What an answer gets that says nothing: a score, the status of an unscored row, or SCORED. empty: no text;
    refusal: the reply that nothing relevant was found (text/refusal.py); claimless: a text without a claim."""

    empty: float | str = SCORED
    refusal: float | str = SCORED
    claimless: float | str = SCORED


SOURCES = ("question", "contexts", "references")
"""Fields of an example that an answer can be judged by."""

VIEWS = {
    "claims": "`claims`, each {claim, dimensions: {NAME: {vote, labels, reasons}}}, and `weights` {NAME: weight}; or, "
    "of a score of one dimension, `votes` and `claims`, each {claim, vote, labels}. vote: yes, no or n/a",
    "points": "`points`, each {point: number, text, delta}; `intro`, `closing`, `new_order`, `without_effect`",
    "facts": "`claims`, each {claim, delta, relative, passages}; `confidence`, `most_needed`, `most_distracting`",
    "questions": "`questions`, each {question, cosine}; `masked_answer`",
    "graph": "the graph of statements of `text.graph`",
    "judges": "`judges`, each {model, score, reason, quotes, text}, as `judged_score` makes it",
    "turns": "`turns`, each {who, text}: a conversation or steps",
    "marked": "`marked`, each {text, label}: passages of the answer, marked in it",
    "support": "`claims` of the answer, each {claim, passages: [numbers from 1], reference, quote}, and "
    "`reference_claims`, each {claim, answer, passages}: marked in the answer. reference, answer: entails, contradicts "
    "or neutral. A claim is marked by what the metric declares as its `evidence`: by the contexts, else by the "
    "references",
    "cells": "every list of objects is a table: keys are its heads, and values texts, numbers or true/false",
}
"""View -> the evidence that it shows. What a view does not name is shown below it; evidence of another shape is shown
as recorded, with a note."""

Result = Score | Mapping[str, Score | NoScore]
ScoreSpecs = Mapping[str, ScoreSpec]


def paper(default: Any, published: Any) -> Any:
    """A parameter's default, and its value where the metric shall compute as its paper did (`--as-published`)."""
    return field(default=default, metadata={"published": published})


def _not_raised(
    _params: object,
) -> int:
    """The version of a metric that no parameter changes."""
    return 0


@dataclass(frozen=True, slots=True)
class NoParams:
    """The parameters of a metric that has none."""


@dataclass(frozen=True)
class Metric:
    """The declaration of a metric.

    score             the async function (example, models, params); the example is a Pair where `pairs` is set
    needs             fields of the example, of every score or by the part of its name; without one of them it is
                      unscored (`missing_input`)
    carries           (example, params, part of the name) -> those of the fields that this score needs in place of which
                      the example carries claims, labels or a graph
    by_part           score, calls, checks, relations and shares take one more argument: the parts of the names of the
                      scores that were selected and that the example has all inputs of. Only these are computed
    bounds            the least and the greatest possible score; None: no limit
    bounds_with       (part of the name, params) -> the bounds, where they depend on the parameters; None: they do not
    higher_is_better  None: neither direction is better
    scores            for several scores of one computation: part of the name -> declaration, in place of bounds and
                      higher_is_better ("": the metric's own name); or a function of the domain
    models            the roles it can call: judge, generator, embedder, reranker, lm, checker
    optional          those of them that need no model: an example that needs one is then unscored
    default_checker   the `--checker` of a run that names neither a judge nor a checker; "": none
    prompts           every prompt it can use, in any scoring
    params            a frozen dataclass with a default for every parameter; its method `ready`, if it has one, is
                      called before anything is paid for, and raises UserError where what they name cannot be used
    calls             (example, params, number of judges) -> the greatest number of model calls for an example
    checks            (example, params) -> those of the calls that the checker takes: none where it is no model
    relations         (example, params) -> pairs of a premise and a claim in these calls, for a checker that is asked
                      about one pair in each call
    rounds            how many of its calls follow each other, at least: each needs the reply to the one before, so that
                      in batches it takes as many rounds
    shares            example -> text -> calls that every metric makes for that text alike (claims): of several metrics
                      on one example, only the first one sends them
    judged            its score is read from a judge's reply, by `--scoring`
    reasons           whether its judges give reasons where the run does not say; None: as other metrics
    variants          it runs on variants of questions, not on the originals
    pairs             it scores a Pair: 1 if answer a is better, 0 for a tie, -1 if b is better
    by_domain         its scores depend on the domain of the questions
    applies           (part of the name, kind of variant) -> whether that kind of variant gets a row for that score
    reach             params -> the greatest score that an answer in its own words can get, where only one that equals
                      the reference gets more; None: the upper bound. Pages colour and order scores by it
    caution           (params, limit) -> what a user should know who requires a mean of at least the limit, "": nothing
    remarks           (example, params) -> what a user should know of how it is read, a `Remark` each; a run tells each
                      once, with the number of answers and the first places
    view              how a page shows its evidence, one of `VIEWS`; "": as recorded
    turns             what it scores of a conversation: modes of `--turns`
    silence           what an answer gets that says nothing, of every score or by the part of its name; a test holds it
    version           raised by 1 when the same inputs get another score; in the signature of its rows from 2 on
    raised            params -> what is added to the version: changes of what only some parameters read
    name, doc, source, origin of a metric from outside the package: its name (None: that of its first prompt),
                      documentation, a hash of what computes it, which is in the signature of its rows, and where it is
                      from (`file`, `module` or the content of a `rubric`)
    evidence          what an answer is judged by, of `SOURCES`, of every score or by the part of its name; None: those
                      of `needs`. A page marks a claim as supported by nothing else
    """

    score: Callable[..., Awaitable[Result]]
    needs: tuple[str, ...] | Mapping[str, tuple[str, ...]]
    bounds: Bounds = (None, None)
    bounds_with: Callable[[str, Any], Bounds] | None = None
    higher_is_better: bool | None = True
    scores: ScoreSpecs | Callable[[Domain], ScoreSpecs] | None = None
    models: tuple[str, ...] = ()
    optional: tuple[str, ...] = ()
    prompts: tuple[Prompt, ...] = ()
    params: type = NoParams
    calls: Callable[..., int] = lambda _example, _params, _judges, *_parts: 0
    checks: Callable[..., int] = lambda _example, _params, *_parts: 0
    relations: Callable[..., int] = lambda _example, _params, *_parts: 0
    rounds: int = 1
    shares: Callable[..., Mapping[str, int]] = lambda _example, *_parts: {}
    judged: bool = False
    reasons: bool | None = None
    variants: bool = False
    pairs: bool = False
    by_domain: bool = False
    applies: Callable[[str, str | None], bool] = lambda _part, _kind: True
    reach: Callable[[Any], float | None] = lambda _params: None
    caution: Callable[[Any, float], str] = lambda _params, _limit: ""
    view: str = ""
    turns: tuple[str, ...] = ANSWERS
    silence: Silence | Mapping[str, Silence] = Silence()
    version: int = 1
    raised: Callable[..., int] = _not_raised
    name: str | None = None
    doc: str = ""
    source: str = ""
    origin: Mapping[str, Any] = field(default_factory=dict)
    evidence: tuple[str, ...] | Mapping[str, tuple[str, ...]] | None = None
    carries: Callable[[Any, Any, str], Collection[str]] = lambda _example, _params, _part: ()
    remarks: Callable[..., Iterable[Remark]] | None = None
    by_part: bool = False
    default_checker: str = ""

    def __post_init__(self) -> None:
        if self.view and self.view not in VIEWS:
            raise UnknownName("view of a metric", self.view, VIEWS)
        declared = (
            self.evidence.values() if isinstance(self.evidence, Mapping) else (self.evidence or (),)
        )
        for source in (source for sources in declared for source in sources):
            if source not in SOURCES:
                raise UnknownName("evidence of a metric", source, SOURCES)

    @property
    def as_published(self) -> dict[str, Any]:
        """Parameter -> the value with which the metric computes as its paper did, where that is not the default."""
        return {
            p.name: p.metadata["published"]
            for p in fields(self.params)
            if "published" in p.metadata
        }

    def evidence_of(self, part: str) -> tuple[str, ...]:
        """What the score with this part of its name judges an answer by, in the order of `SOURCES`."""
        declared = (
            self.evidence.get(part, ()) if isinstance(self.evidence, Mapping) else self.evidence
        )
        if declared is None:
            declared = self.needs_of(part)
        return tuple(source for source in SOURCES if source in declared)

    def needs_of(self, part: str) -> tuple[str, ...]:
        """The fields of the example that the score with this part of its name needs."""
        return self.needs[part] if isinstance(self.needs, Mapping) else self.needs

    def silence_of(self, part: str) -> Silence:
        """What an answer that says nothing gets from the score with this part of its name."""
        return self.silence if isinstance(self.silence, Silence) else self.silence[part]

    def spec(self, name: str, score: str, params: Any, domain: Domain | None = None) -> ScoreSpec:
        """The declaration of one score with these parameters. name: the metric's own; score: the full name of the score."""
        declared = self.published(name, domain)[score]
        if self.bounds_with is None:
            return declared
        part = score[len(name) + 1 :]
        bounds = self.bounds_with(part, params)
        return replace(declared, bounds=bounds)

    def published(self, name: str, domain: Domain | None = None) -> dict[str, ScoreSpec]:
        """Full name -> declaration of each score, given the metric's own name. domain: None: the built-in one."""
        if self.scores is None:
            return {name: ScoreSpec(self.bounds, self.higher_is_better)}
        specs = self.scores
        if not isinstance(specs, Mapping):
            from longmark.domain import load  # loads YAML, so only where a domain is needed

            specs = specs(domain or load())
        return {full_name(name, part): spec for part, spec in specs.items()}


def full_name(name: str, part: str) -> str:
    """The full name of a score: the metric's own name and the score's part, "" for the metric's own name."""
    return f"{name}.{part}" if part else name
