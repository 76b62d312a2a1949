"""How sentences decline an answer in other languages than English: what `text.refusal` knows of each.

Patterns stand at the beginning of a sentence that was folded (case, spaces, normal form), behind an apology. They are
narrow: a sentence that declines in other words counts as one that claims something, which only costs a remark on a page,
while a claim that was taken for a refusal would hide it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RefusalPhrases:
    """Of a language. apologies: what may stand before; declined: sentences that say that there is no answer, or that the
    sources have none; but: words with which a sentence goes on to claim something all the same; spaced: whether the
    language writes spaces between words."""

    apologies: str
    declined: tuple[str, ...]
    but: str
    spaced: bool = True


GERMAN = RefusalPhrases(
    apologies=r"es tut mir (?:sehr )?leid|leider|entschuldigung",
    declined=(
        r"das weiss ich nicht|ich weiss (?:es|das) nicht",  # ß is folded to ss
        r"(?:.*\b)?kann ich (?:\w+ ){0,4}nicht (?:beantworten|sagen)",
        r"ich kann (?:\w+ ){1,4}nicht (?:beantworten|sagen|bestimmen|finden|helfen)",
        r"ich habe (?:dazu |hierzu )?(?:keine|nicht genug|nicht genügend) (?:informationen|angaben|daten)\b",
        r"(?:die|den|der|das|dem|in den)?\s*(?:\w+en\s+)?"
        r"(?:passagen|textstellen|quellen|dokumente?n?|unterlagen|kontext)\s+"
        r"(?:enth[aä]lt|enthalten|sagt|sagen|nennt|nennen|gibt|geben)\s+.*\b(?:nicht|nichts|keine?n?)\b",
    ),
    but="aber|jedoch|obwohl",
)
FRENCH = RefusalPhrases(
    apologies=r"(?:je suis )?(?:vraiment |sincèrement )?désolée?|malheureusement|je regrette|excusez-moi",
    declined=(
        r"je (?:ne (?:le )?sais|n'en sais) (?:pas|rien)(?: répondre.*)?$",
        r"je ne (?:peux|puis|suis|parviens)(?: malheureusement)? pas (?:en mesure )?(?:de |d'|à )?"
        r"(?:y )?(?:vous )?(?:répondre|aider|donner|fournir|déterminer|trouver|dire)\b",
        r"je n'ai pas (?:assez |suffisamment )?(?:d'|de |l')(?:informations?|données|accès|réponse|éléments)\b",
        r"(?:(?:les|ces|vos|des) (?:documents|passages|extraits|sources|textes)"
        r"|(?:le|ce|du) (?:document|passage|contexte|texte)|aucun(?:e)? des (?:documents|passages|extraits|sources))"
        r"(?: (?:fourni|donné|disponible|cité)e?s?)? (?:ne |n')"
        r"(?:mentionn|contien|contenait|di[ts]|précis|indiqu|fourni|répond|abord|donn|parl)\w*",
        r"il n'y a (?:pas|aucune?)(?: assez)? ?(?:d'|de )?(?:informations?|mention|réponse)\b",
    ),
    but="mais|cependant|toutefois|pourtant|bien que",
)
SPANISH = RefusalPhrases(
    apologies=r"(?:lo )?siento(?: mucho)?|lamentablemente|desafortunadamente|perdón|disculpe|disculpa",
    declined=(
        r"(?:yo )?no (?:lo )?sé(?: (?:la respuesta|responder.*))?$",
        r"no (?:puedo|podemos|me es posible|soy capaz de|he podido|pude) "
        r"(?:responder|contestar|ayudar|determinar|encontrar|decir|proporcionar|dar)",
        r"no (?:tengo|dispongo de|cuento con) (?:suficiente |suficientes |la |ninguna |más )*"
        r"(?:información|datos|respuesta|acceso|conocimiento)\b",
        r"(?:los|las|el|la|estos|estas|ninguno de los|ninguna de las) "
        r"(?:documentos?|pasajes?|fragmentos?|fuentes?|textos?|contexto)"
        r"(?: (?:proporcionad|dad|citad|recuperad)[oa]s?| disponibles?)? no "
        r"(?:mencion|contien|dice|indica|especifi|proporcion|incluy|abord|ofrec|habla)\w*",
        r"no (?:hay|existe|se encontró|se encuentra) (?:ninguna |suficiente )?(?:información|mención)\b",
    ),
    but="pero|sin embargo|aunque",
)
PORTUGUESE = RefusalPhrases(
    apologies=r"(?:eu )?sinto muito|lamento|desculpe|desculpa|infelizmente",
    declined=(
        r"(?:eu )?não (?:o )?sei(?: (?:a resposta|responder.*))?$",
        r"(?:eu )?não (?:posso|consigo|consegui|é possível|foi possível|sou capaz de) "
        r"(?:responder|ajudar|determinar|encontrar|dizer|fornecer|dar)",
        r"(?:eu )?não (?:tenho|disponho de) (?:a |as |acesso |nenhuma )?"
        r"(?:informações|informação|dados|resposta|conhecimento|a )",
        r"(?:os|as|o|a|estes|estas|nenhum dos|nenhuma das) "
        r"(?:documentos?|passagens|passagem|trechos?|fontes?|textos?|contexto)"
        r"(?: (?:fornecid|dad|citad|recuperad)[oa]s?| disponíve(?:l|is))? não "
        r"(?:mencion|cont[eéê]m|diz|indica|especifi|fornec|inclu|abord|inform|fala)\w*",
        r"não (?:há|existem?|foi encontrada|foram encontradas) (?:nenhuma )?(?:informaç|menç)",
    ),
    but="mas|porém|contudo|no entanto|embora",
)
ITALIAN = RefusalPhrases(
    apologies=r"mi dispiace(?: molto)?|purtroppo|sfortunatamente|spiacente|mi scuso",
    declined=(
        r"(?:io )?non (?:lo )?so(?: (?:la risposta|rispondere.*))?$",
        r"non (?:posso|riesco a|sono in grado di|è possibile|sono riuscit[oa] a) "
        r"(?:rispondere|aiutar|determinare|trovare|dire|fornire|dare)",
        r"non (?:ho|dispongo di) (?:abbastanza |sufficienti |alcuna |accesso |la )?"
        r"(?:informazion|dati|risposta|accesso|a )",
        r"(?:i|le|il|la|questi|nessuno dei|nessuna delle) "
        r"(?:documenti|documento|passaggi|passaggio|brani|brano|passi|fonti|fonte|testi|testo|contesto)"
        r"(?: (?:fornit|dat|citat)[oaie]| disponibili)? non "
        r"(?:menzion|contien|contengono|dice|dicono|indica|specific|fornisc|includ|riport|parla)\w*",
        r"non (?:ci sono|c'è|sono presenti|è presente) (?:alcuna |nessuna )?(?:informazion|menzion)",
    ),
    but="ma|tuttavia|però|anche se|sebbene",
)
DUTCH = RefusalPhrases(
    apologies=r"het spijt me|sorry|helaas|mijn excuses|excuses",
    declined=(
        r"dat weet ik (?:helaas )?niet$|ik weet (?:het|dat) (?:helaas )?niet$",
        r"ik kan (?:deze vraag|dit|dat|hier|u|je|daar)\b.*\b(?:niet|geen)\b"
        r".*\b(?:beantwoorden|helpen|bepalen|vinden|zeggen|geven)$",
        r"ik heb (?:hierover )?(?:niet genoeg|onvoldoende|geen) (?:informatie|gegevens|toegang|antwoord)\b",
        r"(?:de|het|deze|geen van de) (?:\w+ )?"
        r"(?:documenten|document|passages?|bronnen|bron|teksten|tekst|context|fragmenten) "
        r"(?:bevat|noem|vermeld|zeg|geef|geven)\w* (?:er |hierover |daarover )*(?:niets|niet|geen)\b",
        r"er is (?:geen|onvoldoende|niet genoeg) informatie\b",
    ),
    but="maar|echter|hoewel",
)
POLISH = RefusalPhrases(
    apologies=r"(?:bardzo )?przepraszam|przykro mi|niestety",
    declined=(
        r"(?:ja )?(?:tego )?nie (?:wiem|znam odpowiedzi)(?: tego)?$",
        r"nie (?:mogę|potrafię|jestem w stanie|udało mi się) (?:\w+ )?"
        r"(?:odpowiedzieć|pomóc|określić|znaleźć|powiedzieć|podać|ustalić|udzielić)",
        r"nie mam (?:\w+ )?(?:informacji|danych|dostępu|odpowiedzi)\b",
        r"(?:(?:podane|dostarczone|dostępne|te|żaden z) )*"
        r"(?:dokumenty|dokument|dokumentów|źródła|źródło|fragmenty|fragment|teksty|tekst|kontekst) nie "
        r"(?:zawiera|wspomina|mówi|poda|określa)\w*",
        r"(?:w (?:\w+ )?(?:dokumentach|źródłach|tekście|kontekście|fragmentach) )?(?:nie ma|brak) "
        r"(?:\w+ )?(?:informacji|wzmianki)\b",
    ),
    but="ale|jednak|chociaż|choć",
)
RUSSIAN = RefusalPhrases(
    apologies=r"к сожалению|извините|простите|сожалею|мне (?:очень )?жаль",
    declined=(
        r"(?:я )?(?:этого )?не знаю(?: ответа.*)?$",
        r"я не (?:могу|смог|смогла|в состоянии) (?:\w+ )?"
        r"(?:ответить|помочь|определить|найти|сказать|дать|предоставить)",
        r"у меня (?:нет|недостаточно) (?:\w+ )?(?:информации|данных|доступа|ответа|сведений)\b",
        r"(?:в )?(?:(?:предоставленн|приведённ|приведенн|данн|эт)\w+ )*"
        r"(?:документ|источник|текст|отрывк|контекст|фрагмент|материал)\w* "
        r"(?:не (?:содерж|упомина|говор|указ|сообща)\w+|нет (?:\w+ )?(?:информации|данных|сведений|упоминани)\w*"
        r"|ничего не)",
        r"(?:нет|недостаточно) (?:информации|сведений)\b",
    ),
    but="но|однако|хотя",
)
TURKISH = RefusalPhrases(
    apologies=r"(?:çok )?üzgünüm|maalesef|ne yazık ki|özür dilerim",
    declined=(
        r"(?:bunu |cevab[ıi]n[ıi] )?bilmiyorum$",
        r"(?:bu (?:soruya|soruyu|konuda) )?(?:(?:cevap|yan[ıi]t) veremiyorum|cevaplayam[ıi]yorum|yan[ıi]tlayam[ıi]yorum"
        r"|yard[ıi]mc[ıi] olam[ıi]yorum)$",
        r"(?:verilen |sağlanan |bu )*(?:belge|kaynak|metin|metn|pasaj|bağlam)\w* .*"
        r"\b(?:bilgi (?:yok|bulunmuyor|içermiyor)|belirtilmiyor|belirtilmemiş\w*|bahsetmiyor|bahsedilmiyor"
        r"|yer alm[ıi]yor)$",
        r"(?:bu konuda )?(?:yeterli )?bilgi(?:m yok|ye sahip değilim| yok)$",
    ),
    but="ama|ancak|fakat",
)
ARABIC = RefusalPhrases(
    apologies=r"(?:أنا )?(?:آسف|آسفة|أعتذر|عذرا|عذرًا|للأسف|المعذرة)",
    declined=(
        r"(?:أنا )?لا (?:أعرف|أعلم|أدري)(?: (?:الإجابة|الجواب|ذلك))?$",
        r"(?:أنا )?(?:لا أستطيع|لا يمكنني|لا أتمكن من|لم أتمكن من) "
        r"(?:الإجابة|المساعدة|تحديد|العثور|تقديم|إعطاء|القول)",
        r"(?:ليس لدي|لا أملك|لا تتوفر لدي) (?:\w+ )?(?:معلومات|بيانات|إجابة)",
        r"لا (?:تذكر|تحتوي|يحتوي|يذكر|تتضمن|يتضمن|توضح|يوضح|تشير|يشير|تقدم|يقدم) (?:هذه |هذا )?"
        r"(?:النصوص|النص|المقاطع|المقطع|المصادر|المصدر|الوثائق|الوثيقة|المستندات|المستند|السياق|الفقرات)\b",
        r"لا توجد (?:أي )?معلومات\b",
    ),
    but="لكن|ولكن|غير أن",
)
HINDI = RefusalPhrases(
    apologies=r"(?:मुझे )?(?:खेद है|माफ़ करें|माफ करें|क्षमा करें|दुर्भाग्य से)(?: कि)?",
    declined=(
        r"(?:मुझे |मैं )?(?:यह |इसका उत्तर )?(?:नहीं (?:पता|मालूम)|नहीं जानता|नहीं जानती)(?: है| हूँ| हूं)?$",
        r"(?:मैं )?(?:इस (?:प्रश्न|सवाल) का )?(?:उत्तर|जवाब) नहीं दे (?:सकता|सकती)(?: हूँ| हूं)?$",
        r"(?:दिए गए |इन |इस )*(?:दस्तावेज़|दस्तावेज|स्रोत|अंश|पाठ|संदर्भ|गद्यांश)\S* (?:में|से) .*"
        r"(?:जानकारी|उल्लेख|सूचना) नहीं (?:है|मिली|मिलती|मिला|दी गई)",
    ),
    but="लेकिन|परंतु|परन्तु|किंतु|हालांकि",
)
CHINESE = RefusalPhrases(
    apologies="很抱歉|非常抱歉|抱歉|对不起|不好意思",
    declined=(
        r"(?:我)?不知道|.*(?:无法|不能|没法)(?:回答|提供|确定)",
        r".*(?:文中|原文|文档|资料|上下文|段落|文本|信息)(?:中|里)?(?:并)?(?:没有|未|无)"
        r"(?:提到|提供|包含|说明|提及|给出|相关)",
    ),
    but="但|然而|不过",
    spaced=False,
)
JAPANESE = RefusalPhrases(
    apologies="申し訳(?:ありません|ございません)(?:が)?|すみません(?:が)?|残念ながら|恐れ入りますが",
    declined=(
        r"(?:私には|それは|答えは|回答は)?(?:わかりません|分かりません|わからない|分からない|存じません)$",
        r"(?:この|その|ご)?(?:質問|お問い合わせ)?(?:には|に|については|について)?(?:お答え|回答)"
        r"(?:することは|することが)?(?:できません|できかねます|出来ません)$",
        r"(?:提供された|与えられた|上記の)?(?:文書|資料|文脈|本文|文章|情報源|コンテキスト|パッセージ|記事)"
        r"(?:に|には|では|から|からは).*(?:記載|情報|言及|説明|記述)(?:が|は|も)?"
        r"(?:ありません|見つかりません|見当たりません|されていません|含まれていません)$",
    ),
    but="しかし|ただし|けれども",
    spaced=False,
)
KOREAN = RefusalPhrases(
    apologies="(?:대단히 )?죄송(?:하지만|합니다만|합니다)|유감스럽게도|안타깝게도|미안(?:하지만|합니다)",
    declined=(
        r"(?:저는 |그것은 |답을 |잘 )*(?:모릅니다|모르겠습니다)$",
        r"(?:이 |해당 )?(?:질문|문의)에 (?:대한 )?(?:대해 )?(?:답변|답|대답)(?:을|를)? ?"
        r"(?:할 수 없습니다|드릴 수 없습니다|드리기 어렵습니다|제공할 수 없습니다)$",
        r"(?:제공된 |주어진 |위 )*(?:문서|자료|본문|출처|문맥|지문|텍스트|컨텍스트)(?:에|에는|에서|에서는|은|는|이|가) .*"
        r"(?:정보|내용|언급|설명)(?:이|가|은|는|도|을|를)? ?"
        r"(?:없습니다|포함하고 있지 않습니다|포함되어 있지 않습니다|찾을 수 없습니다|하지 않습니다|되어 있지 않습니다)$",
    ),
    but="하지만|그러나|다만",
    spaced=False,  # endings stand on their words
)
LANGUAGES = {
    "ar": ARABIC,
    "de": GERMAN,
    "es": SPANISH,
    "fr": FRENCH,
    "hi": HINDI,
    "it": ITALIAN,
    "ja": JAPANESE,
    "ko": KOREAN,
    "nl": DUTCH,
    "pl": POLISH,
    "pt": PORTUGUESE,
    "ru": RUSSIAN,
    "tr": TURKISH,
    "zh": CHINESE,
}
