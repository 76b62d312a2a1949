"""Which of the listed facts of a question the answers hold, by the recorded replies of the built-in claim checker.

`ragchecker.recall` is the share of the facts that were listed for a question that an answer supports. It is where an
instrument can see what an answer leaves out. The rule by which it names the better system was written before it was
recorded (design/demo.md).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from longmark.analysis.compare import compare
from longmark.analysis.compare.results import MetricResult
from longmark.analysis.metrics_study.defects import DefectsStudy, defects_study
from longmark.contrib.demo.answers import Corpus, with_claims
from longmark.contrib.demo.checked import Lower, Recording
from longmark.engine.run import run
from longmark.records import Example
from longmark.records.example import DEFECT
from longmark.records.write import read_rows, write_examples

RECALL = "ragchecker.recall"
ALONE = "deleted"
"""The kind of defect that is recorded alone too: the one that recall is for."""


@dataclass(frozen=True)
class Recalled:
    """score: example id -> recall; questions: how many are recorded, each with the answers of all systems; result: the
    systems compared, None without a question; study: each deleted fact alone beside the same answer without it, None
    where none is recorded."""

    score: Mapping[str, float]
    questions: int
    result: MetricResult | None
    study: DefectsStudy | None

    @classmethod
    def scored(cls, corpus: Corpus, out: Path, cache: Path) -> Recalled:
        """Runs the metric on what a call cache has of it, in `out`."""
        recording = Recording.read(cache)
        how: dict[str, Any] = {"checker": recording.checker, "cache": cache, "quiet": True}
        whole = _whole_questions(corpus.answers, recording)
        if not whole:
            return cls({}, 0, None, None)
        run(list(map(with_claims, whole)), RECALL, out=out / "recalled", **how)
        rows = read_rows(out / "recalled" / "rows.jsonl")
        score = {row.example_id: row.score for row in rows if row.score is not None}
        (result,) = compare([out / "recalled"], metrics=(RECALL,)).metrics
        study = None
        if alone := _recorded_pairs(corpus.beside(ALONE), recording):
            write_examples(alone, out / "recalled-defects.jsonl")
            run(alone, RECALL, out=out / "recalled-alone", **how)
            study = defects_study(
                out / "recalled-alone", out / "recalled-defects.jsonl", metrics=(RECALL,)
            )
        return cls(score, len({example.question_id for example in whole}), result, study)

    def lower(self, kind: str) -> Lower | None:
        """In how many pairs a defect alone lowers recall, and in how many it raises it; None where no pair is
        recorded."""
        if self.study is None or f"{kind}@1" not in self.study.defects:
            return None
        cell = self.study.cells[RECALL, f"{kind}@1"]
        lower, higher = (round((share.value or 0) * share.n) for share in (cell.worse, cell.better))
        return Lower(lower, higher, cell.worse.n)

    def with_other(self, other: Mapping[str, float]) -> dict[str, float]:
        """Example id -> the harmonic mean of recall and another score, of the answers that have both."""
        return {
            id_: 2 * recall * other[id_] / (recall + other[id_]) if recall + other[id_] else 0.0
            for id_, recall in self.score.items()
            if id_ in other
        }


def _whole_questions(answers: Sequence[Example], recording: Recording) -> list[Example]:
    """The answers to the questions of which every answer is recorded."""
    missing = {example.question_id for example in answers if not recording.has_facts(example)}
    return [example for example in answers if example.question_id not in missing]


def _recorded_pairs(examples: Iterable[Example], recording: Recording) -> list[Example]:
    """The answers with a defect that are recorded, each with the answer without it, as far as that is recorded."""
    recorded = [example for example in examples if recording.has_facts(example)]
    defects = {example.meta[DEFECT]["source"] for example in recorded if DEFECT in example.meta}
    sound = {example.id for example in recorded if DEFECT not in example.meta}
    return [
        example
        for example in recorded
        if (example.meta[DEFECT]["source"] if DEFECT in example.meta else example.id)
        in defects & sound
    ]
