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
Ob das Schiff ankam, bleibt im Text offen.
Wann die Brücke eröffnet wurde, geht aus den Quellen nicht hervor.
Über die Kosten schweigen sich die Texte aus.
Keiner der Abschnitte nennt die Höhe des Damms.
Anhand der vorliegenden Dokumente lässt sich nicht sagen, wer das Bild in Auftrag gab.
Zu seiner Kindheit finden sich in den Auszügen keine Angaben.
Leider kann ich auf Grundlage der Texte nicht beurteilen, ob das stimmt.
Die Frage nach dem Architekten bleibt in den Passagen offen.
Mir liegen keine Informationen zu den Ereignissen nach 1960 vor.
Wer den Brand verursacht hat, verraten die Dokumente nicht.
Ob der Versuch gelang, steht nicht in den Quellen.
Zur Finanzierung äußern sich die Passagen nicht.
Dazu finde ich in den Unterlagen nichts.
Keine der Quellen geht auf die Ursache ein.
Wie der Motor gekühlt wurde, bleibt in den Texten ungesagt.
In keinem der Dokumente wird der Preis genannt.
Der Kontext reicht nicht aus, um die Frage zu beantworten.
Einen Hinweis auf den Besitzer enthalten die Quellen nicht.
Ob er überlebte, kann ich den Passagen nicht entnehmen.
Die Textstellen geben keinen Aufschluss über das Baujahr.
Die bereitgestellten Passagen geben die Länge des Tunnels nicht an.
In den Textstellen gibt es keinen Hinweis darauf, wann das Gesetz in Kraft trat.
Keines der gefundenen Dokumente befasst sich mit den Nebenwirkungen.
Wie die Wähler erfasst wurden, wird in den Abschnitten nicht beschrieben.
Die Zahl der Schiffe kann anhand der Quellen nicht bestimmt werden.
Den Quellen fehlen Angaben zum Haushalt.
Die Auszüge liefern keine Einzelheiten zur Ausbildung der Besatzung.
Wie der Impfstoff gelagert wurde, ist in den Dokumenten nirgends erklärt.
Die Einwohnerzahl konnte ich in den Passagen nicht finden.
Im Kontext steht nicht, warum die Firma schloss.
Informationen zur Garantie sind in den Unterlagen nicht enthalten.""",
    "en": """\
I'm afraid the documents don't cover that.
There isn't enough detail here to say when the bridge was built.
None of the sources I was given mention the price.
The provided excerpt is silent on the author's age.
That can't be determined from what's given.
No mention is made of the ship's speed.
I couldn't find anything about the tax in the text.
Unfortunately, this is outside the scope of the material.
The sources at hand are silent on when the bridge was opened.
No passage gives the height of the dam.
Regrettably, the excerpts never touch on the author's childhood.
I am unable to say who commissioned the painting on the basis of these texts.
What happened after 1960 cannot be established from the documents supplied.
Details about the funding are not part of the retrieved material.
The question of its cost is left open by the passages.
There is nothing in the context that would let me name the architect.
Whether the trial succeeded is something these documents do not reveal.
The retrieved passages leave unanswered who paid for it.
The provided text offers no clue as to the motive.
The cited excerpts give no indication of who designed the bridge.
I found no mention of the dam's owner in the sources.
The answer to this question is absent from the context.
Neither passage says how the engine was cooled.
Nowhere in the documents is the price stated.
The context is insufficient to determine the winner.
I can't tell from the passages whether he survived.
The provided passages do not specify the length of the tunnel.
There's no indication in the passages of when the law took effect.
Unfortunately, none of the retrieved documents address the side effects.
I don't see any reference to the treaty in the given context.
The context doesn't go into how voters were registered.
The question of who won is not answered in the excerpts.
The sources provided lack details on the budget.
The excerpts provide no details about the crew's training.
How the vaccine was stored is not explained anywhere in the documents provided.
I could not locate the population of the town in the passages.
The given sources fail to mention the outcome of the vote.
There is not enough detail in the context to say why the company closed.
No information regarding the warranty appears in the retrieved documents.""",
    "es": """\
El texto no aclara cuándo se construyó el puente.
No dispongo de datos suficientes para responder.
Ninguna de las fuentes habla del precio.
No hay forma de saberlo con los documentos.
En los pasajes no aparece la edad del autor.
Lamentablemente, el contexto no cubre ese tema.
Eso no se desprende del texto.
Las fuentes no indican cuándo se inauguró el puente.
Ningún pasaje da la altura de la presa.
No dispongo de datos sobre la infancia del autor.
A partir de estos textos no es posible saber quién encargó el cuadro.
Lo que ocurrió después de 1960 no se desprende de los documentos.
Los fragmentos guardan silencio sobre el coste.
Lamentablemente, el contexto no ofrece detalles sobre la financiación.
Los documentos no aclaran quién causó el incendio.
No he encontrado en los pasajes ninguna fecha de la fusión.
Sobre la financiación, los textos no dicen nada.
Ninguna de las fuentes trata la causa del incendio.
El contexto es insuficiente para determinar el ganador.
En ninguno de los documentos se indica el precio.
No se encuentra en las fuentes ninguna referencia al propietario.
Cómo se refrigeraba el motor no queda claro en los textos.
Los pasajes no permiten saber si sobrevivió.
Los pasajes proporcionados no especifican la longitud del túnel.
No hay indicios en los pasajes de cuándo entró en vigor la ley.
Ninguno de los documentos recuperados aborda los efectos secundarios.
Cómo se registró a los votantes no se describe en los fragmentos.
El número de barcos no puede determinarse a partir de las fuentes.
A las fuentes les faltan detalles sobre el presupuesto.
Los extractos no dan detalles sobre la formación de la tripulación.
En ninguna parte de los documentos se explica cómo se almacenó la vacuna.
No he podido localizar la población del pueblo en los pasajes.
Las fuentes omiten el resultado de la votación.
En los documentos recuperados no aparece información sobre la garantía.""",
    "fr": """\
Le texte ne précise pas la date de construction.
Je ne dispose pas d'éléments pour répondre.
Aucune des sources n'évoque le prix.
Les documents fournis ne permettent pas de trancher.
Impossible de le savoir à partir du passage.
Rien dans l'extrait n'indique son âge.
La question n'est pas abordée dans les documents.
Désolé, cette information ne figure pas dans le contexte.
Les sources ne précisent pas quand le pont a été inauguré.
Aucun passage ne donne la hauteur du barrage.
Ce qui s'est passé après 1960 ne ressort pas des documents fournis.
Les extraits restent muets sur le coût.
Malheureusement, le contexte ne permet pas de répondre à cette question.
Rien dans les documents n'évoque l'architecte.
Les documents ne révèlent pas qui a causé l'incendie.
Le nombre de victimes n'est pas indiqué dans les extraits.
Aucune des sources ne traite de la cause de l'incendie.
Le contexte est insuffisant pour déterminer le vainqueur.
Dans aucun des documents le prix n'est indiqué.
La façon dont le moteur était refroidi n'est pas claire d'après les textes.
Les passages ne disent pas s'il a survécu.
La réponse ne se trouve pas dans les extraits fournis.
Les passages fournis n'indiquent pas la longueur du tunnel.
Rien n'indique dans les passages quand la loi est entrée en vigueur.
Aucun des documents récupérés n'aborde les effets secondaires.
La manière dont les électeurs ont été inscrits n'est pas décrite dans les extraits.
Le nombre de navires ne peut pas être déterminé à partir des sources.
Les sources manquent de détails sur le budget.
Les extraits ne fournissent aucun détail sur la formation de l'équipage.
Nulle part dans les documents il n'est expliqué comment le vaccin a été conservé.
Je n'ai pas pu trouver la population de la ville dans les passages.
Les sources passent sous silence le résultat du vote.
Le contexte n'explique pas pourquoi l'entreprise a fermé.""",
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
所给材料并未涉及这个问题。
资料里没有说明桥是什么时候建的。
根据现有信息无法判断。
文中没有涉及价格。
很抱歉,我找不到相关内容。
提供的材料不足以回答这个问题。
上下文并未给出作者的年龄。
这一点文档中没有写明。
目前的段落里看不出来。
资料中没有说明这座桥何时通车。
没有任何段落给出大坝的高度。
根据现有文本，无法判断是谁委托创作了这幅画。
1960年之后发生了什么，从这些文件中看不出来。
关于造价，原文只字未提。
检索到的内容里找不到建筑师的名字。
文档没有透露是谁引起了火灾。
从上下文无法得知死亡人数。
我在所给段落中没有找到合并的日期。
试验是否成功，资料里没有写。
这些来源都没有谈到起火原因。
上下文不足以判断谁是获胜者。
所有文档都没有标明价格。
资料中看不到业主的名字。
段落没有交代发动机如何冷却。
他是否幸存，文中没有答案。
根据提供的文本，我不能确定建造年份。
所提供的段落没有具体说明隧道的长度。
段落中没有迹象表明该法何时生效。
检索到的文档均未涉及副作用。
选民如何登记，节选中没有描述。
根据这些来源无法确定船只的数量。
资料缺少有关预算的细节。
摘录没有提供船员训练的细节。
我在段落中未能找到该镇的人口。
来源没有说投票结果如何。
上下文没有足够的细节说明公司为何倒闭。
检索到的文档中没有出现保修信息。""",
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
Der Zeuge konnte dazu nichts sagen.
Der Vertrag nennt die Sklaverei nicht.
Die Kirche schwieg über die Verbrechen.
Das Gericht ließ die Frage der Kosten offen.
Ärzte können nicht sagen, warum die Krankheit zurückkehrt.
Keine der Brücken hat eine Höhe von mehr als 30 Metern.
Die Volkszählung von 1890 enthält keine Angaben zur Religion.
Die Dokumente verraten die Namen der Agenten.
Aus den Briefen geht hervor, dass er krank war.
Ob der Versuch gelang, weiß niemand.
Keine der Quellen des Flusses liegt über 2000 m.
Die Abschnitte der Straße sind nicht beleuchtet.
Die Ausschnitte zeigen nichts von der Stadt.
Zur Familie gibt es in den Dokumenten eines Notars Angaben.
Kein Abschnitt der Bahn geht auf die Römer zurück.
Laut den Passagen nennt der Vertrag die Sklaverei nicht.
Die Dokumente zeigen, dass er dem König nichts sagte.
In den Texten heißt es, dass nichts gefunden wurde.
Der Damm, den die Quellen nicht nennen, brach im Mai.
Über die Quellen des Flusses wird nicht gestritten.
In den Auszügen wird erklärt, warum kein Impfstoff gelagert wurde.
Die Firma nannte in den Dokumenten keinen Preis.
Aus den Quellen geht hervor, warum er nicht kam.
In den Passagen wird keine Besatzung bezahlt.""",
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
The museum has no information desk.
No passage of the law gives the president that power.
The dam's height cannot be changed.
The treaty does not mention slavery.
The author was silent about his childhood for forty years.
The census of 1890 contains no information on religion, since Congress forbade the question.
Nothing in the constitution allows the king to dissolve parliament.
The court left open the question of damages.
Doctors are unable to say why the disease returns.
No source of the river lies above 2,000 m.
The passages of the temple are closed to visitors.
The documents that Snowden leaked do not name the agents.
Historians cannot tell from the letters who wrote the play.
The documents were not found by the police.
The search could not be continued from the sources of the Nile.
He was silent about the documents.
The passage of the bill remains open.
No passage is wider than two metres.
The results do not explain the outbreak.
Nothing in the text of the treaty lets a state leave.
The contract is not part of the documents filed in court.
The sources never name the same king twice.
According to the passages, the treaty does not mention slavery.
The documents show that he never told the king.
The passages state that the law contains no exceptions.
The dam, which the documents do not name, broke in May.
Based on the context, vaccines contain no mercury.
The sources agree that nothing was found in the tomb.
The provided water contains no lead.
The senate left the question open in its report.
In the passages, the author explains that no vaccine was stored.
No trace of the crew was found in the sources of the river.
The passages describe a town with no known population.
From the documents we learn nothing was paid.
The information given to voters was not clear.""",
    "es": """\
Los documentos dicen que la presa no se rompió.
El texto no fue escrito por él.
Según las fuentes, no respondió.
El documento no está firmado.
El tratado no cubre la pesca.
El barco nunca apareció.
La edad del autor no aparece en la portada.
El tratado no menciona la esclavitud.
El tribunal dejó abierta la cuestión de los daños.
El censo de 1890 no contiene datos sobre la religión.
Los médicos no saben por qué vuelve la enfermedad.
El Gobierno guardó silencio sobre el coste de la presa.
Ninguna de las fuentes de la plaza funciona.
Los documentos filtrados revelan los nombres de los agentes.
No se sabe cuántas personas murieron en el incendio.
El material no aparece en los textos escolares.
La estatua no figura en el contexto urbano.
Los materiales no ofrecen resistencia.
Según los pasajes, el tratado no menciona la esclavitud.
Los documentos muestran que no dijo nada al rey.
Las fuentes coinciden en que no se encontró nada.
En el texto de la ley no hay excepciones.
En los extractos se explica por qué no se almacenó la vacuna.
La empresa no indicó el precio en los documentos.
En los pasajes no se paga a la tripulación.
En las fuentes se indica que nadie murió.""",
    "fr": """\
Les sources disent que le barrage n'a pas cédé.
Le document n'est pas signé.
Les textes de loi ne s'appliquent pas aux mineurs.
Selon le texte, il n'a pas répondu.
Le traité ne couvre pas la pêche.
Le navire n'a jamais été retrouvé.
Les chercheurs ne disposent pas de ces données.
Le traité ne mentionne pas l'esclavage.
Le tribunal a laissé ouverte la question des dommages.
Le recensement de 1890 ne contient aucune donnée sur la religion.
Les médecins ignorent pourquoi la maladie revient.
Le gouvernement est resté muet sur le coût du barrage.
Aucune des sources du fleuve n'est accessible.
On ne sait pas combien de personnes sont mortes.
Les textes de loi ne sont pas applicables.
Le traité n'est pas dans les documents.
Selon les passages, le traité ne mentionne pas l'esclavage.
Les documents montrent qu'il n'a rien dit au roi.
Les sources s'accordent à dire que rien n'a été trouvé.
Dans le texte de la loi, il n'y a pas d'exception.
Dans les extraits, on explique pourquoi le vaccin n'a pas été conservé.
L'entreprise n'a pas indiqué le prix dans les documents.
Dans les sources, il est indiqué que personne n'est mort.
Aucun extrait de plante n'est utilisé.""",
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
科学家不知道鲸鱼为什么唱歌。
条约没有提到奴隶制。
法院没有就赔偿问题作出裁决。
1890年的人口普查没有宗教方面的数据。
医生无法解释这种病为什么会复发。
政府对大坝的造价只字未提。
宪法中没有任何条款允许国王解散议会。
没有人知道是谁引起了火灾。
泄露的文件公布了特工的名字。
这条河的源头没有鱼。
这种材料没有说明书。
文档没有写完。
材料没有涉及辐射。
作者在原文写作时没有工作。
根据段落，条约没有提到奴隶制。
文件表明他没有告诉国王。
资料显示墓中没有发现任何东西。
来源一致认为没有找到证据。
摘录解释了为什么没有储存疫苗。
公司没有在文件中标明价格。
资料说明了他为何没有来。
文本没有错误。""",
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
