"""What other packages add, by entry points of their `pyproject.toml`:

    longmark.metrics   NAME = a module with `METRIC`, or a `Metric`
    longmark.models    PREFIX = a `longmark.models.Scheme` with `open`: models are then named PREFIX:NAME
    longmark.verbs     VERB = a function that adds the verb to the command line, as `add_to` of `longmark.cli` modules

A package is imported where its metric, model or verb is named, and where all are listed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longmark.errors import UserError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def installed(group: str) -> dict[str, EntryPoint]:
    """Name -> entry point of a group (`metrics`, `models` or `verbs`), sorted."""
    from importlib.metadata import entry_points  # takes 40 ms

    return {point.name: point for point in sorted(entry_points(group=f"longmark.{group}"))}


def loaded(point: EntryPoint, kind: type | None = None) -> Any:
    """What an entry point names. UserError if it cannot be imported, or is of another kind."""
    try:
        found = point.load()
    except Exception as error:
        raise UserError(f"{named(point)}: {type(error).__name__} while it was imported: {error}") from error
    if kind is not None and not isinstance(found, kind):
        raise UserError(f"{named(point)}: expected a {kind.__name__}, found {type(found).__name__}")
    return found


def origin(point: EntryPoint) -> str:
    """The package that an entry point is of, with its version."""
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.module


def named(point: EntryPoint) -> str:
    return f"{point.name} ({point.group} of {origin(point)})"
