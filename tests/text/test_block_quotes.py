"""The lines of block quotes that name who is quoted."""

from __future__ import annotations

import pytest

from longmark.text.block_quotes import attribution_of
from longmark.text.citations import cited_text


@pytest.mark.parametrize(
    ("lines", "place"),
    [
        (["The dam broke.", "— The Report"], 1),
        (["The dam broke.", "", "-- The Report", "page 3"], 2),
        (["The dam broke.", "- The Report"], 1),
        (["The dam broke.", "- of clay", "and of sand"], None),
        (["- of clay", "- of sand"], None),
        (["They ask:", "— Where?", "— There."], None),
        (["— Where is the dam?", "There."], None),
        (["The dam -- of clay -- broke."], None),
        ([], None),
    ],
)
def test_the_line_behind_a_quotation_that_a_dash_begins_names_who_is_quoted(
    lines: list[str], place: int | None
) -> None:
    assert attribution_of(lines) == place


@pytest.mark.parametrize("dash", ["—", "–", "--", "-"])
def test_a_citation_behind_the_name_of_who_is_quoted_is_of_the_quotation(dash: str) -> None:
    answer = (
        f"> The dam broke in 1920.\n> {dash} [The Report](https://a.org/dam) [2]\n\nIt rained [3]."
    )
    assert [(sentence.text, sentence.names) for sentence in cited_text(answer).sentences] == [
        ("The dam broke in 1920.", ("https://a.org/dam", "2")),
        ("It rained.", ("3",)),
    ]


def test_a_dialogue_in_a_block_quote_keeps_its_sentences() -> None:
    answer = "> — Where is the dam?\n> — It stands in Alba [1]."
    assert [sentence.names for sentence in cited_text(answer).sentences] == [(), ("1",)]
