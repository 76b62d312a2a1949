"""What the prompt of a model under test contains besides the item (ClimaQA, section 5.1).

    default                  nothing
    few-shot                 other items of the form with their right answers, as earlier turns of the conversation
    rag-source               the best k passages of the books that the items are from
    rag-held-out             the best k passages of other books
    long-context-source      the book of the best passage, cut around that passage if it is too long for the model
    long-context-held-out    the same, of the other books

The authors' code has five fixed examples and four passages; a multiple-choice question is looked up with its options.
An example for few-shot shares no text with its item: neither was evolved from the other or from the same item, and no
stretch of 40 letters is in both (question, statement, options, answer, passages). The order in which examples are tried
is the same for all items of a form, so that most prompts of a form begin alike.

Books are those of an index of `longmark rag index`. A book in both indexes, under one id or with the same text, and an
item whose book is missing in the source or is in the held-out books, are errors: the settings would not differ.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from itertools import islice

from longmark.contrib.make.rag.passages import Stored
from longmark.contrib.make.rag.retrieve import Retriever
from longmark.errors import UserError
from longmark.progress import counted
from longmark.records.benchmark import Item
from longmark.records.same import caseless

DEFAULT = "default"
FEW_SHOT = "few-shot"
RAG = "rag"
LONG_CONTEXT = "long-context"
SOURCE, HELD_OUT = SIDES = ("source", "held-out")
SETTINGS = (
    DEFAULT,
    FEW_SHOT,
    *(f"{kind}-{side}" for kind in (RAG, LONG_CONTEXT) for side in SIDES),
)
K = 4
SHOTS = 5  # as in the authors' code

_STRETCH = 40  # letters that two texts do not have in common by chance
_SHOWN = 3  # books in a message
_MARKS = re.compile(r"[\W_]+")


def side_of(setting: str) -> str | None:
    """Which books a setting needs; None for none."""
    return next((side for side in SIDES if setting.endswith(f"-{side}")), None)


def query_of(item: Item) -> str:
    """What is looked up for an item."""
    return "\n".join((item.question, *(item.options or {}).values()))


# Few-shot ------------------------------------------------------------------------------------------------------------
def shots_of(items: Sequence[Item], n: int, seed: int) -> dict[str, tuple[Item, ...]]:
    """Item id -> at most n other items of its form that share no text with it."""
    shots = dict[str, tuple[Item, ...]]()
    families = _families(items)
    for form in sorted({item.form for item in items}):
        order = {item.id: item for item in items if item.form == form}
        ids = list(order)
        random.Random(f"{seed} {form}").shuffle(ids)
        stretches = lru_cache(maxsize=256)(lambda id, order=order: _stretches(order[id]))
        for item in order.values():
            own_stretches = _stretches(item)
            other_ids = (
                id
                for id in ids
                if families[id] != families[item.id] and own_stretches.isdisjoint(stretches(id))
            )
            shots[item.id] = tuple(order[id] for id in islice(other_ids, n))
    return shots


def _families(items: Iterable[Item]) -> dict[str, str]:
    """Item id -> the first item that it comes from."""
    parents = {item.id: item.parent for item in items}
    roots = {}
    for start in parents:
        name = start
        seen = {start}
        while (above := parents.get(name)) is not None and above not in seen:
            name = above
            seen.add(name)
        roots[start] = name
    return roots


def _stretches(item: Item) -> frozenset[str]:
    """The stretches of letters in an item's texts; a shorter text is one of its own."""
    texts = [item.question, item.statement or "", *(passage.text for passage in item.passages)]
    short = [
        item.answer or "",
        *(item.options or {}).values(),
    ]  # one option may well be that of another item
    folded = [_MARKS.sub("", caseless(text)) for text in texts]
    folded += [
        text
        for short_text in short
        if len(text := _MARKS.sub("", caseless(short_text))) >= _STRETCH
    ]
    return frozenset(
        text[i : i + _STRETCH]
        for text in folded
        if text
        for i in range(max(1, len(text) - _STRETCH + 1))
    )


# Books ---------------------------------------------------------------------------------------------------------------
@dataclass
class Shelf:
    """The books of an index. option: of the command line, for messages."""

    option: str
    retriever: Retriever
    _places: dict[str, list[int]] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        for number in range(len(self.retriever.index.passages)):
            self._places.setdefault(self.retriever.index.passages[number].document, []).append(
                number
            )

    @property
    def books(self) -> tuple[str, ...]:
        return tuple(self._places)

    def text(self, book: str) -> str:
        """A book's text, but for the white space between passages."""
        return rejoined(self.retriever.index.passages[number] for number in self._places[book])


def rejoined(passages: Iterable[Stored]) -> str:
    """The text that overlapping passages, in their order, were cut from; a blank line for space between them."""
    parts = list[str]()
    end = 0
    for passage in passages:
        if passage.end <= end:
            continue
        if parts and passage.start > end:
            parts.append("\n\n")
        parts.append(passage.text[max(end - passage.start, 0) :])
        end = passage.end
    return "".join(parts)


def check_books(items: Sequence[Item], shelves: Mapping[str, Shelf]) -> list[str]:
    """What could not be checked. UserError where the settings of source and held-out books would not differ."""
    texts = {
        side: {book: _squeezed(shelf.text(book)) for book in shelf.books}
        for side, shelf in shelves.items()
    }
    source = shelves.get(SOURCE)
    held_out = shelves.get(HELD_OUT)
    if source is not None and held_out is not None:
        held_books = {text: book for book, text in texts[HELD_OUT].items()} | {
            book: book for book in held_out.books
        }
        book_in_both = {
            book: held_books.get(book) or held_books.get(text)
            for book, text in texts[SOURCE].items()
        }
        names = [
            book if book == held_book else f"{book} (there {held_book})"
            for book, held_book in book_in_both.items()
            if held_book
        ]
        if names:
            remedy = "remove it from one of them"
            raise UserError(
                f"{source.option} and {held_out.option} both contain {_listed(names)}; {remedy}"
            )
    seeds = {item.id: item.passages[0] for item in items if item.passages}
    if held_out is not None and (homes := _homes(items, texts[HELD_OUT])):
        item, home = next(iter(homes.items()))
        raise UserError(
            f"{held_out.option} contains {home}, the book of the item {item}; remove it from the held-out books"
        )
    if source is not None:
        homes = _homes(items, texts[SOURCE])
        if lost := {
            seed.book or "a book without a name"
            for item, seed in seeds.items()
            if item not in homes
        }:
            remedy = "index the books of the benchmark"
            raise UserError(
                f"{source.option} does not contain {_listed(lost)}, which items are from; {remedy}"
            )
    bare = len(items) - len(seeds)
    return (
        [
            f"no passage is named by {counted(bare, 'item')}: whether their books are in an index was not checked"
        ]
        if bare
        else []
    )


def _homes(items: Iterable[Item], texts: Mapping[str, str]) -> dict[str, str]:
    """Item id -> a book of one of its passages, by its id, or one that has the text of its first passage. texts: of
    books, without white space, which no way of cutting changes."""
    find = cache(
        lambda text: next(
            (book for book, book_text in texts.items() if text and text in book_text), None
        )
    )
    homes = {}
    for item in items:
        named_books = (passage.book for passage in item.passages if passage.book in texts)
        if home := next(named_books, None) or (
            item.passages and find(_squeezed(item.passages[0].text))
        ):
            homes[item.id] = home
    return homes


def _listed(names: Iterable[str]) -> str:
    all_names = sorted(names)
    remainder = f" and {len(all_names) - _SHOWN:,} more" if len(all_names) > _SHOWN else ""
    return ", ".join(all_names[:_SHOWN]) + remainder


def _squeezed(text: str) -> str:
    return "".join(text.split())
