"""The verb `longmark audit`: tests a judge for bias."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, closing
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

from longmark.cli.arguments import UNDER, needs_stats, reading, split
from longmark.cli.run import print_estimate, registry_of, run_options
from longmark.contrib.decide import audit_material as material
from longmark.engine.run import finish, make_settings, open_cache
from longmark.engine.settings import RunOptions
from longmark.errors import UserError
from longmark.models.sending import Counts
from longmark.progress import cost, counted
from longmark.records import Example
from longmark.records.read import Reading
from longmark.report.format import listed
from longmark.report.gates import Gate, check_gates, gates_of, refuse_unknown_systems
from longmark.report.tables import Column, Table
from longmark.scores.files import rows_of
from longmark.writing import check_database

if TYPE_CHECKING:
    from longmark.contrib.decide.audit import Observed
    from longmark.report.document import Section
from longmark.contrib.decide.cli.audit_runs import PAIRS, AuditRuns, checked_metrics

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
        work.read_as(settings)
        arguments.trust = True  # asked for with these settings; the runs below read the same file
        specs = checked_metrics(settings.selected)
        gate_names = [f"{aspect}.{name}" for aspect in ASPECTS for name in (*specs, PAIRS)]
        gates = gates_of(arguments.fail_under, gate_names)
        refuse_unknown_systems(gates, arguments.judge)
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

    limits = frozenset(gate.bad for gate in gates if gate.bad)
    checks = check_gates(gates, summarise([folder], limits=limits), 0.05) if gates else []
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
        work.read_as(settings)
        arguments.trust = True  # as for the audit itself
        checked_metrics(settings.selected)
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
