"""Markdown of foreign texts: what is shown, that nothing of it can run, and the place of every shown character."""

import random
import re

import pytest

from longmark.report.markdown import plain, rich

SHOWN = [
    ("**bold _both_** 🌊 end", "<strong>bold <em>both</em></strong> 🌊 end"),
    ("snake_case and 2 * 3 * 4", "snake_case and 2 * 3 * 4"),
    ("a `co*d*e` b", "<code>co*d*e</code>"),
    (
        "$x^2*y*z$ and \\(a_b\\), $5 or $6",
        "<code>$x^2*y*z$</code> and <code>\\(a_b\\)</code>, $5 or $6",
    ),
    ("$$\na\n- b\n$$", "<pre>$$\na\n- b\n$$</pre>"),
    ("[text](http://a/b)", "<u>text</u><small>http://a/b</small>"),
    ("![x](http://a/b.png)", "![x](http://a/b.png)"),
    ("[x](javascript:alert(1))", "[x](javascript:alert(1))"),
    ("## Head ##\ntext\n---", "<p>Head</p><p>text</p><hr>"),
    ("|a|b|\n|-|-|\n|1|x \\| *y*|", "<tr><td>1</td><td>x | <em>y</em></td></tr>"),
    ("- one\n- two\n  1. three", "<ul><li>one</li><li>two<ol><li>three</li></ol></li></ul>"),
    ("> متى **تُغلق**", "<blockquote><p>متى <strong>تُغلق</strong></p></blockquote>"),
    ("```py\nf()\n```", "<pre><small>py\n</small>f()\n</pre>"),
    ("a\\*b &amp; c", "a*b &amp; c"),
    ("one\ntwo", "<p>one\ntwo</p>"),
    ("<script>alert(1)</script>", "&lt;script&gt;alert(1)&lt;/script&gt;"),
    ("<img src=x onerror=alert(2)>", "&lt;img src=x onerror=alert(2)&gt;"),
]


@pytest.mark.parametrize(("source", "shown"), SHOWN)
def test_a_text_is_rendered_by_elements_without_attributes_of_its_own(source: str, shown: str):
    html = re.sub(r"</?span[^>]*>", "", rich(source).html)
    assert shown in re.sub(r"<(\w+) [^>]*>", r"<\1>", html)


def test_quotes_of_the_page_are_found_in_the_source():
    source = "Ice **melts** at\r\n`0 °C`, a\\*b 🌊 x"
    for quote, part in (
        ("melts at", "melts** at"),
        ("0 °C, a*b", "0 °C`, a\\*b"),
        ("🌊 x", "🌊 x"),
    ):
        start, end = rich(source).find(quote) or (0, 0)
        assert source[start:end] == part
    assert rich(source).find("not there") is None


PIECES = [
    *"*_`$|>[]()!#\\\té🌊潮",
    "**",
    "```",
    "$$",
    "\\(",
    "\\)",
    "|-|-|",
    "- ",
    "1. ",
    "](",
    "~~",
    "<b>",
    "&lt;",
    "متى",
    "word",
    "x1",
]


def same(text: str) -> str:
    """Of the same length, with line feeds only."""
    return text.replace("\r\n", " \n")


@pytest.mark.parametrize("seed", range(4))
def test_every_leaf_stands_in_the_source_and_nothing_is_hidden(seed: int):
    chance = random.Random(seed)
    rendered = 0
    for _ in range(150):
        source = "".join(
            chance.choice([*PIECES, " ", " ", "\n", "\n\n", "\r\n"])
            for _ in range(chance.randint(1, 60))
        )
        found = rich(source)
        rendered += found != plain(source)
        end = 0
        for leaf in found.leaves:
            assert leaf.start >= end, source
            end = leaf.start + leaf.length
            assert same(leaf.text) == same(source)[leaf.start : end] or leaf.length > len(
                leaf.text
            ), (source, leaf)
        shown = "".join(leaf.text for leaf in found.leaves)
        assert re.findall("[é🌊潮]|متى", shown) == re.findall("[é🌊潮]|متى", source), source
        assert not re.search(
            r"<(?!/?(p|ul|ol|li|blockquote|pre|code|em|strong|s|u|small|span|div|hr|table|t\w+)\b)",
            found.html,
        )
    assert rendered > 100, "most are rendered"
