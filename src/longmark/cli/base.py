"""The change of a run against a base run (`--base RUN`): `compare` for each system that both have, paired by question.

A system has its counterpart by its name; a run and a base of one system each are compared whatever the names. Nothing
that goes wrong here loses the run: what cannot be compared has a reason, and fails with --fail-if-worse.
"""

from __future__ import annotations

import argparse
import difflib
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from longmark.assertions.result import NOT_TESTED, Checked
from longmark.assertions.same import pairs_of
from longmark.cli.arguments import bounds_of, needs_stats, scores_in
from longmark.errors import UnknownName, UserError
from longmark.places import real
from longmark.records.metric_name import under, without_slice
from longmark.scores.files import source_of
from longmark.scores.manifest import read_manifest, refuse_pairs
from longmark.scores.observations import Observations

if TYPE_CHECKING:
    from longmark.report.outputs import Change

OPTIONS = ("base", "fail_if_worse", "margin", "require_base")
"""Options of which one asks for the change against a base."""


def check(arguments: argparse.Namespace, out: Path | None) -> None:
    """UserError or MissingExtra, before anything is paid for, where the run cannot be compared with its base."""
    if not arguments.base:
        if arguments.fail_if_worse or arguments.margin or arguments.require_base:
            raise UserError(
                "--fail-if-worse, --margin and --require-base need a run to compare with: add --base RUN"
            )
        return
    needs_stats("run --base")
    from longmark.analysis.compare.margin import parsed

    parsed(arguments.margin)
    refuse_pairs([read_manifest(arguments.base)])
    with Observations() as index:
        index.add_run(source_of(arguments.base))
        index.refuse_empty([arguments.base])
    if out is not None and real(out) == real(arguments.base):
        raise UserError(
            f"--base {arguments.base}: this is the run itself; name a run that was made before"
        )


def check_primary(arguments: argparse.Namespace, scores: Sequence[str]) -> None:
    """UserError, before anything is paid for, for primary metrics (--primary) that the run will not have, or without
    a base that they could decide about. scores: those of the run."""
    if not arguments.base:
        raise UserError("--primary needs a run to compare with: add --base RUN")
    for name in scores_in(arguments.primary):
        if not under(without_slice(name)[0], scores):
            raise UnknownName(
                "metric", name, scores, f"--primary: the run's metrics are {', '.join(scores)}."
            )


def leave_out_absent(arguments: argparse.Namespace) -> None:
    """Where the base is not there yet, as in the first run of a build: the run is scored and compared with nothing, and
    `arguments.no_base` says so, on standard error and where a summary has its gates. UserError with --require-base: for
    a build that has a base, a wrong path would otherwise pass each time."""
    if not arguments.base or os.path.lexists(arguments.base):
        return
    if arguments.out is not None and real(arguments.out) == real(arguments.base):
        return  # `check` refuses the run itself
    absent = AbsentBase(
        arguments.base,
        _near_runs(arguments.base, arguments.out),
        gate=bool(arguments.fail_if_worse),
    )
    if arguments.require_base:
        raise UserError(
            f"--base {absent.base} does not exist, and --require-base is set.{absent.hint()}"
        )
    arguments.no_base = absent
    arguments.base = None
    arguments.fail_if_worse = False
    arguments.margin = []


@dataclass(frozen=True)
class AbsentBase:
    """A base that is not there yet. near: runs beside it whose names are most like its own; gate: --fail-if-worse."""

    base: Path
    near: Sequence[Path]
    gate: bool

    def hint(self, *, published: bool = False) -> str:
        names = [_name(folder, published) for folder in self.near]
        return f" Did you mean {' or '.join(names)}?" if names else ""

    def notice(self, *, published: bool = False) -> str:
        """published: for a summary, whose readers are not on this machine."""
        gate = "; --fail-if-worse tested nothing" if self.gate else ""
        return (
            f"--base {_name(self.base, published)} does not exist yet, so this run is compared with nothing{gate}. It can "
            f"be the base of the next one.{self.hint(published=published)}"
        )


def _name(folder: Path, published: bool) -> str:
    """As it was written; where it is published, of an absolute path the last part."""
    return folder.name if published and folder.is_absolute() else str(folder)


def _near_runs(base: Path, out: Path | None) -> list[Path]:
    """The runs beside a base that is not there whose names are most like its own."""
    try:
        folders = [folder for folder in base.parent.iterdir() if is_run(folder)]
    except OSError:
        return []
    names = [folder.name for folder in folders if out is None or real(folder) != real(out)]
    return [base.parent / name for name in difflib.get_close_matches(base.name, names, 2, 0.8)]


def is_run(folder: Path) -> bool:
    return (folder / "manifest.json").is_file()


def changes(
    arguments: argparse.Namespace, run: Path, cluster: str
) -> tuple[list[Change], list[Checked]]:
    """The change of each system of the run, and the outcome of --fail-if-worse."""
    from longmark.report.outputs import Change

    changed = []
    checked = list[Checked]()
    try:
        pairs = list(pairs_of(arguments.base, run))
        for name, labels in pairs:
            change, new_checks = _change(
                arguments, [arguments.base, run], labels, cluster, len(pairs)
            )
            changed.append(Change(arguments.base.name, name if len(pairs) > 1 else "", *change))
            checked += new_checks
    except UserError as error:
        why = f"not compared with {arguments.base.name}: {error}"
        changed.append(Change(arguments.base.name, "", why))
        checked = [
            Checked(
                "base", "", f"against {arguments.base.name}", NOT_TESTED, f"{NOT_TESTED}: {why}"
            )
        ]
    return changed, checked if arguments.fail_if_worse else []


def _change(
    arguments: argparse.Namespace, runs: list[Path], labels: list[str], cluster: str, family: int
) -> tuple[tuple[str, Any], list[Checked]]:
    from longmark.analysis.compare import compare
    from longmark.analysis.compare.gate import against_first
    from longmark.analysis.compare.margin import parsed
    from longmark.analysis.compare.page import document
    from longmark.scores.paired import BY_EACH

    comparison = compare(
        runs,
        by=BY_EACH,
        systems=labels,
        slices=arguments.by,
        cluster=cluster,
        bounds=bounds_of(getattr(arguments, "bounds", [])),
        margin=parsed(arguments.margin),
        primary=scores_in(arguments.primary),
        against_first=True,
        alpha=0.05 / family,
    )
    first = document(comparison).sections[0]
    says = first.says.partition(" Significant differences:")[0]
    if any(
        pair.p is not None and not pair.significant
        for metric in comparison.metrics
        for pair in metric.pairs
    ):
        says += " A change without a significant difference could be chance."
    table = next(table for table in first.tables if table.name == "results")
    return (says, table), against_first(comparison) if arguments.fail_if_worse else []
