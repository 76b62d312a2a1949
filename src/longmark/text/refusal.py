"""What claims nothing: the reply of a generator that finds nothing relevant, and sentences that only decline."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache
from unicodedata import normalize

from longmark.records.same import comparable
from longmark.text.refusal_phrases import LANGUAGES, RefusalPhrases
from longmark.text.refusal_vocabulary import VOCABULARY
from longmark.text.refusal_words import RefusalWords, WordClasses
from longmark.text.sentences import sentences

NOTHING_RELEVANT = "The passages say nothing that is relevant to this question."
"""The reply that `rag answer --comprehensive` requests in this case."""

_PUBLISHED = "Sorry, I don't have any information relevant to the given query."  # Comprehensiveness, listing 21

_SOURCES = (
    r"(?:(?:the|these|those|this|your|my|any of the)\s+)?"
    r"(?:(?:(?:given|provided|retrieved|available|supplied|cited|above)\s+)+"
    r"(?:passages?|contexts?|documents?|sources?|texts?|excerpts?|snippets?|articles?|materials?|information|data)"
    r"|passages?|contexts?|documents?|sources?|excerpts?|snippets?|(?:search )?results?|knowledge base)"
    r"(?:\s+(?:provided|given|retrieved|available|supplied|above|here|i have|i was given|that i have))?"
)
_NOTHING = (
    r"(?:nothing|not? (?:any )?(?:relevant |specific |further |sufficient |enough )*"
    r"(?:information|mention|data|details?|answers?|evidence))\b"
)
_SAY = r"(?:contain|say|mention|provide|include|state|specify|discuss|address|cover|give|offer|answer|have|tell)s?"
_DECLINED = (
    # "I don't know", "I can't answer this", "I'm unable to help"
    r"(?:i|we)\s+(?:do|did) not\s+"
    r"(?:know|have\s+(?:any |enough |sufficient |specific |the |relevant )*"
    r"(?:information|knowledge|data|access|details|context|answer|idea))\b",
    r"(?:i|we)(?:'m| am|'re| are| was| were)?\s*(?:cannot|can not|could not|unable to|not able to)\s+"
    r"(?:answer|help|assist|find|determine|say|tell|provide|give|comment)\b",
    # "The passages do not mention it", "the context contains no information on it"
    rf"{_SOURCES}\s+(?:do|does|did) not\s+{_SAY}\b",
    rf"{_SOURCES}\s+{_SAY}\s+{_NOTHING}",
    rf"none of {_SOURCES}\s+{_SAY}\b",
    rf"there (?:is|was|are|were)\s+{_NOTHING}.*\b(?:in|from)\s+{_SOURCES}",
    r"(?:there (?:is|was)\s+)?(?:no|not enough|insufficient) (?:relevant )?information"
    r"(?:\s+(?:(?:is|was|could be|can be)\s+)?(?:available|found|provided|given)\b|\s+(?:about|on|to)\b|$)",
    r"no mention is made\b",
    r"there (?:is|are) not enough (?:\w+ )?(?:detail|details|information|data|context) (?:\w+ ){0,2}"
    r"to (?:say|tell|know|answer|decide|determine)\b",
    r"(?:this|that|the|your)\s+(?:question\s+)?(?:cannot|can not|could not) be (?:answered|determined)\b",
    rf".*\b(?:is|are|was|were) not (?:mentioned|stated|specified|found|given|provided|answered|covered|discussed) "
    rf"(?:in|by) {_SOURCES}$",
)
ENGLISH = RefusalPhrases(
    apologies=r"(?:(?:i'm|i am|we are|we're)\s+(?:very |really |so )?)?(?:sorry|afraid)(?:\s+that)?"
    r"|(?:i|we) apologi[sz]e|unfortunately|regrettably",
    declined=_DECLINED,
    courtesies=r"(?:is there anything|can i help|could you|would you|do you|if you|please|let me know|feel free"
    r"|i(?:'d| would) be (?:happy|glad)|i can help)\b",
    but="but|however|although|though|while|whereas|instead|rather|only",
)


class _Declining:
    """The patterns and words of a language, compiled."""

    def __init__(self, phrases: RefusalPhrases, words: RefusalWords) -> None:
        self._words = WordClasses(words)
        self._declined = [re.compile(normalize("NFC", pattern)) for pattern in phrases.declined]
        # no \b: a vowel sign at the end of a Hindi word is no letter
        but = rf"(?<!\w)(?:{phrases.but})(?!\w)" if phrases.spaced else phrases.but
        self._goes_on = re.compile(
            normalize("NFC", rf"[;；؛：]|:\s|{but}|(?<!\w)(\w{{3,}}) [^,]*, (?:\w+ )?\1(?!\w)")
        )

    def match(self, sentence: str) -> bool:
        """Whether a folded sentence declines and does not go on to claim something."""
        return (
            (self._phrase_declines(sentence) or self._words.declines(sentence))
            and not self._goes_on.search(sentence)
            and len(set(_NUMBER.findall(sentence))) < 2  # not 1920, 1953
        )

    def _phrase_declines(self, sentence: str) -> bool:
        """Whether a sentence begins with a fixed phrase, and goes on with no clause of another kind."""
        ends = [match.end() for pattern in self._declined if (match := pattern.match(sentence))]
        return bool(ends) and all(
            map(self._claims_nothing, _COMMA.split(sentence[max(ends) :])[1:])
        )

    def _claims_nothing(self, clause: str) -> bool:
        """Whether a clause behind a comma says what was asked, what for, sorry, or that there is no answer, too."""
        declining = _CONJUNCTION.sub("", clause)
        return (
            bool(_IDLE.match(clause))
            or self._words.asks(clause)
            or any(pattern.match(declining) for pattern in self._declined)
            or self._words.declines(declining)
        )


_PHRASES = {"en": ENGLISH, **LANGUAGES}
_ALL_PHRASES = tuple(_PHRASES.values())
_APOLOGY = re.compile(
    normalize("NFC", rf"(?:{'|'.join(phrases.apologies for phrases in _ALL_PHRASES)})")
    + r"[,:，。،、]?\s*"
    + rf"(?:(?:{'|'.join(phrases.but for phrases in _ALL_PHRASES if phrases.spaced)})\s|但是?)?\s*"
)
_COURTESY = re.compile(
    normalize("NFC", rf"¿?(?:{'|'.join(phrases.courtesies for phrases in _ALL_PHRASES)})")
)
_LEAD = re.compile(
    normalize(
        "NFC",
        r"(?:(?:based on|according to|from|d'après|selon|según|con base en|com base (?:em|nos?|nas?)|segundo"
        r"|in base a|secondo|laut|nach|auf (?:der )?(?:grundlage|basis)|volgens|według|согласно)\s+[^,]{3,60},\s*)",
    )
)
"""What a sentence goes by: `Based on the passages, `."""
_COMMA = re.compile(r"(?:,(?!\d)|[，、،])\s*")
_CONJUNCTION = re.compile(
    r"^(?:(?:as|since|because|so|and|which is why|da|weil|car|porque|perché|omdat)\s+)"
)
_IDLE = re.compile(r"(?:чтобы|aby|żeby|um|om|sorry|please|bitte|i'm sorry|i am sorry)(?!\w)|$")
"""What a clause that claims nothing begins with: in order to, sorry."""
_NUMBER = re.compile(r"\d+")
_POINTS = re.compile(
    "[\u064b-\u0652\u0640]"
)  # Arabic vowel points, and the line that stretches a word
_LONGEST = 400  # characters of a sentence that only declines


@cache
def _declining() -> Sequence[_Declining]:
    """Of all languages, compiled when the first sentence is looked at (.04 s), not when a command starts."""
    return [_Declining(phrases, VOCABULARY[language]) for language, phrases in _PHRASES.items()]


def is_refusal(answer: str) -> bool:
    """Whether an answer is one of the two replies, word for word; case, spacing and quotation marks do not count. What
    metrics score goes by this."""
    return _folded(answer) in (_folded(NOTHING_RELEVANT), _folded(_PUBLISHED))


def declines(sentence: str) -> bool:
    """Whether a sentence only says that there is no answer, or that the sources have none: it claims nothing that
    evidence could support. In English and the languages of `text.refusal_phrases`. What pages show goes by this, and of the
    scores `citations.uncited` alone."""
    if is_refusal(sentence):
        return True
    if len(sentence) > _LONGEST:
        return False
    text = _folded(sentence).replace("can't", "cannot").replace("n't", " not")
    apology = _APOLOGY.match(text)
    remainder = text[apology.end() :] if apology else text
    if apology and not remainder:
        return True
    if lead := _LEAD.match(remainder):
        remainder = remainder[lead.end() :]
    return any(language.match(remainder) for language in _declining())


def only_declines(answer: str) -> bool:
    """Whether an answer says nothing but that there is none: each sentence declines, apologizes or is a courtesy such as an
    offer to help otherwise, and one declines or apologizes. An answer that begins so and then answers does not."""
    if is_refusal(answer):
        return True
    if len(answer) > 2 * _LONGEST:
        return False
    texts = sentences(answer)
    declined = [declines(text) for text in texts]
    return any(declined) and all(
        has_declined or _COURTESY.match(_folded(text))
        for text, has_declined in zip(texts, declined, strict=True)
    )


def _folded(text: str) -> str:
    return _POINTS.sub("", comparable(text.replace("’", "'"))).strip("\"'“”«» .。!！؟।")
