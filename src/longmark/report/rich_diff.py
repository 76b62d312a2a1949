"""The words of an answer that differ from another one, marked in its Markdown as it is rendered."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from html import escape
from itertools import accumulate

from markupsafe import Markup

from longmark.report.markdown import Leaf, has_markup, marked_rich
from longmark.report.word_diff import DiffPiece


def diff_html(pieces: Sequence[DiffPiece], tag: str) -> Markup:
    """The answer with the pieces that differ in elements of this tag. It is shown as it is written where it has no
    Markdown, and where a difference would be hidden, as one in the address of a link."""
    text = "".join(piece.text for piece in pieces)
    ends = list(accumulate(len(piece.text) for piece in pieces))
    differing = [
        (end - len(piece.text), end)
        for piece, end in zip(pieces, ends, strict=True)
        if piece.differs and piece.text.strip()
    ]
    if not has_markup(text):
        return _as_written(pieces, tag)
    visible = set[tuple[int, int]]()

    def mark(leaf: Leaf) -> str:
        end = leaf.start + leaf.length
        within = [place for place in differing if place[0] < end and leaf.start < place[1]]
        visible.update(within)
        if leaf.length == len(leaf.text):
            return "".join(_parts(leaf, within, tag))
        return _element(leaf.text, tag) if within else escape(leaf.text)

    html = marked_rich(text, mark)
    return html if len(visible) == len(differing) else _as_written(pieces, tag)


def _parts(leaf: Leaf, differing: Sequence[tuple[int, int]], tag: str) -> Iterator[str]:
    position = 0
    for start, end in differing:
        left = max(start - leaf.start, position)
        right = min(end - leaf.start, len(leaf.text))
        yield escape(leaf.text[position:left])
        part = leaf.text[left:right]
        yield _element(part, tag) if part.strip() else escape(part)
        position = right
    yield escape(leaf.text[position:])


def _as_written(pieces: Sequence[DiffPiece], tag: str) -> Markup:
    html = (_element(piece.text, tag) if piece.differs else escape(piece.text) for piece in pieces)
    return Markup("".join(html))  # both escape what is foreign


def _element(text: str, tag: str) -> str:
    return f"<{tag}>{escape(text)}</{tag}>"
