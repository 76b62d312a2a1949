"""Characters of the font Symbol, which Office writes by their places in it: `±` is U+F0B1 of "Symbol".

The places are those of Adobe's encoding of the font (Symbol, `symbol.txt` of the Unicode Consortium's ADOBE mappings).
Places for the parts of tall brackets and for the logo stay unknown: no text means them.
"""

from __future__ import annotations

FONT = "symbol"
PRIVATE_USE = range(0xE000, 0xF900)
LEFT_OUT = "symbols of a font"

_OFFSET = 0xF000  # Office moves a place of a symbol font here, so that it is no letter
_FROM_SPACE = " !∀#∃%&∋()*+,−./0123456789:;<=>?≅ΑΒΧΔΕΦΓΗΙϑΚΛΜΝΟΠΘΡΣΤΥςΩΞΨΖ[∴]⊥_‾αβχδεφγηιϕκλμνοπθρστυϖωξψζ{|}∼"
_FROM_A0 = "€ϒ′≤⁄∞ƒ♣♦♥♠↔←↑→↓°±″≥×∝∂•÷≠≡≈…│─↵ℵℑℜ℘⊗⊕∅∩∪⊃⊇⊄⊂⊆∈∉∠∇®©™∏√⋅¬∧∨⇔⇐⇑⇒⇓◊⟨®©™∑"
_CHARACTERS = {
    **{0x20 + place: character for place, character in enumerate(_FROM_SPACE)},
    **{0xA0 + place: character for place, character in enumerate(_FROM_A0)},
    0xF1: "⟩",
    0xF2: "∫",
}


def character_of(code: int, font: str) -> str | None:
    """The character at a place of a font, moved to the private use area or not; None: not known."""
    if font.casefold() == FONT:
        return _CHARACTERS.get(code - _OFFSET if code >= _OFFSET else code)
    return None if not 0 < code <= 0xFFFF or code in PRIVATE_USE else chr(code)


def in_unicode(text: str, font: str) -> str:
    """A text with the characters that the font Symbol has at private places. Private characters of other fonts stay: they
    may be letters that a writer has defined."""
    if font.casefold() != FONT or not any(ord(character) in PRIVATE_USE for character in text):
        return text
    return "".join(character_of(ord(character), font) or character for character in text)
