"""What the markers of an answer name: sources of the example, by their places, ids and addresses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from longmark.records import Example
from longmark.records.source_ids import SourceIds
from longmark.text.citations import ADDRESS, MOST_DIGITS, CitedSentence

Status = Literal["text", "no text", "unknown", "none"]
"""Of what a marker names: a source with its text; a listed source without one; an address or an id that is not listed,
so that its text is not known; or no source at all (a number that is out of range, a footnote without a definition)."""

_DIGITS = re.compile(r"\d+")
_UNIT_INTERVAL = re.compile(r"\[0\s*[,–-]\s*1\]")
_CUT = ("…", "...", "[truncated]", "[cut]")


@dataclass(frozen=True, slots=True)
class CitableSource:
    """A source that the markers of an answer can name. text: None where the example does not have it;
    numbers: of the passages of the example, from 1, that it is; of an example without passages, of the source."""

    text: str | None
    id: str | None = None
    numbers: tuple[int, ...] = ()

    @property
    def is_cut(self) -> bool:
        """Whether its text ends as one does that was cut."""
        return self.text is not None and self.text.rstrip().endswith(_CUT)


@dataclass(frozen=True, slots=True)
class Citation:
    """What a marker names. places: of the sources, from 0; several where passages share an id; source_id: of the first
    of them."""

    name: str
    places: tuple[int, ...]
    status: Status
    source_id: str | None = None

    @property
    def label(self) -> str:
        """What a user can look for: the id of the source, else what the marker says."""
        return self.source_id or self.name


def sources_of(example: Example) -> list[CitableSource]:
    """The sources of an example: its `sources`, each with its snapshot or else the passages of its id; without them its
    passages in their order."""
    if example.sources is None:
        return [
            CitableSource(context.text, context.id, (number,))
            for number, context in enumerate(example.contexts, 1)
        ]
    if not example.contexts:
        return [
            CitableSource(source.text, source.id, (number,))
            for number, source in enumerate(example.sources, 1)
        ]
    by_id = SourceIds(context.id for context in example.contexts)
    sources = []
    for source in example.sources:
        places: list[int] = []
        if source.id:
            places = by_id.places(source.id)
        passages = {}
        for place, context in enumerate(example.contexts):
            has_text = source.text is not None and source.text == context.text
            if place in places or has_text:
                passages[place + 1] = context.text
        text = source.text
        if text is None:
            text = "\n".join(passages.values()) or None
        sources.append(CitableSource(text, source.id, tuple(passages)))
    return sources


def ids_of(sources: Sequence[CitableSource]) -> set[str]:
    """The ids that `[id]` may name. Short numbers are read as numbers; a long one, which could be a year, is a marker
    where it is the id or the place of a source."""
    ids = {source.id for source in sources if source.id}
    places = map(str, range(10**MOST_DIGITS, len(sources) + 1))
    return {name for name in ids if not name.isdecimal() or len(name) > MOST_DIGITS}.union(places)


def counts_from_zero(sentences: Iterable[CitedSentence], sources: Sequence[CitableSource]) -> bool:
    """Whether the numbers of an answer count its sources from 0: a marker names 0, which is no id, and none names as
    many as there are sources. [0, 1] alone is an interval as often as a marker."""
    if not sources or any(source.id == "0" for source in sources):
        return False
    cited = list(sentences)
    names = {name for sentence in cited for name in sentence.names}
    names_zero = any(
        "0" in _DIGITS.findall(marker) and not _UNIT_INTERVAL.fullmatch(marker)
        for sentence in cited
        if "0" in sentence.names
        for marker in sentence.markers
    )
    return names_zero and str(len(sources)) not in names


def resolved(
    names: Iterable[str],
    definitions: Mapping[str, str],
    sources: Sequence[CitableSource],
    first: int = 1,
) -> dict[str, Citation]:
    """Name -> what it names.

    A number is an id where the ids are numbers and all numbers of the answer are ids or no places; else it is what the
    answer's list of sources says of it, if that is the address of a source; else the place of a source, from `first`."""
    by_id = SourceIds(source.id for source in sources)
    names = list(names)
    numbers = {name for name in names if name.isdecimal()}
    # `[3]` can be an id or a place; a number that is a place and no id decides for places
    are_ids = any(number in by_id for number in numbers) and all(
        number in by_id or not first <= int(number) < first + len(sources) for number in numbers
    )
    have_addresses = any(source.id and ADDRESS.match(source.id) for source in sources)

    def named(name: str, places: Sequence[int]) -> Citation:
        has_text = any(sources[place].text is not None for place in places)
        status: Status = "text" if has_text else "no text"
        return Citation(
            name,
            tuple(places),
            status,
            sources[places[0]].id,
        )

    def of_definition(name: str, definition: str) -> Citation | None:
        addresses = [match[1].rstrip(".,;") for match in ADDRESS.finditer(definition)]
        # an address first: the text around it can hold an id by chance
        for id_text in (*addresses, definition.strip()):
            if places := by_id.places(id_text):
                return named(name, places)
        return Citation(name, (), "unknown", addresses[0]) if addresses else None

    def of_name(name: str) -> Citation:
        label = name.removeprefix("^")
        if (are_ids or not name.isdecimal()) and (places := by_id.places(label)):
            return named(name, places)
        defined = of_definition(name, definitions[label]) if label in definitions else None
        if defined is not None and (defined.places or have_addresses or not name.isdecimal()):
            return defined
        if name.isdecimal():
            if not are_ids and first <= int(name) < first + len(sources):
                return named(name, [int(name) - first])
            return defined or Citation(name, (), "none")
        undefined = name.startswith("^") and label not in definitions
        return Citation(name, (), "none" if undefined else "unknown")

    return {name: of_name(name) for name in names}
