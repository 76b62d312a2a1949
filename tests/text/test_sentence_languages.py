"""Sentences of many languages: abbreviations, initials, ordinals and quotations that end none."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.text.samples import PARAGRAPHS

from longmark.text.abbreviations import abbreviation
from longmark.text.language import function_words, likeliest_language
from longmark.text.local_abbreviations import LOCAL, STARTERS, SURE
from longmark.text.sentences import sentences

DIVIDED = {
    "de": [
        "Das kostet z. B. 5 Euro.|Er lebte von ca. 1850 bis 1900 n. Chr. in Wien.|Danach zog er fort.",
        "Dr. med. Müller sagte, es sei i. d. R. harmlos.|Prof. Dr. h. c. Meier widersprach.",
        "Bzw. bei 3 Mio. Euro.|Die Hauptstr. 5 ist gesperrt.|Nach 3 Std. Fahrt war er da.",
        "Laut Abs. 2 S. 1 BGB i. V. m. § 5 Nr. 3 gilt das.|Vgl. auch Bd. 4, S. 12 ff.|Das reicht.",
        "Am 3. Mai kam er.|Heinrich VIII. regierte lange.|„Kommst du?“, fragte er.|„Ja!“, rief sie.",
    ],
    "fr": [
        "M. Dupont est arrivé.|Mme. Durand aussi.|Il vit à St. Denis.",
        "Cf. p. 5 et l'art. 3 du code.|Voir aussi le chap. 2.|C'est tout.",
        "« Viens-tu ? » demanda-t-il.|« Oui ! » répondit-elle.",
        "Il est né en 50 av. J.-C. dans cette ville.|Elle est née env. 50 ans après.",
        "Les prix (p. ex. 5 €) montent.|Le pape Grégoire XII.|Mais le village doit tout aux gens.",
        "Il vit avec J. de la Fontaine et A. Le Pen.|Il pleut.",
        "Il aime les chats, etc.|C'est tout.|Il vit avec M. C. Dupont.",
    ],
    "es": [
        "El Sr. García llegó.|La Sra. López también.|El Dr. Pérez y la Dra. Ruiz vinieron.",
        "¿Vienes?|¡Sí!|Vivimos en EE. UU. desde 1990.|La pág. 5 lo dice.",
        "Nació en el s. XV a. C. en Roma.|Ud. lo sabe.|Véase el art. 3 de la ley.|Fin.",
        "Cuesta aprox. 5 euros.|La Av. Libertador está cerca.|El núm. 5 ganó.",
        "Sta. María y D. Juan.|Fue así, p. ej. Antonio.",
    ],
    "it": [
        "Il sig. Rossi è arrivato.|La sig.ra Bianchi no.|Il dott. Verdi e l'avv. Neri sì.",
        "Nacque nel 50 a.C. a Roma.|Vedi pag. 5 e dell'art. 3.|Fine.",
        "Costa ca. 5 euro.|Il prof. Bianchi lo dice.|S. Francesco visse ad Assisi.",
        "L'on. Moro parlò.|V. anche il n. 3.|Mele, pere ecc. Rossi le vende.|È così.",
    ],
    "pt": [
        "O Sr. Silva chegou.|A Sra. Costa não.|O Dr. Sousa e a Dra. Lima sim.",
        "Nasceu em 50 a.C. em Roma.|Ver pág. 5 e art. 3.|Fim.",
        "Custa aprox. 5 euros.|A Av. Paulista fica perto.|O n. 5 venceu.|V. Exa. sabe.",
        "Nos últimos anos a F. Ramada tem uma série de lojas.|Não é assim.",
    ],
    "nl": [
        "Dhr. Jansen en mevr. De Vries wonen hier.|Zij kwamen o.a. met drs. Bakker.",
        "Het kost ca. 5 euro, bijv. in de winkel.|Mgr. Bekkers was er ook.|Zie blz. 12 en art. 3.",
    ],
    "pl": [
        "Mieszka przy ul. Matejki w Gdańsku.|Kościół św. Wojciecha stoi tam.|To wszystko.",
        "Kosztuje ok. 5 zł, np. w sklepie im. Lenina.|Zob. ust. 2 pkt 5.|Tak jest.",
        "W 2000 r. Ojciec Święty przyjechał.|Urodził się w 1899 r.|On zmarł w 1950 r. w Krakowie.",
    ],
    "ru": [
        "В 2020 г. Москва выросла.|Он жил в г. Москве на ул. Ленина.|Это всё.",
        "А. С. Пушкин родился в 1799 г.|Он умер в 1837 г. в Петербурге.",
        "Население 5 млн. человек.|Площадь 10 тыс. км.|Это много.",
        "«Ты идёшь?» — спросил он.|«Да!» — ответила она.",
        "См. рис. 5.|Проф. Иванов и др. писали об этом.|Т. е. Иванов прав.|И т. п.|Так.",
        "В XIX в. Россия росла.|До н. э. Рим рос.|Стр. 5.",
    ],
    "tr": [
        "Doç. Dr. Ayşe Yılmaz geldi.|Örn. Ankara büyük.|Bkz. s. 5.",
        "Bu 2. Dünya Savaşı için çok önemli.|O 3. Mayıs günü geldi.",
    ],
    "ar": [
        "قال د. أحمد إن الماء بارد.|هل هذا صحيح؟|نعم!",
        "ولد سنة ٥٧٠ م. في مكة.|عاش هناك طويلا.",
        "ق.م. كانت روما.|أ. د. محمد قال.|انظر ص. ٥ من الكتاب.|انتهى.",
    ],
    "hi": [
        "डॉ. शर्मा ने कहा।|पानी ठंडा है।|क्या यह सही है?|हाँ!",
        "श्री. वर्मा आए।|वे 5 कि.मी. चले।|रु. 500 लगे।",
        "ई. पू. 500 में।|प्रो. सिंह बोले॥|अंत।|ए. पी. जे. अब्दुल कलाम राष्ट्रपति थे।",
    ],
    "zh": [
        "他说：“走吧。”|然后离开了。|水温是3.5度。|价格为1,234元！|真的吗？|是的。",
        "他来了...走了。|《你好吗？》是一本书。|他读了。",
        "海平面上升。[1]|海岸后退。[2]|就是这样。",
    ],
    "ja": [
        "「行こう。」と彼は言った。|そして去った。|「はい。」|「いいえ。」",
        "水温は3.5度だ。|本当ですか？|彼は来た（と思う。）。|そして帰った。",
    ],
    "km": ["ទឹកកកអណ្តែត។|អំបិល។ល។ បន្ថយ។|ចប់។"],
    "my": ["ရေခဲပေါ်သည်။|ဆားလျှော့ချသည်။"],
    "hy": ["Սառույցը լողում է։|Աղը իջեցնում է։"],
    "am": ["በረዶ ይንሳፈፋል።|ጨው ይቀንሳል።"],
    "th": ["น้ำแข็งลอยน้ำได้[1]|เกลือ ลดจุดเยือกแข็ง [2][3]|หมีชอบมัน"],
}


@pytest.mark.parametrize(
    "divided", [text for texts in DIVIDED.values() for text in texts], ids=lambda text: text[:24]
)
def test_a_text_of_a_language_is_divided_where_its_sentences_end(divided: str) -> None:
    parts = divided.split("|")
    between = "" if any("\u3040" <= character <= "\u9fff" for character in divided) else " "
    assert sentences(between.join(parts)) == parts


@pytest.mark.parametrize("language", ["de", "ru", *LOCAL])
def test_the_likeliest_language_of_a_paragraph_is_its_own(language: str) -> None:
    assert likeliest_language(PARAGRAPHS[language]) == language


@pytest.mark.parametrize("text", ["", "42", "Rio de la Plata is the name of a river", "The car."])
def test_a_text_without_function_words_of_another_language_counts_as_english(text: str) -> None:
    assert likeliest_language(text) == "en"


def test_french_with_des_is_not_german() -> None:
    assert sentences("Le pape parle des gens. Voici Grégoire XII. Mais il doit partir.") == [
        "Le pape parle des gens.",
        "Voici Grégoire XII.",
        "Mais il doit partir.",
    ]


@pytest.mark.parametrize("word", sorted(SURE.never))
def test_an_abbreviation_that_every_text_knows_ends_no_sentence(word: str) -> None:
    for language in ("en", "de", "fr"):
        assert abbreviation(f"so {word}", language, "Xavier", "Xavier came") == "never"


ENGLISH_ENDS = [
    "It is a work of art. Nobody knew.",
    "We took the bus to the station. Xavier came.",
    "They met in Rome. Paul left.",
    "The lamp was on. Marie left.",
    "Add it to the list. Marie left.",
    "The engine is in the car. Marie left.",
    "He wrote an op. Marie left.",
]


@pytest.mark.parametrize("text", ENGLISH_ENDS)
def test_abbreviations_of_other_languages_join_no_english_sentences(text: str) -> None:
    assert len(sentences(text)) == 2


@pytest.mark.parametrize(
    "text",
    [
        "Man måste lära sig. Det är bra att kunna det.",
        "Hon vet det ej. Det är svårt att säga.",
        "Han skal lære at klare sig. Det er ikke svært for ham.",
    ],
)
def test_abbreviations_of_other_languages_join_no_sentences_of_swedish_and_danish(
    text: str,
) -> None:
    assert len(sentences(text)) == 2


@pytest.mark.parametrize("language", LOCAL)
def test_no_word_of_a_language_is_listed_twice(language: str) -> None:
    assert not LOCAL[language].never & SURE.never
    assert not STARTERS[language] & function_words(language)
    for word in sorted(LOCAL[language].never):
        assert abbreviation(f"so {word}", "en", "Xavier", "Xavier came") != "never"


@given(
    st.lists(st.sampled_from([part for d in DIVIDED["es"] for part in d.split("|")]), max_size=6)
)
def test_sentences_of_a_language_come_back_in_any_order(parts: list[str]) -> None:
    text = " ".join(parts)
    assert "".join(sentences(text)).replace(" ", "") == text.replace(" ", "")
