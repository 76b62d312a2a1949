"""The verb `longmark status`: how far runs are, also while they work."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import orjson

from longmark.engine.status import RunStatus
from longmark.engine.status import status as status_of
from longmark.errors import UserError
from longmark.progress import cost
from longmark.report.tables import Column, Table, as_text


def status(arguments: argparse.Namespace) -> int:
    statuses = list[RunStatus]()
    wrong = list[str]()
    for run in arguments.runs:
        try:
            statuses.append(status_of(run))
        except UserError as error:  # the others are shown all the same
            wrong.append(str(error))
    if arguments.json:
        print(
            orjson.dumps(
                [asdict(run_status) for run_status in statuses], option=orjson.OPT_INDENT_2
            ).decode()
        )
    elif statuses:
        _print(
            ("run", "part", "state", "rows", "unscored", "cost", "rows/s"),
            [_line(run_status) for run_status in statuses],
        )
    if wrong:
        raise UserError("\n".join(wrong))
    return 0


def _line(run_status: RunStatus) -> tuple[str, ...]:
    share = f" ({run_status.rows / run_status.total:.0%})" if run_status.total else ""
    rows = f"{run_status.rows:,} of {'?' if run_status.total is None else f'{run_status.total:,}'}{share}"
    speed = "" if run_status.rows_per_second is None else f"{run_status.rows_per_second:,.1f}"
    return (
        run_status.run,
        run_status.part,
        run_status.state,
        rows,
        f"{run_status.unscored:,}",
        cost(run_status.usd),
        speed,
    )


def _print(heads: Sequence[str], rows: Sequence[tuple[Any, ...]]) -> None:
    print(as_text(Table("runs", "Runs", tuple(map(Column, heads)), rows)), end="")
