"""What packages add, by entry points of their `pyproject.toml`: those of `longmark.contrib`, and a stranger's alike.

    longmark.metrics       NAME = a module with `METRIC`, or a `Metric`
    longmark.models        PREFIX = a `longmark.models.Scheme` with `open`: models are then named PREFIX:NAME
    longmark.verbs         VERB = a function that adds the verb to the command line (`longmark.cli.arguments.add_verb`)
    longmark.sections      VERB = the same function: longmark.yaml may hold the verb's options
    longmark.prompts       NAME = a module with `PROMPTS`, which `longmark prompts` lists and replaces
    longmark.corrections   labels = a module whose `correct`, `correct_runs` and `section` correct scores by labels
    longmark.certificates  NAME = a module whose `is_certificate` and `verify` check a certificate

A package is imported where its metric, model or verb is named, and where all are listed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from longmark.errors import UserError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


def installed(group: str) -> dict[str, EntryPoint]:
    """Name -> entry point of a group (such as `metrics`), sorted."""
    from importlib.metadata import entry_points  # takes 40 ms

    return {point.name: point for point in sorted(entry_points(group=f"longmark.{group}"))}


def find(group: str, name: str) -> EntryPoint | None:
    """The entry point of a name in a group; None if no package adds it. Those of longmark's own distribution are read
    first: one distribution takes 2 ms to read, all of them 40."""
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        own = [*distribution("longmark").entry_points.select(group=f"longmark.{group}", name=name)]
    except PackageNotFoundError:  # a copy of the sources that nobody installed
        own = []
    return own[0] if own else installed(group).get(name)


def required(group: str, name: str, feature: str) -> Any:
    """What a package adds under a name. what: what needs it, such as `--labels`. UserError if no package adds it."""
    point = find(group, name)
    if point is None:
        raise UserError(
            f"{feature} needs a package that adds {name} to longmark.{group}, and none is installed"
        )
    return loaded(point)


def loaded(point: EntryPoint, kind: type | None = None) -> Any:
    """What an entry point names. UserError if it cannot be imported, or is of another kind."""
    try:
        addition = point.load()
    except Exception as error:
        raise UserError(
            f"{named(point)}: {type(error).__name__} while it was imported: {error}"
        ) from error
    if kind is not None and not isinstance(addition, kind):
        raise UserError(
            f"{named(point)}: expected a {kind.__name__}, found {type(addition).__name__}"
        )
    return addition


def origin(point: EntryPoint) -> str:
    """The package that an entry point is of, with its version."""
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.module


def named(point: EntryPoint) -> str:
    return f"{point.name} ({point.group} of {origin(point)})"
