"""Answer relevance: does the answer fit the question that was asked? (SCORE, section 3.3, equation 2)

The first judge writes n questions that the answer would answer; the value is how alike they are to the real one:

    relevance = 1/n sum cosine(question, generated question)

`masked` is the paper's own: words on the masked slots of the domain (hazards: hazard, profession, concern,
infrastructure) are first replaced by placeholders such as [HAZARD], in the answer and not in the question, so that
shared words alone earn nothing. The judge names them, and code replaces them wherever they stand, and the profile's
values too; the evidence has the phrases, the placeholders put for either, and how many phrases the answer does not
have. A judge may name nothing; one that names more than half of the answer is asked again. `plain` has no
masking. Both: range [-1, 1], higher is better. The generated questions, each with its cosine, are in the evidence.
No value: an empty answer (`undefined`); `masked` without a profile that names one of the masked slots
(`missing_input`), for then nobody could check the masking.
Cost: 1 call for masking, 2 for questions, 2 batches of the embedder; an answer of more than 4,000 bytes is masked in
pieces, and one of more than 12,000 bytes is asked about in pieces, the mean over the questions of all.

Parameters: questions: n.
Deviations: the prompts are ours. In the paper the model writes the answer again with placeholders in it, and nobody
checks it; here it names phrases and code hides them, so that nothing else can change and the reply is short.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from longmark.concurrency import concurrently
from longmark.domain import Domain
from longmark.errors import NoScore
from longmark.judge import Reader, Unreadable, ask, structure
from longmark.metric import Metric, Score, Value
from longmark.models.handles import Models
from longmark.models.protocols import ChatReply
from longmark.prompts import Prompt
from longmark.records import Example
from longmark.text.masks import MASKING, mask, mask_calls, maskable
from longmark.text.pieces import pieces
from longmark.text.similarity import cosine, embed_whole

_PIECE = 12_000  # bytes of answer in one call, about 3,000 tokens
_TOKENS_A_QUESTION = 128

QUESTIONS = Prompt(
    "score.answer_relevance",
    ("answer",),
    """\
Write $n questions, each of which the answer as a whole would be a fitting answer to. Each is one full sentence, asks \
for what the answer gives and is worded differently from the others. Where the answer has a placeholder in square \
brackets, keep the placeholder. Write in the language of the answer.
Reply with a JSON object and nothing else, {"questions": ["...", "..."]}, with exactly $n questions.""",
)


@dataclass(frozen=True)
class Params:
    questions: int = 5  # SCORE, section 3.3

    def __post_init__(self) -> None:
        if not 1 <= self.questions <= 20:
            raise ValueError(f"questions is a number from 1 to 20, not {self.questions}")


class _Questions(BaseModel):
    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})

    questions: list[str]


async def score(example: Example, models: Models, params: Params) -> dict[str, Score | NoScore]:
    """Both values. What keeps one from being read does not keep the other."""
    if not (example.answer or "").strip():
        raise NoScore("undefined", "The answer is empty: it answers no question.")
    found: dict[str, Score | NoScore] = {}
    for part, value in (("masked", _masked), ("plain", _plain)):
        try:
            found[part] = await value(example, models, params)
        except NoScore as gap:
            found[part] = gap
    return found


async def _plain(example: Example, models: Models, params: Params) -> Score:
    return await _relevance(example.question or "", example.answer or "", models, params)


async def _masked(example: Example, models: Models, params: Params) -> Score:
    profile, domain = example.profile or {}, models.domain
    if not domain.masks:
        raise NoScore("undefined", f"The domain {domain.name} masks no slot: there is only the plain value.")
    if not maskable(profile, domain):
        raise NoScore("missing_input", _nothing_to_mask(profile, domain))
    masked = await mask(models, example.answer or "", profile)
    relevance = await _relevance(example.question or "", masked.text, models, params)
    shown = {
        "masked_answer": masked.text,
        "masked_phrases": masked.named,
        "masked_phrases_not_found": masked.not_found,
        "masked_by_model": masked.by_model,
        "masked_by_code": masked.by_code,
    }
    return Score(relevance.value, {**relevance.evidence, **shown})


def _nothing_to_mask(profile: Mapping[str, Any], domain: Domain) -> str:
    there = [
        f"{name} is {json.dumps(profile[name], ensure_ascii=False, default=str)[:60]}"
        for name in domain.masked
        if name in profile
    ]
    if there:
        return f"What the profile has of the slots that are masked is empty or no text: {', '.join(there)}."
    return f"The example has no profile with one of the slots that are masked: {', '.join(domain.masked)}."


async def _relevance(question: str, answer: str, models: Models, params: Params) -> Score:
    async def of_piece(piece: str) -> list[str]:
        fields = {"n": str(params.questions)}
        verdict = await ask(
            models, models.judges[0], QUESTIONS, {"answer": piece}, _reader(params.questions), fields=fields
        )
        return verdict.value

    generated = [one for some in await concurrently(of_piece, pieces(answer, _PIECE)) for one in some]
    asked, *others = await embed_whole(models, [question, *generated])
    cosines = [cosine(asked.vector, other.vector) for other in others]
    return Score(
        math.fsum(cosines) / len(cosines),
        {"questions": [{"question": one, "cosine": value} for one, value in zip(generated, cosines, strict=True)]},
    )


def _reader(n: int) -> Reader[list[str]]:
    """Reads n questions; what a judge writes beyond them is left out."""
    form = structure(_Questions, max_tokens=_TOKENS_A_QUESTION * n + 64)

    def read(reply: ChatReply) -> tuple[list[str], dict[str, Any]]:
        given, extra = form.read(reply)
        questions = [" ".join(question.split()) for question in given.questions if question.strip()]
        if len(questions) < n:
            raise Unreadable(f"it has {len(questions)} questions in place of {n}")
        return questions[:n], extra

    return Reader(read, form.max_tokens, schema=form.schema)


def _calls(example: Example, _params: Params, _judges: int) -> int:
    """At most: masking, questions and a batch of the embedder for each of the two values."""
    answer = example.answer or ""
    return mask_calls(answer) + 2 * (len(pieces(answer, _PIECE)) + 1)


METRIC = Metric(
    score,
    needs=("question", "answer"),
    values={
        "masked": Value(bounds=(-1, 1), higher_is_better=True),
        "plain": Value(bounds=(-1, 1), higher_is_better=True),
    },
    models=("judge", "embedder"),
    prompts=(MASKING, QUESTIONS),
    params=Params,
    calls=_calls,
    by_domain=True,
)
