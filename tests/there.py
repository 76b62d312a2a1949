"""For values that may be None by their type and must be there in a test."""

from __future__ import annotations

from typing import TypeVar

T = TypeVar("T")


def there(value: T | None) -> T:
    """The value; the test fails where there is none."""
    assert value is not None
    return value
