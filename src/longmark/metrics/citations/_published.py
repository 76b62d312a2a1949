"""How ALCE reads an answer (princeton-nlp/ALCE at 246c476, eval.py), for `reading=alce`."""

from __future__ import annotations

import re
from collections.abc import Sequence

from longmark.metrics.citations._sources import CitableSource, Citation, Status
from longmark.metrics.citations._support import CitedStatement
from longmark.records.source_ids import SourceIds
from longmark.text.sentences import sentences

_MARKER = re.compile(r"\[\d+")  # line 360
_BRACKETS = re.compile(r"\[([^\[\]\n]{1,200})\]")
_LONGEST = 12  # characters of a marker's number; a longer one is out of range as well
_GLUED_ZERO = re.compile(
    r"([.!?](?:\[\d+\])*)(?=\[0)"
)  # no marker to `sentences`, which takes it for an interval
_BEHIND_STOP = re.compile(r"(.*[.!?][\"')”’]*)\s*((?:\[\d[^\[\]]*\]\s*)+)", re.DOTALL)


def published_sentences(
    answer: str, sources: Sequence[CitableSource], limit: int | None
) -> tuple[list[CitedStatement], str]:
    """The sentences of the first line with what they cite, and the line without citations. As NLTK's sentences have it,
    a marker behind a full stop stands at the head of the next sentence, and is a sentence without words at the end. A
    repeated number counts again; a sentence with a number that is out of range is rejected with all its citations
    (365-367), before only the first `limit` count (369-370). [0] names the last source, as -1 does in Python."""
    lines = answer.strip().split("\n")
    line = lines[0].replace("<|im_end|>", "")  # 508-509
    line = _with_places(line, sources)
    cited = []
    for sentence in _as_nltk(sentences(_GLUED_ZERO.sub(r"\1 ", line))):
        numbers = [int(match[1:_LONGEST]) - 1 for match in _MARKER.findall(sentence)]
        text = without_citations(sentence).strip()
        if any(number >= len(sources) for number in numbers):
            every = tuple(_citation(number, sources) for number in numbers)
            cited.append(CitedStatement(text, every, rejected=True))
            continue
        citations = tuple(_citation(number, sources) for number in numbers)
        cited.append(CitedStatement(text, citations if limit is None else citations[:limit]))
    return cited, without_citations(line)


def _with_places(line: str, sources: Sequence[CitableSource]) -> str:
    """A line whose brackets name places where they hold ids, of which ALCE knows none: a run of RAGTIME has [5f91a162-…],
    and the code would read 5."""
    by_id = SourceIds(source.id for source in sources)

    def with_place(bracket: re.Match[str]) -> str:
        name = bracket[1].strip()
        is_place = name.isdecimal() and len(name) < _LONGEST and int(name) <= len(sources)
        places = [] if is_place else by_id.places(name)
        return f"[{places[0] + 1}]" if places else bracket[0]

    return _BRACKETS.sub(with_place, line)


def _citation(number: int, sources: Sequence[CitableSource]) -> Citation:
    """What a number, from 0, names: a source, or none where it is out of range."""
    name = str(number + 1)
    if number >= len(sources):
        return Citation(name, (), "none")
    place = number % len(sources)
    source = sources[place]
    return Citation(
        name,
        (place,),
        _status(source),
        source.id,
    )


def _as_nltk(parts: Sequence[str]) -> list[str]:
    """Sentences with the markers behind a full stop moved to the next one."""
    moved = []
    carried = ""
    for part in parts:
        match = _BEHIND_STOP.fullmatch(part)
        moved.append(f"{carried}{match[1] if match else part}")
        carried = f"{match[2]} " if match else ""
    return [*moved, carried.strip()] if carried else moved


def without_citations(text: str) -> str:
    """`remove_citations` (utils.py, 29-30)."""
    without = re.sub(r"\[\d+", "", re.sub(r" \[\d+", "", text))
    return without.replace(" |", "").replace("]", "")


def _status(source: CitableSource) -> Status:
    return "text" if source.text is not None else "no text"
