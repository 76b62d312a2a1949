"""Metrics from outside the package: a declaration, a file, an installed module, an entry point."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from longmark import plugins
from longmark.errors import UserError
from longmark.metric import Metric
from longmark.places import expanded, real


def named(metric: Metric) -> tuple[str, Metric]:
    """A declaration and its name. UserError if it has none."""
    name = metric.name or (metric.prompts[0].id.removesuffix(".expected") if metric.prompts else "")
    if not name:
        raise UserError("a metric has no name: give it one, Metric(..., name='my_metric')")
    return name, replace(_signed(metric, metric.score.__module__), name=name)


def of_file(path: str) -> tuple[str, Metric] | None:
    """The metric of a file `.yaml`, `.yml` or `.py`, named by the rubric or by the file; None for another name."""
    file = expanded(path)
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
    sys.path.insert(0, str(real(file.parent)))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise UserError(
            f"--metrics {path}: {type(error).__name__} while it was loaded: {error}"
        ) from error
    finally:
        sys.path.pop(0)
    return _declared(
        getattr(module, "METRIC", None), module.__name__, file.stem, {"file": str(real(file))}
    )


def of_module(name: str) -> tuple[str, Metric] | None:
    """The metric of an entry point, or of an installed module with a dotted name; None if there is none."""
    if (point := plugins.installed("metrics").get(name)) is not None:
        loaded = plugins.loaded(point)
        return _declared(
            loaded if isinstance(loaded, Metric) else getattr(loaded, "METRIC", None),
            point.module,
            name,
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
        raise UserError(
            f"--metrics {name}: {type(error).__name__} while it was imported: {error}"
        ) from error
    return _declared(getattr(module, "METRIC", None), name, name)


def _declared(
    metric: object, module: str, name: str, origin: Mapping[str, str] | None = None
) -> tuple[str, Metric]:
    """The declaration of a module, with its name. UserError if it is none."""
    if not isinstance(metric, Metric):
        raise UserError(
            f"--metrics {name}: expected METRIC = Metric(...) in the module; see docs/writing-a-metric.md"
        )
    doc = metric.doc or (sys.modules[module].__doc__ or "").strip()
    name = metric.name or name
    return name, replace(
        _signed(metric, module), name=name, doc=doc, origin=origin or {"module": name}
    )


def _signed(metric: Metric, module: str) -> Metric:
    """The metric with the hash of its prompts and of its module's source. What the module imports is not in it."""
    file = getattr(sys.modules.get(module), "__file__", None)
    content = repr(metric.prompts).encode() + (
        Path(file).read_bytes() if file and Path(file).is_file() else b""
    )
    return replace(metric, source=metric.source or hashlib.sha256(content).hexdigest()[:16])
