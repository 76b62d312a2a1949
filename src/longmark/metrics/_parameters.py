"""The parameters of a metric, and how its judges are asked: read from its name, checked by their declaration."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cache
from types import NoneType
from typing import Any, Literal, get_args, get_origin, get_type_hints

from longmark.errors import UnknownName, UserError
from longmark.judging import SCORINGS, Judging
from longmark.metric import Metric
from longmark.records.metric_name import written


def parameters(
    name: str, metric: Metric, texts: Mapping[str, str], *, as_published: bool = False
) -> tuple[Any, dict[str, Any]]:
    """The metric's parameters, with the given texts in place of the defaults; and what is given of how its judges are
    asked. as_published: other parameters have the values of the metric's paper. UnknownName for a parameter or a choice
    that it does not have; UserError for another value that it cannot have."""
    kinds = _hints(metric.params)
    judging_parameters = judging_kinds(metric)
    values: dict[str, Any] = metric.as_published if as_published else {}
    judging: dict[str, Any] = {}
    for key, text in texts.items():
        known_kinds = {**judging_parameters, **kinds}
        if key not in known_kinds:
            hint = f"See: longmark metrics {name}" if known_kinds else f"{name} has no parameters."
            raise UnknownName(f"parameter of {name}", key, known_kinds, hint)
        (values if key in kinds else judging)[key] = _read(f"{name}@{key}", known_kinds[key], text)
    try:
        return metric.params(**values), judging
    except ValueError as error:
        raise UserError(f"{name}: {error}") from None


def judging_kinds(metric: Metric) -> dict[str, Any]:
    """How a metric's judges are asked, as far as that can change its scores: name -> type."""
    kinds = _hints(Judging) | {"scoring": Literal[SCORINGS], "reasons": bool}
    reasons = any(prompt.use == "reason" for prompt in metric.prompts)
    able = {"reasons": reasons, "seed": bool(metric.models)}
    return {
        setting.name: kinds[setting.name]
        for setting in dataclasses.fields(Judging)
        if able.get(setting.name, metric.judged)
    }


def not_default(params: Any) -> dict[str, Any]:
    """The parameters that are not at their defaults."""
    default = _default(type(params))  # type: ignore[arg-type]
    pairs = (
        (setting.name, getattr(params, setting.name)) for setting in dataclasses.fields(params)
    )
    return {name: value for name, value in pairs if value != getattr(default, name)}


_hints = cache(get_type_hints)


@cache
def _default(kind: type) -> Any:
    return kind()


def _read(name: str, kind: Any, text: str) -> Any:
    from pydantic import TypeAdapter, ValidationError

    if NoneType in get_args(kind) and text == written(None):
        return None
    if get_origin(kind) is Literal and text not in get_args(kind):
        raise UnknownName(
            f"value of {name}", text, get_args(kind), f"It is one of {', '.join(get_args(kind))}."
        )
    try:
        return TypeAdapter(kind).validate_python(text)
    except ValidationError as error:
        raise UserError(f"{name}={text}: {error.errors()[0]['msg']}") from None
