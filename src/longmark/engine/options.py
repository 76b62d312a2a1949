"""The options of a run: one dataclass for the command line and for `longmark.run`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

from longmark.engine.session import CONCURRENCY, Options
from longmark.errors import UnknownName, UserError
from longmark.models.budget import Budget
from longmark.models.registry import ModelNames


@dataclass(frozen=True)
class RunOptions(ModelNames):
    """Options of a run, by the names of `longmark run`. Models (judges, generator, embedder, reranker, lm) are names or
    backends. UserError for a value of the wrong kind.

    Fixed for the run's folder:
      params           `METRIC.NAME` -> value
      scoring          how a judge's score is read: `text` or `expected`
      seed             of everything that samples
      prompts          a folder with ID.txt files that replace prompts
      domain           a YAML file; None: the built-in domain, hazards
    May change between sessions:
      cache            the file of the call cache; None: calls.sqlite in longmark's home
      timeout          seconds for one HTTP attempt; max_reply_bytes: of one reply
      limit            the first examples only
      mapping          our field -> column of the file
      skip_bad         leave bad records out instead of stopping
      concurrency      calls at once to one model, at most
      max_calls, max_tokens, max_usd   the budget of this session
      retry            statuses to request again, beside `model_error` and `over_budget`
      quiet            show no progress
    """

    params: Mapping[str, Any] = field(default_factory=dict)
    scoring: str = "text"
    seed: int = 0
    prompts: str | Path | None = None
    domain: str | Path | None = None
    cache: str | Path | None = None
    timeout: float | None = None
    max_reply_bytes: int | None = None
    limit: int | None = None
    mapping: Mapping[str, str] = field(default_factory=dict)
    skip_bad: bool = False
    concurrency: int = CONCURRENCY
    max_calls: int | None = None
    max_tokens: int | None = None
    max_usd: float | None = None
    retry: Collection[str] = ()
    quiet: bool = True

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> RunOptions:
        """The options of these names. UnknownName, with the nearest names, for one that does not exist."""
        known = [one.name for one in fields(cls)]
        for name in given:
            if name not in known:
                raise UnknownName(
                    "option of longmark.run", name, known, "See: help(longmark.engine.options.RunOptions)"
                )
        return cls(**given)

    def __post_init__(self) -> None:
        if self.timeout is not None and not (isinstance(self.timeout, int | float) and self.timeout > 0):
            raise UserError(f"timeout: expected a number of seconds above 0, found {self.timeout!r}")
        if isinstance(self.seed, bool) or not isinstance(self.seed, int):
            raise UserError(f"seed: expected a whole number, found {self.seed!r}")

    def session(self, **more: Any) -> Options:
        """The part that a session of the engine takes. more: its `tell` and `handle_signals`."""
        return Options(
            limit=self.limit,
            mapping=self.mapping or {},
            skip_bad=self.skip_bad,
            concurrency=self.concurrency,
            budget=Budget(self.max_calls, self.max_tokens, self.max_usd),
            retry=self.retry,
            quiet=self.quiet,
            **more,
        )
