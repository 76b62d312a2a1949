"""The words of the pages in docs/, as `wc -w` counts them: `python -m tests.docs.words` lowers the budget in
tests/docs/words.txt to what is counted now, in hundreds rounded up. It only falls: where there are more words, cut."""

from __future__ import annotations

import math
from pathlib import Path

DOCS = Path(__file__).parents[2] / "docs"
BUDGET = Path(__file__).with_suffix(".txt")
STEP = 100


def words_of(folder: Path) -> dict[str, int]:
    """The words of each page, most first."""
    counts = {
        page.name: len(page.read_text(encoding="utf-8").split()) for page in folder.glob("*.md")
    }
    return dict(sorted(counts.items(), key=lambda item: -item[1]))


def read_budget() -> int:
    return int(BUDGET.read_text(encoding="utf-8"))


def lowered(budget: int, words: int) -> int:
    """The budget for so many words; it never rises."""
    return min(budget, STEP * math.ceil(words / STEP))


if __name__ == "__main__":
    total = sum(words_of(DOCS).values())
    BUDGET.write_text(f"{lowered(read_budget(), total)}\n", encoding="utf-8")
