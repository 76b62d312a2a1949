"""Equations of Office (OMML) as MathML, which `PageOfXml` writes in one line."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from longmark.contrib.make.rag.kinds import STRUCK
from longmark.contrib.make.rag.word_styles import OFF
from longmark.contrib.make.rag.xml_tree import PageOfXml, attribute, child, local_name

_MATHML = {  # OMML -> MathML and the parts that it has, in MathML's order
    "sSup": ("msup", ("e", "sup")),
    "sSub": ("msub", ("e", "sub")),
    "sSubSup": ("msubsup", ("e", "sub", "sup")),
    "limLow": ("munder", ("e", "lim")),
    "limUpp": ("mover", ("e", "lim")),
}
_STRIKES = {
    "strikeBLTR": "updiagonalstrike",
    "strikeTLBR": "downdiagonalstrike",
    "strikeV": "verticalstrike",
    "strikeH": "horizontalstrike",
}
# The signs that Office draws where an equation names none.
_HAT = "\u0302"
_BRACE_BELOW = "⏟"
_BAR = "¯"
_APPLIED = "\u2061"


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
        elif name in _WRITERS:
            _WRITERS[name](page, part)
        elif name in ("del", "moveFrom"):
            page.left_out["deleted passages"] += 1
        elif name == "t":
            page.whole("mi", part.text or "")
        elif name == "r":
            _run(page, part)
        elif not name.endswith("Pr"):
            _equation(page, part)


def _row(page: PageOfXml, part: Any | None) -> None:
    page.start("mrow")
    if part is not None:
        _equation(page, part)
    page.end("mrow")


def _sign(part: Any, properties: str, name: str, usual: str) -> str:
    """A sign that an equation names among its properties, else the usual one."""
    sign = child(part, properties, name)
    return usual if sign is None else attribute(sign, "val")


def _is_on(part: Any, properties: str, name: str) -> bool:
    switch = child(part, properties, name)
    return switch is not None and attribute(switch, "val") not in OFF


def _run(page: PageOfXml, run: Any) -> None:
    """Characters of an equation; hidden and struck-out ones are counted."""
    for properties in (part for part in run if local_name(part) == "rPr"):  # of equations, of Word
        for name in ("vanish", "strike", "dstrike"):
            switch = child(properties, name)
            if switch is not None and attribute(switch, "val") not in OFF:
                reason = "hidden passages" if name == "vanish" else STRUCK
                page.left_out[reason] += 1
                return
    _equation(page, run)


def _fraction(page: PageOfXml, part: Any) -> None:
    has_no_line = _sign(part, "fPr", "type", "bar") == "noBar"
    page.start("mfrac", {"linethickness": "0"} if has_no_line else None)
    _row(page, child(part, "num"))
    _row(page, child(part, "den"))
    page.end("mfrac")


def _scripts_before(page: PageOfXml, part: Any) -> None:
    page.start("mmultiscripts")
    _row(page, child(part, "e"))
    page.whole("mprescripts", "")
    _row(page, child(part, "sub"))
    _row(page, child(part, "sup"))
    page.end("mmultiscripts")


def _root(page: PageOfXml, part: Any) -> None:
    degree = child(part, "deg")
    has_degree = degree is not None and "".join(degree.itertext()).strip()
    page.start("mroot" if has_degree else "msqrt")
    _row(page, child(part, "e"))
    if has_degree:
        _row(page, degree)
    page.end("mroot" if has_degree else "msqrt")


def _sum(page: PageOfXml, part: Any) -> None:
    page.start("munderover")
    page.whole("mo", _sign(part, "naryPr", "chr", "∫"))
    _row(page, child(part, "sub"))
    _row(page, child(part, "sup"))
    page.end("munderover")
    _row(page, child(part, "e"))


def _delimited(page: PageOfXml, part: Any) -> None:
    page.whole("mo", _sign(part, "dPr", "begChr", "("))
    elements = [piece for piece in part if local_name(piece) == "e"]
    for place, element in enumerate(elements):
        if place:
            page.whole("mo", _sign(part, "dPr", "sepChr", "|"))
        _row(page, element)
    page.whole("mo", _sign(part, "dPr", "endChr", ")"))


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


def _array(page: PageOfXml, part: Any) -> None:
    """Equations below each other."""
    page.start("mfenced", {"open": "", "close": "", "separators": ";"})
    for element in part:
        if local_name(element) == "e":
            _row(page, element)
    page.end("mfenced")


def _function(page: PageOfXml, part: Any) -> None:
    _row(page, child(part, "fName"))
    page.whole("mo", _APPLIED)
    _row(page, child(part, "e"))


def _accent(page: PageOfXml, part: Any) -> None:
    _marked(page, part, "mover", _sign(part, "accPr", "chr", _HAT))


def _bar(page: PageOfXml, part: Any) -> None:
    is_above = _sign(part, "barPr", "pos", "bot") == "top"
    _marked(page, part, "mover" if is_above else "munder", _BAR)


def _group(page: PageOfXml, part: Any) -> None:
    """A sign above or below a term, as a brace or an arrow."""
    is_above = _sign(part, "groupChrPr", "pos", "bot") == "top"
    sign = _sign(part, "groupChrPr", "chr", _BRACE_BELOW)
    _marked(page, part, "mover" if is_above else "munder", sign)


def _marked(page: PageOfXml, part: Any, tag: str, mark: str) -> None:
    page.start(tag)
    _row(page, child(part, "e"))
    page.whole("mrow", mark)
    page.end(tag)


def _phantom(page: PageOfXml, part: Any) -> None:
    """A term that only takes room, unless it is shown."""
    if child(part, "phantPr", "show") is None or _is_on(part, "phantPr", "show"):
        _row(page, child(part, "e"))


def _border(page: PageOfXml, part: Any) -> None:
    """A box, which may strike its term out."""
    strikes = [notation for name, notation in _STRIKES.items() if _is_on(part, "borderBoxPr", name)]
    page.start("menclose", {"notation": " ".join(strikes)})
    _row(page, child(part, "e"))
    page.end("menclose")


_WRITERS = {
    "acc": _accent,
    "bar": _bar,
    "borderBox": _border,
    "d": _delimited,
    "eqArr": _array,
    "f": _fraction,
    "func": _function,
    "groupChr": _group,
    "m": _matrix,
    "nary": _sum,
    "phant": _phantom,
    "rad": _root,
    "sPre": _scripts_before,
}
