"""Does the claim checker judge better what opens with This, It or Yes if the sentence before it goes with the claim?

    python -m bench.checkers.context score FILE.jsonl [--minutes M]
    python -m bench.checkers.context table FILE.jsonl

The claims of ExpertQA with passages that open with such a word (`longmark.text.context`) and are not the first of their
answer. `score` asks for each the log-odds alone and in two forms with context, and appends them to FILE; a further call
goes on where the last one ended. `joined` is what `embedded@context=before` sends: the sentence before and the claim as
one; `told` has the question and that sentence before the claim, and asks about the claim alone. The order is drawn with
a seed and takes an unsupported claim with each supported one for as long as there are any. `table` prints the AUC of
the probabilities (the curve was fitted without context), the paired differences with intervals that resample questions,
the mean log-odds of both kinds of claims, and how often the label at .5 is right.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np
from bench.checkers.data import _CITATION, DATA, EXPERTQA, FILES, Claim, _expertqa, _rows
from bench.checkers.figures import auc

from longmark.contrib.local.checker_form import form_of
from longmark.contrib.local.claim_checker import ClaimChecker
from longmark.models.registry import Registry
from longmark.text.context import points_back

FORMS = {
    "none": "\nClaim: {claim}\nIs",
    "told": "\nQuestion: {question}\nSentence before the claim: {before}\nClaim: {claim}\nIs",
    "joined": "\nClaim: {before} {claim}\nIs",
}
RESAMPLES = 4000


@dataclass(frozen=True)
class InContext:
    """A labelled claim with what was said before it."""

    claim: Claim
    question: str
    before: str


def rows() -> list[InContext]:
    """The claims with context, an unsupported one beside each supported one as long as there are any."""
    table = _rows(DATA / FILES[EXPERTQA])
    found = list(_in_context(table))
    random.Random(0).shuffle(found)
    kinds = [[row for row in found if row.claim.supported == kind] for kind in (False, True)]
    return [row for pair in zip_longest(*kinds) for row in pair if row is not None]


def _in_context(table: list[dict[str, Any]]) -> Iterator[InContext]:
    for claim in _expertqa(table):
        number, system, place = claim.id.split("-")
        if int(place) == 0 or not points_back(claim.claim):
            continue
        before = table[int(number)]["answers"][system]["claims"][int(place) - 1]["claim_string"]
        before = _CITATION.sub("", before).strip()
        if before:
            yield InContext(claim, table[int(number)]["question"].strip(), before)


async def score(path: Path, minutes: float) -> None:
    done = (
        {json.loads(line)["id"] for line in path.read_text().splitlines()}
        if path.exists()
        else set()
    )
    end = time.monotonic() + 60 * minutes
    checker = ClaimChecker.opened("embedded", Registry().open)
    tail = "<|im_end|>\n<|im_start|>assistant\n"
    yes, no = [await checker._answers(words) for words in (checker._form.yes, checker._form.no)]
    with path.open("a", encoding="utf-8") as file:
        for row in rows():
            if row.claim.id in done:
                continue
            if time.monotonic() > end:
                break
            windows = await checker._windows(" ".join(row.claim.evidence))
            if len(windows) > 1:
                continue
            (window,) = windows
            ((cosine,),) = [await checker._cosines(window.text, [row.claim.claim])]
            odds = {}
            began = time.process_time()
            for name, form in FORMS.items():
                text = form.format(question=row.question, before=row.before, claim=row.claim.claim)
                text = text.removesuffix("Is") + "Is all of the claim supported by the evidence?"
                ids = [
                    token for token, _ in await checker._model.token_ids(text)
                ] + await checker._prompt_ids(tail)
                odds[name], _ = await checker._model.log_odds(
                    [*window.ids, *ids], yes, no, adapter=True, shared=window.ids
                )
            record = {
                "id": row.claim.id,
                "group": row.claim.group,
                "supported": row.claim.supported,
                "cosine": cosine,
                "seconds": time.process_time() - began,
                **odds,
            }
            file.write(json.dumps(record) + "\n")
            file.flush()
    await checker.close()


def table(path: Path) -> None:
    found = [json.loads(line) for line in path.read_text().splitlines()]
    labels = np.array([row["supported"] for row in found], dtype=float)
    groups = sorted({row["group"] for row in found})
    members = np.array([[row["group"] == group for row in found] for group in groups], dtype=float)
    draws = np.random.default_rng(0).multinomial(
        len(groups), [1 / len(groups)] * len(groups), RESAMPLES
    )
    weights = np.vstack([np.ones(len(found)), draws @ members])
    form = form_of("embedded")
    areas = {}
    print(f"{len(found)} claims of {len(groups)} questions, {int(labels.sum())} supported")
    for name in FORMS:
        scores = np.array([form.probability(row[name], row["cosine"]) for row in found])
        odds = np.array([row[name] for row in found])
        areas[name] = auc(scores, labels, weights)
        difference = areas[name] - areas["none"]
        low, high = np.nanpercentile(difference[1:], [2.5, 97.5])
        entails = scores >= 0.5
        print(
            f"{name}: AUC {areas[name][0]:.3f}, less none {difference[0]:+.3f} [{low:+.3f}, {high:+.3f}]; log-odds "
            f"{odds[labels == 1].mean():+.2f} supported, {odds[labels == 0].mean():+.2f} others; labels right "
            f"{(entails == labels).mean():.2f}; entails {entails[labels == 1].mean():.2f}, "
            f"{entails[labels == 0].mean():.2f}"
        )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("verb", choices=["score", "table"])
    parser.add_argument("file", type=Path)
    parser.add_argument("--minutes", type=float, default=1e9)
    options = parser.parse_args()
    if options.verb == "score":
        asyncio.run(score(options.file, options.minutes))
    else:
        table(options.file)


if __name__ == "__main__":
    main()
