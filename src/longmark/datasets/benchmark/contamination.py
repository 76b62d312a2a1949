"""Has a model memorised a benchmark's items? It completes each item's text from the first half, without context.

The text is the question, of a cloze item the statement. The completion, cut to the length of the second half, is
compared with it by ROUGE-L (F1 of words). Beside it stands a control: the same completion against the second half of
another item of the form, drawn with a seed; what both share is wording that any text of the kind has.

A share of items from `LIMIT` on that is clearly above the control's means that the model has probably seen the texts.
The reverse does not hold: a model may have seen them and not repeat them, and one that has read the books, not the
items, knows answers without any of this showing. Items whose text has fewer than `FEWEST` words are left out.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from longmark.concurrency import concurrently
from longmark.errors import ModelError, OverBudget
from longmark.metrics.classic._rouge import longest_in_common, rouge
from longmark.metrics.classic._tokens import tokens
from longmark.models.handles import ChatHandle
from longmark.models.protocols import ChatRequest, Message
from longmark.prompts import Prompt, PromptBook, fence
from longmark.rag.generate import NoAnswer, answer_of
from longmark.records.benchmark import BLANK, Item

COMPLETE = Prompt(
    "benchmark.complete",
    ("beginning",),
    """\
Between the tags is the first half of a text. Write its second half, as it goes on from there, word for word where you \
know the text. Reply with the second half alone.""",
)
LIMIT = 0.5  # ROUGE-L from which a completion counts as known
FEWEST = 12  # words of a text


@dataclass(frozen=True, slots=True)
class Completion:
    """overlap, control: ROUGE-L with the item's second half, and with that of another item (None: there is none)."""

    item: str
    model: str
    beginning: str
    rest: str
    completion: str
    overlap: float
    control: float | None


@dataclass(slots=True)
class Checked:
    """short: items without enough words; failed: those that the model did not complete, or that the budget left."""

    completions: list[Completion] = field(default_factory=list)
    short: int = 0
    failed: int = 0


def halves(text: str) -> tuple[str, str] | None:
    """The first and the second half of a text's words (of letters where a script has no spaces); None if too short."""
    units = text.split()
    joint = " "
    if len(units) < FEWEST <= len(tokens(text, "unicode")):
        units, joint = list(text.strip()), ""
    middle = len(units) // 2
    return (joint.join(units[:middle]), joint.join(units[middle:])) if len(units) >= FEWEST else None


async def check(
    items: Sequence[Item],
    model: ChatHandle,
    prompts: PromptBook,
    *,
    seed: int = 0,
    at_once: int = 16,
    on_item: Callable[[], None] = lambda: None,
) -> Checked:
    """The completions of a model."""
    parts = {item.id: part for item in items if (part := halves(_text(item)))}
    asked = [item for item in items if item.id in parts]
    others, done = _others(asked, seed), Checked(short=len(items) - len(asked))

    async def one(item: Item) -> Completion | None:
        beginning, rest = parts[item.id]
        shown = "\n\n".join((fence("beginning", beginning), prompts.get(COMPLETE).text.strip()))
        request = ChatRequest((Message("user", shown),), max_tokens=32 + len(rest.encode("utf-8", "replace")) // 2)
        try:
            made = answer_of(await model.chat(request))
        except (ModelError, NoAnswer, OverBudget):
            return None
        finally:
            on_item()
        control = overlap(made, parts[others[item.id]][1]) if item.id in others else None
        return Completion(item.id, model.name, beginning, rest, made, overlap(made, rest), control)

    done.completions = [made for made in await concurrently(one, asked, at_once) if made is not None]
    done.failed = len(asked) - len(done.completions)
    return done


def overlap(completion: str, rest: str) -> float:
    """ROUGE-L of a completion, cut to the length of the second half, with the second half."""
    theirs = tokens(rest, "unicode")
    return rouge(longest_in_common, tokens(completion, "unicode")[: len(theirs)], theirs).f1


def _text(item: Item) -> str:
    return item.statement or item.question.replace(BLANK, item.answer or "")


def _others(items: Sequence[Item], seed: int) -> dict[str, str]:
    """For each item the next one of its form in an order drawn by chance; none where it is alone or has the same
    text."""
    found = {}
    for form in sorted({item.form for item in items}):
        order = [item for item in items if item.form == form]
        random.Random(f"{seed} {form}").shuffle(order)
        for item, other in zip(order, [*order[1:], *order[:1]], strict=True):
            if _text(item) != _text(other):
                found[item.id] = other.id
    return found
