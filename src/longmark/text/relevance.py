"""How relevant statements are to a question, from 1 to 5 (Comprehensiveness, 3.1 and listing 6).

The judge prints a score for each of several statements. A score is the expected value over the tokens at its position,
renormalised over the valid scores. If the endpoint gives no log-probabilities, it is the printed score.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from pydantic import ConfigDict, RootModel

from longmark.concurrency import concurrently
from longmark.errors import NoScore
from longmark.judge import TOP_LOGPROBS, Reader, Unreadable, ask, structure
from longmark.models.handles import Models
from longmark.models.protocols import ChatReply
from longmark.prompts import prompt
from longmark.reply_schema import object_schema
from longmark.text.pieces import groups

LOW = 1
HIGH = 5
BATCH = 25  # statements in one call
_STATEMENTS = 6000  # bytes of them

RELEVANCE = prompt("""relevance(statements, question)
Say how much each numbered statement matters for an answer to the question, whether or not the statement is true:
1: it has nothing to do with the question.
2: it is on the topic, but does not help to answer the question.
3: a long answer could have it; a short one does without.
4: a good answer would have it; an answer without it is still right.
5: no answer is right without it.
Reply with a JSON object and nothing else. It has one key for each number and the score as its value, in this form: \
$form""")

_PAIR = re.compile(r'"(\d+)"\s*:\s*([0-9]+)')


@dataclass(frozen=True, slots=True)
class Graded:
    """A score in [LOW, HIGH]. printed: what the judge wrote. expected: whether score is the expected value; False: the
    printed score, because there are no log-probabilities."""

    score: float
    printed: int
    expected: bool


async def relevance(models: Models, question: str, statements: Sequence[str]) -> list[Graded]:
    """The relevance of each statement to a question, in their order, by the first judge: one call for 25 statements.

    Raises NoScore (`unparsable`, `refused`; `missing_input` without a judge) and ModelError.
    """
    if statements and not models.judges:
        raise NoScore("missing_input", "There is no judge to score relevance: add --judge.")

    async def of_group(group: list[str]) -> list[Graded]:
        listed = "\n".join(
            f"{n}. {' '.join(statement.split())}" for n, statement in enumerate(group, 1)
        )
        texts = {"question": question, "statements": listed, "form": '{"1": 3, "2": 5, …}'}
        return (await ask(models, models.judges[0], RELEVANCE, texts, _reader(len(group)))).value

    grades_of_groups = await concurrently(of_group, groups(statements, _STATEMENTS, BATCH))
    return [grade for some in grades_of_groups for grade in some]


def graded(reply: ChatReply, start: int, low: int = LOW, high: int = HIGH) -> Graded:
    """The score that a reply prints from the character `start` of its text on, a single digit from low to high, as an
    expected value where the reply has log-probabilities for it.

    Of the token that prints the digit, the candidates that are a valid score count, each by its probability; the token
    may have white space around the digit. Unreadable if the printed score is not valid.
    """
    digits = re.match(r"\d+", reply.text[start:])
    if digits is None or not low <= int(digits[0]) <= high:
        raise Unreadable(f"a score is a whole number from {low} to {high}")
    printed = int(digits[0])
    weights = _candidates(reply, start, low, high)
    total = math.fsum(weights.values())
    if total <= 0:
        return Graded(float(printed), printed, expected=False)
    value = math.fsum(score * weight for score, weight in weights.items()) / total
    return Graded(min(max(value, low), high), printed, expected=True)


def _candidates(reply: ChatReply, start: int, low: int, high: int) -> dict[int, float]:
    """Valid score -> probability of the token that prints the character `start`; empty if it cannot be found."""
    offset = "".join(token.token for token in reply.logprobs).rfind(reply.text)
    if offset < 0 or not reply.text:
        return {}
    place = 0
    for token in reply.logprobs:
        place += len(token.token)
        if place > offset + start:
            weights: dict[int, float] = {}
            for text, logprob in token.top or ((token.token, token.logprob),):
                candidate = text.strip()
                if candidate.isascii() and candidate.isdigit() and low <= int(candidate) <= high:
                    weights[int(candidate)] = weights.get(int(candidate), 0.0) + math.exp(logprob)
            return weights
    return {}


class _Scores(RootModel[dict[str, int]]):
    model_config = ConfigDict(strict=True)


@lru_cache
def _reader(count: int) -> Reader[list[Graded]]:
    """Reads a score for each number from 1 to count. Unreadable unless there is exactly one for each."""
    numbers = [str(n) for n in range(1, count + 1)]
    schema = object_schema(
        {number: {"type": "integer", "minimum": LOW, "maximum": HIGH} for number in numbers}
    )
    form = structure(_Scores, 64 + 12 * count, schema)

    def read(reply: ChatReply) -> list[Graded]:
        scores = form.read(reply).root
        if wrong := sorted(set(numbers) ^ set(scores)):
            raise Unreadable(
                f"it needs one score for each number from 1 to {count}; see {', '.join(wrong[:5])}"
            )
        places = {match[1]: match.start(2) for match in _PAIR.finditer(reply.text)}
        return [graded(reply, places[number]) for number in numbers]

    return Reader(
        read, form.max_tokens, TOP_LOGPROBS, form.schema, needs_logprobs=False, digits=True
    )
