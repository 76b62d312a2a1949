"""What flows between the stages: `Example` and `Pair` in, `Row` out, and their files.

Imports nothing of ours but `errors`.
"""

from longmark.records.example import Example, Question
from longmark.records.pair import Answered, Pair
from longmark.records.row import ABSENT, STATUSES, Row, Signature, Usage
from longmark.records.turn import Context, Turn

__all__ = [
    "ABSENT", "STATUSES", "Answered", "Context", "Example", "Pair", "Question", "Row", "Signature", "Turn", "Usage"
]  # fmt: skip
