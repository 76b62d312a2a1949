"""The claim checker on German and Chinese: sixty pairs of the demo's passages and claims, translated by hand.

    python -m bench.checkers.languages score FILE.jsonl [--checker embedded@language=any]
    python -m bench.checkers.languages table FILE.jsonl

`languages.jsonl` has ten passages of the demo in English, German and Chinese, each with three claims that it supports
and three in which a number, a time, a direction, a name or a negation was changed; those of the last five passages are
in other words. `score` appends the probability of each pair to FILE; a further call goes on where the last one ended.
`table` prints the AUC of each language and of each other one less that of English, with intervals that resample claims
(the passages are too few; a claim is drawn in all languages together), and how often the label at .5 is right.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from bench.checkers.figures import Array, auc

from longmark.models.registry import Registry

PAIRS = Path(__file__).with_name("languages.jsonl")
LANGUAGES = ("en", "de", "zh")
RESAMPLES = 4000


@dataclass(frozen=True)
class LanguagePair:
    """A claim and its passage in a language. change: what was changed in the claim; empty: it is supported."""

    id: str
    language: str
    evidence: str
    claim: str
    change: str


def pairs() -> Iterator[LanguagePair]:
    """The pairs of one passage and language follow each other, so that the passage is read once."""
    for line in PAIRS.read_text(encoding="utf-8").splitlines():
        row = json.loads(line)
        for language in LANGUAGES:
            for number, claim in enumerate(row["claims"]):
                name = f"{row['id']}-{number}-{language}"
                yield LanguagePair(
                    name, language, row["evidence"][language], claim[language], claim["change"]
                )


async def score(path: Path, checker_name: str) -> None:
    done = (
        {json.loads(line)["id"] for line in path.read_text().splitlines()}
        if path.exists()
        else set()
    )
    checker = Registry().open("checker", checker_name)
    with path.open("a", encoding="utf-8") as file:
        for pair in pairs():
            if pair.id not in done:
                reply = await checker.classify(pair.evidence, [pair.claim])
                record = {"id": pair.id, "language": pair.language, "change": pair.change}
                file.write(json.dumps({**record, "probability": reply.probabilities[0][0]}) + "\n")
                file.flush()
    await checker.close()


def table(path: Path) -> None:
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    print(
        "| language | pairs | AUC | less English | right at .5 | supported called so | changed called so |"
    )
    print("| --- | ---: | --- | --- | ---: | ---: | ---: |")
    english = {_claim_of(row): row for row in rows if row["language"] == LANGUAGES[0]}
    for language in LANGUAGES:
        chosen = [row for row in rows if row["language"] == language]
        labels = np.array([not row["change"] for row in chosen], dtype=float)
        if not 0 < labels.sum() < len(labels):
            continue
        scores = np.array([row["probability"] for row in chosen])
        values = auc(scores, labels, _weights(len(chosen)))
        entails = scores >= 0.5
        shares = (
            (entails == labels).mean(),
            entails[labels == 1].mean(),
            entails[labels == 0].mean(),
        )
        less = ""
        if language != LANGUAGES[0] and all(_claim_of(row) in english for row in chosen):
            others = np.array([english[_claim_of(row)]["probability"] for row in chosen])
            less = _with_interval(values - auc(others, labels, _weights(len(chosen))), "+")
        print(
            f"| {language} | {len(chosen)} | {_with_interval(values)} | {less} "
            f"| {' | '.join(f'{share:.2f}' for share in shares)} |"
        )


def _claim_of(row: dict[str, Any]) -> str:
    return str(row["id"]).rpartition("-")[0]


def _weights(count: int) -> Array:
    """Each row once, then the resamples; the same ones for the same count, so that differences are paired."""
    draws = np.random.default_rng(0).multinomial(count, [1 / count] * count, RESAMPLES)
    return np.vstack([np.ones(count), draws])


def _with_interval(values: Array, sign: str = "") -> str:
    """The first value, and the interval of the others."""
    low, high = np.nanpercentile(values[1:], [2.5, 97.5])
    return f"{values[0]:{sign}.2f} [{low:{sign}.2f}, {high:{sign}.2f}]"


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("verb", choices=["score", "table"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--checker", default="embedded@language=any")
    options = parser.parse_args()
    if options.verb == "score":
        asyncio.run(score(options.file, options.checker))
    else:
        table(options.file)


if __name__ == "__main__":
    main()
