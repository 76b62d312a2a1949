"""The questions that texts answer, and the answers that each text gives them (Comprehensiveness, 3.2)."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Annotated, Any

from pydantic import BeforeValidator

from longmark.concurrency import concurrently
from longmark.judge import (
    TOP_LOGPROBS,
    Reader,
    ReplyForm,
    Unreadable,
    ask,
    numbered_apart,
    structure,
)
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
PART = (
    8000  # bytes of a text that is asked for answers in one call, also of several passages together
)
_PASSAGES = 8  # in one call for answers
_SLOTS = 160  # questions times passages in one call: a reply of 4,096 tokens has room for about 150 answers
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
JOINT_ANSWERING = prompt("""comprehensiveness.joint_answers(context, questions)
The context holds numbered passages. Answer each numbered question from each passage, the passages one by one, each \
without the others, also where a passage contradicts what you know or what another passage says. Give every answer that \
a passage gives or mentions: if it has several views, each is an answer of its own. An answer is as short as it can be, \
a name, a figure with its unit, a few words; it needs no sentence. Name the passages that give it. Grade how far they \
stand behind it:
5: they say without doubt that the answer is right.
4: they take the answer to be right, with some doubt.
3: they leave open whether the answer is right.
2: they take the answer to be wrong, with some doubt.
1: they say without doubt that the answer is wrong.
If passages stand behind an answer to different degrees, it stands once for each grade. A passage that does not answer a \
question is not named for it. If no passage answers a question, its only answer is "unknown", with no passage and 5.
Reply with a JSON object and nothing else. It has the answers to every question, each with the number of its question, \
in this form: {"answers": [{"question": 1, "answer": "...", "passages": [1, 3], "confidence": 5}, \
{"question": 2, "answer": "unknown", "passages": [], "confidence": 5}, …]}""")
PROMPTS = (MINING, REFINEMENT, ANSWERING, JOINT_ANSWERING)

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


class _PassagesAnswer(ReplyForm):
    question: _WholeNumber
    answer: str
    passages: list[_WholeNumber]
    confidence: _WholeNumber


class _JointlyAnswered(ReplyForm):
    answers: list[_PassagesAnswer]


async def mined(models: Models, question: str, texts: Sequence[str]) -> list[str]:
    """The questions that texts answer, by the first judge: one call for the texts that 4,000 bytes hold, or for so much
    of a longer one. NoScore and ModelError as `judge.ask`."""

    async def of_piece(piece: str) -> list[str]:
        reader = structure(_Mined, min(_MOST_TOKENS, 256 + utf8_size(piece)))
        inputs = {"text": piece, "question": question}
        return (await ask(models, first_judge(models), MINING, inputs, reader)).value.questions

    lists = await concurrently(of_piece, _mined_pieces(texts))
    return list(each_once(question for some in lists for question in some).values())


def mining_calls(texts: Sequence[str]) -> int:
    """The calls of `mined`, without second attempts."""
    return len(_mined_pieces(texts))


def _mined_pieces(texts: Sequence[str]) -> list[str]:
    if len(texts) == 1:
        return pieces(texts[0], PIECE)
    spaced = [f"{text.strip()}\n\n" for text in texts if text.strip()]
    joined = ["".join(group).strip() for group in groups(spaced, PIECE)]
    return [piece for text in joined for piece in pieces(text, PIECE)]


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


async def answered(
    models: Models, questions: Sequence[str], texts: Sequence[str]
) -> list[list[QuestionAnswer]]:
    """The answers of each text to each question, in the order of the questions, without "unknown".

    One text: a call for 40 questions and 8,000 bytes of it. Of several texts, a call shows up to eight, numbered, of
    8,000 bytes together, and so many questions that at most 160 answers are to be given, one of each text to each. A
    text that is longer is asked by itself. An answer that a text gives several times counts once, with the greatest
    confidence.
    """

    async def of_group(numbers: list[int]) -> list[list[QuestionAnswer]]:
        group = [texts[number] for number in numbers]
        if len(group) == 1:
            return [await _answered_alone(models, questions, group[0])]
        return await _answered_together(models, questions, group)

    text_groups = _together(texts)
    answers_of_groups = await concurrently(of_group, text_groups)
    answers: list[list[QuestionAnswer]] = [[] for _ in texts]
    for numbers, answers_of_group in zip(text_groups, answers_of_groups, strict=True):
        for number, answers_of_text in zip(numbers, answers_of_group, strict=True):
            answers[number] = answers_of_text
    return answers


def answering_calls(texts: Sequence[str], questions: int) -> int:
    """The calls of `answered` for so many short questions, without second attempts."""
    calls = 0
    for numbers in _together(texts):
        parts = len(pieces(texts[numbers[0]], PART)) if len(numbers) == 1 else 1
        calls += parts * math.ceil(questions / _questions_beside(len(numbers)))
    return calls


def _together(texts: Sequence[str]) -> list[list[int]]:
    """The numbers, from 0, of the texts that a call shows together; a blank text is in none."""
    numbers = [number for number, text in enumerate(texts) if text.strip()]
    text_groups: list[list[int]] = []
    for group in groups([texts[number] for number in numbers], PART, _PASSAGES):
        start = sum(map(len, text_groups))
        text_groups.append(numbers[start : start + len(group)])
    return text_groups


def _questions_beside(passages: int) -> int:
    """The questions in one call that shows so many passages."""
    return min(BATCH, _SLOTS // passages)


async def _answered_alone(
    models: Models, questions: Sequence[str], text: str
) -> list[QuestionAnswer]:
    async def of_part(part_and_batch: tuple[str, list[int]]) -> list[QuestionAnswer]:
        part, batch = part_and_batch
        inputs = {"text": part, "questions": _numbered([questions[i] for i in batch])}
        reader = _answers_reader(len(batch))
        replies = (await ask(models, first_judge(models), ANSWERING, inputs, reader)).value
        return [replace(reply, question=batch[reply.question]) for reply in replies]

    batches = _batches(questions, BATCH)
    answer_lists = await concurrently(
        of_part, [(part, batch) for part in pieces(text, PART) for batch in batches]
    )
    return _each_best(answer for answers in answer_lists for answer in answers)


async def _answered_together(
    models: Models, questions: Sequence[str], passages: Sequence[str]
) -> list[list[QuestionAnswer]]:
    """The answers of each passage, by calls that show all of them."""
    context = numbered_apart(passages)

    async def of_batch(batch: list[int]) -> list[list[QuestionAnswer]]:
        inputs = {"context": context, "questions": _numbered([questions[i] for i in batch])}
        reader = _joint_answers_reader(len(batch), len(passages))
        answers_of_passages = (
            await ask(models, first_judge(models), JOINT_ANSWERING, inputs, reader)
        ).value
        return [
            [replace(answer, question=batch[answer.question]) for answer in answers]
            for answers in answers_of_passages
        ]

    by_batch = await concurrently(of_batch, _batches(questions, _questions_beside(len(passages))))
    return [
        _each_best(answer for answers in of_passage for answer in answers)
        for of_passage in zip(*by_batch, strict=True)
    ]


def _batches(questions: Sequence[str], longest: int) -> list[list[int]]:
    """The numbers, from 0, of the questions that a call asks together."""
    batches: list[list[int]] = []
    for group in groups(questions, _QUESTIONS, longest):
        start = sum(map(len, batches))
        batches.append(list(range(start, start + len(group))))
    return batches


def _each_best(answers: Iterable[QuestionAnswer]) -> list[QuestionAnswer]:
    """Each answer to a question once, with the greatest confidence, in the order of the questions."""
    best: dict[tuple[int, str], QuestionAnswer] = {}
    for answer in answers:
        key = answer.question, folded(answer.text)
        if key not in best or answer.confidence.score > best[key].confidence.score:
            best[key] = answer
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
    form = structure(_Answered, min(_MOST_TOKENS, 256 + 120 * count))

    def read(reply: ChatReply) -> list[QuestionAnswer]:
        listed = form.read(reply).answers
        _check_numbers(count, [answer.question for answer in listed])
        grades = _grades(reply, _CONFIDENCE, [answer.confidence for answer in listed])
        return [
            QuestionAnswer(answer.question - 1, " ".join(answer.answer.split()), grade)
            for answer, grade in zip(listed, grades, strict=True)
            if folded(answer.answer) not in ("", UNKNOWN)
        ]

    return Reader(
        read, form.max_tokens, TOP_LOGPROBS, form.schema, needs_logprobs=False, digits=True
    )


@lru_cache
def _joint_answers_reader(count: int, passages: int) -> Reader[list[list[QuestionAnswer]]]:
    """Reads the answers of each of several passages to questions with the numbers from 1 to count. Unreadable unless
    each question is there, and each answer names passages by numbers from 1 to `passages`."""
    form = structure(_JointlyAnswered, min(_MOST_TOKENS, 256 + 40 * count * (1 + passages)))

    def read(reply: ChatReply) -> list[list[QuestionAnswer]]:
        listed = form.read(reply).answers
        _check_numbers(count, [answer.question for answer in listed])
        grades = _grades(reply, _CONFIDENCE, [answer.confidence for answer in listed])
        answers_of_passages: list[list[QuestionAnswer]] = [[] for _ in range(passages)]
        for answer, grade in zip(listed, grades, strict=True):
            if folded(answer.answer) in ("", UNKNOWN):
                continue
            _check_passages(answer, passages)
            question_answer = QuestionAnswer(
                answer.question - 1, " ".join(answer.answer.split()), grade
            )
            for passage in dict.fromkeys(answer.passages):
                answers_of_passages[passage - 1].append(question_answer)
        return answers_of_passages

    return Reader(
        read, form.max_tokens, TOP_LOGPROBS, form.schema, needs_logprobs=False, digits=True
    )


def _check_numbers(count: int, questions: Iterable[int]) -> None:
    """Unreadable unless the questions are those from 1 to count."""
    if wrong := sorted(set(range(1, count + 1)) ^ set(questions)):
        raise Unreadable(
            f"it needs an answer for each number from 1 to {count}; see {', '.join(map(str, wrong[:5]))}"
        )


def _check_passages(answer: _PassagesAnswer, passages: int) -> None:
    """Unreadable unless an answer names passages, all of them by numbers from 1 to `passages`."""
    if not answer.passages:
        raise Unreadable(f"question {answer.question}: an answer names no passage")
    for passage in answer.passages:
        if not 1 <= passage <= passages:
            raise Unreadable(
                f"question {answer.question}: {passage} is no passage; their numbers are 1 to {passages}"
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
