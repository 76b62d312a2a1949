"""The topic file: the subject of a benchmark.

name: sysadmin                        # required, as are title, subject and readers
title: System administration
subject: the administration of Debian systems
readers: administrators of servers
book: a handbook for professionals    # what the books are (default: a textbook)
kinds: [...]                          # kinds of base questions; each seed gets one, in turn (default: none)
term: a technical term                # what a cloze item leaves out
forms: [mcq, freeform, cloze]         # default: all three
levels:                               # level -> what it asks for, added to the default or in place of it
  reasoning: ...
  hypothetical: ...
"""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import Annotated, get_args

import orjson
from pydantic import BaseModel, ConfigDict

from longmark.domain import Filled, Name, Text
from longmark.records import yaml_file
from longmark.records.benchmark import Form, Level

REASONING = (
    "it takes two or more steps of reasoning: the reader combines several facts of the passages, or draws a conclusion "
    "that no passage states in one sentence"
)
HYPOTHETICAL = (
    "it describes an invented but plausible situation and asks what would happen, or what should be done, so that the "
    "reader applies what the passages say"
)


class Topic(BaseModel):
    """A benchmark's domain, as `load` checked it. levels: those beyond base, with what each asks for."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Name
    title: Text
    subject: Text
    readers: Text
    book: Text = "a textbook"
    kinds: tuple[Text, ...] = ()
    term: Text = "a technical term"
    forms: Annotated[tuple[Form, ...], Filled] = get_args(Form)
    levels: dict[Level, Text] = {"reasoning": REASONING, "hypothetical": HYPOTHETICAL}

    @cached_property
    def hash(self) -> str:
        """SHA-256 (16 hex digits) of the content."""
        content = orjson.dumps(self.model_dump(mode="json"), option=orjson.OPT_SORT_KEYS)
        return hashlib.sha256(content).hexdigest()[:16]

    @property
    def cells(self) -> tuple[tuple[Form, Level | None], ...]:
        """Every (form, level) that is generated, base before the levels that are evolved from it."""
        levels: tuple[Level, ...] = ("base", *(level for level in self.levels if level != "base"))
        with_levels = [(form, level) for form in self.forms if form != "cloze" for level in levels]
        return (*with_levels, *([("cloze", None)] if "cloze" in self.forms else ()))


def load(path: str | Path) -> Topic:
    """The domain of a YAML file. UserError if it cannot be read; BadInput with a line for each mistake."""
    source = yaml_file.load(Path(path), "--topic")
    return source.checked(
        Topic, source.table("a benchmark's domain (name, title, subject, readers, …)")
    )
