"""The stages of a CALF study: pairs are scored into a run, and the runs given are read beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from longmark.analysis.metaeval.baselines import TITLES
from longmark.contrib.papers.calf.cases import write_pages
from longmark.contrib.papers.calf.page import document
from longmark.contrib.papers.calf.results import CalfOptions, CalfResults
from longmark.contrib.papers.calf.rows import read, verdicts_of
from longmark.contrib.papers.study import PaperStudy, StudySession, scoring_stage
from longmark.engine.settings import Settings
from longmark.errors import UserError
from longmark.progress import counted
from longmark.records import Pair
from longmark.records.read import Reading
from longmark.scores.files import sources_of

RUN = "run"


@dataclass(frozen=True)
class CalfPlan:
    """What a study reads and scores. pairs: a file of pairs; runs: of pairs, scored before; settings: of what is still
    to be scored (None: nothing); reading: limit, mapping, encoding and skip_bad of the file."""

    out: Path
    pairs: Path | None
    runs: Sequence[Path]
    settings: Settings | None
    options: CalfOptions = field(default_factory=CalfOptions)
    reading: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if self.pairs is None and not self.runs:
            raise UserError(
                "there is nothing to study: give a file of pairs, or folders of `longmark run PAIRS`"
            )
        if self.settings is not None and self.pairs is None:
            raise UserError("--metrics needs a file of pairs to score; runs are read as they are")

    def file(self) -> Reading | tuple[()]:
        return () if self.pairs is None else Reading(self.pairs, **self.reading)

    @cached_property
    def results(self) -> CalfResults:
        """Of all runs there are; read once."""
        scored = [
            path for path in (self.out / RUN,) if self.settings and (path / "rows.jsonl").exists()
        ]
        return CalfResults(read([*self.runs, *scored], self.file()), self.options)

    def check(self) -> None:
        """UserError, before anything is paid for, if a file has no pairs with a choice of raters, or verdicts that
        cannot be read or have the name of a metric."""
        sources_of(self.runs) if self.runs else ()
        labelled = []
        taken_names = {*TITLES.values(), *(self.settings.scores if self.settings else ())}
        for example in self.file():
            labelled.append(isinstance(example, Pair) and example.label is not None)
            names = dict(verdicts_of(example, str(self.pairs))) if isinstance(example, Pair) else {}
            if taken := names.keys() & taken_names:
                raise UserError(
                    f"{self.pairs}: {example.id}: meta.verdicts: {min(taken)} is also the name of a metric or a baseline; "
                    "give the verdicts another name"
                )
        if self.pairs is not None and not any(labelled):
            raise UserError(
                f"{self.pairs}: none of {counted(len(labelled), 'example')} is a pair with a human choice; a pair "
                "has the columns a and b, and `label` (a, b or tie) or `labels` with the choice of each rater"
            )


def calf_study(plan: CalfPlan, session: StudySession) -> PaperStudy:
    """The study, checked as far as possible without a call: UserError if something is wrong."""
    fixed = plan.settings.fixed() if plan.settings is not None else {}
    stages = []
    if plan.settings is not None and plan.pairs is not None:
        stages = [
            scoring_stage(
                "scores", plan.out / RUN, plan.pairs, plan.settings, session, plan.reading
            )
        ]
    return PaperStudy(
        out=plan.out,
        kind="calf",
        settings=fixed,
        stages=stages,
        session=session,
        document=lambda stage_states: document(plan.results, stage_states, fixed),
        check=plan.check,
        pages=lambda: write_pages(plan.results, plan.file(), plan.out),
        unscored=lambda: [
            name
            for name, judge in plan.results.judges.items()
            if not (judge.baseline or judge.choices)
        ],
    )
