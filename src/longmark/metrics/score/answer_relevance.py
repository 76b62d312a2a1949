"""Answer relevance: how well the answer fits the question that was asked (SCORE, section 3.3, equation 2).

The first judge writes n questions that the answer would answer. The score is their mean similarity to the question
that was asked:

    relevance = 1/n sum cosine(question, generated question)

`masked` is the score of the paper's tables: before the questions are written, words of the domain's masked slots
(hazards: hazard, profession, concern, infrastructure) are replaced by placeholders such as [HAZARD] in the answer, so
that words shared with the question do not raise the score. The question is not masked. The judge names the phrases,
or none; code replaces them and the values of the profile. If they cover more than half of the answer, it is asked again.
`plain` has no masking. The evidence has each generated question with its cosine, and for `masked` the masked answer, the
phrases, and how many of them do not occur in the answer.
Unscored: an empty answer (`undefined`); `masked` by phrases without a profile that has a masked slot
(`missing_input`), since the masking could not be checked.
Cost: 1 call for masking, which `plain` does without; for each score 1 call for the questions and 1 batch of the
embedder. An answer of more than 4,000 bytes is masked in pieces. For one of more than 12,000 bytes the questions are
written in pieces too, and the mean is over all of them.

Parameters: questions: n. masking: `phrases` as above, or `rewrite`: the judge rewrites the answer with placeholders, as
in the paper (section 3.3, appendix E.3); what it rewrites is not checked, and no profile is needed.
Deviations: the prompts are ours. So is the default masking, which a small judge can do (design/small-judges.md).
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict

from longmark.concurrency import concurrently
from longmark.errors import ModelError, NoScore, OverBudget
from longmark.judge import Unreadable, ask, structure, text
from longmark.metric import Metric, Score, ScoreSpec, Silence, paper
from longmark.metrics.score._masking import (
    Masked,
    Named,
    Rewritten,
    masked,
    phrase_reader,
    rewritten,
)
from longmark.metrics.score._similarity import cosine, embed_whole
from longmark.models.handles import Models
from longmark.progress import counted
from longmark.prompts import prompt
from longmark.records import Example
from longmark.records.evidence import Question, Questions
from longmark.text.pieces import pieces, utf8_size

PARTS = ("masked", "plain")
MASKED_PIECE = (
    4000  # bytes of answer in one masking call: of a longer text a judge names a smaller share
)
_PIECE = 12_000  # bytes of answer in one call for questions, about 3,000 tokens
_TOKENS_A_QUESTION = 128
_LEAST_TOKENS = 64  # of a rewritten piece, and one more for every two bytes of it

MASKING = prompt("""masking(answer)
Find in the answer the words and phrases that belong to one of these kinds:
$kinds
Give each as it stands in the answer and only once, with the one kind that it belongs to: a term of one to five words, \
never a sentence or a whole point. Leave out what belongs to no kind; where nothing does, the list is empty.
Reply with a JSON object and nothing else, in this form: $form""")
REWRITING = prompt("""masking.rewrite(answer)
Write the answer again, and put a placeholder wherever it has words of one of these kinds:
$kinds
Change nothing else, except where a sentence would no longer read naturally. Reply with the rewritten answer and \
nothing else.""")
QUESTIONS = prompt("""score.answer_relevance(answer)
Write $n questions, each of which the answer as a whole would be a fitting answer to. Each is one full sentence, asks \
for what the answer gives and is worded differently from the others. Where the answer has a placeholder in square \
brackets, keep the placeholder. Write in the language of the answer.
Reply with a JSON object and nothing else, {"questions": ["...", "..."]}, with exactly $n questions.""")


@dataclass(frozen=True)
class AnswerRelevanceParams:
    questions: int = 5  # SCORE, section 3.3
    masking: Literal["phrases", "rewrite"] = paper("phrases", "rewrite")

    def __post_init__(self) -> None:
        if not 1 <= self.questions <= 20:
            raise ValueError(f"questions is a number from 1 to 20, not {self.questions}")


class _Questions(BaseModel):
    model_config = ConfigDict(json_schema_extra={"additionalProperties": False})

    questions: list[str]


def relevance(cosines: Sequence[float]) -> float:
    """Equation 2: the mean of the cosines."""
    return math.fsum(cosines) / len(cosines)


async def score(
    example: Example, models: Models, params: AnswerRelevanceParams, parts: Collection[str]
) -> dict[str, Score | NoScore]:
    """The scores of these parts of the name. If one is unscored, the other can still be computed."""
    if not (example.answer or "").strip():
        raise NoScore("undefined", "The answer is empty.")
    scores: dict[str, Score | NoScore] = {}
    for part in parts:
        try:
            hidden = await _hidden(example, models, params) if part == "masked" else None
            answer = hidden.text if hidden else example.answer or ""
            scores[part] = await _relevance(example.question or "", answer, models, params, hidden)
        except NoScore as unscored:
            scores[part] = unscored
        except (ModelError, OverBudget) as error:
            scores[part] = NoScore(error.status, str(error))
    return scores


async def _hidden(
    example: Example, models: Models, params: AnswerRelevanceParams
) -> Masked | Rewritten:
    """The masked answer. NoScore if the domain has no masks, or, for `phrases`, the profile no text value for a masked
    slot."""
    domain = models.domain
    if not domain.masks:
        raise NoScore(
            "undefined",
            f"The domain {domain.name} masks no slot, so only the plain score is defined.",
        )
    if params.masking == "rewrite":
        return await rewrite(models, example.answer or "")
    profile = example.profile or {}
    masked_values = {name: profile[name] for name in domain.masked if name in profile}
    if not any(isinstance(value, str) and value.strip() for value in masked_values.values()):
        reason = (
            f"The example has no profile with one of the masked slots: {', '.join(domain.masked)}."
        )
        if masked_values:
            value_texts = (
                f"{name} is {json.dumps(value, ensure_ascii=False, default=str)[:60]}"
                for name, value in masked_values.items()
            )
            reason = f"The profile's values of the masked slots are empty or not text: {', '.join(value_texts)}."
        raise NoScore("missing_input", reason)
    return await mask(models, example.answer or "", profile)


async def mask(models: Models, answer: str, profile: Mapping[str, Any]) -> Masked:
    """The answer with placeholders for the phrases that the first judge names and for the profile's values.

    A phrase named for one piece of a long answer is replaced in all of it. Raises NoScore (`unparsable`, `refused`)
    if the judge's list cannot be read or covers most of a piece, and ModelError.
    """
    domain = models.domain
    fields = {
        "kinds": "\n".join(f"- {mask.slot}: {mask.description}" for mask in domain.masks),
        "form": json.dumps(
            {"phrases": [{"phrase": "...", "kind": mask.slot} for mask in domain.masks[:2]]}
        ),
    }

    async def of_piece(piece: str) -> list[Named]:
        reader = phrase_reader(piece, domain)
        return (
            await ask(models, models.judges[0], MASKING, {"answer": piece, **fields}, reader)
        ).value

    phrase_lists = await concurrently(of_piece, pieces(answer, MASKED_PIECE))
    return masked(answer, [phrase for some in phrase_lists for phrase in some], profile, domain)


async def rewrite(models: Models, answer: str) -> Rewritten:
    """The answer as the first judge rewrites it with placeholders (appendix E.3), piece by piece.

    NoScore (`unparsable`, `refused`) if a reply is empty or cut off, and ModelError.
    """
    kinds = "\n".join(f"- {mask.placeholder}: {mask.description}" for mask in models.domain.masks)

    async def of_piece(piece: str) -> str:
        reader = text(_LEAST_TOKENS + utf8_size(piece) // 2)
        return (
            await ask(
                models, models.judges[0], REWRITING, {"answer": piece, "kinds": kinds}, reader
            )
        ).value

    return rewritten(
        "\n".join(await concurrently(of_piece, pieces(answer, MASKED_PIECE))), models.domain
    )


async def _relevance(
    question: str,
    answer: str,
    models: Models,
    params: AnswerRelevanceParams,
    hidden: Masked | Rewritten | None,
) -> Score:
    n = params.questions

    def checked(reply: _Questions) -> list[str]:
        questions = [" ".join(question.split()) for question in reply.questions if question.strip()]
        if len(questions) < n:
            raise Unreadable(f"it has {counted(len(questions), 'question')} in place of {n}")
        return questions[:n]

    reader = structure(_Questions, _TOKENS_A_QUESTION * n + 64).then(checked)

    async def of_piece(piece: str) -> list[str]:
        texts = {"answer": piece, "n": str(n)}
        return (await ask(models, models.judges[0], QUESTIONS, texts, reader)).value

    generated = [
        generated_question
        for some in await concurrently(of_piece, pieces(answer, _PIECE))
        for generated_question in some
    ]
    example_question, *generated_vectors = await embed_whole(models, [question, *generated])
    cosines = [
        cosine(example_question.vector, generated_vector.vector)
        for generated_vector in generated_vectors
    ]
    shown = [
        Question(question=generated_question, cosine=value)
        for generated_question, value in zip(generated, cosines, strict=True)
    ]
    evidence = Questions(questions=shown, **(hidden.evidence if hidden else {})).evidence()
    return Score(relevance(cosines), evidence)


def _calls(
    example: Example, _params: AnswerRelevanceParams, _judges: int, parts: Collection[str] = PARTS
) -> int:
    """Questions and a batch of the embedder for each score, and masking for one."""
    answer = example.answer or ""
    if not answer.strip():
        return 0
    calls = len(parts) * (len(pieces(answer, _PIECE)) + 1)
    return calls + (len(pieces(answer, MASKED_PIECE)) if "masked" in parts else 0)


METRIC = Metric(
    score,
    needs=("question", "answer"),
    scores={
        "masked": ScoreSpec(bounds=(-1, 1), higher_is_better=True),
        "plain": ScoreSpec(bounds=(-1, 1), higher_is_better=True),
    },
    by_part=True,
    models=("judge", "embedder"),
    prompts=(MASKING, REWRITING, QUESTIONS),
    params=AnswerRelevanceParams,
    calls=_calls,
    rounds=3,
    by_domain=True,
    silence=Silence(empty="undefined"),
    view="questions",
)
