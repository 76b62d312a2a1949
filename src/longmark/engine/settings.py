"""What a run is asked to do, checked before anything is read or called."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import orjson

from longmark import __version__, metrics
from longmark.engine.pairs import ChoiceRule
from longmark.errors import UnknownName, UserError
from longmark.judging import Judging, reads_probabilities
from longmark.metric import Metric
from longmark.metrics import Selected
from longmark.models.batching import NO_BATCHES, Batching
from longmark.models.budget import Budget
from longmark.models.handles import DEFAULT_DOMAIN, Backends
from longmark.options import NO_KEYWORD, described, listed, named, option
from longmark.options.groups import (
    ClusterOption,
    ConfigOptions,
    InputOptions,
    ModelNames,
    ScoringOptions,
    SessionSpending,
    SpendingOptions,
    WorkerOptions,
)
from longmark.prompts import Prompt, PromptBook, registered
from longmark.records import ABSENT, STATUSES, Signature
from longmark.records.columns import Columns
from longmark.records.conversation import check_mode
from longmark.records.metric_name import settings_in

if TYPE_CHECKING:
    from longmark.domain import Domain

FIELDS = {"judge": "judges"}  # role -> the option that names its models, where it has another name
RETRIED = frozenset(
    {"model_error", "over_budget", "metric_error"}
)  # unscored rows that a resumed run computes again


@dataclass(frozen=True)
class RayCluster:
    """Where `--executor ray` computes. address: `HOST:PORT` or `auto`, None: a cluster of longmark's own. actors: that
    hold each local model; resources: that each of them needs, {}: one CPU; insecure: a public address is accepted."""

    address: str | None = None
    actors: int = 1
    resources: Mapping[str, float] = field(default_factory=dict)
    insecure: bool = False

    @classmethod
    def of(cls, options: RunOptions) -> RayCluster | None:
        """What options say; None: all is computed in this process. UserError."""
        kind, equals, address = options.executor.partition("=")
        if kind not in ("local", "ray") or (equals and not (address and kind == "ray")):
            raise UserError(
                f"{named('executor', options.executor)}: expected local, ray or ray=HOST:PORT"
            )
        if kind == "local":
            if options.ray_actors != 1 or options.ray_resources or options.ray_insecure:
                names = listed(("ray_actors", "ray_resources", "ray_insecure"))
                raise UserError(f"{names} need {named('executor', 'ray')}")
            return None
        resources = options.ray_resources
        try:
            resources = orjson.loads(resources) if isinstance(resources, str) else resources
            amounts = {str(name): float(number) for name, number in (resources or {}).items()}
        except (ValueError, TypeError, AttributeError):
            amounts = {"": 0.0}
        if not all(name and 0 < number < 1e6 for name, number in amounts.items()):
            raise UserError(
                f"{named('ray_resources', options.ray_resources)}: expected JSON such as '{{\"GPU\": 1}}'"
            )
        if not isinstance(options.ray_actors, int) or options.ray_actors < 1:
            raise UserError(
                f"{named('ray_actors', options.ray_actors)}: expected a whole number from 1"
            )
        return cls(address or None, options.ray_actors, amounts, options.ray_insecure)


@dataclass(frozen=True)
class SessionOptions(InputOptions, ClusterOption, SessionSpending):
    """What can differ between two sessions of a run, because it changes no score. `retry` adds statuses to `RETRIED`.

    tell: takes what the user should know, a sentence at a time. handle_signals: the first Ctrl-C lets the calls under
    way at endpoints end (main thread only). check_profiles: tell where profiles do not fit the domain. stopping: the
    rule that stops the run by its scores, which the folder keeps; None: none does. budget, batching and ray (a cluster
    that computes; None: this process does) are made of other options in `RunOptions`.
    """

    budget: Budget = field(default_factory=Budget, metadata=NO_KEYWORD)
    tell: Callable[[str], None] = lambda _notice: None
    handle_signals: bool = False
    check_profiles: bool = True
    batching: Batching = field(default=NO_BATCHES, metadata=NO_KEYWORD)
    ray: RayCluster | None = field(default=None, metadata=NO_KEYWORD)
    stopping: Mapping[str, Any] | None = None

    def __post_init__(self) -> None:
        numbers = {
            "limit": self.limit,
            "concurrency": self.concurrency,
            "batch_examples": self.batching.examples,
            "max_calls": self.budget.max_calls,
            "max_tokens": self.budget.max_tokens,
        }
        for name, value in numbers.items():
            if value is not None and (
                isinstance(value, bool) or not isinstance(value, int) or value < 1
            ):
                raise UserError(f"{named(name, value)}: expected a whole number from 1")
        usd = self.budget.max_usd
        if usd is not None and (
            isinstance(usd, bool) or not isinstance(usd, int | float) or not 0 < usd < 1e12
        ):
            raise UserError(f"{named('max_usd', usd)}: expected a number above 0")
        if self.turns != "last":
            check_mode(self.turns)
        if (group := self.budget_group) is not None:
            if not isinstance(group, str) or not group.strip() or not group.isprintable():
                raise UserError(f"{named('budget_group', group)}: expected a name")
            if not self.budget.limited:
                limits = listed(("max_usd", "max_tokens", "max_calls"), "or")
                raise UserError(f"{named('budget_group')} needs a limit to share: {limits}")
        if not isinstance(self.resend_unknown, bool | None):
            raise UserError(
                f"{named('resend_unknown', self.resend_unknown)}: expected True, False or None"
            )
        if isinstance(self.retry, str):
            raise UserError(f"{named('retry', self.retry)}: expected a list of statuses")

    @property
    def reading(self) -> dict[str, Any]:
        """The options of `records.read.Reading`."""
        return {
            name: getattr(self, name)
            for name in ("limit", "mapping", "encoding", "skip_bad", "turns", "questions")
        }

    @property
    def retried(self) -> frozenset[str]:
        """Statuses of rows to request again. UnknownName for one that does not exist."""
        for status in self.retry:
            retriable = [s for s in STATUSES if s != "ok" and s not in ABSENT]
            if status not in retriable:
                raise UnknownName(
                    f"status in {named('retry')}",
                    status,
                    retriable,
                    f"It is one of {', '.join(retriable)}.",
                )
        return RETRIED | frozenset(self.retry)


@described
@dataclass(frozen=True)
class RunOptions(
    ModelNames, ScoringOptions, WorkerOptions, SpendingOptions, ConfigOptions, SessionOptions
):
    """Options of a run, by the names of `longmark run`. Models are names or backends. UserError for a value of the
    wrong kind. What scores, and how, is fixed for a run folder, and so are `prompts`, `domain` and `turns`; the others
    may change between sessions."""

    quiet: bool = option(True, "show no progress (default: shown by the command line only)")

    def __post_init__(self) -> None:
        if self.timeout is not None and not (
            isinstance(self.timeout, int | float) and self.timeout > 0
        ):
            raise UserError(
                f"{named('timeout', self.timeout)}: expected a number of seconds above 0"
            )
        if self.pair_decimals not in (None, "raw", *range(13)) or isinstance(
            self.pair_decimals, bool
        ):
            raise UserError(
                f"{named('pair_decimals', self.pair_decimals)}: expected a whole number from 0 to 12, or raw"
            )
        if not isinstance(self.tie_band, int | float) or not 0 <= self.tie_band < float("inf"):
            raise UserError(f"{named('tie_band', self.tie_band)}: expected a number from 0")
        object.__setattr__(self, "budget", Budget(self.max_calls, self.max_tokens, self.max_usd))
        object.__setattr__(self, "batching", Batching.of(self))
        object.__setattr__(self, "ray", RayCluster.of(self))
        object.__setattr__(self, "mapping", self.mapping or {})
        Columns(self.mapping)  # wrong and deprecated fields are named in the caller's thread
        Judging.__post_init__(self)
        SessionOptions.__post_init__(self)

    @property
    def comparison(self) -> ChoiceRule:
        """How a single-answer metric chooses between two."""
        return ChoiceRule(
            self.pair_decimals if isinstance(self.pair_decimals, int) else None,
            float(self.tie_band),
        )


@dataclass(frozen=True)
class Settings:
    """What is fixed for a run's folder. selected: the metrics with their parameters; backends: the models; prompts: the
    book; domain: what the questions are about; judging: how judges are asked; comparison: of the scores of a pair's
    answers; turns: what is scored of a conversation."""

    selected: Sequence[Selected]
    backends: Backends
    prompts: PromptBook = field(default_factory=PromptBook)
    domain: Domain = field(default_factory=lambda: DEFAULT_DOMAIN)
    judging: Judging = field(default_factory=Judging)
    comparison: ChoiceRule = field(default_factory=ChoiceRule)
    turns: str = "last"

    def judging_of(self, chosen: Selected) -> Judging:
        """How a metric's judges are asked: as its name says, else as the run; with reasons as the run says, else as a
        rubric says, else with `text` scoring if every judge is at an endpoint; without where the metric cannot have
        them."""
        judges = self.backends.judges
        named_by_metric = dict(chosen.judging)
        if named_by_metric.get("temperature") and reads_probabilities(judges):
            # What is sampled is read from its text, as the run would have chosen.
            named_by_metric.setdefault("scoring", "text")
        judging = replace(self.judging, **named_by_metric)
        usual = (
            judging.by_text and bool(judges) and all(hasattr(judge, "endpoint") for judge in judges)
        )
        reasons = next(
            (
                reasons
                for reasons in (judging.reasons, chosen.metric.reasons)
                if reasons is not None
            ),
            usual,
        )
        return replace(
            judging, scoring=judging.scoring or "text", reasons=reasons and _gives_reasons(chosen)
        )

    @property
    def reads_domain(self) -> bool:
        """Whether a selected metric follows the domain."""
        return any(chosen.metric.by_domain for chosen in self.selected)

    @property
    def scores(self) -> list[str]:
        """The full names of all scores, in their order."""
        return [name for chosen in self.selected for name in chosen.scores]

    def fixed(self) -> dict[str, Any]:
        """As the manifest holds them and a resumed run compares them."""
        return {
            "metrics": sorted(self.scores),
            "params": {c.name: params for c in self.selected if (params := self.params_of(c))},
            "models": self.models_used(),
            **(
                {"configured": configured}
                if (configured := self.backends.configured(self.models_used()))
                else {}
            ),
            "prompts": self.prompts.hashes(p for c in self.selected for p in self.prompts_of(c)),
            "judging": {
                **dataclasses.asdict(self.judging),
                "scoring": self.judging.scoring or "text",
                "reasons": self.reasons,
            },
            "domain": f"{self.domain.name} {self.domain.hash}" if self.reads_domain else None,
            **(
                {"pair": dataclasses.asdict(self.comparison)}
                if self.comparison != ChoiceRule()
                else {}
            ),
            **({"turns": self.turns} if self.turns != "last" else {}),
        }

    def params_of(self, chosen: Selected) -> dict[str, Any]:
        """A metric's parameters, its version from 2 on, and the hash of its source if it is from outside."""
        identity: dict[str, Any] = {"version": chosen.version} if chosen.version > 1 else {}
        identity |= {"source": chosen.metric.source} if chosen.metric.source else {}
        return dataclasses.asdict(chosen.params) | identity

    def signature(self, chosen: Selected) -> Signature:
        """How the scores of a metric come about, but for what its models turn out not to take."""
        params = self.params_of(chosen)
        judging = self.judging_of(chosen)
        if chosen.metric.judged:
            params |= {"scoring": judging.scoring, "temperature": judging.temperature}
            params |= {"samples": judging.samples} if judging.temperature else {}
            params |= {"reasons": True} if judging.reasons else {}
        params |= {"turns": self.turns} if self.turns != "last" else {}
        return Signature(
            version=__version__,
            params=params,
            models={
                r: names for r, names in self.backends.names().items() if r in chosen.metric.models
            },
            prompts=self.prompts.hashes(self.prompts_of(chosen)),
            seed=judging.seed,
            configured=self.backends.configured(chosen.metric.models),
        )

    def named_shortly(self) -> Settings:
        """The settings without what a metric's name repeats of the run's judging; equal metrics become one."""
        merged: dict[str, Selected] = {}
        for chosen in self.selected:
            usual = self.judging_of(replace(chosen, judging={}))
            own_judging = {
                key: value for key, value in chosen.judging.items() if getattr(usual, key) != value
            }
            short = chosen.with_(judging=own_judging)
            merged.setdefault(short.name, short).scores.update(short.scores)
        return replace(self, selected=list(merged.values()))

    def departures(self, names: Sequence[str | Metric]) -> list[str]:
        """A sentence for each signature among the names of metrics that was made otherwise than its scores are here: by
        another longmark, another model, other prompts."""
        sentences = list[str]()
        for line in (line for line in _each(names) if isinstance(line, str) and "|" in line):
            stated = settings_in(line)
            for chosen in metrics.select([line], self.domain):
                current = settings_in(self.signature(chosen).line(""))
                differing = [key for key in stated if current.get(key, stated[key]) != stated[key]]
                if differing:
                    was, now = (
                        ", ".join(f"{key}:{settings[key]}" for key in differing)
                        for settings in (stated, current)
                    )
                    sentences.append(
                        f"{chosen.base}: its signature says {was}; here it is {now}. Scores can differ."
                    )
        return sentences

    def models_used(self) -> dict[str, list[str]]:
        """role -> model names, for the roles that a selected metric calls."""
        called = {role for chosen in self.selected for role in chosen.metric.models}
        return {role: names for role, names in self.backends.names().items() if role in called}

    def own_prompts(self) -> list[str]:
        """The ids of the prompts of this run that are longmark's own, because nothing replaced them, sorted."""
        used: set[str] = set()
        for chosen in self.selected:
            used.update(prompt.id for prompt in self.prompts_of(chosen))
        return sorted(used - self.prompts.replaced.keys())

    def prompts_of(self, chosen: Selected) -> list[Prompt]:
        """The prompts a metric uses in this run: of a judged score, those of this scoring, with or without reasons."""
        judging = self.judging_of(chosen)
        uses = {"reasons" if judging.reasons else "text"} if judging.by_text else {"expected"}
        uses |= {"reason"} if judging.reasons and not judging.by_text else set()
        return [prompt for prompt in chosen.metric.prompts if not prompt.use or prompt.use in uses]

    @property
    def reasons(self) -> list[str]:
        """The metrics whose judges give reasons for their scores."""
        return sorted(chosen.name for chosen in self.selected if self.judging_of(chosen).reasons)


def _gives_reasons(chosen: Selected) -> bool:
    return any(prompt.use == "reason" for prompt in chosen.metric.prompts)


def choose(
    names: Sequence[str | Metric], domain: Domain | None = None, *, as_published: bool = False
) -> list[Selected]:
    """The metrics that names (several may be in one, separated by commas) and declarations select, with the scores that
    they have in a domain. as_published: see `metrics.select`. UserError where there are none."""
    entries = _each(names)
    try:
        selected = metrics.select(entries, domain, as_published=as_published)
    except UserError as error:
        raise _with_all_mistakes(error, entries, domain, as_published=as_published) from None
    if not selected:
        raise UserError(
            f"no metric was named: give {named('metrics', 'NAMES')}; longmark metrics lists them"
        )
    return selected


def _with_all_mistakes(
    error: UserError,
    entries: Sequence[str | Metric],
    domain: Domain | None,
    *,
    as_published: bool,
) -> UserError:
    """The error of the first entry that selects nothing, with a line for every other one that is wrong by itself."""
    messages = []
    for entry in entries:
        try:
            metrics.select([entry], domain, as_published=as_published)
        except UserError as mistake:
            messages.append(str(mistake))
    if len(messages) > 1:
        error.args = ("\n".join(dict.fromkeys(messages)),)
    return error


def _each(names: Sequence[str | Metric]) -> list[str | Metric]:
    """The names (a line each, or separated by commas) and declarations, each by itself."""
    parts: list[str | Metric] = []
    for entry in names:
        parts += (
            [part.strip() for part in re.split(r"[,\r\n]", entry) if part.strip()]
            if isinstance(entry, str)
            else [entry]
        )
    return parts


def every_prompt(selected: Sequence[Selected] = ()) -> list[Prompt]:
    """Every prompt that --prompts can replace: of the metrics, and of what else asks a model."""
    outside = [
        prompt for chosen in selected if chosen.metric.source for prompt in chosen.metric.prompts
    ]
    return [*metrics.all_prompts(), *outside, *registered()]


def replaces_text_alone(book: PromptBook, selected: Sequence[Selected]) -> bool:
    """Whether the user has replaced the prompt of a score that is read from text, and not that for probabilities: the
    user's prompt is then the one to send."""
    prompts = {prompt.id for chosen in selected for prompt in chosen.metric.prompts}
    return any(
        prompt in prompts and f"{prompt}.expected" in prompts - book.replaced.keys()
        for prompt in book.replaced
    )


def check(settings: Settings) -> None:
    """UserError naming every role without a model, or for what a metric's parameters need (their `ready`), or where
    reasons are wanted and no metric can have them."""
    if settings.judging.reasons and not any(map(_gives_reasons, settings.selected)):
        raise UserError(
            f"{named('reasons', True)}: no selected metric is a judge's score; longmark metrics NAME lists its prompts"
        )
    check_turns(settings)
    _check_prompts(settings)
    for chosen in settings.selected:
        getattr(chosen.params, "ready", lambda: None)()
    have = settings.backends.names()
    missing: dict[str, list[str]] = {}
    for chosen in settings.selected:
        for role in chosen.metric.models:
            if role not in have and role not in chosen.metric.optional:
                missing.setdefault(role, []).append(chosen.name)
    if missing:
        raise UserError(
            "\n".join(
                f"{named(FIELDS.get(role, role), 'MODEL')} is missing (`{named(FIELDS.get(role, role), 'embedded')}` "
                f"runs on this machine): needed by {', '.join(names)}"
                for role, names in missing.items()
            )
        )


def check_turns(settings: Settings) -> None:
    """UserError naming the metrics that cannot score what the mode of `--turns` makes of a conversation."""
    if unable := [
        chosen.name for chosen in settings.selected if settings.turns not in chosen.metric.turns
    ]:
        raise UserError(
            f"{named('turns', settings.turns)}: {', '.join(unable)} cannot score that of a conversation; omit them, or "
            f"use other {named('turns')} (longmark metrics NAME says which). A rubric with {{turns}} scores whole "
            "conversations"
        )


def _check_prompts(settings: Settings) -> None:
    """UserError where a prompt was replaced whose counterpart with reasons is sent in its place, and was not."""
    replaced = settings.prompts.replaced
    wrong = [
        f"{named('prompts')} replaces {prompt.id}, but with reasons the judge is asked by {prompt.id}.reasons: add "
        f"{prompt.id}.reasons.txt (ours: longmark prompts {prompt.id}.reasons), or {named('reasons', False)}"
        for chosen in settings.selected
        if (judging := settings.judging_of(chosen)).reasons and judging.by_text
        for prompt in chosen.metric.prompts
        if prompt.use == "text" and prompt.id in replaced and f"{prompt.id}.reasons" not in replaced
    ]
    if wrong:
        raise UserError("\n".join(wrong))


def unsupported(settings: Settings, chosen: Selected) -> str | None:
    """Why a metric's calls cannot be made with these models, or None. An example that needs no call (an empty answer)
    is scored all the same."""
    if not settings.judging_of(chosen).by_text and chosen.metric.judged:
        unable = [
            judge.name for judge in settings.backends.judges if judge.capabilities.logprobs == 0
        ]
        if unable:
            return f"{', '.join(unable)} cannot give log-probabilities, which {chosen.name} reads here."
    lm = settings.backends.lm
    if "lm" in chosen.metric.models and lm is not None and lm.capabilities.prompt_logprobs is False:
        return f"{lm.name} cannot give the log-probabilities of a given text, which {chosen.name} needs."
    return None
