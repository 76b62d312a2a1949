"""The Markdown of answers on pages: rendered, with marks where they were, and no HTML of the answer."""

import base64
import re
import zlib
from pathlib import Path

import pytest
from tests.report.runs import RELEVANCE, manifest, row, write_run

from longmark.records import Example
from longmark.report.html import write_report
from longmark.report.markdown import has_markup
from longmark.report.reasons import marked, rich_marked, sentence_marked
from longmark.text.sentences import parted

TABLE = (
    "The limits are these.\n\n"
    "| Rule | Source |\n|---|---|\n"
    "| The API allows 600 requests a minute. | [1] |\n"
    "| A link is valid for 30 minutes. | [2] |\n\n"
    "Plan for them."
)


def test_a_row_of_a_table_is_a_part_of_its_own_and_no_sentence_holds_the_table():
    assert [TABLE[start:end] for start, end in parted(TABLE)] == [
        "The limits are these.",
        "| Rule | Source |\n|---|---|",
        "| The API allows 600 requests a minute. | [1] |",
        "| A link is valid for 30 minutes. | [2] |",
        "Plan for them.",
    ]


def test_what_stands_before_and_behind_a_table_without_a_blank_line_is_no_row():
    text = "# Limits\n| a | b |\n|---|---|\n| c | d |\n```\ncode\n```"
    parts = [text[start:end] for start, end in parted(text)]
    assert "| c | d |" in parts
    assert parts[0] == "# Limits"
    assert parts[-1].endswith("```")


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("| A link is valid. | [2] |", "<td>A link is valid.</td><td>[2]</td>"),
        ("| a \\| b | c |", "<td>a \\| b</td><td>c</td>"),
        ("**Bold** and `code`.", "<strong>Bold</strong> and <code>code</code>."),
        ("- an *item*", '<ul dir="auto"><li>an <em>item</em></li></ul>'),
        ("### Title", '<p dir="auto" class="h h3">Title</p>'),
        ("plain <b>text</b>", "plain &lt;b&gt;text&lt;/b&gt;"),
        ("*em* <img src=x onerror=y>", "<em>em</em> &lt;img src=x onerror=y&gt;"),
    ],
)
def test_a_part_of_an_answer_is_rendered_without_its_html(text: str, html: str):
    assert html in sentence_marked(text, {})


def test_quotes_are_marked_in_the_rendered_text_where_they_stand_in_the_source():
    # "bold words": characters 6 to 10 inside the asterisks, and 13 to 18 behind them
    text = "Some **bold** words."
    html = rich_marked(text, {(7, 19): 1})
    assert '<strong><mark class="quoted" data-quotes="">bold</mark></strong>' in html
    assert '<mark class="quoted" data-quotes="1"> words</mark>.' in html
    in_cell = sentence_marked("| one two | three |", {(6, 9): 4})
    assert '<td>one <mark class="quoted" data-quotes="4">two</mark></td>' in in_cell


def test_a_text_without_markdown_is_as_before():
    text = "Two lines.\nNo syntax, only text."
    assert not has_markup(text)
    assert rich_marked(text, {(0, 3): 1}) == marked(text, {(0, 3): 1})


def test_the_report_renders_the_answer_and_not_the_question(tmp_path: Path):
    example = Example(
        id="t", question_id="q", question="Which **limits**?", answer=f"{TABLE} <b>Now</b>."
    )
    rows = [row("t", RELEVANCE, 0.5, question_id="q")]
    run = write_run(tmp_path / "run", [example], rows, manifest())
    write_report([run], tmp_path / "page.html")
    page = (tmp_path / "page.html").read_text("utf-8")
    (pack,) = re.findall(r'id="pack-\d+">(.*?)</script>', page, re.DOTALL)
    answer = zlib.decompress(base64.b64decode(pack)).decode()
    assert "<td" in answer
    assert "A link is valid for 30 minutes." in re.sub("<[^>]+>", "", answer)
    assert "Which **limits**?" in answer
    assert "<b>Now" not in answer
    assert "&lt;b&gt;Now&lt;/b&gt;" in answer


TABLE_OF = "| {0} | {1} |\n|---|---|\n| 1920 | 5 |"


@pytest.mark.parametrize(
    ("text", "tag"),
    [
        (TABLE_OF.format("السنة", "عدد"), '<div class="scroll" dir="rtl" '),
        (TABLE_OF.format("السنة", "عدد"), '<table dir="rtl">'),
        (TABLE_OF.format("Year", "عدد"), '<table dir="auto">'),
        ("- الأولى\n\n- الثانية", '<ul dir="rtl">'),
        ("> נאמר כך.", '<blockquote dir="rtl">'),
        ("> So it was said.", '<blockquote dir="auto">'),
    ],
)
def test_tables_lists_and_quotes_of_a_right_to_left_text_begin_at_the_right(
    text: str, tag: str
) -> None:
    """A browser does not look into parts with a direction of their own, as cells and paragraphs have."""
    assert tag in rich_marked(text, {})
