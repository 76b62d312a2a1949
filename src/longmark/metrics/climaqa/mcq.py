"""Multiple choice (ClimaQA, section 5.1): whether the answer names the right option.

1 if the option that the answer names is the key, else 0. No call. The key is the reference: the letter of an option or
its text. The options are the example's `options`: letter -> text, or a list, whose letters are a, b, c, …

An answer names an option by its letter (`b`, `(B)`), by its text, or by both (`b) Water vapour`): alone, at its
beginning, on its last line, or in a sentence that says so in English, German or Chinese ("The correct answer is b",
"Richtig ist b", "故选B"). Case, spaces and markup are ignored, and so are options that the answer rejects. An answer
that names none or several, or a letter with another option's text, counts as wrong, as in the paper, and the evidence
says so. Unscored: the reference is not one of the options (`undefined`); there are no options (`missing_input`).

Parameters: read: `option` as above; `first` reads the first character that is not a space or a mark, which is the
paper's first token.
Deviations: none with `read=first`; a first token of several characters (`bc`) is read there as its first letter.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Set
from dataclasses import dataclass
from typing import Any, Literal

from longmark.errors import NoScore
from longmark.metric import Metric, Score, Silence, paper
from longmark.models.handles import Models
from longmark.records import Example
from longmark.records.same import caseless, comparable
from longmark.text.words import compatible

_MARKS = " \t\r\n*_`\"'“”‘’().:,;[]"


@dataclass(frozen=True)
class McqParams:
    read: Literal["option", "first"] = paper("option", "first")


def options_of(listed: Mapping[str, Any] | list[Any] | None) -> dict[str, str]:
    """Letter (lower case) -> text of the options, in their order. NoScore (`undefined`) for more than 26 in a list."""
    if isinstance(listed, list):
        if len(listed) > 26:
            raise NoScore(
                "undefined", f"The example has {len(listed)} options; at most 26 have letters."
            )
        return {chr(ord("a") + i): str(text) for i, text in enumerate(listed)}
    return {
        caseless(str(letter).strip(_MARKS)): str(text) for letter, text in (listed or {}).items()
    }


def option_named(answer: str, options: Mapping[str, str], read: str = "option") -> str | None:
    """The letter of the option that an answer names; None for none, or for several."""
    if read == "first":
        letter = answer.strip(_MARKS)[:1].casefold()
        return letter if letter in options else None
    stripped = _folded(answer)
    by_text = [letter for letter, text in options.items() if _folded(text) == stripped]
    if stripped in options or len(by_text) == 1:
        return stripped if stripped in options else by_text[0]
    return _read(answer, options)


def _folded(text: str) -> str:
    return comparable(text).strip(_MARKS)


def _plain(text: str) -> str:
    """A text without markup, in compatible forms."""
    return re.sub(r"[*_`\"“”„»«‘$]", "", compatible(text).replace("’", "'"))


# How replies name options ------------------------------------------------------------------------------------------
#
# Each mention of an option becomes one private character: a letter with a mark beside it, or a text, is `_firm`; a bare
# letter is `_loose` (it can be an article or a unit) and counts only where the reply says that it is the answer, or
# where it stands alone. The patterns below then read sentences of such characters.

_END = 4_000  # characters at each end of a reply that are read
_FIRM = 0xE000  # + the option's place
_LOOSE = 0xE100  # + the option's place
_TORN = "\uf000"  # a letter with the text of another option
_X = "[\ue000-\ue0ff\ue100-\ue1ff]"
_LATIN = "A-Za-z\u00c0-\u024f0-9"
_OPEN = r"[(\[{【]"
_CLOSE = r"[)\]}】]"
_AFTER = (  # words that can follow a bare letter; before any other word it is an article or an initial
    "is|are|ist|sind|would|wäre|because|since|as|and|or|und|oder|weil|denn|da|but|aber|sondern|instead|trifft|stimmt|entscheiden"
)
_LINK = (  # between "answer" and what it is
    r"(?:[\s:=\-–—】]|\b(?:is|are|was|be|would|should|must|ist|sind|lautet|wäre|also|daher|somit|therefore|thus|most"
    r"|likely|probably|clearly|option|choice|letter|answer|antwort(?:möglichkeit)?|buchstabe|mich|für|with|the|die)\b"
    r"|的?(?:是|为|应该是|应为|应该|选项|答案)){0,12}"
)
_ANSWER = re.compile(  # what is said to be the answer
    rf"(?:(?:answer|solution|antwort|lösung|correct|right|richtig\w*|korrekt\w*|zutreffend\w*|choose|chose|select"
    rf"|pick|go|going|wähle|nehme|entscheide)\b|答案|正确的?|选择?){_LINK}({_X})"
    rf"|(?:\b(?:so|thus|hence|therefore|somit|daher|deshalb)\b|所以|因此)[,，]?{_LINK}({_X})(?=\s*(?:[.。!]|\Z))",
    re.IGNORECASE,
)
_CHOSEN = re.compile(
    rf"(?:sondern|but rather|而是)\s*({_X})|für\s+({_X})\s+entscheiden|wird\s+({_X})\s+gewählt",
    re.IGNORECASE,
)
_IS_RIGHT = re.compile(
    rf"({_X}),?\s*(?:选项|项)?(?:是|\b(?:is|are|would be|must be|seems|ist|wäre)\b)?"
    r"\s*(?:the|die|das|der)?\s*(?:most|best)?\s*"
    r"(?:\b(?:correct|right|best|richtig|richtige|korrekt|korrekte|zutreffend)\b|trifft zu|stimmt|正确|对)",
    re.IGNORECASE,
)
_IS_WRONG = re.compile(
    rf"({_X})\s*(?:选项|项)?\s*(?:(?:is|are|ist|sind)\s*(?:not|n't|nicht|incorrect|wrong|false|falsch|kein\w*)|isn't"
    r"|是?(?:错误|错的|不正确|不对))",
    re.IGNORECASE,
)
_NOT = re.compile(
    rf"(?:\b(?:not|n't|nicht|neither|nor|weder|noch|never|except|kein\w*|cannot be|wrong|incorrect|falsch\w*)|n't be"
    rf"|不是|并非|而非|不选|错误的?)\s*"
    rf"(?:option|choice|answer|antwort|选项|答案)?(?:[\s:]|\b(?:is|ist|are|sind)\b|是)*({_X})",
    re.IGNORECASE,
)
_WEAK = re.compile(
    rf"(?:\b(?:it is|it's|it would be|this is|es ist|das ist|option|choice|antwortmöglichkeit|buchstabe|auswahl|letter)"
    rf"\b|选项|是)[\s:]*({_X})",
    re.IGNORECASE,
)
_JOINED = re.compile(
    rf"{_X}(?:\s*(?:[,、/&;]|\b(?:or|and|und|oder|as well as|als auch|sowie)\b|或者?|和|与|以及|及)+\s*{_X})+",
    re.IGNORECASE,
)
_UNSURE = re.compile(
    r"\b(?:not|cannot|never|neither|none|nor|unsure|whether|if|but|however|nicht|kein\w*|weder|ob|aber|jedoch|sondern)\b"
    r"|n't\b|[不没未无但非]",
    re.IGNORECASE,
)
_FIRMLY = "[\ue000-\ue0ff]"
_CLAUSE = re.compile(r"[.!?,;。！？，；\n]+")
_SENTENCE = re.compile(r"(?<=[.!?])\s+|[。！？]\s*|\n+")


def _read(answer: str, options: Mapping[str, str]) -> str | None:
    """The option that a reply in words names; None for none, for several, or for a letter with another one's text."""
    text = _mentions(answer, options)
    if _TORN in text:
        return None
    text = _NOT.sub("", _IS_WRONG.sub("", text))
    joined = [
        m for m in _JOINED.finditer(text) if len({_place(x) for x in re.findall(_X, m[0])}) > 1
    ]
    starts = {m.start() for m in joined}
    ends = {m.end() for m in joined}
    told = [m for pattern in (_ANSWER, _CHOSEN, _IS_RIGHT) for m in pattern.finditer(text)]
    stated = {_place(m[m.lastindex or 0]) for m in told}
    alone = _alone(text, starts)
    several = any(
        m.start(m.lastindex or 0) in starts or m.end(m.lastindex or 0) in ends for m in told
    )
    if several or len(stated | alone) > 1:
        return None
    if not (stated or alone):
        for m in joined:
            text = text.replace(m[0], " ")
        clauses = [clause for clause in _CLAUSE.split(text) if not _UNSURE.search(clause)]
        stated = {_place(m[1]) for clause in clauses for m in _WEAK.finditer(clause)}
        if (
            not stated
            and not joined
            and len([sentence for sentence in _SENTENCE.split(text) if sentence.strip()]) == 1
        ):
            stated = (
                {_place(x) for x in re.findall(_FIRMLY, text)}
                if not _UNSURE.search(text)
                else set()
            )
    places = stated | alone
    return list(options)[places.pop()] if len(places) == 1 else None


def _alone(text: str, joined: Set[int]) -> set[int]:
    """The option that stands by itself at the beginning of the reply or on its last line; after a list of options, only
    one apart from it."""
    listed = len({_place(m[1]) for m in re.finditer(rf"^[\W_]*?({_X})", text, re.MULTILINE)}) > 1
    before = r"\n\s*\n" if listed else r"\A|\n"
    mention = re.search(rf"(?:{before})[^\w\n\ue000-\uf000]*({_X})[^\w\n\ue000-\uf000]*\Z", text)
    if not mention and not listed:
        ends = rf"[.:,\-–—!?。，、？]|\n|\Z|{_CLOSE}|\b(?:because|since|weil|denn|da)\b"
        mention = re.match(rf"[^\w\ue000-\uf000]*({_X})(?=\s*(?:{ends}))", text)
    return {_place(mention[1])} if mention and mention.start(1) not in joined else set()


def _place(mention: str) -> int:
    return ord(mention) - (_LOOSE if ord(mention) >= _LOOSE else _FIRM)


def _mentions(answer: str, options: Mapping[str, str]) -> str:
    """A reply without markup, in which each mention of an option is one character. Of a long one its two ends."""
    if len(answer) > 2 * _END:
        answer = f"{answer[:_END]}\n\n{answer[-_END:]}"
    text = re.sub(r"<(\w+)>", r"\1: ", compatible(answer).replace("’", "'"))
    text = re.sub(r"[*_`\"“”„»«‘]|\\[a-z]+|</\w+>|(?<!\w)'|'(?!\w)|\$", "", text)
    text = re.sub(r"\s*\n\s*\n\s*", "\n\n", re.sub(r"[^\S\n]+", " ", text))
    keys = {key.casefold(): place for place, key in enumerate(options)}
    worded = {
        _folded(_plain(option_text)): place
        for place, option_text in enumerate(options.values())
        if _folded(_plain(option_text))
    }
    by_length = sorted(worded, key=len, reverse=True)
    words = (
        "|".join(r"\s+".join(map(re.escape, option_text.split())) for option_text in by_length)
        or r"(?!)"
    )
    letters = "|".join(sorted(map(re.escape, keys), key=len, reverse=True)) or r"(?!)"
    pattern = re.compile(
        rf"(?<![{_LATIN}'°])(?:(?P<text>{words})(?!\w)(?:\s*{_OPEN}\s*(?P<after>{letters})\s*{_CLOSE})?"
        rf"|(?P<open>{_OPEN}\s*)?(?P<letter>{letters})(?![{_LATIN}'])"
        rf"(?:(?P<close>\s*{_CLOSE})|(?=\s*[.:]))?(?:\s*[.:,\-–—、]?\s*{_OPEN}?(?P<its>{words})(?!\w){_CLOSE}?)?)",
        re.IGNORECASE,
    )

    def as_mention(match: re.Match[str]) -> str:
        if match["text"]:
            place = worded[_folded(match["text"])]
            torn = match["after"] and keys[match["after"].casefold()] != place
            return _TORN if torn else chr(_FIRM + place)
        place = keys[match["letter"].casefold()]
        if match["its"]:
            return chr(_FIRM + place) if worded[_folded(match["its"])] == place else _TORN
        if match["close"]:
            return chr(_FIRM + place)
        if re.match(rf"[ \t]+(?!(?:{_AFTER})\b)[{_LATIN}]", text[match.end() :]):
            return match[0]
        return chr(_LOOSE + place) + match[0][len(match["open"] or "") + len(match["letter"]) :]

    return pattern.sub(as_mention, text)


# Score -------------------------------------------------------------------------------------------------------------


async def score(example: Example, _models: Models, params: McqParams) -> Score:
    """1 or 0, and what was read."""
    options = options_of(example.options)
    keys = {option_named(reference, options) for reference in example.references} - {None}
    if not keys:
        raise NoScore("undefined", "The reference is neither the letter nor the text of an option.")
    named_option = option_named(example.answer or "", options, params.read)
    evidence: dict[str, Any] = {"named": named_option, "key": sorted(str(key) for key in keys)}
    if named_option is None:
        evidence["note"] = "the answer names no option, or several: it counts as wrong"
    return Score(float(named_option in keys), evidence)


METRIC = Metric(
    score,
    needs=("answer", "references", "options"),
    bounds=(0, 1),
    params=McqParams,
    version=3,
    silence=Silence(0, 0, 0),
)
