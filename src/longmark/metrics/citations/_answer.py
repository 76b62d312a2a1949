"""An answer as its citation scores read it: sentences, their markers, the sources that these name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from longmark.metric import Remark
from longmark.metrics.citations._params import CitationsParams
from longmark.metrics.citations._published import published_sentences
from longmark.metrics.citations._sources import (
    CitableSource,
    Citation,
    counts_from_zero,
    ids_of,
    resolved,
    sources_of,
)
from longmark.metrics.citations._support import CitedStatement
from longmark.records import Example
from longmark.text.citation_lists import without_apparatus
from longmark.text.citations import cited_text, unread_marks

FROM_ZERO = "The answer counts its sources from 0: it has [0], and no number of the last from 1."
ONE_ID = "The answer names an id that several sources have: these are one source, read together."

FIRST_LINE = Remark(
    "Only the first line of the answer is scored, as ALCE's code does; it has more."
)
UNREAD = "What may be a citation is read as words, since it has no form that is known (docs/citations.md):"


@dataclass(frozen=True, slots=True)
class CitedAnswer:
    """An answer as its scores read it. plain: without markers; counts_from_zero: whether [0] is its first source."""

    sentences: tuple[CitedStatement, ...]
    sources: tuple[CitableSource, ...]
    plain: str
    counts_from_zero: bool = False

    @property
    def rules(self) -> list[str]:
        """What a reader of a score should know of how the markers were read."""
        joined = any(len(citation.places) > 1 for citation in self.citations)
        return [FROM_ZERO] * self.counts_from_zero + [ONE_ID] * joined

    @property
    def citations(self) -> list[Citation]:
        """The citations of all sentences, in their order."""
        return [citation for sentence in self.sentences for citation in sentence.citations]


def read_answer(example: Example, params: CitationsParams) -> CitedAnswer:
    """The sentences of an answer with what their markers name."""
    sources = sources_of(example)
    answer = example.answer or ""
    if params.reading == "alce":
        sentences, plain = published_sentences(answer, sources, params.limit)
        return CitedAnswer(tuple(sentences), tuple(sources), plain)
    text = cited_text(answer, ids_of(sources), params.parentheses)
    from_zero = counts_from_zero(text.sentences, sources)
    by_name = resolved(text.names, text.definitions, sources, 0 if from_zero else 1)

    def citations(names: Sequence[str]) -> tuple[Citation, ...]:
        distinct = {by_name[name].places or name: by_name[name] for name in reversed(names)}
        return tuple(reversed(distinct.values()))[: params.limit]

    return CitedAnswer(
        tuple(
            CitedStatement(sentence.text, citations(sentence.names), sentence.needs_source)
            for sentence in text.sentences
        ),
        tuple(sources),
        text.plain,
        from_zero,
    )


def remarks(example: Example, params: CitationsParams) -> list[Remark]:
    """What a run tells of how the markers of its answers are read."""
    answer = example.answer or ""
    if params.reading == "alce":
        return [FIRST_LINE] if "\n" in answer.strip() else []
    sources = sources_of(example)
    ids = [source.id for source in sources if source.id]
    told: list[Remark] = []
    # an answer without either sign is not read twice
    if "0" in answer or len(set(ids)) < len(ids):
        told += map(Remark, read_answer(example, params).rules)
    body, _ = without_apparatus(answer)
    if unread := unread_marks(body, ids_of(sources), params.parentheses):
        told.append(Remark(UNREAD, tuple(unread)))
    return told
