"""Sentences that say that the sources have no answer, told from claims by the classes of their words."""

from __future__ import annotations

import pytest

from longmark.text.refusal import declines
from longmark.text.refusal_vocabulary import ENGLISH, VOCABULARY
from longmark.text.refusal_words import WordClasses

DECLINED = {
    "ar": """\
لا يوضح النص متى بني الجسر.
لم يرد السعر في أي من المصادر.
عمر الكاتب غير مذكور في الوثائق.
لا يمكن معرفة ذلك من النصوص.
النص لا يتطرق إلى هذه المسألة.
المقاطع المقدمة غير كافية للإجابة.
للأسف لا تشير المستندات إلى السعر.
ليس هناك ذكر للسعر في النص.""",
    "de": """\
Leider geben die Unterlagen dazu nichts her.
Das lässt sich anhand des Textes nicht sagen.
Zum Preis findet sich in den Quellen keine Angabe.
Mir liegen dazu keine Informationen vor.
Der Abschnitt schweigt sich über das Alter aus.
Aus den Dokumenten geht nicht hervor, wann die Brücke gebaut wurde.
Dazu kann ich nichts sagen.
Ob das Schiff ankam, bleibt im Text offen.""",
    "en": """\
I'm afraid the documents don't cover that.
There isn't enough detail here to say when the bridge was built.
None of the sources I was given mention the price.
The provided excerpt is silent on the author's age.
That can't be determined from what's given.
No mention is made of the ship's speed.
I couldn't find anything about the tax in the text.
Unfortunately, this is outside the scope of the material.""",
    "es": """\
El texto no aclara cuándo se construyó el puente.
No dispongo de datos suficientes para responder.
Ninguna de las fuentes habla del precio.
No hay forma de saberlo con los documentos.
En los pasajes no aparece la edad del autor.
Lamentablemente, el contexto no cubre ese tema.
Eso no se desprende del texto.""",
    "fr": """\
Le texte ne précise pas la date de construction.
Je ne dispose pas d'éléments pour répondre.
Aucune des sources n'évoque le prix.
Les documents fournis ne permettent pas de trancher.
Impossible de le savoir à partir du passage.
Rien dans l'extrait n'indique son âge.
La question n'est pas abordée dans les documents.
Désolé, cette information ne figure pas dans le contexte.""",
    "hi": """\
पाठ में यह नहीं बताया गया है कि पुल कब बना।
किसी भी स्रोत में कीमत का उल्लेख नहीं है।
दस्तावेज़ों से लेखक की उम्र का पता नहीं चलता।
इन अंशों से यह स्पष्ट नहीं है।
संदर्भ में इस विषय पर कुछ नहीं कहा गया है।
दिए गए पाठ में इसका ज़िक्र नहीं मिलता।
दुर्भाग्य से दस्तावेज़ इस बारे में जानकारी नहीं देते।
दी गई सामग्री से उत्तर देना संभव नहीं है।""",
    "it": """\
Il testo non precisa quando fu costruita la diga.
Nessuna delle fonti parla del prezzo.
Dai documenti non si evince l'età dell'autore.
È impossibile stabilirlo in base ai passaggi forniti.
Le fonti tacciono su questo punto.
La questione non è affrontata nel contesto.
Nei brani non c'è alcun riferimento al prezzo.
Purtroppo i testi non consentono di rispondere.""",
    "ja": """\
本文には橋がいつ建てられたか書かれていません。
どの資料にも価格への言及はありません。
文書からは著者の年齢は読み取れません。
この点は資料では触れられていません。
残念ながら、文脈だけでは判断できません。
提供された情報からは特定できません。
記事の中に価格に関する記述は見当たりません。
著者の年齢は本文に明記されていません。""",
    "ko": """\
본문에는 다리가 언제 지어졌는지 나와 있지 않습니다.
어느 자료에도 가격에 대한 언급이 없습니다.
문서에서 저자의 나이는 확인할 수 없습니다.
이 점은 자료에서 다루지 않습니다.
주어진 문맥만으로는 판단하기 어렵습니다.
안타깝게도 지문에는 해당 내용이 없습니다.
텍스트에서 가격은 명시되지 않았습니다.
본문만으로는 알 수 없습니다.""",
    "nl": """\
De tekst vermeldt niet wanneer de brug is gebouwd.
Geen van de bronnen noemt de prijs.
Uit de documenten blijkt niet hoe oud de auteur is.
Dat valt uit de tekst niet op te maken.
De bronnen zwijgen over dit punt.
Over de prijs wordt in de passages niets gezegd.
Helaas geeft de context hierover geen uitleg.
Of het schip aankwam, blijft in de tekst onduidelijk.""",
    "pl": """\
Tekst nie precyzuje, kiedy zbudowano most.
Żadne ze źródeł nie podaje ceny.
Z dokumentów nie wynika, ile lat ma autor.
Nie sposób tego ustalić na podstawie tekstu.
Źródła milczą na ten temat.
W podanych fragmentach nic o tym nie ma.
Niestety materiały nie pozwalają odpowiedzieć.
W tekście brak wzmianki o cenie.""",
    "pt": """\
O texto não esclarece quando a ponte foi construída.
Nenhuma das fontes fala do preço.
Nos trechos não consta a idade do autor.
Não é possível saber isso a partir dos documentos.
O contexto é omisso quanto ao preço.
Esse tema não é abordado no texto.
As passagens fornecidas são insuficientes para responder.
Nada nos documentos indica a idade dele.""",
    "ru": """\
В тексте не уточняется, когда построили мост.
Ни один из источников не называет цену.
Из документов не следует, сколько лет автору.
По этим материалам невозможно это установить.
Источники умалчивают об этом.
В отрывках об этом ничего не сказано.
К сожалению, контекст не позволяет ответить.
Цена в документах не указана.""",
    "tr": """\
Metinde köprünün ne zaman yapıldığı belirtilmemiş.
Kaynakların hiçbirinde fiyattan söz edilmiyor.
Belgelerden yazarın yaşı anlaşılmıyor.
Verilen parçalarda bu konuya değinilmiyor.
Bağlamda bu bilgiye yer verilmemiş.
Ne yazık ki belgelerde fiyat bilgisi bulunmuyor.
Kaynaklar bu soruya yanıt vermiyor.""",
    "zh": """\
资料里没有说明桥是什么时候建的。
根据现有信息无法判断。
文中没有涉及价格。
很抱歉,我找不到相关内容。
提供的材料不足以回答这个问题。
上下文并未给出作者的年龄。
这一点文档中没有写明。
目前的段落里看不出来。""",
}
"""Of sources, in many wordings: written without a look at the words that are known."""
CLAIMED = {
    "ar": """\
تقول المصادر إن السد لم ينهر.
الوثيقة غير موقعة.
ذكر النص أن السعر لم يتغير.""",
    "de": """\
Die Quellen sagen, dass er nicht antwortete.
Der Text nennt 1953, nicht 1920.
Die Unterlagen wurden nie gefunden.
Das Dokument enthält keine Unterschrift.
Im Text steht, dass der Damm nicht brach.
Die Quellen des Flusses sind nicht bekannt.
Die Quelle liegt nicht im Tal, sondern am Hang.
Forscher wissen nicht, warum Wale singen.
Das Schiff wurde nie gefunden.
Der Zeuge konnte dazu nichts sagen.""",
    "en": """\
The passages say that the drug does not contain lactose.
The text states the dam was never repaired.
The documents show that no data were lost.
According to the sources, he did not mention the price.
The context says it is not safe.
The article was not found in the archive.
The materials do not burn.
The provided data show no increase.
These sources say he never answered.
The results do not differ.
The text has 200 words.
The report does not mention 1920 but 1953.
The treaty did not cover fishing rights.
The bridge could not be found after the flood.
The law does not say that dogs must be leashed; it requires a license.
Scientists do not know why whales sing.
The museum has no information desk.""",
    "es": """\
Los documentos dicen que la presa no se rompió.
El texto no fue escrito por él.
Según las fuentes, no respondió.
El documento no está firmado.
El tratado no cubre la pesca.
El barco nunca apareció.
La edad del autor no aparece en la portada.""",
    "fr": """\
Les sources disent que le barrage n'a pas cédé.
Le document n'est pas signé.
Les textes de loi ne s'appliquent pas aux mineurs.
Selon le texte, il n'a pas répondu.
Le traité ne couvre pas la pêche.
Le navire n'a jamais été retrouvé.
Les chercheurs ne disposent pas de ces données.""",
    "hi": """\
स्रोत कहते हैं कि बाँध नहीं टूटा।
दस्तावेज़ पर हस्ताक्षर नहीं हैं।
पाठ के अनुसार उसने जवाब नहीं दिया।""",
    "it": """\
Le fonti dicono che la diga non crollò.
Il documento non è firmato.
Secondo il testo, non rispose.
I testi non furono pubblicati.""",
    "ja": """\
資料によると、ダムは決壊しませんでした。
文書には署名がありません。
本文には、価格は変わらなかったと書かれています。""",
    "ko": """\
자료에 따르면 댐은 무너지지 않았습니다.
문서에 서명이 없습니다.
본문에는 가격이 변하지 않았다고 나와 있습니다.""",
    "nl": """\
De bronnen zeggen dat de dam niet brak.
Het document is niet ondertekend.
Volgens de tekst antwoordde hij niet.""",
    "pl": """\
Źródła mówią, że tama nie pękła.
Dokument nie jest podpisany.
Według tekstu nie odpowiedział.""",
    "pt": """\
Os documentos dizem que a barragem não rompeu.
O documento não está assinado.
Segundo as fontes, ele não respondeu.""",
    "ru": """\
Источники говорят, что плотина не прорвалась.
Документ не подписан.
Согласно тексту, он не ответил.
В документе указано, что цена не изменилась.""",
    "tr": """\
Kaynaklar barajın yıkılmadığını söylüyor.
Belge imzalanmadı.
Metne göre cevap vermedi.
Kaynaklara göre barajda su yok.""",
    "zh": """\
资料显示大坝没有垮。
文件没有签名。
根据文档，他没有回答。
文中说价格没有变。
文章指出水中不含铅。
条约没有涉及捕鱼权。
船一直没有找到。
科学家不知道鲸鱼为什么唱歌。""",
}
"""Near them: what a source says that is denied, and what is denied of a source itself."""


def _lines(texts: dict[str, str]) -> list[tuple[str, str]]:
    return [(language, line) for language, text in texts.items() for line in text.splitlines()]


def test_every_language_has_its_cases() -> None:
    assert set(DECLINED) == set(CLAIMED) == set(VOCABULARY)


@pytest.mark.parametrize(("language", "sentence"), _lines(DECLINED))
def test_a_sentence_about_silent_sources_declines(language: str, sentence: str) -> None:
    assert declines(sentence), language


@pytest.mark.parametrize(("language", "sentence"), _lines(CLAIMED))
def test_a_claim_near_one_does_not(language: str, sentence: str) -> None:
    assert not declines(sentence), language


def test_words_are_read_as_their_classes() -> None:
    row = WordClasses(ENGLISH).row
    assert row("the passages do not really say when it rained") == "SoNoTWoo"
    assert row("the passages say that it did not rain") == "STCooNo"
    assert row("rain, and more rain") == "oKooo"


def test_what_is_denied_in_a_clause_of_its_own_is_a_claim() -> None:
    declines_by_words = WordClasses(ENGLISH).declines
    assert declines_by_words("the documents do not say whether the dam broke")
    assert not declines_by_words("the documents say that the dam did not break")
    assert not declines_by_words("the documents do not mention the fee, it was nine euros")


def test_a_long_sentence_is_no_refusal() -> None:
    declines_by_words = WordClasses(ENGLISH).declines
    sentence = "the passages do not mention " + "the old dam " * 6
    assert declines_by_words(sentence)
    assert not declines_by_words(sentence + "the old dam " * 6)


@pytest.mark.parametrize(
    "sentence",
    """\
The texts of Plato do not mention Democritus.
The documents of 1821 contain no mention of Panama.
The articles of association say nothing about dividends.
None of the documents from the Kremlin mentions Poland.
Die Texte von Platon erwähnen Demokrit nicht.
Der Text des Vertrags erwähnt das Elsass nicht.
Les textes de Platon ne mentionnent pas Démocrite.
Los textos de Platón no mencionan a Demócrito.
I testi di Platone non menzionano Democrito.
Os textos de Platão não mencionam Demócrito.
De teksten van Plato noemen Democritus niet.
Тексты из Москвы не упоминают Польшу.
Dokumenty z Moskwy nie wspominają o Polsce.""".splitlines(),
)
def test_what_a_named_text_does_not_say_is_a_claim(sentence: str) -> None:
    assert not declines(sentence)


@pytest.mark.parametrize(
    "sentence",
    """\
None of the passages touch on this topic.
Les textes de référence ne précisent pas la date.
Je n'ai rien trouvé à ce sujet dans les documents.
No encontré nada sobre eso en los textos proporcionados.
W źródłach nie ma o tym mowy.
Kaynaklara dayanarak bu soruyu yanıtlayamam.
لا يمكن الإجابة على هذا السؤال بناءً على السياق.
स्रोतों के आधार पर मैं इस प्रश्न का उत्तर नहीं दे सकता।""".splitlines(),
)
def test_other_wordings_decline(sentence: str) -> None:
    assert declines(sentence)
