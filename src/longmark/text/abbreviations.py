"""Full stops that end no sentence: abbreviations, initials, units and ordinals of English and German."""

from __future__ import annotations

import re


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


_WORD = re.compile(r"[^\W\d_]+")
_LAST_WORD = re.compile(r"[^\W\d_](?:[\w.'’-]*\w)?$")
_DOTTED = re.compile(r"[^\W\d_](?:\.[^\W\d_]{1,3})+$")
_UNIT_BEFORE = re.compile(
    r"(?:\d\s?|°\s?|/|·)$"
)  # what stands before a unit of one letter: 3 K, 1.5 °C, km/h

# No word of these ends a sentence; numbered ones end none before a number, and names only before a word of _STARTERS.
_NEVER_LAST = word_set(
    "mr mrs ms mx dr drs prof hon gen gov sen capt sgt lt maj cmdr e.g i.e eg ie vs v cf viz approx ca fig figs eq eqs "
    "vol vols pp ed eds esp incl resp w.r.t a.k.a supp suppl bzw evtl ggf inkl exkl zzgl abzgl sog vgl hrsg bspw insb"
)
_PARTS = word_set(
    "art sec secs sect sects subsec subsect ch chap chaps ref refs col pt app apps appx tab tabs para paras thm eqn "
    "eqns ex exs def defs prop props alg cl pl cap num núm pág págs abs abb kap bd rn ziff anm anh anl"
)
_NUMBERED = _PARTS | word_set("no nos p max min nr")
_LABEL = re.compile(r"[A-Z]{1,2}[.-]?\d|[IVXLC]{2,}\b")  # Tab. S3, App. A.1, Kap. IV
_LETTER = re.compile(
    r"[B-HJ-Z](?=[\s.,;:)\]]|$)|[AI](?=[.,;:)\]]|\s(?:and|or|to|und|bis)\b)"
)  # App. B, but no new sentence: A man, I
_BEFORE_NAMES = word_set(
    "al inc ltd co corp jr sr st ave dept univ jan feb mar apr jun jul aug sep sept oct nov dec mt ft mio mrd tsd aufl "
    "jh jhd chr hl verf"
)
_HOURS = word_set("a.m p.m")
_TITLES = word_set("med phil jur rer nat iur theol dent vet habil mult h.c h c ing oec pol")
_AFTER_TITLE = re.compile(r"\b(?:Dr|Prof|Dipl)\.[\s-]?(?:\w{1,5}\.\s?){0,3}$")  # Dr. rer. nat.
GERMAN_MONTHS = word_set("januar februar märz mai juni juli oktober dezember")
"""Those that are no English words: what stands before one is a day."""
_GERMAN = word_set(
    "der die das und ist nicht ein eine einen dem den des mit von zu zum zur auf für im sie wir wurde war"
)
_ENGLISH = word_set("the and is of to in that it was for with as are on by be this at from or an")
_NEVER_LAST_IN_GERMAN = word_set("str gem")
# Words before a capital letter that is a name of its own, as in `an A.`, `plan C.`, `Vitamin D.`; elsewhere it is an
# initial.
_BEFORE_LETTERS = word_set(
    "a an the plan vitamin type class grade group hepatitis option part point phase gruppe typ"
)


def is_german(text: str) -> bool:
    """Whether a text has more function words of German than of English."""
    words = [word.lower() for word in _WORD.findall(text)]
    return sum(word in _GERMAN for word in words) > sum(word in _ENGLISH for word in words)


def abbreviation(before: str, german: bool, following: str = "", after: str = "") -> str:
    """What the word before a full stop is: `never` (ends no sentence), `numbered` (ends none before a number), `names`
    (ends one only before a word that often starts one), `hours` (a.m.), or "" for a common word. following: the word
    behind it; after: all that stands there."""
    match = _LAST_WORD.search(before)
    if not match:
        return ""
    word = match[0]
    earlier = before[: match.start()]
    folded = word.lower()
    if following == "Chr" and folded in ("v", "n"):
        return "never"
    if folded in _TITLES and _AFTER_TITLE.search(earlier):
        return "never"
    if len(word) == 1:
        return _of_letter(word, earlier, german)
    if folded in _NEVER_LAST or (german and folded in _NEVER_LAST_IN_GERMAN):
        return "never"
    if folded in _PARTS and (_LABEL.match(after) or (word[0].isupper() and _LETTER.match(after))):
        return "never"
    if folded in _NUMBERED:
        return "numbered"
    if folded in _HOURS:
        return "hours"
    return "names" if folded in _BEFORE_NAMES or _DOTTED.match(word) else ""


def _of_letter(letter: str, earlier: str, german: bool) -> str:
    """The kind of a single letter before a full stop: of a unit and of a name (plan C) none; else it is an initial, a
    `v.` or `p.`, or a part of a German abbreviation (z. B.)."""
    if _UNIT_BEFORE.search(earlier):
        return ""
    previous = _LAST_WORD.search(earlier.rstrip())
    if letter.isupper():
        return "" if previous and previous[0].lower() in _BEFORE_LETTERS else "names"
    if letter in _NEVER_LAST or (german and letter.isalpha()):
        return "never"
    return "numbered" if letter in _NUMBERED else ""
