"""Abbreviations and first words of sentences of other languages than English and German, for `text.abbreviations`.

`SURE` end hardly a sentence in any language of `text.language`: they are read in every text, since a short one does not
tell its language. Italian `sig` and Spanish `ej` are none of them, as they are last words in Swedish. `LOCAL` are read in
texts of their language. Cyrillic, Arabic and Devanagari ones are always read.

Chosen by hand. The lists of pysbd 0.3.4 were read beside them; most of their words are left out, since they end
sentences (French `al`, Spanish `con`) or are no abbreviations. bench/sentence_languages.py measures what they do.
"""

from __future__ import annotations

from dataclasses import dataclass


def word_set(words: str) -> frozenset[str]:
    return frozenset(words.split())


@dataclass(frozen=True, slots=True)
class Abbreviations:
    """never: end no sentence; numbered: end none before a number; before_names: end one only before a word that often
    starts one. letters: single letters that end none."""

    never: frozenset[str] = frozenset()
    numbered: frozenset[str] = frozenset()
    before_names: frozenset[str] = frozenset()
    letters: frozenset[str] = frozenset()


SURE = Abbreviations(
    never=word_set(
        # Spanish, Portuguese
        "pag av sra sres sras srta srtas dra dras dña excmo excma ilmo ilma exmo exma arq gral pdte aprox ctra avda dpto "
        "depto sto sta profa "
        # French
        "mme mmes mlle mlles mgr env éd réf "
        # Italian
        "sigg dott avv cfr geom pagg artt "
        # Dutch
        "dhr mevr bijv "
        # Polish
        "św inż nadkom płk mjr ppłk abp tzw tzn zob ppor godz "
        # Turkish
        "doç yrd bkz örn "
        # Russian
        "г-н г-жа г-жи г-ну д-р им ул просп пр-т пер пл наб бул рис табл гл ст пп тт сс см ср напр проф акад доц канд "
        "ген полк кап лейт св прп прот ред сост изд вып обл оз пос дер тел букв лат англ нем фр итал исп греч др-греч ок "
        "род ум корп стр кв "
        # Hindi
        "डॉ श्री प्रो पं कु रु रू सं पृ "
    ),
    numbered=word_set("ust blz"),
    before_names=word_set(
        "etc usw ecc itd itp enz cia ltda uu hh aa oo bros std чел руб коп долл гг вв др пр тыс млн млрд трлн мин сек"
    ),
    letters=word_set("с т п ч д о л к н э у и"),  # г., в. and р. can be last words
)

LOCAL = {
    "es": Abbreviations(
        never=word_set("ee ej pza lic ing col trad fr"),
        before_names=word_set("hab ud uds vd vds"),
        letters=word_set("s n p f v"),
    ),
    "fr": Abbreviations(
        never=word_set("ap apr mm coll trad éds ing ex ste"),
        before_names=word_set("hab"),
        letters=word_set("p v n f"),
    ),
    "it": Abbreviations(
        never=word_set("on ing rag arch sig art nn op ad es cap tel spett gent"),
        before_names=word_set("ss cit"),
        letters=word_set("s n p v f l"),
    ),
    "pt": Abbreviations(
        never=word_set("eng engo adv pç exa cap fls art trad séc"),
        before_names=word_set("hab obs"),
        letters=word_set("s n p v f"),
    ),
    "nl": Abbreviations(
        never=word_set("mw ir ing ds jhr burg kon gebr st nl jl"),
        before_names=word_set("art gem"),
        letters=word_set("p v"),
    ),
    "pl": Abbreviations(
        never=word_set(
            "al im pl os hab doc kpt por sierż kom ks bp np tj ok poz proj red tłum wyd paraf dz nr "
            "ul rys tab art pow woj gm ur zm sp"
        ),
        numbered=word_set("pkt par str"),
        before_names=word_set("tys"),
        letters=word_set("s o p"),
    ),
    "tr": Abbreviations(
        never=word_set("sn org alb yzb tuğg korg orgen mah cad sok apt çev ör yay st"),
        before_names=word_set("vb vs vd"),
        letters=word_set("s"),
    ),
}

STARTERS = {
    "es": word_set(
        "él ella ellos ellas nosotros yo tú usted así además aunque después antes hoy ayer según durante tras "
        "mientras luego entonces ahora esto eso aquí allí ya cada algunos muchos ambos otro otra uno dos tres su mi estos "
        "estas no"
    ),
    "fr": word_set(
        "ils elles on je tu c ceci ainsi puis ensuite enfin aujourd hier depuis pendant après avant lors selon "
        "lorsque quand alors cependant toutefois or chaque plusieurs certains mon ma mes notre votre cet voir voici à"
    ),
    "it": word_set(
        "egli ella essi lui lei loro noi io tu voi così poi dopo prima oggi ieri secondo mentre allora tuttavia inoltre "
        "infine ogni alcuni molti questi queste quello quella suo sua i in a"
    ),
    "pt": word_set(
        "ela eles elas nós eu tu você vocês assim depois antes hoje ontem durante segundo enquanto então porém contudo "
        "além cada alguns muitos este esta estes estas esse essa isto as no"
    ),
    "nl": word_set(
        "zij ik wij we jij u die daar hier toen nu later daarna of wanneer volgens tijdens na sinds in elke alle sommige"
    ),
    "pl": word_set(
        "on ona ono oni one ja ty my wy to ta ten te ci tam tu wtedy potem później dziś dzisiaj wczoraj według podczas "
        "przed do we ze o jednak i a gdy kiedy każdy każda wiele niektóre jej ich był była było były"
    ),
    "tr": word_set(
        "o şu onlar biz ben sen siz ama ancak fakat çünkü sonra önce bugün dün şimdi ayrıca böylece her bazı birçok onun "
        "bunun burada orada eğer"
    ),
}
"""What often begins a sentence, besides the function words of `text.language`. A word ends at an apostrophe: c'est."""

CYRILLIC_STARTERS = word_set(
    "он она оно они я ты мы вы это этот эта эти тот та те там тут здесь тогда потом затем позже сегодня вчера теперь по "
    "во в на с со из от до для при после перед под над о об к у за через около согласно однако но и а или если когда "
    "каждый каждая многие некоторые его её ее их не все всё так также кроме как что кто где"
)

NAME_PARTICLES = word_set(
    "de la le les du des di da del della dos das do van von den der ten ter el lo san al a e"
)
"""Words of names (J. de la Cruz): behind an initial they begin no sentence, also with a capital letter."""

ORDINALS = frozenset({"de", "tr"})
"""Languages that write an ordinal as a number with a full stop before capital letters, too: 2. Dünya Savaşı."""

MONTHS = word_set(
    "januar februar märz mai juni juli oktober dezember jänner "  # what stands before one is a day
    "stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia "
    "ocak şubat nisan mayıs haziran temmuz ağustos eylül ekim kasım aralık"
)
"""Those that are no English words: what stands before one is a day."""
