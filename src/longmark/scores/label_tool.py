"""What a declaration of a labelling tool's file says (`label_tools`, `published_labels`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from longmark.records import paths

VALUES = ("value", "choice")


@dataclass(frozen=True)
class LabelTool:
    """How one tool writes labels.

    name      for messages
    source    what the declaration is pinned to
    keys      a record has all of them
    columns   our column -> path, with `[]` for a label each
    when      a path that is true of some record of the file, where the keys do not tell enough
    ignored   what is no label -> path to a list of it
    opens     a value is opened where it holds one other (`label_answers.labelled`)
    refusal   why files of this kind hold no labels, and what to do
    record    path to the record in another form, of which the columns are read
    doubtful  path to a list of answers that are read and may be no labels; doubt: why, and what to do
    """

    name: str
    source: str
    keys: tuple[str, ...]
    columns: Mapping[str, str]
    when: str = ""
    ignored: Mapping[str, str] = field(default_factory=dict)
    opens: bool = False
    doubtful: str = ""
    doubt: str = ""
    refusal: str = ""
    record: str = ""

    def has_keys(self, record: Mapping[str, Any]) -> bool:
        return all(key in record for key in self.keys)

    def fits(self, record: Mapping[str, Any]) -> bool:
        return self.has_keys(record) and (not self.when or bool(paths.reader(record)(self.when)))
