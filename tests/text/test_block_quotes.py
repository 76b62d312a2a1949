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


def _names(answer: str) -> list[tuple[str, tuple[str, ...]]]:
    return [(sentence.text, sentence.names) for sentence in cited_text(answer).sentences]


@pytest.mark.parametrize(
    "introduction", ["He says [1]:", "It rained [2]. He says: [1]", "他说[1]："]
)
def test_the_citation_of_the_sentence_before_a_block_quote_is_of_its_sentences_too(
    introduction: str,
) -> None:
    answer = f"{introduction}\n\n> The dam broke. It was\n> of clay.\n\nIt snowed."
    assert _names(answer)[-3:] == [
        ("The dam broke.", ("1",)),
        ("It was of clay.", ("1",)),
        ("It snowed.", ()),
    ]


@pytest.mark.parametrize("introduction", ["It rained [1].", "He says [1]:\n\nThis.", ""])
def test_a_block_quote_that_no_sentence_introduces_takes_no_citation(introduction: str) -> None:
    assert ("The dam broke.", ()) in _names(f"{introduction}\n\n> The dam broke.")


def test_a_block_quote_with_a_citation_of_its_own_takes_none_of_its_introduction() -> None:
    answer = "He says [1]:\n\n> The dam broke [2]. It was of clay."
    assert _names(answer) == [
        ("He says:", ("1",)),
        ("The dam broke.", ("2",)),
        ("It was of clay.", ()),
    ]


def test_the_citation_behind_a_name_is_of_all_sentences_of_the_quotation() -> None:
    answer = "He says [1]:\n> The dam broke. It was of clay.\n> — Report [2]"
    assert _names(answer) == [
        ("He says:", ("1",)),
        ("The dam broke.", ("2",)),
        ("It was of clay.", ("2",)),
    ]


@pytest.mark.parametrize(
    "answer",
    ["It says [1]:\n\n> It rains.\n\n" * 2_000, "It says [1]:\n\n" + "> It rains.\n" * 8_000],
)
def test_many_block_quotes_and_a_long_one_keep_all_citations(answer: str) -> None:
    names = [names for text, names in _names(answer) if text == "It rains."]
    assert len(names) == answer.count("rains")
    assert set(names) == {("1",)}
