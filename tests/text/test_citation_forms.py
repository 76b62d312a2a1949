"""Forms of markers, what only looks like one, and what of an answer is no sentence."""

from __future__ import annotations

from unicodedata import normalize

import pytest

from longmark.text.citation_forms import markers
from longmark.text.citations import cited_text, unread_marks, without_markers

IDS = frozenset({"doc_a", "doc_b", "salt.pdf", "12345"})


def cited(answer: str, **options: object) -> list[tuple[str, tuple[str, ...]]]:
    sentences = cited_text(answer, **options).sentences  # type: ignore[arg-type]
    return [(sentence.text, sentence.names) for sentence in sentences]


@pytest.mark.parametrize(
    ("marker", "names"),
    [
        ("[ 2 ]", ["2"]),
        ("[2.]", ["2"]),
        ("[2,3,]", ["2", "3"]),
        ("[1 – 3]", ["1", "2", "3"]),
        ("[cf. 2]", ["2"]),
        ("[e.g., 2]", ["2"]),
        ("[see also 2, 3]", ["2", "3"]),
        ("[vgl. 2]", ["2"]),
        ("[2, Table 1]", ["2"]),
        ("[2, p 1; 3, p 2]", ["2", "3"]),
        ("[2, S. 5]", ["2"]),
        ("[2, § 3 ff.]", ["2"]),
        ("[1, 2, etc.]", ["1", "2"]),
        ("[doc_b, 1]", ["doc_b"]),
        ("[salt.pdf, p. 3]", ["salt.pdf"]),
        ("[doc_a and doc_b]", ["doc_a", "doc_b"]),
        ("[12345]", ["12345"]),
        ("[Quelle 1]", ["1"]),
        ("(Quelle 1)", ["1"]),
        ("[Fuente 2]", ["2"]),
        ("[Source : 2]", ["2"]),
        ("[источник 2]", ["2"]),
        ("[المصدر 1]", ["1"]),
        ("[来源5]", ["5"]),
        ("【来源5】", ["5"]),
        ("（来源：5）", ["5"]),
        ("[出典1]", ["1"]),
        ("[출처 3]", ["3"]),
        ("[1 en 2]", ["1", "2"]),
        ("[bronnen 1 en 3]", ["1", "3"]),
        ("[źródła 1 i 3]", ["1", "3"]),
        ("[1 ve 3]", ["1", "3"]),
        ("[Källa 1]", ["1"]),
        ("[1 och 2]", ["1", "2"]),
        ("[المصادر 2 و3]", ["2", "3"]),
        ("[المصدر ٢]", ["2"]),
        ("[מקור 2]", ["2"]),
        ("[参考文献1]", ["1"]),
        ("[1と2]", ["1", "2"]),
        ("[Nguồn 2]", ["2"]),
        (normalize("NFD", "[출처 3]"), ["3"]),
        (normalize("NFD", "(Référence 2)"), ["2"]),
        (normalize("NFD", "[źródło 2]"), ["2"]),
        ("[\u200e2\u200e]", ["2"]),
    ],
)
def test_each_form_names_its_sources(marker: str, names: list[str]) -> None:
    found = markers(f"Rome is old {marker}.", ids=IDS)
    assert [name for one in found for name in one.names] == names
    assert "".join(one.text for one in found) == marker
    assert without_markers(f"Rome is old {marker}.", IDS) == "Rome is old."


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("Salt melts ice<sup>2</sup>.", [("Salt melts ice<sup>2</sup>.", ())]),
        ("Salt lowers it in water<sup>2</sup>.", [("Salt lowers it in water.", ("2",))]),
        (
            "Salt melts <sup>1</sup>. Ice floats. <sup>2</sup> Water is cold <sup>3</sup><sup>4</sup>.",
            [
                ("Salt melts.", ("1",)),
                ("Ice floats.", ("2",)),
                ("Water is cold.", ("3", "4")),
            ],
        ),
        (
            "It is 9 m<sup>2</sup><sup>5</sup>, or 3 metres <sup>2</sup>, of water <sup>6</sup>, <sup>7</sup>.",
            [
                (
                    "It is 9 m²⁵, or 3 metres ², of water.",
                    ("6", "7"),
                )
            ],
        ),
        ("It is in the water².", [("It is in the water.", ("2",))]),
        ("It is 5 meters² and 3 km².", [("It is 5 meters² and 3 km².", ())]),
        ("盐降低冰点①。冰浮②。", [("盐降低冰点。", ("1",)), ("冰浮。", ("2",))]),
        ("包括：①盐；②冰。", [("包括：①盐；②冰。", ())]),
    ],
)
def test_a_raised_or_circled_number_is_a_marker_behind_a_word_alone(
    text: str, sentences: list[tuple[str, tuple[str, ...]]]
) -> None:
    expected = [(words.replace("ice<sup>2</sup>", "ice²"), names) for words, names in sentences]
    assert cited(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Pain was rated on a scale [1, 2].",
        "The value lies in the range [0, 5].",
        "Values in [0, 1] are allowed.",
        "It holds for x ∈ [1, 2].",
        "The interval [1, 2] is closed.",
        "It is 3 (95% CI [1, 4]).",
        "They are normalised to [1, 5] and lie between [1, 2] and [3, 4].",
        "A picture ![fig [1]](https://a.org/p.png) <img src='a.png' alt='[2]'> is none.",
    ],
)
def test_intervals_and_pictures_are_no_citations(text: str) -> None:
    assert markers(text) == []


@pytest.mark.parametrize(
    "text",
    [
        "Salt is applied on a large scale [1, 2].",
        "It has a wide range [1, 2].",
        "It rains [1, 2].",
        "It snows [0, 1] and hails [0].",
        "They differ on a scale [2, 1].",
    ],
)
def test_two_numbers_behind_a_claim_are_citations(text: str) -> None:
    assert markers(text)[0].names in (("1", "2"), ("0", "1"), ("2", "1"))


@pytest.mark.parametrize(
    ("text", "marks"),
    [
        ("So [2/3], [Step 2] and [2a].", ["[2/3]", "[Step 2]", "[2a]"]),
        ("So [Smith et al., 2020] and (Lee and Wu, 2019).", ["[Smith et al., 2020]", "(Lee and Wu, 2019)"]),
        ("So [doc_c], unlike [sic] or [self made].", ["[doc_c]"]),
        ("So [1], in [1998], `x[2a]`, on a scale [1, 2], [x](https://a.org/2).", []),
        ("So [S7] of [S1].", ["[S7]"]),
        ("Salt melts ice [0, 1], in the range [0, 1].", ["[0, 1]"]),
    ],
)  # fmt: skip
def test_what_may_cite_in_another_form_is_named(text: str, marks: list[str]) -> None:
    assert unread_marks(text, ids={"doc_a", "S1"}) == marks


def test_a_link_to_an_id_names_it_and_an_id_before_a_colon_is_no_definition() -> None:
    ids = frozenset({"salt.pdf", "doc_b"})
    assert cited("It melts [salt](salt.pdf). So [2](salt.pdf).", ids=ids) == [
        ("It melts salt.", ("salt.pdf",)),
        ("So.", ("salt.pdf",)),
    ]
    assert cited("It melts [doc_b]: so it is. See [doc_b](page 3).", ids=ids) == [
        ("It melts: so it is.", ("doc_b",)),
        ("See(page 3).", ("doc_b",)),
    ]
    assert cited("It melts [2](/docs/salt.html).") == [("It melts.", ("2",))]


@pytest.mark.parametrize(
    ("answer", "sentences"),
    [
        ("[1] It rains. [2] It snows.", [("It rains.", ("1",)), ("It snows.", ("2",))]),
        ("- [1] It rains.\n- [2] It snows.", [("It rains.", ("1",)), ("It snows.", ("2",))]),
        ("It is dry.\n\n[1][2] It rains.", [("It is dry.", ()), ("It rains.", ("1", "2"))]),
        ("[1] says that it rains [2]. It snows [3].", [("says that it rains.", ("1", "2")), ("It snows.", ("3",))]),
    ],
)  # fmt: skip
def test_markers_before_their_sentences_belong_to_these(answer: str, sentences: object) -> None:
    assert cited(answer) == sentences


def test_a_marker_in_a_heading_or_the_head_of_a_table_belongs_to_the_next_sentence() -> None:
    assert cited("## Rain [1]\n\nIt rains [2]. It snows.") == [
        ("It rains.", ("1", "2")),
        ("It snows.", ()),
    ]
    assert cited("| place | rain [1] |\n|---|---|\n| Rome | 3 mm |") == [("Rome, 3 mm", ("1",))]
    assert cited("It rains.\n\n## End [1]") == [("It rains.", ("1",))]
    assert cited("**It rains in Rome [1].**\nYes.") == [("It rains in Rome.", ("1",)), ("Yes.", ())]


LISTED = "[1] A https://a.org\n[2] B https://b.org"


@pytest.mark.parametrize(
    ("answer", "sentences"),
    [
        (f"It rains [1].\n\n## References\n{LISTED}\n\nIt snows.", ["It rains.", "It snows."]),
        (f"It rains [1].\n\n{LISTED}\n\nIt snows.", ["It rains.", "It snows."]),
        ("## Sources\nIt rains [1]. See https://b.org for more.", ["It rains.", "See for more."]),
        ("## Sources\n- It rains [1].\n- It snows [2].", ["It rains.", "It snows."]),
        (
            "## Sources\n1. The White Nile.\n2. The Blue Nile.",
            ["The White Nile.", "The Blue Nile."],
        ),
        ("It rains [1].\n\nSources:\n1. The Atlas.\n2. A map.", ["It rains."]),
        ("It rains.\n\nReferences\n- Lee, A map. https://a.org\n- Wu.", ["It rains."]),
    ],
)
def test_a_list_of_sources_ends_with_its_entries(answer: str, sentences: list[str]) -> None:
    assert [text for text, _ in cited(answer)] == sentences


def test_an_entry_and_a_footnote_go_on_in_their_next_lines() -> None:
    listed = cited_text("It rains [1].\n\nReferences:\n1. B\nhttps://b.org\n2. A\nhttps://a.org")
    assert listed.definitions == {"1": "B https://b.org", "2": "A https://a.org"}
    noted = cited_text("It rains [^1].\n\n[^1]: A book\n\n    that is long.\n\nIt snows.")
    assert [sentence.text for sentence in noted.sentences] == ["It rains.", "It snows."]
    assert noted.definitions == {"1": "A book that is long."}


def test_a_hundred_thousand_brackets_that_close_nothing_take_no_time() -> None:
    assert markers("[ 1 " * 50_000 + "(来源" * 50_000 + "![[" * 20_000) == []
    assert len(unread_marks("So [2a]. " * 20_000)) == 20_000


@pytest.mark.parametrize(
    ("answer", "names"),
    [
        ("He calls it “[a]nother flood” [b].", [("b",)]),
        ("“[A]nother flood came” [b].", [("b",)]),
        ("[a]nother flood came.", []),
        ("It rained [a] and froze [b].", [("a",), ("b",)]),
        ("It rained[a] and froze[b].", [("a",), ("b",)]),
        ("[a] It rained.", [("a",)]),
        ("[a]Rain falls.\n[b]Snow falls.", [("a",), ("b",)]),
        ("Rain falls.[a]Snow falls.[b]", [("a",), ("b",)]),
        ("下雨了[a]然后结冰[b]。", [("a",), ("b",)]),
        ("下雨了。[a]然后结冰。", [("a",)]),
        ("[ab]normal [b].", [("ab",), ("b",)]),
    ],
)
def test_the_first_letter_of_a_quoted_word_in_brackets_is_no_source(
    answer: str, names: list[tuple[str, ...]]
) -> None:
    ids = frozenset({"a", "b", "A", "ab"})
    assert [marker.names for marker in markers(answer, ids)] == names


def test_an_id_that_has_brackets_is_read_in_brackets() -> None:
    ids = frozenset({"x[1].pdf", "y[2]", "1"})
    answer = "It rained [x[1].pdf]. It snowed [y[2]] and froze [1]."
    assert cited(answer, ids=ids) == [
        ("It rained.", ("x[1].pdf",)),
        ("It snowed and froze.", ("y[2]", "1")),
    ]
