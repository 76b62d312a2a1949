"""What a ClimaQA study reads besides runs: human labels of cloze answers (figure 4) and of Climate-FEVER's sentences
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

RIGHT = "right"
WRONG = "wrong"


@dataclass(frozen=True, slots=True)
class Window:
    """Mean cosines with so many words on each side. difference: right minus wrong."""

    words: int
    right: Estimate
    wrong: Estimate
    difference: Estimate


@dataclass(frozen=True, slots=True)
class Fever:
    """Factual accuracy against human labels of sentences. rows: name -> estimate; unscored: labelled sentences."""

    rows: Mapping[str, Estimate]
    unscored: int


def windows(path: Path, results: ClimaqaResults) -> list[Window]:
    """Of a run of phrase similarity on cloze answers that raters labelled. Answers that are the reference do not count.
    UserError unless some are right and some are wrong."""
    source = source_of(path)
    rows = (row for row in rows_of(source) if under(PS.metric, [row.metric]))
    phrases = {row.example_id: Phrases.of(row.evidence) for row in rows}
    cosines = {
        name: phrase.windows for name, phrase in phrases.items() if phrase and phrase.windows
    }
    run_examples = singles(examples_of(source), source)
    labelled = [
        example
        for example in run_examples
        if example.meta.get("label") in (RIGHT, WRONG) and example.id in cosines
    ]
    answers = [
        answer
        for answer in labelled
        if (answer.answer or "").strip() not in map(str.strip, answer.references)
    ]
    answers.sort(key=lambda answer: answer.meta["label"] != RIGHT)
    right = np.array([answer.meta["label"] == RIGHT for answer in answers], dtype=np.float64)
    count = int(right.sum())
    if not 0 < count < len(answers):
        raise UserError(
            f"{path}: expected answers with meta.label right and wrong, other than their references, and "
            f"{PS.metric}@windows=true; found {count} right and {len(answers) - count} wrong"
        )
    statements = [answer.question_id for answer in answers]
    window_results = []
    for words in WINDOWS:
        values = np.array([cosines[answer.id][words] for answer in answers])
        first = results.mean(values[:count].tolist(), statements[:count], (-1, 1))
        second = results.mean(values[count:].tolist(), statements[count:], (-1, 1))
        sums = np.stack([values * right, right, values * (1 - right), 1 - right], axis=1)
        window_results.append(
            Window(words, first, second, results.resampled(sums, _difference, statements))
        )
    return window_results


def _difference(sums: Floats) -> Floats:
    """Mean of right answers minus that of wrong ones. sums: of values and numbers of each."""
    difference: Floats = sums[:, 0] / sums[:, 1] - sums[:, 2] / sums[:, 3]
    return difference


def fever(path: Path, results: ClimaqaResults) -> Fever:
    """The share that it puts on the label's side of .5, in all and of each label; the share of the more frequent label,
    the difference of these two, and the AUC. UserError if a run has no labelled sentence with factual accuracy."""
    source = source_of(path)
    scores = {
        row.example_id: row.score for row in rows_of(source) if under(FA.metric, [row.metric])
    }
    labelled = [
        sentence for sentence in examples_of(source) if sentence.meta.get("label") in LABELS
    ]
    scored_sentences = [sentence for sentence in labelled if scores.get(sentence.id) is not None]
    if not scored_sentences:
        raise UserError(
            f"{path}: no example has meta.label ({' or '.join(LABELS)}) and a score of {FA.metric}; run that "
            "metric on Climate-FEVER's sentences"
        )
    values = np.array([scores[sentence.id] for sentence in scored_sentences], dtype=np.float64)
    yes = np.array([sentence.meta["label"] == SUPPORTS for sentence in scored_sentences])
    claims = [sentence.question_id for sentence in scored_sentences]
    level = results.level
    right = ((values > 0.5) == yes).astype(float)
    on_majority = (yes == (yes.mean() >= 0.5)).astype(float)
    by_label = {label: np.where(yes == (label == SUPPORTS), right, np.nan) for label in LABELS}
    rows = {
        "on the label's side of .5": clustered_share(right, claims, level),
        **{
            f"of those, {label}": clustered_share(label_right, claims, level)
            for label, label_right in by_label.items()
        },
        "majority class": clustered_share(on_majority, claims, level),
        "difference from the majority class": results.paired(
            list(zip(right, on_majority, strict=True)), claims, 1.0
        ),
        "AUC": auc(values, yes.astype(float), level, clusters_of(claims)),
    }
    return Fever(rows, len(labelled) - len(scored_sentences))
