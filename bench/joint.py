"""Labels of `plan=joint` beside those of a call for each passage, and both beside people's.

    python -m bench.joint climate_fever FILE --judge MODEL --cache CALLS.sqlite [--claims 20] [--seed 0]
    python -m bench.joint ragchecker FILE --judge MODEL --cache CALLS.sqlite

Climate-FEVER: a claim with five sentences of Wikipedia, which people labelled one by one; `SUPPORTS` is entailment.
Claims are drawn of those that have both a sentence that supports them and one that does not. RAGChecker's checked
examples: the claims of an answer with its passages; the labels are those of the model that the authors used.

Both ways ask the same judge about the same pairs: `relations` (a passage a call) and `relations.joint` (all passages in
one call). A call whose two replies cannot be read counts as unread, with all its pairs; the other figures are of pairs
that both ways decided. The cache keeps what was answered, so that a run that was stopped goes on.
"""

from __future__ import annotations

import argparse
import asyncio
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import orjson

from longmark.errors import NoScore
from longmark.models.handles import Models
from longmark.report.tables import Column, Table, as_markdown
from longmark.stats.proportion import clustered_share
from longmark.testing import open_models
from longmark.text.entailment import ENTAILS, JudgeChecker

Labels = list[list[bool | None]]
"""By passage and statement: whether the passage entails the statement; None: not read."""


@dataclass(frozen=True)
class LabelledPassages:
    """Statements, passages, and by passage and statement whether the passage entails it."""

    statements: tuple[str, ...]
    passages: tuple[str, ...]
    entailed: tuple[tuple[bool, ...], ...]


def of_climate_fever(file: Path, count: int, seed: int) -> list[LabelledPassages]:
    """So many claims, in the order of the draw."""
    labelled = []
    for line in file.read_bytes().splitlines():
        record = orjson.loads(line)
        evidence = record["evidences"]
        supports = tuple(sentence["evidence_label"] == "SUPPORTS" for sentence in evidence)
        if any(supports) and not all(supports):
            passages = tuple(sentence["evidence"] for sentence in evidence)
            labels = tuple((label,) for label in supports)
            labelled.append(LabelledPassages((record["claim"],), passages, labels))
    return random.Random(seed).sample(labelled, min(count, len(labelled)))


def of_ragchecker(file: Path, count: int, _seed: int) -> list[LabelledPassages]:
    """The first examples: the claims of the answer, as sentences, and the labels of each passage."""
    labelled = []
    for record in orjson.loads(file.read_bytes())["results"][:count]:
        statements = tuple(" ".join(triplet) for triplet in record["response_claims"])
        passages = tuple(passage["text"] for passage in record["retrieved_context"])
        by_claim = record["retrieved2response"]
        labels = tuple(
            tuple(of_claim[place] == "Entailment" for of_claim in by_claim)
            for place in range(len(passages))
        )
        labelled.append(LabelledPassages(statements, passages, labels))
    return labelled


SETS: dict[str, Callable[[Path, int, int], list[LabelledPassages]]] = {
    "climate_fever": of_climate_fever,
    "ragchecker": of_ragchecker,
}


async def separately(checker: JudgeChecker, labelled: LabelledPassages) -> Labels:
    labels: Labels = []
    for passage in labelled.passages:
        try:
            relations = await checker.relations(passage, labelled.statements)
            labels.append([relation.label == ENTAILS for relation in relations])
        except NoScore:
            labels.append([None] * len(labelled.statements))
    return labels


async def jointly(checker: JudgeChecker, labelled: LabelledPassages) -> Labels:
    try:
        entailing = await checker.entailing(labelled.passages, labelled.statements)
    except NoScore:
        return [[None] * len(labelled.statements) for _ in labelled.passages]
    return [
        [place in passages for passages in entailing] for place in range(len(labelled.passages))
    ]


@dataclass(frozen=True)
class LabelledPair:
    """A pair of a passage and a statement. cluster: the number of the draw."""

    cluster: int
    people: bool
    separate: bool | None
    joint: bool | None


async def labelled_pairs(
    models: Models, draw: Sequence[LabelledPassages], seconds: float
) -> list[LabelledPair]:
    """The pairs of those of the draw that begin within so many seconds."""
    checker = JudgeChecker(models, models.judges[0])
    pairs: list[LabelledPair] = []
    loop = asyncio.get_running_loop()
    began = loop.time()
    for cluster, labelled in enumerate(draw):
        if loop.time() - began > seconds:
            break
        separate = await separately(checker, labelled)
        joint = await jointly(checker, labelled)
        pairs += [
            LabelledPair(cluster, people, alone, together)
            for of_people, of_separate, of_joint in zip(
                labelled.entailed, separate, joint, strict=True
            )
            for people, alone, together in zip(of_people, of_separate, of_joint, strict=True)
        ]
    return pairs


def table(pairs: Sequence[LabelledPair]) -> Table:
    """Agreement with people and between the ways, with 95 % intervals over the draws."""
    decided = [pair for pair in pairs if pair.separate is not None and pair.joint is not None]
    comparisons: list[
        tuple[str, Callable[[LabelledPair], bool], Callable[[LabelledPair], bool]]
    ] = [
        ("a passage a call, people", lambda pair: bool(pair.separate), lambda pair: pair.people),
        ("joint, people", lambda pair: bool(pair.joint), lambda pair: pair.people),
        (
            "joint, a passage a call",
            lambda pair: bool(pair.joint),
            lambda pair: bool(pair.separate),
        ),
    ]
    lines = []
    for name, label, reference in comparisons:
        equal = [float(label(pair) == reference(pair)) for pair in decided]
        agreement = clustered_share(equal, [pair.cluster for pair in decided])
        both = sum(label(pair) and reference(pair) for pair in decided)
        interval = f"{agreement.value:.2f} [{agreement.low:.2f}, {agreement.high:.2f}]"
        if agreement.low is None:
            interval = f"{agreement.value:.2f}"
        of_label = sum(map(label, decided))
        of_reference = sum(map(reference, decided))
        lines.append((name, interval, f"{both} of {of_label}", f"{both} of {of_reference}"))
    heads = ("labels, beside", "equal", "entailments right", "entailments found")
    return Table("joint", "Labels", tuple(map(Column, heads)), lines)


async def measured(options: argparse.Namespace) -> None:
    draw = SETS[options.set](options.file, options.claims, options.seed)
    async with open_models(judge=options.judge, cache=options.cache) as models:
        pairs = await labelled_pairs(models, draw, options.seconds)
        usage = models.usage_log.usage
    print(as_markdown(table(pairs)))
    unread = [sum(getattr(pair, way) is None for pair in pairs) for way in ("separate", "joint")]
    draws = len({pair.cluster for pair in pairs})
    print(
        f"{len(pairs)} pairs of {draws} draws; unread: {unread[0]} a passage a call, {unread[1]} joint. "
        f"{usage.calls} calls, {usage.prompt_tokens} prompt tokens."
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        prog="python -m bench.joint",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("set", choices=sorted(SETS))
    parser.add_argument("file", type=Path)
    parser.add_argument("--judge", required=True)
    parser.add_argument("--cache", type=Path, required=True)
    parser.add_argument("--claims", type=int, default=20)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="no draw begins later")
    asyncio.run(measured(parser.parse_args()))


if __name__ == "__main__":
    main()
