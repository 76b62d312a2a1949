"""The public Python API: the modules whose names and signatures stay within a major version (docs/versions.md).
`python -m tests.api` writes tests/api.txt, which a test holds against the code.

It also writes tests/api_packages.txt: what `longmark.contrib` uses of the core beside it, by module, and what other
packages need (FOR_PLUGINS). Those names stay within a minor version; tests/test_wall.py holds the list."""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
from collections import defaultdict
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel

PINNED = Path(__file__).with_suffix(".txt")
PINNED_FOR_PACKAGES = Path(__file__).with_name("api_packages.txt")
PACKAGES = ("annotate", "decide", "demo", "local", "make", "papers", "scale")
FOR_PLUGINS = {"longmark.cli.arguments": {"keywords"}, "longmark.options": {"values_of"}}
"""Names beside those that `longmark.contrib` uses: how a package reads the options that it declares."""

SOURCE = Path(__file__).parents[1] / "src"

MODULES = (
    "longmark",
    "longmark.api",
    "longmark.errors",
    "longmark.records",
    "longmark.records.write",
    "longmark.metric",
    "longmark.judged",
    "longmark.testing",
    "longmark.pytest_plugin",
    "longmark.engine.settings",
    "longmark.cli",
    "longmark.analysis.compare",
    "longmark.analysis.metaeval",
    "longmark.analysis.metrics_study",
    "longmark.analysis.power",
    "longmark.assertions.grammar",
    "longmark.assertions.result",
    "longmark.report.gates",
    "longmark.report.html",
    "longmark.report.summary",
    "longmark.report.tables",
    "longmark.stats.agreement",
    "longmark.stats.clusters",
    "longmark.stats.components",
    "longmark.stats.corrected",
    "longmark.stats.correlation",
    "longmark.stats.describe",
    "longmark.stats.discriminative",
    "longmark.stats.gate",
    "longmark.stats.hypotheses",
    "longmark.stats.max_t",
    "longmark.stats.means",
    "longmark.stats.multiplicity",
    "longmark.stats.permutation",
    "longmark.stats.power",
    "longmark.stats.ppi",
    "longmark.stats.tukey",
)


def public(module: ModuleType) -> Iterator[tuple[str, Any]]:
    """The names of a module that belong to the API: `__all__`, or what it defines without an underscore."""
    listed = getattr(module, "__all__", None)
    for name in listed or vars(module):
        value = getattr(module, name)
        own = getattr(value, "__module__", None) == module.__name__ and (
            inspect.isclass(value) or callable(value)
        )
        if not name.startswith("_") and (own or listed):
            yield name, value


def signature(value: Any) -> str:
    """Parameters with their annotations and plain defaults; `…` stands for any other default."""
    try:
        its = inspect.signature(value)
    except (TypeError, ValueError):
        return ""
    parts, named = [], False
    for one in its.parameters.values():
        if one.kind is one.KEYWORD_ONLY and not named:
            parts.append("*")
        named = named or one.kind in (one.KEYWORD_ONLY, one.VAR_POSITIONAL)
        stars = "*" * ((one.kind is one.VAR_POSITIONAL) + 2 * (one.kind is one.VAR_KEYWORD))
        kind = one.annotation
        if isinstance(value, type) and issubclass(
            value, BaseModel
        ):  # what pydantic makes of it depends on Python
            kind = next(
                base.__annotations__[one.name]
                for base in value.__mro__
                if one.name in vars(base).get("__annotations__", {})
            )
        plain = isinstance(
            one.default, str | int | float | tuple | frozenset | None
        ) and " at 0x" not in repr(one.default)
        default = "" if one.default is one.empty else f" = {one.default!r}" if plain else " = …"
        parts.append(f"{stars}{one.name}{'' if kind is one.empty else f': {kind}'}{default}")
    joined = ", ".join(parts)
    written = (
        f"({joined})"
        if len(joined) <= 90
        else "".join(["(", *(f"\n        {one}," for one in parts), "\n    )"])
    )
    return (
        written
        if its.return_annotation in (its.empty, None, "None")
        else f"{written} -> {its.return_annotation}"
    )


def members(kind: type) -> Iterator[str]:
    """A line for each property and method of a class that it does not inherit from outside of longmark. Fields are
    parameters of the class."""
    fields = (
        {one.name for one in dataclasses.fields(kind)} if dataclasses.is_dataclass(kind) else set()
    )
    for name in sorted(
        {
            name
            for base in kind.__mro__
            if base.__module__.startswith("longmark")
            for name in vars(base)
        }
    ):
        value = inspect.getattr_static(kind, name)
        if name.startswith(("_", "model_")) or name in fields:
            continue
        if isinstance(value, property | cached_property):
            made = value.fget if isinstance(value, property) else value.func
            yield f"{name}: {made.__annotations__.get('return', 'Any')}"
        elif isinstance(value, classmethod | staticmethod):
            yield f"{name}{signature(value.__func__)}"
        elif inspect.isfunction(value):
            yield f"{name}{signature(value)}"


def lines() -> Iterator[str]:
    """The API as text: a line for each name, with its signature, and for each member of a class."""
    for name in MODULES:
        yield f"[{name}]"
        for known, value in sorted(public(importlib.import_module(name))):
            yield (
                f"class {known}{signature(value)}"
                if inspect.isclass(value)
                else f"{known}{signature(value)}"
            )
            yield from (f"    {one}" for one in members(value)) if inspect.isclass(value) else ()
        yield ""


def text() -> str:
    return "\n".join(lines())


def imported_names(path: Path) -> Iterator[tuple[str, str]]:
    """(module, name) of what a file imports of longmark; the name is "" where a module is imported whole."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (
                (alias.name, "") for alias in node.names if alias.name.startswith("longmark")
            )
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("longmark"):
            for alias in node.names:
                whole = SOURCE / f"{node.module}.{alias.name}".replace(".", "/")
                is_module = whole.with_suffix(".py").is_file() or (whole / "__init__.py").is_file()
                yield (
                    (f"{node.module}.{alias.name}", "")
                    if is_module
                    else (str(node.module), alias.name)
                )


def used_by_packages() -> str:
    """A line for each module of the core that packages may import and MODULES does not publish: its names."""
    used: dict[str, set[str]] = defaultdict(set)
    for module, names in FOR_PLUGINS.items():
        used[module] |= names
    for path in (SOURCE / "longmark" / "contrib").rglob("*.py"):
        for module, name in imported_names(path):
            if not module.startswith("longmark.contrib") and module not in MODULES:
                used[module].add(name or "(the module)")
    return "".join(
        f"{module}: {', '.join(sorted(names))}\n" for module, names in sorted(used.items())
    )


if __name__ == "__main__":
    PINNED.write_text(text(), encoding="utf-8")
    PINNED_FOR_PACKAGES.write_text(used_by_packages(), encoding="utf-8")
