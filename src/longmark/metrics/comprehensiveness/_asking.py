"""Asks which statements entail which, and leaves out what cannot change the coverage, the score or the basis.

The paper asks for every pair of an answer and a context statement in both directions, and for every ordered pair of
context statements: 2 |A||C| + |C|(|C| - 1) relations (comprehensiveness, section 3.1), and names this cost as the
metric's weakness. `ask` gets the same result with fewer calls (one premise with many hypotheses is one call) and fewer
pair decisions.

What is the same. The oracle is any function of a premise's and a hypothesis' text: it need not be transitive, nor
consistent. A text entails itself, whatever its case and spacing (without `Plan.fold`, nothing is assumed). Let G be the
graph of all pairs that it would call entailments. The graph that `ask` returns has the same covered statements, the
same score and the same basis (the same components, with the same representatives) as G. Its other components can be
finer than those of G, where the score does not depend on them. A judge whose reply for a pair depends on what else is
in the call is no such oracle; then both ways are samples of its replies.

Why. Y: the edges that are known; O: Y and every pair that was not asked. For each graph G that is consistent with what
is known, Y is part of G and G is part of O. Write x ~> y (Y) for a path in Y. A pair p -> h is left out only where, in
every such G, the result with the edge p -> h equals the result without it:

1. Every context statement is reached from the answer in Y. The score is 1 and the basis is empty, whatever else holds.
2. p ~> h (Y). The edge changes no path, and the result depends on paths alone.
3. h is covered in Y, or of the answer, and the edge cannot join components: the context statements x with h ~> x (O)
   and x ~> p (O) are in one component of Y, or there is none. If p is of the context, it is one of them, and only paths
   from h that do not pass p count: what is on a cycle through the edge behind p is in p's component without the edge.
   What h reaches is covered without the edge. Uncovered statements do not change, since what a covered statement
   reaches is covered. So the components keep their context statements.
4. No answer statement reaches p in O, so the edge is on no path from the answer and covers nothing. Some q has
   q ~> h (Y), but not h ~> q (O): whatever h reaches is reached by q, does not reach q, and so is in no component of
   the basis, with the edge or without it (a basis component that the edge changed would hold h). And the edge
   cannot join components, as in 3, or nothing is covered and nothing can be: then the score is 0, however many
   components there are.

Pairs that are left out keep their reason, since Y only grows and O only shrinks. So take any G, and remove its edges
that were left out one after another: no step changes the result, and the last graph is Y.

The order serves rule 3 and 4. First come premises that are of the answer or covered, against what is not covered yet.
When none is left, what is covered is known, and the uncovered statements follow (with `Asking.fill`, in the same batch
where it has room). Of the premises that can be asked, one that an asked premise entails comes first: what it reaches is
then soon known completely.

What must be asked. `least` in bench/asking.py counts the premises and pairs without which no algorithm can be sure of
the result, even one that guesses every relation right; design/graph.md has the figures.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import product
from operator import or_

from longmark.records.same import comparable
from longmark.text.entailment import CONTRADICTS, ENTAILS, NEUTRAL, Relation
from longmark.text.graph import ANSWER, CONTEXT, SIDES, Pair, Statement, StatementGraph


@dataclass(frozen=True, slots=True)
class Inquiry:
    """A premise and the hypotheses whose relations to it are asked. question: of Q&A statements, the one that all of
    these answer."""

    premise: str
    hypotheses: tuple[str, ...]
    question: str | None = None


Relate = Callable[[Sequence[Inquiry]], Awaitable[Sequence[Sequence[Relation]]]]
"""The relations of each inquiry, in the order of its hypotheses. One call for all inquiries, or one call for each."""


@dataclass(frozen=True, slots=True)
class Asked:
    """graph: all that is known. inquiries: premises asked, the calls where a call has one premise. batches: the calls
    where a call has several. decisions: pairs of texts decided. pairs: the relations that the paper asks for."""

    graph: StatementGraph
    inquiries: int
    batches: int
    decisions: int
    pairs: int


@dataclass(frozen=True, slots=True)
class Asking:
    """width: premises in a batch, which are asked at once; more are faster, but know less of each other. most: pairs
    in a batch of several premises. fold: statements whose texts differ only in case and spacing are equivalent without
    a call and are asked as one; without it, each statement is asked by itself, as in the paper. fill: a batch that has
    room takes premises before their turn: fewer rounds, and some premises that another order would not have asked.
    """

    width: int = 1
    most: int = 200
    fold: bool = True
    fill: bool = False

    def __post_init__(self) -> None:
        if self.width < 1 or self.most < 1:
            raise ValueError(f"width and most are at least 1, not {self.width} and {self.most}")


async def ask(
    nodes: Sequence[Statement],
    relate: Relate,
    plan: Asking = Asking(),
    known: Mapping[Pair, str] | None = None,
) -> Asked:
    """The graph of the statements, with the relations that its coverage, score and basis need.

    Statements with different questions are not compared. known: (premise id, hypothesis id) -> label, for pairs that
    need no call: quantities that code compares, labels that an example carries, pairs too dissimilar to ask
    (`dissimilar`). Raises ValueError if `relate` returns another number of relations than it was asked for, and
    whatever `relate` raises.
    """
    state = _State(nodes, plan, known or {})
    inquiries = batches = decisions = 0
    while batch := state.batch():
        asked_inquiries = [state.inquiry(premise, hypotheses) for premise, hypotheses in batch]
        replies = await relate(asked_inquiries)
        for (premise, hypotheses), inquiry, relations in zip(
            batch, asked_inquiries, replies, strict=True
        ):
            if len(relations) != len(inquiry.hypotheses):
                raise ValueError(
                    f"{len(relations)} relations for {len(inquiry.hypotheses)} hypotheses"
                )
            for hypothesis, relation in zip(_bits(hypotheses), relations, strict=True):
                state.learn(premise, hypothesis, relation.label)
            inquiries = inquiries + 1
            decisions = decisions + len(relations)
        batches += 1
    return Asked(state.graph(), inquiries, batches, decisions, pairs_of(nodes))


def pairs_of(nodes: Sequence[Statement]) -> int:
    """The relations that the paper asks for: 2 |A||C| + |C|(|C| - 1), within each question."""
    total = 0
    for question in {node.question for node in nodes}:
        sides = [node.side for node in nodes if node.question == question]
        answers = sides.count(ANSWER)
        contexts = sides.count(CONTEXT)
        total += 2 * answers * contexts + contexts * (contexts - 1)
    return total


def dissimilar(
    nodes: Sequence[Statement], vectors: Mapping[str, Sequence[float]], threshold: float
) -> dict[Pair, str]:
    """Pairs to take as neutral without asking: those whose texts have a cosine below the threshold, in [-1, 1].

    vectors: text -> embedding of length 1. An entailment among them is lost: measure the error before you use it.
    """
    neutral_pairs: dict[Pair, str] = {}
    for i, first in enumerate(nodes):
        for second in nodes[:i]:
            pairs = zip(vectors[first.text], vectors[second.text], strict=True)
            if sum(a * b for a, b in pairs) < threshold:
                neutral_pairs[first.id, second.id] = neutral_pairs[second.id, first.id] = NEUTRAL
    return neutral_pairs


# Sets of statements are the bits of integers: bit i is class i of equal texts -----------------------------------------


def _bits(numbers: int) -> Iterator[int]:
    while numbers:
        lowest = numbers & -numbers
        yield lowest.bit_length() - 1
        numbers ^= lowest


def _reached(edges: Sequence[int], starts: int, stop: int = 0) -> int:
    """The starts and all that is on a path from one; where a path comes to one of `stop`, it ends."""
    seen = starts | stop
    waiting = starts
    while waiting:
        lowest = waiting & -waiting
        new = edges[lowest.bit_length() - 1] & ~seen
        seen |= new
        waiting = (waiting ^ lowest) | new
    return seen


def _reversed(edges: Sequence[int]) -> list[int]:
    into = [0] * len(edges)
    for start, ends in enumerate(edges):
        for end in _bits(ends):
            into[end] |= 1 << start
    return into


class _Edges:
    """A set of edges between classes, forwards and backwards."""

    def __init__(self, ends: Sequence[int]) -> None:
        self.ends = list(ends)
        self.into = _reversed(ends)

    def add(self, start: int, end: int) -> None:
        self.ends[start] |= 1 << end
        self.into[end] |= 1 << start

    def remove(self, start: int, end: int) -> None:
        self.ends[start] &= ~(1 << end)
        self.into[end] &= ~(1 << start)


class _Known:
    """What follows from the relations known at one time. yes, maybe: Y and O of the module's docstring."""

    def __init__(self, yes: _Edges, maybe: _Edges, answers: int, contexts: int) -> None:
        self.yes = yes
        self.maybe = maybe
        self.contexts = contexts
        self.covered = _reached(yes.ends, answers)  # with the answer's own
        self.uncovered = contexts & ~self.covered

    def needed(self, premise: int, candidates: int, *, settled: bool) -> int:
        """Those of the candidates whose relation to the premise no rule leaves out. settled: whether no statement that
        is not covered now can be; only then rule 4 can hold."""
        candidates &= ~_reached(self.yes.ends, 1 << premise)  # rule 2
        before = _reached(self.maybe.into, 1 << premise)
        if self.covered >> premise & 1 or not settled:
            joining = (
                h
                for h in _bits(candidates & self.covered & before)
                if self._joins(premise, h, before)
            )
            return candidates & self.uncovered | sum(1 << h for h in joining)  # rule 3
        keeping = before if self.covered & self.contexts else 0
        return sum(
            1 << h
            for h in _bits(candidates & self.uncovered)
            if keeping >> h & 1 or self._can_be_source(h)
        )

    def _joins(self, premise: int, hypothesis: int, before: int) -> bool:
        """Whether the edge to a covered statement can join components that hold context statements. before: what
        reaches the premise in O; the hypothesis does."""
        stop = self.contexts & 1 << premise
        between = self.contexts & before & _reached(self.maybe.ends, 1 << hypothesis, stop)
        lowest = between & -between
        return bool(
            lowest
            and between & ~(_reached(self.yes.ends, lowest) & _reached(self.yes.into, lowest))
        )

    def _can_be_source(self, hypothesis: int) -> bool:
        """Whether nothing is known to entail the hypothesis that it cannot entail."""
        return not _reached(self.yes.into, 1 << hypothesis) & ~_reached(
            self.maybe.ends, 1 << hypothesis
        )


class _State:
    """The relations known so far, by classes of statements with equal texts; the number of a class is its bit."""

    def __init__(
        self, nodes: Sequence[Statement], plan: Asking, known_labels: Mapping[Pair, str]
    ) -> None:
        self.plan = plan
        self.classes: dict[tuple[str | None, str], list[Statement]] = {}
        for node in nodes:
            text = comparable(node.text) if plan.fold else node.id
            self.classes.setdefault((node.question, text), []).append(node)
        self.nodes = tuple(nodes)
        members = list(self.classes.values())
        self.members = members
        self.answers, self.contexts = (
            sum(
                1 << i
                for i, members_of_class in enumerate(members)
                if any(node.side == side for node in members_of_class)
            )
            for side in SIDES
        )
        alike: dict[str | None, int] = {}
        for i, members_of_class in enumerate(members):
            alike[members_of_class[0].question] = (
                alike.get(members_of_class[0].question, 0) | 1 << i
            )
        self.open = [
            alike[members_of_class[0].question]
            & ~(1 << i)
            & (-1 if self.contexts >> i & 1 else self.contexts)
            for i, members_of_class in enumerate(members)
        ]
        self.yes = _Edges([0] * len(members))
        self.maybe = _Edges(self.open)
        self.against = [0] * len(members)
        self.done = 0
        place = {
            node.id: i for i, members_of_class in enumerate(members) for node in members_of_class
        }
        for (premise, hypothesis), label in known_labels.items():
            self.learn(place[premise], place[hypothesis], label)

    def learn(self, premise: int, hypothesis: int, label: str) -> None:
        if premise == hypothesis:
            return
        self.open[premise] &= ~(1 << hypothesis)
        if label == ENTAILS:
            self.yes.add(premise, hypothesis)
            self.maybe.add(premise, hypothesis)
        else:
            self.maybe.remove(premise, hypothesis)
        if label == CONTRADICTS:
            self.against[premise] |= 1 << hypothesis

    def batch(self) -> list[tuple[int, int]]:
        """The premises to ask next, each with its hypotheses; empty if the result is known."""
        state = _Known(self.yes, self.maybe, self.answers, self.contexts)
        if not state.uncovered:  # rule 1
            return []
        covering = sum(1 << i for i in _bits(state.covered) if self.open[i] & state.uncovered)
        every = state.covered | state.uncovered
        batch: list[tuple[int, int]] = []
        decisions = 0
        for side in (covering, every) if covering and self.plan.fill else (covering or every,):
            waiting = side & ~self.done
            while waiting and len(batch) < self.plan.width:
                first = (
                    waiting & reduce(or_, (self.yes.ends[i] for i in _bits(self.done)), 0)
                    or waiting
                )
                lowest = first & -first
                premise = lowest.bit_length() - 1
                hypotheses = state.needed(premise, self.open[premise], settled=not covering)
                decisions += hypotheses.bit_count()
                if batch and decisions > self.plan.most:
                    return batch
                if hypotheses:
                    batch.append((premise, hypotheses))
                self.done |= lowest
                waiting &= ~lowest
        return batch

    def inquiry(self, premise: int, hypotheses: int) -> Inquiry:
        first = self.members[premise][0]
        return Inquiry(
            first.text, tuple(self.members[i][0].text for i in _bits(hypotheses)), first.question
        )

    def graph(self) -> StatementGraph:
        """All that is known, of all statements: equal texts have the same relations, and are equivalent."""
        return StatementGraph(
            self.nodes,
            frozenset(self._pairs([ends | 1 << i for i, ends in enumerate(self.yes.ends)])),
            frozenset(self._pairs(self.against)),
        )

    def _pairs(self, edges: Sequence[int]) -> Iterator[Pair]:
        for start, ends in enumerate(edges):
            for premise, end in product(self.members[start], _bits(ends)):
                for hypothesis in self.members[end]:
                    if premise is not hypothesis and not premise.side == hypothesis.side == ANSWER:
                        yield premise.id, hypothesis.id
