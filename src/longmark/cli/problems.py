"""Checks of a verb that do not depend on each other: what all of them find wrong is printed together."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from longmark.errors import UserError


class Problems:
    """The errors of several checks. `noted` takes one, `end` raises what they found: one error as it is, several as one
    whose lines each begin as the command line's do."""

    def __init__(self) -> None:
        self._errors: list[UserError] = []

    def __bool__(self) -> bool:
        return bool(self._errors)

    @contextmanager
    def noted(self) -> Iterator[None]:
        try:
            yield
        except UserError as error:
            self._errors.append(error)

    def end(self) -> None:
        """UserError if a check has failed."""
        if len(self._errors) == 1:
            raise self._errors[0]
        if self._errors:
            raise UserError("\nlongmark: ".join(map(str, self._errors)))
