"""Items with planted differences between valid and invalid ones."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from longmark.contrib.make.validator.labels import ValidityLabels, families
from longmark.records.benchmark import Form, Item, Passage

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
    options = (
        {"a": f"{third} falls", "b": f"{third} rises", "c": "nothing"} if form == "mcq" else None
    )
    passage = Passage(
        text=f"Passage {seed} says that {one} and {other} change {third}.",
        book="b",
        chunk=f"c{seed}",
    )
    return Item(id=f"i{n}", form=form, level="base", question=question, answer="b" if options else f"{third} rises",
                options=options, passages=(passage,), status="audited")  # fmt: skip


def labels(
    count: int, is_valid: Callable[[int], bool], form: Form = "mcq", planted: bool = True
) -> ValidityLabels:
    """planted: invalid items are to be told by a word; else labels say nothing about the items."""
    items = [
        item(n, is_valid(n) or not planted, form).model_copy(
            update={"status": "valid" if is_valid(n) else "invalid"}
        )
        for n in range(count)
    ]
    return of_items(items)


def of_items(items: Sequence[Item]) -> ValidityLabels:
    return ValidityLabels(
        list(items), {one.id: family for one, family in zip(items, families(items), strict=True)}
    )
