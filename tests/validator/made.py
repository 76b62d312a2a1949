"""Items with planted differences between valid and invalid ones."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from longmark.records.benchmark import Form, Item, Passage
from longmark.validator.labels import Case, families

SUBJECTS = [
    "rain",
    "wind",
    "snow",
    "cloud",
    "ocean",
    "soil",
    "river",
    "glacier",
    "aerosol",
    "methane",
    "carbon",
    "ozone",
]
PLANTED = "zebra"


def item(n: int, valid: bool, form: Form = "mcq", seed: int | None = None) -> Item:
    """An invalid item has the planted word in its question. seed: of its passage (default: one for every three)."""
    draw = random.Random(n)
    one, other, third = draw.sample(SUBJECTS, 3)
    seed = n // 3 if seed is None else seed
    question = f"How does {one} change {other}{'' if valid else ' ' + PLANTED}?"
    options = {"a": f"{third} falls", "b": f"{third} rises", "c": "nothing"} if form == "mcq" else None
    passage = Passage(text=f"Passage {seed} says that {one} and {other} change {third}.", book="b", chunk=f"c{seed}")
    return Item(id=f"i{n}", form=form, level="base", question=question, answer="b" if options else f"{third} rises",
                options=options, passages=(passage,), status="audited")  # fmt: skip


def cases(count: int, is_valid: Callable[[int], bool], form: Form = "mcq", planted: bool = True) -> list[Case]:
    """planted: invalid items are to be told by a word; else labels say nothing about the items."""
    items = [item(n, is_valid(n) or not planted, form) for n in range(count)]
    return [Case(one, is_valid(n), family) for n, (one, family) in enumerate(zip(items, families(items), strict=True))]


def labelled(some: Sequence[Case]) -> list[Item]:
    """The items of a file of labels."""
    return [case.item.model_copy(update={"status": "valid" if case.valid else "invalid"}) for case in some]
