"""What a ClimaQA study reads besides runs: people's labels of cloze answers (figure 4) and of Climate-FEVER's sentences
(section 3.2.1)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from longmark.analysis.metaeval.binary import auc
from longmark.analysis.metaeval.results import clusters_of
from longmark.analysis.studies.climaqa.results import Results
from longmark.analysis.studies.climaqa.rows import FA
from longmark.datasets import LeftOut
from longmark.errors import ModelError, UserError
from longmark.metrics.climaqa.factual_accuracy import LABELS, SUPPORTS
from longmark.metrics.climaqa.phrase_similarity import filled, phrase
from longmark.metrics.score._similarity import cosine
from longmark.models.handles import Models
from longmark.records import Example
from longmark.records.files import BadLines, at
from longmark.records.read import Reading
from longmark.records.values import found
from longmark.scores.files import examples_of, rows_of, source_of
from longmark.stats.proportion import clustered_share
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats

WINDOWS = range(11)
_RIGHT = dict.fromkeys(("right", "correct", "true", "1"), True)
_RIGHT |= dict.fromkeys(("wrong", "incorrect", "false", "0"), False)


@dataclass(frozen=True, slots=True)
class Window:
    """Mean cosines with so many words on each side. difference: right minus wrong."""

    words: int
    right: Estimate
    wrong: Estimate
    difference: Estimate


@dataclass(frozen=True, slots=True)
class Compared:
    """Cloze answers with `meta.cosines`, the similarities of the two phrases by window."""

    examples: Sequence[Example]
    left_out: Sequence[LeftOut]


@dataclass(frozen=True, slots=True)
class Fever:
    """Factual accuracy against people's labels of sentences. rows: name -> estimate; unscored: labelled sentences."""

    rows: Mapping[str, Estimate]
    unscored: int


def read_labelled(path: Path) -> list[Example]:
    """Cloze answers with `label` right or wrong, without those that are the reference. BadInput with the lines that are
    wrong; UserError unless some answers are right and some are wrong."""
    made, bad = [], BadLines()
    for line, one in Reading(path).records():
        if isinstance(one, str):
            bad.add(at(path, line, one))
        elif _is_right(one) is None:
            bad.add(at(path, line, f"label: expected right or wrong, found {found(one.meta.get('label'))}"))
        elif one.answer is None or len(one.references) != 1:
            bad.add(at(path, line, "expected an answer and one reference"))
        elif phrase(one.question or "", 0) is None:
            bad.add(at(path, line, "question: expected a blank such as <blank>"))
        elif one.answer.strip() != one.references[0].strip():
            made.append(one)
    bad.check()
    if {_is_right(one) for one in made} != {True, False}:
        raise UserError(f"{path}: expected right and wrong answers that differ from the reference")
    return made


def _is_right(example: Example) -> bool | None:
    return _RIGHT.get(str(example.meta.get("label")).strip().casefold())


async def with_cosines(given: Sequence[Example], models: Models) -> Compared:
    """The answers with the cosine of their phrases in each window."""
    made, left_out = list[Example](), list[LeftOut]()
    for one in given:
        around = [phrase(one.question or "", window) or "" for window in WINDOWS]
        terms = (one.references[0], one.answer or "")
        try:
            vectors = await models.embed([filled(each, term) for term in terms for each in around])
        except ModelError as error:
            left_out.append(LeftOut(one.id, str(error), again=True))
            continue
        pairs = zip(vectors[: len(around)], vectors[len(around) :], strict=True)
        made.append(one.model_copy(update={"meta": {**one.meta, "cosines": [cosine(a, b) for a, b in pairs]}}))
    return Compared(made, left_out)


def windows(path: Path, results: Results) -> list[Window]:
    """The means of a file of answers with cosines."""
    answers = sorted(Reading(path), key=lambda one: not _is_right(one))
    right = np.array([_is_right(one) for one in answers], dtype=np.float64)
    statements, count = [one.question_id for one in answers], int(right.sum())
    made = []
    for place, words in enumerate(WINDOWS):
        values = np.array([one.meta["cosines"][place] for one in answers])
        first = results.mean(values[:count].tolist(), statements[:count], (-1, 1))
        second = results.mean(values[count:].tolist(), statements[count:], (-1, 1))
        sums = np.stack([values * right, right, values * (1 - right), 1 - right], axis=1)
        made.append(Window(words, first, second, results.resampled(sums, _difference, statements)))
    return made


def _difference(sums: Floats) -> Floats:
    """Mean of right answers minus that of wrong ones. sums: of values and numbers of each."""
    made: Floats = sums[:, 0] / sums[:, 1] - sums[:, 2] / sums[:, 3]
    return made


def fever(path: Path, results: Results) -> Fever:
    """The share that it puts on the label's side of .5, in all and of each label; the share of the more frequent label,
    the difference of these two, and the AUC. UserError if a run has no labelled sentence with factual accuracy."""
    source = source_of(path)
    scores = {row.example_id: row.score for row in rows_of(source) if row.metric in FA.metrics}
    labelled = [one for one in examples_of(source) if one.meta.get("label") in LABELS]
    kept = [one for one in labelled if scores.get(one.id) is not None]
    if not kept:
        raise UserError(
            f"{path}: no example has meta.label ({' or '.join(LABELS)}) and a score of {FA.metrics[0]}; run that "
            "metric on Climate-FEVER's sentences"
        )
    values = np.array([scores[one.id] for one in kept], dtype=np.float64)
    yes = np.array([one.meta["label"] == SUPPORTS for one in kept])
    claims, level = [one.question_id for one in kept], results.level
    right = ((values > 0.5) == yes).astype(float)
    most = (yes == (yes.mean() >= 0.5)).astype(float)
    by_label = {label: np.where(yes == (label == SUPPORTS), right, np.nan) for label in LABELS}
    rows = {
        "on the label's side of .5": clustered_share(right, claims, level),
        **{f"of those, {label}": clustered_share(own, claims, level) for label, own in by_label.items()},
        "majority class": clustered_share(most, claims, level),
        "difference from the majority class": results.paired(list(zip(right, most, strict=True)), claims, 1.0),
        "AUC": auc(values, yes.astype(float), level, clusters_of(claims)),
    }
    return Fever(rows, len(labelled) - len(kept))
