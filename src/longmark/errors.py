"""Every error that longmark raises on purpose, in one tree. A message states what is wrong and how to fix it.

LongmarkError
├── UserError                 the command or the data is wrong: exit code 2
│   ├── BadInput              unreadable records; has one line for each
│   │   └── UnknownColumns    no record has a known column; has the columns that could be meant
│   ├── UnknownName           a metric, model, prompt or parameter that does not exist
│   ├── MissingExtra          a command needs a package that an extra installs
│   ├── ModelNotInstalled     an embedded model that is not installed
│   ├── SettingsChanged       the run folder was made with other settings
│   ├── FolderInUse           another process uses the run folder
│   └── Untrusted             a file names an endpoint, a variable, a command or code that the user has not trusted
├── ModelError                a model gave no reply; after the last retry: status `model_error`
│   ├── RateLimited           429; may state how long to wait
│   ├── ServerFault           5xx, a dropped or refused connection, a timeout, an invalid reply
│   │   └── BadReply          a reply with impossible numbers
│   ├── AskAgain              refused over an optional part, which the model has noted: the next attempt omits it
│   └── RequestRefused        4xx: a retry does not help
│       ├── Unsupported       the model does not support what the request needs: status `unsupported`
│       ├── TooLong           a text exceeds the context window: status `too_long`
│       └── TooManyInputs     more texts in one request than the endpoint takes; the model has noted a smaller `batch`
├── OverBudget                the run's budget is exhausted: status `over_budget`
└── NoScore                   an example is unscored: the status and the reason of its row
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from itertools import islice
from typing import Any, Self, TypeVar

T = TypeVar("T")

# The time to find the nearest names grows with the product of the two.
_COMPARED = 500  # names that a wrong one is compared with
_LONGEST = 80  # characters of a name that is compared


class LongmarkError(Exception):
    """The root of the tree."""

    def __reduce__(self) -> Any:
        # By default an exception is made again by its class from its message alone. Classes here are made from other
        # things, and an error must reach the caller whole from a process of a pool or a worker of a cluster.
        state = vars(self).copy()
        return _restored, (type(self), self.args, state)


def _restored(
    kind: type[LongmarkError],
    args: tuple[Any, ...],
    state: dict[str, Any],
) -> LongmarkError:
    error = kind.__new__(kind, *args)
    vars(error).update(state)
    return error


class UserError(LongmarkError):
    """The request cannot be carried out; the message states how to fix it."""


class BadInput(UserError):
    """Unreadable records, or mistakes in a file of settings. lines: messages `file:line: field: what was expected`, for
    the first of them; total: the number of all; skippable: they are records, which --skip-bad can skip."""

    def __init__(
        self, lines: Sequence[str], total: int | None = None, *, skippable: bool = True
    ) -> None:
        self.skippable = skippable
        self.lines = tuple(lines)
        self.total = len(self.lines) if total is None else total
        unlisted = self.total - len(self.lines)
        super().__init__(
            "\n".join(self.lines) + (f"\n… and {unlisted} more" if unlisted > 0 else "")
        )


class UnknownColumns(BadInput):
    """No record of a file has a known column. proposed: field -> the column or path that it could be read from."""

    def __init__(self, lines: Sequence[str], proposed: Mapping[str, str]) -> None:
        super().__init__(lines, skippable=False)
        self.proposed = dict(proposed)


class UnknownName(UserError):
    """A name that does not exist, with the nearest ones that do (`near`)."""

    def __init__(self, kind: str, name: str, known: Iterable[str], hint: str = "") -> None:
        candidates = [
            candidate for candidate in islice(known, _COMPARED) if len(candidate) <= _LONGEST
        ]
        self.near = difflib.get_close_matches(name[:_LONGEST], candidates, n=3, cutoff=0.5)
        suggestion = f" Did you mean {' or '.join(self.near)}?" if self.near else ""
        super().__init__(f"unknown {kind}: {name}.{suggestion}{' ' + hint if hint else ''}")


def options_of(kind: type[T], given: Mapping[str, Any], function: str) -> T:
    """The options of a function as its dataclass `kind`, from keywords. UnknownName for a keyword that does not exist;
    a field with the metadata `keyword: False` is set by the command line alone. Where some fields are declared as
    options, the others are for longmark's own calls, and the message proposes none of them."""
    fields = dataclasses.fields(kind)  # type: ignore[arg-type]
    keywords = [field for field in fields if field.metadata.get("keyword", True)]
    declared = [field.name for field in keywords if "option" in field.metadata]
    options = declared or [field.name for field in keywords]
    for name in given:
        if name not in {field.name for field in keywords}:
            raise UnknownName(
                f"option of {function}", name, options, f"The options are {', '.join(options)}."
            )
    return kind(**given)


class MissingExtra(UserError):
    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} needs the extra `{extra}`: pip install 'longmark[{extra}]'")


def library(name: str, what: str, extra: str) -> Any:
    """The module of a package that an extra installs. MissingExtra, for what needs it, if it is not installed."""
    try:
        return import_module(name)
    except ImportError:
        raise MissingExtra(what, extra) from None


class ModelNotInstalled(UserError):
    def __init__(self, name: str) -> None:
        super().__init__(
            f"the embedded model `{name}` is not installed; run: longmark models install {name}"
        )


class SettingsChanged(UserError):
    """A run folder contains rows made with other settings."""


class FolderInUse(UserError):
    """Another process has the lock of the run folder."""


class Untrusted(UserError):
    """A file reaches out to something, and the user has not trusted it."""


class ModelError(LongmarkError):
    """A model gave no usable reply; the message never contains a key.

    status: of the rows that need the reply. retryable: another attempt may succeed. http_status: None if there was no
    response. retry_after: seconds that the server asked to wait, or None.
    billed: the endpoint may have billed the attempt; tokens: the `Tokens` that it counted, None: not known.
    sent: a request was sent; it was not if it was known beforehand that the model cannot serve it. unreached: there was
    no connection, so that no request was sent.
    """

    status = "model_error"
    retryable = False

    def __init__(
        self, message: str, http_status: int | None = None, retry_after: float | None = None
    ) -> None:
        super().__init__(message)
        self.http_status = http_status
        self.retry_after = retry_after
        self.billed = False
        self.sent = True
        self.unreached = False
        self.tokens: Any = None

    def with_bill(self, tokens: Any = None) -> Self:
        """This error, of an attempt that the endpoint may have billed."""
        self.billed = True
        self.tokens = tokens
        return self

    def unsent(self) -> Self:
        """This error, of a request that was not sent: it counts as none."""
        self.sent = False
        return self


class RateLimited(ModelError):
    retryable = True


class ServerFault(ModelError):
    retryable = True


class BadReply(ServerFault, ValueError):
    """A reply with impossible numbers. A ValueError too, like the error of any check of a value."""


class AskAgain(ModelError):
    retryable = True


class RequestRefused(ModelError):
    """The endpoint refused the request (4xx other than 408 and 429)."""


class Unsupported(RequestRefused):
    status = "unsupported"


class TooLong(RequestRefused):
    status = "too_long"


class TooManyInputs(RequestRefused):
    """A request has more texts than the endpoint accepts. The model has noted a smaller `batch`."""


class OverBudget(LongmarkError):
    status = "over_budget"


class NoScore(LongmarkError):
    """An example is unscored. status: one of `records.STATUSES` other than `ok`; reason: a sentence."""

    def __init__(self, status: str, reason: str, evidence: dict[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.status = status
        self.reason = reason
        self.evidence = evidence or {}
