"""Statistics of a benchmark: items, dropped items, coverage, keys, readability, items that need no book.

`figures` counts; its object is figures.json. Its lists are tables, one object a row:

    cells        items by form and level: all, usable, dropped, accepted and rejected by people or a validator
    dropped      items by the code of their first reason, and form
    books        usable items, seed chunks, pages and chapters of all books, then of each that has items; share: of its
                 characters that the seeds have
    keys         how often each letter is the key, by the number of options; expected: if keys were drawn
    tests        key balance (Pearson's chi-squared), and the keys that are the longest option, against chance
    readability  Flesch reading ease and grade level of questions and statements, means by form; for English
    unaided      the items that a model answered without the passages (`answered_unaided`)

Tests are approximate below five expected items a letter. They count items as independent, although several may have one
seed.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from statistics import fmean
from typing import Any

from longmark.datasets.benchmark.answers import messages
from longmark.datasets.benchmark.audits import YES_NO, Audits, chosen
from longmark.errors import NoScore
from longmark.judge import ask, ask_as_written, text
from longmark.metrics.climaqa.exact_match import folded
from longmark.metrics.score import readability
from longmark.models.handles import ChatHandle, Models
from longmark.models.protocols import Message
from longmark.prompts import Prompt
from longmark.records.benchmark import Item

FORMAT = 1
TITLES = {
    "cells": "Items",
    "dropped": "Dropped items",
    "books": "Coverage of the books",
    "keys": "Keys of multiple-choice items",
    "tests": "Tests of the keys",
    "readability": "Readability of questions and statements",
    "unaided": "Items answered without the book",
}
_ANSWER = 256  # tokens of a freeform answer, as in `benchmark run`
KNOWN, ASKED = "answerable_without_book", "asked_without_book"  # marks: names of models

SAME = Prompt(
    "benchmark.unaided.same",
    ("answer", "reference", "question"),
    """\
The reference is the right answer to the question. Decide whether the other answer is right too: whether it makes the \
main point of the reference, in whatever words, and says nothing that contradicts it. Reply with yes or no and nothing \
else.""",
)
PROMPTS = (SAME,)


def figures(items: Sequence[Item], manifest: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The object of figures.json. manifest: of the benchmark's folder; without it no share of a book is known."""
    usable = [item for item in items if item.usable]
    return {
        "format": FORMAT,
        "items": len(items),
        "usable": len(usable),
        "cells": [_cell(form, level, group) for (form, level), group in _groups(items).items()],
        "dropped": [
            {"reason": reason, "form": form, "items": count}
            for (reason, form), count in sorted(Counter(map(_why, _dropped(items))).items())
        ],
        "books": _books(usable, manifest or {}),
        "keys": (keys := _keys(usable)),
        "tests": [_balance(keys), _length(usable)] if keys else [],
        "readability": _readability(usable),
        "unaided": _unaided(usable),
    }


def _groups(items: Iterable[Item]) -> dict[tuple[str, str], list[Item]]:
    groups: dict[tuple[str, str], list[Item]] = defaultdict(list)
    for item in items:
        groups[item.form, item.level or ""].append(item)
    return groups


def _cell(form: str, level: str, group: Sequence[Item]) -> dict[str, Any]:
    status = Counter(item.status for item in group)
    return {
        "form": form,
        "level": level or None,
        "items": len(group),
        "usable": sum(item.usable for item in group),
        "dropped": status["dropped"],
        "accepted": status["valid"] + status["edited"],
        "rejected": status["invalid"],
    }


def _dropped(items: Iterable[Item]) -> Iterable[Item]:
    return (item for item in items if item.status == "dropped")


def _why(item: Item) -> tuple[str, str]:
    return (item.reasons[0].partition(":")[0] if item.reasons else "no reason given"), item.form


def _books(items: Iterable[Item], manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    characters = {book["id"]: book["characters"] for book in manifest.get("books", ())}
    made = [item for item in items if item.passages]
    by_book: dict[str, list[Item]] = defaultdict(list)
    for item in made:
        by_book[item.passages[0].book or ""].append(item)
    rows = [_covered(book, its, characters.get(book)) for book, its in by_book.items()]
    if max(len(rows), len(characters)) > 1:
        every = f"{len(rows):,} with items" + (f" of {len(characters):,}" if characters else "")
        rows.insert(0, _covered(every, made, sum(characters.values())))
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
    groups: dict[int, list[Item]] = defaultdict(list)
    for item in items:
        if item.options:
            groups[len(item.options)].append(item)
    return [
        {
            "options": size,
            "letter": letter,
            "items": sum(item.answer == letter for item in group),
            "expected": len(group) / size,
        }
        for size, group in sorted(groups.items())
        for letter in sorted({letter for item in group for letter in item.options or {}})
    ]


def _balance(keys: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    chi2 = sum((row["items"] - row["expected"]) ** 2 / row["expected"] for row in keys)
    free = len(keys) - len({row["options"] for row in keys})
    most, n = max(keys, key=lambda row: row["items"]), sum(row["items"] for row in keys)
    p = chi2_above(chi2, free)
    return {"test": "most frequent key", "n": n, "items": most["items"], "expected": most["expected"], "p": p}


def _length(items: Iterable[Item]) -> dict[str, Any]:
    """Among items of which one option is longer than every other: how often that is the key."""
    n, longest, expected, variance = 0, 0, 0.0, 0.0
    for item in items:
        lengths = {letter: len(option) for letter, option in (item.options or {}).items()}
        most = [letter for letter, length in lengths.items() if length == max(lengths.values())]
        if len(most) == 1:
            n, longest, p = n + 1, longest + (most[0] == item.answer), 1 / len(lengths)
            expected, variance = expected + p, variance + p * (1 - p)
    p_value = chi2_above((longest - expected) ** 2 / variance, 1) if variance else None
    return {"test": "key is the longest option", "n": n, "items": longest, "expected": expected, "p": p_value}


def chi2_above(x: float, free: int) -> float:
    """The probability that a chi-squared variable with `free` (1 or more) degrees of freedom is at least x: the sum
    for whole degrees, Abramowitz & Stegun 26.4.4 and 26.4.5."""
    half = x / 2
    if free % 2:
        terms = (half ** (k - 0.5) / math.gamma(k + 0.5) for k in range(1, (free + 1) // 2))
        return math.erfc(math.sqrt(half)) + math.exp(-half) * math.fsum(terms)
    return math.exp(-half) * math.fsum(half**k / math.factorial(k) for k in range(free // 2))


def _readability(items: Iterable[Item]) -> list[dict[str, Any]]:
    groups: dict[str, list[Item]] = defaultdict(list)
    for item in items:
        groups[item.form].append(item)
    found = []
    for form, group in groups.items():
        scores = []
        for item in group:
            try:
                scores.append(readability.measured(item.statement or item.question, readability.Params()))
            except NoScore:  # another script
                continue
        means = {
            name: fmean(score[name].value for score in scores) if scores else None
            for name in ("reading_ease", "grade_level")
        }
        found.append({"form": form, "n": len(scores), **means, "other_scripts": len(group) - len(scores)})
    return found


def _unaided(items: Iterable[Item]) -> list[dict[str, Any]]:
    asked, known = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    for item in items:
        asked.update((model, item.form) for model in item.marks.get(ASKED, ()))
        known.update((model, item.form) for model in item.marks.get(KNOWN, ()))
    return [
        {"model": model, "form": form, "asked": n, "answered": known[model, form], "share": known[model, form] / n}
        for (model, form), n in asked.items()
    ]


# Without the book ----------------------------------------------------------------------------------------------------


async def answered_unaided(item: Item, models: Models, model: ChatHandle, audits: Audits) -> Item:
    """The item with the marks `asked_without_book` and, if the model answered it without the passages,
    `answerable_without_book`; each is a list of names of models. An item that it was asked before stays as it is.

    The prompts are those of `benchmark run` in the setting default. An mcq is answered if the key is chosen in every
    order of the options; a cloze item by its term, in any case; a freeform item if the first judge (without one: the
    model itself) calls the answer as correct as the reference. A reply that cannot be read is not an answer.
    ModelError and OverBudget are raised."""
    asked, known = item.marks.get(ASKED, []), item.marks.get(KNOWN, [])
    if model.name in asked or item.answer is None:
        return item
    try:
        right = await _answers(item, models, model, audits)
    except NoScore:
        right = False
    marks = {**item.marks, ASKED: [*asked, model.name]} | ({KNOWN: [*known, model.name]} if right else {})
    return item.model_copy(update={"marks": marks})


async def _answers(item: Item, models: Models, model: ChatHandle, audits: Audits) -> bool:
    def asks(one: Item) -> tuple[str, tuple[Message, ...]]:
        return f"benchmark.answer.{one.form}", messages(models.prompts, one)

    if item.form == "mcq":
        return (await chosen(item, model, audits, asks))[0]
    answer = (await ask_as_written(model, *asks(item), text(_ANSWER))).value
    if item.form == "cloze":
        return folded(answer) == folded(item.answer or "")
    texts = {"answer": answer, "reference": item.answer or "", "question": item.question}
    judge = models.judges[0] if models.backends.judges else model
    return (await ask(models, judge, SAME, texts, YES_NO)).value[0] == "yes"
