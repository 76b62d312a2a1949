"""The verb `longmark audit`: tests a judge for bias."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

from longmark.cli.arguments import INTERRUPTED, NO_VALUE, UNDER, needs_stats, pairs, reading, split
from longmark.cli.run import registry_of, run_options
from longmark.contrib.decide import audit_material as material
from longmark.engine.run import finish, make_settings, open_cache
from longmark.engine.session import RunResult, execute
from longmark.engine.settings import RunOptions
from longmark.errors import UserError
from longmark.metrics import Selected
from longmark.models.cache import CallCache
from longmark.models.sending import Counts
from longmark.progress import cost, counted
from longmark.records import Answered, Example, Row
from longmark.records.read import Reading
from longmark.records.verdicts import in_words
from longmark.records.write import write_object, write_rows
from longmark.report.format import listed
from longmark.report.gates import check_gates, gates_of
from longmark.report.tables import Column, Table
from longmark.scores.files import rows_of
from longmark.workspace import now
from longmark.writing import check_database, check_within, replacing
from longmark.writing import folder as make_folder

if TYPE_CHECKING:
    from longmark.contrib.decide.audit import JudgeScores
    from longmark.report.document import Section

PAIRS = "pairs.direct"
SAMPLED, REPEATS = 0.7, 3  # the temperature of repeated samples, and how many
EFFECTS = "effects"  # the folder of an audit's rows


def audit(arguments: argparse.Namespace) -> int:
    needs_stats("audit")
    from rich.console import Console

    from longmark.contrib.decide.audit import ASPECTS, document, findings
    from longmark.report.document import check_out, publish
    from longmark.report.summary import summarise

    if arguments.out is None:
        raise UserError("the folder of the audit is missing: add --out DIR")
    if not arguments.judge:
        raise UserError(
            "the judge is missing: add --judge MODEL (`--judge embedded` runs on this machine)"
        )
    check_out(arguments.out)
    if arguments.against:
        _check_earlier(arguments.against, arguments.judge)
    arguments.metrics = arguments.metrics or ["ccrs.contextual_coherence"]
    options = run_options(arguments)
    work = AuditRuns(arguments, options, _examples(arguments))
    # an earlier audit's replies in the cache would hide that the judge has changed
    check_database(arguments.out / "calls.sqlite")
    with closing(
        open_cache(arguments.out / "calls.sqlite" if arguments.against else options.cache)
    ) as cache:
        settings = make_settings(arguments.metrics, registry_of(arguments, options, cache), options)
        arguments.trust = True  # asked for with these settings; the runs below read the same file
        specs = _checked(settings.selected)
        known = [f"{aspect}.{name}" for aspect in ASPECTS for name in (*specs, PAIRS)]
        gates = gates_of(arguments.fail_under, known)
        observed = _observed(arguments, [*specs]) if arguments.run else {}
        if code := finish(lambda: work.run(settings.selected, cache)):
            return code
    folder = arguments.out / EFFECTS
    work.write(folder, specs)
    about = {
        "Judges": arguments.judge,
        "Answers": str(arguments.examples or "bundled"),
        "Comparison": str(arguments.run or "none"),
    }
    more = list(_beside(folder, arguments))
    publish(
        document(findings(folder, observed), work.unchecked, about, more),
        arguments.out,
        Console(),
        verbose=False,
    )
    checks = check_gates(gates, summarise([folder]), 0.05) if gates else []
    print(
        f"\n{counted(work.spent.calls, 'call')} · {work.spent.from_cache} from the cache · {cost(work.spent.usd)}"
    )
    for check in checks:
        print(check.line)
    return UNDER if any(not check.met for check in checks) else 0


def _check_earlier(folder: Path, judges: Sequence[str]) -> None:
    """UserError for what is no audit of these judges."""
    if not (folder / EFFECTS / "rows.jsonl").is_file():
        raise UserError(f"--against {folder}: expected the folder of an earlier audit")
    known = dict.fromkeys(str(row.system) for row in rows_of(folder / EFFECTS))
    if others := [judge for judge in judges if judge not in known]:
        raise UserError(
            f"--against {folder}: it is an audit of {listed([*known])}, not of {listed(others)}"
        )


def _examples(arguments: argparse.Namespace) -> list[Example]:
    """The answers that are audited with."""
    if arguments.examples is None:
        return material.bundled()[: 3 * arguments.limit if arguments.limit else None]
    found = list(Reading(arguments.examples, **reading(arguments)).singles())
    if odd := next((one for one in found if material.MARK in one.id), None):
        raise UserError(
            f'the id "{odd.id}" has {material.MARK} in it, which the audit needs; change the id'
        )
    return found


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


@dataclass
class AuditRuns:
    """The runs of an audit. rows: of all effects; unchecked: aspect -> why it was not measured."""

    arguments: argparse.Namespace
    options: RunOptions
    examples: list[Example]

    def __post_init__(self) -> None:
        self.own = pairs(self.arguments.own, "JUDGE=SYSTEM")
        systems = {one.system for one in self.examples}
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
        self.main: dict[str, list[JudgeScores]] = {}  # judge -> of each metric

    async def run(self, selected: Sequence[Selected], cache: CallCache) -> int:
        """Scores everything; the exit code of a session that was stopped, else 0."""
        from longmark.contrib.decide.audit import self_preference

        shown, both = await material.variants(self.examples), material.pairs(self.examples)
        self._note(selected, shown, both)
        for place, judge in enumerate(self.arguments.judge, 1):
            try:
                await self._judge(
                    judge,
                    self.arguments.out / "runs" / f"judge-{place}",
                    selected,
                    shown,
                    both,
                    cache,
                )
            except _Stopped as stopped:
                print(
                    f"longmark: the audit stopped: {stopped.why} Repeat the command to go on.",
                    file=sys.stderr,
                )
                return INTERRUPTED if stopped.result.stopped == "interrupt" else NO_VALUE
        for judge, system in self.own.items():
            for place, own in enumerate(self.main[judge]):
                others = [its[place] for name, its in self.main.items() if name != judge]
                self.rows += self_preference(own, others, system)
        return 0

    async def _judge(
        self,
        judge: str,
        folder: Path,
        selected: Sequence[Selected],
        shown: Sequence[Example],
        both: Sequence[Answered],
        cache: CallCache,
    ) -> None:
        """Adds the effects of a judge."""
        from longmark.contrib.decide.audit import JudgeScores, effects, flips

        names, plain = [chosen.name for chosen in selected], material.answers(self.examples)
        runs = {"main": await self._scored(judge, folder / "main", shown, names, cache)}
        for k in range(REPEATS if self.options.by_text else 0):
            how: dict[str, Any] = {"temperature": SAMPLED, "seed": self.options.seed + k}
            runs[f"repeat-{k}"] = await self._scored(
                judge, folder / f"repeat-{k}", plain, names, cache, **how
            )
        for k in range(
            max(len(material.rewordings(name)) for name in names) if self.options.by_text else 0
        ):
            reworded = [chosen for chosen in selected if len(material.rewordings(chosen.name)) > k]
            place = make_folder(self.arguments.out / "prompts" / str(k), within=self.arguments.out)
            how = {"prompts": _prompts(reworded, k, place)}
            own = [chosen.name for chosen in reworded]
            runs[f"prompt-{k}"] = await self._scored(
                judge, folder / f"prompt-{k}", plain, own, cache, **how
            )
        if both:
            self.rows += flips(
                judge,
                list((await self._scored(judge, folder / "order", both, [PAIRS], cache)).rows()),
            )
        added = material.words_added(shown)
        for name, width in _checked(selected).items():
            of = {
                run: {row.example_id: row for row in result.rows() if row.metric == name}
                for run, result in runs.items()
            }
            prompts, repeats = (
                [its for run, its in of.items() if run.startswith(kind)]
                for kind in ("prompt", "repeat")
            )
            scored = JudgeScores(judge, name, width, of["main"], prompts, repeats, added)
            self.main.setdefault(judge, []).append(scored)
            self.rows += effects(scored)

    async def _scored(
        self,
        judge: str,
        out: Path,
        examples: Sequence[Answered],
        metrics: Sequence[str],
        cache: CallCache,
        **how: Any,
    ) -> RunResult:
        """One run of the audit. _Stopped if it did not reach its end."""
        own: dict[str, Any] = {
            "judges": [judge],
            "mapping": {},
            "limit": None,
            "encoding": "",
            "skip_bad": False,
        }
        check_within(self.arguments.out, out)
        asked = replace(self.options, **{**own, **how})
        registry = registry_of(self.arguments, asked, cache)
        settings = make_settings(metrics, registry, replace(asked, tell=lambda _notice: None))
        result = await execute(examples, settings, out, cache, asked, self.options.budget)
        self.spent = self.spent.plus(result.counts)
        unreadable = in_words(result.unreadable) if result.unreadable else ""
        if (
            why := result.budget
            or result.refused
            or unreadable
            or result.stopped
            or "; ".join(result.closed)
        ):
            raise _Stopped(result, f"{why.rstrip('.')}.")
        return result

    def _note(
        self, selected: Sequence[Selected], shown: Sequence[Example], both: Sequence[Any]
    ) -> None:
        """Notes the aspects that cannot be measured."""
        own = "the bundled answers have it, and your file may not say which answer is right"
        kinds = {one.id.rpartition(material.MARK)[2] for one in shown if material.MARK in one.id}
        reasons = {
            material.KNOWN: own,
            material.LANGUAGE: "only the bundled answers have translations",
            material.LENGTH: "no answer could be padded",
            material.POSITION: "no answer has two passages",
        }
        self.unchecked |= {kind: why for kind, why in reasons.items() if kind not in kinds}
        if not both:
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
        there = {row.metric for row in self.rows}
        metrics = {name: fact for name, fact in facts.items() if name in there}
        write_object(
            folder / "manifest.json",
            {"fixed": {}, "sessions": [], "metrics": metrics, "finished": now()},
        )
        write_rows(self.rows, folder / "rows.jsonl")


class _Stopped(Exception):
    def __init__(self, result: RunResult, why: str) -> None:
        self.result, self.why = result, why


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


def _observed(arguments: argparse.Namespace, metrics: Sequence[str]) -> Mapping[str, Any]:
    """Metric -> the difference of the first two systems of the comparison."""
    from longmark.analysis.compare import compare
    from longmark.contrib.decide.audit import Observed
    from longmark.scores.files import examples_of

    found = compare([arguments.run], systems=split(arguments.systems), draws=200)
    first, second = found.systems[:2]
    lengths: dict[str, list[int]] = {}
    for one in examples_of(arguments.run):
        if isinstance(one, Example) and one.answer:
            lengths.setdefault(one.system or "", []).append(material.word_count(one.answer))
    words = fmean(lengths.get(first) or [0]) - fmean(lengths.get(second) or [0])
    made = {}
    for metric in found.metrics:
        pair = next((one for one in metric.pairs if {first, second} == set(one.names)), None)
        if metric.metric in metrics and pair and pair.difference.value is not None:
            sign = 1 if pair.first == first else -1
            made[metric.metric] = Observed(first, second, sign * pair.difference.value, words)
    if not made:
        raise UserError(
            f"--run {arguments.run}: it does not compare two systems on {', '.join(metrics)}"
        )
    return made


def _beside(folder: Path, arguments: argparse.Namespace) -> Iterator[Section]:
    """What the effects are compared with: those of the other judges, and of an earlier audit."""
    from longmark.analysis.compare import compare
    from longmark.analysis.compare.page import document
    from longmark.assertions.same import drifts, versions
    from longmark.report.document import Section

    if len(arguments.judge) > 1:
        judges = compare([folder], by="system", allow_different_judges=True, seed=arguments.seed)
        yield replace(document(judges).sections[0], title="Judges compared")
    if arguments.against:
        earlier = arguments.against / EFFECTS
        changes = [
            *drifts(earlier, folder, allow_different_judges=True)
        ]  # each judge is compared with itself
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
