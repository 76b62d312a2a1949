"""Scores every checker on the test parts once, and prints the tables of design/earlier-checkers.md.

    python -m bench.checkers.evaluate --scores FILE [--weights FOLDER] [--judge NAME] [--rows N] [--checker NAME]

FILE keeps the scores: where it is there, the tables are made from it and nothing is scored again. FOLDER has the
weights of `train --without SET` as SET.npz. The judge's replies come from the cache of `bench.checkers.judge`.
`--checker st:NAME` adds a cross-encoder for natural language inference (P of entailment).
"""

from __future__ import annotations

import argparse
import asyncio
import hashlib
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from bench.checkers import figures, judge
from bench.checkers.aligned import WEIGHTS, AlignedChecker, MiniLmEncoder, split
from bench.checkers.data import (
    CLIMATE,
    EXPERTQA,
    SETS,
    WICE,
    Claim,
    MarkedClaim,
    claims,
    marked_claims,
)
from bench.checkers.figures import with_interval
from bench.checkers.train import fit, mark_of_characters, page, premise, set_weights

from longmark.models.registry import Registry
from longmark.text.entailment import Relation
from longmark.text.overlap import overlap

OVERLAP, MINILM, TRAINED, WITHOUT, JUDGE = "overlap", "minilm", "trained", "without", "judge"
NAMES = {
    OVERLAP: "word overlap",
    MINILM: "MiniLM, closest sentence",
    TRAINED: "trained claim checker",
    WITHOUT: "the same, trained without this set",
    JUDGE: "judge",
}
CALIBRATION = 300  # rows of each training half on which the baselines' logistic curves are fitted
Scores = list[dict[str, Any]]


def score(given: argparse.Namespace) -> Scores:
    encoder = MiniLmEncoder(keep=100_000)
    checkers = {TRAINED: AlignedChecker(encoder=encoder)}
    rows: Scores = []
    for name in SETS:
        every = claims(name, given.data)
        asked = judge.subset(every, given.rows)
        replies = asyncio.run(judge.scores(given.judge, asked, given.cache))
        verdicts = dict(zip((one.id for one in asked), replies, strict=True))
        without = given.weights / f"{name}.npz"
        checkers[WITHOUT] = AlignedChecker(without, encoder)
        calibration = [one for one in by_hash(every) if not one.test][:CALIBRATION]
        for one in (*calibration, *(one for one in every if one.test)):
            found = baselines(encoder, one) | {
                "set": name,
                "id": one.id,
                "group": one.group,
                "test": one.test,
            }
            found |= {"label": one.label, "supported": one.supported, JUDGE: verdicts.get(one.id)}
            if one.test:
                alignment = checkers[TRAINED].align(
                    premise(one), one.claim
                )  # both have one rarity of tokens
                for key, checker in checkers.items():
                    found[key] = (
                        None if alignment is None else checker.judge(one.claim, alignment).support
                    )
                if given.checker:
                    found[given.checker] = asyncio.run(of_model(given.checker, one))
            rows.append(found)
        print(f"{name}: {len(rows)} rows", flush=True)
    for marked in marked_claims(given.data):
        if marked.test:
            rows += words(encoder, checkers[TRAINED], marked)
    return rows


def by_hash(every: Sequence[Claim]) -> list[Claim]:
    return sorted(every, key=lambda one: hashlib.sha256(one.id.encode()).digest())


def baselines(encoder: MiniLmEncoder, one: Claim) -> dict[str, Any]:
    read, *rest = encoder.vectors([one.claim, *split(premise(one))])
    closest = max((float(sentence.text @ read.text) for sentence in rest), default=0.0)
    return {OVERLAP: overlap(one.claim, one.evidence) or 0.0, MINILM: closest}


async def of_model(name: str, one: Claim) -> float | None:
    """The greatest probability of entailment over the parts of the evidence that the model reads."""
    model = Registry().open("checker", name)
    parts = [await model.classify(part, [one.claim]) for part in split(premise(one))]
    return max(
        (Relation.of(*reply.probabilities[0]).entails or 0.0 for reply in parts), default=None
    )


def words(encoder: MiniLmEncoder, checker: AlignedChecker, marked: MarkedClaim) -> Scores:
    """The words of a marked claim: whether people marked it, the checker's probability, and two baselines: whether the
    evidence has the word, and the word's best match in the fifth layer."""
    alignment = checker.align(page(marked), marked.claim)
    if alignment is None:
        return []
    checked = checker.judge(marked.claim, alignment)
    marks, found = mark_of_characters(marked), []
    features = alignment.words[alignment.counted]
    for word, row in zip(checked.words, features, strict=True):
        under = [mark for mark in marks[word.start : word.end] if mark is not None]
        if under:
            label = sum(under) * 2 <= len(under)
            found.append(
                {
                    "set": "words",
                    "id": marked.id,
                    "group": marked.group,
                    "supported": label,
                    "test": True,
                }
            )
            found[-1] |= {
                OVERLAP: float(row[8]),
                MINILM: float(row[1]),
                TRAINED: 1 - word.unsupported,
            }
    return found


# Tables ------------------------------------------------------------------------------------------------------------


def column(rows: Scores, name: str) -> figures.Array:
    return np.array([row[name] for row in rows], dtype=float)


def known(rows: Scores, data: str, name: str, *, test: bool = True) -> Scores:
    return [
        row
        for row in rows
        if row["set"] == data and row["test"] == test and row.get(name) is not None
    ]


def probabilities(rows: Scores, name: str, found: Scores) -> figures.Array:
    """The scores as probabilities: of baselines by a logistic curve over the training halves; of the judge by one
    over the half of its rows in which a row is not."""
    scores = column(found, name)
    if name not in (OVERLAP, MINILM, JUDGE):
        return scores
    if name != JUDGE:
        fitted = [row for data in SETS for row in known(rows, data, name, test=False)]
        curve = fit(
            column(fitted, name)[:, None],
            column(fitted, "supported"),
            1.0,
            set_weights([r["set"] for r in fitted]),
        )
        return np.asarray(1 / (1 + np.exp(-curve.log_odds(scores[:, None]))))
    halves, result = np.arange(len(found)) % 2, np.zeros(len(found))
    for half in (0, 1):
        own = halves == half
        curve = fit(scores[~own][:, None], column(found, "supported")[~own], 1.0)
        result[own] = 1 / (1 + np.exp(-curve.log_odds(scores[own][:, None])))
    return result


def table(rows: Scores, data: str, names: Sequence[str], of: Sequence[str] | None = None) -> None:
    """of: names whose rows all are used for every checker (the judge's subset)."""
    print(
        f"\n{data}\n\n| checker | rows | groups | AUC | average precision of not supported | Brier | ECE |"
    )
    print("|---|---:|---:|---|---|---|---:|")
    for name in names:
        found = [
            row
            for row in known(rows, data, name)
            if of is None or all(row.get(one) is not None for one in of)
        ]
        if len({row["supported"] for row in found}) < 2:
            continue
        labels, groups = column(found, "supported"), [row["group"] for row in found]
        scores, likely = column(found, name), probabilities(rows, name, found)
        cells = [
            with_interval(figures.estimate(figures.auc, scores, labels, groups)),
            with_interval(figures.estimate(figures.average_precision, scores, labels, groups)),
            with_interval(figures.estimate(figures.brier, likely, labels, groups)),
            f"{figures.calibration_error(figures.reliability(likely, labels)):.3f}",
        ]
        if data == "words":
            cells[2:] = ["", ""]
        counts = f"{len(found)} | {len(set(groups))}"
        print(f"| {NAMES.get(name, name)} | {counts} | {' | '.join(cells)} |", flush=True)


def differences(rows: Scores, data: str, others: Sequence[str]) -> None:
    for other in others:
        found = [row for row in known(rows, data, TRAINED) if row.get(other) is not None]
        if not found:
            continue
        labels, groups = column(found, "supported"), [row["group"] for row in found]
        both = column(found, TRAINED), column(found, other)
        difference = figures.estimate(figures.auc, both[0], labels, groups, both[1])
        print(f"| {data} | {NAMES[other]} | {with_interval(difference, '+')} |")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.checkers.evaluate", description=__doc__)
    judge.arguments(parser)
    parser.add_argument("--scores", type=Path, required=True)
    parser.add_argument(
        "--weights",
        type=Path,
        default=WEIGHTS.parent,
        help="folder with SET.npz of train --without SET",
    )
    parser.add_argument("--checker", help="a further checker, st:NAME")
    given = parser.parse_args()
    if not given.scores.exists():
        given.scores.write_text(
            "".join(json.dumps(row) + "\n" for row in score(given)), encoding="utf-8"
        )
    rows: Scores = [
        json.loads(line) for line in given.scores.read_text(encoding="utf-8").splitlines()
    ]
    names = [OVERLAP, MINILM, TRAINED, WITHOUT, *([given.checker] if given.checker else [])]
    for data in (WICE, CLIMATE, EXPERTQA):
        table(rows, data, names)
    print("\nThe judge's subset")
    for data in (WICE, CLIMATE, EXPERTQA):
        table(rows, data, [OVERLAP, MINILM, TRAINED, JUDGE], of=[JUDGE])
    table(rows, "words", [OVERLAP, MINILM, TRAINED])
    print("\n| set | trained claim checker less | difference of AUC |\n|---|---|---|")
    for data in (WICE, CLIMATE, EXPERTQA, "words"):
        differences(rows, data, [OVERLAP, MINILM, JUDGE])
    for data in (WICE, CLIMATE, EXPERTQA):
        found = known(rows, data, TRAINED)
        bins = figures.reliability(column(found, TRAINED), column(found, "supported"))
        print(f"\n{data}: probability / share supported, bins of equal count")
        print("  ".join(f"{one.probability:.2f}/{one.share:.2f}" for one in bins))


if __name__ == "__main__":
    main()
