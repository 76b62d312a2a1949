"""The stages of a ClimaQA study: it computes similarities of labelled cloze answers by window, and reads the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from longmark.analysis.studies.climaqa import beside
from longmark.analysis.studies.climaqa.page import Found, document
from longmark.analysis.studies.climaqa.results import Options, Results
from longmark.analysis.studies.climaqa.rows import Read, read
from longmark.analysis.studies.study import Expected, Made, Session, Stage, Study, made_with
from longmark.datasets.benchmark import items_of
from longmark.errors import UserError
from longmark.models.client import Client, UsageLog
from longmark.models.handles import Models
from longmark.models.registry import ModelNames, Registry, price_of
from longmark.prompts import PromptBook
from longmark.validator.evaluate import read_precision
from longmark.validator.labels import read_labels

WINDOWS = "windows.jsonl"
_SOURCES = ("benchmark", "labels", "validator", "window_labels", "embedder", "fever")


@dataclass(frozen=True)
class Plan:
    """What a study reads. embedder: for window_labels; the others as the options of `longmark climaqa-study`."""

    out: Path
    runs: Sequence[Path]
    benchmark: Path | None = None
    labels: Path | None = None
    validator: Path | None = None
    window_labels: Path | None = None
    embedder: str | None = None
    fever: Path | None = None
    options: Options = field(default_factory=Options)

    def __post_init__(self) -> None:
        if not self.runs and not any((self.benchmark, self.labels, self.validator, self.window_labels, self.fever)):
            raise UserError("there is nothing to study; give runs of `longmark run ANSWERS --metrics climaqa`")
        if (self.window_labels is None) != (self.embedder is None):
            raise UserError("--window-labels and --embedder belong together: give both, or neither")

    @cached_property
    def read(self) -> Read:
        """Of all runs; read once."""
        return read(self.runs, self.benchmark)

    def check(self) -> None:
        """UserError, before anything is paid for, if a source cannot be read."""
        if self.validator:
            read_precision(self.validator)
        self.read  # noqa: B018

    @cached_property
    def found(self) -> Found:
        """All results; made once."""
        results, windows = Results(self.read, self.options), self.out / WINDOWS
        items = items_of(self.benchmark) if self.benchmark else []
        return Found(
            results,
            read_labels(self.labels, items) if self.labels else None,
            read_precision(self.validator) if self.validator else (),
            beside.windows(windows, results) if self.window_labels and windows.exists() else (),
            beside.fever(self.fever, results) if self.fever else None,
            {name: str(value) for name in _SOURCES if (value := getattr(self, name)) is not None},
        )


def climaqa_study(plan: Plan, session: Session) -> Study:
    """The study; its sources are read, and checked, before anything is sent."""
    stages = [_window_stage(plan, plan.window_labels, session)] if plan.window_labels is not None else []
    return Study(
        out=plan.out,
        kind="climaqa",
        settings={},
        stages=stages,
        session=session,
        document=lambda known: document(plan.found, known),
        check=plan.check,
    )


def _window_stage(plan: Plan, path: Path, session: Session) -> Stage:
    given = beside.read_labelled(path)
    backends = (session.registry or Registry(session.cache)).backends(ModelNames(embedder=plan.embedder), ("embedder",))
    client = Client(session.cache, concurrency=session.concurrency, budget=session.budget, price_of=price_of)
    models = Models(backends, client, UsageLog(), PromptBook())

    async def make() -> Made:
        made, _ = await made_with(beside.with_cosines(given, models), models)
        return made

    identity = backends.embedder.identity if backends.embedder is not None else ""
    expected = Expected(len(given), len(given))
    return Stage("windows", plan.out / WINDOWS, make, expected, {"labels": path}, {"embedder": identity})
