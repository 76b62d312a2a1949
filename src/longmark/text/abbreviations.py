"""Full stops that end no sentence: abbreviations, initials, units and ordinals.

Words of English and German stand here, those of other languages in `text.local_abbreviations`.
"""

from __future__ import annotations

import re

from longmark.text.local_abbreviations import LOCAL, SURE, Abbreviations, word_set

_MARKS = "\u0300-\u036f\u064b-\u0652\u0670\u0900-\u0903\u093a-\u094f\u0951-\u0957\u0962\u0963"
"""Accents and vowel signs of Latin, Cyrillic, Arabic and Devanagari, which are no word characters of `re`."""
_LAST_WORD = re.compile(rf"[^\W\d_](?:[\w{_MARKS}.'’-]*[\w{_MARKS}])?$")
_DOTTED = re.compile(r"[^\W\d_](?:\.-?[^\W\d_]{1,3})+$")
_INDIAN = "\u0900-\u0963"
_DOTTED_INDIAN = re.compile(rf"[{_INDIAN}]{{1,4}}(?:\.[{_INDIAN}]{{1,4}})+$")  # जी.डी.पी, कि.मी
# Names of Latin letters as Hindi writes initials: बी. सी. Some are words, too; alone they are none.
_INDIAN_LETTERS = word_set(
    "ए बी सी डी ई एफ जी एच आई जे के एल एम एन ओ पी क्यू आर एस टी यू वी डब्ल्यू एक्स वाई ज़ेड जेड पू"
)
_FIRST_WORD = re.compile(rf"([^\W\d_][{_MARKS}\w]*)\.")
_LETTER_BEHIND = re.compile(r"[^\W\d_]\.")  # the next part of i. d. R.
_DOUBLED = re.compile(r"([A-Z])\1\.")
_ARABIC_LETTER = re.compile("[\u0621-\u064a]")
_CYRILLIC_LETTER = re.compile("[\u0400-\u04ff]")
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
_NUMBERED = _PARTS | word_set("no nos p n s max min nr")
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
_NEVER_LAST_IN_GERMAN = word_set("str gem")
_STREET = re.compile(r"\w+str$", re.IGNORECASE)  # Hauptstr. 5
# Words before a capital letter that is a name of its own, as in `an A.`, `plan C.`, `Vitamin D.`; elsewhere it is an
# initial. The articles are English: `a F. Ramada` is Portuguese.
_BEFORE_LETTERS = word_set(
    "plan vitamin type class grade group hepatitis option part point phase gruppe typ groupe grupo gruppo vitamina "
    "vitamine classe clase tipo"
)
_ENGLISH_BEFORE_LETTERS = word_set("a an the")
# Words of one letter in languages that have many abbreviations of one.
_WORDS_OF_A_LETTER = word_set("a é è à y o")
_UNITS = "mgshltdab"
# и т. д., и т. п. and н. э. can end a sentence, т. е. cannot
_CYRILLIC_ENDS = frozenset({("т", "д"), ("т", "п"), ("н", "э")})
_NOTHING = Abbreviations()


def abbreviation(before: str, language: str, following: str = "", after: str = "") -> str:
    """What the word before a full stop is: `never` (ends no sentence), `numbered` (ends none before a number), `names`
    (ends one only before a word that often starts one), `initial` (as `names`, but a word of names as `de` starts none),
    `hours` (a.m.), or "" for a common word. language: "en" where it is not known; following: the word behind it; after:
    all that stands there."""
    match = _LAST_WORD.search(before)
    if not match:
        return ""
    word = match[0]
    earlier = before[: match.start()]
    if len(elided := re.split("['’]", word)[-1]) > 1:  # dell'art. 5
        word = elided
    folded = word.lower()
    local = LOCAL.get(language, _NOTHING)
    if following == "Chr" and folded in ("v", "n"):
        return "never"
    if folded in _TITLES and _AFTER_TITLE.search(earlier):
        return "never"
    if word in _INDIAN_LETTERS:
        return "never" if _is_indian_initial(earlier, after) else ""
    if len(word) == 1:
        return _of_letter(word, earlier, language, after)
    if folded in _NEVER_LAST or folded in SURE.never or folded in local.never:
        return "never"
    if language == "de" and folded in _NEVER_LAST_IN_GERMAN:
        return "never"
    if _DOTTED_INDIAN.match(word):
        return "never"
    if folded in _PARTS and (_LABEL.match(after) or (word[0].isupper() and _LETTER.match(after))):
        return "never"
    if folded in _NUMBERED or folded in SURE.numbered or folded in local.numbered:
        return "numbered"
    if _STREET.match(word) and after[:1].isdigit():
        return "numbered"
    if folded in _HOURS:
        return "hours"
    if len(word) == 2 and word[0] == word[1] and _DOUBLED.match(after):
        return "never"  # EE. UU., RR. HH.
    if folded in _BEFORE_NAMES or folded in SURE.before_names or folded in local.before_names:
        return "names"
    return "names" if _DOTTED.match(word) else ""


def _of_letter(letter: str, earlier: str, language: str, after: str) -> str:
    """The kind of a single letter before a full stop: of a unit and of a name (plan C) none; else it is an initial, a
    `v.` or `p.`, or a part of an abbreviation (z. B.)."""
    is_unit = letter.isupper() or letter in _UNITS
    page = letter == "S" and after[:1].isdigit()  # of German: Abs. 2 S. 1
    if is_unit and not page and _UNIT_BEFORE.search(earlier):
        return ""
    previous = _LAST_WORD.search(earlier.rstrip().removesuffix("."))
    word_before = previous[0].lower() if previous else ""
    if letter.isupper():
        is_label = word_before in _BEFORE_LETTERS or (
            language == "en" and word_before in _ENGLISH_BEFORE_LETTERS
        )
        if is_label:
            return ""
        return "never" if _LETTER_BEHIND.match(after) else "initial"  # А. С. Пушкин
    if (word_before, letter) in _CYRILLIC_ENDS:
        return "initial"
    if letter in _NEVER_LAST or _ARABIC_LETTER.match(letter) or letter in SURE.letters:
        return "never"
    if _LETTER_BEHIND.match(after):
        return "never"
    local = LOCAL.get(language, _NOTHING)
    if letter in local.letters or (language == "de" and letter.isalpha()):
        return "never"
    if _CYRILLIC_LETTER.match(letter) or (local.letters and letter not in _WORDS_OF_A_LETTER):
        return "initial"
    return "numbered" if letter in _NUMBERED else ""


def _is_indian_initial(earlier: str, after: str) -> bool:
    """Whether the name of a letter stands beside another one, each with its full stop: ए. पी. जे."""
    previous = _LAST_WORD.search(earlier.rstrip().removesuffix("."))
    following = _FIRST_WORD.match(after)
    return bool(
        (earlier.rstrip().endswith(".") and previous and previous[0] in _INDIAN_LETTERS)
        or (following and following[1] in _INDIAN_LETTERS)
    )
