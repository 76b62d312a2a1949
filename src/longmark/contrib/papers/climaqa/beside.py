"""What a ClimaQA study reads besides runs: people's labels of cloze answers (figure 4) and of Climate-FEVER's sentences
(section 3.2.1)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from longmark.analysis.metaeval.binary import auc
from longmark.analysis.metaeval.results import clusters_of
from longmark.contrib.papers.climaqa.results import ClimaqaResults
from longmark.contrib.papers.climaqa.rows import FA, PS
from longmark.errors import UserError
from longmark.metrics.climaqa.factual_accuracy import LABELS, SUPPORTS
from longmark.metrics.climaqa.phrase_similarity import WINDOWS, Phrases
from longmark.records.metric_name import under
from longmark.records.pair import singles
from longmark.scores.files import examples_of, rows_of, source_of
from longmark.stats.proportion import clustered_share
from longmark.stats.results import Estimate
from longmark.stats.samples import Floats

RIGHT, WRONG = "right", "wrong"


@dataclass(frozen=True, slots=True)
class Window:
    """Mean cosines with so many words on each side. difference: right minus wrong."""

    words: int
    right: Estimate
    wrong: Estimate
    difference: Estimate


@dataclass(frozen=True, slots=True)
class Fever:
    """Factual accuracy against people's labels of sentences. rows: name -> estimate; unscored: labelled sentences."""

    rows: Mapping[str, Estimate]
    unscored: int


def windows(path: Path, results: ClimaqaResults) -> list[Window]:
    """Of a run of phrase similarity on cloze answers that people labelled. Answers that are the reference do not count.
    UserError unless some are right and some are wrong."""
    source = source_of(path)
    rows = (row for row in rows_of(source) if under(PS.metric, [row.metric]))
    phrases = {row.example_id: Phrases.of(row.evidence) for row in rows}
    cosines = {name: one.windows for name, one in phrases.items() if one and one.windows}
    given = singles(examples_of(source), source)
    labelled = [
        one for one in given if one.meta.get("label") in (RIGHT, WRONG) and one.id in cosines
    ]
    answers = [
        one for one in labelled if (one.answer or "").strip() not in map(str.strip, one.references)
    ]
    answers.sort(key=lambda one: one.meta["label"] != RIGHT)
    right = np.array([one.meta["label"] == RIGHT for one in answers], dtype=np.float64)
    count = int(right.sum())
    if not 0 < count < len(answers):
        raise UserError(
            f"{path}: expected answers with meta.label right and wrong, other than their references, and "
            f"{PS.metric}@windows=true; found {count} right and {len(answers) - count} wrong"
        )
    statements, made = [one.question_id for one in answers], []
    for words in WINDOWS:
        values = np.array([cosines[one.id][words] for one in answers])
        first = results.mean(values[:count].tolist(), statements[:count], (-1, 1))
        second = results.mean(values[count:].tolist(), statements[count:], (-1, 1))
        sums = np.stack([values * right, right, values * (1 - right), 1 - right], axis=1)
        made.append(Window(words, first, second, results.resampled(sums, _difference, statements)))
    return made


def _difference(sums: Floats) -> Floats:
    """Mean of right answers minus that of wrong ones. sums: of values and numbers of each."""
    made: Floats = sums[:, 0] / sums[:, 1] - sums[:, 2] / sums[:, 3]
    return made


def fever(path: Path, results: ClimaqaResults) -> Fever:
    """The share that it puts on the label's side of .5, in all and of each label; the share of the more frequent label,
    the difference of these two, and the AUC. UserError if a run has no labelled sentence with factual accuracy."""
    source = source_of(path)
    scores = {
        row.example_id: row.score for row in rows_of(source) if under(FA.metric, [row.metric])
    }
    labelled = [one for one in examples_of(source) if one.meta.get("label") in LABELS]
    kept = [one for one in labelled if scores.get(one.id) is not None]
    if not kept:
        raise UserError(
            f"{path}: no example has meta.label ({' or '.join(LABELS)}) and a score of {FA.metric}; run that "
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
        **{
            f"of those, {label}": clustered_share(own, claims, level)
            for label, own in by_label.items()
        },
        "majority class": clustered_share(most, claims, level),
        "difference from the majority class": results.paired(
            list(zip(right, most, strict=True)), claims, 1.0
        ),
        "AUC": auc(values, yes.astype(float), level, clusters_of(claims)),
    }
    return Fever(rows, len(labelled) - len(kept))
