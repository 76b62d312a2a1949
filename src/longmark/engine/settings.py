"""What a run is asked to do, checked before anything is read or called."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, get_type_hints

from longmark import metrics
from longmark.errors import UnknownName, UserError
from longmark.metric import Metric
from longmark.metrics import Selected
from longmark.models.handles import DEFAULT_DOMAIN, Backends
from longmark.prompts import Prompt, PromptBook

if TYPE_CHECKING:
    from longmark.domain import Domain

SCORINGS = ("text", "expected")
RETRIED = frozenset({"model_error", "over_budget"})  # rows without a value that a resumed run always asks for again


@dataclass(frozen=True)
class Settings:
    """What is fixed for a run's folder: a row made with other settings does not belong there.

    selected: the metrics; params: metric -> its parameters; backends: the models; prompts: the book; seed; scoring;
    domain: what the questions are about.
    """

    selected: Sequence[Selected]
    backends: Backends
    params: Mapping[str, Any] = field(default_factory=dict)
    prompts: PromptBook = field(default_factory=PromptBook)
    scoring: str = "text"
    seed: int = 0
    domain: Domain = field(default_factory=lambda: DEFAULT_DOMAIN)

    @property
    def reads_domain(self) -> bool:
        """Whether a selected metric follows the domain."""
        return any(chosen.metric.by_domain for chosen in self.selected)

    def fixed(self) -> dict[str, Any]:
        """As the manifest holds them and a resumed run compares them."""
        return {
            "metrics": sorted(value for chosen in self.selected for value in chosen.scores),
            "params": {c.name: given for c in self.selected if (given := dataclasses.asdict(self.params[c.name]))},
            "models": self.models_used(),
            "prompts": self.prompts.hashes(p for c in self.selected for p in self.prompts_of(c.metric)),
            "seed": self.seed,
            "scoring": self.scoring,
            "domain": f"{self.domain.name} {self.domain.hash}",
        }

    def models_used(self) -> dict[str, list[str]]:
        """role -> model names, for the roles that a selected metric calls."""
        called = {role for chosen in self.selected for role in chosen.metric.models}
        return {role: names for role, names in self.backends.names().items() if role in called}

    def prompts_of(self, metric: Metric) -> list[Prompt]:
        """The prompts a metric uses under this scoring: of those that exist for one scoring only, this one's."""
        if not metric.scorings:
            return list(metric.prompts)
        return [p for p in metric.prompts if p.id.endswith(".expected") == (self.scoring == "expected")]


def parameters(selected: Sequence[Selected], given: Mapping[str, str]) -> dict[str, Any]:
    """metric -> its parameters, with what `--param METRIC.NAME=VALUE` gives in place of the defaults.

    UnknownName for a parameter that no selected metric has; UserError for a value of the wrong kind.
    """
    from pydantic import TypeAdapter, ValidationError

    settable = {
        f"{chosen.name}.{f.name}": (chosen, f.name)
        for chosen in selected
        for f in dataclasses.fields(chosen.metric.params)
    }
    changes: dict[str, dict[str, Any]] = {chosen.name: {} for chosen in selected}
    for name, value in given.items():
        if name not in settable:
            hint = "See: longmark metrics NAME" if settable else "The metrics of this run have no parameters."
            raise UnknownName("parameter", name, settable, hint)
        chosen, parameter = settable[name]
        kind = get_type_hints(chosen.metric.params)[parameter]
        try:
            changes[chosen.name][parameter] = TypeAdapter(kind).validate_python(value)
        except ValidationError as error:
            raise UserError(f"--param {name}={value}: {error.errors()[0]['msg']}") from None
    made = {}
    for chosen in selected:
        try:
            made[chosen.name] = chosen.metric.params(**changes[chosen.name])
        except ValueError as error:
            raise UserError(f"--param of {chosen.name}: {error}") from None
    return made


def choose(names: Sequence[str], domain: Domain | None = None) -> list[Selected]:
    """The metrics that names select, with the values that they have in a domain. UserError where there are none."""
    selected = metrics.select([name.strip() for name in names if name.strip()], domain)
    if not selected:
        raise UserError("no metric was named: --metrics NAME[,NAME…]; longmark metrics lists them")
    return selected


def every_prompt() -> list[Prompt]:
    """Every prompt that --prompts can replace: those of the metrics, of variants and of generated answers."""
    from longmark.datasets import vary
    from longmark.rag import generate

    return [*metrics.all_prompts(), *vary.PROMPTS, *generate.PROMPTS]


def check(settings: Settings) -> None:
    """Whether the models can do what the metrics need, as far as it is known before a call.

    UserError naming every lack at once: a role without a model, a scoring that a metric does not have.
    """
    wrong: list[str] = []
    if settings.scoring not in SCORINGS:
        raise UnknownName("scoring", settings.scoring, SCORINGS, f"It is one of {', '.join(SCORINGS)}.")
    have = settings.backends.names()
    lacking: dict[str, list[str]] = {}
    for chosen in settings.selected:
        for role in chosen.metric.models:
            if role not in have:
                lacking.setdefault(role, []).append(chosen.name)
        if chosen.metric.scorings and settings.scoring not in chosen.metric.scorings:
            wrong.append(
                f"{chosen.name} cannot be scored by {settings.scoring}: it has {', '.join(chosen.metric.scorings)}"
            )
    wrong += [
        f"--{role} MODEL is missing (`--{role} embedded` runs on this machine): needed by {', '.join(names)}"
        for role, names in lacking.items()
    ]
    if wrong:
        raise UserError("\n".join(wrong))


def unsupported(settings: Settings, chosen: Selected) -> str | None:
    """Why a metric's calls cannot be made with these models, or None. Said before the run; in the rows the call itself
    says it, so that an example which needs no call (an empty answer) has its value all the same."""
    reads_tokens = settings.scoring == "expected" and "expected" in chosen.metric.scorings
    if reads_tokens or chosen.metric.logprobs:
        lacking = [judge.name for judge in settings.backends.judges if judge.capabilities.logprobs == 0]
        if lacking and "judge" in chosen.metric.models:
            return f"{', '.join(lacking)} cannot give log-probabilities, which {chosen.name} reads here."
    lm = settings.backends.lm
    if "lm" in chosen.metric.models and lm is not None and lm.capabilities.prompt_logprobs is False:
        return f"{lm.name} cannot give the log-probabilities of a given text, which {chosen.name} needs."
    return None
