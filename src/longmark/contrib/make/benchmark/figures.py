"""Statistics of a benchmark: items, dropped items, coverage, keys, readability, items that need no book.

`figures` counts; its object is figures.json. Its lists are tables, one object a row:

    cells        items by form and level: all, usable, dropped, accepted and rejected by people or a validator
    dropped      items by the code of their first reason, and form
    books        usable items, seed chunks, pages and chapters of all books, then of each that has items; share: of its
                 characters that the seeds have
    keys         how often each letter is the key, by the number of options, and how often the longest option is (of the
                 items that have one); expected: if keys were drawn
    readability  Flesch reading ease and grade level of questions and statements, means by form; for English
    unaided      the items that a model answered without the passages (`answered_unaided`)
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any, TypeVar, get_args

from longmark.contrib.make.benchmark.answers import messages
from longmark.contrib.make.benchmark.audits import YES_NO, chosen
from longmark.errors import NoScore
from longmark.judge import ask, ask_as_written, text
from longmark.metrics.climaqa.exact_match import folded
from longmark.metrics.score import readability
from longmark.models.handles import ChatHandle, Models
from longmark.models.protocols import Message
from longmark.prompts import prompt
from longmark.records.benchmark import LEVELS, Form, Item

Key = TypeVar("Key")

FORMAT = 1
TITLES = {
    "cells": "Items",
    "dropped": "Dropped items",
    "books": "Coverage of the books",
    "keys": "Keys of multiple-choice items",
    "readability": "Readability of questions and statements",
    "unaided": "Items answered without the book",
}
_FORMS = get_args(Form)
_ANSWER = 256  # tokens of a freeform answer, as in `benchmark run`
KNOWN = "answerable_without_book"
ASKED = "asked_without_book"  # marks: names of models

SAME = prompt("""benchmark.unaided.same(answer, reference, question)
The reference is the right answer to the question. Decide whether the other answer is right too: whether it makes the \
main point of the reference, in whatever words, and says nothing that contradicts it. Reply with yes or no and nothing \
else.""")
PROMPTS = (SAME,)


def figures(items: Sequence[Item], manifest: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The object of figures.json. manifest: of the benchmark's folder; without it no share of a book is known."""
    in_order = sorted(
        items, key=lambda item: (_FORMS.index(item.form), (*LEVELS, None).index(item.level))
    )
    usable = [item for item in in_order if item.usable]
    dropped = Counter(map(_why, (item for item in items if item.status == "dropped")))
    return {
        "format": FORMAT,
        "items": len(items),
        "usable": len(usable),
        "cells": [
            _cell(*cell, group)
            for cell, group in _grouped(in_order, lambda item: (item.form, item.level)).items()
        ],
        "dropped": [
            {"reason": why, "form": form, "items": count}
            for (why, form), count in sorted(dropped.items())
        ],
        "books": _books(usable, manifest or {}),
        "keys": _keys(usable),
        "readability": [
            _readability(*group) for group in _grouped(usable, lambda item: item.form).items()
        ],
        "unaided": _unaided(usable),
    }


def _grouped(items: Iterable[Item], key: Callable[[Item], Key]) -> dict[Key, list[Item]]:
    groups: dict[Key, list[Item]] = defaultdict(list)
    for item in items:
        groups[key(item)].append(item)
    return groups


def _cell(form: str, level: str | None, group: Sequence[Item]) -> dict[str, Any]:
    status = Counter(item.status for item in group)
    return {
        "form": form,
        "level": level,
        "items": len(group),
        "usable": sum(item.usable for item in group),
        "dropped": status["dropped"],
        "accepted": status["valid"] + status["edited"],
        "rejected": status["invalid"],
    }


def _why(item: Item) -> tuple[str, str]:
    return item.reasons[0].partition(":")[0], item.form


def _books(items: Iterable[Item], manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    characters = {book["id"]: book["characters"] for book in manifest.get("books", ())}
    with_passages = [item for item in items if item.passages]
    by_book = _grouped(with_passages, lambda item: item.passages[0].book or "")
    rows = [
        _covered(book, book_items, characters.get(book)) for book, book_items in by_book.items()
    ]
    if max(len(rows), len(characters)) > 1:
        summary_name = f"{len(rows):,} with items" + (
            f" of {len(characters):,}" if characters else ""
        )
        rows.insert(0, _covered(summary_name, with_passages, sum(characters.values())))
    return rows


def _covered(book: str, items: Iterable[Item], characters: int | None) -> dict[str, Any]:
    places = [(item.passages[0], item.meta.get("chapter")) for item in items]
    seeds = {(seed.book, seed.chunk or seed.text): len(seed.text) for seed, _ in places}
    return {
        "book": book,
        "items": len(places),
        "seeds": len(seeds),
        "pages": len({(seed.book, seed.page) for seed, _ in places if seed.page}),
        "chapters": len({(seed.book, chapter) for seed, chapter in places if chapter}),
        "share": min(1.0, sum(seeds.values()) / characters) if characters else None,
    }


def _keys(items: Iterable[Item]) -> list[dict[str, Any]]:
    rows = []
    for size, group in sorted(
        _grouped(
            (item for item in items if item.options), lambda item: len(item.options or {})
        ).items()
    ):
        keys = Counter(item.answer for item in group)
        letters = sorted({letter for item in group for letter in item.options or {}})
        rows += [(size, letter, keys[letter], len(group) / size) for letter in letters]
        if longest := [
            longest_letter == item.answer for item in group if (longest_letter := _longest(item))
        ]:
            rows.append((size, "the longest option", sum(longest), len(longest) / size))
    return [dict(zip(("options", "key", "items", "expected"), row, strict=True)) for row in rows]


def _longest(item: Item) -> str | None:
    """The letter of the option that is longer than every other; None if there is none."""
    options = item.options or {}
    greatest = max(map(len, options.values()), default=0)
    longest = [letter for letter, option in options.items() if len(option) == greatest]
    return longest[0] if len(longest) == 1 else None


def _readability(form: str, group: Sequence[Item]) -> dict[str, Any]:
    scores = []
    for item in group:
        try:
            scores.append(readability.in_english(item.statement or item.question))
        except NoScore:  # another script or language
            continue
    names = ("reading_ease", "grade_level")
    means = {
        name: fmean(score[name].value for score in scores) if scores else None for name in names
    }
    return {"form": form, "n": len(scores), **means, "other_scripts": len(group) - len(scores)}


def _unaided(items: Iterable[Item]) -> list[dict[str, Any]]:
    times_asked = Counter[tuple[str, str]]()
    times_answered = Counter[tuple[str, str]]()
    for item in items:
        times_asked.update((model, item.form) for model in item.marks.get(ASKED, ()))
        times_answered.update((model, item.form) for model in item.marks.get(KNOWN, ()))
    return [
        {
            "model": model,
            "form": form,
            "asked": n,
            "answered": times_answered[model, form],
            "share": times_answered[model, form] / n,
        }
        for (model, form), n in times_asked.items()
    ]


# Without the book ----------------------------------------------------------------------------------------------------
async def answered_unaided(item: Item, models: Models, model: ChatHandle) -> Item:
    """The item with the marks `asked_without_book` and, if the model answered it without the passages,
    `answerable_without_book`; each is a list of names of models. An item that it was asked before stays as it is.

    The prompts are those of `benchmark run` in the setting default. An mcq is answered if the key is chosen in every
    order of the options; a cloze item by its term, in any case; a freeform item if the first judge (without one: the
    model itself) calls the answer as correct as the reference. A reply that cannot be read is not an answer.
    ModelError and OverBudget are raised."""
    models_asked = item.marks.get(ASKED, [])
    models_knowing = item.marks.get(KNOWN, [])
    if model.name in models_asked or item.answer is None:
        return item
    try:
        right = await _answers(item, models, model)
    except NoScore:
        right = False
    marks = {**item.marks, ASKED: [*models_asked, model.name]} | (
        {KNOWN: [*models_knowing, model.name]} if right else {}
    )
    return item.model_copy(update={"marks": marks})


async def _answers(item: Item, models: Models, model: ChatHandle) -> bool:
    def asks(asked_item: Item) -> tuple[str, tuple[Message, ...]]:
        return f"benchmark.answer.{asked_item.form}", messages(models.prompts, asked_item)

    if item.form == "mcq":
        return (await chosen(item, model, 0, asks))[0]
    answer = (await ask_as_written(model, *asks(item), text(_ANSWER))).value
    if item.form == "cloze":
        return folded(answer) == folded(item.answer or "")
    texts = {"answer": answer, "reference": item.answer or "", "question": item.question}
    judge = models.judges[0] if models.backends.judges else model
    return (await ask(models, judge, SAME, texts, YES_NO)).value[0] == "yes"
