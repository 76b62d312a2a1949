"""Sentences that only say that there is no answer."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from tests.text.samples import PARAGRAPHS

from longmark.text.refusal import NOTHING_RELEVANT, declines, is_refusal, only_declines
from longmark.text.refusal_phrases import LANGUAGES
from longmark.text.sentences import sentences

DECLINED = """\
I'm sorry, but I can't answer this question.
I’m sorry.
I don't know.
I do not have enough information to answer.
I don't have access to that data!
I cannot determine the limit from this.
I could not find any information on this.
I'm unable to provide an answer.
Unfortunately, the retrieved documents do not say.
The provided context does not mention the height of the dam.
The documents do not contain any information about it.
The context contains no information on the limit.
None of the passages mention the refund.
The sources I have do not say.
There is no information about this in the passages.
There isn't enough information in the context to answer.
Based on the provided context, I cannot determine the limit.
Based on the documents provided, there is no information about the refund in the documents.
No relevant information was found.
Not enough information to answer.
The limit is not mentioned in the provided documents.
This question cannot be answered from the provided passages.
I cannot answer this question, as the documents do not say.
I cannot say what it was, how it was or why.
I don't know the answer, sorry.
Es tut mir leid, aber diese Frage kann ich nicht beantworten.
Die Passagen enthalten keine Angaben dazu.
很抱歉，我无法回答这个问题。
文中没有提到这一点。
"""
CLAIMED = """\
The API uses HTTPS.
The report does not mention its author.
The document must contain a signature.
The passages do not mention the repair, but the dam broke in May.
The documents do not mention the fee, it was 9 euros.
I don't know, the fee was 9 euros.
I do not have the information, the fee is due in May.
Ich kann diese Frage nicht beantworten, die Gebühr war hoch.
我无法回答，费用是九欧元。
I don't know of any case in which it failed; it did in 1994.
Water does not contain oxygen as a gas.
The source of the river is not known.
Sources say that he resigned.
No information was lost in the fire.
The results show nothing unusual.
The context matters.
I cannot recommend this dam.
There is no evidence that it works.
Documents are not required.
Users cannot answer without an account.
Die Quelle des Flusses ist nicht bekannt.
"""


IN_OTHER_LANGUAGES = {
    "ar": """\
لا أعرف.
عذرا، لا أستطيع الإجابة عن هذا السؤال.
ليس لدي معلومات كافية.
لا تذكر النصوص ارتفاع السد.""",
    "de": """\
Das weiß ich nicht.
Leider kann ich das nicht beantworten.
Ich kann diese Frage nicht beantworten.
Ich habe dazu keine Informationen.
Die bereitgestellten Dokumente enthalten dazu keine Angaben.""",
    "es": """\
No lo sé.
Lo siento, no puedo responder a esta pregunta.
No tengo suficiente información para responder.
Los documentos proporcionados no mencionan la altura de la presa.
Lamentablemente, no hay información sobre el reembolso.""",
    "fr": """\
Je ne sais pas.
Je suis désolé, mais je ne peux pas répondre à cette question.
Je n’ai pas assez d’informations.
Les documents fournis ne mentionnent pas la hauteur du barrage.
Malheureusement, le contexte ne contient aucune information à ce sujet.""",
    "hi": """\
मुझे नहीं पता।
क्षमा करें, मैं इस प्रश्न का उत्तर नहीं दे सकता।
दिए गए दस्तावेज़ों में इसकी कोई जानकारी नहीं है।""",
    "it": """\
Non lo so.
Mi dispiace, ma non posso rispondere a questa domanda.
Non ho informazioni su questo.
I documenti forniti non menzionano l'altezza della diga.""",
    "ja": """\
わかりません。
申し訳ありませんが、この質問にはお答えできません。
提供された文書には、ダムの高さについての記載がありません。""",
    "ko": """\
잘 모르겠습니다.
죄송합니다.
죄송하지만 이 질문에 답변할 수 없습니다.
제공된 문서에는 댐의 높이에 대한 정보가 없습니다.""",
    "nl": """\
Dat weet ik niet.
Het spijt me, maar ik kan deze vraag niet beantwoorden.
Ik heb onvoldoende informatie.
De bronnen bevatten geen informatie over de dam.""",
    "pl": """\
Nie wiem.
Przykro mi, ale nie mogę odpowiedzieć na to pytanie.
Podane dokumenty nie wspominają o wysokości zapory.
W podanych dokumentach nie ma informacji o zaporze.""",
    "pt": """\
Não sei.
Desculpe, não consigo responder a essa pergunta.
Não tenho informações sobre isso.
Os documentos fornecidos não mencionam a altura da barragem.""",
    "ru": """\
Я не знаю.
К сожалению, я не могу ответить на этот вопрос.
У меня нет информации об этом.
В предоставленных документах нет информации о плотине.
Источники не упоминают высоту плотины.""",
    "tr": """\
Bilmiyorum.
Üzgünüm, bu soruya cevap veremiyorum.
Verilen belgelerde barajın yüksekliği belirtilmiyor.""",
    "zh": """\
我不知道。
对不起，但是我不能回答。
文档中没有提到大坝的高度。""",
}
CLAIMED_IN_OTHER_LANGUAGES = {
    "ar": "لا تحتوي المياه على الرصاص.\nلا توجد أسماك في النهر.",
    "de": "Die Quelle des Flusses liegt in Österreich.\nDas Amt antwortet nicht.",
    "es": "No hay peces en el río.\nEl documento requiere una firma.\n"
    "Los textos no mencionan la reparación, pero la presa se rompió en mayo.",
    "fr": "Le document exige une signature.\nLa source du fleuve est inconnue.\n"
    "Les passages ne parlent pas de la réparation, mais le barrage a cédé en mai.",
    "hi": "नदी में कोई मछली नहीं है।\nपानी में सीसा नहीं मिला।",
    "it": "Non ci sono pesci nel fiume.\nIl documento richiede una firma.\n"
    "I testi non parlano della riparazione, ma la diga è crollata a maggio.",
    "ja": "原因はまだわかりません。\n川には魚がいません。\n利用者は回答できません。",
    "ko": "강에는 물고기가 없습니다.\n원인을 모르는 사람이 많습니다.",
    "nl": "Er is geen vis in de rivier.\nDe bron van de rivier ligt in Zwitserland.\n"
    "De teksten noemen niets over herstel, maar de dam brak in mei.",
    "pl": "W rzece nie ma ryb.\nDokument wymaga podpisu.\n"
    "Teksty nie wspominają o naprawie, ale zapora pękła w maju.",
    "pt": "Não há peixes no rio.\nO documento exige uma assinatura.\n"
    "Os textos não falam do reparo, mas a barragem rompeu em maio.",
    "ru": "В реке нет рыбы.\nДокумент должен быть подписан.\n"
    "Источники не сообщают о ремонте, но плотина прорвалась в мае.",
    "tr": "Nehirde balık yok.\nBelge imza gerektirir.",
    "zh": "河里没有鱼。\n文件需要签名。\n文中没有提到修理，但大坝在五月垮了。",
}

ATTRIBUTED = """\
According to the passages, the treaty does not mention slavery.
Per the documents, the law does not specify a penalty.
Laut den Passagen nennt der Vertrag die Sklaverei nicht.
Gemäß den Quellen erwähnt das Gesetz keine Ausnahmen.
Den Dokumenten zufolge nennt das Gesetz keine Strafe.
Volgens de bronnen noemt het verdrag de slavernij niet.
Selon les passages, le traité ne mentionne pas l'esclavage.
D'après les documents, la loi ne précise pas la peine.
Según los pasajes, el tratado no menciona la esclavitud.
De acuerdo con los documentos, la ley no especifica la pena.
Segundo os documentos, a lei não menciona a pena.
De acordo com as fontes, o tratado não menciona a escravidão.
Secondo i documenti, la legge non menziona la pena.
Stando alle fonti, il trattato non menziona la schiavitù.
Według dokumentów ustawa nie wspomina o karze.
Zgodnie z dokumentami traktat nie mówi o niewolnictwie.
Согласно документам, закон не упоминает наказание.
По данным источников, договор не упоминает рабство.
Belgelere göre antlaşma kölelikten bahsetmiyor.
وفقا للوثائق، لا يذكر القانون العقوبة.
حسب المصادر لا تذكر المعاهدة العبودية.
दस्तावेज़ों के अनुसार, कानून में सज़ा का उल्लेख नहीं है।
根据段落，条约没有提到奴隶制。
据资料，该法没有说明处罚。
文書によると、条約は奴隷制に言及していません。
資料によれば、法律には罰則の記載がありません。
문서에 따르면 조약은 노예제를 언급하지 않습니다.
자료에 의하면 법에는 처벌에 대한 내용이 없습니다.
"""
"""What the sources say of another text: a claim."""


def _lines(texts: dict[str, str]) -> list[tuple[str, str]]:
    return [(language, line) for language, text in texts.items() for line in text.splitlines()]


def test_every_language_has_its_cases() -> None:
    assert set(IN_OTHER_LANGUAGES) == set(CLAIMED_IN_OTHER_LANGUAGES) == set(LANGUAGES)


@pytest.mark.parametrize(("language", "sentence"), _lines(IN_OTHER_LANGUAGES))
def test_a_sentence_in_another_language_declines(language: str, sentence: str) -> None:
    assert declines(sentence)
    if language != "tr":  # I is no capital i in Turkish
        assert declines(sentence.upper())


@pytest.mark.parametrize(("language", "sentence"), _lines(CLAIMED_IN_OTHER_LANGUAGES))
def test_a_claim_in_another_language_does_not_decline(language: str, sentence: str) -> None:
    assert not declines(sentence), language


ANSWERS = [
    (line[:2], line[3] == "-", line[5:])
    for line in (Path(__file__).parents[1] / "data" / "refusals.txt")
    .read_text(encoding="utf-8")
    .splitlines()
    if not line.startswith("#")
]


def test_every_language_has_eight_refusals_and_eight_near_misses() -> None:
    counts = Counter((language, refused) for language, refused, _ in ANSWERS)
    assert {language for language, _ in counts} == set(LANGUAGES)
    assert min(counts.values()) >= 8


@pytest.mark.parametrize(("language", "refused", "answer"), ANSWERS)
def test_an_answer_declines_or_only_begins_as_if(language: str, refused: bool, answer: str) -> None:
    assert only_declines(answer) == refused, language


def test_an_answer_of_several_sentences_declines_only_if_each_does() -> None:
    assert only_declines("I'm sorry. I don't know. Is there anything else I can help with?")
    assert not only_declines("I'm sorry. I don't know. The dam was built in 1953.")
    assert not only_declines("Is there anything else I can help with?")
    assert not only_declines("The dam was built in 1953. I'm sorry.")
    assert not only_declines("")


@pytest.mark.parametrize("sentence", ATTRIBUTED.splitlines())
def test_what_the_sources_say_that_another_text_lacks_is_a_claim(sentence: str) -> None:
    assert not declines(sentence)


@pytest.mark.parametrize("sentence", PARAGRAPHS.values())
def test_a_paragraph_in_any_language_claims_something(sentence: str) -> None:
    assert not any(map(declines, [sentence, *sentences(sentence)]))


@pytest.mark.parametrize("sentence", DECLINED.splitlines())
def test_a_sentence_that_says_that_there_is_no_answer_declines(sentence: str):
    assert declines(sentence)
    assert declines(f"“{sentence.upper()}”")


@pytest.mark.parametrize("sentence", CLAIMED.splitlines())
def test_a_sentence_that_claims_something_does_not_decline(sentence: str):
    assert not declines(sentence)


def test_what_metrics_score_goes_by_two_wordings_only():
    assert is_refusal(NOTHING_RELEVANT.lower())
    assert declines(NOTHING_RELEVANT)
    assert not any(map(is_refusal, DECLINED.splitlines()))


def test_a_long_text_claims_something():
    assert not declines("The passages do not say so. " * 20)
    assert not declines("the provided " * 100_000)
