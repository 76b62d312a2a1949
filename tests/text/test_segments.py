"""Points, intro and closing part of answers as models write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.text.segments import content, join, points, reorder, split, without

NUMBERED = """\
As a planner in Bergen, you should look at three things:

1. Raise the substations.
   - above the flood of record
   - with room to spare
2. Move the spare parts inland.
3. Train the crews.

Confidence score: 85%. The passages agree.
"""
BULLETED = "Two ways:\n- First way.\n- Second way,\n  over two lines.\n"
PARAGRAPHS = "Rivers rise.\nThey rise fast.\n\n## Then\n\nThey fall.\n\nConfidence Score (in percentage): 70"


def kinds(text: str) -> list[tuple[str, str]]:
    return [(segment.kind, segment.text) for segment in split(text)]


def test_a_numbered_answer() -> None:
    assert kinds(NUMBERED) == [
        ("intro", "As a planner in Bergen, you should look at three things:"),
        ("point", "1. Raise the substations.\n   - above the flood of record\n   - with room to spare"),
        ("point", "2. Move the spare parts inland."),
        ("point", "3. Train the crews."),
        ("closing", "Confidence score: 85%. The passages agree."),
    ]


def test_a_bulleted_answer_and_paragraphs() -> None:
    assert kinds(BULLETED) == [
        ("intro", "Two ways:"),
        ("point", "- First way."),
        ("point", "- Second way,\n  over two lines."),
    ]
    assert kinds(PARAGRAPHS) == [
        ("point", "Rivers rise.\nThey rise fast."),
        ("point", "## Then\n\nThey fall."),
        ("closing", "Confidence Score (in percentage): 70"),
    ]
    assert kinds("Three ways follow:\n\nOne.\n\nTwo.") == [
        ("intro", "Three ways follow:"),
        ("point", "One."),
        ("point", "Two."),
    ]


@pytest.mark.parametrize(
    "closing",
    [
        "4. Confidence Score: 85% - good evidence.",
        "**Confidence score:** 85%",
        "Overall confidence level: 85 %\n\nThe passages agree.",
        "Confidence: 85%\n- two passages agree\n- one is old",
        "### Confidence score\n\nConfidence: 85%",
    ],
)
def test_statements_of_confidence(closing: str) -> None:
    text = f"1. One.\n2. Two.\n3. Three.\n\n{closing}"
    assert kinds(text)[-1] == ("closing", closing)
    assert len(points(split(text))) == 3


@pytest.mark.parametrize(
    "last", ["Confidence intervals are wide.", "Confidence in dams has fallen.", "In confidence: no."]
)
def test_other_uses_of_the_word_are_points(last: str) -> None:
    assert kinds(f"One.\n\n{last}")[-1] == ("point", last)


def test_an_answer_that_is_only_a_statement_of_confidence_is_one_point() -> None:
    assert kinds("Confidence score: 85%") == [("point", "Confidence score: 85%")]


def test_what_follows_the_last_item_is_the_closing_part_unless_items_have_paragraphs() -> None:
    assert kinds("1. One.\n2. Two.\n\nIn short, both.")[-1] == ("closing", "In short, both.")
    loose = "1. **One**\n\nText of one.\n\n2. **Two**\n\nText of two."
    assert [kind for kind, _ in kinds(loose)] == ["point", "point"]
    assert kinds(f"{loose}\n\nIn short, both.")[-1] == ("closing", "In short, both.")
    assert [kind for kind, _ in kinds("1. One.\n2. Two.\n\n   More of two.")] == ["point", "point"]


def test_bullets_below_numbers_belong_to_them_and_code_is_no_list() -> None:
    assert len(points(split("1. One\n- a\n- b\n2. Two\n- c"))) == 2
    assert len(points(split("Run:\n```\n- not a point\n- nor this\n```\nDone."))) == 1


@pytest.mark.parametrize("text", ["One sentence.", "   ", "\n\n", "1. Only one item.", "第一点。第二点。"])
def test_one_segment(text: str) -> None:
    assert [segment.kind for segment in split(text)] == ["point"]


def test_nothing() -> None:
    assert split("") == ()


def test_without_a_point_the_rest_stays_as_it_is() -> None:
    segments = split(NUMBERED)
    assert without(segments, 1).splitlines()[2:] == [
        "1. Raise the substations.",
        "   - above the flood of record",
        "   - with room to spare",
        "3. Train the crews.",
    ]
    assert "Confidence" not in content(segments)
    assert without(split("Only."), 0) == ""


def test_in_another_order_the_list_still_counts_from_one_and_ends_as_it_did() -> None:
    moved = reorder(split(NUMBERED), [2, 0, 1])
    assert moved == NUMBERED.replace(
        "1. Raise the substations.\n   - above the flood of record\n   - with room to spare\n"
        "2. Move the spare parts inland.\n3. Train the crews.",
        "1. Train the crews.\n2. Raise the substations.\n   - above the flood of record\n   - with room to spare\n"
        "3. Move the spare parts inland.",
    )
    # the last point had no line break after it; the one that is last now has none either
    assert reorder(split("- a\n- b"), [1, 0]) == "- b\n- a"
    with pytest.raises(ValueError, match="each number from 0 to 1 once"):
        reorder(split("- a\n- b"), [0, 0])


PARTS = st.sampled_from(
    [
        "1. One",
        "2) two",
        "- item",
        "* * *",
        "  - sub",
        "Text.",
        "Leads:",
        "## Head",
        "**Bold**",
        "```",
        "",
        " ",
        "\t",
        "Confidence: 80%",
        "4. Confidence score is high",
        "\r",
        "\u2028",
        "結論。",
        "1.",
        "**2.** x",
        "•\ty",
    ]
)
TEXTS = st.one_of(st.text(), st.lists(PARTS).map("\n".join), st.lists(PARTS).map("\r\n".join))


@given(TEXTS)
def test_nothing_is_lost(text: str) -> None:
    segments = split(text)
    assert join(segments) == text
    order = [segment.kind for segment in segments]
    assert order == sorted(order, key=["intro", "point", "closing"].index)
    assert order.count("intro") <= 1
    assert order.count("closing") <= 1
    assert bool(points(segments)) == bool(text)
    assert reorder(segments, range(len(points(segments)))) == text


@given(TEXTS, st.randoms())
def test_every_order_keeps_every_point(text: str, random: object) -> None:
    segments = split(text)
    order = list(range(len(points(segments))))
    random.shuffle(order)  # type: ignore[attr-defined]
    moved = reorder(segments, order)
    assert sorted(moved) == sorted(text) or any(segment.numbered for segment in segments)
    assert all(segment.body in moved for segment in segments)
