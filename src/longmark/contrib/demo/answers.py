"""The answers of the demo, their labels, and each defect alone."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from statistics import fmean
from typing import Any

from longmark.contrib.demo.recorded import ANSWERS, LABELS
from longmark.records import Example
from longmark.records.example import DEFECT
from longmark.records.read import Reading
from longmark.text.overlap import overlap
from longmark.text.sentences import sentence_spans, sentences


@dataclass(frozen=True)
class Corpus:
    """The answers, and example id -> its labels in the order of the answer."""

    answers: Sequence[Example]
    labels: dict[str, list[dict[str, Any]]]

    @classmethod
    def read(cls) -> Corpus:
        answers = list(Reading(ANSWERS).singles())
        labels: dict[str, list[dict[str, Any]]] = {answer.id: [] for answer in answers}
        for line in LABELS.read_text(encoding="utf-8").splitlines():
            label = json.loads(line)
            labels[label["example_id"]].append(label)
        return cls(answers, labels)

    @cached_property
    def texts(self) -> dict[str, str]:
        """Example id -> its answer."""
        return {answer.id: answer.answer or "" for answer in self.answers}

    def kinds(self, system: str) -> Counter[str]:
        """Kind -> answers of a system that have such a defect; `any`: that have one."""
        kinds_of_answers = [
            {label["kind"] for label in self.labels[answer.id]}
            for answer in self.answers
            if answer.system == system
        ]
        return Counter(
            kind for kinds in kinds_of_answers for kind in (*kinds, *(["any"] if kinds else []))
        )

    def shared(self, system: str) -> float:
        """The mean share of an answer's words that are in its passages."""
        system_answers = [answer for answer in self.answers if answer.system == system]
        return fmean(
            overlap(answer.answer or "", [context.text for context in answer.contexts]) or 0.0
            for answer in system_answers
        )

    def alone(self) -> Iterator[Example]:
        """Each answer without its defects, then with each of them alone, as `longmark defects` writes them."""
        for answer in self.answers:
            clean = answer.answer or ""
            places = list[tuple[int, dict[str, Any]]]()
            for label in reversed(self.labels[answer.id]):
                clean = clean[: label["start"]] + label["old"] + clean[label["end"] :]
            grown = 0
            for label in self.labels[answer.id]:
                places.append((label["start"] - grown, label))
                grown += len(label["new"]) - len(label["old"])
            yield with_claims(answer.model_copy(update={"answer": clean}))
            for number, (start, label) in enumerate(places, 1):
                changed = clean[:start] + label["new"] + clean[start + len(label["old"]) :]
                proof = {"kind": label["kind"], "strength": "1", "source": answer.id}
                update = {
                    "id": f"{answer.id}.{number}",
                    "system": f"{answer.system}.{label['kind']}",
                    "answer": changed,
                }
                yield with_claims(
                    answer.model_copy(update={**update, "meta": {**answer.meta, DEFECT: proof}})
                )

    def changes(self) -> Iterator[DefectChange]:
        """What each defect alone changes in the sentences of the answer without any, in the order of the labels."""
        sound: Example | None = None
        for example in self.alone():
            if DEFECT not in example.meta:
                sound = example
                continue
            assert sound is not None
            before = sound.claims or ()
            after = example.claims or ()
            old = tuple(claim for claim in before if claim not in after)
            new = tuple(claim for claim in after if claim not in before)
            yield DefectChange(sound, example.meta[DEFECT]["kind"], old, new)

    def beside(self, kind: str) -> list[Example]:
        """The answers with a defect of a kind alone, each after the same answer without any."""
        examples: list[Example] = []
        sound: Example | None = None
        for example in self.alone():
            if DEFECT not in example.meta:
                sound = example
            elif example.meta[DEFECT]["kind"] == kind:
                assert sound is not None
                examples += [example] if sound in examples else [sound, example]
        return examples

    def untouched(self, example: Example) -> list[str]:
        """The sentences of an answer into which nothing was put."""
        return [
            claim
            for claim, (start, end) in zip(
                sentences(example.answer or ""), sentence_spans(example.answer or ""), strict=True
            )
            if not any(
                label["new"].strip() and label["start"] < end and start < label["end"]
                for label in self.labels[example.id]
            )
        ]


@dataclass(frozen=True)
class DefectChange:
    """A defect alone. example: the answer without any; old, new: its sentences that are gone, and those in their
    place."""

    example: Example
    kind: str
    old: tuple[str, ...]
    new: tuple[str, ...]


def with_claims(example: Example) -> Example:
    return example.model_copy(update={"claims": tuple(sentences(example.answer or ""))})
