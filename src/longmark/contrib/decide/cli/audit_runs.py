"""The runs of an audit: the answers, and their variants, by each judge."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark.cli.arguments import INTERRUPTED, NO_VALUE, pairs
from longmark.cli.run import registry_of
from longmark.contrib.decide import audit_material as material
from longmark.engine.estimate import MetricEstimate, RunEstimate, dry_run
from longmark.engine.run import make_settings
from longmark.engine.session import RunResult, execute
from longmark.engine.settings import RunOptions, Settings
from longmark.errors import UserError
from longmark.metrics import Selected
from longmark.models.cache import CallCache
from longmark.models.sending import Counts
from longmark.records import Answered, Example, Pair, Row
from longmark.records.verdicts import in_words
from longmark.records.write import write_object, write_rows
from longmark.workspace import now
from longmark.writing import check_within, replacing
from longmark.writing import folder as make_folder

if TYPE_CHECKING:
    from longmark.contrib.decide.audit import JudgeScores

PAIRS = "pairs.direct"
SAMPLED = 0.7  # the temperature of repeated samples
REPEATS = 3


def checked_metrics(selected: Sequence[Selected]) -> dict[str, float]:
    """Score -> the width of its scale. UserError for a metric that cannot be audited."""
    widths = {}
    for chosen in selected:
        for name, spec in chosen.scores.items():
            low, high = spec.bounds
            if not chosen.metric.judged or low is None or high is None or len(chosen.scores) > 1:
                raise UserError(
                    f"{name}: an audit needs a metric with one score that a judge gives, between two bounds"
                )
            widths[name] = high - low
    return widths


@dataclass(frozen=True, slots=True)
class AuditRun:
    """One run of an audit. name: of its folder; title: for people; folder: None in a dry run without one; settings:
    options that differ from the audit's."""

    judge: str
    name: str
    title: str
    folder: Path | None
    examples: Sequence[Answered]
    metrics: list[str]
    settings: Mapping[str, Any]


@dataclass
class AuditRuns:
    """The runs of an audit. rows: of all effects; unchecked: aspect -> why it was not measured; models: judge -> the
    model that its name stands for."""

    arguments: argparse.Namespace
    options: RunOptions
    examples: list[Example]

    def read_as(self, settings: Settings) -> None:
        """Judges are read as a run with these settings reads them."""
        self.options = replace(
            self.options,
            scoring=settings.judging.scoring,
        )

    def __post_init__(self) -> None:
        self.own = pairs(self.arguments.own, "JUDGE=SYSTEM")
        systems = {example.system for example in self.examples}
        for judge, system in self.own.items():
            if (
                judge not in self.arguments.judge
                or system not in systems
                or len({*self.arguments.judge}) < 2
            ):
                raise UserError(
                    f"--own {judge}={system}: expected one of two --judge or more, and a system of the file"
                )
        self.rows: list[Row] = []
        self.unchecked: dict[str, str] = {}
        self.spent = Counts()
        self.models: dict[str, str] = {}
        self.changed: list[Example] = []  # the answers with their variants
        self.pairs: list[Pair] = []  # of two answers to a question
        self.main: dict[str, list[JudgeScores]] = {}  # judge -> of each metric

    async def run(self, selected: Sequence[Selected], cache: CallCache) -> int:
        """Scores everything; the exit code of a session that was stopped, else 0."""
        from longmark.contrib.decide.audit import self_preference

        await self._prepare(selected)
        planned = self._planned(selected, self.arguments.out)
        results: dict[str, dict[str, RunResult]] = {}
        for place, run in enumerate(planned, 1):
            if not self.options.quiet:
                print(f"Run {place} of {len(planned)}: {run.title}", file=sys.stderr)
            try:
                result = await self._scored(run, cache)
            except AuditStopped as stopped:
                print(
                    f"longmark: the audit stopped: {stopped.why} Repeat the command to go on.",
                    file=sys.stderr,
                )
                return INTERRUPTED if stopped.result.stopped == "interrupt" else NO_VALUE
            results.setdefault(run.judge, {})[run.name] = result
        for judge, runs in results.items():
            self._add_effects(judge, selected, runs)
        for judge, system in self.own.items():
            for place, judge_scores in enumerate(self.main[judge]):
                scores_of_others = [
                    metrics[place] for name, metrics in self.main.items() if name != judge
                ]
                self.rows += self_preference(judge_scores, scores_of_others, system)
        return 0

    async def estimate(
        self, selected: Sequence[Selected], cache: CallCache, scratch: Path
    ) -> RunEstimate:
        """What the runs would still take, each under its title. scratch: a folder for prompts."""
        await self._prepare(selected)
        self._note_unscorable(selected)
        audit_estimate = RunEstimate()
        for run in self._planned(selected, self.arguments.out, scratch):
            options, settings = self._settings_of(run, cache)
            estimate = await dry_run(run.examples, settings, run.folder, cache, options)
            for metric in estimate.metrics.values():
                audit_estimate.metrics.setdefault(run.title, MetricEstimate()).add(metric)
            audit_estimate.rows_done += estimate.rows_done
            audit_estimate.measured |= estimate.measured
            audit_estimate.lists_statements |= estimate.lists_statements
            audit_estimate.rounds += estimate.rounds
            audit_estimate.window = max(audit_estimate.window, estimate.window)
        return audit_estimate

    def _planned(
        self, selected: Sequence[Selected], out: Path | None, scratch: Path | None = None
    ) -> list[AuditRun]:
        """The runs in their order. out: the audit's folder, None for a dry run without one; scratch: where the prompts
        in other words are written, if not there."""
        planned: list[AuditRun] = []
        for place, judge in enumerate(self.arguments.judge, 1):
            folder = out / "runs" / f"judge-{place}" if out else None
            planned += self._planned_for(judge, folder, selected, scratch or out or Path())
        return planned

    def _planned_for(
        self,
        judge: str,
        folder: Path | None,
        selected: Sequence[Selected],
        prompts: Path,
    ) -> Iterator[AuditRun]:
        """The runs of one judge."""
        metrics = [chosen.name for chosen in selected]
        plain = material.answers(self.examples)
        about = f"{judge}, " if len(self.arguments.judge) > 1 else ""

        def planned(
            name: str,
            title: str,
            examples: Sequence[Answered],
            names: list[str],
            **settings: Any,
        ) -> AuditRun:
            run_folder = folder / name if folder else None
            return AuditRun(judge, name, f"{about}{title}", run_folder, examples, names, settings)

        yield planned("main", "answers as they are and changed", self.changed, metrics)
        if self.options.by_text:
            for k in range(REPEATS):
                yield planned(
                    f"repeat-{k}",
                    f"sampled again, {k + 1} of {REPEATS}",
                    plain,
                    metrics,
                    temperature=SAMPLED,
                    seed=self.options.seed + k,
                )
            wordings = max(len(material.rewordings(name)) for name in metrics)
            for k in range(wordings):
                reworded = [
                    chosen for chosen in selected if len(material.rewordings(chosen.name)) > k
                ]
                place = make_folder(prompts / "prompts" / str(k), within=prompts)
                yield planned(
                    f"prompt-{k}",
                    f"prompts in other words, {k + 1} of {wordings}",
                    plain,
                    [chosen.name for chosen in reworded],
                    prompts=_prompts(reworded, k, place),
                )
        if self.pairs:
            yield planned("order", "two answers in both orders", self.pairs, [PAIRS])

    def _add_effects(
        self, judge: str, selected: Sequence[Selected], runs: Mapping[str, RunResult]
    ) -> None:
        """Adds the effects of a judge, whose runs have these names."""
        from longmark.contrib.decide.audit import JudgeScores, effects, flips

        if "order" in runs:
            self.rows += flips(judge, list(runs["order"].rows()))
        added = material.words_added(self.changed)
        for name, width in checked_metrics(selected).items():
            rows = {
                run: {row.example_id: row for row in result.rows() if row.metric == name}
                for run, result in runs.items()
            }
            prompts, repeats = (
                [run_rows for run, run_rows in rows.items() if run.startswith(kind)]
                for kind in ("prompt", "repeat")
            )
            scored = JudgeScores(judge, name, width, rows["main"], prompts, repeats, added)
            self.main.setdefault(judge, []).append(scored)
            self.rows += effects(scored)

    def _settings_of(self, run: AuditRun, cache: CallCache) -> tuple[RunOptions, Settings]:
        # the examples are read already: how to read them is no setting of a run
        options = replace(
            self.options,
            judges=[run.judge],
            mapping={},
            limit=None,
            encoding="",
            skip_bad=False,
        )
        options = replace(options, **run.settings)
        registry = registry_of(self.arguments, options, cache)
        silent = replace(options, tell=lambda _notice: None)
        settings = make_settings(run.metrics, registry, silent)
        if configured := settings.backends.configured(("judge",)).get(run.judge):
            self.models[run.judge] = f"{configured['model']}@{configured['endpoint']}"
        return options, settings

    async def _scored(self, run: AuditRun, cache: CallCache) -> RunResult:
        """One run of the audit. AuditStopped if it did not reach its end."""
        assert run.folder is not None
        check_within(self.arguments.out, run.folder)
        options, settings = self._settings_of(run, cache)
        result = await execute(
            run.examples,
            settings,
            run.folder,
            cache,
            options,
            self.options.budget,
        )
        self.spent = self.spent.plus(result.counts)
        unreadable = in_words(result.unreadable) if result.unreadable else ""
        reasons = (
            result.budget,
            result.refused,
            unreadable,
            result.stopped,
            "; ".join(result.closed),
        )
        why = next(filter(None, reasons), None)
        if why is not None:
            raise AuditStopped(result, f"{why.rstrip('.')}.")
        return result

    async def _prepare(self, selected: Sequence[Selected]) -> None:
        """Changes the answers, and notes the aspects that cannot be measured."""
        self.changed = await material.variants(self.examples)
        self.pairs = material.pairs(self.examples)
        not_in_file = "the bundled answers have it, and your file may not say which answer is right"
        kinds = {
            example.id.rpartition(material.MARK)[2]
            for example in self.changed
            if material.MARK in example.id
        }
        reasons = {
            material.KNOWN: not_in_file,
            material.LANGUAGE: "only the bundled answers have translations",
            material.LENGTH: "no answer could be padded",
            material.POSITION: "no answer has two passages",
        }
        self.unchecked |= {kind: why for kind, why in reasons.items() if kind not in kinds}
        if not self.pairs:
            self.unchecked["order"] = "no question has answers of two systems"
        if not self.options.by_text:
            why = "its prompts ask for a number (--scoring text)"
            self.unchecked |= {
                "repeat": "probabilities are read, not sampled (--scoring expected)",
                "prompt": why,
            }
        elif not any(material.rewordings(chosen.name) for chosen in selected):
            self.unchecked["prompt"] = "there are no other words for the prompts of these metrics"
        if not self.own:
            self.unchecked["self"] = (
                "it needs another judge, and the judge's own system (--own JUDGE=SYSTEM)"
            )

    def _note_unscorable(self, selected: Sequence[Selected]) -> None:
        """Notes what a dry run has no rows to show: the aspects that a metric of the audit measures, where no answer has
        what the metrics need."""
        missing = {
            name: [chosen.missing(example, name) for example in self.examples]
            for chosen in selected
            for name in chosen.scores
        }
        if not self.examples or not all(map(all, missing.values())):
            return
        why = "; ".join(
            f"no answer has the {' and '.join(fields[0])} that {name} needs"
            for name, fields in missing.items()
        )
        for aspect in (material.LENGTH, material.INJECTION, material.POSITION, "repeat", "prompt"):
            self.unchecked.setdefault(aspect, why)

    def write(self, folder: Path, specs: Mapping[str, float]) -> None:
        """The effects as a run that other verbs read."""
        from longmark.contrib.decide.audit import declared

        make_folder(folder, within=self.arguments.out)
        facts = {
            name: fact
            for metric, width in {**specs, PAIRS: 1.0}.items()
            for name, fact in declared(metric, width).items()
        }
        measured = {row.metric for row in self.rows}
        metrics = {name: fact for name, fact in facts.items() if name in measured}
        write_object(
            folder / "manifest.json",
            {"fixed": {}, "sessions": [], "metrics": metrics, "finished": now()},
        )
        write_rows(self.rows, folder / "rows.jsonl")


class AuditStopped(Exception):
    def __init__(self, result: RunResult, why: str) -> None:
        self.result = result
        self.why = why


def _prompts(selected: Sequence[Selected], k: int, folder: Path) -> Path:
    """A folder with the k-th prompts in other words, in the forms of reply that the metric's own prompts have."""
    for chosen in selected:
        for prompt in chosen.metric.prompts:
            if prompt.use in ("text", "reasons"):
                form = prompt.text.rpartition("\n")[2]
                text = f"{material.rewordings(chosen.name)[k]}\n{form}\n"
                with replacing(folder / f"{prompt.id}.txt") as file:
                    file.write(text.encode())
    return folder
