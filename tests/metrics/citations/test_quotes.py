"""Quotations of an answer: what is one, in quotation marks and in Markdown's block quotes."""

from __future__ import annotations

import pytest

from longmark.metrics.citations._quotes import quoted
from longmark.records import Context, Example
from longmark.testing import score_sync

SAID = "the rain in Rome is warm"


@pytest.mark.parametrize(
    ("answer", "quotations"),
    [
        (f"They say:\n\n> {SAID}\n\nIt is.", [SAID]),
        (f"> {SAID}", [SAID]),
        (f"   >{SAID}", [SAID]),
        ("> the rain in Rome\n> is warm\n", [SAID]),
        ("> the rain in Rome\n>\n> is warm\r\n", [SAID]),
        (f">> {SAID}", [SAID]),
        (f"> {SAID}\n> — a traveller of Rome, 1820", [SAID]),
        (f"> {SAID}\n\n> snow is rare in Rome", [SAID, "snow is rare in Rome"]),
        (f"> “{SAID}”", [f"“{SAID}”"]),
        (f"> He said “{SAID}” there", [f"He said “{SAID}” there"]),
        (f"“{SAID}”\n\n> snow is rare in Rome", [SAID, "snow is rare in Rome"]),
        ("> too short", []),
        (f"> [!NOTE]\n> {SAID}", []),
        (f"> **Note:** {SAID}", []),
        (f"> **Note**: {SAID}", []),
        (f"```\n> {SAID}\n```", []),
        (f"    > {SAID}", []),
        ("It is 5 > 3 and the rain is warm.", []),
        (">\n>\n", []),
        ("", []),
    ],
)
def test_a_block_quote_is_a_quotation_and_a_call_out_or_code_is_none(
    answer: str, quotations: list[str]
) -> None:
    assert quoted(answer) == quotations


def test_a_block_quote_is_found_in_its_source_without_its_marker() -> None:
    example = Example(
        question="?",
        answer=f"They say [1]:\n\n> {SAID} [1]\n\nBut:\n\n> the snow in Rome is cold [1]",
        contexts=(Context(text=f"We know that {SAID}."),),
    )
    quotes = score_sync("citations.quotes", example)["citations.quotes"]
    assert quotes.value == 0.5
    starts = {quote["text"]: quote["start"] for quote in quotes.evidence["quotes"]}
    assert starts == {SAID: 13, "the snow in Rome is cold": None}
