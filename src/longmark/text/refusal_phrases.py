"""How sentences decline an answer in other languages than English: what `text.refusal` knows of each.

Patterns stand at the beginning of a sentence that was folded (case, spaces, normal form), behind an apology. What is said
of the sources ("the documents do not mention it") needs none: `text.refusal_words` knows it by its words. Patterns are
narrow: a sentence that declines in other words counts as one that claims something, which only costs a remark on a page,
while a claim that was taken for a refusal would hide it.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class RefusalPhrases:
    """Of a language. apologies: what may stand before; declined: sentences that say that there is no answer, or that the
    sources have none; courtesies: sentences that may stand beside them, such as an offer to help otherwise; but: words with
    which a sentence goes on to claim something all the same; spaced: whether the language writes spaces between words."""

    apologies: str
    declined: tuple[str, ...]
    courtesies: str
    but: str
    spaced: bool = True


GERMAN = RefusalPhrases(
    apologies=r"(?:es )?tut mir (?:sehr |wirklich )?leid|leider|entschuldigung|sorry|verzeihung|ich bedaure",
    declined=(
        r"das weiss ich (?:leider )?nicht$|ich weiss (?:es|das) (?:leider )?nicht$",  # ß is folded to ss
        r"(?:.*\b)?kann ich (?:\w+ ){0,4}(?:nicht (?:beantworten|sagen|helfen|weiterhelfen)|nichts sagen)$",
        r"ich kann (?:\w+ ){1,4}nicht (?:beantworten|sagen|bestimmen|finden|helfen)",
        r"(?:(?:dazu|hierzu|darüber) habe ich|ich habe) (?:leider |dazu |hierzu |darüber )*"
        r"(?:keine|nicht genug|nicht genügend) (?:\w+en )?(?:informationen|angaben|daten|antwort)\b",
        r"(?:(?:dazu |hierzu |darüber )?liegen mir|mir liegen) (?:\w+ ){0,2}"
        r"keine (?:\w+en )?(?:informationen|angaben|daten)\b",
        r"ich bin (?:leider )?nicht in der lage, .*\b(?:beantworten|helfen|geben|sagen)$",
        r"(?:die|diese|ihre|deine) frage (?:lässt sich|kann) (?:\w+ ){0,6}nicht (?:beantworten|beantwortet werden)$",
        r"ich habe (?:dazu|hierzu|darüber) (?:leider )?nichts gefunden$",
        r"(?:darüber|dazu|hierzu) ist (?:mir )?(?:leider )?nichts bekannt$",
        r"diese (?:information|angabe)(?:en)? (?:ist|sind|steht|stehen|wird|werden) (?:\w+ ){0,5}nicht"
        r"(?: enthalten| genannt| erwähnt| angegeben| zu finden)?$",
    ),
    courtesies=r"wenn (?:sie|du) (?:weitere|andere|noch) fragen|falls (?:sie|du) "
    r"|kann ich (?:ihnen|dir) (?:sonst|anders|bei etwas)"
    r"|bitte (?:geben|stellen|wenden|formulieren)|gerne helfe ich",
    but="aber|jedoch|obwohl|sondern|nur|lediglich|vielmehr|ausser",
)
FRENCH = RefusalPhrases(
    apologies=r"(?:je suis )?(?:vraiment |sincèrement )?désolée?|malheureusement|je regrette|excusez-moi|navrée?",
    declined=(
        r"je (?:ne (?:le )?sais|n'en sais) (?:pas|rien)(?: répondre.*)?$",
        r"je ne (?:peux|puis|suis|parviens)(?: malheureusement)? pas (?:en mesure )?(?:de |d'|à )?"
        r"(?:y )?(?:vous )?(?:répondre|aider|donner|fournir|déterminer|trouver|dire)\b",
        r"je n'ai (?:malheureusement )?rien trouvé\b",
        r"je n'ai pas (?:assez |suffisamment )?(?:d'|de |l')(?:informations?|données|accès|réponse|éléments)\b",
        r"il n'y a (?:pas|aucune?)(?: assez)? ?(?:d'|de )?(?:informations?|mention|réponse)\b",
        r"je ne (?:dispose|connais) (?:malheureusement )?pas (?:d'|de |la )"
        r"(?:assez d'|suffisamment d')?(?:informations?|données|éléments|réponse)\b",
        r"je n'ai (?:malheureusement )?pas (?:accès|connaissance|la réponse|d'informations?)\b",
        r"aucune (?:information|mention|donnée|réponse) (?:\w+ ){0,4}"
        r"ne (?:figure|se trouve|est (?:donnée|fournie|disponible))",
        r"je (?:n'ai (?:malheureusement )?(?:pas trouvé|trouvé aucune)|ne trouve pas) "
        r"(?:cette |d'|de |la )?(?:informations?|réponse|mention)\b",
        r"cette information (?:n'est|ne figure|ne se trouve|n'apparaît|n'y figure) pas\b",
        r"il n'est pas possible de (?:répondre|déterminer|dire)\b",
        r"je l'ignore$",
    ),
    courtesies=r"n'hésitez pas|si vous (?:avez|souhaitez|pouvez)|puis-je (?:vous )?aider|avez-vous|n'hésite pas|si tu ",
    but=r"mais|cependant|toutefois|pourtant|bien que|seulement|uniquement|plutôt|sinon|n(?:e |')\w+ qu(?:e|'\w+)",
)
SPANISH = RefusalPhrases(
    apologies=r"(?:lo )?siento(?: mucho)?|lamentablemente|desafortunadamente|perdón|disculpe|disculpa|me temo que",
    declined=(
        r"(?:yo )?no (?:lo )?sé(?: (?:la respuesta|responder.*))?$",
        r"no (?:puedo|podemos|me es posible|soy capaz de|he podido|pude) "
        r"(?:responder|contestar|ayudar|determinar|encontrar|decir|proporcionar|dar)",
        r"no (?:tengo|dispongo de|cuento con) (?:suficiente |suficientes |la |esa |esta |ninguna |más )*"
        r"(?:información|datos|respuesta|acceso|conocimiento)\b",
        r"no (?:hay|existe|se encontró|se encuentra) (?:ninguna |suficiente )?(?:información|mención)\b"
        r"|no hay datos (?:sobre|de|en)\b|no consta en los (?:documentos|textos)\b",
        r"(?:lamento )?no poder (?:responder|ayudar|contestar|proporcionar)\b",
        r"no (?:sé|conozco) la respuesta\b",
        r"no encuentro (?:esa|esta|la|ninguna) (?:información|respuesta|mención)\b",
        r"no (?:encontré|encuentro|he encontrado) nada (?:sobre|de|acerca|al respecto|en)\b",
        r"desconozco (?:la respuesta|esa información|ese dato)$",
        r"(?:esa|esta|dicha) información no (?:aparece|figura|está|se encuentra|se menciona)\b",
        r"no se puede (?:responder|determinar|saber)\b",
    ),
    courtesies=r"(?:puedo|hay algo|necesitas|necesita|quieres|quiere) .*"
    r"|si (?:tienes|tiene|necesitas|necesita|quieres|quiere)\b"
    r"|por favor",
    but="pero|sin embargo|aunque|sino|solo|sólo|solamente|únicamente|más que|salvo|excepto",
)
PORTUGUESE = RefusalPhrases(
    apologies=r"(?:eu )?sinto muito|peço desculpas?|lamento|desculpe|desculpa|infelizmente",
    declined=(
        r"(?:eu )?não (?:o )?sei(?: (?:a resposta|responder.*))?$",
        r"(?:eu )?não (?:posso|consigo|consegui|é possível|foi possível|sou capaz de) "
        r"(?:responder|ajudar|determinar|encontrar|dizer|fornecer|dar)",
        r"(?:eu )?não (?:tenho|disponho de) (?:a |as |essa |essas |acesso |nenhuma )?"
        r"(?:informações|informação|dados|resposta|conhecimento|a )",
        r"não (?:há|existem?|foi encontrada|foram encontradas) (?:nenhuma )?(?:informaç|menç)",
        r"não (?:encontrei|localizei) (?:\w+ )?(?:informaç|dados|mençã|mençõ|resposta)",
        r"não (?:sei|conheço) a resposta\b",
        r"desconheço (?:a resposta|essa informação)$",
        r"(?:essa|esta) informação não (?:consta|aparece|está|se encontra|é mencionada)\b",
    ),
    courtesies=r"(?:posso|há algo|precisa|quer|gostaria) .*|se (?:você |tiver|precisar|quiser)|por favor",
    but="mas|porém|contudo|no entanto|embora|e sim|senão|apenas|somente|só|exceto",
)
ITALIAN = RefusalPhrases(
    apologies=r"mi dispiace(?: molto)?|purtroppo|sfortunatamente|spiacente|mi scuso",
    declined=(
        r"(?:io )?non (?:lo )?so(?: (?:la risposta|rispondere.*))?$",
        r"non (?:posso|riesco a|sono in grado di|è possibile|sono riuscit[oa] a) "
        r"(?:rispondere|aiutar|determinare|trovare|dire|fornire|dare)",
        r"non (?:ho|dispongo di) (?:abbastanza |sufficienti |alcuna |accesso |la )?"
        r"(?:informazion|dati|risposta|accesso|a )",
        r"non (?:ci sono|c'è|sono presenti|è presente) (?:alcuna |nessuna )?(?:informazion|menzion)",
        r"non conosco la risposta\b",
        r"non ho trovato (?:\w+ )?(?:informazion|dati|menzion|risposta)",
        r"non saprei$|non trovo (?:questa informazione|la risposta)\b",
        r"(?:questa|tale) informazione non (?:è presente|compare|si trova|è menzionata|figura)\b",
    ),
    courtesies=r"(?:posso|c'è altro|vuoi|vuole|hai|ha) .*|se (?:hai|ha|vuoi|vuole)\b|per favore",
    but=r"ma|tuttavia|però|anche se|sebbene|bensì|solo|soltanto|solamente|tranne|non \w+ che",
)
DUTCH = RefusalPhrases(
    apologies=r"het spijt me|sorry|helaas|mijn excuses|excuses",
    declined=(
        r"dat weet ik (?:helaas )?niet$|ik weet (?:het|dat) (?:helaas )?niet$",
        r"ik kan (?:deze vraag|dit|dat|hier|u|je|daar)\b.*\b(?:niet|geen)\b"
        r".*\b(?:beantwoorden|helpen|bepalen|vinden|zeggen|geven)$",
        r"ik heb (?:hierover )?(?:niet genoeg|onvoldoende|geen) (?:informatie|gegevens|toegang|antwoord)\b",
        r"er is (?:geen|onvoldoende|niet genoeg) informatie\b",
        r"(?:ik weet (?:het|dat|het antwoord) (?:helaas )?niet|(?:daar|hier|dat) weet ik (?:helaas )?(?:niets van|niet))$",
        r"ik (?:kan|ben) (?:\w+ ){0,5}(?:niet|niet in staat) (?:om )?(?:\w+ ){0,4}(?:te )?(?:beantwoorden|helpen)$",
        r"(?:daar|hier|dat|deze vraag|dit|kan) (?:kan )?ik (?:\w+ ){0,4}niet (?:\w+ ){0,2}(?:helpen|beantwoorden|zeggen)$",
        r"(?:ik )?(?:heb|beschik)(?: ik)? (?:\w+ ){0,3}(?:geen|niet over voldoende|over onvoldoende|niet genoeg) "
        r"(?:\w+e )?(?:informatie|gegevens)\b",
        r"(?:die informatie|deze informatie|dat) (?:staat|komt|wordt) (?:\w+ )?niet (?:\w+ )?in (?:de|het) "
        r"(?:\w+e )?(?:documenten|document|bronnen|bron|teksten|tekst|context)\b",
        r"(?:daar|hier)(?:over)? heb ik (?:\w+ )?(?:geen|onvoldoende) (?:informatie|gegevens)\b",
        r"ik kan (?:dat|dit|het antwoord|die informatie) (?:helaas )?niet vinden\b",
    ),
    courtesies=r"(?:kan ik (?:je|u) (?:ergens|met iets)|als (?:je|u) |heb je |heeft u |laat het me weten|stel gerust)",
    but="maar|echter|hoewel|wel|doch|alleen|slechts|enkel|behalve",
)
POLISH = RefusalPhrases(
    apologies=r"(?:bardzo )?przepraszam|przykro mi|niestety",
    declined=(
        r"(?:ja )?(?:tego )?nie (?:wiem|znam odpowiedzi)(?: tego| na to pytanie)?$",
        r"nie (?:mogę|potrafię|jestem w stanie|udało mi się) (?:\w+ ){0,2}"
        r"(?:odpowiedzieć|pomóc|określić|znaleźć|powiedzieć|podać|ustalić|udzielić)",
        r"nie (?:mam|posiadam) (?:\w+ )?(?:informacji|danych|dostępu|odpowiedzi)\b",
        r"(?:w (?:\w+ )?(?:dokumentach|źródłach|tekście|kontekście|fragmentach) )?(?:nie ma|brak) "
        r"(?:\w+ )?(?:informacji|wzmianki)\b",
        r"w (?:\w+ ){0,2}(?:dokumentach|źródłach|tekście|tekstach|kontekście|fragmentach|materiałach) "
        r"nie ma (?:\w+ ){0,3}(?:mowy|wzmianki)$",
        r"(?:na podstawie (?:\w+ ){1,3})?nie można (?:odpowiedzieć na to pytanie|tego (?:ustalić|określić))$",
    ),
    courtesies=r"czy (?:mogę|chcesz|chciał)|jeśli (?:masz|ma pan|potrzebujesz)|proszę",
    but="ale|jednak|chociaż|choć|lecz|tylko|jedynie|natomiast|oprócz",
)
RUSSIAN = RefusalPhrases(
    apologies=r"к сожалению|извините|простите|сожалею|мне (?:очень )?жаль",
    declined=(
        r"(?:я )?(?:этого )?не знаю(?: ответа.*)?$",
        r"я не (?:могу|смог|смогла|в состоянии) (?:\w+ )?"
        r"(?:ответить|помочь|определить|найти|сказать|дать|предоставить)",
        r"у меня (?:нет|недостаточно) (?:\w+ )?(?:информации|данных|доступа|ответа|сведений)\b",
        r"(?:нет|недостаточно) (?:информации|сведений)\b",
        r"(?:на основании|на основе|исходя из|по) (?:\w+ ){1,3}(?:ответить|определить)(?: на (?:этот |данный )?вопрос)? "
        r"(?:невозможно|нельзя)$",
        r"(?:я )?не (?:располагаю|владею|обладаю) (?:\w+ )?(?:информацией|данными|сведениями)$",
        r"не знаю$",
        r"(?:этой|такой) информации (?:\w+ )?нет\b|(?:эта )?информация (?:об этом )?отсутствует$",
        r"мне (?:это |об этом )?(?:неизвестно|ничего не известно)$",
        r"(?:я )?не наш(?:ёл|ел|ла) (?:\w+ )?(?:ответа|информации|сведений|упоминани\w+)\b",
    ),
    courtesies=r"(?:могу ли я|чем ещё|если (?:у вас|вам|хотите)|пожалуйста|обратитесь|хотите)",
    but="но|однако|хотя|а|только|лишь|кроме|зато",
)
TURKISH = RefusalPhrases(
    apologies=r"(?:çok )?üzgünüm|maalesef|ne yazık ki|özür dilerim",
    declined=(
        r"(?:bunu |cevab[ıi](?:n[ıi])? |yan[ıi]t[ıi] )?bilmiyorum$",
        r"(?:bu (?:soruya|soruyu|konuda) )?(?:(?:cevap|yan[ıi]t) veremi?yorum|(?:cevap|yan[ıi]t) veremem"
        r"|cevaplayam[ıi]yorum|yan[ıi]tlayam[ıi]yorum"
        r"|yard[ıi]mc[ıi] olam[ıi]yorum)$",
        r"(?:bu konuda )?(?:yeterli )?bilgi(?:m yok|ye sahip değilim| yok)$",
        r"(?:bu konuda |bu (?:istekte|talepte|isteğe|talebe) )?(?:size )?yard[ıi]mc[ıi] olam(?:am|[ıi]yorum)$",
        r"bu (?:bilgi|veri)(?:ye|lere) erişimim yok$",
        r"bu soru(?:yu|ya) (?:yan[ıi]tlamak|cevaplamak|yan[ıi]t vermek) için "
        r"(?:\w+ )*(?:bilgim|bilgi|verim) (?:yok|yeterli değil)$",
        r"(?:[^,]+ (?:dayanarak|göre),? )?(?:bu )?soru(?:yu|ya) "
        r"(?:yan[ıi]tlayam|cevaplayam|(?:cevap|yan[ıi]t) verem)(?:am|em|[ıi]yorum|iyorum|[ıi]yoruz|iyoruz)?$",
        r"bu sorunun (?:cevab[ıi]n[ıi]|yan[ıi]t[ıi]n[ıi]) bilmiyorum$",
        r"(?:verilen|eldeki|bu) (?:bilgi|metin|belge)\w* (?:\w+ )?bu soru(?:yu|ya) (?:\w+ ){1,2}mümkün değil$",
        r"bu bilgi (?:\w+ ){1,2}(?:yer alm[ıi]yor|bulunmuyor|yok|belirtilmemiş)$",
    ),
    courtesies=r"(?:başka (?:bir )?(?:konu|şey|soru)\w*|eğer|lütfen|daha fazla)",
    but="ama|ancak|fakat|sadece|yalnızca|yalnız|değil(?= )",
)
ARABIC = RefusalPhrases(
    apologies=r"(?:أنا )?(?:آسف|آسفة|أعتذر|عذرا|للأسف|المعذرة)",
    declined=(
        r"(?:أنا )?لا (?:أعرف|أعلم|أدري)(?: (?:الإجابة|الجواب|ذلك))?$",
        r"(?:أنا )?(?:لا أستطيع|لا يمكنني|لا أتمكن من|لم أتمكن من) "
        r"(?:الإجابة|المساعدة|تحديد|العثور|تقديم|إعطاء|القول)",
        r"(?:ليست? لدي|لا أملك|لا تتوفر لدي) (?:\w+ )?(?:معلومات|بيانات|إجابة)",
        r"لا توجد (?:أي )?معلومات\b",
        r"لا يمكن(?:نا)? (?:الإجابة|الرد) (?:على|عن) (?:هذا السؤال|السؤال|ذلك)(?!\w)",
        r"(?:أنا )?(?:لا أستطيع|لا يمكنني) (?:مساعدتك|مساعدتكم|أن أساعدك|أن أجيب|تزويدك)",
        r"لا (?:أعرف|أعلم) (?:الإجابة|الجواب) (?:عن|على) (?:هذا )?السؤال$",
        r"(?:هذه |تلك )?المعلومات غير (?:موجودة|متوفرة|مذكورة|متاحة)\b",
        r"لم (?:أجد|أعثر على) (?:الإجابة|إجابة|معلومات|هذه المعلومات|أي معلومات)",
    ),
    courtesies=r"(?:هل (?:يمكنني|تريد|لديك)|إذا (?:كان|كانت|كنت)|يرجى|من فضلك)",
    but="لكن|ولكن|غير أن|بل|سوى|إلا|فقط|إنما",
)
HINDI = RefusalPhrases(
    apologies=r"(?:मुझे )?(?:खेद है|माफ़ करें|माफ करें|क्षमा करें|माफ़ कीजिए|माफ कीजिए|क्षमा कीजिए|दुर्भाग्य से)(?: कि)?",
    declined=(
        r"(?:मुझे |मैं )?(?:यह |इसका उत्तर |इस प्रश्न का उत्तर |इसके बारे में )?(?:नहीं (?:पता|मालूम)|नहीं जानता|नहीं जानती)(?: है| हूँ| हूं)?$",
        r"(?:मैं )?(?:इस (?:प्रश्न|सवाल) का |इसका )?(?:उत्तर|जवाब) नहीं दे (?:सकता|सकती)(?: हूँ| हूं)?$",
        r"(?:दिए गए |इन )*(?:दस्तावेज़ों|दस्तावेजों|स्रोतों|अंशों|पाठ|संदर्भ|जानकारी) के आधार पर (?:\S+ ){0,6}"
        r"(?:उत्तर|जवाब) नहीं दे (?:सकता|सकती|सकते|पाऊँगा|पाऊंगा)(?: हूँ| हूं| हैं)?$",
        r"(?:मैं )?(?:इसमें |इस (?:विषय|मामले|अनुरोध) में )?(?:आपकी )?(?:मदद|सहायता) नहीं कर (?:सकता|सकती)(?: हूँ| हूं)?$",
        r"(?:मेरे पास|इस विषय में|इस बारे में|इसके बारे में) (?:\S+ ){0,3}(?:जानकारी|सूचना|डेटा) (?:उपलब्ध )?नहीं है$",
        r"(?:दिए गए |इन |इस )*(?:दस्तावेज़|दस्तावेज|स्रोत|अंश|पाठ|संदर्भ|गद्यांश)\S* (?:में|से) "
        r".*नहीं (?:दी गई|दिया गया|बताई गई|बताया गया) है$",
        r"(?:दी गई|उपलब्ध|इस) जानकारी के आधार पर .*(?:उत्तर|जवाब) देना (?:संभव|मुमकिन) नहीं है$",
        r"(?:मुझे )?(?:इसकी|इस बारे में|इसके बारे में) (?:कोई )?जानकारी नहीं है$",
        r"यह जानकारी (?:\S+ ){1,3}(?:नहीं है|उपलब्ध नहीं है|नहीं दी गई है)$",
    ),
    courtesies=r"(?:क्या (?:मैं|आप)|यदि आप|अगर आप|कृपया)",
    but="लेकिन|परंतु|परन्तु|किंतु|हालांकि|बल्कि|सिर्फ|सिर्फ़|केवल|मगर",
)
_TRADITIONAL = dict(
    zip(
        "无没对资讯档据数从确协断问题个这关给够说内暂还帮请个后并补获时们",
        "無沒對資訊檔據數從確協斷問題個這關給夠說內暫還幫請個後並補獲時們",
        strict=True,
    )
)


def _both_scripts(pattern: str) -> str:
    """A pattern of simplified Chinese that also matches the traditional characters."""
    return "".join(
        f"[{character}{_TRADITIONAL[character]}]" if character in _TRADITIONAL else character
        for character in pattern
    )


CHINESE = RefusalPhrases(
    apologies=_both_scripts("很抱歉|非常抱歉|抱歉|对不起|不好意思"),
    declined=tuple(
        map(
            _both_scripts,
            (
                r"我?(?:不知道|不清楚|不了解)(?:这个问题)?(?:的)?(?:答案)?$",
                r"(?:(?:根据|基于|从)[^，]{1,20}[，,]?)?(?:我|目前|暂时|还|也)*(?:无法|不能|没法|没办法)(?:回答|提供|确定|帮助|协助|判断|完成)",
                r"(?:我)?(?:无法|不能)(?:根据|从)[^，]{1,20}(?:回答|确定|判断|得知)",
                r"(?:我|目前|这里)?没有(?:足够的?|任何|相关的?|更多的?)+(?:信息|资讯|资料|数据)",
                r".*(?:文中|原文|文档|资料|上下文|段落|文本|信息)(?:中|里)?(?:并)?(?:没有|未|无)"
                r"(?:提到|提供|包含|说明|提及|给出|相关)",
                r".*(?:文中|原文|文档|资料|上下文|段落|文本)(?:中|里)?(?:找不到|查不到|没找到)(?:答案|相关|这)",
                r"(?:我|目前|暂时)*(?:找不到|查不到|没找到|没有找到)(?:任何)?(?:相关的?)?(?:信息|资讯|内容|资料|答案)$",
            ),
        ),
    ),
    courtesies=_both_scripts(
        "如果(?:您|你)|请(?:提供|告诉|问|您|随时)|还有(?:其他|什么)|(?:您|你)可以|需要"
    ),
    but=_both_scripts("但|然而|不过|而是|而不是|只(?:提到|有|说|是)|仅(?:提到|有|说|是)|提到的是"),
    spaced=False,
)
JAPANESE = RefusalPhrases(
    apologies="申し訳(?:ありません|ございません)(?:が)?|すみません(?:が)?|残念ながら|恐れ入りますが",
    declined=(
        r"(?:私には|それは|答えは|回答は)?(?:わかりません|分かりません|わからない|分からない|存じません)$"
        r"|答えがわかりません$",
        r"(?:この|その|ご)?(?:質問|お問い合わせ)?(?:には|に|については|について)?(?:お答え|回答)"
        r"(?:することは|することが)?(?:できません|できかねます|出来ません|しかねます)$",
        r"(?:お手伝い|お力になること|対応|ご案内)(?:は|が)?(?:できません|できかねます|致しかねます)$",
        r"(?:私は|その|この|それに関する|関連する)*(?:情報|データ|答え)(?:は|を)(?:持っていません|持ち合わせていません|ありません)$",
        r"(?:この|その|提供された|与えられた)*(?:情報|資料|文書|本文|文章)だけでは(?:、)?(?:判断|お答え|回答|特定)(?:は|が)?(?:できません|できかねます)$",
        r"(?:十分な|必要な|関連する)*情報が(?:ない|不足している|足りない)(?:ため|ので)、?(?:お答え|回答|判断)(?:は|が)?(?:できません|できかねます)$",
        r"(?:わかりかねます|分かりかねます|存じ上げません)$",
        r"(?:その|この)?情報は(?:提供された)?(?:資料|文書|本文)(?:に|には|の中に|の中には)(?:ありません|含まれていません)$",
        r"(?:その|この|該当する|関連する)*情報(?:は|が)見つかりません(?:でした)?$",
    ),
    courtesies="他に(?:ご質問|何か)|ほかに|もし|ご不明な点|何か(?:他|お手伝い)|別の",
    but="しかし|ただし|けれども",
    spaced=False,
)
KOREAN = RefusalPhrases(
    apologies="(?:대단히 )?죄송(?:하지만|합니다만|합니다)|유감스럽게도|안타깝게도|미안(?:하지만|합니다)",
    declined=(
        r"(?:저는 |저도 |그것은 |(?:그|이) 질문에 대한 |답을 |답은 |잘 )*(?:모릅니다|모르겠습니다)$",
        r"(?:이 |그 |해당 )?(?:질문|문의)(?:에|에는) (?:대한 )?(?:대해 )?(?:답변|답|대답)(?:을|를)? ?"
        r"(?:할 수 없습니다|드릴 수 없습니다|드리기 어렵습니다|제공할 수 없습니다)$",
        r"(?:도와드릴|도움을 드릴|도와 드릴) 수 없습니다$",
        r"(?:해당 |관련 |그 |이에 대한 |그것에 대한 |이 주제에 대한 )*정보(?:가|는) (?:없습니다|부족합니다)$",
        r"(?:정보가 (?:부족하여|부족해서|없어서|충분하지 않아)|(?:제공된 |주어진 |이 )*(?:자료|정보|문서|본문)만으로는) "
        r"(?:답변|답|판단|대답)(?:을 )?(?:할|드릴) 수 없습니다$",
        r"(?:관련 |해당 |그 )*정보(?:를|가) 찾을 수 없(?:습니다|었습니다)$",
        r"알 수 없습니다$",
    ),
    courtesies="다른 (?:질문|도움)|더 (?:궁금|필요)|혹시|원하시면|도움이 필요",
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
