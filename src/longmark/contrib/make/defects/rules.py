"""The rules of defects: where an answer can be changed, and what then stands there.

A rule lists places; a place is one edit, or two that belong together (a citation that moves, two sentences that change
places). Everything is drawn for all places before some are taken, so that a greater strength has the places of a
smaller one, too. `words.yaml` says what rules know of English, German and Chinese. Rules on sentences hold for every
language whose full stops `text.sentences` knows.
"""

from __future__ import annotations

import math
import random
import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence, Set
from dataclasses import dataclass
from functools import cache, cached_property
from pathlib import Path
from typing import Any, NamedTuple

import yaml

from longmark.contrib.make.perturb import NotMade
from longmark.records import Example
from longmark.text.overlap import share_in, words
from longmark.text.sentences import CITATION, sentence_spans
from longmark.text.words import without_spaces, word_spans
from longmark.text.words import words as words_in_order

ENGLISH, GERMAN, CHINESE = LANGUAGES = ("en", "de", "zh")
SUPPORTED = 0.6
"""Share of a sentence's content words in one passage from which it states a fact of the passage."""

_FEWEST = 4  # words (twice as many characters without spaces) of a sentence that is deleted, put in or rewritten
_TRIES = 50  # sentences among which a citation looks for another place
_KNOWN = 0.12
_HAN = 0.3  # share of words that tells the language; of characters
_FIXED = re.compile(
    rf"{CITATION.pattern}|(?:[a-z][a-z0-9+.-]{{1,20}}://|www\.)\S+|`[^`]*`", re.IGNORECASE
)
_CLOSING = ".!?…。！？\"'”’»)*_"
_NAME = r"(?<=[a-z,] )[A-Z][\w&-]+(?: (?:(?:of|the|de|and) )?[A-Z][\w&-]+)*"
_NUMBER = {"": r"\d+", GERMAN: r"\d{1,3}(?:\.\d{3})+(?:,\d+)?|\d+(?:,\d+)?"}
_ENGLISH_NUMBER = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?"
_NOT_BEFORE = r"(?<![A-Za-z\d_.,:/#^–٫٬-])"
_NOT_BEHIND = r"(?![A-Za-z\d_]|[.,:/–٫٬-]\d|-\w|年|月|日)"
_GAP = "[ \u00a0\u2009\u202f'’]"  # between groups of a number, 1 234: a part of it is no number
_NOT_IN_GROUPS = rf"(?<!\d{_GAP}(?=\d{{3}}(?!\d)))(?!\d{{1,3}}{_GAP}\d{{3}}(?!\d))"
_ISO_YEAR = r"(?<![\w-])(?:1\d{3}|20\d{2})(?=-(?:0[1-9]|1[0-2])-\d{2}(?!\d))"


class TextEdit(NamedTuple):
    """`new` in the place of answer[start:end]; note: why this place."""

    start: int
    end: int
    new: str
    note: str = ""


Place = tuple[TextEdit, ...]


def applied(text: str, edits: Sequence[TextEdit]) -> str:
    """The text with all edits made. ValueError for edits that overlap."""
    parts = list[str]()
    at = 0
    for edit in sorted(edits):
        if edit.start < at:
            raise ValueError(f"two edits overlap at {edit.start}")
        parts += [text[at : edit.start], edit.new]
        at = edit.end
    return "".join((*parts, text[at:]))


@cache
def words_of(language: str) -> dict[str, Any]:
    """What `words.yaml` says of a language; nothing of an unknown one."""
    loaded = yaml.safe_load(Path(__file__).with_name("words.yaml").read_text(encoding="utf-8"))
    return loaded.get(language) or {}


def language_of(text: str) -> str:
    """`en`, `de` or `zh`; "" for a text that is in none of them for certain."""
    if sum("\u4e00" <= char <= "\u9fff" for char in text) > _HAN * sum(
        char.isalnum() for char in text
    ):
        return "" if re.search("[\u3040-\u30ff\uac00-\ud7af]", text) else CHINESE
    word_counts = Counter(word for word in words_in_order(text) if not word.isnumeric())
    total = max(word_counts.total(), 1)
    english, german = (
        sum(word_counts[word] for word in words_of(name)["known"].split()) / total
        for name in LANGUAGES[:2]
    )
    if max(english, german) < max(_KNOWN, 2 * min(english, german)):
        return ""
    return ENGLISH if english > german else GERMAN


@dataclass(frozen=True)
class AnswerToChange:
    """An answer to change. others: gives sentences of answers to other questions, the nearest first."""

    example: Example
    language: str
    draw: random.Random
    others: Callable[[], Iterator[str]] = lambda: iter(())

    @property
    def text(self) -> str:
        return self.example.answer or ""

    @property
    def glue(self) -> str:
        """What stands between two sentences."""
        return "" if self.language == CHINESE else " "

    @cached_property
    def passages(self) -> list[set[str]]:
        """The words of each."""
        return [words([context.text]) for context in self.example.contexts]

    @cached_property
    def spans(self) -> list[tuple[int, int]]:
        """Of the sentences."""
        return sentence_spans(self.text)

    def said(self, span: tuple[int, int]) -> str:
        return self.text[span[0] : span[1]]

    def inside(self, start: int, end: int) -> bool:
        """Whether a part of the text is in a sentence."""
        at = bisect_right(self.spans, (start, len(self.text)))
        return at > 0 and end <= self.spans[at - 1][1]

    def mixed(self) -> list[tuple[int, int]]:
        """The sentences in a drawn order."""
        return self.draw.sample(self.spans, len(self.spans))

    def find(self, pattern: str) -> Iterator[re.Match[str]]:
        """The matches inside sentences that touch no citation, address or code."""
        fixed = [match.span() for match in _FIXED.finditer(self.text)]
        for match in re.compile(pattern).finditer(self.text):
            place = bisect_right(fixed, (match.end() - 1, len(self.text)))
            if self.inside(*match.span()) and not (place and fixed[place - 1][1] > match.start()):
                yield match

    def swaps(
        self, pattern: str, replacement: Callable[[re.Match[str]], str | Sequence[str] | None]
    ) -> list[Place]:
        """A place for each match: its text, or a drawn one of several, for the matched one."""
        places: list[Place] = []
        for match in self.find(pattern):
            replaced = replacement(match)
            choices = [
                choice
                for choice in ((replaced,) if isinstance(replaced, str) else replaced or ())
                if choice != match[0]
            ]
            if choices:
                places.append((TextEdit(*match.span(), self.draw.choice(choices)),))
        return places


def long_enough(sentence: str) -> bool:
    worded = sum(not sentence[start:end].isnumeric() for start, end, _ in word_spans(sentence))
    return worded >= _FEWEST or without_spaces(sentence) > 2 * _FEWEST


def _any_of(names: Sequence[str], language: str) -> str:
    ordered = "|".join(map(re.escape, sorted(names, key=lambda name: (-len(name), name))))
    return f"(?:{ordered})" if language == CHINESE else rf"(?<![\w-])(?:{ordered})(?![\w-])"


# Facts ---------------------------------------------------------------------------------------------------------------


def number(answer: AnswerToChange) -> list[Place]:
    """Half to three times as much, with as many decimals, in the form of the language; a share stays below 100 %."""
    thousands, point = (".", ",") if answer.language == GERMAN else (",", ".")
    years = {match.start() for match in answer.find(_year(answer))}

    def others(match: re.Match[str]) -> list[str]:
        plain = match[0].replace(thousands, "").replace(point, ".")
        if match.start() in years or len(plain) > 15:
            return []
        places = len(plain.partition(".")[2])
        value = float(plain)
        ceiling = (
            100
            if value <= 100 and re.match(r"\s?(?:%|percent|Prozent)", answer.text[match.end() :])
            else math.inf
        )
        step = 10.0**-places
        changed = (
            [value * factor for factor in (0.5, 0.7, 1.5, 2, 3)]
            if value > step
            else [value + step, value + 2 * step]
        )
        rounded = {
            f"{changed_value:.{places}f}" for changed_value in changed if changed_value <= ceiling
        }
        return [
            _in_digits_of(
                match[0],
                (
                    f"{int(integral):,}".replace(",", thousands)
                    if thousands in match[0]
                    else integral
                )
                + (dot and point)
                + decimals,
            )
            for integral, dot, decimals in (
                rounded_value.partition(".")
                for rounded_value in sorted(rounded)
                if float(rounded_value) not in (0, value)
            )
        ]

    return answer.swaps(
        _NOT_BEFORE
        + _NOT_IN_GROUPS
        + f"(?:{_NUMBER.get(answer.language, _ENGLISH_NUMBER)})"
        + _NOT_BEHIND,
        others,
    )


def _in_digits_of(written: str, european: str) -> str:
    """A number in the script of another one: ٣٠ in that of ٦٠."""
    digit = next(character for character in written if character.isdecimal())
    zero = ord(digit) - unicodedata.decimal(digit)
    return european.translate({ord("0") + value: zero + value for value in range(10)})


def _year(answer: AnswerToChange) -> str:
    return "|".join((*filter(None, [words_of(answer.language).get("year")]), _ISO_YEAR))


def date(answer: AnswerToChange) -> list[Place]:
    """Another year (by one to nine), another month."""
    language_words = words_of(answer.language)
    months = language_words["months"].split() or [str(month) for month in range(1, 13)]
    places = answer.swaps(
        _year(answer), lambda year: [str(int(year[0]) + shift) for shift in range(-9, 10)]
    )
    return places + answer.swaps(
        language_words["month"].replace("{0}", "|".join(months)), lambda _: months
    )


def unit(answer: AnswerToChange) -> list[Place]:
    """Another unit of the same quantity, behind a number in digits or in a word."""
    groups = [
        group.split()
        for language in ("any", answer.language)
        for group in words_of(language)["units"]
    ]
    group_of = {name: group for group in reversed(groups) for name in group}
    names = "|".join(map(re.escape, sorted(group_of, key=lambda name: (-len(name), name))))
    end = r"(?![A-Za-z0-9_°²³/])" if answer.language == CHINESE else r"(?![\w²³/])"
    counts = "".join(
        rf"|(?<=\b{count}{answer.glue})" for count in words_of(answer.language)["counts"].split()
    )
    return answer.swaps(
        rf"(?:(?<=\d)|(?<=\d[ \u00a0]){counts})(?:{names}){end}", lambda match: group_of[match[0]]
    )


def entity(answer: AnswerToChange) -> list[Place]:
    """Another name: in English one of the passages, the question and the answer with as many words; in German and
    Chinese another country or city of a list."""
    if known_places := words_of(answer.language).get("places", "").split():
        return answer.swaps(_any_of(known_places, answer.language), lambda _: known_places)
    none = {"I", *words_of(ENGLISH)["months"].split()}
    texts = (
        answer.text,
        answer.example.question or "",
        *(context.text for context in answer.example.contexts),
    )
    names = sorted({name for text in texts for name in re.findall(_NAME, text)} - none)

    def others(match: re.Match[str]) -> list[str]:
        old = match[0].split()
        like = [
            name for name in names if name.isupper() == match[0].isupper() and match[0] not in none
        ]
        stems = {word[:4] for word in old}  # `India` is no other name than `Indian`
        return [
            name
            for name in like
            if len(name.split()) == len(old) and stems.isdisjoint(word[:4] for word in name.split())
        ]

    return answer.swaps(_NAME, others)


def negation(answer: AnswerToChange) -> list[Place]:
    """A negation put in where there is none, or taken out."""

    def turned(to: str) -> Callable[[re.Match[str]], str]:
        return lambda match: match.expand(to)

    return [
        place
        for old, new in words_of(answer.language)["negations"]
        for place in answer.swaps(old, turned(new))
    ]


def direction(answer: AnswerToChange) -> list[Place]:
    """A word for more, later or further by the word for the contrary."""
    language_words = words_of(answer.language)
    opposites = dict[str, str]()
    for word, two in (pair.split() for pair in language_words["directions"]):
        for old, new in ((word, two), (two, word)):
            opposites.setdefault(old, new)
            opposites.setdefault(old.capitalize(), new.capitalize())
    fixed = {
        place
        for match in re.finditer(language_words["not_directions"], answer.text, re.IGNORECASE)
        for place in range(*match.span())
    }
    names = _any_of(list(opposites), answer.language)
    return answer.swaps(
        names, lambda match: None if match.start() in fixed else opposites[match[0]]
    )


# Sentences -----------------------------------------------------------------------------------------------------------


def deleted(answer: AnswerToChange) -> list[Place]:
    """A sentence that states a fact of a passage, and of whose words the rest of the answer has a smaller share."""
    if not answer.passages:
        raise NotMade("it has no passages, so no sentence is known to state a fact of them")
    sentence_words = [words([answer.said(span)]) for span in answer.spans]
    count = Counter(word for sentence in sentence_words for word in sentence)
    repeated = {word for word, times in count.items() if times > 1}
    places: list[Place] = []
    for span, own_words in zip(answer.spans, sentence_words, strict=True):
        share, passage = max(
            (share_in(own_words, having) or 0.0, -n) for n, having in enumerate(answer.passages, 1)
        )
        if (
            long_enough(answer.said(span))
            and share >= SUPPORTED
            and (share_in(own_words, repeated) or 0.0) < SUPPORTED
        ):
            note = f"passage {-passage} has {share:.2f} of its content words"
            places.append((TextEdit(*_with_gap(answer.text, *span), "", note),))
    return places[: len(sentence_words) - 1]


def _with_gap(text: str, start: int, end: int) -> tuple[int, int]:
    """A sentence with the white space that goes with it; the whole line where a list item has nothing else."""
    line = text.rfind("\n", 0, start) + 1
    stop = (text.find("\n", end) + 1 or len(text) + 1) - 1
    before = text[line:start]
    after = text[end:stop]
    if after.strip():
        return start, end + len(after) - len(after.lstrip())
    return (
        (start - len(before) + len(before.rstrip()), end)
        if len(before) > 8
        else (line, min(stop + 1, len(text)))
    )


def shuffled(answer: AnswerToChange) -> list[Place]:
    """Two sentences that change places; each sentence is in one such pair at most."""
    order = answer.mixed()
    pairs = [
        pair
        for pair in zip(order[::2], order[1::2], strict=False)
        if len({*map(answer.said, pair)}) > 1
    ]
    return [
        (TextEdit(*span, answer.said(two)), TextEdit(*two, answer.said(span)))
        for span, two in pairs
    ]


def neighbour(answer: AnswerToChange) -> list[Place]:
    """A sentence of an answer to another question behind a sentence; the passages and the answer do not say it."""
    stated_words = words([answer.text]).union(*answer.passages)
    places = list[Place]()
    fitting = (
        sentence
        for sentence in answer.others()
        if long_enough(sentence) and (share_in(words([sentence]), stated_words) or 0) < SUPPORTED
    )
    for (_, end), sentence in zip(answer.mixed(), fitting, strict=False):
        places.append(
            (TextEdit(end, end, answer.glue + sentence, "from an answer to another question"),)
        )
    if not places and answer.spans:
        raise NotMade(
            "the file has no fitting sentence in an answer to another question in its language"
        )
    return places


def padding(answer: AnswerToChange) -> list[Place]:
    """A sentence without content behind a sentence; each once."""
    lines = [line for line in words_of(answer.language)["padding"] if line not in answer.text]
    ends = zip(answer.mixed(), answer.draw.sample(lines, len(lines)), strict=False)
    return [(TextEdit(end, end, answer.glue + line),) for (_, end), line in ends]


def truncated(answer: AnswerToChange) -> list[Place]:
    """The answer ends in the middle of its last sentence, its last but one, and so on, but not in its first."""
    middles = [((start + end) // 2, end) for start, end in reversed(answer.spans[1:])]
    cuts = [max(answer.text.find(" ", middle, end), middle) for middle, end in middles]
    return [(TextEdit(cut, len(answer.text), ""),) for cut in cuts]


def citation(answer: AnswerToChange) -> list[Place]:
    """A citation `[n]` moves to the end of a sentence that does not have it."""
    places: list[Place] = []
    for match in CITATION.finditer(answer.text):
        drawn = answer.draw.sample(answer.spans, min(len(answer.spans), _TRIES))
        span = next(
            (candidate for candidate in drawn if match[0] not in answer.said(candidate)), None
        )
        if span and answer.inside(*match.span()):
            place = span[0] + len(answer.said(span).rstrip(_CLOSING))
            start = len(answer.text[: match.start()].rstrip(" "))
            places.append(
                (TextEdit(start, match.end(), ""), TextEdit(place, place, f" {match[0]}"))
            )
    return places


def refusal(answer: AnswerToChange) -> list[Place]:
    """A refusal in the place of the answer."""
    return [(TextEdit(0, len(answer.text), words_of(answer.language)["refusal"]),)]


def wanted(strength: str, n_places: int) -> int:
    """How many of so many places a strength changes: a number (`2`), or a share (`50%`), at least one."""
    return (
        math.ceil(int(strength[:-1]) * n_places / 100) if strength.endswith("%") else int(strength)
    )


def taken(
    places: Sequence[Place], strength: str, draw: random.Random, *, ordered: bool
) -> list[Place]:
    """The places of a strength, none of which touches another. ordered: each place includes those before it, so that
    one is enough. NotMade if there are too few."""
    apart = list(places) if ordered else []
    used = set[int]()
    put = set[int]()
    for place in () if ordered else draw.sample(places, len(places)):
        if not any(_clash(edit, used, put) for edit in place):
            apart.append(place)
            used.update(at for edit in place for at in range(edit.start, edit.end))
            put.update(edit.start for edit in place if edit.start == edit.end)
    count = wanted(strength, len(apart))
    if not 0 < count <= len(apart):
        many = (
            f"the rule finds {len(apart)} place{'s' if len(apart) > 1 else ''} in it, not {count}"
        )
        raise NotMade(many if apart else "the rule finds no place in it")
    return apart[count - 1 : count] if ordered else apart[:count]


def _clash(edit: TextEdit, used: Set[int], put: Set[int]) -> bool:
    """Whether an edit touches changed characters, or puts something in where something is put in."""
    if edit.start == edit.end:
        return edit.start in put or {edit.start - 1, edit.start} <= used
    return not used.isdisjoint(range(edit.start, edit.end)) or not put.isdisjoint(
        range(edit.start + 1, edit.end)
    )


class Kind(NamedTuple):
    """A kind of defect. rule: None: a generator writes it. worded: only in the languages of `words.yaml`; whole: of the
    complete answer, so that it has one strength."""

    rule: Callable[[AnswerToChange], list[Place]] | None
    worded: bool = False
    whole: bool = False


CONTRADICTION = "contradiction"
OFF_TOPIC = "off_topic"
_WORDED = (date, unit, entity, negation, direction, padding, refusal)
_RULES = (
    deleted,
    number,
    date,
    unit,
    entity,
    negation,
    direction,
    neighbour,
    shuffled,
    padding,
    truncated,
    citation,
)
KINDS = {
    **{rule.__name__: Kind(rule, rule in _WORDED, rule is refusal) for rule in (*_RULES, refusal)},
    CONTRADICTION: Kind(None),
    OFF_TOPIC: Kind(None, worded=True, whole=True),
}
