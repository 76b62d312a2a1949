"""Do experts mark the answers as incomplete that cover less of the other answer? HaluQuestQA, 690 answers.

`python -m bench.haluquestqa FILE` prints, for coverages that need no judge, the AUC of "complete" with its interval
(answers to a question are one cluster). A statement is a sentence of the other answer here. The length of the answer
beside the other one is the baseline: an answer of more words covers more. The figures in
docs/comprehensiveness-study.md come from here.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from statistics import fmean

import numpy as np

from longmark.analysis.metaeval.binary import auc
from longmark.contrib.make.published import HALUQUESTQA, read
from longmark.records import Example
from longmark.records.pair import singles
from longmark.testing import call
from longmark.text.sentences import sentences, words

_CLOSE = 0.6  # cosine from which a sentence counts as covered


def coverages(example: Example, vectors: dict[str, np.ndarray]) -> dict[str, float]:
    """Name -> coverage of the other answer, in [0, 1] (cosines in [-1, 1])."""
    answer, other = example.answer or "", example.contexts[0].text
    own = _words(answer)
    shares = [len(its & own) / len(its) for one in sentences(other) if (its := _words(one))]
    mine = np.stack([vectors[one] for one in sentences(answer)])
    closest = [float((mine @ vectors[one]).max()) for one in sentences(other)]
    return {
        "length beside the other answer": len(answer) / (len(answer) + len(other)),
        "words of its sentences": fmean(shares) if shares else float("nan"),
        "closest sentence, mean cosine": fmean(closest),
        f"sentences with a cosine of {_CLOSE:g}": fmean(one >= _CLOSE for one in closest),
    }


def _words(text: str) -> set[str]:
    return {word.casefold() for word in words(text) if len(word) > 3}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", type=Path)
    parser.add_argument("--embedder", default="embedded")
    given = parser.parse_args()
    examples = [
        one
        for one in singles(read(HALUQUESTQA, given.file), given.file)
        if sentences(one.answer or "")
    ]
    texts = list(dict.fromkeys(text for one in examples for text in sentences(one.answer or "")))
    found = call(lambda models: models.embed(texts), embedder=given.embedder)
    vectors = {
        text: np.asarray(vector) / np.linalg.norm(vector)
        for text, vector in zip(texts, found, strict=True)
    }
    pairs = [
        one for one in examples if all(text in vectors for text in sentences(one.contexts[0].text))
    ]
    complete = np.array([float(one.meta["complete"] == "yes") for one in pairs])
    rows = [coverages(one, vectors) for one in pairs]
    questions = [one.question_id for one in pairs]
    print(f"{len(pairs)} answers, {int(complete.sum())} complete; AUC of complete with its 95 % CI")
    for name in rows[0]:
        result = auc(np.array([row[name] for row in rows]), complete, 0.95, questions)
        assert result.value is not None
        print(f"{name:36} {result.value:.3f} [{result.low:.3f}, {result.high:.3f}]")


if __name__ == "__main__":
    main()
