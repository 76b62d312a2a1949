"""Words by which a sentence says that the sources have no answer, and the orders in which they stand.

A sentence is read as a row of classes of words: a source ("the passages"), a negation, a verb of telling ("mention"), a
fact ("information"). `DECLINING` has the orders in which these classes decline, whatever stands between them; they hold
for all languages, so that a language needs its words alone. A clause of its own ("the passages say that it is not ...")
ends an order: what is denied there is a claim. So does a text that is named ("the texts of Plato"): it is none of those
that the answer goes by.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from unicodedata import normalize


@dataclass(frozen=True, slots=True)
class RefusalWords:
    """Of a language: alternatives of a regular expression each, in folded letters.

    sources: texts that an answer goes by. silent: what says of them that they leave a question open. unclear: what says so
    of the question. untold: a verb of telling with its negation in one word. nothing. none: "no", before facts. negation:
    "not". facts: information, mention. telling: mention, answer. clause: what begins a clause of its own. whether: what
    begins an indirect question or what is not told. owners: "of", between a text and whose it is. spaced: whether spaces
    divide words. negation_last: whether the negation may follow the verb ("nennen ihn nicht")."""

    sources: str
    facts: str = "(?!)"
    telling: str = "(?!)"
    negation: str = "(?!)"
    none: str = "(?!)"
    nothing: str = "(?!)"
    silent: str = "(?!)"
    unclear: str = "(?!)"
    untold: str = "(?!)"
    clause: str = "(?!)"
    whether: str = "(?!)"
    owners: str = "(?!)"
    spaced: bool = True
    negation_last: bool = False


CLASSES = {
    "whether": "W",
    "clause": "C",
    "silent": "Q",
    "unclear": "U",
    "untold": "X",
    "sources": "S",
    "nothing": "Z",
    "none": "D",
    "negation": "N",
    "facts": "F",
    "telling": "T",
    "owners": "P",
}
"""Letters of the classes, in the order in which they are looked for. A word of no class is o."""
DECLINING = (
    "W?[oF]{0,10}So{0,3}N[oD]{0,4}[TF]",  # the passages do not really say
    "[oTF]{0,8}So{0,2}T?o{0,2}D[oD]{0,2}F",  # the passages contain no further information
    "[oTF]{0,8}So{0,2}To?Z",  # the passages say nothing about it
    "[oF]{0,8}So{0,2}Zo{0,3}[TND]",  # the same where the verb stands last
    "W?[oTF]{0,8}So{0,3}[QU]",  # the passages are silent
    "[oTF]{0,8}S[oTFK]{0,12}X",  # the negation is a part of the verb
    "[oTF]{0,4}Do{0,2}F(?:[oTF]{0,8}S$|o{0,2}S)",  # there is no mention of it in the passages
    "(?:[oTF]{0,4}[DZ]|N)o{0,3}So{0,4}N?o{0,2}[TF]",  # none of the passages mentions it, nothing in them says so
    "ZN?To{0,2}S",  # nothing says so in the passages
    "W?[oF]{0,10}No{0,3}T[oTDF]{0,8}S$",  # it is not mentioned in the passages
    "No?T[oD]{0,3}S",  # verb before subject
    "W?[oTF]{0,8}U[oTF]{0,6}So?$",  # it is unclear from the passages
)
"""Orders of these letters that decline, from the beginning of a sentence."""
NEGATION_LAST = (
    "[oF]{0,8}So{0,2}To{0,4}[NZ]",  # die Texte nennen ihn nicht
    "[oF]{0,8}To{0,3}So{0,4}[NZ]",  # dazu sagen die Texte nichts
    "[oF]{0,8}[QU]o?S",  # darüber schweigen die Texte
    "[oF]{0,3}TNo{0,2}S$",  # das steht nicht in den Texten
)
_NAMED = re.compile("(?<=S)P(?!F|o{0,2}S)")  # of Plato, and not of the passages
_GOES_ON = re.compile("K(?!W)")  # a comma that opens no indirect question
_MOST = 30  # words


class WordClasses:
    """The classes of a language's words, compiled."""

    def __init__(self, words: RefusalWords) -> None:
        alternatives = {field.name: getattr(words, field.name) for field in fields(words)}
        edges = (r"(?<!\w)", r"(?!\w)") if words.spaced else ("", "")
        groups = "|".join(
            rf"(?P<{letter}>{edges[0]}(?:{alternatives[name]}){edges[1]})"
            for name, letter in CLASSES.items()
        )
        unclassed = r"\w\S*?(?=['’\s,]|$)|\w" if words.spaced else r"\w"
        self._scanner = re.compile(normalize("NFC", rf"{groups}|(?P<o>{unclassed})|(?P<K>[,，、])"))
        self._sources = re.compile(normalize("NFC", words.sources))
        self._spaced = words.spaced
        orders = (*DECLINING, *(NEGATION_LAST if words.negation_last else ()))
        self._orders = re.compile(f"(?:[^KS]*W[^K]*K)?(?:{'|'.join(orders)})")

    def row(self, sentence: str) -> str:
        """The classes of a folded sentence's words, a letter each; three signs without spaces count as a word."""
        letters = "".join(match.lastgroup or "" for match in self._scanner.finditer(sentence))
        letters = _NAMED.sub("C", letters).replace("P", "o")
        return letters if self._spaced else re.sub("o{1,3}", "o", letters)

    def asks(self, clause: str) -> bool:
        """Whether a folded clause begins like an indirect question."""
        return self.row(clause).startswith("W")

    def declines(self, sentence: str) -> bool:
        """Whether a folded sentence says that the sources have no answer, and goes on with no clause of another kind."""
        if not self._sources.search(sentence):
            return False
        row = self.row(sentence)
        order = self._orders.match(row)
        return bool(order and len(row) <= _MOST and not _GOES_ON.search(row, order.end()))
