"""In which language a text is, as far as its function words tell: enough to refuse what is made for another language.

Function words (articles, prepositions, pronouns, forms of `be`) make up a third of running text, and differ between
languages. A text is of the language whose function words it has most of, if they are many; another one than English must
have twice as many as English. A text of names, figures and terms is of no language here. Words that are English words,
too (German `die`, Spanish `no`), stand in no other list. design/languages.md says how often it errs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from unicodedata import normalize

from longmark.text.local_abbreviations import LOCAL, word_set

_WORD = re.compile(r"[^\W\d_]+")
_LEAST_WORDS = 4  # function words of a language, below which a text says nothing of it
_LEAST_DIFFERENT = 3  # of them, since one can be a part of names: Cabeza de Vaca
_LEAST_SHARE = 0.12  # of the text's words
_BESIDE_ENGLISH = 2  # times as many as those of English

ENGLISH = "en"
NAMES = {
    "en": "English",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "es": "Spanish",
    "fi": "Finnish",
    "fr": "French",
    "id": "Indonesian",
    "it": "Italian",
    "nl": "Dutch",
    "pl": "Polish",
    "pt": "Portuguese",
    "ro": "Romanian",
    "ru": "Russian",
    "sv": "Swedish",
    "tr": "Turkish",
}
_FUNCTION_WORDS = {
    "en": word_set(
        "the of and to in is are was were be been it that this these those for with as on by at from or an not which "
        "can will would has have had if when may its their his her they he she we you your but also more than other "
        "any all each into such no only about between do does did i me my am as a so too"
    ),
    "cs": word_set(
        "je jsou se na ve že pro jako nebo ale který která které byl bylo být při podle také aby jeho tak není když "
        "až než od může po"
    ),
    "da": word_set(
        "og det er som på til ikke med der af kan har hvis eller ved var også skal denne dette om et jeg blev efter "
        "være når kun"
    ),
    "de": word_set(
        "der das und ist nicht ein eine einen einem einer eines dem des mit von zu zum zur auf für im sie wird werden "
        "wurde sind kann oder auch als bei nach aus wenn durch es sich dass hat haben diese dieser dieses wie nur "
        "unter über vor aber weil denn ihr ihre mehr noch schon hier dort sehr alle kein keine"
    ),
    "es": word_set(
        "de la en y un el los las una del que es por con para como más pero sus este esta son está se lo al fue ha si "
        "ser puede cuando entre también sin sobre muy hay "
        "bajo estaba estaban era eran porque desde hasta todo todos nos"
    ),
    "fi": word_set(
        "ja on ei että se joka mutta tai myös kun sen ovat ole voi jos kuin niin olla oli tämä sitä"
    ),
    "fr": word_set(
        "de la en un le les des du et est une dans que qui pour par sur avec pas au aux ce cette ces sont plus être il "
        "elle vous nous ou où se ne leur peut mais comme son sa ses été si "
        "étaient était sous car tout tous très entre aussi encore donc cela"
    ),
    "id": word_set(
        "yang dan dari untuk dengan ini itu tidak pada adalah ke atau akan dapat oleh juga ada dalam jika sebagai "
        "telah bisa atas setiap maupun serta harus tanpa secara bagi antara karena mereka hanya lebih agar tersebut "
        "sebuah suatu para seperti bahwa saja lain"
    ),
    "it": word_set(
        "di la e il lo gli della delle del dei degli che è una uno un per con non sono da si dal dalla nel nella alla ai "
        "al come più anche questo questa essere può se ha quando o "
        "era erano durante molto tutti perché sul sulla tra fra ma"
    ),
    "nl": word_set(
        "de het een van en dat niet zijn met voor op te aan er om ook als bij of wordt worden deze naar uit maar door "
        "dit kan hij ze wat nog wel geen "
        "onder haar hun heeft hebben veel meer zo dan toch dus"
    ),
    "pl": word_set(
        "w z i do się jest nie na że jak z przez dla oraz lub który która które są być może tylko od po ale przy jego czy "
        "jeśli tym"
    ),
    "pt": word_set(
        "de e o os um uma da das dos que é para com não por mais como mas foi ao ele são está se na nos sua seu ser pode "
        "quando também pelo pela em ou "
        "era eram estava estavam porque muito até sobre entre todos já isso"
    ),
    "ro": word_set(
        "și este în de la cu pe că nu din pentru sau care sunt fi mai ca dacă acest această prin dar al ale fost poate "
        "după o un"
    ),
    "ru": word_set(
        "и в не на что с по это как для из к а или от то но может если его у за он быть так при только также о до "
        "которые который этот эта этого если же их ему для "
        "под были был была они мы вы она без над уже очень когда чтобы есть"
    ),
    "sv": word_set(
        "och det är som på av för att en ett inte med till kan har om den eller vid var också ska denna detta när "
        "från efter vara"
    ),
    "tr": word_set(
        "ve bir bu için ile olarak da de olan daha çok ya veya değil gibi kadar ise her olur tarafından en"
    ),
}
_FUNCTION_WORDS |= {
    language: words - _FUNCTION_WORDS[ENGLISH]
    for language, words in _FUNCTION_WORDS.items()
    if language != ENGLISH
}
# without those that another language has, too: in, is, was, am, or
_ONLY_ENGLISH = word_set("the and of that it for with are by be this from")
_LEAST_ENGLISH = 0.1  # of a text's words, at which no letters show that it is another language
_GUESSED_BY = {
    ENGLISH: _ONLY_ENGLISH,
    "de": _FUNCTION_WORDS["de"] | word_set("den sie wir ihn er bis am vom beim"),
    **{language: _FUNCTION_WORDS[language] for language in (*LOCAL, "ru")},
}
# The letters of languages beside a to z and the Russian alphabet. A language without an entry may have any.
_LETTERS = {
    ENGLISH: "",
    "de": "äöüß",
    "es": "áéíóúüñ",
    "fr": "àâæçèéêëîïôœùûüÿ",
    "it": "àèéìíîòóùú",
    "nl": "áâçèéêëíïñóôöúü",
    "pt": "áâãàçéêíóôõúü",
    "ru": "абвгдежзийклмнопрстуфхцчшщъыьэюяё",
}
# Of Latin and Cyrillic alphabets: no phonetic signs, no Greek, which formulas have in any language.
_OTHER_LETTERS = re.compile("[\u00df-\u00f6\u00f8-\u024f\u0400-\u052f\u1e00-\u1eff]")
_LEAST_FOREIGN = 3  # words with such letters, below which they may be loans: façade, naïve
_LEAST_FOREIGN_SHARE = 0.06  # of the words in small letters; names in capitals may be from anywhere
_FOREIGN = [language for language in _FUNCTION_WORDS if language != ENGLISH]


def language_of(text: str) -> str | None:
    """The language that a text is in (ISO 639-1), None where its function words do not tell."""
    text = normalize("NFC", text)
    counts = Counter(word.lower() for word in _WORD.findall(text))

    def hits_of(language: str) -> int:
        hits = sum(counts[word] for word in _FUNCTION_WORDS[language] & counts.keys())
        return hits if not hits or foreign_letters(text, language) is None else 0

    language = max(_FOREIGN, key=hits_of)
    hits = hits_of(language)
    english_hits = hits_of(ENGLISH)
    if hits < _BESIDE_ENGLISH * english_hits:
        language = ENGLISH
        hits = english_hits
    different_hits = len(_FUNCTION_WORDS[language] & counts.keys())
    if hits < max(_LEAST_WORDS, _LEAST_SHARE * counts.total()):
        return None
    return language if different_hits >= _LEAST_DIFFERENT else None


def foreign_letters(text: str, language: str) -> float | None:
    """The share of a text's words that have letters which a language does not use, where they are too many for loans;
    None for any other text, and for one with many words that only English has. Words that begin with a capital may be
    names, and do not count."""
    if language not in _LETTERS or text.isascii():
        return None
    all_words = _WORD.findall(normalize("NFC", text))
    lower_words = [word for word in all_words if word.islower()]
    if language == ENGLISH:
        english = [word for word in lower_words if word in _ONLY_ENGLISH]
        if len(set(english)) > 1 and len(english) > _LEAST_ENGLISH * len(lower_words):
            return None
    alphabet = _LETTERS[language]
    foreign = sum(
        any(letter not in alphabet for letter in _OTHER_LETTERS.findall(word))
        for word in lower_words
    )
    share = foreign / len(lower_words) if lower_words else 0.0
    return share if foreign >= _LEAST_FOREIGN and share > _LEAST_FOREIGN_SHARE else None


def likeliest_language(text: str) -> str:
    """The language of `text.local_abbreviations`, or German or Russian, whose function words a text has most of: a guess
    for what costs little where it is wrong, also for texts that are too short for `language_of`. English where it has as
    many as any."""
    counts = Counter(word.lower() for word in _WORD.findall(text))
    counted = {
        language: sum(counts[word] for word in words & counts.keys())
        for language, words in _GUESSED_BY.items()
    }
    return max(counted, key=counted.__getitem__)


def function_words(language: str) -> frozenset[str]:
    """Of a language of `NAMES`, without those that are English words, too."""
    return _FUNCTION_WORDS.get(language, frozenset())


# Scripts that tell a language: code -> its letters. Kana come before Han, which Japanese has, too.
_SCRIPTS = (
    ("ja", re.compile("[\u3041-\u30fa]")),
    ("ko", re.compile("[\uac00-\ud7a3]")),
    ("zh", re.compile("[\u4e00-\u9fff]")),
    ("hi", re.compile("[\u0905-\u0939]")),
    ("ar", re.compile("[\u0621-\u064a]")),
)
_NOT_ARABIC = re.compile("[\u067e\u0686\u0698\u06a9\u06af\u06cc]")  # letters of Persian and Urdu
_LEAST_IN_SCRIPT = 0.3  # of a text's letters


def written_language(text: str) -> str | None:
    """As `language_of`; Arabic, Chinese, Hindi, Japanese and Korean by their script. None where nothing tells."""
    if not text.isascii():
        letters = sum(character.isalpha() for character in text)
        for language, pattern in _SCRIPTS:
            in_script = len(pattern.findall(text))
            least = _LEAST_IN_SCRIPT / 3 if language == "ja" else _LEAST_IN_SCRIPT
            if letters and in_script > least * letters:
                return None if language == "ar" and _NOT_ARABIC.search(text) else language
    return language_of(text)


def common_language(texts: Iterable[str]) -> str | None:
    """The one language of texts; None where they are in several, or none tells its own. Texts that do not tell, such as
    short ones, may be in any."""
    languages = {written_language(text) for text in texts} - {None}
    return languages.pop() if len(languages) == 1 else None
