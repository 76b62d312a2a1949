"""What flows between the stages: `Example` in, `Row` out, and their files. Imports nothing of ours but `errors`."""

from longmark.records.example import Context, Example
from longmark.records.pair import Pair
from longmark.records.row import ABSENT, STATUSES, Row, Signature, Usage

__all__ = ["ABSENT", "STATUSES", "Context", "Example", "Pair", "Row", "Signature", "Usage"]
