"""The verbs `longmark verify` and `longmark export`: whether a run's rows follow from the replies that it stored."""

from __future__ import annotations

import argparse
import sys

from longmark import plugins
from longmark.cli.arguments import UNDER, split
from longmark.cli.trust import trusting
from longmark.engine.run import cache_path, finish
from longmark.engine.verify import NamedCode, Verification, opened
from longmark.engine.verify import export as exported
from longmark.engine.verify import verify as verified
from longmark.errors import UserError
from longmark.progress import counted
from longmark.scores.exchange import write_scores
from longmark.scores.graphs import write_graphs

_SHOWN = 20  # rows that are listed


def verify(arguments: argparse.Namespace) -> int:
    inside = arguments.run / "certificate.json"
    path = inside if inside.is_file() else arguments.run
    for point in plugins.installed("certificates").values():
        if (certificates := plugins.loaded(point)).is_certificate(path):
            return int(certificates.verify(path, arguments.signers, trusting(arguments)))
    if arguments.signers is not None:
        raise UserError("--signers is for a certificate of `longmark certify`")
    with opened(arguments.run, cache_path(arguments.cache), arguments.max_bundle_bytes) as (
        folder,
        store,
    ):
        verification = finish(lambda: verified(folder, store, named_code(arguments)))
    return _verification(verification)


def named_code(arguments: argparse.Namespace) -> NamedCode:
    return NamedCode(split(arguments.metrics), arguments.embedder)


def export(arguments: argparse.Namespace) -> int:
    """Packs a run, and writes its graphs and its scores for other tools."""
    if not arguments.bundle and not arguments.graphs and not arguments.to:
        raise UserError(
            "there is nothing to write: add --bundle FILE.zip, --graphs DIR or --to TOOL"
        )
    if bool(arguments.to) != bool(arguments.out):
        raise UserError("--to and --out belong together: --to langfuse --out scores.jsonl")
    if arguments.to:
        count, left_out = write_scores(arguments.run, arguments.to, arguments.out)
        unscored = f"; {counted(left_out, 'unscored row')} left out" if left_out else ""
        print(
            f"Scores: {arguments.out} ({counted(count, 'row')} for {arguments.to}{unscored}). Nothing was sent."
        )
    if arguments.graphs:
        count, damaged = write_graphs(arguments.run, arguments.graphs)
        for line in damaged:
            print(f"longmark: {line}", file=sys.stderr)
        print(
            f"Graphs: {arguments.graphs} ({counted(count, 'graph')}, each as JSON and as GraphML)"
        )
    return _bundle(arguments) if arguments.bundle else 0


def _bundle(arguments: argparse.Namespace) -> int:
    path = cache_path(arguments.cache)
    verification = finish(
        lambda: exported(arguments.run, path, arguments.bundle, named_code(arguments))
    )
    code = _verification(verification)
    print(f"Bundle: {arguments.bundle} (check it: longmark verify {arguments.bundle})")
    return code


def _verification(verification: Verification) -> int:
    for line in verification.changed:
        print(f"changed since the run: {line.strip()}")
    findings = sorted(verification.findings, key=lambda finding: not finding.differs)
    for finding in findings[:_SHOWN]:
        outcome = "differs" if finding.differs else "not verifiable"
        print(f"{outcome}: {finding.row.metric} of {finding.row.example_id}: {finding.why}")
    if len(findings) > _SHOWN:
        print(f"… and {len(findings) - _SHOWN:,} more")
    differ = sum(finding.differs for finding in findings)
    parts = [
        f"{verification.verified:,} of {counted(verification.rows, 'row')} verified",
        f"{differ:,} differ",
    ]
    parts.append(f"{len(findings) - differ:,} not verifiable")
    parts += (
        [f"{verification.without_reply:,} had no reply to verify"]
        if verification.without_reply
        else []
    )
    parts += (
        [f"{counted(verification.missing, 'row')} missing from rows.jsonl"]
        if verification.missing
        else []
    )
    print(" · ".join(parts))
    return 0 if verification.ok else UNDER
