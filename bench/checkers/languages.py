"""The claim checker on German and Chinese: thirty pairs of the demo's passages and claims, translated by hand.

    python -m bench.checkers.languages score FILE.jsonl [--checker embedded@language=any]
    python -m bench.checkers.languages table FILE.jsonl

`languages.jsonl` has five passages of the demo in English, German and Chinese, each with three claims that it supports
and three in which a number, a time, a direction, a name or a negation was changed. `score` appends the probability of
each pair to FILE; a further call goes on where the last one ended. `table` prints the AUC of each language, with an
interval that resamples claims (the passages are too few), and how often the label at .5 is right.
"""

from __future__ import annotations

import argparse
import asyncio
import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from bench.checkers.figures import auc

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
    generator = np.random.default_rng(0)
    print("| language | pairs | AUC | right at .5 | supported called so | changed called so |")
    print("| --- | ---: | --- | ---: | ---: | ---: |")
    for language in LANGUAGES:
        chosen = [row for row in rows if row["language"] == language]
        labels = np.array([not row["change"] for row in chosen], dtype=float)
        scores = np.array([row["probability"] for row in chosen])
        if not 0 < labels.sum() < len(labels):
            continue
        draws = generator.multinomial(len(chosen), [1 / len(chosen)] * len(chosen), RESAMPLES)
        values = auc(scores, labels, np.vstack([np.ones(len(chosen)), draws]))
        low, high = np.nanpercentile(values[1:], [2.5, 97.5])
        entails = scores >= 0.5
        area = f"{values[0]:.2f} [{low:.2f}, {high:.2f}]"
        shares = (
            (entails == labels).mean(),
            entails[labels == 1].mean(),
            entails[labels == 0].mean(),
        )
        print(
            f"| {language} | {len(chosen)} | {area} | {' | '.join(f'{share:.2f}' for share in shares)} |"
        )


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
