"""What claims nothing: the reply of a generator that finds nothing relevant, and sentences that only decline."""

from __future__ import annotations

import re

from longmark.records.same import comparable

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
    r"(?:this|that|the|your)\s+(?:question\s+)?(?:cannot|can not|could not) be (?:answered|determined)\b",
    rf".*\b(?:is|are|was|were) not (?:mentioned|stated|specified|found|given|provided|answered|covered|discussed) "
    rf"(?:in|by) {_SOURCES}$",
    # German
    r"das weiß ich nicht|ich weiß (?:es|das) nicht|.*\bkann ich (?:leider )?nicht (?:beantworten|sagen)",
    r"(?:die|den|der|das|dem|in den)?\s*(?:\w+en\s+)?"
    r"(?:passagen|textstellen|quellen|dokumente?n?|unterlagen|kontext)\s+"
    r"(?:enth[aä]lt|enthalten|sagt|sagen|nennt|nennen|gibt|geben)\s+.*\b(?:nicht|nichts|keine?n?)\b",
)
_DECLINED_UNSPACED = (  # Chinese
    r"(?:我)?不知道|.*(?:无法|不能|没法)(?:回答|提供|确定)",
    r".*(?:文中|原文|文档|资料|上下文|段落|文本|信息)(?:中|里)?(?:并)?(?:没有|未|无)(?:提到|提供|包含|说明|提及|给出|相关)",
)
_APOLOGY = re.compile(
    r"(?:(?:i'm|i am|we are|we're)\s+(?:very |really |so )?)?(?:sorry|afraid)(?:\s+that)?[,:]?\s*(?:but\s+)?"
    r"|(?:i|we) apologi[sz]e[,:]?\s*(?:but\s+)?|(?:unfortunately|regrettably)[,:]?\s*"
    r"|(?:es tut mir (?:sehr )?leid|leider|entschuldigung)[,:]?\s*(?:aber\s+)?"
    r"|(?:很抱歉|非常抱歉|抱歉|对不起|不好意思)[,，。]?(?:但是?)?"
)
_LEAD = re.compile(r"(?:(?:based on|according to|from)\s+[^,]{3,60},\s*)")
_LONGEST = 400  # characters of a sentence that only declines
_PATTERNS = [re.compile(pattern) for pattern in (*_DECLINED, *_DECLINED_UNSPACED)]
_GOES_ON = re.compile(
    r"[;；]|\b(?:but|however|although|though|while|whereas|aber|jedoch|obwohl)\b|但|然而|不过"
)
"""What a sentence has that declines and then claims something all the same."""


def is_refusal(answer: str) -> bool:
    """Whether an answer is one of the two replies, word for word; case, spacing and quotation marks do not count. What
    metrics score goes by this."""
    return _folded(answer) in (_folded(NOTHING_RELEVANT), _folded(_PUBLISHED))


def declines(sentence: str) -> bool:
    """Whether a sentence only says that there is no answer, or that the sources have none: it claims nothing that
    evidence could support. In English, German and Chinese. What pages show goes by this, and of the
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
    return not _GOES_ON.search(remainder) and any(pattern.match(remainder) for pattern in _PATTERNS)


def _folded(text: str) -> str:
    return comparable(text.replace("’", "'")).strip("\"'“” .。!！")
