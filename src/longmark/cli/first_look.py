"""What `look`, `init` and a run without metrics read of a file: as the options say or, where no column has a known
name, by the mapping that its names and texts propose. A proposal is shown, as a line to paste; a run never takes one."""

from __future__ import annotations

import argparse
from collections.abc import Mapping

from longmark.cli.arguments import reading
from longmark.engine.look import FIRST, Look, look
from longmark.errors import UnknownColumns
from longmark.progress import counted
from longmark.records.unknown_columns import is_enough


def first_look(arguments: argparse.Namespace) -> tuple[Look, bool]:
    """The first examples, and whether they were read by a proposal, which `arguments.map` then names. UserError where
    neither the options nor a proposal reads an answer and its question or reference."""
    try:
        return _looked(arguments), False
    except UnknownColumns as unknown:
        fields = {*unknown.proposed, *(mapped.partition("=")[0] for mapped in arguments.map)}
        if not is_enough(fields):
            raise
        _add(arguments, unknown.proposed)
    seen = _looked(arguments)
    if seen.proposed:
        _add(arguments, seen.proposed)
        seen = _looked(arguments)
    return seen, True


def _add(arguments: argparse.Namespace, proposed: Mapping[str, str]) -> None:
    arguments.map = [*arguments.map, *(f"{field}={path}" for field, path in proposed.items())]


def _looked(arguments: argparse.Namespace) -> Look:
    options = reading(arguments)
    del options["skip_bad"]
    return look(arguments.examples, limit=options.pop("limit") or FIRST, **options)


def by_proposal(seen: Look) -> str:
    """That what follows was read by a proposal."""
    kind = "pair" if seen.pairs else "example"
    return (
        f"{seen.name}: no column has a known name. This is how the {counted(seen.read, kind)} would be read with the "
        "options in the last line. Check that each field has its column:"
    )
