"""The trained checker reads the evidence first, the embedded judge's own prompt has the claim first. What does the mean
of both give, and what does a cascade by word overlap lose in AUC?

    python -m bench.checkers.orders score FILE.jsonl [--sets SET ...] [--rows N] [--minutes M]
    python -m bench.checkers.orders table FILE.jsonl

`score` asks both about rows of a fixed order, one row of each set in turn, and appends them to FILE: the log-odds and
the cosine of the closest sentence in the window that the claim checker supports most, the log-odds of the judge after
the claim and the three closest sentences (`bench.checkers.judge`), and the share of words in the evidence. A further
call goes on where the last one ended. `table` prints the AUC of each and of what is made of them, and the paired
differences to the built-in checker, with intervals that resample groups.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from bench.checkers import figures
from bench.checkers.baselines import closest
from bench.checkers.data import CLIMATE, COVIDFACT, EXPERTQA, HALU, HEALTHVER, WICE, Claim, claims
from bench.checkers.figures import with_interval
from bench.checkers.judge import log_odds
from bench.checkers.readings import reading, recording_parser, records
from bench.checkers.unseen import CLOSEST, sample

from longmark.contrib.local.checker_form import form_of
from longmark.contrib.local.claim_checker import ClaimChecker
from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.handles import ChatHandle
from longmark.models.registry import Registry
from longmark.text.overlap import overlap

SETS = (CLIMATE, HEALTHVER, COVIDFACT, WICE, EXPERTQA, HALU)
LEAST_SHARE = 0.2  # of a claim's words, of the cascade
CHECKER = "built-in checker"
FEWEST = 10  # rows of a set that are put into the table


@dataclass(frozen=True)
class OrderReader:
    """The claim checker and the judge, which share one model."""

    checker: ClaimChecker
    judge: ChatHandle

    async def read(self, row: Claim) -> dict[str, Any]:
        """What both make of a row."""
        window = await reading(self.checker, row)
        evidence = " ".join(closest(row.claim, row.evidence, CLOSEST))
        return {
            "set": row.data,
            "id": row.id,
            "group": row.group,
            "supported": row.supported,
            "odds": window.log_odds,
            "cosine": window.cosine,
            "judge": await log_odds(self.judge, row.claim, evidence),
            "share": overlap(row.claim, row.evidence),
        }


def in_turn(sets: Sequence[str], count: int) -> list[Claim]:
    """The first rows of each set's fixed order, one of each set in turn."""
    orders = [sample(claims(data))[:count] for data in sets]
    return [rows[turn] for turn in range(count) for rows in orders if turn < len(rows)]


async def score(path: Path, sets: Sequence[str], count: int, minutes: float) -> None:
    done = {(record["set"], record["id"]) for record in records(path)} if path.exists() else set()
    end = time.monotonic() + 60 * minutes
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(CallCache(Path(folder, "calls"))) as cache,
    ):
        registry = Registry(cache)
        checker = ClaimChecker.opened("embedded", registry.open)
        judge = ChatHandle(registry.open("judge", "embedded"), Client(cache), UsageLog())
        reader = OrderReader(checker, judge)
        with path.open("a", encoding="utf-8") as file:
            for row in in_turn(sets, count):
                if time.monotonic() > end:
                    break
                if (row.data, row.id) not in done:
                    file.write(json.dumps(await reader.read(row)) + "\n")
                    file.flush()
        await checker.close()


def _curve(odds: float, cosine: float) -> float:
    return form_of("embedded").probability(odds, cosine)


def _cascade(record: Mapping[str, Any]) -> float:
    share = 1.0 if record["share"] is None else record["share"]
    if share < LEAST_SHARE:
        return form_of("embedded").unasked(record["cosine"])
    return _curve(record["odds"], record["cosine"])


FORMS: dict[str, Callable[[Mapping[str, Any]], float]] = {
    CHECKER: lambda record: _curve(record["odds"], record["cosine"]),
    "its log-odds alone": lambda record: record["odds"],
    "the judge's log-odds, claim first": lambda record: record["judge"],
    "mean of both log-odds": lambda record: record["odds"] + record["judge"],
    "mean of both log-odds, closest sentence": lambda record: _curve(
        (record["odds"] + record["judge"]) / 2, record["cosine"]
    ),
    "word overlap": lambda record: record["share"] or 0.0,
    f"embedded@overlap={LEAST_SHARE:g}": _cascade,
}
"""Name -> the score of a record."""


def table(recorded: Sequence[Mapping[str, Any]]) -> None:
    for data in dict.fromkeys(record["set"] for record in recorded):
        rows = [row for row in recorded if row["set"] == data and row["judge"] is not None]
        if len(rows) < FEWEST:
            continue
        labels = np.array([float(row["supported"]) for row in rows])
        groups = [row["group"] for row in rows]
        below = sum((row["share"] or 0.0) < LEAST_SHARE for row in rows)
        print(
            f"\n**{data}**: {len(rows)} rows of {len({*groups})} groups, {int(labels.sum())} supported; {below} below "
            f"an overlap of {LEAST_SHARE:g}\n\n| score | AUC | less the built-in checker |\n| --- | --- | --- |"
        )
        values = {name: np.array([form(row) for row in rows]) for name, form in FORMS.items()}
        for name, scores in values.items():
            area = figures.estimate(figures.auc, scores, labels, groups)
            less = figures.estimate(figures.auc, scores, labels, groups, values[CHECKER])
            beside = "" if name == CHECKER else with_interval(less, "+")
            print(f"| {name} | {with_interval(area)} | {beside} |")


def main() -> None:
    parser = recording_parser("orders", __doc__, "score", 150)
    parser.add_argument("--sets", nargs="+", choices=SETS, default=SETS)
    options = parser.parse_args()
    if options.verb == "score":
        asyncio.run(score(options.file, options.sets, options.rows, options.minutes))
    else:
        table(records(options.file))


if __name__ == "__main__":
    main()
