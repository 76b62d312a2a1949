"""The questions that texts answer, and the answers that each text gives them (Comprehensiveness, 3.2)."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BeforeValidator

from longmark.concurrency import concurrently
from longmark.judge import TOP_LOGPROBS, Reader, ReplyForm, Unreadable, ask, structure
from longmark.metrics.comprehensiveness._sources import first_judge
from longmark.models.handles import Models
from longmark.models.protocols import ChatReply
from longmark.prompts import prompt
from longmark.records.same import comparable
from longmark.text.claims import PIECE, each_once
from longmark.text.pieces import groups, pieces, utf8_size
from longmark.text.relevance import Graded, graded

BATCH = 40  # questions in one call
_QUESTIONS = 8000  # bytes of them
PART = 8000  # bytes of a text that is asked for answers in one call
_MOST_TOKENS = 4096  # of a reply
UNKNOWN = "unknown"

MINING = prompt("""comprehensiveness.questions(text, question)
The question was asked by a user. List the questions that the text answers and whose answers help to answer it, also \
if they only support or contradict an answer. Together they ask for every fact of the text that matters.
- A reader who does not have the text understands each question by itself: put names in place of pronouns and of words \
like "the company".
- Ask for one fact, in plain and general words: no unit, no source and no form of the answer, unless the fact is about \
them. Do not ask how the text presents something. A question may have several answers.
- If the user's question asks for one clear fact, it is the first in the list.
Write in the language of the text.
Reply with a JSON object and nothing else, {"questions": ["...", "..."]}; if there is none, {"questions": []}.""")
REFINEMENT = prompt("""comprehensiveness.refinement(questions, question)
The numbered questions were taken from several texts, for an answer to the user's question. Make one list of them:
- Of questions that ask for the same fact in other words, keep one, in its clearest form.
- Make a question more general if it names a unit, a source or a form that the fact does not need.
- Leave out a question that is not understood by itself, or that asks about the texts.
- If the user's question asks for one clear fact, it is the first in the list.
Grade how much the fact that each question asks for matters for an answer to the user's question:
1: it has nothing to do with the question.
2: it is on the topic, but does not help to answer the question.
3: a long answer could have it; a short one does without.
4: a good answer would have it; an answer without it is still right.
5: no answer is right without it.
Write in the language of the questions.
Reply with a JSON object and nothing else, {"questions": [{"question": "...", "relevance": 4}, …]}.""")
ANSWERING = prompt("""comprehensiveness.answers(text, questions)
Answer each numbered question from the text alone, also where the text contradicts what you know. Give every answer \
that the text gives or mentions: if it has several views, each is an answer of its own. An answer is as short as it \
can be, a name, a figure with its unit, a few words; it needs no sentence. Grade how far the text stands behind it:
5: it says without doubt that the answer is right.
4: it takes the answer to be right, with some doubt.
3: it leaves open whether the answer is right.
2: it takes the answer to be wrong, with some doubt.
1: it says without doubt that the answer is wrong.
If the text does not answer a question, its only answer is "unknown", with 5.
Reply with a JSON object and nothing else. It has the answers to every question, each with the number of its question, \
in this form: {"answers": [{"question": 1, "answer": "...", "confidence": 5}, \
{"question": 2, "answer": "unknown", "confidence": 5}, …]}""")
PROMPTS = (MINING, REFINEMENT, ANSWERING)

# A key of the JSON, not of a text in it, where a quotation mark has a backslash before it.
_RELEVANCE = re.compile(r'(?<!\\)"relevance"\s*:\s*(?=\d)')
_CONFIDENCE = re.compile(r'(?<!\\)"confidence"\s*:\s*(?=\d)')


@dataclass(frozen=True, slots=True)
class GeneratedQuestion:
    text: str
    relevance: Graded


@dataclass(frozen=True, slots=True)
class QuestionAnswer:
    """question: the number of the question from 0. confidence: how far the text stands behind it, in [1, 5]."""

    question: int
    text: str
    confidence: Graded


def _no_truth(value: Any) -> Any:
    if isinstance(value, bool):
        raise ValueError("expected a whole number, found true or false")
    return value


_WholeNumber = Annotated[int, BeforeValidator(_no_truth)]  # pydantic takes true for 1


class _Mined(ReplyForm):
    questions: list[str]


class _GradedQuestion(ReplyForm):
    question: str
    relevance: _WholeNumber


class _Refined(ReplyForm):
    questions: list[_GradedQuestion]


class _GradedAnswer(ReplyForm):
    question: _WholeNumber
    answer: str
    confidence: _WholeNumber


class _Answered(ReplyForm):
    answers: list[_GradedAnswer]


async def mined(models: Models, question: str, text: str) -> list[str]:
    """The questions that a text answers, by the first judge: one call for 4,000 bytes. NoScore and ModelError as
    `judge.ask`."""

    async def of_piece(piece: str) -> list[str]:
        reader = structure(_Mined, min(_MOST_TOKENS, 256 + utf8_size(piece)))
        inputs = {"text": piece, "question": question}
        return (await ask(models, first_judge(models), MINING, inputs, reader)).value.questions

    lists = await concurrently(of_piece, pieces(text, PIECE))
    return list(each_once(question for some in lists for question in some).values())


async def refined(models: Models, question: str, raw: Sequence[str]) -> list[GeneratedQuestion]:
    """The questions without repetitions, each with its relevance to the user's question: one call for 40 questions.
    Questions of two calls are merged only if case and spacing alone differ."""

    async def of_group(group: list[str]) -> list[GeneratedQuestion]:
        numbered = _numbered(group)
        reader = _refined_reader(min(_MOST_TOKENS, 256 + 2 * utf8_size(numbered) + 24 * len(group)))
        inputs = {"questions": numbered, "question": question}
        return (await ask(models, first_judge(models), REFINEMENT, inputs, reader)).value

    graded_lists = await concurrently(
        of_group, groups(list(each_once(raw).values()), _QUESTIONS, BATCH)
    )
    graded_by_text = {
        graded_question.text: graded_question
        for some in reversed(graded_lists)
        for graded_question in reversed(some)
    }
    return [
        graded_by_text[text]
        for text in each_once(
            graded_question.text for some in graded_lists for graded_question in some
        ).values()
    ]


async def answered(models: Models, questions: Sequence[str], text: str) -> list[QuestionAnswer]:
    """The answers of a text to each question, in the order of the questions, without "unknown": one call for 40
    questions and 8,000 bytes of the text. Answers of several parts count once, with the greatest confidence."""
    numbers = range(len(questions))
    batches: list[list[int]] = []
    for group in groups(questions, _QUESTIONS, BATCH):
        start = sum(map(len, batches))
        batches.append(list(numbers[start : start + len(group)]))

    async def of_part(part_and_batch: tuple[str, list[int]]) -> list[QuestionAnswer]:
        part, batch = part_and_batch
        inputs = {"text": part, "questions": _numbered([questions[i] for i in batch])}
        reader = _answers_reader(len(batch))
        replies = (await ask(models, first_judge(models), ANSWERING, inputs, reader)).value
        return [
            QuestionAnswer(batch[reply.question], reply.text, reply.confidence) for reply in replies
        ]

    answer_lists = await concurrently(
        of_part, [(part, batch) for part in pieces(text, PART) for batch in batches]
    )
    best: dict[tuple[int, str], QuestionAnswer] = {}
    for candidate in (candidate for some in answer_lists for candidate in some):
        key = candidate.question, folded(candidate.text)
        if key not in best or candidate.confidence.score > best[key].confidence.score:
            best[key] = candidate
    return sorted(best.values(), key=lambda answer: answer.question)


def folded(answer: str) -> str:
    """An answer without case, spacing and the final full stop: equal ones are equivalent without a call."""
    return comparable(answer).rstrip(".。")


def _numbered(texts: Sequence[str]) -> str:
    return "\n".join(f"{n}. {' '.join(text.split())}" for n, text in enumerate(texts, 1))


def _refined_reader(max_tokens: int) -> Reader[list[GeneratedQuestion]]:
    form = structure(_Refined, max_tokens)

    def read(reply: ChatReply) -> list[GeneratedQuestion]:
        questions = form.read(reply).questions
        grades = _grades(reply, _RELEVANCE, [question.relevance for question in questions])
        return [
            GeneratedQuestion(" ".join(question.question.split()), grade)
            for question, grade in zip(questions, grades, strict=True)
            if question.question.strip()
        ]

    return Reader(read, max_tokens, TOP_LOGPROBS, form.schema, needs_logprobs=False, digits=True)


@lru_cache
def _answers_reader(count: int) -> Reader[list[QuestionAnswer]]:
    """Reads the answers to questions with the numbers from 1 to count. Unreadable unless each number is there."""
    numbers = set(range(1, count + 1))
    form = structure(_Answered, min(_MOST_TOKENS, 256 + 120 * count))

    def read(reply: ChatReply) -> list[QuestionAnswer]:
        listed = form.read(reply).answers
        if wrong := sorted(numbers ^ {answer.question for answer in listed}):
            raise Unreadable(
                f"it needs an answer for each number from 1 to {count}; see {', '.join(map(str, wrong[:5]))}"
            )
        grades = _grades(reply, _CONFIDENCE, [answer.confidence for answer in listed])
        return [
            QuestionAnswer(answer.question - 1, " ".join(answer.answer.split()), grade)
            for answer, grade in zip(listed, grades, strict=True)
            if folded(answer.answer) not in ("", UNKNOWN)
        ]

    return Reader(
        read, form.max_tokens, TOP_LOGPROBS, form.schema, needs_logprobs=False, digits=True
    )


def _grades(reply: ChatReply, key: re.Pattern[str], printed: Sequence[int]) -> list[Graded]:
    """The grades in their order, as expected values where the reply has log-probabilities; the printed ones where the
    places of the keys in the reply cannot be told. Unreadable for one that is not from 1 to 5."""
    if wrong := [grade for grade in printed if not 1 <= grade <= 5]:
        raise Unreadable(f"{wrong[0]} is not a whole number from 1 to 5")
    places = [match.end() for match in key.finditer(reply.text)]
    if len(places) != len(printed):
        return [Graded(float(grade), grade, expected=False) for grade in printed]
    return [graded(reply, place) for place in places]
