"""The forms in which a text cites, one list for all metrics (design/citations.md), and what only looks like them."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterator
from dataclasses import dataclass

from longmark.text.citation_brackets import (
    DASH,
    JOINTS,
    LABEL_WORDS,
    MOST_DIGITS,
    forms_of,
    is_unread,
    names_in,
)
from longmark.text.citation_lists import ADDRESS, TextSpans, fenced
from longmark.text.citation_tags import plain_number, tags

_BRACKETS = re.compile(
    r"\[\[?(?P<square>[^\[\]\n]{1,200})\]?\](?:\((?:#|\.{0,2}/)[^\s()]{0,200}\))?"
    r"|［(?P<wide>[^［］\n]{1,100})］|〔(?P<shell>[^〔〕\n]{1,100})〕"
    r"|\\\[(?P<escaped>[^\[\]\\\n]{1,100})\\\]"
    rf"|【(?P<lens>{LABEL_WORDS}\s?[:：]?\s?\d[^【】\n]{{0,60}})】"
    rf"|[(（](?P<round>{LABEL_WORDS}\s?[.:：#]?\s?\d[^()（）\n]{{0,60}})[)）]"
    r"|<sup>\s*\[(?P<raised>[^\[\]\n]{1,100})\]\s*</sup>",
    re.IGNORECASE,
)
_RANGE_OF_BRACKETS = re.compile(
    rf"\[(\d{{1,{MOST_DIGITS}}})\]{DASH}\[(\d{{1,{MOST_DIGITS}}})\]",
)
_SUPERSCRIPTS = "⁰¹²³⁴⁵⁶⁷⁸⁹"
_SUP = rf"<sup>\s*\d{{1,{MOST_DIGITS}}}(?:{JOINTS}\d{{1,{MOST_DIGITS}}})*\s*</sup>"
_RAISED = re.compile(
    rf"(?:(?<=[^\W\d_][.,;:!?])|(?<=[^\W\d_]{{4}}))"
    rf"(?:[{_SUPERSCRIPTS}]{{1,{MOST_DIGITS}}}(?:[,˒][{_SUPERSCRIPTS}]{{1,{MOST_DIGITS}}})*"
    rf"|{_SUP})(?!\w)"
    rf"|(?:(?<=[^\W\d_][.,;:!?] )|(?<=[^\W\d_]{{4}} )|(?<=</sup>)|(?<=</sup>[ ,])|(?<=</sup>, )){_SUP}(?!\w)"
)
"""A raised number behind a word of four letters, or behind its punctuation, as a tag also with a space before it and
behind another such tag; one behind a shorter word, a unit or a digit is a power."""
_UNIT = re.compile(
    r"(?:met(?:er|re)s?|miles?|yards?|inch(?:es)?|feet|foot|seconds?|sekunden?|grade?s?|metros?|mètres?)$",
    re.IGNORECASE,
)
_CIRCLED = re.compile(r"(?<=[\w.!?。！？”」』）)\]])[①-⑳㉑-㉟㊱-㊿]+(?!\w)")
"""① behind a word or a full stop, and not before a word, where it counts an item of a list."""
_PLAIN_DIGITS = str.maketrans(_SUPERSCRIPTS, "0123456789")
_FOOTNOTE = re.compile(r"\[\^([^\]\s]{1,40})\](?!:)")
_LENTICULAR = re.compile(r"【(\d+(?::\d+)?)(?:†[^【】\n]{0,200})?】")  # OpenAI's 【1†source】
_LINK = re.compile(
    r"(!?)\[([^\[\]\n]*)\]\(\s*<?((?:https?|ftp)://[^\s()<>]+(?:\([^\s()<>]*\)[^\s()<>]*)*)>?"
    r"(?:\s+[\"'][^\n]*?[\"'])?\s*\)",
    re.IGNORECASE,
)
_ID_LINK = re.compile(r"(?<!!)\[([^\[\]\n]{1,200})\]\(([^\s()]{1,200})\)")  # [salt](salt.pdf)
_TARGET = re.compile(r"\([^\s()]{1,2000}\)")
PICTURE = re.compile(
    r"!\[(?:[^\[\]\n]|\[[^\[\]\n]{0,200}\]){0,500}\]\([^()\n]{0,2000}(?:\([^()\n]{0,500}\)[^()\n]{0,500}){0,5}\)"
    r"|<img\b[^<>]{0,2000}>",
    re.IGNORECASE,
)
_ANCHOR = re.compile(
    r"<a\s[^<>]{0,500}?href\s*=\s*[\"']((?:https?|ftp)://[^\"'<>\s]{1,2000})[\"'][^<>]{0,500}>([^\n]{0,500}?)</a>",
    re.IGNORECASE,
)
_PARENTHESES = re.compile(
    rf"(?<=[^\n])\((\d{{1,{MOST_DIGITS}}}(?:{JOINTS}\d{{1,{MOST_DIGITS}}})*)\)"
)
_AUTHOR_YEAR = re.compile(
    r"\((?:(?:see|cf\.|e\.g\.,?)\s)?[^\W\d_a-z][\w'’-]+(?:(?:,? (?:and|&|und|et) |, )[^\W\d_a-z][\w'’-]+| et al\.?){0,3},? "
    r"(?:1[89]|20)\d\d[a-z]?(?:; [^()\n]{1,80})?\)"
)
_SITE = re.compile(r"(?:[\w-]+\.)+[a-z]{2,}(?:/\S*)?|\W*\d*\W*|source|link|here", re.IGNORECASE)
"""A link's text that only names its target: nature.com, 1, source."""
_CODE = re.compile(r"(`+)(?!`)[^\n]+?(?<!`)\1(?!`)")
_FORMULA = re.compile(
    r"\$\$.{1,2000}?\$\$"
    r"|(?<![\\$\w])\$(?=\S)(?!\d[^$=^_\\+*/<>{}]*\$)[^$\n]{1,300}?(?<=\S)\$(?![\d$])"
    r"|\\\(.{1,2000}?\\\)"
    r"|\\\[(?![\d\s,;–-]+\\\]).{1,2000}?\\\]",
    re.DOTALL,
)
"""LaTeX: $…$ (by Pandoc's rule; prices are none), $$…$$, \\(…\\), \\[…\\]. \\[1\\] is a marker: some exporters of
Markdown write so, and a formula is never a number alone."""
_ARRAY = re.compile(r"(?:(?<![\w'’-])[b-zα-ω]|(?<!\w)\w*_\w+)(?:\[\d+\])*$")
_ASSIGNED = re.compile(r"\s?(?:[-+*/]?=|==)(?!\w*>)")
_TWO_NUMBERS = re.compile(r"\s*(\d+)\s*[,;–-]\s*(\d+)\s*")
_INTERVAL = re.compile(
    r"(?:\bintervals?|∈|\bCIs?:?|\bdomain"
    r"|\b(?:normali[sz]ed?|(?:re)?scaled?|clipped|mapped|bounded) (?:to|in|within|between)"
    r"|\b(?:a|an|the|this|its|of|rating|score|value|numeric|Likert|closed|open|point|der|einer|eine)"
    r"[\s-](?:scale|ranges?|Skala|Bereich|Intervall)"
    r"|\b(?:between|from)(?: \[[^\[\]]{1,12}\] (?:and|to))?)\s*(?:of\s|from\s|von\s)?$",
    re.IGNORECASE,
)
"""What stands before an interval. A `large scale` and a `wide range` are no scales of values: what follows is a marker."""
_UNIT_INTERVAL = re.compile(r"\s*0\s*[,–-]\s*1\s*")
_FROM_ZERO = re.compile(r"\[0\](?!\()")
_SIGHT = 40  # characters before a bracket that tell an array or an interval from a marker


@dataclass(frozen=True, slots=True)
class Marker:
    """A citation as it stands in an answer. start, end: its place in characters; names: the numbers, ids or addresses
    that it names; words: what of it are words of the answer (the text of a link)."""

    text: str
    start: int
    end: int
    names: tuple[str, ...]
    words: str = ""


def markers(text: str, ids: Collection[str] = (), parentheses: bool = False) -> list[Marker]:
    """The markers of a text in their order, none in code and formulas. ids: of sources, which `[doc_a]` may name;
    parentheses: whether `(1)` is a marker."""
    return _markers_outside(_code(text), text, ids, parentheses)


def _markers_outside(
    code: TextSpans, text: str, ids: Collection[str], parentheses: bool
) -> list[Marker]:
    spans = TextSpans([])
    marked: list[Marker] = []
    for marker in _candidates(text, frozenset(ids), parentheses):
        span = (
            marker.start,
            marker.end,
        )
        if code.overlaps(span) or spans.overlaps(span):
            continue
        spans.add(span)
        marked.append(marker)
    return sorted(
        marked,
        key=lambda marker: marker.start,
    )


def unread_marks(text: str, ids: Collection[str] = (), parentheses: bool = False) -> list[str]:
    """What may cite in a form that is no marker, in its order: numbers and forms of ids in brackets, (Author, 2020)."""
    read = _code(text)
    for marker in _markers_outside(read, text, ids, parentheses):
        read.add((marker.start, marker.end))
    forms = forms_of(ids)
    of_brackets = (
        match
        for match in _BRACKETS.finditer(text)
        if match["square"] is not None
        and is_unread(match["square"], forms)
        # [0, 1] alone is read as an interval, and may cite two sources: it is told
        and not _is_indexed(text, match, match["square"], counts_from_zero=True)
    )
    candidates = [*of_brackets, *_AUTHOR_YEAR.finditer(text)]
    return [match[0] for match in candidates if not read.overlaps(match.span())]


def _code(text: str) -> TextSpans:
    """Where code, formulas and pictures stand."""
    taken = fenced(text)
    for form in (_CODE, PICTURE, _FORMULA):
        taken += [match.span() for match in form.finditer(text)]
    return TextSpans(taken)


def _candidates(text: str, ids: frozenset[str], parentheses: bool) -> Iterator[Marker]:
    """What may be a marker, form by form: of two that overlap the first counts."""
    for link in _LINK.finditer(text):
        image, words, address = link.groups()
        if image:
            continue
        yield Marker(
            link[0], *link.span(), (address,), "" if _SITE.fullmatch(words.strip()) else words
        )
    for link in _ID_LINK.finditer(text) if ids else ():
        if link[2] in ids:
            words = "" if _SITE.fullmatch(link[1].strip()) or link[1] in ids else link[1]
            yield Marker(
                link[0],
                *link.span(),
                (link[2],),
                words,
            )
    for anchor in _ANCHOR.finditer(text):
        words = "" if _SITE.fullmatch(anchor[2].strip()) else anchor[2]
        yield Marker(anchor[0], *anchor.span(), (anchor[1],), words)
    for match, tag_names, words in tags(text):
        yield Marker(
            match[0],
            *match.span(),
            tag_names,
            words,
        )
    for lenticular in _LENTICULAR.finditer(text):
        yield Marker(
            lenticular[0],
            *lenticular.span(),
            (plain_number(lenticular[1]),),
        )
    yield from _in_brackets(text, ids)
    yield from _raised(text)
    for group in _PARENTHESES.finditer(text) if parentheses else ():
        if names := names_in(group[1], ()):
            yield Marker(
                group[0],
                *group.span(),
                names,
            )
    for footnote in _FOOTNOTE.finditer(text):
        yield Marker(
            footnote[0],
            *footnote.span(),
            (f"^{footnote[1]}",),
        )
    for address in ADDRESS.finditer(text):
        plain = address[1].rstrip(".,;:!?*_'")
        end = address.end() if address[0].endswith(">") else address.start(1) + len(plain)
        yield Marker(
            text[address.start() : end],
            address.start(),
            end,
            (plain,),
        )


def _in_brackets(text: str, ids: frozenset[str]) -> Iterator[Marker]:
    """Numbers and ids in brackets of any kind."""
    for pair in _RANGE_OF_BRACKETS.finditer(text):
        yield Marker(
            pair[0],
            *pair.span(),
            names_in(f"{pair[1]}-{pair[2]}", ()) or (),
        )
    for bracketed_id in sorted(source_id for source_id in ids if "[" in source_id):
        for of_id in re.finditer(re.escape(f"[{bracketed_id}]"), text):
            yield Marker(of_id[0], *of_id.span(), (bracketed_id,))
    counts_from_zero = _FROM_ZERO.search(text) is not None
    for match in _BRACKETS.finditer(text):
        content = match[match.lastgroup or 0]
        names = names_in(
            content,
            ids,
        )
        if _is_first_letter(text, match, content):
            continue
        if names is None or _is_indexed(text, match, content, counts_from_zero):
            continue
        is_id = any(not name.isdecimal() for name in names)
        if is_id and (_TARGET.match(text, match.end()) or _is_defined(text, match)):
            continue
        yield Marker(
            match[0],
            *match.span(),
            names,
        )


def _is_first_letter(text: str, bracket: re.Match[str], content: str) -> bool:
    """Whether a bracket holds the first letter of a word, [a]nother: a writer's mark for one that is a capital in the
    source, or is none. Scripts without capitals have no such mark, and no space behind a marker. A capital behind it
    begins a sentence of its own: [a]Rain falls."""
    behind = text[bracket.end() : bracket.end() + 1]
    before = text[bracket.start() - 1 : bracket.start()]
    has_case = content.lower() != content.upper() and behind.islower()
    return len(content) == 1 and has_case and not before.isalnum()


def _is_defined(text: str, bracket: re.Match[str]) -> bool:
    """Whether a bracket begins a line and a colon follows, as in a list of what ids stand for."""
    line_start = text.rfind("\n", 0, bracket.start()) + 1
    return text.startswith(":", bracket.end()) and not text[line_start : bracket.start()].strip(
        " \t-*+"
    )


def _raised(text: str) -> Iterator[Marker]:
    end_of_last = 0
    for raised in _RAISED.finditer(text):
        before = text[max(0, raised.start() - _SIGHT) : raised.start()].rstrip(" ,")
        is_behind_power = before.endswith("</sup>") and text[end_of_last : raised.start()].strip(
            " ,"
        )
        if is_behind_power or _UNIT.search(before):
            continue
        end_of_last = raised.end()
        digits = re.sub(r"</?sup>", "", raised[0], flags=re.IGNORECASE)
        names = names_in(digits.translate(_PLAIN_DIGITS).replace("˒", ","), ())
        if names:
            yield Marker(
                raised[0],
                *raised.span(),
                names,
            )
    for circled in _CIRCLED.finditer(text):
        numbers = dict.fromkeys(str(int(unicodedata.numeric(sign))) for sign in circled[0])
        yield Marker(
            circled[0],
            *circled.span(),
            tuple(numbers),
        )


def _is_indexed(text: str, bracket: re.Match[str], content: str, counts_from_zero: bool) -> bool:
    """Whether a bracket is an index of an array, x[1], or an interval: the range [0, 1]."""
    before = text[max(0, bracket.start() - _SIGHT) : bracket.start()]
    two = _TWO_NUMBERS.fullmatch(content)
    if two and int(two[1][:9]) < int(two[2][:9]):
        is_unit = _UNIT_INTERVAL.fullmatch(content) and not counts_from_zero
        if is_unit or ("," in content and _INTERVAL.search(before)):
            return True
    is_glued = bool(before) and not before[-1].isspace()
    return is_glued and bool(_ARRAY.search(before) or _ASSIGNED.match(text, bracket.end()))
