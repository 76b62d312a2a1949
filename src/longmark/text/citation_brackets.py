"""What stands in brackets: numbers and ids of sources, in which place of a source, or something else."""

from __future__ import annotations

import re
from collections.abc import Collection
from unicodedata import normalize

from longmark.text.citation_tags import listed_names, plain_number

MOST_DIGITS = (
    3  # of a number that names a source; [1998] is a year, unless there are as many sources
)
_LABEL_WORDS = (
    r"(?:doc(?:ument)?s?|sources?|ref(?:erence)?s?|passages?|contexts?|citations?|cite|web|chunks?|excerpts?"
    r"|snippets?|results?|evidence"
    r"|quellen?|dok(?:ument)?e?|belege?|nachweise?|réf(?:érence)?s?|fuentes?|referencias?|documentos?|fontes?|fonti"
    r"|referências?|riferiment[oi]|bron(?:nen)?|käll(?:a|or)|kilde[r]?|źródł[oa]|zdroj[e]?|kaynak(?:lar)?|nguồn|sumber|πηγ(?:ή|ές)"
    r"|источник[и]?|ссылк[аи]|документ[ы]?|джерел[оа]|المصدر|مصدر|المصادر|مصادر|المرجع|مرجع|المراجع|الوثيقة|منبع|מקור(?:ות)?|"
    r"स्रोत|संदर्भ|दस्तावेज़"
    r"|来源|來源|资料|資料|参考文献|參考文獻|文献|文獻|文書|文档|文檔|出处|出處|参考|參考|引用|出典|参照|문서|출처|자료|참고)"
)
LABEL_WORDS = f"(?:{_LABEL_WORDS}|{normalize('NFD', _LABEL_WORDS)})"
"""What a source is called before its number, in several languages; accents may be signs of their own."""

DASH = r"[–—~～-]"
AND = r"(?:[,;，；、،؛]|(?:[,，،]\s?)?\b(?:and|und|et|or|y|e|en|i|och|og|ve|dan|și|и|та|і|و)\b|(?<=\s)و(?=\d)|[和与及と]|&)"
JOINTS = rf"\s*(?:{AND}|{DASH})\s*"

_NUMBER = rf"(?:{LABEL_WORDS}\s?[.:：#_]?\s?|#|(?-i:S))?\^?\d{{1,{MOST_DIGITS}}}\^?"
_NUMBERED = re.compile(
    rf"({_NUMBER})(?:\s*{DASH}\s*({_NUMBER}))?(?::\s\d+(?:[–-]\d+)?)?\.?", re.IGNORECASE
)
"""A number or a range, with a page behind a colon: [1: 23]; [1:23] is a time."""
_SEE = re.compile(
    r"(?:see(?:\s+also)?|cf\.?|e\.?\s?g\.?|vgl\.?|siehe(?:\s+auch)?|voir|véase|см\.?|参见|參見|参照)(?![^\W\d_])[:：,]?\s*",
    re.IGNORECASE,
)
_PLACE = re.compile(
    r"(?:pp?|(?-i:S\.)|Seiten?|pages?|págs?|стр|sec(?:tion)?s?|ch(?:ap(?:ter)?)?s?|fig(?:ure|s)?|tab(?:le|s)?|para(?:graph)?s?"
    r"|lines?|art(?:icle)?|vol|no|abs(?:chnitt)?|kap(?:itel)?|eq|app(?:endix)?|§+|第)\.?\s?"
    r"[\dA-Z][\d.A-Za-z]*(?:\s?[–-]\s?\d+)?(?:\s?ff?\.?)?[页頁章节節]?"
    r"|etc\.?|u\.\s?a\.|et al\.?",
    re.IGNORECASE,
)
"""Where in a source: p. 5, Table 1, § 3."""
_SEPARATOR = re.compile(rf"\s*{AND}\s*", re.IGNORECASE)
_LABEL = re.compile(rf"{LABEL_WORDS}\s?[:：#]\s*", re.IGNORECASE)
_DIGITS = re.compile(r"\d+")
_NUMBERED_ID = re.compile(r"S\d")
_WORD = re.compile(r"[^\W_]+")
_SIGN_OF_ID = re.compile(r"[_#/.:@]")
_INVISIBLE = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")
_LONGEST_RANGE = 100  # of [1-100]; of a longer one its ends count
_YEARS = re.compile(r"\W*(?:1[5-9]|20)\d\d(?:\s*[–/-]\s*(?:\d\d){1,2})?\W*")
_LONGEST_UNREAD = 60  # characters of what may be a citation in a form that is not read


def names_in(content: str, ids: Collection[str]) -> tuple[str, ...] | None:
    """What the content of brackets names, each once: ids as they are, numbers with ranges written out. None where a part
    of it is no number, id or place in a source."""
    plain = _INVISIBLE.sub("", content).strip()
    if ids and (of_ids := _ids_in(plain, ids)):
        return of_ids
    plain = _SEE.sub("", plain, count=1)
    names: dict[str, None] = {}
    has_id = False
    for part in _SEPARATOR.split(plain):
        part = _SEE.sub("", part.strip(), count=1)
        if not part and part is not plain:
            continue
        if part in ids:
            names[part] = None
            has_id = True
        elif has_id and _DIGITS.fullmatch(part):
            continue  # [report.pdf, 3]: its page
        elif (number := _NUMBERED.fullmatch(part)) and not _is_id_of_none(part, ids):
            names |= dict.fromkeys(_range(number[1], number[2]))
        elif not (names and _PLACE.fullmatch(part)):
            return None
    return tuple(names) or None


def _ids_in(content: str, ids: Collection[str]) -> tuple[str, ...]:
    """The ids that make up the content of brackets, also with a label before them: [source: doc_a]."""
    if content in ids:
        return (content,)
    listed = _LABEL.sub("", content, count=1).strip()
    parts = [listed] if listed in ids else listed_names(listed)
    return tuple(dict.fromkeys(parts)) if all(part in ids for part in parts) else ()


def _is_id_of_none(part: str, ids: Collection[str]) -> bool:
    """Whether a part is `S7` where such names are ids, so that it is no number."""
    return bool(_NUMBERED_ID.match(part)) and any(map(_NUMBERED_ID.match, ids))


def _range(first: str, last: str | None) -> list[str]:
    low = int(_DIGITS.findall(first)[-1])
    if last is None:
        return [plain_number(str(low))]
    high = int(_DIGITS.findall(last)[-1])
    whole = low <= high < low + _LONGEST_RANGE
    return [str(number) for number in (range(low, high + 1) if whole else (low, high))]


def is_unread(content: str, forms: Collection[str]) -> bool:
    """Whether brackets that name no source hold something like it: a number that is no year, or the form of an id.
    forms: those of the ids (`forms_of`)."""
    plain = _INVISIBLE.sub("", content).strip()
    if len(plain) > _LONGEST_UNREAD or not plain:
        return False
    if any(char.isdigit() for char in plain):
        return not _YEARS.fullmatch(plain)
    return _form(plain) in forms


def forms_of(ids: Collection[str]) -> frozenset[str]:
    """The ids with their words left out; without those that are nothing but words."""
    return frozenset(form for form in map(_form, ids) if _SIGN_OF_ID.search(form))


def _form(source_id: str) -> str:
    return _WORD.sub("x", source_id)
