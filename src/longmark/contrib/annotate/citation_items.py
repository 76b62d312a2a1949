"""The citations of answers as items: one for each sentence and each source that it names.

A rater sees the sentence beside the text of one source and says how far that source supports it (the support task of
TREC's RAG track: full, partial or none). Sentences and citations are those that the metric `citations` reads. A
citation whose source has no text here is no item: nobody can say whether it supports the sentence. That a number is
out of range, or that a page is missing, `citations.resolvable` says.

    id           ANSWER.sN.cNAME: the number of the sentence among those that cite, from 1, and what the marker names
    statement    the sentence as the answer has it, with its markers; of a row of a table with the table's heading, so
                 that it is shown as a table
    source       the text of the source: of several passages that share its id, all
    contexts     the same as passages, with their ids
    sentence_start, sentence_end, citation
                 the place of the label (`scores.answer_parts`)
    answer_id, answer_sha256
                 the answer that the sentence is of
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from longmark.metrics.citations import CitationsParams, CitedAnswer, read_answer
from longmark.records import Example
from longmark.records.evidence import SupportedClaim
from longmark.report.placing import placed
from longmark.scores.answer_parts import CITATION, SENTENCE_END, SENTENCE_START
from longmark.scores.answer_texts import ANSWER_SHA256, answer_sha256
from longmark.scores.files import source_of
from longmark.scores.manifest import read_manifest

ANSWER_ID = "answer_id"
PART_COLUMNS = (SENTENCE_START, SENTENCE_END, CITATION)

_BETWEEN_WORDS = r"(?:[\W_]|\[[^\]\n]{0,200}\]|【[^】\n]{0,200}】)*"
"""What may stand between two words of a statement in its answer: markers, which the statement does not have."""

_RULE = re.compile(r"\s*\|?\s*:?-+:?\s*(?:\|\s*:?-+:?\s*)*\|?\s*")
"""The second line of a table in Markdown, below its heading."""

Place = tuple[int, int]


def params_of(path: Path) -> CitationsParams:
    """How the answers of a run folder, or of a file, are read: (1) is a marker where the run's metric reads it."""
    if not path.is_dir():
        return CitationsParams()
    names = read_manifest(source_of(path)).metrics()
    return CitationsParams(
        parentheses=any(
            name.startswith("citations.") and "@parentheses=true" in name for name in names
        )
    )


def citation_columns(
    example: Example, columns: Mapping[str, Any], params: CitationsParams
) -> Iterator[dict[str, Any]]:
    """The columns of the items of an answer. columns: those of the example."""
    text = example.answer or ""
    answer = read_answer(example, params)
    shared = {
        **columns,
        ANSWER_ID: example.id,
        ANSWER_SHA256: answer_sha256(text),
    }
    numbers: dict[Place, int] = {}
    labelled: set[tuple[Place, str]] = set()
    for place, statement in _places(answer, text):
        for citation in statement.citations:
            sources = [answer.sources[number] for number in citation.places]
            passages = [
                {"text": source.text, **({"id": source.id} if source.id else {})}
                for source in sources
                if source.text is not None
            ]
            if not passages or (place, citation.name) in labelled:
                continue
            labelled.add((place, citation.name))
            number = numbers.setdefault(place, len(numbers) + 1)
            yield {
                **shared,
                "id": f"{example.id}.s{number}.c{citation.name}",
                "statement": _with_heading(text, place),
                "source": "\n\n".join(passage["text"] for passage in passages),
                "contexts": passages,
                SENTENCE_START: place[0],
                SENTENCE_END: place[1],
                CITATION: citation.name,
            }


def citations_without_item(example: Example, params: CitationsParams) -> int:
    """How many citations of an answer are no item, since nothing that they name has a text."""
    answer = read_answer(example, params)
    citations = {
        (place, citation.name): any(
            answer.sources[number].text is not None for number in citation.places
        )
        for place, statement in _places(answer, example.answer or "")
        for citation in statement.citations
    }
    return sum(not has_text for has_text in citations.values())


def _with_heading(text: str, place: Place) -> str:
    """A part of a text; a row of a table with the two lines that head it."""
    start = text.rfind("\n", 0, place[0]) + 1
    end = text.find("\n", place[0])
    row = text[start:] if end < 0 else text[start:end]
    lines = text[:start].splitlines()
    if "|" not in row or "\n" in text[slice(*place)].strip():
        return text[slice(*place)]
    while lines and "|" in lines[-1]:
        rule = lines.pop()
        if _RULE.fullmatch(rule) and lines and "|" in lines[-1]:
            return "\n".join(line.strip() for line in (lines[-1], rule, row))
    return text[slice(*place)]


def _places(answer: CitedAnswer, text: str) -> Iterator[tuple[Place, Any]]:
    """Where each sentence with citations stands in the answer. Rows of a table are one part of the text: each has the
    place of its own words there."""
    statements = [statement for statement in answer.sentences if statement.citations]
    claims = [SupportedClaim(claim=statement.text) for statement in statements]
    place_of = {
        id(claim): place
        for place, claims_there in placed(claims, text, ()).items()
        for claim in claims_there
    }
    places = [place_of.get(id(claim)) for claim in claims]
    for statement, place in zip(statements, places, strict=True):
        if place is None or places.count(place) > 1:
            place = _words_in(statement.text, text, place or (0, len(text)))
        yield place, statement


def _words_in(statement: str, text: str, within: Place) -> Place:
    """Where the words of a statement stand in a part of the text, markers between them; the part where they do not."""
    words: Sequence[str] = re.findall(r"[^\W_]+", statement)
    match = re.compile(_BETWEEN_WORDS.join(map(re.escape, words))).search(text, *within)
    return match.span() if words and match else within
