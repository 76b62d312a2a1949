"""Baselines of choices: what would choose without reading the two answers.

    longer        the answer with more characters
    longer-words  the answer with more words; no choice in a script without spaces
    first         always a
    model         the model's answer, where a person (the system `human`) wrote the other one
    frequent      always the choice that people made most often

A metric that is not above them has not shown that it reads the content: people often prefer longer answers, and those
of models. An answer without a text has no length, and a pair without the sides that a baseline needs has no choice.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from longmark.analysis.metaeval.choice_sample import Made
from longmark.analysis.metaeval.tie_bands import with_band
from longmark.errors import NoScore
from longmark.options.analyses import BASELINES
from longmark.records.pair import HUMAN
from longmark.text.tokens import tokens

LONGER, LONGER_WORDS, FIRST, MODEL, FREQUENT = BASELINES
TITLES = {
    LONGER: "always the longer answer",
    LONGER_WORDS: "always the longer answer, words",
    FIRST: "always the first answer",
    MODEL: "always the model's answer",
    FREQUENT: "always the most frequent choice",
}
"""As the tables name them; behind the last one stands the choice."""
NEEDS = {
    LONGER: "it needs the texts of both answers, and the rows have none",
    LONGER_WORDS: "it needs the texts of both answers, in a script with spaces between words",
    FIRST: "there is no pair",
    MODEL: f"it needs pairs of an answer of the system `{HUMAN}` with one of another system",
    FREQUENT: "no pair has a human choice",
}
"""Why a baseline chooses on no pair."""


@dataclass(frozen=True, slots=True)
class PairSides:
    """What a baseline knows of a pair. characters, words: of a and of b, None if unknown; model: the side that a model
    wrote, where a person wrote the other."""

    characters: tuple[int | None, int | None] = (None, None)
    words: tuple[int | None, int | None] = (None, None)
    model: str | None = None


def baseline_of(metric: str) -> str | None:
    """The name of the baseline that a row of a table is of; None for a metric."""
    titles = {title: name for name, title in TITLES.items()}
    plain = metric.partition(" (")[0]  # behind the most frequent choice stands which one it is
    return titles.get(plain)


def baseline_choices(
    names: Sequence[str], sides: Sequence[PairSides], human: Made
) -> dict[str, list[str | None]]:
    """Title -> the choice on each pair, for the baselines that choose on at least one pair. human: people's choices."""
    choices_by_title = dict(_choices(name, sides, human) for name in names)
    return {title: choices for title, choices in choices_by_title.items() if any(choices)}


def _choices(name: str, sides: Sequence[PairSides], human: Made) -> tuple[str, list[str | None]]:
    title = TITLES[name]
    if name == LONGER:
        return title, [_greater(pair.characters) for pair in sides]
    if name == LONGER_WORDS:
        return title, [_greater(pair.words) for pair in sides]
    if name == FIRST:
        return title, ["a" for _ in sides]
    if name == MODEL:
        return title, [pair.model for pair in sides]
    counts = Counter(choice for choice in human if choice is not None)
    if not counts:
        return title, [None for _ in sides]
    # of equally frequent choices the first by name, so that the order of the pairs does not matter
    usual = min(counts, key=lambda choice: (-counts[choice], choice))
    return f"{title} ({usual})", [usual for _ in sides]


def _greater(lengths: tuple[int | None, int | None]) -> str | None:
    a, b = lengths
    return None if a is None or b is None else with_band(a, b, 0)


def word_count(text: str) -> int | None:
    """As many words as `classic.length.words` counts; None for a script without spaces."""
    try:
        return len(tokens(text, "space"))
    except NoScore:
        return None


def model_side(a_system: str | None, b_system: str | None) -> str | None:
    """The side that a model wrote, if a person wrote the other one."""
    humans = [side for side, system in (("a", a_system), ("b", b_system)) if system == HUMAN]
    if len(humans) != 1:
        return None
    return "b" if humans == ["a"] else "a"
