"""What was to be made and was not, with the reason."""

from __future__ import annotations

from dataclasses import dataclass

from longmark.records.files import one_line


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A variant or an answer that was not made. id: of what it was to be made of; reason: a sentence, or what the model
    replied; again: the model gave no reply, so that asking once more may help."""

    id: str
    reason: str
    again: bool = False

    def __str__(self) -> str:
        return one_line(f"{self.id}: {self.reason}")
