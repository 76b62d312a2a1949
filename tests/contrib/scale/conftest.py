"""The stores of a call cache, as `tests/models` has them."""

from tests.models.conftest import place, server

__all__ = ["place", "server"]
