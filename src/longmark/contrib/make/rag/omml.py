"""Equations of Office (OMML) as MathML, which `PageOfXml` writes in one line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from longmark.contrib.make.rag.xml_tree import PageOfXml, attribute, child, local_name

_MATHML = {  # OMML -> MathML and the parts that it has, in MathML's order
    "f": ("mfrac", ("num", "den")),
    "sSup": ("msup", ("e", "sup")),
    "sSub": ("msub", ("e", "sub")),
    "sSubSup": ("msubsup", ("e", "sub", "sup")),
    "limLow": ("munder", ("e", "lim")),
    "limUpp": ("mover", ("e", "lim")),
}


def write_equation(page: PageOfXml, equation: Any) -> None:
    """An `oMath` as an element `math`."""
    page.start("math")
    _equation(page, equation)
    page.end("math")


def _equation(page: PageOfXml, parts: Iterable[Any]) -> None:
    for part in parts:
        name = local_name(part)
        if name in _MATHML:
            tag, order = _MATHML[name]
            page.start(tag)
            for slot in order:
                _row(page, child(part, slot))
            page.end(tag)
        elif name == "rad":
            _root(page, part)
        elif name == "nary":
            _sum(page, part)
        elif name == "d":
            _delimited(page, part)
        elif name == "m":
            _matrix(page, part)
        elif name == "t":
            page.whole("mi", part.text or "")
        elif name == "r" or not name.endswith("Pr"):
            _equation(page, part)


def _row(page: PageOfXml, part: Any | None) -> None:
    page.start("mrow")
    if part is not None:
        _equation(page, part)
    page.end("mrow")


def _root(page: PageOfXml, part: Any) -> None:
    degree = child(part, "deg")
    has_degree = degree is not None and "".join(degree.itertext()).strip()
    page.start("mroot" if has_degree else "msqrt")
    _row(page, child(part, "e"))
    if has_degree:
        _row(page, degree)
    page.end("mroot" if has_degree else "msqrt")


def _sum(page: PageOfXml, part: Any) -> None:
    sign = child(part, "naryPr", "chr")
    page.start("munderover")
    page.whole("mo", attribute(sign, "val") if sign is not None else "∫")
    _row(page, child(part, "sub"))
    _row(page, child(part, "sup"))
    page.end("munderover")
    _row(page, child(part, "e"))


def _delimited(page: PageOfXml, part: Any) -> None:
    opening = child(part, "dPr", "begChr")
    closing = child(part, "dPr", "endChr")
    separator = child(part, "dPr", "sepChr")
    page.whole("mo", attribute(opening, "val") if opening is not None else "(")
    elements = [piece for piece in part if local_name(piece) == "e"]
    for place, element in enumerate(elements):
        if place:
            page.whole("mo", attribute(separator, "val") if separator is not None else "|")
        _row(page, element)
    page.whole("mo", attribute(closing, "val") if closing is not None else ")")


def _matrix(page: PageOfXml, part: Any) -> None:
    page.start("mtable")
    for row in part:
        if local_name(row) != "mr":
            continue
        page.start("mtr")
        for element in row:
            page.start("mtd")
            _row(page, element)
            page.end("mtd")
        page.end("mtr")
    page.end("mtable")
