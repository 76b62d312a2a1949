"""Which source an id or an address names, and lists of ids beside passages in another order."""

from __future__ import annotations

from typing import Any

import pytest

from longmark.metrics.citations import CitationsParams, read_answer
from longmark.records.read import Reading
from longmark.records.source_ids import SourceIds, comparable_id


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://www.a.org/p/", "http://A.org/p"),
        ("https://a.org/p?utm_source=x&utm_medium=y", "https://a.org/p"),
        ("https://a.org/p?gclid=1&id=2&ref=x", "https://a.org/p?id=2"),
        ("https://a.org/p#:~:text=So", "https://a.org/p"),
        ("https://a.org/p/?id=2", "https://a.org/p?id=2"),
        (" doc-1 ", "doc-1"),
        ("007", "7"),
        ("٧", "7"),
    ],
)
def test_ids_that_are_written_differently_are_one(one: str, other: str) -> None:
    assert comparable_id(one) == comparable_id(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://a.org/p?source=x", "https://a.org/p?source=y"),
        ("https://a.org/p?id=1", "https://a.org/p?id=2"),
        ("https://a.org/#/one", "https://a.org/#/two"),
        ("https://a.org/p?preference=1", "https://a.org/p"),
        ("https://a.org/P", "https://a.org/p"),
        ("doc-1#2", "doc-1#3"),
    ],
)
def test_addresses_that_differ_in_what_is_read_are_different_sources(one: str, other: str) -> None:
    assert comparable_id(one) != comparable_id(other)


def test_a_fragment_names_its_page_where_no_source_has_it() -> None:
    page = SourceIds(["https://a.org/p", "https://b.org/p#one", "https://b.org/p#two", None])
    assert page.places("https://a.org/p#top") == [0]
    assert page.places("https://b.org/p#two") == [2]
    assert page.places("https://b.org/p") == [1, 2]
    assert page.places("https://b.org/p#three") == []
    assert page.places("9" * 5000) == []


A = {"id": "https://a.org", "text": "Ice floats."}
B = {"id": "https://b.org", "text": "Salt is cheap."}


@pytest.mark.parametrize(
    ("column", "listed"),
    [
        ("sources", ["https://a.org", "https://b.org"]),
        ("sources", [{"url": "https://a.org"}, {"url": "https://b.org"}]),
        (
            "sources",
            [{"id": "https://a.org", "title": "A"}, {"id": "https://b.org/", "title": "B"}],
        ),
        ("citations", ["https://a.org", "https://b.org"]),
        ("references", ["https://a.org", "https://b.org"]),
        ("sources", '["https://a.org", "https://b.org"]'),
    ],
)
def test_markers_number_the_list_of_ids_and_texts_go_by_id(column: str, listed: Any) -> None:
    record = {"question": "?", "answer": "Salt is cheap [2].", "contexts": [B, A], column: listed}
    (example,) = Reading([record]).singles()
    (citation,) = read_answer(example, CitationsParams()).citations
    assert citation.source_id is not None
    assert citation.source_id.startswith("https://b.org")
    assert citation.status == "text"
    assert column not in example.meta
    assert example.references == ()


@pytest.mark.parametrize(
    "listed", [["report.pdf", "b.pdf"], ["https://c.org"], "web", [1, 2], [], {"a": 1}]
)
def test_a_list_of_other_ids_is_kept_beside_and_numbers_name_passages(listed: Any) -> None:
    record = {"question": "?", "answer": "Ice floats [2].", "contexts": [B, A], "sources": listed}
    (example,) = Reading([record]).singles()
    assert example.sources is None
    assert example.meta.get("sources", listed) == listed
    (citation,) = read_answer(example, CitationsParams()).citations
    assert citation.source_id == "https://a.org"


def test_a_number_beyond_the_list_of_documents_is_the_place_of_a_passage() -> None:
    passages = [A, {**A, "text": "Ice is light."}, B]
    record = {"question": "?", "answer": "Salt is cheap [3].", "contexts": passages}
    record["sources"] = ["https://a.org", "https://b.org"]
    (example,) = Reading([record]).singles()
    (citation,) = read_answer(example, CitationsParams()).citations
    assert citation.source_id == "https://b.org"


@pytest.mark.parametrize("source_id", ["1234567", "2019", "00012345"])
def test_an_id_of_four_digits_or_more_is_a_marker(source_id: str) -> None:
    record = {
        "question": "?",
        "answer": f"Salt is cheap [{source_id}]. It was so [1999].",
        "contexts": [{"id": "9", "text": "Ice."}, {"id": source_id, "text": "Salt is cheap."}],
    }
    (example,) = Reading([record]).singles()
    first, second = read_answer(example, CitationsParams()).sentences
    assert [citation.places for citation in first.citations] == [(1,)]
    assert second.citations == ()
    assert second.text == "It was so [1999]."
