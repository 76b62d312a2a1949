"""What packages add, by entry points of their `pyproject.toml`: those of `longmark.contrib`, and a stranger's alike.

    longmark.metrics       NAME = a module with `METRIC`, or a `Metric`
    longmark.models        PREFIX = a `longmark.models.Scheme` with `open`: models are then named PREFIX:NAME
    longmark.verbs         VERB = a function that adds the verb to the command line (`longmark.cli.arguments.add_verb`)
    longmark.sections      VERB = the same function: longmark.yaml may hold the verb's options
    longmark.prompts       NAME = a module with `PROMPTS`, which `longmark prompts` lists and replaces
    longmark.corrections   labels = a module whose `correct`, `correct_runs` and `section` correct scores by labels
    longmark.certificates  NAME = a module whose `is_certificate` and `verify` check a certificate
    longmark.checkers      NAME = a module whose `opened` opens a claim checker, and whose `missing` says what it lacks
    longmark.checkpoints   KIND = what opens a model that a metric's parameter names: `encoder` (a module with `opened`
                           and `identity`), `rater` and `seq2seq` (NAME -> a backend)
    longmark.catalogues    embedded = a module with `MODELS`, `DEFAULT`, `is_installed` and `model_path`; install = a
                           function (names, source) that installs some of them
    longmark.batches       batcher = a class of `longmark.models.batching.Batches` (client, store, Batching); vendor_of =
                           a function (model) -> how its vendor takes batches, or None
    longmark.budgets       group = a class of `longmark.models.budget.Sharing`: sessions that share the limits of a budget
    longmark.executors     NAME = a module whose `prepare` and `opened` compute elsewhere (`--executor NAME`)
    longmark.stores        SCHEME = a function (URL) -> a `longmark.models.stores.Store`: a call cache at SCHEME://…

Only a package of longmark's own may add to a group that follows `sections`, and only one for each name.

A package is imported where its metric, model or verb is named, and where all are listed.
"""

from __future__ import annotations

import os
import sys
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import TYPE_CHECKING, Any

from longmark.errors import UserError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

_SUFFIX = ".dist-info"
PACKAGES: dict[str, dict[str, tuple[str, ...]]] = {
    "decide": {"corrections": ("labels",), "certificates": ("certify",)},
    "local": {
        "models": ("embedded", "gguf", "hf", "st"),
        "checkers": ("embedded",),
        "checkpoints": ("encoder", "rater", "seq2seq"),
        "catalogues": ("embedded", "install"),
    },
    "scale": {
        "batches": ("batcher", "vendor_of"),
        "budgets": ("group",),
        "executors": ("ray",),
        "stores": ("postgres", "postgresql"),
    },
}
"""Which package of longmark's own adds what the core asks for by name: for the message that one is missing."""


def installed(group: str) -> dict[str, EntryPoint]:
    """Name -> entry point of a group (such as `metrics`), sorted."""
    from importlib.metadata import entry_points  # takes 40 ms

    return {point.name: point for point in sorted(entry_points(group=f"longmark.{group}"))}


@dataclass(frozen=True, slots=True)
class OwnDistribution:
    """The installed longmark: what an entry point says of its package."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class OwnPoint:
    """An entry point of longmark's own, with the members of one of `importlib.metadata` that are used here."""

    name: str
    value: str
    group: str
    dist: OwnDistribution | None

    @property
    def module(self) -> str:
        return self.value.partition(":")[0]

    def load(self) -> Any:
        addition: Any = import_module(self.module)
        for attribute in filter(None, self.value.partition(":")[2].split(".")):
            addition = getattr(addition, attribute)
        return addition


def own(group: str) -> dict[str, OwnPoint]:
    """Name -> entry point of longmark's own packages, sorted. Every command needs some, and `importlib.metadata` takes
    20 ms to import: so the file is read here. Empty for a copy of the sources that nobody installed."""
    places = tuple(sys.path)
    folder = _installed_as(places)
    if folder is None:
        return {}
    name, _, version = os.path.basename(folder).removesuffix(_SUFFIX).partition("-")
    distribution = OwnDistribution(name, version)
    points = []
    header = ""
    with open(os.path.join(folder, "entry_points.txt"), encoding="utf-8") as file:
        for line in map(str.strip, file):
            key, equals, value = line.partition("=")
            if line.startswith("["):
                header = line.strip("[]")
            elif equals and header == f"longmark.{group}":
                points.append(OwnPoint(key.strip(), value.strip(), header, distribution))
    return {point.name: point for point in sorted(points, key=lambda point: point.name)}


def only_own(group: str) -> bool:
    """Whether no package but longmark adds to a group, by the files of the installed packages: `importlib.metadata`
    would say it in five times the time. False where that is not certain (a package in a zip file)."""
    header = f"[longmark.{group}]"
    for place in dict.fromkeys(sys.path):
        try:
            names = os.listdir(place or ".")
        except OSError:
            if os.path.isfile(place):
                return False
            continue
        for name in names:
            ours = name.startswith(("longmark-", "longmark."))
            if ours or not name.endswith((_SUFFIX, ".egg-info", ".egg")):
                continue
            folder = os.path.join(place, name)
            for inner in ("entry_points.txt", os.path.join("EGG-INFO", "entry_points.txt")):
                try:
                    with open(os.path.join(folder, inner), encoding="utf-8") as file:
                        if header in file.read():
                            return False
                except OSError:
                    continue
    return True


@cache  # a command asks for several groups, and each time it would list every folder
def _installed_as(places: tuple[str, ...]) -> str | None:
    """The folder that describes the installed longmark, the first on the path of imports."""
    for place in places:
        try:
            names = os.listdir(place or ".")
        except OSError:  # a zip file, or a folder that is not there
            continue
        for name in names:
            folder = os.path.join(place, name)
            described = os.path.join(folder, "entry_points.txt")
            if (
                name.startswith("longmark-")
                and name.endswith(_SUFFIX)
                and os.path.isfile(described)
            ):
                return os.path.abspath(folder)
    return None


def find(group: str, name: str) -> EntryPoint | OwnPoint | None:
    """The entry point of a name in a group, of longmark's own packages first; None if no package adds it."""
    return own(group).get(name) or installed(group).get(name)


def required(group: str, name: str, feature: str) -> Any:
    """What a package adds under a name. feature: what needs it, such as `--labels`. UserError if no package adds it."""
    point = find(group, name)
    if point is None:
        raise UserError(lacking(group, name, feature))
    return loaded(point)


def lacking(group: str, name: str, feature: str) -> str:
    """The message that no package adds a name, and which one would."""
    remedy = "; see: longmark doctor"
    for package, groups in PACKAGES.items():
        if name in groups.get(group, ()):
            remedy = (
                f": longmark's package {package} does, but this installation lacks it. Install longmark again: "
                "pip install --force-reinstall longmark"
            )
    return f"{feature} needs a package that adds {name} to longmark.{group}, and none is installed{remedy}"


def loaded(point: EntryPoint | OwnPoint, kind: type | None = None) -> Any:
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


def origin(point: EntryPoint | OwnPoint) -> str:
    """The package that an entry point is of, with its version."""
    return f"{point.dist.name} {point.dist.version}" if point.dist is not None else point.module


def named(point: EntryPoint | OwnPoint) -> str:
    return f"{point.name} ({point.group} of {origin(point)})"
