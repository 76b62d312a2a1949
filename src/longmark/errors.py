"""Every error that longmark raises on purpose, in one tree. A message says what was wrong and how to mend it.

LongmarkError
├── UserError                 the command or the data is at fault: exit code 2
│   ├── BadInput              records that cannot be read; carries one line for each
│   ├── UnknownName           a metric, model, prompt or parameter that does not exist
│   ├── MissingExtra          a verb needs a package that an extra installs
│   ├── ModelNotInstalled     an embedded model whose file is not there yet
│   ├── SettingsChanged       a run's folder was made with other settings
│   └── FolderInUse           another process works in this run's folder
├── ModelError                a model gave no reply; after the last retry: status `model_error`
│   ├── RateLimited           429; may say how long to wait
│   ├── ServerFault           5xx, a dropped or refused connection, a timeout, a reply that is no reply
│   │   └── BadReply          a reply whose numbers cannot be
│   ├── AskAgain              the request is to be sent again in another form, at once
│   └── RequestRefused        4xx: asking again will not help
│       ├── Unsupported       the model lacks a capability that the request needs: status `unsupported`
│       ├── TooLong           a text is longer than the model reads: status `too_long`
│       └── TooManyInputs     more texts in one request than the endpoint takes
├── OverBudget                the run's budget is spent: status `over_budget`
└── NoScore                   a metric has no value here: a status and a reason for the row
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any, Self

_COMPARED, _LONGEST = 500, 80  # names that a wrong one is compared with, and characters of a name


class LongmarkError(Exception):
    """The root of the tree."""


class UserError(LongmarkError):
    """What was asked for cannot be done; the message says how to mend it."""


class BadInput(UserError):
    """Records that cannot be read.

    lines: one message for each bad record, `file:line: field: what was expected`; total: how many there were in all
    (`lines` holds the first of them).
    """

    def __init__(self, lines: Sequence[str], total: int | None = None) -> None:
        self.lines = tuple(lines)
        self.total = len(self.lines) if total is None else total
        rest = self.total - len(self.lines)
        super().__init__("\n".join(self.lines) + (f"\n… and {rest} more" if rest > 0 else ""))


class UnknownName(UserError):
    """A name that does not exist, with the nearest ones that do."""

    def __init__(self, kind: str, name: str, known: Iterable[str], hint: str = "") -> None:
        short = [one for one in islice(known, _COMPARED) if len(one) <= _LONGEST]  # its time grows with their product
        near = difflib.get_close_matches(name[:_LONGEST], short, n=3, cutoff=0.5)
        maybe = f" Did you mean {' or '.join(near)}?" if near else ""
        super().__init__(f"unknown {kind}: {name}.{maybe}{' ' + hint if hint else ''}")


class MissingExtra(UserError):
    """A package that an extra of longmark installs is not there."""

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra `{extra}`: pip install 'longmark[{extra}]'")


class ModelNotInstalled(UserError):
    """The file of an embedded model is not on this machine."""

    def __init__(self, name: str) -> None:
        super().__init__(f"the embedded model `{name}` is not installed; bring it with: longmark models install {name}")


class SettingsChanged(UserError):
    """A run's folder holds rows made with other settings."""


class FolderInUse(UserError):
    """Another process holds the lock of this run's folder."""


class ModelError(LongmarkError):
    """A model gave no usable reply; the message never holds a key.

    retryable: asking again may help. http_status: the status code, where there was a response.
    retry_after: seconds the server asked us to wait, or None.
    billed: the endpoint may have billed the attempt; tokens: the `Tokens` it says it counted, None: not known.
    """

    retryable = False

    def __init__(self, message: str, http_status: int | None = None, retry_after: float | None = None) -> None:
        super().__init__(message)
        self.http_status = http_status
        self.retry_after = retry_after
        self.billed = False
        self.tokens: Any = None

    def with_bill(self, tokens: Any = None) -> Self:
        """This error of an attempt that the endpoint may have billed."""
        self.billed, self.tokens = True, tokens
        return self


class RateLimited(ModelError):
    """The endpoint asked for fewer calls (429)."""

    retryable = True


class ServerFault(ModelError):
    """The endpoint or the way to it failed: 5xx, connection, timeout, a body that is no reply."""

    retryable = True


class BadReply(ServerFault, ValueError):
    """A reply whose numbers cannot be. A ValueError too, as whatever checks a value raises."""


class AskAgain(ModelError):
    """The endpoint refused a part of the request that it can do without. The model has taken note: the same call, made
    again, sends another request."""

    retryable = True


class RequestRefused(ModelError):
    """The endpoint will not serve this request (4xx other than 408 and 429)."""


class Unsupported(RequestRefused):
    """The model lacks a capability that the request needs (log-probabilities of its reply, or of a given text)."""


class TooLong(RequestRefused):
    """A text, or the prompt that it stands in, is longer than the model reads."""


class TooManyInputs(RequestRefused):
    """One request holds more texts than the endpoint takes. The model has taken note of a smaller `batch`."""


class OverBudget(LongmarkError):
    """The next call would go over the run's budget."""


class NoScore(LongmarkError):
    """A metric has no value for an example.

    status: one of `records.STATUSES` other than `ok`; reason: a sentence; evidence: what the reader should see.
    """

    def __init__(self, status: str, reason: str, evidence: dict[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.evidence = evidence or {}
