"""What a ClimaQA study reads besides runs: people's labels of cloze answers (figure 4) and of Climate-FEVER's sentences
(section 3.2.1), and the precision of a validator (figure 8)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import orjson

from longmark.analysis.metaeval.binary import Auc, auc
from longmark.analysis.metaeval.results import Difference, clusters_of
from longmark.analysis.studies.climaqa.results import Results, mean_of_sums, side_by_side
from longmark.analysis.studies.climaqa.rows import FA
from longmark.errors import UserError
from longmark.metrics.climaqa.factual_accuracy import LABELS, SUPPORTS
from longmark.metrics.climaqa.phrase_similarity import filled, phrase
from longmark.metrics.score._similarity import cosine
from longmark.models.handles import Models
from longmark.records import sources
from longmark.records.benchmark import Item
from longmark.records.files import BadLines, at, read_object
from longmark.records.values import Problem, found, text
from longmark.scores.files import examples_of, rows_of, source_of
from longmark.stats.proportion import clustered_share
from longmark.stats.results import Estimate

WINDOWS = range(11)
_RIGHT = {"right": True, "correct": True, "true": True, "1": True}
_RIGHT |= {"wrong": False, "incorrect": False, "false": False, "0": False}


@dataclass(frozen=True, slots=True)
class Labelled:
    """A cloze answer that people called right or wrong. cosines: of the two phrases, by window."""

    statement: str
    reference: str
    answer: str
    right: bool
    cosines: tuple[float, ...] = ()


@dataclass(frozen=True, slots=True)
class Window:
    """Mean cosines with so many words on each side. difference: right minus wrong."""

    words: int
    right: Estimate
    wrong: Estimate
    difference: Estimate


@dataclass(frozen=True, slots=True)
class Fever:
    """Factual accuracy against people's labels of sentences. right: the share that it puts on the label's side of .5;
    majority: the share of the more frequent label; difference: of these two; by_label: `right` of each label."""

    right: Estimate
    majority: Estimate
    difference: Difference
    auc: Auc
    by_label: Mapping[str, Estimate]
    unscored: int


@dataclass(frozen=True, slots=True)
class Precision:
    """The share of valid items among those that a validator keeps, on one split."""

    form: str
    split: str
    way: str
    precision: Estimate


def read_labelled(path: Path, items: Iterable[Item]) -> list[Labelled]:
    """The lines of a file: `statement` with the blank, `reference` (or `item` for both), `answer`, `label`. Answers
    that are the reference are left out. BadInput with the lines that are wrong."""
    known, made, bad = {one.id: one for one in items}, [], BadLines()
    for line, record in sources.records(path, sources.kind_of(path)):
        try:
            if isinstance(record, sources.Unreadable) or not isinstance(record, Mapping):
                raise Problem("expected an object with statement (or item), reference, answer and label")
            one = _labelled(record, known)
        except Problem as error:
            bad.add(at(path, line, str(error)))
            continue
        if one.answer.strip() != one.reference.strip():
            made.append(one)
    bad.check()
    if {one.right for one in made} != {True, False}:
        raise UserError(f"{path}: expected right and wrong answers that differ from the reference")
    return made


def _labelled(record: Mapping[str, Any], known: Mapping[str, Item]) -> Labelled:
    given = {name: value for name, value in record.items() if value not in (None, "")}
    if name := given.get("item"):
        if name not in known:
            raise Problem(
                f"the item {name} is not in the benchmark; give --benchmark, or write statement and reference"
            )
        given = {"statement": known[name].question, "reference": known[name].answer} | given
    label = str(given.get("label")).strip().casefold()
    if label not in _RIGHT:
        raise Problem(f"label: expected right or wrong, found {found(given.get('label'))}")
    statement, reference, answer = (text(name, given.get(name)) for name in ("statement", "reference", "answer"))
    if phrase(statement, 0) is None:
        raise Problem("statement: expected a blank such as <blank>")
    return Labelled(statement, reference, answer, _RIGHT[label])


async def with_cosines(given: Sequence[Labelled], models: Models) -> list[Labelled]:
    """The answers with the cosine of their phrases in each window."""
    made = []
    for one in given:
        around = [phrase(one.statement, window) or "" for window in WINDOWS]
        vectors = await models.embed([filled(each, term) for term in (one.reference, one.answer) for each in around])
        pairs = zip(vectors[: len(around)], vectors[len(around) :], strict=True)
        made.append(replace(one, cosines=tuple(cosine(a, b) for a, b in pairs)))
    return made


def write_labelled(given: Iterable[Labelled], path: Path) -> None:
    path.write_bytes(b"".join(orjson.dumps(one) + b"\n" for one in given))


def windows(path: Path, results: Results) -> list[Window]:
    """The means of a file of `write_labelled`."""
    read = [
        Labelled(**record) for _, record in sources.records(path, sources.kind_of(path)) if isinstance(record, dict)
    ]
    parts = [[one for one in read if one.right], [one for one in read if not one.right]]
    clusters = [one.statement for part in parts for one in part]
    made = []
    for place, words in enumerate(WINDOWS):
        values = [[one.cosines[place] for one in part] for part in parts]
        right, wrong = (
            results.mean(its, [one.statement for one in part], (-1, 1)) for its, part in zip(values, parts, strict=True)
        )
        sums = [np.array([(value, 1.0) for value in its]) for its in values]
        difference = results.resampled(*side_by_side(mean_of_sums, *sums), clusters)
        made.append(Window(words, right, wrong, difference))
    return made


def fever(path: Path, results: Results) -> Fever:
    """UserError if a run has no labelled sentence with factual accuracy."""
    source = source_of(path)
    labels = {one.id: (one.meta.get("label"), one.question_id) for one in examples_of(source)}
    scores = {row.example_id: row.score for row in rows_of(source) if row.metric in FA.metrics}
    known = [(scores.get(name), label, claim) for name, (label, claim) in labels.items() if label in LABELS]
    kept = [(score, label == SUPPORTS, claim) for score, label, claim in known if score is not None]
    if not kept:
        raise UserError(
            f"{path}: no example has meta.label ({' or '.join(LABELS)}) and a score of {FA.metrics[0]}; run that "
            "metric on Climate-FEVER's sentences"
        )
    values, yes = np.array([score for score, *_ in kept]), np.array([label for _, label, _ in kept])
    claims, level = [claim for *_, claim in kept], results.level
    right, most = (values > 0.5) == yes, yes == (yes.mean() >= 0.5)

    def of(counted: Any, rows: Any = slice(None)) -> Estimate:
        return clustered_share(counted[rows].astype(float), list(np.array(claims)[rows]), level)

    return Fever(
        right=of(right),
        majority=of(most),
        difference=results.paired(list(zip(right.astype(float), most.astype(float), strict=True)), claims, 1.0),
        auc=auc(values, yes.astype(float), level, clusters_of(claims)),
        by_label={label: of(right, yes == (label == SUPPORTS)) for label in LABELS},
        unscored=len(known) - len(kept),
    )


def precisions(folder: Path, level: float) -> list[Precision]:
    """The precision of a validator by split, from its `curves.json`."""
    path = folder / "curves.json" if folder.is_dir() else folder
    listed = read_object(path, "train the validator again with longmark validator train").get("precision")
    try:
        return [
            Precision(
                str(one["form"]),
                str(one["split"]),
                str(one["way"]),
                Estimate(one["precision"], one.get("low"), one.get("high"), one["n"], level),
            )
            for one in listed or ()
        ]
    except (TypeError, KeyError) as error:
        raise UserError(
            f"{path}: precision: an entry has no {error}; expected form, split, way, precision and n"
        ) from None
