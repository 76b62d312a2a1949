"""Calls in batches, at the vendors' lower price.

vendors.py knows the vendors' APIs, journal.py keeps on disk what was submitted, tracker.py takes one batch through its
states at its vendor, batcher.py decides what is sent when and gives each call its reply. They are imported where a
model's calls go in batches.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from longmark.options.groups import OPEN_EXAMPLES

_ENOUGH, _LEAST, _SHARE = 20, 2, 10  # calls of a batch that the budget limits, see `too_few`


def too_few(fitting: int, waiting: int) -> bool:
    """Whether a batch of the calls that fit into the budget is too small for its wait: 20 are enough, and fewer if they
    are two and a tenth of those that wait, or all. waiting: those that fit, too."""
    return fitting < min(_ENOUGH, waiting, max(_LEAST, -(-waiting // _SHARE)))


@dataclass(frozen=True, slots=True)
class Batching:
    """How calls go in batches. wanted: those of every model that can (longmark.yaml can say otherwise of one);
    examples: that are open at once; keep_files: those at the vendor are not deleted; resend_unknown: lines whose batch
    is lost are sent again."""

    wanted: bool = False
    examples: int = OPEN_EXAMPLES
    keep_files: bool = False
    resend_unknown: bool = False

    @classmethod
    def of(cls, options: Any) -> Batching:
        """What options say, by the names of those of `longmark run`."""
        return cls(
            options.batch,
            options.batch_examples,
            options.keep_files,
            options.resend_unknown is True,
        )

    def wants(self, model: Any) -> bool:
        """Whether the user wants a model's calls in batches."""
        own: bool | None = getattr(getattr(model, "settings", None), "batch", None)
        return self.wanted if own is None else own


NO_BATCHES = Batching()
