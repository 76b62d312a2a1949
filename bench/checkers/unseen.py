"""Checkers on data sets that none of them was trained on: the second study of design/claim-checker.md.

    python -m bench.checkers.unseen score FOLDER overlap|minilm|NAME=CHECKPOINT [--rows N] [--sets SET ...]
    python -m bench.checkers.unseen judge FOLDER [--judge MODEL] [--rows N] [--answers N] [--minutes M]
    python -m bench.checkers.unseen answers FOLDER [--checker MODEL] [--answers N]
    python -m bench.checkers.unseen tables FOLDER
    python -m bench.checkers.unseen shipped FOLDER [--rows N] [--sets SET ...] [--checker MODEL]

`shipped` is one command for what ships: word overlap, the closest sentence and a `--checker` of longmark (by default
the built-in claim checker) on rows of each set, and the tables. 150 rows of seven sets take about three hours of a
processor.
`score` writes FOLDER/NAME.json: set -> id -> score (greater: rather supported), of all rows or of the first N of a
fixed order. `judge` records as many pairs of that order, one of each set in turn, as the minutes allow, then the claims
of whole answers of ExpertQA. `answers` asks a `--checker` of longmark for all claims of whole answers, by default the
23 that the judge read, with all of their evidence, and prints its faithfulness beside the experts' (the built-in claim
checker: 144 claims, about 20 minutes of a processor). A further call goes on where the last one ended. `tables` prints
what there is. The set `held_out` are the labelled pairs that no checker was trained on, where thresholds and curves are
fitted.
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
import math
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from bench.checkers import figures
from bench.checkers.baselines import closest, cosines
from bench.checkers.data import (
    EXPERTQA,
    LABELLED,
    UNSEEN,
    Claim,
    claims,
    in_sentences,
    labelled,
    windows,
)
from bench.checkers.figures import with_interval
from bench.checkers.judge import CACHE, log_odds

from longmark.errors import ModelError
from longmark.models.cache import CallCache
from longmark.models.client import Client, UsageLog
from longmark.models.handles import ChatHandle
from longmark.models.protocols import Backend
from longmark.models.registry import Registry
from longmark.testing import open_models
from longmark.text.calibration import fit
from longmark.text.entailment import ENTAILS, checker_of
from longmark.text.overlap import overlap

HELD_OUT, OVERLAP, MINILM, JUDGE = "held_out", "overlap", "minilm", "judge"
SETS = (HELD_OUT, *UNSEEN)
SHIPPED = "shipped"
CHECKED = (*UNSEEN, *LABELLED)  # what was not trained on, as the tables of docs/checkers.md have it
CLOSEST = 3  # sentences that the judge reads
WHOLE = 23  # answers of which the judge read all claims
LEAST = 150  # pairs of the judge from which it counts as a baseline of the rule
Array = figures.Array


def rows_of(name: str) -> list[Claim]:
    if name != HELD_OUT:
        return claims(name)
    return list(map(in_sentences, labelled(kept_out=True)))


def score(folder: Path, name: str, sets: Sequence[str], count: int | None) -> None:
    """Scores what is not yet scored."""
    name, _, checkpoint = name.partition("=")
    path = folder / f"{name}.json"
    found: dict[str, dict[str, float]] = (
        json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    )
    for data in sets:
        known = found.setdefault(data, {})
        rows = [one for one in sample(rows_of(data))[:count] if one.id not in known]
        if name == OVERLAP:
            scores = [overlap(one.claim, one.evidence) or 0.0 for one in rows]
        elif name == MINILM:
            scores = [float(cosines(one.claim, one.evidence).max()) for one in rows]
        else:
            scores = trained(Path(checkpoint), rows) if rows else []
        known.update({one.id: value for one, value in zip(rows, scores, strict=True)})
        print(f"{name}: {data}, {len(known)} rows", flush=True)
        path.write_text(json.dumps(found), encoding="utf-8")


def trained(checkpoint: Path, rows: Sequence[Claim]) -> list[float]:
    """The log-odds of support in the window that supports most."""
    import torch
    from bench.checkers.cross import PairReader, batch_of, load

    model, parts = load(checkpoint), [windows(one) for one in rows]
    reads = PairReader().read(
        [(text, one.claim) for one, texts in zip(rows, parts, strict=True) for text in texts]
    )
    order = sorted(range(len(reads)), key=lambda place: len(reads[place].ids))
    flat = np.zeros(len(reads))
    with torch.inference_mode():
        for start in range(0, len(order), 32):
            places = order[start : start + 32]
            flat[places] = -model(batch_of([reads[place] for place in places]))[0].numpy()
    ends = np.cumsum([len(texts) for texts in parts])
    return [float(one.max()) for one in np.split(flat, ends[:-1])]


async def check(
    folder: Path, checker: str | Backend, sets: Sequence[str], count: int | None
) -> None:
    """Scores what is not yet scored by a `--checker` of longmark: the log-odds of its probability. Rows of each set in
    turn; each is written when it is scored. A row without a verdict is told, and left out."""
    path = folder / f"{_file_name(checker)}.json"
    scores: dict[str, dict[str, float]] = {data: {} for data in sets}
    if path.exists():
        scores |= json.loads(path.read_text(encoding="utf-8"))
    orders = [sample(rows_of(data))[:count] for data in sets]
    async with open_models(checker=checker, cache=folder / "calls.sqlite") as models:
        for row in (row for turn in zip_longest(*orders) for row in turn if row is not None):
            data = HELD_OUT if row.data not in sets else row.data
            if row.id in scores[data]:
                continue
            try:
                (relation,) = await checker_of(models).relations(
                    " ".join(row.evidence), [row.claim]
                )
            except ModelError as error:
                print(f"{data} {row.id}: {error}", flush=True)
                continue
            scores[data][row.id] = _log_odds(relation.entails or 0.0)
            path.write_text(json.dumps(scores), encoding="utf-8")


def _file_name(checker: str | Backend) -> str:
    name = checker if isinstance(checker, str) else checker.name
    return "".join(letter if letter.isalnum() else "-" for letter in name)


def _log_odds(probability: float) -> float:
    kept = min(max(probability, 1e-9), 1 - 1e-9)
    return math.log(kept / (1 - kept))


# The judge -----------------------------------------------------------------------------------------------------------


def sample(rows: Sequence[Claim]) -> list[Claim]:
    """Rows in an order fixed by a hash, those of other groups first."""
    seen: dict[str, int] = {}
    order = list[tuple[int, int, Claim]]()
    for one in sorted(rows, key=lambda one: hashlib.sha256(one.id.encode()).digest()):
        seen[one.group] = seen.get(one.group, 0) + 1
        order.append((seen[one.group], len(order), one))
    return [one for _, _, one in sorted(order, key=lambda place: place[:2])]


async def record(folder: Path, given: argparse.Namespace) -> None:
    path = folder / f"{JUDGE}.json"
    found: dict[str, dict[str, float]] = json.loads(path.read_text()) if path.exists() else {}
    samples = {data: sample(rows_of(data))[: given.rows or LEAST] for data in SETS}
    turns = [(data, samples[data][turn]) for turn in range(len(samples[EXPERTQA])) for data in SETS]
    whole = [(EXPERTQA, one) for answer in answers()[: given.answers] for one in answer]
    begun, stored = time.monotonic(), CallCache(given.cache)
    with closing(stored):
        judge = ChatHandle(Registry(stored).open("judge", given.judge), Client(stored), UsageLog())
        for data, one in (*turns, *whole):
            if time.monotonic() - begun > 60 * given.minutes:
                break
            if one.id not in found.setdefault(data, {}):
                odds = await log_odds(
                    judge, one.claim, " ".join(closest(one.claim, one.evidence, CLOSEST))
                )
                if odds is not None:
                    found[data][one.id] = odds
                    path.write_text(json.dumps(found), encoding="utf-8")
        await judge.model.close()
    print({data: len(some) for data, some in found.items()})


def answers() -> list[list[Claim]]:
    """The claims of the answers of ExpertQA with at least two, in the fixed order."""
    found: dict[str, list[Claim]] = {}
    for one in sample(rows_of(EXPERTQA)):
        found.setdefault(one.id.rpartition("-")[0], []).append(one)
    return [some for some in found.values() if len(some) > 1]


async def check_answers(folder: Path, given: argparse.Namespace) -> None:
    """RAGChecker's faithfulness of whole answers of ExpertQA by a checker of longmark, at its own threshold."""
    some, supported = answers()[: given.answers or WHOLE], dict[str, bool]()
    async with open_models(checker=given.checker, cache=folder / "calls.sqlite") as models:
        checker = checker_of(models)
        for number, answer in enumerate(some, 1):
            for one in answer:
                (relation,) = await checker.relations("\n".join(one.evidence), [one.claim])
                supported[one.id] = relation.label == ENTAILS
            print(f"{number} of {len(some)} answers", flush=True)
    groups = [answer[0].group for answer in some]
    ours = np.array([np.mean([supported[one.id] for one in answer]) for answer in some])
    theirs = np.array([np.mean([one.supported for one in answer]) for answer in some])
    less, r = (figures.estimate(figure, ours, theirs, groups) for figure in (difference, pearson))
    print(
        f"\n{len(some)} answers, {len(supported)} claims; the experts' mean is {theirs.mean():.3f}\n"
    )
    print("| checker | mean | mean less experts' | Pearson's r |\n| --- | ---: | --- | --- |")
    print(
        f"| {checker.name} | {ours.mean():.3f} | {with_interval(less, '+')} | {with_interval(r)} |"
    )


# Tables --------------------------------------------------------------------------------------------------------------


class OfChecker:
    """The threshold and the probabilities of a `--checker`, which has its own: a half, and those of its log-odds."""

    threshold = 0.0

    def probabilities(self, scores: Array) -> Array:
        return np.asarray(1 / (1 + np.exp(-scores)))


class Fitted:
    """The threshold and the curve of a checker, from the labelled pairs that it was not trained on."""

    def __init__(self, scores: Array, labels: Array) -> None:
        self.threshold = max(np.unique(scores), key=lambda at: balanced(scores >= at, labels))
        self.slope, self.bias = fit(scores.tolist(), (labels == 1).tolist())

    def probabilities(self, scores: Array) -> Array:
        return np.asarray(1 / (1 + np.exp(-self.slope * scores - self.bias)))


def balanced(says: Array, labels: Array) -> float:
    return float((says[labels == 1].mean() + (~says[labels == 0]).mean()) / 2)


def weighted_balanced(says: Array, labels: Array, weights: Array) -> Array:
    right = (says == labels) * 1.0
    with np.errstate(invalid="ignore"):
        shares = [weights @ (right * of) / (weights @ of) for of in (labels, 1 - labels)]
    return np.asarray(sum(shares) / 2)


def accuracy(says: Array, labels: Array, weights: Array) -> Array:
    return np.asarray(weights @ ((says == labels) * 1.0) / weights.sum(axis=1))


def tables(folder: Path, checkers: Sequence[str] = ()) -> None:
    """A table for all rows of a set, and one for each part of them that a further checker scored. checkers: names of
    those that are a `--checker`."""
    scores: dict[str, Any] = {
        path.stem: json.loads(path.read_text()) for path in sorted(folder.glob("*.json"))
    }
    fitted: dict[str, Fitted | OfChecker] = {
        name: OfChecker() for name in checkers if name in scores
    }
    for name in (name for name in scores if HELD_OUT in scores[name]):
        kept = [one for one in rows_of(HELD_OUT) if one.id in scores[name][HELD_OUT]]
        fitted[name] = Fitted(*arrays(kept, scores[name][HELD_OUT]))
    for data in dict.fromkeys((*SETS, *CHECKED)):
        some = {name: of[data] for name, of in scores.items() if of.get(data)}
        for level in sorted({len(of) for of in some.values()}, reverse=True):
            among = {name: of for name, of in some.items() if len(of) >= level}
            rows = [one for one in rows_of(data) if all(one.id in of for of in among.values())]
            if len({one.supported for one in rows}) == 2:
                table(data, rows, among, fitted)
    counts = {name: len(of.get(EXPERTQA, ())) for name, of in scores.items()}
    for least in sorted({counts[name] for name in fitted} - {0}, reverse=True):
        faithfulness(scores, {name: how for name, how in fitted.items() if counts[name] >= least})


def faithfulness(scores: dict[str, Any], fitted: Mapping[str, Fitted | OfChecker]) -> None:
    """RAGChecker's faithfulness of the answers of ExpertQA (the share of claims that a checker labels as supported)
    beside the share that the experts called Complete; answers with at least two claims that all checkers scored."""
    scored = (
        [one for one in some if all(one.id in scores[name][EXPERTQA] for name in fitted)]
        for some in answers()
    )
    kept = [some for some in scored if len(some) > 1]
    if not kept:
        return
    groups = [some[0].group for some in kept]
    theirs = np.array([np.mean([one.supported for one in some]) for some in kept])
    print(
        f"\n**Faithfulness**: {len(kept)} answers to {len({*groups})} questions, experts' mean {theirs.mean():.3f}\n"
    )
    print("| checker | mean | mean less experts' | Pearson's r |\n| --- | ---: | --- | --- |")
    for name, how in fitted.items():
        of = scores[name][EXPERTQA]
        ours = np.array([np.mean([of[one.id] >= how.threshold for one in some]) for some in kept])
        less, r = (
            figures.estimate(figure, ours, theirs, groups) for figure in (difference, pearson)
        )
        print(f"| {name} | {ours.mean():.3f} | {with_interval(less, '+')} | {with_interval(r)} |")


def difference(ours: Array, theirs: Array, weights: Array) -> Array:
    return np.asarray(weights @ (ours - theirs) / weights.sum(axis=1))


def pearson(ours: Array, theirs: Array, weights: Array) -> Array:
    shares = weights / weights.sum(axis=1, keepdims=True)
    one, other = (values - (shares @ values)[:, None] for values in (ours, theirs))
    with np.errstate(invalid="ignore"):
        both = (shares * one * other).sum(1)
        return np.asarray(
            both / np.sqrt((shares * one * one).sum(1) * (shares * other * other).sum(1))
        )


def table(
    title: str,
    rows: Sequence[Claim],
    scores: dict[str, dict[str, float]],
    fitted: Mapping[str, Fitted | OfChecker],
) -> None:
    print(f"\n**{title}**: {heading(rows)}\n")
    print(
        "| checker | AUC | balanced accuracy | accuracy | Brier | ECE |\n| --- | --- | --- | --- | --- | ---: |"
    )
    groups, auc = [one.group for one in rows], dict[str, float]()
    for name, of in scores.items():
        found, labels = arrays(rows, of)
        cells = [area := figures.estimate(figures.auc, found, labels, groups)]
        auc[name], error = area.value or 0.0, ""
        if name in fitted:
            likely, says = (
                fitted[name].probabilities(found),
                (found >= fitted[name].threshold) * 1.0,
            )
            cells += [
                figures.estimate(figure, says, labels, groups)
                for figure in (weighted_balanced, accuracy)
            ]
            cells += [figures.estimate(figures.brier, likely, labels, groups)]
            error = f"{figures.calibration_error(figures.reliability(likely, labels)):.3f}"
        print(f"| {name} | {' | '.join(map(with_interval, cells))} | {error} |", flush=True)
    for name in (name for name in scores if name not in (OVERLAP, MINILM)):
        for other in (
            other for other in (OVERLAP, MINILM, JUDGE) if other in scores and other != name
        ):
            print(f"{name} less {other}: {paired(rows, scores[name], scores[other])}")


def heading(rows: Sequence[Claim]) -> str:
    share = sum(one.supported for one in rows) / len(rows)
    groups = len({one.group for one in rows})
    most = max(share, 1 - share)
    return f"{len(rows)} rows of {groups} groups, {share:.3f} supported; majority class right in {most:.3f}"


def arrays(rows: Sequence[Claim], scores: dict[str, float]) -> tuple[Array, Array]:
    return np.array([scores[one.id] for one in rows]), np.array(
        [one.supported for one in rows], dtype=float
    )


def paired(rows: Sequence[Claim], one: dict[str, float], other: dict[str, float]) -> str:
    """The difference of AUC, on the same resamples."""
    both, labels = arrays(rows, one), arrays(rows, other)
    return with_interval(
        figures.estimate(figures.auc, both[0], both[1], [row.group for row in rows], labels[0]), "+"
    )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.checkers.unseen", description=__doc__)
    parser.add_argument("verb", choices=["score", JUDGE, "answers", "tables", SHIPPED])
    parser.add_argument("folder", type=Path)
    parser.add_argument("name", nargs="?", default=OVERLAP)
    parser.add_argument("--sets", nargs="+", choices=(HELD_OUT, *CHECKED))
    parser.add_argument("--judge", default="embedded")
    parser.add_argument("--checker", default="embedded")
    parser.add_argument(
        "--rows",
        type=int,
        help="pairs of each set, in the judge's order (default: all; judge: 150)",
    )
    parser.add_argument(
        "--answers",
        type=int,
        default=0,
        help="answers of ExpertQA of which all claims are read (default: judge 0, answers 23)",
    )
    parser.add_argument("--minutes", type=float, default=60)
    parser.add_argument("--cache", type=Path, default=CACHE)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.verb == "score":
        score(given.folder, given.name, given.sets or SETS, given.rows)
    elif given.verb == JUDGE:
        asyncio.run(record(given.folder, given))
    elif given.verb == "answers":
        asyncio.run(check_answers(given.folder, given))
    elif given.verb == SHIPPED:
        sets = given.sets or CHECKED
        for name in (OVERLAP, MINILM):
            score(given.folder, name, sets, given.rows)
        asyncio.run(check(given.folder, given.checker, sets, given.rows))
        tables(given.folder, [_file_name(given.checker)])
    else:
        tables(given.folder)


if __name__ == "__main__":
    main()
