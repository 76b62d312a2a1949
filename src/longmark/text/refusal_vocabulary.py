"""The words of `text.refusal_words` in fifteen languages."""

from __future__ import annotations

from longmark.text.refusal_words import RefusalWords

_GIVEN = r"(?:given|provided|retrieved|available|supplied|cited|above|following|present|other) "
ENGLISH = RefusalWords(
    sources=rf"(?:(?:the|these|those|this|your|my|any|all|of|in|from|provided|given|retrieved) (?:{_GIVEN})*"
    r"(?:passages?|contexts?|documents?|documentation|sources|excerpts?|snippets?|search results"
    r"|knowledge base|texts?"
    r"|articles?)(?: (?:provided|given|retrieved|available|supplied|above|here))*"
    r"|(?:provided|given|retrieved|supplied) materials?|(?:the|this) materials?"
    r"(?: (?:provided|given|retrieved|supplied|here)|$)"
    r"|(?<=no )passages?(?! of)|(?<=neither )passages?|(?<=no )excerpts?|(?<=neither )sources?"
    r"|(?:provided|available|given) (?:information|data)|(?:what|information|data) (?:(?:is|was"
    r"|'s) )?(?:given|provided)(?! (?:to|by))"
    r"|(?:information|data) (?:i have|available))",
    facts=r"informations?|details?|mentions?|answers?|indications?|references?|data|clues?|explanations?|trace|hint",
    telling=r"say|said|mention(?:ed|s)?|cover(?:ed|s)?|address(?:ed|es)?|specif(?:y|ied|ies)|stated?"
    r"|indicate[ds]?|provided?"
    r"|discuss(?:ed)?|touch(?:ed)?|explain(?:ed)?|clarif(?:y|ied)|describe[ds]?|answer(?:ed)?"
    r"|disclosed?|reveal(?:ed)?"
    r"|tell|give|given|known|determined?|stipulated?|detail(?:ed)?|elaborate|identif(?:y|ied)"
    r"|inferred|concluded|establish(?:ed)?|go(?:es)? into|find|locate|see|gives?|says|tells",
    negation=r"not|never|nowhere|cannot",
    none=r"no|none|not any|without any|insufficient|not enough|neither|lacks?|without further",
    nothing=r"nothing(?= (?:about|on|regarding|concerning|as to)|$)",
    silent=r"silent|fails? to (?:mention|say|specify|state|address|explain)"
    r"|leaves? (?:it |this )?(?:open|unanswered)|omits?",
    unclear=r"outside (?:of )?the scope|beyond the scope|insufficient|not enough|not sufficient|absent|not part"
    r"|unclear|not clear|unspecified|unknown|unanswered|impossible|not possible|left open",
    clause=r"that|which|who|because|but|according",
    owners=r"of|by|from",
    whether=r"whether|if|how|why|when|where|what",
)
GERMAN = RefusalWords(
    sources=r"(?:(?:die|der|das|des|dem|den|im|diese[rmns]?|(?:vorliegenden?|bereitgestellten?|gegebenen?"
    r"|angegebenen?"
    r"|verfügbaren?|zitierten?|gefundenen?)) )+"
    r"(?:passagen?|textstellen?|quellen|dokumente?[ns]?|unterlagen|kontexte?s?|texte?[ns]?|auszug"
    r"|auszügen?|abschnitte?[ns]?"
    r"|materialien|quellentexte?n?|artikel[ns]?)",
    facts=r"angaben?|informationen|information|hinweise?|daten|aussagen?|antwort(?:en)?|erwähnung"
    r"|details|auskunft|näheres"
    r"|auskünfte|einzelheiten|aufschluss|anhaltspunkte?|belege?",
    telling=r"sag(?:t|en)|nenn(?:t|en)|erwähn(?:t|en)|enth(?:ä|a)lt(?:en)?|g(?:i|e)bt|geben"
    r"|beantworte[nt]*|angegeben|genannt"
    r"|geht|gehen|hervor|beschreib(?:t|en)|beschrieben|erklär(?:t|en)|erläuter[nt]|steht|stehen"
    r"|entnehmen|ersichtlich"
    r"|bestimmen|ableiten|aufgeführt|behandel[nt]|behandelt|thematisier(?:t|en)|eingegangen"
    r"|verrä?t|verraten|findet|finden"
    r"|erfahren|erschliessen|klären|klärt|ermitteln|ermittelt|bestimmt|beurteilen|finde|befass(?:t|en)"
    r"|äusser[nt]|geschildert|erklärt",
    negation=r"nicht|nirgends|nirgendwo",
    none=r"keine?[rmns]?|fehl(?:t|en)|mangelt|nicht genug|nicht genügend|zu wenige?|keinerlei",
    nothing=r"nichts",
    silent=r"schweig(?:t|en)(?: sich)?|unzureichend|reich(?:t|en) nicht|unerwähnt|ungesagt|übergeh(?:t|en)",
    unclear=r"offen|unklar|unbeantwortet|unbekannt|lässt sich nicht|lassen sich nicht",
    clause=r"weil|obwohl|wonach|laut|gemäss|zufolge",
    owners=r"von|vom|des|der|aus",
    whether=r"dass|ob|um|wieviele|wie|warum|wann|wo|was|wer|welche[rs]?",
    negation_last=True,
)
FRENCH = RefusalWords(
    sources=r"(?:les?|la|l|ces?|cet|cette|des?|du|aux?|vos|mes|aucun(?:e)? des)['’ ](?:\w+ des )?"
    r"(?:documents?|passages?|extraits?|sources|textes?|contexte|articles?|éléments|informations|données)"
    r"(?: (?:fourni|donné|disponible|cité|présent|récupéré)e?s?| ci-dessus)?"
    r"|(?<=aucun )(?:passage|document|texte|extrait)|(?<=aucune )source",
    facts=r"informations?|mentions?|données|réponses?|précisions?|indications?|éléments?"
    r"|renseignements?|détails?|(?<!de )références?|indices?",
    telling=r"mentionn\w+|précis\w+|indiqu\w+|di[ts]|disent|évoqu\w+|abord\w+|trait\w+|parl\w+|fourni\w*"
    r"|donn\w+"
    r"|figur\w+|apparaî\w+|permett\w+|permet|expliqu\w+|répond\w*|détaill\w+|spécifi\w+|trouve"
    r"|détermin\w+|aborde|révèl\w+|révél\w+|décri\w+|ressort\w*|trouver",
    negation=r"ne|n|non",
    none=r"d aucune?|aucune?|manqu\w+|pas (?:assez |suffisamment )?(?:d|de)|pas suffisamment|peu d",
    nothing=r"rien",
    silent=r"muets?|silencieux|ne suffi\w+ pas|passent sous silence|passe sous silence|omett\w+|omet",
    unclear=r"impossible|insuffisante?s?|hors du cadre|n'est pas claire?|pas claire?s?|pas possible"
    r"|on ne sait pas|on ignore",
    clause=r"que|qu|(?<=\s)qui|car|mais|(?<!y )a(?= pas)|ont(?= pas)",
    owners=r"(?:de|d|du|des)(?! (?:référence|recherche|base))",
    whether=r"ce qui|ce que|qui|combien|quels?|quelles?|si|quand|où|pourquoi|comment",
)
_SPANISH_DETERMINERS = r"(?:los|las|el|la|del|al|estos|estas|este|esta|mis|sus|dichos)"
SPANISH = RefusalWords(
    sources=rf"{_SPANISH_DETERMINERS} "
    r"(?:documentos?|pasajes?|fragmentos?|fuentes|textos?|contexto|extractos?|artículos?"
    r"|informaci[oó]n)(?: (?:proporcionad|dad|citad|recuperad|facilitad)[oa]s?| disponibles?)?"
    r"|(?:los|el|del) materiale?s? (?:proporcionado|dado|citado|recuperado|facilitado)s?"
    r"|(?<=ningún )(?:pasaje|documento|texto|fragmento)|(?<=ninguna )fuente",
    facts=r"informaci[oó]n|datos?|menci[oó]n|respuestas?|detalles?|indicios|referencias?|indicaci[oó]n",
    telling=r"mencion\w+|dicen?|indica[nd]?\w*|especific\w+|proporcion\w+|abord\w+|ofrece\w*|habla\w*"
    r"|aclar\w+|aparece\w*"
    r"|cubre\w*|precis\w+|explic\w+|desprend\w+|figura\w*|trata\w*|respond\w+|detall\w+|consta\w*"
    r"|saber\w*|sabe|describ\w+|encontr\w+|localiz\w+|dan?|ofrecen?|determin\w+|encuentr\w+|señal\w+|revel\w+|permite\w*|menciona",
    negation=r"no|nunca|tampoco",
    none=r"ning[uú]n[oa]?|no hay|sin|faltan?|carecen?(?: de)?",
    nothing=r"nada",
    silent=r"guardan? silencio|no bastan?|omiten?|callan?",
    unclear=r"se desconoce|se ignora|imposible|insuficientes?|no hay forma|no es posible|no hay manera|no se sabe"
    r"|fuera del alcance|desconocid[oa]|no (?:queda|está) claro|no hay suficientes?",
    clause=r"que|porque|pero|(?<!se )han?(?= \w+[ai]do)",
    owners=r"del?(?! (?:que|los que|las que|apoyo|consulta|base))",
    whether=r"lo que|quién(?:es)?|cuánt[oa]s?|qué|sobre|acerca de|en cuanto a|respecto a|si|cuándo|dónde|por qué|cómo",
)
PORTUGUESE = RefusalWords(
    sources=r"(?:os|as|o|a|dos?|das?|nos?|nas?|ao|aos|estes|estas|este|esta|neste|nesta|nestes|deste|destes) "
    r"(?:documentos?|passagens|passagem|trechos?|fontes|textos?|contexto|excertos?|artigos?"
    r"|materia(?:l|is)|informações)"
    r"(?: (?:fornecid|dad|citad|recuperad|apresentad)[oa]s?| disponíve(?:l|is))?",
    facts=r"informaç(?:ão|ões)|dados?|menç(?:ão|ões)|respostas?|detalhes?|indicaç(?:ão|ões)|referências?",
    telling=r"mencion\w+|diz\w*|dizem|indica\w*|especific\w+|fornece\w*|aborda\w*|informa\w*|fala\w*"
    r"|esclarec\w+"
    r"|consta\w*|aparece\w*|explica\w*|precisa\w*|trata\w*|respond\w+|detalha\w*|revela\w*|permite\w*|saber"
    r"|determina\w*|encontra\w*|cobre\w*",
    negation=r"não|nunca|nem",
    none=r"nenhum[a]?|não há|sem",
    nothing=r"nada",
    unclear=r"impossível|insuficientes?|desconhecid[oa]|omiss[oa]s?|não é possível|não há como|em aberto"
    r"|fora do escopo|não bastam?",
    clause=r"que|porque|mas",
    owners=r"d[eoa]s?(?! (?:que|apoio|consulta|base))",
    whether=r"se|quando|onde|como",
)
ITALIAN = RefusalWords(
    sources=r"(?:i|le|il|la|gli|lo|ai|agli|alle|alla|al|dei|delle|del|della|dai|dalle|dal|nei|nelle|nel"
    r"|nella|questi|queste|questo) "
    r"(?:documenti|documento|passaggi|passaggio|brani|brano|fonti|testi|testo|contesto|estratti"
    r"|estratto|articoli|articolo"
    r"|materiali|materiale|informazioni)(?: (?:fornit|dat|citat|riportat)[oaie]| disponibili)?",
    facts=r"informazion[ei]|dati|menzion[ei]|rispost[ae]|dettagli|indicazion[ei]|riferiment[oi]",
    telling=r"menzion\w+|dic\w+|dett[oaie]|indica\w*|specific\w+|fornisc\w+|riport\w+|parla\w*|precis\w+"
    r"|chiari\w+|affront\w+|tratt\w+|compar\w+|risult\w+|spieg\w+|rispond\w+|permett\w+"
    r"|consent\w+|figur\w+|dedurre|sapere"
    r"|stabilire|determinare|evince|emerge|cit\w+|rivela\w*|trova\w*",
    negation=r"non|mai|né",
    none=r"nessun[oa]?|alcun[oa]?|non ci sono|non c'è",
    nothing=r"nulla|niente",
    unclear=r"impossibile|insufficient[ei]|tacciono|tace|ignot[oa]|non è possibile|non bastano|non basta"
    r"|in sospeso"
    r"|al di fuori|non è chiaro",
    clause=r"che|perché|ma",
    owners=r"(?:di|d|del|dello|della|dei|degli|delle)(?! (?:cui|base))",
    whether=r"se|quando|dove|come|perché",
)
DUTCH = RefusalWords(
    sources=r"(?:(?:de|het|deze|dit|die|gegeven|verstrekte|beschikbare|aangeleverde) )+"
    r"(?:documenten|documents?|passages?|bronnen|teksten|tekst|context|fragmenten|fragment"
    r"|stukken|artikelen|artikel|materiaal)",
    facts=r"informatie|gegevens|vermelding|antwoord(?:en)?|details|aanwijzing(?:en)?|uitleg|melding",
    telling=r"noem\w*|genoemd|vermeld\w*|zeg(?:t|gen)|gezegd|geef[t]?|geven|bevat\w*|staat|staan"
    r"|beschrijf\w*|beschreven|behandel\w+"
    r"|besproken|bespreek\w*|blijkt|blijken|op te maken|af te leiden|te halen|vertel\w*"
    r"|verklaa?r\w*|opmaken|afleiden|bepalen|beantwoord\w*|gaa[tn]?|gegeven"
    r"|duidelijk|vinden|halen",
    negation=r"niet|nergens|nooit",
    none=r"geen(?: enkele)?|onvoldoende|niet genoeg|te weinig",
    nothing=r"niets|niks",
    unclear=r"onduidelijk|zwijg(?:t|en)|ontoereikend|in het midden|onbekend|onbeantwoord|open",
    clause=r"omdat|maar|volgens",
    owners=r"van|uit",
    whether=r"(?<=\s)dat|of|wanneer|waarom|hoe|waar|wat|wie",
    negation_last=True,
)
POLISH = RefusalWords(
    sources=r"(?:(?:podan|dostarczon|dostępn|przytoczon|załączon|powyższ)\w+ |te |tych |tym |ten )?"
    r"(?:dokument(?:y|ach|ów|u|cie|ami)?|źródł(?:a|ach|om)|źródeł|fragment(?:y|ach|ów|u|cie)?"
    r"|tekst(?:y|ach|ów|u|cie)?"
    r"|kontek(?:st|stu|ście)|materiał(?:y|ach|ów)|artykule|artykułu|pasaż(?:e|ach))",
    facts=r"informacji|informacja|danych|wzmiank[ia]|odpowiedzi|szczegółów|wskazówek|słowa",
    telling=r"wspomina\w*|wspomnian\w*|mówi\w*|mowy|podaj[eą]\w*|podano|podany|podane|określ\w+|wynika\w*"
    r"|wyjaśnia\w*"
    r"|opisuj\w+|poruszaj?\w*|odnosi\w*|precyzuj\w*|pozwala\w*|odpowiada\w*|ustalić|stwierdzić"
    r"|wskazuj\w+|omawia\w*|informuj\w+",
    negation=r"nie|nigdzie",
    none=r"żadn\w+|brak(?:uje)?|nie ma|zbyt mało|za mało|niewystarczając\w+",
    nothing=r"nic|niczego",
    unclear=r"milcz[yą]|niejasne|nie wystarcz\w+|nie sposób|nie da się|nie można|niewiadomo|nie wiadomo"
    r"|niewystarczając\w+",
    clause=r"który\w*|która|które|ale|według|zgodnie",
    owners=r"z|ze|od",
    whether=r"że|iż|czy|ile|kiedy|dlaczego|jak|gdzie",
)
RUSSIAN = RefusalWords(
    sources=r"(?:(?:предоставленн|приведённ|приведенн|данн|эт|указанн|имеющ|доступн)\w+ )*"
    r"(?:документ(?:ы|ах|е|ов|а|у|ам)?|источник(?:и|ах|ов|ам)|текст(?:е|ах|ы|а|у|ам)?|отрывк(?:е"
    r"|ах|и|ам)|отрывок"
    r"|контекст(?:е|а)?|фрагмент(?:е|ах|ы|а|ам)?|материал(?:ах|ы|ов|ам)|стать(?:е|ях))",
    facts=r"информаци[июя]|сведени[йя]|данных|данные|упоминани[йяе]|ответ[а]?|подробност(?:ей|и)"
    r"|указани[йя]|слова",
    telling=r"упомин\w+|упомянут\w*|говор\w+|сказано|указ\w+|назыв\w+|назван\w*|сообща\w+|раскрыва\w+"
    r"|уточня\w+|поясня\w+|объясня\w+"
    r"|описыва\w+|описан\w*|освеща\w+|затрагива\w+|следует|позволя\w+|отвеча\w+|определить"
    r"|установить|узнать|ясно|понять",
    negation=r"не|ни|нигде",
    none=r"нет|никак(?:ой|их|ого)|недостаточно|отсутству\w+|мало",
    nothing=r"ничего|ничто",
    unclear=r"неизвестно|неясно|молч[аи]т|умалчива\w+|невозможно|нельзя|недостаточно|не хватает|отсутству\w+",
    clause=r"котор\w+|потому|согласно",
    owners=r"из|от",
    whether=r"что|сколько|когда|почему|где|как|кто",
)
TURKISH = RefusalWords(
    sources=r"(?:verilen |sağlanan |bu |eldeki |mevcut )*(?:belge(?!sel)\w*|kaynak(?:lar)\w*|metin\w*"
    r"|metn\w+|pasaj\w*|bağlam(?:da|ı)\w*"
    r"|parça(?:da|lar)\w*|doküman\w*)(?! göre)",
    untold=r"(?:belirtil|bahsedil|değinil|açıklan|anlat[ıi]l|söylen|yer al|bulun|geç|içer|belirt|bahset"
    r"|değin|açıkla|yer ver|yer veril|söz ed|söz edil"
    r"|yan[ıi]t ver|cevap ver|yan[ıi]tla|cevapla)"
    r"(?:mi?y\w+|m[ıi]yor\w*|m[ıiua]?yor\w*|memiş\w*|mam[ıi]ş\w*|mez\w*|maz\w*|mem\w+)"
    r"|bilgi(?:ye|si)? (?:\w+ )?(?:yok\w*|yer alm\w+|bulunmu\w+|verilme\w+|rastlan\w+)"
    r"|anlaş[ıi]lm[ıi]yor|çıkar[ıi]lam\w+"
    r"|mümkün değil\w*|yeterli değil\w*|belli değil\w*|bulamad\w+",
    clause=r"ki|çünkü|göre",
)
ARABIC = RefusalWords(
    sources=r"(?:في |من |هذه |هذا )?(?:ال|لل|بال)(?:نصوص|نص|مقاطع|مقطع|مصادر|مصدر|وثائق|وثيقة|مستندات"
    r"|مستند|سياق|فقرات|فقرة|مقتطفات|مقتطف)"
    r"(?: (?:المقدمة|المتاحة|المرفقة|المعطاة|المذكورة))?",
    facts=r"معلومات|ذكر|إشارة|إجابة|تفاصيل|بيانات|جواب",
    telling=r"(?:ت|ي)?(?:ذكر|وضح|شير|شر|تطرق|تناول|بين|حدد|قدم|ورد|رد|كشف|فسر|جيب|سمح|تحدث|خبر|قول|نص)\w{0,2}"
    r"|معرفة|تحديد|الإجابة|يتضح|يتبين",
    negation=r"لا|لم|لن|ليس|ليست|ولا",
    none=r"لا (?:توجد|يوجد|تتوفر|يتوفر)|ليس هناك|ليست هناك|بدون|أي",
    nothing=r"لا شيء|شيئا|شيء",
    unclear=r"غير (?:مذكور|مذكورة|واضح|واضحة|محدد|محددة|كاف|كافية|معروف|معروفة|موجود|موجودة|متوفرة"
    r"|كافيين)|تصمت|يصمت|تخلو|يخلو"
    r"|لا يكفي|لا تكفي|لا يمكن",
    clause=r"أن|أنه|أنها|التي|الذي|وفقا|وفق|بحسب|حسب",
)
HINDI = RefusalWords(
    sources=r"(?:दस्तावेज़?ों?|स्रोतों?|अंशों?|पाठ|संदर्भ|गद्यांशों?|लेखों?|सामग्री) (?:में|से|ने)"
    r"|(?:दस्तावेज़?|स्रोत|अंश|पाठ|संदर्भ|गद्यांश)",
    untold=r"(?:जानकारी|उल्लेख|सूचना|ज़िक्र|जिक्र|विवरण) (?:\S+ ){0,2}(?:नहीं|मौजूद नहीं|उपलब्ध नहीं)"
    r"|नहीं (?:बताया|बताई|बताता|बताते|कहा|कहता|लिखा|मिलता|मिलती|मिला|मिली)"
    r"|(?:स्पष्ट|पता|ज्ञात|पर्याप्त|संभव|मालूम) नहीं|पता नहीं चलता|अस्पष्ट",
    clause=r"कि|क्योंकि|(?:के )?अनुसार",
)
CHINESE = RefusalWords(
    sources=r"文[中里]|原文|文[档檔件]|[资資]料|上下文|段落|文本|文章|片段|摘[录錄]|[节節][选選]|[来來]源|[检檢]索到的[内內]容|(?:所?提供|所?[给給]出?|[检檢]索到)的?材料|[这這些]材料|[语語]境|[现現]有(?:的)?(?:信息|[资資][讯訊料])"
    r"|所?提供的?(?:信息|[资資][讯訊料])",
    facts=r"信息|[资資][讯訊]|[数數][据據]|[内內]容|答案|[细細][节節]|迹象|[线線]索|依[据據]",
    telling=r"提[到及]|[说說](?:明(?![书書]))?|[写寫](?![完好])[明到]?|[找看]到|[给給]出|涉及|指出|[讲講][到]?|交代|[记記][载載]|描述|列出|解[释釋]|回答|判[断斷]"
    r"|看[出]|得[知出]|[确確]定|[推][断斷]|[显顯]示|注明|[标標]明|透露|支持|[阐闡]述|[谈談][到及]",
    negation=r"[没沒]有?|未|[并並]未|[无無]法?|不(?:能|足以|[够夠])?",
    none=r"(?<!都)[没沒]有(?:任何|足[够夠]的?|相[关關]的?)|缺乏|缺少|[无無]任何",
    silent=r"不足以?|不[够夠](?!的)|只字未提|不[详詳]|[无無][从從]|看不出[来來]?|找不到|查不到|未知|不明[确確]|看不到",
    clause=r"[说說]了|[认認][为為]|指出|表明",
    whether=r"是否|什[么麼]|如何|[为為]什[么麼]|[谁誰]|多少|[关關]于|至于",
    spaced=False,
)
JAPANESE = RefusalWords(
    sources=r"(?:文書|資料|文脈|本文|文章|情報源|コンテキスト|パッセージ|記事|テキスト|抜粋|出典|文献|ドキュメント|提供された情報|与えられた情報)"
    r"(?:の中)?(?:から|に(?!よ)|で|の|は|が|だけ|を)",
    untold=r"(?:記載|情報|言及|説明|記述|明記|答え|手がかり|触れ|書か|述べ|示さ|示され|含ま|載っ|説明さ|明記さ|言及さ|記載さ)\w{0,5}?"
    r"(?:ありません|ない|いません|おりません|見つかりません|見当たりません|見当たらない|なかった)"
    r"|(?:わかり|分かり|読み取れ|判断でき|特定でき|答えられ|確認でき|見つかり|見当たり|お答えでき|判断しかね|不明)(?:ません|ない|です|$)",
    clause=r"によると|によれば|と述べ|とあり",
    spaced=False,
)
KOREAN = RefusalWords(
    sources=r"(?:문서|자료|본문|출처|문맥|지문|텍스트|컨텍스트|글|기사|단락)(?:들)?(?:에서는|에서|에는|에|은|는|만으로는|만으로|의|로는|상으로는|이|가)",
    untold=r"(?:정보|내용|언급|설명|기록|답|단서|서술|기술|나와|나타나|명시|다루|밝히|밝혀|적혀|포함|알려|확인|찾|알|판단|파악|언급하|설명하|제시)"
    r"\S{0,6} ?(?:\S{1,4} )?(?:없습니다|없다|않습니다|않는다|않았습니다|못합니다|없었습니다|어렵습니다|불가능합니다)",
    clause=r"따르면|의하면|다고",
    spaced=False,
)
VOCABULARY = {
    "ar": ARABIC,
    "de": GERMAN,
    "en": ENGLISH,
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
