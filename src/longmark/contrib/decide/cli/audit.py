"""The verb `longmark audit`: tests a judge for bias."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from longmark.cli.arguments import INTERRUPTED, NO_VALUE, UNDER, needs_stats, pairs, reading, split
from longmark.cli.run import print_estimate, registry_of, run_options
from longmark.contrib.decide import audit_material as material
from longmark.engine.estimate import MetricEstimate, RunEstimate, dry_run
from longmark.engine.run import finish, make_settings, open_cache
from longmark.engine.session import RunResult, execute
from longmark.engine.settings import RunOptions, Settings
from longmark.errors import UserError
from longmark.metrics import Selected
from longmark.models.cache import CallCache
from longmark.models.sending import Counts
from longmark.progress import cost, counted
from longmark.records import Answered, Example, Pair, Row
from longmark.records.read import Reading
from longmark.records.verdicts import in_words
from longmark.records.write import write_object, write_rows
from longmark.report.format import listed
from longmark.report.gates import Gate, check_gates, gates_of
from longmark.report.tables import Column, Table
from longmark.scores.files import rows_of
from longmark.workspace import now
from longmark.writing import check_database, check_within, replacing
from longmark.writing import folder as make_folder

if TYPE_CHECKING:
    from longmark.contrib.decide.audit import JudgeScores, Observed
    from longmark.report.document import Section

PAIRS = "pairs.direct"
SAMPLED = 0.7  # the temperature of repeated samples
REPEATS = 3
EFFECTS = "effects"  # the folder of an audit's rows


def audit(arguments: argparse.Namespace) -> int:
    needs_stats("audit")
    from longmark.contrib.decide.audit import ASPECTS
    from longmark.report.document import check_out

    if arguments.out is None and not arguments.dry_run:
        raise UserError("the folder of the audit is missing: add --out DIR")
    if not arguments.judge:
        raise UserError(
            "the judge is missing: add --judge MODEL (`--judge embedded` runs on this machine)"
        )
    if arguments.out is not None:
        check_out(arguments.out)
    if arguments.against:
        _check_earlier(arguments.against, arguments.judge)
    arguments.metrics = arguments.metrics or ["ccrs.contextual_coherence"]
    options = run_options(arguments)
    work = AuditRuns(arguments, options, _examples(arguments))
    if arguments.dry_run:
        return _dry_run(arguments, options, work)
    own_cache = arguments.out / "calls.sqlite"
    check_database(own_cache)
    # an earlier audit's replies in the cache would hide that the judge has changed
    cache_file = own_cache if arguments.against else options.cache
    with closing(open_cache(cache_file)) as cache:
        settings = make_settings(arguments.metrics, registry_of(arguments, options, cache), options)
        arguments.trust = True  # asked for with these settings; the runs below read the same file
        specs = _checked(settings.selected)
        gate_names = [f"{aspect}.{name}" for aspect in ASPECTS for name in (*specs, PAIRS)]
        gates = gates_of(arguments.fail_under, gate_names)
        observed = _observed(arguments, [*specs]) if arguments.run else {}
        if code := finish(lambda: work.run(settings.selected, cache)):
            return code
    work.write(arguments.out / EFFECTS, specs)
    _publish(arguments, work, observed)
    return _check_effects(gates, arguments.out / EFFECTS, work.spent)


def _publish(
    arguments: argparse.Namespace, work: AuditRuns, observed: Mapping[str, Observed]
) -> None:
    """Writes the page of the effects, and prints what it says."""
    from rich.console import Console

    from longmark.contrib.decide.audit import document, findings, titled
    from longmark.report.document import publish

    folder = arguments.out / EFFECTS
    about = {
        "Judges": [titled(judge, work.models) for judge in arguments.judge],
        "Answers": str(arguments.examples or "bundled"),
        "Comparison": str(arguments.run or "none"),
    }
    page = document(
        findings(folder, observed),
        work.unchecked,
        about,
        list(_beside(folder, arguments)),
        work.models,
    )
    publish(page, arguments.out, Console(), verbose=False)


def _check_effects(gates: Sequence[Gate], folder: Path, spent: Counts) -> int:
    """Prints what the audit cost and which gates the effects in a folder meet; the exit code."""
    from longmark.report.summary import summarise

    checks = check_gates(gates, summarise([folder]), 0.05) if gates else []
    print(
        f"\n{counted(spent.calls, 'call')} · {spent.from_cache} from the cache · {cost(spent.usd)}"
    )
    for check in checks:
        print(check.line)
    return 0 if all(check.met for check in checks) else UNDER


def _dry_run(arguments: argparse.Namespace, options: RunOptions, work: AuditRuns) -> int:
    """Prints what the audit would take, a line for each of its runs. Nothing is sent, and nothing is written."""
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(TemporaryDirectory(prefix="longmark-")))
        # an audit against an earlier one uses no stored reply
        own_cache = scratch / "calls.sqlite" if arguments.against else options.cache
        cache = stack.enter_context(closing(open_cache(own_cache)))
        settings = make_settings(arguments.metrics, registry_of(arguments, options, cache), options)
        arguments.trust = True  # as for the audit itself
        _checked(settings.selected)
        estimate = finish(lambda: work.estimate(settings.selected, cache, scratch))
        print_estimate(estimate, "run of the audit")
    for aspect, why in work.unchecked.items():
        print(f"{aspect} would not be measured: {why}.")
    return 0


def _check_earlier(folder: Path, judges: Sequence[str]) -> None:
    """UserError for what is no audit of these judges."""
    if not (folder / EFFECTS / "rows.jsonl").is_file():
        raise UserError(f"--against {folder}: expected the folder of an earlier audit")
    earlier_judges = dict.fromkeys(str(row.system) for row in rows_of(folder / EFFECTS))
    if missing := [judge for judge in judges if judge not in earlier_judges]:
        raise UserError(
            f"--against {folder}: it is an audit of {listed([*earlier_judges])}, not of {listed(missing)}"
        )


def _examples(arguments: argparse.Namespace) -> list[Example]:
    """The answers that are audited with."""
    if arguments.examples is None:
        return material.bundled()[: 3 * arguments.limit if arguments.limit else None]
    examples = list(Reading(arguments.examples, **reading(arguments)).singles())
    if odd := next((example for example in examples if material.MARK in example.id), None):
        raise UserError(
            f'the id "{odd.id}" has {material.MARK} in it, which the audit needs; change the id'
        )
    return examples


def _checked(selected: Sequence[Selected]) -> dict[str, float]:
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
            except _Stopped as stopped:
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
        audit_estimate = RunEstimate()
        for run in self._planned(selected, self.arguments.out, scratch):
            options, settings = self._settings_of(run, cache)
            estimate = await dry_run(run.examples, settings, run.folder, cache, options)
            for metric in estimate.metrics.values():
                audit_estimate.metrics.setdefault(run.title, MetricEstimate()).add(metric)
            audit_estimate.rows_done += estimate.rows_done
            audit_estimate.measured |= estimate.measured
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
        for name, width in _checked(selected).items():
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
        """One run of the audit. _Stopped if it did not reach its end."""
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
            raise _Stopped(result, f"{why.rstrip('.')}.")
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


class _Stopped(Exception):
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


def _observed(arguments: argparse.Namespace, metrics: Sequence[str]) -> Mapping[str, Observed]:
    """Metric -> the difference of the first two systems of the comparison."""
    from longmark.analysis.compare import compare
    from longmark.contrib.decide.audit import Observed
    from longmark.scores.files import examples_of

    comparison = compare([arguments.run], systems=split(arguments.systems), draws=200)
    first, second = comparison.systems[:2]
    lengths: dict[str, list[int]] = {}
    for example in examples_of(arguments.run):
        if isinstance(example, Example) and example.answer:
            lengths.setdefault(example.system or "", []).append(material.word_count(example.answer))
    words = fmean(lengths.get(first) or [0]) - fmean(lengths.get(second) or [0])
    differences = {}
    for metric in comparison.metrics:
        for pair in metric.pairs:
            difference = pair.difference.value
            if {first, second} != set(pair.names) or difference is None:
                continue
            if metric.metric in metrics:
                # a pair may be in either order
                signed = difference if pair.first == first else -difference
                differences[metric.metric] = Observed(first, second, signed, words)
    if not differences:
        raise UserError(
            f"--run {arguments.run}: it does not compare two systems on {', '.join(metrics)}"
        )
    return differences


def _beside(folder: Path, arguments: argparse.Namespace) -> Iterator[Section]:
    """What the effects are compared with: those of the other judges, and of an earlier audit."""
    from longmark.analysis.compare import compare
    from longmark.analysis.compare.page import document
    from longmark.assertions.same import drifts, versions
    from longmark.report.document import Section

    if len(arguments.judge) > 1:
        judges = compare([folder], by="system", allow_different_judges=True, seed=arguments.seed)
        compared = document(judges).sections[0]
        family = (
            "The family over which p is adjusted is every effect below, for each pair of judges."
        )
        yield replace(compared, title="Judges compared", says=f"{compared.says} {family}")
    if arguments.against:
        earlier = arguments.against / EFFECTS
        # each judge is compared with itself
        changes = list(drifts(earlier, folder, allow_different_judges=True))
        judge = (Column("judge", "system"),) if len(arguments.judge) > 1 else ()
        columns = (
            Column("effect", "metric", kind="metric", key="metric"),
            *judge,
            Column("now - then", "change", 3, kind="estimate", key="change"),
            Column("finding", "finding"),
        )
        table = Table("drift", "Since the earlier audit", columns, changes)
        says = f"Each effect now, less that of the earlier audit; {versions(earlier, folder)}."
        yield Section("Since the earlier audit", says, (table,), brief=1)
