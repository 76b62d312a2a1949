"""Items of a benchmark: questions with the right answer, made from books (ClimaQA, sections 3 and 4).

    form      `mcq` (options, the letter of the key), `freeform` (a reference answer), `cloze` (a statement with a
              blank, the term that fills it; before a term is chosen: the statement and proposals)
    level     `base`, `reasoning`, `hypothetical`; a cloze item has none
    status    `draft`, then `audited` or `dropped` (with reasons), then by people or a validator `valid`, `invalid`
              (with reasons) or `edited`
    tier      `gold` (checked by people) or `silver`

JSON Lines, CSV, TSV or Parquet. ClimaQA's published CSV files (columns Question, Options, Answer, Complexity, Context)
are read too; their form follows from the columns: options make an mcq, `<MASK>` in the question a cloze item.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Literal

import orjson
from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from longmark.errors import UserError
from longmark.records import sources
from longmark.records.example import Example
from longmark.records.files import BadLines, at, parse_json
from longmark.records.repeats import seen_ids
from longmark.records.turn import Context
from longmark.records.values import UNSTORABLE, Problem, found, in_one_line, missing, text
from longmark.records.write import write_records

Form = Literal["mcq", "freeform", "cloze"]
Level = Literal["base", "reasoning", "hypothetical"]
Status = Literal["draft", "audited", "dropped", "valid", "invalid", "edited"]
LEVELS: tuple[Level, ...] = ("base", "reasoning", "hypothetical")
BLANK = "<blank>"
UNUSABLE = frozenset({"dropped", "invalid"})

_OPTION = re.compile(r"\s*([A-Za-z])\)\s?(.*)", re.DOTALL)
_BETWEEN_OPTIONS = re.compile(
    r"\r?\n-{5,}\r?\n"
)  # in ClimaQA's column Options: `a) …`, a line of hyphens, `b) …`
_PUBLISHED_BLANK = re.compile(r"<MASK>", re.IGNORECASE)


class Passage(BaseModel):
    """Where an item is from. book: the document's id; page: from 1, where there are pages; chunk: its id."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    text: str
    book: str | None = None
    page: int | None = Field(default=None, ge=1)
    chunk: str | None = None


class Item(BaseModel):
    """One item.

    id          unique in a file; else a hash of form, question, options and answer
    question    of a cloze item: the statement with `<blank>` for the term, or "" while no term is chosen
    answer      mcq: the letter of the key; freeform: the reference; cloze: the term, None while none is chosen
    options     mcq: letter -> text, in their order
    statement   cloze: the statement, complete; proposals: terms that could be blanked, best first
    passages    the seed chunk first, then its neighbours
    generator   the model that wrote it; parent: the id of the item that it was evolved from
    reasons     why it is dropped or invalid; marks: what audits found that drops nothing
    ValueError for a key that is no option, a term that is not in the statement, fields of another form, and a dropped
    item without a reason.
    """

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    id: str = ""
    form: Form
    level: Level | None = None
    question: str = ""
    answer: str | None = None
    options: dict[str, str] | None = None
    statement: str | None = None
    proposals: tuple[str, ...] = ()
    passages: tuple[Passage, ...] = ()
    generator: str | None = None
    parent: str | None = None
    status: Status = "draft"
    reasons: tuple[str, ...] = ()
    tier: Literal["gold", "silver"] | None = None
    marks: dict[str, Any] = Field(default_factory=dict)
    meta: dict[str, Any] = Field(default_factory=dict)

    @model_validator(mode="after")
    def _fits_its_form(self) -> Item:
        if (self.options is not None) != (self.form == "mcq"):
            raise ValueError("options: an mcq has them, and no other form")
        if self.form == "mcq" and (
            len(self.options or {}) < 2 or self.answer not in (self.options or {})
        ):
            raise ValueError(
                f"answer: expected the letter of one of at least two options, found {found(self.answer)}"
            )
        if self.form != "cloze" and (not self.question.strip() or not (self.answer or "").strip()):
            raise ValueError("question and answer: an item needs both")
        if self.form == "cloze":
            self._check_cloze()
        if self.status == "dropped" and not self.reasons:
            raise ValueError("reasons: a dropped item needs one")
        if not self.id:
            content = [self.form, self.question, self.options, self.answer, self.statement]
            object.__setattr__(self, "id", hashlib.sha256(orjson.dumps(content)).hexdigest()[:16])
        return self

    def _check_cloze(self) -> None:
        if self.level is not None:
            raise ValueError("level: a cloze item has none")
        if self.answer is None:
            if not (self.statement or "").strip():
                raise ValueError("statement: a cloze item without a term needs one")
        elif BLANK not in self.question:
            raise ValueError(f"question: a cloze item with a term needs {BLANK}")

    @property
    def usable(self) -> bool:
        """Whether the item can be put to a model under test: it is neither dropped nor invalid."""
        return self.status not in UNUSABLE

    def to_json(self) -> bytes:
        """One line of a file of items, without its line end."""
        return orjson.dumps(self.model_dump(exclude_defaults=True))

    def example(self, answer: str | None = None, system: str | None = None) -> Example:
        """The item as an example: form as `task`, the passages as contexts, the right answer as the reference. answer:
        of a model under test. UserError for a cloze item whose term is not chosen."""
        if self.answer is None:
            raise UserError(
                f"{self.id}: no term of this cloze item is chosen; label it, or choose one of its proposals"
            )
        books = list(dict.fromkeys(passage.book for passage in self.passages if passage.book))
        return Example(
            id=self.id if system is None else f"{self.id}/{system}",
            question_id=self.id,
            question=self.question,
            answer=answer,
            contexts=tuple(
                Context(
                    text=passage.text,
                    id=passage.chunk,
                    page=None if passage.page is None else str(passage.page),
                )
                for passage in self.passages
                if passage.text.strip()
            ),
            references=(self.answer,),
            options=dict(self.options) if self.options else None,
            system=system,
            task=self.form,
            level=self.level,
            meta={
                **self.meta,
                **({"books": books} if books else {}),
                **({"tier": self.tier} if self.tier else {}),
            },
        )


COLUMNS = tuple(Item.model_fields)
_JSON = ("options", "proposals", "passages", "reasons", "marks", "meta")


def write_items(items: Iterable[Item], path: str | Path) -> int:
    """Writes items; returns their count. An existing file is replaced once the last one is written."""
    return write_records(items, Path(path), _flat, COLUMNS)


def read_items(path: str | Path) -> list[Item]:
    """The items of a file, in its order. UserError if it cannot be read; BadInput, with the line of each record that is
    no item, and of each second item with an id."""
    path = Path(path)
    items = list[Item]()
    bad = BadLines()
    with seen_ids() as first_use:
        for line, record in sources.records(path, sources.kind_of(path)):
            try:
                item = _item(record)
            except (Problem, ValueError) as error:
                why = in_one_line(error) if isinstance(error, ValidationError) else str(error)
                bad.add(at(path, line, f"no item of a benchmark: {why}"))
                continue
            if first := first_use(item.id, line):
                bad.add(
                    at(
                        path,
                        line,
                        f'the id "{item.id}" is already in line {first}; give each item its own',
                    )
                )
            items.append(item)
    bad.check()
    return items


def _item(record: Any) -> Item:
    if isinstance(record, sources.UnreadableRecord):
        raise Problem(record.message)
    if not isinstance(record, Mapping):
        raise Problem(f"expected named fields, found {found(record)}")
    if "form" not in record and {"Question", "Answer"} <= record.keys():
        return _published(record)
    fields = {
        name: value
        for name, value in record.items()
        if not missing(value) and value not in ("", '""')
    }
    for name in _JSON:
        if isinstance(fields.get(name), str):  # a cell
            fields[name] = parse_json(fields[name])
    try:
        return Item.model_validate_json(orjson.dumps(fields))
    except TypeError:  # of orjson
        raise Problem(f"has {UNSTORABLE}") from None


def _published(record: Mapping[str, Any]) -> Item:
    question = text("Question", record["Question"])
    answer = text("Answer", record["Answer"])
    level = str(record.get("Complexity") or "").casefold() or None
    if level is not None and level not in LEVELS:
        raise Problem(
            f"Complexity: expected one of {', '.join(LEVELS)}, found {found(record['Complexity'])}"
        )
    context = record.get("Context")
    passages = (
        (Passage(text=text("Context", context)),)
        if isinstance(context, str) and context.strip()
        else ()
    )
    fields: dict[str, Any] = {
        "question": question,
        "answer": answer,
        "level": level,
        "passages": passages,
    }
    if record.get("Options"):
        parts = [
            _OPTION.fullmatch(part)
            for part in _BETWEEN_OPTIONS.split(text("Options", record["Options"]))
        ]
        if None in parts:
            raise Problem("Options: expected `a) …` and so on, with a line of hyphens between them")
        options = dict(sorted((part[1].lower(), part[2].strip()) for part in parts if part))
        return Item(
            **{**fields, "form": "mcq", "options": options, "answer": answer.strip().lower()}
        )
    if _PUBLISHED_BLANK.search(question):
        blanked = _PUBLISHED_BLANK.sub(BLANK, question)
        statement = _PUBLISHED_BLANK.sub(lambda _: answer, question)
        return Item(
            **{
                **fields,
                "form": "cloze",
                "question": blanked,
                "level": None,
                "statement": statement,
            }
        )
    return Item(**{**fields, "form": "freeform"})


def _flat(item: Item) -> dict[str, Any]:
    record = item.model_dump()
    return record | {
        name: orjson.dumps(record[name]).decode() if record[name] else None for name in _JSON
    }
