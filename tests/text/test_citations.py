"""Markers of citations, what they name, and the sentences that they stand for."""

from __future__ import annotations

import pytest

from longmark.text import citation_lists
from longmark.text.citation_forms import markers
from longmark.text.citations import cited_text, without_markers


def cited(answer: str, **options: object) -> list[tuple[str, tuple[str, ...]]]:
    return [
        (sentence.text, sentence.names)
        for sentence in cited_text(answer, **options).sentences  # type: ignore[arg-type]
    ]


@pytest.mark.parametrize(
    ("marker", "names"),
    [
        ("[1]", ["1"]),
        ("[1, 3]", ["1", "3"]),
        ("[1-3]", ["1", "2", "3"]),
        ("[1–3; 7]", ["1", "2", "3", "7"]),
        ("[3-1]", ["3", "1"]),
        ("[^2]", ["2"]),
        ("[^note]", ["^note"]),
        ("[[4]]", ["4"]),
        ("[Doc 2]", ["2"]),
        ("[Doc 1, Doc 2]", ["1", "2"]),
        ("[Source 3]", ["3"]),
        ("[citation:5]", ["5"]),
        ("【1†source】", ["1"]),
        ("【4:0†report.pdf】", ["4:0"]),
        ("［2］", ["2"]),
        ("[١]", ["1"]),
        ("[1][2]", ["1", "2"]),
        ("[1]-[3]", ["1", "2", "3"]),
        ("[1]–[3]", ["1", "2", "3"]),
        ("[^1^]", ["1"]),
        ("[1](#source-7)", ["1"]),
        ("[[2]](#cite_note-2)", ["2"]),
        ('<a href="https://a.org/x">[1]</a>', ["https://a.org/x"]),
        ("[@doc_a; @doc-b]", ["doc_a", "doc-b"]),
        ("[1 and 2]", ["1", "2"]),
        ("[1, 2, and 4]", ["1", "2", "4"]),
        ("[1 & 2]", ["1", "2"]),
        ("[1，2]", ["1", "2"]),
        ("［1、2；5～7］", ["1", "2", "5", "6", "7"]),
        ("〔6〕", ["6"]),
        ("[٢، ٣]", ["2", "3"]),
        ("[۱]", ["1"]),
        (r"\[1\]", ["1"]),
        (r"\[1, 2\]", ["1", "2"]),
        ("[1, p. 5]", ["1"]),
        ("[1, pp. 5-7, 3]", ["1", "3"]),
        ("[1: 23]", ["1"]),
        ("[2: 23-25, 3]", ["2", "3"]),
        ("[S7, S8]", ["7", "8"]),
        ("[#6]", ["6"]),
        ("[see 1]", ["1"]),
        ("[cite: 1, 2]", ["1", "2"]),
        ("[Sources 1 and 2]", ["1", "2"]),
        ("[Chunk 4]", ["4"]),
        ("(Source 1)", ["1"]),
        ("(Docs 1, 2)", ["1", "2"]),
        ("[source: doc_a]", ["doc_a"]),
        ("<sup>[1, 2]</sup>", ["1", "2"]),
        ("[Nature](https://nature.com/a_(b))", ["https://nature.com/a_(b)"]),
        ("[a](https://a.org 'A title')", ["https://a.org"]),
        ("<https://a.org/x>", ["https://a.org/x"]),
        ("https://a.org/x", ["https://a.org/x"]),
        ("[doc_a]", ["doc_a"]),
        ("[doc_a; doc-b]", ["doc_a", "doc-b"]),
    ],
)
def test_each_form_of_a_marker_names_its_sources(marker: str, names: list[str]) -> None:
    found = markers(f"Rome is old {marker}.", ids={"doc_a", "doc-b"})
    assert [name for one in found for name in one.names] == names
    assert "".join(one.text for one in found) == marker


@pytest.mark.parametrize(
    "text",
    [
        "`a[1]` is code",
        "```\na[1]\n```",
        "~~~\na [1]\n",
        "in [1998] it fell",
        r"the sum \[a[1] = 1\] holds, and \(b[2]\), $c[3]$ and $$\nd[4]\n$$",
        "x[1] and m[2][3] and row_sums[4] are places",
        "set list[10] = 5, then list[2] += 1",
        "in the interval [0, 1], and on a scale from [1, 5]",
        "the area of r², of 3.² and of m<sup>2</sup>",
        "![a picture](https://a.org/p.png)",
        "(1) is no marker",
        "[sic] and [x]",
        "[doc_c]",
    ],
)
def test_code_years_pictures_and_other_brackets_are_no_markers(text: str) -> None:
    assert markers(text, ids={"doc_a"}) == []


def test_a_time_is_no_marker_and_a_numbered_id_no_place() -> None:
    assert markers("It began at [1:23].") == []
    assert markers("It rains [S7].", ids={"S1", "S2"}) == []
    assert [marker.names for marker in markers("It rains [S2].", ids={"S1", "S2"})] == [("S2",)]


def test_parentheses_are_markers_by_option() -> None:
    assert cited("It rains (1). It snows (2, 3).", parentheses=True) == [
        ("It rains.", ("1",)),
        ("It snows.", ("2", "3")),
    ]
    assert cited("It rains (1).") == [("It rains (1).", ())]


@pytest.mark.parametrize(
    "answer",
    [
        "It rains [1]. It snows.",
        "It rains. [1] It snows.",
        "It rains.[1] It snows.",
        "It rains.\n[1]\n\nIt snows.",
        "It [1] rains. It snows.",
        "- It rains. [1]\n- It snows.",
    ],
)
def test_a_marker_before_or_behind_the_full_stop_belongs_to_the_sentence_before(
    answer: str,
) -> None:
    assert cited(answer) == [("It rains.", ("1",)), ("It snows.", ())]


def test_prices_and_glued_markers_are_no_formulas_and_arrays() -> None:
    assert cited('It cost $5 million [1] and US$ 6[2]. Plan B[3] follows. Is it "A"[4]? Yes.') == [
        ("It cost $5 million and US$ 6.", ("1", "2")),
        ("Plan B follows.", ("3",)),
        ('Is it "A"?', ("4",)),
        ("Yes.", ()),
    ]


def test_numbers_raised_behind_the_full_stop_are_markers() -> None:
    assert cited("It rains.¹ It snows,²˒³ and hails.<sup>4, 5</sup> It is 5 m².") == [
        ("It rains.", ("1",)),
        ("It snows, and hails.", ("2", "3", "4", "5")),
        ("It is 5 m².", ()),
    ]


def test_a_marker_behind_a_full_stop_without_a_space_belongs_to_the_sentence_before() -> None:
    assert cited("冰浮在水上。[1]盐融化［2，3］。[4]") == [
        ("冰浮在水上。", ("1",)),
        ("盐融化。", ("2", "3", "4")),
    ]
    assert cited("It rains.[1]It snows.[2]") == [("It rains.", ("1",)), ("It snows.", ("2",))]


def test_words_that_only_join_or_announce_markers_are_no_words_of_the_answer() -> None:
    assert cited("It rains [1] and [2]. (See [3], and [4].) It snows (e.g., [5]).") == [
        ("It rains.", ("1", "2", "3", "4")),
        ("It snows.", ("5",)),
    ]
    assert without_markers("It rains [1] and [2]. It snows.") == "It rains. It snows."


def test_a_column_of_sources_leaves_the_words_of_the_others() -> None:
    answer = "| fact | source |\n|---|---|\n| It rains | [1] |\n| [2] | It snows |"
    assert cited(answer) == [("It rains", ("1",)), ("It snows", ("2",))]


def test_a_sentence_needs_a_source_unless_it_asks_introduces_or_declines() -> None:
    text = cited_text("Does it rain? These are the facts:\n- It rains.\n\nI cannot answer this.")
    needing = [sentence.text for sentence in text.sentences if sentence.needs_source]
    assert needing == ["It rains."]


def test_several_markers_are_each_named_once() -> None:
    assert cited("It rains [1], [2]. [1][3] It snows [2] and hails [3, 2].") == [
        ("It rains.", ("1", "2", "3")),
        ("It snows and hails.", ("2", "3")),
    ]


def test_a_marker_without_a_sentence_before_it_belongs_to_the_first() -> None:
    assert cited("[1]\nIt rains today.") == [("It rains today.", ("1",))]


def test_footnotes_and_lists_of_sources_define_and_are_no_sentences() -> None:
    text = cited_text("It rains [^a]. It snows [^2].\n\n[^a]: See https://a.org.\n[^2]: A book\n")
    assert [sentence.names for sentence in text.sentences] == [("^a",), ("2",)]
    assert text.definitions == {"a": "See https://a.org.", "2": "A book"}
    for heading in ("## References", "**Sources:**", "Sources:", "参考文献", "# Quellen #"):
        text = cited_text(f"It rains [1].\n\n{heading}\n1. A https://a.org\n2. B\n\n## More\nYes.")
        assert [sentence.text for sentence in text.sentences] == ["It rains.", "Yes."]
        assert text.definitions == {"1": "A https://a.org", "2": "B"}
    text = cited_text("It rains [1].\n\n[1] A https://a.org\n[2] B https://b.org\n")
    assert [sentence.text for sentence in text.sentences] == ["It rains."]
    assert text.definitions == {"1": "A https://a.org", "2": "B https://b.org"}


def test_a_heading_that_has_no_list_of_sources_below_is_a_heading() -> None:
    assert cited("## Sources\nThe sources of the Nile are two [1].") == [
        ("The sources of the Nile are two.", ("1",))
    ]


def test_a_line_of_sources_belongs_to_the_sentence_before_it() -> None:
    assert cited("It rains.\nSources: [1], [2]") == [("It rains.", ("1", "2"))]


def test_headings_heads_of_tables_and_code_are_no_sentences() -> None:
    answer = "# Weather\n\n| place | rain |\n|---|---|\n| Rome | 3 mm [1] |\n| Oslo | 9 mm |\n\n"
    answer += "**Snow**\n\n```\nsnow[1] = 2\n```\n"
    assert cited(answer) == [("Rome, 3 mm", ("1",)), ("Oslo, 9 mm", ())]


def test_the_words_of_a_link_stay_and_those_that_only_name_its_target_go() -> None:
    answer = "See [the study](https://a.org/x) of 1990. It rains ([nature.com](https://n.com/y))."
    assert cited(answer) == [
        ("See the study of 1990.", ("https://a.org/x",)),
        ("It rains.", ("https://n.com/y",)),
    ]


def test_scripts_from_right_to_left_and_without_spaces() -> None:
    assert cited("القاهرة عاصمة مصر [١]. وهي كبيرة [2]؟") == [
        ("القاهرة عاصمة مصر.", ("1",)),
        ("وهي كبيرة؟", ("2",)),
    ]
    assert cited("北京是首都[1]。上海很大。[2]") == [
        ("北京是首都。", ("1",)),
        ("上海很大。", ("2",)),
    ]


def test_what_needs_a_source_states_something() -> None:
    text = cited_text("What is rain? It is water. «Why?» These are the reasons:")
    assert [(sentence.text, sentence.needs_source) for sentence in text.sentences] == [
        ("What is rain?", False),
        ("It is water.", True),
        ("«Why?»", False),
        ("These are the reasons:", False),
    ]


def test_a_text_without_its_markers_keeps_its_words() -> None:
    assert without_markers("It rains [1], [2] in Rome [the city](https://r.it). `a[1]`") == (
        "It rains in Rome the city. `a[1]`"
    )
    assert without_markers("No marker ( ) here.") == "No marker ( ) here."
    assert without_markers("It rains ([1]; [2]).") == "It rains."


def test_thirty_thousand_words_with_unclosed_brackets_are_read() -> None:
    answer = "The rain in Rome falls [1] on plains. It [ ( 【 `snows` in Oslo [2, 3].\n" * 2200
    text = cited_text(answer)
    assert len(text.sentences) == 4400
    assert text.names == ["1", "2", "3"]


def test_ids_side_by_side_are_read_each() -> None:
    ids = frozenset(("doc_a", "doc_b"))
    assert cited("Salt lowers it [doc_b][doc_a].", ids=ids) == [
        ("Salt lowers it.", ("doc_b", "doc_a"))
    ]


@pytest.mark.parametrize("heading", ["Sources:", "References", "## Quellen", "参考文献"])
def test_the_heading_of_a_list_of_sources_at_the_end_is_no_sentence(heading: str) -> None:
    answer = f"Salt lowers it [1].\n\n{heading}\n\n- [1] https://a.org\n- [2] https://b.org"
    assert cited(answer) == [("Salt lowers it.", ("1",))]


@pytest.mark.parametrize("line", ["{}. Water is wet", "[{}] Water is wet", "https://water.org/{}"])
def test_each_line_of_a_list_without_sources_is_read_a_few_times(
    line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else a list of thousands of lines takes minutes: it is no list of sources from any of its lines on."""
    read: list[str] = []
    is_entry = citation_lists._is_entry

    def noting(text: str) -> bool:
        read.append(text)
        return is_entry(text)

    monkeypatch.setattr(citation_lists, "_is_entry", noting)
    lines = [line.format(number) for number in range(300)]
    body, _ = citation_lists.without_apparatus("\n".join(["Water is wet.", *lines, "It is."]))
    assert body.splitlines()[-1] == "It is."
    assert len(read) <= 5 * len(lines)
