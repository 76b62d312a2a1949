"""Encodings of text files: which there are, and what a file seems to be written in."""

from __future__ import annotations

import codecs
from pathlib import Path

from longmark.errors import UnknownName
from longmark.options import named
from longmark.records.files import (
    opened,
)

_USUAL = (
    "cp1252",
    "cp1250",
    "cp1251",
    "cp1253",
    "shift_jis",
    "gb18030",
    "euc_kr",
    "big5",
)  # encodings, the usual first


def check_encoding(name: str) -> None:
    """UserError if Python has no text encoding of this name."""
    try:
        if not codecs.lookup(name)._is_text_encoding:
            raise LookupError
    except LookupError:
        usual = (*_USUAL, "utf-16")
        raise UnknownName("encoding", name, usual, f"Usual ones are {', '.join(usual)}.") from None


def encoding_note(path: Path) -> str:
    """What a text file that is not UTF-8 seems to be written in, and what to do; "" for one that is UTF-8."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    sample = b""
    with opened(path) as file:
        try:
            while part := file.read(1 << 20):
                sample = part
                decoder.decode(part)
        except UnicodeDecodeError as error:
            from charset_normalizer import from_bytes

            around = sample[max(0, error.start - (1 << 15)) : error.start + (1 << 15)]
            fits = [
                name
                for guess in from_bytes(around, cp_isolation=list(_USUAL))
                for name in guess.could_be_from_charset
            ]
            guess, *alternatives = (
                sorted(dict.fromkeys(fits), key=lambda name: name != _USUAL[0]) or _USUAL[:1]
            )
            looks = f"{guess} or {alternatives[0]}" if alternatives else guess
            option = named("encoding", guess)
            return f"{path} is not UTF-8; it looks like {looks}: add {option}, or save the file as UTF-8"
    return ""
