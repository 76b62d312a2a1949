"""Metrics from outside the package: a declaration, a file, an installed module, an entry point."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType

from longmark.errors import UserError
from longmark.metric import Metric

GROUP = "longmark.metrics"
"""The group of entry points: name = a module with `METRIC`, or a `Metric`."""


def named(metric: Metric) -> tuple[str, Metric]:
    """A declaration and its name. UserError if it has none."""
    name = metric.name or (metric.prompts[0].id.removesuffix(".expected") if metric.prompts else "")
    if not name:
        raise UserError("a metric has no name: give it one, Metric(..., name='my_metric')")
    return name, replace(metric, name=name)


def of_file(path: str) -> tuple[str, Metric] | None:
    """The metric of a file `.yaml`, `.yml` or `.py`, named by the rubric or by the file; None for another name."""
    file = Path(path).expanduser()
    if file.suffix in (".yaml", ".yml"):
        from longmark.metrics.rubric import load

        return load(file)
    if file.suffix != ".py":
        return None
    if not file.is_file():
        raise UserError(f"--metrics {path}: the file does not exist")
    spec = importlib.util.spec_from_file_location(f"longmark_metric_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[module.__name__] = module  # dataclasses look their module up
    sys.path.insert(0, str(file.parent.resolve()))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UserError(f"--metrics {path}: {type(error).__name__} while it was loaded: {error}") from error
    finally:
        sys.path.pop(0)
    return _declared(module, path, file.stem)


def of_module(name: str) -> tuple[str, Metric] | None:
    """The metric of an entry point, or of an installed module with a dotted name; None if there is none."""
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP, name=name):
        found = point.load()
        return (
            (name, _signed(found, found.score.__module__))
            if isinstance(found, Metric)
            else _declared(found, name, name)
        )
    if "." not in name or not all(part.isidentifier() for part in name.split(".")):
        return None
    try:
        if importlib.util.find_spec(name) is None:
            return None
        module = importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name and (name == error.name or name.startswith(f"{error.name}.")):
            return None
        raise UserError(f"--metrics {name}: {error}") from error
    except Exception as error:
        raise UserError(f"--metrics {name}: {type(error).__name__} while it was imported: {error}") from error
    return _declared(module, name, name)


def _declared(module: ModuleType, given: str, name: str) -> tuple[str, Metric]:
    """The declaration of a module. UserError if it has none."""
    metric = getattr(module, "METRIC", None)
    if not isinstance(metric, Metric):
        raise UserError(f"--metrics {given}: expected METRIC = Metric(...) in the module; see docs/writing-a-metric.md")
    name, doc = metric.name or name, metric.doc or (module.__doc__ or "").strip()
    return name, _signed(replace(metric, name=name, doc=doc), module.__name__)


def _signed(metric: Metric, module: str) -> Metric:
    """The metric with the hash of its module's source. A change of what that module imports is not seen."""
    if metric.source:
        return metric
    file = getattr(sys.modules.get(module), "__file__", None)
    content = Path(file).read_bytes() if file else repr(metric.prompts).encode()
    return replace(metric, source=hashlib.sha256(content).hexdigest()[:16])
