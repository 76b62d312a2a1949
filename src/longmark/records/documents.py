"""Whether answers to one question's text are about one document.

Without a `question_id` a question is its text. "Summarize the document" about forty documents is forty questions, and
"Who signed the contract?" about another contract is another question. So where one system answered a text several
times, and two of these answers have no passage and no reference in common, the text is told apart by document: the
question_id is then `TEXT.DOCUMENT`, two hashes, the same for every system that answered about this document. Answers
that share a passage or a reference, directly or through others, are about one document. What different systems
retrieved for one answer each says nothing: their passages may differ.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from longmark.progress import counted
from longmark.records.example import Example, Question, question_hash

REMEDY = "give each a question_id: --map question_id=COLUMN"
_DIGITS = 8


@dataclass(frozen=True, slots=True)
class ToldApart:
    """ids: place -> question_id of answers whose question is told apart; texts: how many question texts these are;
    repeated, repeated_texts: answers, and their texts, that one system gave several of where nothing is there to tell
    by."""

    ids: Mapping[int, str]
    texts: int = 0
    repeated: int = 0
    repeated_texts: int = 0

    def notices(self) -> Iterator[str]:
        """What should be known of it."""
        if self.ids:
            questions = len(set(self.ids.values()))
            yield (
                f"{counted(len(self.ids), 'answer')} to {counted(self.texts, 'question text')} are about different "
                f"documents, without a passage or a reference in common: they count as {questions:,} questions. If "
                f"they are not, {REMEDY}."
            )
        if self.repeated:
            yield (
                f"{counted(self.repeated, 'answer')} have {counted(self.repeated_texts, 'question text')}: the answers "
                f"of a system to one text count as one question. If these are different tasks, {REMEDY}."
            )


class SharedDocuments:
    """Answers, of which those to one text by one system are compared by their passages and references."""

    def __init__(self) -> None:
        self._answers: dict[str, list[tuple[int, str, frozenset[str]]]] = {}

    def add(self, place: int, example: Question) -> None:
        """place: by which `apart` names the answer. An example that names its question is not looked at."""
        if isinstance(example, Example) and has_text_for_question(example):
            answer = (place, example.system or "", _tokens(example))
            self._answers.setdefault(example.question_id, []).append(answer)

    def apart(self) -> ToldApart:
        ids: dict[int, str] = {}
        texts = repeated = repeated_texts = 0
        for question, answers in self._answers.items():
            by_system: dict[str, list[frozenset[str]]] = {}
            for _, system, tokens in answers:
                by_system.setdefault(system, []).append(tokens)
            if any(_several(filter(None, answers)) for answers in by_system.values()):
                texts += 1
                documents = _documents(tokens for _, _, tokens in answers)
                keys = {
                    token: f"{question}.{_key(document)}"
                    for document in documents
                    for token in document
                }
                ids |= {place: keys[next(iter(tokens))] for place, _, tokens in answers if tokens}
            elif unknown := sum(
                len(answers)
                for answers in by_system.values()
                if len(answers) > 1 and not any(answers)
            ):
                repeated += unknown
                repeated_texts += 1
        return ToldApart(ids, texts, repeated, repeated_texts)


def has_text_for_question(example: Question) -> bool:
    """Whether nothing but its text says which question an example is of."""
    if example.variant_of is not None or not example.question:
        return False
    return example.question_id == question_hash(example.question)


def document_of(example: Question) -> str:
    """What an example's passages and references look like, for a count that other examples do not change."""
    return (
        _key(_tokens(example))
        if isinstance(example, Example) and has_text_for_question(example)
        else ""
    )


def _tokens(example: Example) -> frozenset[str]:
    """A hash for each passage and each reference; references come first where hashes are sorted, because systems share
    them."""
    passages = (f"p{_hash(context.text)}" for context in example.contexts)
    return frozenset((*(f"a{_hash(text)}" for text in example.references), *passages))


def _hash(text: str) -> str:
    return hashlib.sha256(" ".join(text.split()).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _key(document: Iterable[str]) -> str:
    return min(document, default="")[1 : _DIGITS + 1]


def _several(answers: Iterable[frozenset[str]]) -> bool:
    return len(_documents(answers)) > 1


def _documents(answers: Iterable[frozenset[str]]) -> list[set[str]]:
    """The tokens of answers, put together where answers share one."""
    of_token: dict[str, set[str]] = {}
    for tokens in answers:
        together = set(tokens)
        for part in {
            id(of_token[token]): of_token[token] for token in tokens if token in of_token
        }.values():
            together |= part
        of_token.update(dict.fromkeys(together, together))
    return list({id(document): document for document in of_token.values()}.values())
