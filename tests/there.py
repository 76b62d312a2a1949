"""For values that may be None by their type and must be there in a test."""

from __future__ import annotations

from typing import TypeVar

from longmark.stats.results import Estimate

T = TypeVar("T")


def there(value: T | None) -> T:
    """The value; the test fails where there is none."""
    assert value is not None
    return value


def counted(share: Estimate) -> int:
    """How many of n a share counts."""
    return round((share.value or 0) * share.n)
