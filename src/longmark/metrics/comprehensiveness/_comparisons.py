"""Which of two answers to a question implies the other: by code where both are quantities, else by the judge.

A call shows each question once, its answers with letters, and the pairs to compare as two letters. A label stands
beside the pair that it is of, so that a judge that leaves out a pair or changes the order is noticed, and the schema of
the reply is equal for all calls.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import groupby

from longmark.concurrency import concurrently
from longmark.judge import Reader, ReplyForm, Unreadable, ask, structure
from longmark.metrics.comprehensiveness._asking import Inquiry
from longmark.metrics.comprehensiveness._questions import folded
from longmark.metrics.comprehensiveness._sources import first_judge
from longmark.models.handles import Models
from longmark.prompts import prompt
from longmark.text.entailment import CONTRADICTS, ENTAILS, NEUTRAL, Relation
from longmark.text.graph import CONTEXT, Pair, Statement
from longmark.text.pieces import utf8_size
from longmark.text.quantities import compare, usual_meanings

PAIRS = 25  # in one call
_BYTES = 6000  # of questions and answers in one call
_DOUBTS = 20  # answers in the evidence
_LETTERS = string.ascii_uppercase

COMPARISON = prompt("""comprehensiveness.comparison(answers)
Each numbered question has lettered answers, and below them the pairs to compare. Compare the first answer of a pair with \
the second, pair by pair:
equivalent: both say the same, in whatever words, names or units.
implies: whoever gives the first answer has given the second one with it; the first is the more specific one.
implied: whoever gives the second answer has given the first one with it; the second is the more specific one.
contradictory: they cannot both be right.
neutral: none of these; both can be right, and neither follows from the other.
Compare what they say as answers to their question, each pair without the others. Whether they are right does not matter.
Reply with a JSON object and nothing else. Its list has every pair once: the number of the question, the two letters and \
the label, in this form: {"labels": ["1 AB neutral", "1 AC implies", "2 AB equivalent", …]}""")
_LABELS = {  # label -> what the first says of the other, and the other of the first
    "equivalent": (ENTAILS, ENTAILS),
    "implies": (ENTAILS, NEUTRAL),
    "implied": (NEUTRAL, ENTAILS),
    "contradictory": (CONTRADICTS, CONTRADICTS),
    "neutral": (NEUTRAL, NEUTRAL),
}


@dataclass(frozen=True, slots=True)
class AnswerPair:
    """Two answers to a question, in the order in which they are compared."""

    question: str
    first: str
    second: str


@dataclass(frozen=True)
class LetteredQuestion:
    """A question with the pairs of its answers that a call compares; at most 26 answers."""

    question: str
    pairs: tuple[AnswerPair, ...]

    @cached_property
    def letters(self) -> dict[str, str]:
        """Answer -> letter, in the order in which the pairs name them."""
        answers = dict.fromkeys(text for pair in self.pairs for text in (pair.first, pair.second))
        return dict(zip(answers, _LETTERS, strict=False))

    @property
    def codes(self) -> list[str]:
        """The two letters of each pair."""
        return [self.letters[pair.first] + self.letters[pair.second] for pair in self.pairs]

    def text(self, number: int) -> str:
        """As a call shows it; no text of an answer begins a line."""
        answers = [f"{letter}: {_on_one_line(text)}" for text, letter in self.letters.items()]
        head = f"{number}. {_on_one_line(self.question)}"
        return "\n".join((head, *answers, f"Pairs: {', '.join(self.codes)}"))


def _on_one_line(text: str) -> str:
    return " ".join(text.split())


def lettered(pairs: Sequence[AnswerPair]) -> Iterator[LetteredQuestion]:
    """The pairs by their questions, in the order of the questions; a question whose pairs are too many, or have too
    many answers, stands several times."""
    by_question = sorted(pairs, key=lambda pair: pair.question)
    for question, pairs_of_question in groupby(by_question, key=lambda pair: pair.question):
        chunk: list[AnswerPair] = []
        answers: set[str] = set()
        for pair in pairs_of_question:
            both = {pair.first, pair.second}
            if len(chunk) == PAIRS or len(answers | both) > len(_LETTERS):
                yield LetteredQuestion(question, tuple(chunk))
                chunk = []
                answers = set()
            chunk.append(pair)
            answers |= both
        yield LetteredQuestion(question, tuple(chunk))


def calls_of(pairs: Sequence[AnswerPair]) -> list[list[LetteredQuestion]]:
    """The questions of each call: at most 25 pairs and 6,000 bytes, or one question."""
    calls: list[list[LetteredQuestion]] = []
    pairs_left = 0
    bytes_left = 0
    for question in lettered(pairs):
        size = utf8_size(question.text(0))
        if len(question.pairs) > pairs_left or size > bytes_left:
            calls.append([])
            pairs_left = PAIRS
            bytes_left = _BYTES
        calls[-1].append(question)
        pairs_left -= len(question.pairs)
        bytes_left -= size
    return calls


@dataclass
class Comparer:
    """Compares answers to a question. Each pair is compared once, for both directions. by_code: whether code compares
    quantities; language: in which it reads them, "" if not known. calls: of the judge, pairs: that it decided; doubts:
    why code left pairs of quantities to it."""

    models: Models
    by_code: bool
    language: str = "en"
    calls: int = 0
    pairs: int = 0
    labels: dict[tuple[str, str, str], str] = field(default_factory=dict)
    """(question, premise, hypothesis) -> label."""
    doubts: dict[str, str] = field(default_factory=dict)
    """Answer -> what it can mean."""

    async def relate(self, inquiries: Sequence[Inquiry]) -> list[list[Relation]]:
        """The relations of each inquiry, as `_asking.ask` wants them. Of two inquiries that ask for both directions of a
        pair, the first one compares it."""
        pairs: list[AnswerPair] = []
        claimed: set[AnswerPair] = set()
        for inquiry in inquiries:
            for second in self._undecided(inquiry):
                pair = AnswerPair(inquiry.question or "", inquiry.premise, second)
                if pair not in claimed:
                    pairs.append(pair)
                    claimed.add(pair)
                    claimed.add(AnswerPair(pair.question, pair.second, pair.first))
        await concurrently(self._compare, calls_of(pairs))
        return [
            [
                Relation(self.labels[inquiry.question or "", inquiry.premise, hypothesis])
                for hypothesis in inquiry.hypotheses
            ]
            for inquiry in inquiries
        ]

    async def every_pair(
        self, nodes: Sequence[Statement], known: dict[Pair, str]
    ) -> dict[Pair, str]:
        """The labels of all pairs of answers to one question that are not both of the answer and not known."""
        pairs = [
            (node, later)
            for i, node in enumerate(nodes)
            for later in nodes[i + 1 :]
            if later.question == node.question
            and (node.id, later.id) not in known
            and CONTEXT in (node.side, later.side)
        ]
        await self.relate(
            [Inquiry(node.text, (later.text,), node.question or "") for node, later in pairs]
        )
        labels: dict[Pair, str] = {}
        for node, later in pairs:
            question = node.question or ""
            labels[node.id, later.id] = self.labels[question, node.text, later.text]
            labels[later.id, node.id] = self.labels[question, later.text, node.text]
        return labels

    def _undecided(self, inquiry: Inquiry) -> list[str]:
        """The hypotheses that neither an earlier comparison nor code has decided."""
        question = inquiry.question or ""
        first = inquiry.premise
        undecided: list[str] = []
        for other in dict.fromkeys(inquiry.hypotheses):
            if (question, first, other) in self.labels:
                continue
            by_code = compare(first, other, self.language) if self.by_code else None
            if folded(first) == folded(other):
                by_code = "equivalent"
            if by_code is None:
                undecided.append(other)
                if self.by_code:
                    self._note_doubts(first, other)
            else:
                self._keep(AnswerPair(question, first, other), by_code)
        return undecided

    def _note_doubts(self, *answers: str) -> None:
        for answer in answers:
            if len(self.doubts) < _DOUBTS and (doubt := usual_meanings(answer, self.language)):
                self.doubts[answer] = doubt

    async def _compare(self, questions: Sequence[LetteredQuestion]) -> None:
        """One call for several questions."""
        shown = "\n\n".join(question.text(n) for n, question in enumerate(questions, 1))
        codes = tuple(
            f"{n} {code}" for n, question in enumerate(questions, 1) for code in question.codes
        )
        verdict = await ask(
            self.models,
            first_judge(self.models),
            COMPARISON,
            {"answers": shown},
            labels_reader(codes),
        )
        pairs = [pair for question in questions for pair in question.pairs]
        self.calls += 1
        self.pairs += len(pairs)
        for pair, label in zip(pairs, verdict.value, strict=True):
            self._keep(pair, label)

    def _keep(self, pair: AnswerPair, label: str) -> None:
        forward, backward = _LABELS[label]
        self.labels[pair.question, pair.first, pair.second] = forward
        self.labels[pair.question, pair.second, pair.first] = backward


class _PairLabels(ReplyForm):
    labels: list[str]


_LABELLED_PAIR = re.compile(r"\s*(\d+)[.:]?\s*([A-Za-z]{2})[:,]?\s+([A-Za-z]+)\s*")


def labels_reader(codes: Sequence[str]) -> Reader[list[str]]:
    """Reads the label of each pair (`1 AB`), in the order of the codes; that of the reply, and case, do not matter.
    Unreadable unless there is exactly one for each."""
    wanted = set(codes)

    def complete(reply: _PairLabels) -> list[str]:
        label_of: dict[str, str] = {}
        for line in reply.labels:
            match = _LABELLED_PAIR.fullmatch(line)
            if match is None:
                raise Unreadable(
                    f'{line[:40]!r} is no number, pair and label, as in "1 AB neutral"'
                )
            code = f"{int(match[1])} {match[2].upper()}"
            label = match[3].lower()
            if label not in _LABELS:
                raise Unreadable(f"{code}: {match[3]!r} is not one of {', '.join(_LABELS)}")
            if code not in wanted:
                raise Unreadable(f"{code} is no pair to compare")
            if label_of.setdefault(code, label) != label:
                raise Unreadable(f"{code} has two labels, {label_of[code]} and {label}")
        if missing := [code for code in codes if code not in label_of]:
            raise Unreadable(
                f"it needs one label for each pair: no label for {', '.join(missing[:5])}"
            )
        return [label_of[code] for code in codes]

    return structure(_PairLabels, 64 + 16 * len(codes)).then(complete)
