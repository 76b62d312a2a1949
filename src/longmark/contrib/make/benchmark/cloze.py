"""Cloze items: which word of a statement is left out, and the blanks (ClimaQA, section 4.3 and appendix A.5.3).

A term is one word: no white space in it, a letter or a digit at each end (`apt-get`, `systemd.timer`), and at most half
of the statement. Every occurrence is blanked, in any case, unless a letter or digit beside it makes it part of a longer
word. Punctuation stays outside the blank. Scripts without spaces (Han, kana, Thai, Lao, Khmer, Burmese) and Hangul do
not mark where a word ends: there every occurrence counts, wherever it stands, and only a model proposes terms.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import takewhile

from longmark.records.benchmark import BLANK, Item
from longmark.records.same import canonical, caseless
from longmark.text.overlap import FUNCTION_WORDS
from longmark.text.words import between_words, in_pairs, in_word

MOST_PROPOSALS = 5
_SHORTEST = (
    4  # letters of a rare word that is proposed, and of a term whose inflected forms are looked for
)


def stripped(term: str) -> str:
    """A term in NFC, without what stands around its first and last letter or digit."""
    term = canonical(term)
    inner = [i for i, char in enumerate(term) if in_word(char)]
    return term[inner[0] : inner[-1] + 1] if inner else ""


def places(statement: str, term: str) -> list[tuple[int, int]]:
    """Where a term (`stripped`) stands as a word of a statement (NFC): start and end of each occurrence."""
    matches = re.finditer(re.escape(term), statement, re.IGNORECASE) if term else ()
    return [
        match.span()
        for match in matches
        if between_words(statement, match.start()) and between_words(statement, match.end())
    ]


def no_term(statement: str, term: str) -> str | None:
    """Why a term (`stripped`) cannot be left out of a statement (NFC); None if it can."""
    if len(term.split()) != 1:
        return f'"{term}" is not one word' if term else "the term has no letter or digit"
    if BLANK in statement:
        return f"the statement contains {BLANK} already"
    if not (occurrences := places(statement, term)):
        return f'the statement does not contain the word "{term}"'
    if 2 * sum(end - start for start, end in occurrences) > len(statement.strip()):
        return f'"{term}" is more than half of the statement'
    return None


def blank(item: Item, term: str) -> Item:
    """The cloze item with a term left out: question, answer (as its first occurrence is written), and in `meta` the
    place of that occurrence in the statement. Dropped, with the reason term_missing, if the term cannot be left out."""
    statement = canonical(item.statement or "")
    term = stripped(term)
    if why := no_term(statement, term):
        reason = f"term_missing: {why}"
        return item.model_copy(update={"status": "dropped", "reasons": (*item.reasons, reason)})
    occurrences = places(statement, term)
    question = statement
    for start, end in reversed(occurrences):
        question = question[:start] + BLANK + question[end:]
    start, end = occurrences[0]
    fields = {"question": question, "answer": statement[start:end], "statement": statement}
    return item.model_copy(update={**fields, "meta": {**item.meta, "position": start}})


def still_there(item: Item) -> str | None:
    """A word of a cloze question that gives its term away: it contains the term, or is an inflected form of it (equal
    but for the last two letters). None if there is none, and for terms of fewer than four letters."""
    term = caseless(item.answer or "")
    if len(term) < _SHORTEST:
        return None
    for word in words(item.question.replace(BLANK, " ")):
        shared = sum(
            1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(term, word, strict=False))
        )
        if term in word or (shared > _SHORTEST and shared >= max(len(term), len(word)) - 2):
            return word
    return None


def words(text: str) -> Iterator[str]:
    """The words of a text between spaces, `stripped`, without case."""
    for part in text.split():
        if word := stripped(part):
            yield caseless(word)


def word_counts(texts: Iterable[str]) -> Counter[str]:
    """Word -> the number of texts that have it; of a book's chunks, for `proposals`."""
    return Counter(word for text in texts for word in set(words(text)))


def proposals(
    statement: str,
    named_terms: Sequence[str] = (),
    counts: Mapping[str, int] | None = None,
    limit: int = MOST_PROPOSALS,
) -> tuple[str, ...]:
    """The terms that could be left out, best first: those that a model named, in its order, as far as they can; then
    the words of the statement that are rarest in the book, longer ones first. A word that the book does not have comes
    last. counts: `word_counts` of the book's chunks; None: by length alone."""
    statement = canonical(statement)
    counts = counts or {}

    def rank(word: str) -> tuple[bool, int, int]:
        count = counts.get(caseless(word), 0)
        return not count, count, -len(word)

    words = [stripped(part) for part in statement.split()]
    rare = [
        word
        for word in words
        if sum(map(str.isalpha, word)) >= _SHORTEST
        and caseless(word) not in FUNCTION_WORDS
        and not in_pairs(word)
    ]
    terms: dict[str, str] = {}
    for term in (*map(stripped, named_terms), *sorted(rare, key=rank)):
        if no_term(statement, term) is None:
            terms.setdefault(caseless(term), term)
    return tuple(terms.values())[:limit]
