"""Replies that stand in for those of a run's models, so that `--dry-run` can walk each metric to its end.

What a metric calls depends on the replies before: a judge is asked about the claims that it has listed. A stand-in
reply has the form that the request asks for. Its content is one of these figures, which say nothing of any model; what
the user's last runs measured corrects them (`estimate`):

    statements, claims, questions of a text     one a sentence and as long as that (metrics' `calls` assume the same
                                                number), of texts that are numbered one each; `Rehearsal.statements`
                                                gives more or fewer
    the label of a statement                    `entails` where a text that is shown contains it, else `neutral`
    a grade                                     one below the best, of every fourth statement 2: relevance 4 and 2
    the answers of a text to a question         one, to every question that it contains and to every second other one,
                                                by a hash of both
    a text                                      as long as the longest text that is shown
    vectors, relevance scores, likelihoods      those of `models.fake`; a classifier of pairs finds `neutral`
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import orjson

from longmark.models.client import Accepts
from longmark.models.fake import FakeEmbedder, FakeLanguageModel, FakeReranker
from longmark.models.protocols import (
    ChatReply,
    ChatRequest,
    LikelihoodReply,
    LikelihoodRequest,
    RelationReply,
    TokenLogprobs,
    Tokens,
)
from longmark.text.pieces import utf8_size
from longmark.text.sentences import sentences

_SHOWN = re.compile(r"(?s)<([\w ]+ [0-9a-f]{8})>\n(.*?)\n</\1>")  # as `prompts.fence` writes it
_NUMBERED = re.compile(r"(?m)^(\d+)\. (.+)$")
_PASSAGE = re.compile(r"(?ms)^\[\d+\] (.*?)(?=\n\n\[\d+\] |\Z)")  # as `judge.numbered` writes it
_LETTERED = re.compile(
    r"(?ms)^(\d+)\. .*?^Pairs: (.*?)$"
)  # a question, its answers, the pairs of them to compare
_WORD = re.compile(r"[^\s\"'`,.:;(){}\[\]<>]+")
_TRIED = 300  # words of a prompt that are tried as a label, at most
_BYTES = 4  # a token, as the budget estimates it
_REASON = "The answer states what the passages state, and adds a figure that none of them has."
_NUMBERS = ("80", "4", "1", "0", "0.5")
_VARIANTS = 3
"""Forms of one reply: as described, then with the least numbers, then with empty lists."""
_OF_ITEM = frozenset({"from", "source", "index", "number", "id", "question"})


@dataclass
class Rehearsal:
    """Stands in for every model of a run, and counts what it was asked. statements: that it lists of a sentence, 1 or 2,
    or a fraction of 1. replies: by the key of their call; what was asked once is answered again without a call. usd:
    None once a price is not known. lists_statements: whether a reply listed statements of a text, which is as long as
    that assumes."""

    statements: float = 1.0
    replies: dict[bytes, tuple[Any, float | None]] = field(default_factory=dict)
    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    usd: float | None = 0.0
    lists_statements: bool = False

    def model(self, kind: str, accepts: Accepts | None) -> Any:
        """What answers a call of this kind."""
        if kind == "chat":
            return _StandInChat(accepts, self)
        return _STAND_INS[kind]

    def book(
        self,
        reserved: Tokens,
        replies: Sequence[Any],
        price: Callable[[Tokens], float | None],
    ) -> list[tuple[Any, float | None]]:
        """Counts a call. reserved: its tokens as a budget counts them. The replies with their tokens and price: those of
        the call are the first one's."""
        written = sum(utf8_size(reply.text) for reply in replies if isinstance(reply, ChatReply))
        tokens = Tokens(
            prompt=reserved.prompt,
            completion=min(reserved.completion, -(-written // _BYTES)),
        )
        usd = price(tokens)
        self.calls += 1
        self.prompt_tokens += tokens.prompt
        self.completion_tokens += tokens.completion
        self.usd = None if self.usd is None or usd is None else self.usd + usd
        first = (replace(replies[0], tokens=tokens), usd)
        return [first, *((replace(reply, tokens=Tokens()), 0.0) for reply in replies[1:])]


class _StandInChat:
    """A chat model whose replies have the form that is asked for."""

    def __init__(self, accepts: Accepts | None, rehearsal: Rehearsal) -> None:
        self._accepts = accepts
        self._rehearsal = rehearsal

    async def chat(self, request: ChatRequest) -> ChatReply:
        """The first stand-in that the reader of the reply accepts, else the last one."""
        reply = ChatReply("")
        for text in _replies(request, self._rehearsal):
            reply = ChatReply(text, logprobs=_logprobs(text) if request.logprobs else ())
            if self._accepts is None:
                return reply
            with suppress(Exception):  # readers of metrics from outside may raise anything
                self._accepts(reply)
                return reply
        return reply


class _StandInClassifier:
    """Finds that a premise says nothing of any claim."""

    async def classify(self, premise: str, hypotheses: Sequence[str]) -> RelationReply:
        return RelationReply(((0.1, 0.1, 0.8),) * len(hypotheses))


class _StandInLanguageModel(FakeLanguageModel):
    """Takes several texts at once, as models that share prefixes do."""

    async def likelihoods(self, requests: Sequence[LikelihoodRequest]) -> list[LikelihoodReply]:
        return [await self.likelihood(request) for request in requests]


_STAND_INS: Mapping[str, Any] = {
    "embed": FakeEmbedder(),
    "rerank": FakeReranker(),
    "relation": _StandInClassifier(),
    "likelihood": _StandInLanguageModel(entropy=True),
}


def _replies(request: ChatRequest, rehearsal: Rehearsal) -> Iterator[str]:
    """Stand-ins for a reply, the likeliest first."""
    prompt = _ShownTexts("\n\n".join(message.content for message in request.messages), rehearsal)
    if request.schema is not None:
        for variant in range(_VARIANTS):
            value = _StandInValue(request.schema, prompt, variant).value(request.schema)
            yield orjson.dumps(value).decode()
    else:
        yield prompt.longest[: _BYTES * request.max_tokens]
    yield from _NUMBERS
    words = reversed(_WORD.findall(request.messages[-1].content))
    yield from list(dict.fromkeys(words))[:_TRIED]


def _logprobs(text: str) -> tuple[TokenLogprobs, ...]:
    """A token for each word, number and sign, each nearly certain."""
    tokens = re.findall(r"\w+|\s+|[^\w\s]", text)
    return tuple(TokenLogprobs(token, -0.01, ((token, -0.01),)) for token in tokens)


class _ShownTexts:
    """The texts that a prompt shows."""

    def __init__(self, prompt: str, rehearsal: Rehearsal) -> None:
        self._rehearsal = rehearsal
        self.texts = [text for _, text in _SHOWN.findall(prompt)] or [prompt]
        self.prose = [text for text in self.texts if not _NUMBERED.match(text)]
        self.longest = max(self.prose or self.texts, key=len)

    @cached_property
    def numbered(self) -> dict[str, str]:
        """Number -> text, of the last text that is a list of numbered lines."""
        for text in reversed(self.texts):
            lines = _NUMBERED.findall(text)
            if lines and len(lines) == len(text.splitlines()):
                return dict(lines)
        return {}

    @cached_property
    def listed(self) -> list[str]:
        """What a list about the texts holds."""
        if self.numbered:
            return list(self.numbered.values())
        one_a_sentence = [sentence.strip() for sentence in sentences(self.longest)]
        statements = self._rehearsal.statements
        if statements < 1:
            return one_a_sentence[:: round(1 / statements)]
        if statements > 1:
            return [half for sentence in one_a_sentence for half in _halves(sentence)]
        return one_a_sentence

    def count_statements(self) -> int:
        """How many statements a list about the texts has; where nothing is numbered, that is an assumption."""
        self._rehearsal.lists_statements |= not self.numbered
        return len(self.listed)

    @cached_property
    def passages(self) -> list[str]:
        """The numbered passages that are shown as one text."""
        return _PASSAGE.findall(self.longest)

    @cached_property
    def pairs(self) -> list[str]:
        """The pairs of lettered answers to compare, each behind the number of its question."""
        return [
            f"{number} {letters}"
            for number, pairs in _LETTERED.findall(self.texts[-1])
            for letters in pairs.split(", ")
        ]

    def contains(self, statement: str) -> bool:
        """Whether a text other than a list contains the statement."""
        return bool(statement) and any(statement in text for text in self.prose)


class _StandInValue:
    """A value that a JSON schema allows. variant: see `_VARIANTS`."""

    def __init__(self, schema: Mapping[str, Any], prompt: _ShownTexts, variant: int) -> None:
        self._definitions = schema.get("$defs", {})
        self._prompt = prompt
        self._variant = variant

    def value(self, part: Mapping[str, Any], key: str = "", item: str = "", place: int = 1) -> Any:
        """key: of the object that holds it; item, place: the element of the list that it is in, and its number."""
        if "$ref" in part:
            part = self._definitions[part["$ref"].rpartition("/")[2]]
        for alternative in (*part.get("anyOf", ()), *part.get("oneOf", ())):
            if alternative.get("type") != "null":
                return self.value(alternative, key, item, place)
        if "const" in part:
            return part["const"]
        item = self._prompt.numbered.get(key, item)
        if "enum" in part:
            return self._label(part["enum"], item)
        kind = part.get("type")
        if kind == "object":
            return {
                name: self.value(property_, name, item, place)
                for name, property_ in part.get("properties", {}).items()
            }
        if kind == "array":
            return self._list(part, key, item)
        if kind in ("integer", "number"):
            return self._number(part, key, place)
        if kind == "boolean":
            return True
        if kind == "string":
            text = self._text(key, item).ljust(part.get("minLength", 0), ".")
            return text[: part.get("maxLength")]
        return None

    def _label(self, labels: Sequence[Any], item: str) -> Any:
        if self._variant:
            return labels[0]
        if "entails" in labels and item and self._prompt.contains(item):
            return "entails"
        return next((label for label in ("neutral", "fact") if label in labels), labels[0])

    def _number(self, part: Mapping[str, Any], key: str, place: int) -> Any:
        low, high = _bounds(part)
        if key in _OF_ITEM:
            return place
        if self._variant:
            return low
        number = int(key) if key.isdigit() else place
        grade = 2 if number % 4 == 0 else 4
        return max(low, min(high - 1, grade))

    def _list(self, part: Mapping[str, Any], key: str, item: str) -> list[Any]:
        if "prefixItems" in part:  # a tuple
            return [self.value(element, item=item) for element in part["prefixItems"]]
        items = part.get("items", {})
        # The lists of longmark's own forms, whose keys say more than their schemas do.
        # pairs of answers: metrics.comprehensiveness._comparisons
        if key == "labels" and self._prompt.pairs:
            return [f"{pair} neutral" for pair in self._prompt.pairs]
        # a label of each numbered statement: text.relation_replies
        if key == "labels" and items.get("type") == "string" and self._prompt.numbered:
            return [
                f"{number} {self._label(('entails', 'neutral'), statement)}"
                for number, statement in self._prompt.numbered.items()
            ]
        # of a numbered statement the labels of its premises: text.relation_replies.labelled_premises
        if key.isdigit() and items.get("type") == "string" and self._prompt.passages:
            return [
                f"{place} entails"
                for place, premise in enumerate(self._prompt.passages, 1)
                if item and item in premise
            ]
        # metrics.comprehensiveness._questions
        if key == "answers" and "passages" in items.get("properties", {}):
            return self._answers_of_passages()
        least = part.get("minItems", 0)
        greatest = part.get("maxItems", len(self._prompt.listed) + 1)
        if key.isdigit() and items.get("type") == "integer":
            # the numbers of the passages that entail a statement
            length = int(self._prompt.contains(item))
        elif key.isdigit():
            # what a text says of a question
            length = 1
        elif key == "quotes" or items.get("type") == "integer":
            length = 1
        else:
            length = self._prompt.count_statements()
        if self._variant == _VARIANTS - 1:
            length = 0
        length = max(least, min(greatest, length))
        texts = self._prompt.listed or [item]
        key_of_items = key
        if key.isdigit():
            texts = [item]
            key_of_items = ""
        return [
            self.value(items, key_of_items, texts[n % len(texts)], n + 1) for n in range(length)
        ]

    def _answers(self, text: str, question: str) -> bool:
        """Whether a text answers a question."""
        text_and_question = f"{text}\0{question}".encode("utf-8", "replace")
        by_chance = hashlib.blake2b(text_and_question, digest_size=1).digest()[0] % 2 == 0
        return by_chance or question in text

    def _answers_of_passages(self) -> list[Any]:
        """The answers of numbered passages to numbered questions, equal ones together."""
        listed: list[Any] = []
        for number, question in self._prompt.numbered.items():
            passages_of: dict[str, list[int]] = {}
            for place, passage in enumerate(self._prompt.passages, 1):
                if self._answers(passage, question):
                    passages_of.setdefault(_answer_of(passage), []).append(place)
            listed += [
                {"question": int(number), "answer": answer, "passages": places, "confidence": 4}
                for answer, places in (passages_of or {"unknown": []}).items()
            ]
        return listed

    def _text(self, key: str, item: str) -> str:
        if key in ("reason", "reasoning", "explanation"):
            return _REASON
        if key == "answer":
            if self._prompt.numbered and not self._answers(self._prompt.longest, item):
                return "unknown"
            return _answer_of(self._prompt.longest)
        return item or key or "yes"


def _bounds(part: Mapping[str, Any]) -> tuple[float, float]:
    """The least and the greatest number of a schema; a scale from 1 to 5 where it has none."""
    high = part.get("maximum")
    if high is None:
        high = part.get("exclusiveMaximum", 5)
    low = part.get("minimum")
    if low is None:
        low = part.get("exclusiveMinimum", min(1, high))
    step = 1
    if part["type"] == "number":
        step = min(1, (high - low) / 4)
    if "exclusiveMinimum" in part:
        low += step
    if "exclusiveMaximum" in part:
        high -= step
    return low, high


def _halves(sentence: str) -> list[str]:
    """The words of a sentence as two statements; a single word is one."""
    words = sentence.split()
    middle = len(words) // 2
    return [" ".join(half) for half in (words[:middle], words[middle:]) if half]


def _answer_of(text: str) -> str:
    """What a text answers: without figures, as two quantities can be compared without a call."""
    return " ".join(word for word in text.split() if word.isalpha())[-40:]
