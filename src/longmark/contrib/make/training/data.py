"""Training data as tokens: documents in blocks, and questions with their correct answers."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from longmark.contrib.local.transformers_lm import chat_ids
from longmark.contrib.make.benchmark import items_of
from longmark.contrib.make.benchmark.answers import messages
from longmark.contrib.make.benchmark.seeds import Library
from longmark.contrib.make.rag.documents import SourceDocument
from longmark.contrib.make.training.config import Finetune
from longmark.errors import UserError
from longmark.models.protocols import Message
from longmark.progress import counted
from longmark.prompts import PromptBook
from longmark.records import sources
from longmark.records.benchmark import Item
from longmark.records.files import BadLines, at
from longmark.records.same import comparable

IGNORED = -100  # a label that adds nothing to the loss, in torch's cross-entropy

Tokens = dict[
    str, list[int]
]  # input_ids, and labels: the same ids, IGNORED where nothing is learnt


@dataclass(slots=True)
class TrainingData:
    """sequences: to train on, or to validate with; facts: for the manifest; notes: what was omitted."""

    sequences: list[Tokens] = field(default_factory=list)
    facts: dict[str, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


def encoded(tokenizer: Any, text: str) -> list[int]:
    """The tokens of a text; control tokens that it spells are text."""
    return list(tokenizer.encode(text, add_special_tokens=False, split_special_tokens=True))


def answered(tokenizer: Any, chat: Sequence[Message], answer: str, name: str) -> Tokens:
    """Messages and the reply to them: the loss is over the reply and the end of the turn only. name: of the model."""
    prompt = chat_ids(tokenizer, chat, name)
    reply = [*encoded(tokenizer, answer), tokenizer.eos_token_id]
    return {"input_ids": prompt + reply, "labels": [IGNORED] * len(prompt) + reply}


def blocks(texts: Iterable[str], tokenizer: Any, length: int) -> Iterator[Tokens]:
    """Texts one after the other, an end token after each, in blocks of `length` tokens. A rest that does not fill a
    block is omitted, unless there is no full block."""
    pending = list[int]()
    any_block = False
    for text in texts:
        pending += [*encoded(tokenizer, text), tokenizer.eos_token_id]
        length_of_blocks = len(pending) - len(pending) % length
        for start in range(0, length_of_blocks, length):
            any_block = True
            block = pending[start : start + length]
            yield {"input_ids": block, "labels": list(block)}
        pending = pending[length_of_blocks:]
    if not any_block and len(pending) > 1:
        yield {"input_ids": pending, "labels": list(pending)}


def of_books(paths: Sequence[Path], tokenizer: Any, length: int) -> TrainingData:
    """Documents in blocks. facts: tokens, and the books with SHA-256 and characters. UserError if there is no text."""
    data = TrainingData()
    library = Library(paths)

    def texts() -> Iterator[str]:
        for entry in library:
            if isinstance(entry, SourceDocument):
                yield entry.text
            else:
                data.notes.append(str(entry))

    data.sequences = list(blocks(texts(), tokenizer, length))
    if not data.sequences:
        raise UserError(
            f"{', '.join(map(str, paths))}: no document has text to train on; name other documents"
        )
    tokens = sum(len(sequence["input_ids"]) for sequence in data.sequences)
    data.facts = {
        "books": [book.facts() for book in library.books],
        "sequences": len(data.sequences),
        "tokens": tokens,
    }
    return data


def check_apart(train: TrainingData, validation: TrainingData) -> None:
    """UserError if a book is in both, even under another name: its validation loss would be meaningless."""
    seen = {book["sha256"]: book["id"] for book in train.facts["books"]}
    for book in validation.facts["books"]:
        if (train_id := seen.get(book["sha256"])) is not None:
            raise UserError(
                f"validation has {book['id']}, which is {train_id} of train too; remove it from one of them"
            )


def of_questions(path: Path, settings: Finetune, tokenizer: Any, name: str) -> TrainingData:
    """Questions with their answers: the usable items of a benchmark in the prompts of `longmark benchmark run`, setting
    default; or the conversations of a chat file (`is_chat`), with the loss over the last message.

    Omitted, and counted: what is longer than `length` tokens, and items of `keep_out` and of the validation set. name:
    of the model. UserError if nothing is left.
    """
    data = TrainingData()
    left = Counter[str]()
    used = Counter[str]()
    for kind, chat, answer in _chats(path) if is_chat(path) else _items(path, settings, left):
        made = answered(tokenizer, chat, answer, name)
        if len(made["input_ids"]) > settings.length:
            left[f"longer than {settings.length:,} tokens (length)"] += 1
            continue
        data.sequences.append(made)
        used[kind] += 1
    data.notes = [f"{counted(count, 'item')} omitted: {why}" for why, count in left.items()]
    if not data.sequences:
        raise UserError("\n".join((f"{path}: no item is left to train on", *data.notes)))
    digest = hashlib.sha256(
        repr([(sequence["input_ids"], sequence["labels"]) for sequence in data.sequences]).encode()
    ).hexdigest()
    data.facts = {"items": dict(used), "left_out": dict(left), "sha256": digest}
    return data


def _items(
    path: Path, settings: Finetune, left: Counter[str]
) -> Iterator[tuple[str, Sequence[Message], str]]:
    """Form and level, messages and answer of each item; omitted items are counted."""
    kept_out = [
        *settings.keep_out,
        *([settings.validation] if settings.validation and path == settings.train else []),
    ]
    tested = [item for excluded in kept_out for item in items_of(excluded)]
    names = {item_name for item in tested for item_name in (item.id, item.parent) if item_name}
    questions = {_folded(item) for item in tested}
    book = PromptBook()
    for item in items_of(path):
        if item.form not in settings.forms:
            left["of another form"] += 1
        elif not item.usable or item.answer is None:
            left[f"with status {item.status}, or without a term"] += 1
        elif names & {item.id, item.parent} or _folded(item) in questions:
            left["in keep_out or validation, or evolved from one of their items"] += 1
        else:
            yield f"{item.form} {item.level or ''}".strip(), messages(book, item), item.answer


def _folded(item: Item) -> str:
    return "".join(comparable(item.statement or item.question).split())


def is_chat(path: Path) -> bool:
    """Whether a file has conversations, `{"messages": [...]}` a line: the form of files for hosted fine-tuning."""
    if not path.is_file() or path.suffix.lower() not in (".jsonl", ".ndjson"):
        return False
    first = next(iter(sources.records(path, sources.kind_of(path))), (0, None))[1]
    return isinstance(first, dict) and "messages" in first


def _chats(path: Path) -> Iterator[tuple[str, Sequence[Message], str]]:
    """ "chat", the messages before the last one and its text. BadInput with each line that is not a conversation."""
    conversations = list[tuple[str, Sequence[Message], str]]()
    bad = BadLines()
    for line, record in sources.records(path, sources.kind_of(path)):
        try:
            *chat, last = [
                Message(message["role"], message["content"]) for message in record["messages"]
            ]
            if (
                not chat
                or last.role != "assistant"
                or not all(isinstance(message.content, str) for message in (*chat, last))
            ):
                raise ValueError
            conversations.append(("chat", chat, last.content))
        except (TypeError, KeyError, ValueError):
            bad.add(
                at(
                    path,
                    line,
                    "not a conversation: expected messages with role and content, the last one of the assistant",
                )
            )
    bad.check()
    yield from conversations
