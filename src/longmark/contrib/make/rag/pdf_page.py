"""The text of a page of a PDF, by pypdf, in which raised and lowered digits are told from the digits that they follow
(pdf_raised.py).

pypdf joins what a page draws to lines; a visitor sees the pieces, which are drawn with one font each. Where the pieces
are not the text, as in a version of pypdf that reports them otherwise, the text stays as it is.
"""

from __future__ import annotations

import importlib
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from longmark.contrib.make.rag import pdf_bidi
from longmark.contrib.make.rag.pdf_raised import DrawnText, lines_of, with_raised_digits

_RIGHT_TO_LEFT = "".join(
    chr(code)
    for first, last in ((0x590, 0x8FF), (0xFB1D, 0xFDFF), (0xFE70, 0xFEFF))
    for code in range(first, last + 1)
)
_LIGATURE = re.compile(rb"<((?:(?:0[5-8]|[Ff][BbEe])[0-9A-Fa-f]{2}){2,})>")
_TURNED = "/LongmarkTurned"
_FAR = 300  # thousandths of the size
WITHOUT_SPACES = "pages from right to left without spaces between words"
UNNAMED = "letters that their font does not name"
_SHOWS = frozenset({b"Tj", b"TJ", b"'", b'"'})


def page_text(page: Any, left_out: Counter[str]) -> str:
    """The text of a page of pypdf; what it loses is counted in left_out."""
    text, drawn = _drawn(page)
    if pdf_bidi.LETTERS.search(text):
        text, drawn = _drawn_as_seen(page)
        text = _right_to_left(text, drawn)
        left_out[WITHOUT_SPACES] += drawn.is_leftward
        left_out[UNNAMED] += text.count("\0")
    elif drawn.pieces:
        text = with_raised_digits(drawn.pieces)
    # A font may map a glyph to half of a surrogate pair, or to nothing.
    return text.encode("utf-8", "replace").decode().replace("\0", "")


def _drawn(page: Any) -> tuple[str, _Pieces]:
    """The text of a page and the pieces that are this text; no pieces if they are another one."""
    drawn = _Pieces()
    text: str = page.extract_text(
        visitor_operand_before=drawn.before_operator, visitor_text=drawn.piece
    )
    if "".join(piece.text for piece in drawn.pieces) != text:
        drawn.pieces.clear()
    return text, drawn


def _drawn_as_seen(page: Any) -> tuple[str, _Pieces]:
    """The same, with letters from right to left in the order in which a string has them.

    pypdf turns such letters round one after the other, which puts the spaces that it adds in wrong places.
    """
    text_extraction = importlib.import_module("pypdf._text_extraction")
    before = text_extraction.CUSTOM_RTL_SPECIAL_CHARS
    _turn_ligatures(page)
    text_extraction.set_custom_rtl(specials=_RIGHT_TO_LEFT)
    try:
        return _drawn(page)
    finally:
        text_extraction.set_custom_rtl(specials=before)


def _turn_ligatures(page: Any) -> None:
    """Turns the letters of ligatures round in the tables of the page's fonts: the page is read from left to right."""
    generic = importlib.import_module("pypdf.generic")
    errors = importlib.import_module("pypdf.errors")
    resources = page.get("/Resources")
    fonts = resources.get_object().get("/Font") if resources is not None else None
    for reference in fonts.get_object().values() if fonts is not None else ():
        font = reference.get_object()
        table = font.get("/ToUnicode") if isinstance(font, generic.DictionaryObject) else None
        stream = table.get_object() if table is not None else None
        if not isinstance(stream, generic.StreamObject) or _TURNED in stream:
            continue
        try:
            data = stream.get_data()
        except errors.PyPdfError:  # such a font has no table
            continue
        turned = generic.DecodedStreamObject()
        turned.set_data(_LIGATURE.sub(_turned, data))
        turned[generic.NameObject(_TURNED)] = generic.BooleanObject(value=True)
        font[generic.NameObject("/ToUnicode")] = turned


def _turned(match: re.Match[bytes]) -> bytes:
    """The UTF-16 units of a ligature in the order of the page."""
    digits = match[1]
    units = [digits[place : place + 4] for place in range(0, len(digits), 4)]
    units.reverse()
    return b"<" + b"".join(units) + b">"


def _right_to_left(text: str, drawn: _Pieces) -> str:
    """A page with letters from right to left. Its raised digits stay."""
    if drawn.is_leftward:
        return pdf_bidi.drawn_as_read(text)
    lines = [
        "".join(piece.text for piece in sorted(line, key=lambda piece: piece.start))
        for line in lines_of(drawn.pieces)
    ]
    seen = [line.replace("\n", "") for line in lines] or text.split("\n")
    return pdf_bidi.read_lines(seen)


@dataclass
class _Pieces:
    """Collects the pieces of a page, with the places at which they were drawn."""

    pieces: list[DrawnText] = field(default_factory=list)
    _rise: float = 0
    _steps: Counter[bool] = field(default_factory=Counter)  # between strings; True: far to the left
    _places: list[tuple[float, float]] = field(default_factory=list)

    def before_operator(
        self, operator: bytes, operands: Sequence[Any], page: Sequence[float], text: Sequence[float]
    ) -> None:
        """Notes where a string will be drawn. page, text: the matrices (ISO 32000, 8.3.3 and 9.4.2)."""
        if operator in _SHOWS:
            self._places.append(_place(page, text, self._rise))
            if operator == b"TJ" and operands and isinstance(operands[0], list):
                steps = [step for step in operands[0] if isinstance(step, int | float)]
                self._steps.update(step > _FAR for step in steps)
        elif operator == b"Ts":
            rise = operands[0] if operands else 0
            self._rise = float(rise) if isinstance(rise, int | float) else 0

    @property
    def is_leftward(self) -> bool:
        """Whether the page draws letter by letter from right to left, as LuaTeX does, without spaces."""
        return self._steps[True] > self._steps[False]

    def piece(
        self, text: str, page: Sequence[float], matrix: Sequence[float], _font: Any, size: float
    ) -> None:
        """A piece of the text of the page."""
        places = self._places or [_place(page, matrix, self._rise)]
        up = _turned_by(page, matrix[2], matrix[3])
        start, first = places[0]
        _start, last = places[-1]
        self.pieces.append(
            DrawnText(
                text,
                size=abs(size) * math.hypot(*up),
                first=first,
                last=last,
                start=start,
            )
        )
        self._places = []


def _turned_by(page: Sequence[float], x: float, y: float) -> tuple[float, float]:
    """A vector of the text as the page has it."""
    return (
        x * page[0] + y * page[2],
        x * page[1] + y * page[3],
    )


def _place(page: Sequence[float], text: Sequence[float], rise: float) -> tuple[float, float]:
    """How far along its line, and how far up, a string begins, as it is turned."""
    along_x, along_y = _turned_by(page, text[0], text[1])
    up_x, up_y = _turned_by(page, text[2], text[3])
    x, y = _turned_by(page, text[4], text[5])
    x += page[4]
    y += page[5]
    width = math.hypot(along_x, along_y) or 1
    height = math.hypot(up_x, up_y) or 1
    along = (x * along_x + y * along_y) / width
    up = (x * up_x + y * up_y) / height
    return along, up + rise * height
