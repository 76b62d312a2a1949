"""The items of a study: what a rater sees of each, and, apart from it, which systems are behind it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

Kind = Literal["normal", "qualification", "attention", "adjudication"]


@dataclass(frozen=True, slots=True)
class Item:
    """An item as it is stored, and as JSON.

    id           unique in the study
    question_id  what items on the same question share
    systems      side -> system: of a pair `a` and `b`, else `answer`; hidden from raters if the study says so
    example_ids  side -> id of the example that was answered
    shown        name in the study's `show` -> what is shown:
                   question, answer, a, b, reference, expanded_reference, statement   text
                   passages (contexts)     list of {text, id, page}, id and page only where known
                   profile, graph          object; of a graph: covered and uncovered, lists of texts
                   key_points              list of texts
                   options                 list of {key, text}
                   any other column        as in the file
    gold         field -> known answer, of items that check a rater; None otherwise
    kind         normal, qualification or attention
    meta         columns of the file that are not shown: for conditions, blocks, suggestions and exports
    """

    id: str
    question_id: str
    systems: Mapping[str, str]
    shown: Mapping[str, Any]
    example_ids: Mapping[str, str] = field(default_factory=dict)
    gold: Mapping[str, Any] | None = None
    kind: Kind = "normal"
    priority: float | None = None
    meta: Mapping[str, Any] = field(default_factory=dict)

    @property
    def columns(self) -> dict[str, Any]:
        """Everything that conditions can ask for."""
        return {**self.meta, **self.shown}

    @property
    def sides(self) -> tuple[str, ...]:
        """a and b of a pair; else answer."""
        return ("a", "b") if "a" in self.shown and "b" in self.shown else ("answer",)
