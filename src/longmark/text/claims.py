"""The claims of an answer, and the facts of passages: what several metrics judge or weigh one by one.

A claim is one statement that can be read by itself (SCORE, appendix B.1); a fact is one that a passage states (SCORE,
section 3.4). The first judge finds both, in the language of the text. A long text goes to it in pieces, and what two
pieces have in common is folded by wording alone, case and spacing aside; within one piece the judge is asked to name
each fact once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from pydantic import BaseModel, ConfigDict

from longmark.judge import ask, structure
from longmark.models.handles import Models
from longmark.prompts import Prompt
from longmark.text.pieces import pieces, utf8_size
from longmark.together import together

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

    found = await together(of_piece, pieces(text, PIECE))
    return _each_once(claim for some in found for claim in some)


async def facts(models: Models, passages: Sequence[str]) -> list[str]:
    """The facts of passages in their order, each once. Short passages share a call, long ones take several.

    Raises NoScore (`unparsable`, `refused`) where the judge's list cannot be read, and ModelError.
    """

    async def of_piece(piece: str) -> list[str]:
        reader = structure(_Facts, _room(piece))
        return (await ask(models, models.judges[0], FACTS, {"context": piece}, reader)).value.facts

    found = await together(of_piece, pieces("\n\n".join(passage.strip() for passage in passages), PIECE))
    return _each_once(fact for some in found for fact in some)


def claim_calls(text: str) -> int:
    """Calls that `claims` takes for a text, without those that ask once more."""
    return len(pieces(text, PIECE))


def fact_calls(passages: Sequence[str]) -> int:
    """Calls that `facts` takes for passages, without those that ask once more."""
    return len(pieces("\n\n".join(passage.strip() for passage in passages), PIECE))


def _room(piece: str) -> int:
    """Tokens for a list of what a text says: a few times its own, so that a judge that repeats itself ends soon."""
    return min(_MOST_TOKENS, 256 + utf8_size(piece))


def _each_once(statements: Iterable[str]) -> list[str]:
    """The statements without empty ones and without those that only repeat an earlier one."""
    first: dict[str, str] = {}
    for statement in statements:
        spaced = " ".join(statement.split())
        if spaced:
            first.setdefault(spaced.casefold().rstrip(".。"), spaced)
    return list(first.values())
