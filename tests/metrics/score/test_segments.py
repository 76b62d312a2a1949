"""Points, intro and closing part of answers as models write them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from longmark.metrics.score._segments import (
    CONFIDENCE,
    content,
    join,
    points,
    reorder,
    split,
    without,
)

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
PARAGRAPHS = (
    "Rivers rise.\nThey rise fast.\n\n## Then\n\nThey fall.\n\nConfidence Score (in percentage): 70"
)


def kinds(text: str) -> list[tuple[str, str]]:
    return [(segment.kind, segment.text) for segment in split(text)]


def test_a_numbered_answer() -> None:
    assert kinds(NUMBERED) == [
        ("intro", "As a planner in Bergen, you should look at three things:"),
        (
            "point",
            "1. Raise the substations.\n   - above the flood of record\n   - with room to spare",
        ),
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
    "last",
    ["Confidence intervals are wide.", "Confidence in dams has fallen.", "In confidence: no."],
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


@pytest.mark.parametrize(
    "text",
    [
        "１．電線を守る。\n２．電柱を守る。",
        "1.電線を守る。\n2.電柱を守る。",
        "1)電線\n2)電柱",
        "1、加固变电站\n2、2019年的备件",  # the second number has a digit after it: no item
        "1、加固变电站\n2、转移备件\n3、4号",
        "（1）电线\n（2）电线杆",
        "一、电线\n二、电线杆",
        "①電線\n② 電柱",
        "⑴ Wires\n⑵ Poles",
        "・電線\n・電柱",
        "　・電線\n　・電柱",
        "•Wires\n•Poles",
        "a) Wires\nb) Poles",
        "(a) Wires\n(b) Poles",
        "A. Wires\nB. Poles",
        "1.전선\n2.전주",
        "١. الأسلاك\n٢. الأعمدة",
        "**1.**電線\n**2.**電柱",
        "1.**電線**\n2.**電柱**",
    ],
)
def test_items_in_other_scripts_and_forms(text: str) -> None:
    lines = text.split("\n")
    if "2019" in text:
        assert [kind for kind, _ in kinds(text)] == ["point"]
    else:
        expected = lines if "4号" not in text else [lines[0], "\n".join(lines[1:])]
        assert [said for kind, said in kinds(text) if kind == "point"] == [
            line.strip() for line in expected
        ]


def test_the_number_stays_and_the_form_goes_with_its_point() -> None:
    assert reorder(split("1.電線\n2. Poles\n3.柱"), [1, 0, 2]) == "1. Poles\n2.電線\n3.柱"
    assert reorder(split("①電線\n②電柱"), [1, 0]) == "①電柱\n②電線"
    assert reorder(split("a) Wires\nb) Poles"), [1, 0]) == "a) Poles\nb) Wires"
    assert reorder(split("\n\n**1. Wires**\n2. Poles"), [1, 0]) == "\n\n1. Poles\n**2. Wires**"


@pytest.mark.parametrize(
    "text",
    ["a) Wires\nc) Poles", "B. Wires\nC. Poles", "3．14\n3．15", "…\n○○市\n○○県", "・・・\n・・・"],
)
def test_what_begins_like_an_item_and_is_none(text: str) -> None:
    assert len(split(text)) == 1


def test_the_outermost_list_has_the_points() -> None:
    assert len(points(split("- A\n  1. a\n  2. b\n- B\n  a) c\n  b) d\n- C"))) == 3


@pytest.mark.parametrize(
    ("intro", "item"),
    [
        ("Intro.\n\n", "1. A"),
        ("Intro.\n\n", "- A"),
        ("Intro:\n", "* A\nof two lines"),
        ("**Advice**\n\n", "(1) A"),
        ("# Title\n\nIntro,\nof two lines.\n\n", "1. A\n   - more of A\n\n   and more"),
        ("Intro.\n\n", "1. **Raise the stations**\n\nFloods reach them."),
        ("对策：\n\n", "一、电线"),
        ("対策。\n\n", "１．電線"),
        ("対策。\n\n", "① 電線"),
    ],
)
@pytest.mark.parametrize("closing", ["", "Confidence score: 5%"])
def test_a_single_item_after_an_intro_is_the_only_point(
    intro: str, item: str, closing: str
) -> None:
    found = [("intro", intro.strip()), ("point", item)]
    assert kinds(f"{intro}{item}\n\n{closing}") == [
        *found,
        *([("closing", closing)] if closing else []),
    ]


@pytest.mark.parametrize(
    "paragraphs",
    [
        ["One.", "- Two.", "Three."],
        ["One.", "1. Two.", "Three."],
        ["One.", "Two.", "1. Three."],
        ["1. One.", "Two."],
        ["One.", "– Two."],
        ["One.", "— Two."],
        ["One.", "2. Two."],
        ["One.", "A. Smith was there."],
        ["One.", "a) Two."],
        ["One.", "```\n1. Two.\n```"],
        ["- One.", "1. Two."],
        ["One.", "* * *\nTwo."],
    ],
)
def test_a_paragraph_that_begins_like_an_item_is_one_of_them(paragraphs: list[str]) -> None:
    text = "\n\n".join(paragraphs)
    assert kinds(f"{text}\n\nConfidence: 9%")[:-1] == [
        ("point", paragraph) for paragraph in paragraphs
    ]


@pytest.mark.parametrize(
    ("title", "sections"),
    [
        ("# Title", ["## A\n\na", "## B\n\nb"]),
        ("# Title", ["## A\n\nonly a"]),
        ("## Title", ["**A**\n\na", "**B**\n\nb"]),
        ("---\n# Title\n## Subtitle", ["### A\na", "### B\nb"]),
    ],
)
@pytest.mark.parametrize("gap", ["\n", "\n\n"])
def test_a_title_above_the_first_section_is_the_intro(
    title: str, sections: list[str], gap: str
) -> None:
    text = f"{title}{gap}{gap.join(sections)}"
    assert kinds(text) == [("intro", title), *(("point", section) for section in sections)]


@pytest.mark.parametrize(
    "sections",
    [
        ["## A\n### a\nx", "## B\ny"],  # above its own section alone
        ["# A\n\nx", "## B\n\ny"],
        ["**A**\n**B**\nx"],
        ["# A\n\nx"],
        ["# A"],
    ],
)
def test_a_heading_with_what_it_heads_is_no_title(sections: list[str]) -> None:
    assert kinds("\n\n".join(sections)) == [("point", section) for section in sections]


def test_items_count_on_past_a_thousand_and_years_are_none() -> None:
    long = "\n".join(f"{number}. item" for number in range(1, 1203))
    assert len(points(split(long))) == 1202
    assert len(split("It flooded in\n2019. Then came\n2021. It was wet.")) == 1
    years = "1. It flooded in\n2019. Then came\n2. the frost."
    assert len(points(split(years))) == 2


INLINE = "Three measures: 1. Raise the stations. 2. Move the parts. 3. Train the crews."


@pytest.mark.parametrize(
    "text",
    [
        INLINE,
        "1. Raise the stations. 2. Move\nthe parts. 3. Train the crews.",
        "Do this: 1) raise, 2) move and 3) train",
        "Do this: (1) raise, (2) move, and (3) train.",
        "対策は、①電線、②電柱、③変圧器。",
        "Measures:\n\n1. Raise. 2. Move. 3. Train.\n\nConfidence score: 85%",
    ],
)
def test_a_list_within_a_paragraph(text: str) -> None:
    segments = split(text)
    assert len(points(segments)) == 3
    assert join(segments) == text
    moved = reorder(segments, [2, 0, 1])
    assert [point.body for point in points(split(moved))] == [
        points(segments)[i].body for i in (2, 0, 1)
    ]
    assert [point.marker for point in points(split(moved))] == [
        point.marker for point in points(segments)
    ]


def test_a_list_within_a_paragraph_by_hand() -> None:
    assert kinds(INLINE) == [
        ("intro", "Three measures:"),
        ("point", "1. Raise the stations."),
        ("point", "2. Move the parts."),
        ("point", "3. Train the crews."),
    ]
    moved = "Three measures: 1. Train the crews. 2. Raise the stations. 3. Move the parts."
    assert reorder(split(INLINE), [2, 0, 1]) == moved


@pytest.mark.parametrize(
    "text",
    [
        "Do: 1. raise. 2. move.",  # two may be chance
        "Do: 1. raise. 3. move. 2. train.",
        "Do: 1. raise. 2. move. 3. train. See 2. again.",
        "Do: 1. raise. 2. move. 3. train",  # the last one could not stand before another
        "See figure 1. Wires. See figure 2. Poles. See figure 3. Trees.",
        "Poles broke (1) and lines fell (2) and trees too (3) at last.",
        "Do: 1.5 metres, 2.5 metres, 3.5 metres.",
        "```\nDo: 1. raise. 2. move. 3. train.\n```",
    ],
)
def test_numbers_in_a_paragraph_that_are_left(text: str) -> None:
    assert [segment.kind for segment in split(text)] == ["point"]


def test_numbers_in_one_of_several_paragraphs_are_left() -> None:
    assert kinds(f"One.\n\n{INLINE}\n\nThree.") == [
        ("point", "One."),
        ("point", INLINE),
        ("point", "Three."),
    ]


@pytest.mark.parametrize("language", sorted(CONFIDENCE))
def test_statements_of_confidence_in_other_languages(language: str) -> None:
    for words in CONFIDENCE[language]:
        for closing in (
            f"{words}: 85%",
            f"**{words.capitalize()}**：85 %",
            f"3. {words} 85%",
            f"３．{words}（％）：85",
        ):
            assert kinds(f"1. One.\n2. Two.\n\n{closing}")[-1] == ("closing", closing)
            assert kinds(f"One.\n\nTwo.\n\n{closing}")[-1] == ("closing", closing)
        assert kinds(f"One.\n\n{words} x.")[-1] == ("point", f"{words} x.")
    assert len(CONFIDENCE) == 11  # as the docstring says


@pytest.mark.parametrize(
    "closing",
    [
        "信頼度スコア: 85%",
        "信頼度は85%です。",
        "【信頼度スコア】85%",
        "置信度：85%",
        "Niveau de confiance : 85 %",
    ],
)
def test_a_statement_of_confidence_is_cut_off_the_last_item(closing: str) -> None:
    assert kinds(f"1.電線\n2.電柱\n{closing}")[-1] == ("closing", closing)


@pytest.mark.parametrize(
    "text", ["One sentence.", "   ", "\n\n", "1. Only one item.", "第一点。第二点。"]
)
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
        "１．電",
        "2.柱 x",
        "3、山",
        "①電",
        "②x",
        "・木",
        "a) x",
        "(b) y",
        "一、火",
        "1000. z",
        "信頼度スコア: 85%",
        "So: 1. a. 2. b. 3. c.",
        "1) a 2) b 3) c",
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


BODIES = st.sampled_from(
    [
        "Wires.",
        "電線。",
        "電柱,",
        "**Poles**.",
        "Two\n  - a\n  - b.",
        "2019 was wet.",
        "Trees?",
        "x;",
    ]
)
FORMS = st.sampled_from(
    ["{}. ", "{}.", "{})", "**{}.** ", "({}) ", "{}．", "{}、", "### {}. ", "{}.　"]
)


@given(
    st.lists(st.tuples(FORMS, BODIES), min_size=2, max_size=6),
    st.sampled_from(["\n", "\n\n", " "]),
    st.randoms(),
)
def test_a_list_in_another_order_has_the_same_points(
    items: list[tuple[str, str]], gap: str, random: object
) -> None:
    spaced = [
        (form + " " * (body[0] not in "電" and form[-1] in ".)．、"), body) for form, body in items
    ]
    text = "Do:\n" + gap.join(
        form.format(i) + body for i, (form, body) in enumerate(spaced, start=1)
    )
    segments = split(text)
    bodies = [point.body for point in points(segments)]
    order = list(range(len(bodies)))
    random.shuffle(order)  # type: ignore[attr-defined]
    moved = reorder(segments, order)
    again = split(moved)
    assert join(again) == moved
    assert [point.body for point in points(again)] == [bodies[i] for i in order]
    # back in the first order it is the first text
    assert reorder(again, [order.index(i) for i in range(len(order))]) == text
