"""What the files of evaluation platforms in examples/exports hold, by hand (`tests.exports` reads them)."""

from __future__ import annotations

from tests.export import Export

CAPITAL = "What is the capital of Italy?"
RIVER = "Which river flows through Rome?"

PROMPTFOO = "promptfoo 0.123.1"
_PLAIN = ("Rome", "Milan", None, "Tevere")  # an answer for each test: two questions, two times
_WORDY = ("It is Rome.", "It is Rome.", "", None)


def _of_promptfoo(passages: int, references: tuple[str, ...]) -> tuple[tuple[object, ...], ...]:
    """passages, references: of the capital."""
    systems = ("plain / short", "plain / long", "wordy / short", "wordy / long")
    return tuple(
        (
            f"{test}-{column}",
            system,
            CAPITAL if test < 2 else RIVER,
            (_PLAIN if column < 2 else _WORDY)[test],
            passages if test < 2 else 0,
            references if test < 2 else ("Tiber",),
        )
        for test in range(4)
        for column, system in enumerate(systems)
    )


EXPORTS = (
    Export(
        PROMPTFOO,
        "promptfoo/results.json",
        "two providers, two prompts, two questions, two times; no output, an empty one, an object, a failed call",
        _of_promptfoo(2, ("Rome",)),
        "20 scores of assertions",
    ),
    Export(
        PROMPTFOO,
        "promptfoo/results.jsonl",
        "the same, a result a line",
        _of_promptfoo(2, ("Rome",)),
        "20 scores of assertions",
    ),
    Export(
        PROMPTFOO,
        "promptfoo/results.csv",
        "the same as a table, without assertions' values; two passages are one text with a comma between",
        _of_promptfoo(1, ()),
        "16 scores of answers",
    ),
)
