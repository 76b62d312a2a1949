"""A judge is asked about all sentences of an answer at once, with their sources before it (`plan=joint`).

ALCE asks of a sentence with several citations about all of its sources, about each alone, and about the others without
it. A call for each of these sets repeats the sources; one call shows them once, numbered, and names the sets.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from string import ascii_lowercase

from pydantic import ConfigDict, RootModel

from longmark.concurrency import concurrently
from longmark.judge import Reader, Unreadable, ask, numbered_apart, structure
from longmark.metrics.citations._sources import CitableSource
from longmark.metrics.citations._support import (
    WINDOW,
    CitedStatement,
    Pair,
    Places,
    SupportQuestions,
    possible_pairs,
    premise_text,
)
from longmark.prompts import prompt
from longmark.reply_schema import object_schema
from longmark.text.entailment import JudgeChecker
from longmark.text.pieces import utf8_size

_STATEMENTS = 6000  # bytes of the sentences and their sets in one call
_MOST_QUESTIONS = 100  # in one call; a reply has about eight tokens for each

JOINT_SUPPORT = prompt("""citations.joint(context, statements)
The context holds numbered passages. Each statement has a number. Before its text stand its questions, in brackets: a \
letter and the numbers of the passages that the question is about. Each question is: do these passages together entail \
the statement?
yes: a reader who knows nothing but these passages must take the statement to be true.
no: anything else; these passages contradict the statement, leave open whether it is true, or show only a part of it.
Take the questions one by one. For each, use nothing but the passages that it names: not the other passages, and nothing \
that you know beyond them.
Reply with a JSON object and nothing else. It has one key for each question: the number of the statement and the letter. \
The value is yes or no, in this form: $form""")
_FORM = '{"1a": "yes", "2a": "no", "2b": "yes", …}'


@dataclass(frozen=True, slots=True)
class SupportCall:
    """What one call shows. places: of its sources, in their order; pairs: what it asks."""

    places: Places
    pairs: tuple[Pair, ...]

    @property
    def keys(self) -> dict[str, Pair]:
        """Key of the reply -> the pair that it answers."""
        return {
            f"{number}{_letters(place)}": pair
            for number, pairs in enumerate(self._by_sentence.values(), 1)
            for place, pair in enumerate(pairs)
        }

    @property
    def statements(self) -> str:
        """The sentences, a line each, with the sets of passages before them."""
        numbers = {place: number for number, place in enumerate(self.places, 1)}
        lines = []
        for number, (sentence, pairs) in enumerate(self._by_sentence.items(), 1):
            sets = []
            for position, (premise, _) in enumerate(pairs):
                passages = [numbers[place] for place in _flat(premise) if place in numbers]
                sets.append(f"[{_letters(position)}: {', '.join(map(str, passages))}]")
            lines.append(f"{number}. {' '.join(sets)} {' '.join(sentence.split())}")
        return "\n".join(lines)

    @property
    def _by_sentence(self) -> dict[str, list[Pair]]:
        by_sentence: dict[str, list[Pair]] = {}
        for pair in self.pairs:
            by_sentence.setdefault(pair[1], []).append(pair)
        return by_sentence


def support_calls(
    pairs: Iterable[Pair], sources: Sequence[CitableSource], batch: int
) -> tuple[list[SupportCall], list[Pair]]:
    """The calls that ask about these pairs, and the pairs whose sources are longer than a window, in their order.

    batch: sentences in a call. All calls show the same sources where they fit in one window, so that an endpoint
    evaluates them once; else a call shows those that its pairs name, and sentences with the same sources are asked about
    together. Fewer pairs never take more calls."""
    sizes = {
        place: utf8_size(source.text)
        for place, source in enumerate(sources)
        if source.text is not None and source.text.strip()
    }

    def size_of(places: Collection[int]) -> int:
        return sum(sizes.get(place, 0) for place in places)

    fitting: list[Pair] = []
    too_long: list[Pair] = []
    for pair in dict.fromkeys(pairs):
        (fitting if size_of(set(_flat(pair[0]))) <= WINDOW else too_long).append(pair)
    all_places = {place for premise, _ in fitting for place in _flat(premise) if place in sizes}
    shared = all_places if size_of(all_places) <= WINDOW else None

    if shared is None:
        fitting = _by_sources(fitting)
    calls: list[SupportCall] = []
    draft = _DraftCall()
    for pair in fitting:
        places = {place for place in _flat(pair[0]) if place in sizes}
        if draft.pairs and (
            not draft.has_room(pair, places, batch)
            or (shared is None and size_of(draft.places | places) > WINDOW)
        ):
            calls.append(draft.call(shared))
            draft = _DraftCall()
        draft.add(pair, places)
    return [*calls, draft.call(shared)] if draft.pairs else calls, too_long


def _by_sources(pairs: Sequence[Pair]) -> list[Pair]:
    """The pairs by the sources of their sentence, as its first pair has them; single sources by themselves, since of
    these a later round can ask about fewer."""
    if all(len(premise) == 1 for premise, _ in pairs):
        return sorted(pairs, key=lambda pair: pair[0])
    first_premises: dict[str, list[Places]] = {}
    for premise, sentence in pairs:
        first_premises.setdefault(sentence, sorted(premise))
    return sorted(pairs, key=lambda pair: first_premises[pair[1]])


@dataclass(slots=True)
class _DraftCall:
    """A call while pairs are added. size: bytes of its sentences and of the numbers before them."""

    pairs: list[Pair] = field(default_factory=list)
    places: set[int] = field(default_factory=set)
    sentences: set[str] = field(default_factory=set)
    size: int = 0

    def cost(
        self,
        pair: Pair,
        places: Collection[int],
    ) -> int:
        text_size = 0 if pair[1] in self.sentences else utf8_size(pair[1])
        return text_size + 6 + 4 * len(places)

    def has_room(self, pair: Pair, places: Collection[int], batch: int) -> bool:
        return (
            len(self.pairs) < _MOST_QUESTIONS
            and (pair[1] in self.sentences or len(self.sentences) < batch)
            and self.size + self.cost(pair, places) <= _STATEMENTS
        )

    def add(self, pair: Pair, places: Collection[int]) -> None:
        self.size += self.cost(pair, places)
        self.pairs.append(pair)
        self.places.update(places)
        self.sentences.add(pair[1])

    def call(self, shared: Collection[int] | None) -> SupportCall:
        places = self.places if shared is None else shared
        return SupportCall(tuple(sorted(places)), tuple(self.pairs))


@dataclass(slots=True)
class JointQuestions(SupportQuestions):
    """As `SupportQuestions`, of a judge: the pairs whose sources fit in a window are asked about in few calls.

    too_long: the pairs that were asked about by themselves. `ask` raises NoScore where two replies lack an answer."""

    batch: int = 25
    too_long: dict[Pair, None] = field(default_factory=dict)

    async def begin(self, sentences: Sequence[CitedStatement]) -> None:
        """Asks all that the sentences can need, whichever scores are wanted, so that none depends on the others."""
        await self._ask_jointly(possible_pairs(sentences))

    async def ask(self, pairs: Collection[Pair]) -> None:
        too_long = await self._ask_jointly(pairs)
        self.too_long |= dict.fromkeys(too_long)
        await super(JointQuestions, self).ask(too_long)

    async def _ask_jointly(self, pairs: Iterable[Pair]) -> list[Pair]:
        """The pairs that no call has room for."""
        new_pairs = []
        for premise, sentence in pairs:
            if (premise, sentence) in self.answers:
                continue
            if premise_text(premise, self.sources).strip():
                new_pairs.append((premise, sentence))
            else:
                self.answers[premise, sentence] = (False, None)
        calls, too_long = support_calls(new_pairs, self.sources, self.batch)
        await concurrently(self._of_call, calls)
        return too_long

    async def _of_call(self, call: SupportCall) -> None:
        checker = self.checker
        assert isinstance(checker, JudgeChecker)
        keys = call.keys
        texts = {
            "context": numbered_apart([self.sources[place].text or "" for place in call.places]),
            "statements": call.statements,
            "form": _FORM,
        }
        reader = _support_reader(tuple(keys))
        verdict = await ask(checker.models, checker.judge, JOINT_SUPPORT, texts, reader)
        for key, pair in keys.items():
            self.answers[pair] = (verdict.value[key], None)


def _flat(premise: Sequence[Places]) -> list[int]:
    return [place for places in premise for place in places]


def _letters(position: int) -> str:
    """a to z, then aa, ab, …"""
    head, last = divmod(position, len(ascii_lowercase))
    return (_letters(head - 1) if head else "") + ascii_lowercase[last]


class _Answers(RootModel[dict[str, str]]):
    model_config = ConfigDict(strict=True)


_VALUES = {"yes": True, "no": False}


@lru_cache
def _support_reader(keys: tuple[str, ...]) -> Reader[dict[str, bool]]:
    """Reads yes or no for each of the keys; case does not matter. Unreadable unless there is exactly one for each."""
    schema = object_schema({key: {"type": "string", "enum": list(_VALUES)} for key in keys})

    def complete(reply: _Answers) -> dict[str, bool]:
        if different := sorted(set(keys) ^ set(reply.root)):
            raise Unreadable(
                f"it needs one answer for each question; see {', '.join(different[:5])}"
            )
        answers = {}
        for key in keys:
            answer = _VALUES.get(reply.root[key].strip().casefold())
            if answer is None:
                raise Unreadable(f"{key}: {reply.root[key]!r} is neither yes nor no")
            answers[key] = answer
        return answers

    return structure(_Answers, 64 + 12 * len(keys), schema).then(complete)
