"""The words that differ, in an answer's Markdown as it is rendered."""

import re

from longmark.report.rich_diff import diff_html
from longmark.report.word_diff import word_diff


def shown(old: str, new: str) -> tuple[str, str]:
    """Both answers without the places that leaves carry."""
    difference = word_diff(old, new)
    places = re.compile(r' dir="auto"|</?span[^>]*>')
    old_page = diff_html(difference.old, "del")
    new_page = diff_html(difference.new, "ins")
    return places.sub("", old_page), places.sub("", new_page)


def test_words_that_differ_are_marked_inside_rendered_markdown():
    old, new = shown(
        "The gate is **closed in spring** by the river warden every year.",
        "The gate is **closed in autumn** by the river warden every year.",
    )
    assert old == (
        "<p>The gate is <strong>closed in <del>spring</del></strong> "
        "by the river warden every year.</p>"
    )
    assert new == (
        "<p>The gate is <strong>closed in <ins>autumn</ins></strong> "
        "by the river warden every year.</p>"
    )


def test_html_of_answers_stays_text_marked_or_not():
    old, new = shown("- a <b>dam</b> holds water here\n", "- a <i>dam</i> holds water here\n")
    assert "<del>&lt;b&gt;dam&lt;/b&gt;" in old
    assert "<ins>&lt;i&gt;dam&lt;/i&gt;" in new
    assert "<li>" in old


def test_a_difference_that_rendering_would_hide_is_shown_as_it_is_written():
    old, new = shown("The same words\n```python\nx = 1\n```", "The same words\n```sh\nx = 1\n```")
    for text, language in ((old, "python"), (new, "sh")):
        assert language in text


def test_an_answer_without_markdown_keeps_its_lines():
    assert shown("one dam\nholds", "one dam\nholds") == ("one dam\nholds", "one dam\nholds")
