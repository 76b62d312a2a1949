"""Which unit is nearer to people who said whether a source bears out a part of an answer: the part, or its sentences?

    python -m bench.cited_parts begin|begin-unseen|expertqa [--checker overlap] [--n 0] [--seed 0] --out FOLDER

    begin      a response to a piece of knowledge, of one sentence or several, which people called fully attributable to it
               or not (BEGIN-dataset); the knowledge is the one source that the response cites
    begin-unseen  its parts TopicalChat and CMU-DoG alone: the built-in claim checker was trained on the third
    expertqa   a claim of a long answer with the passages that it cites; yes: an expert called its support complete,
               no: partial or incomplete

Each is an answer of its own whose sentences all cite its sources. `part` is `citations.recall@unit=claims` with the
whole text as the one claim, `sentences` is `citations.recall`, the mean over its sentences. AUC of yes: of the checker's
probability (`mean` and `least` over the sentences) and of the score; answers with the same knowledge, or of one
question, are a cluster. n: this many are drawn, half of them with yes; 0: all. Data that are not in this repository.
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import fmean
from typing import Any, NamedTuple

import numpy as np
from bench.defects import read

import longmark
from longmark.analysis.metaeval.binary import Auc, auc
from longmark.records import Row
from longmark.records.evidence import Support
from longmark.text.sentences import sentences

_MARKER = re.compile(r"\s*\[\d+\]")  # of ExpertQA; the passages are numbered anew here
UNITS = {"part": "citations.recall@unit=claims", "sentences": "citations.recall"}


class CitedPart(NamedTuple):
    text: str
    sources: list[str]
    cluster: str
    supported: bool

    def example(self, number: int) -> dict[str, Any]:
        markers = "".join(f"[{place}]" for place in range(1, len(self.sources) + 1))
        return {
            "id": str(number),
            "question_id": self.cluster,
            "question": "What is known?",
            "answer": " ".join(f"{text} {markers}" for text in sentences(self.text)),
            "claims": [self.text],
            "contexts": self.sources,
        }


def begin(leave_out: str = "") -> Iterator[CitedPart]:
    for _, line in read("claims/begin.jsonl"):
        if leave_out and line["part"].startswith(leave_out):
            continue
        yield CitedPart(
            line["claim"], [line["evidence"]], line["group"], line["label"] == "entails"
        )


def expertqa() -> Iterator[CitedPart]:
    for number, line in read("expertqa/expert_labels.jsonl"):
        for answer in line["answers"].values():
            for claim in answer["claims"]:
                passages = [text.partition("\n\n")[2].strip() for text in claim["evidence"] or ()]
                if any(passages) and claim["support"] in ("Complete", "Partial", "Incomplete"):
                    yield CitedPart(
                        _MARKER.sub("", claim["claim_string"]),
                        [text for text in passages if text],
                        str(number),
                        claim["support"] == "Complete",
                    )


DATA_SETS: dict[str, Callable[[], Iterator[CitedPart]]] = {
    "begin": begin,
    "begin-unseen": partial(begin, "wow/"),
    "expertqa": expertqa,
}


def drawn(parts: list[CitedPart], n: int, seed: int) -> list[CitedPart]:
    if not n:
        return parts
    rng = random.Random(seed)
    of_label = [[part for part in parts if part.supported is yes] for yes in (True, False)]
    samples = [rng.sample(same, n // 2) for same in of_label]
    return [part for pair in zip(*samples, strict=True) for part in pair]


def probabilities_of(row: Row) -> list[float]:
    support = Support.of(row.evidence)
    return [
        claim.passages_probability
        for claim in (support.claims if support else ())
        if claim.passages_probability is not None
    ]


def written(area: Auc) -> str:
    value, low, high = (
        "-" if figure is None else f"{figure:.3f}" for figure in (area.value, area.low, area.high)
    )
    return f"{value} [{low}, {high}], {area.yes} yes, {area.no} no, {area.clusters} clusters"


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("data", choices=tuple(DATA_SETS))
    parser.add_argument("--checker", default="overlap")
    parser.add_argument("--n", type=int, default=0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    parts = drawn(list(DATA_SETS[options.data]()), options.n, options.seed)
    examples = [part.example(number) for number, part in enumerate(parts)]
    run = longmark.run(examples, list(UNITS.values()), checker=options.checker, out=options.out)
    nothing = np.full(len(parts), np.nan)
    figures = {
        (unit, figure): nothing.copy() for unit in UNITS for figure in ("score", "mean", "least")
    }
    unit_of = {metric: unit for unit, metric in UNITS.items()}
    for row in run.rows():
        place = int(row.example_id)
        unit = unit_of[row.metric]
        if row.score is not None:
            figures[unit, "score"][place] = row.score
        if probabilities := probabilities_of(row):
            figures[unit, "mean"][place] = fmean(probabilities)
            figures[unit, "least"][place] = min(probabilities)
    yes = np.array([float(part.supported) for part in parts])
    clusters = np.array([part.cluster for part in parts])
    several = np.array([len(list(sentences(part.text))) > 1 for part in parts])
    for title, among in (("all", np.ones(len(parts), bool)), ("of several sentences", several)):
        for (unit, figure), values in figures.items():
            area = auc(values[among], yes[among], 0.95, clusters[among].tolist())
            # supported: all of its sentences are, or the probability is 1/2 or more
            says_yes = values[among] >= (1 if figure == "score" else 0.5)
            right = int((says_yes == (yes[among] > 0)).sum())
            print(f"{title}: {unit}, {figure}: {written(area)}; right {right} of {among.sum()}")


if __name__ == "__main__":
    main()
