"""The claims of an answer, and the facts of passages: what several metrics judge or weigh one by one.

A claim is one statement that can be read by itself (SCORE, appendix B.1); a fact is one that a passage states (SCORE,
section 3.4). The first judge finds both, in the language of the text. A long text goes to it in pieces, and what two
pieces have in common is folded by wording alone, case and spacing aside; within one piece the judge is asked to name
each fact once. Several passages may share a call, so which of them states a fact is known only in part (`Fact`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict

from longmark.concurrency import concurrently
from longmark.judge import ask, structure
from longmark.models.handles import Models
from longmark.prompts import Prompt
from longmark.text.pieces import pieces, utf8_size
from longmark.text.sentences import sentences

PIECE = 4000  # bytes of text in one call, about 1,000 tokens
_MOST_TOKENS = 3072  # of a reply

CLAIMS = Prompt(
    "claims",
    ("answer",),
    """\
List the claims of the answer, in its order. A claim is one statement that can be true or false, or one \
recommendation, written as a full sentence that is understood without the rest: put names in place of pronouns, and \
keep the place, the time and the figures that the answer ties to it. Divide what joins several statements. Add nothing \
and judge nothing. Leave out greetings, headings, questions, and what the answer says about itself, such as how sure \
it is. Write in the language of the answer.
Reply with a JSON object and nothing else, {"claims": ["...", "..."]}; where there is no claim, {"claims": []}.""",
)
FACTS = Prompt(
    "facts",
    ("context",),
    """\
List the facts that the context states, in its order and each only once, even where several passages state it in \
different words. A fact is one statement, written as a full sentence that is understood without the rest: put names in \
place of pronouns, and keep the place, the time and the figures that belong to it. Add nothing and leave out no fact. \
Write in the language of the context.
Reply with a JSON object and nothing else, {"facts": ["...", "..."]}; where there is no fact, {"facts": []}.""",
)


@dataclass(frozen=True, slots=True)
class Fact:
    """A statement that the judge drew from passages. passages: their numbers, from 1: of the passages that it was shown
    when it named the fact, those in which it stands as a sentence, word for word, else all. A single number is certain;
    of several it is one or more."""

    text: str
    passages: tuple[int, ...]


_CLOSED = ConfigDict(json_schema_extra={"additionalProperties": False})  # what strict schemas ask for


class _Claims(BaseModel):
    model_config = _CLOSED

    claims: list[str]


class _Facts(BaseModel):
    model_config = _CLOSED

    facts: list[str]


async def claims(models: Models, text: str) -> list[str]:
    """The claims of an answer in their order, each once; none of an answer that makes none.

    Raises NoScore (`unparsable`, `refused`) where the judge's list cannot be read, and ModelError.
    """

    async def of_piece(piece: str) -> list[str]:
        reader = structure(_Claims, _room(piece))
        return (await ask(models, models.judges[0], CLAIMS, {"answer": piece}, reader)).value.claims

    found = await concurrently(of_piece, pieces(text, PIECE))
    return _each_once(claim for some in found for claim in some)


async def facts(models: Models, passages: Sequence[str]) -> list[Fact]:
    """The facts of passages in their order, each once. Short passages share a call, long ones take several.

    Raises NoScore (`unparsable`, `refused`) where the judge's list cannot be read, and ModelError.
    """
    text, shown = _joined(passages), _Shown(passages)

    async def of_piece(piece: str) -> list[str]:
        reader = structure(_Facts, _room(piece))
        return (await ask(models, models.judges[0], FACTS, {"context": piece}, reader)).value.facts

    cut = pieces(text, PIECE)
    found = await concurrently(of_piece, cut)
    sources: dict[str, set[int]] = {}
    position = 0
    for piece, some in zip(cut, found, strict=True):
        start = text.index(piece, position)  # pieces stand in order, with nothing but white space between them
        position = start + len(piece)
        for fact in some:
            sources.setdefault(_folded(fact), set()).update(shown.sources(fact, start, position))
    once = _each_once(fact for some in found for fact in some)
    return [Fact(fact, tuple(sorted(sources[_folded(fact)]))) for fact in once]


class _Shown:
    """Where each passage stands in the text that is shown, and what it says."""

    def __init__(self, passages: Sequence[str]) -> None:
        self._spans: list[tuple[int, int]] = []
        start = 0
        for passage in passages:
            end = start + len(passage.strip())
            self._spans.append((start, end))
            start = end + len(_BETWEEN)
        self._sentences = [{_folded(sentence) for sentence in sentences(passage)} for passage in passages]

    def sources(self, fact: str, start: int, end: int) -> list[int]:
        """The passages that a fact can come from which the judge found in this part of the text."""
        there = [i for i, span in enumerate(self._spans) if max(start, span[0]) < min(end, span[1])]
        word_for_word = [i for i in there if _folded(fact) in self._sentences[i]]
        return [i + 1 for i in word_for_word or there]


_BETWEEN = "\n\n"  # passages


def _joined(passages: Sequence[str]) -> str:
    return _BETWEEN.join(passage.strip() for passage in passages)


def claim_calls(text: str) -> int:
    """Calls that `claims` takes for a text, without those that ask once more."""
    return len(pieces(text, PIECE))


def fact_calls(passages: Sequence[str]) -> int:
    """Calls that `facts` takes for passages, without those that ask once more."""
    return len(pieces(_joined(passages), PIECE))


def _room(piece: str) -> int:
    """Tokens for a list of what a text says: a few times its own, so that a judge that repeats itself ends soon."""
    return min(_MOST_TOKENS, 256 + utf8_size(piece))


def _each_once(statements: Iterable[str]) -> list[str]:
    """The statements without empty ones and without those that only repeat an earlier one."""
    first: dict[str, str] = {}
    for statement in statements:
        spaced = " ".join(statement.split())
        if spaced:
            first.setdefault(_folded(spaced), spaced)
    return list(first.values())


def _folded(statement: str) -> str:
    """The wording alone."""
    return " ".join(statement.split()).casefold().rstrip(".。")
