"""The text of a page of a PDF, by pypdf, in which raised and lowered digits are told from the digits that they follow
(pdf_raised.py).

pypdf joins what a page draws to lines; a visitor sees the pieces, which are drawn with one font each. Where the pieces
are not the text, as in a version of pypdf that reports them otherwise, the text stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from longmark.contrib.make.rag.pdf_raised import DrawnText, with_raised_digits

_SHOWS = frozenset({b"Tj", b"TJ", b"'", b'"'})


def page_text(page: Any) -> str:
    """The text of a page of pypdf."""
    pieces = _Pieces()
    text: str = page.extract_text(
        visitor_operand_before=pieces.before_operator, visitor_text=pieces.piece
    )
    if "".join(piece.text for piece in pieces.pieces) != text:
        return text
    return with_raised_digits(pieces.pieces)


@dataclass
class _Pieces:
    """Collects the pieces of a page, with the baselines on which they were drawn."""

    pieces: list[DrawnText] = field(default_factory=list)
    _rise: float = 0
    _baselines: list[float] = field(default_factory=list)

    def before_operator(
        self, operator: bytes, operands: Sequence[Any], page: Sequence[float], text: Sequence[float]
    ) -> None:
        """Notes where a string will be drawn. page, text: the matrices (ISO 32000, 8.3.3 and 9.4.2)."""
        if operator in _SHOWS:
            self._baselines.append(_baseline(page, text, self._rise))
        elif operator == b"Ts":
            rise = operands[0] if operands else 0
            self._rise = float(rise) if isinstance(rise, int | float) else 0

    def piece(
        self, text: str, page: Sequence[float], matrix: Sequence[float], _font: Any, size: float
    ) -> None:
        """A piece of the text of the page."""
        baselines = self._baselines or [_baseline(page, matrix, self._rise)]
        self.pieces.append(
            DrawnText(text, abs(size) * _height(page, matrix), baselines[0], baselines[-1])
        )
        self._baselines = []


def _up(page: Sequence[float], text: Sequence[float]) -> tuple[float, float]:
    """The upward unit of the text, as the page has it."""
    return text[2] * page[0] + text[3] * page[2], text[2] * page[1] + text[3] * page[3]


def _height(page: Sequence[float], text: Sequence[float]) -> float:
    return math.hypot(*_up(page, text))


def _baseline(page: Sequence[float], text: Sequence[float], rise: float) -> float:
    """How far up a string stands, along its own upward direction."""
    up_x, up_y = _up(page, text)
    height = math.hypot(up_x, up_y)
    if not height:
        return 0
    x = text[4] * page[0] + text[5] * page[2] + page[4]
    y = text[4] * page[1] + text[5] * page[3] + page[5]
    return (x * up_x + y * up_y) / height + rise * height
