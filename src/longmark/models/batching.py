"""Calls in batches, at the lower price: what a user wants, and what a client needs of a package that sends them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Protocol

from longmark.options.groups import OPEN_EXAMPLES
from longmark.records.verdicts import AskedPrompt

# Calls of a batch that the budget limits, see `too_few`:
_ENOUGH = 20
_LEAST = 2
_SHARE = 10


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
        own_setting: bool | None = getattr(getattr(model, "settings", None), "batch", None)
        return self.wanted if own_setting is None else own_setting


NO_BATCHES = Batching()


class Batches(Protocol):
    """Sends the calls of one client in batches. width: how many examples are worked on at once; window: hours in which
    a round ends; over: what serves a model's call, the model itself or a batch; notices: what the user should know."""

    journal: Any
    tracker: Any

    @property
    def window(self) -> float: ...

    def width(self, models: Iterable[Any], usual: int) -> int: ...

    def over(
        self,
        model: Any,
        key: bytes,
        asked_prompt: AskedPrompt,
        *,
        alone: bool,
        is_read_before: bool,
    ) -> Any: ...

    def notices(self) -> list[str]: ...

    def close(self) -> None: ...
