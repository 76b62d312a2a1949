"""What the built-in claim checker makes of the demo's answers, from its recorded replies (`bench/demo_checks.py`).

The checker reads a passage and a claim together. That takes about two seconds of processor time for each pair, too long
for a demo. The recording has every sentence that a defect changed or added, what stood in its place, and of each answer
as many of the other sentences as there was time for. So faithfulness by this checker is estimated for each answer from
all sentences with a defect and the recorded others; where all are recorded it is `ragchecker.faithfulness`.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from statistics import fmean
from typing import NamedTuple

import numpy as np

from longmark.analysis.metaeval.binary import Auc, auc, auc_difference
from longmark.contrib.demo.answers import Corpus, with_claims
from longmark.contrib.demo.recorded import RecordedChecker
from longmark.models.cache import CallCache, call_key
from longmark.models.handles import Models
from longmark.records import Example
from longmark.stats.results import Difference
from longmark.stats.samples import Floats
from longmark.testing import call
from longmark.text.entailment import ENTAILS, checker_of, without_citations
from longmark.text.overlap import OverlapChecker
from longmark.text.pieces import pieces
from longmark.text.sentences import sentence_spans

FALSE = ("number", "direction", "unsupported")
"""The kinds of defects that make a sentence one that no passage supports. A sentence of padding claims nothing."""
NOTHING = ""
BEFORE = "before"
SOUND = (BEFORE, NOTHING)
"""The kinds of sentences without a defect: of an answer as it is, and one that a defect changed, as it stood before."""
CHECKER = "claim checker"
OVERLAP = "word overlap"
LEVEL = 0.95


@dataclass(frozen=True)
class CheckedSentence:
    """A sentence of an answer. kind: of the defect in it, or `NOTHING`, or `BEFORE`; put_in: the words of the defect.
    Of `CHECKER` and of `OVERLAP`: probability: of support by the passage that supports the sentence most; supported:
    whether a passage does."""

    example: Example
    text: str
    kind: str
    put_in: str
    probability: Mapping[str, float]
    supported: Mapping[str, bool]

    @property
    def distance(self) -> float:
        """How sure the claim checker is: how far from a probability of a half."""
        return abs(self.probability[CHECKER] - 0.5)

    @property
    def is_right(self) -> bool:
        """Whether the claim checker marks a sentence with a defect, or does not mark one without."""
        return self.supported[CHECKER] is (self.kind in (NOTHING, BEFORE))


class Lower(NamedTuple):
    """Of `n` answers with one defect, beside the same answer without it: how many score lower, and how many higher."""

    lower: int
    higher: int
    n: int


@dataclass(frozen=True)
class CheckedCorpus:
    """The recorded sentences of the answers, and those that defects changed as they stood before."""

    corpus: Corpus
    sentences: Sequence[CheckedSentence]

    @classmethod
    def read(cls, corpus: Corpus, cache: Path) -> CheckedCorpus:
        """The sentences whose replies a call cache has, checked by the recording and by word overlap."""
        recording = Recording.read(cache)
        put_in = _put_in(corpus)
        places = [
            _Place(example, claim, *put_in.get((example.id, claim), (NOTHING, "")))
            for example in map(with_claims, corpus.answers)
            for claim in example.claims or ()
        ]
        changed = [change for change in corpus.changes() if change.new]
        places += [
            _Place(change.example, old, BEFORE, "") for change in changed for old in change.old
        ]
        places = [place for place in places if recording.has(place.example, place.text)]
        by_model = call(
            lambda models: _supports(models, places), checker=recording.checker, cache=cache
        )
        by_words = call(lambda models: _supports(models, places), checker=OverlapChecker())
        return cls(
            corpus,
            [
                CheckedSentence(
                    place.example,
                    place.text,
                    place.kind,
                    place.put_in,
                    {CHECKER: model.probability, OVERLAP: words.probability},
                    {CHECKER: model.is_supported, OVERLAP: words.is_supported},
                )
                for place, model, words in zip(places, by_model, by_words, strict=True)
            ],
        )

    def of_kinds(self, *kinds: str) -> list[CheckedSentence]:
        """The recorded sentences of these kinds."""
        return [sentence for sentence in self.sentences if sentence.kind in kinds]

    def auc(self, checker: str) -> Auc:
        """The probability that a checker gives a sentence without a defect a greater probability of support than a
        false one (.5: by chance); clusters are the questions."""
        return auc(self._probabilities(checker), self._sound, LEVEL, self._questions)

    def marked(self, checker: str, *kinds: str) -> int:
        """How many sentences of some kinds a checker marks as unsupported."""
        return sum(not sentence.supported[checker] for sentence in self.of_kinds(*kinds))

    def auc_difference(self) -> Difference:
        """The AUC of the claim checker less that of word overlap, on the same sentences."""
        first, second = (self._probabilities(checker) for checker in (CHECKER, OVERLAP))
        return auc_difference(first, second, self._sound, LEVEL, self._questions)

    @cached_property
    def _compared(self) -> list[CheckedSentence]:
        return self.of_kinds(*FALSE, *SOUND)

    def _probabilities(self, checker: str) -> Floats:
        return np.array([sentence.probability[checker] for sentence in self._compared])

    @property
    def _sound(self) -> Floats:
        return np.array([float(sentence.kind in SOUND) for sentence in self._compared])

    @property
    def _questions(self) -> list[str]:
        return [sentence.example.question_id for sentence in self._compared]

    @cached_property
    def score(self) -> dict[str, float]:
        """Example id -> its estimated faithfulness by the claim checker, where a sentence without a defect is recorded,
        and every one with a defect."""
        estimates = {}
        for example in self.corpus.answers:
            recorded = self._of_answers.get(example.id, {})
            other_sentences = self.corpus.untouched(example)
            touched = set(with_claims(example).claims or ()) - set(other_sentences)
            known_labels = [recorded[text] for text in other_sentences if text in recorded]
            if known_labels and touched <= recorded.keys():
                supported = sum(recorded[text] for text in touched) + len(other_sentences) * fmean(
                    known_labels
                )
                estimates[example.id] = supported / (len(other_sentences) + len(touched))
        return estimates

    @cached_property
    def _of_answers(self) -> dict[str, dict[str, bool]]:
        """Example id -> sentence -> whether the claim checker calls it supported."""
        by_answer: dict[str, dict[str, bool]] = {}
        for sentence in self.sentences:
            by_answer.setdefault(sentence.example.id, {})[sentence.text] = sentence.supported[
                CHECKER
            ]
        return by_answer

    def lower(self, kind: str) -> Lower | None:
        """How a defect alone changes `ragchecker.faithfulness` by the claim checker; None for one that leaves sentences
        out, whose change depends on all the others.

        A changed sentence changes the share as its own label changes. A sentence that is added and not supported lowers
        the share if any other is supported; one that is added and supported raises it if any other is not. Defects of
        which that is not recorded are not counted."""
        changes = [change for change in self.corpus.changes() if change.kind == kind]
        if not all(change.new for change in changes):
            return None
        lower = 0
        higher = 0
        n = 0
        for change in changes:
            recorded = self._of_answers.get(change.example.id, {})
            if not {*change.old, *change.new} <= recorded.keys():
                continue
            old, new = ([recorded[text] for text in texts] for texts in (change.old, change.new))
            other_labels = [recorded.get(text) for text in change.example.claims or ()]
            if old:
                falls = sum(new) < sum(old)
                rises = sum(new) > sum(old)
            else:
                falls = not all(new) and True in other_labels
                rises = all(new) and False in other_labels
                if None in other_labels and not falls and not rises:
                    continue
            lower = lower + falls
            higher = higher + rises
            n = n + 1
        return Lower(lower, higher, n)

    def examples(self) -> list[CheckedSentence]:
        """Of each kind of false sentence the one that the claim checker is surest of and right about, and, last, of all
        sentences of the answers the one that it is surest of and wrong about. Of equally sure ones the first in the
        file."""
        surest = sorted(self.of_kinds(*FALSE, NOTHING), key=lambda sentence: -sentence.distance)
        right = [
            next(
                (sentence for sentence in surest if sentence.kind == kind and sentence.is_right),
                None,
            )
            for kind in FALSE
        ]
        wrong = next((sentence for sentence in surest if not sentence.is_right), None)
        return [sentence for sentence in (*right, wrong) if sentence is not None]


@dataclass(frozen=True)
class Recording:
    """Which pairs of a premise and a claim are recorded."""

    checker: RecordedChecker
    keys: frozenset[bytes]

    @classmethod
    def read(cls, cache: Path) -> Recording:
        with closing(CallCache(cache)) as calls:
            return cls(
                RecordedChecker(), frozenset(key for (key,) in calls.do("SELECT key FROM calls"))
            )

    def has(self, example: Example, claim: str) -> bool:
        """Whether a claim is recorded with every passage of its example."""
        return all(self._has_pair(context.text, claim) for context in example.contexts)

    def has_facts(self, example: Example) -> bool:
        """Whether every listed fact of its question is recorded with an answer."""
        return all(
            self._has_pair(example.answer or "", fact) for fact in example.reference_claims or ()
        )

    def _has_pair(self, text: str, claim: str) -> bool:
        bare_claim = without_citations(claim)
        return all(
            call_key(
                self.checker.identity, "relation", {"premise": premise, "hypothesis": bare_claim}
            )
            in self.keys
            for premise in pieces(text, sys.maxsize)
        )


@dataclass(frozen=True, slots=True)
class _Place:
    """A sentence of an answer that is to be checked."""

    example: Example
    text: str
    kind: str
    put_in: str


@dataclass(frozen=True, slots=True)
class _Support:
    """Of a claim: the probability by the passage that supports it most, and whether one supports it."""

    probability: float
    is_supported: bool


def _put_in(corpus: Corpus) -> dict[tuple[str, str], tuple[str, str]]:
    """(Example id, sentence) -> the kind of the defect in it, and the defect's words."""
    defect_of: dict[tuple[str, str], tuple[str, str]] = {}
    for example in map(with_claims, corpus.answers):
        for claim, (start, end) in zip(
            example.claims or (), sentence_spans(example.answer or ""), strict=True
        ):
            for label in corpus.labels[example.id]:
                if label["new"].strip() and label["start"] < end and start < label["end"]:
                    defect_of.setdefault((example.id, claim), (label["kind"], label["new"].strip()))
    return defect_of


async def _supports(models: Models, places: Iterable[_Place]) -> list[_Support]:
    checker = checker_of(models)
    supports = []
    for place in places:
        relations = [
            (await checker.relations(context.text, [place.text]))[0]
            for context in place.example.contexts
        ]
        supports.append(
            _Support(
                max(relation.entails or 0.0 for relation in relations),
                any(relation.label == ENTAILS for relation in relations),
            )
        )
    return supports


def auc_of_answers(corpus: Corpus, score: Mapping[str, float]) -> Auc:
    """The probability that an answer without a defect has a greater score than one with a defect (.5: by chance)."""
    answers = [answer for answer in corpus.answers if answer.id in score]
    sound = np.array([float(not corpus.labels[answer.id]) for answer in answers])
    return auc(
        np.array([score[answer.id] for answer in answers]),
        sound,
        LEVEL,
        [answer.question_id for answer in answers],
    )
