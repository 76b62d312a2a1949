"""Finds wording that mentions the passages of an item, and options that refer to other options.

Read in English, German, French, Spanish, Italian, Portuguese, Russian, Arabic, Chinese and Japanese, in every item: an
item can be in another language than its book. A phrase such as "in the context of" or "in the table of" is no mention.
"""

from __future__ import annotations

import re

_SOURCE = "passages?|excerpts?|extracts?|snippets?|contexts?|paragraphs?|texts?|authors?|chapters?|books?|textbooks?"
_SHOWN = rf"{_SOURCE}|documents?|sections?|articles?|materials?|information|figures?|tables?|statements?|sources?"
_GIVEN = "given|provided|above|following|preceding|presented|supplied|aforementioned"
_SAYS = "above|below|provided|given|says?|states?|mentions?|describes?|explains?|discusses|suggests?|implies|indicates?"
_NOT_OF = r"(?!\s+(?:of|for|switch|menu|manager)\b)"
_MENTIONS = (
    # English
    rf"\b(?:according to|based on|as (?:stated|described|mentioned|discussed|explained|noted|shown|given) (?:in|by))\s+"
    rf"(?:(?:the|this|these|that|our|your)\s+)(?:(?:{_GIVEN})\s+)?(?:{_SHOWN})\b{_NOT_OF}",
    rf"\b(?:in|from)\s+(?:the|this|these)\s+(?:(?:{_GIVEN})\s+)?(?:passages?|excerpts?|paragraphs?|texts?|contexts?"
    rf"|chapters?|books?|textbooks?)\b{_NOT_OF}(?!\s+(?:file|editor|mode|field|box|string|format))",
    rf"\b(?:the|this|these)\s+(?:{_GIVEN})\s+(?:passages?|excerpts?|paragraphs?|texts?|contexts?|information)\b",
    rf"\b(?:the|this|these)\s+(?:{_SOURCE})\s+(?:{_SAYS})\b",
    rf"\b(?:the\s+)?(?:{_SHOWN})\s+(?:provided|given)\s+(?:above|here|below)\b",
    r"\b(?:mentioned|described|discussed) above\b",
    rf"\b(?:{_SOURCE})\s*\[?\d+\b|(?<=\s)\[\d{{1,2}}\]",  # as passages are numbered in prompts
    # German
    r"\b(?:laut|gemäß|nach|entsprechend)\s+(?:dem|der|den|diesem|dieser)\s+(?:\w+en\s+)?"
    r"(?:text|textes|abschnitt|passage|auszug|absatz|kapitel|kontext|buch|autors?|autorin|textstelle)\b(?!\s+(?:von|der))",
    r"\b(?:im|in\s+(?:dem|der|diesem|dieser))\s+(?:(?:gegebenen|obigen|vorliegenden|genannten)\s+)?"
    r"(?:text|textabschnitt|auszug|absatz|textstelle|passage)\b",
    # French
    r"\b(?:selon|d['’]après|dans|sur la base de)\s+(?:(?:le|la|les|ce|cet|cette)\s+|l['’])"
    r"(?:texte|passage|extrait|paragraphe|chapitre|document|auteure?|livre|contexte\s+(?:fourni|donné))\b",
    # Spanish, Portuguese, Italian
    r"\b(?:según|de acuerdo con|en|basado en)\s+(?:el|la|este|esta|los)\s+"
    r"(?:texto|pasaje|fragmento|párrafo|extracto|capítulo|autora?|contexto\s+(?:dado|proporcionado))\b",
    r"\b(?:segundo|de acordo com|conforme|com base n)\s*(?:[oa]s?|este|esta)?\s+"
    r"(?:texto|trecho|passagem|parágrafo|excerto|capítulo|autora?|contexto\s+(?:dado|fornecido))\b",
    r"\bno (?:texto|trecho)\b",
    r"\b(?:secondo|in base a|nel|dal)\s*(?:il|lo|la|l['’]|al)?\s*"
    r"(?:testo|brano|passo|paragrafo|capitolo|autore|estratto)\b",
    # Russian, Arabic
    r"\b(?:согласно|судя по|в|из)\s+(?:(?:данн|приведенн|приведённ|эт|вышеприведенн)\w+\s+)?"
    r"(?:тексту|тексте|текста|отрывк\w+|фрагмент\w+|абзац\w+|автору)\b",
    r"(?:وفق[اً]*|حسب|بحسب|بناء على)\s+(?:لل|ال|هذا ال)?(?:نص|فقرة|مقطع|سياق)|في (?:النص|الفقرة|المقطع)",
    # Chinese, Japanese
    r"(?:根据|依据|按照|据)(?:上述|以上|本|该|所给|给定|提供的|这段|这篇)?(?:文本|文章|段落|材料|资料|原文|上下文|文中|内容|课文)"
    r"|(?:文中|本文|上文|原文|作者)(?:提到|指出|认为|所述|描述|说|中)?",
    r"(?:本文|上記|この(?:文章|段落|一節|テキスト)|文章|テキスト|著者)(?:の内容)?(?:に(?:よると|よれば|おいて|基づ)|では|の説明)",
)
_MENTION = re.compile(
    "|".join(f"(?:{mention_pattern})" for mention_pattern in _MENTIONS), re.IGNORECASE
)

_ALL = re.compile(
    r"\W*(?:(?:all|none|both|neither|any)(?: of)?(?: the)? (?:above|these|those|options|choices|answers|of them)\b.*"
    r"|all (?:are|of) (?:correct|true|them)\b.*|both (?:are|options)\b.*|neither"
    r"|(?:alle|keine|keines)(?: der)? (?:oben|obigen|genannten|antworten|davon)\b.*"
    r"|(?:toutes|tous|aucune?)(?: de)?(?: ces| les| des)? (?:réponses|propositions|options|ci-dessus)\b.*"
    r"|(?:todas|todos|ninguna|ninguno|nenhuma)(?: de| das?| las?| os?)*"
    r" (?:anteriores|opciones|respuestas|opções|acima)\b.*"
    r"|(?:tutte|nessuna)(?: le| delle)? (?:precedenti|risposte|opzioni)\b.*"
    r"|(?:все|ничего|ни один) (?:из )?(?:вышеперечисленн|перечисленн)\w+.*"
    r"|(?:以上|上述)(?:都|皆|全|均|选项|所有).*|(?:上記|以上)の?(?:すべて|全て|いずれ).*"
    r"|(?:جميع|كل|لا شيء) م(?:ا|ما) (?:سبق|ذكر).*)",
    re.IGNORECASE,
)
_LETTERS = re.compile(
    r"\b(?:options?|answers?|choices?|antworten?|option(?:en)?|réponses?|opci(?:ón|ones)|选项|選択肢)\s*[\"'(“‘]?[a-h]\b(?=[\"')”’]?\s*(?:\Z|[,.&]|and\b|or\b|und\b))"
    r"|\W*(?:(?:both|only|either|neither)\s+)?\(?[a-h]\)?\s*(?:,|and|or|nor|&|/|und|oder|et|ou|y|o|e|и|或|和|と)\s*"
    r"\(?[a-h]\)?(?:\s*(?:,|and|or|&)\s*\(?[a-h]\)?)*(?:\s+only)?\W*\Z",
    re.IGNORECASE,
)


def mention(text: str) -> str | None:
    """The first words that speak of the passages an item was made from; None if there are none."""
    match = _MENTION.search(text)
    return " ".join(match[0].split()) if match else None


def is_about_all(option: str) -> bool:
    """Whether an option says something of all other options, such as "All of the above": its place is the last one."""
    return _ALL.fullmatch(option.strip()) is not None


def names_letters(option: str) -> bool:
    """Whether an option names others by their letters, such as "Both a and c", so that no option can be moved."""
    return _LETTERS.match(option.strip()) is not None
