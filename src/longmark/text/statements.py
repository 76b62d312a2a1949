"""The statements of a text with their types, each understandable by itself (Comprehensiveness, 3.1).

The judge lists statements. Then it reads the text again and revises them: it resolves references, splits sentences with
several statements, and gives each statement a type. Of duplicates the first one is kept.

The list comes from `claims` or `facts` (`extraction="shared"`) and is paid for once for all families of metrics, or
from one prompt that lists every unit of a text with its type (`extraction="typed"`, the paper's method).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Literal, TypeVar

from pydantic import ConfigDict

from longmark.concurrency import concurrently
from longmark.errors import NoScore
from longmark.judge import Reader, ReplyForm, Unreadable, ask, structure
from longmark.models.handles import Models
from longmark.prompts import Prompt, prompt
from longmark.text.claims import CLAIMS, FACTS, PIECE, claims, each_once, facts
from longmark.text.pieces import groups, pieces, utf8_size

_Read = TypeVar("_Read")

Kind = Literal["fact", "claim", "instruction", "data", "meta", "question", "other"]
KINDS: tuple[Kind, ...] = ("fact", "claim", "instruction", "data", "meta", "question", "other")
"""Comprehensiveness, listing 3: fact, claim, instruction, data format, meta statement, question, other."""

ATOMS = frozenset(
    {"fact", "claim"}
)  # the types whose statements are atoms (Comprehensiveness, 3.1)
BATCH = 40  # statements in one call of a revision
_MOST_TOKENS = 4096  # of a reply

_TYPES = """\
fact: information that can be checked.
claim: a position, a judgement or a forecast.
instruction: what somebody should do, and how.
data: code, a formula, a table.
meta: what the text says about itself or its author.
question: a question.
other: anything else."""

UNITS = prompt(f"""units(text)
Divide the text into units, in its order, so that nothing it says is left out. A unit is one statement, written as a \
full sentence; divide what joins several. Give each unit one of these types:
{_TYPES}
Add nothing and judge nothing. Write in the language of the text.
Reply with a JSON object and nothing else, {{"units": [{{"text": "...", "type": "fact"}}, …]}}; for an empty text, \
{{"units": []}}.""")
REVISION = prompt(f"""revision(text, statements)
The numbered statements were taken from the text. Revise them so that each is understood by a reader who does not have \
the text:
1. Put the full name in place of a pronoun, of "this" or "the event", and of an incomplete name, as the text has it.
2. Divide a statement that joins several into its parts, each a full sentence with all that belongs to it.
3. Change nothing else: add no information, correct nothing, leave no statement out. Do not repeat one.
Give each revised statement the number of the statement that it comes from, and one of these types:
{_TYPES}
Keep the order, and write in the language of the statements.
Reply with a JSON object and nothing else, {{"revised": [{{"from": 1, "text": "...", "type": "fact"}}, …]}}.""")
PROMPTS = (CLAIMS, FACTS, UNITS, REVISION)


@dataclass(frozen=True, slots=True)
class TextStatement:
    """A statement of a text. kind: one of KINDS; None before the judge has said it."""

    text: str
    kind: Kind | None = None


class _Unit(ReplyForm):
    text: str
    type: Kind


class _Units(ReplyForm):
    units: list[_Unit]


class _Revised(ReplyForm):
    model_config = ConfigDict(
        json_schema_extra={"additionalProperties": False},
        alias_generator=lambda name: "from" if name == "source" else name,
    )

    source: int
    text: str
    type: Kind


class _Revision(ReplyForm):
    revised: list[_Revised]


async def statements(
    models: Models,
    text: str,
    source: Literal["answer", "context"] = "answer",
    extraction: Literal["shared", "typed"] = "shared",
) -> list[TextStatement]:
    """The revised statements of a text in their order, each once and with its type; an empty list for a blank text.

    source: whether the text is an answer or a passage, which have different shared lists. Calls of the first judge, for
    each 4,000 bytes of the text: 1 for the list, and 1 for the revision of each 40 statements. In pieces of a long text
    references are resolved within the piece.

    Raises NoScore (`unparsable`, `refused`; `missing_input` without a judge) and ModelError.
    """

    async def of_piece(piece: str) -> list[TextStatement]:
        if extraction == "typed":
            listed = await typed(models, piece)
        elif source == "answer":
            listed = [TextStatement(claim) for claim in await claims(models, piece)]
        else:
            listed = [TextStatement(fact.text) for fact in await facts(models, [piece])]
        return await revised(models, piece, listed)

    statements_of_pieces = await concurrently(of_piece, pieces(text, PIECE))
    return once(statement for some in statements_of_pieces for statement in some)


async def typed(models: Models, text: str) -> list[TextStatement]:
    """The units of a text with their types, not revised, in one call; NoScore and ModelError as `judge.ask`."""
    if not text.strip():
        return []
    reader = structure(_Units, min(_MOST_TOKENS, 256 + 2 * utf8_size(text)))
    units = (await _ask(models, UNITS, {"text": text}, reader)).units
    return once(TextStatement(unit.text, unit.type) for unit in units)


async def revised(
    models: Models, text: str, listed: Sequence[TextStatement]
) -> list[TextStatement]:
    """The statements of a text, each revised and divided where it joins several; in their order, each once. A type that
    a statement has stays; else it gets that of the revision.

    A reply that leaves a statement out is requested once more; what the second reply leaves out is dropped. NoScore and
    ModelError as `judge.ask`.
    """
    revised_statements: list[TextStatement] = []
    place = 0
    for group in groups([statement.text for statement in listed], PIECE, BATCH):
        numbered = "\n".join(
            f"{n}. {' '.join(statement.split())}" for n, statement in enumerate(group, 1)
        )
        size = 256 + 3 * utf8_size(numbered)
        reader = _revision_reader(len(group), min(_MOST_TOKENS, size))
        for revision in await _ask(
            models, REVISION, {"text": text, "statements": numbered}, reader
        ):
            revised_statements.append(
                TextStatement(
                    revision.text, listed[place + revision.source - 1].kind or revision.type
                )
            )
        place += len(group)
    return once(revised_statements)


def once(listed: Iterable[TextStatement]) -> list[TextStatement]:
    """Statements in their order without empty ones and repetitions, with single spaces; the first of equal ones stays,
    with its type."""
    listed = list(listed)
    kinds: dict[str, Kind | None] = {}
    for statement in listed:
        kinds.setdefault(" ".join(statement.text.split()), statement.kind)
    return [
        TextStatement(text, kinds[text])
        for text in each_once(statement.text for statement in listed).values()
    ]


async def _ask(
    models: Models, prompt: Prompt, texts: dict[str, str], reader: Reader[_Read]
) -> _Read:
    if not models.judges:
        raise NoScore("missing_input", "There is no judge to list statements: add --judge.")
    return (await ask(models, models.judges[0], prompt, texts, reader)).value


def _revision_reader(count: int, max_tokens: int) -> Reader[list[_Revised]]:
    """Reads the revised statements. Unreadable if one has a number of no statement; a first reply, also if one is left
    out."""

    def numbered(reply: _Revision) -> list[_Revised]:
        for revision in reply.revised:
            if not 1 <= revision.source <= count:
                raise Unreadable(
                    f"no statement has the number {revision.source}; the numbers are 1 to {count}"
                )
        return sorted(reply.revised, key=lambda revision: revision.source)

    def complete(reply: _Revision) -> list[_Revised]:
        revisions = numbered(reply)
        if missing := sorted(
            set(range(1, count + 1)) - {revision.source for revision in revisions}
        ):
            raise Unreadable(f"the statement {missing[0]} is left out")
        return revisions

    form = structure(_Revision, max_tokens)
    return replace(form.then(complete), again=form.then(numbered).read)
