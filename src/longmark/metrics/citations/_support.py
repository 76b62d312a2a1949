"""Which sentences their sources support, and what each citation adds: ALCE's procedure, asked of a checker.

Every pair of sources and sentence is asked about once. Sentences that cite the same sources share a premise, and so, of
a judge, a call.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace

from longmark.concurrency import concurrently
from longmark.metrics.citations._sources import CitableSource, Citation
from longmark.text.entailment import ENTAILS, Checker, relation_calls

NEEDED = "needed"
REDUNDANT = "redundant"
NOT_SUPPORTING = "not supporting"
UNRESOLVABLE = "not resolvable"
MISSING = "missing source"
UNDECIDED = ""

SUPPORTED = "supported"
NOT_SUPPORTED = "not supported"
UNCITED = "not cited"
ELSEWHERE = "supported elsewhere"
UNKNOWN = "not known"

WINDOW = 16_000  # bytes of the sources in one call, about 4,000 tokens, as other joint calls have

Places = tuple[int, ...]
Premise = tuple[Places, ...]
"""The sources of a premise, one citation after the other."""


@dataclass(frozen=True, slots=True)
class CitedStatement:
    """A sentence with its citations, in their order. counted: whether they count for precision."""

    text: str
    citations: tuple[Citation, ...] = ()
    needs_source: bool = True
    rejected: bool = False
    """Whether the sentence is not supported whatever its sources say (as published: a number is out of range)."""
    origin: int | None = None
    """Of a claim, the number of the sentence that it comes from, from 0, whose citations it has."""

    @property
    def premise(self) -> Premise:
        """The sources whose texts are known; none of a sentence without words (as published), which nothing supports."""
        if not self.text:
            return ()
        return tuple(citation.places for citation in self.citations if citation.status == "text")


@dataclass(frozen=True, slots=True)
class CheckedStatement:
    """A sentence with what was found of it. state: supported, not supported, supported elsewhere, not cited or not
    known; fates: of each citation, UNDECIDED where precision was not asked for; elsewhere: places of the sources that
    support it and that it does not name, where those were asked about."""

    cited: CitedStatement
    state: str
    fates: tuple[str, ...] = ()
    probability: float | None = None
    elsewhere: Places = ()


Pair = tuple[Premise, str]
"""A question: whether the sources of the premise entail the sentence."""
Pairs = dict[Premise, set[str]]
"""Premise -> the sentences that it is asked about."""


@dataclass(slots=True)
class SupportQuestions:
    """What a checker said of pairs of a premise and a sentence, each asked once."""

    checker: Checker
    sources: Sequence[CitableSource]
    sent: Mapping[str, str] = field(default_factory=dict)
    """Sentence -> what is asked about in its place (`text.context`)."""
    answers: dict[tuple[Premise, str], tuple[bool, float | None]] = field(default_factory=dict)

    async def begin(self, sentences: Sequence[CitedStatement]) -> None:
        """What is asked before the first round: nothing, since each round leaves out what the one before decided."""

    async def ask(self, pairs: Collection[Pair]) -> None:
        """Asks about the pairs that have no answer, a premise at a time."""
        by_premise: dict[Premise, dict[str, None]] = {}
        for premise, sentence in pairs:
            if (premise, sentence) not in self.answers:
                by_premise.setdefault(premise, {})[sentence] = None

        async def of_premise(premise: Premise) -> None:
            hypotheses = list(by_premise[premise])
            relations = await self.checker.relations(
                premise_text(premise, self.sources),
                [self.sent.get(sentence, sentence) for sentence in hypotheses],
            )
            for sentence, relation in zip(hypotheses, relations, strict=True):
                self.answers[premise, sentence] = (relation.label == ENTAILS, relation.entails)

        await concurrently(of_premise, list(by_premise))

    def supports(self, premise: Premise, sentence: str) -> bool:
        return self.answers[premise, sentence][0]


def premise_text(premise: Premise, sources: Sequence[CitableSource]) -> str:
    """The texts of the sources, a line break between them."""
    texts = (sources[place].text for places in premise for place in places)
    return "\n".join(text for text in texts if text is not None)


async def checked(
    asking: SupportQuestions,
    sentences: Sequence[CitedStatement],
    fates: bool,
    elsewhere: bool = False,
) -> list[CheckedStatement]:
    """What was found of each sentence. fates: whether citations are asked about one by one, too; elsewhere: whether
    sentences that their sources do not support are asked about with each other source.

    A sentence is supported if its sources together entail it. A citation of a supported sentence is redundant if its
    source alone does not entail the sentence and the other_places do; else it is needed."""
    to_ask = [sentence for sentence in sentences if sentence.premise and not sentence.rejected]
    await asking.begin(to_ask)
    await asking.ask([(sentence.premise, sentence.text) for sentence in to_ask])
    if fates:
        several = [
            sentence
            for sentence in to_ask
            if len(sentence.premise) > 1 and asking.supports(sentence.premise, sentence.text)
        ]
        await asking.ask(
            [((places,), sentence.text) for sentence in several for places in sentence.premise]
        )
        await asking.ask(
            [
                (_without(sentence.premise, places), sentence.text)
                for sentence in several
                for places in sentence.premise
                if not asking.supports((places,), sentence.text)
            ]
        )
    results = [_found(asking, sentence, fates) for sentence in sentences]
    return await _with_other_sources(asking, results) if elsewhere else results


async def _with_other_sources(
    asking: SupportQuestions, results: Sequence[CheckedStatement]
) -> list[CheckedStatement]:
    """The sentences, those that only a source supports which they do not name as supported elsewhere."""
    other_places = [
        _other_places(result.cited, asking.sources)
        if result.state in (NOT_SUPPORTED, UNCITED)
        else []
        for result in results
    ]
    await asking.ask(
        [
            (((place,),), result.cited.text)
            for result, places in zip(results, other_places, strict=True)
            for place in places
        ]
    )
    completed = []
    for result, places in zip(results, other_places, strict=True):
        supporting = tuple(
            place for place in places if asking.supports(((place,),), result.cited.text)
        )
        completed.append(
            replace(result, state=ELSEWHERE, elsewhere=supporting) if supporting else result
        )
    return completed


def _other_places(sentence: CitedStatement, sources: Sequence[CitableSource]) -> list[int]:
    """The sources with a text that a sentence does not name; none for one that needs no source."""
    if sentence.rejected or not sentence.text or not sentence.needs_source:
        return []
    cited_places = {place for citation in sentence.citations for place in citation.places}
    return [
        place
        for place, source in enumerate(sources)
        if source.text is not None and place not in cited_places
    ]


def _found(asking: SupportQuestions, sentence: CitedStatement, fates: bool) -> CheckedStatement:
    if not sentence.citations:
        return CheckedStatement(sentence, UNCITED)
    premise = () if sentence.rejected else sentence.premise
    supported = bool(premise) and asking.supports(premise, sentence.text)
    unknown = any(citation.status in ("no text", "unknown") for citation in sentence.citations)
    state = SUPPORTED if supported else NOT_SUPPORTED
    if unknown and not supported and not sentence.rejected:
        state = UNKNOWN

    def fate(citation: Citation) -> str:
        if citation.status == "none":
            return UNRESOLVABLE
        if citation.status != "text":
            return MISSING
        if not supported:
            return UNDECIDED if state == UNKNOWN else NOT_SUPPORTING
        if len(premise) == 1:
            return NEEDED
        if not fates:
            return UNDECIDED
        if asking.supports((citation.places,), sentence.text):
            return NEEDED
        remaining = _without(premise, citation.places)
        return REDUNDANT if asking.supports(remaining, sentence.text) else NEEDED

    probability = asking.answers[premise, sentence.text][1] if premise else None
    return CheckedStatement(sentence, state, tuple(map(fate, sentence.citations)), probability)


def _without(premise: Premise, places: Places) -> Premise:
    """The premise without the first of the citations that name these sources."""
    first = premise.index(places)
    return premise[:first] + premise[first + 1 :]


def pairs_in_rounds(sentence: CitedStatement) -> tuple[list[Pair], list[Pair], list[Pair]]:
    """The pairs that a sentence can need: with all of its sources, with each alone, with the others without it."""
    premise = () if sentence.rejected else sentence.premise
    together = [(premise, sentence.text)] if premise else []
    if len(premise) < 2:
        return together, [], []
    alone: list[Pair] = [((places,), sentence.text) for places in premise]
    return together, alone, [(_without(premise, places), sentence.text) for places in premise]


def possible_pairs(sentences: Sequence[CitedStatement]) -> list[Pair]:
    """All pairs that the sentences can need, sentence by sentence."""
    return [pair for sentence in sentences for pairs in pairs_in_rounds(sentence) for pair in pairs]


def elsewhere_pairs(
    sentences: Sequence[CitedStatement], sources: Sequence[CitableSource]
) -> list[Pair]:
    """The pairs of the sentences and the sources that they do not name."""
    return [
        (((place,),), sentence.text)
        for sentence in sentences
        for place in _other_places(sentence, sources)
    ]


def most_calls(
    rounds: Sequence[Sequence[Pair]], sources: Sequence[CitableSource], batch: int
) -> tuple[int, int]:
    """The greatest numbers of calls of a judge, and of pairs. `checked` asks in rounds, each when the one before has
    answered: a premise that two rounds ask about takes calls in both, a pair in the first of them alone."""
    calls = 0
    pairs: Pairs = {}
    for round_of_pairs in rounds:
        by_premise: Pairs = {}
        for premise, text in round_of_pairs:
            by_premise.setdefault(premise, set()).add(text)
        for premise, texts in by_premise.items():
            earlier_texts = pairs.setdefault(premise, set())
            new_texts = texts - earlier_texts
            if new_texts:
                text = premise_text(premise, sources)
                calls += relation_calls(text, len(new_texts), batch, WINDOW)
            earlier_texts |= new_texts
    return calls, sum(map(len, pairs.values()))
