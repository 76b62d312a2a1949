"""Prompts about an item: whether it is valid (zero-shot and for fine-tuning), and which word to leave out.
Files for hosted fine-tuning have the same messages, in OpenAI's chat format."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from pathlib import Path

import orjson

from longmark.concurrency import concurrently
from longmark.contrib.make.benchmark import context_of
from longmark.contrib.make.left_out import LeftOut
from longmark.contrib.make.validator.labels import is_valid
from longmark.errors import ModelError, NoScore
from longmark.judge import ask, choice, first_token
from longmark.models.handles import Models
from longmark.models.protocols import Message
from longmark.prompts import PromptBook, prompt
from longmark.records.benchmark import Item
from longmark.writing import folder as make_folder
from longmark.writing import replacing

VALID, INVALID = WORDS = ("VALID", "INVALID")
VERDICT = prompt("""validator.verdict(context, answer, question)
The question and its answer were written from the passages, for a test of knowledge. Decide whether they can be used.
VALID: the question makes sense by itself, and the answer is right and follows from the passages. Where there are \
options, no other option is right.
INVALID: the answer is wrong or the passages do not support it, the question makes no sense or lacks what is needed to \
answer it, or the passages are broken or say nothing.
Reply with one word, VALID or INVALID, and nothing else.""")
TERM = prompt("""validator.term(statement)
One word of the statement is to be left out, so that a reader who knows the subject can fill it in. Choose a technical \
term: a single word, as it stands in the statement, without which the statement loses its meaning.
Reply with that word and nothing else.""")
PROMPTS = (VERDICT, TERM)


def question_of(item: Item) -> str:
    """The question with its options; of a cloze item the statement."""
    options = "".join(f"\n{letter}) {text}" for letter, text in (item.options or {}).items())
    return (item.question or item.statement or "") + options


def answer_of(item: Item) -> str:
    """The answer; of an mcq the key with its text."""
    answer = item.answer or ""
    return f"{answer}) {item.options[answer]}" if item.options else answer


def messages(book: PromptBook, item: Item) -> tuple[Message, ...]:
    """What a validator is asked about an item: of a cloze item for the term, else for the verdict."""
    return book.fill(TERM if item.form == "cloze" else VERDICT, texts(item))


def texts(item: Item) -> dict[str, str]:
    """The inputs of both prompts."""
    fields = {
        "context": context_of(item.passages),
        "question": question_of(item),
        "answer": answer_of(item),
    }
    return {**fields, "statement": item.statement or item.question}


async def zero_shot(
    items: Sequence[Item], models: Models, at_once: int
) -> tuple[list[float | None], list[LeftOut]]:
    """The judge's probability of VALID for each item, from its first token, or with `scoring` text from the word that
    it writes (1 or 0). None where it gives none, with the reason."""
    judge = models.judges[0]
    left_out = list[LeftOut]()

    async def one(item: Item) -> float | None:
        try:
            if not models.judging.by_text:
                return (
                    await ask(models, judge, VERDICT, texts(item), first_token(VALID, INVALID))
                ).value[0]
            return float(
                (await ask(models, judge, VERDICT, texts(item), choice(WORDS))).value == VALID
            )
        except (NoScore, ModelError) as error:
            left_out.append(LeftOut(item.id, str(error)))
            return None

    return await concurrently(one, items, at_once), left_out


def write_hosted(
    sides: Mapping[str, tuple[Sequence[Item], Sequence[Item]]],
    folder: Path,
    book: PromptBook,
    seed: int,
) -> dict[Path, int]:
    """FORM-train.jsonl and FORM-test.jsonl; file -> lines. sides: form -> labelled items of both. In training files
    the rarer class is repeated until both are equally frequent."""
    make_folder(folder)
    written = {}
    for form, (train, test) in sides.items():
        for side, items in (("train", balanced(train, seed)), ("test", test)):
            path = folder / f"{form}-{side}.jsonl"
            with replacing(path) as file:
                for item in items:
                    file.write(_line(item, book))
            written[path] = len(items)
    return written


def balanced(items: Sequence[Item], seed: int) -> list[Item]:
    """The items with the rarer class repeated, in a drawn order."""
    draw = random.Random(seed)
    by_label = [[item for item in items if is_valid(item) is label] for label in (True, False)]
    largest_class = max(map(len, by_label))
    repeated = []
    for class_items in by_label:
        repeated += (
            class_items * (largest_class // len(class_items))
            + draw.sample(class_items, largest_class % len(class_items))
            if class_items
            else []
        )
    draw.shuffle(repeated)
    return repeated


def _line(item: Item, book: PromptBook) -> bytes:
    reply = item.answer if item.form == "cloze" else VALID if is_valid(item) else INVALID
    chat = [{"role": message.role, "content": message.content} for message in messages(book, item)]
    return orjson.dumps({"messages": [*chat, {"role": "assistant", "content": reply}]}) + b"\n"
