"""Does the judge tell supported claims from refuted ones? Factual accuracy on sentences of Climate-FEVER.

    python -m bench.climate_fever examples FILE --out EXAMPLES.jsonl [--n 300] [--seed 0]
    longmark run EXAMPLES.jsonl --metrics climaqa.factual_accuracy --scoring expected --judge MODEL --out RUN
    python -m bench.climate_fever table RUN

An example is a claim (the answer) with one sentence of evidence (the reference) that people labelled SUPPORTS or
REFUTES; the label is `meta.label`. They are drawn from the sentences with these labels alone, as in the
paper's check (ClimaQA, section 3.2.1: 81 % with GPT-4o-mini), so a judge that always says SUPPORTS has the share of the
majority. A score above .5 is SUPPORTS. Sentences of one claim are one cluster of the intervals.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

import numpy as np
import orjson

from longmark.analysis.metaeval.binary import auc
from longmark.records import Example
from longmark.records.write import write_examples
from longmark.scores.files import examples_of, rows_of
from longmark.stats.proportion import clustered_share

LABELS = ("SUPPORTS", "REFUTES")


def examples(file: Path, n: int, seed: int) -> list[Example]:
    """So many sentences, in the order of the file."""
    found = [
        Example(
            id=f"{claim['claim_id']}/{one['evidence_id']}",
            question_id=claim["claim_id"],
            answer=claim["claim"],
            references=(one["evidence"],),
            meta={"label": one["evidence_label"]},
        )
        for claim in map(orjson.loads, file.read_bytes().splitlines())
        for one in claim["evidences"]
        if one["evidence_label"] in LABELS
    ]
    chosen = set(random.Random(seed).sample(range(len(found)), min(n, len(found))))
    return [one for i, one in enumerate(found) if i in chosen]


def table(run: Path) -> None:
    """Accuracy with its 95 % interval, by label, beside the majority."""
    labels = {one.id: (str(one.meta["label"]), one.question_id) for one in examples_of(run)}
    rows = {row.example_id: row.score for row in rows_of(run) if row.score is not None}
    right = {
        key: float((rows[key] > 0.5) == (labels[key][0] == LABELS[0]))
        for key in labels
        if key in rows
    }
    majority = max(sum(labels[key][0] == label for key in right) for label in LABELS)
    print(
        f"{len(right)} scored of {len(labels)}; always the more frequent label: {majority / len(right):.3f}"
    )
    supported = [float(labels[key][0] == LABELS[0]) for key in right]
    ranked = auc(
        np.array([rows[key] for key in right]),
        np.array(supported),
        0.95,
        [labels[key][1] for key in right],
    )
    print(
        f"AUC of the score, which needs no threshold: {ranked.value:.3f} [{ranked.low:.3f}, {ranked.high:.3f}]"
    )
    for name in ("all", *LABELS):
        keys = [key for key in right if name in ("all", labels[key][0])]
        result = clustered_share([right[key] for key in keys], [labels[key][1] for key in keys])
        print(f"{name:8} {result.value:.3f} [{result.low:.3f}, {result.high:.3f}] of {len(keys)}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    actions = parser.add_subparsers(dest="action", required=True)
    one = actions.add_parser("examples")
    one.add_argument("file", type=Path)
    one.add_argument("--out", type=Path, required=True)
    one.add_argument("--n", type=int, default=300)
    one.add_argument("--seed", type=int, default=0)
    actions.add_parser("table").add_argument("run", type=Path)
    given = parser.parse_args()
    if given.action == "table":
        table(given.run)
    else:
        print(write_examples(examples(given.file, given.n, given.seed), given.out))


if __name__ == "__main__":
    main()
