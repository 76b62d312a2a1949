"""The built-in claim checker's log-odds by several models: runtimes, precisions, quantisations.

    python -m bench.checkers.readings read FILE.jsonl MODEL [--sets SET ...] [--rows N] [--longest CHARACTERS]
    python -m bench.checkers.readings table FILE.jsonl

`read` asks MODEL (`embedded:judge`, `gguf:PATH`, `hf:PATH`: what `--prompt checker` takes) about the first N rows of
each set's fixed order, one of each set in turn, and appends what it read in the window that it supports most: the
log-odds, the cosine of the closest sentence, the share of words, a hash of the prompt's tokens, and the processor
seconds. A further call goes on where the last one ended. `--longest 1300` leaves rows with longer evidence out.
`table` prints, of the rows that two models read, how far the later one's log-odds are from the first one's; of each
model and set the AUC; and of the first model what the cascades by word overlap and closest sentence lose.
Parity is `read FILE embedded:judge --sets held_out --longest 1300` and the same with `hf:` and the judge's file.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import tempfile
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from bench.checkers import figures
from bench.checkers.data import Claim
from bench.checkers.figures import with_interval
from bench.checkers.unseen import CHECKED, HELD_OUT, rows_of, sample

from longmark.contrib.local.checker_form import form_of
from longmark.contrib.local.claim_checker import ClaimChecker
from longmark.models.cache import CallCache
from longmark.models.registry import Registry
from longmark.text.overlap import overlap

LEAST_ROWS = 10  # of a set that is put into a table
CASCADES = ((0.1, None), (0.2, None), (0.3, None), (0.2, 0.4), (0.3, 0.4), (0.3, 0.5))
"""Least share of words, and the cosine from which on a claim below it is asked all the same."""
Record = Mapping[str, Any]


@dataclass(frozen=True)
class WindowReading:
    """What a model read in the window that it supports most. tokens: a hash of the prompt's token ids."""

    probability: float
    log_odds: float
    cosine: float
    tokens: str


async def reading(checker: ClaimChecker, row: Claim) -> WindowReading:
    """The window with the greatest probability."""
    form = form_of("embedded")
    yes, no = [await checker._answers(words) for words in (form.yes, form.no)]
    claim = await checker._claim_ids(row.claim)
    readings = []
    for window in await checker._windows(" ".join(row.evidence)):
        ((cosine,),) = [await checker._cosines(window.text, [row.claim])]
        prompt = [*window.ids, *claim]
        odds, _ = await checker._model.log_odds(prompt, yes, no, adapter=True, shared=window.ids)
        tokens = hashlib.sha256(repr(prompt).encode()).hexdigest()[:16]
        readings.append(WindowReading(form.probability(odds, cosine), odds, cosine, tokens))
    return max(readings, key=lambda one_window: one_window.probability)


def chosen(sets: Sequence[str], count: int, longest: int | None) -> list[Claim]:
    """The first rows of each set's fixed order, one of each set in turn."""
    orders = []
    for data in sets:
        rows = [
            row
            for row in rows_of(data)
            if longest is None or sum(map(len, row.evidence)) <= longest
        ]
        orders.append([(data, row) for row in sample(rows)[:count]])
    return [
        Claim(data, row.id, row.group, row.claim, row.evidence, row.label, row.supported)
        for turn in range(count)
        for data, row in (order[turn] for order in orders if turn < len(order))
    ]


async def read(path: Path, model: str, rows: Sequence[Claim], minutes: float) -> None:
    seen = {
        (record["model"], record["set"], record["id"])
        for record in (records(path) if path.exists() else ())
    }
    end = time.monotonic() + 60 * minutes
    with (
        tempfile.TemporaryDirectory() as folder,
        closing(CallCache(Path(folder, "calls"))) as cache,
        path.open("a", encoding="utf-8") as file,
    ):
        name = "embedded" if model == "embedded:judge" else f"claim-checker:{model}"
        checker = ClaimChecker.opened(name, Registry(cache).open)
        for row in rows:
            if (model, row.data, row.id) in seen:
                continue
            if time.monotonic() > end:
                break
            began = time.process_time()
            window = await reading(checker, row)
            record = {
                "model": model,
                "set": row.data,
                "id": row.id,
                "group": row.group,
                "supported": row.supported,
                "odds": window.log_odds,
                "cosine": window.cosine,
                "share": overlap(row.claim, row.evidence),
                "tokens": window.tokens,
                "seconds": time.process_time() - began,
            }
            file.write(json.dumps(record) + "\n")
            file.flush()
        await checker.close()


def records(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


# Tables --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Parity:
    """How far one model's log-odds are from another's on the rows that both read."""

    pairs: int
    same_tokens: int
    median: float
    mean: float
    greatest: float
    same_side: int

    def line(self, name: str, other: str) -> str:
        return (
            f"| {name} | {other} | {self.pairs} | {self.same_tokens} | {self.median:.3f} | {self.mean:.3f} "
            f"| {self.greatest:.3f} | {self.same_side} |"
        )


def parity(rows: Sequence[Record], others: Sequence[Record]) -> Parity | None:
    """Of the rows with the same set and id; None where there are none."""
    first = {(row["set"], row["id"]): row for row in rows}
    pairs = [
        (first[key], other) for other in others if (key := (other["set"], other["id"])) in first
    ]
    if not pairs:
        return None
    apart = np.array([abs(row["odds"] - other["odds"]) for row, other in pairs])
    return Parity(
        len(pairs),
        sum(row["tokens"] == other["tokens"] for row, other in pairs),
        float(np.median(apart)),
        float(apart.mean()),
        float(apart.max()),
        sum((row["odds"] > 0) == (other["odds"] > 0) for row, other in pairs),
    )


def probability(record: Record) -> float:
    return form_of("embedded").probability(record["odds"], record["cosine"])


def is_asked(record: Record, share: float, cosine: float | None) -> bool:
    """Whether `embedded@overlap=SHARE,closest=COSINE` asks the model. A claim without words is asked."""
    enough_words = record["share"] is None or record["share"] >= share
    return enough_words or (cosine is not None and record["cosine"] >= cosine)


def cascade(record: Record, share: float, cosine: float | None) -> float:
    """The probability that `embedded@overlap=SHARE,closest=COSINE` gives."""
    if is_asked(record, share, cosine):
        return probability(record)
    return form_of("embedded").unasked(record["cosine"])


def tables(found: Sequence[Record]) -> None:
    by_model: dict[str, list[Record]] = {}
    for record in found:
        by_model.setdefault(record["model"], []).append(record)
    names = list(by_model)
    print(
        "| model | beside | pairs | same tokens | median | mean | greatest | same side of 0 |\n"
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |"
    )
    for name in names[1:]:
        if (both := parity(by_model[names[0]], by_model[name])) is not None:
            print(both.line(name, names[0]))
    for data in dict.fromkeys(record["set"] for record in found):
        of_set = {
            name: {row["id"]: row for row in rows if row["set"] == data}
            for name, rows in by_model.items()
        }
        _print_set(data, {name: rows for name, rows in of_set.items() if len(rows) >= LEAST_ROWS})


def _print_set(data: str, by_model: Mapping[str, Mapping[str, Record]]) -> None:
    """Each model on all of its rows, with the paired difference to the first on those that both read; and the cascades
    of the first."""
    if not by_model:
        return
    first_name, first = next(iter(by_model.items()))
    print(f"\n**{data}**\n\n| model | rows | supported | CPU s a claim | AUC | less {first_name} |")
    print("| --- | ---: | ---: | ---: | --- | --- |")
    for name, rows in by_model.items():
        seconds = np.mean([row["seconds"] for row in rows.values()])
        supported = sum(row["supported"] for row in rows.values())
        shared = [key for key in rows if key in first]
        less = _difference(
            [rows[key] for key in shared],
            [probability(rows[key]) for key in shared],
            [probability(first[key]) for key in shared],
        )
        area = _area(list(rows.values()), [probability(row) for row in rows.values()])
        print(
            f"| {name} | {len(rows)} | {supported} | {seconds:.2f} | {area} "
            f"| {'' if name == first_name else f'{less} ({len(shared)} rows)'} |"
        )
    print("\n| cascade | asked | of the supported | AUC | less all asked |")
    print("| --- | ---: | ---: | --- | --- |")
    rows_of_first = list(first.values())
    whole = [probability(row) for row in rows_of_first]
    for share, cosine in CASCADES:
        asked = [is_asked(row, share, cosine) for row in rows_of_first]
        of_supported = [
            is_row_asked
            for is_row_asked, row in zip(asked, rows_of_first, strict=True)
            if row["supported"]
        ]
        scores = [cascade(row, share, cosine) for row in rows_of_first]
        setting = f"overlap={share:g}" + ("" if cosine is None else f",closest={cosine:g}")
        print(
            f"| {setting} | {np.mean(asked):.2f} | {np.mean(of_supported):.2f} "
            f"| {_area(rows_of_first, scores)} | {_difference(rows_of_first, scores, whole)} |"
        )


def _area(rows: Sequence[Record], scores: Sequence[float]) -> str:
    return with_interval(figures.estimate(figures.auc, np.array(scores), *_labels(rows)))


def _difference(rows: Sequence[Record], scores: Sequence[float], others: Sequence[float]) -> str:
    estimate = figures.estimate(figures.auc, np.array(scores), *_labels(rows), np.array(others))
    return with_interval(estimate, "+")


def _labels(rows: Sequence[Record]) -> tuple[figures.Array, list[str]]:
    return np.array([float(row["supported"]) for row in rows]), [row["group"] for row in rows]


def recording_parser(
    module: str, about: str | None, verb: str, rows: int
) -> argparse.ArgumentParser:
    """The command line of a benchmark that appends what it reads to a file, of which `table` prints tables. verb: that
    reads; rows: of each set, if the user does not say."""
    parser = argparse.ArgumentParser(
        prog=f"python -m bench.checkers.{module}",
        description=about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("verb", choices=(verb, "table"))
    parser.add_argument("file", type=Path)
    parser.add_argument("--rows", type=int, default=rows)
    parser.add_argument("--minutes", type=float, default=60)
    return parser


def main() -> None:
    parser = recording_parser("readings", __doc__, "read", 50)
    parser.add_argument("model", nargs="?", default="embedded:judge")
    parser.add_argument("--sets", nargs="+", choices=(HELD_OUT, *CHECKED), default=[HELD_OUT])
    parser.add_argument("--longest", type=int, metavar="CHARACTERS")
    options = parser.parse_args()
    if options.verb == "read":
        rows = chosen(options.sets, options.rows, options.longest)
        asyncio.run(read(options.file, options.model, rows, options.minutes))
    else:
        tables(records(options.file))


if __name__ == "__main__":
    main()
